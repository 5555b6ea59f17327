/* SPDX-License-Identifier: MIT */
/* See temp_file.h. */
#include "temp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int ty_temp_file(const char **dir)
{
	const char *tmp = getenv("TMPDIR");
	char path[PATH_MAX];
	int fd;

	*dir = tmp && *tmp ? tmp : "/var/tmp";
	fd = open(*dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	/* Not every file system supports O_TMPFILE. */
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) ||
	    snprintf(path, sizeof(path), "%s/tarry-XXXXXX", *dir) >= PATH_MAX)
		return fd;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}
