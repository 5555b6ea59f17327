/* SPDX-License-Identifier: MIT */
/*
 * What a block device explains of a wait: the time in which a request of this wait was in flight,
 * and the time for which that was queued before, whichever thread is woken in between. And how bios
 * become requests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "block_requests.h"
#include "fixture_given.h"
#include "ledger.h"

#define MS UINT64_C(1000000)
#define US UINT64_C(1000)

enum { NR_FSYNC = 74, WAITER = 11, KWORKER = 12, OTHER = 13 };

static void block_at(unsigned cpu, uint64_t ts, int tid, int kind, uint64_t sector, uint32_t nr,
		     const char *rwbs)
{
	struct ty_event ev = {.ts_ns = ts, .cpu = cpu, .tid = tid, .kind = (uint8_t)kind, .id = 20};

	ev.u.block.major = 7;
	ev.u.block.sector = sector;
	ev.u.block.nr_sector = nr;
	strcpy(ev.u.block.rwbs, rwbs);
	ty_mx_feed(ev);
}

#define QUEUE(ts, tid, sector, n)    block_at(0, ts, tid, TY_EV_BLOCK_QUEUE, sector, n, "WS")
#define ISSUE(ts, tid, sector, n)    block_at(0, ts, tid, TY_EV_BLOCK_ISSUE, sector, n, "WS")
#define COMPLETE(ts, tid, sector, n) block_at(0, ts, tid, TY_EV_BLOCK_COMPLETE, sector, n, "WS")

static void irq(uint64_t ts, bool begin)
{
	struct ty_event ev = {.ts_ns = ts, .flags = TY_EVF_HARDIRQ};

	ev.kind = begin ? TY_EV_IRQ_ENTRY : TY_EV_IRQ_EXIT;
	ev.u.irq.irq = 33;
	ev.u.irq.name = "disk";
	ty_mx_feed(ev);
}

/* The waiter is in fsync from 10 ms, off the CPU from 11 ms to 511 ms. */
static void begin(void)
{
	givens = 0;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, KWORKER);
	ty_mx_switch(0, 2 * MS, KWORKER, TY_TASK_IDLE, OTHER);
	ty_mx_switch(0, 3 * MS, OTHER, S, WAITER);
	ty_mx_enter(0, 10 * MS, WAITER, NR_FSYNC);
}

static const struct ty_model *end(void)
{
	ty_mx_switch(0, 512 * MS, 0, R, WAITER);
	ty_mx_exit(0, 513 * MS, WAITER, NR_FSYNC, 0);
	ty_mx_switch(0, 520 * MS, WAITER, S, 0);
	return ty_mx_end();
}

/* The interrupt of a completion wakes the waiter. */
static void completed(uint64_t ts, uint64_t sector, int current)
{
	irq(ts, true);
	COMPLETE(ts + 10 * US, current, sector, 8);
	ty_mx_waking_irq(0, ts + 20 * US, current, WAITER, 0);
	irq(ts + 30 * US, false);
}

static uint64_t of_path(const struct ty_explain *x, enum ty_seg_what what)
{
	uint32_t i = ty_model_thread_find(x->m, WAITER, 515 * MS);
	struct ty_path p = {0};
	uint64_t ns = 0, all = 0;

	assert_int_equal(ty_path_find(x, i, 11 * MS, 512 * MS, &p), 0);
	vec_each (s, &p.seg) {
		ns += s->what == what ? s->end_ns - s->start_ns : 0;
		all += s->end_ns - s->start_ns;
	}
	assert_int_equal(all, 501 * MS);
	ty_path_fini(&p);
	return ns;
}

static uint64_t row_ns(const struct ty_explain *x, const char *part)
{
	uint32_t i = ty_model_thread_find(x->m, WAITER, 515 * MS);
	struct ty_ledger l;
	uint64_t ns = 0, all = 0;

	assert_int_equal(ty_ledger_thread(x, i, 0, UINT64_MAX, &l), 0);
	for (uint32_t k = 0; k < l.n; k++) {
		all += l.rows[k].ns;
		ns += strstr(l.rows[k].row, part) ? l.rows[k].ns : 0;
	}
	assert_int_equal(all, l.end_ns - l.start_ns);
	ty_ledger_fini(&l);
	return ns;
}

static bool name_of_disk(void *ctx, uint32_t major, uint32_t minor, char *buf, size_t n)
{
	snprintf(buf, n, "loop0 (%u:%u, /srv)", major, minor);
	return true;
}

/* Another one's request, issued 367 us before it ends the wait, explains that much of it. */
static void a_short_request_ends_a_long_wait(void **state)
{
	struct ty_explain x;
	struct ty_stalls s;

	(void)state;
	begin();
	ty_mx_switch(0, 11 * MS, WAITER, D, OTHER);
	ISSUE(511 * MS - 357 * US, OTHER, 800, 8);
	completed(511 * MS, 800, OTHER);
	ty_mx_switch(0, 511 * MS + 50 * US, OTHER, S, 0);
	x = explain(end(), 0);
	assert_int_equal(of_path(&x, TY_SEG_DEVICE), 367 * US);
	assert_in_range(of_path(&x, TY_SEG_NO_REQUEST), 499 * MS, 500 * MS);
	assert_int_equal(row_ns(&x, "blocked (uninterruptible) in fsync, woken by block I/O"),
			 367 * US);
	assert_in_range(row_ns(&x, "no I/O request in flight"), 499 * MS, 500 * MS);
	s = stalls_by(&x, false);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].kind, TY_STALL_UNINTERRUPTIBLE);
	assert_false(s.v[0].proven);
	assert_non_null(strstr(s.v[0].sentence,
			       "woken by block I/O completion on disk 7:0 (1 request, 367 us)"));
	assert_non_null(strstr(s.v[0].sentence, "before that, no I/O request was in flight"));
	ty_stalls_fini(&s);
	x.disk = name_of_disk;
	s = stalls_by(&x, false);
	assert_non_null(strstr(s.v[0].sentence, "completion on disk loop0 (7:0, /srv) (1 request"));
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* Pages are read by short requests, each at the end of a long wait (a throttled disk): the sentence
 * has that part of one wait, and of the longest of several. */
static void a_page_of_a_throttled_disk(void **state)
{
	for (unsigned n = 1; n <= 4; n += 3) {
		uint64_t t = 11 * MS;
		struct ty_explain x;
		struct ty_stalls s;

		(void)state;
		givens = 0;
		ty_mx_begin("mode=all\n", NULL);
		ty_mx_switch(0, 3 * MS, 0, R, WAITER);
		ty_mx_enter(0, 4 * MS, WAITER, NR_FSYNC);
		ty_mx_exit(0, 5 * MS, WAITER, NR_FSYNC, 0);
		for (unsigned i = 0; i < n; i++) {
			ty_mx_switch(0, t, WAITER, D, OTHER);
			t += 500 * MS;
			ISSUE(t - 357 * US, OTHER, 800, 8);
			completed(t, 800, OTHER);
			ty_mx_switch(0, t += 50 * US, OTHER, S, WAITER);
			t += 5 * MS;
		}
		ty_mx_switch(0, t, WAITER, S, 0);
		x = explain(ty_mx_end(), 0);
		s = stalls_by(&x, false);
		assert_int_equal(s.n, 1);
		assert_int_equal(s.v[0].kind, TY_STALL_FAULT);
		assert_non_null(
			strstr(s.v[0].sentence, n > 1 ? "For 500 ms of the longest wait, no "
							"I/O request was in flight"
						      : "For 500 ms of the wait, no "
							"I/O request was in flight"));
		ty_stalls_fini(&s);
		ty_mx_drop();
	}
}

/* Its own request (by its bio, by its issue, or both) is in flight all the time, and a kworker
 * hands the completion on, which had been woken for others before; other requests of the device are
 * none of this wait. */
static void a_kworker_hands_on(void **state)
{
	struct ty_explain x;
	struct ty_stalls s;

	(void)state;
	for (unsigned own = 0; own < 4; own++) {
		begin();
		QUEUE(10 * MS + 100 * US, own & 1 ? WAITER : OTHER, 800, 8);
		ISSUE(10 * MS + 200 * US, own & 2 ? WAITER : OTHER, 800, 8);
		/* Behind it, and over before the wait. */
		ISSUE(10 * MS + 300 * US, OTHER, 900, 8);
		COMPLETE(10 * MS + 400 * US, OTHER, 900, 8);
		ty_mx_switch(0, 11 * MS, WAITER, D, OTHER);
		for (unsigned i = 0; i < 40; i++) {
			ISSUE((20 + i * 10) * MS, OTHER, 1000 + i * 8, 8);
			COMPLETE((29 + i * 10) * MS, OTHER, 1000 + i * 8, 8);
		}
		COMPLETE(510 * MS, OTHER, 800, 8);
		ty_mx_waking(0, 510 * MS + 10 * US, OTHER, KWORKER, 0);
		ty_mx_switch(0, 510 * MS + 50 * US, OTHER, S, KWORKER);
		ty_mx_waking(0, 510 * MS + 100 * US, KWORKER, WAITER, 0);
		ty_mx_switch(0, 510 * MS + 200 * US, KWORKER, TY_TASK_IDLE, 0);
		x = explain(end(), 0);
		s = stalls_by(&x, false);
		assert_int_equal(s.n, 1);
		assert_int_equal(s.v[0].kind == TY_STALL_IO, own > 0);
		if (own) {
			assert_int_equal(of_path(&x, TY_SEG_DEVICE), 499 * MS);
			assert_true(s.v[0].proven);
			assert_non_null(strstr(s.v[0].sentence, "disk 7:0 (1 request, 500 ms)"));
		} else {
			assert_int_equal(of_path(&x, TY_SEG_DEVICE), 0);
		}
		ty_stalls_fini(&s);
		ty_mx_drop();
	}
}

static int fd_5(void *ctx, const struct ty_syscall *c, uint64_t args[6])
{
	memset(args, 0, 6 * sizeof(*args));
	args[0] = 5;
	return 0;
}

static const char *before(void *ctx, int32_t pid, int32_t fd, bool *cloexec)
{
	*cloexec = false;
	return fd == 5 ? "/var/db/journal" : NULL;
}

static bool none_left_out(void *ctx, int32_t pid)
{
	return false;
}

/* Its bio waits in a queue for 400 ms, the device takes 90: both are reported, and whose data it
 * was.
 */
static void a_queue_before_the_device(void **state)
{
	struct ty_explain x;
	struct ty_stalls s;

	(void)state;
	begin();
	QUEUE(10 * MS + 100 * US, WAITER, 800, 8);
	ty_mx_switch(0, 11 * MS, WAITER, D, OTHER);
	ISSUE(421 * MS, OTHER, 800, 8);
	completed(511 * MS, 800, OTHER);
	ty_mx_switch(0, 511 * MS + 50 * US, OTHER, S, 0);
	x = explain(end(), 0);
	assert_int_equal(of_path(&x, TY_SEG_QUEUED), 410 * MS);
	assert_in_range(of_path(&x, TY_SEG_DEVICE), 90 * MS, 91 * MS);
	assert_int_equal(row_ns(&x, "I/O request not yet issued to the device"), 410 * MS);
	x.args = fd_5;
	x.fd_before = before;
	x.fds_left_out = none_left_out;
	s = stalls_by(&x, false);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].kind, TY_STALL_IO);
	assert_true(s.v[0].proven);
	assert_non_null(strstr(s.v[0].sentence,
			       "For 410 ms of the wait, the request was not yet issued "
			       "to the device"));
	assert_non_null(strstr(s.v[0].sentence, " in fsync on /var/db/journal at "));
	assert_string_equal(s.v[0].file, "/var/db/journal");
	ty_stalls_fini(&s);
	ty_mx_drop();
}

/* A block softirq's completion wakes, whatever raised it: a thread (loop's own), or an interrupt,
 * which names the device. */
static void completes_in_a_softirq(bool by_irq)
{
	struct ty_event ev = {.tid = OTHER, .id = 32};
	struct ty_explain x;
	struct ty_stalls s;

	begin();
	ISSUE(10 * MS + 100 * US, WAITER, 800, 8);
	ty_mx_switch(0, 11 * MS, WAITER, D, OTHER);
	if (by_irq)
		irq(511 * MS - 1 * US, true);
	ev.u.softirq.vec = 4; /* BLOCK */
	ev.ts_ns = 511 * MS;
	ev.kind = TY_EV_SOFTIRQ_RAISE;
	ev.flags = by_irq ? TY_EVF_HARDIRQ : 0;
	ty_mx_feed(ev);
	if (by_irq)
		irq(511 * MS + 500, false);
	ev.flags = TY_EVF_SOFTIRQ;
	ev.ts_ns = 511 * MS + 1 * US;
	ev.kind = TY_EV_SOFTIRQ_ENTRY;
	ty_mx_feed(ev);
	COMPLETE(511 * MS + 2 * US, OTHER, 800, 8);
	{
		struct ty_event wake = {.ts_ns = 511 * MS + 3 * US,
					.tid = OTHER,
					.kind = TY_EV_WAKING,
					.id = 2,
					.flags = TY_EVF_SOFTIRQ};

		wake.u.wake.tid = WAITER;
		ty_mx_feed(wake);
	}
	ev.ts_ns = 511 * MS + 4 * US;
	ev.kind = TY_EV_SOFTIRQ_EXIT;
	ty_mx_feed(ev);
	ty_mx_switch(0, 511 * MS + 50 * US, OTHER, S, 0);
	x = explain(end(), 0);
	s = stalls_by(&x, false);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].kind, TY_STALL_IO);
	assert_true(s.v[0].proven);
	assert_int_equal(s.v[0].culprit, TY_NONE);
	assert_in_range(of_path(&x, TY_SEG_DEVICE), 500 * MS, 501 * MS);
	assert_in_range(row_ns(&x, by_irq ? "woken by block I/O completion (disk)"
					  : "woken by block I/O completion"),
			500 * MS, 501 * MS);
	ty_stalls_fini(&s);
	ty_mx_drop();
}

static void a_softirq_completes(void **state)
{
	(void)state;
	completes_in_a_softirq(false);
	completes_in_a_softirq(true);
}

/* Bios to requests: of one, of two that were merged, of one that was split; and where events were
 * lost, or the bio was before the recording. */
static void bios_become_requests(void **state)
{
	static const struct {
		uint64_t queue_ns;
		int tid; /* 0: not known */
	} want[] = {{110, WAITER}, {120, OTHER}, {140, WAITER}, {140, WAITER}, {0, 0}, {0, 0}};
	const struct ty_model *m;

	(void)state;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 100, 0, R, WAITER);
	QUEUE(110, WAITER, 800, 8);
	ty_mx_switch(0, 115, WAITER, S, OTHER);
	QUEUE(120, OTHER, 1008, 8);
	ty_mx_switch(0, 125, OTHER, S, WAITER);
	QUEUE(130, WAITER, 1000, 8); /* in front of it */
	QUEUE(140, WAITER, 2000, 100);
	ISSUE(150, WAITER, 800, 8);
	ISSUE(151, WAITER, 1000, 16);
	ISSUE(152, WAITER, 2000, 60);
	ISSUE(153, WAITER, 2060, 40);
	ISSUE(154, WAITER, 3000, 8);
	QUEUE(155, WAITER, 4000, 8);
	ty_mx_gap(0, 156, 160, 3);
	ty_mx_switch(0, 170, WAITER, R, WAITER);
	ISSUE(171, WAITER, 4000, 8);
	ty_mx_event(0, 200, WAITER, TY_EV_OTHER);
	m = ty_mx_end();
	assert_int_equal(ty_model_ios(m), 6);
	for (uint32_t i = 0; i < 6; i++) {
		struct ty_io io = ty_model_io(m, i);

		assert_int_equal(io.queue_ns, want[i].queue_ns);
		assert_int_equal(io.bio_thread == TY_NONE ? 0
							  : ty_model_thread(m, io.bio_thread)->tid,
				 want[i].tid);
	}
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_of_a_throttled_disk),
		cmocka_unit_test(a_short_request_ends_a_long_wait),
		cmocka_unit_test(a_kworker_hands_on),
		cmocka_unit_test(a_queue_before_the_device),
		cmocka_unit_test(a_softirq_completes),
		cmocka_unit_test(bios_become_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
