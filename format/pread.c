/* SPDX-License-Identifier: MIT */
/* Full reads at an offset; short only at the file's end (spool_file.h). */
#include <errno.h>

#include "full_io.h"
#include "spool_file.h"

/* Of this thread. */
static _Thread_local int failed;
static _Thread_local uint64_t failed_off;

void ty_pread_forget(void)
{
	failed = 0;
}

int ty_pread_failed(uint64_t *off)
{
	*off = failed_off;
	return failed;
}

int64_t ty_pread(int fd, void *dst, size_t n, uint64_t off)
{
	size_t got;

	if (off > INT64_MAX - n)
		return 0;
	if (ty_partial_read(fd, dst, n, off, &got))
		return (int64_t)got;
	if (!failed) {
		failed = errno;
		failed_off = off + got;
	}
	return -1;
}
