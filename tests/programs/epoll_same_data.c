/* SPDX-License-Identifier: MIT */
/* Two pipes in one epoll set have the same data: the event does not say which one was ready. */
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u64 = 0x1234};
	const int set = epoll_create1(0);
	int a[2], b[2];

	if (pipe(a) || pipe(b) || epoll_ctl(set, EPOLL_CTL_ADD, a[0], &e) ||
	    epoll_ctl(set, EPOLL_CTL_ADD, b[0], &e))
		return 1;
	if (!fork()) {
		nanosleep(&(struct timespec){0, 300000000}, NULL);
		_exit(write(a[1], "x", 1) != 1);
	}
	return epoll_wait(set, &e, 1, -1) != 1;
}
