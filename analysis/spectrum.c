/* SPDX-License-Identifier: MIT */
/* Latencies over time; see spectrum.h. One walk over the durations, with a callback for each. */
#include "log_histogram.h"
#include "spectrum.h"

#include <stdlib.h>

#include "compare.h"
#include "hash_index.h"
#include "heap.h"
#include "process_of_thread.h"
#include "vec.h"

unsigned ty_spec_bin(uint64_t ns)
{
	unsigned e;

	if (ns < 4)
		return (unsigned)ns;
	e = 63 - (unsigned)__builtin_clzll(ns);
	return 4 * (e - 1) + (unsigned)(ns >> (e - 2) & 3);
}

uint64_t ty_spec_bin_begin(unsigned bin)
{
	unsigned e = bin / 4 + 1;

	if (bin < 4)
		return bin;
	return e > 63 ? UINT64_MAX : (UINT64_C(4) | (bin & 3)) << (e - 2);
}

const char *ty_spec_name(const struct ty_sysarch *arch, const struct ty_spec_kind *k, char buf[32])
{
	switch (k->of) {
	case TY_SPEC_STATE: return ty_state_name((enum ty_state)k->state);
	case TY_SPEC_IO: return "block I/O";
	default: return ty_syscall_name(arch, (enum ty_abi)k->abi, k->nr, buf);
	}
}

bool ty_spec_same(const struct ty_spec_kind *a, const struct ty_spec_kind *b)
{
	return a->of == b->of && (a->of == TY_SPEC_CALL	   ? a->abi == b->abi && a->nr == b->nr
				  : a->of == TY_SPEC_STATE ? a->state == b->state
							   : true);
}

/* the walk ---------------------------------------------------------------------------------- */

/* One duration that touches the window. */
struct item {
	struct ty_spec_kind kind;
	struct ty_spec_span s;
	bool timed; /* its start was recorded, and no event of it was lost */
};

struct walk {
	const struct ty_explain *x;
	const struct ty_spec_query *a;
	bool any; /* all kinds */
	int (*take)(void *ctx, const struct item *i);
	void *ctx;
	struct ty_call_rows calls;
	struct ty_span_rows spans;
};

static bool in_scope(const struct ty_spec_query *a, const struct ty_model *m, uint32_t thread)
{
	if (a->scope == TY_SPEC_THREAD && thread != a->thread)
		return false;
	if (a->scope == TY_SPEC_PROCESS && ty_process_of(m, thread) != a->thread)
		return false;
	return ty_window_thread(&a->window, m, thread);
}

/* The last instant of the recording belongs to a window that reaches it. */
static bool is_behind(const struct walk *w, uint64_t start)
{
	return start >= w->a->window.to_ns &&
	       (w->a->window.to_ns < ty_model_summary(w->x->m)->end_ns ||
		start > w->a->window.to_ns);
}

static bool is_before(const struct walk *w, uint64_t start, uint64_t end)
{
	return start < w->a->window.from_ns && end <= w->a->window.from_ns;
}

static int walk_calls(struct walk *w, uint32_t thread)
{
	const struct ty_window *win = &w->a->window;
	const struct ty_model *m = w->x->m;
	const struct ty_thread *t = ty_model_thread(m, thread);
	uint32_t k, n, to = t->syscalls_first + t->syscalls_n;
	struct ty_call_rows *c = &w->calls;
	struct ty_comm_memo memo = {0};

	if (!t->syscalls_n)
		return 0;
	k = win->from_ns ? ty_model_syscall_after(m, thread, win->from_ns - 1) : t->syscalls_first;
	for (; k < to && (n = ty_model_call_rows(m, thread, k, c)) > 0; k += n) {
		if (ty_explain_stopped(w->x))
			return -TY_EINTR;
		for (uint32_t j = 0; j < n; j++) {
			/* ABI_UNSURE numbers are read as native ones. */
			uint8_t abi = c->abi[j] == TY_ABI_UNSURE ? TY_ABI_NATIVE64 : c->abi[j];
			struct item i = {.kind = {.of = TY_SPEC_CALL, .abi = abi, .nr = c->nr[j]},
					 .s = {c->start_ns[j], c->end_ns[j], thread, k + j}};
			int r;

			if (is_behind(w, c->start_ns[j]))
				return 0;
			if ((!w->any && !ty_spec_same(&i.kind, &w->a->kind)) ||
			    c->flags[j] & TY_SF_SNAPSHOT ||
			    is_before(w, c->start_ns[j], c->end_ns[j]) ||
			    (win->cpus_n &&
			     (c->cpu[j] == TY_NONE || !ty_window_cpu(win, c->cpu[j]))) ||
			    !ty_window_comm(win, m, thread, c->start_ns[j], &memo))
				continue;
			i.timed = c->entered[j] && !(c->flags[j] & (TY_SF_BEFORE | TY_SF_LOST));
			r = w->take(w->ctx, &i);
			if (r)
				return r;
		}
	}
	return 0;
}

static int walk_spans(struct walk *w, uint32_t thread)
{
	const struct ty_window *win = &w->a->window;
	const struct ty_model *m = w->x->m;
	const struct ty_thread *t = ty_model_thread(m, thread);
	uint32_t k = ty_model_span_find(m, thread, win->from_ns), n;
	uint32_t to = t->spans_first + t->spans_n;
	struct ty_span_rows *c = &w->spans;
	struct ty_comm_memo memo = {0};

	for (; k < to && (n = ty_model_span_rows(m, thread, k, c)) > 0; k += n) {
		if (ty_explain_stopped(w->x))
			return -TY_EINTR;
		for (uint32_t j = 0; j < n; j++) {
			struct item i = {.kind = {.of = TY_SPEC_STATE, .state = c->state[j]},
					 .s = {c->start_ns[j], c->start_ns[j + 1], thread, k + j}};
			bool on_cpu = c->state[j] == TY_ST_RUNNING || c->state[j] == TY_ST_RUNNABLE;
			int r;

			if (is_behind(w, c->start_ns[j]))
				return 0;
			if ((!w->any && c->state[j] != w->a->kind.state) ||
			    is_before(w, c->start_ns[j], c->start_ns[j + 1]) ||
			    (win->cpus_n && on_cpu &&
			     (c->cpu[j] == TY_NONE || !ty_window_cpu(win, c->cpu[j]))) ||
			    !ty_window_comm(win, m, thread, c->start_ns[j], &memo))
				continue;
			i.timed = !(c->flags[j] & (TY_SF_BEFORE | TY_SF_LOST | TY_SF_SNAPSHOT));
			r = w->take(w->ctx, &i);
			if (r)
				return r;
		}
	}
	return 0;
}

/* Requests without a thread belong to the whole recording, and to no selected thread. */
static bool io_in_scope(const struct ty_spec_query *a, const struct ty_model *m,
			const struct ty_io *io, struct ty_comm_memo *memo)
{
	if (io->thread == TY_NONE)
		return a->scope == TY_SPEC_ALL && !a->window.tids_n && !a->window.comms_n;
	return in_scope(a, m, io->thread) &&
	       ty_window_comm(&a->window, m, io->thread, io->start_ns, memo);
}

static int walk_ios(struct walk *w)
{
	const struct ty_model *m = w->x->m;
	uint32_t n = ty_model_ios(m);
	struct ty_comm_memo memo = {0};

	for (uint32_t k = 0; k < n; k++) {
		struct ty_io io = ty_model_io(m, k);
		struct item i = {.kind = {.of = TY_SPEC_IO},
				 .s = {io.start_ns, io.end_ns, io.thread, k}};
		int r;

		if (ty_explain_stopped(w->x))
			return -TY_EINTR;
		if (is_behind(w, io.start_ns))
			return 0;
		if (is_before(w, io.start_ns, io.end_ns) || !ty_window_cpu(&w->a->window, io.cpu) ||
		    !io_in_scope(w->a, m, &io, &memo))
			continue;
		i.timed = !(io.flags & (TY_SF_BEFORE | TY_SF_LOST));
		r = w->take(w->ctx, &i);
		if (r)
			return r;
	}
	return 0;
}

static int walk(struct walk *w)
{
	uint32_t threads = ty_model_summary(w->x->m)->threads;
	int r = 0;

	if (w->any || w->a->kind.of == TY_SPEC_IO)
		r = walk_ios(w);
	if (!w->any && w->a->kind.of == TY_SPEC_IO)
		return r;
	for (uint32_t i = 0; i < threads && !r; i++) {
		if (!in_scope(w->a, w->x->m, i))
			continue;
		if (w->any || w->a->kind.of == TY_SPEC_CALL)
			r = walk_calls(w, i);
		if (!r && (w->any || w->a->kind.of == TY_SPEC_STATE))
			r = walk_spans(w, i);
	}
	return r;
}

static int run(const struct ty_explain *x, const struct ty_spec_query *a, bool any,
	       int (*take)(void *ctx, const struct item *i), void *ctx)
{
	struct walk *w = malloc(sizeof(*w));
	int r;

	if (!w)
		return -TY_ENOMEM;
	w->x = x;
	w->a = a;
	w->any = any;
	w->take = take;
	w->ctx = ctx;
	r = walk(w);
	free(w);
	return r;
}

/* the picture ------------------------------------------------------------------------------- */

/* For percentiles: 512 bars per power of two (below 512 one per ns). */
#define FINE_BITS 9
#define FINE	  TY_BARS_OF(FINE_BITS)

struct picture {
	struct ty_spectrum *s;
	uint64_t from, length;
	uint32_t bar[FINE];
};

/* Columns begin at from + length * i / cols, rounded down. */
static uint32_t column(const struct picture *p, uint64_t t)
{
	uint64_t off = t > p->from ? t - p->from : 0;

	if (off >= p->length)
		return p->s->cols - 1;
	return (uint32_t)((((unsigned __int128)off + 1) * p->s->cols - 1) / p->length);
}

static int add(void *ctx, const struct item *i)
{
	struct picture *p = ctx;
	struct ty_spectrum *s = p->s;
	uint64_t ns = i->s.end_ns - i->s.start_ns;
	unsigned bin = ty_spec_bin(ns);
	uint32_t c, *cell;

	if (!i->timed) {
		s->untimed++;
		return 0;
	}
	c = column(p, i->s.start_ns);
	cell = &s->count[(size_t)bin * s->cols + c];
	if (++*cell > s->most)
		s->most = *cell;
	p->bar[ty_bar_in(ns, FINE_BITS)]++;
	s->total_ns += ns;
	if (!s->n || bin < s->first)
		s->first = bin;
	if (!s->n || bin >= s->end)
		s->end = bin + 1;
	if (!s->n || ns > s->worst.end_ns - s->worst.start_ns ||
	    (ns == s->worst.end_ns - s->worst.start_ns && i->s.start_ns < s->worst.start_ns)) {
		s->worst = i->s;
		s->worst_col = c;
	}
	s->n++;
	return 0;
}

/* The duration of the rank (from 0), or a little less. */
static uint64_t at_rank(const struct picture *p, uint64_t rank)
{
	unsigned k = 0;
	uint64_t width;

	for (; k + 1 < FINE && rank >= p->bar[k]; k++)
		rank -= p->bar[k];
	return ty_bar_first(k, FINE_BITS, &width);
}

static void percentiles(const struct picture *p)
{
	struct ty_spectrum *s = p->s;

	if (!s->n)
		return;
	s->p50_ns = at_rank(p, (s->n + 1) / 2 - 1);
	s->p90_ns = at_rank(p, s->n - 1 - s->n / 10);
	s->p99_ns = at_rank(p, s->n - 1 - s->n / 100);
	s->p999_ns = at_rank(p, s->n - 1 - s->n / 1000);
}

int ty_spectrum_find(const struct ty_explain *x, const struct ty_spec_query *a, uint32_t cols,
		     struct ty_spectrum *out)
{
	struct picture *p = calloc(1, sizeof(*p));
	int r = -TY_ENOMEM;

	*out = (struct ty_spectrum){.cols = cols ? cols : 1};
	out->count = calloc((size_t)out->cols * TY_SPEC_BINS, sizeof(*out->count));
	if (p && out->count) {
		p->s = out;
		p->from = a->window.from_ns;
		p->length = a->window.to_ns > p->from ? a->window.to_ns - p->from : 1;
		r = run(x, a, false, add, p);
		percentiles(p);
	}
	free(p);
	return r;
}

void ty_spectrum_fini(struct ty_spectrum *s)
{
	free(s->count);
	*s = (struct ty_spectrum){0};
}

/* kinds ------------------------------------------------------------------------------------- */

#define KINDS_MAX 1000u

struct kinds {
	VEC(struct ty_spec_kind_sum) v;
	struct ty_hash_index index;
};

/* A damaged file may have any number of kinds that no kernel has: those beyond KINDS_MAX are left
 * out. The kind's place; -TY_ELIMIT, -TY_ENOMEM. */
static int place_of(struct kinds *k, const struct ty_spec_kind *kind)
{
	uint64_t key = (uint64_t)kind->of << 48 | (uint64_t)kind->state << 40 |
		       (uint64_t)kind->abi << 32 | (uint32_t)kind->nr;
	uint32_t hash = ty_hash_mix(key);

	hash_each (i, &k->index, hash)
		if (ty_spec_same(&k->v.v[i].kind, kind))
			return (int)i;
	if (k->v.n >= KINDS_MAX)
		return -TY_ELIMIT;
	if (vec_push(&k->v, (struct ty_spec_kind_sum){.kind = *kind}) ||
	    ty_hash_add(&k->index, hash, (uint32_t)k->v.n - 1))
		return -TY_ENOMEM;
	return (int)k->v.n - 1;
}

static int count(void *ctx, const struct item *i)
{
	struct kinds *k = ctx;
	uint64_t ns = i->s.end_ns - i->s.start_ns;
	struct ty_spec_kind_sum *s;
	int at;

	if (i->kind.of == TY_SPEC_STATE &&
	    (i->kind.state == TY_ST_UNKNOWN || i->kind.state == TY_ST_DEAD))
		return 0;
	at = place_of(k, &i->kind);
	if (at < 0 || !i->timed)
		return at == -TY_ENOMEM ? at : 0;
	s = &k->v.v[at];
	s->n++;
	s->total_ns += ns;
	s->max_ns = ns > s->max_ns ? ns : s->max_ns;
	return 0;
}

static unsigned place(const struct ty_spec_kind *k)
{
	static const uint8_t of_state[TY_ST_COUNT] = {
		[TY_ST_RUNNABLE] = 0, [TY_ST_SLEEPING] = 1, [TY_ST_BLOCKED] = 2,
		[TY_ST_STOPPED] = 3,  [TY_ST_RUNNING] = 5,
	};

	return k->of == TY_SPEC_CALL ? 6 : k->of == TY_SPEC_IO ? 4 : of_state[k->state];
}

ORDER(by_place, struct ty_spec_kind_sum,
      compare(place(&a->kind), place(&b->kind)) ?: compare(b->total_ns, a->total_ns) ?:
      compare(a->kind.nr, b->kind.nr))

int ty_spectrum_kinds(const struct ty_explain *x, const struct ty_spec_query *a,
		      struct ty_spec_kind_sum **out, uint32_t *n)
{
	struct kinds k = {0};
	int r = run(x, a, true, count, &k);

	*out = NULL;
	*n = 0;
	ty_hash_fini(&k.index);
	if (r) {
		vec_fini(&k.v);
		return r;
	}
	vec_sort(&k.v, by_place);
	*out = k.v.v;
	*n = (uint32_t)k.v.n;
	return 0;
}

/* a rectangle ------------------------------------------------------------------------------- */

struct list {
	const struct ty_spec_query *a;
	bool before;
	uint64_t min, end;
	struct ty_spec_span *v; /* a heap: the shortest of the longest on top */
	uint32_t n, max;
	uint64_t all;
};

/* Longer is better; of equal ones the earlier. */
ORDER(by_length, struct ty_spec_span,
      compare(b->end_ns - b->start_ns, a->end_ns - a->start_ns) ?:
      compare(a->start_ns, b->start_ns) ?: compare(a->index, b->index))

static bool is_worse(const void *none, const struct ty_spec_span *a, const struct ty_spec_span *b)
{
	(void)none;
	return by_length(a, b) > 0;
}

static int gather(void *ctx, const struct item *i)
{
	struct list *l = ctx;
	uint64_t ns = i->s.end_ns - i->s.start_ns;

	if (!i->timed || ns < l->min || ns >= l->end ||
	    (!l->before && i->s.start_ns < l->a->window.from_ns))
		return 0;
	l->all++;
	heap_keep(l->v, l->n, l->max, &i->s, is_worse, NULL);
	return 0;
}

int ty_spectrum_list(const struct ty_explain *x, const struct ty_spec_query *a, bool before,
		     uint64_t min_ns, uint64_t end_ns, uint32_t max, struct ty_spec_span **out,
		     uint32_t *n, uint64_t *all)
{
	struct list l = {.a = a, .before = before, .min = min_ns, .end = end_ns, .max = max};
	int r;

	*out = NULL;
	*n = 0;
	*all = 0;
	l.v = calloc((size_t)max + 1, sizeof(*l.v));
	if (!l.v)
		return -TY_ENOMEM;
	r = run(x, a, false, gather, &l);
	if (r) {
		free(l.v);
		return r;
	}
	vec_sort(&l, by_length);
	*out = l.v;
	*n = l.n;
	*all = l.all;
	return 0;
}
