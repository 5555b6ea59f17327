/* SPDX-License-Identifier: MIT */
/* See window_diff.h. Amounts are summed by a number (kind and id), and converted to text at the
 * end. */
#include "window_diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "pair_map.h"
#include "units.h"
#include "vec.h"
#include "thread_walk.h"

#define ITEMS	65536u /* more different ones than this: the further ones are one item */
#define ID_MASK ((UINT64_C(1) << 56) - 1)

struct item {
	uint64_t key; /* kind << 56 | id */
	uint64_t in, out;
};

struct sums {
	const struct ty_explain *x;
	const struct ty_model *m;
	struct ty_window all; /* the recording with the window's choices */
	uint64_t from, to;
	VEC(struct item) item;
	struct ty_pair_map by_id; /* (kind, id): the item */
	struct ty_call_rows rows;
	int failed;
};

static const struct {
	const char *key, *unit;
} diff_kind[] = {
#define X(name, json, unit) {json, unit},
	TY_DIFF_KINDS(X)
#undef X
};

const char *ty_diff_kind_name(enum ty_diff_kind k)
{
	return k < TY_DIFF_KINDS_N ? diff_kind[k].key : "";
}

const char *ty_diff_kind_unit(enum ty_diff_kind k)
{
	return k < TY_DIFF_KINDS_N ? diff_kind[k].unit : "";
}

static void add(struct sums *s, enum ty_diff_kind kind, uint64_t id, uint64_t in, uint64_t out)
{
	struct item *i;

	if (!(in | out) || s->failed)
		return;
	if (s->item.n >= ITEMS && ty_pair_map_get(&s->by_id, kind, id) == TY_PAIR_NONE)
		id = ID_MASK;
	i = pair_element(&s->by_id, kind, id, &s->item,
			 (struct item){.key = (uint64_t)kind << 56 | id});
	if (!i) {
		s->failed = -TY_ENOMEM;
		return;
	}
	i->in += in;
	i->out += out;
}

static void add_at(struct sums *s, enum ty_diff_kind kind, uint64_t id, uint64_t t, uint64_t amount)
{
	bool in = t >= s->from && t < s->to;

	add(s, kind, id, in ? amount : 0, in ? 0 : amount);
}

static void syscalls(struct sums *s, uint32_t thread)
{
	const struct ty_thread *t = ty_model_thread(s->m, thread);
	uint32_t call = t->syscalls_first, end = call + t->syscalls_n, n;
	struct ty_comm_memo memo = {0};

	for (; call < end && !s->failed; call += n) {
		if (ty_explain_stopped(s->x))
			s->failed = -TY_EINTR;
		n = ty_model_call_rows(s->m, thread, call, &s->rows);
		for (uint32_t i = 0; i < n; i++)
			if (!(s->rows.flags[i] & (TY_SF_BEFORE | TY_SF_SNAPSHOT)) &&
			    ty_window_comm(&s->all, s->m, thread, s->rows.start_ns[i], &memo))
				add_at(s, TY_DIFF_SYSCALL,
				       (uint64_t)s->rows.abi[i] << 32 | (uint32_t)s->rows.nr[i],
				       s->rows.start_ns[i], 1);
		if (!n)
			break;
	}
}

static void threads(struct sums *s)
{
	uint32_t n = ty_model_summary(s->m)->threads;
	uint64_t start = s->all.from_ns, end = s->all.to_ns;

	for (uint32_t i = 0; i < n && !s->failed; i++) {
		const struct ty_thread *t = ty_model_thread(s->m, i);
		uint64_t in, all;

		if (!ty_window_thread(&s->all, s->m, i))
			continue;
		in = ty_thread_time(s->m, i, s->from, s->to).ns[TY_ST_RUNNING];
		all = ty_thread_time(s->m, i, start, end).ns[TY_ST_RUNNING];
		add(s, TY_DIFF_CPU, t->name, in, all > in ? all - in : 0);
		in = ty_model_wakeups(s->m, i, s->from, s->to);
		all = ty_model_wakeups(s->m, i, start, end);
		add(s, TY_DIFF_WAKEUP, t->name, in, all > in ? all - in : 0);
		syscalls(s, i);
	}
}

/* Spans of a CPU that begin before t. */
static uint64_t begun(const struct ty_model *m, uint32_t cpu, uint64_t t)
{
	uint32_t k = t ? ty_model_cpu_span_find(m, cpu, t - 1) : TY_NONE;

	/* The last one up to there, or the first after it. */
	return k == TY_NONE ? 0 : k + (uint64_t)(ty_model_cpu_span_brief(m, cpu, k).start_ns < t);
}

static void cpus(struct sums *s)
{
	uint32_t n = ty_model_summary(s->m)->cpus;

	for (uint32_t cpu = 0; cpu < n && !s->failed; cpu++) {
		uint64_t in, all = ty_model_cpu_spans(s->m, cpu);
		uint32_t irqs = ty_model_irq_spans(s->m, cpu);

		if (!ty_window_cpu(&s->all, cpu))
			continue;
		in = begun(s->m, cpu, s->to) - begun(s->m, cpu, s->from);
		add(s, TY_DIFF_SWITCH, cpu, in, all - in);
		for (uint32_t i = 0; i < irqs && !s->failed; i++) {
			struct ty_irq_span q = ty_model_irq_span(s->m, cpu, i);

			if (ty_explain_stopped(s->x))
				s->failed = -TY_EINTR;

			add_at(s, TY_DIFF_IRQ, (uint64_t)(q.kind & 3) << 32 | q.name, q.start_ns,
			       1);
		}
	}
}

static void ios(struct sums *s)
{
	uint32_t n = ty_model_ios(s->m);

	for (uint32_t i = 0; i < n && !s->failed; i++) {
		struct ty_io io = ty_model_io(s->m, i);
		const char *rwbs = ty_model_str(s->m, io.rwbs);
		uint64_t id = (uint64_t)(io.major & 0xfff) << 28 | (io.minor & 0xfffff) << 8;

		if (io.flags & TY_SF_BEFORE)
			continue;
		id |= (uint8_t)(*rwbs == 'F' ? rwbs[1] : *rwbs);
		add_at(s, TY_DIFF_IO, id, io.start_ns, 1);
		add_at(s, TY_DIFF_IO_BYTES, id, io.start_ns, io.bytes);
	}
}

/* rows -------------------------------------------------------------------------------------- */

static void text(const struct sums *s, const struct ty_sysarch *arch, enum ty_diff_kind kind,
		 uint64_t id, char *out, size_t size)
{
	static const char *const irq[] = {"irq", "softirq", "interrupt", "interrupt"};
	char buf[32], disk[TY_DISK_TEXT];

	if (id == ID_MASK) {
		snprintf(out, size, "all others");
		return;
	}
	switch (kind) {
	case TY_DIFF_CPU:
	case TY_DIFF_WAKEUP: snprintf(out, size, "%s", ty_model_str(s->m, (uint32_t)id)); return;
	case TY_DIFF_SWITCH: snprintf(out, size, "CPU %u", (unsigned)id); return;
	case TY_DIFF_IRQ:
		snprintf(out, size, "%s %s", irq[id >> 32 & 3], ty_model_str(s->m, (uint32_t)id));
		return;
	case TY_DIFF_SYSCALL:
		snprintf(out, size, "%s",
			 ty_syscall_name(arch, (uint8_t)(id >> 32), (int32_t)(uint32_t)id, buf));
		return;
	case TY_DIFF_IO:
	case TY_DIFF_IO_BYTES:
		snprintf(out, size, "%s %s",
			 ty_explain_disk(s->x, (uint32_t)(id >> 28), (uint32_t)(id >> 8 & 0xfffff),
					 disk),
			 (id & 255) == 'R'   ? "read"
			 : (id & 255) == 'W' ? "write"
			 : (id & 255) == 'D' ? "discard"
					     : "other");
		return;
	default: *out = 0;
	}
}

/* Statistically significant if events are independent; time on CPU: more than 0.5% of one CPU. */
static bool significant(const struct ty_diff_row *r, double in_s, double out_s)
{
	double expected, all = (double)r->in + (double)r->out;

	if (r->kind == TY_DIFF_CPU)
		return fabs(r->in_rate - r->out_rate) > 5e6;
	expected = all * in_s / (in_s + out_s);
	return fabs((double)r->in - expected) >
	       3 * sqrt(all * in_s * out_s / ((in_s + out_s) * (in_s + out_s)) + 1);
}

ORDER(by_share, struct ty_diff_row,
      compare(b->significant, a->significant) ?: compare(b->share, a->share) ?:
      compare(a->kind, b->kind) ?: strcmp(a->what, b->what))

static int rows(struct sums *s, const struct ty_sysarch *arch, struct ty_diff *d)
{
	double in_s = (double)d->in_ns / 1e9, out_s = (double)d->out_ns / 1e9;
	double in_all[TY_DIFF_KINDS_N] = {0}, out_all[TY_DIFF_KINDS_N] = {0};

	d->v = calloc(s->item.n + 1, sizeof(*d->v));
	if (!d->v)
		return -TY_ENOMEM;
	for (size_t i = 0; i < s->item.n; i++) {
		const struct item *e = &s->item.v[i];
		struct ty_diff_row *r = &d->v[d->n++];

		r->kind = (uint8_t)(e->key >> 56);
		r->in = e->in;
		r->out = e->out;
		r->in_rate = (double)e->in / in_s;
		r->out_rate = (double)e->out / out_s;
		in_all[r->kind] += r->in_rate;
		out_all[r->kind] += r->out_rate;
		r->significant = significant(r, in_s, out_s);
		text(s, arch, r->kind, e->key & ID_MASK, r->what, sizeof(r->what));
	}
	for (uint32_t i = 0; i < d->n; i++) {
		struct ty_diff_row *r = &d->v[i];
		double all = fmax(in_all[r->kind], out_all[r->kind]);

		/* Bytes are moved by requests: they are as significant as these. */
		for (uint32_t k = 0; r->kind == TY_DIFF_IO_BYTES && k < d->n; k++)
			if (d->v[k].kind == TY_DIFF_IO && !strcmp(d->v[k].what, r->what))
				r->significant = d->v[k].significant;
		r->share = all > 0 ? fabs(r->in_rate - r->out_rate) / all : 0;
	}
	vec_sort(d, by_share);
	return 0;
}

int ty_diff_find(const struct ty_explain *x, const struct ty_window *w, struct ty_diff *out,
		 struct ty_err *err)
{
	const struct ty_summary *sum = ty_model_summary(x->m);
	const struct ty_gap_span *g;
	struct sums s = {.x = x, .m = x->m, .all = *w};
	uint64_t from, to;
	uint32_t n;
	int r;

	*out = (struct ty_diff){0};
	from = w->from_ns > sum->start_ns ? w->from_ns : sum->start_ns;
	to = w->to_ns < sum->end_ns ? w->to_ns : sum->end_ns;
	if (from >= to || to - from == sum->end_ns - sum->start_ns)
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "diff compares the part selected by --from and --to with the rest: "
			       "select less than the whole recording");
	out->in_ns = to - from;
	out->out_ns = sum->end_ns - sum->start_ns - out->in_ns;
	s.all.from_ns = sum->start_ns;
	s.all.to_ns = sum->end_ns;
	s.from = from;
	s.to = to;
	g = ty_model_gaps(x->m, &n);
	for (; n; n--, g++) {
		out->in_lost |= g->from_ns < to && g->to_ns > from;
		out->out_lost |= g->from_ns < from || g->to_ns > to;
	}
	threads(&s);
	cpus(&s);
	ios(&s);
	r = s.failed ? s.failed : rows(&s, x->arch, out);
	vec_fini(&s.item);
	ty_pair_map_fini(&s.by_id);
	return r ? ty_fail(err, -r, TY_NO_OFFSET, "diff: %s", ty_strerror(r)) : 0;
}

const char *ty_diff_rate(const struct ty_diff_row *r, double rate, char out[TY_DIFF_TEXT_MAX])
{
	if (r->kind == TY_DIFF_CPU)
		snprintf(out, TY_DIFF_TEXT_MAX, "%.1f%% CPU", rate / 1e7);
	else if (r->kind == TY_DIFF_IO_BYTES)
		snprintf(out, TY_DIFF_TEXT_MAX, "%s/s", ty_byte_count((uint64_t)rate));
	else
		snprintf(out, TY_DIFF_TEXT_MAX, "%.*f/s", rate < 100 ? 2 : 0, rate);
	return out;
}

const char *ty_diff_change(const struct ty_diff_row *r, char out[TY_DIFF_TEXT_MAX])
{
	double ratio = r->out ? r->in_rate / r->out_rate : 0;

	if (!r->in || !r->out)
		snprintf(out, TY_DIFF_TEXT_MAX, "%s", r->in ? "not in rest" : "only in rest");
	else if (ratio < 0.001)
		snprintf(out, TY_DIFF_TEXT_MAX, "<0.001x");
	else
		snprintf(out, TY_DIFF_TEXT_MAX, "%.*fx",
			 ratio >= 1	? 1
			 : ratio >= 0.1 ? 2
					: 3,
			 ratio);
	return out;
}

void ty_diff_fini(struct ty_diff *d)
{
	free(d->v);
	*d = (struct ty_diff){0};
}
