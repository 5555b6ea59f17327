/* SPDX-License-Identifier: MIT */
/* A parent that learns of its child's end by a signal or a pidfd, and reaps it then. */
#include <sys/epoll.h>
#include <sys/signalfd.h>

#include "plant.h"

static void on_child(int sig)
{
	(void)sig;
}

int main(int argc, char **argv)
{
	struct epoll_event e = {.events = EPOLLIN};
	sigset_t s, old;
	unsigned how;
	int ep, sig;
	uint64_t t;
	pid_t p;

	if (plant_init(argc, argv))
		return 0;
	how = plant_pick(4);
	plant_be(&plant->victim, the.victim);
	sigemptyset(&s);
	sigaddset(&s, SIGCHLD);
	sigprocmask(SIG_BLOCK, &s, &old);
	signal(SIGCHLD, on_child);
	ep = epoll_create1(0);
	p = fork();
	if (!p) {
		plant_be(&plant->culprit, the.culprit);
		plant_sleep_us(the.ms * 1000);
		_exit(0);
	}
	epoll_ctl(ep, EPOLL_CTL_ADD,
		  how == 3 ? (int)syscall(SYS_pidfd_open, p, 0) : signalfd(-1, &s, 0), &e);
	t = plant_begin();
	if (how == 0)
		sigwait(&s, &sig);
	else if (how == 1)
		sigsuspend(&old);
	else if (epoll_wait(ep, &e, 1, -1) != 1)
		err(1, "epoll_wait");
	plant_end(t);
	plant_work(5 + the.after);
	waitpid(p, NULL, 0);
	plant_truth("child", "rt_sigtimedwait|rt_sigsuspend|epoll_wait|epoll_pwait");
	return 0;
}
