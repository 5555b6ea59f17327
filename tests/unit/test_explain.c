/* SPDX-License-Identifier: MIT */
/* Ledgers of small machines; and paths, ledgers, answers and stalls of random events with loss,
 * damage and missing switches: a path covers its time exactly, a ledger's rows sum to its window.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "answer.h"
#include "fixture_given.h"
#include "fixture_lock.h"
#include "fixture_model.h"
#include "ledger.h"
#include "model_priv.h"
#include "stalls.h"
#include "window_all.h"

/* Woken behind two threads that take turns a thousand times: none of that time is unknown. */
static void ledger_of_a_wait_behind_a_crowd(void **state)
{
	const struct ty_model *m;
	struct ty_explain x;
	struct ty_ledger l;
	uint64_t behind = 0;

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	ty_mx_waking(0, 2 * MS, 11, 13, 0);
	for (unsigned i = 0; i < 1000; i++)
		ty_mx_switch(0, (3 + i) * MS, 11 + i % 2, R, 12 - i % 2);
	ty_mx_switch(0, 1003 * MS, 11, R, 13);
	ty_mx_switch(0, 1010 * MS, 13, S, 0);
	m = ty_mx_end();
	x = explain(m, 0);
	assert_int_equal(ty_ledger_thread(&x, thread(m, 13), 2 * MS, 1003 * MS, &l), 0);
	for (size_t i = 0; i < l.n; i++) {
		assert_null(strstr(l.rows[i].row, "not recorded"));
		assert_non_null(strstr(l.rows[i].row, "ran on its CPU"));
		behind += l.rows[i].ns;
	}
	assert_int_equal(behind, 1001 * MS);
	ty_ledger_fini(&l);
	ty_mx_drop();
}

static void ledger_of_the_sleep(void **state)
{
	const struct ty_model *m = lock_and_sleep();
	struct ty_explain x = explain(m, 11);
	struct ty_ledger l;

	assert_int_equal(ty_ledger_thread(&x, thread(m, 12), 0, UINT64_MAX, &l), 0);
	assert_string_equal(l.rows[0].row, "sleeping in flock, woken by t13");
	assert_string_equal(ty_ledger_row_text(m, &l.rows[0], (char[TY_LEDGER_ROW_TEXT]){0}),
			    "sleeping in flock, woken by t13/13");
	l.rows[0].longest_ns--; /* several waits */
	assert_string_equal(ty_ledger_row_text(m, &l.rows[0], (char[TY_LEDGER_ROW_TEXT]){0}),
			    "sleeping in flock, woken by t13");
	assert_int_equal(l.rows[0].ns, 103 * MS);
	ty_ledger_fini(&l);
	assert_int_equal(ty_ledger_command(&x, 0, UINT64_MAX, &l), 0);
	assert_string_equal(l.rows[0].row, "t13/13: sleeping in nanosleep, woken by a timer");
	assert_int_equal(l.thread, TY_NONE);
	ty_ledger_fini(&l);
	x.command_tid = 0;
	assert_int_equal(ty_ledger_command(&x, 0, UINT64_MAX, &l), -TY_ENOTFOUND);
	ty_ledger_fini(&l);
	ty_mx_drop();
}

static uint64_t seed;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static struct ty_event random_event(uint64_t t)
{
	struct ty_event ev = {.ts_ns = t,
			      .cpu = rnd() % 4,
			      .tid = (int)(rnd() % 8),
			      .buffer = (uint16_t)(rnd() % 2),
			      .flags = rnd() % 2 ? 0 : (uint8_t)rnd(),
			      .id = (uint16_t)(rnd() % 40),
			      .kind = (uint8_t)(rnd() % TY_EV_KINDS)};
	int32_t a = (int)(rnd() % 9) - 1, b = (int)(rnd() % 8);

	if (rnd() % 2)
		ev.kind = rnd() % 2 ? TY_EV_SWITCH : TY_EV_WAKING;
	switch (ev.kind) {
	case TY_EV_GAP:
		ev.u.gap.from_ns = t - rnd() % 200;
		ev.u.gap.count = rnd() % 3 ? rnd() : UINT64_MAX;
		ev.u.gap.to_end = rnd() % 50 == 0;
		break;
	case TY_EV_SWITCH:
		ev.buffer = 0;
		ev.u.sw.prev_tid = rnd() % 4 ? ev.tid : a;
		ev.u.sw.next_tid = b;
		ev.u.sw.prev_prio = (int)(rnd() % 140);
		ev.u.sw.prev_state = rnd() % 2 ? rnd() & 0x1ff : 1;
		break;
	case TY_EV_WAKING:
	case TY_EV_WAKEUP:
	case TY_EV_WAKEUP_NEW:
		ev.buffer = 0;
		ev.u.wake.tid = a;
		ev.u.wake.target_cpu = b;
		break;
	case TY_EV_FORK:
		ev.u.fork.parent_tid = b;
		ev.u.fork.child_tid = a;
		break;
	case TY_EV_NEWTASK:
		ev.u.newtask.tid = a;
		ev.u.newtask.clone_flags = rnd() % 2 ? 0x10000 : 0;
		break;
	case TY_EV_EXEC:
		ev.u.exec.tid = a;
		ev.u.exec.old_tid = b;
		ev.u.exec.filename = "";
		break;
	case TY_EV_EXIT: ev.u.tex.tid = a; break;
	case TY_EV_IRQ_ENTRY: ev.u.irq.name = "disk"; break;
	case TY_EV_SOFTIRQ_ENTRY:
	case TY_EV_SOFTIRQ_EXIT:
	case TY_EV_SOFTIRQ_RAISE:
	case TY_EV_VECTOR_ENTRY:
	case TY_EV_VECTOR_EXIT: ev.u.softirq.vec = (uint32_t)(rnd() % 10); break;
	case TY_EV_BLOCK_ISSUE:
	case TY_EV_BLOCK_COMPLETE:
		ev.u.block.sector = rnd() % 4 * 8;
		ev.u.block.nr_sector = (uint32_t)(rnd() % 17);
		break;
	case TY_EV_SIGNAL_GENERATE:
		ev.u.sig.sig = (int)(rnd() % 25);
		ev.u.sig.tid = a;
		break;
	case TY_EV_SYS_ENTER: ev.u.enter.nr = (int64_t)(rnd() % 300); break;
	case TY_EV_SYS_EXIT: ev.u.exit.nr = (int64_t)(rnd() % 300); break;
	default: break;
	}
	return ev;
}

static void check_ledger(const struct ty_ledger *l)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		sum += l->rows[i].ns;
		assert_true(l->rows[i].ns > 0 && l->rows[i].row[0]);
		assert_true(!i || l->rows[i].ns <= l->rows[i - 1].ns);
	}
	assert_int_equal(sum, l->end_ns - l->start_ns);
}

/* An answer's parts, and its items with the rest, sum to what it is about. */
static void check_answer(const struct ty_explain *x)
{
	struct ty_window w = window_all(x->m);
	uint64_t parts = 0, items = 0;
	struct ty_answer a;

	assert_int_equal(ty_answer_find(x, &w, NULL, &a), 0);
	for (unsigned p = 0; p < TY_ANSWER_PARTS_N; p++)
		parts += a.part_ns[p];
	for (uint32_t i = 0; i < a.items; i++) {
		items += a.item[i].ns;
		assert_true(a.item[i].text[0]);
		/* Threads' waits stand behind what those did that had work. */
		assert_true(a.of == TY_ANSWER_THREADS || !i || a.item[i].ns <= a.item[i - 1].ns);
	}
	assert_int_equal(parts, a.total_ns);
	/* Of a machine idle time belongs to no thread; when runs are inferred threads may have more
	 * than CPUs. */
	if (a.of == TY_ANSWER_MACHINE)
		assert_true(items + a.rest_ns >= a.part_ns[TY_PART_CPU]);
	else
		assert_int_equal(items + a.rest_ns, a.total_ns);
}

static int no_args(void *ctx, const struct ty_syscall *c, uint64_t args[6])
{
	for (unsigned i = 0; i < 6; i++)
		args[i] = rnd() % 8;
	return rnd() % 3 ? 0 : -TY_ENOTFOUND;
}

static void sums(void **state)
{
	uint64_t segs = 0, hops = 0, rows = 0, stalls = 0;

	for (uint64_t s = 1; s < 1200; s++) {
		const struct ty_model *m;
		struct ty_explain x;
		struct ty_window w;
		struct ty_stalls_opts o = {.min_ns = 50};
		struct ty_stalls st;
		struct ty_ledger l;

		seed = s * 77 + 5;
		ty_mx_begin(s % 2 ? "mode=all\nno_idle_switch=1\n" : NULL, NULL);
		for (uint64_t i = 0, t = 1000; i < 500; i++)
			ty_mx_feed(random_event(t += rnd() % 30));
		m = ty_mx_end();
		x = explain(m, (int)(s % 8));
		x.args = no_args;
		w = window_all(m);
		for (uint32_t i = 0; i < ty_model_summary(m)->threads; i++) {
			uint64_t from = w.from_ns + rnd() % (w.to_ns - w.from_ns + 1),
				 to = from + rnd() % (w.to_ns - from + 1), at = from;
			struct ty_path p = {0};

			assert_int_equal(ty_ledger_thread(&x, i, 0, UINT64_MAX, &l), 0);
			check_ledger(&l);
			rows += l.n;
			ty_ledger_fini(&l);
			assert_int_equal(ty_ledger_thread(&x, i, from, to, &l), 0);
			check_ledger(&l);
			ty_ledger_fini(&l);
			assert_int_equal(ty_path_find(&x, i, from, to, &p), 0);
			for (size_t k = 0; k < p.seg.n; k++) {
				assert_int_equal(p.seg.v[k].start_ns, at);
				assert_true(p.seg.v[k].end_ns > at);
				at = p.seg.v[k].end_ns;
			}
			assert_int_equal(at, to);
			for (size_t k = 0; k < p.hop.n; k++) {
				uint32_t up = p.hop.v[k].parent;

				assert_true(up == TY_NONE || up < k);
				if (up != TY_NONE) {
					assert_true(p.hop.v[k].start_ns >= p.hop.v[up].start_ns);
					assert_true(p.hop.v[k].end_ns <= p.hop.v[up].end_ns);
				}
			}
			segs += p.seg.n;
			hops += p.hop.n;
			ty_path_fini(&p);
		}
		if (!ty_ledger_command(&x, 0, UINT64_MAX, &l))
			check_ledger(&l);
		ty_ledger_fini(&l);
		check_answer(&x);
		o.all = s % 3 == 0;
		assert_int_equal(ty_stalls_find(&x, &w, &o, 100, &st, NULL), 0);
		for (uint32_t i = 0; i < st.n; i++) {
			if (!(st.v[i].duration_ns > 0 && st.v[i].links > 0))
				fail_msg("seed %u: kind %u, %u links: %s", (unsigned)s,
					 st.v[i].kind, st.v[i].links, st.v[i].sentence);
			assert_true(st.v[i].sentence[0]);
		}
		stalls += st.n;
		ty_stalls_fini(&st);
	}
	assert_true(segs > 20000 && hops > 1000 && rows > 20000 && stalls > 1000);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ledger_of_the_sleep),
		cmocka_unit_test(ledger_of_a_wait_behind_a_crowd),
		cmocka_unit_test(sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
