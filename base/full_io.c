/* SPDX-License-Identifier: MIT */
#include "full_io.h"

#include <errno.h>
#include <unistd.h>

bool ty_partial_read(int fd, void *p, size_t n, uint64_t off, size_t *got)
{
	for (*got = 0; *got < n;) {
		char *to = (char *)p + *got;
		ssize_t r = off == TY_IO_HERE ? read(fd, to, n - *got)
					      : pread(fd, to, n - *got, (off_t)(off + *got));

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return false;
		if (!r)
			break;
		*got += (size_t)r;
	}
	return true;
}

ssize_t ty_full_read(int fd, void *p, size_t n, uint64_t off)
{
	size_t got;

	return ty_partial_read(fd, p, n, off, &got) ? (ssize_t)got : -1;
}

bool ty_exact_read(int fd, void *p, size_t n, uint64_t off)
{
	size_t got;

	return ty_partial_read(fd, p, n, off, &got) && got == n;
}

bool ty_full_write(int fd, const void *p, size_t n, uint64_t off)
{
	for (size_t done = 0; done < n;) {
		const char *from = (const char *)p + done;
		ssize_t r = off == TY_IO_HERE ? write(fd, from, n - done)
					      : pwrite(fd, from, n - done, (off_t)(off + done));

		if (r < 0 && errno == EINTR)
			continue;
		if (!r)
			errno = ENOSPC;
		if (r <= 0)
			return false;
		done += (size_t)r;
	}
	return true;
}
