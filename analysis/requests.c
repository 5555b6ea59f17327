/* SPDX-License-Identifier: MIT */
/* See requests.h. Calls of all threads are merged by the time of their effect: receiving calls and
 * those that create a descriptor at their return, sending and closing ones at their start. */
#include "requests.h"

#include <errno.h>
#include <stdlib.h>

#include "compare.h"
#include "heap.h"
#include "process_of_thread.h"
#include "request_sockets.h"
#include "request_stream.h"
#include "syscall_table.h"
#include "vec.h"

#define LISTED 1024 /* descriptors that are checked: more would not help to find sockets */

/* A thread's next call that matters; in a heap by time. */
struct cursor {
	uint64_t at_ns;
	uint32_t thread, call;
};

struct process {
	struct ty_sock_table table;
	struct ty_fd_sides_now sides;
	bool sockets; /* it may have one */
	bool chosen;
	uint64_t open;
	bool inferred;
	VEC(uint32_t) ns100; /* lengths of requests, in units of 100 ns, capped */
	uint64_t n, total_ns, max_ns;
	VEC(struct ty_request) sample; /* each stride-th */
	uint64_t stride;
};

/* The longest ones: a heap, the shortest on top. */
struct kept {
	struct ty_request *v;
	uint32_t n;
};

struct pass {
	const struct ty_explain *x;
	const struct ty_model *m;
	const struct ty_window *w;
	struct process *process; /* by ty_process_of */
	uint32_t *process_of;	 /* of each thread */
	struct cursor *heap;
	struct ty_syscall *next; /* by thread index: what its cursor stands at, read once */
	uint32_t heap_n;
	struct kept kept, client_waits, pending;
	struct ty_fd_sides sides;
	uint32_t most; /* of each */
	uint64_t read, calls, all;
	bool full; /* `calls` were read */
	bool nomem;
};

static bool shorter(const void *none, const struct ty_request *a, const struct ty_request *b)
{
	(void)none;
	return ty_request_ns(a) < ty_request_ns(b);
}

static void keep(struct kept *k, uint32_t most, const struct ty_request *r)
{
	heap_keep(k->v, k->n, most, r, shorter, NULL);
}

/* Every stride-th one, by its number from 0: where there are too many, every other one of them. */
static void sample(struct pass *p, struct process *of, const struct ty_request *r)
{
	of->stride = of->stride ? of->stride : 1;
	if ((of->n - 1) % of->stride)
		return;
	if (of->sample.n == TY_REQUESTS_SAMPLE) {
		for (size_t i = 0; i < TY_REQUESTS_SAMPLE / 2; i++)
			of->sample.v[i] = of->sample.v[2 * i];
		of->sample.n = TY_REQUESTS_SAMPLE / 2;
		of->stride *= 2;
		if ((of->n - 1) % of->stride)
			return;
	}
	p->nomem |= vec_push(&of->sample, *r) != 0;
}

static void request(struct pass *p, uint32_t process, struct ty_request r)
{
	struct process *of = &p->process[process];
	uint64_t ns100 = ty_request_ns(&r) / 100;

	if (!of->chosen || r.end_ns < p->w->from_ns || r.end_ns > p->w->to_ns)
		return;
	r.service = process; /* until the services are known */
	of->inferred |= r.flags & TY_REQ_INFERRED;
	if (r.flags & TY_REQ_OPEN) {
		of->open++;
	} else {
		of->n++;
		of->total_ns += ty_request_ns(&r);
		of->max_ns = of->max_ns > ty_request_ns(&r) ? of->max_ns : ty_request_ns(&r);
		p->nomem |= vec_push(&of->ns100,
				     (uint32_t)(ns100 < UINT32_MAX ? ns100 : UINT32_MAX)) != 0;
		sample(p, of, &r);
	}
	p->all++;
	keep(&p->kept, p->most, &r);
}

/* The client has its reply, or none will come (vain). */
static void heard(struct pass *p, uint32_t process, int64_t fd, struct ty_sock *s, uint64_t at_ns,
		  unsigned vain)
{
	struct ty_request r = {.start_ns = s->sent_ns,
			       .end_ns = at_ns,
			       .thread = s->sent_by,
			       .replied_by = TY_NONE,
			       .service = process,
			       .fd = (int32_t)fd,
			       .flags = (uint8_t)((s->connecting ? TY_REQ_CONNECT : 0) | vain)};

	if (s->awaits_reply && at_ns > s->sent_ns && at_ns >= p->w->from_ns &&
	    s->sent_ns <= p->w->to_ns)
		keep(&p->client_waits, p->most, &r);
	s->awaits_reply = s->connecting = false;
}

static void send_begins(struct ty_sock *s, uint32_t thread, uint64_t at_ns)
{
	if (s->awaits_reply)
		return;
	s->awaits_reply = true;
	s->sent_ns = at_ns;
	s->sent_by = thread;
}

/* The effects of calls ------------------------------------------------------------------------- */

/* The descriptor is that socket from now on, whose side is known. Not by which end sent first: of a
 * connection older than the recording that may have been a reply. */
static void tell_side(struct pass *p, uint32_t process, int64_t fd, const struct ty_sock *s,
		      uint64_t at_ns)
{
	if (!s->by_use)
		p->nomem |= ty_fd_side_is(&p->sides, &p->process[process].sides, process, fd,
					  s->role, at_ns) != 0;
}

/* The descriptor is closed, or replaced. */
static void drop(struct pass *p, struct process *of, int64_t fd, uint64_t at_ns)
{
	ty_sock_drop(&of->table, fd);
	p->nomem |= ty_fd_side_ends(&of->sides, fd, at_ns) != 0;
}

static void made(struct pass *p, uint32_t process, int64_t fd, uint8_t kind, uint8_t role,
		 uint64_t at_ns)
{
	struct process *of = &p->process[process];
	struct ty_sock *s;

	drop(p, of, fd, at_ns);
	s = ty_sock_at(p->x, &of->table, fd);
	if (!s)
		return;
	*s = (struct ty_sock){.kind = kind, .role = role, .known = true};
	tell_side(p, process, fd, s, at_ns);
}

/* Connections that another process passed on (SCM_RIGHTS): what was said there before is unknown.
 */
static void passed_on(struct pass *p, uint32_t process, uint32_t thread, uint32_t call,
		      uint64_t at_ns)
{
	struct ty_fd_received got;

	for (unsigned i = 0; p->x->received(p->x->ctx, thread, call, i, &got); i++) {
		struct process *of = &p->process[process];
		struct ty_sock *s;

		made(p, process, got.fd, TY_FD_UNKNOWN, TY_SOCK_UNKNOWN, at_ns);
		s = got.name ? ty_sock_at(p->x, &of->table, got.fd) : NULL;
		if (!s)
			continue;
		ty_sock_is_named(p->x, s, got.name);
		s->used = s->role != TY_SOCK_UNKNOWN;
		tell_side(p, process, got.fd, s, at_ns);
	}
}

static void received(struct pass *p, uint32_t process, const struct cursor *at, int32_t fd,
		     struct ty_sock *s)
{
	const uint64_t at_ns = at->at_ns;

	/* The end that receives first is the server. */
	if (!s->used && s->role == TY_SOCK_UNKNOWN) {
		s->role = TY_SOCK_SERVER;
		s->inferred = s->by_use = true;
	}
	s->used = s->heard = true;
	tell_side(p, process, fd, s, at_ns);
	heard(p, process, fd, s, at_ns, 0);
	if (s->role != TY_SOCK_SERVER)
		return;
	if (!s->open) {
		s->open = true;
		s->since_ns = at_ns;
		s->more = 0;
		s->thread = at->thread;
	} else if (ty_request_may_be_stream(p->x, s, at->thread, at->call, at_ns)) {
		s->more++;
	}
	s->last_ns = at_ns;
	s->last_by = at->thread;
}

static void sent(struct pass *p, uint32_t process, const struct cursor *at, int32_t fd,
		 struct ty_sock *s, const struct ty_syscall *c)
{
	uint32_t thread = at->thread;
	bool first = !s->used, stream;

	if (first && s->role == TY_SOCK_UNKNOWN) {
		s->role = TY_SOCK_CLIENT;
		s->inferred = s->by_use = true;
	}
	s->used = true;
	tell_side(p, process, fd, s, c->start_ns);
	if (s->client) {
		if (s->connecting)
			heard(p, process, fd, s, c->start_ns, 0);
		send_begins(s, thread, c->start_ns);
	}
	if (s->role != TY_SOCK_SERVER)
		return;
	/* Perhaps the reply to the last message, or none (a ping). */
	stream = ty_request_is_stream(p->x, s, thread, at->call);
	if (s->open)
		request(p, process,
			(struct ty_request){
				.start_ns = stream ? s->last_ns : s->since_ns,
				.end_ns = ty_request_sent_until(p->x, thread, at->call, fd, c),
				.thread = stream ? s->last_by : s->thread,
				.replied_by = thread,
				.fd = fd,
				.flags = s->inferred ? TY_REQ_INFERRED : 0});
	else if (first && s->inferred && !ty_model_thread(p->m, process)->born)
		request(p, process,
			(struct ty_request){.start_ns = ty_model_summary(p->m)->start_ns,
					    .end_ns = c->end_ns,
					    .thread = TY_NONE,
					    .replied_by = thread,
					    .fd = fd,
					    .flags = TY_REQ_INFERRED | TY_REQ_BEFORE});
	s->open = false;
	s->replied |= !stream;
}

/* Descriptor i of the arguments, where it is a socket. */
static struct ty_sock *socket_of(struct pass *p, struct process *of, const struct ty_sysrow *row,
				 int i, const uint64_t args[6], int32_t *fd)
{
	struct ty_sock *s;

	if (i < 0)
		return NULL;
	*fd = (int32_t)args[i];
	s = ty_sock_at(p->x, &of->table, *fd);
	if (s && s->kind == TY_FD_UNKNOWN && row->says & TY_MESSAGE)
		s->kind = TY_FD_SOCKET;
	return s && s->kind == TY_FD_SOCKET ? s : NULL;
}

/* Has the process another descriptor of that socket? */
static bool is_copied(const struct process *of, int64_t fd)
{
	const struct ty_sock *s = &of->table.fd.v[fd];

	return s->copy_of || s->copies;
}

/* Does the call make a socket, or prove that there is one? A descriptor of unknown kind may be. */
static bool shows_socket(const struct ty_sysrow *row)
{
	return row->says & (TY_ACCEPTS | TY_CONNECTS | TY_MESSAGE) ||
	       (row->fds == TY_FDS_NEW &&
		(row->fd_kind == TY_FD_SOCKET || row->fd_kind == TY_FD_UNKNOWN));
}

static void take(struct pass *p, const struct cursor *c)
{
	struct ty_syscall call = p->next[c->thread];
	uint32_t process = p->process_of[c->thread];
	struct process *of = &p->process[process];
	const struct ty_sysrow *row;
	struct ty_sock *s;
	uint64_t args[6];
	int32_t fd;
	bool behind;
	int last;

	row = ty_explain_deed(p->x, &call, &behind);
	of->sockets = of->sockets || behind || shows_socket(row);
	if (behind || !of->sockets)
		return;
	if (row->says & TY_ACCEPTS)
		return made(p, process, call.ret, TY_FD_SOCKET, TY_SOCK_SERVER, c->at_ns);
	if (row->fds == TY_FDS_NEW)
		return made(p, process, call.ret, row->fd_kind, TY_SOCK_UNKNOWN, c->at_ns);
	if (row->fds == TY_FDS_RECEIVED && p->x->received)
		passed_on(p, process, c->thread, c->call, c->at_ns);
	p->read++;
	last = row->gives > row->takes ? row->gives : row->takes;
	last = row->fds == TY_FDS_FCNTL ? 1 : last;
	if (ty_explain_args(p->x, &call, last > 0 ? (unsigned)last + 1 : 1, args))
		return;
	if (ty_sysrow_copies(row, args)) {
		if (call.ret != (int32_t)args[0])
			p->nomem |= ty_fd_side_ends(&of->sides, call.ret, c->at_ns) != 0;
		return ty_sock_copy(p->x, &of->table, (int32_t)args[0], call.ret);
	}
	if (row->says & TY_CLOSES) {
		s = ty_sock_at(p->x, &of->table, (int32_t)args[0]);
		if (s) {
			if (!is_copied(of, (int32_t)args[0]))
				heard(p, process, (int32_t)args[0], s, call.start_ns, TY_REQ_VAIN);
			drop(p, of, (int32_t)args[0], c->at_ns);
		}
		return;
	}
	s = row->says & TY_CONNECTS ? ty_sock_at(p->x, &of->table, (int32_t)args[0]) : NULL;
	if (s) {
		s->kind = TY_FD_SOCKET;
		s->role = TY_SOCK_CLIENT;
		s->client = true;
		s->inferred = s->by_use = false;
		tell_side(p, process, (int32_t)args[0], s, call.start_ns);
		if (call.ret == -EINPROGRESS) {
			send_begins(s, c->thread, call.start_ns);
			s->connecting = true;
		}
		return;
	}
	if (row->says & TY_TAKES && (s = socket_of(p, of, row, row->takes, args, &fd)))
		received(p, process, c, fd, s);
	if (row->says & TY_GIVES && (s = socket_of(p, of, row, row->gives, args, &fd)))
		sent(p, process, c, fd, s, &call);
}

/* The merge ------------------------------------------------------------------------------------ */

/* Does the call matter, and when? */
static bool matters(const struct ty_sysrow *row, const struct ty_syscall *c, uint64_t *at_ns)
{
	bool connects = row->says & TY_CONNECTS;

	if (c->flags & (TY_SF_OPEN | TY_SF_LOST | TY_SF_ENDED) || (c->ret < 0 && !connects))
		return false;
	if (row->says & TY_CLOSES) {
		*at_ns = c->start_ns;
		return true;
	}
	if (row->says & TY_ACCEPTS || row->fds == TY_FDS_NEW || row->fds == TY_FDS_DUP ||
	    row->fds == TY_FDS_DUP2 || row->fds == TY_FDS_FCNTL || connects) {
		*at_ns = c->end_ns;
		return true;
	}
	if (!(row->says & (TY_TAKES | TY_GIVES)) || c->ret <= 0 ||
	    (row->gives < 0 && row->takes < 0))
		return false;
	*at_ns = row->says & TY_TAKES ? c->end_ns : c->start_ns;
	return true;
}

static bool earlier(const void *none, const struct cursor *a, const struct cursor *b)
{
	(void)none;
	return a->at_ns < b->at_ns;
}

/* The thread's next call that matters; false: there is none. */
static bool advance(const struct pass *p, struct cursor *c)
{
	const struct ty_thread *t = ty_model_thread(p->m, c->thread);

	for (; c->call < t->syscalls_first + t->syscalls_n; c->call++) {
		uint8_t abi;
		int32_t nr = ty_model_syscall_nr(p->m, c->thread, c->call, &abi);
		const struct ty_sysrow *row = ty_syscall_row(p->x->arch, (enum ty_abi)abi, nr);
		struct ty_syscall call;

		/* Most calls are waits. */
		if (!row->says && !row->fds)
			continue;
		call = ty_model_syscall_brief(p->m, c->thread, c->call);
		if (call.start_ns >= p->w->to_ns)
			return false;
		if (matters(row, &call, &c->at_ns)) {
			p->next[c->thread] = call;
			return true;
		}
	}
	return false;
}

/* Which processes begin when: a child has what its parent has at that moment. */
struct birth {
	uint64_t at_ns;
	uint32_t process, parent; /* TY_NONE: unknown */
};

ORDER(by_time, struct birth, compare(a->at_ns, b->at_ns) ?: compare(a->process, b->process))

/* Had the process a socket when its descriptors were listed, or is that not known? */
static bool had_sockets(const struct pass *p, int32_t pid)
{
	bool any = false, cloexec;

	if (!p->x->fd_before || !p->x->fds_left_out || p->x->fds_left_out(p->x->ctx, pid))
		return true;
	for (int32_t fd = ty_explain_fd_listed(p->x, pid, 0); fd < LISTED;
	     fd = ty_explain_fd_listed(p->x, pid, fd + 1)) {
		const char *name = p->x->fd_before(p->x->ctx, pid, fd, &cloexec);

		any = any || name;
		if (name && ty_sock_named(name))
			return true;
	}
	return !any;
}

static void begin(struct pass *p, const struct birth *b)
{
	const struct ty_thread *t = ty_model_thread(p->m, b->process);
	struct ty_sock_table *table = &p->process[b->process].table;

	table->pid = t->tgid >= 0 ? t->tgid : t->tid;
	table->before = !t->born;
	p->process[b->process].sockets =
		b->parent != TY_NONE ? p->process[b->parent].sockets : had_sockets(p, table->pid);
	if (b->parent != TY_NONE)
		p->nomem |= ty_sock_inherit(table, &p->process[b->parent].table) != 0;
}

static int merge(struct pass *p, const struct birth *births, uint32_t births_n, uint64_t *until_ns)
{
	uint32_t born = 0;

	heap_order(p->heap, p->heap_n, earlier, NULL);
	while (p->heap_n && !p->nomem) {
		struct cursor *c = &p->heap[0];

		*until_ns = c->at_ns;
		if (p->calls && p->read >= p->calls) {
			p->full = true;
			return 0;
		}
		if (ty_explain_stopped(p->x))
			return -TY_EINTR;
		while (born < births_n && births[born].at_ns <= c->at_ns)
			begin(p, &births[born++]);
		take(p, c);
		c->call++;
		if (!advance(p, c))
			p->heap[0] = p->heap[--p->heap_n];
		if (p->heap_n)
			heap_down(p->heap, p->heap_n, 0, earlier, NULL);
	}
	return p->nomem ? -TY_ENOMEM : 0;
}

/* What was received and not answered: where this end is known to answer; and what was requested. */
static void leftovers(struct pass *p, uint64_t until_ns)
{
	uint64_t end = p->full ? until_ns : ty_model_summary(p->m)->end_ns;

	if (end > p->w->to_ns)
		end = p->w->to_ns;
	for (uint32_t i = 0; i < ty_model_summary(p->m)->threads; i++)
		for (size_t fd = 0; fd < p->process[i].table.fd.n; fd++) {
			struct ty_sock *s = &p->process[i].table.fd.v[fd];
			uint64_t died = ty_model_thread(p->m, i)->end_ns;
			struct ty_request r;

			/* A reply is not awaited from an end that never receives anything. */
			heard(p, i, (int64_t)fd, s, died < end ? died : end,
			      TY_REQ_OPEN | (s->heard || s->connecting ? 0 : TY_REQ_VAIN));

			if (!s->open || s->since_ns >= end || ty_request_still_sends(s, end))
				continue;
			r = (struct ty_request){.start_ns = s->since_ns,
						.end_ns = died < end ? died : end,
						.thread = s->thread,
						.replied_by = TY_NONE,
						.service = i,
						.fd = (int32_t)fd,
						.flags = TY_REQ_OPEN |
							 (s->inferred ? TY_REQ_INFERRED : 0)};
			if (s->replied)
				request(p, i, r);
			else if (r.start_ns < r.end_ns)
				keep(&p->pending, p->most, &r);
		}
}

ORDER(by_length, struct ty_request,
      compare(ty_request_ns(b), ty_request_ns(a)) ?: compare(a->start_ns, b->start_ns))

ORDER(by_number, uint32_t, compare(*a, *b))

ORDER(by_total, struct ty_service,
      compare(b->total_ns, a->total_ns) ?: compare(a->process, b->process))

/* The nearest rank, as in the table of system calls: of few requests p99 is the longest. */
static uint64_t quantile(const struct process *of, unsigned percent)
{
	return of->n ? (uint64_t)of->ns100.v[(of->ns100.n * percent + 99) / 100 - 1] * 100 : 0;
}

static int services(struct pass *p, struct ty_requests *out)
{
	uint32_t threads = ty_model_summary(p->m)->threads, *at;
	VEC(struct ty_service) v = {0};
	int rc = 0;

	for (uint32_t i = 0; i < threads && !rc; i++) {
		struct process *of = &p->process[i];

		if (!of->n && !of->open)
			continue;
		if (of->n)
			vec_sort(&of->ns100, by_number);
		rc = vec_push(&v, (struct ty_service){.process = i,
						      .n = of->n,
						      .open = of->open,
						      .p50_ns = quantile(of, 50),
						      .p90_ns = quantile(of, 90),
						      .p99_ns = quantile(of, 99),
						      .max_ns = of->max_ns,
						      .total_ns = of->total_ns,
						      .inferred = of->inferred});
	}
	out->services = v.v;
	out->services_n = (uint32_t)v.n;
	at = rc ? NULL : malloc(((size_t)threads + 1) * sizeof(*at));
	if (!at)
		return -TY_ENOMEM;
	vec_sort(&v, by_total);
	for (uint32_t i = 0; i < v.n; i++) {
		at[v.v[i].process] = i;
		v.v[i].sample = out->sample_n;
		v.v[i].sample_n = (uint32_t)p->process[v.v[i].process].sample.n;
		out->sample_n += v.v[i].sample_n;
	}
	out->sample = malloc(((size_t)out->sample_n + 1) * sizeof(*out->sample));
	for (uint32_t i = 0; out->sample && i < v.n; i++)
		for (uint32_t k = 0; k < v.v[i].sample_n; k++) {
			struct ty_request *r = &out->sample[v.v[i].sample + k];

			*r = p->process[v.v[i].process].sample.v[k];
			r->service = i;
		}
	for (uint32_t i = 0; i < p->kept.n; i++)
		p->kept.v[i].service = at[p->kept.v[i].service];
	free(at);
	return out->sample ? 0 : -TY_ENOMEM;
}

/* Threads with calls, and processes with their parents. births: room for all threads. */
static uint32_t prepare(struct pass *p, struct birth *births)
{
	uint32_t threads = ty_model_summary(p->m)->threads, n = 0;

	for (uint32_t i = 0; i < threads; i++) {
		const struct ty_thread *t = ty_model_thread(p->m, i);
		struct cursor c = {.thread = i, .call = t->syscalls_first};
		uint32_t process = p->process_of[i] = ty_process_of(p->m, i);

		p->process[process].chosen |= ty_window_thread(p->w, p->m, i);
		if (process == i)
			births[n++] =
				(struct birth){t->start_ns, i,
					       t->born && t->forked_by >= 0
						       ? ty_process_of(p->m, (uint32_t)t->forked_by)
						       : TY_NONE};
		if (t->syscalls_n && advance(p, &c))
			p->heap[p->heap_n++] = c;
	}
	qsort(births, n, sizeof(*births), by_time);
	return n;
}

int ty_requests_find(const struct ty_explain *x, const struct ty_window *w, uint32_t most,
		     uint64_t calls, struct ty_requests *out, struct ty_err *err)
{
	uint32_t threads = ty_model_summary(x->m)->threads;
	struct pass p = {.x = x, .m = x->m, .w = w, .most = most, .calls = calls};
	struct birth *births = calloc((size_t)threads + 1, sizeof(*births));
	uint64_t until_ns = 0;
	int rc = -TY_ENOMEM;

	*out = (struct ty_requests){0};
	p.process = calloc((size_t)threads + 1, sizeof(*p.process));
	p.process_of = calloc((size_t)threads + 1, sizeof(*p.process_of));
	p.heap = calloc((size_t)threads + 1, sizeof(*p.heap));
	p.next = calloc((size_t)threads + 1, sizeof(*p.next));
	p.kept.v = calloc((size_t)most + 1, sizeof(*p.kept.v));
	p.client_waits.v = calloc((size_t)most + 1, sizeof(*p.client_waits.v));
	p.pending.v = calloc((size_t)most + 1, sizeof(*p.pending.v));
	if (births && p.process && p.process_of && p.heap && p.next && p.kept.v &&
	    p.client_waits.v && p.pending.v) {
		rc = 0;
		if (x->arch && x->args)
			rc = merge(&p, births, prepare(&p, births), &until_ns);
		if (!rc)
			leftovers(&p, until_ns);
		for (uint32_t i = 0; !rc && i < threads; i++)
			rc = ty_fd_sides_finish(&p.sides, &p.process[i].sides,
						p.full ? until_ns : UINT64_MAX);
		ty_fd_sides_sort(&p.sides);
		if (!rc)
			vec_sort(&p.kept, by_length);
		if (!rc)
			vec_sort(&p.client_waits, by_length);
		rc = rc ? rc : services(&p, out);
	}
	for (uint32_t i = 0; p.process && i < threads; i++) {
		vec_fini(&p.process[i].table.fd);
		vec_fini(&p.process[i].sides.fd);
		vec_fini(&p.process[i].ns100);
		vec_fini(&p.process[i].sample);
	}
	free(births);
	free(p.process);
	free(p.process_of);
	free(p.heap);
	free(p.next);
	out->v = p.kept.v;
	out->n = p.kept.n;
	out->client_waits = p.client_waits.v;
	out->client_waits_n = p.client_waits.n;
	out->pending = p.pending.v;
	out->pending_n = p.pending.n;
	out->sides = p.sides;
	out->all = p.all;
	out->cut_ns = p.full ? until_ns : 0;
	if (rc) {
		ty_requests_fini(out);
		return ty_fail(err, -rc, TY_NO_OFFSET, "cannot analyse the requests: %s",
			       ty_strerror(rc));
	}
	return 0;
}

void ty_requests_fini(struct ty_requests *r)
{
	free(r->services);
	free(r->v);
	free(r->client_waits);
	free(r->pending);
	free(r->sample);
	vec_fini(&r->sides.v);
	*r = (struct ty_requests){0};
}
