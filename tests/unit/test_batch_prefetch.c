/* SPDX-License-Identifier: MIT */
/*
 * Decoding ahead changes nothing: on random recordings with losses, damaged and missing chunks and
 * pages, and clocks that step back, the events are the same with any number of workers, and the
 * model that ty_builder_take makes is the one of ty_builder_feed, for the whole and for its first
 * part. Little- and big-endian, 64- and 32-bit kernels. This file stands in for format/'s chunk
 * reader.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "events.h"
#include "model_priv.h"
#include "ring_pages.h"
#include "trace.h"

#define PAGE	512
#define CPUS	3
#define STREAMS (2 * CPUS)
#define PAGES	1600
#define THREADS 7
#define STEPS	16000 /* enough to fill blocks of the model */

enum { ID_ENTER = 20, ID_EXIT, ID_SWITCH, ID_WAKING };

#define HEAD(name, id)                                                                             \
	"name: " name "\nID: " #id "\nformat:\n"                                                   \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define F(decl, off, size, sgn)                                                                    \
	"\tfield:" decl ";\toffset:" #off ";\tsize:" #size ";\tsigned:" #sgn ";\n"
#define SWITCH(state, o)                                                                           \
	HEAD("sched_switch", 22)                                                                   \
	F("char prev_comm[16]", 8, 16, 0)                                                          \
	F("pid_t prev_pid", 24, 4, 1)                                                              \
	F("int prev_prio", 28, 4, 1)                                                               \
	state F("char next_comm[16]", 40, 16, 0) F("pid_t next_pid", 56, 4, 1)                     \
		F("int next_prio", 60, 4, 1)
#define WAKING                                                                                     \
	HEAD("sched_waking", 23)                                                                   \
	F("char comm[16]", 8, 16, 0)                                                               \
	F("pid_t pid", 24, 4, 1) F("int prio", 28, 4, 1) F("int target_cpu", 32, 4, 1)

static const char *const texts[2][4] = {
	{HEAD("sys_enter", 20) F("int id", 8, 4, 1) F("unsigned long args[6]", 12, 24, 0),
	 HEAD("sys_exit", 21) F("int id", 8, 4, 1) F("int ret", 12, 4, 1),
	 SWITCH(F("int prev_state", 32, 4, 1), 4), WAKING},
	{HEAD("sys_enter", 20) F("long id", 8, 8, 1) F("unsigned long args[6]", 16, 48, 0),
	 HEAD("sys_exit", 21) F("long id", 8, 8, 1) F("long ret", 16, 8, 1),
	 SWITCH(F("long prev_state", 32, 8, 1), 8), WAKING},
};

enum fault { GOOD, MISSING, DAMAGED };

static struct {
	struct ty_trace t;
	struct ty_trace_buffer buffers[2];
	struct ty_stream streams[STREAMS];
	struct ty_event_format formats[4];
	bool times;
	struct stream {
		uint8_t raw[PAGES * PAGE];
		uint32_t pages;
		struct page_maker m;
		uint64_t ts, missed, page_ts[PAGES];
		uint32_t first[PAGES + 1]; /* page of each chunk */
		enum fault fault[PAGES];
	} s[STREAMS];
} fake;

static uint64_t seed;
static bool wild;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

struct ty_chunk ty_trace_chunk(const struct ty_trace *t, uint32_t stream, uint32_t chunk)
{
	const struct stream *s = &fake.s[stream];
	struct ty_chunk c = {.raw_bytes = (s->first[chunk + 1] - s->first[chunk]) * PAGE,
			     .first_page = s->first[chunk],
			     .missing = s->fault[chunk] == MISSING};

	if (fake.times) {
		c.first_ns = s->page_ts[s->first[chunk]];
		c.last_ns = s->page_ts[s->first[chunk + 1] - 1];
	}
	return c;
}

int ty_trace_chunk_read(const struct ty_trace *t, uint32_t stream, uint32_t chunk, void *dst,
			struct ty_chunk_scratch *scratch, struct ty_err *err)
{
	const struct stream *s = &fake.s[stream];

	if (s->fault[chunk] != GOOD)
		return ty_fail(err, TY_EFORMAT, 0, "as the test wants it");
	memcpy(dst, s->raw + (size_t)s->first[chunk] * PAGE,
	       (size_t)(s->first[chunk + 1] - s->first[chunk]) * PAGE);
	return 0;
}

/* a random machine ---------------------------------------------------------------------------- */

static void end_page(struct stream *s)
{
	if (!s->m.p)
		return;
	ty_page_end(&s->m, s->missed);
	s->missed = 0;
	if (rnd() % 60)
		;
	else if (!wild) /* damage: more bytes than a page has */
		ty_page_put(&s->m, s->m.p + 8, PAGE, s->m.long_size);
	else /* damage that may pass for a record, even for a step of the clock */
		ty_page_put(&s->m, s->m.p + 8 + s->m.long_size + 8 * (rnd() % 8), rnd(), 4);
	s->m.p = NULL;
}

/* One record; v: its bytes after the head, as 4-byte numbers and longs at the caller's offsets. */
static void record(unsigned stream, uint64_t ts, unsigned id, int tid, uint8_t *data, uint32_t n)
{
	struct stream *s = &fake.s[stream];
	struct page_maker *m = &s->m;
	uint64_t delta;

	if (m->p && (m->pos + n + 32 > PAGE || rnd() % 300 == 0)) {
		end_page(s);
		if (rnd() % 20 == 0)
			s->missed = rnd() % 3 ? 1 + rnd() % 9 : UINT64_MAX;
	}
	if (!m->p) {
		if (s->pages == PAGES)
			return;
		ty_page_begin(m, s->raw + (size_t)s->pages * PAGE, PAGE, ts, fake.t.long_size,
			      fake.t.big_endian);
		s->page_ts[s->pages++] = s->ts = ts;
		if (rnd() % 50 == 0 && ts > 100) { /* an unsteady clock */
			s->ts -= rnd() % 50;
			ty_page_put(m, m->p, s->ts, 8);
		}
	}
	delta = ts - s->ts;
	if (delta >> 27) {
		ty_page_extend(m, delta);
		delta = 0;
	}
	ty_page_put(m, data, id, 2);
	ty_page_put(m, data + 4, (uint32_t)tid, 4);
	ty_page_data(m, (uint32_t)delta, data, n);
	s->ts = ts;
}

static struct {
	uint64_t now;
	int cur[CPUS];
	bool asleep[THREADS + 1];
	int64_t in_call[THREADS + 1]; /* -1: none */
	unsigned renamed[THREADS + 1];
} sim;

static int tid_of(int thread)
{
	return thread ? 100 + thread : 0;
}

static void put(unsigned stream, uint8_t *d, unsigned off, int64_t v, unsigned bytes)
{
	struct page_maker m = {.be = fake.t.big_endian};

	ty_page_put(&m, d + off, (uint64_t)v, bytes);
}

static void sys(unsigned cpu, int t)
{
	static const int numbers[] = {0, 1, 39, 24, 57, 59, 15, 231, 5000, 72, 202, 33};
	unsigned l = fake.t.long_size, s = CPUS + cpu;
	uint8_t d[64] = {0};

	if (sim.in_call[t] < 0) {
		sim.in_call[t] = numbers[rnd() % 4 ? rnd() % 3 : rnd() % 12];
		put(s, d, 8, sim.in_call[t], l);
		for (unsigned i = 0; i < 6; i++)
			put(s, d, 8 + l + l * i, (int64_t)(rnd() >> rnd() % 64), l);
		record(s, sim.now, ID_ENTER, tid_of(t), d, 8 + 7 * l);
	} else {
		put(s, d, 8, sim.in_call[t], l);
		put(s, d, 8 + l, rnd() % 9 ? (int64_t)(rnd() % 99) : -512, l);
		record(s, sim.now, ID_EXIT, tid_of(t), d, 8 + 2 * l);
		sim.in_call[t] = -1;
	}
}

/* A name that changes now and then; what is behind its end, too. */
static void name(uint8_t *d, int t)
{
	unsigned n = 1 + (unsigned)t % TY_COMM;

	if (!t)
		return;
	if (rnd() % 200 == 0)
		sim.renamed[t]++;
	memset(d, 'a' + sim.renamed[t] % 3, n);
	if (n < TY_COMM - 1 && rnd() % 50 == 0)
		d[n + 1] = (uint8_t)rnd();
}

/* Nearly always one of the kernel's. */
static int64_t prio(void)
{
	return rnd() % 300 ? 120 - (int64_t)(rnd() % 30 == 0) : (int64_t)(int32_t)rnd();
}

static void runs(unsigned cpu, int next, int state)
{
	int prev = sim.cur[cpu];
	uint8_t d[64] = {0};

	name(d + 8, prev);
	name(d + 40, next);
	put(cpu, d, 24, tid_of(prev), 4);
	put(cpu, d, 28, prio(), 4);
	put(cpu, d, 32, state, fake.t.long_size);
	put(cpu, d, 56, tid_of(next), 4);
	put(cpu, d, 60, prio(), 4);
	record(cpu, sim.now, ID_SWITCH, tid_of(prev), d, 64);
	sim.cur[cpu] = next;
}

static void wakes(unsigned cpu, int t)
{
	uint8_t d[36] = {0};

	name(d + 8, t);
	put(cpu, d, 24, tid_of(t), 4);
	put(cpu, d, 32, (int64_t)(rnd() % CPUS), 4);
	record(cpu, sim.now, ID_WAKING, tid_of(sim.cur[cpu]), d, 36);
	sim.asleep[t] = false;
}

static bool on_a_cpu(int t)
{
	for (unsigned c = 0; c < CPUS; c++)
		if (sim.cur[c] == t)
			return true;
	return false;
}

static void step(void)
{
	unsigned cpu = rnd() % CPUS;
	int t = sim.cur[cpu], other = 1 + (int)(rnd() % THREADS);

	sim.now += rnd() % 12 ? rnd() % 20 : rnd() % 100000;
	if (rnd() % 2000 == 0)
		sim.now += UINT64_C(1) << 28;
	if (t && rnd() % 4) {
		sys(cpu, t);
	} else if (sim.asleep[other]) {
		wakes(cpu, other);
	} else if (!on_a_cpu(other)) {
		runs(cpu, other, 0);
	} else if (t) {
		sim.asleep[t] = true;
		runs(cpu, 0, 1);
	}
}

static void machine(uint64_t s, bool lossy, bool wild_damage)
{
	unsigned bits64 = s % 4 != 3;

	memset(&fake, 0, sizeof(fake));
	memset(&sim, 0, sizeof(sim));
	seed = s * 0x9e3779b97f4a7c15u + 1;
	sim.now = 1000000;
	wild = wild_damage;
	for (int t = 0; t <= THREADS; t++)
		sim.in_call[t] = -1;
	fake.t.path = "test";
	fake.t.version = 7;
	fake.t.long_size = bits64 ? 8 : 4;
	fake.t.big_endian = s % 4 == 2 || s % 8 == 7;
	fake.t.ts_offset_ns = s % 3 ? 0 : 12345;
	fake.times = s % 2;
	fake.buffers[0] = (struct ty_trace_buffer){"", "perf", PAGE};
	fake.buffers[1] = (struct ty_trace_buffer){"syscalls", "perf", PAGE};
	fake.t.buffers.v = fake.buffers;
	fake.t.buffers.n = 2;
	fake.t.streams.v = fake.streams;
	fake.t.streams.n = STREAMS;
	fake.t.formats.v = fake.formats;
	fake.t.formats.n = 4;
	for (unsigned i = 0; i < 4; i++) {
		const char *x = texts[bits64][i];

		fake.formats[i] =
			(struct ty_event_format){i < 2 ? "raw_syscalls" : "sched", {x, strlen(x)}};
	}
	for (unsigned i = 0; i < STEPS; i++)
		step();
	for (unsigned i = 0; i < STREAMS; i++) {
		struct stream *st = &fake.s[i];
		uint32_t chunks = 0, page = 0;

		end_page(st);
		while (page < st->pages) {
			st->fault[chunks] = lossy && rnd() % 30 == 0 ? MISSING + rnd() % 2 : GOOD;
			st->first[chunks++] = page;
			page += 1 + rnd() % 5;
		}
		st->first[chunks] = st->pages;
		fake.streams[i] = (struct ty_stream){.buffer = i / CPUS,
						     .cpu = i % CPUS,
						     .chunks = chunks,
						     .raw_bytes = st->pages * PAGE};
	}
}

/* digests ------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

static struct ty_formats *formats;

static struct ty_events *open_events(unsigned workers)
{
	struct ty_events *es;

	assert_int_equal(ty_events_open(&fake.t, formats, &es, NULL), 0);
	ty_events_workers(es, workers, rnd() % 2 ? 1 << 20 : 8 * PAGE);
	return es;
}

static uint64_t events_digest(struct ty_events *es, uint64_t *n)
{
	struct ty_event ev;
	uint64_t h = 0;
	int r;

	*n = 0;
	while ((r = ty_events_next(es, &ev, NULL)) > 0) {
		++*n;
		h = mix(mix(mix(h, ev.ts_ns), ev.loc), (uint64_t)ev.cpu << 32 | ev.kind);
		h = mix(mix(h, (uint64_t)ev.tid), ev.buffer);
		for (uint32_t i = 0; i < ev.size; i++)
			h = mix(h, ev.data[i]);
		if (ev.kind == TY_EV_GAP)
			h = mix(mix(mix(h, ev.u.gap.from_ns), ev.u.gap.count), ev.u.gap.what);
	}
	assert_int_equal(r, 0);
	return h;
}

static uint64_t model_digest(const struct ty_model *m)
{
	const struct ty_summary *sum = ty_model_summary(m);
	uint64_t h = mix(mix(mix(0, sum->start_ns), sum->end_ns), sum->events);
	uint32_t n;
	const struct ty_gap_span *g;
	const struct ty_name_at *name;

	g = ty_model_gaps(m, &n);
	for (uint32_t i = 0; i < n; i++)
		h = mix(mix(mix(h, g[i].from_ns), g[i].to_ns), g[i].count);
	for (uint32_t i = 0; i < sum->threads; i++) {
		const struct ty_thread *t = ty_model_thread(m, i);

		h = mix(mix(mix(h, (uint64_t)t->tid), t->start_ns), t->end_ns);
		h = mix(mix(h, t->wakeups), t->traced);
		name = ty_model_names(m, i, &n);
		for (uint32_t k = 0; k < n; k++) {
			h = mix(h, name[k].from_ns);
			for (const char *c = ty_model_str(m, name[k].str); *c; c++)
				h = mix(h, (uint64_t)*c);
		}
		for (uint32_t k = 0; k < t->spans_n; k++) {
			struct ty_span s = ty_model_span(m, t->spans_first + k);

			h = mix(mix(mix(h, s.start_ns), s.end_ns), s.cpu);
			h = mix(mix(h, (uint64_t)s.state << 8 | s.flags), s.syscall);
		}
		for (uint32_t k = 0; k < t->syscalls_n; k++) {
			struct ty_syscall c = ty_model_syscall(m, t->syscalls_first + k);
			h = mix(mix(mix(h, c.start_ns), c.end_ns), (uint64_t)c.ret);
			h = mix(mix(mix(h, (uint64_t)c.nr), c.loc), c.cpu);
			h = mix(mix(h, c.flags), c.abi);
		}
	}
	for (uint32_t i = 0; i < m->t[TY_T_EDGES].rows; i++) {
		struct ty_edge e = ty_model_edge(m, i);

		h = mix(mix(mix(h, e.ts_ns), e.waker), e.target);
		h = mix(mix(mix(h, e.cpu), e.target_cpu), e.loc + e.context);
	}
	for (uint32_t c = 0; c < sum->cpus; c++)
		for (uint32_t i = 0; i < ty_model_points(m, c); i++) {
			struct ty_point p = ty_model_point(m, c, i);

			h = mix(mix(mix(h, p.ts_ns), p.kind), mix(mix(p.a, p.b), p.thread));
		}
	for (uint32_t c = 0; c < sum->cpus; c++)
		for (uint32_t i = 0; i < ty_model_cpu_spans(m, c); i++) {
			struct ty_span s = ty_model_cpu_span(m, c, i);

			h = mix(mix(mix(h, s.start_ns), s.thread),
				(uint64_t)s.state << 8 | s.flags);
		}
	return h;
}

/* The arguments that the model has are those of the events. n: calls by how many it has. */
static void check_args(struct ty_events *es, const struct ty_model *m,
		       uint64_t n[TY_MODEL_ARGS + 1])
{
	for (uint32_t i = 0; i < m->t[TY_T_CALLS].rows; i++) {
		const struct ty_syscall c = ty_model_syscall(m, i);
		uint64_t args[TY_MODEL_ARGS];
		const unsigned k = ty_model_syscall_args(m, &c, args);
		struct ty_event ev;

		n[k]++;
		if (!k)
			continue;
		assert_int_equal(ty_events_read_at(es, c.loc, &ev, NULL), 0);
		assert_int_equal(ev.kind, TY_EV_SYS_ENTER);
		assert_int_equal(args[0], ev.u.enter.args[0]);
		for (unsigned a = 1; a < k; a++)
			assert_int_equal(args[a], (uint32_t)ev.u.enter.args[a]);
	}
}

static struct ty_builder *new_builder(unsigned workers)
{
	struct ty_build_facts facts = {.machine = "mode=all\n",
				       .cpus = CPUS,
				       .long_size = fake.t.long_size,
				       .aside = workers > 0,
				       .arch = "x86_64"};

	return ty_builder_new(&facts);
}

/* quick: by ty_builder_take. (Not on wild damage: where a false time lets a thread run on two CPUs
 * at once, what is made of that differs by nanoseconds.) */
static uint64_t built(unsigned workers, bool quick, uint64_t *calls)
{
	struct ty_builder *b = new_builder(workers);
	struct ty_events *es = open_events(workers);
	struct ty_model *m;
	struct ty_event ev;
	uint64_t h, n = 0, args_known[TY_MODEL_ARGS + 1] = {0};
	int r;

	if (quick)
		while ((r = ty_builder_take(b, es, 1 + rnd() % 500, &n, NULL)) > 0)
			;
	else
		while ((r = ty_events_next(es, &ev, NULL)) > 0)
			assert_int_equal(ty_builder_feed(b, &ev, NULL), 0);
	assert_int_equal(r, 0);
	assert_int_equal(ty_builder_finish(b, &m, NULL), 0);
	h = model_digest(m);
	check_args(es, m, args_known);
	for (unsigned k = 0; k <= TY_MODEL_ARGS; k++)
		h = mix(h, args_known[k]);
	*calls = 0;
	for (uint32_t i = 0; i < ty_model_summary(m)->threads; i++)
		*calls += ty_model_thread(m, i)->syscalls_n;
	ty_model_free(m);
	ty_builder_free(b);
	ty_events_close(es);
	return h;
}

static void same_events(void **state)
{
	static const unsigned workers[] = {0, 1, 2, 4};

	for (uint64_t s = 0; s < 16; s++) {
		uint64_t want = 0, n, n0 = 0;

		machine(s, s % 3 != 0, true);
		assert_int_equal(ty_formats_new(&fake.t, &formats, NULL), 0);
		for (unsigned w = 0; w < 4; w++) {
			struct ty_events *es = open_events(workers[w]);
			uint64_t got = events_digest(es, &n);

			if (!w) {
				want = got;
				n0 = n;
			}
			assert_true(n > 1000);
			assert_int_equal(n, n0);
			assert_true(got == want);
			/* Again from the beginning, and once more after a rest. */
			assert_int_equal(ty_events_seek(es, 0, NULL), 0);
			assert_true(events_digest(es, &n) == want);
			ty_events_rest(es);
			assert_true(events_digest(es, &n) == want);
			ty_events_close(es);
		}
		ty_formats_free(formats);
	}
}

/* From any instant on the events are those that the whole has from there on. */
static void same_after_seek(void **state)
{
	for (uint64_t s = 0; s < 24; s++) {
		struct ty_event a, b;
		struct ty_events *es, *two;
		uint64_t t;

		machine(s, false, true);
		assert_int_equal(ty_formats_new(&fake.t, &formats, NULL), 0);
		t = 1000000 + rnd() % (sim.now - 1000000);
		es = open_events(0);
		two = open_events(2);
		assert_true(ty_events_next(two, &b, NULL) > 0);
		assert_int_equal(ty_events_seek(es, t, NULL), 0);
		assert_int_equal(ty_events_seek(two, t, NULL), 0);
		for (;;) {
			int r = ty_events_next(es, &a, NULL);

			assert_int_equal(ty_events_next(two, &b, NULL), r);
			if (!r)
				break;
			assert_true(a.ts_ns >= t && a.ts_ns == b.ts_ns && a.loc == b.loc &&
				    a.kind == b.kind);
		}
		ty_events_close(es);
		ty_events_close(two);
		ty_formats_free(formats);
	}
}

static void same_model(void **state)
{
	static const unsigned workers[] = {0, 1, 2, 4};

	for (uint64_t s = 0; s < 16; s++) {
		uint64_t want, calls, n;

		machine(s, s % 3 != 0, false);
		assert_int_equal(ty_formats_new(&fake.t, &formats, NULL), 0);
		want = built(0, false, &calls);
		assert_true(calls > 300);
		for (unsigned w = 0; w < 4; w++) {
			uint64_t got = built(workers[w], true, &n);

			if (got != want || n != calls)
				print_message("seed %lu, %u workers: %lu calls, not %lu\n",
					      (unsigned long)s, workers[w], (unsigned long)n,
					      (unsigned long)calls);
			assert_true(got == want);
		}
		ty_formats_free(formats);
	}
}

/* A model of the first part ends where every CPU is known: it is that of so many events, one by
 * one. */
static void same_part(void **state)
{
	unsigned ahead = 0;

	for (uint64_t s = 0; s < 60; s++) {
		uint64_t most, n = 0, m = 0, before;
		struct ty_builder *part, *slow;
		struct ty_model *a, *b;
		struct ty_events *es;
		struct ty_event ev;

		machine(s, s % 3 != 0, false);
		assert_int_equal(ty_formats_new(&fake.t, &formats, NULL), 0);
		most = 1 + rnd() % 12000;
		part = new_builder(s % 2);
		es = open_events(s % 2);
		while (n < most && ty_builder_take(part, es, 1, &n, NULL) > 0)
			;
		before = n;
		assert_true(ty_builder_even(part, es, &n, NULL) >= 0);
		ahead += n > before;
		ty_events_close(es);
		slow = new_builder(0);
		es = open_events(0);
		for (; m < n; m++) {
			assert_int_equal(ty_events_next(es, &ev, NULL), 1);
			assert_int_equal(ty_builder_feed(slow, &ev, NULL), 0);
		}
		ty_events_close(es);
		assert_int_equal(ty_builder_finish(part, &a, NULL), 0);
		assert_int_equal(ty_builder_finish(slow, &b, NULL), 0);
		if (model_digest(a) != model_digest(b))
			fail_msg("seed %lu: %lu events and %lu more", (unsigned long)s,
				 (unsigned long)before, (unsigned long)(n - before));
		ty_model_free(a);
		ty_model_free(b);
		ty_builder_free(part);
		ty_builder_free(slow);
		ty_formats_free(formats);
	}
	assert_true(ahead > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_events),
		cmocka_unit_test(same_after_seek),
		cmocka_unit_test(same_model),
		cmocka_unit_test(same_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
