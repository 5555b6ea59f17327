/* SPDX-License-Identifier: MIT */
/* The data ring of recorder/aux_ring on a real kernel: records come out whole, in order, across the
 * ring's end, and what did not fit is counted. (The AUX ring needs hardware, or tests/rig.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "aux_ring.h"
#include "perf_record.h"

struct got {
	uint64_t comms, next, pieces;
	bool wrong;
};

static int on_records(void *ctx, const struct ty_aux_ring *r, const void *p, size_t n)
{
	struct got *g = ctx;
	struct ty_perf_rec rec;
	size_t pos = 0;

	g->pieces++;
	while (ty_perf_buf_next(p, n, &pos, &rec) == 1) {
		struct ty_perf_comm c;

		if (rec.type != TY_PERF_COMM)
			continue;
		g->wrong |= ty_perf_comm(&rec, &c) || strtoull(c.comm, NULL, 10) != g->next;
		g->next++;
		g->comms++;
	}
	g->wrong |= pos != n;
	return 0;
}

static int on_aux(void *ctx, const struct ty_aux_ring *r, uint64_t off, const void *p, size_t n)
{
	((struct got *)ctx)->wrong = true;
	return 0;
}

static void open_ring(struct ty_aux_ring *r)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.comm = 1,
		.disabled = 1,
		.sample_id_all = 1,
	};
	struct ty_err err = {0};

	if (ty_aux_open(r, &attr, 0, -1, 4096, 0, false, &err)) {
		print_message("# SKIP %s\n", err.msg);
		skip();
	}
	assert_int_equal(ty_aux_on(r, true, &err), 0);
}

static void name_ourselves(uint64_t i)
{
	char name[16];

	snprintf(name, sizeof(name), "%llu", (unsigned long long)i);
	prctl(PR_SET_NAME, name);
}

static void records_come_in_order(void **state)
{
	struct ty_aux_ring r;
	struct got g = {0};
	struct ty_aux_sink sink = {on_records, on_aux, &g};

	open_ring(&r);
	for (uint64_t i = 0; i < 3000; i++) {
		name_ourselves(i);
		if (i % 37 == 0)
			assert_int_equal(ty_aux_drain(&r, &sink), 0);
	}
	assert_int_equal(ty_aux_finish(&r, &sink), 0);
	assert_int_equal(g.comms, 3000);
	assert_false(g.wrong);
	assert_int_equal(r.lost, 0);
	ty_aux_close(&r);
}

static void what_does_not_fit_is_counted(void **state)
{
	struct ty_aux_ring r;
	struct got g = {0};
	struct ty_aux_sink sink = {on_records, on_aux, &g};

	open_ring(&r);
	for (uint64_t i = 0; i < 1000; i++)
		name_ourselves(i);
	assert_int_equal(ty_aux_drain(&r, &sink), 0);
	assert_true(g.comms > 10 && g.comms < 1000);
	/* The kernel tells of the loss with the next record that fits. */
	g.next = 7;
	name_ourselves(7);
	assert_int_equal(ty_aux_finish(&r, &sink), 0);
	assert_int_equal(g.comms + r.lost, 1001);
	assert_false(g.wrong);
	ty_aux_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_in_order),
		cmocka_unit_test(what_does_not_fit_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
