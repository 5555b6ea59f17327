/* SPDX-License-Identifier: MIT */
/* See cli.h. */
#include "cli.h"
#include "plain_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int ty_cli_fail(const struct ty_err *err)
{
	ty_say("tarry: %s\n", err->code ? err->msg : "failed for an unknown reason");
	if (err->code == TY_EINTR)
		return TY_EXIT_INTERRUPTED;
	return err->code == TY_EUSAGE ? TY_EXIT_USAGE : TY_EXIT_FAILED;
}

int ty_cli_written(struct ty_err *err)
{
	if ((!fflush(stdout) && !ferror(stdout)) || errno == EPIPE)
		return 0;
	return ty_fail_errno(err, "standard output: write failed");
}

int ty_cli_usage(const char *cmd, const char *fmt, ...)
{
	va_list ap;

	ty_say("tarry: ");
	va_start(ap, fmt);
	ty_vsay(fmt, ap);
	va_end(ap);
	ty_say(" (see tarry help %s)\n", cmd);
	return TY_EXIT_USAGE;
}
