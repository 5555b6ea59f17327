/* SPDX-License-Identifier: MIT */
/*
 * See atomic_file.h. The folder is locked between checking the path and renaming over it, so that
 * of two recorders started at the same moment one fails with an error. Any process that can read
 * the folder may hold that lock, so it is waited for briefly, not forever.
 */
#include "atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_owner.h"

#define NAME	    "tarry-unfinished-XXXXXX"
#define OTHER	    "name another output file with -o"
#define FOLDER_WAIT 50 /* times 10 ms */

/* The folder of path and, in it, NAME (or "" for the folder alone); the caller frees. */
static char *beside(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	char *s;

	if (!slash)
		return asprintf(&s, "./%s", name) < 0 ? NULL : s;
	return asprintf(&s, "%.*s/%s", (int)(slash - path), path, name) < 0 ? NULL : s;
}

/* Links in /proc (/dev/stdout is one) refer to open files of a process, not to paths. */
static bool proc_link(const char *path)
{
	char to[64];
	ssize_t n = readlink(path, to, sizeof(to) - 1);

	if (n < 0)
		return false;
	to[n] = 0;
	return !strncmp(to, "/proc/", 6);
}

static bool same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool ty_atomic_file_is_at(const char *path, int fd)
{
	struct stat a, b;

	return fd >= 0 && !fstat(fd, &a) && !lstat(path, &b) && same(&a, &b);
}

/* Checks that the file at path may be replaced. */
static int check(const char *path, int own, struct ty_err *err)
{
	size_t n = strlen(path);
	struct stat st, to;
	int fd, busy;

	if (!n || path[n - 1] == '/')
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET, "%s is a directory: " OTHER, path);
	if (lstat(path, &st)) {
		if (errno == ENOENT)
			return 0;
		return ty_fail_errno(err, "cannot create %s (" OTHER ")", path);
	}
	if (S_ISLNK(st.st_mode) ? proc_link(path) || (!stat(path, &to) && !S_ISREG(to.st_mode))
				: !S_ISREG(st.st_mode))
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET, "%s is not a regular file: " OTHER,
			       path);
	if (S_ISLNK(st.st_mode) || ty_atomic_file_is_at(path, own))
		return 0;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0) /* an unreadable file may still be replaceable: rename() decides */
		return 0;
	busy = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	if (busy)
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "%s is being written by another tarry record: " OTHER, path);
	return 0;
}

int ty_atomic_file_open(const char *path, int own, bool named, char **name, struct ty_err *err)
{
	char *folder;
	int fd = -1, r = check(path, own, err);

	*name = NULL;
	if (r)
		return r;
	folder = beside(path, "");
	if (!folder)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", path);
	errno = EOPNOTSUPP;
	if (!named)
		fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	free(folder);
	/* EISDIR, EINVAL: file systems and kernels without O_TMPFILE */
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
		*name = beside(path, NAME);
		if (!*name)
			return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", path);
		fd = mkostemp(*name, O_CLOEXEC);
	}
	if (fd < 0) {
		r = ty_fail_errno(err, "cannot create %s (" OTHER ")", path);
		free(*name);
		*name = NULL;
		return r;
	}
	ty_file_owner_give(fd);
	/* Some network file systems have no locks: there, two recorders cannot detect each
	 * other. */
	(void)flock(fd, LOCK_EX | LOCK_NB);
	return fd;
}

/* Gives the unnamed fd an unused name: 0, or -1 with errno. */
static int give_name(int fd, const char *path, char **name)
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz012345";
	char proc[64];

	*name = beside(path, NAME);
	if (!*name)
		return -1;
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	for (int i = 0; i < 100; i++) {
		char *x = *name + strlen(*name) - 6;
		unsigned char b[6];

		if (getrandom(b, sizeof(b), 0) != sizeof(b))
			break;
		for (unsigned k = 0; k < sizeof(b); k++)
			x[k] = digits[b[k] % 32];
		if (!linkat(fd, "", AT_FDCWD, *name, AT_EMPTY_PATH) ||
		    !linkat(AT_FDCWD, proc, AT_FDCWD, *name, AT_SYMLINK_FOLLOW))
			return 0;
		if (errno != EEXIST)
			break;
	}
	free(*name);
	*name = NULL;
	return -1;
}

static int lock_folder(const char *path)
{
	char *folder = beside(path, "");
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	free(folder);
	for (int i = 0; fd >= 0 && i < FOLDER_WAIT; i++) {
		if (!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
			break;
		usleep(10000);
	}
	return fd;
}

int ty_atomic_file_place(int fd, char **name, const char *path, int own, struct ty_err *err)
{
	bool nameless = !*name;
	int folder = lock_folder(path), r = check(path, own, err);

	if (!r && ((nameless && give_name(fd, path, name)) || rename(*name, path))) {
		r = ty_fail_errno(err, "cannot rename the recording to %s (" OTHER ")", path);
		if (nameless)
			ty_atomic_file_remove(name);
	}
	if (folder >= 0)
		close(folder);
	if (!r) {
		free(*name);
		*name = NULL;
	}
	return r;
}

void ty_atomic_file_remove(char **name)
{
	if (*name)
		unlink(*name);
	free(*name);
	*name = NULL;
}
