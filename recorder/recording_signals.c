/* SPDX-License-Identifier: MIT */
/* What a recorder does with signals, its own and the command's end. */
#include "recording_priv.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_ignored(int sig)
{
	struct sigaction a;

	return !sigaction(sig, NULL, &a) && a.sa_handler == SIG_IGN;
}

/*
 * What the recorder answers. A blocked signal arrives even if it is ignored: SIGHUP that was
 * ignored on purpose (nohup) stays out. SIGINT and SIGQUIT, which shells ignore for background
 * jobs, do not: they are how such a recording is ended.
 */
static void answered(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGQUIT);
	sigaddset(set, SIGCHLD);
	if (!is_ignored(SIGHUP))
		sigaddset(set, SIGHUP);
}

/*
 * An ignored SIGCHLD is inherited and would take the command's status away. A reader of stderr that
 * goes away and a limit on file size must not end the recorder in the middle: the writes fail, and
 * that is told. `reset`: what the command is to get as it was.
 */
void ty_rec_set_dispositions(sigset_t *reset)
{
	static const int failing_writes[] = {SIGPIPE, SIGXFSZ};

	sigemptyset(reset);
	signal(SIGCHLD, SIG_DFL);
	for (size_t i = 0; i < sizeof(failing_writes) / sizeof(*failing_writes); i++) {
		if (!is_ignored(failing_writes[i]))
			sigaddset(reset, failing_writes[i]);
		signal(failing_writes[i], SIG_IGN);
	}
}

int ty_rec_open_signals(struct recording *r, struct ty_err *err)
{
	sigset_t set;

	answered(&set);
	if (r->o->pt && r->o->pt->snapshot)
		sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, &r->old_mask);
	r->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	r->spool_failed = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->signals < 0 || r->spool_failed < 0)
		return ty_fail_errno(err, "cannot make a signalfd and an eventfd");
	return 0;
}

void ty_rec_reap(struct recording *r)
{
	int status;
	pid_t p;

	if (r->command.pid <= 0 || r->child_gone)
		return;
	p = waitpid(r->command.pid, &status, WNOHANG);
	if (p == r->command.pid) {
		r->res->command_ended = true;
		r->res->command_status = status;
	}
	r->child_gone = p == r->command.pid || (p < 0 && errno == ECHILD);
}

/* Signals that arrived. Returns why the recording ends, or NULL. */
const char *ty_rec_take_signals(struct recording *r)
{
	struct signalfd_siginfo si;
	const char *why = NULL;

	while (read(r->signals, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		int sig = (int)si.ssi_signo;

		if (sig == SIGCHLD)
			continue;
		if (sig == SIGUSR2) {
			if (r->aux)
				ty_aux_rec_snapshot(r->aux);
			continue;
		}
		if (r->signals_seen++ || !r->o->argv) {
			r->res->signal = sig;
			why = sig == SIGINT ? "interrupted" : "signal";
			continue;
		}
		/* From the terminal (the kernel) the command has got it as well. */
		if (si.ssi_code != SI_KERNEL)
			kill(r->command.pid, sig);
	}
	ty_rec_reap(r);
	if (r->child_gone) {
		why = "command ended";
		r->res->signal = 0;
	}
	return why;
}

void ty_record_wait(struct ty_record_result *res)
{
	sigset_t set;
	siginfo_t si;
	int status;

	answered(&set);
	while (res->still_running) {
		pid_t p = waitpid(res->still_running, &status, WNOHANG);

		if (p == res->still_running) {
			res->command_ended = true;
			res->command_status = status;
		}
		if (p) {
			res->still_running = 0;
			break;
		}
		if (sigwaitinfo(&set, &si) > 0 && si.si_signo != SIGCHLD && si.si_code != SI_KERNEL)
			kill(res->still_running, si.si_signo);
	}
}
