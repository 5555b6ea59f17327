/* SPDX-License-Identifier: MIT */
/*
 * The real program in a pseudo-terminal, on a trace.dat made of the tests' story: every action of
 * the key table by every one of its keys that the terminal has, and the mouse, at 80x24 and 200x60,
 * in colour and without, in UTF-8 and C locales. An action that the table below does not exercise
 * fails the test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture_story.h"
#include "fixture_trace.h"
#include "keys.h"
#include "vt.h"

static char story[300], story_log[300];
static const char *tarry, *file = story;

/* How an action is seen to work: what is typed before, and after, and what the screen shows then
 * (or shows no more). {D}: replaced by the tests' folder. */
static const struct step {
	const char *before, *after, *shows, *lacks;
	bool log;	   /* with a log file */
	const char *ready; /* seen before the rest is typed: what is counted aside is there */
} steps[TY_ACT_COUNT] = {
	[TY_ACT_ZOOM_IN] = {"", "", .shows = "(1.983 s of"},
	[TY_ACT_ZOOM_OUT] = {"ww", "", .shows = "(1.983 s of"},
	[TY_ACT_PAN_LEFT] = {"wwg2\r", "", .shows = " s to 2.2"},
	[TY_ACT_PAN_RIGHT] = {"wwg2\r", "", .shows = " s to 2.7"},
	[TY_ACT_ALL] = {"www", "", .shows = "(all 3.965 s"},
	[TY_ACT_ZOOM_SPAN] = {"n0", "", .shows = "webserver/100 sleeping for 3.000",
			      .lacks = "(all 3.965 s"},
	[TY_ACT_UNDO] = {"n", "", .shows = "(all 3.965 s"},
	[TY_ACT_REDO] = {"nu", "", .lacks = "(all 3.965 s"},
	[TY_ACT_GOTO] = {"", "1.25\r", .shows = "at 1.25"},
	[TY_ACT_TIME_FIRST] = {"", "", .shows = "at 0.0"},
	[TY_ACT_TIME_LAST] = {"", "", .shows = "at 3.9"},
	[TY_ACT_CLOCK] = {"", "", .shows = "22:13:20.0"},
	[TY_ACT_LEFT] = {"g2\rwwwwww", "", .lacks = "at 2.0000"},
	[TY_ACT_RIGHT] = {"^wwwwww", "", .lacks = "at 0.000 s"},
	[TY_ACT_SPAN_PREV] = {"n", "", .shows = "at 0.5"},
	[TY_ACT_SPAN_NEXT] = {"n", "", .shows = "at 3.5"},
	[TY_ACT_UP] = {"kkkkkkkkj", "", .shows = "CPU 0 ", .lacks = "CPU 1 unknown"},
	[TY_ACT_DOWN] = {"kkkkkkkk", "", .shows = "CPU 1 ", .lacks = "CPU 0 idle for"},
	[TY_ACT_FOLD] = {"n", "", .lacks = "flock 3.000"},
	[TY_ACT_PAGE_UP] = {"jjjjjjjjj", "", .shows = "CPU 0 "},
	[TY_ACT_PAGE_DOWN] = {"kkkkkkkk", "", .shows = "kworker/1:0/7 "},
	[TY_ACT_DETAILS_DOWN] = {"n", "", .shows = "stall 1, proven"},
	[TY_ACT_DETAILS_UP] = {"nJ", "", .shows = "webserver/100 sleeping for 3.000"},
	[TY_ACT_LINK_1] = {"n", "", .shows = "at 3.51"},
	[TY_ACT_LINK_2] = {"n", "", .shows = "backup/101 sleeping for 1.2"},
	[TY_ACT_LINK_3] = {"n", "", .shows = "webserver/100 in flock("},
	[TY_ACT_LINK_4] = {"n", "", .shows = "no link [4]"},
	[TY_ACT_NEXT] = {"", "", .shows = "stall 1 of"},
	[TY_ACT_PREV] = {"nn", "", .shows = "stall 1 of"},
	[TY_ACT_OPEN] = {"\t", "", .shows = "stall 1 of"},
	[TY_ACT_FOCUS] = {"", "j\r", .shows = "stall 2 of"},
	[TY_ACT_CHAIN] = {"n", "", .shows = "<- backup/101"},
	[TY_ACT_STACK] = {"n", "", .shows = "no stack was recorded here"},
	[TY_ACT_LEDGER] = {"n", "", .shows = "total; Enter goes"},
	[TY_ACT_DIFF] = {"wwg2\r", "", .shows = "selected        rest"},
	[TY_ACT_REQUESTS] = {"", "", .shows = "no requests: no process received"},
	[TY_ACT_SPECTRUM] = {"n", "1", .shows = "at 0.5", .lacks = "Latency of",
			     .ready = "longest: 3.000 s of"},
	[TY_ACT_ARROWS] = {"n", "", .shows = "arrows: wakeup chain of"},
	[TY_ACT_ONLY] = {"n", "", .shows = "filter: tid:100,101"},
	[TY_ACT_ROW_FIRST] = {"n", "", .shows = "CPU 0 "},
	[TY_ACT_ROW_LAST] = {"n", "", .shows = "kworker/1:0/7 "},
	[TY_ACT_PATH] = {"", "", .shows = "critical path: 3.9"},
	[TY_ACT_LOG_NEXT] = {"^", "", .shows = "1 of 2: story.log:1 at 1.250000", .log = true},
	[TY_ACT_LOG_PREV] = {"$", "", .shows = "2 of 2: story.log:3 at 3.5", .log = true},
	[TY_ACT_CALLS] = {"", "", .shows = "has no executed instructions"},
	[TY_ACT_INSNS] = {"", "", .shows = "has no executed instructions"},
	[TY_ACT_FLAME] = {.before = "", .after = "", .shows = "has no CPU samples"},
	[TY_ACT_MEMORY] = {"", "", .shows = "has no memory samples"},
	[TY_ACT_SEARCH] = {"^", "fsync\r", .shows = "fsync of backup/101 at 0.900010"},
	[TY_ACT_HIT_NEXT] = {"^/state:uninterruptible\r^", "",
			     .shows = "uninterruptible of backup/101"},
	[TY_ACT_HIT_PREV] = {"/fsync\r$", "", .shows = "fsync of backup/101 at 0.900010"},
	[TY_ACT_HITS] = {"/fsync\r", "", .shows = "of 'fsync', the longest first"},
	[TY_ACT_FILTER] = {"", "backup\r", .shows = "filter: 3 hidden"},
	[TY_ACT_SELECT] = {"n", "llllvz", .lacks = "(all 3.965 s"},
	[TY_ACT_STATS] = {"n", "", .shows = "p99"},
	[TY_ACT_EXPORT] = {"n", "{D}/cut.dat\r", .shows = "cut.dat is written"},
	[TY_ACT_MARK] = {"", "here\r", .shows = "mark 'here' is set"},
	[TY_ACT_MARK_JUMP] = {"g1\rmone\r$", "one\r", .shows = "at 1.0"},
	[TY_ACT_KEPT] = {"g1\rmone\r", "", .shows = "Kept for this recording"},
	[TY_ACT_HELP] = {"", "", .shows = "keys and symbols"},
	[TY_ACT_BACK] = {"?", "", .shows = "q quit", .lacks = "keys and symbols"},
	[TY_ACT_REDRAW] = {"n", "", .shows = "flock"},
	[TY_ACT_QUIT] = {.before = "", .after = ""},
};

struct config {
	int w, h;
	const char *term, *no_color, *locale;
	bool colour;
};

static void start_as(void (*how)(int, int, const char *const *, const char *const *),
		     const struct config *c, const char *const *more)
{
	char term[40], locale[40], no_color[20];
	/* Relative: there is no cache folder, and one run's marks are not the next one's. */
	const char *env[] = {term,
			     locale,
			     no_color,
			     "TZ=UTC",
			     "COLORFGBG=15;0",
			     "HOME=none",
			     "XDG_CACHE_HOME=none",
			     NULL};
	const char *argv[8] = {tarry, "view", file};

	snprintf(term, sizeof(term), "TERM=%s", c->term);
	snprintf(locale, sizeof(locale), "LC_ALL=%s", c->locale);
	snprintf(no_color, sizeof(no_color), "NO_COLOR=%s", c->no_color);
	for (int i = 0; more && more[i]; i++)
		argv[3 + i] = more[i];
	how(c->w, c->h, env, argv);
	if (!ty_vt_shows("q quit") || !ty_vt_lacks("Searching for stalls"))
		fail_msg("%s did not come up:\n%s", tarry, ty_vt_screen());
}

static void start(const struct config *c, const char *const *more)
{
	start_as(ty_vt_start, c, more);
}

static void send(const char *s)
{
	const char *d;

	while ((d = strstr(s, "{D}"))) {
		ty_vt_send(s, (size_t)(d - s));
		ty_vt_send(ty_fx_dir(), strlen(ty_fx_dir()));
		s = d + 3;
	}
	ty_vt_send(s, strlen(s));
}

/* What the terminal sends for a key; NULL: it has no such key. */
static const char *bytes_of(uint32_t key, bool xterm, char buf[8])
{
	static const struct {
		uint32_t key;
		const char *bytes;
		bool xterm_only;
	} keys[] = {
		{TY_KEY_UP, "\033OA", false},	  {TY_KEY_DOWN, "\033OB", false},
		{TY_KEY_RIGHT, "\033OC", false},  {TY_KEY_LEFT, "\033OD", false},
		{TY_KEY_PGUP, "\033[5~", true},	  {TY_KEY_PGDN, "\033[6~", true},
		{TY_KEY_HOME, "\033OH", true},	  {TY_KEY_END, "\033OF", true},
		{TY_KEY_F1, "\033OP", false},	  {TY_KEY_BACKSPACE, "\177", false},
		{TY_KEY_BACKTAB, "\033[Z", true}, {TY_KEY_ENTER, "\r", false},
	};

	for (unsigned i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].key == key)
			return keys[i].xterm_only && !xterm ? NULL : keys[i].bytes;
	assert_true(key < 0x80);
	buf[0] = (char)key;
	buf[1] = 0;
	return buf;
}

/* Quiet for so long is taken for done: searches are jobs that a key would stop. On a loaded machine
 * the first may be too short for that. */
static const int settles_ms[] = {40, 400, 3000};

/* One key in a viewer of its own. False: it did not do what it should, and more patience may help.
 */
static bool try_once(const struct config *c, enum ty_action a, uint32_t key, unsigned again)
{
	bool last = again + 1 == sizeof(settles_ms) / sizeof(*settles_ms);
	const struct step *s = &steps[a];
	char buf[8], cut[300];
	const char *bytes = bytes_of(key, !strncmp(c->term, "xterm", 5), buf);
	int status;

	if (!bytes)
		return true;
	snprintf(cut, sizeof(cut), "%s/cut.dat", ty_fx_dir());
	unlink(cut);
	start(c, s->log ? (const char *[]){"--log", story_log, NULL} : NULL);
	assert_int_equal(ty_vt_coloured(), c->colour);
	send(s->before);
	ty_vt_settle(settles_ms[again]);
	ty_vt_send(bytes, strlen(bytes));
	if (*s->after) {
		ty_vt_settle(settles_ms[again]);
		if (s->ready && !ty_vt_shows(s->ready) && !last) {
			kill(ty_vt_pid(), SIGKILL);
			ty_vt_end();
			return false;
		}
		if (s->ready && !ty_vt_shows(s->ready))
			fail_msg("no '%s' on the screen:\n%s", s->ready, ty_vt_screen());
		send(s->after);
	}
	if (a == TY_ACT_QUIT) {
		status = ty_vt_end();
		assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
		assert_false(ty_vt_taken());
		return true;
	}
	if ((s->shows && !ty_vt_shows(s->shows)) || (s->lacks && !ty_vt_lacks(s->lacks))) {
		if (!last) {
			kill(ty_vt_pid(), SIGKILL);
			ty_vt_end();
			return false;
		}
	}
	if (s->shows && !ty_vt_shows(s->shows))
		fail_msg("%s %dx%d %s: key %s: no '%s' on the screen:\n%s", c->term, c->w, c->h,
			 c->locale, ty_key_name(key, 0, (char[TY_KEY_NAME_MAX]){0}), s->shows,
			 ty_vt_screen());
	if (s->lacks && !ty_vt_lacks(s->lacks))
		fail_msg("%s %dx%d %s: key %s: '%s' is still on the screen:\n%s", c->term, c->w,
			 c->h, c->locale, ty_key_name(key, 0, (char[TY_KEY_NAME_MAX]){0}), s->lacks,
			 ty_vt_screen());
	if (!strcmp(c->locale, "C"))
		for (const char *p = ty_vt_screen(); *p; p++)
			assert_true(*p == '\n' || ((unsigned char)*p >= 0x20 && *p < 0x7f));
	kill(ty_vt_pid(), SIGTERM);
	status = ty_vt_end();
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	assert_false(ty_vt_taken());
	return true;
}

static void try(const struct config *c, enum ty_action a, uint32_t key)
{
	for (unsigned i = 0; !try_once(c, a, key, i); i++)
		;
}

static void every_action(const struct config *c)
{
	unsigned n;
	const struct ty_key_row *t = ty_keys_table(&n);

	for (unsigned i = 0; i < n; i++) {
		const struct step *s = &steps[t[i].action];

		if (!s->shows && !s->lacks && t[i].action != TY_ACT_QUIT)
			fail_msg("no step exercises '%s'", t[i].help);
		for (int k = 0; k < TY_KEYS_PER_ACTION && t[i].keys[k]; k++)
			/* Other than the first key only once: they lead to the same action. */
			if (!k || (c->w == 80 && c->colour))
				try(c, t[i].action, t[i].keys[k]);
	}
}

#define CONFIG(name, ...)                                                                          \
	static void name(void **state)                                                             \
	{                                                                                          \
		static const struct config c = {__VA_ARGS__};                                      \
		every_action(&c);                                                                  \
	}
CONFIG(small_colour_utf8, 80, 24, "xterm-256color", "", "C.UTF-8", true)
/* libvterm loses count of columns in runs that ncurses writes by xterm's rep. */
CONFIG(small_colour_c, 80, 24, "screen-256color", "", "C", true)
CONFIG(small_mono_utf8, 80, 24, "xterm-256color", "1", "C.UTF-8", false)
CONFIG(small_mono_c, 80, 24, "vt100", "", "C", false)
CONFIG(large_colour_utf8, 200, 60, "xterm-256color", "", "C.UTF-8", true)
CONFIG(large_colour_c, 200, 60, "screen", "", "C", true)
CONFIG(large_mono_utf8, 200, 60, "xterm-256color", "1", "C.UTF-8", false)
CONFIG(large_mono_c, 200, 60, "vt100", "", "C", false)

static const struct config plain = {80, 24, "xterm-256color", "", "C.UTF-8", true};

static void see(bool ok)
{
	if (!ok)
		fail_msg("this is on the screen:\n%s", ty_vt_screen());
}

static void press(int button, int x, int y, char end)
{
	char s[40];

	snprintf(s, sizeof(s), "\033[<%d;%d;%d%c", button, x + 1, y + 1, end);
	send(s);
}

static void the_mouse(void **state)
{
	for (int big = 0; big < 2; big++) {
		struct config c = plain;

		if (big) {
			c.w = 200;
			c.h = 60;
		}
		start(&c, NULL);
		press(64, c.w / 2, 2, 'M'); /* wheel on the ruler */
		assert_true(ty_vt_shows("(1.983 s of"));
		press(65, c.w / 2, 2, 'M');
		assert_true(ty_vt_shows("(all 3.965 s"));
		press(0, 5, 4, 'M'); /* a row's name */
		press(0, 5, 4, 'm');
		assert_true(ty_vt_shows("CPU 1 "));
		press(65, c.w / 2, 6, 'M');    /* wheel over rows: harmless where all fit */
		press(0, c.w * 3 / 4, 6, 'M'); /* drag over the stall's row */
		press(32, c.w * 3 / 4 - 5, 6, 'M');
		press(32, c.w * 3 / 4 - 10, 6, 'M');
		press(0, c.w * 3 / 4 - 10, 6, 'm');
		assert_true(ty_vt_shows("S statistics"));
		send("\033");
		assert_true(ty_vt_lacks("S statistics"));
		/* a double click fits the span */
		press(0, c.w / 2, 6, 'M');
		press(0, c.w / 2, 6, 'm');
		press(0, c.w / 2, 6, 'M');
		press(0, c.w / 2, 6, 'm');
		assert_true(ty_vt_lacks("(all 3.965 s"));
		/* reports that are none change nothing */
		send("\033[<0;0;0M\033[<9999999;1;1M\033[<1;2M\033[<;;;;M\033[<0;99999;99999M");
		send("0");
		assert_true(ty_vt_shows("(all 3.965 s"));
		send("q");
		assert_int_equal(ty_vt_end(), 0);
		assert_false(ty_vt_taken());
	}
}

/* What held up the web server? Opened as any user would; at most five keys. */
static void the_first_walk(void **state)
{
	start(&plain, NULL);
	send("n"); /* 1: the first finding */
	assert_true(ty_vt_shows("in flock("));
	assert_true(ty_vt_shows("held by backup/101"));
	send("c"); /* 2: why */
	assert_true(ty_vt_shows("<- backup/101"));
	send("j");  /* 3: the line of the culprit */
	send("\r"); /* 4: there */
	assert_true(ty_vt_lacks("Wakeup chain of"));
	assert_true(ty_vt_shows("backup/101 "));
	/* Home and End as tmux and rxvt send them, whatever TERM says. */
	send("\033[4~");
	assert_true(ty_vt_shows("at 3.9"));
	send("\033[1~");
	assert_true(ty_vt_shows("at 0.0"));
	send("\033[8~");
	assert_true(ty_vt_shows("at 3.9"));
	send("q");
	assert_int_equal(ty_vt_end(), 0);
}

static void sizes_stops_and_signals(void **state)
{
	static const int fatal[] = {SIGSEGV, SIGABRT};
	int status;

	start(&plain, NULL);
	for (int w = 30; w < 220; w += 37)
		for (int h = 5; h < 70; h += 21) {
			ty_vt_resize(w, h);
			assert_true(w < 40 || h < 10
					    ? ty_vt_shows("tarry needs") || ty_vt_shows("needs a")
					    : ty_vt_shows("q quit"));
		}
	ty_vt_resize(80, 24);
	assert_true(ty_vt_shows("q quit"));
	/* stopped and continued: whatever had the screen meanwhile, it is drawn again */
	kill(ty_vt_pid(), SIGSTOP);
	assert_int_equal(waitpid(ty_vt_pid(), &status, WUNTRACED), ty_vt_pid());
	assert_true(WIFSTOPPED(status));
	kill(ty_vt_pid(), SIGCONT);
	ty_vt_settle(100);
	assert_true(ty_vt_taken());
	send("n");
	assert_true(ty_vt_shows("stall 1 of"));
	send("q");
	assert_int_equal(ty_vt_end(), 0);
	for (unsigned i = 0; i < 2; i++) {
		start(&plain, NULL);
		kill(ty_vt_pid(), fatal[i]);
		status = ty_vt_end();
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == fatal[i]);
		assert_false(ty_vt_taken());
	}
}

/* Keys that are there together make one frame: hundreds of them cost no more bytes than a few. */
static void one_frame_per_burst(void **state)
{
	static const char burst[] = "dadadadadadadadadadadadadadadadadadadadadadadadadadadadadada"
				    "wswswswswswswswswswswswswswswswswswswswswswswswswswswswswswsd";
	uint64_t before, frame;
	int status;

	start(&plain, NULL);
	send("ww");
	assert_true(ty_vt_shows("(991.253 ms"));
	for (int with = 0; with < 2; with++) {
		kill(ty_vt_pid(), SIGSTOP);
		assert_int_equal(waitpid(ty_vt_pid(), &status, WUNTRACED), ty_vt_pid());
		ty_vt_settle(0);
		before = ty_vt_bytes();
		if (with)
			send(burst);
		kill(ty_vt_pid(), SIGCONT); /* draws the screen afresh */
		send("?");
		assert_true(ty_vt_shows("keys and symbols"));
		assert_true(ty_vt_shows("q close")); /* the last line */
		if (!with)
			frame = ty_vt_bytes() - before;
		else
			assert_in_range(ty_vt_bytes() - before, 1, 3 * frame);
		send("q");
		assert_true(ty_vt_lacks("keys and symbols"));
	}
	send("qq"); /* the first one, right behind that of a page, is asked about */
	assert_int_equal(ty_vt_end(), 0);
}

/* Ctrl-Z stops the job for the Nth time, and it gives the terminal back; fg lets it go on. */
static void stop_and_go_on(int nth)
{
	char said[30];

	/* By its number: the last one is on the screen that tarry gives back. */
	snprintf(said, sizeof(said), "[stopped %d]", nth);
	send("\032");
	see(ty_vt_shows(said));
	assert_false(ty_vt_taken());
	send("fg\r");
	see(ty_vt_lacks(said));
}

/* Ctrl-Z gives the terminal back; fg takes it again, the screen is as it was, and keys work (those
 * typed before the terminal was taken may be the shell's: each of these does the same again). */
static void stopped_as_a_job(void **state)
{
	static const struct config large = {200, 60, "xterm-256color", "", "C.UTF-8", true};
	static const char whole[] = "(all 3.965 s";

	for (int big = 0; big < 2; big++) {
		start_as(ty_vt_start_job, big ? &large : &plain, NULL);
		send("n");
		see(ty_vt_shows("stall 1 of"));
		for (int round = 0; round < 4; round++) {
			stop_and_go_on(round + 1);
			see(ty_vt_shows("webserver/100 sleeping for 3.000"));
			for (int i = 0; i < 300 && !strstr(ty_vt_screen(), whole) == !(round & 1);
			     i++) {
				send(round & 1 ? "z" : "0");
				ty_vt_settle(100);
			}
			see(round & 1 ? ty_vt_lacks(whole) : ty_vt_shows(whole));
			assert_true(ty_vt_taken());
		}
		send("q");
		assert_int_equal(ty_vt_end(), 0);
		assert_false(ty_vt_taken());
	}
}

/* Ctrl-Z in the middle of a frame: Ctrl-S holds the frame back, Ctrl-Z lets it go and stops. (Where
 * /proc does not show that it is blocked, Ctrl-Z comes before it or behind, and stops as well.)
 */
static void stopped_while_drawing(void **state)
{
	start_as(ty_vt_start_job, &plain, NULL);
	for (int round = 0; round < 2; round++) {
		send("\023");
		send("n");
		ty_vt_until_writing();
		stop_and_go_on(round + 1);
		see(ty_vt_shows("overview"));
		assert_true(ty_vt_taken());
	}
	send("q");
	assert_int_equal(ty_vt_end(), 0);
}

/* What is exported opens, and says that of the window. */
static void exports_open(void **state)
{
	static const char *const ends[] = {".txt", ".json", ".dat"};
	char path[300], cmd[700];
	struct stat st;

	for (unsigned i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/window%s", ty_fx_dir(), ends[i]);
		start(&plain, (const char *[]){"--from", "0.5", "--to", "1.0", NULL});
		send("e{D}/window");
		send(ends[i]);
		send("\r");
		assert_true(ty_vt_shows("is written"));
		send("e{D}/window"); /* and is not written over */
		send(ends[i]);
		send("\r");
		assert_true(ty_vt_shows("already exists"));
		send("\x1b");
		assert_true(ty_vt_shows("q quit"));
		send("q");
		assert_int_equal(ty_vt_end(), 0);
		assert_int_equal(stat(path, &st), 0);
		assert_true(st.st_size > 100);
	}
	/* The time of day goes along: the story's only marker is before the window. */
	snprintf(cmd, sizeof(cmd),
		 "TZ=UTC %s report %s/window.dat header | grep -q '2023-11-14 22:13:20' && "
		 "TZ=UTC %s dump %s/window.dat syscalls --from 22:13:20 2>&1 | grep -q "
		 "'22:13:20.*fsync'",
		 tarry, ty_fx_dir(), tarry, ty_fx_dir());
	if (system(cmd)) {
		snprintf(cmd, sizeof(cmd),
			 "TZ=UTC %s report %s/window.dat header >&2; TZ=UTC %s dump %s/window.dat "
			 "syscalls >&2",
			 tarry, ty_fx_dir(), tarry, ty_fx_dir());
		assert_int_equal(system(cmd), 0);
		fail_msg("the cut file does not know its time of day");
	}
	snprintf(cmd, sizeof(cmd),
		 "%s dump %s/window.dat events | grep -c sys_ | grep -qx 8 && "
		 "grep -q fsync %s/window.txt && grep -q '\"fsync\"' %s/window.json",
		 tarry, ty_fx_dir(), ty_fx_dir(), ty_fx_dir());
	if (system(cmd)) {
		snprintf(cmd, sizeof(cmd), "%s dump %s/window.dat events >&2; ls -l %s >&2", tarry,
			 ty_fx_dir(), ty_fx_dir());
		assert_int_equal(system(cmd), 0);
		fail_msg("the cut file is not what was cut");
	}
	/* JSON is JSON; the smaller trace is a recording like any other. */
	snprintf(cmd, sizeof(cmd),
		 "python3 -m json.tool %s/window.json >%s/pretty && "
		 "TZ=UTC %s view %s/window.dat --print --size 100x30 | grep -q 'flock 489.950 ms' "
		 "&& "
		 "%s report %s/window.dat >/dev/null",
		 ty_fx_dir(), ty_fx_dir(), tarry, ty_fx_dir(), tarry, ty_fx_dir());
	if (!system("command -v python3 >/dev/null"))
		assert_int_equal(system(cmd), 0);
	start(&plain, NULL);
	send("e{D}/x.exe\r");
	assert_true(ty_vt_shows("the name must end in"));
	send("\x7f\x7f\x7f/x.dat\r"); /* of the name that is still there */
	assert_true(ty_vt_shows("cannot write into"));
	send("\x1b");
	assert_true(ty_vt_shows("q quit"));
	send("q");
	assert_int_equal(ty_vt_end(), 0);
}

/* 10,000 threads of 2,500 processes on 256 CPUs. */
static void many_threads_and_cpus(void **state)
{
	enum { CPUS = 256, THREADS = 10000 };
	char path[300];
	struct ty_event ev;

	snprintf(path, sizeof(path), "%s/many.dat", ty_fx_dir());
	ty_story_begin(path, CPUS, "tarry=test\narch=x86_64\nmode=all\ncpus=0-255\n", NULL);
	for (int i = 0; i < THREADS; i++) {
		int tid = 1000 + i;

		ev = (struct ty_event){.ts_ns = TY_STORY_START + (uint64_t)i * 100000,
				       .cpu = (uint32_t)i % CPUS,
				       .kind = TY_EV_NEWTASK,
				       .tid = tid - 1};
		ev.u.newtask.tid = tid;
		ev.u.newtask.clone_flags = i % 4 ? 0x10000 | 0x100 : 0;
		snprintf(ev.u.newtask.comm, sizeof(ev.u.newtask.comm), "worker-%d", i / 4);
		ty_story_event(&ev);
		for (int on = 0; on < 2; on++) {
			ev = (struct ty_event){.ts_ns = ev.ts_ns + 20000,
					       .cpu = ev.cpu,
					       .kind = TY_EV_SWITCH,
					       .tid = on ? tid : 0};
			ev.u.sw.prev_tid = on ? tid : 0;
			ev.u.sw.next_tid = on ? 0 : tid;
			ev.u.sw.prev_state = on ? TY_TASK_INTERRUPTIBLE : 0;
			snprintf(ev.u.sw.prev_comm, 16, "worker-%d", i / 4);
			snprintf(ev.u.sw.next_comm, 16, "worker-%d", i / 4);
			ty_story_event(&ev);
		}
	}
	ty_story_end();
	file = path;
	start(&plain, NULL);
	file = story;
	see(ty_vt_shows("CPUs"));
	send("kkkkkkkkkkkkkkkkkkkkkkkkkkkkkk "); /* to the head; unfold 256 */
	see(ty_vt_shows("CPU 5 "));
	send(" fthread:worker-2499\r");
	see(ty_vt_shows("9997 hidden"));
	see(ty_vt_shows("10999"));
	send("f\r");
	see(ty_vt_lacks("hidden"));
	send("^/thread:worker-1234$\r");
	see(ty_vt_shows("running of worker-1234"));
	for (int i = 0; i < 30; i++)
		send("\033[6~wdas");
	send("0q");
	assert_int_equal(ty_vt_end(), 0);
}

/* One argument: only the tests whose names match it. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_threads_and_cpus),
		cmocka_unit_test(the_first_walk),
		cmocka_unit_test(the_mouse),
		cmocka_unit_test(small_colour_utf8),
		cmocka_unit_test(small_colour_c),
		cmocka_unit_test(small_mono_utf8),
		cmocka_unit_test(small_mono_c),
		cmocka_unit_test(large_colour_utf8),
		cmocka_unit_test(large_colour_c),
		cmocka_unit_test(large_mono_utf8),
		cmocka_unit_test(large_mono_c),
		cmocka_unit_test(exports_open),
		cmocka_unit_test(sizes_stops_and_signals),
		cmocka_unit_test(stopped_as_a_job),
		cmocka_unit_test(stopped_while_drawing),
		cmocka_unit_test(one_frame_per_burst),
	};
	FILE *f;
	int rc;

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	tarry = getenv("TARRY") ? getenv("TARRY") : "build/tarry";
	if (access(tarry, X_OK)) {
		printf("ok 1 - screen # SKIP %s is not built\n1..1\n", tarry);
		return 0;
	}
	setlocale(LC_CTYPE, "C.UTF-8");
	snprintf(story, sizeof(story), "%s", ty_fx_path("demo.dat"));
	ty_story_begin(story, 2,
		       "tarry=test\narch=x86_64\nmode=command\ncpus=0-1\ncommand_tid=100\n",
		       TY_STORY_THREADS);
	ty_story_stall(ty_story_event);
	ty_story_end();
	snprintf(story_log, sizeof(story_log), "%s", ty_fx_path("story.log"));
	f = fopen(story_log, "w");
	assert_non_null(f);
	fputs("2023-11-14T22:13:21.250Z the lock is asked for\n\tby the webserver\n"
	      "2023-11-14 22:13:23.500 UTC backup \xff ends\n2023-11-15T00:00:00Z too late\n",
	      f);
	fclose(f);
	rc = cmocka_run_group_tests_name("screen", tests, NULL, NULL);
	ty_fx_remove_dir();
	return rc;
}
