/* SPDX-License-Identifier: MIT */
#include "err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *ty_strerror(int code)
{
	switch (code < 0 ? -code : code) {
	case TY_OK: return "success";
#define X(name, text)                                                                              \
	case TY_E##name: return text;
		TY_ERRORS(X)
#undef X
	}
	return "unknown error";
}

static void fill(struct ty_err *err, int code, uint64_t off, const char *fmt, va_list ap)
{
	if (!err || err->code)
		return;
	err->code = code;
	err->off = off;
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
}

int ty_fail(struct ty_err *err, int code, uint64_t off, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(err, code, off, fmt, ap);
	va_end(ap);
	return -code;
}

/* Advice for a limit on open files (EMFILE, ENFILE), appended to strerror(e) as " (...)"; "" for
 * other errors. */
static const char *remedy(int e)
{
	if (e == EMFILE)
		return " (raise the limit of this process: ulimit -n)";
	if (e == ENFILE)
		return " (raise the limit of this machine: sysctl fs.file-max)";
	return "";
}

int ty_fail_errno(struct ty_err *err, const char *fmt, ...)
{
	int e = errno, code = TY_ESYS;
	va_list ap;

	if (e == ENOMEM)
		code = TY_ENOMEM;
	else if (e == ENOSPC || e == EDQUOT)
		code = TY_ENOSPC;
	else if (e == EACCES || e == EPERM)
		code = TY_EPERM;
	else if (e == ENOENT || e == ESRCH)
		code = TY_ENOTFOUND;
	else if (e == EIO)
		code = TY_EIO;
	if (err && !err->code) {
		size_t n;

		va_start(ap, fmt);
		fill(err, code, TY_NO_OFFSET, fmt, ap);
		va_end(ap);
		n = strlen(err->msg);
		snprintf(err->msg + n, sizeof(err->msg) - n, ": %s%s", strerror(e), remedy(e));
	}
	return -code;
}
