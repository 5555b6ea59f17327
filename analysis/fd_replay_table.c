/* SPDX-License-Identifier: MIT */
/*
 * See fd_replay_table.h. A returned descriptor proves that all lower ones were open (POSIX: the
 * lowest free one is taken), which corrects a table with an unknown start.
 */
#include "fd_replay_table.h"

#include <errno.h>
#include <string.h>

#define FDS TY_FDS

/* As cloexec: as the call says that opened it. It is read when another program is executed. */
enum { NO, YES, OF_CALL };

enum { FD_CLOEXEC_ = 1, CLOSE_RANGE_CLOEXEC_ = 4 };

static void put(struct ty_fd_table *t, uint64_t fd, uint8_t kind, uint8_t cloexec)
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
	const bool known = of < FDS && t->open[of]; /* else a call that is not followed opened it */

	put(t, fd, known ? t->kind[of] : TY_FD_UNKNOWN, cloexec);
	if (fd < FDS && known) {
		t->name[fd] = t->name[of];
		t->by[fd] = t->by[of];
	}
}

/* fd was the lowest free one. */
static void mend(struct ty_fd_table *t, uint64_t fd)
{
	const size_t n = fd < FDS ? (size_t)fd : FDS;

	for (const bool *p; (p = memchr(t->open, false, n));)
		put(t, (uint64_t)(p - t->open), TY_FD_UNKNOWN, NO);
}

static void put_lowest(struct ty_fd_table *t, uint8_t kind, bool cloexec, struct ty_fd_maker by)
{
	const bool *free = memchr(t->open, false, FDS);

	if (!free)
		return;
	put(t, (uint64_t)(free - t->open), kind, cloexec);
	t->by[free - t->open] = by;
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

static void put_received(const struct ty_explain *x, struct ty_fd_table *t,
			 const struct ty_fd_call *k)
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
	const int last = r->fds == TY_FDS_RANGE || r->id == TY_SYS_ioctl ? 2
			 : r->fds == TY_FDS_FCNTL			 ? 1
									 : 0;

	return (unsigned)(r->cloexec > last ? r->cloexec : last) + 1;
}

static void made_by(struct ty_fd_table *t, uint64_t fd, const struct ty_fd_call *k)
{
	const struct ty_sysrow *r = k->row;
	bool path = r->object >= 0 && r->a[r->object] == TY_ARG_PATH;

	if (fd < FDS)
		t->by[fd] =
			(struct ty_fd_maker){k->thread, k->call, path ? r->object : TY_POINTEE_FD};
}

/* Does executing another program close it? One of which that is unknown is closed: no name is
 * better than a wrong one. */
static bool closes(const struct ty_explain *x, const struct ty_fd_table *t, uint64_t fd)
{
	const struct ty_fd_maker *by = &t->opened[fd];
	uint64_t args[6] = {0};
	const struct ty_sysrow *row;
	struct ty_syscall c;

	if (t->cloexec[fd] != OF_CALL)
		return t->cloexec[fd];
	c = ty_model_syscall_brief(x->m, by->thread, by->call);
	row = ty_syscall_row(x->arch, c.abi, c.nr)->as;
	return ty_explain_args(x, &c, needed(row), args) || ty_sysrow_cloexec(row, args);
}

void ty_fd_replay(const struct ty_explain *x, const struct ty_fd_call *k, struct ty_fd_table *t)
{
	struct ty_syscall c = ty_model_syscall_brief(x->m, k->thread, k->call);
	uint64_t args[6] = {0}, fd = (uint64_t)c.ret;
	uint8_t kind = k->row->fd_kind;
	const char *terminal;
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
			if (t->cloexec[i] && t->open[i] && closes(x, t, i))
				t->open[i] = false;
		memset(t->cloexec, NO, sizeof(t->cloexec));
		return;
	}
	if (k->row->fds == TY_FDS_NEW) {
		mend(t, fd);
		put(t, fd, kind, OF_CALL);
		made_by(t, fd, k);
		if (fd < FDS)
			t->opened[fd] = t->by[fd];
		return;
	}
	if (ty_explain_args(x, &c, needed(k->row), args))
		return;
	cloexec = ty_sysrow_cloexec(k->row, args);
	terminal = ty_sysrow_terminal(k->row, args);
	if (terminal) {
		mend(t, fd);
		put(t, fd, TY_FD_FILE, cloexec);
		if (fd < FDS)
			t->name[fd] = terminal;
	}
	switch ((enum ty_fds_effect)k->row->fds) {
	case TY_FDS_PAIR:
		/* The lowest free ones, if it is known which are. */
		for (unsigned i = 0; i < 2 && !t->left_out; i++)
			put_lowest(t, kind, cloexec,
				   (struct ty_fd_maker){k->thread, k->call,
							(int8_t)(TY_POINTEE_FD + i)});
		break;
	case TY_FDS_CLOSE:
		if (args[0] < FDS)
			t->open[args[0]] = false;
		break;
	case TY_FDS_RANGE:
		for (uint64_t i = (uint32_t)args[0]; i < FDS && i <= (uint32_t)args[1]; i++) {
			if (args[2] & CLOSE_RANGE_CLOEXEC_)
				t->cloexec[i] = YES;
			else
				t->open[i] = false;
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
	case TY_FDS_NEW:
	case TY_FDS_RECEIVED:
	case TY_FDS_NONE:
	case TY_FDS_EXEC: break;
	}
}

bool ty_fd_begin(const struct ty_explain *x, int32_t pid, struct ty_fd_table *t)
{
	bool any = false;

	memset(t, 0, sizeof(*t));
	for (unsigned i = 0; i < FDS; i++)
		t->by[i].arg = -1;
	for (int32_t i = ty_explain_fd_listed(x, pid, 0); i < FDS;
	     i = ty_explain_fd_listed(x, pid, i + 1)) {
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

void ty_fd_unlearn(const struct ty_explain *x, const struct ty_fd_call *k, uint64_t t_ns,
		   struct ty_fd_table *t)
{
	struct ty_syscall c = ty_model_syscall_brief(x->m, k->thread, k->call);
	uint64_t fd = (uint64_t)c.ret, args[6];
	uint8_t kind = k->row->fd_kind;
	struct ty_fd_received got;

	if (c.ret < 0 || c.flags & (TY_SF_OPEN | TY_SF_LOST | TY_SF_ENDED) ||
	    ty_explain_args(x, &c, needed(k->row), args))
		return;
	if (ty_sysrow_terminal(k->row, args))
		forget(t, fd, fd);
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

enum ty_fd_kind ty_fd_table_kind(const struct ty_explain *x, const struct ty_fd_table *t,
				 uint64_t fd, const char **name)
{
	*name = NULL;
	if (!t || fd >= TY_FDS || !t->open[fd])
		return TY_FD_UNKNOWN;
	*name = table_name(x, t, fd);
	return t->kind[fd];
}
