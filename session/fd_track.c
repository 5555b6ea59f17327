/* SPDX-License-Identifier: MIT */
/*
 * See fd_track.h. Other threads run during a call: a descriptor that a call closes or replaces
 * loses its name at the call's start, because the moment inside the call is unknown. A descriptor
 * created during the call that closes its number keeps its name only if the old one was known to be
 * open until then, because only then it is certain which of the two was closed.
 *
 * Bounds: NAMES_MAX bytes of names, and those of fd_shared_tables.c; beyond them descriptors have
 * no name.
 *
 * Budget: a call without effect on descriptors costs the look-up of its row; a name one look-up of
 * the process.
 */
#include "fd_track.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fd_shared_tables.h"
#include "field_text.h"
#include "key_value.h"
#include "snapshot_text.h"
#include "strtab.h"

#define FD_CWD	       (-100) /* AT_FDCWD */
#define NAMES_MAX      (256u << 20)
#define NAME_MAX_BYTES 8192
#define SHARES_FILES   0x400 /* CLONE_FILES, CLONE_FS, CLONE_THREAD */
#define SHARES_FS      0x200
#define IS_THREAD      0x10000
#define TMPFILE	       020000000
#define SETS_CLOEXEC   0x5451 /* FIOCLEX, FIONCLEX */
#define CLEARS_CLOEXEC 0x5450
enum { CLOSE_RANGE_CLOEXEC_ = 4 };

/* A closed end of a pipe or unix socket. */
struct gone {
	uint64_t ns;
	uint32_t name;
	int32_t pid;
	char access;
};

struct ty_fd_track {
	const struct ty_sysarch *arch;
	const struct ty_call_data_index *strings;
	struct ty_strtab *names;
	uint64_t name_bytes;
	struct ty_fd_processes processes;
	struct ty_buf text;
	struct gone gone[TY_FD_TRACK_GONE]; /* the newest at (gone_n - 1) % TY_FD_TRACK_GONE */
	uint32_t gone_n;
};

/* Its id; 0: no room for it. */
static uint32_t name_add(struct ty_fd_track *t, const char *s, size_t n)
{
	uint32_t before = ty_strtab_count(t->names), id;

	if (t->name_bytes + n > NAMES_MAX) {
		id = ty_strtab_find(t->names, s, n);
		return id == UINT32_MAX ? 0 : id;
	}
	id = ty_strtab_add(t->names, s, n);
	if (id == UINT32_MAX)
		return 0;
	t->name_bytes += id >= before ? n : 0;
	return id;
}

static int add_listed(struct ty_fd_track *t, const char *text)
{
	uint64_t taken_ns = 0;
	struct ty_snap_fd d;

	while ((d = ty_snap_fd(&text)).is != TY_SNAP_FD_END) {
		char target[NAME_MAX_BYTES];
		struct ty_fd_process *p;
		struct ty_fd_slot *s;

		if (d.is == TY_SNAP_FD_TAKEN)
			taken_ns = d.taken_ns;
		if (!taken_ns || d.is == TY_SNAP_FD_TAKEN || d.is == TY_SNAP_FD_LEFT_OUT ||
		    d.target.n >= sizeof(target))
			continue;
		ty_unescape_field(d.target.s, d.target.n, target, sizeof(target));
		p = ty_fd_process_add(&t->processes, d.pid);
		if (!p)
			return -TY_ENOMEM;
		if (d.is == TY_SNAP_FD_CWD) {
			p->cwd = name_add(t, target, strlen(target));
			continue;
		}
		s = ty_fd_slot_add(&t->processes, p, (uint64_t)d.fd);
		if (s)
			*s = (struct ty_fd_slot){
				.since_ns = taken_ns,
				.target = {name_add(t, target, strlen(target)), d.net, d.access},
				.open = true,
				.cloexec = d.cloexec,
				.listed = true};
	}
	return 0;
}

struct ty_fd_track *ty_fd_track_new(const struct ty_trace *trace, const struct ty_sysarch *arch,
				    const struct ty_call_data_index *strings)
{
	struct ty_fd_track *t = calloc(1, sizeof(*t));
	const char *fds = ty_trace_section(trace, TY_SEC_FDS).s,
		   *machine = ty_trace_section(trace, TY_SEC_MACHINE).s;
	char cwd[NAME_MAX_BYTES] = "";
	struct ty_fd_process *p;

	if (!t)
		return NULL;
	t->arch = arch;
	t->strings = strings;
	t->names = ty_strtab_new();
	ty_buf_init(&t->text, NAME_MAX_BYTES);
	if (!t->names || add_listed(t, fds ? fds : ""))
		goto fail;
	/* The folder in which the command started says nothing of a recording that begins later. */
	if (ty_trace_command(trace) && ty_key_value(machine, "cwd", cwd, sizeof(cwd))) {
		p = ty_fd_process_add(&t->processes, ty_trace_command(trace));
		if (!p)
			goto fail;
		p->cwd = name_add(t, cwd, strlen(cwd));
	}
	return t;
fail:
	ty_fd_track_free(t);
	return NULL;
}

void ty_fd_track_free(struct ty_fd_track *t)
{
	if (!t)
		return;
	ty_fd_processes_fini(&t->processes);
	ty_strtab_free(t->names);
	ty_buf_fini(&t->text);
	free(t);
}

static uint32_t name_at(const struct ty_fd_process *p, int32_t fd, uint64_t ts_ns)
{
	const struct ty_fd_slot *s;

	if (!p)
		return 0;
	if (fd == FD_CWD)
		return p->cwd;
	s = fd < 0 ? NULL : ty_fd_slot_find(p, (uint64_t)fd);
	if (!s || ts_ns < s->since_ns || (s->closing_ns && ts_ns > s->closing_ns))
		return 0;
	return s->target.name;
}

/* How it is used, if in one way. */
static char access_of(const struct ty_fd_slot *s)
{
	return s->target.access == 'b' ? 0 : s->target.access;
}

char ty_fd_track_access(const struct ty_fd_track *t, int32_t pid, int32_t fd)
{
	const struct ty_fd_slot *s =
		fd < 0 ? NULL
		       : ty_fd_slot_find(ty_fd_process_find(&t->processes, pid), (uint64_t)fd);

	return s ? access_of(s) : 0;
}

void ty_fd_track_each(const struct ty_fd_track *t, uint64_t since_ns,
		      bool (*fn)(void *ctx, int32_t pid, uint32_t name, char access), void *ctx)
{
	vec_each (p, &t->processes.v)
		for (uint32_t i = 0; p->table && i < p->table->n; i++) {
			const struct ty_fd_slot *s = &p->table->v[i];

			if (s->open && s->target.name && !s->closing_ns &&
			    !fn(ctx, p->pid, s->target.name, access_of(s)))
				return;
		}
	for (uint32_t i = 0; i < t->gone_n && i < TY_FD_TRACK_GONE; i++) {
		const struct gone *g = &t->gone[(t->gone_n - 1 - i) % TY_FD_TRACK_GONE];

		if (g->ns < since_ns || !fn(ctx, g->pid, g->name, g->access))
			return;
	}
}

uint32_t ty_fd_track_name(const struct ty_fd_track *t, int32_t pid, int32_t fd, uint64_t ts_ns)
{
	return name_at(ty_fd_process_find(&t->processes, pid), fd, ts_ns);
}

const char *ty_fd_track_text(const struct ty_fd_track *t, uint32_t name)
{
	return name ? ty_strtab_get(t->names, name) : NULL;
}

/* calls -------------------------------------------------------------------------------------- */

static const struct ty_sysrow *row_of(const struct ty_fd_track *t, const struct ty_call *c)
{
	return ty_syscall_row(t->arch, c->abi, c->nr)->as;
}

bool ty_fd_track_follows(const struct ty_fd_track *t, const struct ty_call *c)
{
	const struct ty_sysrow *row = row_of(t, c);

	if (row->fds == TY_FDS_RECEIVED)
		return ty_call_data_counts(t->strings).received;
	return row->fds || row->id == TY_SYS_ioctl || row->id == TY_SYS_chdir ||
	       row->id == TY_SYS_fchdir || row->id == TY_SYS_unshare;
}

/* The descriptors that the call closes or replaces, as [*from, *to]; false: none. */
static bool takes_away(const struct ty_sysrow *row, const struct ty_call *c, uint32_t *from,
		       uint32_t *to)
{
	*from = *to = (uint32_t)c->args[0];
	switch ((enum ty_fds_effect)row->fds) {
	case TY_FDS_CLOSE: return true;
	case TY_FDS_DUP2: *from = *to = (uint32_t)c->args[1]; return *from != (uint32_t)c->args[0];
	case TY_FDS_RANGE: *to = (uint32_t)c->args[1]; return !(c->args[2] & CLOSE_RANGE_CLOEXEC_);
	default: return false;
	}
}

void ty_fd_track_begin(struct ty_fd_track *t, int32_t pid, const struct ty_call *c)
{
	const struct ty_sysrow *row = row_of(t, c);
	const struct ty_fd_process *p;
	uint32_t from, to;

	if (!takes_away(row, c, &from, &to))
		return;
	p = ty_fd_process_find(&t->processes, pid);
	for (uint32_t fd = from; p && p->table && fd < p->table->n && fd <= to; fd++)
		if (p->table->v[fd].open && !p->table->v[fd].closing_ns)
			p->table->v[fd].closing_ns = c->start_ns;
}

/* It is about to be closed. */
static void note_gone(struct ty_fd_track *t, int32_t pid, const struct ty_fd_slot *s, uint64_t ns)
{
	const char *text = s->open ? ty_fd_track_text(t, s->target.name) : NULL;

	if (text && (!strncmp(text, "pipe:[", 6) || !strncmp(text, "UNIX-", 5)))
		t->gone[t->gone_n++ % TY_FD_TRACK_GONE] =
			(struct gone){ns, s->target.name, pid, access_of(s)};
}

static void taken_away(struct ty_fd_track *t, const struct ty_fd_process *p,
		       const struct ty_call *c, uint32_t from, uint32_t to, bool failed)
{
	for (uint32_t fd = from; p->table && fd < p->table->n && fd <= to; fd++) {
		struct ty_fd_slot *s = &p->table->v[fd];

		if (!s->open || (s->since_ns > c->start_ns && s->fresh))
			continue;
		if (failed) {
			s->closing_ns = 0;
		} else {
			note_gone(t, p->pid, s, c->end_ns);
			s->open = false;
		}
	}
}

/* lowest: the call returned the lowest free number, so its previous descriptor had been closed. */
static void put(struct ty_fd_track *t, struct ty_fd_process *p, const struct ty_call *c, int64_t fd,
		struct ty_fd_target target, bool cloexec, bool lowest)
{
	struct ty_fd_slot *s = fd < 0 ? NULL : ty_fd_slot_add(&t->processes, p, (uint64_t)fd);

	if (s)
		*s = (struct ty_fd_slot){.since_ns = c->end_ns,
					 .target = target,
					 .open = true,
					 .cloexec = cloexec,
					 .fresh = lowest && s->open && s->since_ns <= c->start_ns};
}

/* As it was all the time that the call lasted. */
static uint32_t name_during(const struct ty_fd_process *p, const struct ty_call *c, uint64_t fd)
{
	const struct ty_fd_slot *s = ty_fd_slot_find(p, (uint32_t)fd);

	return s && s->since_ns <= c->start_ns && !s->closing_ns ? s->target.name : 0;
}

static void put_copy(struct ty_fd_track *t, struct ty_fd_process *p, const struct ty_call *c,
		     int64_t fd, bool cloexec)
{
	const struct ty_fd_slot *from = ty_fd_slot_find(p, (uint32_t)c->args[0]);
	struct ty_fd_target target = from ? from->target : (struct ty_fd_target){0};

	target.name = name_during(p, c, c->args[0]);
	put(t, p, c, fd, target, cloexec,
	    ty_syscall_row(t->arch, c->abi, c->nr)->as->fds != TY_FDS_DUP2);
}

/* The path that argument `arg` pointed to, from the folder that it starts in. */
static uint32_t path_name(struct ty_fd_track *t, const struct ty_fd_process *p,
			  const struct ty_sysrow *row, const struct ty_call *c, unsigned arg,
			  const struct ty_call_data_item *path)
{
	const char *s = path->p, *base = NULL;
	struct ty_buf *b = &t->text;
	int32_t from = FD_CWD;

	if (!s || path->kind != TY_EVK_STRING || !path->len)
		return 0;
	if (arg && row->a[arg - 1] == TY_ARG_DIRFD)
		from = (int32_t)c->args[arg - 1];
	if (*s != '/')
		base = ty_fd_track_text(t, from == FD_CWD ? p->cwd
							  : name_during(p, c, (uint32_t)from));
	ty_buf_reset(b);
	if (base) {
		while (s[0] == '.' && (s[1] == '/' || !s[1]))
			s += s[1] ? 2 : 1;
		ty_buf_adds(b, base);
		if (*s && b->len && b->p[b->len - 1] != '/')
			ty_buf_addc(b, '/');
	}
	ty_buf_adds(b, s);
	if (ty_call_data_path_cut(path, c))
		ty_buf_adds(b, "...");
	/* It has no name in that folder. */
	if (arg + 1 < row->n && row->a[arg + 1] == TY_ARG_OPEN &&
	    (c->args[arg + 1] & TMPFILE) == TMPFILE)
		ty_buf_adds(b, " (O_TMPFILE)");
	return b->failed ? 0 : name_add(t, b->p, b->len);
}

uint32_t ty_fd_track_path(struct ty_fd_track *t, int32_t pid, const struct ty_call *c, unsigned arg)
{
	const struct ty_fd_process none = {0}, *p = ty_fd_process_find(&t->processes, pid);
	const struct ty_sysrow *row = ty_syscall_row(t->arch, c->abi, c->nr);
	struct ty_call_data_item item[6];

	if (!t->strings)
		return 0;
	ty_call_data_of(t->strings, c, ty_call_data_after(t->strings, c->tid), item);
	/* AT_EMPTY_PATH: the descriptor itself. */
	if (item[arg].p && item[arg].kind == TY_EVK_STRING && !item[arg].len && arg &&
	    row->a[arg - 1] == TY_ARG_DIRFD)
		return name_at(p, (int32_t)c->args[arg - 1], c->start_ns);
	return path_name(t, p ? p : &none, row, c, arg, &item[arg]);
}

/* As the kernel had it at the call's end. */
static struct ty_fd_target kernel_target(struct ty_fd_track *t, const struct ty_ev_fd *fd,
					 char access)
{
	ty_buf_reset(&t->text);
	if (ty_call_data_fd_text(fd, &t->text) || !t->text.len)
		return (struct ty_fd_target){0};
	return (struct ty_fd_target){name_add(t, t->text.p, t->text.len), fd->net, access};
}

static struct ty_fd_target named(uint32_t name)
{
	return (struct ty_fd_target){.name = name};
}

static struct ty_fd_target made(struct ty_fd_track *t, const struct ty_fd_process *p,
				const struct ty_sysrow *row, const struct ty_call *c,
				const struct ty_call_data_item item[6])
{
	struct ty_buf *b = &t->text;
	struct ty_ev_fd fd;

	if (row->object >= 0 && row->a[row->object] == TY_ARG_PATH)
		return named(path_name(t, p, row, c, (unsigned)row->object, &item[row->object]));
	if (row->id == TY_SYS_memfd_create && item[0].p) {
		ty_buf_reset(b);
		ty_buf_addf(b, "/memfd:%s (deleted)", item[0].p);
		return named(b->failed ? 0 : name_add(t, b->p, b->len));
	}
	if (ty_call_data_fd(&item[0], 0, &fd) && fd.fd == c->ret)
		return kernel_target(t, &fd, 0);
	return named(row->makes ? name_add(t, row->makes, strlen(row->makes)) : 0);
}

static int on_exec(struct ty_fd_track *t, struct ty_fd_process *p, uint64_t ns)
{
	int r = ty_fd_slots_unshare(&t->processes, p);

	for (uint32_t i = 0; p->table && i < p->table->n; i++)
		if (p->table->v[i].cloexec) {
			note_gone(t, p->pid, &p->table->v[i], ns);
			p->table->v[i].open = p->table->v[i].cloexec = false;
		}
	return r;
}

/* Applies a successful call to a table. */
static int effect(struct ty_fd_track *t, struct ty_fd_process *p, const struct ty_sysrow *row,
		  const struct ty_call *c, const struct ty_call_data_item item[6])
{
	const bool cloexec = ty_sysrow_cloexec(row, c->args);
	const char *terminal = ty_sysrow_terminal(row, c->args);
	struct ty_fd_slot *s = ty_fd_slot_find(p, (uint32_t)c->args[0]);
	struct ty_ev_fd fd;

	switch ((enum ty_fds_effect)row->fds) {
	case TY_FDS_NEW: put(t, p, c, c->ret, made(t, p, row, c, item), cloexec, true); break;
	case TY_FDS_DUP:
	case TY_FDS_DUP2:
	case TY_FDS_FCNTL:
		if (!ty_sysrow_copies(row, c->args)) {
			if ((uint32_t)c->args[1] == TY_F_SETFD && s)
				s->cloexec = c->args[2] & 1;
		} else if ((uint32_t)c->ret != (uint32_t)c->args[0]) { /* dup2 to itself */
			put_copy(t, p, c, c->ret, cloexec);
		}
		break;
	case TY_FDS_EXEC: return on_exec(t, p, c->end_ns);
	case TY_FDS_RANGE:
		for (uint64_t i = (uint32_t)c->args[0];
		     c->args[2] & CLOSE_RANGE_CLOEXEC_ && p->table && i < p->table->n &&
		     i <= (uint32_t)c->args[1];
		     i++)
			p->table->v[i].cloexec = p->table->v[i].open;
		break;
	case TY_FDS_PAIR:
		for (unsigned i = 0; i < row->n; i++)
			for (unsigned k = 0; ty_call_data_fd(&item[i], k, &fd); k++) {
				const char access = k ? 'w' : 'r'; /* says nothing of sockets */

				put(t, p, c, fd.fd, kernel_target(t, &fd, access), cloexec, true);
			}
		break;
	case TY_FDS_NAMED:
		/* The descriptor was unknown: an exec may close it. */
		if (ty_call_data_fd(&item[0], 0, &fd) && (uint32_t)fd.fd == (uint32_t)c->args[0])
			put(t, p, c, fd.fd, kernel_target(t, &fd, 0), !s || s->cloexec, false);
		break;
	case TY_FDS_RECEIVED:
		for (unsigned i = 0; i < TY_EV_RECEIVED_CALL &&
				     ty_call_data_received(t->strings, c, i, &fd, &t->text);
		     i++)
			put(t, p, c, fd.fd,
			    (struct ty_fd_target){
				    .name = t->text.len && !t->text.failed
						    ? name_add(t, t->text.p, t->text.len)
						    : 0,
				    .net = fd.net},
			    cloexec, true);
		break;
	case TY_FDS_CLOSE:
	case TY_FDS_NONE: break;
	}
	if (row->id == TY_SYS_chdir)
		p->cwd = path_name(t, p, row, c, 0, &item[0]);
	else if (row->id == TY_SYS_fchdir)
		p->cwd = name_during(p, c, c->args[0]);
	else if (row->id == TY_SYS_unshare && c->args[0] & SHARES_FILES)
		ty_fd_slots_drop(&t->processes, p); /* its threads have one each */
	else if (terminal)
		put(t, p, c, c->ret, named(name_add(t, terminal, strlen(terminal))), cloexec, true);
	else if (row->id == TY_SYS_ioctl && s &&
		 (c->args[1] == SETS_CLOEXEC || c->args[1] == CLEARS_CLOEXEC))
		s->cloexec = c->args[1] == SETS_CLOEXEC;
	return 0;
}

int ty_fd_track_end(struct ty_fd_track *t, int32_t pid, const struct ty_call *c)
{
	const struct ty_sysrow *row = row_of(t, c);
	const bool failed = c->how != TY_CALL_RETURNED || c->ret < 0;
	struct ty_call_data_item item[6] = {0};
	struct ty_fd_process *p;
	uint32_t from, to;

	if (pid <= 0)
		return 0;
	if (ty_call_end_only(c)) { /* its object is unknown */
		p = ty_fd_process_find(&t->processes, pid);
		if (p)
			ty_fd_slots_drop(&t->processes, p);
		return 0;
	}
	p = ty_fd_process_add(&t->processes, pid);
	if (!p)
		return -TY_ENOMEM;
	if (takes_away(row, c, &from, &to)) /* close with an error (EINTR, EIO) has closed, too */
		taken_away(t, p, c, from, to, failed && row->fds != TY_FDS_CLOSE);
	if (failed && (row->fds != TY_FDS_NAMED || c->ret != -EINPROGRESS))
		return 0;
	if (t->strings && (row->fds == TY_FDS_NEW || row->fds == TY_FDS_PAIR ||
			   row->fds == TY_FDS_NAMED || row->id == TY_SYS_chdir))
		ty_call_data_of(t->strings, c, ty_call_data_after(t->strings, c->tid), item);
	return effect(t, p, row, c, item);
}

/* processes ---------------------------------------------------------------------------------- */

static int inherit(struct ty_fd_track *t, int32_t parent, const struct ty_event *ev,
		   uint64_t since_ns)
{
	struct ty_fd_process *child = ty_fd_process_add(&t->processes, ev->u.newtask.tid),
			     *p = ty_fd_process_find(&t->processes, parent);
	int r;

	if (!child || !p)
		return child ? 0 : -TY_ENOMEM;
	child->cwd = p->cwd;
	if (ev->u.newtask.clone_flags & SHARES_FS) /* whose chdir counts for both is not followed */
		child->cwd = p->cwd = 0;
	if (!p->table)
		return 0;
	child->table = p->table;
	p->table->users++;
	if (ev->u.newtask.clone_flags & SHARES_FILES)
		return 0;
	r = ty_fd_slots_unshare(&t->processes, child);
	/* Created while the child was: the child may or may not have it. The same for calls not yet
	 * processed. */
	for (uint32_t i = 0; child->table && i < child->table->n; i++) {
		struct ty_fd_slot *s = &child->table->v[i];

		if (s->since_ns > ev->ts_ns || (s->since_ns > since_ns && !s->listed))
			s->open = false;
	}
	return r;
}

int ty_fd_track_event(struct ty_fd_track *t, const struct ty_event *ev, int32_t pid,
		      uint64_t since_ns)
{
	struct ty_fd_process *p;

	if (ev->decode_error)
		return 0;
	if (ev->kind == TY_EV_EXIT) {
		p = ty_fd_process_find(&t->processes, ev->u.tex.tid);
		if (p) {
			for (uint32_t i = 0; p->table && p->table->users == 1 && i < p->table->n;
			     i++)
				note_gone(t, p->pid, &p->table->v[i], ev->ts_ns);
			ty_fd_slots_drop(&t->processes, p);
			p->cwd = 0;
			p->gone = true;
		}
		return 0;
	}
	if (ev->kind != TY_EV_NEWTASK || ev->u.newtask.clone_flags & IS_THREAD ||
	    ev->u.newtask.tid == pid)
		return 0;
	p = ty_fd_process_find(&t->processes, ev->u.newtask.tid);
	if (p) { /* the number belonged to another file */
		ty_fd_slots_drop(&t->processes, p);
		*p = (struct ty_fd_process){.pid = p->pid};
	}
	return inherit(t, pid, ev, since_ns);
}

void ty_fd_track_lost(struct ty_fd_track *t)
{
	vec_each (p, &t->processes.v) {
		ty_fd_slots_drop(&t->processes, p);
		p->cwd = 0;
	}
}

/* as a list ---------------------------------------------------------------------------------- */

static void list_line(const struct ty_fd_track *t, int32_t pid, const char *fd, bool cloexec,
		      struct ty_fd_target target, struct ty_buf *out)
{
	const char *text = ty_fd_track_text(t, target.name);

	ty_buf_addf(out, "%" PRId32 "\t%s\t%s\t", pid, fd, cloexec ? "cloexec" : "-");
	ty_escape_field(out, text, strlen(text));
	if (target.net)
		ty_buf_addf(out, "\t-\t%" PRIu32, target.net);
	else if (target.access && !strncmp(text, "pipe:[", 6))
		ty_buf_addf(out, "\t%s", target.access == 'b' ? "rw" : (char[]){target.access, 0});
	ty_buf_addc(out, '\n');
}

/* Those that were in /proc's list only after from_ns, or the others. A table that another process
 * has, too, is not listed: in the list the two would be apart. */
static void list_process(const struct ty_fd_track *t, const struct ty_fd_process *p,
			 uint64_t from_ns, bool later, struct ty_buf *out)
{
	const struct ty_fd_slots *a = p->table;
	char fd[16];

	if (p->cwd && !later)
		list_line(t, p->pid, "cwd", false, named(p->cwd), out);
	for (uint32_t i = 0; a && a->users == 1 && i < a->n; i++) {
		const struct ty_fd_slot *s = &a->v[i];

		if (!s->open || !s->target.name || s->closing_ns ||
		    (s->listed && s->since_ns > from_ns) != later)
			continue;
		snprintf(fd, sizeof(fd), "%" PRIu32, i);
		list_line(t, p->pid, fd, s->cloexec, s->target, out);
	}
}

/* False: some of its open descriptors have no name. */
static bool is_whole(const struct ty_fd_process *p)
{
	const struct ty_fd_slots *a = p->table;

	for (uint32_t i = 0; a && a->users == 1 && i < a->n; i++)
		if (a->v[i].open && (!a->v[i].target.name || a->v[i].closing_ns))
			return false;
	return !a || a->users == 1;
}

void ty_fd_track_list(const struct ty_fd_track *t, uint64_t from_ns, const char *before, bool lost,
		      struct ty_buf *out)
{
	uint64_t left_out = 0, since, listed;
	struct ty_snap_fd d;

	if (!ty_snap_taken(before, &since, &listed) || listed < from_ns)
		listed = from_ns;
	for (unsigned later = 0; later <= (listed > from_ns); later++) {
		ty_buf_addf(out, "taken %" PRIu64 " %" PRIu64 "\n", from_ns,
			    later ? listed : from_ns);
		vec_each (p, &t->processes.v)
			if (!p->gone)
				list_process(t, p, from_ns, later, out);
	}
	vec_each (p, &t->processes.v) {
		if (p->gone || (is_whole(p) && !lost))
			continue;
		ty_buf_addf(out, "%" PRId32 "\tleft_out\n", p->pid);
		left_out++;
	}
	while ((d = ty_snap_fd(&before)).is != TY_SNAP_FD_END) {
		const struct ty_fd_process *p = d.is == TY_SNAP_FD_LEFT_OUT && d.pid >= 0
							? ty_fd_process_find(&t->processes, d.pid)
							: NULL;

		if (d.is != TY_SNAP_FD_LEFT_OUT || (d.pid >= 0 && p && p->gone))
			continue;
		left_out++;
		if (d.pid >= 0)
			ty_buf_addf(out, "%" PRId32 "\tleft_out\n", d.pid);
	}
	if (left_out)
		ty_buf_addf(out, "left_out %" PRIu64 "\n", left_out);
}
