/* SPDX-License-Identifier: MIT */
/*
 * See syscall_values.h. Each structure is one function that names its members in order;
 * syscall_value_sink.c writes them as text or as JSON. Layouts: the kernel's uapi headers, 64-bit
 * ABIs (the recorder's hooks are not called for 32-bit callers), little-endian as all machines with
 * a recorder. Forms of text: strace 6.1.
 */
#include "syscall_values.h"

#include <stdio.h>
#include <string.h>

#include "syscall_constants.h"
#include "syscall_value_sink.h"

/* The bytes of an array's or a structure's record; short ones read as absent. */
struct bytes {
	const char *p;
	size_t n;
	bool cut;
};

static uint64_t get(struct bytes v, size_t at, unsigned bytes)
{
	uint64_t r = 0;

	if (at > v.n || v.n - at < bytes)
		return 0;
	memcpy(&r, v.p + at, bytes);
	return r;
}

static struct bytes bytes_of(const struct ty_call_data_item *i)
{
	return (struct bytes){i->p, i->p ? i->len : 0, i->flags & TY_EVF_CUT};
}

/* structures ---------------------------------------------------------------------------------- */

static void timespec(struct ty_value_sink *s, const char *key, struct bytes v, size_t at,
		     bool micro)
{
	ty_sink_open(s, key, '{');
	ty_sink_int(s, "tv_sec", (int64_t)get(v, at, 8));
	ty_sink_int(s, micro ? "tv_usec" : "tv_nsec", (int64_t)get(v, at + 8, 8));
	ty_sink_close(s, '}');
}

static void itimer(struct ty_value_sink *s, struct bytes v, bool micro)
{
	ty_sink_open(s, NULL, '{');
	timespec(s, "it_interval", v, 0, micro);
	timespec(s, "it_value", v, 16, micro);
	ty_sink_close(s, '}');
}

static void limit(struct ty_value_sink *s, const char *key, uint64_t v)
{
	if (v == UINT64_MAX) {
		ty_sink_word(s, key, "RLIM64_INFINITY");
	} else if (!s->j && v > 1024 && v % 1024 == 0) {
		ty_sink_uint(s, key, v / 1024);
		ty_buf_adds(s->b, "*1024");
	} else {
		ty_sink_uint(s, key, v);
	}
}

static void rlimit(struct ty_value_sink *s, struct bytes v)
{
	ty_sink_open(s, NULL, '{');
	limit(s, "rlim_cur", get(v, 0, 8));
	limit(s, "rlim_max", get(v, 8, 8));
	ty_sink_close(s, '}');
}

/* As strace: without SIG; where two thirds are set, those that are not. */
static void sigset(struct ty_value_sink *s, const char *key, uint64_t v)
{
	const bool most = __builtin_popcountll(v) >= 64 * 2 / 3;
	bool any = false;

	if (!s->j && most) {
		ty_sink_next(s, key);
		ty_buf_addc(s->b, '~');
		v = ~v;
		key = NULL;
		s->more = false;
	}
	ty_sink_open(s, key, '[');
	for (unsigned i = 1; i <= 64; i++) {
		char name[16];
		const char *known = ty_set_name(TY_SET_SIGNAL, i);

		if (!(v >> (i - 1) & 1))
			continue;
		if (known)
			snprintf(name, sizeof(name), "%s", known + (s->j ? 0 : 3));
		else
			snprintf(name, sizeof(name), "%sRT_%u", s->j ? "SIG" : "", i - 32);
		if (s->j) {
			ty_json_str(s->j, NULL, name);
			continue;
		}
		if (any)
			ty_buf_addc(s->b, ' ');
		any = true;
		ty_buf_adds(s->b, name);
	}
	ty_sink_close(s, ']');
}

/* The status of wait(2). */
static void status(struct ty_value_sink *s, uint32_t v)
{
	const bool exited = !(v & 0x7f), continued = (v & 0xffff) == 0xffff,
		   stopped = !continued && (v & 0xff) == 0x7f, dumped = v & 0x80;
	const unsigned sig = stopped ? v >> 8 & 0x7f : v & 0x7f;

	ty_sink_open(s, NULL, '[');
	if (s->j) {
		ty_json_object(s->j, NULL);
		if (exited)
			ty_sink_uint(s, "exited", v >> 8 & 0xff);
		else if (continued)
			ty_json_bool(s->j, "continued", true);
		else
			ty_sink_set(s, stopped ? "stopped" : "killed", TY_SET_SIGNAL, sig);
		if (!exited && !continued && !stopped && dumped)
			ty_json_bool(s->j, "core_dumped", true);
		if (stopped && v >> 16)
			ty_sink_uint(s, "event", v >> 16);
		ty_json_end_object(s->j);
	} else if (exited) {
		ty_buf_addf(s->b, "{WIFEXITED(s) && WEXITSTATUS(s) == %u}", v >> 8 & 0xff);
	} else if (continued) {
		ty_buf_adds(s->b, "{WIFCONTINUED(s)}");
	} else {
		ty_buf_adds(s->b, stopped ? "{WIFSTOPPED(s) && WSTOPSIG(s) == "
					  : "{WIFSIGNALED(s) && WTERMSIG(s) == ");
		ty_set_text(TY_SET_SIGNAL, sig, s->b);
		if (stopped && v & 0x8000)
			ty_buf_adds(s->b, " | 0x80");
		ty_buf_adds(s->b, !stopped && dumped ? " && WCOREDUMP(s)}" : "}");
	}
	if (!s->j && v >> 16)
		ty_buf_addf(s->b, " | %#x", v & 0xffff0000);
	ty_sink_close(s, ']');
}

/* revents: those that have any, with them. */
static void pollfds(struct ty_value_sink *s, struct bytes v, bool revents)
{
	unsigned shown = 0;

	ty_sink_open(s, NULL, '[');
	for (size_t at = 0; v.n - at >= 8; at += 8) {
		const uint64_t events = get(v, at + (revents ? 6 : 4), 2);

		if (revents && !events)
			continue;
		if (shown++ == TY_SINK_SHOWN) {
			v.cut = true;
			break;
		}
		ty_sink_open(s, NULL, '{');
		if (revents)
			ty_sink_int(s, "fd", (int32_t)get(v, at, 4));
		else
			ty_sink_fd(s, "fd", (int32_t)get(v, at, 4));
		ty_sink_set(s, revents ? "revents" : "events", TY_SET_POLL, events);
		ty_sink_close(s, '}');
	}
	if (v.cut)
		ty_sink_dots(s);
	ty_sink_close(s, ']');
}

static void epoll_event(struct ty_value_sink *s, struct bytes v, size_t at, unsigned bytes)
{
	const size_t data = at + bytes - 8;

	ty_sink_open(s, NULL, '{');
	ty_sink_set(s, "events", TY_SET_EPOLL, get(v, at, 4));
	ty_sink_open(s, "data", '{');
	ty_sink_uint(s, "u32", get(v, data, 4));
	ty_sink_uint(s, "u64", get(v, data, 8));
	ty_sink_close(s, '}');
	ty_sink_close(s, '}');
}

static void epoll_events(struct ty_value_sink *s, struct bytes v, unsigned bytes)
{
	ty_sink_open(s, NULL, '[');
	for (size_t at = 0, i = 0; v.n - at >= bytes; at += bytes, i++) {
		if (i == TY_SINK_SHOWN) {
			v.cut = true;
			break;
		}
		epoll_event(s, v, at, bytes);
	}
	if (v.cut)
		ty_sink_dots(s);
	ty_sink_close(s, ']');
}

/* names: of descriptors that the call waits for. */
static void fd_set_bits(struct ty_value_sink *s, const char *key, struct bytes v, uint32_t bits,
			bool names)
{
	bool any = false;

	ty_sink_open(s, key, '[');
	for (uint32_t fd = 0; fd < bits && fd / 8 < v.n; fd++) {
		if (!((unsigned char)v.p[fd / 8] >> fd % 8 & 1))
			continue;
		if (any && !s->j)
			ty_buf_addc(s->b, ' ');
		any = true;
		s->more = false;
		if (names)
			ty_sink_fd(s, NULL, (int32_t)fd);
		else
			ty_sink_int(s, NULL, fd);
	}
	s->more = any;
	if (v.cut)
		ty_sink_dots(s);
	ty_sink_close(s, ']');
}

/* left: of the buffers' bytes; the rest holds nothing. */
static void iovecs(struct ty_value_sink *s, const char *key, struct bytes v, unsigned arg,
		   bool at_exit, uint64_t left)
{
	ty_sink_open(s, key, '[');
	for (size_t at = 0, i = 0; v.n - at >= 16; at += 16, i++) {
		const uint64_t base = get(v, at, 8), len = get(v, at + 8, 8),
			       full = len < left ? len : left;
		struct bytes d = {0};

		if (i == TY_SINK_SHOWN) {
			v.cut = true;
			break;
		}
		if (base && full) {
			struct ty_call_data_item m =
				ty_call_data_memory(&s->o->v, arg, base, at_exit);

			d = bytes_of(&m);
		}
		left -= full;
		ty_sink_open(s, NULL, '{');
		if (d.p)
			ty_sink_data(s, "iov_base", d.p, d.n, d.n < full);
		else if (base && (!len || (!full && at_exit)) && !s->j)
			ty_sink_word(s, "iov_base", "\"\"");
		else
			ty_sink_ptr(s, "iov_base", base);
		ty_sink_uint(s, "iov_len", len);
		ty_sink_close(s, '}');
	}
	if (v.cut)
		ty_sink_dots(s);
	ty_sink_close(s, ']');
}

/* Size of the control message at `at`, 0 at the end. */
static size_t control_size(struct bytes v, size_t at)
{
	const uint64_t n = at <= v.n && v.n - at >= 16 ? get(v, at, 8) : 0;

	return n >= 16 && n <= v.n - at ? (size_t)n : 0;
}

static void control(struct ty_value_sink *s, struct bytes v, bool names)
{
	ty_sink_open(s, "msg_control", '[');
	for (size_t at = 0, n; (n = control_size(v, at)); at += (n + 7) & ~(size_t)7) {
		const uint64_t level = get(v, at + 8, 4), type = get(v, at + 12, 4);

		ty_sink_open(s, NULL, '{');
		ty_sink_uint(s, "cmsg_len", n);
		ty_sink_set(s, "cmsg_level", TY_SET_SOL, level);
		if (level != 1) /* SOL_SOCKET */
			ty_sink_ptr(s, "cmsg_type", type);
		else
			ty_sink_set(s, "cmsg_type", TY_SET_SCM, type);
		if (level == 1 && type == 1) {
			ty_sink_open(s, "cmsg_data", '[');
			for (size_t i = 16; n - i >= 4; i += 4)
				if (names)
					ty_sink_fd(s, NULL, (int32_t)get(v, at + i, 4));
				else
					ty_sink_int(s, NULL, (int32_t)get(v, at + i, 4));
			ty_sink_close(s, ']');
		} else if (level == 1 && type == 2 && n >= 28) {
			ty_sink_open(s, "cmsg_data", '{');
			ty_sink_int(s, "pid", (int32_t)get(v, at + 16, 4));
			ty_sink_uint(s, "uid", get(v, at + 20, 4));
			ty_sink_uint(s, "gid", get(v, at + 24, 4));
			ty_sink_close(s, '}');
		}
		ty_sink_close(s, '}');
	}
	if (v.cut)
		ty_sink_dots(s);
	ty_sink_close(s, ']');
}

/* struct user_msghdr */
static void message(struct ty_value_sink *s, struct bytes v, unsigned arg, bool at_exit)
{
	const struct ty_call_data_values *e = &s->o->v;
	const uint64_t name = get(v, 0, 8), iov = get(v, 16, 8), ctl = get(v, 32, 8);
	const struct ty_call_data_item addr = ty_call_data_memory(e, arg, name, at_exit),
				       vec = ty_call_data_memory(e, arg, iov, at_exit),
				       c = ty_call_data_memory(e, arg, ctl, at_exit);
	const int64_t ret = s->o->call->ret;

	ty_sink_open(s, NULL, '{');
	if (name && addr.p && get(v, 8, 4)) {
		struct ty_call_data_item a = addr;

		a.kind = TY_EVK_SOCKADDR;
		ty_sink_next(s, "msg_name");
		if (s->j)
			ty_buf_reset(s->b);
		ty_call_data_text(&a, s->b);
		if (s->j)
			ty_json_strn(s->j, "msg_name", s->b->p ? s->b->p : "", s->b->len);
	} else {
		ty_sink_ptr(s, "msg_name", name);
	}
	ty_sink_uint(s, "msg_namelen", get(v, 8, 4));
	if (iov && vec.p)
		iovecs(s, "msg_iov", bytes_of(&vec), arg, at_exit,
		       !at_exit	 ? UINT64_MAX
		       : ret > 0 ? (uint64_t)ret
				 : 0);
	else
		ty_sink_ptr(s, "msg_iov", iov);
	ty_sink_uint(s, "msg_iovlen", get(v, 24, 8));
	if (ctl && c.p && get(v, 40, 8))
		control(s, bytes_of(&c), !at_exit);
	else if (get(v, 40, 8))
		ty_sink_ptr(s, "msg_control", ctl);
	ty_sink_uint(s, "msg_controllen", get(v, 40, 8));
	ty_sink_set(s, "msg_flags", TY_SET_MSG, get(v, 48, 4));
	ty_sink_close(s, '}');
}

/* the call ------------------------------------------------------------------------------------ */

bool ty_values_find(struct ty_values *o, const struct ty_sysarch *arch,
		    const struct ty_call_data_index *x, const struct ty_call *c, uint64_t after_ns)
{
	memset(o, 0, sizeof(*o));
	o->arch = arch;
	o->call = c;
	o->row = ty_syscall_row(arch, c->abi, c->nr);
	if (!x || !o->row->points || ty_sysarch_bits32(arch, c->abi))
		return false;
	ty_call_data_values(x, c, after_ns, &o->v);
	for (unsigned i = 0; i < 6; i++)
		if (o->v.in[i].p || o->v.out[i].p)
			return true;
	return false;
}

static struct ty_pointee pointee(const struct ty_values *o, unsigned i)
{
	return ty_arg_pointee(o->row->a[i], ty_sysarch_os(o->arch), false);
}

static bool is_poll(const struct ty_values *o)
{
	return o->row->ret == TY_RET_POLL;
}

/* An argument that the kernel reads may be recorded at exit, unless it is written there, too. */
static struct ty_call_data_item value_of(const struct ty_values *o, unsigned i)
{
	const struct ty_call_data_item none = {0};
	const struct ty_pointee p = pointee(o, i);

	if (o->v.in[i].p)
		return o->v.in[i];
	if (is_poll(o))
		return none;
	for (unsigned k = 0; p.in && !p.out && k < o->row->n; k++)
		if (k != i && pointee(o, k).out && o->call->args[k] == o->call->args[i])
			return none;
	return o->v.out[i];
}

/* False: its record is too short, or of no known structure. */
static bool put_value(struct ty_value_sink *s, unsigned i, const struct ty_call_data_item *it)
{
	const struct ty_values *o = s->o;
	const struct bytes v = bytes_of(it);
	const struct ty_pointee p = pointee(o, i);
	const bool at_exit = it->flags & TY_EVF_EXIT;
	const uint8_t kind = o->row->a[i];
	const int64_t ret = o->call->ret;
	uint64_t full;

	if (!v.p || (p.bytes > 1 && v.n < p.bytes && !p.counted))
		return false;
	switch (kind) {
	case TY_ARG_BUF_IN:
	case TY_ARG_BUF_OUT:
		full = kind == TY_ARG_BUF_IN ? o->call->args[i + 1] : (uint64_t)ret;
		ty_sink_data(s, NULL, v.p, v.n, v.n < full);
		break;
	case TY_ARG_IOV_IN:
	case TY_ARG_IOV_OUT:
		iovecs(s, NULL, v, i, at_exit, !at_exit ? UINT64_MAX : ret > 0 ? (uint64_t)ret : 0);
		break;
	case TY_ARG_MSG_IN:
	case TY_ARG_MSG_OUT: message(s, v, i, at_exit); break;
	case TY_ARG_TIME_IN:
	case TY_ARG_TIME_OUT:
	case TY_ARG_TIME64_IN:
	case TY_ARG_TIME64_OUT: timespec(s, NULL, v, 0, false); break;
	case TY_ARG_TIMEVAL_IN:
	case TY_ARG_TIMEVAL_OUT: timespec(s, NULL, v, 0, true); break;
	case TY_ARG_ITIMERSPEC_IN:
	case TY_ARG_ITIMERSPEC_OUT: itimer(s, v, false); break;
	case TY_ARG_ITIMERVAL_IN:
	case TY_ARG_ITIMERVAL_OUT: itimer(s, v, true); break;
	case TY_ARG_RLIMIT_IN:
	case TY_ARG_RLIMIT_OUT: rlimit(s, v); break;
	case TY_ARG_SIGSET_IN:
	case TY_ARG_SIGSET_OUT: sigset(s, NULL, get(v, 0, 8)); break;
	case TY_ARG_SIGSET_ARG:
		ty_sink_open(s, NULL, '{');
		ty_sink_ptr(s, "sigmask", get(v, 0, 8));
		ty_sink_uint(s, "sigsetsize", get(v, 8, 8));
		ty_sink_close(s, '}');
		break;
	case TY_ARG_WSTATUS_OUT: status(s, (uint32_t)get(v, 0, 4)); break;
	case TY_ARG_POLLFD: pollfds(s, v, at_exit); break;
	case TY_ARG_FDSET: fd_set_bits(s, NULL, v, (uint32_t)o->call->args[0], !at_exit); break;
	case TY_ARG_EPOLL_IN:
		if ((uint32_t)o->call->args[1] == 2) /* EPOLL_CTL_DEL reads nothing */
			return false;
		epoll_event(s, v, 0, p.bytes);
		break;
	case TY_ARG_EPOLL_OUT: epoll_events(s, v, p.bytes); break;
	default: return false;
	}
	return true;
}

/* Those of the arguments before `end`. */
static unsigned list_fds(const struct ty_values *o, unsigned end, int32_t fds[TY_VALUES_FDS])
{
	unsigned n = 0;

	for (unsigned i = 0; i < end; i++) {
		struct bytes v = bytes_of(&o->v.in[i]);

		if (!v.p)
			continue;
		if (o->row->a[i] == TY_ARG_POLLFD)
			for (size_t at = 0; v.n - at >= 8 && n < TY_VALUES_FDS; at += 8)
				fds[n++] = (int32_t)get(v, at, 4);
		if (o->row->a[i] == TY_ARG_FDSET)
			for (uint32_t fd = 0; fd < (uint32_t)o->call->args[0] && fd / 8 < v.n; fd++)
				if ((unsigned char)v.p[fd / 8] >> fd % 8 & 1 && n < TY_VALUES_FDS)
					fds[n++] = (int32_t)fd;
		if (o->row->a[i] == TY_ARG_MSG_IN && v.n >= 56) {
			struct ty_call_data_item c =
				ty_call_data_memory(&o->v, i, get(v, 32, 8), false);
			size_t m;

			v = bytes_of(&c);
			for (size_t at = 0; (m = control_size(v, at)); at += (m + 7) & ~(size_t)7)
				for (size_t k = 16; get(v, at + 8, 8) == (1ull << 32 | 1) &&
						    m - k >= 4 && n < TY_VALUES_FDS;
				     k += 4)
					fds[n++] = (int32_t)get(v, at + k, 4);
		}
	}
	return n;
}

unsigned ty_values_fds(const struct ty_values *o, int32_t fds[TY_VALUES_FDS])
{
	return list_fds(o, o->row->n, fds);
}

int32_t ty_values_ready(const struct ty_values *o)
{
	int32_t ready = -1;

	for (unsigned i = 0; i < o->row->n && is_poll(o); i++) {
		const struct bytes v = bytes_of(&o->v.out[i]);
		const bool set = o->row->a[i] == TY_ARG_FDSET;
		const uint32_t n = o->row->a[i] == TY_ARG_POLLFD ? (uint32_t)(v.n / 8)
				   : set			 ? (uint32_t)o->call->args[0]
								 : 0;

		for (uint32_t k = 0; v.p && k < n && k / 8 < v.n; k++) {
			if (set ? !((unsigned char)v.p[k / 8] >> k % 8 & 1)
				: !get(v, (size_t)k * 8 + 6, 2))
				continue;
			if (ready >= 0 || v.cut)
				return -1;
			ready = set ? (int32_t)k : (int32_t)get(v, (size_t)k * 8, 4);
		}
	}
	return ready;
}

bool ty_values_arg(const struct ty_values *o, unsigned i, struct ty_buf *out)
{
	const struct ty_call_data_item it = value_of(o, i);
	int32_t before[TY_VALUES_FDS];
	struct ty_value_sink s = {.b = out, .o = o};

	if (o->row->a[i] == TY_ARG_FDSET)
		s.fd = list_fds(o, i, before);
	return put_value(&s, i, &it);
}

bool ty_values_after(const struct ty_values *o, struct ty_buf *out)
{
	static const char *const sets[] = {NULL, "in ", "out ", "except "};
	bool any = false;

	for (unsigned i = 0; is_poll(o) && i < o->row->n; i++) {
		const struct ty_call_data_item *it = &o->v.out[i];
		const uint8_t kind = o->row->a[i];
		struct ty_value_sink s = {.b = out, .o = o};
		bool empty = kind == TY_ARG_FDSET;

		if (!it->p || (kind != TY_ARG_POLLFD && it->len < pointee(o, i).bytes))
			continue;
		for (size_t at = 0; at < it->len; at++)
			empty &= !it->p[at];
		if (empty)
			continue;
		ty_buf_adds(out, any ? ", " : " (");
		ty_buf_adds(out, kind == TY_ARG_FDSET && i < 4 ? sets[i]
				 : kind == TY_ARG_POLLFD       ? ""
							       : "left ");
		any |= put_value(&s, i, it);
	}
	if (any)
		ty_buf_addc(out, ')');
	return any;
}

static void json_args(const struct ty_values *o, const char *key, bool after,
		      struct ty_buf *scratch, struct ty_json *j)
{
	struct ty_value_sink s = {.b = scratch, .j = j, .o = o};
	bool any = false;

	for (unsigned i = 0; i < o->row->n; i++)
		any |= after ? o->v.out[i].p != NULL : value_of(o, i).p != NULL;
	if (!any || (after && !is_poll(o)))
		return;
	ty_json_array(j, key);
	for (unsigned i = 0; i < o->row->n; i++) {
		const struct ty_call_data_item it = after ? o->v.out[i] : value_of(o, i);

		if (!put_value(&s, i, &it))
			ty_json_null(j, NULL);
	}
	ty_json_end_array(j);
}

void ty_values_json(const struct ty_values *o, struct ty_buf *scratch, struct ty_json *j)
{
	json_args(o, "values", false, scratch, j);
	json_args(o, "values_out", true, scratch, j);
}
