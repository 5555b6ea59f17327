/* SPDX-License-Identifier: MIT */
/*
 * Polled locks: an attempt to take a lock (fcntl, flock, a file that must not exist yet) fails
 * repeatedly, and the thread sleeps in between (SQLite, package managers, git). All the sleeps
 * together are one wait, from the first failed attempt to the successful or last one.
 *
 * Budget: each sleep of POLL_NS or longer once, with up to BETWEEN calls before and after it; the
 * arguments of calls of the same kind only. For the thread that released the lock: RELEASES calls
 * of each thread between the last try that failed and the one that succeeded; the file of CHECKED
 * of them is looked up. Where file locks are recorded, all points of that time.
 */
#include "fd_kind.h"
#include "file_lock_release.h"
#include "stalls_priv.h"
#include "syscall_ipc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define POLL_NS	 UINT64_C(100000)
#define BETWEEN	 32 /* calls between a sleep and the next try, or a try and its sleep; */
#define NEAR_NS	 UINT64_C(10000000) /* and so much time, at most */
#define TRIES	 100000		    /* of one wait */
#define RELEASES 256		    /* calls of a thread, */
#define CHECKED	 512		    /* and of those that may release it, whose file is looked up */

/* Did the call try to get a lock, and fail because another thread held it? */
static bool failed_try(const struct ty_explain *x, const struct ty_syscall *c)
{
	const struct ty_sysrow *r = ty_syscall_row(x->arch, c->abi, c->nr);

	if (!r || c->flags & (TY_SF_OPEN | TY_SF_LOST | TY_SF_ENDED | TY_SF_BEFORE))
		return false;
	if (c->ret == -EEXIST)
		return r->a[0] == TY_ARG_PATH || r->a[1] == TY_ARG_PATH;
	return r->wait_on == TY_WAIT_ON_LOCK && (c->ret == -EAGAIN || c->ret == -EACCES);
}

static bool sleeps(const struct ty_explain *x, const struct ty_syscall *c)
{
	const struct ty_sysrow *r = ty_syscall_row(x->arch, c->abi, c->nr);

	return r && r->wait_on == TY_WAIT_ON_SLEEP;
}

static bool same_try(const struct ty_stall_search *h, uint32_t a, uint32_t b)
{
	struct ty_syscall x = ty_model_syscall(h->x->m, a), y = ty_model_syscall(h->x->m, b);
	uint64_t u[6], v[6];

	return x.nr == y.nr && x.abi == y.abi && h->x->args && !h->x->args(h->x->ctx, &x, u) &&
	       !h->x->args(h->x->ctx, &y, v) && u[0] == v[0] && u[1] == v[1];
}

static uint32_t calls_end(const struct ty_stall_search *h, uint32_t thread)
{
	const struct ty_thread *t = ty_model_thread(h->x->m, thread);

	return t->syscalls_first + t->syscalls_n;
}

/* The next try behind the sleep `call`, the same as `first`; TY_NONE. */
static uint32_t next_try(const struct ty_stall_search *h, uint32_t thread, uint32_t first,
			 uint32_t call)
{
	int32_t nr = ty_model_syscall_brief(h->x->m, thread, first).nr;
	uint64_t slept = ty_model_syscall_brief(h->x->m, thread, call).end_ns;
	uint32_t end = calls_end(h, thread);

	for (unsigned n = 0; n < BETWEEN && ++call < end; n++) {
		struct ty_syscall s = ty_model_syscall_brief(h->x->m, thread, call);

		if (s.start_ns - slept > NEAR_NS || sleeps(h->x, &s))
			break;
		if (s.nr == nr && same_try(h, first, call))
			return call;
	}
	return TY_NONE;
}

/* The sleep behind this try; TY_NONE. */
static uint32_t next_sleep(const struct ty_stall_search *h, uint32_t thread, uint32_t call)
{
	uint64_t tried = ty_model_syscall_brief(h->x->m, thread, call).end_ns;
	uint32_t end = calls_end(h, thread);

	for (unsigned n = 0; n < BETWEEN && ++call < end; n++) {
		struct ty_syscall s = ty_model_syscall_brief(h->x->m, thread, call);

		if (s.start_ns - tried > NEAR_NS)
			break;
		if (sleeps(h->x, &s))
			return call;
	}
	return TY_NONE;
}

/* The try that failed right before the sleep `call`; TY_NONE. */
static uint32_t try_before(const struct ty_stall_search *h, uint32_t thread, uint32_t call)
{
	uint32_t first = ty_model_thread(h->x->m, thread)->syscalls_first;
	uint64_t at = ty_model_syscall_brief(h->x->m, thread, call).start_ns;

	for (unsigned n = 0; n < BETWEEN && call-- > first; n++) {
		struct ty_syscall s = ty_model_syscall_brief(h->x->m, thread, call);

		if (at - s.end_ns > NEAR_NS || sleeps(h->x, &s))
			break;
		if (failed_try(h->x, &s))
			return call;
	}
	return TY_NONE;
}

/* The thread's sleep in the call. */
static uint32_t span_in(const struct ty_model *m, uint32_t thread, const struct ty_syscall *c)
{
	const struct ty_seek q = {.states = 1u << TY_ST_SLEEPING, .min_ns = 1, .nr = -1};
	uint32_t k = ty_model_seek(m, (struct ty_track){TY_TRACK_THREAD, thread}, &q,
				   c->start_ns ? c->start_ns - 1 : 0, false);

	return k != TY_NONE && ty_model_span_brief(m, thread, k).start_ns < c->end_ns ? k : TY_NONE;
}

struct polls {
	uint32_t first, last, got; /* calls: tries that failed; TY_NONE: none got it */
	uint32_t from, to;	   /* spans: the first and the last sleep */
	uint32_t n;
	uint32_t end_call;
};

/* The tries of which `first`, before the sleep `call`, is the first. */
static struct polls follow(const struct ty_stall_search *h, uint32_t thread, uint32_t first,
			   uint32_t call)
{
	const struct ty_model *m = h->x->m;
	struct polls p = {
		.first = first, .last = first, .got = TY_NONE, .from = TY_NONE, .to = TY_NONE};

	while (p.n < TRIES && call != TY_NONE) {
		struct ty_syscall s = ty_model_syscall_brief(m, thread, call);
		uint32_t span = span_in(m, thread, &s);

		if (!sleeps(h->x, &s) || span == TY_NONE)
			break;
		p.from = p.n++ ? p.from : span;
		p.to = span;
		p.end_call = call;
		call = next_try(h, thread, p.first, call);
		if (call == TY_NONE)
			break;
		p.end_call = call;
		s = ty_model_syscall_brief(m, thread, call);
		if (!failed_try(h->x, &s)) {
			p.got = s.ret >= 0 ? call : TY_NONE;
			break;
		}
		p.last = call;
		call = next_sleep(h, thread, call);
	}
	return p;
}

/* One candidate of all the sleeps, in place of those that are candidates themselves. */
static int add(struct ty_stall_search *h, uint32_t thread, const struct polls *p)
{
	const struct ty_model *m = h->x->m;
	uint64_t a = ty_model_syscall_brief(m, thread, p->first).start_ns,
		 b = ty_model_syscall_brief(m, thread, p->end_call).end_ns;
	size_t out = h->cand.n, n = h->cand.n;
	struct ty_candidate *c;
	int r;

	a = a > h->w.from_ns ? a : h->w.from_ns;
	b = b < h->w.to_ns ? b : h->w.to_ns;
	if (a >= b || b - a < h->o.min_ns)
		return 0;
	while (out && h->cand.v[out - 1].s.thread == thread)
		out--;
	for (size_t i = out; i < n; i++)
		if (h->cand.v[i].s.state != TY_ST_SLEEPING || h->cand.v[i].s.start_ns < a ||
		    h->cand.v[i].end_ns > b)
			h->cand.v[out++] = h->cand.v[i];
	h->cand.n = out;
	r = ty_stall_add(h, thread, p->to, a, b, TY_ST_SLEEPING, 0);
	if (r)
		return r;
	c = &h->cand.v[h->cand.n - 1];
	c->polls = c->tries = p->n;
	c->first_span = p->from;
	c->polled = p->first;
	c->poll_failed = p->last;
	c->poll_got = p->got;
	return 0;
}

int ty_stall_polled(struct ty_stall_search *h, uint32_t thread)
{
	static const char *const names[] = {"nanosleep", "clock_nanosleep"};
	const struct ty_model *m = h->x->m;

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		int nr = h->x->arch ? ty_syscall_number(h->x->arch, names[i]) : -1;
		const struct ty_seek q = {.min_ns = POLL_NS, .nr = nr};
		uint64_t at = h->w.from_ns ? h->w.from_ns - 1 : 0;
		uint32_t back = TY_NONE;

		while (nr >= 0 && ty_model_has_call(m, nr)) {
			uint32_t k = ty_model_seek(m, (struct ty_track){TY_TRACK_SYSCALLS, thread},
						   &q, at, false);
			struct ty_syscall s;
			struct polls p;
			uint32_t tried;
			int r;

			if (k == TY_NONE || (back != TY_NONE && k <= back)) /* a damaged index */
				break;
			if (ty_explain_stopped(h->x))
				return -TY_EINTR;
			back = k;
			s = ty_model_syscall_brief(m, thread, k);
			at = s.start_ns;
			if (at >= h->w.to_ns)
				break;
			tried = try_before(h, thread, k);
			if (tried == TY_NONE)
				continue;
			p = follow(h, thread, tried, k);
			if (p.n < 2)
				continue;
			at = ty_model_syscall_brief(m, thread, p.end_call).start_ns;
			r = add(h, thread, &p);
			if (r)
				return r;
		}
	}
	return 0;
}

/* The file that the call is about: its path, or what its first descriptor is; NULL. */
static const char *file_of(const struct ty_explain *x, uint32_t thread, uint32_t call)
{
	const struct ty_sysrow *r = ty_explain_row(x, call);
	struct ty_syscall c = ty_model_syscall(x->m, call);
	const char *name = NULL;
	uint64_t args[6];

	if (r->object >= 0 && r->a[r->object] == TY_ARG_PATH)
		return x->pointee ? x->pointee(x->ctx, thread, call, (unsigned)r->object) : NULL;
	if (r->a[0] != TY_ARG_FD || !x->args || x->args(x->ctx, &c, args))
		return NULL;
	ty_fd_kind(x, thread, (uint32_t)args[0], c.start_ns, &name);
	return name;
}

/* May the call release what is tried for: an unlock, or a close; a file that is removed? */
static bool may_release(const struct ty_stall_search *h, const struct ty_candidate *c,
			const struct ty_syscall *s)
{
	struct ty_syscall tried = ty_model_syscall_brief(h->x->m, c->s.thread, c->polled);
	char buf[32];
	const char *what;

	if (s->ret < 0 || s->flags & (TY_SF_OPEN | TY_SF_LOST))
		return false;
	if (tried.ret != -EEXIST)
		return s->nr == tried.nr || ty_syscall_ipc(h->x, s).says & TY_CLOSES;
	what = ty_syscall_name(h->x->arch, s->abi, s->nr, buf);
	return !strncmp(what, "unlink", 6) || !strncmp(what, "rename", 6) || !strcmp(what, "rmdir");
}

static bool is_of_file(const struct ty_stall_search *h, const struct ty_syscall *s, uint32_t call,
		       const char *file)
{
	const char *name = file_of(h->x, s->thread, call);

	return name && !strcmp(name, file);
}

/* The last call of a thread by which it released the file within [from, to); `same`: the calls that
 * the tries are made with, else others. Each that may be one takes one of `left`. */
static uint32_t last_release(const struct ty_stall_search *h, const struct ty_candidate *c,
			     uint32_t thread, uint64_t from_ns, uint64_t to_ns, bool same,
			     const char *file, unsigned *left)
{
	const struct ty_model *m = h->x->m;
	const struct ty_thread *t = ty_model_thread(m, thread);
	int32_t nr = ty_model_syscall_brief(m, c->s.thread, c->polled).nr;
	uint32_t k = ty_model_syscall_after(m, thread, from_ns), best = TY_NONE,
		 end = t->syscalls_first + t->syscalls_n;

	for (unsigned n = 0; k < end && n < RELEASES && *left; n++, k++) {
		struct ty_syscall s = ty_model_syscall_brief(m, thread, k);

		if (s.start_ns >= to_ns)
			break;
		if ((s.nr == nr) != same || !may_release(h, c, &s))
			continue;
		--*left;
		if (is_of_file(h, &s, k, file))
			best = k;
	}
	return best;
}

struct ty_release ty_stall_poll_releaser(const struct ty_stall_search *h,
					 const struct ty_candidate *c)
{
	const struct ty_model *m = h->x->m;
	const char *borrowed = file_of(h->x, c->s.thread, c->polled);
	static const struct ty_release none = {.thread = TY_NONE};
	struct ty_syscall from, to;
	struct ty_release r;
	uint32_t threads = ty_model_summary(m)->threads, best = TY_NONE;
	uint64_t last = 0;
	char file[160];

	if (c->poll_got == TY_NONE)
		return none;
	from = ty_model_syscall_brief(m, c->s.thread, c->poll_failed);
	to = ty_model_syscall_brief(m, c->s.thread, c->poll_got);
	r = ty_file_lock_release(h->x, c->s.thread, from.start_ns, to.end_ns);
	if (r.thread != TY_NONE || !borrowed)
		return r;
	snprintf(file, sizeof(file), "%s", borrowed);
	/* On a busy machine hundreds of threads close files: unlocks first. */
	for (unsigned pass = 0; pass < 2 && best == TY_NONE; pass++) {
		unsigned left = CHECKED;

		for (uint32_t i = 0; i < threads && left; i++) {
			uint32_t k = TY_NONE;

			if (i != c->s.thread && ty_model_thread(m, i)->traced)
				k = last_release(h, c, i, from.start_ns, to.end_ns, !pass, file,
						 &left);
			if (k != TY_NONE && ty_model_syscall_brief(m, i, k).end_ns > last) {
				last = ty_model_syscall_brief(m, i, k).end_ns;
				best = k;
			}
		}
	}
	if (best == TY_NONE)
		return none;
	from = ty_model_syscall(m, best);
	return (struct ty_release){from.thread, from.start_ns};
}
