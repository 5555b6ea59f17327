/* SPDX-License-Identifier: MIT */
#include "explain_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "command_titles.h"
#include "call_data_index.h"
#include "fd_names.h"
#include "fd_others.h"
#include "cfs_throttle.h"
#include "steal.h"
#include "steal_lines.h"
#include "field_text.h"
#include "key_value.h"
#include "partition.h"
#include "snapshot_text.h"
#include "strtab.h"
#include "wait_stacks.h"

ORDER(by_tid, struct ty_thread_line, compare(a->tid, b->tid) ?: compare(a->at, b->at))

/* The position of each thread in the snapshot of /proc. Out of memory: the remaining ones stay
 * unknown. */
static void find_lines(struct ty_session *s)
{
	const char *text = ty_trace_section(s->trace, TY_SEC_THREADS).s, *p = text;
	struct ty_snap_thread t;

	for (size_t at = 0; ty_snap_thread(&p, &t) && at <= UINT32_MAX; at = (size_t)(p - text))
		if (vec_push(&s->snapshot, (struct ty_thread_line){t.tid, (uint32_t)at}))
			break;
	if (s->snapshot.n)
		qsort(s->snapshot.v, s->snapshot.n, sizeof(*s->snapshot.v), by_tid);
}

/* A call that began before the recording: the snapshot of /proc contains it, if it is still the
 * same call. */
static int snapshot_args(const struct ty_session *s, const struct ty_syscall *c, uint64_t out[6])
{
	int32_t tid = ty_model_thread(s->model, c->thread)->tid;
	size_t i = partition_point(k, 0, s->snapshot.n, s->snapshot.v[k].tid < tid);
	struct ty_snap_thread t;
	const char *line;

	if (i == s->snapshot.n || s->snapshot.v[i].tid != tid)
		return -TY_ENOTFOUND;
	line = ty_trace_section(s->trace, TY_SEC_THREADS).s + s->snapshot.v[i].at;
	return ty_snap_thread(&line, &t) && t.nr == c->nr && ty_snap_args(&t, out) ? 0
										   : -TY_ENOTFOUND;
}

static pthread_mutex_t *lock(pthread_mutex_t *m)
{
	if (m)
		pthread_mutex_lock(m);
	return m;
}

static void unlock(pthread_mutex_t **m)
{
	if (*m)
		pthread_mutex_unlock(*m);
}

/* One of the session's locks, to the end of the block. reading: for what reads events, or keeps
 * what it found. */
#define HOLD(s, which)                                                                             \
	pthread_mutex_t *held __attribute__((cleanup(unlock), unused)) =                           \
		lock((s)->locks ? &(s)->locks->which : NULL)

static int read_args(struct ty_session *s, const struct ty_syscall *c, uint64_t out[6])
{
	struct ty_event ev;

	if (c->loc == TY_NO_LOC)
		return c->flags & TY_SF_BEFORE ? snapshot_args(s, c, out) : -TY_ENOTFOUND;
	if (ty_events_read_at(s->events, c->loc, &ev, NULL) || ev.kind != TY_EV_SYS_ENTER ||
	    ev.decode_error)
		return -TY_ENOTFOUND;
	for (unsigned i = 0; i < 6; i++)
		out[i] = ev.u.enter.args[i];
	return 0;
}

static int args(void *ctx, const struct ty_syscall *c, uint64_t out[6])
{
	struct ty_session *s = ctx;
	HOLD(s, reading);

	return read_args(s, c, out);
}

/* A call of the model as the index of call data knows calls. */
static struct ty_call call_of(const struct ty_session *s, const struct ty_syscall *c,
			      const uint64_t a[6])
{
	struct ty_call out = {.start_ns = c->start_ns,
			      .end_ns = c->end_ns,
			      .nr = c->nr,
			      .abi = c->abi,
			      .how = c->flags & (TY_SF_OPEN | TY_SF_LOST | TY_SF_ENDED)
					     ? TY_CALL_OPEN
					     : TY_CALL_RETURNED};

	out.tid = out.end_tid = ty_model_tid(s->model, c->thread, c->start_ns);
	memcpy(out.args, a, sizeof(out.args));
	return out;
}

/* The text, where it stays. NULL: out of memory. */
static const char *kept_address(struct ty_session *s, const char *text, size_t n)
{
	uint32_t id = ty_strtab_add(s->addresses, text, n);

	while (id != UINT32_MAX && s->address.n <= id) {
		char *kept = strdup(ty_strtab_get(s->addresses, (uint32_t)s->address.n));

		if (!kept || vec_push(&s->address, kept)) {
			free(kept);
			return NULL;
		}
	}
	return id == UINT32_MAX ? NULL : s->address.v[id];
}

/* Descriptor i that the call is recorded to have made or changed. */
static const char *fd_name(struct ty_session *s, const struct ty_call_data_item item[6], unsigned i)
{
	const char *p = NULL;
	struct ty_ev_fd fd;
	struct ty_buf b;

	ty_buf_init(&b, 1024);
	for (unsigned k = 0; k < 6 && !p; k++)
		if (ty_call_data_fd(&item[k], i, &fd) && !ty_call_data_fd_text(&fd, &b) && b.len)
			p = kept_address(s, b.p, b.len);
	ty_buf_fini(&b);
	return p;
}

static const char *pointee(void *ctx, uint32_t thread, uint32_t call, unsigned arg)
{
	struct ty_session *s = ctx;
	HOLD(s, reading);
	struct ty_syscall c = ty_model_syscall(s->model, call);
	struct ty_call_data_item item[6];
	const struct ty_sysrow *row;
	const char *p = NULL;
	uint64_t a[6], after_ns = 0;
	struct ty_call k;
	struct ty_buf b;

	if (!s->call_data || c.loc == TY_NO_LOC || read_args(s, &c, a))
		return NULL;
	if (call > ty_model_thread(s->model, thread)->syscalls_first) {
		struct ty_syscall before = ty_model_syscall_brief(s->model, thread, call - 1);

		after_ns = before.flags & (TY_SF_OPEN | TY_SF_LOST) ? c.start_ns : before.end_ns;
	}
	k = call_of(s, &c, a);
	ty_call_data_of(s->call_data, &k, after_ns, item);
	if (arg >= TY_POINTEE_FD)
		return fd_name(s, item, arg - TY_POINTEE_FD);
	if (!item[arg].p || item[arg].kind == TY_EVK_STRING)
		return item[arg].p;
	row = ty_syscall_row(s->arch, c.abi, c.nr);
	ty_buf_init(&b, 512);
	if (ty_call_data_short(&item[arg], row->says & (TY_CONNECTS | TY_GIVES), &b))
		p = kept_address(s, b.p, b.len);
	ty_buf_fini(&b);
	return p;
}

static const char *fd_before(void *ctx, int32_t pid, int32_t fd, bool *cloexec)
{
	const struct ty_session *s = ctx;
	const struct ty_fd_name *f = ty_fd_names_find(s->fds, pid, fd);

	if (!f)
		return NULL;
	*cloexec = f->cloexec;
	return f->target;
}

static bool fds_left_out(void *ctx, int32_t pid)
{
	const struct ty_session *s = ctx;

	return ty_fd_names_left_out(s->fds, pid);
}

static bool fd_other(void *ctx, const char *name, char access, uint64_t t_ns, int32_t not_pid,
		     struct ty_fd_other *out)
{
	struct ty_session *s = ctx;
	HOLD(s, reading);

	if (!s->others)
		s->others =
			ty_fd_others_new(ty_trace_section(s->trace, TY_SEC_FDS).s, s->call_data);
	return ty_fd_others_find(s->others, name, access, t_ns, not_pid, out);
}

static bool listens(void *ctx, const char *at, size_t n)
{
	const struct ty_session *s = ctx;

	return ty_fd_names_listens(s->fds, at, n);
}

static bool throttled(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns,
		      struct ty_throttled *out)
{
	const struct ty_session *s = ctx;

	return ty_throttle_lines_find(s->held, tid, from_ns, to_ns, out);
}

static bool quota(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns,
		  struct ty_throttled *out)
{
	const struct ty_session *s = ctx;

	return ty_throttle_lines_quota(s->held, tid, from_ns, to_ns, out);
}

static uint64_t steal(void *ctx, uint32_t cpu, uint64_t from_ns, uint64_t to_ns)
{
	const struct ty_session *s = ctx;

	return ty_steal_lines_sum(s->steal, cpu, from_ns, to_ns);
}

static bool where(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns, char *buf, size_t n)
{
	struct ty_session *s = ctx;
	HOLD(s, stacks);
	struct ty_stack_frames frames;
	const struct ty_stack_frame *own;
	struct ty_buf b;

	if (!ty_session_stacks(s) ||
	    !ty_wait_stacks_of(s->stacks, tid, from_ns, to_ns, false, &frames))
		return false;
	own = ty_stack_frames_own(&frames);
	if (!own)
		return false;
	ty_buf_init(&b, 4096);
	ty_stack_frame_text(own, &b);
	snprintf(buf, n, "%.*s", (int)b.len, b.p ? b.p : "");
	ty_buf_fini(&b);
	return *buf;
}

static bool stack(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns, bool waker,
		  int32_t *of_tid, struct ty_buf *out)
{
	struct ty_session *s = ctx;
	HOLD(s, stacks);
	struct ty_stack_frames frames;

	if (!ty_session_stacks(s) ||
	    !ty_wait_stacks_of(s->stacks, tid, from_ns, to_ns, waker, &frames))
		return false;
	*of_tid = frames.tid;
	ty_stack_frames_text(&frames, TY_STACK_FRAMES, out);
	return true;
}

static enum ty_stack_role role(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns)
{
	struct ty_session *s = ctx;
	HOLD(s, stacks);

	return ty_session_stacks(s) ? ty_wait_stacks_role(s->stacks, tid, from_ns, to_ns)
				    : TY_ROLE_NONE;
}

static bool holder(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns,
		   struct ty_lock_seen *out)
{
	struct ty_session *s = ctx;
	HOLD(s, stacks);

	return ty_session_stacks(s) && ty_wait_stacks_holder(s->stacks, tid, from_ns, to_ns, out);
}

/* Out of memory: steal time is then not reported. */
static void find_ticks(struct ty_session *s, const char *facts)
{
	char nohz_full[4096] = "";

	ty_key_value(facts, "nohz_full", nohz_full, sizeof(nohz_full));
	s->ticks = calloc(1, sizeof(*s->ticks));
	if (s->ticks)
		ty_ticks_find(s->model, ty_key_u64(facts, "tick_ns"), nohz_full, s->ticks);
}

static bool disk(void *ctx, uint32_t major, uint32_t minor, char *buf, size_t size)
{
	const struct ty_session *s = ctx;
	const char *text = ty_trace_section(s->trace, TY_SEC_MACHINE).s, *v;
	char name[80], mounts[80];
	uint64_t number[2];
	size_t n;

	while (ty_key_next(&text, "disk", &v, &n)) {
		const char *end = v + n, *at;
		size_t k;

		/* "MAJOR MINOR NAME MOUNTS" */
		k = strspn(v, "0123456789");
		k += strspn(v + k, " ");
		k += strspn(v + k, "0123456789");
		if (k >= n || v[k] != ' ' || !ty_key_numbers(v, k, number, 2) ||
		    number[0] != major || number[1] != minor)
			continue;
		v += k + 1;
		at = memchr(v, ' ', (size_t)(end - v));
		at = at ? at : end;
		ty_unescape_field(v, (size_t)(at - v), name, sizeof(name));
		at += at < end;
		ty_unescape_field(at, (size_t)(end - at), mounts, sizeof(mounts));
		snprintf(buf, size, "%s (%u:%u%s%s)", name, major, minor, *mounts ? ", " : "",
			 mounts);
		return *name;
	}
	return false;
}

struct ty_explain ty_explain_session(struct ty_session *s)
{
	const char *facts = ty_trace_section(s->trace, TY_SEC_MACHINE).s;
	uint64_t tid = ty_key_u64(facts, "command_tid"),
		 recorder = ty_key_u64(facts, "recorder_tid");
	const struct ty_text strings = ty_trace_section(s->trace, TY_SEC_CALL_DATA);
	char mode[16] = "";

	ty_key_value(facts, "mode", mode, sizeof(mode));
	if (!s->snapshot.n)
		find_lines(s);
	if (!s->fds)
		s->fds = ty_fd_names_new(ty_trace_section(s->trace, TY_SEC_FDS).s);
	if (!s->held)
		s->held = ty_throttle_lines_new(ty_trace_section(s->trace, TY_SEC_QUOTA).s);
	if (!s->steal)
		s->steal = ty_steal_lines_new(ty_trace_section(s->trace, TY_SEC_STEAL).s);
	if (!s->ticks)
		find_ticks(s, facts);
	if (!s->call_data && strings.n) {
		s->addresses = s->addresses ?: ty_strtab_new();
		s->call_data = s->addresses ? ty_call_data_index_new(strings.s, strings.n) : NULL;
	}
	if (s->titled != s->model) {
		s->titled = s->model;
		ty_command_titles(s->model, ty_trace_section(s->trace, TY_SEC_COMMANDS).s,
				  s->call_data);
	}
	return (struct ty_explain){.m = s->model,
				   .arch = s->arch,
				   .clock = s->clock,
				   .file = s->trace->path,
				   .args = args,
				   .pointee = s->call_data ? pointee : NULL,
				   .fd_before = ty_fd_names_taken_ns(s->fds) ? fd_before : NULL,
				   .throttled = s->held ? throttled : NULL,
				   .quota = s->held ? quota : NULL,
				   .steal = s->steal ? steal : NULL,
				   .where = where,
				   .stack = stack,
				   .role = role,
				   .disk = disk,
				   .holder = holder,
				   .counts = s->counts,
				   .samples = s->functions,
				   .ticks = s->ticks && s->ticks->period_ns ? s->ticks : NULL,
				   .fds_since_ns = ty_fd_names_since_ns(s->fds),
				   .fds_ns = ty_fd_names_taken_ns(s->fds),
				   .fds_left_out = fds_left_out,
				   .listens = listens,
				   .fd_other = fd_other,
				   .ctx = s,
				   .command_tid = tid < INT32_MAX ? (int32_t)tid : 0,
				   .whole_machine = !tid && !strcmp(mode, "all"),
				   .recorder_pid = recorder < INT32_MAX ? (int32_t)recorder : 0};
}
