/* SPDX-License-Identifier: MIT */
/* The data ring of recorder/aux_ring on a real kernel: records come out whole, in order, across the
 * ring's end, and what did not fit is counted. (The AUX ring needs hardware, or tests/rig.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

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
	/* The kernel reports the loss with the next record that fits. */
	g.next = 7;
	name_ourselves(7);
	assert_int_equal(ty_aux_finish(&r, &sink), 0);
	assert_int_equal(g.comms + r.lost, 1001);
	assert_false(g.wrong);
	ty_aux_close(&r);
}

struct mapped {
	unsigned n, marked;
	struct ty_perf_mmap last;
};

static int on_mappings(void *ctx, const struct ty_aux_ring *r, const void *p, size_t n)
{
	struct mapped *g = ctx;
	struct ty_perf_rec rec;
	size_t pos = 0;

	while (ty_perf_buf_next(p, n, &pos, &rec) == 1) {
		struct ty_perf_mmap m;

		if (rec.type != TY_PERF_MMAP2 || ty_perf_mmap(&rec, &m) || m.pid != getpid() ||
		    !strstr(m.name, "test_aux_ring"))
			continue;
		g->n++;
		g->marked += m.has_build_id;
		g->last = m;
	}
	return 0;
}

/* Those of other events, which did not ask for them, must stay as they are (build_id.h). */
static void mappings_have_build_ids_in_our_ring_only(void **state)
{
	enum { MAPS = 400, BYTES = 4096 };
	struct perf_event_attr ours = ty_aux_side_attr(PERF_SAMPLE_TID | PERF_SAMPLE_TIME, BYTES),
			       theirs = ours;
	struct ty_build_ids *ids = ty_build_ids_new();
	struct ty_aux_ring r[2];
	struct mapped g[2] = {0};
	struct ty_err err = {0};
	cpu_set_t all, one;
	uint8_t id[20];
	unsigned id_n = ty_file_build_id("/proc/self/exe", id);
	int cpu = sched_getcpu(), fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	if (ty_aux_open_side(&r[0], &ours, cpu, 4 * BYTES, ids, &err)) {
		print_message("# SKIP %s\n", err.msg);
		skip();
	}
	assert_int_equal(ty_aux_open(&r[1], &theirs, 0, -1, 4 * BYTES, 0, false, &err), 0);
	assert_int_equal(ty_aux_on(&r[0], true, &err), 0);
	assert_int_equal(ty_aux_on(&r[1], true, &err), 0);
	assert_int_equal(id_n, 20);
	for (unsigned i = 0; i < MAPS; i++) { /* round the ring's end */
		void *p = mmap(NULL, BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		assert_ptr_not_equal(p, MAP_FAILED);
		for (unsigned k = 0; k < 2; k++) {
			const struct ty_aux_sink sink = {on_mappings, on_aux, &g[k]};

			assert_int_equal(ty_aux_drain(&r[k], &sink), 0);
			assert_int_equal(g[k].n, i + 1);
		}
		assert_int_equal(g[0].last.build_id_n, id_n);
		assert_memory_equal(g[0].last.build_id, id, id_n);
		munmap(p, BYTES);
	}
	assert_int_equal(g[0].marked, MAPS);
	assert_int_equal(g[1].marked, 0);
	for (unsigned k = 0; k < 2; k++)
		ty_aux_close(&r[k]);
	ty_build_ids_free(ids);
	close(fd);
	sched_setaffinity(0, sizeof(all), &all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_in_order),
		cmocka_unit_test(what_does_not_fit_is_counted),
		cmocka_unit_test(mappings_have_build_ids_in_our_ring_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
