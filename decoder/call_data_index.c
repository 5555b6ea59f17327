/* SPDX-License-Identifier: MIT */
/*
 * See call_data_index.h; records: call_data_record.h. There is one ring per CPU, so the section is
 * sorted per CPU only: an index of (thread, time) is built once, and a look-up is a binary search.
 *
 * Every size, number and offset in the section is checked when the index is built. A malformed
 * record ends the reading of its piece, because later heads cannot be distinguished from data.
 */
#include "call_data_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "paged_bytes.h"
#include "partition.h"
#include "vec.h"

/* The program that reads runs before the ring's own event, of which nothing is between the two but
 * an interrupt: how long before, where no call before is known. */
#define EARLY_NS 10000

enum { MERGE_MOST = 16 }; /* entries moved for each of a thread: as many as qsort compares */
enum { RADIX_BITS = 11, RADIX_MASK = (1 << RADIX_BITS) - 1 };

struct entry {
	uint64_t ns;
	uint32_t tid, off;
};

/* A thread number that has entries. */
struct thread {
	uint32_t tid;
	uint32_t first, n;
	uint64_t over_ns; /* end of its latest call, as reported */
};

struct ty_call_data_index {
	const char *p;
	struct entry *v; /* in `entries` */
	size_t v_n;
	struct ty_paged entries;
	VEC(struct thread) threads;
	uint64_t gap_ns; /* the end of the latest loss */
	struct ty_call_data_counts n;
};

static struct ty_ev_record head_at(const struct ty_call_data_index *x, size_t off)
{
	struct ty_ev_record r;

	memcpy(&r, x->p + off, sizeof(r));
	return r;
}

ORDER(by_time, struct entry, compare(a->ns, b->ns) ?: compare(a->off, b->off))

static bool is_good(const struct ty_ev_record *r)
{
	return r->len <= TY_EV_BYTES && r->arg < 6 && r->tid && r->tid <= INT32_MAX &&
	       r->kind >= TY_EVK_PIECE && r->kind <= TY_EVK_RECEIVED &&
	       (r->kind != TY_EVK_RECEIVED || r->len >= sizeof(struct ty_ev_fd)) &&
	       (r->kind != TY_EVK_ADDRESS || r->len >= sizeof(struct ty_ev_address)) &&
	       (r->kind != TY_EVK_FDS || r->len == sizeof(struct ty_ev_fd) ||
		r->len == 2 * sizeof(struct ty_ev_fd));
}

/* Of a newer tarry: only its length is known. */
static bool is_newer(const struct ty_ev_record *r)
{
	return r->kind > TY_EVK_RECEIVED && r->kind < TY_EVK_NEVER;
}

static int index_all(struct ty_call_data_index *x, size_t n)
{
	uint64_t next = UINT64_MAX;
	int r = 0;

	for (size_t at = 0; at < n && !r;) {
		struct ty_ev_record h;

		if (n - at < sizeof(h)) {
			x->n.damaged = true;
			break;
		}
		h = head_at(x, at);
		if (h.kind == TY_EVK_PIECE && !h.len) {
			/* A recording that kept its newest part begins with any. */
			if (next != UINT64_MAX && h.ptr > next)
				x->n.pieces_missing += h.ptr - next;
			next = h.ptr + 1;
			x->n.lost = h.ns > x->n.lost ? h.ns : x->n.lost;
			at += sizeof(h);
			continue;
		}
		if (is_newer(&h) && h.len <= n - at - sizeof(h)) {
			x->n.newer++;
			at += sizeof(h) + h.len;
			continue;
		}
		if (!is_good(&h) || h.len > n - at - sizeof(h) ||
		    (h.kind == TY_EVK_STRING && !(h.flags & TY_EVF_FAULT) &&
		     (!h.len || x->p[at + sizeof(h) + h.len - 1]))) {
			x->n.damaged = true;
			break;
		}
		x->n.received += h.kind == TY_EVK_RECEIVED;
		x->n.cut_inferred += h.kind == TY_EVK_STRING && h.flags & TY_EVF_CUT &&
				     h.flags & TY_EVF_INFERRED;
		r = ty_paged_add(&x->entries, &(struct entry){h.ns, h.tid, (uint32_t)at},
				 sizeof(struct entry));
		at += sizeof(h) + h.len;
	}
	x->v = (struct entry *)x->entries.p;
	x->v_n = x->entries.n / sizeof(struct entry);
	return r;
}

/* By thread, else in the order of the section (radix sort). */
static int sort_by_tid(struct ty_call_data_index *x)
{
	struct ty_paged to = {.limit = x->entries.limit};
	struct entry *v = x->v, *other, *was;
	uint32_t most = 0;

	if (ty_paged_reserve(&to, x->entries.n))
		return -TY_ENOMEM;
	other = (struct entry *)to.p;
	for (size_t i = 0; i < x->v_n; i++)
		most = v[i].tid > most ? v[i].tid : most;
	for (unsigned shift = 0; shift < 32 && most >> shift; shift += RADIX_BITS) {
		size_t at[(1u << RADIX_BITS) + 1] = {0};

		for (size_t i = 0; i < x->v_n; i++)
			at[(v[i].tid >> shift & RADIX_MASK) + 1]++;
		for (unsigned k = 1; k <= RADIX_MASK; k++)
			at[k] += at[k - 1];
		for (size_t i = 0; i < x->v_n; i++)
			other[at[v[i].tid >> shift & RADIX_MASK]++] = v[i];
		was = v;
		v = other;
		other = was;
	}
	if (v != x->v) {
		const struct ty_paged unsorted = x->entries;

		to.n = unsorted.n;
		x->entries = to;
		to = unsorted;
		x->v = v;
	}
	ty_paged_fini(&to);
	return 0;
}

/*
 * Sorts the entries of a thread that changed its CPU: rising runs, one for each stay, each merged
 * into those before it. Pieces of CPUs alternate, so that a run goes back over few; where many go
 * back far (crafted input), qsort sorts the rest. scratch: as many entries.
 */
static void merge_runs(struct entry *v, size_t n, struct entry *scratch)
{
	size_t work = 0, end;

	for (size_t from = 0; from < n; from = end) {
		size_t at, k, old, left;

		for (end = from + 1; end < n && by_time(&v[end - 1], &v[end]) < 0;)
			end++;
		at = partition_point(i, (size_t)0, from, by_time(&v[i], &v[from]) < 0);
		old = from - at; /* entries before the run that belong behind its first */
		work += old;
		if (work > MERGE_MOST * n) {
			qsort(v, n, sizeof(*v), by_time);
			return;
		}
		memcpy(scratch, v + at, old * sizeof(*v));
		for (k = 0, left = from; k < old;)
			v[at++] = left == end || by_time(&scratch[k], &v[left]) < 0 ? scratch[k++]
										    : v[left++];
	}
}

/* Only the entries of threads that changed their CPU are not in the order of time yet. */
static int list_threads(struct ty_call_data_index *x)
{
	struct ty_paged scratch = {.limit = x->entries.limit};
	int r = 0;

	for (size_t i = 0; i < x->v_n; i++) {
		const uint32_t tid = x->v[i].tid;

		if ((!i || x->v[i - 1].tid != tid) &&
		    vec_push(&x->threads, ((struct thread){.tid = tid, .first = (uint32_t)i})))
			return -TY_ENOMEM;
		x->threads.v[x->threads.n - 1].n++;
	}
	vec_each (t, &x->threads) {
		struct entry *v = x->v + t->first;
		uint32_t i = 1;

		while (i < t->n && by_time(&v[i - 1], &v[i]) < 0)
			i++;
		if (i == t->n)
			continue;
		r = ty_paged_reserve(&scratch, t->n * sizeof(*v));
		if (r)
			break;
		merge_runs(v, t->n, (struct entry *)scratch.p);
	}
	ty_paged_fini(&scratch);
	return r;
}

struct ty_call_data_index *ty_call_data_index_new(const void *section, size_t n,
						  uint64_t memory_bytes)
{
	struct ty_call_data_index *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->p = section;
	x->entries.limit = ty_paged_limit(memory_bytes);
	if (n > UINT32_MAX) {
		x->n.damaged = true;
		n = 0;
	}
	if (index_all(x, n)) {
		ty_call_data_index_free(x);
		return NULL;
	}
	x->n.records = x->v_n;
	if ((x->v_n && sort_by_tid(x)) || list_threads(x)) {
		ty_call_data_index_free(x);
		return NULL;
	}
	return x;
}

void ty_call_data_index_free(struct ty_call_data_index *x)
{
	if (!x)
		return;
	ty_paged_fini(&x->entries);
	vec_fini(&x->threads);
	free(x);
}

struct ty_call_data_counts ty_call_data_counts(const struct ty_call_data_index *x)
{
	return x ? x->n : (struct ty_call_data_counts){0};
}

static struct thread *thread_of(const struct ty_call_data_index *x, int32_t tid)
{
	size_t i = partition_point(k, (size_t)0, x->threads.n, x->threads.v[k].tid < (uint32_t)tid);

	return i < x->threads.n && x->threads.v[i].tid == (uint32_t)tid ? &x->threads.v[i] : NULL;
}

/* The thread's entries of [from, to): places in v. */
struct range {
	size_t from, to;
};

static struct range entries(const struct ty_call_data_index *x, int32_t tid, uint64_t from_ns,
			    uint64_t to_ns)
{
	const struct thread *t = thread_of(x, tid);
	const size_t end = t ? t->first + t->n : 0;
	struct range r = {0};

	if (!t || from_ns >= to_ns)
		return r;
	r.from = partition_point(i, (size_t)t->first, end, x->v[i].ns < from_ns);
	r.to = partition_point(i, r.from, end, x->v[i].ns < to_ns);
	return r;
}

void ty_call_data_over(struct ty_call_data_index *x, int32_t tid, uint64_t end_ns)
{
	struct thread *t = thread_of(x, tid);

	if (t && end_ns > t->over_ns)
		t->over_ns = end_ns;
}

void ty_call_data_gap(struct ty_call_data_index *x, uint64_t to_ns)
{
	if (to_ns > x->gap_ns)
		x->gap_ns = to_ns;
}

uint64_t ty_call_data_after(const struct ty_call_data_index *x, int32_t tid)
{
	const struct thread *t = thread_of(x, tid);

	return t && t->over_ns > x->gap_ns ? t->over_ns : x->gap_ns;
}

static struct ty_call_data_item item_at(const struct ty_call_data_index *x, size_t off,
					const struct ty_ev_record *h)
{
	return (struct ty_call_data_item){.p = x->p + off + sizeof(*h),
					  .len = (unsigned)h->len - (h->kind == TY_EVK_STRING),
					  .kind = h->kind,
					  .flags = h->flags};
}

/* Take what belongs to the call's arguments; the latest counts. */
static void take(const struct ty_call_data_index *x, const struct ty_call *c, struct range r,
		 bool at_exit, struct ty_call_data_item item[6])
{
	for (size_t i = r.from; i < r.to; i++) {
		const struct ty_ev_record h = head_at(x, x->v[i].off);

		if (h.kind != TY_EVK_ARGV && h.kind != TY_EVK_VALUES && h.kind < TY_EVK_MEMORY &&
		    h.nr == c->nr && h.ptr == c->args[h.arg] && !(h.flags & TY_EVF_FAULT) &&
		    at_exit == !!(h.flags & TY_EVF_EXIT))
			item[h.arg] = item_at(x, x->v[i].off, &h);
	}
}

/* The thread's entries between its call before and the enter of this one, or of this one. Where the
 * clock stood still for a whole call, its entries may be another's: of such a call none count, and
 * none of the time at which a call ended that failed, as it returned nothing. */
static struct range entries_of(const struct ty_call_data_index *x, const struct ty_call *c,
			       uint64_t after_ns, bool at_exit)
{
	const uint64_t early = c->start_ns > EARLY_NS ? c->start_ns - EARLY_NS : 0;

	if (!x || ty_call_end_only(c) || (at_exit && c->how != TY_CALL_RETURNED))
		return (struct range){0};
	if (at_exit)
		return entries(x, c->tid, c->start_ns + 1, c->end_ns + (c->ret >= 0));
	return entries(x, c->tid, after_ns ? after_ns + 1 : early,
		       c->start_ns + (c->how != TY_CALL_RETURNED || c->end_ns > c->start_ns));
}

void ty_call_data_of(const struct ty_call_data_index *x, const struct ty_call *c, uint64_t after_ns,
		     struct ty_call_data_item item[6])
{
	memset(item, 0, 6 * sizeof(*item));
	take(x, c, entries_of(x, c, after_ns, false), false, item);
	take(x, c, entries_of(x, c, after_ns, true), true, item);
}

bool ty_call_data_path_cut(const struct ty_call_data_item *i, const struct ty_call *c)
{
	return i->flags & TY_EVF_CUT && (i->len + 1 < TY_EV_BYTES || c->ret == -ENAMETOOLONG);
}

/* A returned address, and its two sizes as the value of the argument behind it. */
static void put_address(struct ty_call_data_values *v, struct ty_call_data_item it, unsigned arg)
{
	v->out[arg] = v->out[arg + 1] = it;
	v->out[arg].p += sizeof(struct ty_ev_address);
	v->out[arg].len -= sizeof(struct ty_ev_address);
	v->out[arg + 1].len = sizeof(struct ty_ev_address);
}

void ty_call_data_values(const struct ty_call_data_index *x, const struct ty_call *c,
			 uint64_t after_ns, struct ty_call_data_values *v)
{
	memset(v, 0, sizeof(*v));
	v->x = x;
	v->call = c;
	v->after_ns = after_ns;
	for (unsigned at_exit = 0; at_exit < 2; at_exit++) {
		const struct range r = entries_of(x, c, after_ns, at_exit);

		for (size_t i = r.from; i < r.to; i++) {
			const struct ty_ev_record h = head_at(x, x->v[i].off);

			if (h.kind == TY_EVK_VALUES && h.nr == c->nr && h.ptr == c->args[h.arg] &&
			    !(h.flags & TY_EVF_FAULT) && at_exit == !!(h.flags & TY_EVF_EXIT))
				(at_exit ? v->out : v->in)[h.arg] = item_at(x, x->v[i].off, &h);
			else if (h.kind == TY_EVK_ADDRESS && h.nr == c->nr &&
				 h.ptr == c->args[h.arg] && h.arg < 5 && at_exit)
				put_address(v, item_at(x, x->v[i].off, &h), h.arg);
		}
	}
}

struct ty_call_data_item ty_call_data_memory(const struct ty_call_data_values *v, unsigned arg,
					     uint64_t ptr, bool at_exit)
{
	const struct ty_call_data_index *x = v->x;
	const struct range r = entries_of(x, v->call, v->after_ns, at_exit);
	struct ty_call_data_item item = {0};

	for (size_t i = r.from; i < r.to; i++) {
		const struct ty_ev_record h = head_at(x, x->v[i].off);

		if (h.kind == TY_EVK_MEMORY && h.nr == v->call->nr && h.arg == arg &&
		    h.ptr == ptr && !(h.flags & TY_EVF_FAULT) &&
		    at_exit == !!(h.flags & TY_EVF_EXIT))
			item = item_at(x, x->v[i].off, &h);
	}
	return item;
}

bool ty_call_data_received(const struct ty_call_data_index *x, const struct ty_call *c, unsigned i,
			   struct ty_ev_fd *fd, struct ty_buf *name)
{
	const struct range r = entries_of(x, c, 0, true);

	for (size_t k = r.from; k < r.to; k++) {
		const struct ty_ev_record h = head_at(x, x->v[k].off);
		const char *p = x->p + x->v[k].off + sizeof(h);

		if (h.kind != TY_EVK_RECEIVED || h.nr != c->nr || h.ptr != c->args[h.arg] || i--)
			continue;
		memcpy(fd, p, sizeof(*fd));
		ty_buf_reset(name);
		ty_call_data_fd_text(fd, name);
		if (!name->len && !(h.flags & TY_EVF_CUT))
			ty_call_data_path(p + sizeof(*fd), h.len - sizeof(*fd), fd->deleted, name);
		return true;
	}
	return false;
}

int ty_call_data_each(const struct ty_call_data_index *x, enum ty_ev_kind kind,
		      int (*each)(void *ctx, int32_t tid, uint64_t ns, const char *bytes, size_t n),
		      void *ctx)
{
	int r = 0;

	for (size_t i = 0; i < x->v_n && !r; i++) {
		const struct ty_ev_record h = head_at(x, x->v[i].off);

		if (h.kind == kind && !(h.flags & TY_EVF_FAULT) && h.len)
			r = each(ctx, (int32_t)h.tid, h.ns, x->p + x->v[i].off + sizeof(h), h.len);
	}
	return r;
}
