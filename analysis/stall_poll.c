/* SPDX-License-Identifier: MIT */
/*
 * Polled locks: an attempt to take a lock (fcntl, flock, a file that must not exist yet) fails
 * repeatedly, and the thread sleeps in between (SQLite, package managers, git). All the sleeps
 * together are one wait, from the first failed attempt to the successful or last one.
 *
 * Budget: each sleep of POLL_NS or longer once, with up to BETWEEN calls before and after it; the
 * arguments of calls of the same kind only.
 */
#include "polled_call.h"
#include "stalls_priv.h"
#include "thread_walk.h"

#include <string.h>

#define POLL_NS UINT64_C(100000)
#define BETWEEN 32 /* calls between a sleep and the next try, or a try and its sleep; */
#define NEAR_NS UINT64_C(10000000) /* and so much time, at most */
#define TRIES	100000		   /* of one wait */

static bool failed_try(const struct ty_explain *x, const struct ty_syscall *c)
{
	const struct ty_sysrow *r = ty_syscall_row(x->arch, c->abi, c->nr);

	return r && !(c->flags & (TY_SF_OPEN | TY_SF_LOST | TY_SF_ENDED | TY_SF_BEFORE)) &&
	       ty_polled_call_failed(r->as, c->ret);
}

static bool sleeps(const struct ty_explain *x, const struct ty_syscall *c)
{
	const struct ty_sysrow *r = ty_syscall_row(x->arch, c->abi, c->nr);

	return r && r->wait_on == TY_WAIT_ON_SLEEP;
}

/* The same call, for the same thing: of link and rename, the name that exists already. */
static bool same_try(const struct ty_stall_search *h, uint32_t failed, uint32_t next)
{
	struct ty_syscall x = ty_model_syscall(h->x->m, failed),
			  y = ty_model_syscall(h->x->m, next);
	int object = ty_sysrow_object(ty_explain_row(h->x, failed), x.ret);
	const char *name = NULL;
	char path[4096];

	if (ty_explain_same_args(h->x, &x, &y, 2))
		return true;
	if (x.nr != y.nr || x.abi != y.abi || object <= 0 || !h->x->pointee)
		return false;
	name = h->x->pointee(h->x->ctx, x.thread, failed, (unsigned)object);
	if (!name || strlen(name) >= sizeof(path))
		return false;
	memcpy(path, name, strlen(name) + 1);
	name = h->x->pointee(h->x->ctx, y.thread, next, (unsigned)object);
	return name && !strcmp(name, path);
}

/* The next try behind the sleep `call`, the same as `first`; TY_NONE. */
static uint32_t next_try(const struct ty_stall_search *h, uint32_t thread, uint32_t first,
			 uint32_t call)
{
	int32_t nr = ty_model_syscall_brief(h->x->m, thread, first).nr;
	uint64_t slept = ty_model_syscall_brief(h->x->m, thread, call).end_ns;
	uint32_t end = ty_thread_calls(h->x->m, thread).to;

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
	uint32_t end = ty_thread_calls(h->x->m, thread).to;

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
	struct ty_calls_back w = ty_calls_before(h->x->m, thread, call, BETWEEN);
	uint64_t at = ty_model_syscall_brief(h->x->m, thread, call).start_ns;

	while (ty_call_back(&w) && at - w.s.end_ns <= NEAR_NS && !sleeps(h->x, &w.s))
		if (failed_try(h->x, &w.s))
			return w.call;
	return TY_NONE;
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
		uint32_t span = ty_sleep_in(m, &s);

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

/* Has the process the same number for itself as outside? In another PID namespace it has not, and
 * the numbers that it gives to calls are those of other processes outside. */
static bool in_first_namespace(const struct ty_model *m, const struct ty_sysarch *arch,
			       uint32_t thread)
{
	static const char *const names[] = {"set_tid_address", "gettid", "getpid"};
	const struct ty_thread *t = ty_model_thread(m, thread);
	uint64_t nrs[TY_SEEK_NRS / 64] = {0};
	const struct ty_seek q = {.nr = -1, .nrs = nrs};
	int32_t nr[3];
	uint32_t k;

	for (unsigned i = 0; i < 3; i++) {
		nr[i] = ty_syscall_number(arch, names[i]);
		if (nr[i] >= 0)
			nrs[nr[i] % TY_SEEK_NRS / 64] |= UINT64_C(1) << nr[i] % 64;
	}
	k = ty_model_seek(m, (struct ty_track){TY_TRACK_SYSCALLS, thread}, &q, 0, false);
	if (k == TY_NONE)
		return false;
	for (unsigned i = 0; i < 3; i++) {
		const struct ty_syscall s = ty_model_syscall_brief(m, thread, k);

		if (s.nr == nr[i])
			return s.ret == (i < 2 ? t->tid : t->tgid);
	}
	return false; /* another number with the same bit */
}

/* The process whose existence the thread checked, by kill with signal 0, after its last failed try;
 * TY_NONE. */
static uint32_t checked_process(const struct ty_stall_search *h, uint32_t thread, uint32_t call)
{
	const struct ty_model *m = h->x->m;
	uint32_t end = ty_thread_calls(m, thread).to;

	for (unsigned n = 0; n < BETWEEN && ++call < end; n++) {
		const struct ty_sysrow *r = ty_explain_row(h->x, call);
		struct ty_syscall s = ty_model_syscall(m, call);
		uint64_t args[6];

		if (sleeps(h->x, &s))
			break;
		if (r->says & TY_SIGNALS && r->a[0] == TY_ARG_PID && r->a[1] == TY_ARG_SIG &&
		    !s.ret && !ty_explain_args(h->x, &s, 2, args) && !(int32_t)args[1] &&
		    (int32_t)args[0] > 0 && in_first_namespace(m, h->x->arch, thread))
			return ty_model_thread_find(m, (int32_t)args[0], s.start_ns);
	}
	return TY_NONE;
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
	c->poll_checked = checked_process(h, thread, p->last);
	return 0;
}

int ty_stall_polled(struct ty_stall_search *h, uint32_t thread)
{
	static const char *const names[] = {"nanosleep", "clock_nanosleep"};
	const struct ty_model *m = h->x->m;

	for (unsigned i = 0; i < 2 && !h->naps_known; i++)
		h->naps[i] = h->x->arch ? ty_syscall_number(h->x->arch, names[i]) : -1;
	h->naps_known = true;
	for (unsigned i = 0; i < 2; i++) {
		const int nr = h->naps[i];
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
			if (p.got == TY_NONE &&
			    ty_polled_call_must_succeed(ty_explain_row(h->x, tried)))
				continue;
			r = add(h, thread, &p);
			if (r)
				return r;
		}
	}
	return 0;
}
