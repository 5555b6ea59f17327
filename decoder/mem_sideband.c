/* SPDX-License-Identifier: MIT */
/*
 * Reads the sideband of memory samples in a perf.data file, in one pass: pieces of AUX streams and
 * their flags, the clock, cores, context switches, names, processes, mappings. Order in the file
 * matters only for names, processes and mappings without a time. perf samples are counted here; a
 * separate pass collects and sorts them when they are first read.
 *
 * AUXTRACE_INFO of Arm SPE: linux tools/perf/util/arm-spe.h. Version 1: PMU type, per-CPU rings.
 * Version 2: version, words of header, PMU type, CPUs; then for each CPU a magic word, its number,
 * the number of words that follow, the first of which is its MIDR.
 */
#include "mem_sideband.h"

#include "compare.h"
#include "partition.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CPUS_MAX      8192u
#define SAMPLES_BYTES (16u << 20) /* of perf samples in memory; more lie in a file */
#define QUEUES_MAX    16384u
#define CPU_MAGIC     0x1010101010101010ull

static int no_memory(const struct ty_mem_stream *s, struct ty_err *err)
{
	return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", s->perf->path);
}

/* NULL: out of memory, or no CPU that can be. */
static struct ty_mem_cpu *cpu_get(struct ty_mem_stream *s, uint32_t cpu)
{
	if (cpu >= CPUS_MAX)
		return NULL;
	while (s->cpus.n <= cpu)
		if (vec_push(&s->cpus, (struct ty_mem_cpu){0}))
			return NULL;
	return &s->cpus.v[cpu];
}

static struct ty_mem_queue *queue_find(const struct ty_mem_stream *s, int32_t cpu, int32_t t)
{
	const uint32_t at = ty_pair_map_get(&s->queue_of, (uint32_t)cpu, (uint32_t)t);

	return at == TY_PAIR_NONE ? NULL : &s->queues.v[at];
}

/* By CPU, or by thread where there is no CPU. NULL: out of memory, or QUEUES_MAX. */
static struct ty_mem_queue *queue_get(struct ty_mem_stream *s, int32_t cpu, int32_t t)
{
	cpu = cpu < 0 ? -1 : cpu;
	t = cpu >= 0 ? -1 : t;
	if (s->queues.n >= QUEUES_MAX)
		return queue_find(s, cpu, t);
	return pair_element(&s->queue_of, (uint32_t)cpu, (uint32_t)t, &s->queues,
			    (struct ty_mem_queue){.cpu = cpu, .tid = t});
}

/* Of a CPU's ring: the first thread that it was opened for. */
static void note_ring_tid(struct ty_mem_queue *q, int32_t t)
{
	if (q->pieces.n)
		q->ring_tid = q->ring_tid == t ? t : -1;
	else
		q->ring_tid = t;
}

static int auxtrace(struct ty_mem_stream *s, const struct ty_perf_rec *r, struct ty_err *err)
{
	struct ty_perf_auxtrace a;
	struct ty_mem_queue *q;

	if (ty_perf_auxtrace(r, &a) || !r->data_n)
		return 0;
	q = queue_get(s, a.cpu, a.tid);
	if (!q && s->queues.n >= QUEUES_MAX)
		return ty_fail(err, TY_ELIMIT, r->off,
			       "%s: has more than %u AUX streams, the limit of tarry",
			       s->perf->path, QUEUES_MAX);
	if (q)
		note_ring_tid(q, a.tid);
	if (!q || vec_push(&q->pieces, (struct ty_mem_piece){r->data_off, r->data_n, a.offset}))
		return no_memory(s, err);
	q->bytes += r->data_n;
	return 0;
}

static void info(struct ty_mem_stream *s, const struct ty_perf_rec *r)
{
	struct ty_perf_auxtrace_info i;
	uint32_t at, cpus;

	if (ty_perf_auxtrace_info(r, &i) || i.type != TY_PERF_AUXTRACE_ARM_SPE)
		return;
	s->facts.spe = true;
	if (i.words <= 2)
		return;
	at = ty_perf_word(&i, 1) < i.words ? (uint32_t)ty_perf_word(&i, 1) : i.words;
	cpus = ty_perf_word(&i, 3) < CPUS_MAX ? (uint32_t)ty_perf_word(&i, 3) : CPUS_MAX;
	for (uint32_t k = 0; k < cpus && at + 4 <= i.words; k++) {
		uint64_t n = ty_perf_word(&i, at + 2);
		struct ty_mem_cpu *c;

		if (ty_perf_word(&i, at) != CPU_MAGIC || !n || n > i.words)
			return;
		c = ty_perf_word(&i, at + 1) < CPUS_MAX
			    ? cpu_get(s, (uint32_t)ty_perf_word(&i, at + 1))
			    : NULL;
		if (c)
			c->midr = ty_perf_word(&i, at + 3);
		if (!s->facts.midr)
			s->facts.midr = ty_perf_word(&i, at + 3);
		at += 3 + (uint32_t)n;
	}
}

static int aux(struct ty_mem_stream *s, const struct ty_perf_rec *r, const struct ty_perf_id *id,
	       struct ty_err *err)
{
	struct ty_perf_aux a;

	if (ty_perf_aux(r, &a) ||
	    !(a.flags & (TY_PERF_AUX_TRUNCATED | TY_PERF_AUX_PARTIAL | TY_PERF_AUX_COLLISION)))
		return 0;
	s->facts.truncated += !!(a.flags & TY_PERF_AUX_TRUNCATED);
	s->facts.partial += !!(a.flags & TY_PERF_AUX_PARTIAL);
	s->facts.collided += !!(a.flags & TY_PERF_AUX_COLLISION);
	/* Whether rings are per CPU or per thread is known only from their pieces, which are later
	 * in the file. */
	if (vec_push(&s->aux_flags,
		     (struct ty_mem_aux_flag){.cpu = id->have & TY_PERF_S_CPU && id->cpu < CPUS_MAX
							     ? (int32_t)id->cpu
							     : -1,
					      .tid = id->tid,
					      .flag = {a.offset + a.size, a.flags}}))
		return no_memory(s, err);
	return 0;
}

static int run(struct ty_mem_stream *s, const struct ty_perf_id *id, int32_t pid, int32_t tid,
	       struct ty_err *err)
{
	struct ty_mem_cpu *c = cpu_get(s, id->cpu);

	if (id->cpu >= CPUS_MAX)
		return 0;
	if (!c || vec_push(&c->runs, (struct ty_mem_run){id->time, pid, tid}))
		return no_memory(s, err);
	return 0;
}

static int switches(struct ty_mem_stream *s, const struct ty_perf_rec *r,
		    const struct ty_perf_id *id, struct ty_err *err)
{
	const uint64_t need = TY_PERF_S_TID | TY_PERF_S_TIME | TY_PERF_S_CPU;
	struct ty_perf_switch sw;

	if ((id->have & need) != need || ty_perf_switch(r, &sw))
		return 0;
	if (!sw.out)
		return run(s, id, id->pid, id->tid, err);
	return run(s, id, sw.other_pid, sw.has_other ? sw.other_tid : -1, err);
}

static int tid(struct ty_mem_stream *s, int32_t t, int32_t pid, struct ty_err *err)
{
	return t >= 0 && pid >= 0 &&
			       vec_push(&s->tids, (struct ty_mem_tid){t, pid, (uint32_t)s->tids.n})
		       ? no_memory(s, err)
		       : 0;
}

/* A process began with what its parent had mapped; parent -1: with nothing (exec). */
static int life(struct ty_mem_stream *s, int32_t pid, int32_t parent, uint64_t ts,
		struct ty_err *err)
{
	return vec_push(&s->lives, (struct ty_mem_life){ts, pid, parent, (uint32_t)s->lives.n})
		       ? no_memory(s, err)
		       : 0;
}

/* The number of the text identifies the file. UINT32_MAX: out of memory. */
static uint32_t file_number(struct ty_mem_stream *s, const struct ty_perf_mmap *m)
{
	struct ty_buf key;
	uint32_t n;

	ty_buf_init(&key, 1 << 20);
	if (m->has_build_id)
		for (unsigned i = 0; i < m->build_id_n; i++)
			ty_buf_addf(&key, "%02x", m->build_id[i]);
	else
		ty_buf_addf(&key, "%u:%u %" PRIu64 " %s", m->major, m->minor, m->inode, m->name);
	n = key.failed ? UINT32_MAX : ty_strtab_add(s->strs, key.p, key.len);
	ty_buf_fini(&key);
	return n;
}

/* Anonymous shared memory, too, has an inode: /dev/zero, SysV, memfd. */
static uint32_t shared_number(struct ty_mem_stream *s, const struct ty_perf_mmap *m)
{
	char key[96];
	int n;

	if (!(m->flags & MAP_SHARED) || !m->inode)
		return TY_MEM_NOT_SHARED;
	s->facts.shared_maps |= m->prot & PROT_WRITE;
	n = snprintf(key, sizeof(key), "%u:%u %" PRIu64 " %" PRIu64, m->major, m->minor, m->inode,
		     m->generation);
	return ty_strtab_add(s->strs, key, (size_t)n);
}

static int mapping(struct ty_mem_stream *s, const struct ty_perf_rec *r,
		   const struct ty_perf_id *id, struct ty_err *err)
{
	struct ty_perf_mmap m;
	struct ty_mem_map map;
	uint32_t str, file;

	if (ty_perf_mmap(r, &m) || !m.len)
		return 0;
	str = ty_strtab_add(s->strs, m.name, strlen(m.name));
	file = file_number(s, &m);
	map = (struct ty_mem_map){.addr = m.addr,
				  .len = m.len,
				  .pgoff = m.pgoff,
				  .ts_ns = id->have & TY_PERF_S_TIME ? id->time : 0,
				  .pid = m.pid,
				  .prot = m.prot,
				  .order = (uint32_t)s->map_names.n,
				  .file = file,
				  .shared = shared_number(s, &m),
				  .inode = m.inode,
				  .build_id_n = m.has_build_id ? m.build_id_n : 0};
	memcpy(map.build_id, m.build_id, sizeof(map.build_id));
	if (str == UINT32_MAX || file == UINT32_MAX || vec_push(&s->map_names, str) ||
	    vec_push(&s->maps, map))
		return no_memory(s, err);
	return tid(s, m.tid, m.pid, err);
}

/* The event of a memory sample, which is parsed; NULL: it is none. */
static const struct ty_perf_event *parse(struct ty_mem_stream *s, const struct ty_perf_rec *r,
					 struct ty_perf_sample *p)
{
	const struct ty_perf_event *e = ty_perf_event_of(s->perf, r);
	const uint64_t need = TY_PERF_S_ADDR | TY_PERF_S_DATA_SRC;

	return e && (e->attr.sample_type & need) == need && !ty_perf_sample_parse(r, &e->attr, p)
		       ? e
		       : NULL;
}

/* Counted while the side band is read: needed neither for names nor with an index. */
static int count_sample(struct ty_mem_stream *s, const struct ty_perf_rec *r, struct ty_err *err)
{
	struct ty_perf_sample p;
	size_t at;
	const struct ty_perf_event *e = parse(s, r, &p);

	if (!e)
		return 0;
	at = (size_t)(e - s->perf->events.v);
	while (s->by_event.n <= at)
		if (vec_push(&s->by_event, (struct ty_mem_event){0}))
			return no_memory(s, err);
	s->by_event.v[at].samples++;
	s->by_event.v[at].accesses |= ty_mem_data_src_known(p.data_src);
	if (!s->facts.period)
		s->facts.period = e->attr.flags & 1u << 10 ? 0 : e->attr.sample_period;
	return 0;
}

static int take_sample(struct ty_mem_stream *s, const struct ty_perf_rec *r, struct ty_err *err)
{
	const struct ty_perf_event *e;
	struct ty_mem_sample m = {0};
	struct ty_perf_sample p;

	e = parse(s, r, &p);
	if (!e || (size_t)(e - s->perf->events.v) >= s->by_event.n ||
	    !s->by_event.v[e - s->perf->events.v].accesses)
		return 0;
	m.ts = p.id.time;
	m.ip = p.ip;
	m.addr = p.addr;
	m.phys = p.phys_addr;
	m.data_src = p.data_src;
	m.off = r->off;
	m.cpu = p.id.cpu;
	m.pid = p.id.pid;
	m.tid = p.id.tid;
	/* WEIGHT_STRUCT: the access's latency in the low half, then the instruction's, then to
	 * retirement. 0 is none. */
	m.weight = (uint32_t)p.weight;
	if (p.have & TY_PERF_S_WEIGHT_STRUCT) {
		m.insn = (uint16_t)(p.weight >> 32);
		m.retire = (uint16_t)(p.weight >> 48);
		m.have |= m.insn ? TY_MEM_HAS_INSN : 0;
		m.have |= m.retire ? TY_MEM_HAS_RETIRE : 0;
	}
	if (p.have & TY_PERF_S_TIME)
		m.have |= TY_MEM_HAS_TIME;
	if (p.have & TY_PERF_S_IP)
		m.have |= TY_MEM_HAS_PC;
	if (p.have & TY_PERF_S_CPU)
		m.have |= TY_MEM_HAS_CPU;
	if (p.have & (TY_PERF_S_WEIGHT | TY_PERF_S_WEIGHT_STRUCT) && m.weight)
		m.have |= TY_MEM_HAS_TOTAL;
	/* 0 is the kernel's word for "none". */
	if (p.addr)
		m.have |= TY_MEM_HAS_VA;
	if (p.have & TY_PERF_S_PHYS_ADDR && p.phys_addr)
		m.have |= TY_MEM_HAS_PA;
	return ty_sorted_runs_add(s->samples, &m, err);
}

static int side_record(struct ty_mem_stream *s, const struct ty_perf_rec *r, struct ty_err *err)
{
	struct ty_perf_comm comm;
	struct ty_perf_task task;
	struct ty_perf_lost lost;
	struct ty_perf_id id = {.pid = -1, .tid = -1};
	struct ty_mem_cpu *c;
	uint32_t str;
	int e = 0;

	if (r->type < TY_PERF_KERNEL_TYPES && r->type != TY_PERF_SAMPLE)
		ty_perf_id(s->perf, r, &id);
	switch (r->type) {
	case TY_PERF_SAMPLE: return count_sample(s, r, err);
	case TY_PERF_AUXTRACE: return auxtrace(s, r, err);
	case TY_PERF_AUXTRACE_INFO: info(s, r); return 0;
	case TY_PERF_TIME_CONV:
		if (!s->facts.has_clock && !ty_perf_time_conv(r, &s->tc))
			s->facts.has_clock = s->tc.mult && s->tc.has_zero;
		return 0;
	case TY_PERF_AUX: e = aux(s, r, &id, err); break;
	case TY_PERF_SWITCH:
	case TY_PERF_SWITCH_CPU_WIDE: e = switches(s, r, &id, err); break;
	case TY_PERF_MMAP:
	case TY_PERF_MMAP2: e = mapping(s, r, &id, err); break;
	case TY_PERF_COMM:
		if (ty_perf_comm(r, &comm))
			return 0;
		str = ty_strtab_add(s->strs, comm.comm, strlen(comm.comm));
		if (str == UINT32_MAX ||
		    vec_push(&s->names,
			     (struct ty_mem_name){comm.tid, str, (uint32_t)s->names.n,
						  id.have & TY_PERF_S_TIME ? id.time : 0}))
			return no_memory(s, err);
		e = tid(s, comm.tid, comm.pid, err);
		if (!e && comm.exec)
			e = life(s, comm.pid, -1, id.have & TY_PERF_S_TIME ? id.time : 0, err);
		break;
	case TY_PERF_FORK:
		if (ty_perf_task(r, &task))
			return 0;
		e = tid(s, task.tid, task.pid, err);
		/* Time 0: a record of perf that names the parent of a process that existed before.
		 * Its mappings at the fork are not copied, because an exec may have replaced
		 * them. */
		if (!e && task.pid != task.ppid && task.ppid >= 0 && task.time)
			e = life(s, task.pid, task.ppid, task.time, err);
		break;
	case TY_PERF_LOST:
	case TY_PERF_LOST_SAMPLES:
		if (ty_perf_lost(r, &lost))
			return 0;
		s->facts.lost += lost.count;
		/* A switch may be among the lost records: the running thread is unknown since the
		 * last one. */
		c = r->type == TY_PERF_LOST && id.have & TY_PERF_S_CPU ? cpu_get(s, id.cpu) : NULL;
		if (c && c->runs.n)
			e = run(s, &(struct ty_perf_id){.cpu = id.cpu, .time = c->seen_ts + 1}, -1,
				-1, err);
		break;
	default: break;
	}
	if ((id.have & (TY_PERF_S_CPU | TY_PERF_S_TIME)) == (TY_PERF_S_CPU | TY_PERF_S_TIME) &&
	    (c = cpu_get(s, id.cpu)) && id.time > c->seen_ts)
		c->seen_ts = id.time;
	return e;
}

ORDER(run_order, struct ty_mem_run, compare(a->ts, b->ts))

ORDER(name_order, struct ty_mem_name,
      compare(a->tid, b->tid) ?: compare(a->ts, b->ts) ?: compare(a->order, b->order))

ORDER(tid_order, struct ty_mem_tid, compare(a->tid, b->tid) ?: compare(a->order, b->order))

ORDER(map_order, struct ty_mem_map, compare(a->pid, b->pid) ?: compare(a->order, b->order))

ORDER(life_order, struct ty_mem_life,
      compare(a->pid, b->pid) ?: compare(a->ts, b->ts) ?: compare(a->order, b->order))

ORDER(sample_order, struct ty_mem_sample, compare(a->ts, b->ts) ?: compare(a->off, b->off))

#define SORT(a, order)                                                                             \
	do {                                                                                       \
		if ((a)->n)                                                                        \
			qsort((a)->v, (a)->n, sizeof(*(a)->v), order);                             \
	} while (0)

/* Flags go to the CPU's stream, else to the thread's. */
static int settle_flags(struct ty_mem_stream *s, struct ty_err *err)
{
	vec_each (f, &s->aux_flags) {
		struct ty_mem_queue *q = queue_find(s, f->cpu, -1);

		if (!q)
			q = queue_find(s, -1, f->tid);
		if (q && vec_push(&q->flags, f->flag))
			return no_memory(s, err);
	}
	vec_fini(&s->aux_flags);
	return 0;
}

static bool is_spe(const struct ty_mem_stream *s, const struct ty_perf_event *e)
{
	const char *pmu = ty_perf_pmu(s->perf, e->attr.type);

	return !strncmp(e->name, "arm_spe", 7) || (pmu && !strncmp(pmu, "arm_spe", 7));
}

/* attr.config of Arm SPE: branches, loads, stores; none of them: all. */
#define SPE_STORES  (UINT64_C(1) << 34)
#define SPE_FILTERS (UINT64_C(7) << 32)

static void facts(struct ty_mem_stream *s)
{
	struct ty_mem_facts *f = &s->facts;
	const char *cpuid = ty_perf_text(s->perf, TY_PERF_F_CPUID);
	const uint8_t *cache;
	size_t n;

	f->arch = ty_perf_text(s->perf, TY_PERF_F_ARCH);
	f->arm = f->arch && !strcmp(f->arch, "aarch64");
	f->cpuid = cpuid;
	f->host = ty_perf_text(s->perf, TY_PERF_F_HOSTNAME);
	f->kernel = ty_perf_text(s->perf, TY_PERF_F_OSRELEASE);
	if (!f->midr && cpuid && f->spe)
		f->midr = strtoull(cpuid, NULL, 16);
	vec_each (e, &s->perf->events) {
		if (f->spe && !f->period && is_spe(s, e))
			f->period = e->attr.sample_period;
		if (is_spe(s, e))
			f->stores |= !(e->attr.config & SPE_FILTERS) || e->attr.config & SPE_STORES;
	}
	/* CACHE: version, count, then level, line size... of each. */
	f->line_bytes = 64;
	cache = ty_perf_feature(s->perf, TY_PERF_F_CACHE, &n);
	if (cache && n >= 16) {
		uint32_t line;

		memcpy(&line, cache + 12, 4);
		if (line >= 16 && line <= 4096 && !(line & (line - 1)))
			f->line_bytes = line;
	}
}

int ty_mem_sideband_read(struct ty_mem_stream *s, struct ty_err *err)
{
	struct ty_perf_rec r;
	int e;

	s->strs = ty_strtab_new();
	if (!s->strs)
		return no_memory(s, err);
	ty_perf_rewind(s->perf);
	while ((e = ty_perf_next(s->perf, &r, err)) > 0) {
		e = side_record(s, &r, err);
		if (e)
			return e;
	}
	if (e)
		return e;
	e = settle_flags(s, err);
	if (e)
		return e;
	/* An address field alone makes no memory sample: `perf record -d` of cycles has one. */
	vec_each (n, &s->by_event)
		s->facts.samples += n->accesses ? n->samples : 0;
	s->facts.perf = s->facts.samples;
	vec_each (c, &s->cpus)
		SORT(&c->runs, run_order);
	SORT(&s->names, name_order);
	SORT(&s->tids, tid_order);
	/* The texts do not move any more. */
	vec_each (m, &s->maps)
		m->name = ty_strtab_get(s->strs, s->map_names.v[m->order]);
	SORT(&s->maps, map_order);
	SORT(&s->lives, life_order);
	if (ty_mem_map_index_make(s))
		return no_memory(s, err);
	facts(s);
	return 0;
}

int ty_mem_sideband_samples(struct ty_mem_stream *s, struct ty_err *err)
{
	struct ty_perf_rec r;
	int e;

	if (s->samples || !s->facts.perf)
		return 0;
	s->samples = ty_sorted_runs_new(sizeof(struct ty_mem_sample), SAMPLES_BYTES, sample_order);
	if (!s->samples)
		return no_memory(s, err);
	ty_perf_rewind(s->perf);
	while ((e = ty_perf_next(s->perf, &r, err)) > 0) {
		e = r.type == TY_PERF_SAMPLE ? take_sample(s, &r, err) : 0;
		if (e)
			break;
	}
	if (e) { /* all of them, or none */
		ty_sorted_runs_free(s->samples);
		s->samples = NULL;
	}
	return e;
}

bool ty_mem_sideband_run(const struct ty_mem_stream *s, uint32_t cpu, uint64_t ts, size_t *at,
			 struct ty_mem_run *out)
{
	const struct ty_mem_cpu *c = cpu < s->cpus.n ? &s->cpus.v[cpu] : NULL;
	size_t i = *at;

	if (!c || !c->runs.n)
		return false;
	if (i >= c->runs.n || c->runs.v[i].ts > ts)
		i = 0;
	/* A step or two as a rule; a search when far off. */
	for (unsigned step = 0; i + 1 < c->runs.n && c->runs.v[i + 1].ts <= ts; i++)
		if (++step == 16) {
			i = partition_point(k, i + 1, c->runs.n, c->runs.v[k].ts <= ts) - 1;
			break;
		}
	*at = i;
	*out = c->runs.v[i];
	return out->ts <= ts && out->tid >= 0;
}

int32_t ty_mem_sideband_pid(const struct ty_mem_stream *s, int32_t t)
{
	size_t lo = partition_point(i, 0, s->tids.n, s->tids.v[i].tid <= t);

	return lo && s->tids.v[lo - 1].tid == t ? s->tids.v[lo - 1].pid : -1;
}

const char *ty_mem_comm(const struct ty_mem_stream *s, int32_t t, uint64_t ts)
{
	const struct ty_mem_name *best = NULL;
	size_t lo = partition_point(i, 0, s->names.n,
				    s->names.v[i].tid < t ||
					    (s->names.v[i].tid == t && s->names.v[i].ts <= ts));

	if (lo && s->names.v[lo - 1].tid == t)
		best = &s->names.v[lo - 1];
	else if (lo < s->names.n && s->names.v[lo].tid == t)
		best = &s->names.v[lo]; /* the first name it is known by */
	return best ? ty_strtab_get(s->strs, best->str) : NULL;
}
