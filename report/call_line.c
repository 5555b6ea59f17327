/* SPDX-License-Identifier: MIT */
/*
 * See call_line.h. Columns follow strace: pid padded to 5, results from column 40 after the time
 * on. Missing facts are stated in angle brackets in place of the duration. A caller whose ABI is
 * unknown, or not the machine's own, is marked in square brackets at the end.
 */
#include "call_line.h"

#include <string.h>

#include "unix_peer.h"

#define RESULT_COLUMN 40

static bool has_result(const struct ty_call *c)
{
	return c->how == TY_CALL_RETURNED || ty_call_end_only(c);
}

static void add_tid(struct ty_buf *b, int32_t tid)
{
	char t[16];
	unsigned n = 0, v = (unsigned)tid, len;

	for (unsigned x = v; x || !n; x /= 10)
		n++;
	len = n < 5 ? 5 : n;
	memset(t, ' ', sizeof(t));
	while (n--) {
		t[n] = (char)('0' + v % 10);
		v /= 10;
	}
	ty_buf_add(b, t, len + 1);
}

/* " <0.000123>" */
static void add_duration(struct ty_buf *b, uint64_t ns)
{
	char t[32];
	unsigned n = sizeof(t);
	uint64_t us = ns / 1000, s = us / 1000000;

	us %= 1000000;
	t[--n] = '>';
	for (unsigned i = 0; i < 6; i++, us /= 10)
		t[--n] = (char)('0' + us % 10);
	t[--n] = '.';
	do
		t[--n] = (char)('0' + s % 10);
	while (s /= 10);
	t[--n] = '<';
	t[--n] = ' ';
	ty_buf_add(b, t + n, sizeof(t) - n);
}

static void pad_to_result(struct ty_buf *b, size_t start)
{
	static const char blanks[RESULT_COLUMN + 1] = "                                        ";
	size_t col = b->len - start;

	if (col < RESULT_COLUMN)
		ty_buf_add(b, blanks, RESULT_COLUMN - col);
}

static const char *abi_mark(const struct ty_sysarch *arch, const struct ty_call *c)
{
	char a[32], b[32];

	switch (c->abi) {
	case TY_ABI_COMPAT32: return " [32-bit]";
	case TY_ABI_X32: return " [x32]";
	case TY_ABI_UNSURE:
		/* Not needed where both mean the same. */
		return strcmp(ty_syscall_name(arch, TY_ABI_NATIVE64, c->nr, a),
			      ty_syscall_name(arch, TY_ABI_COMPAT32, c->nr, b))
			       ? " [or, from a 32-bit program: "
			       : "";
	default: return "";
	}
}

static void add_result(const struct ty_sysarch *arch, const struct ty_call *c,
		       const struct ty_arg_names *names, struct ty_buf *b)
{
	bool exits = ty_syscall_class(arch, c->abi, c->nr) == TY_SC_EXIT;

	ty_buf_adds(b, "= ");
	if (has_result(c))
		ty_syscall_fmt_result(arch, c->abi, c->nr, ty_call_end_only(c) ? NULL : c->args,
				      c->ret, b);
	else
		ty_buf_addc(b, '?');
	if (names && names->result)
		ty_syscall_fmt_fd_name(names->result, b);
	if (names && names->after)
		ty_buf_adds(b, names->after);
	switch ((enum ty_call_how)c->how) {
	case TY_CALL_RETURNED:
		add_duration(b, c->end_ns - c->start_ns);
		if (c->gap_inside)
			ty_buf_adds(b, " <events were lost during it>");
		break;
	case TY_CALL_NO_ENTER_BEFORE:
		ty_buf_adds(b, " <unknown: began before the recording>");
		break;
	case TY_CALL_NO_ENTER_LOST:
		ty_buf_adds(b, " <unknown because of lost events: beginning>");
		break;
	case TY_CALL_NO_ENTER:
		ty_buf_adds(b, " <unknown: beginning not recorded (refused by seccomp or a "
			       "tracer?)>");
		break;
	case TY_CALL_END_LOST:
		if (!exits)
			ty_buf_adds(b, " <unknown because of lost events>");
		break;
	case TY_CALL_END_MISSING:
		if (!exits)
			ty_buf_adds(b, " <unknown: end not recorded>");
		break;
	case TY_CALL_EXITED:
	case TY_CALL_OPEN: break;
	}
}

void ty_call_text(const struct ty_sysarch *arch, struct ty_wall *wall, const struct ty_call *c,
		  enum ty_call_part part, const struct ty_arg_names *names, struct ty_buf *b)
{
	char buf[32];
	const char *name = ty_syscall_name(arch, c->abi, c->nr, buf), *mark;
	bool resumed = part == TY_CALL_RESUMED || ty_call_end_only(c);
	/* exit never returns: strace shows "= ?" at once */
	bool open = c->how == TY_CALL_OPEN && ty_syscall_class(arch, c->abi, c->nr) != TY_SC_EXIT;
	size_t start = b->len;

	add_tid(b, resumed ? c->end_tid : c->tid);
	ty_wall_fmt(wall, resumed ? c->end_ns : c->start_ns, b);
	ty_buf_addc(b, ' ');
	if (resumed)
		ty_buf_adds(b, "<... ");
	ty_buf_adds(b, name);
	if (resumed) {
		ty_buf_adds(b, " resumed>");
	} else {
		ty_buf_addc(b, '(');
		ty_syscall_fmt_named(arch, c->abi, c->nr, c->args, names, b);
	}
	if (part == TY_CALL_BEGUN || open) {
		ty_buf_adds(b, " <unfinished ...>");
	} else {
		ty_buf_add(b, ") ", 2);
		pad_to_result(b, start);
		add_result(arch, c, names, b);
	}
	mark = abi_mark(arch, c);
	ty_buf_adds(b, mark);
	if (c->abi == TY_ABI_UNSURE && *mark) {
		ty_buf_adds(b, ty_syscall_name(arch, TY_ABI_COMPAT32, c->nr, buf));
		ty_buf_addc(b, ']');
	}
}

static void add_peers(struct ty_json *j, const char *s)
{
	if (!s || !*s)
		return;
	ty_json_array(j, "fd_peers");
	for (size_t n; *s; s += n + 1) {
		const size_t comm = strcspn(s, " ") + 1;

		n = strcspn(s, "\n");
		ty_json_object(j, NULL);
		ty_json_i64(j, "pid", strtol(s, NULL, 10));
		ty_json_strn(j, "comm", s + comm, n - comm);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
}

/* "fd_names": of each argument that is a descriptor or a folder's; null: another, or not known. */
static void add_fd_names(struct ty_json *j, const struct ty_arg_names *names, unsigned n)
{
	bool any = false;
	int32_t peer;

	for (unsigned i = 0; i < n; i++)
		any |= names->fd[i] != NULL;
	if (names->fd[0])
		ty_json_str(j, "fd_name", names->fd[0]);
	if (names->fd[0] && ty_unix_peer(names->fd[0], &peer))
		ty_json_i64(j, "fd_peer_pid", peer);
	if (any) {
		ty_json_array(j, "fd_names");
		for (unsigned i = 0; i < n; i++)
			ty_json_str(j, NULL, names->fd[i]);
		ty_json_end_array(j);
	}
	add_peers(j, names->peers);
	if (names->result)
		ty_json_str(j, "ret_name", names->result);
}

/* "strings": the text that each argument points to; null if it is no text, or unknown. */
static void add_strings(struct ty_json *j, const struct ty_call_data_item item[6], unsigned n)
{
	bool any = false;

	for (unsigned i = 0; i < n; i++)
		any |= item[i].p && item[i].kind == TY_EVK_STRING;
	if (!any)
		return;
	ty_json_array(j, "strings");
	for (unsigned i = 0; i < n; i++)
		if (item[i].p && item[i].kind == TY_EVK_STRING)
			ty_json_strn(j, NULL, item[i].p, item[i].len);
		else
			ty_json_null(j, NULL);
	ty_json_end_array(j);
}

void ty_call_json(const struct ty_sysarch *arch, const struct ty_call *c, int32_t pid,
		  const char *comm, const struct ty_arg_names *names,
		  const struct ty_call_data_item item[6], const struct ty_values *values,
		  struct ty_buf *scratch, struct ty_json *j)
{
	static const char *const status[] = {
		[TY_CALL_RETURNED] = "returned",
		[TY_CALL_NO_ENTER_BEFORE] = "began_before",
		[TY_CALL_NO_ENTER_LOST] = "begin_lost",
		[TY_CALL_NO_ENTER] = "begin_not_recorded",
		[TY_CALL_EXITED] = "exited",
		[TY_CALL_END_LOST] = "end_lost",
		[TY_CALL_END_MISSING] = "end_not_recorded",
		[TY_CALL_OPEN] = "unfinished",
	};
	static const char *const abi[] = {
		[TY_ABI_NATIVE64] = "native",
		[TY_ABI_COMPAT32] = "compat32",
		[TY_ABI_X32] = "x32",
		[TY_ABI_UNSURE] = "unknown",
	};
	char buf[32];
	bool begun = !ty_call_end_only(c);
	struct ty_arg_names texts = {0};

	ty_json_object(j, NULL);
	ty_json_u64(j, "ts_ns", begun ? c->start_ns : c->end_ns);
	ty_json_u64_if(j, "duration_ns", c->how == TY_CALL_RETURNED, c->end_ns - c->start_ns);
	ty_json_i64(j, "tid", begun ? c->tid : c->end_tid);
	ty_json_i64_if(j, "pid", pid > 0, pid);
	ty_json_str(j, "comm", comm);
	ty_json_str(j, "name", ty_syscall_name(arch, c->abi, c->nr, buf));
	if (begun) {
		unsigned n = ty_syscall_row(arch, c->abi, c->nr)->n;

		ty_json_array(j, "args");
		for (unsigned i = 0; i < n; i++)
			ty_json_hex(j, NULL, c->args[i]);
		ty_json_end_array(j);
		/* Names of descriptors have a key of their own. */
		if (names)
			memcpy(texts.text, names->text, sizeof(texts.text));
		ty_buf_reset(scratch);
		ty_syscall_fmt_named(arch, c->abi, c->nr, c->args, &texts, scratch);
		ty_json_strn(j, "args_text", scratch->p ? scratch->p : "", scratch->len);
		if (names)
			add_fd_names(j, names, n);
		if (item)
			add_strings(j, item, n);
		if (values)
			ty_values_json(values, scratch, j);
	} else {
		ty_json_null(j, "args");
		ty_json_null(j, "args_text");
	}
	if (has_result(c) && c->ret < 0 && c->ret >= -4095) {
		const char *e = ty_errno_name((int)-c->ret);

		ty_json_i64(j, "ret", -1);
		if (e) {
			ty_json_str(j, "errno", e);
		} else {
			ty_buf_reset(scratch);
			ty_buf_addf(scratch, "%d", (int)-c->ret);
			ty_json_str(j, "errno", scratch->p);
		}
	} else {
		ty_json_i64_if(j, "ret", has_result(c), c->ret);
		ty_json_null(j, "errno");
	}
	ty_json_str(j, "status", status[c->how]);
	if (!has_result(c) && c->how != TY_CALL_EXITED)
		ty_json_bool(j, "unfinished", true);
	if (c->gap_inside)
		ty_json_bool(j, "lost_inside", true);
	if (c->abi != TY_ABI_NATIVE64)
		ty_json_str(j, "abi", abi[c->abi]);
	if (c->end_tid != c->tid)
		ty_json_i64(j, "end_tid", c->end_tid);
	ty_json_end_object(j);
	ty_json_line(j);
}
