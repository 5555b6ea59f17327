/* SPDX-License-Identifier: MIT */
/*
 * System call statistics: calls are grouped by (abi, number), groups of one name joined, and the
 * percentiles selected from all durations (8 bytes per call while it runs).
 */
#include "syscall_stats.h"

#include <stdlib.h>
#include <string.h>

#include "vec.h"

struct group {
	uint64_t key;
	struct ty_syscall_stats s;
	VEC(uint64_t) ns;
};

struct groups {
	VEC(struct group) g;
	uint32_t *slot; /* index + 1; 0 is free */
	uint32_t mask;
};

static int rehash(struct groups *t, uint32_t size)
{
	uint32_t *slot = calloc(size, sizeof(*slot));

	if (!slot)
		return -TY_ENOMEM;
	free(t->slot);
	t->slot = slot;
	t->mask = size - 1;
	for (uint32_t k = 0; k < t->g.n; k++) {
		uint64_t i = t->g.v[k].key * 0x9e3779b97f4a7c15u >> 32 & t->mask;

		while (slot[i])
			i = (i + 1) & t->mask;
		slot[i] = k + 1;
	}
	return 0;
}

static struct group *group_of(struct groups *t, uint64_t key)
{
	uint64_t i;

	if ((t->g.n + 1) * 2 > t->mask && rehash(t, t->mask ? (t->mask + 1) * 2 : 1024))
		return NULL;
	for (i = key * 0x9e3779b97f4a7c15u >> 32 & t->mask; t->slot[i]; i = (i + 1) & t->mask)
		if (t->g.v[t->slot[i] - 1].key == key)
			return &t->g.v[t->slot[i] - 1];
	if (vec_push(&t->g, (struct group){.key = key, .s.max_call = TY_NONE}))
		return NULL;
	t->slot[i] = (uint32_t)t->g.n;
	return &t->g.v[t->g.n - 1];
}

static int add(struct groups *t, const struct ty_syscall *c, uint32_t index)
{
	/* ABI_UNSURE numbers are read as native ones. */
	unsigned abi = c->abi == TY_ABI_UNSURE ? TY_ABI_NATIVE64 : c->abi;
	struct group *g = group_of(t, (uint64_t)abi << 32 | (uint32_t)c->nr);
	uint64_t ns = c->end_ns - c->start_ns;

	if (!g)
		return -TY_ENOMEM;
	g->s.count++;
	if (c->flags & TY_SF_OPEN)
		g->s.unfinished++;
	else if (!(c->flags & (TY_SF_LOST | TY_SF_ENDED)) && c->ret < 0 && c->ret >= -4095)
		g->s.errors++;
	if (c->flags & TY_SF_BEFORE) {
		g->s.before++;
		return 0;
	}
	if (c->loc == TY_NO_LOC || c->flags & TY_SF_LOST) {
		g->s.untimed++;
		return 0;
	}
	if (g->s.max_call == TY_NONE || ns > g->s.max_ns) {
		g->s.max_ns = ns;
		g->s.max_start_ns = c->start_ns;
		g->s.max_call = index;
	}
	g->s.total_ns += ns;
	return vec_push(&g->ns, ns);
}

/* The k-th smallest of v[0..n); reorders v (Hoare's select, middle of three). */
static uint64_t nth(uint64_t *v, size_t n, size_t k)
{
	size_t lo = 0, hi = n - 1;

	while (lo < hi) {
		uint64_t a = v[lo], b = v[lo + (hi - lo) / 2], c = v[hi];
		uint64_t pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
		size_t i = lo, j = hi;

		for (;;) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i >= j)
				break;
			uint64_t t = v[i];

			v[i++] = v[j];
			v[j--] = t;
		}
		/* v[lo..j] <= pivot <= v[j+1..hi]; j < hi always holds here. */
		if (j == hi)
			j--;
		if (k <= j)
			hi = j;
		else
			lo = j + 1;
	}
	return v[k];
}

static int by_name(const void *pa, const void *pb)
{
	const struct group *a = pa, *b = pb;
	int r = strcmp(a->s.name, b->s.name);

	return r ? r : a->key < b->key ? -1 : a->key > b->key;
}

static int by_total(const void *pa, const void *pb)
{
	const struct ty_syscall_stats *a = pa, *b = pb;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Groups of one name (a call has different numbers in different ABIs) become one. */
static int join(struct groups *t)
{
	size_t w = 0;

	qsort(t->g.v, t->g.n, sizeof(*t->g.v), by_name);
	for (size_t i = 1; i < t->g.n; i++) {
		struct group *a = &t->g.v[w], *b = &t->g.v[i];

		if (strcmp(a->s.name, b->s.name)) {
			t->g.v[++w] = *b;
			if (w != i)
				memset(b, 0, sizeof(*b));
			continue;
		}
		if (vec_reserve(&a->ns, a->ns.n + b->ns.n))
			return -TY_ENOMEM;
		if (b->ns.n)
			memcpy(a->ns.v + a->ns.n, b->ns.v, b->ns.n * sizeof(*b->ns.v));
		a->ns.n += b->ns.n;
		vec_fini(&b->ns);
		a->s.count += b->s.count;
		a->s.errors += b->s.errors;
		a->s.unfinished += b->s.unfinished;
		a->s.before += b->s.before;
		a->s.untimed += b->s.untimed;
		a->s.total_ns += b->s.total_ns;
		if (b->s.max_call != TY_NONE &&
		    (a->s.max_call == TY_NONE || b->s.max_ns > a->s.max_ns)) {
			a->s.max_ns = b->s.max_ns;
			a->s.max_start_ns = b->s.max_start_ns;
			a->s.max_call = b->s.max_call;
		}
	}
	t->g.n = w + 1;
	return 0;
}

static int collect(const struct ty_model *m, const struct ty_window *w, struct groups *t)
{
	const struct ty_summary *sum = ty_model_summary(m);

	for (uint32_t i = 0; i < sum->threads; i++) {
		const struct ty_thread *th = ty_model_thread(m, i);
		uint32_t k, to = th->syscalls_first + th->syscalls_n;
		struct ty_comm_memo memo = {0};

		if (!th->syscalls_n || !ty_window_thread(w, m, i))
			continue;
		/* From the first that ends at or after the window's begin. */
		k = w->from_ns ? ty_model_syscall_after(m, i, w->from_ns - 1) : th->syscalls_first;
		for (; k < to; k++) {
			struct ty_syscall c = ty_model_syscall_brief(m, i, k);

			/* The last instant of the recording belongs to a window that reaches it. */
			if (c.start_ns >= w->to_ns &&
			    (w->to_ns < sum->end_ns || c.start_ns > w->to_ns))
				break;
			if ((c.end_ns <= w->from_ns && c.start_ns < w->from_ns) ||
			    c.flags & TY_SF_SNAPSHOT)
				continue;
			if (w->cpus_n && (c.cpu == TY_NONE || !ty_window_cpu(w, c.cpu)))
				continue;
			if (!ty_window_comm(w, m, i, c.start_ns, &memo))
				continue;
			if (add(t, &c, k))
				return -TY_ENOMEM;
		}
	}
	return 0;
}

int ty_syscall_stats(const struct ty_model *m, const struct ty_window *w,
		     const struct ty_sysarch *arch, struct ty_syscall_stats **out, uint32_t *n)
{
	struct groups t = {0};
	char buf[32];
	int r;

	*out = NULL;
	*n = 0;
	r = collect(m, w, &t);
	for (size_t i = 0; !r && i < t.g.n; i++) {
		struct group *g = &t.g.v[i];
		const char *name = ty_syscall_name(arch, (enum ty_abi)(g->key >> 32),
						   (int32_t)(uint32_t)g->key, buf);
		size_t len = strnlen(name, sizeof(g->s.name) - 1);

		memcpy(g->s.name, name, len);
		g->s.name[len] = 0;
	}
	if (!r && t.g.n) {
		r = join(&t);
		if (!r && !(*out = calloc(t.g.n, sizeof(**out))))
			r = -TY_ENOMEM;
	}
	for (size_t i = 0; !r && i < t.g.n; i++) {
		struct group *g = &t.g.v[i];
		size_t k = g->ns.n;

		if (k) {
			g->s.mean_ns = g->s.total_ns / k;
			g->s.p50_ns = nth(g->ns.v, k, (k + 1) / 2 - 1);
			g->s.p99_ns = nth(g->ns.v, k, k - 1 - k / 100);
		}
		(*out)[(*n)++] = g->s;
	}
	if (*n)
		qsort(*out, *n, sizeof(**out), by_total);
	for (size_t i = 0; i < t.g.n; i++)
		vec_fini(&t.g.v[i].ns);
	vec_fini(&t.g);
	free(t.slot);
	return r;
}
