/* SPDX-License-Identifier: MIT */
#include "explain_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "compare.h"
#include "command_titles.h"
#include "call_data_index.h"
#include "call_data_source.h"
#include "fd_kind.h"
#include "fd_snapshot.h"
#include "fd_others.h"
#include "cfs_throttle.h"
#include "steal.h"
#include "steal_recorded.h"
#include "field_text.h"
#include "key_value.h"
#include "partition.h"
#include "snapshot_text.h"
#include "strtab.h"
#include "syscall_values.h"
#include "wait_stacks.h"

/* Of a process, to find what was registered in an epoll set: calls, and changes of sets. */
enum { READY_CALLS = 300000, READY_CHANGES = 5000 };
#define HISTORIES_PART 16 /* share of the memory for descriptors of processes */

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
	vec_sort(&s->snapshot, by_tid);
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
			      .ret = c->ret,
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

static bool has_call_data(const struct ty_session *s)
{
	return ty_trace_section_bytes(s->trace, TY_SEC_CALL_DATA) || ty_session_event_strings(s);
}

/* Out of memory: as if none were recorded, and ty_session_check reports it. With s->locks->reading
 * held. */
static struct ty_call_data_index *call_data(struct ty_session *s)
{
	if (!s->call_data_read && has_call_data(s)) {
		const struct ty_text t = ty_session_call_data(s);

		s->addresses = ty_strtab_new();
		if (t.n && s->addresses)
			s->call_data = ty_call_data_index_new(t.s, t.n, s->memory_bytes);
		if (!s->addresses || (t.n && !s->call_data))
			ty_fail(&s->call_data_err, TY_ENOMEM, TY_NO_OFFSET,
				"%s: out of memory for strings of its calls", s->trace->path);
	}
	s->call_data_read = true;
	return s->call_data;
}

/* When the call before this one was certainly over. */
static uint64_t call_before(const struct ty_session *s, uint32_t thread, uint32_t call,
			    const struct ty_syscall *c)
{
	struct ty_syscall before;

	if (call == ty_model_thread(s->model, thread)->syscalls_first)
		return 0;
	before = ty_model_syscall_brief(s->model, thread, call - 1);
	return before.flags & (TY_SF_OPEN | TY_SF_LOST) ? c->start_ns : before.end_ns;
}

static const char *pointee(void *ctx, uint32_t thread, uint32_t call, unsigned arg)
{
	struct ty_session *s = ctx;
	HOLD(s, reading);
	struct ty_syscall c = ty_model_syscall(s->model, call);
	struct ty_call_data_item item[6];
	const struct ty_sysrow *row;
	const char *p = NULL;
	uint64_t a[6];
	struct ty_call k;
	struct ty_buf b;
	bool whole;

	if (!call_data(s) || c.loc == TY_NO_LOC || read_args(s, &c, a))
		return NULL;
	k = call_of(s, &c, a);
	ty_call_data_of(s->call_data, &k, call_before(s, thread, call, &c), item);
	if (arg >= TY_POINTEE_FD)
		return fd_name(s, item, arg - TY_POINTEE_FD);
	row = ty_syscall_row(s->arch, c.abi, c.nr);
	whole = row->a[arg] == TY_ARG_PATH ? !ty_call_data_path_cut(&item[arg], &k)
					   : !(item[arg].flags & TY_EVF_CUT);
	if (!item[arg].p || (item[arg].kind == TY_EVK_STRING && whole))
		return item[arg].p;
	ty_buf_init(&b, TY_EV_BYTES + sizeof("..."));
	if (ty_call_data_short(&item[arg], row->says & (TY_CONNECTS | TY_GIVES), &b))
		p = kept_address(s, b.p, b.len);
	ty_buf_fini(&b);
	return p;
}

/* The call's first n arguments at least, and its structures in *v, if any; false: not recorded. */
static bool values_of(struct ty_session *s, uint32_t thread, uint32_t call, unsigned n,
		      struct ty_call *k, struct ty_values *v)
{
	const struct ty_syscall c = ty_model_syscall(s->model, call);
	uint64_t a[6] = {0};

	if (c.loc == TY_NO_LOC ||
	    (ty_model_syscall_args(s->model, &c, a) < n && read_args(s, &c, a)))
		return false;
	*k = call_of(s, &c, a);
	if (!ty_values_find(v, s->arch, call_data(s), k, call_before(s, thread, call, &c)))
		memset(&v->v, 0, sizeof(v->v));
	return true;
}

/* The data of a struct epoll_event; false: not recorded. */
static bool event_data(const struct ty_values *v, const struct ty_call_data_item *it, unsigned arg,
		       uint64_t *out)
{
	const unsigned n = ty_arg_pointee(v->row->a[arg], ty_sysarch_os(v->arch), false).bytes;

	if (!it->p || n < sizeof(*out) || it->len < n)
		return false;
	memcpy(out, it->p + n - sizeof(*out), sizeof(*out));
	return true;
}

/* A call that made an epoll set or changed one. */
struct epoll_call {
	uint64_t end_ns;
	uint32_t thread, call;
	bool makes;
};
struct epoll_calls {
	struct epoll_call *v;
	size_t n, cap;
};

ORDER(by_end, struct epoll_call, compare(a->end_ns, b->end_ns) ?: compare(a->call, b->call))

/* The thread's such calls that ended by to_ns, those that make a set only where it is `set`.
 * Negative: too many calls, or no memory. */
static int add_epoll_calls(const struct ty_session *s, uint32_t thread, int64_t set, uint64_t to_ns,
			   struct ty_call_rows *rows, uint32_t *calls, struct epoll_calls *out)
{
	uint32_t k = ty_model_thread(s->model, thread)->syscalls_first, n;

	for (; (n = ty_model_call_rows(s->model, thread, k, rows)) > 0; k += n) {
		if (*calls < n)
			return -TY_ELIMIT;
		*calls -= n;
		for (uint32_t i = 0; i < n; i++) {
			const struct ty_sysrow *row =
				ty_syscall_row(s->arch, rows->abi[i], rows->nr[i])->as;
			const bool makes = row->fds == TY_FDS_NEW && row->fd_kind == TY_FD_EPOLL;

			if (rows->end_ns[i] > to_ns)
				return 0;
			if ((makes ? rows->ret[i] == set
				   : row->n == 4 && row->a[3] == TY_ARG_EPOLL_IN) &&
			    vec_push(out,
				     ((struct epoll_call){rows->end_ns[i], thread, k + i, makes})))
				return -TY_ENOMEM;
		}
	}
	return 0;
}

/* The only descriptor that the set may have with that data, by v, which is in order and begins with
 * the call that made the set; -1: none, several, or unknown. */
static int32_t registered(struct ty_session *s, const struct epoll_call *v, size_t n, uint64_t set,
			  uint64_t data)
{
	int32_t fd = -1, found = -1;

	for (size_t i = 1; i < n; i++) {
		struct ty_values e;
		struct ty_call c;
		uint64_t is = 0;
		bool known;

		if (!values_of(s, v[i].thread, v[i].call, 6, &c, &e))
			return -1;
		if (c.args[0] != set || c.ret < 0)
			continue;
		fd = (int32_t)c.args[2];
		known = event_data(&e, &e.v.in[3], 3, &is);
		if (found == fd && (c.args[1] == EPOLL_CTL_DEL || (known && is != data)))
			found = -1;
		if (c.args[1] == EPOLL_CTL_DEL || (known && is != data))
			continue;
		if (!known || (found >= 0 && found != fd))
			return -1; /* also where the other one was closed since */
		found = fd;
	}
	return found;
}

static int32_t ready(void *ctx, uint32_t thread, uint32_t call)
{
	struct ty_session *s = ctx;
	HOLD(s, reading);
	const int32_t tgid = ty_model_thread(s->model, thread)->tgid;
	uint32_t calls = READY_CALLS, gaps;
	const struct ty_gap_span *gap;
	struct epoll_calls v = {0};
	struct ty_call_rows *rows;
	struct ty_values e;
	struct ty_call c;
	uint64_t data;
	size_t first = SIZE_MAX;
	int32_t fd = -1;
	int r;

	if (call == TY_NONE || !values_of(s, thread, call, 6, &c, &e))
		return -1;
	if (e.row->n < 2 || e.row->a[1] != TY_ARG_EPOLL_OUT)
		return ty_values_ready(&e);
	if (c.ret != 1 || !event_data(&e, &e.v.out[1], 1, &data))
		return -1;
	rows = malloc(sizeof(*rows));
	r = rows ? 0 : -TY_ENOMEM;
	for (uint32_t i = 0; i < ty_model_summary(s->model)->threads && !r; i++)
		if (i == thread || (tgid >= 0 && ty_model_thread(s->model, i)->tgid == tgid))
			r = add_epoll_calls(s, i, (int64_t)c.args[0], c.end_ns, rows, &calls, &v);
	free(rows);
	vec_sort(&v, by_end);
	for (size_t i = 0; i < v.n; i++)
		first = v.v[i].makes ? i : first;
	gap = ty_model_gaps(s->model, &gaps); /* a registration may be lost */
	for (uint32_t i = 0; i < gaps && first != SIZE_MAX; i++)
		if (gap[i].from_ns < c.end_ns && gap[i].to_ns > v.v[first].end_ns)
			first = SIZE_MAX;
	if (!r && first != SIZE_MAX && v.n - first <= READY_CHANGES)
		fd = registered(s, v.v + first, v.n - first, c.args[0], data);
	vec_fini(&v);
	return fd;
}

static bool polled(void *ctx, uint32_t thread, uint32_t call, int32_t *fd, bool *room)
{
	struct ty_session *s = ctx;
	HOLD(s, reading);
	struct ty_values v;
	struct ty_call k;

	return values_of(s, thread, call, 2, &k, &v) && ty_values_polled(&v, fd, room);
}

static bool received(void *ctx, uint32_t thread, uint32_t call, unsigned i,
		     struct ty_fd_received *out)
{
	struct ty_session *s = ctx;
	HOLD(s, reading);
	const struct ty_syscall c = ty_model_syscall(s->model, call);
	const struct ty_sysrow *row = ty_syscall_row(s->arch, c.abi, c.nr);
	struct ty_call k;
	struct ty_ev_fd fd;
	uint64_t a[6];
	struct ty_buf b;
	bool r;

	(void)thread;
	if (!ty_call_data_counts(call_data(s)).received || read_args(s, &c, a))
		return false;
	k = call_of(s, &c, a);
	ty_buf_init(&b, TY_EV_BYTES + 64);
	r = ty_call_data_received(s->call_data, &k, i, &fd, &b);
	if (r)
		*out = (struct ty_fd_received){fd.fd, ty_sysrow_cloexec(row, a),
					       b.len && !b.failed ? kept_address(s, b.p, b.len)
								  : NULL};
	ty_buf_fini(&b);
	return r;
}

static const char *fd_before(void *ctx, int32_t pid, int32_t fd, bool *cloexec)
{
	const struct ty_session *s = ctx;
	const struct ty_fd_name *f = ty_fd_snapshot_find(s->fds, pid, fd);

	if (!f)
		return NULL;
	*cloexec = f->cloexec;
	return f->target;
}

static int32_t fd_listed(void *ctx, int32_t pid, int32_t from)
{
	const struct ty_session *s = ctx;

	return ty_fd_snapshot_from(s->fds, pid, from);
}

static bool fds_left_out(void *ctx, int32_t pid)
{
	const struct ty_session *s = ctx;

	return ty_fd_snapshot_left_out(s->fds, pid);
}

static bool fd_other(void *ctx, const char *name, char access, uint64_t t_ns, int32_t not_pid,
		     int32_t by_tid, struct ty_fd_other *out)
{
	struct ty_session *s = ctx;
	HOLD(s, reading);

	if (!s->others)
		s->others =
			ty_fd_others_new(ty_trace_section(s->trace, TY_SEC_FDS).s, call_data(s));
	return ty_fd_others_find(s->others, name, access, t_ns, not_pid, by_tid, out);
}

static bool listens(void *ctx, const char *at, size_t n)
{
	const struct ty_session *s = ctx;

	return ty_fd_snapshot_listens(s->fds, at, n);
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
	const struct ty_stack_frame *own, *outer;
	struct ty_buf b;

	if (!ty_session_stacks(s) ||
	    !ty_wait_stacks_of(s->stacks, tid, from_ns, to_ns, false, &frames))
		return false;
	own = ty_stack_frames_own(&frames);
	if (!own)
		return false;
	ty_buf_init(&b, 4096);
	ty_stack_frame_text(own, &b);
	outer = ty_stack_frames_named(&frames, own);
	if (outer)
		ty_buf_addf(&b, ", inside %s", outer->function);
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

void ty_session_titles(struct ty_session *s)
{
	const struct ty_call_data_index *strings;

	{
		HOLD(s, reading);

		if (s->titled == s->model)
			return;
		s->titled = s->model;
		strings = call_data(s);
	}
	/* Look-ups do not change the index: others may make them meanwhile. */
	ty_command_titles(s->model, ty_trace_section(s->trace, TY_SEC_COMMANDS).s, strings);
}

struct ty_explain ty_explain_session(struct ty_session *s)
{
	const char *facts = ty_trace_section(s->trace, TY_SEC_MACHINE).s;
	uint64_t tid = ty_key_u64(facts, "command_tid"), path = ty_key_u64(facts, "cut_path_tid"),
		 recorder = ty_key_u64(facts, "recorder_tid");
	const bool strings = has_call_data(s);
	char mode[16] = "";

	ty_key_value(facts, "mode", mode, sizeof(mode));
	if (!s->snapshot.n)
		find_lines(s);
	if (!s->fds)
		s->fds = ty_fd_snapshot_new(ty_trace_section(s->trace, TY_SEC_FDS).s);
	if (!s->held)
		s->held = ty_throttle_lines_new(ty_trace_section(s->trace, TY_SEC_QUOTA).s);
	if (!s->steal)
		s->steal = ty_steal_lines_new(ty_trace_section(s->trace, TY_SEC_STEAL).s);
	if (!s->ticks)
		find_ticks(s, facts);
	/* Without memory for it each look-up begins anew. */
	if (!s->locks && !s->fd_histories)
		s->fd_histories = ty_fd_histories_new(s->memory_bytes / HISTORIES_PART);
	if (!s->titles_later)
		ty_session_titles(s);
	return (struct ty_explain){.m = s->model,
				   .arch = s->arch,
				   .clock = s->clock,
				   .file = s->trace->path,
				   .args = args,
				   .args_in_model = true,
   .pointee = strings ? pointee : NULL,
				   .polled = strings ? polled : NULL,
				   .received = strings ? received : NULL,
				   .ready = strings ? ready : NULL,
				   .fd_before = ty_fd_snapshot_taken_ns(s->fds) ? fd_before : NULL,
				   .fd_listed = fd_listed,
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
				   .fds_since_ns = ty_fd_snapshot_since_ns(s->fds),
				   .fds_ns = ty_fd_snapshot_taken_ns(s->fds),
				   .fds_left_out = fds_left_out,
				   .listens = listens,
				   .fd_other = fd_other,
				   .fd_histories = s->fd_histories,
				   .ctx = s,
				   .command_tid = tid < INT32_MAX ? (int32_t)tid : 0,
				   .command_ns = !s->trace->begins_later && !s->trace->is_part
							 ? 0
							 : ty_key_u64(facts, "cut_command_ns")
								   ?: TY_COMMAND_UNKNOWN,
				   .path_tid = path < INT32_MAX ? (int32_t)path : 0,
				   .path_inferred = ty_key_value(facts, "cut_path_inferred", NULL, 0),
				   .whole_machine = !tid && !strcmp(mode, "all"),
				   .recorder_pid = recorder < INT32_MAX ? (int32_t)recorder : 0};
}
