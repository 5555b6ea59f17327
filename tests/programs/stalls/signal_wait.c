/* SPDX-License-Identifier: MIT */
/* The client requests by a signal and waits for a signal as the reply: sigwait, sigsuspend,
 * signalfd.
 */
#include <sys/signalfd.h>

#include "plant.h"

static _Atomic int *ids; /* client, server */
static unsigned how, requests, slow;
static sigset_t set;

static void got(int sig)
{
	(void)sig;
}

static void await(void)
{
	struct signalfd_siginfo info;
	static _Thread_local int fd = -1;
	sigset_t others;
	int sig;

	if (how == 0) {
		if (sigwait(&set, &sig))
			err(1, "sigwait");
		return;
	}
	if (how == 1) {
		pthread_sigmask(SIG_BLOCK, NULL, &others);
		sigdelset(&others, SIGUSR1);
		sigsuspend(&others);
		return;
	}
	if (fd < 0)
		fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (read(fd, &info, sizeof(info)) != sizeof(info))
		err(1, "signalfd");
}

static void server(void)
{
	plant_be(&plant->culprit, the.culprit);
	ids[1] = getpid();
	plant_turn(1);
	for (unsigned i = 0; i < requests; i++) {
		await();
		if (i == slow)
			plant_spend_ms(the.way, the.ms);
		kill(ids[0], SIGUSR1);
	}
}

static void client(void)
{
	plant_be(&plant->victim, the.victim);
	ids[0] = getpid();
	plant_await(1);
	for (unsigned i = 0; i < requests; i++) {
		uint64_t t;

		plant_work(1 + the.before % 3);
		t = plant_begin();
		kill(ids[1], SIGUSR1);
		await();
		if (i == slow)
			plant_end(t);
	}
	plant_work(the.after);
}

int main(int argc, char **argv)
{
	struct plant_part s, c;
	bool server_main;

	if (plant_init(argc, argv))
		return 0;
	ids = (void *)plant->own;
	how = plant_pick(3);
	requests = plant_between(1, 6);
	slow = plant_pick(requests);
	server_main = plant_pick(2);
	signal(SIGUSR1, got);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* Signals go to processes: each is one of its own. */
	plant_start(&c, PLANT_CHILD, server_main ? client : server);
	plant_start(&s, PLANT_MAIN, server_main ? server : client);
	plant_finish(&c);
	plant_truth("signal", how == 0 ? "rt_sigtimedwait" : how == 1 ? "rt_sigsuspend" : "read");
	return 0;
}
