/* SPDX-License-Identifier: MIT */
/* The recorder's handling of signals, its own and the command's exit. */
#include "recording_priv.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_ignored(int sig)
{
	struct sigaction a;

	return !sigaction(sig, NULL, &a) && a.sa_handler == SIG_IGN;
}

/*
 * The signals that the recorder handles. A blocked signal is delivered even if it is ignored, so a
 * SIGHUP that was ignored on purpose (nohup) is left out. SIGINT and SIGQUIT, which shells ignore
 * for background jobs, do not: they are how such a recording is ended.
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
 * An ignored SIGCHLD is inherited and would hide the command's status. A closed stderr and a limit
 * on file size must not kill the recorder: the writes fail, and that is reported. `reset`:
 * dispositions to restore for the command.
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
		return ty_fail_errno(err, "cannot create a signalfd and an eventfd");
	return 0;
}

/*
 * A child stopped for its tracer, which is tarry because the child called PTRACE_TRACEME. It
 * continues as without a tracer, with the signal that stopped it. The SIGTRAP after its execve
 * comes from ptrace and would kill it; only its system call distinguishes it from a kill() of the
 * process by itself.
 */
static void let_run(const struct ty_record_opts *o, pid_t tid, int status)
{
	int sig = WSTOPSIG(status);
	siginfo_t si;

	if (ptrace(PTRACE_GETSIGINFO, tid, 0, &si)) /* a group stop, or killed meanwhile */
		si.si_signo = 0;
	if (sig == SIGTRAP && si.si_signo == SIGTRAP && si.si_code == SI_USER && si.si_pid == tid &&
	    ty_proc_syscall(tid) != SYS_kill)
		sig = 0;
	if (!ptrace(PTRACE_DETACH, tid, 0, (long)sig) && o->stopped &&
	    (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU))
		o->stopped(o->ctx, tid, sig);
}

/*
 * All children: threads of the command may have requested to be traced, too, and one that ended
 * would keep its process from ending until it is waited for. Call from the thread that forked the
 * command, which is its tracer. True: the command has ended.
 */
static bool reap(const struct ty_record_opts *o, pid_t command, struct ty_step *step,
		 struct ty_record_result *res)
{
	bool gone = false;
	int status;
	pid_t p;

	while ((p = waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
		if (WIFSTOPPED(status)) {
			let_run(o, p, status);
		} else if (p == command) {
			res->command_ended = gone = true;
			res->command_status = status;
		} else if (step && p == step->pid) {
			step->pid = 0;
		}
	}
	return gone || (p < 0 && errno == ECHILD);
}

void ty_rec_reap(struct recording *r)
{
	if (r->command.pid > 0 && !r->child_gone)
		r->child_gone = reap(r->o, r->command.pid, &r->step, r->res);
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

void ty_record_wait(const struct ty_record_opts *o, struct ty_record_result *res)
{
	sigset_t set;
	siginfo_t si;

	answered(&set);
	while (res->still_running) {
		if (reap(o, res->still_running, NULL, res)) {
			res->still_running = 0;
			break;
		}
		if (sigwaitinfo(&set, &si) > 0 && si.si_signo != SIGCHLD && si.si_code != SI_KERNEL)
			kill(res->still_running, si.si_signo);
	}
}
