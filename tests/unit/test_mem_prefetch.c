/* SPDX-License-Identifier: MIT */
/* Decoding ahead by threads gives the very items that decoding one by one gives: random rings with
 * damage, holes and flags, and what is left is given back wherever one stops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "mem_stream.h"
#include "perf_write.h"
#include "spe_encode.h"

enum { CPUS = 5, RECORDS = 3000 };

static uint64_t state = 88172645463325252ull;

static unsigned rnd(unsigned below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 11) % below;
}

static void ring(struct perf_write *w, unsigned cpu)
{
	struct ty_buf b;
	uint64_t t = 1000 + rnd(1000);
	size_t cut;

	ty_buf_init(&b, 1 << 20);
	for (unsigned i = 0; i < RECORDS; i++, t += 1 + rnd(300)) {
		spe_mem(&b, (struct spe_mem){.pc = 0x4000 + 4 * rnd(100),
					     .va = 0x7000 + 8 * rnd(1000),
					     .ts = t,
					     .ctx = rnd(3) ? 100 + (int)rnd(4) : -1,
					     .source = (int)rnd(16) - 1,
					     .op = rnd(2),
					     .total = rnd(4000),
					     .issue = rnd(100)});
		if (!rnd(100))
			b.p[b.len - 1 - rnd(60)] = (char)rnd(256);
	}
	cut = b.len / 2 / 64 * 64;
	pw_auxtrace(w, 0, (int)cpu, -1, b.p, cut);
	pw_aux(w, (struct pw_at){.pid = 1, .tid = 1, .time = 1, .cpu = cpu}, 0, cut / 2,
	       TY_PERF_AUX_COLLISION);
	pw_auxtrace(w, cut + 640, (int)cpu, -1, b.p + cut, b.len - cut);
	ty_buf_fini(&b);
}

/* A line for each item, at most that many. */
static void items(struct ty_mem_stream *s, unsigned threads, struct ty_buf *out, unsigned most)
{
	const struct ty_mem *m;
	struct ty_err err = {0};
	int r = 0;

	ty_mem_threads(s, threads);
	ty_mem_rewind(s);
	ty_buf_reset(out);
	for (unsigned i = 0; i < most && (r = ty_mem_next(s, &m, &err)) > 0; i++)
		ty_buf_addf(out, "%llu %u %u %d %llx %llx %u %u %s %llu\n",
			    (unsigned long long)m->ts_ns, m->cpu, m->kind, m->tid,
			    (unsigned long long)m->pc, (unsigned long long)m->va, m->lat_total,
			    m->level, m->kind == TY_MEM_GAP ? m->gap : "",
			    (unsigned long long)m->off);
	assert_true(r >= 0);
	assert_int_equal(out->failed, 0);
}

static void begin(struct perf_write *w)
{
	uint64_t words[2] = {8, 1};

	pw_init(w);
	pw_time_conv(w, 0, 1, 0);
	pw_words(w, TY_PERF_AUXTRACE_ARM_SPE, words, 2);
}

/* What was written, as a file that is open. */
static struct ty_mem_stream *opened(struct perf_write *w, struct ty_perf **p)
{
	struct ty_err err = {0};
	struct ty_mem_stream *s = NULL;
	struct ty_buf file;
	char path[32];

	ty_buf_init(&file, 1 << 24);
	pw_file(w, &file);
	pw_save(&file, path);
	if (ty_perf_open(path, p, &err) || ty_mem_open(*p, &s, &err))
		fail_msg("%s", err.msg);
	unlink(path);
	ty_buf_fini(&file);
	pw_fini(w);
	return s;
}

static void test_same(void **st)
{
	struct ty_buf want, got;
	struct ty_mem_stream *s;
	struct perf_write w;
	struct ty_perf *p;

	begin(&w);
	for (unsigned c = 0; c < CPUS; c++)
		ring(&w, c);
	s = opened(&w, &p);
	ty_buf_init(&want, 1 << 24);
	ty_buf_init(&got, 1 << 24);
	items(s, 0, &want, UINT32_MAX);
	assert_true(want.len > CPUS * RECORDS * 30);
	for (unsigned threads = 1; threads < 8; threads += 2) {
		items(s, threads, &got, UINT32_MAX);
		assert_int_equal(got.len, want.len);
		assert_memory_equal(got.p, want.p, want.len);
		/* Left in the middle. */
		items(s, threads, &got, 100 * threads);
		assert_memory_equal(got.p, want.p, got.len);
	}
	ty_mem_close(s);
	ty_perf_close(p);
	ty_buf_fini(&want);
	ty_buf_fini(&got);
}

/* An alignment packet at the end of a piece skips nothing of the next one that lies behind what it
 * skips. */
static void test_skip_ends_in_hole(void **st)
{
	struct ty_buf b, got;
	struct ty_mem_stream *s;
	struct perf_write w;
	struct ty_perf *p;
	unsigned lines = 0;

	(void)st;
	begin(&w);
	ty_buf_init(&b, 1 << 20);
	ty_buf_addc(&b, 0x2f); /* to 65536, of which 64000 bytes are in the hole */
	spe_pad(&b, 1535);
	pw_auxtrace(&w, 0, 0, -1, b.p, b.len);
	ty_buf_reset(&b);
	for (unsigned i = 0; i < 10; i++)
		spe_mem(&b, (struct spe_mem){.pc = 0x4000, .va = 0x7000, .ts = 1000 + i, .ctx = 7});
	pw_auxtrace(&w, 1536 + 64000, 0, -1, b.p, b.len);
	s = opened(&w, &p);
	ty_buf_init(&got, 1 << 16);
	items(s, 0, &got, UINT32_MAX);
	for (size_t i = 0; i < got.len; i++)
		lines += got.p[i] == '\n';
	assert_int_equal(lines, 10 + 1); /* and the hole */
	ty_mem_close(s);
	ty_perf_close(p);
	ty_buf_fini(&b);
	ty_buf_fini(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_skip_ends_in_hole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
