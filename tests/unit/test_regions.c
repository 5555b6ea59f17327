/* SPDX-License-Identifier: MIT */
/* Regions of user code: pairing, nesting, losses, lines of trace_marker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_model.h"
#include "fixture_regions.h"
#include "region_stats.h"

static void line(uint64_t ts, int tid, const char *text)
{
	struct ty_event ev = {.ts_ns = ts, .tid = tid, .kind = TY_EV_PRINT, .id = 31};

	ev.u.print.text = text;
	ty_mx_feed(ev);
}

/* All regions as "name:start-end(self)@lane" with letters for flags, in the model's order. */
static const char *text(const struct ty_model *m)
{
	static char out[2048];
	size_t k = 0;

	*out = 0;
	for (uint32_t i = 0; i < ty_model_regions(m); i++) {
		struct ty_region r = ty_model_region(m, i);

		k += (size_t)snprintf(
			out + k, sizeof(out) - k, "%s%s:%d-%d(%d)@%x%s%s%s%s%s", k ? " " : "",
			ty_model_str(m, r.name), (int)r.start_ns, (int)r.end_ns, (int)r.self_ns,
			r.lane, r.flags & TY_RGN_OPEN ? "o" : "", r.flags & TY_RGN_ENDED ? "e" : "",
			r.flags & TY_RGN_LOST ? "l" : "", r.flags & TY_RGN_BEFORE ? "b" : "",
			r.flags & TY_RGN_UNMATCHED ? "u" : "");
	}
	return out;
}

static void nested(void **state)
{
	start();
	at(110, 5, TY_REG_BEGIN, "a", 0);
	at(120, 5, TY_REG_BEGIN, "b", 0);
	at(130, 5, TY_REG_END, "", 0);
	at(131, 5, TY_REG_COUNTER, "n", -7);
	at(140, 5, TY_REG_BEGIN, "b", 0);
	at(145, 5, TY_REG_BEGIN, "c", 0);
	at(150, 5, TY_REG_END, "", 0);
	at(160, 5, TY_REG_END, "", 0);
	at(170, 5, TY_REG_END, "", 0);
	at(180, 5, TY_REG_INSTANT, "i", 0);
	assert_string_equal(text(ty_mx_end()),
			    "a:110-170(30)@0 b:120-130(10)@1 b:140-160(15)@1 c:145-150(5)@2 "
			    "n:131-131(0)@4000 i:180-180(0)@4000");
	ty_mx_drop();
}

/* Two of one name and id: the end is of the younger. Another process's id is another. */
static void by_id(void **state)
{
	start();
	at(110, 5, TY_REG_ASYNC_BEGIN, "r", 1);
	at(120, 5, TY_REG_ASYNC_BEGIN, "r", 2);
	at(125, 5, TY_REG_ASYNC_BEGIN, "r", 1);
	at(130, 5, TY_REG_ASYNC_END, "r", 2);
	at(135, 5, TY_REG_ASYNC_BEGIN, "s", 1);
	at(140, 5, TY_REG_ASYNC_END, "r", 1);
	at(150, 6, TY_REG_ASYNC_END, "r", 1);
	at(160, 5, TY_REG_ASYNC_END, "r", 1);
	at(170, 5, TY_REG_INSTANT, "", 0);
	assert_string_equal(text(ty_mx_end()),
			    "r:110-160(50)@400 r:120-130(10)@401 s:135-170(35)@401o "
			    "r:125-140(15)@402 :170-170(0)@4000 r:150-150(0)@4000b");
	ty_mx_drop();
}

static void unbalanced(void **state)
{
	start();
	at(110, 5, TY_REG_END, "", 0); /* began before the recording */
	at(120, 5, TY_REG_BEGIN, "a", 0);
	at(130, 5, TY_REG_END, "", 0);
	at(140, 5, TY_REG_END, "", 0); /* around both */
	ty_mx_fork(0, 145, 5, 6, 0);
	at(147, 6, TY_REG_END, "", 0); /* nothing was before */
	at(150, 5, TY_REG_BEGIN, "open", 0);
	at(160, 5, 99, "no such kind", 0);
	ty_mx_event(0, 200, 5, TY_EV_OTHER);
	assert_string_equal(text(ty_mx_end()), "a:120-130(10)@0 open:150-200(50)@0o "
					       ":110-110(0)@4000b :140-140(0)@4000b "
					       ":147-147(0)@4000u");
	ty_mx_drop();
}

static void over_a_loss(void **state)
{
	start();
	at(110, 5, TY_REG_BEGIN, "a", 0);
	at(115, 5, TY_REG_ASYNC_BEGIN, "r", 1);
	ty_mx_gap(1, 120, 130, 3);
	at(140, 5, TY_REG_END, "", 0);
	at(150, 5, TY_REG_BEGIN, "b", 0);
	at(160, 5, TY_REG_END, "", 0);
	at(170, 5, TY_REG_END, "", 0); /* of the lost ones more than one may have been begins */
	assert_string_equal(text(ty_mx_end()), "a:110-120(10)@0l b:150-160(10)@0 r:115-120(5)@400l "
					       ":140-140(0)@4000l :170-170(0)@4000l");
	ty_mx_drop();
}

/* The loss on CPU 1 is known of at 130, when the regions of CPU 0 have ended in it: their true
 * ends may be what was lost. What ended before it or began after it is whole. */
static void over_a_loss_elsewhere(void **state)
{
	start();
	at(105, 5, TY_REG_BEGIN, "before", 0);
	at(110, 5, TY_REG_END, "", 0);
	at(111, 5, TY_REG_BEGIN, "into", 0);
	at(125, 5, TY_REG_END, "", 0);
	at(126, 5, TY_REG_BEGIN, "inside", 0);
	at(128, 5, TY_REG_END, "", 0);
	at(129, 5, TY_REG_COUNTER, "n", 1);
	ty_mx_gap(0, 127, 130, 3);
	ty_mx_gap(0, 120, 130, 3);
	at(131, 5, TY_REG_BEGIN, "after", 0);
	at(135, 5, TY_REG_END, "", 0);
	assert_string_equal(text(ty_mx_end()),
			    "before:105-110(5)@0 into:111-125(14)@0l inside:126-128(2)@0l "
			    "after:131-135(4)@0 n:129-129(0)@4000");
	ty_mx_drop();
}

/* The thread is another process's by the time of the end: its entry in the index must not outlive
 * it, nor be looked for under the new process. */
static void by_id_across_exec(void **state)
{
	struct ty_event ev = {.ts_ns = 120, .tid = 6, .kind = TY_EV_EXEC, .id = 9};

	start();
	at(110, 6, TY_REG_ASYNC_BEGIN, "r", 1);
	ev.u.exec.tid = 8;
	ev.u.exec.old_tid = 6;
	ev.u.exec.filename = "x";
	ty_mx_feed(ev);
	ty_mx_gap(1, 130, 140, 3);
	at(150, 6, TY_REG_ASYNC_END, "r", 1);
	at(160, 5, TY_REG_ASYNC_END, "r", 1);
	assert_string_equal(text(ty_mx_end()),
			    "r:160-160(0)@4000l r:110-120(10)@400e r:150-150(0)@4000l");
	ty_mx_drop();
}

/* An exec ends those of its process that are still open, and no other's. */
static void by_id_exec_of_one(void **state)
{
	struct ty_event ev = {.ts_ns = 150, .tid = 5, .kind = TY_EV_EXEC, .id = 9};

	start();
	for (int id = 1; id < 5; id++)
		at(110 + (uint64_t)id, 5, TY_REG_ASYNC_BEGIN, "r", id);
	at(120, 6, TY_REG_ASYNC_BEGIN, "s", 1);
	at(130, 5, TY_REG_ASYNC_END, "r", 2); /* in the middle, */
	at(131, 5, TY_REG_ASYNC_END, "r", 4); /* the youngest, */
	at(132, 5, TY_REG_ASYNC_END, "r", 1); /* and the oldest */
	ev.u.exec.tid = ev.u.exec.old_tid = 5;
	ev.u.exec.filename = "x";
	ty_mx_feed(ev);
	at(160, 6, TY_REG_ASYNC_END, "s", 1);
	assert_string_equal(text(ty_mx_end()),
			    "r:111-132(21)@400 r:112-130(18)@401 r:113-150(37)@402e "
			    "r:114-131(17)@403 s:120-160(40)@404");
	ty_mx_drop();
}

/* Those of a process that ended, ended with it; another one with its number does not end them. */
static void by_id_across_exit(void **state)
{
	struct ty_event ev = {.ts_ns = 115, .tid = 8, .kind = TY_EV_EXIT, .id = 9};

	start();
	ty_mx_fork(0, 105, 5, 8, 0);
	ty_mx_switch(0, 108, 5, R, 8);
	at(110, 8, TY_REG_ASYNC_BEGIN, "r", 1);
	ev.u.tex.tid = 8;
	ty_mx_feed(ev);
	ty_mx_switch(0, 120, 8, TY_TASK_DEAD, 5);
	ty_mx_fork(0, 130, 5, 8, 0);
	at(140, 8, TY_REG_ASYNC_END, "r", 1);
	at(145, 8, TY_REG_ASYNC_BEGIN, "q", 2);
	ty_mx_event(0, 200, 5, TY_EV_OTHER);
	assert_string_equal(text(ty_mx_end()),
			    "r:110-120(10)@400e q:145-200(55)@401o r:140-140(0)@4000u");
	ty_mx_drop();
}

/* g is left by longjmp: f's return ends it, too, without a length. */
static void functions(void **state)
{
	start();
	at(110, 5, TY_REG_CALL, "f", 42);
	at(120, 5, TY_REG_BEGIN, "a", 0);
	at(130, 5, TY_REG_CALL, "g", 0);
	at(150, 5, TY_REG_RETURN, "f", 0);
	at(160, 5, TY_REG_END, "", 0);
	at(170, 5, TY_REG_RETURN, "h", 0);
	assert_string_equal(text(ty_mx_end()),
			    "f:110-150(10)@0 a:120-160(20)@1 g:130-150(20)@2u h:170-170(0)@4000b");
	ty_mx_drop();
}

static void call(uint64_t ts, uint32_t kind, const char *name, uint64_t sp)
{
	struct ty_event ev = {.ts_ns = ts, .tid = 5, .kind = TY_EV_REGION, .id = 30};

	ev.u.region.kind = kind;
	ev.u.region.name = name;
	ev.u.region.sp = sp;
	ty_mx_feed(ev);
}

/* The kernel leaves out the returns of the two inner calls: the outer's is not theirs. Then f
 * leaves g by longjmp and calls it again; a return of a call that was never seen belongs to no
 * call. */
static void by_stack_pointer(void **state)
{
	start();
	call(110, TY_REG_CALL, "f", 1000);
	call(120, TY_REG_CALL, "f", 900);
	call(130, TY_REG_CALL, "f", 800);
	call(150, TY_REG_RETURN, "f", 1008);
	call(200, TY_REG_CALL, "f", 1000);
	call(210, TY_REG_CALL, "g", 900);
	call(220, TY_REG_CALL, "g", 900);
	call(225, TY_REG_RETURN, "g", 708);
	call(230, TY_REG_RETURN, "g", 900); /* as on arm64 */
	call(240, TY_REG_RETURN, "f", 1008);
	assert_string_equal(text(ty_mx_end()),
			    "f:110-150(10)@0 f:200-240(20)@0 f:120-150(10)@1u g:210-220(10)@1u "
			    "g:220-230(10)@1 f:130-150(20)@2u g:225-225(0)@4000u");
	ty_mx_drop();
}

/* Calls whose returns are left out must not hide what comes later. */
static void deep_calls(void **state)
{
	const struct ty_model *m;
	unsigned whole = 0;

	start();
	for (unsigned i = 0; i < 1500; i++)
		call(110 + i, TY_REG_CALL, "f", 100000 - 16 * i);
	call(3000, TY_REG_RETURN, "f", 100008);
	at(3010, 5, TY_REG_BEGIN, "later", 0);
	at(3020, 5, TY_REG_END, "", 0);
	m = ty_mx_end();
	for (uint32_t i = 0; i < ty_model_regions(m); i++)
		whole += !ty_model_region(m, i).flags;
	assert_int_equal(ty_model_regions(m), 1001);
	assert_int_equal(whole, 2); /* the outermost, and later */
	assert_int_equal(ty_model_summary(m)->regions_left_out, 500);
	ty_mx_drop();
}

static void lines(void **state)
{
	start();
	line(110, 5, "B|5|two words|and a bar\n");
	line(115, 5, "C|5|queue|12\n");
	line(116, 5, "C|5|queue|12 apples\n");
	line(117, 5, "tarry_clock realtime_ns=1\n");
	line(118, 5, "S|5|req|77");
	line(119, 5, "");
	line(120, 5, "B|no name");
	line(121, 5, "Everything else");
	line(125, 5, "F|5|req|77");
	line(130, 5, "E|5\n");
	line(131, 5, "I|5|now\n");
	line(140, 5, "B|5|x");
	line(150, 5, "E");
	assert_string_equal(text(ty_mx_end()), "two words|and a bar:110-130(20)@0 x:140-150(10)@0 "
					       "req:118-125(7)@400 queue:115-115(0)@4000 "
					       "now:131-131(0)@4000");
	ty_mx_drop();
}

static void exec_ends(void **state)
{
	struct ty_event ev = {.ts_ns = 150, .tid = 5, .kind = TY_EV_EXEC, .id = 9};

	start();
	at(110, 5, TY_REG_BEGIN, "a", 0);
	ev.u.exec.tid = ev.u.exec.old_tid = 5;
	ev.u.exec.filename = "x";
	ty_mx_feed(ev);
	at(160, 5, TY_REG_BEGIN, "b", 0);
	at(170, 5, TY_REG_END, "", 0);
	assert_string_equal(text(ty_mx_end()), "a:110-150(40)@0e b:160-170(10)@0");
	ty_mx_drop();
}

/* Deeper than is kept: ends match their begins all the same. */
static void deep(void **state)
{
	const struct ty_model *m;

	start();
	at(110, 5, TY_REG_BEGIN, "outer", 0);
	for (unsigned i = 0; i < 1500; i++)
		at(111 + i, 5, TY_REG_BEGIN, "in", 0);
	for (unsigned i = 0; i < 1500; i++)
		at(3000 + i, 5, TY_REG_END, "", 0);
	at(5000, 5, TY_REG_END, "", 0);
	m = ty_mx_end();
	assert_int_equal(ty_model_regions(m), 1000);
	assert_int_equal(ty_model_summary(m)->regions_left_out, 501);
	assert_int_equal(ty_model_region(m, 0).end_ns, 5000);
	assert_int_equal(ty_model_region(m, 0).flags, 0);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nested),
		cmocka_unit_test(by_id),
		cmocka_unit_test(unbalanced),
		cmocka_unit_test(over_a_loss),
		cmocka_unit_test(functions),
		cmocka_unit_test(lines),
		cmocka_unit_test(exec_ends),
		cmocka_unit_test(deep),
		cmocka_unit_test(over_a_loss_elsewhere),
		cmocka_unit_test(by_id_across_exec),
		cmocka_unit_test(by_id_across_exit),
		cmocka_unit_test(by_id_exec_of_one),
		cmocka_unit_test(by_stack_pointer),
		cmocka_unit_test(deep_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
