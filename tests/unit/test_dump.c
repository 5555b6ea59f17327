/* SPDX-License-Identifier: MIT */
/*
 * The dumps on streams made here, with real formats and real ring pages: what of a recording they
 * show, under which name, and what a file may not do to a terminal. This file stands in for
 * format/'s chunk reader.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "window_filter.h"
#include "dump.h"
#include "key_value.h"
#include "plain_text.h"
#include "ring_pages.h"

#define PAGE 4096
#define CPUS 2
#define COMMON                                                                                     \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define HEAD(name, id) "name: " name "\nID: " #id "\n" COMMON
#define F(decl, off, size, sgn)                                                                    \
	"\tfield:" decl ";\toffset:" #off ";\tsize:" #size ";\tsigned:" #sgn ";\n"

enum { ID_PRINT = 5, ID_EXIT = 19, ID_ENTER = 20, ID_RENAME = 30, ID_EXEC = 31 };

static const char print_format[] = HEAD("print", 5) F("unsigned long ip", 8, 8, 0)
	F("char buf[]", 16, 0, 0) "\nprint fmt: \"%ps: %s\", (void *)REC->ip, REC->buf\n";
static const char enter_format[] = HEAD("sys_enter", 20) F("long id", 8, 8, 1)
	F("unsigned long args[6]", 16, 48, 0) "\nprint fmt: \"NR %ld\", REC->id\n";
static const char exit_format[] = HEAD("sys_exit", 19) F("long id", 8, 8, 1)
	F("long ret", 16, 8, 1) "\nprint fmt: \"NR %ld = %ld\", REC->id, REC->ret\n";
static const char rename_format[] = HEAD("task_rename", 30) F("pid_t pid", 8, 4, 1)
	F("char oldcomm[16]", 12, 16, 0) F("char newcomm[16]", 28, 16, 0)
		F("short oom_score_adj", 44, 2, 1) "\nprint fmt: \"pid=%d oldcomm=%s newcomm=%s\", "
						   "REC->pid, REC->oldcomm, REC->newcomm\n";
static const char exec_format[] = HEAD("sched_process_exec", 31)
	F("__data_loc char[] filename", 8, 4, 0) F("pid_t pid", 12, 4, 1)
		F("pid_t old_pid", 16, 4, 1) "\nprint fmt: \"filename=%s pid=%d old_pid=%d\", "
					     "__get_str(filename), REC->pid, REC->old_pid\n";

static struct {
	struct ty_trace t;
	struct ty_trace_buffer buffer;
	struct ty_stream streams[CPUS];
	struct ty_event_format formats[5];
	const char *threads, *machine;
	struct {
		uint8_t *raw;
		size_t pages, cap;
		struct page_maker m;
		uint64_t ts, missed;
	} cpu[CPUS];
} fake;

struct ty_chunk ty_trace_chunk(const struct ty_trace *t, uint32_t stream, uint32_t chunk)
{
	return (struct ty_chunk){.raw_bytes = (uint32_t)(fake.cpu[stream].pages * PAGE)};
}

int ty_trace_chunk_read(const struct ty_trace *t, uint32_t stream, uint32_t chunk, void *dst,
			struct ty_chunk_scratch *scratch, struct ty_err *err)
{
	if (fake.cpu[stream].pages)
		memcpy(dst, fake.cpu[stream].raw, fake.cpu[stream].pages * PAGE);
	return 0;
}

struct ty_text ty_trace_section(const struct ty_trace *t, enum ty_section type)
{
	const char *s = type == TY_SEC_THREADS	 ? fake.threads
			: type == TY_SEC_MACHINE ? fake.machine
						 : NULL;

	return (struct ty_text){s, s ? strlen(s) : 0};
}

int32_t ty_trace_command(const struct ty_trace *t)
{
	return fake.machine ? (int32_t)ty_key_u64(fake.machine, "command_tid") : 0;
}

static void reset(void)
{
	static const struct {
		const char *system, *text;
	} f[] = {{"ftrace", print_format},
		 {"raw_syscalls", enter_format},
		 {"raw_syscalls", exit_format},
		 {"task", rename_format},
		 {"sched", exec_format}};

	for (unsigned c = 0; c < CPUS; c++)
		free(fake.cpu[c].raw);
	memset(&fake, 0, sizeof(fake));
	fake.t.path = "test";
	fake.t.long_size = 8;
	fake.t.version = 7;
	fake.buffer = (struct ty_trace_buffer){"", "perf", PAGE};
	fake.t.buffers.v = &fake.buffer;
	fake.t.buffers.n = fake.t.buffers.cap = 1;
	fake.t.formats.v = fake.formats;
	fake.t.formats.n = fake.t.formats.cap = 5;
	for (unsigned i = 0; i < 5; i++)
		fake.formats[i] =
			(struct ty_event_format){f[i].system, {f[i].text, strlen(f[i].text)}};
	fake.t.streams.v = fake.streams;
	fake.t.streams.n = fake.t.streams.cap = CPUS;
	for (unsigned c = 0; c < CPUS; c++)
		fake.streams[c] = (struct ty_stream){.cpu = c, .chunks = 1};
}

static void end_page(unsigned cpu)
{
	if (!fake.cpu[cpu].m.p)
		return;
	ty_page_end(&fake.cpu[cpu].m, fake.cpu[cpu].missed);
	fake.cpu[cpu].missed = 0;
	fake.cpu[cpu].m.p = NULL;
}

/* So many events are lost on the CPU before its next one. */
static void lose(unsigned cpu, uint64_t n)
{
	end_page(cpu);
	fake.cpu[cpu].missed = n;
}

/* The head of data is filled in. n: a multiple of 4. */
static void record(unsigned cpu, uint64_t ts, uint16_t id, int32_t tid, void *data, uint32_t n)
{
	struct page_maker *m = &fake.cpu[cpu].m;
	uint64_t delta;

	if (m->p && m->pos + n + 32 > PAGE)
		end_page(cpu);
	if (!m->p) {
		if (fake.cpu[cpu].pages == fake.cpu[cpu].cap) {
			fake.cpu[cpu].cap = fake.cpu[cpu].cap * 2 + 4;
			fake.cpu[cpu].raw = realloc(fake.cpu[cpu].raw, fake.cpu[cpu].cap * PAGE);
			assert_non_null(fake.cpu[cpu].raw);
		}
		ty_page_begin(m, fake.cpu[cpu].raw + fake.cpu[cpu].pages++ * PAGE, PAGE, ts, 8,
			      false);
		fake.cpu[cpu].ts = ts;
	}
	delta = ts - fake.cpu[cpu].ts;
	if (delta >> 27) {
		ty_page_extend(m, delta);
		delta = 0;
	}
	memset(data, 0, 8);
	memcpy(data, &id, 2);
	memcpy((char *)data + 4, &tid, 4);
	ty_page_data(m, (uint32_t)delta, data, n);
	fake.cpu[cpu].ts = ts;
}

static void print(unsigned cpu, uint64_t ts, int32_t tid, const char *text)
{
	char d[112] = {0};
	size_t n = strlen(text) + 1;

	assert_true(n <= sizeof(d) - 16);
	memcpy(d + 16, text, n);
	record(cpu, ts, ID_PRINT, tid, d, (uint32_t)(16 + n + 3) & ~3u);
}

static void enter(unsigned cpu, uint64_t ts, int32_t tid, int64_t nr)
{
	int64_t d[8] = {0, nr, INT64_C(1) << 40}; /* an argument that proves 64 bits */

	record(cpu, ts, ID_ENTER, tid, d, sizeof(d));
}

static void leave(unsigned cpu, uint64_t ts, int32_t tid, int64_t nr, int64_t ret)
{
	int64_t d[3] = {0, nr, ret};

	record(cpu, ts, ID_EXIT, tid, d, sizeof(d));
}

static void rename_to(unsigned cpu, uint64_t ts, int32_t tid, const char *old, const char *name)
{
	char d[48] = {0};

	memcpy(d + 8, &tid, 4);
	snprintf(d + 12, 16, "%s", old);
	snprintf(d + 28, 16, "%s", name);
	record(cpu, ts, ID_RENAME, tid, d, sizeof(d));
}

static void exec(unsigned cpu, uint64_t ts, int32_t tid, int32_t old)
{
	int32_t d[7] = {0, 0, 2 << 16 | 24, tid, old};

	memcpy(&d[6], "x", 2);
	record(cpu, ts, ID_EXEC, tid, d, sizeof(d));
}

/* dumping ------------------------------------------------------------------------------------- */

typedef int dump_fn(struct ty_session *, const struct ty_select *, const struct ty_window *, FILE *,
		    struct ty_err *);

static const struct ty_window all = {.to_ns = UINT64_MAX};
static char *out;
static struct ty_err err;

static bool clock_chosen; /* --clock */
static enum ty_clock shown;

static int try_dump(dump_fn *fn, struct ty_window w, bool json)
{
	struct ty_session s = {.trace = &fake.t, .arch = ty_sysarch_find("x86_64")};
	struct ty_select sel = {.json = json,
				.clock_chosen = clock_chosen,
				.clock = shown,
				.from = w.from_ns ? "FROM" : NULL};
	size_t n;
	FILE *f;
	int r;

	end_page(0);
	end_page(1);
	for (unsigned c = 0; c < CPUS; c++)
		fake.streams[c].raw_bytes = fake.cpu[c].pages * PAGE;
	free(out);
	out = NULL;
	err = (struct ty_err){0};
	assert_int_equal(ty_formats_new(&fake.t, &s.formats, NULL), 0);
	assert_int_equal(ty_events_open(&fake.t, s.formats, &s.events, NULL), 0);
	f = open_memstream(&out, &n);
	r = fn(&s, &sel, &w, f, &err);
	fclose(f);
	ty_events_close(s.events);
	ty_formats_free(s.formats);
	return r;
}

static const char *dump(dump_fn *fn, struct ty_window w, bool json)
{
	assert_int_equal(try_dump(fn, w, json), 0);
	return out;
}

static unsigned count(const char *s, const char *what)
{
	unsigned n = 0;

	for (; (s = strstr(s, what)); s++)
		n++;
	return n;
}

#define GETPID	39
#define NANO	35
#define EXECVE	59
#define RESTART 512 /* ERESTARTSYS */

/* What a file says makes no line and commands no terminal. */
static void no_control_bytes(void **state)
{
	const char *s;

	reset();
	fake.threads = "7\t7\t1\t0\tS\tother\t0\t0\t-\t-\t-\t-\tevil\033]0;x\a\\n\n";
	print(0, 1000, 7,
	      "a\033[2J\nbash-1 [000] forged\r\xc2\x9b"
	      "2J\x9b"
	      "2J\tgr\xc3\xbc\xc3\x9f\n\n");
	print(0, 2000, 7, "plain\n");
	s = dump(ty_dump_events, all, false);
	assert_int_equal(count(s, "\n"), 2);
	for (const char *p = s; *p; p++)
		assert_true((unsigned char)*p >= 0x20 || *p == '\n' || *p == '\t');
	assert_non_null(strstr(s, "evil?]0;x??"));
	assert_non_null(strstr(s, "a?[2J?bash-1 [000] forged???2J?2J\tgr\xc3\xbc\xc3\x9f\n"));
	assert_non_null(strstr(s, "plain\n"));
	assert_null(strchr(s, 0x9b) ? "C1" : NULL);
}

static void plain(void **state)
{
	/* every byte, at every place of a word, beside every kind of neighbour */
	for (unsigned c = 0; c < 256; c++)
		for (unsigned at = 0; at < 17; at++) {
			char t[17];

			memset(t, 'x', sizeof(t));
			t[at] = (char)c;
			ty_plain(t, sizeof(t));
			for (unsigned i = 0; i < sizeof(t); i++)
				if (i != at)
					assert_int_equal(t[i], 'x');
			if ((c < 0x20 && c != '\t') || c >= 0x7f)
				assert_int_equal(t[at], '?');
			else
				assert_int_equal((unsigned char)t[at], c);
		}
	/* every character of two and three bytes, and some of four: as it is, or as many '?' */
	for (unsigned c = 0x80; c < 0x12000; c++) {
		char t[9] = "aaaaaaaa", was[9];
		bool bidi = c == 0x61c || c == 0x200e || c == 0x200f ||
			    (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
		bool surrogate = c >= 0xd800 && c < 0xe000;
		unsigned len = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

		for (unsigned i = len; i-- > 1;)
			t[1 + i] = (char)(0x80 | (c >> 6 * (len - 1 - i) & 0x3f));
		t[1] = (char)((len == 2 ? 0xc0 : len == 3 ? 0xe0 : 0xf0) | c >> 6 * (len - 1));
		memcpy(was, t, sizeof(t));
		ty_plain(t, 8);
		if (c < 0xa0 || bidi || surrogate)
			memset(was + 1, '?', len);
		assert_string_equal(t, was);
	}
	/* overlong, cut short, beyond the last character */
	static const char *const bad[] = {"\xc0\xaf", "\xe0\x80\xaf", "\xf4\x90\x80\x80",
					  "\xe2\x82", "\xf0\x9f\x98", "\xc1\x9b"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char t[5];

		memcpy(t, bad[i], strlen(bad[i]));
		ty_plain(t, strlen(bad[i]));
		for (size_t k = 0; k < strlen(bad[i]); k++)
			assert_int_equal(t[k], '?');
	}
	ty_plain(NULL, 0);
}

/* A loss is reported by the record behind it, which may lie behind the window. */
static void losses_across_the_end(void **state)
{
	struct ty_window w = {.to_ns = 4000};
	const char *s;

	reset();
	enter(0, 1000, 7, GETPID);
	leave(0, 1100, 7, GETPID, 7);
	lose(0, 5);
	print(0, 9000, 7, "behind");
	print(1, 1500, 8, "one");
	print(1, 3000, 8, "two");
	print(1, 5000, 8, "three");
	print(1, 6000, 8, "four");
	s = dump(ty_dump_events, w, false);
	assert_int_equal(count(s, "\n"), 5);
	assert_int_equal(count(s, "CPU:0 [5 EVENTS DROPPED] between"), 1);
	assert_null(strstr(s, "three"));
	assert_null(strstr(s, "behind"));
	s = dump(ty_dump_syscalls, w, false);
	assert_int_equal(count(s, "getpid() "), 1);
	assert_int_equal(count(s, "5 events lost on CPU 0 between"), 1);
	/* A loss that begins behind the window is none of its. */
	w.to_ns = 1100;
	s = dump(ty_dump_events, w, false);
	assert_int_equal(count(s, "\n"), 1);
	assert_null(strstr(dump(ty_dump_syscalls, w, false), "lost"));
	/* One that began before it, and ends in it. */
	w = (struct ty_window){.from_ns = 8000, .to_ns = UINT64_MAX};
	s = dump(ty_dump_events, w, false);
	assert_int_equal(count(s, "DROPPED"), 1);
	assert_int_equal(count(s, "\n"), 2);
}

/* A CPU of which nothing more is there is unknown to the end, also in windows behind. */
static void losses_to_the_end(void **state)
{
	struct ty_window w = {.from_ns = 3000, .to_ns = UINT64_MAX};

	reset();
	fake.t.unfinished = true;
	enter(0, 1000, 7, GETPID);
	leave(0, 1100, 7, GETPID, 7);
	enter(1, 2000, 8, NANO);
	enter(0, 1200, 7, NANO);
	leave(1, 5000, 8, NANO, 0);
	for (int k = 0; k < 2; k++) {
		dump(ty_dump_events, w, false);
		assert_int_equal(count(out, "CPU:0 [END OF DATA: RECORDING WAS NOT FINISHED] after "
					    "    0.000001200\n"),
				 1);
		dump(ty_dump_events, w, true);
		assert_int_equal(count(out, "\"to_end\":true"), 2);
		assert_int_equal(count(out, "sys_exit"), !k);
		dump(ty_dump_syscalls, w, true);
		assert_int_equal(count(out, "\"to_end\":true"), 2);
		w.from_ns = 6000; /* behind all events: it is known that nothing is known */
	}
	w = (struct ty_window){.to_ns = 1200};
	assert_int_equal(count(dump(ty_dump_events, w, false), "END OF DATA"), 0);
}

static void nothing_behind_the_end(void **state)
{
	struct ty_window w = {.from_ns = 5001, .to_ns = UINT64_MAX};

	reset();
	print(0, 5000, 7, "last");
	enter(1, 1000, 8, NANO);
	for (int k = 0; k < 4; k++) {
		dump_fn *fn = k & 1 ? ty_dump_syscalls : ty_dump_events;

		assert_int_equal(try_dump(fn, w, k & 2), -TY_EUSAGE);
		assert_string_equal(out, "");
		assert_non_null(strstr(err.msg, "--from FROM is after the end"));
	}
	w.from_ns = 5000;
	assert_int_equal(count(dump(ty_dump_events, w, false), "last"), 1);
	assert_int_equal(count(dump(ty_dump_syscalls, w, false), "unfinished"), 1);
	/* The window is within the recording, though nothing chosen lies in it: no error. */
	w.tids = (const int32_t[]){99};
	w.tids_n = 1;
	assert_string_equal(dump(ty_dump_events, w, false), "");
}

static void late_clock_marker(void **state)
{
	const char *s;

	reset();
	fake.machine = "tarry=test\n";
	setenv("TZ", "UTC0", 1);
	tzset();
	enter(0, 10, 7, GETPID);
	leave(0, 20, 7, GETPID, 7);
	for (unsigned i = 0; i < 1100000; i++) {
		char d[12];

		record(0, 1000 + i, ID_PRINT, 9, d, 8); /* too short: no text */
	}
	print(0, 2000000000, 9, "tarry_clock realtime_ns=3602000000000 monotonic_ns=1");
	s = dump(ty_dump_syscalls, all, false);
	assert_non_null(strstr(s, "7     01:00:00.000000 getpid()"));
}

static void chosen_clocks(void **state)
{
	reset();
	setenv("TZ", "UTC0", 1);
	tzset();
	enter(0, 2000000010, 7, GETPID);
	leave(0, 3000000020, 7, GETPID, 7);
	clock_chosen = true;
	shown = TY_CLOCK_START;
	assert_non_null(strstr(dump(ty_dump_syscalls, all, false), "7     0.000000 getpid()"));
	assert_non_null(strstr(dump(ty_dump_events, all, false), "    1.000000010: sys_exit"));
	shown = TY_CLOCK_TRACE;
	assert_non_null(strstr(dump(ty_dump_syscalls, all, false), "7     2.000000 getpid()"));
	assert_non_null(strstr(dump(ty_dump_events, all, false), "    3.000000020: sys_exit"));
	/* No guess: a file that does not say what its clock was. */
	shown = TY_CLOCK_WALL;
	assert_int_not_equal(try_dump(ty_dump_syscalls, all, false), 0);
	assert_non_null(strstr(err.msg, "--clock wall: the file does not relate its clock"));
	assert_int_not_equal(try_dump(ty_dump_events, all, false), 0);
	assert_int_equal(err.code, TY_EUSAGE);
	fake.machine = "tarry=test\n";
	print(0, 3500000020, 9, "tarry_clock realtime_ns=3602000000000 monotonic_ns=1");
	assert_non_null(
		strstr(dump(ty_dump_syscalls, all, false), "7     01:00:00.499999 getpid()"));
	assert_non_null(strstr(dump(ty_dump_events, all, false), "] 01:00:01.500000000: sys_exit"));
	clock_chosen = false;
}

/* A call is its thread's under the name that it had when the call began. */
static void names_at_the_beginning(void **state)
{
	const char *const old = "old", *const new = "new";
	struct ty_window w = all;

	reset();
	fake.threads = "7\t7\t1\t0\tS\tother\t0\t0\t-\t-\t-\t-\told\n";
	enter(0, 1000, 7, EXECVE);
	rename_to(0, 1100, 7, "old", "new");
	leave(0, 1200, 7, EXECVE, 0);
	enter(0, 2000, 7, GETPID);
	leave(0, 2100, 7, GETPID, 7);
	enter(0, 3000, 8, EXECVE); /* no event named it before */
	rename_to(0, 3100, 8, "bash", "ls");
	leave(0, 3200, 8, EXECVE, 0);
	enter(0, 4000, 7, NANO);
	rename_to(0, 4100, 7, "new", "newer");
	dump(ty_dump_syscalls, all, true);
	assert_int_equal(count(out, "\"comm\":\"old\",\"name\":\"execve\""), 1);
	assert_int_equal(count(out, "\"comm\":\"new\",\"name\":\"getpid\""), 1);
	assert_int_equal(count(out, "\"comm\":\"bash\",\"name\":\"execve\""), 1);
	assert_int_equal(count(out, "\"comm\":\"new\",\"name\":\"nanosleep\""), 1);
	w.comms_n = 1;
	w.comms = &old;
	dump(ty_dump_syscalls, w, false);
	assert_int_equal(count(out, "\n"), 1);
	assert_int_equal(count(out, "execve("), 1);
	w.comms = &new;
	dump(ty_dump_syscalls, w, false);
	assert_int_equal(count(out, "\n"), 2);
	assert_int_equal(count(out, "getpid("), 1);
	assert_int_equal(count(out, "nanosleep("), 1);
	w.comms = (const char *const[]){"bash"};
	dump(ty_dump_syscalls, w, false);
	assert_int_equal(count(out, "execve("), 1);
}

/* A thread's execve continues as the leader's: it is both threads'. */
static void exec_of_a_thread(void **state)
{
	struct ty_window w = all;

	reset();
	enter(0, 1000, 11, EXECVE); /* fails */
	leave(0, 1100, 11, EXECVE, -2);
	enter(0, 2000, 11, EXECVE);
	exec(0, 2100, 10, 11);
	leave(0, 2200, 10, EXECVE, 0);
	w.tids_n = 1;
	w.tids = (const int32_t[]){10};
	dump(ty_dump_syscalls, w, false);
	assert_int_equal(count(out, "\n"), 1);
	assert_non_null(strstr(out, "11    0.000002 execve("));
	w.tids = (const int32_t[]){11};
	dump(ty_dump_syscalls, w, false);
	assert_int_equal(count(out, "\n"), 2);
	w.tids = (const int32_t[]){12};
	assert_string_equal(dump(ty_dump_syscalls, w, false), "");
}

/* More lines wait than the queue holds: what is shown of the call that they wait for. */
static void split_calls(void **state)
{
	static const char threads[] =
		"7\t7\t1\t0\tS\tother\t0\t0\t-\t-\t-\t-\tslow\n8\t8\t1\t0\tS\tother\t0\t0\t-\t-\t-"
		"\t-\tfast\n9\t9\t1\t0\tS\tother\t0\t0\t-\t-\t-\t-\tstop\n";
	struct ty_window w = all;
	const unsigned calls = 540000;

	reset();
	fake.threads = threads;
	enter(0, 1000, 7, NANO);
	enter(0, 1001, 9, NANO);
	for (unsigned i = 0; i < calls; i++) {
		enter(1, 2000 + 2 * i, 8, GETPID);
		leave(1, 2001 + 2 * i, 8, GETPID, 8);
	}
	rename_to(0, 3000000, 7, "slow", "other");
	leave(0, 3000001, 7, NANO, 0);
	leave(0, 3000002, 9, NANO, -RESTART); /* held back until something follows: nothing does */
	dump(ty_dump_syscalls, all, false);
	assert_int_equal(count(out, "\n"), calls + 4);
	assert_int_equal(count(out, "<unfinished ...>"), 2);
	assert_int_equal(count(out, "<... nanosleep resumed>) "), 2);
	dump(ty_dump_syscalls, all, true);
	assert_int_equal(count(out, "\n"), calls + 2);
	assert_int_equal(count(out, "\"comm\":\"slow\""), 1);
	/* Not the chosen names: no line of theirs. */
	w.comms_n = 1;
	w.comms = (const char *const[]){"fast"};
	dump(ty_dump_syscalls, w, false);
	assert_int_equal(count(out, "\n"), calls);
	w.comms = (const char *const[]){"slow"};
	dump(ty_dump_syscalls, w, false);
	assert_int_equal(count(out, "\n"), 1);
	/* Over before the window. */
	w = (struct ty_window){.from_ns = 3000002, .to_ns = UINT64_MAX};
	dump(ty_dump_syscalls, w, false);
	assert_int_equal(count(out, "\n"), 1);
	assert_int_equal(count(out, "9     0.000001 nanosleep("), 1);
}

/* So many that wait at once that the queue is full of them, before the window. */
static void split_before_the_window(void **state)
{
	struct ty_window w = {.from_ns = 100000000, .to_ns = UINT64_MAX};
	const unsigned threads = 540000;

	reset();
	for (unsigned i = 0; i < threads; i++)
		enter(0, 1000 + i, (int32_t)i + 1, NANO);
	leave(0, 50000000, 1, NANO, 0);
	leave(0, 200000000, 2, NANO, 0);
	dump(ty_dump_syscalls, w, false);
	assert_int_equal(count(out, "resumed"), 0);
	assert_int_equal(count(out, "\n"), threads - 1);
	assert_int_equal(count(out, " = 0 <"), 1);
}

static void key_values(void **state)
{
	static const char t[] = "cpu=x\ncpus=0-1\ncommand_tid=77\nlast=-5\nodd=12x\nempty=";
	uint64_t two[2];
	char v[8];
	int64_t n = 0;

	assert_true(ty_key_value(t, "cpus", v, sizeof(v)));
	assert_string_equal(v, "0-1");
	assert_true(ty_key_value(t, "command_tid", v, 2));
	assert_string_equal(v, "7");
	assert_true(ty_key_value(t, "empty", v, sizeof(v)));
	assert_string_equal(v, "");
	assert_false(ty_key_value(t, "cp", v, sizeof(v)));
	assert_false(ty_key_value(NULL, "cpus", v, sizeof(v)));
	assert_true(ty_key_numbers("12 34\n56", 5, two, 2));
	assert_int_equal(two[0], 12);
	assert_int_equal(two[1], 34);
	assert_false(ty_key_numbers("12 34", 2, two, 2));
	assert_false(ty_key_numbers("12 x", 4, two, 2));
	assert_true(ty_key_i64(t, "command_tid", &n));
	assert_int_equal(n, 77);
	assert_true(ty_key_i64(t, "last", &n));
	assert_int_equal(n, -5);
	assert_false(ty_key_i64(t, "odd", &n));
	assert_false(ty_key_i64(t, "cpus", &n));
	assert_false(ty_key_i64(t, "empty", &n));
	assert_false(ty_key_i64("a=99999999999999999999", "a", &n));
	assert_false(ty_key_i64(t, "absent", &n));
	/* A key that repeats, up to the text's last line without a newline. */
	const char *lines = "cpu=1\ncpus=9\ncpu=23\nx=2\ncpu=4", *at;
	size_t len;

	assert_int_equal(ty_key_u64(lines, "cpu"), 1);
	assert_int_equal(ty_key_u64(lines, "no"), 0);
	assert_true(ty_key_next(&lines, "cpu", &at, &len) && len == 1 && *at == '1');
	assert_true(ty_key_next(&lines, "cpu", &at, &len) && len == 2 && !memcmp(at, "23", 2));
	assert_true(ty_key_next(&lines, "cpu", &at, &len) && len == 1 && *at == '4');
	assert_false(ty_key_next(&lines, "cpu", &at, &len));
}

static int finish(void **state)
{
	reset();
	free(out);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain),
		cmocka_unit_test(no_control_bytes),
		cmocka_unit_test(losses_across_the_end),
		cmocka_unit_test(losses_to_the_end),
		cmocka_unit_test(nothing_behind_the_end),
		cmocka_unit_test(late_clock_marker),
		cmocka_unit_test(chosen_clocks),
		cmocka_unit_test(names_at_the_beginning),
		cmocka_unit_test(exec_of_a_thread),
		cmocka_unit_test(split_calls),
		cmocka_unit_test(split_before_the_window),
		cmocka_unit_test(key_values),
	};

	return cmocka_run_group_tests(tests, NULL, finish);
}
