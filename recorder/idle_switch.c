/* SPDX-License-Identifier: MIT */
/*
 * A thread pinned to each CPU sleeps a few times while an instance records only switches to and
 * from idle. A CPU that went idle more than once and never returned from it, according to its own
 * trace, does not deliver these events. The kernel filters; the result is read as text once tracing
 * is off.
 */
#include "idle_switch.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tracefs.h"

enum { ROUNDS = 2, SLEEPS = 6, SLEEP_NS = 1500000, TO_IDLE_MIN = 2 };

static void *sleeper(void *arg)
{
	const struct timespec nap = {.tv_nsec = SLEEP_NS};

	for (int i = 0; i < SLEEPS; i++)
		nanosleep(&nap, NULL);
	return arg;
}

static void sleep_everywhere(const unsigned *cpus, unsigned n, const enum ty_idle_verdict *verdict)
{
	pthread_t threads[TY_IDLE_CPUS_MAX];
	bool started[TY_IDLE_CPUS_MAX] = {false};

	for (unsigned i = 0; i < n; i++) {
		pthread_attr_t attr;
		cpu_set_t set;

		if (verdict[i] != TY_IDLE_UNTESTED || cpus[i] >= CPU_SETSIZE)
			continue;
		CPU_ZERO(&set);
		CPU_SET(cpus[i], &set);
		pthread_attr_init(&attr);
		pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
		started[i] = !pthread_create(&threads[i], &attr, sleeper, NULL);
		pthread_attr_destroy(&attr);
	}
	for (unsigned i = 0; i < n; i++)
		if (started[i])
			pthread_join(threads[i], NULL);
}

static unsigned occurrences(const char *text, const char *what)
{
	unsigned n = 0;

	for (const char *p = text; (p = strstr(p, what)); p++)
		n++;
	return n;
}

static enum ty_idle_verdict judge(const struct ty_instance *inst, unsigned cpu)
{
	enum ty_idle_verdict v = TY_IDLE_UNTESTED;
	struct ty_buf text;
	char path[64];

	ty_buf_init(&text, 8 << 20);
	snprintf(path, sizeof(path), "per_cpu/cpu%u/trace", cpu);
	if (!ty_tracefs_read(inst->dir, path, &text, NULL) && text.p) {
		if (occurrences(text.p, " prev_pid=0 "))
			v = TY_IDLE_DELIVERED;
		else if (occurrences(text.p, " next_pid=0 ") >= TO_IDLE_MIN)
			v = TY_IDLE_MISSING;
	}
	ty_buf_fini(&text);
	return v;
}

int ty_idle_switch_test(const char *root, const unsigned *cpus, unsigned n,
			enum ty_idle_verdict *verdict, struct ty_err *err)
{
	struct ty_instance inst;
	int r;

	if (n > TY_IDLE_CPUS_MAX)
		n = TY_IDLE_CPUS_MAX;
	r = ty_instance_create(&inst, root, "idletest", NULL, 0, 0, err);
	if (r)
		return r;
	r = ty_instance_event(&inst, "sched", "sched_switch", "filter",
			      "prev_pid == 0 || next_pid == 0", err);
	r = r ? r : ty_instance_event(&inst, "sched", "sched_switch", "enable", "1", err);
	for (int round = 0; !r && round < ROUNDS; round++) {
		bool all = true;

		for (unsigned i = 0; i < n; i++)
			all &= verdict[i] != TY_IDLE_UNTESTED;
		if (all)
			break;
		r = ty_instance_on(&inst, true, err);
		if (r)
			break;
		sleep_everywhere(cpus, n, verdict);
		r = ty_instance_on(&inst, false, err);
		for (unsigned i = 0; !r && i < n; i++)
			if (verdict[i] == TY_IDLE_UNTESTED)
				verdict[i] = judge(&inst, cpus[i]);
	}
	ty_instance_remove(&inst);
	return r;
}
