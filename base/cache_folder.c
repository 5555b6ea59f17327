/* SPDX-License-Identifier: MIT */
#include "cache_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_owner.h"

void ty_folder_of(const char *path, char out[PATH_MAX])
{
	char *slash;

	snprintf(out, PATH_MAX, "%s", path);
	slash = strrchr(out, '/');
	if (!slash)
		strcpy(out, ".");
	else
		slash[slash == out] = 0;
}

void ty_cache_give(int fd, const char *path)
{
	char dir[PATH_MAX];
	struct stat st;

	ty_folder_of(path, dir);
	if (!stat(dir, &st) && st.st_uid != geteuid() && ty_file_owner_is_ours(st.st_uid))
		ty_file_owner_give(fd);
}

static void make_folder(const char *path)
{
	int fd;

	if (mkdir(path, 0700))
		return;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	ty_cache_give(fd, path);
	close(fd);
}

bool ty_cache_folder(bool make, char out[PATH_MAX])
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n;

	if (base && *base == '/')
		n = snprintf(out, PATH_MAX, "%s/tarry", base);
	else if (home && *home == '/')
		n = snprintf(out, PATH_MAX, "%s/.cache/tarry", home);
	else
		return false;
	if (n >= PATH_MAX)
		return false;
	if (make) {
		char *slash = strrchr(out, '/');

		*slash = 0;
		make_folder(out);
		*slash = '/';
		make_folder(out);
	}
	return true;
}
