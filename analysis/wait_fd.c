/* SPDX-License-Identifier: MIT */
/* See wait_fd.h. */
#include "wait_fd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fd_peer.h"
#include "syscall_constants.h"
#include "syscall_ipc.h"
#include "unix_peer.h"

#define NAME_SHOWN (TY_WAIT_NAME - 4) /* of a descriptor's name, so many bytes */
/* Limits for the next actions of a thread: this many calls, each at most this long after the
 * previous one. */
#define SOON	   16
#define SOON_NS	   UINT64_C(1000000)
#define AT_ONCE_NS UINT64_C(100000)

static void by_fd(enum ty_fd_kind k, struct ty_wait_for *w)
{
	switch (k) {
	case TY_FD_PIPE: w->kind = TY_STALL_PIPE; break;
	case TY_FD_SOCKET: w->kind = TY_STALL_SOCKET; break;
	case TY_FD_EVENTFD: w->kind = TY_STALL_EVENTFD; break;
	case TY_FD_TIMERFD: w->kind = TY_STALL_SLEEP; break;
	case TY_FD_SIGNALFD: w->kind = TY_STALL_SIGNAL; break;
	case TY_FD_FILE: w->opened = true; break;
	default: break;
	}
}

unsigned ty_wait_next_fd(const struct ty_explain *x, uint32_t thread, uint32_t call, bool room,
			 int64_t *fd)
{
	const struct ty_thread *t = ty_model_thread(x->m, thread);
	struct ty_syscall wait, c;
	uint64_t args[6], from;

	if (call == TY_NONE || !x->args)
		return 0;
	wait = ty_model_syscall_brief(x->m, thread, call);
	if (wait.ret <= 0)
		return 0; /* nothing was ready */
	from = wait.end_ns;
	for (uint32_t i = call + 1, n = 0; n < SOON && i < t->syscalls_first + t->syscalls_n;
	     i++, n++) {
		struct ty_syscall_ipc talk;
		int arg;

		c = ty_model_syscall_brief(x->m, thread, i);
		talk = ty_syscall_ipc(x, &c);
		arg = room ? talk.gives : talk.takes;
		/* Calls after another wait concern another object; but a wait that ended at once
		 * only polls for what is ready. */
		if ((c.nr == wait.nr && c.end_ns - c.start_ns > AT_ONCE_NS) || c.start_ns < from ||
		    c.start_ns - from > SOON_NS ||
		    c.flags & (TY_SF_OPEN | TY_SF_LOST | TY_SF_ENDED))
			return 0;
		from = c.end_ns;
		if (!(talk.says & (room ? TY_GIVES : TY_TAKES | TY_ACCEPTS)) || arg < 0 ||
		    c.ret < 0)
			continue;
		if (ty_explain_args(x, &c, (unsigned)arg + 1, args))
			return 0;
		*fd = (int32_t)args[arg];
		return talk.says;
	}
	return 0;
}

/* What the wait is for, by what its descriptor is, where that is unknown. *fds: the descriptors
 * then, where they were read; the caller's. */
static void find_kind(const struct ty_explain *x, const struct ty_span *s, uint32_t call, bool room,
		      struct ty_wait_for *w, struct ty_fd_table **fds)
{
	const char *name;

	if ((w->kind != TY_STALL_FD && w->kind != TY_STALL_EVENTS) || call == TY_NONE || !x->args)
		return;
	if (w->kind == TY_STALL_EVENTS || w->fd < 0) {
		const int32_t ready = x->ready ? x->ready(x->ctx, s->thread, call) : -1;
		unsigned says = ty_wait_next_fd(x, s->thread, call, room, &w->fd);

		if (!says && ready < 0)
			return;
		if (ready >= 0 && (!says || w->fd != ready)) {
			w->fd = ready;
			says = 0;
		}
		w->guessed = true;
		w->ready = ready >= 0;
		ty_wait_name_fd(w->object, (int32_t)w->fd);
		if (says & (TY_MESSAGE | TY_ACCEPTS)) {
			w->kind = TY_STALL_SOCKET;
			return;
		}
	}
	*fds = ty_fd_table_new(x, s->thread, s->start_ns);
	by_fd(ty_fd_table_kind(x, *fds, (uint64_t)w->fd, &name), w);
}

/* The part of a long name that is shown: its end, which is more specific than its beginning. */
static const char *name_end(const char *name)
{
	size_t n = strlen(name);

	if (n <= NAME_SHOWN)
		return name;
	name += n - NAME_SHOWN;
	while ((*name & 0xc0) == 0x80) /* not amid a character */
		name++;
	return name;
}

const char *ty_wait_name(const char *name, char out[TY_WAIT_NAME])
{
	const char *end = name_end(name), *path = strchr(name, '"');
	int kind = path && !strncmp(name, "UNIX-", 5) && path - name < NAME_SHOWN / 2
			   ? (int)(path + 1 - name)
			   : 0;

	if (end > name) {
		for (end += kind; (*end & 0xc0) == 0x80; end++) /* not amid a character */
			;
		snprintf(out, TY_WAIT_NAME, "%.*s...%s", kind, name, end);
	} else {
		snprintf(out, TY_WAIT_NAME, "%s", name);
	}
	return out;
}

/* Of calls in which a thread waits seldom: what the descriptor is, or was until then, and the
 * request. */
static void name_argument(const struct ty_explain *x, uint32_t thread, uint32_t call,
			  struct ty_wait_for *w)
{
	const struct ty_sysrow *r = ty_explain_row(x, call);
	const struct ty_syscall c = ty_model_syscall(x->m, call);
	const bool request = r->id == TY_SYS_ioctl;
	const char *name;
	struct ty_fd_table *fds;
	uint64_t args[6];
	size_t n;

	if (*w->object || (!request && !(r->says & TY_CLOSES)) || !ty_sysrow_is_fd(r, 0) ||
	    ty_explain_args(x, &c, request ? 2 : 1, args))
		return;
	w->of_call = true;
	fds = ty_fd_table_new(x, thread, c.start_ns);
	if (!ty_wait_fd_text(x, fds, thread, (int32_t)args[0], c.start_ns, 0, w->object,
			     sizeof(w->object)))
		ty_wait_name_fd(w->object, (int32_t)args[0]);
	free(fds);
	name = request ? ty_set_name(TY_SET_IOCTL, (uint32_t)args[1]) : NULL;
	n = strlen(w->object);
	if (name)
		snprintf(w->object + n, sizeof(w->object) - n, ", %s", name);
}

void ty_wait_look_at_path(const struct ty_explain *x, const struct ty_span *s, uint32_t call,
			  struct ty_wait_for *w)
{
	const struct ty_sysrow *r = ty_explain_row(x, call);
	const char *name = NULL, *end;
	int object;

	if ((*w->object && !w->guessed) || !x->pointee || call == TY_NONE)
		return;
	object = ty_sysrow_object(r, ty_model_syscall_brief(x->m, s->thread, call).ret);
	if (object >= 0 && r->a[object] == TY_ARG_PATH)
		name = x->pointee(x->ctx, s->thread, call, (unsigned)object);
	if (!name) {
		name_argument(x, s->thread, call, w);
		return;
	}
	end = name_end(name);
	w->path = true;
	snprintf(w->object, sizeof(w->object), "\"%s%s\"", end > name ? "..." : "", end);
}

/* How the call uses the descriptor that the wait is for: 'r', 'w'; 0: unknown. */
static char access_of(const struct ty_explain *x, uint32_t call, const struct ty_wait_for *w,
		      bool room)
{
	unsigned says;

	if (w->guessed) /* by the call that follows */
		return room ? 'w' : 'r';
	if (call == TY_NONE)
		return 0;
	says = ty_explain_row(x, call)->says & (TY_GIVES | TY_TAKES);
	return says == TY_GIVES ? 'w' : says == TY_TAKES ? 'r' : 0;
}

/* Of a person: not a serial line. */
static bool is_terminal(const char *name)
{
	static const char pts[] = "/dev/pts/", tty[] = "/dev/tty";

	if (!strcmp(name, tty) || !strcmp(name, "/dev/console"))
		return true;
	if (!strncmp(name, tty, sizeof(tty) - 1))
		return name[sizeof(tty) - 1] >= '0' && name[sizeof(tty) - 1] <= '9';
	if (strncmp(name, pts, sizeof(pts) - 1))
		return false;
	name += sizeof(pts) - 1;
	return (*name >= '0' && *name <= '9') || *name == '?'; /* number unknown */
}

static bool is_pipe(const char *name)
{
	return !strncmp(name, "pipe:[", 6);
}

/* "UNIX-STREAM:[17->18 process 5]" has its peer behind it, as the name of that process. */
static const char *without_process(const char *name, char out[TY_WAIT_NAME])
{
	int32_t pid;
	const char *p = ty_unix_peer(name, &pid);
	char whole[256];

	snprintf(whole, sizeof(whole), "%.*s%s", p ? (int)(p - name) : (int)strlen(name), name,
		 p ? "]" : "");
	return ty_wait_name(whole, out);
}

bool ty_wait_fd_text(const struct ty_explain *x, const struct ty_fd_table *fds, uint32_t thread,
		     int32_t fd, uint64_t t_ns, char access, char *out, size_t size)
{
	char peer[TY_FD_PEER], text[TY_WAIT_NAME];
	const char *name;

	ty_fd_table_kind(x, fds, (uint64_t)fd, &name);
	if (!name)
		return false;
	if (!strchr(name, '[') || !strncmp(name, "anon_inode", 10) ||
	    !ty_fd_peer(x, fds, thread, (uint64_t)fd, t_ns, name, &access, peer)) {
		snprintf(out, size, "fd %d <%s>", (int)fd, ty_wait_name(name, text));
	} else if (is_pipe(name)) {
		snprintf(out, size, "fd %d <pipe %s %s>", (int)fd,
			 access == 'w'	 ? "to"
			 : access == 'r' ? "from"
					 : "with",
			 peer);
	} else {
		snprintf(out, size, "fd %d <%s to %s>", (int)fd, without_process(name, text), peer);
	}
	return true;
}

/* A socket has the addresses of its connection when that is made. */
static bool connected(const struct ty_explain *x, uint32_t call, uint64_t *ns)
{
	struct ty_syscall c;

	if (call == TY_NONE || !(ty_explain_row(x, call)->says & TY_CONNECTS))
		return false;
	c = ty_model_syscall(x->m, call);
	*ns = c.end_ns;
	return !c.ret && !(c.flags & (TY_SF_OPEN | TY_SF_LOST | TY_SF_ENDED));
}

void ty_wait_look_at_fd(const struct ty_explain *x, const struct ty_span *s, uint32_t call,
			bool room, struct ty_wait_for *w)
{
	struct ty_fd_table *fds = NULL;
	uint64_t made_ns;

	find_kind(x, s, call, room, w, &fds);
	if (w->fd >= 0 && (x->fd_before || x->pointee)) {
		if (connected(x, s->syscall, &made_ns)) {
			free(fds);
			fds = ty_fd_table_new(x, s->thread, made_ns);
		}
		fds = fds ? fds : ty_fd_table_new(x, s->thread, s->start_ns);
		ty_wait_fd_text(x, fds, s->thread, w->fd, s->start_ns,
				access_of(x, s->syscall, w, room), w->object, sizeof(w->object));
	}
	free(fds);
}

const char *ty_wait_terminal(const struct ty_explain *x, uint32_t thread, uint64_t t_ns,
			     const struct ty_wait_for *w)
{
	const char *name = NULL;

	if (w->kind != TY_STALL_FD || w->fd < 0 || w->room)
		return NULL;
	ty_fd_kind(x, thread, (uint64_t)w->fd, t_ns, &name);
	return name && is_terminal(name) ? name : NULL;
}
