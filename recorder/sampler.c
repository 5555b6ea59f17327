/* SPDX-License-Identifier: MIT */
/*
 * See sampler.h. One event per CPU, in one ring with the kernel's side band (mappings, execs,
 * forks). Of chosen processes a BPF program on the event drops samples of all others in the kernel:
 * events per thread would be switched at every context switch, and there would be threads times
 * CPUs of them. Records of all rings are put in order of time, a moment later.
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
#include "aux_ring.h"
#include "compare.h"
#include "kernel_names.h"
#include "map_reader.h"
#include "now.h"
#include "pair_map.h"
#include "partition.h"
#include "perf_write.h"
#include "proc_maps.h"
#include "ring_mover.h"
#include "section.h"
#include "spooled_section.h"
#include "unaligned.h"

#include <errno.h>
#include <limits.h>
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
	RING = 1 << 20,
	RING_MANY = 256 << 10,
	MANY_CPUS = 32,
	STACK = 8192, /* bytes that the kernel copies of a stack */
	STACK_FEW = 1024,
	KERNEL_ADDRESSES = 65536,
	NAMES_MAX = 1 << 20,
	HOLD_NS = 20000000, /* rings are emptied one after the other: what is newer waits */
	BATCH_MAX = 256 << 20,
	READ_MS = 100, /* to wait for the mappings of a process: its sample is scrubbed by them */
	END_MS = 500,  /* in the end, for all of them */
	AGAIN_NS = 1000000000, /* after lost records a process is read again, no earlier */
	EXITED = 4096, /* processes whose code is kept after their end: a thread may be left */
};
/* Bytes of the section as the file has them, compressed, and no less than RAW_PART of those that a
 * reader makes of them: up to which whole copies go in, then STACK_FEW bytes of each, then none. */
#define RAW_PART    4
#define WHOLE_UP_TO ((uint64_t)64 << 20)
#define FEW_UP_TO   ((uint64_t)128 << 20)
#define SECTION_MAX ((uint64_t)256 << 20)
#define MAPS_MAX    ((uint64_t)64 << 20)
#define SIDE_TYPE   TY_AUX_SAMPLE
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

/* Records of perf.data; samples behind their head, without one. */
static const struct ty_section_form samples_form = {
	.section = TY_SEC_SAMPLES, .most = SECTION_MAX, .raw_part = RAW_PART};
static const struct ty_section_form maps_form = {
	.section = TY_SEC_SAMPLING, .most = MAPS_MAX, .raw_part = RAW_PART};

/* Code that a process ever mapped: in order, without overlaps. */
struct range {
	uint64_t from, to;
};
typedef VEC(struct range) ranges;

/* A process. TRIED: nothing is mapped, or it cannot be read. */
struct proc {
	uint32_t pid, reading; /* reading: the number of that under way */
	enum { UNKNOWN, READING, TRIED, KNOWN } state;
	bool exited, stale;		 /* stale: records were lost during the reading */
	uint64_t read_ns, not_before_ns; /* it was read; it is read */
	ranges code;
};

/* A record that waits for its turn. */
struct waiting {
	uint64_t ns, since_ns; /* since: of the one before in its ring */
	size_t at;
	uint32_t n;
};

struct ty_sampler {
	struct perf_event_attr attr;
	bool everybody;
	int own;
	struct ty_aux_ring *rings;
	unsigned rings_n;
#ifdef TY_HAVE_BPF
	struct sampler_bpf *bpf;
#endif
	struct ty_spool_writer *writer;
	struct ty_ring_mover mover;
	pthread_mutex_t lock; /* of what follows */
	struct ty_spooled_section samples, maps;
	struct ty_map_reader *reader;
	uint32_t readings;
	bool slow; /* the reader gave nothing in time: it is not waited for until it does */
	struct ty_pair_map proc_of; /* by pid: an index of procs */
	VEC(struct proc) procs;
	uint32_t exited[EXITED]; /* pids, the oldest at exited_n % EXITED */
	size_t exited_n;
	uint64_t *ring_ns; /* the newest record of each ring */
	bool side_lost;	   /* a record that is no sample found no room */
	struct ty_buf batch;
	VEC(struct waiting) waiting;
	struct ty_pair_map kernel; /* addresses of the kernel that were seen */
	uint64_t left_out;
	struct ty_sampler_result res;
};

static void free_all(struct ty_sampler *s)
{
	for (unsigned i = 0; i < s->rings_n; i++)
		ty_aux_close(&s->rings[i]);
	free(s->rings);
#ifdef TY_HAVE_BPF
	sampler_bpf__destroy(s->bpf);
#endif
	ty_spool_writer_free(s->writer);
	ty_ring_mover_fini(&s->mover);
	ty_map_reader_free(s->reader);
	free(s->ring_ns);
	ty_pair_map_fini(&s->proc_of);
	ty_pair_map_fini(&s->kernel);
	vec_each (p, &s->procs)
		vec_fini(&p->code);
	vec_fini(&s->procs);
	vec_fini(&s->waiting);
	ty_buf_fini(&s->batch);
	pthread_mutex_destroy(&s->lock);
	ty_spooled_section_fini(&s->samples);
	ty_spooled_section_fini(&s->maps);
	free(s);
}

/* events ------------------------------------------------------------------------------------------
 */

static void make_attr(struct perf_event_attr *a, const struct ty_sampler_opts *o, bool cycles,
		      unsigned precise, size_t ring)
{
	*a = (struct perf_event_attr){.type = cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
				      .config = cycles ? PERF_COUNT_HW_CPU_CYCLES
						       : PERF_COUNT_SW_CPU_CLOCK,
				      .size = sizeof(*a),
				      .sample_type = SAMPLE_TYPE,
				      .disabled = 1,
				      .exclude_idle = 1,
				      .precise_ip = precise & 3,
				      .mmap = 1,
				      .mmap2 = 1,
				      .build_id = 1,
				      .comm = 1,
				      .comm_exec = 1,
				      .task = 1,
				      .sample_id_all = 1,
				      .watermark = 1,
				      .wakeup_watermark = (uint32_t)ring / 4};
	a->freq = cycles;
	if (cycles)
		a->sample_freq = o->hz;
	else
		a->sample_period = 1000000000u / o->hz;
	if (o->stacks != TY_SAMPLE_STACKS_FP) {
		a->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		a->sample_regs_user = REGS;
		a->sample_stack_user = STACK;
		a->exclude_callchain_user = 1;
	}
}

static bool open_rings(struct ty_sampler *s, const unsigned *cpus, unsigned n, size_t ring)
{
	for (unsigned i = 0; i < n; i++) {
		struct ty_aux_ring *r = &s->rings[s->rings_n];

		if (ty_aux_open(r, &s->attr, -1, (int)cpus[i], ring, 0, false, NULL)) {
			while (s->rings_n)
				ty_aux_close(&s->rings[--s->rings_n]);
			return false;
		}
		s->rings_n++;
	}
	return true;
}

/* By hardware where all CPUs have it, as precisely as they can. */
static bool open_events(struct ty_sampler *s, const struct ty_sampler_opts *o, const unsigned *cpus,
			unsigned n)
{
	const size_t ring = n > MANY_CPUS ? RING_MANY : RING;

	for (unsigned precise = 3; precise-- > 0;) {
		make_attr(&s->attr, o, true, precise, ring);
		if (open_rings(s, cpus, n, ring))
			return true;
	}
	make_attr(&s->attr, o, false, 0, ring);
	if (open_rings(s, cpus, n, ring))
		return true;
	s->attr.build_id = 0; /* kernels before 5.12 */
	return open_rings(s, cpus, n, ring);
}

/* Only who is traced. */
static bool choose(struct ty_sampler *s, const struct ty_evidence *e)
{
#ifdef TY_HAVE_BPF
	s->bpf = sampler_bpf__open();
	if (!s->bpf || bpf_map__reuse_fd(s->bpf->maps.tids, ty_evidence_tids_fd(e)) ||
	    sampler_bpf__load(s->bpf))
		return false;
	for (unsigned i = 0; i < s->rings_n; i++)
		if (ioctl(s->rings[i].fd, PERF_EVENT_IOC_SET_BPF,
			  bpf_program__fd(s->bpf->progs.is_traced)))
			return false;
	return true;
#else
	return false;
#endif
}

struct ty_sampler *ty_sampler_open(const struct ty_evidence *e, const struct ty_sampler_opts *o,
				   const unsigned *cpus, unsigned cpus_n, char why[TY_EVIDENCE_WHY])
{
	struct ty_sampler *s = calloc(1, sizeof(*s));
	struct ty_sampler_opts how = *o;

	if (how.stacks == TY_SAMPLE_STACKS_AUTO && !REGS)
		how.stacks = TY_SAMPLE_STACKS_FP;
	if (!s) {
		snprintf(why, TY_EVIDENCE_WHY, "out of memory");
		return NULL;
	}
	pthread_mutex_init(&s->lock, NULL);
	s->everybody = !e;
	s->own = getpid();
	ty_spooled_section_init(&s->samples, &samples_form, s);
	ty_spooled_section_init(&s->maps, &maps_form, s);
	ty_buf_init(&s->batch, BATCH_MAX);
	ty_ring_mover_init(&s->mover);
	s->rings = calloc(cpus_n, sizeof(*s->rings));
	s->ring_ns = calloc(cpus_n, sizeof(*s->ring_ns));
	s->reader = ty_map_reader_new(ty_proc_maps);
	if (s->mover.wake < 0 || !s->rings || !s->ring_ns || !s->reader)
		snprintf(why, TY_EVIDENCE_WHY, "out of memory");
	else if (how.stacks == TY_SAMPLE_STACKS_DWARF && !REGS)
		snprintf(why, TY_EVIDENCE_WHY,
			 "the unwinder does not know this machine (--sample-stacks fp)");
	else if (!open_events(s, &how, cpus, cpus_n))
		snprintf(why, TY_EVIDENCE_WHY,
			 "cannot open the sampling event (%s): see tarry doctor", strerror(errno));
	else if (e && !choose(s, e))
		snprintf(why, TY_EVIDENCE_WHY, "the kernel rejected the BPF program (%s)",
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
	FILE *f = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
	unsigned n = 0;

	if (f && fscanf(f, "%u", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

const char *ty_sampler_stacks(const struct ty_sampler *s)
{
	return s->attr.sample_type & PERF_SAMPLE_STACK_USER ? "dwarf" : "fp";
}

/* mappings ----------------------------------------------------------------------------------------
 */

/* Until the next one is made. */
static struct proc *find(const struct ty_sampler *s, uint32_t pid)
{
	const uint32_t n = ty_pair_map_get(&s->proc_of, pid, 0);

	return n == TY_PAIR_NONE ? NULL : &s->procs.v[n];
}

static struct proc *make(struct ty_sampler *s, uint32_t pid)
{
	struct proc *p = find(s, pid);
	uint32_t *v;

	if (p || vec_push(&s->procs, (struct proc){.pid = pid}))
		return p;
	v = ty_pair_map_add(&s->proc_of, pid, 0);
	if (!v) {
		s->procs.n--;
		return NULL;
	}
	*v = (uint32_t)s->procs.n - 1;
	return &s->procs.v[*v];
}

/* The code of a process that is known; NULL: it is not. Until the next one is made. */
static ranges *code_of(const struct ty_sampler *s, uint32_t pid)
{
	struct proc *p = find(s, pid);

	return p && p->state == KNOWN ? &p->code : NULL;
}

/* A process of that number begins, of which nothing is known. */
static void forget(struct proc *p)
{
	vec_fini(&p->code);
	*p = (struct proc){.pid = p->pid};
}

/* Make it known, with no code, or with that of its parent. */
static void set_known(struct ty_sampler *s, uint32_t pid, uint32_t parent)
{
	struct proc *p = make(s, pid);
	const ranges *from = parent ? code_of(s, parent) : NULL;

	if (!p)
		return;
	forget(p);
	p->state = KNOWN;
	for (size_t i = 0; from && i < from->n; i++)
		if (vec_push(&p->code, from->v[i]))
			break;
}

/* Code that was unmapped stays: records come late. */
static void add_code(ranges *r, uint64_t from, uint64_t bytes)
{
	uint64_t to = from + bytes;
	size_t a, b;

	if (to <= from)
		return;
	a = partition_point(i, (size_t)0, r->n, r->v[i].to < from);
	b = partition_point(i, a, r->n, r->v[i].from <= to);
	if (a == b) {
		if (vec_push(r, (struct range){0}))
			return;
		memmove(r->v + a + 1, r->v + a, (r->n - 1 - a) * sizeof(*r->v));
		r->v[a] = (struct range){from, to};
		return;
	}
	r->v[a].from = from < r->v[a].from ? from : r->v[a].from;
	r->v[a].to = to > r->v[b - 1].to ? to : r->v[b - 1].to;
	memmove(r->v + a + 1, r->v + b, (r->n - b) * sizeof(*r->v));
	r->n -= b - a - 1;
}

static bool is_code(const ranges *r, uint64_t addr)
{
	const size_t i = partition_point(k, (size_t)0, r->n, r->v[k].to <= addr);

	return i < r->n && r->v[i].from <= addr;
}

/* false: there is no room. */
static bool put_existing(struct ty_sampler *s, const struct ty_perf_where *where,
			 const struct ty_stk_map *m, const char *path)
{
	const uint32_t pid = (uint32_t)where->pid;

	if (!ty_spooled_section_room(&s->maps, 256 + strlen(path)))
		return false;
	/* What was mapped before it is known of is forgotten. */
	if (!code_of(s, pid)) {
		ty_perf_put_comm(&s->maps.b, where, "", true);
		set_known(s, pid, 0);
	}
	if (code_of(s, pid))
		add_code(code_of(s, pid), m->start, m->bytes);
	ty_perf_put_mmap2(&s->maps.b, where, m->start, m->bytes, m->off, 5, m->build_id,
			  m->build_id_n, path);
	return true;
}

/* What was read of a process, unless it has become another one meanwhile. */
static void take_reading(struct ty_sampler *s, const struct ty_map_reading *r)
{
	struct proc *p = find(s, r->pid);
	struct ty_perf_where where = {.pid = (pid_t)r->pid, .tid = (pid_t)r->pid, .id = UINT64_MAX};

	if (!p || p->state != READING || p->reading != r->number)
		return;
	where.time_ns = p->read_ns;
	if (p->stale) {
		forget(p);
		p->not_before_ns = where.time_ns + AGAIN_NS;
		return;
	}
	p->state = TRIED;
	s->res.maps_full |= r->full;
	for (size_t at = 0; at + sizeof(struct ty_stk_map) < r->maps.len;) {
		const char *path = r->maps.p + at + sizeof(struct ty_stk_map);
		struct ty_stk_map m;

		memcpy(&m, r->maps.p + at, sizeof(m));
		if (!put_existing(s, &where, &m, path)) {
			s->res.maps_full = true;
			break;
		}
		at += sizeof(m) + strlen(path) + 1;
	}
	p = find(s, r->pid);
	if (p)
		p->read_ns = where.time_ns;
}

/* What has been read; one of them is waited for. false: there is none. */
static bool take_readings(struct ty_sampler *s, unsigned wait_ms)
{
	struct ty_map_reading r;
	bool any = false;

	while (ty_map_reader_take(s->reader, any ? 0 : wait_ms, &r)) {
		take_reading(s, &r);
		ty_buf_fini(&r.maps);
		any = true;
	}
	if (any)
		s->slow = false;
	return any;
}

/* What the process has mapped, from ns on: known at once, unless it takes too long. */
static void know(struct ty_sampler *s, uint32_t pid, uint64_t ns)
{
	struct proc *p = make(s, pid);
	uint64_t end_ms;

	if (!p || p->state != UNKNOWN || ns < p->not_before_ns)
		return;
	p->reading = ++s->readings;
	p->read_ns = ns;
	p->state = ty_map_reader_request(s->reader, pid, p->reading) ? READING : TRIED;
	if (s->slow)
		return;
	end_ms = ty_now_ms() + READ_MS;
	for (uint64_t now; p && p->state == READING; p = find(s, pid)) {
		now = ty_now_ms();
		if (now >= end_ms || !take_readings(s, (unsigned)(end_ms - now))) {
			s->slow = true;
			return;
		}
	}
}

void ty_sampler_know(struct ty_sampler *s, const int *pids, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		pthread_mutex_lock(&s->lock);
		know(s, (uint32_t)pids[i], 0);
		pthread_mutex_unlock(&s->lock);
	}
}

/* records -----------------------------------------------------------------------------------------
 */

enum { SAMPLE_TIME = 24 };

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
static void scrub(char *p, size_t n, const ranges *code, uint64_t sp)
{
	const uint64_t removed = TY_STK_REMOVED;

	for (size_t i = 0; i < n; i++) {
		const uint64_t v = ty_u64_at(p + 8 * i);

		if (v && v - sp >= STACK && !(code && is_code(code, v & CODE_BITS)))
			memcpy(p + 8 * i, &removed, 8);
	}
}

/* How much of a stack goes into the file now. */
static uint64_t stack_most(const struct ty_sampler *s)
{
	const uint64_t n = ty_spooled_section_held(&s->samples);

	return n < WHOLE_UP_TO ? STACK : n < FEW_UP_TO ? STACK_FEW : 0;
}

/* A sample: p[0..n) behind the head h, which may be changed. Order of its parts:
 * perf_event_open(2). */
static void on_sample(struct ty_sampler *s, struct perf_event_header h, char *p, size_t n)
{
	enum { PID = 16, CHAIN = 48 }; /* behind id and address */
	uint64_t ips, size = 0, used = 0, sp = 0, most = stack_most(s);
	size_t at = CHAIN + 8, keep;
	uint32_t pid;

	if (n < at)
		return;
	pid = ty_u32_at(p + PID);
	ips = ty_u64_at(p + CHAIN);
	if ((s->everybody && pid == (uint32_t)s->own) || ips > (n - at) / 8)
		return;
	know(s, pid, ty_u64_at(p + SAMPLE_TIME));
	note_kernel(s, p + at, ips);
	at += 8 * ips;
	if (s->attr.sample_type & PERF_SAMPLE_REGS_USER) {
		if (n - at < 8)
			return;
		if (ty_u64_at(p + at)) {
			const size_t regs = (size_t)__builtin_popcountll(REGS);

			if (n - at < 8 + 8 * regs)
				return;
			at += 8;
			sp = ty_u64_at(p + at +
				       8 * __builtin_popcountll(REGS & ((1ull << REG_SP) - 1)));
			scrub(p + at, regs, code_of(s, pid), sp);
			at += 8 * regs;
		} else {
			at += 8;
		}
		if (n - at < 8)
			return;
		size = ty_u64_at(p + at);
		if (size > n - at - 8 || (size && n - at - 8 - size < 8))
			return;
		used = size ? ty_u64_at(p + at + 8 + size) : 0;
		used = used < size ? used : size;
		s->res.shortened += used > most;
		used = used < most ? used : most;
		scrub(p + at + 8, used / 8, code_of(s, pid), sp);
	}
	/* Behind the registers: u64 size, the bytes, u64 how many of them count. */
	used = size = used / 8 * 8;
	keep = s->attr.sample_type & PERF_SAMPLE_REGS_USER ? at + 8 + size + (size ? 8 : 0) : n;
	if (!ty_spooled_section_room(&s->samples, sizeof(h) + keep)) {
		s->left_out++;
		return;
	}
	h.size = (uint16_t)(sizeof(h) + keep);
	ty_buf_add(&s->samples.b, &h, sizeof(h));
	if (s->attr.sample_type & PERF_SAMPLE_REGS_USER) {
		ty_buf_add(&s->samples.b, p, at);
		ty_buf_add(&s->samples.b, &size, 8);
		ty_buf_add(&s->samples.b, p + at + 8, size);
		if (size)
			ty_buf_add(&s->samples.b, &used, 8);
	} else {
		ty_buf_add(&s->samples.b, p, n);
	}
	s->res.samples++;
}

static void put_side(struct ty_sampler *s, const struct perf_event_header *h, const char *p,
		     size_t n)
{
	if (ty_spooled_section_room(&s->maps, sizeof(*h) + n)) {
		ty_buf_add(&s->maps.b, h, sizeof(*h));
		ty_buf_add(&s->maps.b, p, n);
	} else {
		s->res.maps_full = true;
	}
}

/* Mappings may be missing from since_ns on: no process is known until it is read again. */
static void on_lost(struct ty_sampler *s, uint64_t since_ns, uint64_t now_ns)
{
	vec_each (p, &s->procs) {
		const struct ty_perf_where where = {.pid = (pid_t)p->pid,
						    .tid = (pid_t)p->pid,
						    .time_ns = since_ns,
						    .id = UINT64_MAX};
		const struct proc was = *p;

		if (was.state == KNOWN) {
			if (ty_spooled_section_room(&s->maps, 256))
				ty_perf_put_comm(&s->maps.b, &where, "", true);
			else
				s->res.maps_full = true;
		}
		p->stale = was.state == READING;
		if (was.state == UNKNOWN || was.state == READING)
			continue;
		forget(p);
		p->exited = was.exited;
		p->not_before_ns = was.read_ns ? was.read_ns + AGAIN_NS : 0;
	}
}

/* Its threads may outlive a process's first one, and records of it come late: its code is kept for
 * a time. */
static void on_task_end(struct ty_sampler *s, uint32_t pid, struct proc *p)
{
	struct proc *oldest;

	if (!p)
		return;
	p->exited = true;
	if (s->exited_n >= EXITED) {
		oldest = find(s, s->exited[s->exited_n % EXITED]);
		if (oldest && oldest->exited)
			forget(oldest);
	}
	s->exited[s->exited_n++ % EXITED] = pid;
}

/* What trails a record that is no sample (TY_AUX_SAMPLE): u32 pid, tid, u64 time, u32 cpu, 0, u64
 * id. */
enum { TAIL = 32, TAIL_TIME = 24 };
static void on_side(struct ty_sampler *s, const struct perf_event_header *h, const char *p,
		    size_t n, uint64_t since_ns)
{
	const uint32_t pid = n >= 8 + TAIL ? ty_u32_at(p) : 0;
	struct proc *of = find(s, pid);

	s->res.throttled += h->type == PERF_RECORD_THROTTLE;
	if (h->type == PERF_RECORD_LOST)
		on_lost(s, since_ns, ty_u64_at(p + n - TAIL_TIME));
	if (!pid)
		return;
	switch (h->type) {
	case PERF_RECORD_MMAP2: /* u32 pid, tid, u64 addr, bytes */
		if ((!of || of->state == UNKNOWN) && s->everybody) {
			know(s, pid, ty_u64_at(p + n - TAIL_TIME)); /* with this one */
		} else if (of && of->state != UNKNOWN && n >= 24 + TAIL) {
			if (of->state == TRIED) /* a first one */
				of->state = KNOWN;
			if (of->state == KNOWN)
				add_code(&of->code, ty_u64_at(p + 8), ty_u64_at(p + 16));
			put_side(s, h, p, n);
		}
		break;
	case PERF_RECORD_FORK: /* u32 pid, ppid, tid, ptid, u64 time */
		if (pid == ty_u32_at(p + 4))
			break; /* a thread */
		if (code_of(s, ty_u32_at(p + 4))) {
			set_known(s, pid, ty_u32_at(p + 4));
			put_side(s, h, p, n);
		} else if (of) {
			forget(of); /* another one's number now */
		}
		break;
	case PERF_RECORD_EXIT: /* as of a fork */
		if (pid == ty_u32_at(p + 8))
			on_task_end(s, pid, of);
		break;
	case PERF_RECORD_COMM:
		if (!(h->misc & PERF_RECORD_MISC_COMM_EXEC) || !(code_of(s, pid) || s->everybody))
			break;
		set_known(s, pid, 0);
		put_side(s, h, p, n);
		break;
	}
}

static int on_records(void *ctx, const struct ty_aux_ring *r, const void *bytes, size_t n)
{
	struct ty_sampler *s = ctx;
	uint64_t *ring_ns = &s->ring_ns[r - s->rings];
	struct perf_event_header h;

	for (const char *p; (p = ty_aux_next(&bytes, &n, &h));) {
		struct waiting w = {.at = s->batch.len, .n = h.size, .since_ns = *ring_ns};

		if (h.size < sizeof(h) + TAIL)
			continue;
		w.ns = ty_u64_at(h.type == PERF_RECORD_SAMPLE ? p + SAMPLE_TIME
							      : p + h.size - sizeof(h) - TAIL_TIME);
		*ring_ns = w.ns;
		if (ty_buf_add(&s->batch, p - sizeof(h), h.size) || vec_push(&s->waiting, w)) {
			s->batch.failed = false;
			s->left_out += h.type == PERF_RECORD_SAMPLE;
			s->side_lost |= h.type != PERF_RECORD_SAMPLE;
		}
	}
	return 0;
}

static int by_time(const void *pa, const void *pb)
{
	const struct waiting *a = pa, *b = pb;

	return compare(a->ns, b->ns) ?: compare(a->at, b->at);
}

/* What the rings have given, in order of time; the newest waits unless all is wanted. */
static void take_batch(struct ty_sampler *s, bool all)
{
	uint64_t newest = 0;
	struct ty_buf rest;
	size_t n = 0;

	vec_each (w, &s->waiting)
		newest = w->ns > newest ? w->ns : newest;
	if (s->waiting.n)
		qsort(s->waiting.v, s->waiting.n, sizeof(*s->waiting.v), by_time);
	ty_buf_init(&rest, BATCH_MAX);
	pthread_mutex_lock(&s->lock);
	take_readings(s, 0);
	if (s->side_lost && s->waiting.n)
		on_lost(s, s->waiting.v[0].since_ns, newest);
	s->side_lost = false;
	vec_each (w, &s->waiting) {
		struct perf_event_header h;
		char *p = s->batch.p + w->at;

		memcpy(&h, p, sizeof(h));
		if (!all && newest - w->ns < HOLD_NS) {
			const size_t at = rest.len;

			if (!ty_buf_add(&rest, p, w->n))
				s->waiting.v[n++] = (struct waiting){w->ns, w->since_ns, at, w->n};
		} else if (h.type == PERF_RECORD_SAMPLE) {
			on_sample(s, h, p + sizeof(h), h.size - sizeof(h));
		} else {
			on_side(s, &h, p + sizeof(h), h.size - sizeof(h), w->since_ns);
		}
	}
	s->waiting.n = n;
	pthread_mutex_unlock(&s->lock);
	ty_buf_fini(&s->batch);
	s->batch = rest;
}

static int fd_of(const void *ctx, unsigned i)
{
	return ((const struct ty_sampler *)ctx)->rings[i].fd;
}

static void move(void *ctx, bool last)
{
	struct ty_sampler *s = ctx;
	const struct ty_aux_sink sink = {on_records, NULL, s};

	for (unsigned i = 0; i < s->rings_n; i++)
		ty_aux_drain(&s->rings[i], &sink);
	take_batch(s, last);
	pthread_mutex_lock(&s->lock);
	ty_spooled_section_tick(&s->samples);
	ty_spooled_section_tick(&s->maps);
	pthread_mutex_unlock(&s->lock);
}

/* begin and end -----------------------------------------------------------------------------------
 */

/* Machine and event, as a perf.data file in pipe form has them, before all mappings. */
static bool put_head(struct ty_sampler *s)
{
	uint64_t *ids = calloc(s->rings_n, sizeof(*ids));
	struct ty_buf head;
	bool good = false;

	ty_buf_init(&head, TY_SPOOLED_PIECE);
	ty_perf_put_machine(&head);
	for (unsigned i = 0; ids && i < s->rings_n; i++)
		ioctl(s->rings[i].fd, PERF_EVENT_IOC_ID, &ids[i]);
	if (ids)
		ty_perf_put_attr(&head, &s->attr, ids, s->rings_n);
	/* Known processes may be in the buffer already. */
	ty_buf_add(&head, s->maps.b.p, s->maps.b.len);
	if (ids && !head.failed) {
		s->maps.b.len = 0;
		ty_buf_add(&s->maps.b, head.p, head.len);
		good = !s->maps.b.failed;
	}
	ty_buf_fini(&head);
	free(ids);
	return good;
}

bool ty_sampler_start(struct ty_sampler *s, struct ty_spool *spool, bool maps_last,
		      char why[TY_EVIDENCE_WHY])
{
	bool good;

	pthread_mutex_lock(&s->lock);
	s->writer = ty_spool_writer_new(spool, TY_SPOOLED_PIECE);
	good = s->writer && put_head(s);
	ty_spooled_section_start(&s->samples, s->writer, false);
	ty_spooled_section_start(&s->maps, s->writer, maps_last);
	pthread_mutex_unlock(&s->lock);
	if (!good) {
		snprintf(why, TY_EVIDENCE_WHY, "out of memory");
		return false;
	}
	for (unsigned i = 0; i < s->rings_n; i++)
		if (ty_aux_on(&s->rings[i], true, NULL)) {
			snprintf(why, TY_EVIDENCE_WHY, "cannot enable the event (%s)",
				 strerror(errno));
			return false;
		}
	if (!ty_ring_mover_start(&s->mover, s->rings_n, fd_of, move, s))
		snprintf(why, TY_EVIDENCE_WHY, "no thread can be created");
	return s->mover.started;
}

uint64_t ty_sampler_piece(const struct ty_sampler *s)
{
	return atomic_load(&s->samples.pieces);
}

uint64_t ty_sampler_bytes(const struct ty_sampler *s)
{
	return atomic_load(&s->samples.bytes);
}

void ty_sampler_dropped(struct ty_sampler *s, uint64_t bytes)
{
	atomic_store(&s->samples.dropped, bytes);
}

/* How many samples are missing, as the kernel's LOST records say it: u64 id, u64 count. */
static void put_lost(struct ty_sampler *s)
{
	struct {
		struct perf_event_header h;
		uint64_t id, count;
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, zero;
		uint64_t identifier;
	} r = {.h = {.type = PERF_RECORD_LOST, .size = sizeof(r)}, .count = s->res.lost};

	if (s->res.lost)
		ty_buf_add(&s->samples.b, &r, sizeof(r));
}

/* What is still being read; who is stuck is left. */
static void take_unread(struct ty_sampler *s)
{
	const uint64_t end_ms = ty_now_ms() + END_MS;

	pthread_mutex_lock(&s->lock);
	for (uint64_t now; ty_map_reader_left(s->reader);) {
		now = ty_now_ms();
		if (now >= end_ms || !take_readings(s, (unsigned)(end_ms - now)))
			break;
	}
	s->res.maps_unread = ty_map_reader_left(s->reader);
	pthread_mutex_unlock(&s->lock);
}

void ty_sampler_finish(struct ty_sampler *s, struct ty_sampler_result *res)
{
	*res = (struct ty_sampler_result){0};
	ty_buf_init(&res->names, NAMES_MAX);
	if (!s)
		return;
	if (s->mover.started) {
		for (unsigned i = 0; i < s->rings_n; i++)
			ty_aux_on(&s->rings[i], false, NULL);
		ty_ring_mover_stop(&s->mover);
		take_unread(s);
		s->res.lost = s->left_out;
		for (unsigned i = 0; i < s->rings_n; i++)
			s->res.lost += s->rings[i].lost;
		put_lost(s);
		ty_spooled_section_put(&s->samples);
		ty_spooled_section_put(&s->maps);
		s->res.failed = s->samples.failed || s->maps.failed;
		s->res.names = res->names;
		if (s->kernel.pairs.n)
			ty_kernel_names("/proc/kallsyms", &s->kernel, &s->res.names);
		*res = s->res;
	}
	free_all(s);
}
