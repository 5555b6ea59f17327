/* SPDX-License-Identifier: MIT */
/*
 * See untraced_culprits.h. A thread scans all threads ten times a second (a BPF iterator,
 * untraced_culprits.bpf.c), less often where that takes more than 1% of a CPU. The traced threads
 * pay nothing for it.
 */
#include "untraced_culprits.h"

#ifndef TY_HAVE_BPF

struct ty_culprits *ty_culprits_start(const struct ty_call_data *e,
				      struct ty_command_lines *commands, const unsigned *cpus,
				      unsigned cpus_n)
{
	return NULL;
}

void ty_culprits_finish(struct ty_culprits *c)
{
}

#else

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <untraced_culprits.skel.h>

#include "untraced_culprits_bpf.h"
#include "now.h"
#include "ring_drainer.h"

#define SCAN_NS UINT64_C(95000000)
/* A CPU's newest scans, the share of a CPU for scanning, and room for a waiting and a running
 * process of each CPU. */
enum { SCANS = 3, COST = 100, SEEN_MAX = 2 * TY_CULPRIT_CPUS + TY_CULPRIT_TRACERS };

struct ty_culprits {
	struct untraced_culprits_bpf *bpf;
	struct ring_buffer *senders;
	struct ty_ring_drainer drainer;
	struct ty_command_lines *commands;
	uint64_t scanned_ns, cost_ns;
	unsigned cpus_n;
	uint32_t (*runs)[SCANS]; /* by CPU: the processes seen there; 0: none, or requested */
	struct ty_culprit_seen seen[SEEN_MAX]; /* in a scan */
};

static int on_sender(void *ctx, void *data, size_t n)
{
	struct ty_culprits *c = ctx;
	const struct ty_culprit_sender *s = data;

	if (n < sizeof(*s) || s->n > TY_CULPRIT_ARGS)
		return 0;
	if (!s->n) /* a page of them was not in memory */
		ty_command_lines_culprit(c->commands, (int)s->pid);
	else
		ty_command_lines_add(c->commands, (int)s->pid, s->args, s->n, (int)s->parent);
	return 0;
}

static void on_seen(struct ty_culprits *c, const struct ty_culprit_seen *s, bool waits)
{
	if (s->kind == TY_CULPRIT_TRACER && !waits)
		ty_command_lines_culprit(c->commands, (int)s->pid);
	if (s->cpu >= c->cpus_n)
		return;
	if (s->kind == TY_CULPRIT_RUNS && !waits)
		c->runs[s->cpu][c->bpf->bss->now % SCANS] = s->pid;
	if (s->kind == TY_CULPRIT_WAITS && waits)
		for (unsigned i = 0; i < SCANS; i++) {
			ty_command_lines_culprit(c->commands, (int)c->runs[s->cpu][i]);
			c->runs[s->cpu][i] = 0;
		}
}

static void scan(struct ty_culprits *c)
{
	size_t at = 0;
	ssize_t n = 1;
	int fd;

	c->bpf->bss->now++;
	c->bpf->bss->tracers = 0;
	for (unsigned i = 0; i < c->cpus_n; i++)
		c->runs[i][c->bpf->bss->now % SCANS] = 0;
	fd = bpf_iter_create(bpf_link__fd(c->bpf->links.look));
	while (fd >= 0 && n && at < sizeof(c->seen)) {
		n = read(fd, (char *)c->seen + at, sizeof(c->seen) - at);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			break;
		at += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	for (int waits = 0; waits < 2; waits++)
		for (size_t i = 0; i < at / sizeof(*c->seen); i++)
			on_seen(c, &c->seen[i], waits);
}

static void move(void *ctx, bool last)
{
	struct ty_culprits *c = ctx;
	const uint64_t now_ns = ty_now_ns(CLOCK_MONOTONIC);
	uint64_t from_ns;

	ring_buffer__consume(c->senders);
	if (last || now_ns - c->scanned_ns < SCAN_NS || now_ns - c->scanned_ns < c->cost_ns * COST)
		return;
	c->scanned_ns = now_ns;
	from_ns = ty_now_ns(CLOCK_THREAD_CPUTIME_ID);
	scan(c);
	c->cost_ns = (7 * c->cost_ns + ty_now_ns(CLOCK_THREAD_CPUTIME_ID) - from_ns) / 8;
}

static int fd_of(const void *ctx, unsigned i)
{
	const struct ty_culprits *c = ctx;

	return ring_buffer__epoll_fd(c->senders);
}

static bool load(struct ty_culprits *c, const struct ty_call_data *e)
{
	c->bpf = untraced_culprits_bpf__open();
	if (!c->bpf)
		return false;
	c->bpf->rodata->own = (uint32_t)getpid();
	if (bpf_map__reuse_fd(c->bpf->maps.tids, ty_call_data_tids_fd(e)) ||
	    untraced_culprits_bpf__load(c->bpf) || untraced_culprits_bpf__attach(c->bpf))
		return false;
	c->senders = ring_buffer__new(bpf_map__fd(c->bpf->maps.senders), on_sender, c, NULL);
	return c->senders;
}

struct ty_culprits *ty_culprits_start(const struct ty_call_data *e,
				      struct ty_command_lines *commands, const unsigned *cpus,
				      unsigned cpus_n)
{
	struct ty_culprits *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->commands = commands;
	c->cpus_n = cpus[cpus_n - 1] + 1;
	c->runs = calloc(c->cpus_n, sizeof(*c->runs));
	if (ty_ring_drainer_init(&c->drainer) && c->runs && load(c, e) &&
	    ty_ring_drainer_start(&c->drainer, 1, fd_of, move, c))
		return c;
	ty_culprits_finish(c);
	return NULL;
}

void ty_culprits_finish(struct ty_culprits *c)
{
	if (!c)
		return;
	ty_ring_drainer_stop(&c->drainer);
	ty_ring_drainer_fini(&c->drainer);
	ring_buffer__free(c->senders);
	untraced_culprits_bpf__destroy(c->bpf);
	free(c->runs);
	free(c);
}

#endif
