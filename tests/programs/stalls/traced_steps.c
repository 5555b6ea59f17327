/* SPDX-License-Identifier: MIT */
/* A tracer that stops the victim at each system call, for a little while each. */
#include "plant.h"

#include <sys/ptrace.h>

static _Atomic int *victim_pid, *seized;
static unsigned pause_us;

static void culprit(void)
{
	int pid, status;

	plant_be(&plant->culprit, the.culprit);
	plant_await(1);
	pid = atomic_load(victim_pid);
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) || ptrace(PTRACE_INTERRUPT, pid, NULL, NULL))
		err(1, "ptrace");
	waitpid(pid, &status, __WALL);
	atomic_store(seized, 1);
	while (atomic_load(&plant->turn) < 2) {
		ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
		if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
			return;
		plant_sleep_us(pause_us);
	}
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
}

static void victim(void)
{
	uint64_t t, end;

	plant_be(&plant->victim, the.victim);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	atomic_store(victim_pid, getpid());
	plant_turn(1);
	while (!atomic_load(seized))
		;
	t = plant_begin();
	end = plant_ns(CLOCK_MONOTONIC) + the.ms * 1000000ull;
	while (plant_ns(CLOCK_MONOTONIC) < end)
		getppid();
	plant_end(t);
	plant_turn(2);
	plant_work(the.after);
}

int main(int argc, char **argv)
{
	struct plant_part v, c;
	bool main_is_victim;

	if (plant_init(argc, argv))
		return 0;
	victim_pid = (void *)plant->own;
	seized = victim_pid + 1;
	main_is_victim = plant_pick(2);
	pause_us = plant_between(500, 3000);
	plant_start(&c, PLANT_CHILD, main_is_victim ? culprit : victim);
	plant_start(&v, PLANT_MAIN, main_is_victim ? victim : culprit);
	plant_finish(&c);
	plant_truth("stopped", NULL);
	return 0;
}
