/* SPDX-License-Identifier: MIT */
/*
 * Did a call fail because of what another thread has: a lock, a name that the call would have made,
 * a file in use that it would have opened? A thread that repeats it with sleeps between polls for
 * that. A folder to be removed that is not empty, or a mount in use, is no lock.
 */
#ifndef TY_POLLED_CALL_H
#define TY_POLLED_CALL_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "syscall_table.h"

static inline bool ty_polled_call_failed(const struct ty_sysrow *r, int64_t ret)
{
	if (r->wait_on == TY_WAIT_ON_LOCK || r->id == TY_SYS_fcntl)
		return ret == -EAGAIN || ret == -EACCES || ret == -EDEADLK;
	if (r->object < 0 || r->a[ty_sysrow_object(r, ret)] != TY_ARG_PATH)
		return false;
	if (ret == -EBUSY || ret == -ETXTBSY)
		return r->fds == TY_FDS_NEW || r->fds == TY_FDS_EXEC;
	return ret == -EEXIST || (ret == -ENOTEMPTY && ty_sysrow_object(r, ret) != r->object);
}

/* A folder or node that exists may be all that the thread wants, each time that it looks: such
 * failures are polls only if the call succeeded in the end. */
static inline bool ty_polled_call_must_succeed(const struct ty_sysrow *r)
{
	return r->object >= 0 && r->a[r->object] == TY_ARG_PATH && r->object + 1 < r->n &&
	       r->a[r->object + 1] == TY_ARG_MODE && r->fds != TY_FDS_NEW;
}

#endif
