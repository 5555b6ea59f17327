/* SPDX-License-Identifier: MIT */
/*
 * The program waits for several descriptors at once, by select, poll or epoll; the one that is
 * ready is another part's that was slow, and got no request. What is read next shows it.
 * Both may have a lock to pass on, too.
 */
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "plant.h"

static int never[2], fd[2]; /* [0] is read, [1] written */
static unsigned how;
static uint64_t word = 1;
static sem_t *passed;

static void culprit(void)
{
	plant_be(&plant->culprit, the.culprit);
	plant_spend_ms(the.way, the.ms);
	if (write(fd[1], &word, sizeof(word)) != sizeof(word))
		err(1, "write");
	plant_sleep_us(2000);
	if (passed)
		sem_post(passed);
}

static void await(void)
{
	struct pollfd p[2] = {{.fd = never[0], .events = POLLIN}, {.fd = fd[0], .events = POLLIN}};
	struct epoll_event e = {.events = EPOLLIN};
	struct timeval tv = {20, 0};
	fd_set s;
	int ep;

	FD_ZERO(&s);
	FD_SET(never[0], &s);
	FD_SET(fd[0], &s);
	switch (how % 3) {
	case 0: select(fd[0] + never[0] + 1, &s, NULL, NULL, how % 2 ? &tv : NULL); return;
	case 1: poll(p, 2, how % 2 ? 20000 : -1); return;
	default: break;
	}
	ep = epoll_create1(EPOLL_CLOEXEC);
	epoll_ctl(ep, EPOLL_CTL_ADD, never[0], &e);
	epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &e);
	epoll_wait(ep, &e, 1, how % 2 ? 20000 : -1);
}

int main(int argc, char **argv)
{
	static const char *const kind[] = {"pipe", "socket", "eventfd"};
	static const char *const call[] = {"select|pselect6", "poll|ppoll",
					   "epoll_wait|epoll_pwait"};
	struct plant_part c;
	unsigned what;
	uint64_t t;

	if (plant_init(argc, argv))
		return 0;
	how = plant_pick(6);
	what = plant_pick(3);
	if (pipe(never) || (what == 0 && pipe(fd)) ||
	    (what == 1 && socketpair(AF_UNIX, SOCK_STREAM, 0, fd)))
		err(1, "pipe");
	if (what == 2)
		fd[0] = fd[1] = eventfd(0, EFD_CLOEXEC);
	if (plant_pick(2)) {
		passed = (void *)plant->own;
		sem_init(passed, 1, 0);
	}
	plant_be(&plant->victim, the.victim);
	plant_work(the.before);
	plant_start(&c, plant_pick(2) ? PLANT_THREAD : PLANT_CHILD, culprit);
	t = plant_begin();
	await();
	plant_end(t);
	if (read(fd[0], &word, sizeof(word)) != sizeof(word))
		err(1, "read");
	if (passed && sem_wait(passed))
		err(1, "semaphore");
	plant_work(5 + the.after);
	plant_finish(&c);
	plant_truth(kind[what], call[how % 3]);
	return 0;
}
