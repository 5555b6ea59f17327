/* SPDX-License-Identifier: MIT */
/* A process with descriptors from before the recording. Included behind cmocka.h. */
#ifndef TY_FIXTURE_FDS_H
#define TY_FIXTURE_FDS_H

#include "call_args.h"
#include "fd_kind.h"
#include "fixture_given.h"

#define MS UINT64_C(1000000)

static inline const char *fd_before(void *ctx, int32_t pid, int32_t fd, bool *cloexec)
{
	*cloexec = false;
	return pid != 11 ? NULL : fd == 5 ? "/var/lock/x" : fd == 6 ? "pipe:[9]" : NULL;
}

static bool left_out;

static inline bool fds_left_out(void *ctx, int32_t pid)
{
	return left_out && pid == 11;
}

/* Attached to 11, which runs on CPU 0 from 1 ms on. */
static inline void begin(void)
{
	givens = 0;
	left_out = false;
	ty_mx_begin("mode=pids\npid=11\n", "taken 1 2\n" ROW("11", "11", "1", "job"));
	ty_mx_switch(0, 1 * MS, 0, R, 11);
}

static inline struct ty_explain end(void)
{
	struct ty_explain x;

	ty_mx_switch(0, 50 * MS, 11, S, 0);
	x = explain(ty_mx_end(), 0);
	x.fd_before = fd_before;
	x.fds_left_out = fds_left_out;
	return x;
}

static inline const char *pointee(void *ctx, uint32_t thread, uint32_t call, unsigned arg)
{
	return arg == 1 ? "socket:[->1.2.3.4:5]" : arg ? NULL : "/opened";
}

#endif
