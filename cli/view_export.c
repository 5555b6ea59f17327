/* SPDX-License-Identifier: MIT */
/*
 * See view_export.h. The child is the command that the user would run: `tarry report` (text, JSON)
 * and `tarry dump syscalls` of the window, or `tarry export --to dat`, so that the output is
 * identical. It opens the file anew, because a helper thread of the timeline's session may be
 * reading events at the time of the fork.
 */
#include "view_export.h"
#include "cache_folder.h"
#include "cli.h"
#include "ends_with.h"
#include "file_owner.h"
#include "plain_text.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* "12.000000001": from the start, exactly. */
static const char *offset(const struct ty_session *s, uint64_t ns, char out[40])
{
	uint64_t start = ty_model_origin_ns(s->model);

	ns = ns > start ? ns - start : 0;
	snprintf(out, 40, "%" PRIu64 ".%09" PRIu64, ns / 1000000000u, ns % 1000000000u);
	return out;
}

/* cmd of the window; more: further words, NULL behind the last when there are fewer than four. */
static int command(int (*cmd)(int, char **), const char *name, const struct ty_session *s,
		   uint64_t from_ns, uint64_t to_ns, const char *const more[4])
{
	char from[40], to[40];
	const char *argv[11] = {name,	s->trace->path,	     "--from", offset(s, from_ns, from),
				"--to", offset(s, to_ns, to)};
	int argc = 6;

	while (argc < 10 && more[argc - 6]) {
		argv[argc] = more[argc - 6];
		argc++;
	}
	optind = 0; /* getopt starts anew */
	return cmd(argc, (char **)argv);
}

static int write_text(const struct ty_session *s, const char *path, uint64_t from_ns,
		      uint64_t to_ns)
{
	bool json = ty_ends_with(path, ".json");
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), status;

	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0) {
		ty_say("%s: %s\n", path, strerror(errno));
		return 1;
	}
	ty_file_owner_give(fd);
	status = command(ty_cmd_report, "report", s, from_ns, to_ns,
			 (const char *[4]){json ? "--json" : NULL});
	if (!status && !json) {
		printf("\nSystem calls\n");
		status = command(ty_cmd_dump, "dump", s, from_ns, to_ns,
				 (const char *[4]){"syscalls"});
	}
	if (!status && fflush(stdout)) {
		ty_say("%s: %s\n", path, strerror(errno));
		status = 1;
	}
	if (status)
		unlink(path);
	return status;
}

static int child(const struct ty_view_export *e, uint64_t from_ns, uint64_t to_ns)
{
	if (!ty_ends_with(e->path, ".dat"))
		return write_text(e->s, e->path, from_ns, to_ns);
	return command(ty_cmd_export, "export", e->s, from_ns, to_ns,
		       (const char *[4]){"--to", "dat", "-o", e->path});
}

/* The timeline's handlers write into its pipe and restore its terminal: not for the child. */
static void plain_signals(void)
{
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	signal(SIGTSTP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
}

int ty_view_export_start(struct ty_view_export *e, const char *path, uint64_t from_ns,
			 uint64_t to_ns, struct ty_err *err)
{
	char folder[PATH_MAX];
	int p[2], null;

	if (e->pid)
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET, "%s is still being written", e->path);
	if (!ty_ends_with(path, ".txt") && !ty_ends_with(path, ".json") &&
	    !ty_ends_with(path, ".dat"))
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "the name must end in .txt, .json or .dat");
	if (strlen(path) >= sizeof(e->path))
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET, "the name is too long");
	if (!access(path, F_OK))
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET, "%s already exists: give another name",
			       path);
	ty_folder_of(path, folder);
	if (access(folder, W_OK | X_OK))
		return ty_fail_errno(err, "give another name: cannot write into %s", folder);
	if (pipe2(p, O_CLOEXEC | O_NONBLOCK))
		return ty_fail_errno(err, "cannot create a pipe");
	snprintf(e->path, sizeof(e->path), "%s", path);
	e->pid = fork();
	if (!e->pid) {
		plain_signals();
		null = open("/dev/null", O_RDWR);
		fcntl(p[1], F_SETFL, 0);
		if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
		    dup2(p[1], STDERR_FILENO) < 0)
			_exit(1);
		_exit(child(e, from_ns, to_ns));
	}
	close(p[1]);
	e->fd = p[0];
	if (e->pid < 0) {
		e->pid = 0;
		close(p[0]);
		return ty_fail_errno(err, "cannot start the export");
	}
	return 0;
}

bool ty_view_export_poll(struct ty_view_export *e, char *said, size_t n)
{
	int status;
	pid_t r = e->pid ? waitpid(e->pid, &status, WNOHANG) : -1;
	char why[400];
	ssize_t k;

	if (!r)
		return false;
	k = read(e->fd, why, sizeof(why) - 1);
	why[k > 0 ? k : 0] = 0;
	why[strcspn(why, "\n")] = 0;
	if (r > 0 && WIFEXITED(status) && !WEXITSTATUS(status))
		snprintf(said, n, "%s is written%s%s", e->path, *why ? ". " : "",
			 why + (strncmp(why, "tarry: ", 7) ? 0 : 7));
	else if (!strncmp(why, "tarry: ", 7) || *why)
		snprintf(said, n, "%s", why + (strncmp(why, "tarry: ", 7) ? 0 : 7));
	else
		snprintf(said, n, "cannot write %s", e->path);
	close(e->fd);
	e->pid = 0;
	return true;
}

void ty_view_export_stop(struct ty_view_export *e)
{
	if (!e->pid)
		return;
	kill(e->pid, SIGKILL);
	while (waitpid(e->pid, NULL, 0) < 0 && errno == EINTR)
		;
	unlink(e->path);
	close(e->fd);
	e->pid = 0;
}
