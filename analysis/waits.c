/* SPDX-License-Identifier: MIT */
/*
 * See waits.h. One table from the names of system calls to what they wait for; futexes are told
 * apart by operation and value (include/uapi/linux/futex.h). A wait with the value 2 or 3 is a
 * lock's by convention of those who write locks (glibc's lowlevellock and rwlock, Rust, musl, Go);
 * a value with FUTEX_WAITERS holds the owner's tid by the rules of robust and PI locks; a value
 * that is the tid of a living thread of the process is a join.
 */
#include "waits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fds.h"

enum {
	FUTEX_WAIT = 0,
	FUTEX_LOCK_PI = 6,
	FUTEX_WAIT_BITSET = 9,
	FUTEX_WAIT_REQUEUE_PI = 11,
	FUTEX_LOCK_PI2 = 13,
	FUTEX_CMD = 0x7f
};
#define FUTEX_WAITERS  0x80000000u
#define FUTEX_TID_MASK 0x3fffffffu

/* fcntl's commands that wait: F_SETLKW, F_SETLKW64 (32-bit), F_OFD_SETLKW */
#define IS_SETLKW(cmd) ((cmd) == 7 || (cmd) == 14 || (cmd) == 38)

static const struct {
	const char *name;
	uint8_t kind, class;
	int8_t fd; /* the argument that is a descriptor; -1: none */
} calls[] = {
	{"accept", TY_STALL_SOCKET, TY_WAIT_IDLE, 0},
	{"accept4", TY_STALL_SOCKET, TY_WAIT_IDLE, 0},
	{"clock_nanosleep", TY_STALL_SLEEP, TY_WAIT_IDLE, -1},
	{"clock_nanosleep_time64", TY_STALL_SLEEP, TY_WAIT_IDLE, -1},
	{"clone", TY_STALL_CHILD, TY_WAIT_DEFINITE, -1},
	{"clone3", TY_STALL_CHILD, TY_WAIT_DEFINITE, -1},
	{"connect", TY_STALL_SOCKET, TY_WAIT_PEER, 0},
	{"copy_file_range", TY_STALL_FD, TY_WAIT_PEER, 0},
	{"epoll_pwait", TY_STALL_EVENTS, TY_WAIT_IDLE, 0},
	{"epoll_pwait2", TY_STALL_EVENTS, TY_WAIT_IDLE, 0},
	{"epoll_wait", TY_STALL_EVENTS, TY_WAIT_IDLE, 0},
	{"fcntl", TY_STALL_LOCK, TY_WAIT_DEFINITE, 0},
	{"fcntl64", TY_STALL_LOCK, TY_WAIT_DEFINITE, 0},
	{"flock", TY_STALL_LOCK, TY_WAIT_DEFINITE, 0},
	{"futex", TY_STALL_FUTEX, TY_WAIT_PEER, -1},
	{"futex_time64", TY_STALL_FUTEX, TY_WAIT_PEER, -1},
	{"futex_wait", TY_STALL_FUTEX, TY_WAIT_PEER, -1},
	{"futex_waitv", TY_STALL_FUTEX, TY_WAIT_PEER, -1},
	{"io_getevents", TY_STALL_EVENTS, TY_WAIT_IDLE, -1},
	{"io_pgetevents", TY_STALL_EVENTS, TY_WAIT_IDLE, -1},
	{"io_uring_enter", TY_STALL_EVENTS, TY_WAIT_IDLE, 0},
	{"mq_timedreceive", TY_STALL_QUEUE, TY_WAIT_PEER, 0},
	{"mq_timedsend", TY_STALL_QUEUE, TY_WAIT_DEFINITE, 0},
	{"msgrcv", TY_STALL_QUEUE, TY_WAIT_PEER, -1},
	{"msgsnd", TY_STALL_QUEUE, TY_WAIT_DEFINITE, -1},
	{"nanosleep", TY_STALL_SLEEP, TY_WAIT_IDLE, -1},
	{"open", TY_STALL_FD, TY_WAIT_PEER, -1}, /* a FIFO without its other side */
	{"openat", TY_STALL_FD, TY_WAIT_PEER, -1},
	{"pause", TY_STALL_EVENTS, TY_WAIT_IDLE, -1},
	{"poll", TY_STALL_EVENTS, TY_WAIT_IDLE, -1},
	{"ppoll", TY_STALL_EVENTS, TY_WAIT_IDLE, -1},
	{"pread64", TY_STALL_FD, TY_WAIT_PEER, 0},
	{"preadv", TY_STALL_FD, TY_WAIT_PEER, 0},
	{"pselect6", TY_STALL_EVENTS, TY_WAIT_IDLE, -1},
	{"pwrite64", TY_STALL_FD, TY_WAIT_DEFINITE, 0},
	{"pwritev", TY_STALL_FD, TY_WAIT_DEFINITE, 0},
	{"read", TY_STALL_FD, TY_WAIT_PEER, 0},
	{"readv", TY_STALL_FD, TY_WAIT_PEER, 0},
	{"recvfrom", TY_STALL_SOCKET, TY_WAIT_PEER, 0},
	{"recvmmsg", TY_STALL_SOCKET, TY_WAIT_PEER, 0},
	{"recvmsg", TY_STALL_SOCKET, TY_WAIT_PEER, 0},
	{"restart_syscall", TY_STALL_SLEEP, TY_WAIT_IDLE, -1},
	{"rt_sigsuspend", TY_STALL_EVENTS, TY_WAIT_IDLE, -1},
	{"rt_sigtimedwait", TY_STALL_EVENTS, TY_WAIT_IDLE, -1},
	{"select", TY_STALL_EVENTS, TY_WAIT_IDLE, -1},
	{"semop", TY_STALL_SEMAPHORE, TY_WAIT_PEER, -1},
	{"semtimedop", TY_STALL_SEMAPHORE, TY_WAIT_PEER, -1},
	{"sendfile", TY_STALL_FD, TY_WAIT_DEFINITE, 0},
	{"sendmmsg", TY_STALL_SOCKET, TY_WAIT_DEFINITE, 0},
	{"sendmsg", TY_STALL_SOCKET, TY_WAIT_DEFINITE, 0},
	{"sendto", TY_STALL_SOCKET, TY_WAIT_DEFINITE, 0},
	{"splice", TY_STALL_PIPE, TY_WAIT_PEER, 0},
	{"tee", TY_STALL_PIPE, TY_WAIT_PEER, 0},
	{"vfork", TY_STALL_CHILD, TY_WAIT_DEFINITE, -1},
	{"vmsplice", TY_STALL_PIPE, TY_WAIT_DEFINITE, 0},
	{"wait4", TY_STALL_CHILD, TY_WAIT_END, -1},
	{"waitid", TY_STALL_CHILD, TY_WAIT_END, -1},
	{"waitpid", TY_STALL_CHILD, TY_WAIT_END, -1},
	{"write", TY_STALL_FD, TY_WAIT_DEFINITE, 0},
	{"writev", TY_STALL_FD, TY_WAIT_DEFINITE, 0},
};

static void futex(const struct ty_explain *x, const struct ty_span *s, const uint64_t args[6],
		  struct ty_wait_for *w)
{
	unsigned op = (unsigned)args[1] & FUTEX_CMD;
	uint32_t val = (uint32_t)args[2], other;

	w->word = args[0];
	snprintf(w->object, sizeof(w->object), "futex %#" PRIx64, args[0]);
	switch (op) {
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		w->kind = TY_STALL_LOCK;
		w->class = TY_WAIT_DEFINITE;
		return;
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET: break;
	default: return;
	}
	if (val == 2 || val == 3) {
		w->kind = TY_STALL_LOCK;
		w->class = TY_WAIT_DEFINITE;
		return;
	}
	other = ty_model_thread_find(x->m, (int32_t)(val & FUTEX_TID_MASK), s->start_ns);
	if (!(val & FUTEX_TID_MASK) || other == TY_NONE || other == s->thread ||
	    ty_model_thread(x->m, other)->start_ns > s->start_ns ||
	    ty_model_thread(x->m, other)->end_ns <= s->start_ns)
		return;
	if (val & FUTEX_WAITERS) {
		w->kind = TY_STALL_LOCK;
		w->class = TY_WAIT_DEFINITE;
		w->holder = (int32_t)(val & FUTEX_TID_MASK);
	} else if (val > 300 &&
		   ty_model_thread(x->m, other)->tgid == ty_model_thread(x->m, s->thread)->tgid) {
		/* Small values are counters far more often than tids. */
		w->kind = TY_STALL_JOIN;
		w->class = TY_WAIT_END;
	}
}

/* Outside of any system call at t, for certain: all of the thread's since an earlier one are
 * recorded. */
static bool in_user_mode(const struct ty_model *m, uint32_t thread, uint64_t t)
{
	const struct ty_thread *th = ty_model_thread(m, thread);

	return th->traced && th->syscalls_n &&
	       ty_model_syscall_brief(m, thread, th->syscalls_first).start_ns < t;
}

struct ty_wait_for ty_wait_for(const struct ty_explain *x, const struct ty_span *s, uint32_t call)
{
	struct ty_wait_for w = {.kind = TY_STALL_OTHER, .class = TY_WAIT_PEER, .fd = -1};
	uint64_t args[6] = {0};
	struct ty_syscall c;
	bool kernel = false;
	const char *name;
	char buf[32];
	int fd_arg = -1;

	if (call == TY_NONE) {
		/* Interruptible where a program serves the page (userfaultfd). */
		if (s->state == TY_ST_BLOCKED ||
		    (!(s->flags & TY_SF_LOST) && in_user_mode(x->m, s->thread, s->start_ns))) {
			w.kind = TY_STALL_FAULT;
			w.class = TY_WAIT_DEFINITE;
		} else {
			w.class = TY_WAIT_IDLE; /* its call is not recorded */
		}
		return w;
	}
	c = ty_model_syscall(x->m, call);
	name = ty_explain_call(x, call, buf);
	w.has_args = x->args && !x->args(x->ctx, &c, args);
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!strcmp(calls[i].name, name)) {
			w.kind = calls[i].kind;
			w.class = calls[i].class;
			fd_arg = calls[i].fd;
			break;
		}
	if (w.kind == TY_STALL_OTHER && c.flags & TY_SF_LOST)
		w.class = TY_WAIT_IDLE; /* the call may be over: another one's begin is lost */
	if (s->state == TY_ST_BLOCKED &&
	    !(w.class == TY_WAIT_DEFINITE && w.kind == TY_STALL_CHILD)) {
		/* Uninterruptible: not for the peer, but for the kernel (an inode's lock) or a
		 * device; vfork's is for the child. */
		kernel = true;
		w.kind = TY_STALL_UNINTERRUPTIBLE;
		w.class = TY_WAIT_DEFINITE;
	}
	if (!w.has_args)
		return w;
	if (fd_arg >= 0) {
		w.fd = (int32_t)args[fd_arg];
		snprintf(w.object, sizeof(w.object), "fd %d", (int)w.fd);
	}
	if (kernel)
		return w;
	if (!strncmp(name, "futex", 5)) {
		if (strcmp(name, "futex_waitv") && strcmp(name, "futex_wait"))
			futex(x, s, args, &w);
	} else if (!strncmp(name, "fcntl", 5)) {
		if (!IS_SETLKW(args[1]))
			w.kind = TY_STALL_OTHER;
	} else if (!strcmp(name, "poll") || !strcmp(name, "ppoll")) {
		/* One descriptor is one other side; none is a sleep. */
		if (args[1] == 1)
			w.class = TY_WAIT_PEER, w.kind = TY_STALL_FD;
		else if (!args[1])
			w.kind = TY_STALL_SLEEP;
	} else if (!strcmp(name, "select") || !strcmp(name, "pselect6")) {
		if (!args[0])
			w.kind = TY_STALL_SLEEP;
	}
	return w;
}

static void by_fd(enum ty_fd_kind k, struct ty_wait_for *w)
{
	switch (k) {
	case TY_FD_PIPE: w->kind = TY_STALL_PIPE; break;
	case TY_FD_SOCKET: w->kind = TY_STALL_SOCKET; break;
	case TY_FD_EVENTFD: w->kind = TY_STALL_EVENTFD; break;
	case TY_FD_TIMERFD: w->kind = TY_STALL_SLEEP; break;
	case TY_FD_SIGNALFD: w->kind = TY_STALL_SIGNAL; break;
	default: break;
	}
}

void ty_wait_look_at_fd(const struct ty_explain *x, const struct ty_span *s, uint32_t call,
			struct ty_wait_for *w)
{
	struct ty_syscall c;
	uint64_t args[6];
	const char *name;
	char buf[32];

	if ((w->kind != TY_STALL_FD && w->kind != TY_STALL_EVENTS) || call == TY_NONE)
		return;
	if (w->kind == TY_STALL_EVENTS || w->fd < 0) {
		/* poll's descriptors are behind a pointer, epoll's were told before; the call after
		 * it says which it was. */
		c = ty_model_syscall(x->m, call);
		call = ty_model_syscall_after(x->m, s->thread, c.end_ns);
		if (call == TY_NONE || !x->args)
			return;
		c = ty_model_syscall(x->m, call);
		name = ty_explain_call(x, call, buf);
		if (!strncmp(name, "recv", 4) || !strncmp(name, "send", 4))
			w->kind = TY_STALL_SOCKET;
		if ((w->kind != TY_STALL_SOCKET && strcmp(name, "read") && strcmp(name, "readv") &&
		     strcmp(name, "write") && strcmp(name, "writev")) ||
		    x->args(x->ctx, &c, args))
			return;
		w->fd = (int32_t)args[0];
		snprintf(w->object, sizeof(w->object), "fd %d", (int)w->fd);
		if (w->kind == TY_STALL_SOCKET)
			return;
	}
	by_fd(ty_fd_kind(x, s->thread, (uint64_t)w->fd, s->start_ns), w);
}

bool ty_wait_timed_out(const struct ty_explain *x, uint32_t call)
{
	struct ty_syscall c;
	const char *name;
	char buf[32];

	if (call == TY_NONE)
		return false;
	c = ty_model_syscall(x->m, call);
	if (c.flags & (TY_SF_OPEN | TY_SF_LOST | TY_SF_ENDED))
		return false;
	name = ty_explain_call(x, call, buf);
	if (strstr(name, "poll") || strstr(name, "select"))
		return !c.ret;
	return c.ret == -110 || c.ret == -62 || c.ret == -11; /* ETIMEDOUT, ETIME, EAGAIN */
}
