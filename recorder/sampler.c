/* SPDX-License-Identifier: MIT */
/*
 * See sampler.h. One event per CPU; mappings, execs and forks have rings of their own
 * (map_events.h). Of chosen processes a BPF program on the event drops samples of all others in the
 * kernel: events per thread would be switched at every context switch, and there would be threads
 * times CPUs of them. Samples and mappings are put in order of time, a moment later.
 *
 * What is put into the file are the kernel's own records, without the program's data: of a copy of
 * registers and stack only words that point to code or into that stack are kept, all others are
 * marked as removed (TY_STK_REMOVED). No more is needed to find the callers. The more the section
 * holds, the less of a stack is kept, so that a long recording has whole stacks at first and the
 * sampled address to the end.
 *
 * Budget: 99 samples a second of a busy CPU, 15 us each with compression: 0.15% of it.
 */
#include "sampler.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "aux_record.h"
#include "compare.h"
#include "cpu_rings.h"
#include "first_line.h"
#include "kernel_names.h"
#include "map_events.h"
#include "pair_map.h"
#include "perf_write.h"
#include "ring_drainer.h"
#include "sample_maps.h"
#include "sample_parts.h"
#include "section.h"
#include "unaligned.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef TY_HAVE_BPF
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <sampler.skel.h>
#endif

enum {
	STACK = 8192, /* bytes that the kernel copies of a stack */
	STACK_FEW = 1024,
	KERNEL_ADDRESSES = 65536,
	NAMES_MAX = 1 << 20,
	HOLD_NS = 20000000, /* rings are emptied one after the other: what is newer waits */
	BATCH_MAX = 256 << 20,
};
/* Bytes of the section as the file has them, compressed, and no less than RAW_PART of those that a
 * reader makes of them: up to which whole copies go in, then STACK_FEW bytes of each, then none. */
#define RAW_PART    4
#define WHOLE_UP_TO ((uint64_t)64 << 20)
#define FEW_UP_TO   ((uint64_t)128 << 20)
#define SECTION_MAX ((uint64_t)256 << 20)
#define SAMPLE_TYPE (TY_AUX_SAMPLE | PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)

#if defined(__x86_64__)
/* ax bx cx dx si di bp sp ip, r8 to r15 (asm/perf_regs.h) */
#define REGS	  0xff01ffull
#define REG_SP	  7
#define CODE_BITS UINT64_MAX
#elif defined(__aarch64__)
#define REGS	  ((1ull << 33) - 1) /* x0 to x30, sp, pc */
#define REG_SP	  31
#define CODE_BITS TY_STK_ARM_ADDRESS /* return addresses may be signed */
#else
#define REGS	  0ull
#define REG_SP	  0
#define CODE_BITS UINT64_MAX
#endif

/* A sample that waits for its turn. */
struct waiting {
	uint64_t ns;
	size_t at;
	uint32_t n;
};

struct ty_sampler {
	struct perf_event_attr attr;
	bool trace_all;
	int own;
	struct ty_cpu_rings rings;
	struct ty_map_events *events;
#ifdef TY_HAVE_BPF
	struct sampler_bpf *bpf;
#endif
	struct ty_spool_writer *writer;
	struct ty_ring_drainer drainer;
	pthread_mutex_t lock; /* of what follows */
	struct ty_spooled_section samples;
	struct ty_sample_maps *maps;
	struct ty_buf batch;
	VEC(struct waiting) waiting;
	struct ty_pair_map kernel; /* addresses of the kernel that were seen */
	uint64_t left_out;	   /* no room, no memory, malformed, or not written */
	struct ty_sampler_result res;
};

/* Records of perf.data. */
static size_t record_bytes(const void *p)
{
	struct perf_event_header h;

	memcpy(&h, p, sizeof(h));
	return h.size;
}

static void unwritten(void *ctx, const void *p)
{
	struct ty_sampler *s = ctx;
	struct perf_event_header h;

	memcpy(&h, p, sizeof(h));
	s->left_out += h.type == PERF_RECORD_SAMPLE;
	s->res.samples -= h.type == PERF_RECORD_SAMPLE;
}

static const struct ty_section_form samples_form = {.section = TY_SEC_SAMPLES,
						    .most = SECTION_MAX,
						    .raw_part = RAW_PART,
						    .record_bytes = record_bytes,
						    .unwritten = unwritten};

static void free_all(struct ty_sampler *s)
{
	ty_cpu_rings_close(&s->rings);
#ifdef TY_HAVE_BPF
	sampler_bpf__destroy(s->bpf);
#endif
	ty_spool_writer_free(s->writer);
	ty_ring_drainer_fini(&s->drainer);
	ty_map_events_free(s->events);
	ty_sample_maps_free(s->maps);
	ty_pair_map_fini(&s->kernel);
	vec_fini(&s->waiting);
	ty_buf_fini(&s->batch);
	pthread_mutex_destroy(&s->lock);
	ty_spooled_section_fini(&s->samples);
	free(s);
}

/* events ------------------------------------------------------------------------------------------
 */

static void make_attr(struct perf_event_attr *a, const struct ty_sampler_opts *o, bool cycles,
		      unsigned precise)
{
	*a = (struct perf_event_attr){.type = cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
				      .config = cycles ? PERF_COUNT_HW_CPU_CYCLES
						       : PERF_COUNT_SW_CPU_CLOCK,
				      .size = sizeof(*a),
				      .sample_type = SAMPLE_TYPE,
				      .disabled = 1,
				      .exclude_idle = 1,
				      .precise_ip = precise & 3,
				      .sample_id_all = 1};
	a->freq = cycles;
	if (cycles)
		a->sample_freq = o->hz;
	else
		a->sample_period = 1000000000u / o->hz;
	if (o->stacks == TY_SAMPLE_STACKS_LBR) {
		a->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		a->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
					PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES;
	} else if (o->stacks != TY_SAMPLE_STACKS_FP) {
		a->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		a->sample_regs_user = REGS;
		a->sample_stack_user = STACK;
		a->exclude_callchain_user = 1;
	}
}

/* By hardware where all CPUs have it, as precisely as they can. */
static bool open_events(struct ty_sampler *s, const struct ty_sampler_opts *o, const unsigned *cpus,
			unsigned n)
{
	for (unsigned precise = 3; precise-- > 0;) {
		make_attr(&s->attr, o, true, precise);
		if (ty_cpu_rings_open(&s->rings, &s->attr, cpus, n))
			return true;
	}
	if (o->stacks == TY_SAMPLE_STACKS_LBR)
		return false;
	make_attr(&s->attr, o, false, 0);
	return ty_cpu_rings_open(&s->rings, &s->attr, cpus, n);
}

/* Drop samples of threads that are not traced. */
static bool choose(struct ty_sampler *s, const struct ty_call_data *e)
{
#ifdef TY_HAVE_BPF
	s->bpf = sampler_bpf__open();
	if (!s->bpf || bpf_map__reuse_fd(s->bpf->maps.tids, ty_call_data_tids_fd(e)) ||
	    sampler_bpf__load(s->bpf))
		return false;
	for (unsigned i = 0; i < s->rings.n; i++)
		if (ioctl(s->rings.v[i].fd, PERF_EVENT_IOC_SET_BPF,
			  bpf_program__fd(s->bpf->progs.sampled)))
			return false;
	return true;
#else
	return false;
#endif
}

static void why_not(const struct ty_sampler_opts *o, int error, char why[TY_CALL_DATA_WHY])
{
	const bool lbr = o->stacks == TY_SAMPLE_STACKS_LBR;
	const unsigned max = ty_sampler_rate_max();

	if (lbr && (error == EOPNOTSUPP || error == ENOENT || error == ENODEV || error == ENXIO))
		snprintf(why, TY_CALL_DATA_WHY,
			 "this CPU cannot record call stacks as branch records (LBR): use dwarf or "
			 "fp");
	else if (lbr && error == EINVAL && max && o->hz > max)
		snprintf(why, TY_CALL_DATA_WHY,
			 "the kernel allows %u samples a second of hardware events "
			 "(kernel.perf_event_max_sample_rate)",
			 max);
	else
		snprintf(why, TY_CALL_DATA_WHY,
			 "cannot open the sampling event (%s): see tarry doctor", strerror(error));
}

struct ty_sampler *ty_sampler_open(const struct ty_call_data *e, const struct ty_sampler_opts *o,
				   const unsigned *cpus, unsigned cpus_n,
				   char why[TY_CALL_DATA_WHY])
{
	struct ty_sampler *s = calloc(1, sizeof(*s));
	struct ty_sampler_opts how = *o;

	if (how.stacks == TY_SAMPLE_STACKS_AUTO && !REGS)
		how.stacks = TY_SAMPLE_STACKS_FP;
	if (!s) {
		snprintf(why, TY_CALL_DATA_WHY, "out of memory");
		return NULL;
	}
	pthread_mutex_init(&s->lock, NULL);
	s->trace_all = !e;
	s->own = getpid();
	ty_spooled_section_init(&s->samples, &samples_form, s);
	ty_buf_init(&s->batch, BATCH_MAX);
	ty_ring_drainer_init(&s->drainer);
	s->maps = ty_sample_maps_new(s->trace_all);
	if (s->drainer.wake < 0 || !s->maps)
		snprintf(why, TY_CALL_DATA_WHY, "out of memory");
	else if (how.stacks == TY_SAMPLE_STACKS_DWARF && !REGS)
		snprintf(why, TY_CALL_DATA_WHY,
			 "the unwinder does not know this machine (--sample-stacks fp)");
	else if (!open_events(s, &how, cpus, cpus_n))
		why_not(&how, errno, why);
	else if (e && !choose(s, e))
		snprintf(why, TY_CALL_DATA_WHY, "the kernel rejected the BPF program (%s)",
			 strerror(errno));
	else
		return s;
	free_all(s);
	return NULL;
}

const char *ty_sampler_event(const struct ty_sampler *s)
{
	return s->attr.type == PERF_TYPE_HARDWARE ? "cycles" : "cpu-clock";
}

unsigned ty_sampler_rate_max(void)
{
	char text[32];

	ty_first_line(text, sizeof(text), "/proc/sys/kernel/perf_event_max_sample_rate");
	return (unsigned)strtoul(text, NULL, 10);
}

const char *ty_sampler_stacks(const struct ty_sampler *s)
{
	return s->attr.sample_type & PERF_SAMPLE_STACK_USER	? "dwarf"
	       : s->attr.sample_type & PERF_SAMPLE_BRANCH_STACK ? "lbr"
								: "fp";
}

void ty_sampler_know(struct ty_sampler *s, const int *pids, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		pthread_mutex_lock(&s->lock);
		ty_sample_maps_know(s->maps, (uint32_t)pids[i], 0);
		pthread_mutex_unlock(&s->lock);
	}
}

/* records -----------------------------------------------------------------------------------------
 */

/* Of the call chain: addresses of the kernel, which are to be named. */
static void note_kernel(struct ty_sampler *s, const char *ips, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t ip = ty_u64_at(ips + 8 * i);
		uint32_t *v;

		/* From -4095 on they are marks, not addresses. */
		if (!(ip >> 63) || ip >= (uint64_t)-4095 || s->kernel.pairs.n >= KERNEL_ADDRESSES)
			continue;
		v = ty_pair_map_add(&s->kernel, ip, 0);
		if (v)
			*v = 0;
	}
}

/* Keep of n words what points to code, or into the stack: [sp, sp + STACK). Zero stays zero: it
 * ends a stack. */
static void scrub(char *p, size_t n, const ty_code_ranges *code, uint64_t sp)
{
	const uint64_t removed = TY_STK_REMOVED;

	for (size_t i = 0; i < n; i++) {
		const uint64_t v = ty_u64_at(p + 8 * i);

		if (v && v - sp >= STACK && !ty_is_code(code, v & CODE_BITS))
			memcpy(p + 8 * i, &removed, 8);
	}
}

/* How much of a stack goes into the file now. */
static uint64_t stack_most(const struct ty_sampler *s)
{
	const uint64_t n = ty_spooled_section_held(&s->samples);

	return n < WHOLE_UP_TO ? STACK : n < FEW_UP_TO ? STACK_FEW : 0;
}

/* A sample: p[0..n) behind the head h, which may be changed. false: it is malformed, or there is no
 * room. */
static bool on_sample(struct ty_sampler *s, struct perf_event_header h, char *p, size_t n)
{
	const bool user = s->attr.sample_type & PERF_SAMPLE_REGS_USER;
	const unsigned regs = (unsigned)__builtin_popcountll(REGS);
	const uint64_t most = stack_most(s);
	struct ty_sample_parts x;
	size_t keep = n, size = 0;

	if (!ty_sample_parts(p, n, user, regs, &x))
		return false;
	if (s->trace_all && x.pid == (uint32_t)s->own)
		return true;
	ty_sample_maps_know(s->maps, x.pid, x.ns);
	note_kernel(s, p + x.chain_at, x.ips);
	if (user) {
		const ty_code_ranges *code = ty_sample_maps_code(s->maps, x.pid);
		uint64_t sp = 0;

		if (x.regs_at) {
			sp = ty_u64_at(p + x.regs_at +
				       8 * __builtin_popcountll(REGS & ((1ull << REG_SP) - 1)));
			scrub(p + x.regs_at, regs, code, sp);
		}
		s->res.shortened += x.used > most;
		size = (size_t)(x.used < most ? x.used : most) / 8 * 8;
		scrub(p + x.stack_at + 8, size / 8, code, sp);
		keep = x.stack_at + 8 + size + (size ? 8 : 0);
	}
	if (!ty_spooled_section_room(&s->samples, sizeof(h) + keep))
		return false;
	h.size = (uint16_t)(sizeof(h) + keep);
	ty_buf_add(&s->samples.b, &h, sizeof(h));
	if (user) {
		/* Behind the registers: u64 size, the bytes, u64 how many of them count. */
		ty_buf_add(&s->samples.b, p, x.stack_at);
		ty_buf_addle(&s->samples.b, size, 8);
		ty_buf_add(&s->samples.b, p + x.stack_at + 8, size);
		if (size)
			ty_buf_addle(&s->samples.b, size, 8);
	} else {
		ty_buf_add(&s->samples.b, p, n);
	}
	s->res.samples++;
	return true;
}

static int on_records(void *ctx, const struct ty_aux_ring *r, const void *bytes, size_t n)
{
	struct ty_sampler *s = ctx;
	struct perf_event_header h;

	for (const char *p; (p = ty_aux_next(&bytes, &n, &h));) {
		struct waiting w = {.at = s->batch.len, .n = h.size};

		s->res.throttled += h.type == PERF_RECORD_THROTTLE;
		if (h.type != PERF_RECORD_SAMPLE)
			continue;
		if (h.size >= sizeof(h) + TY_SAMPLE_TIME + 8)
			w.ns = ty_u64_at(p + TY_SAMPLE_TIME);
		if (!w.ns || ty_buf_add(&s->batch, p - sizeof(h), h.size) ||
		    vec_push(&s->waiting, w)) {
			s->batch.failed = false;
			s->left_out++;
		}
	}
	return 0;
}

ORDER(by_time, struct waiting, compare(a->ns, b->ns) ?: compare(a->at, b->at))

/* Writes samples in order of time, each after the mappings that precede it. Holds back the newest
 * unless all are to be written. */
static void take_batch(struct ty_sampler *s, bool all)
{
	uint64_t newest, until = UINT64_MAX;
	struct ty_buf rest;
	size_t n = 0;

	pthread_mutex_lock(&s->lock);
	newest = ty_map_events_take(s->events);
	vec_each (w, &s->waiting)
		newest = w->ns > newest ? w->ns : newest;
	if (!all)
		until = newest > HOLD_NS ? newest - HOLD_NS : 0;
	vec_sort(&s->waiting, by_time);
	ty_buf_init(&rest, BATCH_MAX);
	ty_sample_maps_take(s->maps);
	vec_each (w, &s->waiting) {
		struct perf_event_header h;
		char *p = s->batch.p + w->at;

		if (w->ns <= until) {
			memcpy(&h, p, sizeof(h));
			ty_map_events_give(s->events, w->ns);
			s->left_out += !on_sample(s, h, p + sizeof(h), h.size - sizeof(h));
		} else {
			const size_t at = rest.len;

			if (!ty_buf_add(&rest, p, w->n))
				s->waiting.v[n++] = (struct waiting){w->ns, at, w->n};
			else
				s->left_out++;
		}
	}
	ty_map_events_give(s->events, until);
	s->waiting.n = n;
	pthread_mutex_unlock(&s->lock);
	ty_buf_fini(&s->batch);
	s->batch = rest;
}

/* Those of samples, then those of mappings. */
static int fd_of(const void *ctx, unsigned i)
{
	const struct ty_sampler *s = ctx;

	return i < s->rings.n ? s->rings.v[i].fd : ty_map_events_fd(s->events, i - s->rings.n);
}

static void move(void *ctx, bool last)
{
	struct ty_sampler *s = ctx;
	const struct ty_aux_sink sink = {on_records, NULL, s};

	ty_cpu_rings_drain(&s->rings, &sink);
	take_batch(s, last);
	pthread_mutex_lock(&s->lock);
	ty_spooled_section_tick(&s->samples);
	ty_spooled_section_tick(ty_sample_maps_section(s->maps));
	pthread_mutex_unlock(&s->lock);
}

/* start and end -----------------------------------------------------------------------------------
 */

/* Machine and event, as a perf.data file in pipe form has them, before all mappings. */
static bool put_head(struct ty_sampler *s)
{
	/* As ty_perf_put_mmap2 and its like end their records. */
	const struct perf_event_attr maps_attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(maps_attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER,
		.sample_id_all = 1};
	const uint64_t maps_id = TY_SAMPLE_MAPS_ID;
	uint64_t *ids = calloc(s->rings.n, sizeof(*ids));
	struct ty_buf *maps = &ty_sample_maps_section(s->maps)->b, head;
	bool good = false;

	ty_buf_init(&head, TY_SPOOLED_PIECE);
	ty_perf_put_machine(&head);
	for (unsigned i = 0; ids && i < s->rings.n; i++)
		ioctl(s->rings.v[i].fd, PERF_EVENT_IOC_ID, &ids[i]);
	if (ids)
		ty_perf_put_attr(&head, &s->attr, ids, s->rings.n);
	ty_perf_put_attr(&head, &maps_attr, &maps_id, 1);
	/* Known processes may be in the buffer already. */
	ty_buf_add(&head, maps->p, maps->len);
	if (ids && !head.failed) {
		maps->len = 0;
		good = !ty_buf_add(maps, head.p, head.len);
	}
	ty_buf_fini(&head);
	free(ids);
	return good;
}

bool ty_sampler_start(struct ty_sampler *s, struct ty_spool *spool, const unsigned *cpus,
		      unsigned cpus_n, bool maps_last, char why[TY_CALL_DATA_WHY])
{
	bool good;

	pthread_mutex_lock(&s->lock);
	s->writer = ty_spool_writer_new(spool, TY_SPOOLED_PIECE);
	good = s->writer && put_head(s);
	ty_spooled_section_start(&s->samples, s->writer, false);
	ty_spooled_section_start(ty_sample_maps_section(s->maps), s->writer, maps_last);
	pthread_mutex_unlock(&s->lock);
	if (!good) {
		snprintf(why, TY_CALL_DATA_WHY, "out of memory");
		return false;
	}
	s->events = ty_map_events_open(cpus, cpus_n, ty_sample_maps_event, s->maps);
	if (!s->events) {
		snprintf(why, TY_CALL_DATA_WHY, "mappings cannot be followed (%s)",
			 strerror(errno));
		return false;
	}
	for (unsigned i = 0; i < s->rings.n; i++)
		if (ty_aux_on(&s->rings.v[i], true, NULL)) {
			snprintf(why, TY_CALL_DATA_WHY, "cannot enable the event (%s)",
				 strerror(errno));
			return false;
		}
	if (!ty_ring_drainer_start(&s->drainer, 2 * s->rings.n, fd_of, move, s))
		snprintf(why, TY_CALL_DATA_WHY, "no thread can be created");
	return s->drainer.started;
}

struct ty_spooled_section *ty_sampler_section(struct ty_sampler *s)
{
	return s ? &s->samples : NULL;
}

/* The number of lost samples in a LOST record of the kernel: u64 id, u64 count. */
static void put_lost(struct ty_sampler *s, uint64_t lost)
{
	struct {
		struct perf_event_header h;
		uint64_t id, count;
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, zero;
		uint64_t identifier;
	} r = {.h = {.type = PERF_RECORD_LOST, .size = sizeof(r)}, .count = lost};

	if (lost && ty_spooled_section_last(&s->samples, sizeof(r)))
		ty_buf_add(&s->samples.b, &r, sizeof(r));
}

void ty_sampler_finish(struct ty_sampler *s, struct ty_sampler_result *res)
{
	struct ty_spooled_section *maps;

	*res = (struct ty_sampler_result){0};
	ty_buf_init(&res->names, NAMES_MAX);
	if (!s)
		return;
	maps = ty_sample_maps_section(s->maps);
	if (s->drainer.started) {
		for (unsigned i = 0; i < s->rings.n; i++)
			ty_aux_on(&s->rings.v[i], false, NULL);
		ty_ring_drainer_stop(&s->drainer);
		pthread_mutex_lock(&s->lock);
		s->res.maps_unread = ty_sample_maps_end(s->maps, &s->res.maps_full);
		pthread_mutex_unlock(&s->lock);
		for (unsigned i = 0; i < s->rings.n; i++)
			s->left_out += s->rings.v[i].lost;
		put_lost(s, s->left_out);
		ty_spooled_section_put(&s->samples);
		ty_spooled_section_put(maps);
		s->res.lost = s->left_out; /* with those that could not be written */
		s->res.failed = s->samples.failed || maps->failed;
		s->res.names = res->names;
		if (s->kernel.pairs.n)
			ty_kernel_names("/proc/kallsyms", &s->kernel, &s->res.names);
		*res = s->res;
	}
	free_all(s);
}
