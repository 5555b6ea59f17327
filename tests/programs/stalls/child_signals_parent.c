/* SPDX-License-Identifier: MIT */
/* The program waits for the signal by which its child, or a thread of its own, says that it is
 * done; it did not ask for it. */
#include "plant.h"

static sigset_t set;
static pthread_t waiter;
static pid_t pid;

static void got(int sig)
{
	(void)sig;
}

static void culprit(void)
{
	plant_be(&plant->culprit, the.culprit);
	plant_spend_ms(the.way, the.ms);
	if (getpid() == pid)
		pthread_kill(waiter, SIGUSR2);
	else
		kill(pid, SIGUSR2);
	plant_sleep_us(2000);
}

int main(int argc, char **argv)
{
	struct plant_part c;
	sigset_t others;
	bool suspend;
	uint64_t t;
	int sig;

	if (plant_init(argc, argv))
		return 0;
	suspend = plant_pick(2);
	pid = getpid();
	waiter = pthread_self();
	signal(SIGUSR2, got);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, &others);
	plant_be(&plant->victim, the.victim);
	plant_work(the.before);
	plant_start(&c, plant_pick(2) ? PLANT_THREAD : PLANT_CHILD, culprit);
	t = plant_begin();
	if (suspend)
		sigsuspend(&others);
	else if (sigwait(&set, &sig))
		err(1, "sigwait");
	plant_end(t);
	plant_work(5 + the.after);
	plant_finish(&c);
	plant_truth("signal", suspend ? "rt_sigsuspend" : "rt_sigtimedwait");
	return 0;
}
