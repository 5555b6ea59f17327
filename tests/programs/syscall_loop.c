/* SPDX-License-Identifier: MIT */
/* syscall_loop PROCS CALLS [getppid|poll|epoll|stat]: PROCS processes, one per CPU when more than
 * one, each CALLS such calls; poll and epoll_wait find one ready descriptor, stat the root. */
#include <err.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void call(long calls, const char *name)
{
	struct pollfd p = {.fd = eventfd(1, 0), .events = POLLIN};
	struct epoll_event ev = {.events = EPOLLIN};
	int set = epoll_create1(0);
	struct stat st;

	if (p.fd < 0 || set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, p.fd, &ev))
		err(1, "eventfd or epoll");
	for (long k = 0; k < calls; k++)
		if (!strcmp(name, "poll"))
			poll(&p, 1, -1);
		else if (!strcmp(name, "epoll"))
			epoll_wait(set, &ev, 1, -1);
		else if (!strcmp(name, "stat"))
			stat("/", &st);
		else
			syscall(SYS_getppid);
}

int main(int argc, char **argv)
{
	int procs = argc > 1 ? atoi(argv[1]) : 1;
	long calls = argc > 2 ? atol(argv[2]) : 1000000;

	for (int i = 0; i < procs; i++) {
		pid_t p = fork();

		if (p < 0)
			err(1, "fork");
		if (p)
			continue;
		if (procs > 1) {
			cpu_set_t set;

			CPU_ZERO(&set);
			CPU_SET(i, &set);
			sched_setaffinity(0, sizeof(set), &set);
		}
		call(calls, argc > 3 ? argv[3] : "getppid");
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
