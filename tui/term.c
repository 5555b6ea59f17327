/* SPDX-License-Identifier: MIT */
/*
 * The implementation of term.h by ncurses. Signal handlers only write a byte to a pipe, which is
 * polled together with the keyboard, so that no ncurses function ever runs inside a handler; those
 * of fatal signals write prepared bytes (async-signal-safe) and terminate.
 */
#include "term.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "now.h"

struct ty_term {
	SCREEN *screen;
	struct ty_grid shown;
	bool afresh; /* the screen differs from `shown` */
	bool mouse;
	struct ty_mouse down; /* the last button down, and when */
	int64_t down_ms;
};

/* For the handlers: file scope because signals are per process. */
static int wake_pipe[2] = {-1, -1};
static struct termios saved_tty;
static char restore_bytes[256];
static volatile sig_atomic_t restore_len;

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS};
#define COUNT(a) (sizeof(a) / sizeof(*(a)))
static struct sigaction fatal_was[COUNT(fatal)]; /* previous handlers, called afterwards */

/*
 * The mouse is enabled and read here and not by ncurses, which has no drags: xterm's button and
 * drag events (1002) in SGR form (1006), which has no limit of 223 columns.
 */
#define MOUSE_ON  "\033[?1002h\033[?1006h"
#define MOUSE_OFF "\033[?1006l\033[?1002l\033[?1000l"
#define DOUBLE_MS 400

static void on_signal(int sig)
{
	int e = errno;
	unsigned char c = (unsigned char)sig;
	ssize_t n = write(wake_pipe[1], &c, 1);

	(void)n;
	errno = e;
}

static void on_fatal(int sig, siginfo_t *si, void *ctx)
{
	ssize_t n = write(STDOUT_FILENO, restore_bytes, (size_t)restore_len);

	(void)n;
	tcsetattr(STDIN_FILENO, TCSANOW, &saved_tty);
	for (size_t i = 0; i < COUNT(fatal); i++)
		if (fatal[i] == sig && fatal_was[i].sa_flags & SA_SIGINFO)
			fatal_was[i].sa_sigaction(sig, si, ctx);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void handle(int sig, void (*f)(int), int flags)
{
	struct sigaction sa = {.sa_handler = f, .sa_flags = flags};

	sigemptyset(&sa.sa_mask);
	sigaction(sig, &sa, NULL);
}

static void handlers(bool on)
{
	struct sigaction sa = {.sa_sigaction = on_fatal, .sa_flags = SA_SIGINFO | SA_RESETHAND};

	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < COUNT(ending); i++)
		handle(ending[i], on ? on_signal : SIG_DFL, 0);
	for (size_t i = 0; i < COUNT(fatal); i++)
		if (on)
			sigaction(fatal[i], &sa, &fatal_was[i]);
		else
			sigaction(fatal[i], &fatal_was[i], NULL);
	handle(SIGWINCH, on ? on_signal : SIG_DFL, SA_RESTART);
	handle(SIGTSTP, on ? on_signal : SIG_DFL, SA_RESTART);
	handle(SIGCONT, on ? on_signal : SIG_DFL, SA_RESTART);
}

static void add_restore(const char *s)
{
	size_t n = s && s != (const char *)-1 ? strlen(s) : 0;

	if (!n || (size_t)restore_len + n > sizeof(restore_bytes))
		return;
	memcpy(restore_bytes + restore_len, s, n);
	restore_len += (sig_atomic_t)n;
}

/* Bypasses ncurses, whose own output is flushed first. */
static void put_raw(const char *s)
{
	ssize_t n = write(STDOUT_FILENO, s, strlen(s));

	(void)n;
}

/* What puts the terminal back, ready before anything can go wrong. */
static void prepare_restore(const struct ty_term *t)
{
	restore_len = 0;
	if (t->mouse)
		add_restore(MOUSE_OFF);
	add_restore(tigetstr("sgr0"));
	add_restore(tigetstr("cnorm"));
	add_restore(tigetstr("rmkx"));
	add_restore(tigetstr("rmcup"));
}

/* Sequences that terminals (and tmux) send regardless of TERM. */
static void define_keys(void)
{
	static const struct {
		const char *sends;
		int key;
	} known[] = {
		{"\033[A", KEY_UP},	{"\033[B", KEY_DOWN},	{"\033[C", KEY_RIGHT},
		{"\033[D", KEY_LEFT},	{"\033[H", KEY_HOME},	{"\033[F", KEY_END},
		{"\033OH", KEY_HOME},	{"\033OF", KEY_END},	{"\033[1~", KEY_HOME},
		{"\033[4~", KEY_END},	{"\033[7~", KEY_HOME},	{"\033[8~", KEY_END},
		{"\033[5~", KEY_PPAGE}, {"\033[6~", KEY_NPAGE}, {"\033[Z", KEY_BTAB},
	};

	for (size_t i = 0; i < COUNT(known); i++)
		if (key_defined(known[i].sends) == 0)
			define_key(known[i].sends, known[i].key);
}

int ty_term_open(struct ty_term **out, struct ty_err *err)
{
	struct ty_term *t = calloc(1, sizeof(*t));
	const char *term = getenv("TERM");

	if (!t)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the terminal");
	tcgetattr(STDIN_FILENO, &saved_tty);
	if (pipe2(wake_pipe, O_NONBLOCK | O_CLOEXEC)) {
		free(t);
		return ty_fail_errno(err, "cannot create a pipe");
	}
	/* Before newterm: a SIGTSTP that has no handler there is ncurses', which from then on
	 * ignores it while it writes a frame, and a Ctrl-Z typed then would be lost. */
	handlers(true);
	t->screen = newterm(NULL, stdout, stdin);
	if (!t->screen) {
		ty_term_close(t);
		return ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
			       "unknown terminal type '%s'. Set TERM to a known one "
			       "(xterm-256color) or use --print",
			       term ? term : "");
	}
	set_term(t->screen);
	if (!tigetstr("cup") || tigetstr("cup") == (const char *)-1) {
		endwin();
		delscreen(t->screen);
		t->screen = NULL;
		ty_term_close(t);
		return ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
			       "terminal type '%s' cannot position the cursor. Set TERM to the "
			       "type of this terminal or use --print",
			       term ? term : "");
	}
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	set_escdelay(25);
	keypad(stdscr, TRUE);
	define_keys();
	nodelay(stdscr, TRUE);
	leaveok(stdscr, TRUE);
	/* A frame is written whole: ncurses would leave it half done for a key that is waiting, and
	 * the key may change nothing. Keys in a burst make one frame, see app.c. */
	typeahead(-1);
	if (has_colors()) {
		start_color();
		use_default_colors();
	}
	/* Nothing is sent to a terminal without a mouse. ncurses' own mouse support is not used. */
	t->mouse = tigetstr("kmous") && tigetstr("kmous") != (const char *)-1;
	keyok(KEY_MOUSE, FALSE);
	if (t->mouse)
		put_raw(MOUSE_ON);
	prepare_restore(t);
	t->afresh = true;
	*out = t;
	return 0;
}

static void give_back(const struct ty_term *t)
{
	if (t->mouse)
		put_raw(MOUSE_OFF);
	endwin();
}

void ty_term_close(struct ty_term *t)
{
	if (!t)
		return;
	if (t->screen) {
		give_back(t);
		delscreen(t->screen);
	}
	handlers(false);
	ty_grid_fini(&t->shown);
	close(wake_pipe[0]);
	close(wake_pipe[1]);
	free(t);
}

int ty_term_colors(const struct ty_term *t)
{
	return has_colors() ? COLORS : 0;
}

void ty_term_size(const struct ty_term *t, int *w, int *h)
{
	*w = COLS < TY_GRID_MAX ? COLS : TY_GRID_MAX;
	*h = LINES < TY_GRID_MAX ? LINES : TY_GRID_MAX;
}

/* A colour number of this terminal; -1 is its default. */
static int color_of(const struct ty_palette *p, uint8_t c, attr_t *attr)
{
	int i = COLORS >= 1 << 24 ? (int)ty_palette_rgb(p, c) : ty_palette_index(p, c);

	if (COLORS >= 16 || i < 8)
		return i;
	/* Eight colours: the bright ones are bold; bright black would vanish. */
	if (i == 8)
		return 7;
	if (attr)
		*attr |= A_BOLD;
	return i & 7;
}

static void to_curses(const struct ty_palette *p, const struct ty_gcell *c, cchar_t *out)
{
	wchar_t text[2] = {(wchar_t)c->ch, 0};
	attr_t attr = (c->st.attr & TY_A_BOLD ? A_BOLD : 0) |
		      (c->st.attr & TY_A_UNDERLINE ? A_UNDERLINE : 0) |
		      (c->st.attr & TY_A_REVERSE ? A_REVERSE : 0);
	int pair = 0;

	if (p->mode >= TY_COLOR_16 && has_colors() && (c->st.fg || c->st.bg)) {
		pair = alloc_pair(color_of(p, c->st.fg, &attr), color_of(p, c->st.bg, NULL));
		if (pair < 0)
			pair = 0;
	}
	setcchar(out, text, attr, 0, &pair);
}

static bool same_line(const struct ty_grid *a, const struct ty_grid *b, int y)
{
	for (int x = 0; x < a->w; x++) {
		const struct ty_gcell *c = ty_grid_at(a, x, y), *d = ty_grid_at(b, x, y);

		if (c->ch != d->ch || c->st.fg != d->st.fg || c->st.bg != d->st.bg ||
		    c->st.attr != d->st.attr)
			return false;
	}
	return true;
}

void ty_term_show(struct ty_term *t, const struct ty_grid *g, const struct ty_palette *p,
		  bool afresh)
{
	cchar_t line[TY_GRID_MAX];

	if (t->shown.w != g->w || t->shown.h != g->h) {
		ty_grid_fini(&t->shown);
		if (ty_grid_init(&t->shown, g->w, g->h))
			return;
		t->afresh = true;
	}
	afresh |= t->afresh;
	if (afresh)
		clearok(stdscr, TRUE);
	for (int y = 0; y < g->h; y++) {
		int n = 0;

		if (!afresh && same_line(g, &t->shown, y))
			continue;
		for (int x = 0; x < g->w; x++) {
			const struct ty_gcell *c = ty_grid_at(g, x, y);

			if (c->ch)
				to_curses(p, c, &line[n++]);
		}
		/* ncurses compares with what it last wrote: only changed cells go out. */
		mvadd_wchnstr(y, 0, line, n);
	}
	memcpy(t->shown.cells, g->cells, (size_t)g->w * (size_t)g->h * sizeof(*g->cells));
	t->afresh = false;
	refresh();
}

static bool take_size(struct ty_term *t)
{
	struct winsize ws;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) || !ws.ws_row || !ws.ws_col)
		return false;
	resizeterm(ws.ws_row, ws.ws_col);
	t->afresh = true;
	return true;
}

static void take_again(struct ty_term *t)
{
	take_size(t);
	t->afresh = true;
	refresh();
	if (t->mouse)
		put_raw(MOUSE_ON);
	curs_set(0);
}

/* Ctrl-Z: give the terminal back, stop, and take it again when continued. */
static void stop_here(struct ty_term *t)
{
	give_back(t);
	handle(SIGTSTP, SIG_DFL, 0);
	handle(SIGCONT, SIG_DFL, 0);
	raise(SIGTSTP);
	handle(SIGTSTP, on_signal, SA_RESTART);
	handle(SIGCONT, on_signal, SA_RESTART);
	take_again(t);
}

/* Continued after a SIGSTOP, which is not announced: another program may have changed the
 * terminal's modes and its screen. */
static void continued(struct ty_term *t)
{
	give_back(t);
	take_again(t);
}

static struct ty_input signalled(struct ty_term *t, int sig)
{
	if (sig == SIGTSTP)
		stop_here(t);
	else if (sig == SIGCONT)
		continued(t);
	else if (sig == SIGWINCH)
		take_size(t);
	else
		return (struct ty_input){.what = TY_INPUT_END, .signal = sig};
	return (struct ty_input){.what = TY_INPUT_RESIZE};
}

static struct ty_input key(uint32_t k)
{
	return (struct ty_input){.what = TY_INPUT_KEY, .key = k};
}

/* The next character of a report that has begun; 0: it does not go on. */
static uint32_t more(void)
{
	struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
	wint_t c;
	int r = get_wch(&c);

	if (r == ERR && poll(&fd, 1, 50) > 0)
		r = get_wch(&c);
	return r == OK ? (uint32_t)c : 0;
}

/* Behind ESC [ <: button; x; y, then M (down, moved) or m (up). */
static struct ty_input mouse_report(struct ty_term *t)
{
	struct ty_input in = {.what = TY_INPUT_NONE};
	unsigned v[3] = {0}, n = 0;
	int64_t now;
	uint32_t c;

	while ((c = more()) && c != 'M' && c != 'm') {
		if (c == ';' && n < 2)
			n++;
		else if (c >= '0' && c <= '9' && v[n] < 100000)
			v[n] = v[n] * 10 + (c - '0');
		else
			return in;
	}
	if (!c || n != 2 || !v[1] || !v[2])
		return in;
	in.mouse =
		(struct ty_mouse){.x = (int)v[1] - 1, .y = (int)v[2] - 1, .ctrl = (v[0] & 16) != 0};
	/* Shift and Alt (4, 8) make no difference; 16: Ctrl; 32: moved; 64: wheel. */
	switch (v[0] & ~28u) {
	case 0: in.mouse.what = c == 'M' ? TY_MOUSE_CLICK : TY_MOUSE_DROP; break;
	case 32: in.mouse.what = TY_MOUSE_DRAG; break;
	case 64: in.mouse.what = TY_MOUSE_WHEEL_UP; break;
	case 65: in.mouse.what = TY_MOUSE_WHEEL_DOWN; break;
	default: return in;
	}
	in.what = TY_INPUT_MOUSE;
	if (in.mouse.what != TY_MOUSE_CLICK)
		return in;
	now = ty_now_ms();
	if (t->down_ms && now - t->down_ms < DOUBLE_MS && t->down.x == in.mouse.x &&
	    t->down.y == in.mouse.y) {
		in.mouse.what = TY_MOUSE_DOUBLE;
		t->down_ms = 0;
	} else {
		t->down = in.mouse;
		t->down_ms = now;
	}
	return in;
}

/* Alone it is the Escape key; ncurses has waited for further bytes of a sequence. */
static struct ty_input escape(struct ty_term *t)
{
	wint_t c;
	int r = get_wch(&c);

	if (r == OK && c == '[') {
		r = get_wch(&c);
		if (r == OK && c == '<')
			return mouse_report(t);
		/* An unknown sequence is ignored. */
		while (r == OK && (c < 0x40 || c > 0x7e))
			r = get_wch(&c);
		return (struct ty_input){.what = TY_INPUT_NONE};
	}
	if (r == OK)
		unget_wch((wchar_t)c);
	return key(TY_KEY_ESC);
}

static struct ty_input special(wint_t k)
{
	switch (k) {
	case KEY_UP: return key(TY_KEY_UP);
	case KEY_DOWN: return key(TY_KEY_DOWN);
	case KEY_LEFT: return key(TY_KEY_LEFT);
	case KEY_RIGHT: return key(TY_KEY_RIGHT);
	case KEY_PPAGE: return key(TY_KEY_PGUP);
	case KEY_NPAGE: return key(TY_KEY_PGDN);
	case KEY_HOME: return key(TY_KEY_HOME);
	case KEY_END: return key(TY_KEY_END);
	case KEY_F(1): return key(TY_KEY_F1);
	case KEY_BACKSPACE: return key(TY_KEY_BACKSPACE);
	case KEY_BTAB: return key(TY_KEY_BACKTAB);
	case KEY_ENTER: return key(TY_KEY_ENTER);
	default: return (struct ty_input){.what = TY_INPUT_NONE};
	}
}

static struct ty_input character(wint_t c)
{
	if (c == '\r')
		return key(TY_KEY_ENTER);
	if (c == 0x7f || c == '\b')
		return key(TY_KEY_BACKSPACE);
	return key((uint32_t)c);
}

struct ty_input ty_term_read(struct ty_term *t, int wait_ms)
{
	for (;;) {
		struct pollfd fd[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
				       {.fd = wake_pipe[0], .events = POLLIN}};
		struct ty_input in;
		unsigned char sig;
		wint_t c;
		int r, waiting = 0;

		if (read(wake_pipe[0], &sig, 1) == 1)
			return signalled(t, sig);
		r = get_wch(&c);
		if (r != ERR) {
			in = r == KEY_CODE_YES ? special(c)
			     : c == TY_KEY_ESC ? escape(t)
					       : character(c);
			if (in.what != TY_INPUT_NONE)
				return in;
			continue;
		}
		if (!wait_ms)
			return (struct ty_input){.what = TY_INPUT_NONE};
		r = poll(fd, 2, wait_ms);
		if (!r)
			return (struct ty_input){.what = TY_INPUT_NONE};
		if (r < 0)
			continue;
		/* Readable without a byte to read: the terminal was closed. */
		if (fd[0].revents & (POLLHUP | POLLERR | POLLNVAL) ||
		    (fd[0].revents & POLLIN &&
		     (ioctl(STDIN_FILENO, FIONREAD, &waiting) || !waiting)))
			return (struct ty_input){.what = TY_INPUT_END, .signal = SIGHUP};
	}
}
