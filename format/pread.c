/* SPDX-License-Identifier: MIT */
/* Full reads and writes at an offset; short only at the file's end (spool_file.h). */
#include <errno.h>
#include <unistd.h>

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
	size_t got = 0;

	if (off > INT64_MAX - n)
		return 0;
	while (got < n) {
		ssize_t r = pread(fd, (char *)dst + got, n - got, (off_t)(off + got));

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0) {
			if (!failed) {
				failed = errno;
				failed_off = off + got;
			}
			return -1;
		}
		if (!r)
			break;
		got += (size_t)r;
	}
	return (int64_t)got;
}

int ty_pwrite(int fd, const void *p, size_t n, uint64_t off)
{
	return ty_full_write(fd, p, n, off) ? 0 : -1;
}
