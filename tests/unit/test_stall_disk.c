/* SPDX-License-Identifier: MIT */
/* Other threads that waited for a disk, while a thread did without a request there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "fixture_given.h"

#define MS UINT64_C(1000000)

enum { NR_FSYNC = 74, VICTIM = 11, OTHER = 12, ELSEWHERE = 13, KWORKER = 14 };

static void block(uint64_t ts, int kind, uint32_t major, uint64_t sector, uint32_t nr)
{
	struct ty_event ev = {.ts_ns = ts, .tid = KWORKER, .kind = (uint8_t)kind, .id = 20};

	ev.u.block.major = major;
	ev.u.block.sector = sector;
	ev.u.block.nr_sector = nr;
	ev.u.block.bytes = nr * 512;
	strcpy(ev.u.block.rwbs, "WS");
	ty_mx_feed(ev);
}

/* The completion of a request of a kernel thread's wakes the thread, in an interrupt. */
static void completed(uint64_t ts, uint32_t major, uint64_t sector, uint32_t nr, int tid)
{
	struct ty_event ev = {.ts_ns = ts, .flags = TY_EVF_HARDIRQ, .kind = TY_EV_IRQ_ENTRY};

	ev.u.irq.irq = 33;
	ev.u.irq.name = "disk";
	ty_mx_feed(ev);
	block(ts + 1000, TY_EV_BLOCK_COMPLETE, major, sector, nr);
	ty_mx_waking_irq(0, ts + 2000, 0, tid, 0);
	ev.kind = TY_EV_IRQ_EXIT;
	ev.ts_ns = ts + 3000;
	ty_mx_feed(ev);
	ty_mx_switch(0, ts + 4000, 0, R, tid);
}

/* The victim's request, if it is its own, is in flight all the time. */
static struct ty_stalls syncs(bool own)
{
	const int tid[] = {OTHER, ELSEWHERE, VICTIM};
	uint64_t t = 1 * MS;
	struct ty_stalls s;

	givens = 0;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, t, 0, R, KWORKER);
	for (unsigned i = 0; i < 3; i++) {
		ty_mx_switch(0, t += 1000, i ? tid[i - 1] : KWORKER, i ? D : TY_TASK_IDLE, tid[i]);
		give(t += 1000, 5 + i, 0, 0);
		ty_mx_enter(0, t, tid[i], NR_FSYNC);
	}
	if (own) {
		struct ty_event ev = {
			.ts_ns = t += 1000, .tid = VICTIM, .kind = TY_EV_BLOCK_ISSUE, .id = 20};

		ev.u.block.major = 7;
		ev.u.block.sector = 300;
		ev.u.block.nr_sector = 8;
		ev.u.block.bytes = 4096;
		strcpy(ev.u.block.rwbs, "WS");
		ty_mx_feed(ev);
	}
	ty_mx_switch(0, t += 1000, VICTIM, D, 0);
	block(190 * MS, TY_EV_BLOCK_ISSUE, 7, 100, 2000);
	completed(200 * MS, 7, 100, 2000, OTHER);
	ty_mx_exit(0, 201 * MS, OTHER, NR_FSYNC, 0);
	ty_mx_switch(0, 202 * MS, OTHER, S, 0);
	block(240 * MS, TY_EV_BLOCK_ISSUE, 8, 200, 8);
	completed(250 * MS, 8, 200, 8, ELSEWHERE);
	ty_mx_exit(0, 251 * MS, ELSEWHERE, NR_FSYNC, 0);
	ty_mx_switch(0, 252 * MS, ELSEWHERE, S, 0);
	if (!own)
		block(290 * MS, TY_EV_BLOCK_ISSUE, 7, 300, 8);
	completed(300 * MS, 7, 300, 8, VICTIM);
	ty_mx_exit(0, 301 * MS, VICTIM, NR_FSYNC, 0);
	ty_mx_switch(0, 302 * MS, VICTIM, S, 0);
	s = stalls_of(ty_mx_end(), 0, false);
	assert_true(s.n >= 1);
	return s;
}

static const char *sentence_of(const struct ty_stalls *s, uint64_t longer_ns)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->v[i].duration_ns > longer_ns)
			return s->v[i].sentence;
	return "";
}

static void who_used_the_disk_meanwhile(void **state)
{
	struct ty_stalls s = syncs(false);
	const char *text = sentence_of(&s, 290 * MS);

	(void)state;
	assert_non_null(strstr(text,
			       ". Meanwhile t12/12 (199 ms) also waited for that disk, which moved "
			       "1.0 MB"));
	assert_null(strstr(text, "13/13"));
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* Then the disk was slow, which is the cause. */
static void not_where_its_own_request_took_the_time(void **state)
{
	struct ty_stalls s = syncs(true);

	(void)state;
	assert_null(strstr(sentence_of(&s, 290 * MS), "which moved"));
	ty_stalls_fini(&s);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_used_the_disk_meanwhile),
		cmocka_unit_test(not_where_its_own_request_took_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
