/* SPDX-License-Identifier: MIT */
#include "view_state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache_folder.h"
#include "file_owner.h"

#define LOCK_WAIT 50 /* times 10 ms */

/* The recording's file in the cache folder; false: there is no such folder. */
static bool path_of(const struct ty_trace *trace, const struct ty_model *m, bool make,
		    char out[PATH_MAX])
{
	const struct ty_summary *s = ty_model_summary(m);
	char dir[PATH_MAX];
	struct stat st;
	int n;

	if (!ty_cache_folder(make, dir) || fstat(ty_trace_fd(trace), &st))
		return false;
	n = snprintf(out, PATH_MAX,
		     "%s/view-%" PRIx64 "-%" PRIx64 "-%" PRIx64 "-%" PRIx32 "-%jx.marks", dir,
		     s->start_ns, s->end_ns - s->start_ns, s->events, s->threads,
		     (uintmax_t)st.st_ino);
	return n > 0 && n < PATH_MAX;
}

void ty_view_state_load(const struct ty_trace *trace, const struct ty_model *m, struct ty_buf *out)
{
	char path[PATH_MAX], part[4096];
	struct stat st;
	ssize_t n;
	int fd;

	if (!path_of(trace, m, false, path))
		return;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && ty_file_owner_is_ours(st.st_uid) &&
	    st.st_size <= TY_VIEW_STATE_MAX)
		while ((n = read(fd, part, sizeof(part))) > 0)
			ty_buf_add(out, part, (size_t)n);
	close(fd);
}

int ty_view_state_lock(void)
{
	char dir[PATH_MAX];
	int fd;

	if (!ty_cache_folder(true, dir))
		return -1;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; fd >= 0 && i < LOCK_WAIT; i++) {
		if (!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
			break;
		usleep(10000);
	}
	return fd;
}

void ty_view_state_unlock(int lock)
{
	if (lock >= 0)
		close(lock);
}

/* All of it under its name, or nothing. */
static int write_file(const char *path, const char *text, size_t n)
{
	char part[PATH_MAX];
	int fd, bad;

	if (snprintf(part, sizeof(part), "%s.%d", path, (int)getpid()) >= PATH_MAX)
		return -1;
	fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	bad = write(fd, text, n) != (ssize_t)n;
	ty_cache_give(fd, path);
	bad |= close(fd);
	if (!bad && !rename(part, path))
		return 0;
	unlink(part);
	return -1;
}

int ty_view_state_save(const struct ty_trace *trace, const struct ty_model *m, const char *text,
		       size_t n, struct ty_err *err)
{
	char path[PATH_MAX];

	if (!path_of(trace, m, true, path))
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "neither XDG_CACHE_HOME nor HOME names a folder");
	if (write_file(path, text, n))
		return ty_fail_errno(err, "%s", path);
	return 0;
}

bool ty_view_state_first(void)
{
	char dir[PATH_MAX], path[PATH_MAX];

	if (!ty_cache_folder(true, dir) ||
	    snprintf(path, sizeof(path), "%s/first-keys-shown", dir) >= PATH_MAX)
		return false;
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) && errno == ENOENT;
}

void ty_view_state_not_first(void *ctx)
{
	char dir[PATH_MAX], path[PATH_MAX];
	int fd;

	if (!ty_cache_folder(true, dir) ||
	    snprintf(path, sizeof(path), "%s/first-keys-shown", dir) >= PATH_MAX)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	ty_cache_give(fd, path);
	close(fd);
}
