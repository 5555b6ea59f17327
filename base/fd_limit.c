/* SPDX-License-Identifier: MIT */
/* See fd_limit.h. */
#include "fd_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>

static struct rlimit was;
static bool raised;

void ty_fd_limit_raise(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &was) || was.rlim_cur >= was.rlim_max)
		return;
	r = was;
	r.rlim_cur = r.rlim_max;
	raised = !setrlimit(RLIMIT_NOFILE, &r);
}

void ty_fd_limit_restore(void)
{
	if (raised)
		setrlimit(RLIMIT_NOFILE, &was);
}

int ty_fd_limit_need(unsigned more, struct ty_err *err)
{
	struct rlimit r;
	unsigned free_n = 0, used = 0;

	if (getrlimit(RLIMIT_NOFILE, &r))
		return 0;
	for (rlim_t fd = 0; fd < r.rlim_cur && free_n < more; fd++)
		if (fcntl((int)fd, F_GETFD) < 0 && errno == EBADF)
			free_n++;
		else
			used++;
	if (free_n >= more)
		return 0;
	return ty_fail(err, TY_ELIMIT, TY_NO_OFFSET,
		       "the limit on open files is %llu, but %u are needed. Raise it: `ulimit -Hn "
		       "%u` as root, or LimitNOFILE= of the service",
		       (unsigned long long)r.rlim_cur, used + more, used + more);
}
