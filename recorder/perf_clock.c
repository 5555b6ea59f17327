/* SPDX-License-Identifier: MIT */
/* See perf_clock.h. Ring and records: perf_event_open(2). */
#include "perf_clock.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <x86intrin.h>

enum { PAGE = 4096, TRIES = 5 };

/* One pair of TSC and clock, the closest of a few tries. */
static int read_pair(struct ty_perf_clock *c, uint64_t *tsc, uint64_t *ns)
{
	struct perf_event_mmap_page *head = c->ring;
	const uint8_t *data = (const uint8_t *)c->ring + PAGE;
	uint64_t best = UINT64_MAX;
	char name[16] = "";

	prctl(PR_GET_NAME, name);
	for (int i = 0; i < TRIES; i++) {
		uint64_t from = __rdtsc(), to, at, time;

		prctl(PR_SET_NAME, name);
		to = __rdtsc();
		at = __atomic_load_n(&head->data_head, __ATOMIC_ACQUIRE);
		if (at < 8 || at == head->data_tail)
			continue;
		/* sample_id_all: the time is the record's last word; records are whole words. */
		memcpy(&time, data + (at - 8) % PAGE, 8);
		__atomic_store_n(&head->data_tail, at, __ATOMIC_RELEASE);
		if (to - from < best) {
			best = to - from;
			*tsc = from + (to - from) / 2;
			*ns = time;
		}
	}
	return best == UINT64_MAX ? -TY_ESYS : 0;
}

static void renew(struct ty_perf_clock *c)
{
	uint64_t tsc, ns;

	if (!read_pair(c, &tsc, &ns) && tsc > c->tsc_a && ns > c->ns_a) {
		c->ns_per_tsc = (double)(ns - c->ns_a) / (double)(tsc - c->tsc_a);
		c->tsc0 = tsc;
		c->ns0 = ns;
	}
	/* 10 ms after the start, then 20, 40... up to a second. */
	c->renew_tsc = c->tsc0 + (uint64_t)(1e9 / c->ns_per_tsc);
	if (c->tsc0 - c->tsc_a < c->renew_tsc - c->tsc0)
		c->renew_tsc = c->tsc0 + (c->tsc0 - c->tsc_a);
}

int ty_perf_clock_open(struct ty_perf_clock *c, struct ty_err *err)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.comm = 1,
		.sample_id_all = 1,
	};
	struct timespec pause = {.tv_nsec = 5000000};

	*c = (struct ty_perf_clock){.fd = -1, .ring = MAP_FAILED};
	c->fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (c->fd >= 0)
		c->ring = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
	if (c->fd < 0 || c->ring == MAP_FAILED || read_pair(c, &c->tsc_a, &c->ns_a))
		return ty_fail_errno(err, "cannot read the kernel's perf clock (perf_event_open)");
	nanosleep(&pause, NULL);
	c->tsc0 = c->tsc_a;
	c->ns0 = c->ns_a;
	c->ns_per_tsc = 0.5;
	renew(c);
	if (c->tsc0 == c->tsc_a)
		return ty_fail(err, TY_ESYS, TY_NO_OFFSET,
			       "the kernel's perf clock does not advance: --flow=step needs it for "
			       "its times");
	return 0;
}

uint64_t ty_perf_clock_now(struct ty_perf_clock *c)
{
	uint64_t tsc = __rdtsc(), ns;

	if (tsc >= c->renew_tsc) {
		renew(c);
		tsc = __rdtsc();
	}
	ns = c->ns0 + (uint64_t)(int64_t)((double)(int64_t)(tsc - c->tsc0) * c->ns_per_tsc);
	if (ns < c->last_ns)
		ns = c->last_ns;
	return c->last_ns = ns;
}

#else

int ty_perf_clock_open(struct ty_perf_clock *c, struct ty_err *err)
{
	*c = (struct ty_perf_clock){.fd = -1, .ring = MAP_FAILED};
	return ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET, "--flow=step is for x86-64 machines");
}

uint64_t ty_perf_clock_now(struct ty_perf_clock *c)
{
	return c->last_ns;
}

#endif

void ty_perf_clock_close(struct ty_perf_clock *c)
{
	if (c->ring != MAP_FAILED)
		munmap(c->ring, 2 * 4096);
	if (c->fd >= 0)
		close(c->fd);
}
