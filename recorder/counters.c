/* SPDX-License-Identifier: MIT */
/*
 * See counters.h. One event per counter and CPU, whichever thread runs; a BPF program
 * (counters.bpf.c) reads them at switches and attributes the increase to the thread that ran. So no
 * event per thread is needed, counts stay right at each switch even if groups are multiplexed, and
 * the kernel does not switch events at every context switch. The alternative, inherited events with
 * PERF_SAMPLE_READ, needs kernel 6.13 and loses the counts of threads that end without a sample.
 */
#include "counters.h"

#include <stdio.h>
#include <string.h>

#include "counter_event.h"
#include "counter_record.h"

static int group_error(struct ty_err *err, int code, const char *group, const char *why)
{
	return ty_fail(err, code, TY_NO_OFFSET, "--counter %s: %s", group, why);
}

#ifndef TY_HAVE_BPF

int ty_counters_open(struct ty_counters_rec **out, const char *const *groups, size_t n,
		     const struct ty_call_data *e, const char *tracefs, const unsigned *cpus,
		     unsigned cpus_n, struct ty_err *err)
{
	*out = NULL;
	return group_error(err, TY_EUNSUPPORTED, groups[0],
			   "counters are read by a BPF program, and this tarry was built without "
			   "BPF");
}

unsigned ty_counters_fds(const char *const *groups, size_t n, unsigned cpus_n)
{
	return 0;
}

void ty_counters_facts(const struct ty_counters_rec *c, struct ty_buf *out)
{
}

int ty_counters_start(struct ty_counters_rec *c, struct ty_spool *spool, struct ty_err *err)
{
	return 0;
}

struct ty_spooled_section *ty_counters_section(struct ty_counters_rec *c)
{
	return NULL;
}

void ty_counters_finish(struct ty_counters_rec *c, struct ty_counters_result *res)
{
	*res = (struct ty_counters_result){0};
}

#else

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <counters.skel.h>

#include "counters_bpf.h"
#include "cpu_rings.h"
#include "ring_drainer.h"
#include "section.h"
#include "unaligned.h"
#include "vec.h"

enum { TICK_HZ = 100 };
/* As those of samples: bytes in the file, and no less than RAW_PART of what a reader has of them.
 */
#define SECTION_MAX ((uint64_t)128 << 20)
#define RAW_PART    4

static const struct ty_section_form form = {
	.section = TY_SEC_COUNTERS, .most = SECTION_MAX, .raw_part = RAW_PART};

struct counter {
	struct ty_counter_event e;
	uint32_t group;
};

struct ty_counters_rec {
	struct counters_bpf *bpf;
	struct counter counters[TY_COUNTERS_MAX];
	unsigned n, groups;
	const unsigned *cpus;
	unsigned cpus_n;
	VEC(int) events; /* counters and ticks */
	struct ty_cpu_rings rings;
	struct ty_spool_writer *writer;
	struct ty_ring_drainer drainer;
	struct ty_spooled_section section;
	uint64_t lost, lost_told, last_ns;
	struct ty_counters_result res;
};

static void free_all(struct ty_counters_rec *c)
{
	if (c->bpf)
		c->bpf->bss->off = 1;
	vec_each (fd, &c->events)
		close(*fd);
	vec_fini(&c->events);
	ty_cpu_rings_close(&c->rings);
	counters_bpf__destroy(c->bpf);
	ty_spool_writer_free(c->writer);
	ty_ring_drainer_fini(&c->drainer);
	ty_spooled_section_fini(&c->section);
	free(c);
}

/* what is counted ---------------------------------------------------------------------------------
 */

static int parse(struct ty_counters_rec *c, const char *const *groups, size_t n,
		 const char *tracefs, struct ty_err *err)
{
	if (n > TY_COUNTER_GROUPS_MAX)
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET, "at most %d --counter groups",
			       TY_COUNTER_GROUPS_MAX);
	for (; c->groups < n; c->groups++) {
		const char *p = groups[c->groups];

		for (bool more = true; more;) {
			const size_t k = ty_counter_name_length(p);
			int e;

			if (c->n == TY_COUNTERS_MAX)
				return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
					       "at most %d --counter events", TY_COUNTERS_MAX);
			e = ty_counter_event(p, k, TY_COUNTER_DEVICES, tracefs,
					     &c->counters[c->n].e, err);
			if (e)
				return e;
			c->counters[c->n++].group = c->groups;
			more = p[k];
			p += k + 1;
		}
	}
	return 0;
}

static int why_not(const struct ty_counters_rec *c, unsigned i, bool first, int error,
		   struct ty_err *err)
{
	const char *name = c->counters[i].e.name;
	char why[160];

	if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV || error == ENXIO)
		return group_error(err, TY_EUNSUPPORTED, name,
				   "this machine cannot count it (a virtual machine may have no "
				   "hardware counters)");
	if (error == EINVAL && !first)
		return group_error(err, TY_EUNSUPPORTED, name,
				   "its group does not fit the counters of the CPU: make several "
				   "groups");
	if (error == EACCES || error == EPERM)
		return group_error(err, TY_EPERM, name,
				   "no permission (run as root, kernel.perf_event_paranoid)");
	snprintf(why, sizeof(why), "the kernel refuses the event (%s)", strerror(error));
	return group_error(err, TY_ESYS, name, why);
}

/* Counters [first, end), one group, on a CPU, into fds. */
static int open_group(const struct ty_counters_rec *c, unsigned first, unsigned end, int cpu,
		      bool pinned, int *fds, struct ty_err *err)
{
	for (unsigned i = first; i < end; i++) {
		struct perf_event_attr a = c->counters[i].e.attr;

		/* Enabled when it is whole: seen here, a tracepoint that leads a group hardly ever
		 * counts when others join it later. */
		a.disabled = i == first;
		a.pinned = pinned && i == first;
		a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		fds[i] = (int)syscall(SYS_perf_event_open, &a, -1, cpu, i > first ? fds[first] : -1,
				      PERF_FLAG_FD_CLOEXEC);
		if (fds[i] < 0) {
			const int error = errno;

			for (unsigned k = first; k < i; k++)
				close(fds[k]);
			return why_not(c, i, i == first, error, err);
		}
	}
	if (!ioctl(fds[first], PERF_EVENT_IOC_ENABLE, 0))
		return 0;
	ty_fail_errno(err, "--counter %s: it cannot be enabled", c->counters[first].e.name);
	while (end-- > first)
		close(fds[end]);
	return -TY_ESYS;
}

/* A pinned group that cannot count now reads as an end of file: perf_event_open(2). */
static int try_group(const struct ty_counters_rec *c, unsigned first, unsigned end,
		     struct ty_err *err)
{
	int fds[TY_COUNTERS_MAX], e;
	uint64_t v[3];
	bool counts;

	e = open_group(c, first, end, (int)c->cpus[0], true, fds, err);
	if (e)
		return e;
	counts = read(fds[first], v, sizeof(v)) > 0;
	while (end-- > first)
		close(fds[end]);
	return counts ? 0
		      : group_error(err, TY_EUNSUPPORTED, c->counters[first].e.name,
				    "its group cannot be counted: others use the counters of the "
				    "CPU (the watchdog has one: sysctl kernel.nmi_watchdog=0), or "
				    "there are too few");
}

static int open_events(struct ty_counters_rec *c, struct ty_err *err)
{
	int fds[TY_COUNTERS_MAX], e = 0;

	for (unsigned first = 0, end; !e && first < c->n; first = end) {
		for (end = first; end < c->n && c->counters[end].group == c->counters[first].group;)
			end++;
		e = try_group(c, first, end, err);
		for (unsigned k = 0; !e && k < c->cpus_n; k++) {
			e = open_group(c, first, end, (int)c->cpus[k], false, fds, err);
			for (unsigned i = first; !e && i < end; i++) {
				const uint32_t at = c->cpus[k] * c->n + i;

				if (vec_push(&c->events, fds[i])) {
					close(fds[i]);
					e = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
				} else if (bpf_map__update_elem(c->bpf->maps.counter_events, &at,
								sizeof(at), &fds[i], sizeof(fds[i]),
								BPF_ANY)) {
					e = why_not(c, i, true, errno, err);
				}
			}
		}
	}
	return e;
}

static int load(struct ty_counters_rec *c, const struct ty_call_data *e, struct ty_err *err)
{
	c->bpf = counters_bpf__open();
	if (c->bpf) {
		c->bpf->rodata->trace_all = !e;
		c->bpf->rodata->own = (uint32_t)getpid();
		c->bpf->rodata->counters = c->n;
		c->bpf->rodata->groups = c->groups;
		for (unsigned i = 0; i < c->n; i++)
			c->bpf->rodata->group_of[i] = c->counters[i].group;
		c->bpf->bss->off = 1;
		bpf_map__set_max_entries(c->bpf->maps.counter_events,
					 (c->cpus[c->cpus_n - 1] + 1) * c->n);
		if ((!e || !bpf_map__reuse_fd(c->bpf->maps.tids, ty_call_data_tids_fd(e))) &&
		    !counters_bpf__load(c->bpf))
			return 0;
	}
	return ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
		       "--counter: the kernel rejects the BPF program that reads counters (%s)",
		       strerror(errno));
}

int ty_counters_open(struct ty_counters_rec **out, const char *const *groups, size_t n,
		     const struct ty_call_data *ev, const char *tracefs, const unsigned *cpus,
		     unsigned cpus_n, struct ty_err *err)
{
	struct ty_counters_rec *c = calloc(1, sizeof(*c));
	int e;

	*out = NULL;
	if (!c)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	c->cpus = cpus;
	c->cpus_n = cpus_n;
	ty_spooled_section_init(&c->section, &form, c);
	e = ty_ring_drainer_init(&c->drainer) ? 0 : ty_fail_errno(err, "cannot make an eventfd");
	e = e ? e : parse(c, groups, n, tracefs, err);
	e = e ? e : load(c, ev, err);
	e = e ? e : open_events(c, err);
	if (e) {
		free_all(c);
		return e;
	}
	*out = c;
	return 0;
}

unsigned ty_counters_fds(const char *const *groups, size_t n, unsigned cpus_n)
{
	return n ? 24 + cpus_n * (TY_COUNTERS_MAX + 2) : 0;
}

void ty_counters_facts(const struct ty_counters_rec *c, struct ty_buf *out)
{
	for (unsigned i = 0; i < c->n; i++)
		ty_buf_addf(out, "counter=%u %s %s\n", c->counters[i].group,
			    c->counters[i].e.is_time ? "ns" : "count", c->counters[i].e.name);
}

/* readings ----------------------------------------------------------------------------------------
 */

static void put(struct ty_counters_rec *c, const struct ty_counter_head *h, const char *values,
		size_t n, bool last)
{
	const size_t all = TY_COUNTER_RECORD(c->n, c->groups);
	static const char zeros[8 * (TY_COUNTERS_MAX + 2 * TY_COUNTER_GROUPS_MAX)];

	if (!(last ? ty_spooled_section_last : ty_spooled_section_room)(&c->section, all)) {
		c->lost++;
		return;
	}
	ty_buf_add(&c->section.b, h, sizeof(*h));
	ty_buf_add(&c->section.b, values, n);
	ty_buf_add(&c->section.b, zeros, all - sizeof(*h) - n);
}

/* A sample: u64 time; u32 CPU, 0; u32 bytes of raw, and these. */
static int on_records(void *ctx, const struct ty_aux_ring *r, const void *bytes, size_t n)
{
	enum { CPU = 8, RAW = 16 };
	struct ty_counters_rec *c = ctx;
	const size_t values = 8 * (c->n + 2 * (size_t)c->groups);
	struct perf_event_header h;

	for (const char *p; (p = ty_aux_next(&bytes, &n, &h));) {
		struct ty_counter_head head = {0};
		const char *raw = p + RAW + 4;

		if (h.type != PERF_RECORD_SAMPLE ||
		    h.size < sizeof(h) + RAW + 4 + TY_CT_READING_HEAD + values)
			continue;
		head.ns = ty_u64_at(p);
		head.cpu = (uint16_t)ty_u32_at(p + CPU);
		head.dur_ns = ty_u64_at(raw);
		head.pid = ty_u32_at(raw + 8);
		head.tid = ty_u32_at(raw + 12);
		head.flags = (uint16_t)ty_u32_at(raw + 16);
		if (head.ns > c->last_ns)
			c->last_ns = head.ns;
		c->res.readings++;
		put(c, &head, raw + TY_CT_READING_HEAD, values, false);
	}
	return 0;
}

static int fd_of(const void *ctx, unsigned i)
{
	return ((const struct ty_counters_rec *)ctx)->rings.v[i].fd;
}

/* last: no reading follows, so that the room kept for this one may be used. */
static void tell_lost(struct ty_counters_rec *c, bool last)
{
	const uint64_t lost = c->lost + __atomic_load_n(&c->bpf->bss->lost, __ATOMIC_RELAXED);

	if (lost > c->lost_told) {
		const struct ty_counter_head h = {
			.ns = c->last_ns, .dur_ns = lost - c->lost_told, .flags = TY_CT_LOST};
		const uint64_t before = c->lost;

		put(c, &h, NULL, 0, last);
		if (c->lost == before)
			c->lost_told = lost;
		c->lost = before;
	}
}

static void move(void *ctx, bool last)
{
	struct ty_counters_rec *c = ctx;
	const struct ty_aux_sink sink = {on_records, NULL, c};

	ty_cpu_rings_drain(&c->rings, &sink);
	tell_lost(c, false);
	ty_spooled_section_tick(&c->section);
}

static bool open_rings(struct ty_counters_rec *c)
{
	struct perf_event_attr out = {.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU};
	struct perf_event_attr tick = {.type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .size = sizeof(tick),
				       .sample_period = 1000000000 / TICK_HZ,
				       .exclude_idle = 1};

	if (!ty_cpu_rings_open_output(&c->rings, &out, bpf_map__fd(c->bpf->maps.readings), c->cpus,
				      c->cpus_n))
		return false;
	for (unsigned i = 0; i < c->cpus_n; i++) {
		int fd = (int)syscall(SYS_perf_event_open, &tick, -1, c->cpus[i], -1,
				      PERF_FLAG_FD_CLOEXEC);

		if (fd < 0 || vec_push(&c->events, fd))
			return false;
		if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(c->bpf->progs.ticked)))
			return false;
	}
	c->bpf->links.switched = bpf_program__attach_trace(c->bpf->progs.switched);
	return c->bpf->links.switched;
}

int ty_counters_start(struct ty_counters_rec *c, struct ty_spool *spool, struct ty_err *err)
{
	c->writer = ty_spool_writer_new(spool, TY_SPOOLED_PIECE);
	if (!c->writer)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	ty_spooled_section_start(&c->section, c->writer, false);
	if (!open_rings(c))
		return ty_fail_errno(err, "--counter: the program that reads counters cannot be "
					  "attached");
	if (!ty_ring_drainer_start(&c->drainer, c->rings.n, fd_of, move, c))
		return ty_fail_errno(err, "--counter: no thread can be created");
	c->bpf->bss->off = 0;
	return 0;
}

struct ty_spooled_section *ty_counters_section(struct ty_counters_rec *c)
{
	return c ? &c->section : NULL;
}

void ty_counters_finish(struct ty_counters_rec *c, struct ty_counters_result *res)
{
	*res = (struct ty_counters_result){0};
	if (!c)
		return;
	if (c->drainer.started) {
		c->bpf->bss->off = 1;
		ty_ring_drainer_stop(&c->drainer);
		tell_lost(c, true);
		ty_spooled_section_put(&c->section);
		c->res.lost = c->lost + c->bpf->bss->lost;
		c->res.failed = c->section.failed;
		*res = c->res;
	}
	free_all(c);
}

#endif
