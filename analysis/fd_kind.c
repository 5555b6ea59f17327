/* SPDX-License-Identifier: MIT */
/*
 * See fd_kind.h. Replays the calls of all threads of a process that create or close descriptors, in
 * the order of their ends, on a copy of the table inherited by fork. If there is a snapshot of
 * descriptors, it is the initial table and includes all earlier changes; changes while it was
 * taken, or after the queried time, make their descriptors unknown.
 *
 * The calls of a process are collected once, and its table is kept every APART of them, so that a
 * look-up costs APART calls at most. The last table is kept, too: look-ups are often near another.
 */
#include "fd_kind.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "hash_index.h"
#include "partition.h"
#include "vec.h"

enum { DEPTH = 16, APART = 512 };

/* A process. */
struct history {
	uint32_t leader;
	int32_t tgid;	    /* -1: only that thread */
	unsigned depth;	    /* of forks between it and the one that was asked for */
	bool cut;	    /* they were too many, */
	bool listed;	    /* its first table is from the snapshot */
	uint32_t inherited; /* calls that led to its first table */
	uint64_t until_ns;  /* beyond it there are too many calls */
	VEC(uint32_t) threads;
	VEC(struct ty_fd_call) call;
	size_t first;		      /* the calls before are in the first table */
	VEC(struct ty_fd_table *) at; /* before call first + APART * i */
};

struct ty_fd_histories {
	VEC(struct history *) v;
	struct ty_hash_index by_leader;
	size_t bytes, most;
	struct history *last; /* whose table that is, before call last_at */
	size_t last_at;
	struct ty_fd_table table;
};

ORDER(by_end, struct ty_fd_call, compare(a->end_ns, b->end_ns) ?: compare(a->call, b->call))

static void history_free(struct history *h)
{
	vec_each (t, &h->at)
		free(*t);
	vec_fini(&h->at);
	vec_fini(&h->call);
	vec_fini(&h->threads);
	free(h);
}

static void forget(struct ty_fd_histories *k)
{
	vec_each (h, &k->v)
		history_free(*h);
	vec_fini(&k->v);
	ty_hash_fini(&k->by_leader);
	k->bytes = 0;
	k->last = NULL;
}

struct ty_fd_histories *ty_fd_histories_new(size_t bytes)
{
	struct ty_fd_histories *k = calloc(1, sizeof(*k));

	if (k)
		k->most = bytes;
	return k;
}

void ty_fd_histories_free(struct ty_fd_histories *k)
{
	if (k)
		forget(k);
	free(k);
}

/* Its steps are not counted: the result for one wait must not depend on them. */
static bool stopped(const struct ty_explain *x)
{
	return x->stop && atomic_load_explicit(x->stop, memory_order_relaxed);
}

/* The calls of the process that ended up to t. */
static uint64_t calls_until(const struct ty_model *m, const struct history *h, uint64_t t_ns)
{
	uint64_t n = 0;

	vec_each (thread, &h->threads) {
		const struct ty_thread *t = ty_model_thread(m, *thread);
		const uint32_t after = ty_model_syscall_after(m, *thread, t_ns);

		n += after == TY_NONE ? t->syscalls_n : after - t->syscalls_first;
	}
	return n;
}

/* The last time up to to_ns before which there are no more than TY_FD_CALLS calls. */
static uint64_t last_known(const struct ty_model *m, const struct history *h, uint64_t to_ns)
{
	const uint64_t most = TY_FD_CALLS - h->inherited;
	uint64_t all = 0;

	vec_each (thread, &h->threads)
		all += ty_model_thread(m, *thread)->syscalls_n;
	if (all <= most || calls_until(m, h, to_ns) <= most)
		return to_ns;
	return partition_point(t, UINT64_C(0), to_ns, calls_until(m, h, t) <= most) - 1;
}

/* The thread's calls up to to_ns that make, close or name descriptors. */
static int add_calls(const struct ty_explain *x, uint32_t thread, struct history *h,
		     struct ty_call_rows *rows)
{
	uint32_t k = ty_model_thread(x->m, thread)->syscalls_first, n;

	for (; !stopped(x) && (n = ty_model_call_rows(x->m, thread, k, rows)) > 0; k += n)
		for (uint32_t i = 0; i < n; i++) {
			const struct ty_sysrow *row;

			if (rows->end_ns[i] > h->until_ns)
				return 0;
			row = ty_syscall_row(x->arch, rows->abi[i], rows->nr[i])->as;
			/* Of ioctls only those whose result may be a descriptor. */
			if ((row->fds || (row->id == TY_SYS_ioctl && rows->ret[i] > 0)) &&
			    (x->received || row->fds != TY_FDS_RECEIVED) &&
			    vec_push(&h->call,
				     ((struct ty_fd_call){rows->end_ns[i], thread, k + i, row})))
				return -TY_ENOMEM;
		}
	return 0;
}

/* As the calls of one thread are. */
static bool in_order(const struct history *h)
{
	for (size_t i = 1; i < h->call.n; i++)
		if (by_end(&h->call.v[i - 1], &h->call.v[i]) > 0)
			return false;
	return true;
}

static int add_threads(const struct ty_explain *x, struct history *h)
{
	uint32_t threads = h->tgid < 0 ? 0 : ty_model_summary(x->m)->threads;

	if (h->tgid < 0)
		return vec_push(&h->threads, h->leader);
	for (uint32_t i = 0; i < threads; i++)
		if (ty_model_thread(x->m, i)->tgid == h->tgid && vec_push(&h->threads, i))
			return -TY_ENOMEM;
	return 0;
}

static int collect(const struct ty_explain *x, struct history *h)
{
	struct ty_call_rows *rows = malloc(sizeof(*rows));
	int r = rows ? 0 : -TY_ENOMEM;

	for (size_t i = 0; i < h->threads.n && !r; i++)
		r = add_calls(x, h->threads.v[i], h, rows);
	free(rows);
	if (!r && !in_order(h))
		vec_sort(&h->call, by_end);
	return r;
}

static struct ty_fd_table *copy_of(const struct ty_fd_table *t)
{
	struct ty_fd_table *out = malloc(sizeof(*out));

	return out ? memcpy(out, t, sizeof(*out)) : NULL;
}

static int table_before(const struct ty_explain *x, struct ty_fd_histories *k, uint32_t thread,
			uint64_t t_ns, unsigned depth, uint64_t *calls, struct history **of);

/* The first table, in k->table. */
static int find_first(const struct ty_explain *x, struct ty_fd_histories *k, struct history *h)
{
	const struct ty_thread *leader = ty_model_thread(x->m, h->leader);
	const bool forked = leader->born && leader->forked_by >= 0;
	struct history *parent;
	uint64_t calls = 0;
	int r;

	h->cut = forked && h->depth >= DEPTH;
	if (forked && !h->cut) {
		r = table_before(x, k, (uint32_t)leader->forked_by, leader->start_ns, h->depth + 1,
				 &calls, &parent);
		if (r)
			return r;
		h->cut = parent->cut;
		h->inherited = (uint32_t)calls;
	} else {
		h->listed = ty_fd_begin(x, h->tgid, &k->table);
	}
	k->last = NULL;
	return 0;
}

/* Takes back from the listed table what changed while it was taken, or after t. */
static void unlearn(const struct ty_explain *x, const struct history *h, uint64_t t_ns,
		    struct ty_fd_table *t)
{
	for (size_t i = 0; i < h->first && !stopped(x); i++)
		if (h->call.v[i].end_ns > x->fds_since_ns || h->call.v[i].end_ns > t_ns)
			ty_fd_unlearn(x, &h->call.v[i], t_ns, t);
}

static int learn(const struct ty_explain *x, struct ty_fd_histories *k, uint64_t to_ns,
		 struct history *h)
{
	struct ty_fd_table *first;
	int r = find_first(x, k, h);

	r = r ? r : add_threads(x, h);
	if (r)
		return r;
	h->until_ns = last_known(x->m, h, to_ns);
	r = collect(x, h);
	if (r)
		return r;
	if (h->listed) {
		h->first =
			partition_point(i, (size_t)0, h->call.n, h->call.v[i].end_ns <= x->fds_ns);
		unlearn(x, h, x->fds_ns, &k->table);
	}
	first = copy_of(&k->table);
	if (!first || vec_push(&h->at, first)) {
		free(first);
		return -TY_ENOMEM;
	}
	return stopped(x) ? -TY_EINTR : 0;
}

/* The process of the thread at t. */
static int history_of(const struct ty_explain *x, struct ty_fd_histories *k, uint32_t thread,
		      uint64_t t_ns, unsigned depth, uint64_t to_ns, struct history **out)
{
	const struct ty_thread *th = ty_model_thread(x->m, thread);
	uint32_t leader = thread;
	struct history *h;
	int r;

	if (th->tgid > 0 && th->tgid != th->tid) {
		uint32_t l = ty_model_thread_find(x->m, th->tgid, t_ns);

		leader = l == TY_NONE ? thread : l;
	}
	hash_each (at, &k->by_leader, leader) {
		*out = k->v.v[at];
		if ((*out)->tgid == th->tgid && (!(*out)->cut || (*out)->depth == depth))
			return 0;
	}
	h = calloc(1, sizeof(*h));
	if (!h)
		return -TY_ENOMEM;
	*h = (struct history){.leader = leader, .tgid = th->tgid, .depth = depth};
	r = learn(x, k, to_ns, h);
	if (!r && vec_push(&k->v, h))
		r = -TY_ENOMEM;
	if (r) {
		history_free(h);
		return r;
	}
	k->bytes += sizeof(*h) + sizeof(**h->at.v) + h->call.cap * sizeof(*h->call.v);
	*out = h;
	if (ty_hash_add(&k->by_leader, leader, (uint32_t)k->v.n - 1)) {
		k->v.n--;
		history_free(h);
		return -TY_ENOMEM;
	}
	return 0;
}

/* Takes k->table to the first n calls of the process. */
static int go_to(const struct ty_explain *x, struct ty_fd_histories *k, struct history *h, size_t n)
{
	size_t i = (n - h->first) / APART;

	i = i < h->at.n ? i : h->at.n - 1;
	if (k->last != h || k->last_at > n || k->last_at < h->first + i * APART) {
		k->table = *h->at.v[i];
		k->last = h;
		k->last_at = h->first + i * APART;
	}
	while (k->last_at < n) {
		struct ty_fd_table *t;

		if (stopped(x))
			return -TY_EINTR;
		ty_fd_replay(x, &h->call.v[k->last_at++], &k->table);
		if (!k->most || k->last_at != h->first + h->at.n * APART)
			continue;
		t = copy_of(&k->table);
		if (!t || vec_push(&h->at, t)) {
			free(t);
			return -TY_ENOMEM;
		}
		k->bytes += sizeof(*t);
	}
	return 0;
}

/* The table of the thread's process at t, in k->table. calls: that led to it; may be NULL. */
static int table_before(const struct ty_explain *x, struct ty_fd_histories *k, uint32_t thread,
			uint64_t t_ns, unsigned depth, uint64_t *calls, struct history **of)
{
	const uint64_t to_ns = t_ns > x->fds_ns ? t_ns : x->fds_ns;
	struct history *h;
	int r = history_of(x, k, thread, t_ns, depth, k->most ? UINT64_MAX : to_ns, &h);

	if (r)
		return r;
	*of = h;
	if (to_ns > h->until_ns)
		return -TY_ELIMIT;
	if (calls)
		*calls = h->inherited + calls_until(x->m, h, to_ns);
	if (h->listed && t_ns < x->fds_ns) {
		k->last = NULL;
		ty_fd_begin(x, h->tgid, &k->table);
		unlearn(x, h, t_ns, &k->table);
		return stopped(x) ? -TY_EINTR : 0;
	}
	return go_to(x, k, h, partition_point(i, h->first, h->call.n, h->call.v[i].end_ns <= t_ns));
}

/* Of the thread's process at t, in (*k)->table; *k is to be released. */
static bool look_up(const struct ty_explain *x, uint32_t thread, uint64_t t_ns, uint64_t *calls,
		    struct ty_fd_histories **k)
{
	struct history *h;

	*k = x->fd_histories ? x->fd_histories : ty_fd_histories_new(0);
	if (!*k || !x->args || !x->arch)
		return false;
	if ((*k)->bytes > (*k)->most)
		forget(*k);
	return !table_before(x, *k, thread, t_ns, 0, calls, &h);
}

static void release(const struct ty_explain *x, struct ty_fd_histories *k)
{
	if (k != x->fd_histories)
		ty_fd_histories_free(k);
}

bool ty_fd_table_at(const struct ty_explain *x, uint32_t thread, uint64_t t_ns, uint32_t *calls,
		    struct ty_fd_table *t)
{
	struct ty_fd_histories *k;
	uint64_t led = 0;
	const bool known = look_up(x, thread, t_ns, &led, &k) && led <= *calls;

	*calls = known ? *calls - (uint32_t)led : 0;
	if (known)
		*t = k->table;
	release(x, k);
	return known;
}

struct ty_fd_table *ty_fd_table_new(const struct ty_explain *x, uint32_t thread, uint64_t t_ns)
{
	struct ty_fd_histories *k;
	struct ty_fd_table *t = look_up(x, thread, t_ns, NULL, &k) ? copy_of(&k->table) : NULL;

	release(x, k);
	return t;
}

enum ty_fd_kind ty_fd_kind(const struct ty_explain *x, uint32_t thread, uint64_t fd, uint64_t t_ns,
			   const char **name)
{
	struct ty_fd_histories *k;
	const bool known = look_up(x, thread, t_ns, NULL, &k);
	const enum ty_fd_kind kind = ty_fd_table_kind(x, known ? &k->table : NULL, fd, name);

	release(x, k);
	return kind;
}
