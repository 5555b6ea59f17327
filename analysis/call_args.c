/* SPDX-License-Identifier: MIT */
#include "call_args.h"

#include <string.h>

#include "err.h"
#include "fd_kind.h"
#include "plain_text.h"

/* A path between quotes, as strace has it; NULL: out of memory. */
static const char *quoted(struct ty_buf *b, const char *s)
{
	size_t at = b->len;

	ty_buf_addc(b, '"');
	ty_buf_adds(b, s);
	ty_buf_add(b, "\"", 2);
	if (b->failed)
		return NULL;
	ty_plain(b->p + at, b->len - at - 1);
	return b->p + at;
}

int ty_call_args(const struct ty_explain *x, uint32_t call, struct ty_buf *out)
{
	const struct ty_syscall c = ty_model_syscall(x->m, call);
	const struct ty_sysrow *row = ty_syscall_row(x->arch, (enum ty_abi)c.abi, c.nr);
	struct ty_arg_names names = {0};
	struct ty_buf text[6];
	uint64_t args[6];
	int rc;

	if (!x->args || x->args(x->ctx, &c, args))
		return -TY_ENOTFOUND;
	for (unsigned i = 0; i < 6; i++)
		ty_buf_init(&text[i], 8192);
	for (unsigned i = 0; i < row->n; i++) {
		const char *s = NULL;

		if (row->a[i] == TY_ARG_FD || row->a[i] == TY_ARG_DIRFD) {
			ty_fd_kind(x, c.thread, (uint32_t)args[i], c.start_ns, &s);
			names.fd[i] = s;
		} else if (row->a[i] == TY_ARG_PATH && x->pointee) {
			s = x->pointee(x->ctx, c.thread, call, i);
			names.text[i] = s ? quoted(&text[i], s) : NULL;
		}
	}
	rc = ty_syscall_fmt_named(x->arch, (enum ty_abi)c.abi, c.nr, args, &names, out) ? -TY_ENOMEM
											: 0;
	for (unsigned i = 0; i < 6; i++)
		ty_buf_fini(&text[i]);
	return rc;
}

int ty_call_object(const struct ty_explain *x, uint32_t call, struct ty_buf *out)
{
	const struct ty_syscall c = ty_model_syscall(x->m, call);
	const struct ty_sysrow *row = ty_syscall_row(x->arch, (enum ty_abi)c.abi, c.nr);
	const int i = ty_sysrow_object(row, c.ret);
	const char *name = NULL;
	uint64_t args[6];
	size_t at = out->len;

	if (i < 0 || !x->args || x->args(x->ctx, &c, args))
		return -TY_ENOTFOUND;
	if (row->a[i] == TY_ARG_PATH && x->pointee)
		name = x->pointee(x->ctx, c.thread, call, (unsigned)i);
	else if (row->a[i] == TY_ARG_FD)
		ty_fd_kind(x, c.thread, (uint32_t)args[i], c.start_ns, &name);
	if (!name || !*name)
		return -TY_ENOTFOUND;
	ty_buf_adds(out, name);
	if (out->failed)
		return -TY_ENOMEM;
	ty_plain(out->p + at, out->len - at);
	return 0;
}

void ty_call_name_row(const struct ty_explain *x, uint32_t span, char *row, size_t n)
{
	const uint32_t call = span == TY_NONE ? TY_NONE : ty_model_span(x->m, span).syscall;
	char *fd = strstr(row, "(fd "), *end = fd ? strchr(fd, ')') : NULL;
	struct ty_buf b;

	if (!end || call == TY_NONE)
		return;
	ty_buf_init(&b, n);
	ty_buf_adds(&b, " <");
	if (!ty_call_object(x, call, &b) && !ty_buf_addc(&b, '>') && strlen(row) + b.len < n) {
		memmove(end + b.len, end, strlen(end) + 1);
		memcpy(end, b.p, b.len);
	}
	ty_buf_fini(&b);
}
