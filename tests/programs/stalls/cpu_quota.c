/* SPDX-License-Identifier: MIT */
/*
 * A cgroup whose CPU quota is used up: the victim stands ready, no CPU may take it. On a busy
 * machine this may not happen: the kernel's own count shows it.
 */
#include <sys/stat.h>

#include "plant.h"

static char group[256];

static bool put(const char *file, const char *fmt, ...)
{
	char path[512], text[64];
	va_list ap;
	int fd, n;
	bool done;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(path, sizeof(path), "%s/%s", group, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	done = write(fd, text, (size_t)n) == n;
	close(fd);
	return done;
}

/* Version 1 or 2, whichever there is; nothing of the machine's own set-up is changed. */
static bool make_group(unsigned quota_us, unsigned period_us)
{
	static const char *const roots[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/cpu",
					    "/sys/fs/cgroup/cpu,cpuacct"};

	for (unsigned i = 0; i < sizeof(roots) / sizeof(*roots); i++) {
		snprintf(group, sizeof(group), "%s/%s-%d", roots[i], the.culprit, getpid());
		if (mkdir(group, 0755))
			continue;
		if (put("cpu.max", "%u %u", quota_us, period_us) ||
		    (put("cpu.cfs_period_us", "%u", period_us) &&
		     put("cpu.cfs_quota_us", "%u", quota_us)))
			return true;
		rmdir(group);
	}
	return false;
}

/* Nanoseconds that the group was not allowed to run. */
static uint64_t throttled_ns(void)
{
	char path[512], key[32];
	unsigned long long v, ns = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/cpu.stat", group);
	f = fopen(path, "r");
	if (!f)
		err(1, "%s", path);
	while (fscanf(f, "%31s %llu", key, &v) == 2)
		ns = !strcmp(key, "throttled_usec")   ? v * 1000
		     : !strcmp(key, "throttled_time") ? v
						      : ns;
	fclose(f);
	return ns;
}

static void victim(void)
{
	plant_be(&plant->victim, the.victim);
	plant_work(the.before);
	put("cgroup.procs", "%d", getpid());
	plant_watch(1);
}

int main(int argc, char **argv)
{
	struct plant_part p;
	unsigned period, gone;

	if (plant_init(argc, argv))
		return 0;
	period = plant_between(150, 800) * 1000;
	if (!make_group(period / 10, period))
		plant_skip("no cgroup with a CPU quota can be made here");
	plant_start(&p, PLANT_CHILD, victim);
	/* A recorder that lists the groups only now and then has to see this one, too. */
	gone = period / 1000 * 2 > 1200 ? period / 1000 * 2 : 1200;
	plant_sleep_us(gone * 1000);
	plant_turn(1);
	plant_finish(&p);
	/* At least for as long as the longest time without progress. */
	if (throttled_ns() < plant->duration_ns / 10 * 9)
		plant->duration_ns = 0;
	rmdir(group);
	plant_truth("throttled", NULL);
	return 0;
}
