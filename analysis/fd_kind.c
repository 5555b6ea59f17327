/* SPDX-License-Identifier: MIT */
/*
 * See fd_kind.h, fd_table.h. Replays the calls of all threads of a process that create or close
 * descriptors, in the order of their ends, on a copy of the table inherited by fork. A returned
 * descriptor proves that all lower ones were open (POSIX: the lowest free one is taken), which
 * corrects a table with an unknown start. If there is a snapshot of descriptors, it is the initial
 * table and includes all earlier changes; changes while it was taken, or after the queried time,
 * make their descriptors unknown.
 */
#include "fd_kind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "fd_table.h"
#include "vec.h"

#define FDS   TY_FDS
#define DEPTH 16

enum { FD_CLOEXEC_ = 1, CLOSE_RANGE_CLOEXEC_ = 4 };

struct call {
	uint64_t end_ns;
	uint32_t thread, call;
	const struct ty_sysrow *row;
};

struct calls {
	struct call *v;
	size_t n, cap;
};

ORDER(by_end, struct call, compare(a->end_ns, b->end_ns) ?: compare(a->call, b->call))

static void put(struct ty_fd_table *t, uint64_t fd, uint8_t kind, bool cloexec)
{
	if (fd >= FDS)
		return;
	t->open[fd] = true;
	t->kind[fd] = kind;
	t->cloexec[fd] = cloexec;
	t->name[fd] = NULL;
	t->by[fd].arg = -1;
}

static void put_copy(struct ty_fd_table *t, uint64_t fd, uint64_t of, bool cloexec)
{
	put(t, fd, of < FDS ? t->kind[of] : TY_FD_UNKNOWN, cloexec);
	if (fd < FDS && of < FDS) {
		t->name[fd] = t->name[of];
		t->by[fd] = t->by[of];
	}
}

/* fd was the lowest free one. */
static void mend(struct ty_fd_table *t, uint64_t fd)
{
	for (uint64_t i = 0; i < fd && i < FDS; i++)
		if (!t->open[i])
			put(t, i, TY_FD_UNKNOWN, false);
}

static void put_lowest(struct ty_fd_table *t, uint8_t kind, bool cloexec, struct ty_fd_maker by)
{
	for (unsigned i = 0; i < FDS; i++)
		if (!t->open[i]) {
			put(t, i, kind, cloexec);
			t->by[i] = by;
			return;
		}
}

static uint8_t kind_of(const char *name)
{
	static const struct {
		const char *begin;
		uint8_t kind;
	} v[] = {{"/", TY_FD_FILE},
		 {"pipe:", TY_FD_PIPE},
		 {"socket:", TY_FD_SOCKET},
		 {"TCP:", TY_FD_SOCKET},
		 {"UDP:", TY_FD_SOCKET},
		 {"UNIX:", TY_FD_SOCKET},
		 {"UNIX-", TY_FD_SOCKET},
		 {"anon_inode:[eventfd]", TY_FD_EVENTFD},
		 {"anon_inode:[timerfd]", TY_FD_TIMERFD},
		 {"anon_inode:[signalfd]", TY_FD_SIGNALFD},
		 {"anon_inode:[eventpoll]", TY_FD_EPOLL},
		 {"anon_inode:", TY_FD_OTHER}};

	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++)
		if (!strncmp(name, v[i].begin, strlen(v[i].begin)))
			return v[i].kind;
	return TY_FD_UNKNOWN;
}

static void put_received(const struct ty_explain *x, struct ty_fd_table *t, const struct call *k)
{
	struct ty_fd_received o;

	for (unsigned i = 0; x->received && x->received(x->ctx, k->thread, k->call, i, &o); i++) {
		put(t, (uint64_t)o.fd, o.name ? kind_of(o.name) : TY_FD_UNKNOWN, o.cloexec);
		if (o.fd >= 0 && o.fd < FDS)
			t->name[o.fd] = o.name;
	}
}

/* How many of its arguments say what becomes of the descriptors. */
static unsigned needed(const struct ty_sysrow *r)
{
	const int last = r->fds == TY_FDS_RANGE ? 2 : r->fds == TY_FDS_FCNTL ? 1 : 0;

	return (unsigned)(r->cloexec > last ? r->cloexec : last) + 1;
}

static void made_by(struct ty_fd_table *t, uint64_t fd, const struct call *k)
{
	const struct ty_sysrow *r = k->row;
	bool path = r->object >= 0 && r->a[r->object] == TY_ARG_PATH;

	if (fd < FDS)
		t->by[fd] =
			(struct ty_fd_maker){k->thread, k->call, path ? r->object : TY_POINTEE_FD};
}

/* executed: another program was, later, so it matters which descriptors that closes. */
static void replay(const struct ty_explain *x, struct ty_fd_table *t, const struct call *k,
		   bool executed)
{
	struct ty_syscall c = ty_model_syscall_brief(x->m, k->thread, k->call);
	uint64_t args[6] = {0}, fd = (uint64_t)c.ret;
	uint8_t kind = k->row->fd_kind;
	bool cloexec;

	if ((c.ret < 0 && (k->row->fds != TY_FDS_NAMED || c.ret != -EINPROGRESS)) ||
	    c.flags & (TY_SF_OPEN | TY_SF_LOST | TY_SF_ENDED))
		return;
	if (k->row->fds == TY_FDS_RECEIVED) {
		put_received(x, t, k);
		return;
	}
	if (k->row->fds == TY_FDS_EXEC) {
		for (unsigned i = 0; i < FDS; i++)
			if (t->cloexec[i])
				t->open[i] = t->cloexec[i] = false;
		return;
	}
	if ((executed || k->row->fds != TY_FDS_NEW) && ty_explain_args(x, &c, needed(k->row), args))
		return;
	cloexec = ty_sysrow_cloexec(k->row, args);
	switch ((enum ty_fds_effect)k->row->fds) {
	case TY_FDS_NEW:
		mend(t, fd);
		put(t, fd, kind, cloexec);
		made_by(t, fd, k);
		break;
	case TY_FDS_PAIR:
		/* The lowest free ones, if it is known which are. */
		for (unsigned i = 0; i < 2 && !t->left_out; i++)
			put_lowest(t, kind, cloexec,
				   (struct ty_fd_maker){k->thread, k->call,
							(int8_t)(TY_POINTEE_FD + i)});
		break;
	case TY_FDS_CLOSE:
		if (args[0] < FDS)
			t->open[args[0]] = t->cloexec[args[0]] = false;
		break;
	case TY_FDS_RANGE:
		for (uint64_t i = (uint32_t)args[0]; i < FDS && i <= (uint32_t)args[1]; i++) {
			if (args[2] & CLOSE_RANGE_CLOEXEC_)
				t->cloexec[i] = t->open[i];
			else
				t->open[i] = t->cloexec[i] = false;
		}
		break;
	case TY_FDS_DUP:
	case TY_FDS_DUP2:
	case TY_FDS_FCNTL:
		if (k->row->fds == TY_FDS_DUP)
			mend(t, fd);
		if (!ty_sysrow_copies(k->row, args)) {
			if ((uint32_t)args[1] == TY_F_SETFD && args[0] < FDS &&
			    !ty_explain_args(x, &c, 3, args))
				t->cloexec[args[0]] = args[2] & FD_CLOEXEC_;
		} else if (fd != args[0]) { /* dup2 to itself does nothing */
			put_copy(t, fd, args[0], cloexec);
		}
		break;
	case TY_FDS_NAMED:
		if (args[0] < FDS && t->open[args[0]] && t->kind[args[0]] == TY_FD_SOCKET &&
		    !t->name[args[0]])
			t->by[args[0]] = (struct ty_fd_maker){k->thread, k->call, TY_FD_BY_ADDRESS};
		break;
	case TY_FDS_RECEIVED:
	case TY_FDS_NONE:
	case TY_FDS_EXEC: break;
	}
}

/* The table of a process that existed before the recording; true: as listed, else none. */
static bool begin(const struct ty_explain *x, int32_t pid, struct ty_fd_table *t)
{
	bool any = false;

	memset(t, 0, sizeof(*t));
	for (unsigned i = 0; i < FDS; i++)
		t->by[i].arg = -1;
	for (int32_t i = 0; x->fd_before && i < FDS; i++) {
		bool cloexec = false;
		const char *name = x->fd_before(x->ctx, pid, i, &cloexec);

		if (!name)
			continue;
		any = true;
		put(t, (uint64_t)i, kind_of(name), cloexec);
		t->name[i] = name;
	}
	for (unsigned i = 0; i < 3 && !any; i++)
		t->open[i] = true;
	t->left_out = x->fd_before && x->fds_left_out(x->ctx, pid);
	return any;
}

static void forget(struct ty_fd_table *t, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < FDS && i <= to; i++) {
		t->kind[i] = TY_FD_UNKNOWN;
		t->name[i] = NULL;
		t->by[i].arg = -1;
	}
}

/* A call whose effect may or may not be in the listed table, or is in it but followed t. */
static void unlearn(const struct ty_explain *x, struct ty_fd_table *t, const struct call *k,
		    uint64_t t_ns)
{
	struct ty_syscall c = ty_model_syscall_brief(x->m, k->thread, k->call);
	uint64_t fd = (uint64_t)c.ret, args[6];
	uint8_t kind = k->row->fd_kind;
	struct ty_fd_received got;

	if (c.ret < 0 || c.flags & (TY_SF_OPEN | TY_SF_LOST | TY_SF_ENDED) ||
	    ty_explain_args(x, &c, needed(k->row), args))
		return;
	switch ((enum ty_fds_effect)k->row->fds) {
	case TY_FDS_NEW:
		forget(t, fd, fd);
		if (k->end_ns <= t_ns) {
			put(t, fd, kind, false);
			made_by(t, fd, k);
		}
		break;
	case TY_FDS_DUP:
	case TY_FDS_DUP2:
	case TY_FDS_FCNTL:
		if (ty_sysrow_copies(k->row, args))
			forget(t, fd, fd);
		break;
	case TY_FDS_CLOSE: forget(t, args[0], args[0]); break;
	case TY_FDS_RANGE: forget(t, (uint32_t)args[0], (uint32_t)args[1]); break;
	case TY_FDS_PAIR: /* the numbers are unknown */
		for (uint64_t i = 0; i < FDS; i++)
			if (t->kind[i] == kind)
				forget(t, i, i);
		break;
	case TY_FDS_RECEIVED:
		for (unsigned i = 0;
		     x->received && x->received(x->ctx, k->thread, k->call, i, &got); i++)
			forget(t, (uint64_t)got.fd, (uint64_t)got.fd);
		break;
	case TY_FDS_NAMED:
	case TY_FDS_NONE:
	case TY_FDS_EXEC: break; /* what it closed is not listed */
	}
}

/* Its steps are not counted: the result for one wait must not depend on them. */
static bool stopped(const struct ty_explain *x)
{
	return x->stop && atomic_load_explicit(x->stop, memory_order_relaxed);
}

/* The thread's calls up to to_ns that make, close or name descriptors. */
static int add_calls(const struct ty_explain *x, uint32_t thread, uint64_t to_ns, struct calls *v,
		     struct ty_call_rows *rows, uint32_t *budget)
{
	uint32_t k = ty_model_thread(x->m, thread)->syscalls_first, n;

	for (; !stopped(x) && (n = ty_model_call_rows(x->m, thread, k, rows)) > 0; k += n)
		for (uint32_t i = 0; i < n; i++) {
			const struct ty_sysrow *row;

			if (rows->end_ns[i] > to_ns)
				return 0;
			if (!(*budget)--) {
				*budget = 0;
				return -TY_ELIMIT;
			}
			row = ty_syscall_row(x->arch, rows->abi[i], rows->nr[i])->as;
			if (row->fds && (x->received || row->fds != TY_FDS_RECEIVED) &&
			    vec_push(v, ((struct call){rows->end_ns[i], thread, k + i, row})))
				return -TY_ENOMEM;
		}
	return 0;
}

/* As the calls of one thread are. */
static bool in_order(const struct calls *v)
{
	for (size_t i = 1; i < v->n; i++)
		if (by_end(&v->v[i - 1], &v->v[i]) > 0)
			return false;
	return true;
}

/* The table of the thread's process at t. */
static int table_before(const struct ty_explain *x, uint32_t thread, uint64_t t_ns,
			struct ty_fd_table *t, unsigned depth, uint32_t *budget)
{
	const struct ty_model *m = x->m;
	const struct ty_thread *th = ty_model_thread(m, thread);
	uint32_t threads = ty_model_summary(m)->threads, leader = thread;
	uint64_t to_ns = t_ns > x->fds_ns ? t_ns : x->fds_ns;
	struct ty_call_rows *rows;
	struct calls v = {0};
	size_t exec = 0; /* the last one's index */
	int r = 0;
	bool listed = false;

	if (th->tgid > 0 && th->tgid != th->tid) {
		uint32_t l = ty_model_thread_find(m, th->tgid, t_ns);

		leader = l == TY_NONE ? thread : l;
	}
	if (depth < DEPTH && ty_model_thread(m, leader)->born &&
	    ty_model_thread(m, leader)->forked_by >= 0) {
		r = table_before(x, (uint32_t)ty_model_thread(m, leader)->forked_by,
				 ty_model_thread(m, leader)->start_ns, t, depth + 1, budget);
		if (r)
			return r;
	} else {
		listed = begin(x, th->tgid, t);
	}
	rows = malloc(sizeof(*rows));
	r = rows ? 0 : -TY_ENOMEM;
	for (uint32_t i = 0; !r && i < threads; i++) {
		const struct ty_thread *o = ty_model_thread(m, i);

		if (i == thread || (o->tgid == th->tgid && o->tgid >= 0))
			r = add_calls(x, i, to_ns, &v, rows, budget);
	}
	free(rows);
	if (!r) {
		if (!in_order(&v))
			vec_sort(&v, by_end);
		for (size_t i = 0; i < v.n && v.v[i].end_ns <= t_ns; i++)
			exec = v.v[i].row->fds == TY_FDS_EXEC ? i : exec;
		for (size_t i = 0; i < v.n && !stopped(x); i++)
			if (listed && v.v[i].end_ns <= x->fds_ns) {
				if (v.v[i].end_ns > x->fds_since_ns || v.v[i].end_ns > t_ns)
					unlearn(x, t, &v.v[i], t_ns);
			} else if (v.v[i].end_ns <= t_ns) {
				replay(x, t, &v.v[i], depth || i < exec);
			}
	}
	vec_fini(&v);
	return r;
}

bool ty_fd_table_at(const struct ty_explain *x, uint32_t thread, uint64_t t_ns, uint32_t *calls,
		    struct ty_fd_table *t)
{
	return x->args && x->arch && !table_before(x, thread, t_ns, t, 0, calls) && !stopped(x);
}

static const char *table_name(const struct ty_explain *x, const struct ty_fd_table *t, uint64_t fd)
{
	const struct ty_fd_maker *by = &t->by[fd];
	const char *name = t->name[fd];

	if (name || by->arg < 0 || !x->pointee)
		return name;
	if (by->arg != TY_FD_BY_ADDRESS)
		return x->pointee(x->ctx, by->thread, by->call, (unsigned)by->arg);
	name = x->pointee(x->ctx, by->thread, by->call, TY_POINTEE_FD);
	return name ? name : x->pointee(x->ctx, by->thread, by->call, 1);
}

struct ty_fd_table *ty_fd_table_new(const struct ty_explain *x, uint32_t thread, uint64_t t_ns)
{
	struct ty_fd_table *t = malloc(sizeof(*t));
	uint32_t calls = TY_FD_CALLS;

	if (t && ty_fd_table_at(x, thread, t_ns, &calls, t))
		return t;
	free(t);
	return NULL;
}

enum ty_fd_kind ty_fd_table_kind(const struct ty_explain *x, const struct ty_fd_table *t,
				 uint64_t fd, const char **name)
{
	*name = NULL;
	if (!t || fd >= TY_FDS || !t->open[fd])
		return TY_FD_UNKNOWN;
	*name = table_name(x, t, fd);
	return t->kind[fd];
}

enum ty_fd_kind ty_fd_kind(const struct ty_explain *x, uint32_t thread, uint64_t fd, uint64_t t_ns,
			   const char **name)
{
	struct ty_fd_table *t = fd < TY_FDS ? ty_fd_table_new(x, thread, t_ns) : NULL;
	enum ty_fd_kind k = ty_fd_table_kind(x, t, fd, name);

	free(t);
	return k;
}
