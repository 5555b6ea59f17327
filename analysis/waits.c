/* SPDX-License-Identifier: MIT */
/*
 * See waits.h. The table of system calls states what a call waits for; futexes are distinguished by
 * operation and value (include/uapi/linux/futex.h). The values 2 and 3 mean a lock by
 * convention of lock implementations (glibc's lowlevellock and rwlock, Rust, musl, Go); a value
 * with FUTEX_WAITERS holds the owner's tid by the rules of robust and PI locks (in a private word
 * that of the same process); a value that is the tid of a living thread of the process is a join.
 * Counters (of Rust's and of newer condition variables, of barriers) reach 2 and 3, too: other
 * waits on the word decide (stall_futex_word.c).
 */
#include "waits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wait_call.h"

enum {
	FUTEX_WAIT = 0,
	FUTEX_WAKE = 1,
	FUTEX_REQUEUE = 3,
	FUTEX_CMP_REQUEUE = 4,
	FUTEX_WAKE_OP = 5,
	FUTEX_LOCK_PI = 6,
	FUTEX_UNLOCK_PI = 7,
	FUTEX_WAIT_BITSET = 9,
	FUTEX_WAKE_BITSET = 10,
	FUTEX_WAIT_REQUEUE_PI = 11,
	FUTEX_CMP_REQUEUE_PI = 12,
	FUTEX_LOCK_PI2 = 13,
	FUTEX_PRIVATE = 0x80,
	FUTEX_CMD = 0x7f
};
#define FUTEX_WAITERS  0x80000000u
#define FUTEX_TID_MASK 0x3fffffffu

#define CONNECT_BACK 64 /* calls of the thread before a poll, its connect among them */

/* fcntl's commands that wait: F_SETLKW, F_SETLKW64 (32-bit), F_OFD_SETLKW */
#define IS_SETLKW(cmd) ((cmd) == 7 || (cmd) == 14 || (cmd) == 38)

static const uint8_t kinds[TY_WAIT_ON_KINDS] = {
	[TY_WAIT_ON_OTHER] = TY_STALL_OTHER,	     [TY_WAIT_ON_CHILD] = TY_STALL_CHILD,
	[TY_WAIT_ON_EVENTS] = TY_STALL_EVENTS,	     [TY_WAIT_ON_FD] = TY_STALL_FD,
	[TY_WAIT_ON_FUTEX] = TY_STALL_FUTEX,	     [TY_WAIT_ON_LOCK] = TY_STALL_LOCK,
	[TY_WAIT_ON_PIPE] = TY_STALL_PIPE,	     [TY_WAIT_ON_QUEUE] = TY_STALL_QUEUE,
	[TY_WAIT_ON_SEMAPHORE] = TY_STALL_SEMAPHORE, [TY_WAIT_ON_SLEEP] = TY_STALL_SLEEP,
	[TY_WAIT_ON_SOCKET] = TY_STALL_SOCKET,
};

static int32_t tgid_of(const struct ty_model *m, uint32_t thread)
{
	return ty_model_thread(m, thread)->tgid;
}

/* "fd 3" and "futex 0x7f00": by hand, since most waits are named, and few of the names shown. */
static void name_number(char *out, uint64_t v, unsigned base)
{
	unsigned n = 1;

	for (uint64_t left = v; left >= base; left /= base)
		n++;
	for (out[n] = 0; n; v /= base)
		out[--n] = "0123456789abcdef"[v % base];
}

void ty_wait_name_fd(char object[TY_WAIT_OBJECT], int32_t fd)
{
	memcpy(object, "fd -", 4);
	name_number(object + (fd < 0 ? 4 : 3), fd < 0 ? -(uint64_t)fd : (uint64_t)fd, 10);
}

static void name_word(char object[TY_WAIT_OBJECT], uint64_t word)
{
	memcpy(object, "futex 0x", 8);
	name_number(object + (word ? 8 : 6), word, 16);
}

/* The arguments of a futex call: the third one, its value, only if it waits. */
static int futex_args(const struct ty_explain *x, const struct ty_syscall *c, uint64_t args[6])
{
	int r = ty_explain_args(x, c, 2, args);
	unsigned op = r ? FUTEX_WAKE : (unsigned)args[1] & FUTEX_CMD;

	return op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET ? ty_explain_args(x, c, 3, args) : r;
}

static void futex(const struct ty_explain *x, const struct ty_span *s, const uint64_t args[6],
		  struct ty_wait_for *w)
{
	unsigned op = (unsigned)args[1] & FUTEX_CMD;
	uint32_t val = (uint32_t)args[2], other;
	bool own;

	w->word = args[0];
	w->shared = !(args[1] & FUTEX_PRIVATE);
	name_word(w->object, args[0]);
	switch (op) {
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		w->kind = TY_STALL_LOCK;
		w->class = TY_WAIT_DEFINITE;
		w->spins = true;
		return;
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET: break;
	default: return;
	}
	if (TY_WAIT_IS_LOCKED(val)) {
		w->kind = TY_STALL_LOCK;
		w->class = TY_WAIT_DEFINITE;
		w->by_value = true;
		return;
	}
	other = ty_model_thread_find(x->m, (int32_t)(val & FUTEX_TID_MASK), s->start_ns);
	if (!(val & FUTEX_TID_MASK) || other == TY_NONE || other == s->thread ||
	    ty_model_thread(x->m, other)->start_ns > s->start_ns ||
	    ty_model_thread(x->m, other)->end_ns <= s->start_ns)
		return;
	own = tgid_of(x->m, other) >= 0 && tgid_of(x->m, other) == tgid_of(x->m, s->thread);
	if (val & FUTEX_WAITERS && (own || w->shared)) {
		w->kind = TY_STALL_LOCK;
		w->class = TY_WAIT_DEFINITE;
		w->holder = (int32_t)(val & FUTEX_TID_MASK);
	} else if (!(val & FUTEX_WAITERS) && val > 300 && own) {
		/* Small values are counters far more often than tids. */
		w->kind = TY_STALL_JOIN;
		w->class = TY_WAIT_END;
	}
}

bool ty_wait_wakes(const struct ty_explain *x, uint32_t call, struct ty_wait_for *w)
{
	struct ty_syscall c = ty_model_syscall(x->m, call);
	uint64_t args[6];
	bool behind;

	if (ty_explain_deed(x, &c, &behind)->id != TY_SYS_futex || ty_explain_args(x, &c, 2, args))
		return false;
	*w = (struct ty_wait_for){.kind = TY_STALL_FUTEX,
				  .class = TY_WAIT_PEER,
				  .fd = -1,
				  .shared = !(args[1] & FUTEX_PRIVATE),
				  .word = args[0]};
	switch ((unsigned)args[1] & FUTEX_CMD) {
	case FUTEX_UNLOCK_PI:
		w->kind = TY_STALL_LOCK;
		w->class = TY_WAIT_DEFINITE;
		break;
	case FUTEX_CMP_REQUEUE_PI:
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE: break;
	case FUTEX_WAKE_OP: w->word = 0; break;
	default: return false;
	}
	return true;
}

/* Its own call is not recorded, but that of its waker. A thread that a futex call wakes, and that
 * sleeps interruptibly, waits for a futex word, the first of the call (or, by WAKE_OP, the second;
 * then the word is unknown). A thread that a served page wakes waits for that page. */
static void by_waker(const struct ty_explain *x, const struct ty_span *s, struct ty_wait_for *w)
{
	struct ty_waker k = ty_waker_find(x->m, s->edge);
	uint32_t call = ty_waker_call(x->m, &k);
	struct ty_wait_for by;

	if (s->state != TY_ST_SLEEPING || call == TY_NONE)
		return;
	if (ty_wait_page_served(x, &k)) {
		w->kind = TY_STALL_FAULT;
		w->class = TY_WAIT_DEFINITE;
		return;
	}
	if (!ty_wait_wakes(x, call, &by))
		return;
	/* A private word is of one process. */
	if (!by.shared && tgid_of(x->m, k.thread) >= 0 && tgid_of(x->m, s->thread) >= 0 &&
	    tgid_of(x->m, k.thread) != tgid_of(x->m, s->thread))
		return;
	*w = by;
	w->by_waker = true;
	if (w->word)
		name_word(w->object, w->word);
	else
		w->shared = false;
}

/* The id of a System V semaphore set or message queue. */
static void name_ipc(char object[TY_WAIT_OBJECT], const struct ty_sysrow *r, const uint64_t args[6])
{
	const bool set = r->wait_on == TY_WAIT_ON_SEMAPHORE;

	if ((set || r->wait_on == TY_WAIT_ON_QUEUE) && r->n && r->a[0] == TY_ARG_IPC)
		snprintf(object, TY_WAIT_OBJECT, "%s %d", set ? "semaphore set" : "message queue",
			 (int)args[0]);
}

void ty_wait_object(const struct ty_explain *x, const struct ty_span *s, uint32_t call,
		    char out[TY_WAIT_OBJECT])
{
	struct ty_syscall c = ty_model_syscall(x->m, call);
	uint64_t args[6];
	bool behind, word, fd;
	const struct ty_sysrow *r = ty_explain_deed(x, &c, &behind);

	*out = 0;
	word = r->id == TY_SYS_futex && s->state != TY_ST_BLOCKED;
	fd = r->wait_on && ty_sysrow_is_fd(r, r->object);
	if ((!word && !fd) || behind ||
	    ty_explain_args(x, &c, word ? 1 : (unsigned)r->object + 1, args))
		return;
	if (word)
		name_word(out, args[0]);
	else
		ty_wait_name_fd(out, (int32_t)args[r->object]);
}

/* Was the connection of that descriptor still being made? */
static bool connecting(const struct ty_explain *x, uint32_t thread, uint32_t call, int32_t fd)
{
	const uint32_t first = ty_model_thread(x->m, thread)->syscalls_first;

	for (unsigned n = 0; call-- > first && n < CONNECT_BACK; n++) {
		const struct ty_syscall c = ty_model_syscall(x->m, call);
		uint64_t args[6];

		if (ty_explain_row(x, call)->says & TY_CONNECTS &&
		    !ty_explain_args(x, &c, 1, args) && (int32_t)args[0] == fd)
			return c.ret == -EINPROGRESS;
	}
	return false;
}

/* A poll of one descriptor waits as a read of it does, or, for room, as a write. */
static void polled(const struct ty_explain *x, uint32_t thread, uint32_t call,
		   struct ty_wait_for *w)
{
	int32_t fd;

	w->class = TY_WAIT_PEER;
	w->kind = TY_STALL_FD;
	if (!x->polled || !x->polled(x->ctx, thread, call, &fd, &w->room))
		return;
	w->fd = fd;
	ty_wait_name_fd(w->object, fd);
	w->room = w->room && !connecting(x, thread, call, fd);
	if (w->room)
		w->class = TY_WAIT_DEFINITE;
}

/* How many of its arguments say what a call waits for, as ty_wait_for reads them. */
static unsigned args_of_wait(const struct ty_sysrow *r)
{
	switch ((enum ty_sysid)r->id) {
	case TY_SYS_futex:
	case TY_SYS_fcntl:
	case TY_SYS_poll:
	case TY_SYS_ppoll: return 2;
	case TY_SYS_select:
	case TY_SYS_pselect6: return 1;
	default: break;
	}
	if (r->wait_on && ty_sysrow_is_fd(r, r->object))
		return (unsigned)r->object + 1;
	return r->wait_on == TY_WAIT_ON_SEMAPHORE || r->wait_on == TY_WAIT_ON_QUEUE;
}

struct ty_wait_for ty_wait_for(const struct ty_explain *x, const struct ty_span *s, uint32_t call)
{
	struct ty_wait_for w = {.kind = TY_STALL_OTHER, .class = TY_WAIT_PEER, .fd = -1};
	uint64_t args[6] = {0};
	struct ty_syscall c;
	bool kernel = false;
	const struct ty_sysrow *r;
	unsigned needed;
	bool behind;

	if (call == TY_NONE) {
		/* Interruptible where a program serves the page (userfaultfd); the waker shows
		 * which. */
		if (ty_wait_is_page(x->m, s) ||
		    (s->state != TY_ST_BLOCKED && !(s->flags & TY_SF_LOST) &&
		     ty_wait_in_user_mode(x->m, s->thread, s->start_ns))) {
			w.kind = TY_STALL_FAULT;
			w.class = TY_WAIT_DEFINITE;
		} else if (s->state == TY_ST_BLOCKED) {
			/* A page, or a call that is not recorded. */
			w.kind = TY_STALL_UNINTERRUPTIBLE;
			w.class = TY_WAIT_DEFINITE;
		} else {
			w.class = TY_WAIT_IDLE; /* its call is not recorded */
			by_waker(x, s, &w);
		}
		return w;
	}
	c = ty_model_syscall(x->m, call);
	r = ty_explain_deed(x, &c, &behind);
	needed = args_of_wait(r);
	if (needed || c.loc == TY_NO_LOC)
		w.has_args =
			!behind && !(r->id == TY_SYS_futex ? futex_args(x, &c, args)
							   : ty_explain_args(x, &c, needed, args));
	else
		w.has_args = !behind && x->args; /* they need not be read */
	if (r->wait_on) {
		w.kind = kinds[r->wait_on];
		w.class = r->wait_class;
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
	if (r->wait_on && ty_sysrow_is_fd(r, r->object)) {
		w.fd = (int32_t)args[r->object];
		ty_wait_name_fd(w.object, w.fd);
	}
	name_ipc(w.object, r, args);
	if (kernel)
		return w;
	switch ((enum ty_sysid)r->id) {
	case TY_SYS_futex: futex(x, s, args, &w); break;
	case TY_SYS_fcntl:
		if (!IS_SETLKW(args[1]))
			w.kind = TY_STALL_OTHER;
		break;
	case TY_SYS_poll:
	case TY_SYS_ppoll:
		/* One descriptor is one other side; none is a sleep. */
		if (args[1] == 1)
			polled(x, s->thread, call, &w);
		else if (!args[1])
			w.kind = TY_STALL_SLEEP;
		break;
	case TY_SYS_select:
	case TY_SYS_pselect6:
		if (!args[0])
			w.kind = TY_STALL_SLEEP;
		break;
	default: break;
	}
	return w;
}

static bool of_one_process(const struct ty_thread *a, const struct ty_thread *b)
{
	return a == b || (a->tgid >= 0 && a->tgid == b->tgid);
}

bool ty_wait_akin(const struct ty_thread *a, const struct ty_thread *b)
{
	return of_one_process(a, b) || (b->tgid >= 0 && a->ppid == b->tgid) ||
	       (a->tgid >= 0 && b->ppid == a->tgid) || (a->ppid == b->ppid && a->ppid > 1);
}

bool ty_wait_same(const struct ty_model *m, uint32_t thread_a, const struct ty_wait_for *a,
		  uint32_t thread_b, const struct ty_wait_for *b)
{
	const struct ty_thread *t = ty_model_thread(m, thread_a), *u = ty_model_thread(m, thread_b);
	uint64_t apart = a->word > b->word ? a->word - b->word : b->word - a->word;

	if (a->fd != b->fd || !a->word != !b->word)
		return false;
	/* A condition variable's waiters have one of two words side by side. */
	if (a->word)
		return apart <= sizeof(uint32_t) &&
		       (of_one_process(t, u) || (a->shared && b->shared && ty_wait_akin(t, u)));
	return ty_wait_akin(t, u);
}

/* The operation of a futex call on one word, and its arguments as futex() has them; -1. */
static int futex_op(const struct ty_explain *x, uint32_t call, uint64_t args[6])
{
	enum ty_sysid id = ty_explain_row(x, call)->id;
	struct ty_syscall c;

	/* futex_waitv: its words lie behind a pointer. */
	if (id != TY_SYS_futex && id != TY_SYS_futex_wait && id != TY_SYS_futex_wake)
		return -1;
	c = ty_model_syscall(x->m, call);
	if (id == TY_SYS_futex ? futex_args(x, &c, args) : ty_explain_args(x, &c, 2, args))
		return -1;
	if (id == TY_SYS_futex_wait) {
		args[2] = args[1];
		return FUTEX_WAIT;
	}
	return id == TY_SYS_futex_wake ? FUTEX_WAKE : (int)args[1] & FUTEX_CMD;
}

enum ty_futex_use ty_wait_futex_use(const struct ty_explain *x, uint32_t call, uint64_t *word)
{
	uint64_t args[6];

	switch (futex_op(x, call, args)) {
	case FUTEX_WAIT: *word = args[0]; return TY_FUTEX_WAITS;
	case FUTEX_WAIT_BITSET: *word = args[0] & ~UINT64_C(7); return TY_FUTEX_WAITS_PAIR;
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
	case FUTEX_WAKE_OP:
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE: *word = args[0]; return TY_FUTEX_WAKES;
	default: return TY_FUTEX_NONE;
	}
}

uint64_t ty_wait_word(const struct ty_explain *x, uint32_t call)
{
	uint64_t word;

	switch (ty_wait_futex_use(x, call, &word)) {
	case TY_FUTEX_WAITS:
	case TY_FUTEX_WAITS_PAIR: return word;
	default: return 0;
	}
}

uint64_t ty_wait_word_of(const struct ty_explain *x, const struct ty_wait_for *w, uint32_t call)
{
	return w->by_waker ? w->word & ~UINT64_C(7) : ty_wait_word(x, call);
}

bool ty_wait_value(const struct ty_explain *x, uint32_t call, uint64_t word, uint32_t *value)
{
	uint64_t args[6] = {0};
	int op = futex_op(x, call, args);

	*value = (uint32_t)args[2];
	return (op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET) && args[0] == word;
}

bool ty_wait_ended_by_timeout(const struct ty_explain *x, const struct ty_syscall *c)
{
	if (c->flags & (TY_SF_OPEN | TY_SF_LOST | TY_SF_ENDED) || c->ret > 0)
		return false;
	/* ETIMEDOUT, ETIME, EAGAIN */
	return ty_syscall_row(x->arch, c->abi, c->nr)->as->zero_is_timeout
		       ? !c->ret
		       : c->ret == -110 || c->ret == -62 || c->ret == -11;
}

bool ty_wait_timed_out(const struct ty_explain *x, uint32_t call)
{
	struct ty_syscall c;

	if (call == TY_NONE)
		return false;
	c = ty_model_syscall(x->m, call);
	return ty_wait_ended_by_timeout(x, &c);
}
