/* SPDX-License-Identifier: MIT */
/* Strings in events of kernels from 6.19 on, whose formats and records are made here after
 * kernel/trace/trace_syscalls.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "call_data_source.h"
#include "call_walk.h"
#include "export_trace.h"
#include "fixture_story.h"
#include "fixture_trace.h"

#define COMMON                                                                                     \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                               \
	"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
#define ARG(name, off) "\tfield:long " name ";\toffset:" #off ";\tsize:8;\tsigned:0;\n"
#define VALUE(name, off)                                                                           \
	"\tfield:__data_loc char[] __" name "_val;\toffset:" #off ";\tsize:4;\tsigned:0;\n"

static const char openat_format[] = "name: sys_enter_openat\nID: 700\n" COMMON ARG("dfd", 16)
	ARG("filename", 24) ARG("flags", 32) ARG("mode", 40)
		VALUE("filename", 48) "\nprint fmt: \"%s\", __get_str(__filename_val)\n";
static const char renameat2_format[] =
	"name: sys_enter_renameat2\nID: 701\n" COMMON ARG("olddfd", 16) ARG("oldname", 24)
		ARG("newdfd", 32) ARG("newname", 40) ARG("flags", 48) VALUE("oldname", 56)
			VALUE("newname", 60) "\nprint fmt: \"\"\n";
/* Bytes, which are no string. */
static const char write_format[] = "name: sys_enter_write\nID: 702\n" COMMON ARG("fd", 16)
	ARG("buf", 24) ARG("count", 32) VALUE("buf", 40) "\nprint fmt: \"\"\n";

enum { OPENAT = 257, RENAMEAT2 = 316, WRITE = 1, GETPID = 39, TID = TY_STORY_WEB };

static uint64_t now_us;

static struct ty_event at(int kind)
{
	return (struct ty_event){
		.ts_ns = TY_STORY_START + ++now_us * 1000, .kind = (uint8_t)kind, .tid = TID};
}

static void raw_enter(int64_t nr, uint64_t a, uint64_t b, uint64_t d)
{
	struct ty_event ev = at(TY_EV_SYS_ENTER);

	ev.u.enter.nr = nr;
	ev.u.enter.args[0] = a;
	ev.u.enter.args[1] = b;
	ev.u.enter.args[3] = d;
	ty_story_event(&ev);
}

static void raw_exit(int64_t nr)
{
	struct ty_event ev = at(TY_EV_SYS_EXIT);

	ev.u.exit.nr = nr;
	ty_story_event(&ev);
}

/* The event of a call with n arguments, and the strings behind its pointers as the kernel has
 * them: NULL is a fault. shift: added to the first one's place. */
static void own_enter(uint16_t id, int32_t nr, unsigned n, const uint64_t *args, const char *one,
		      const char *two, unsigned shift)
{
	const char *const s[] = {one, two};
	const unsigned values = id == 701 ? 2 : 1;
	struct ty_event ev = at(TY_EV_OTHER);
	uint32_t off = 16 + 8 * n + 4 * values;
	uint8_t p[256] = {0};
	const int32_t tid = TID;

	memcpy(p, &id, 2);
	memcpy(p + 4, &tid, 4);
	memcpy(p + 8, &nr, 4);
	memcpy(p + 16, args, 8 * n);
	for (unsigned i = 0; i < values; i++) {
		const uint32_t len = s[i] ? (uint32_t)strlen(s[i]) + 1 : 0,
			       loc = (off + (i ? 0 : shift)) | len << 16;

		memcpy(p + 16 + 8 * n + 4 * i, &loc, 4);
		if (len)
			memcpy(p + off, s[i], len);
		off += len;
	}
	ev.data = p;
	ev.size = (off + 3) & ~3u;
	ty_story_event(&ev);
}

static void open_event(uint64_t ptr, const char *path)
{
	own_enter(700, OPENAT, 4, (uint64_t[]){(uint32_t)-100, ptr, 0, 0}, path, NULL, 0);
}

static void begin(const char *path, const char *machine)
{
	now_us = 0;
	ty_story_begin(path, 1, machine, TY_STORY_THREADS);
	ty_story_format("syscalls", openat_format);
	ty_story_format("syscalls", renameat2_format);
	ty_story_format("syscalls", write_format);
	raw_enter(GETPID, 0, 0, 0);
	raw_exit(GETPID);
}

/* All calls with the texts of their strings. */
static const char *calls(const char *path)
{
	static struct ty_buf b;
	struct ty_session s = {0};
	struct ty_call_walk w = {0};
	struct ty_pair_step step;
	struct ty_err err = {0};
	struct ty_event ev;

	ty_buf_fini(&b);
	ty_buf_init(&b, 65536);
	if (ty_session_open(&s, path, TY_OPEN_EVENTS | TY_OPEN_QUIET, 0, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(ty_call_walk_init(&w, &s), 0);
	while (ty_events_next(s.events, &ev, &err) > 0) {
		const bool lost = ev.kind == TY_EV_GAP;

		assert_int_equal(ty_call_walk_feed(&w, &ev, lost, &step, &err), 0);
		for (unsigned i = 0; i < step.done_n; i++) {
			const struct ty_call *c = &step.done[i];
			struct ty_call_data_item item[6] = {0};

			if (w.strings)
				ty_call_data_of(w.strings, c, ty_call_data_after(w.strings, c->tid),
						item);
			ty_buf_addf(&b, "%d", (int)c->nr);
			for (unsigned k = 0; k < 6; k++)
				if (item[k].p) {
					ty_buf_addc(&b, ' ');
					ty_call_data_text(&item[k], &b);
				}
			if (item[1].flags & TY_EVF_CUT)
				ty_buf_addf(&b, " is %s",
					    ty_fd_track_text(w.fds,
							     ty_fd_track_path(w.fds, TID, c, 1)));
			ty_buf_addc(&b, '\n');
			assert_int_equal(ty_call_walk_end(&w, c), 0);
		}
		if (step.started)
			ty_call_walk_begin(&w, &step.call);
	}
	ty_call_walk_fini(&w);
	ty_session_fini(&s);
	return b.p;
}

static int same_time(void *ctx, int32_t tid, uint64_t ns, const char *bytes, size_t n)
{
	assert_int_equal(tid, TID);
	assert_int_equal(ns, *(uint64_t *)ctx);
	return 0;
}

/* The only string of the file has this time. */
static void string_at(const char *path, uint64_t ns)
{
	struct ty_session s = {0};
	struct ty_call_data_index *x;
	struct ty_text text;

	assert_int_equal(ty_session_open(&s, path, TY_OPEN_EVENTS | TY_OPEN_QUIET, 0, NULL), 0);
	text = ty_session_call_data(&s);
	x = ty_call_data_index_new(text.s, text.n, 0);
	assert_int_equal(ty_call_data_counts(x).records, 1);
	ty_call_data_each(x, TY_EVK_STRING, same_time, &ns);
	ty_call_data_index_free(x);
	ty_session_fini(&s);
}

/* How many strings are said to be probably truncated. */
static uint64_t inferred(const char *path)
{
	struct ty_session s = {0};
	struct ty_call_data_index *x;
	struct ty_text text;
	uint64_t n;

	assert_int_equal(ty_session_open(&s, path, TY_OPEN_EVENTS | TY_OPEN_QUIET, 0, NULL), 0);
	text = ty_session_call_data(&s);
	x = ty_call_data_index_new(text.s, text.n, 0);
	n = ty_call_data_counts(x).cut_inferred;
	ty_call_data_index_free(x);
	ty_session_fini(&s);
	return n;
}

/* In either order beside raw_syscalls, as which of the two was enabled first; no call twice. */
static void beside_raw_events(void **state)
{
	static const uint64_t names[] = {(uint32_t)-100, 0x10, (uint32_t)-100, 0x20, 0};
	const char *path = ty_fx_path("strings.dat");

	for (unsigned raw_first = 0; raw_first < 2; raw_first++) {
		begin(path, "arch=x86_64\n");
		for (unsigned i = 0; i < 2; i++) {
			if (raw_first)
				raw_enter(OPENAT, (uint32_t)-100, 0x10, 0);
			open_event(0x10, i ? "/b\"c" : "/a");
			if (!raw_first)
				raw_enter(OPENAT, (uint32_t)-100, 0x10, 0);
			raw_exit(OPENAT);
		}
		/* A fault, and an empty string. */
		if (raw_first)
			raw_enter(RENAMEAT2, (uint32_t)-100, 0x10, 0x20);
		own_enter(701, RENAMEAT2, 5, names, NULL, "", 0);
		if (!raw_first)
			raw_enter(RENAMEAT2, (uint32_t)-100, 0x10, 0x20);
		raw_exit(RENAMEAT2);
		/* Its string is lost. */
		raw_enter(OPENAT, (uint32_t)-100, 0x10, 0);
		raw_exit(OPENAT);
		ty_story_end();
		assert_string_equal(calls(path),
				    "39\n257 \"/a\"\n257 \"/b\\\"c\"\n316 \"\"\n257\n");
	}
}

/* Events are lost between a call and the string of a later one with the same pointer: when the
 * first one ended is unknown, so it is given to neither. */
static void not_of_an_earlier_call(void **state)
{
	const char *path = ty_fx_path("strings.dat");
	struct ty_event waking;
	uint64_t ns;

	begin(path, "arch=x86_64\n");
	raw_enter(OPENAT, (uint32_t)-100, 0x10, 0);
	waking = at(TY_EV_WAKING);
	ty_story_event(&(struct ty_event){.kind = TY_EV_GAP, .u.gap.count = 3});
	ty_story_event(&waking);
	open_event(0x10, "/later");
	ns = TY_STORY_START + now_us * 1000;
	raw_enter(OPENAT, (uint32_t)-100, 0x10, 0);
	raw_exit(OPENAT);
	ty_story_end();
	assert_string_equal(calls(path), "39\n257\n257\n");
	string_at(path, ns);
	/* Ends of calls were not recorded. */
	begin(path, "arch=x86_64\n");
	raw_enter(OPENAT, (uint32_t)-100, 0x10, 0);
	open_event(0x10, "/a");
	open_event(0x10, "/b");
	raw_enter(OPENAT, (uint32_t)-100, 0x10, 0);
	raw_exit(OPENAT);
	ty_story_end();
	assert_string_equal(calls(path), "39\n257 \"/a\"\n257\n");
}

/* As long as the kernel's limit and its mark: truncated; the mark is no part of it. */
static void truncated(void **state)
{
	const char *path = ty_fx_path("strings.dat");
	char longest[67], want[300], other[67];

	memset(longest, 'x', sizeof(longest));
	strcpy(longest + 63, "...");
	memset(other, 'y', sizeof(other));
	other[63] = 0;
	for (unsigned known = 0; known < 3; known++) {
		static const char *const machine[] = {
			"arch=x86_64\n", "arch=x86_64\nstrings=openat\nstrings_bytes=63\n",
			"arch=x86_64\nstrings=openat\nstrings_bytes=165\n"};
		const char *const paths[] = {longest, other, "...", "/a..."};

		begin(path, machine[known]);
		for (unsigned i = 0; i < 4; i++) {
			raw_enter(OPENAT, (uint32_t)-100, 0x10, 0);
			open_event(0x10, paths[i]);
			raw_exit(OPENAT);
		}
		ty_story_end();
		snprintf(want, sizeof(want),
			 "39\n257 \"%.63s%s%s\n257 \"%s\"\n257 \"...\"\n257 \"/a...\"\n", longest,
			 known < 2 ? "\"... is " : "...\"", known < 2 ? longest : "", other);
		assert_string_equal(calls(path), want);
		assert_int_equal(inferred(path), !known);
	}
	/* The recorder read the strings by BPF: these are less. */
	begin(path, "arch=x86_64\nstrings=openat\n");
	raw_enter(OPENAT, (uint32_t)-100, 0x10, 0);
	open_event(0x10, "/a");
	raw_exit(OPENAT);
	ty_story_end();
	assert_string_equal(calls(path), "39\n257\n");
}

/* A call under way where an exported part begins: what is inferred of its string remains so. */
static void inferred_in_a_part(void **state)
{
	struct ty_session s = {0};
	char longest[67], part[200];
	const char *path;
	uint64_t from;

	memset(longest, 'x', sizeof(longest));
	strcpy(longest + 63, "...");
	snprintf(part, sizeof(part), "%s", ty_fx_path("part.dat"));
	path = ty_fx_path("strings.dat");
	begin(path, "arch=x86_64\n");
	raw_enter(OPENAT, (uint32_t)-100, 0x10, 0);
	open_event(0x10, longest);
	from = at(TY_EV_OTHER).ts_ns;
	raw_exit(OPENAT);
	ty_story_end();
	assert_int_equal(ty_session_open(&s, path, TY_OPEN_MODEL | TY_OPEN_NO_INDEX, 0, NULL), 0);
	assert_int_equal(ty_export_trace(&s, part, from, UINT64_MAX, NULL), 0);
	ty_session_fini(&s);
	assert_int_equal(inferred(part), 1);
}

/* Places beyond the record; bytes written, which are no string; a number that is no call's. */
static void damaged(void **state)
{
	const char *path = ty_fx_path("strings.dat");

	begin(path, "arch=x86_64\n");
	for (unsigned i = 0; i < 2; i++) {
		raw_enter(OPENAT, (uint32_t)-100, 0x10, 0);
		own_enter(700, OPENAT, 4, (uint64_t[]){(uint32_t)-100, 0x10, 0, 0}, "/a", NULL,
			  i ? 60000 : 4);
		raw_exit(OPENAT);
	}
	raw_enter(WRITE, 1, 0x10, 0);
	own_enter(702, WRITE, 3, (uint64_t[]){1, 0x10, 0}, "secret", NULL, 0);
	raw_exit(WRITE);
	own_enter(700, 65536 + OPENAT, 4, (uint64_t[]){(uint32_t)-100, 0x10, 0, 0}, "/a", NULL, 0);
	own_enter(700, -1, 4, (uint64_t[]){(uint32_t)-100, 0x10, 0, 0}, "/a", NULL, 0);
	raw_enter(OPENAT, (uint32_t)-100, 0x10, 0);
	raw_exit(OPENAT);
	ty_story_end();
	assert_string_equal(calls(path), "39\n257\n257\n1\n257\n");
}

/* A small --memory: the strings are in a mapped file, and the same. */
static void larger_than_memory(void **state)
{
	const char *path = ty_fx_path("strings.dat");
	struct ty_session s = {0};
	struct ty_text text;

	begin(path, "arch=x86_64\n");
	for (unsigned i = 0; i < 2000; i++)
		open_event(0x10, "/a/path");
	ty_story_end();
	assert_int_equal(ty_session_open(&s, path, TY_OPEN_EVENTS | TY_OPEN_QUIET, 80000, NULL), 0);
	text = ty_session_call_data(&s);
	assert_true(s.event_strings.mapped);
	assert_int_equal(text.n, 2000 * (sizeof(struct ty_ev_record) + 8));
	for (size_t at = sizeof(struct ty_ev_record); at < text.n; at += 40)
		assert_string_equal(text.s + at, "/a/path");
	ty_session_fini(&s);
}

/* There is no memory for the strings: the end of the output says so. */
static void unread(void **state)
{
	const char *path = ty_fx_path("strings.dat");
	struct ty_session s = {0};
	struct ty_err err = {0};

	begin(path, "arch=x86_64\n");
	open_event(0x10, "/a");
	ty_story_end();
	assert_int_equal(ty_session_open(&s, path, TY_OPEN_EVENTS | TY_OPEN_QUIET, 0, NULL), 0);
	s.event_strings = (struct ty_paged){.n = SIZE_MAX / 2, .room = SIZE_MAX / 2}; /* full */
	assert_int_equal(ty_session_check(&s, &err), 0);
	assert_int_equal(ty_session_call_data(&s).n, 0);
	assert_int_equal(ty_session_check(&s, &err), -TY_ENOMEM);
	assert_non_null(strstr(err.msg, "out of memory while reading strings of its events. Strings"
					" of system calls are missing from the output"));
	ty_session_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(beside_raw_events),
		cmocka_unit_test(not_of_an_earlier_call),
		cmocka_unit_test(truncated),
		cmocka_unit_test(damaged),
		cmocka_unit_test(larger_than_memory),
		cmocka_unit_test(inferred_in_a_part),
		cmocka_unit_test(unread),
	};
	int r = cmocka_run_group_tests(tests, NULL, NULL);

	ty_fx_remove_dir();
	return r;
}
