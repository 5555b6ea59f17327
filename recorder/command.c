/* SPDX-License-Identifier: MIT */
/*
 * See command.h. The child makes no system call between its read of the go byte and its execve, so
 * its recording begins with the execve.
 */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fd_limit.h"

static int not_found(struct ty_command *c, const char *name, struct ty_err *err)
{
	c->exit_code = TY_EXIT_NOT_FOUND;
	if (strchr(name, '/'))
		return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			       "cannot run %s: no such file exists. Check the path", name);
	return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
		       "cannot run %s: no such command in PATH. Check the name or give a path",
		       name);
}

static int not_executable(struct ty_command *c, const char *path, int e, struct ty_err *err)
{
	c->exit_code = TY_EXIT_NOT_EXECUTABLE;
	return ty_fail(err, TY_EPERM, TY_NO_OFFSET,
		       "cannot run %s: %s. It must be an executable file (chmod +x, or name its "
		       "interpreter)",
		       path, strerror(e));
}

/* 0 when path can be run; else the errno. */
static int runnable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	if (!S_ISREG(st.st_mode) || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS))
		return EACCES;
	return 0;
}

int ty_command_find(struct ty_command *c, char **argv, struct ty_err *err)
{
	const char *name = argv[0], *dirs = getenv("PATH");
	char denied[PATH_MAX] = "";
	int e, why = 0;

	*c = (struct ty_command){.argv = argv, .go = -1, .report = -1, .exit_code = 1};
	if (!*name)
		return not_found(c, "''", err);
	if (strchr(name, '/')) {
		if (strlen(name) >= sizeof(c->path))
			return not_found(c, name, err);
		strcpy(c->path, name);
		e = runnable(name);
		if (e == ENOENT || e == ENOTDIR)
			return not_found(c, name, err);
		return e ? not_executable(c, name, e, err) : 0;
	}
	if (!dirs)
		dirs = "/bin:/usr/bin";
	for (;;) {
		size_t n = strcspn(dirs, ":");

		if (snprintf(c->path, sizeof(c->path), "%.*s%s%s", (int)n, dirs, n ? "/" : "./",
			     name) < (int)sizeof(c->path)) {
			e = runnable(c->path);
			if (!e)
				return 0;
			if (e != ENOENT && e != ENOTDIR && !why) {
				why = e;
				strcpy(denied, c->path);
			}
		}
		if (!dirs[n])
			break;
		dirs += n + 1;
	}
	return why ? not_executable(c, denied, why, err) : not_found(c, name, err);
}

/* The child. sh_argv: argv behind "sh" for a script without "#!". Never returns. */
static void child(const struct ty_command *c, char **sh_argv, const sigset_t *mask,
		  const sigset_t *reset, int go, int report)
{
	extern char **environ;
	char byte;
	ssize_t r;
	int e;

	for (int sig = 1; sig < NSIG; sig++)
		if (sigismember(reset, sig) == 1)
			signal(sig, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	ty_fd_limit_restore();
	do
		r = read(go, &byte, 1);
	while (r < 0 && errno == EINTR);
	if (r == 1) {
		execve(c->path, c->argv, environ);
		if (errno == ENOEXEC)
			execve("/bin/sh", sh_argv, environ);
		e = errno;
		r = write(report, &e, sizeof(e));
	}
	_exit(r > 0 ? 126 : 1);
}

int ty_command_fork(struct ty_command *c, const sigset_t *mask, const sigset_t *reset,
		    struct ty_err *err)
{
	int go[2], report[2], r = 0;
	char **sh_argv;
	size_t n = 0;

	while (c->argv[n])
		n++;
	sh_argv = calloc(n + 2, sizeof(*sh_argv));
	if (!sh_argv)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the command line");
	sh_argv[0] = (char *)"sh";
	sh_argv[1] = c->path;
	memcpy(sh_argv + 2, c->argv + 1, (n - 1) * sizeof(*sh_argv));
	if (pipe2(go, O_CLOEXEC)) {
		free(sh_argv);
		return ty_fail_errno(err, "cannot create a pipe");
	}
	if (pipe2(report, O_CLOEXEC)) {
		r = ty_fail_errno(err, "cannot create a pipe");
		close(go[0]);
		close(go[1]);
		free(sh_argv);
		return r;
	}
	c->pid = fork();
	if (!c->pid) {
		close(go[1]);
		close(report[0]);
		child(c, sh_argv, mask, reset, go[0], report[1]);
	}
	if (c->pid < 0) {
		c->pid = 0;
		r = ty_fail_errno(err, "cannot fork");
	}
	close(go[0]);
	close(report[1]);
	free(sh_argv);
	c->go = go[1];
	c->report = report[0];
	if (r)
		ty_command_cancel(c);
	return r;
}

int ty_command_release(struct ty_command *c, struct ty_err *err)
{
	int e = 0;
	ssize_t r;

	r = write(c->go, "g", 1);
	close(c->go);
	c->go = -1;
	do
		r = read(c->report, &e, sizeof(e));
	while (r < 0 && errno == EINTR);
	close(c->report);
	c->report = -1;
	if (r != (ssize_t)sizeof(e))
		return 0;
	waitpid(c->pid, NULL, 0);
	c->pid = 0;
	if (e == ENOENT) /* the file is there: its interpreter is not */
		r = ty_fail(
			err, TY_ENOTFOUND, TY_NO_OFFSET,
			"cannot run %s: its interpreter or loader is missing (first line of the "
			"script, or readelf -l)",
			c->path);
	else
		r = not_executable(c, c->path, e, err);
	c->exit_code = e == ENOENT ? TY_EXIT_NOT_FOUND : TY_EXIT_NOT_EXECUTABLE;
	return (int)r;
}

void ty_command_cancel(struct ty_command *c)
{
	if (c->go >= 0)
		close(c->go);
	if (c->report >= 0)
		close(c->report);
	if (c->go >= 0 && c->pid > 0) {
		waitpid(c->pid, NULL, 0);
		c->pid = 0;
	}
	c->go = c->report = -1;
}
