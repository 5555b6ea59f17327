/* SPDX-License-Identifier: MIT */
/*
 * Did a call fail because of what another thread has: a lock, a name that exists, a name in use? A
 * thread that repeats it with sleeps between polls for that.
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
	return (ret == -EEXIST || ret == -ENOTEMPTY || ret == -EBUSY || ret == -ETXTBSY) &&
	       r->object >= 0 && r->a[ty_sysrow_object(r, ret)] == TY_ARG_PATH;
}

#endif
