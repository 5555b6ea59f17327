/* SPDX-License-Identifier: MIT */
/* See user_probes.h. A probe of a function of this program, counted by perf_event_open(2) for this
 * thread only: nothing is written to a ring buffer. */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "first_line.h"
#include "user_probes.h"

enum { CALLS = 3 };

__attribute__((noinline)) static void probed(void)
{
	__asm__ volatile("" ::: "memory");
}

/* Where this program's file has the function; 0: unknown. */
static uint64_t file_offset(const void *function)
{
	const uint64_t at = (uint64_t)(uintptr_t)function;
	uint64_t from, to, offset, found = 0;
	char line[512];
	FILE *f = fopen("/proc/self/maps", "re");

	while (f && !found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &from, &to, &offset) ==
			    3 &&
		    at >= from && at < to)
			found = at - from + offset;
	if (f)
		fclose(f);
	return found;
}

static int counter_of(const char *root, const char *group)
{
	struct perf_event_attr a = {.type = PERF_TYPE_TRACEPOINT, .size = sizeof(a)};
	char id[32];

	if (!ty_first_line(id, sizeof(id), "%s/events/%s/trial/id", root, group) ||
	    sscanf(id, "%llu", &a.config) != 1)
		return -1;
	return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int ty_user_probes_trial(const char *root, struct ty_err *err)
{
	struct ty_user_probes u = {0};
	char at[80];
	uint64_t hits = 0;
	int fd, r;

	snprintf(at, sizeof(at), "/proc/self/exe:%#" PRIx64, file_offset(probed));
	r = ty_user_probes_one(&u, root, "trial", at);
	if (r) {
		r = ty_fail_errno(err, "the kernel refuses a probe");
	} else {
		fd = counter_of(root, u.group);
		for (unsigned i = 0; i < CALLS; i++)
			probed();
		if (fd < 0 || read(fd, &hits, sizeof(hits)) != sizeof(hits))
			r = ty_fail_errno(err, "a probe cannot be counted");
		else if (hits != CALLS)
			r = ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
				    "a probe was hit %" PRIu64 " times in %d calls", hits, CALLS);
		if (fd >= 0)
			close(fd);
	}
	ty_user_probes_remove(&u);
	return r;
}
