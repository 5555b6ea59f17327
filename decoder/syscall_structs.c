/* SPDX-License-Identifier: MIT */
/*
 * See syscall_structs.h. Each structure is one function that names its members in order;
 * syscall_value_sink.c writes them as text or as JSON. Layouts: the kernel's uapi headers, 64-bit
 * ABIs (the recorder's hooks are not called for 32-bit callers), little-endian as all machines with
 * a recorder. Forms of text: strace 6.1.
 */
#include "syscall_structs.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "syscall_constants.h"

static void timespec(struct ty_value_sink *s, const char *key, struct ty_record_bytes v, size_t at,
		     bool micro)
{
	ty_sink_open(s, key, '{');
	ty_sink_int(s, "tv_sec", (int64_t)ty_record_get(v, at, 8));
	ty_sink_int(s, micro ? "tv_usec" : "tv_nsec", (int64_t)ty_record_get(v, at + 8, 8));
	ty_sink_close(s, '}');
}

static void itimer(struct ty_value_sink *s, struct ty_record_bytes v, bool micro)
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

static void rlimit(struct ty_value_sink *s, struct ty_record_bytes v)
{
	ty_sink_open(s, NULL, '{');
	limit(s, "rlim_cur", ty_record_get(v, 0, 8));
	limit(s, "rlim_max", ty_record_get(v, 8, 8));
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

/* "S_IFDIR|S_ISVTX|0777" */
static void mode(struct ty_value_sink *s, const char *key, uint32_t v)
{
	const char *type = ty_set_name(TY_SET_FILETYPE, v & S_IFMT);
	char text[64];

	snprintf(text, sizeof(text), "%s%s%s%s%s%#03o", type ? type : "", type ? "|" : "",
		 v & S_ISUID ? "S_ISUID|" : "", v & S_ISGID ? "S_ISGID|" : "",
		 v & S_ISVTX ? "S_ISVTX|" : "", v & (type ? 0777 : S_IFMT | 0777));
	ty_sink_word(s, key, text);
}

/* Up to st_size: x86 has st_nlink before st_mode. */
static void file_status(struct ty_value_sink *s, struct ty_record_bytes v, bool x86)
{
	const uint32_t st_mode = (uint32_t)ty_record_get(v, x86 ? 24 : 16, 4);
	const bool device = S_ISCHR(st_mode) || S_ISBLK(st_mode);

	ty_sink_open(s, NULL, '{');
	if (s->j) {
		ty_sink_uint(s, "st_dev", ty_record_get(v, 0, 8));
		ty_sink_uint(s, "st_ino", ty_record_get(v, 8, 8));
		ty_sink_uint(s, "st_nlink", ty_record_get(v, x86 ? 16 : 20, x86 ? 8 : 4));
		ty_sink_uint(s, "st_uid", ty_record_get(v, x86 ? 28 : 24, 4));
		ty_sink_uint(s, "st_gid", ty_record_get(v, x86 ? 32 : 28, 4));
	}
	mode(s, "st_mode", st_mode);
	if (device) {
		const uint64_t rdev = ty_record_get(v, x86 ? 40 : 32, 8);
		char text[64];

		snprintf(text, sizeof(text), "makedev(%#x, %#x)", major(rdev), minor(rdev));
		ty_sink_word(s, "st_rdev", text);
	} else {
		ty_sink_int(s, "st_size", (int64_t)ty_record_get(v, 48, 8));
	}
	if (!s->j)
		ty_sink_dots(s);
	ty_sink_close(s, '}');
}

/* Up to stx_size. */
static void extended_status(struct ty_value_sink *s, struct ty_record_bytes v)
{
	ty_sink_open(s, NULL, '{');
	ty_sink_set(s, "stx_mask", TY_SET_STATXMASK, ty_record_get(v, 0, 4));
	ty_sink_set(s, "stx_attributes", TY_SET_STATXATTR, ty_record_get(v, 8, 8));
	if (s->j) {
		ty_sink_uint(s, "stx_nlink", ty_record_get(v, 16, 4));
		ty_sink_uint(s, "stx_uid", ty_record_get(v, 20, 4));
		ty_sink_uint(s, "stx_gid", ty_record_get(v, 24, 4));
		ty_sink_uint(s, "stx_ino", ty_record_get(v, 32, 8));
	}
	mode(s, "stx_mode", (uint32_t)ty_record_get(v, 28, 2));
	ty_sink_uint(s, "stx_size", ty_record_get(v, 40, 8));
	if (!s->j)
		ty_sink_dots(s);
	ty_sink_close(s, '}');
}

/* The kernel's struct sigaction. */
static void signal_action(struct ty_value_sink *s, struct ty_record_bytes v)
{
	static const uint64_t restorer = 0x04000000;
	const uint64_t handler = ty_record_get(v, 0, 8), flags = ty_record_get(v, 8, 8);

	ty_sink_open(s, NULL, '{');
	if (handler <= 1)
		ty_sink_word(s, "sa_handler", handler ? "SIG_IGN" : "SIG_DFL");
	else
		ty_sink_ptr(s, "sa_handler", handler);
	sigset(s, "sa_mask", ty_record_get(v, 24, 8));
	ty_sink_set(s, "sa_flags", TY_SET_SIGACTION, flags);
	if (flags & restorer)
		ty_sink_ptr(s, "sa_restorer", ty_record_get(v, 16, 8));
	ty_sink_close(s, '}');
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
static void pollfds(struct ty_value_sink *s, struct ty_record_bytes v, bool revents)
{
	unsigned shown = 0;

	ty_sink_open(s, NULL, '[');
	for (size_t at = 0; v.n - at >= 8; at += 8) {
		const uint64_t events = ty_record_get(v, at + (revents ? 6 : 4), 2);

		if (revents && !events)
			continue;
		if (shown++ == TY_SINK_SHOWN) {
			v.cut = true;
			break;
		}
		ty_sink_open(s, NULL, '{');
		if (revents && !s->j) /* as strace */
			ty_sink_int(s, "fd", (int32_t)ty_record_get(v, at, 4));
		else
			ty_sink_fd(s, "fd", (int32_t)ty_record_get(v, at, 4));
		ty_sink_set(s, revents ? "revents" : "events", TY_SET_POLL, events);
		ty_sink_close(s, '}');
	}
	if (v.cut)
		ty_sink_dots(s);
	ty_sink_close(s, ']');
}

static void epoll_event(struct ty_value_sink *s, struct ty_record_bytes v, size_t at,
			unsigned bytes)
{
	const size_t data = at + bytes - 8;

	ty_sink_open(s, NULL, '{');
	ty_sink_set(s, "events", TY_SET_EPOLL, ty_record_get(v, at, 4));
	ty_sink_open(s, "data", '{');
	ty_sink_uint(s, "u32", ty_record_get(v, data, 4));
	ty_sink_uint(s, "u64", ty_record_get(v, data, 8));
	ty_sink_close(s, '}');
	ty_sink_close(s, '}');
}

static void epoll_events(struct ty_value_sink *s, struct ty_record_bytes v, unsigned bytes)
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
static void fd_set_bits(struct ty_value_sink *s, const char *key, struct ty_record_bytes v,
			uint32_t bits, bool names)
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
static void iovecs(struct ty_value_sink *s, const char *key, struct ty_record_bytes v, unsigned arg,
		   bool at_exit, uint64_t left)
{
	ty_sink_open(s, key, '[');
	for (size_t at = 0, i = 0; v.n - at >= 16; at += 16, i++) {
		const uint64_t base = ty_record_get(v, at, 8), len = ty_record_get(v, at + 8, 8),
			       full = len < left ? len : left;
		struct ty_record_bytes d = {0};

		if (i == TY_SINK_SHOWN) {
			v.cut = true;
			break;
		}
		if (base && full) {
			struct ty_call_data_item m =
				ty_call_data_memory(&s->o->v, arg, base, at_exit);

			d = ty_record_bytes_of(&m);
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

/* Of the descriptors in v, if one is known. */
static void json_names(struct ty_value_sink *s, const char *key, struct ty_record_bytes v)
{
	bool any = false;

	for (size_t i = 0; s->j && v.n - i >= 4; i += 4)
		any |= ty_values_fd_name(s->o, (int32_t)ty_record_get(v, i, 4)) != NULL;
	if (!any)
		return;
	ty_json_array(s->j, key);
	for (size_t i = 0; v.n - i >= 4; i += 4)
		ty_json_str(s->j, NULL, ty_values_fd_name(s->o, (int32_t)ty_record_get(v, i, 4)));
	ty_json_end_array(s->j);
}

static void control(struct ty_value_sink *s, struct ty_record_bytes v)
{
	ty_sink_open(s, "msg_control", '[');
	for (size_t at = 0, n; (n = ty_control_size(v, at)); at += (n + 7) & ~(size_t)7) {
		const uint64_t level = ty_record_get(v, at + 8, 4),
			       type = ty_record_get(v, at + 12, 4);

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
				ty_sink_fd(s, NULL, (int32_t)ty_record_get(v, at + i, 4));
			ty_sink_close(s, ']');
			json_names(s, "cmsg_data_names",
				   (struct ty_record_bytes){v.p + at + 16, n - 16, false});
		} else if (level == 1 && type == 2 && n >= 28) {
			ty_sink_open(s, "cmsg_data", '{');
			ty_sink_int(s, "pid", (int32_t)ty_record_get(v, at + 16, 4));
			ty_sink_uint(s, "uid", ty_record_get(v, at + 20, 4));
			ty_sink_uint(s, "gid", ty_record_get(v, at + 24, 4));
			ty_sink_close(s, '}');
		}
		ty_sink_close(s, '}');
	}
	if (v.cut)
		ty_sink_dots(s);
	ty_sink_close(s, ']');
}

/* A socket's; JSON has the text. */
static void address(struct ty_value_sink *s, const char *key, const struct ty_call_data_item *it)
{
	struct ty_call_data_item a = *it;

	a.kind = TY_EVK_SOCKADDR;
	ty_sink_next(s, key);
	if (s->j)
		ty_buf_reset(s->b);
	ty_call_data_text(&a, s->b);
	if (s->j)
		ty_json_strn(s->j, key, s->b->p ? s->b->p : "", s->b->len);
}

/* struct user_msghdr. left: of the buffers' bytes. */
static void message(struct ty_value_sink *s, const char *key, struct ty_record_bytes v,
		    unsigned arg, bool at_exit, uint64_t left)
{
	const struct ty_call_data_values *e = &s->o->v;
	const uint64_t name = ty_record_get(v, 0, 8), iov = ty_record_get(v, 16, 8),
		       ctl = ty_record_get(v, 32, 8);
	const struct ty_call_data_item addr = ty_call_data_memory(e, arg, name, at_exit),
				       vec = ty_call_data_memory(e, arg, iov, at_exit),
				       c = ty_call_data_memory(e, arg, ctl, at_exit);

	ty_sink_open(s, key, '{');
	if (name && addr.p && ty_record_get(v, 8, 4)) {
		address(s, "msg_name", &addr);
	} else {
		ty_sink_ptr(s, "msg_name", name);
	}
	ty_sink_uint(s, "msg_namelen", ty_record_get(v, 8, 4));
	if (iov && vec.p)
		iovecs(s, "msg_iov", ty_record_bytes_of(&vec), arg, at_exit, left);
	else
		ty_sink_ptr(s, "msg_iov", iov);
	ty_sink_uint(s, "msg_iovlen", ty_record_get(v, 24, 8));
	if (ctl && c.p && ty_record_get(v, 40, 8))
		control(s, ty_record_bytes_of(&c));
	else if (ty_record_get(v, 40, 8))
		ty_sink_ptr(s, "msg_control", ctl);
	ty_sink_uint(s, "msg_controllen", ty_record_get(v, 40, 8));
	ty_sink_set(s, "msg_flags", TY_SET_MSG, ty_record_get(v, 48, 4));
	ty_sink_close(s, '}');
}

/* struct mmsghdr; those beyond the result have no length. */
static void messages(struct ty_value_sink *s, struct ty_record_bytes v, unsigned arg, bool received)
{
	const int64_t ret = s->o->call->ret;
	int64_t i = 0;

	ty_sink_open(s, NULL, '[');
	for (size_t at = 0; v.n - at >= 64; at += 64, i++) {
		const uint64_t len = ty_record_get(v, at + 56, 4);

		ty_sink_open(s, NULL, '{');
		message(s, "msg_hdr", (struct ty_record_bytes){v.p + at, 56, false}, arg, true,
			received ? len : UINT64_MAX);
		if (i < ret)
			ty_sink_uint(s, "msg_len", len);
		ty_sink_close(s, '}');
	}
	if (v.cut)
		ty_sink_dots(s);
	ty_sink_close(s, ']');
}

bool ty_struct_put(struct ty_value_sink *s, unsigned i, const struct ty_call_data_item *it)
{
	const struct ty_values *o = s->o;
	const struct ty_record_bytes v = ty_record_bytes_of(it);
	const struct ty_pointee p = ty_values_pointee(o, i);
	const bool at_exit = it->flags & TY_EVF_EXIT;
	const uint8_t kind = o->row->a[i];
	const int64_t ret = o->call->ret;
	const uint64_t left = !at_exit ? UINT64_MAX : ret > 0 ? (uint64_t)ret : 0;
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
	case TY_ARG_IOV_OUT: iovecs(s, NULL, v, i, at_exit, left); break;
	case TY_ARG_MSG_IN:
	case TY_ARG_MSG_OUT: message(s, NULL, v, i, at_exit, left); break;
	case TY_ARG_MMSG_IN:
	case TY_ARG_MMSG_OUT: messages(s, v, i, kind == TY_ARG_MMSG_OUT); break;
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
	case TY_ARG_SIGSET_OUT: sigset(s, NULL, ty_record_get(v, 0, 8)); break;
	case TY_ARG_SIGSET_ARG:
		ty_sink_open(s, NULL, '{');
		ty_sink_ptr(s, "sigmask", ty_record_get(v, 0, 8));
		ty_sink_uint(s, "sigsetsize", ty_record_get(v, 8, 8));
		ty_sink_close(s, '}');
		break;
	case TY_ARG_WSTATUS_OUT: status(s, (uint32_t)ty_record_get(v, 0, 4)); break;
	case TY_ARG_STAT_OUT: file_status(s, v, ty_sysarch_os(o->arch) == TY_ARGOS_X86); break;
	case TY_ARG_STATX_OUT: extended_status(s, v); break;
	case TY_ARG_SIGACTION_IN:
	case TY_ARG_SIGACTION_OUT: signal_action(s, v); break;
	case TY_ARG_ADDR_OUT:
		if (it->kind != TY_EVK_ADDRESS || v.n < 2)
			return false;
		address(s, NULL, it);
		break;
	case TY_ARG_INT_IO:
		if (it->kind != TY_EVK_ADDRESS)
			return false;
		if (s->j)
			ty_sink_uint(s, NULL, ty_record_get(v, 4, 4));
		else if (ty_record_get(v, 0, 4) == ty_record_get(v, 4, 4))
			ty_buf_addf(s->b, "[%d]", (int)ty_record_get(v, 4, 4));
		else
			ty_buf_addf(s->b, "[%d => %d]", (int)ty_record_get(v, 0, 4),
				    (int)ty_record_get(v, 4, 4));
		break;
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
