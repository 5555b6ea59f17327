/* SPDX-License-Identifier: MIT */
/* See steal_samples.h. /proc/stat as in proc_stat(5): "cpuN user nice system idle iowait irq
 * softirq steal ...", in units of USER_HZ, the lines of all CPUs before any other. */
#include "steal_samples.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "now.h"

#define INTERVAL_NS UINT64_C(100000000)
#define SELDOM_NS   UINT64_C(3000000000)
#define COST	    200 /* the pause between two samples is this multiple of their duration */
#define BYTES	    (UINT64_C(16) << 20)
#define TEXT	    (UINT64_C(16) << 20)
#define CPUS	    65536

void ty_steal_open(struct ty_steal_samples *s, const char *path)
{
	*s = (struct ty_steal_samples){
		.fd = open(path ? path : "/proc/stat", O_RDONLY | O_CLOEXEC)};
	ty_buf_init(&s->text, TEXT);
}

void ty_steal_close(struct ty_steal_samples *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	free(s->counted_ns);
	s->counted_ns = NULL;
	s->cpus = 0;
	ty_buf_fini(&s->text);
}

/* The lines of the CPUs, with a 0 behind them. */
static bool read_text(struct ty_steal_samples *s)
{
	char part[16384];
	off_t at = 0;
	ssize_t n;

	ty_buf_reset(&s->text);
	while ((n = pread(s->fd, part, sizeof(part), at)) > 0) {
		at += n;
		if (ty_buf_add(&s->text, part, (size_t)n) || memmem(part, (size_t)n, "\nintr", 5))
			break;
	}
	return s->text.len && !ty_buf_addc(&s->text, 0);
}

static bool make_room(struct ty_steal_samples *s, unsigned cpu)
{
	unsigned cpus = cpu < 32 ? 64 : 2 * cpu;
	uint64_t *p;

	if (cpu < s->cpus)
		return true;
	if (cpu >= CPUS || !(p = realloc(s->counted_ns, cpus * sizeof(*p))))
		return false;
	for (unsigned i = s->cpus; i < cpus; i++)
		p[i] = UINT64_MAX; /* not seen yet */
	s->counted_ns = p;
	s->cpus = cpus;
	return true;
}

void ty_steal_sample(struct ty_steal_samples *s, uint64_t (*trace_ns)(void *ctx), void *ctx,
		     struct ty_buf *out)
{
	uint64_t began_ns = ty_now_ns(CLOCK_THREAD_CPUTIME_ID), mono_ns, now_ns = 0, since;
	const uint64_t step_ns = UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);

	if (s->fd < 0 || !read_text(s))
		return;
	mono_ns = ty_now_ns(CLOCK_MONOTONIC);
	since = s->last_ns ? mono_ns - s->last_ns : 0;
	for (const char *p = s->text.p, *end; p && !strncmp(p, "cpu", 3);
	     p = end ? end + 1 : NULL) {
		unsigned cpu;
		uint64_t steal, was;
		char line[128];
		int n;

		end = strchr(p, '\n');
		if (sscanf(p, "cpu%u %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &cpu, &steal) != 2 ||
		    !make_room(s, cpu))
			continue;
		s->any |= steal != 0;
		steal *= step_ns;
		was = s->counted_ns[cpu];
		s->counted_ns[cpu] = steal;
		if (was == UINT64_MAX || steal <= was || !since || s->bytes > BYTES)
			continue;
		now_ns = now_ns ? now_ns : trace_ns(ctx);
		n = snprintf(line, sizeof(line), "%" PRIu64 "\t%" PRIu64 "\t%u\t%" PRIu64 "\n",
			     now_ns > since ? now_ns - since : 0, now_ns, cpu, steal - was);
		if (!ty_buf_add(out, line, (size_t)n))
			s->bytes += (uint64_t)n;
	}
	s->last_ns = mono_ns;
	s->spent_ns = ty_now_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
}

uint64_t ty_steal_next_ns(const struct ty_steal_samples *s)
{
	uint64_t pause = s->any ? INTERVAL_NS : SELDOM_NS;

	pause = s->spent_ns * COST > pause ? s->spent_ns * COST : pause;
	return s->fd < 0 ? UINT64_MAX : s->last_ns + pause;
}
