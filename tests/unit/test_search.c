/* SPDX-License-Identifier: MIT */
/*
 * Search against a walk over everything: random recordings, queries of every kind, forward and
 * backward, each hit once and in order, round the end; and what queries are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "fixture_model.h"
#include "command_titles.h"
#include "irqs.h"
#include "search.h"
#include "vec.h"

enum { READ = 0, WRITE = 1, FLOCK = 73, ENOENT_ = 2, EINTR_ = 4 };

static const struct ty_model *random_model(unsigned seed)
{
	static const int nr[] = {READ, WRITE, FLOCK};
	uint64_t ts = 1000;
	int on[2] = {0, 0};

	ty_mx_begin(NULL, NULL);
	for (int i = 0; i < 600; i++) {
		unsigned cpu = (unsigned)rand_r(&seed) % 2;
		int tid = 10 + 2 * (rand_r(&seed) % 3) + (int)cpu, what = rand_r(&seed) % 10;

		ts += 1 + (uint64_t)rand_r(&seed) % 900;
		if (on[cpu] && on[cpu] != 15 && what < 4) { /* t15 makes no call: not traced */
			int call = nr[rand_r(&seed) % 3];

			ty_mx_enter(cpu, ts, on[cpu], call);
			ts += 1 + (uint64_t)rand_r(&seed) % 3000;
			ty_mx_exit(cpu, ts, on[cpu], call,
				   rand_r(&seed) % 3   ? 1
				   : rand_r(&seed) % 2 ? -ENOENT_
						       : -EINTR_);
		} else if (on[cpu] && what == 4) {
			struct ty_event ev = {.ts_ns = ts,
					      .cpu = cpu,
					      .tid = on[cpu],
					      .kind = TY_EV_SIGNAL_GENERATE,
					      .id = 7};

			ev.u.sig.sig = rand_r(&seed) % 2 ? 9 : 15;
			ev.u.sig.tid = tid;
			ty_mx_feed(ev);
		} else if (what == 6) { /* a softirq, and sometimes another inside it */
			struct ty_event ev = {.ts_ns = ts, .cpu = cpu, .tid = on[cpu]};
			unsigned inside = (unsigned)rand_r(&seed) % 2;

			for (unsigned k = 0; k < 2 + 2 * inside; k++) {
				ev.kind = k <= inside ? TY_EV_SOFTIRQ_ENTRY : TY_EV_SOFTIRQ_EXIT;
				ev.u.softirq.vec = inside && (k == 1 || k == 2) ? 1 : 3;
				ty_mx_feed(ev);
				ev.ts_ns = ts += 100 + (uint64_t)rand_r(&seed) % 500;
			}
		} else if (on[cpu] && what == 7) { /* three depths, by id, instants */
			static const char *const names[] = {"alpha", "beta", "alphabet"};
			static const uint8_t kinds[] = {TY_REG_BEGIN,	  TY_REG_END,
							TY_REG_END,	  TY_REG_ASYNC_BEGIN,
							TY_REG_ASYNC_END, TY_REG_INSTANT};
			struct ty_event ev = {.ts_ns = ts,
					      .cpu = cpu,
					      .tid = on[cpu],
					      .kind = TY_EV_REGION,
					      .id = 30};

			for (unsigned k = 0; k < 6; k++) {
				ev.u.region.kind = kinds[rand_r(&seed) % 6];
				ev.u.region.name = names[rand_r(&seed) % 3];
				ev.u.region.value = rand_r(&seed) % 3;
				ty_mx_feed(ev);
				ev.ts_ns = ts +=
					(uint64_t)rand_r(&seed) % 3 * 200; /* some at once */
			}
		} else if (what == 5 && i % 7 == 0) {
			ty_mx_gap(cpu, ts - 1, ts, 3);
		} else {
			ty_mx_switch(cpu, ts, on[cpu], rand_r(&seed) % 2 ? S : D, tid);
			on[cpu] = tid;
		}
	}
	return ty_mx_end();
}

/* What a query of the table means, said again in C. */
enum what { RUNS = 1, STATES = 2, CALLS = 4, POINTS = 8, GAPS = 16, IRQS = 32, REGIONS = 64 };
static const struct {
	const char *text;
	unsigned what;
	const char *comm; /* all of its thread; NULL: any thread */
	unsigned states;
	int nr, err; /* -1: any; err 0: any result */
	uint64_t min_ns;
	int sig; /* 0: any event, -1: none */
} queries[] = {
	{"thread:^t11$", RUNS, "t11", 0, -1, 0, 0, -1},
	{"t12", RUNS, "t12", 0, -1, 0, 0, -1},
	{"tid:13", RUNS, "t13", 0, -1, 0, 0, -1},
	{"tid:99,13", RUNS, "t13", 0, -1, 0, 0, -1},
	{"state:sleeping", STATES, NULL, 1u << TY_ST_SLEEPING, -1, 0, 0, -1},
	/* one switch: two hits of one instant */
	{"state:^(running|sleeping)$", STATES, NULL, 1u << TY_ST_SLEEPING | 1u << TY_ST_RUNNING, -1,
	 0, 0, -1},
	{"state:D", STATES, NULL, 1u << TY_ST_BLOCKED, -1, 0, 0, -1},
	/* a length alone: whatever lasts that long */
	{">3us", STATES, NULL,
	 1u << TY_ST_RUNNING | 1u << TY_ST_RUNNABLE | 1u << TY_ST_SLEEPING | 1u << TY_ST_BLOCKED |
		 1u << TY_ST_STOPPED,
	 -1, 0, 3000, -1},
	{"Uninterruptible", 0, NULL, 0, -1, 0, 0, -1},
	{"uninterruptible >2us", STATES, NULL, 1u << TY_ST_BLOCKED, -1, 0, 2000, -1},
	{"call:^flock$", CALLS, NULL, 0, FLOCK, 0, 0, -1},
	{"t14 flock", CALLS, "t14", 0, FLOCK, 0, 0, -1},
	{"flock >1us tid:10", CALLS, "t10", 0, FLOCK, 0, 1000, -1},
	/* several numbers, of which some do not occur */
	{"call:^(read|pread64|write|flock)$", CALLS, NULL, 0, -1, 0, 0, -1},
	{"call:^(flock|fsync|futex)$ >1us", CALLS, NULL, 0, FLOCK, 0, 1000, -1},
	{"call:^(fsync|futex)$", 0, NULL, 0, -1, 0, 0, -1},
	{"ENOENT", CALLS, NULL, 0, -1, ENOENT_, 0, -1},
	{"error:eintr call:write", CALLS, NULL, 0, WRITE, EINTR_, 0, -1},
	{"SIGTERM", POINTS, NULL, 0, -1, 0, 0, 15},
	{"t11 SIGKILL", POINTS, "t11", 0, -1, 0, 0, 9},
	{"event:signal", POINTS, NULL, 0, -1, 0, 0, 0},
	{"event:^lost$", GAPS, NULL, 0, -1, 0, 0, -1},
	{"irq:^timer$", IRQS, NULL, 0, 1, 0, 0, -1},
	{"irq:. >700ns", IRQS, NULL, 0, -1, 0, 700, -1},
	{"net_rx", IRQS, NULL, 0, 3, 0, 0, -1},
	{"net_rx t11", 0, NULL, 0, -1, 0, 0, -1},
	{"region:^alpha$", REGIONS, NULL, 0, 0, 0, 0, -1},
	{"alpha", REGIONS, NULL, 0, -1, 0, 0, -1},
	{"region:beta >1us", REGIONS, NULL, 0, 1, 0, 1000, -1},
	{"t12 alphabet", REGIONS, "t12", 0, 2, 0, 0, -1},
	{"region:gamma", 0, NULL, 0, -1, 0, 0, -1},
	{"region:alpha state:sleeping", 0, NULL, 0, -1, 0, 0, -1},
	{"nothing_has_this_name", 0, NULL, 0, -1, 0, 0, -1},
};

typedef VEC(struct ty_hit) hits;

static void add(hits *h, uint64_t at, uint64_t ord, bool traced)
{
	assert_int_equal(vec_push(h, (struct ty_hit){.at_ns = at, .ord = ord, .other = !traced}),
			 0);
}

static int by_place(const void *a, const void *b)
{
	const struct ty_hit *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->ord < y->ord ? -1 : x->ord > y->ord;
}

static void walk(const struct ty_model *m, unsigned q, hits *h)
{
	const struct ty_summary *sum = ty_model_summary(m);
	const struct ty_gap_span *gaps;
	uint32_t n;

	for (uint32_t i = 0; i < sum->threads; i++) {
		const struct ty_thread *t = ty_model_thread(m, i);

		if (queries[q].comm && strcmp(queries[q].comm, ty_model_str(m, t->name)))
			continue;
		for (uint32_t k = 0; k < t->spans_n && queries[q].what & (RUNS | STATES); k++) {
			struct ty_span s = ty_model_span(m, t->spans_first + k);
			unsigned states =
				queries[q].what & RUNS ? 1u << TY_ST_RUNNING : queries[q].states;

			if (states >> s.state & 1 && s.end_ns - s.start_ns >= queries[q].min_ns)
				add(h, s.start_ns, i, t->traced);
		}
		for (uint32_t k = 0; k < t->syscalls_n && queries[q].what & CALLS; k++) {
			struct ty_syscall c = ty_model_syscall(m, t->syscalls_first + k);
			bool known = !(c.flags & (TY_SF_OPEN | TY_SF_LOST | TY_SF_ENDED));

			if ((queries[q].nr < 0 || c.nr == queries[q].nr) &&
			    (!queries[q].err || (known && c.ret == -queries[q].err)) &&
			    c.end_ns - c.start_ns >= queries[q].min_ns)
				add(h, c.start_ns, sum->threads + i, t->traced);
		}
	}
	for (uint32_t c = 0; c < sum->cpus && queries[q].what & POINTS; c++)
		for (uint32_t k = 0; k < ty_model_points(m, c); k++) {
			struct ty_point p = ty_model_point(m, c, k);

			if ((p.kind == TY_PT_SIGNAL || p.kind == TY_PT_SIGNAL_DELIVER) &&
			    (!queries[q].sig || p.a == (uint64_t)queries[q].sig) &&
			    (!queries[q].comm ||
			     (p.thread != TY_NONE &&
			      !strcmp(queries[q].comm,
				      ty_model_str(m, ty_model_thread(m, p.thread)->name)))))
				add(h, p.ts_ns, 2ull * sum->threads + c,
				    p.thread != TY_NONE && ty_model_thread(m, p.thread)->traced);
		}
	for (uint32_t k = 0; k < ty_model_regions(m) && queries[q].what & REGIONS; k++) {
		/* nr: which name; -1: both with alpha */
		static const char *const names[] = {"alpha", "beta", "alphabet"};
		struct ty_region r = ty_model_region(m, k);
		const char *name = ty_model_str(m, r.name);
		const struct ty_thread *t = ty_model_thread(m, r.thread);

		if ((queries[q].nr < 0 ? !strncmp(name, "alpha", 5)
				       : !strcmp(name, names[queries[q].nr])) &&
		    r.end_ns - r.start_ns >= queries[q].min_ns &&
		    (!queries[q].comm || !strcmp(queries[q].comm, ty_model_str(m, t->name))))
			add(h, r.start_ns,
			    2ull * sum->threads + 2ull * sum->cpus + 1 + r.thread * 65536ull +
				    r.lane,
			    t->traced);
	}
	gaps = ty_model_gaps(m, &n);
	for (uint32_t k = 0; k < n && queries[q].what & GAPS; k++)
		add(h, gaps[k].from_ns, 2ull * sum->threads + sum->cpus, false);
	for (uint32_t c = 0; c < sum->cpus && queries[q].what & IRQS; c++)
		for (uint32_t k = 0; k < ty_model_irq_spans(m, c); k++) {
			struct ty_irq_span s = ty_model_irq_span(m, c, k);

			if ((queries[q].nr < 0 || s.vec == (uint32_t)queries[q].nr) &&
			    s.end_ns - s.start_ns >= queries[q].min_ns)
				add(h, s.start_ns, 2ull * sum->threads + sum->cpus + 1 + c, false);
		}
	if (h->n)
		qsort(h->v, h->n, sizeof(*h->v), by_place);
	n = 0;
	for (size_t k = 0; k < h->n && queries[q].what & REGIONS; k++)
		if (!k || by_place(&h->v[n - 1], &h->v[k])) /* instants of one time are one hit */
			h->v[n++] = h->v[k];
	h->n = queries[q].what & REGIONS ? n : h->n;
}

static int by_group(const void *a, const void *b)
{
	const struct ty_hit *x = a, *y = b;

	return x->other != y->other ? x->other - y->other : by_place(a, b);
}

static struct ty_search run_traced(const struct ty_model *m, struct ty_query *q, struct ty_hit from,
				   bool backward, bool fresh)
{
	struct ty_search s;

	ty_search_begin(&s, m, q, from, backward, fresh);
	while (!ty_search_step(&s, 3))
		;
	return s;
}

/* Those of traced threads first, forward, backward and round the ends; each knows its number. */
static void check_traced(const struct ty_model *m, struct ty_query *q, hits *h)
{
	struct ty_hit at = {.at_ns = 0, .ord = UINT64_MAX};
	struct ty_search s, c;
	uint32_t threads = ty_model_summary(m)->threads, traced = 0;
	size_t n = 0;

	for (uint32_t i = 0; i < threads; i++)
		traced += ty_model_thread(m, i)->traced;
	for (size_t k = 0; k < h->n && (!traced || traced == threads); k++)
		h->v[k].other = false; /* there is one group only */
	if (h->n)
		qsort(h->v, h->n, sizeof(*h->v), by_group);
	for (size_t k = 0; k < h->n; k++) /* what a step cannot distinguish is one */
		if (!k || by_group(&h->v[n - 1], &h->v[k]))
			h->v[n++] = h->v[k];
	h->n = n;
	for (size_t k = 0; k < n; k++) {
		s = run_traced(m, q, at, false, false);
		assert_true(s.found && !s.wrapped);
		assert_int_equal(s.hit.at_ns, h->v[k].at_ns);
		assert_int_equal(s.hit.ord, h->v[k].ord);
		assert_int_equal(s.hit.other, h->v[k].other);
		at = s.hit;
		if (k % 7)
			continue;
		ty_search_count(&c, m, q, at, NULL);
		while (!ty_search_step(&c, 5))
			;
		assert_int_equal(c.n, n);
		assert_int_equal(c.upto, k + 1);
	}
	if (!n)
		return;
	s = run_traced(m, q, at, false, false);
	assert_true(s.found && s.wrapped && !by_group(&s.hit, &h->v[0]));
	for (size_t k = n - 1; k-- > 0;) {
		s = run_traced(m, q, at, true, false);
		assert_true(s.found && !s.wrapped && !by_group(&s.hit, &h->v[k]));
		at = s.hit;
	}
	s = run_traced(m, q, at, true, false);
	assert_true(s.found && s.wrapped && !by_group(&s.hit, &h->v[n - 1]));
	/* A new search goes round all of the first group before it looks at the other. */
	at = (struct ty_hit){.at_ns = UINT64_MAX - 1, .ord = UINT64_MAX};
	s = run_traced(m, q, at, false, true);
	assert_true(s.found && !by_group(&s.hit, &h->v[0]) && s.wrapped == !h->v[0].other);
}

static struct ty_search run(const struct ty_model *m, struct ty_query *q, struct ty_hit from,
			    bool backward)
{
	struct ty_search s;
	unsigned steps = 0;

	ty_search_begin(&s, m, q, from, backward, false);
	s.grouped = s.other = false;
	while (!ty_search_step(&s, 3)) {
		assert_in_range(ty_search_progress(&s), 0, 1000);
		assert_true(steps++ < 100000);
	}
	return s;
}

static uint64_t thread_of(const struct ty_model *m, unsigned what, uint64_t ord)
{
	const struct ty_summary *sum = ty_model_summary(m);

	return what & REGIONS ? (ord - 2ull * sum->threads - 2ull * sum->cpus - 1) / 65536
			      : ord % sum->threads;
}

static void every_hit_once_and_in_order(void **state)
{
	const struct ty_sysarch *arch = ty_sysarch_find("x86_64");
	unsigned found = 0;
	bool groups = false;

	for (unsigned seed = 1; seed <= 6; seed++) {
		const struct ty_model *m = random_model(seed);

		for (unsigned i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
			struct ty_query *q;
			struct ty_err err = {0};
			hits h = {0};
			struct ty_hit at = {.at_ns = 0, .ord = UINT64_MAX};
			struct ty_search s;

			if (ty_query_new(m, arch, queries[i].text, &q, &err))
				fail_msg("%s: %s", queries[i].text, err.msg);
			walk(m, i, &h);
			for (size_t k = 0; k < h.n; k++) {
				s = run(m, q, at, false);
				if (!s.found || s.wrapped || s.hit.at_ns != h.v[k].at_ns ||
				    s.hit.ord != h.v[k].ord)
					fail_msg("'%s' hit %zu of %zu: %d %d %lu/%lu, not %lu/%lu",
						 queries[i].text, k, h.n, s.found, s.wrapped,
						 s.hit.at_ns, s.hit.ord, h.v[k].at_ns, h.v[k].ord);
				at = s.hit;
				found++;
			}
			s = run(m, q, at, false); /* round the end */
			assert_int_equal(s.found, h.n > 0);
			assert_true(s.wrapped);
			if (h.n)
				assert_int_equal(s.hit.at_ns, h.v[0].at_ns);
			at = (struct ty_hit){.at_ns = UINT64_MAX};
			for (size_t k = h.n; k-- > 0;) {
				s = run(m, q, at, true);
				assert_true(s.found && !s.wrapped);
				assert_int_equal(s.hit.at_ns, h.v[k].at_ns);
				assert_int_equal(s.hit.ord, h.v[k].ord);
				at = s.hit;
			}
			if (h.n) {
				s = run(m, q, at, true);
				assert_true(s.found && s.wrapped);
				assert_int_equal(s.hit.at_ns, h.v[h.n - 1].at_ns);
			}
			/* the filter says which threads have hits */
			for (uint32_t t = 0; t < ty_model_summary(m)->threads; t++) {
				bool want = false, named = queries[i].what & RUNS;
				uint64_t pos = 0;
				int r;

				if (queries[i].what & (POINTS | GAPS | IRQS))
					break;
				for (size_t k = 0; k < h.n; k++)
					want |= thread_of(m, queries[i].what, h.v[k].ord) == t;
				if (named)
					want = !strcmp(
						queries[i].comm,
						ty_model_str(m, ty_model_thread(m, t)->name));
				while ((r = ty_query_thread_has(m, q, t, &pos, 1)) < 0)
					;
				assert_int_equal(r, want);
			}
			groups |= h.n && h.v[0].other != h.v[h.n - 1].other;
			check_traced(m, q, &h);
			vec_fini(&h);
			ty_query_free(q);
		}
	}
	assert_true(found > 1000 && groups);
	ty_mx_drop();
}

static void check_irq_cell(const struct ty_model *m, uint32_t cpu, uint64_t from, uint64_t to,
			   const struct ty_cell *c)
{
	uint64_t busy = 0, covered = from, longest = 0, most = 0, got = 0;
	uint32_t n = 0, inner = TY_NONE;
	uint8_t flags = 0;

	for (uint32_t k = 0; k < ty_model_irq_spans(m, cpu); k++) {
		struct ty_irq_span s = ty_model_irq_span(m, cpu, k);
		uint64_t a = s.start_ns > from ? s.start_ns : from,
			 b = s.end_ns < to ? s.end_ns : to;

		if (s.start_ns >= to || (s.start_ns < from && s.end_ns <= from))
			continue;
		n++;
		flags |= s.flags;
		longest = s.end_ns - s.start_ns > longest ? s.end_ns - s.start_ns : longest;
		most = b - a > most ? b - a : most;
		if (b - a == to - from)
			inner = k;
		if (c->longest == k)
			got = b - a;
		a = a > covered ? a : covered;
		busy += b > a ? b - a : 0;
		covered = b > covered ? b : covered;
	}
	assert_int_equal(c->spans, n);
	assert_int_equal(c->flags, flags);
	assert_int_equal(c->ns[TY_ST_RUNNING], busy);
	for (unsigned s = 0; s < TY_ST_COUNT; s++)
		assert_true(s == TY_ST_RUNNING || !c->ns[s]);
	assert_int_equal(c->longest == TY_NONE, !n);
	assert_int_equal(got, most);
	assert_int_equal(c->longest_ns, longest);
	if (inner != TY_NONE) /* all of the cell lies in one, or in several */
		assert_int_equal(c->longest, inner);
}

/* Thousands of interrupts that nest up to the deepest that is kept, some of no length. */
static const struct ty_model *nested_model(unsigned seed)
{
	uint64_t ts = 1000;
	unsigned depth[2] = {0, 0};

	ty_mx_begin(NULL, NULL);
	for (int i = 0; i < 30000; i++) {
		unsigned cpu = (unsigned)rand_r(&seed) % 2, *d = &depth[cpu];
		bool begin = *d < 8 && (!*d || rand_r(&seed) % 5 < 2);
		struct ty_event ev = {.ts_ns = ts, .cpu = cpu};

		ev.kind = begin ? TY_EV_SOFTIRQ_ENTRY : TY_EV_SOFTIRQ_EXIT;
		ev.u.softirq.vec = begin ? *d : *d - 1;
		*d = begin ? *d + 1 : *d - 1;
		ty_mx_feed(ev);
		ts += (uint64_t)rand_r(&seed) % 40 / 10;
		if (rand_r(&seed) % 50 == 0)
			ts += (uint64_t)rand_r(&seed) % 200;
	}
	return ty_mx_end();
}

/* Time in interrupts, each nanosecond once, against a walk over all of them. */
static void cells_of_interrupts(void **state)
{
	unsigned seed = 9;

	for (unsigned model = 1; model <= 8; model++) {
		const struct ty_model *m = model <= 4 ? random_model(model) : nested_model(model);
		const struct ty_summary *sum = ty_model_summary(m);
		uint64_t all = sum->end_ns - sum->start_ns;

		for (unsigned i = 0; i < 400; i++) {
			uint64_t from = sum->start_ns + (uint64_t)rand_r(&seed) % all,
				 width = i % 100 ? i % 2 ? 1000 : 100000 : 2 * all,
				 step = 1 + (uint64_t)rand_r(&seed) % width;
			uint32_t cpu = i / 2 % 2, cells = i % 3 ? 1 : 7;
			struct ty_track track = {.kind = TY_TRACK_IRQS, .id = cpu};
			struct ty_cell c[7];

			ty_model_cells(m, track, from, from + cells * step, cells, c);
			for (uint32_t k = 0; k < cells; k++)
				check_irq_cell(m, cpu, from + k * step, from + (k + 1) * step,
					       &c[k]);
		}
	}
	ty_mx_drop();
}

static const char *hint_of(const struct ty_model *m, const char *text)
{
	struct ty_query *q;
	struct ty_err err = {0};
	const char *hint;

	assert_int_equal(ty_query_new(m, ty_sysarch_find("x86_64"), text, &q, &err), 0);
	hint = ty_query_hint(q);
	ty_query_free(q);
	return hint;
}

/* By its name, and by the distinguishing words. */
static void titled_threads(void **state)
{
	static const char *const text[] = {"t12", "worker", "worker.process", "thread:^t12:"};
	const struct ty_model *m = random_model(3);

	assert_int_equal(
		ty_command_titles((struct ty_model *)m, "2000\t12\tt12: worker process\n", NULL),
		0);
	for (unsigned i = 0; i < sizeof(text) / sizeof(*text); i++) {
		struct ty_hit from = {.ord = UINT64_MAX};
		struct ty_err err = {0};
		struct ty_search s;
		struct ty_query *q;

		assert_int_equal(ty_query_new(m, ty_sysarch_find("x86_64"), text[i], &q, &err), 0);
		s = run(m, q, from, false);
		assert_true(s.found);
		assert_int_equal(ty_model_thread(m, s.hit.thread)->tid, 12);
		ty_query_free(q);
	}
	ty_mx_drop();
}

static void bad_queries_are_sentences(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{"", "search is empty"},
		{"   ", "search is empty"},
		{"a(", "not a valid regular expression"},
		{"call:", "needs a pattern"},
		{"tid:x", "not a number"},
		{"tid:1,", "not a number"},
		{"pid:1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", "at most 16 numbers"},
		{"tid:99999999999999999999", "not a number"},
		{">soon", "not a duration"},
		{"a(", "example: call:^read"},
		{"call:nix", "no system call matches 'nix' (example: call:read)"},
		{"t11 state:asleep", "no state matches 'asleep' (example: state:sleeping)"},
		{"event:signl", "no event matches 'signl'"},
		{"error:ENOPE", "no error matches 'ENOPE'"},
		{"a b c d e f g h i", "at most 8 words"},
	};
	const struct ty_model *m = random_model(3);

	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct ty_query *q;
		struct ty_err err = {0};

		assert_int_equal(ty_query_new(m, ty_sysarch_find("x86_64"), bad[i].text, &q, &err),
				 -TY_EUSAGE);
		assert_non_null(strstr(err.msg, bad[i].why));
	}
	/* a word that looks like a key and is none may be a name: it is said where nothing is found
	 */
	assert_string_equal(hint_of(m, "tid:11|12,13"), "");
	assert_string_equal(hint_of(m, "t11"), "");
	assert_string_equal(hint_of(m, "kworker/0:1"), "");
	assert_non_null(strstr(hint_of(m, "stat:sleeping"), "keys are thread: process:"));
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_hit_once_and_in_order),
		cmocka_unit_test(cells_of_interrupts),
		cmocka_unit_test(titled_threads),
		cmocka_unit_test(bad_queries_are_sentences),
	};

	return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
