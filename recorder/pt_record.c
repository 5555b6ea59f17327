/* SPDX-License-Identifier: MIT */
/*
 * See pt_record.h. One thread empties all rings: when one is half full, and ten times a second.
 * Facts of the PMU: /sys/bus/event_source/devices/intel_pt; config bits: linux
 * arch/x86/include/asm/msr-index.h, IA32_RTIT_CTL.
 */
#include "pt_record.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "aux_ring.h"
#include "buf.h"
#include "meta_writer.h"
#include "perf_record.h"
#include "perf_write.h"
#include "pt_caps.h"

#define PMU	    "/sys/bus/event_source/devices/intel_pt"
#define SAMPLE_TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)
#define PIECE_MAX   (8u << 20)
enum {
	TICK_MS = 100,
	AUX_BYTES = 4 << 20,
	SIDE_BYTES = 1 << 20,
	PT_DATA_BYTES = 256 << 10,
	MTC_PERIOD = 3, /* as perf: every 2^3 ticks of the crystal clock */
	PSB_PERIOD = 3, /* every 2^(3 + 11) bytes */
	MTC_SHIFT = 14,
	PSB_SHIFT = 24,
	SWITCH_CPU_WIDE = 3, /* perf's word for how switches are recorded */
};
#define CONFIG_PT     (1ull << 0)
#define CONFIG_CYC    (1ull << 1)
#define CONFIG_MTC    (1ull << 9)
#define CONFIG_TSC    (1ull << 10)
#define CONFIG_NORET  (1ull << 11)
#define CONFIG_BRANCH (1ull << 13)
#define MTC_FREQ_BITS (15ull << MTC_SHIFT)

struct ty_pt_rec {
	struct ty_pt_opts o;
	unsigned n; /* CPUs; ring i of each kind is of the i-th */
	struct ty_aux_ring *pt, *side;
	struct perf_event_attr pt_attr, side_attr;
	struct ty_meta meta;
	bool have_meta, started;
	pthread_t thread;
	int wake; /* eventfd */
	atomic_uint ask;
	atomic_bool stop;
	struct ty_pt_result res;
};

static uint64_t pmu_number(const char *name, const char *fmt, uint64_t absent)
{
	char path[200];
	uint64_t v = absent;
	FILE *f;

	snprintf(path, sizeof(path), PMU "/%s", name);
	f = fopen(path, "re");
	if (f && fscanf(f, fmt, &v) != 1)
		v = absent;
	if (f)
		fclose(f);
	return v;
}

static bool pmu_has(const char *name)
{
	char path[200];

	snprintf(path, sizeof(path), PMU "/%s", name);
	return !access(path, R_OK);
}

/* TSC, a coarse clock between, and PSBs often enough to enter the stream anywhere. */
static uint64_t config(void)
{
	uint64_t c = CONFIG_TSC;

	if (pmu_has("format/pt") && pmu_has("format/branch"))
		c |= CONFIG_PT | CONFIG_BRANCH;
	if (pmu_number("caps/mtc", "%" SCNu64, 0) &&
	    pmu_number("caps/mtc_periods", "%" SCNx64, 0) >> MTC_PERIOD & 1)
		c |= CONFIG_MTC | (uint64_t)MTC_PERIOD << MTC_SHIFT;
	if (pmu_number("caps/psb_cyc", "%" SCNu64, 0) &&
	    pmu_number("caps/psb_periods", "%" SCNx64, 0) >> PSB_PERIOD & 1)
		c |= (uint64_t)PSB_PERIOD << PSB_SHIFT;
	return c;
}

static void make_attrs(struct ty_pt_rec *p, uint64_t type)
{
	p->pt_attr = (struct perf_event_attr){
		.type = (uint32_t)type,
		.size = sizeof(p->pt_attr),
		.config = config(),
		.sample_period = 1,
		.sample_type = SAMPLE_TYPE,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.exclude_kernel = !p->o.kernel,
		.exclude_hv = 1,
		.sample_id_all = 1,
		.watermark = 1,
		.wakeup_watermark = PT_DATA_BYTES / 2,
	};
	p->side_attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(p->side_attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.sample_type = SAMPLE_TYPE,
		.disabled = 1,
		.mmap = 1,
		.mmap2 = 1,
		.build_id = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.context_switch = 1,
		.sample_id_all = 1,
		.watermark = 1,
		.wakeup_watermark = SIDE_BYTES / 2,
	};
}

static int open_cpu(struct ty_pt_rec *p, unsigned i, pid_t pid, int cpu, struct ty_err *err)
{
	struct ty_err first = {0};
	int e = ty_aux_open(&p->side[i], &p->side_attr, -1, cpu, SIDE_BYTES, 0, false, &first);

	/* Kernels before 5.12 tell no build ids. */
	if (e && p->side_attr.build_id) {
		p->side_attr.build_id = 0;
		e = ty_aux_open(&p->side[i], &p->side_attr, -1, cpu, SIDE_BYTES, 0, false, &first);
	}
	if (e)
		return ty_fail(err, -e, TY_NO_OFFSET, "--flow, switches of CPU %d: %s", cpu,
			       first.msg);
	first = (struct ty_err){0};
	e = ty_aux_open(&p->pt[i], &p->pt_attr, pid, cpu, PT_DATA_BYTES, AUX_BYTES, p->o.snapshot,
			&first);
	if (e)
		return ty_fail(err, -e, TY_NO_OFFSET, "--flow, Intel PT on CPU %d: %s", cpu,
			       first.msg);
	if (p->o.filter && ioctl(p->pt[i].fd, PERF_EVENT_IOC_SET_FILTER, p->o.filter))
		return ty_fail_errno(err,
				     "--flow-filter: the kernel does not take '%s' (`tarry doctor` "
				     "tells how many address filters the CPU has)",
				     p->o.filter);
	return 0;
}

static void free_all(struct ty_pt_rec *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		if (p->pt)
			ty_aux_close(&p->pt[i]);
		if (p->side)
			ty_aux_close(&p->side[i]);
	}
	if (p->have_meta)
		ty_meta_fini(&p->meta);
	if (p->wake >= 0)
		close(p->wake);
	free(p->pt);
	free(p->side);
	free(p);
}

int ty_pt_rec_open(struct ty_pt_rec **out, const struct ty_pt_opts *o, pid_t pid,
		   const unsigned *cpus, unsigned n, struct ty_err *err)
{
	struct ty_pt_rec *p = calloc(1, sizeof(*p));
	uint64_t type = pmu_number("type", "%" SCNu64, UINT64_MAX);
	int e = 0;

	*out = NULL;
	if (!p)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	p->o = *o;
	p->n = n;
	p->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	p->pt = calloc(n, sizeof(*p->pt));
	p->side = calloc(n, sizeof(*p->side));
	for (unsigned i = 0; i < n && p->pt && p->side; i++)
		p->pt[i].fd = p->side[i].fd = -1;
	if (!p->pt || !p->side || p->wake < 0)
		e = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	else if (type > UINT32_MAX)
		e = ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
			    "this machine has no Intel PT (" PMU " is missing)");
	if (!e)
		make_attrs(p, type);
	for (unsigned i = 0; i < n && !e; i++)
		e = open_cpu(p, i, pid, (int)cpus[i], err);
	if (e)
		free_all(p);
	else
		*out = p;
	return e;
}

static void put(struct ty_pt_rec *p, const void *bytes, size_t n)
{
	if (!p->res.failed && ty_meta_section(&p->meta, TY_SEC_PERF, bytes, n, NULL))
		p->res.failed = true;
}

static int on_records(void *ctx, const struct ty_aux_ring *r, const void *bytes, size_t n)
{
	put(ctx, bytes, n);
	return 0;
}

static int on_aux(void *ctx, const struct ty_aux_ring *r, uint64_t off, const void *bytes, size_t n)
{
	struct ty_buf b;

	ty_buf_init(&b, PIECE_MAX);
	ty_perf_put_auxtrace(&b, r->cpu, -1, (uint32_t)r->cpu, off, bytes, n);
	if (b.failed)
		((struct ty_pt_rec *)ctx)->res.failed = true;
	else
		put(ctx, b.p, b.len);
	ty_buf_fini(&b);
	return 0;
}

static void *move_main(void *arg)
{
	struct ty_pt_rec *p = arg;
	const struct ty_aux_sink sink = {on_records, on_aux, p};
	struct pollfd *polls = calloc(2 * (size_t)p->n + 1, sizeof(*polls));
	unsigned done = 0;
	uint64_t v;

	for (unsigned i = 0; polls && i < p->n; i++) {
		polls[2 * i] = (struct pollfd){.fd = p->pt[i].fd, .events = POLLIN};
		polls[2 * i + 1] = (struct pollfd){.fd = p->side[i].fd, .events = POLLIN};
	}
	if (polls)
		polls[2 * p->n] = (struct pollfd){.fd = p->wake, .events = POLLIN};
	while (!atomic_load(&p->stop)) {
		unsigned asked;

		poll(polls, polls ? 2 * p->n + 1 : 0, TICK_MS);
		/* An event whose threads are gone says HUP for ever. */
		for (unsigned i = 0; polls && i < 2 * p->n; i++)
			if (polls[i].revents & (POLLHUP | POLLERR))
				polls[i].fd = -1;
		(void)!read(p->wake, &v, sizeof(v));
		asked = atomic_load(&p->ask);
		for (unsigned i = 0; i < p->n; i++) {
			if (asked != done && p->o.snapshot) {
				if (ty_aux_snapshot(&p->pt[i], &sink, NULL))
					p->res.failed = true;
			} else {
				ty_aux_drain(&p->pt[i], &sink);
			}
			ty_aux_drain(&p->side[i], &sink);
		}
		p->res.snapshots += asked != done;
		done = asked;
	}
	/* PT ends first: switches and mappings are known to its end. */
	for (unsigned i = 0; i < p->n; i++)
		ty_aux_finish(&p->pt[i], &sink);
	for (unsigned i = 0; i < p->n; i++)
		ty_aux_finish(&p->side[i], &sink);
	free(polls);
	return NULL;
}

static void put_ids(struct ty_buf *b, const struct perf_event_attr *attr,
		    const struct ty_aux_ring *r, unsigned n)
{
	uint64_t *ids = calloc(n, sizeof(*ids));

	for (unsigned i = 0; ids && i < n; i++)
		ioctl(r[i].fd, PERF_EVENT_IOC_ID, &ids[i]);
	if (ids)
		ty_perf_put_attr(b, attr, ids, n);
	else
		b->failed = true;
	free(ids);
}

static void put_head(struct ty_pt_rec *p, struct ty_buf *b)
{
	const struct perf_event_mmap_page *m = p->pt[0].page;
	const char *filter = p->o.filter ? p->o.filter : "";
	uint64_t words[TY_PT_INFO_WORDS] = {
		[TY_PT_INFO_PMU_TYPE] = p->pt_attr.type,
		[TY_PT_INFO_TSC_BIT] = CONFIG_TSC,
		[TY_PT_INFO_NORETCOMP_BIT] = CONFIG_NORET,
		[TY_PT_INFO_SCHED_SWITCH] = SWITCH_CPU_WIDE,
		[TY_PT_INFO_SNAPSHOT] = p->o.snapshot,
		[TY_PT_INFO_PER_CPU] = 1,
		[TY_PT_INFO_MTC_BIT] = CONFIG_MTC,
		[TY_PT_INFO_MTC_FREQ_BITS] = MTC_FREQ_BITS,
		[TY_PT_INFO_CYC_BIT] = CONFIG_CYC,
		[TY_PT_INFO_NONTURBO_RATIO] = pmu_number("max_nonturbo_ratio", "%" SCNu64, 0),
		[TY_PT_INFO_FILTER_LEN] = strlen(filter),
	};
#if defined(__x86_64__) || defined(__i386__)
	unsigned eax, ebx, ecx, edx;

	if (__get_cpuid(0x15, &eax, &ebx, &ecx, &edx)) {
		words[TY_PT_INFO_TSC_CTC_N] = ebx;
		words[TY_PT_INFO_TSC_CTC_D] = eax;
	}
#endif
	p->res.no_time = !m->cap_user_time_zero;
	if (!p->res.no_time) {
		words[TY_PT_INFO_TIME_SHIFT] = m->time_shift;
		words[TY_PT_INFO_TIME_MULT] = m->time_mult;
		words[TY_PT_INFO_TIME_ZERO] = m->time_zero;
		words[TY_PT_INFO_HAVE_TIME_ZERO] = 1;
	}
	ty_perf_put_machine(b);
	ty_perf_put_pmu(b, p->pt_attr.type, "intel_pt");
	put_ids(b, &p->pt_attr, p->pt, p->n);
	put_ids(b, &p->side_attr, p->side, p->n);
	ty_perf_put_auxtrace_info(b, TY_PERF_AUXTRACE_INTEL_PT, words, TY_PT_INFO_WORDS, filter);
	if (!p->res.no_time)
		ty_perf_put_time_conv(b, m->time_shift, m->time_mult, m->time_zero);
}

int ty_pt_rec_start(struct ty_pt_rec *p, struct ty_spool *spool, struct ty_err *err)
{
	struct ty_buf b;
	int e = ty_meta_init(&p->meta, spool, err);

	if (e)
		return e;
	p->have_meta = true;
	for (unsigned i = 0; i < p->n && !e; i++)
		e = ty_aux_on(&p->side[i], true, err);
	if (e)
		return e;
	ty_buf_init(&b, PIECE_MAX);
	put_head(p, &b);
	e = b.failed ? ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory")
		     : ty_meta_section(&p->meta, TY_SEC_PERF, b.p, b.len, err);
	ty_buf_fini(&b);
	if (!e && pthread_create(&p->thread, NULL, move_main, p))
		e = ty_fail(err, TY_ESYS, TY_NO_OFFSET, "cannot start a thread");
	p->started = !e;
	return e;
}

static void wake(struct ty_pt_rec *p)
{
	uint64_t one = 1;

	(void)!write(p->wake, &one, sizeof(one));
}

void ty_pt_rec_snapshot(struct ty_pt_rec *p)
{
	atomic_fetch_add(&p->ask, 1);
	wake(p);
}

void ty_pt_rec_finish(struct ty_pt_rec *p, struct ty_pt_result *res)
{
	if (!p)
		return;
	if (p->started) {
		atomic_store(&p->stop, true);
		wake(p);
		pthread_join(p->thread, NULL);
	}
	for (unsigned i = 0; i < p->n; i++) {
		p->res.bytes += p->pt[i].bytes;
		p->res.truncated += p->pt[i].truncated;
		p->res.lost += p->pt[i].lost + p->side[i].lost;
	}
	*res = p->res;
	free_all(p);
}
