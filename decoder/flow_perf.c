/* SPDX-License-Identifier: MIT */
/*
 * See flow_perf.h. Words of intel_pt's AUXTRACE_INFO: linux tools/perf/util/intel-pt.h; bits of
 * attr.config: linux arch/x86/include/asm/msr-index.h, IA32_RTIT_CTL.
 */
#include "flow_perf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_name.h"
#include "compare.h"
#include "jitdump.h"
#include "partition.h"
#include "strtab.h"
#include "vec.h"

enum {
	PT_TIME_SHIFT = 1,
	PT_TIME_MULT,
	PT_TIME_ZERO,
	PT_MTC_FREQ_BITS = 11,
	PT_TSC_CTC_N,
	PT_TSC_CTC_D,
	PT_MAX_NONTURBO_RATIO = 15,
};

enum what { MAP, EXEC, FORK, JIT };

struct change {
	uint64_t t_ns;
	size_t order;
	uint8_t what; /* enum what */
	int32_t pid, parent;
	int file;
	uint64_t addr, len, off;
};

struct build_id {
	uint8_t id[TY_BUILD_ID_MAX];
	uint8_t n;
};

/* A process that mapped a jitdump. */
struct jit_file {
	int32_t pid; /* -1: none */
};

struct clock_point {
	uint64_t mono_ns, t_ns;
};

struct ty_flow_perf {
	struct ty_flow *flow;
	struct ty_pt_cpu cpu;
	uint64_t config, mtc_freq_bits;
	VEC(struct change) changes;
	struct ty_strtab *names;	/* of files with a build id: */
	VEC(struct build_id) build_ids; /* by name */
	uint64_t bad;
	struct ty_strtab *jit_paths;
	VEC(struct jit_file) jit_files; /* by path */
	VEC(struct clock_point) clock;
	struct ty_flow_jit jit;
};

struct ty_flow_perf *ty_flow_perf_new(struct ty_flow *f)
{
	struct ty_flow_perf *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->flow = f;
	p->names = ty_strtab_new();
	p->jit_paths = ty_strtab_new();
	if (!p->names || !p->jit_paths) {
		ty_flow_perf_free(p);
		return NULL;
	}
	return p;
}

void ty_flow_perf_free(struct ty_flow_perf *p)
{
	if (!p)
		return;
	ty_strtab_free(p->names);
	ty_strtab_free(p->jit_paths);
	vec_fini(&p->jit_files);
	vec_fini(&p->clock);
	vec_fini(&p->build_ids);
	vec_fini(&p->changes);
	free(p);
}

void ty_flow_perf_cpuid(struct ty_flow_perf *p, const char *text)
{
	unsigned family, model, stepping;

	if (sscanf(text, "GenuineIntel,%u,%u,%u", &family, &model, &stepping) == 3 &&
	    family <= UINT16_MAX && model <= UINT8_MAX && stepping <= UINT8_MAX) {
		p->cpu.family = (uint16_t)family;
		p->cpu.model = (uint8_t)model;
		p->cpu.stepping = (uint8_t)stepping;
	}
}

void ty_flow_perf_config(struct ty_flow_perf *p, uint64_t config)
{
	p->config = config;
}

uint64_t ty_flow_perf_bad(const struct ty_flow_perf *p)
{
	return p->bad;
}

/* The build id of a file by its name, if it has one (n not 0). NULL: out of memory. */
static struct build_id *build_id_of(struct ty_flow_perf *p, const char *name)
{
	uint32_t id = ty_strtab_add(p->names, name, strlen(name));

	if (id == UINT32_MAX)
		return NULL;
	while (p->build_ids.n <= id)
		if (vec_push(&p->build_ids, (struct build_id){0}))
			return NULL;
	return &p->build_ids.v[id];
}

int ty_flow_perf_build_id(struct ty_flow_perf *p, const char *name, const uint8_t *id, size_t n)
{
	struct build_id *b = build_id_of(p, name);

	if (!b)
		return -TY_ENOMEM;
	if (b->n) /* the first one counts */
		return 0;
	b->n = (uint8_t)(n < TY_BUILD_ID_MAX ? n : TY_BUILD_ID_MAX);
	memcpy(b->id, id, b->n);
	return 0;
}

static int push(struct ty_flow_perf *p, struct change c)
{
	c.order = p->changes.n;
	return p->changes.n >= 1u << 24 ? -TY_ELIMIT : vec_push(&p->changes, c);
}

/* Compilers map their dump so that it is found: jit-PID.dump. */
static int note_jit(struct ty_flow_perf *p, int32_t pid, const char *path)
{
	const char *base = ty_base_name(path);
	unsigned number;
	uint32_t id;
	int end = 0;

	if (sscanf(base, "jit-%u.dump%n", &number, &end) != 1 || !end || base[end])
		return 0;
	id = ty_strtab_add(p->jit_paths, path, strlen(path));
	if (id == UINT32_MAX)
		return -TY_ENOMEM;
	while (p->jit_files.n <= id)
		if (vec_push(&p->jit_files, (struct jit_file){.pid = -1}))
			return -TY_ENOMEM;
	/* The first one wrote it; a child that was forked has it mapped, too. */
	if (p->jit_files.v[id].pid < 0)
		p->jit_files.v[id].pid = pid;
	return 0;
}

static int on_mmap(struct ty_flow_perf *p, const struct ty_perf_rec *r, uint64_t t_ns)
{
	struct ty_perf_mmap m;
	struct change c = {.t_ns = t_ns, .what = MAP};
	int e;

	if (ty_perf_mmap(r, &m))
		return -TY_EFORMAT;
	if (!m.has_build_id || !m.build_id_n) {
		const struct build_id *b = build_id_of(p, m.name);

		if (!b)
			return -TY_ENOMEM;
		memcpy(m.build_id, b->id, b->n);
		m.build_id_n = b->n;
	}
	c.file = ty_code_file(ty_flow_code(p->flow), m.name, m.build_id, m.build_id_n);
	if (c.file < 0)
		return c.file;
	e = note_jit(p, m.pid, m.name);
	if (e)
		return e;
	c.pid = m.pid;
	c.addr = m.addr;
	c.len = m.len;
	c.off = m.pgoff;
	return push(p, c);
}

static int on_task(struct ty_flow_perf *p, const struct ty_perf_rec *r)
{
	struct ty_perf_task t;
	int e;

	if (ty_perf_task(r, &t))
		return -TY_EFORMAT;
	e = ty_flow_thread(p->flow, t.pid, t.tid);
	e = e ? e : ty_flow_fork(p->flow, t.tid, t.ptid, t.time);
	if (e || t.pid == t.ppid)
		return e;
	return push(p,
		    (struct change){.t_ns = t.time, .what = FORK, .pid = t.pid, .parent = t.ppid});
}

static int on_comm(struct ty_flow_perf *p, const struct ty_perf_rec *r, uint64_t t_ns)
{
	struct ty_perf_comm c;
	int e;

	if (ty_perf_comm(r, &c))
		return -TY_EFORMAT;
	e = ty_flow_thread(p->flow, c.pid, c.tid);
	e = e ? e : ty_flow_comm(p->flow, c.tid, t_ns, c.comm);
	if (e || !c.exec)
		return e;
	return push(p, (struct change){.t_ns = t_ns, .what = EXEC, .pid = c.pid});
}

static int on_switch(struct ty_flow_perf *p, const struct ty_perf_rec *r,
		     const struct ty_perf_id *id, int32_t cpu)
{
	struct ty_perf_switch s;

	if (ty_perf_switch(r, &s))
		return -TY_EFORMAT;
	/* What a CPU does while it leaves a thread is that thread's still. */
	if (s.out || !(id->have & TY_PERF_S_TID) || !(id->have & TY_PERF_S_TIME))
		return 0;
	return ty_flow_switch(p->flow, cpu, id->time, id->pid, id->tid);
}

static void on_info(struct ty_flow_perf *p, const struct ty_perf_rec *r)
{
	struct ty_perf_auxtrace_info i;

	if (ty_perf_auxtrace_info(r, &i) || i.type != TY_PERF_AUXTRACE_INTEL_PT)
		return;
	if (ty_perf_word(&i, PT_TIME_MULT) && ty_perf_word(&i, PT_TIME_MULT) <= UINT32_MAX)
		ty_flow_set_time(p->flow, ty_perf_word(&i, PT_TIME_ZERO),
				 (uint32_t)ty_perf_word(&i, PT_TIME_MULT),
				 (uint16_t)ty_perf_word(&i, PT_TIME_SHIFT));
	p->mtc_freq_bits = ty_perf_word(&i, PT_MTC_FREQ_BITS);
	p->cpu.cpuid_15_ebx = (uint32_t)ty_perf_word(&i, PT_TSC_CTC_N);
	p->cpu.cpuid_15_eax = (uint32_t)ty_perf_word(&i, PT_TSC_CTC_D);
	p->cpu.nom_freq = (uint8_t)ty_perf_word(&i, PT_MAX_NONTURBO_RATIO);
}

static int on_aux(struct ty_flow_perf *p, const struct ty_perf_rec *r, const struct ty_perf_id *id,
		  int32_t cpu)
{
	struct ty_perf_aux a;

	if (ty_perf_aux(r, &a))
		return -TY_EFORMAT;
	if (!(a.flags & (TY_PERF_AUX_TRUNCATED | TY_PERF_AUX_PARTIAL)))
		return 0;
	return ty_flow_loss(p->flow, cpu, id->have & TY_PERF_S_TID ? id->tid : -1,
			    a.offset + a.size);
}

int ty_flow_perf_record(struct ty_flow_perf *p, const struct ty_perf_rec *r,
			const struct ty_perf_id *id, int32_t cpu)
{
	struct ty_perf_itrace_start start;
	struct ty_perf_time_conv tc;
	int e = 0;

	if (id->have & TY_PERF_S_CPU)
		cpu = (int32_t)id->cpu;
	switch (r->type) {
	case TY_PERF_MMAP:
	case TY_PERF_MMAP2: e = on_mmap(p, r, id->time); break;
	case TY_PERF_COMM: e = on_comm(p, r, id->time); break;
	case TY_PERF_FORK: e = on_task(p, r); break;
	case TY_PERF_SWITCH:
	case TY_PERF_SWITCH_CPU_WIDE: e = on_switch(p, r, id, cpu); break;
	case TY_PERF_ITRACE_START:
		e = ty_perf_itrace_start(r, &start);
		if (!e)
			e = ty_flow_thread(p->flow, start.pid, start.tid);
		if (!e && cpu >= 0)
			e = ty_flow_switch(p->flow, cpu, id->time, start.pid, start.tid);
		break;
	case TY_PERF_AUX: e = on_aux(p, r, id, cpu); break;
	case TY_PERF_AUXTRACE_INFO: on_info(p, r); break;
	case TY_PERF_TIME_CONV:
		e = ty_perf_time_conv(r, &tc);
		if (!e && tc.mult <= UINT32_MAX)
			ty_flow_set_time(p->flow, tc.zero, (uint32_t)tc.mult, (uint16_t)tc.shift);
		break;
	default: break;
	}
	if (e == -TY_EFORMAT) {
		p->bad++;
		e = 0;
	}
	return e;
}

int ty_flow_perf_file(struct ty_flow_perf *p, const uint8_t *bytes, size_t n, uint64_t sample_type,
		      int32_t cpu)
{
	struct ty_perf_rec r;
	size_t pos = 0;
	int e = 0, more;

	while (!e && (more = ty_perf_buf_next(bytes, n, &pos, &r)) != 0) {
		if (more < 0) {
			p->bad++;
			break;
		}
		struct ty_perf_id id = {0};

		if (r.type < TY_PERF_KERNEL_TYPES && r.type != TY_PERF_SAMPLE &&
		    ty_perf_id_parse(&r, sample_type, &id)) {
			p->bad++;
			continue;
		}
		e = ty_flow_perf_record(p, &r, &id, cpu);
	}
	return e;
}

ORDER(by_time, struct change, compare(a->t_ns, b->t_ns) ?: compare(a->order, b->order))

int ty_flow_perf_monotonic(struct ty_flow_perf *p, uint64_t mono_ns, uint64_t t_ns)
{
	const struct clock_point *last = p->clock.n ? &p->clock.v[p->clock.n - 1] : NULL;

	if (last && (mono_ns <= last->mono_ns || t_ns <= last->t_ns))
		return 0;
	return vec_push(&p->clock, (struct clock_point){.mono_ns = mono_ns, .t_ns = t_ns});
}

bool ty_flow_perf_has_jit(const struct ty_flow_perf *p)
{
	return p->jit_files.n;
}

struct ty_flow_jit ty_flow_perf_jit(const struct ty_flow_perf *p)
{
	return p->jit;
}

/* CLOCK_MONOTONIC on the recording's clock: between two points in proportion, outside of them as
 * fast. */
static uint64_t from_monotonic(const struct ty_flow_perf *p, uint64_t mono)
{
	size_t lo = partition_point(i, 1, p->clock.n, p->clock.v[i].mono_ns <= mono) - 1;
	const struct clock_point *a, *b;

	a = &p->clock.v[lo];
	b = lo + 1 < p->clock.n ? a + 1 : NULL;
	if (mono < a->mono_ns)
		return a->mono_ns - mono < a->t_ns ? a->t_ns - (a->mono_ns - mono) : 0;
	if (!b)
		return a->t_ns + (mono - a->mono_ns);
	return a->t_ns + (uint64_t)((unsigned __int128)(mono - a->mono_ns) * (b->t_ns - a->t_ns) /
				    (b->mono_ns - a->mono_ns));
}

/* The functions of one dump. */
struct jitting {
	struct ty_flow_perf *p;
	VEC(struct ty_jit_load) v;
};

static int keep_load(void *ctx, const struct ty_jit_load *l)
{
	struct jitting *j = ctx;

	return vec_push(&j->v, *l);
}

ORDER(by_place, struct ty_jit_load, compare(a->addr, b->addr) ?: compare(a->n, b->n))

/* Functions without a known time: use those that share no address with another one. */
static void only_alone(struct jitting *j)
{
	uint64_t end = 0;
	size_t n = 0;
	bool shared = false;

	vec_sort(&j->v, by_place);
	for (size_t i = 0; i < j->v.n; i++) {
		struct ty_jit_load *l = &j->v.v[i];

		shared = l->addr < end;
		if (l->addr + l->n > end)
			end = l->addr + l->n;
		shared |= i + 1 < j->v.n && l[1].addr < end;
		if (shared)
			j->p->jit.left_out++;
		else
			j->v.v[n++] = *l;
	}
	j->v.n = n;
}

static int add_jit(struct ty_flow_perf *p, const char *path, int32_t pid)
{
	struct ty_code *code = ty_flow_code(p->flow);
	struct jitting j = {.p = p};
	struct ty_jitdump dump = {0};
	struct ty_bytes b;
	bool timed;
	int e;

	p->jit.files++;
	if (ty_code_other(code, path, &b)) {
		p->jit.missing++;
		return 0;
	}
	e = ty_jitdump_read(b.p, b.n, &dump, keep_load, &j);
	if (e == -TY_EFORMAT)
		p->jit.missing++;
	p->jit.damaged += dump.damaged;
	timed = dump.tsc ? ty_flow_timed(p->flow) : p->clock.n != 0;
	if (!timed)
		only_alone(&j);
	if (ty_code_own(code, dump.lines.v)) {
		e = -TY_ENOMEM;
		free(dump.lines.v);
	}
	for (size_t i = 0; (!e || e == -TY_EFORMAT) && i < j.v.n; i++) {
		const struct ty_jit_load *l = &j.v.v[i];
		struct change c = {.what = JIT, .pid = pid, .addr = l->addr};

		c.file = ty_code_function(code, l->name, l->code, l->n);
		if (c.file >= 0 && l->lines_n)
			ty_code_set_lines(code, c.file, dump.lines.v + l->line, l->lines_n);
		if (timed)
			c.t_ns = dump.tsc ? ty_flow_ns(p->flow, l->ts) : from_monotonic(p, l->ts);
		e = c.file < 0 ? c.file : push(p, c);
		p->jit.functions++;
	}
	vec_fini(&j.v);
	return e == -TY_EFORMAT ? 0 : e;
}

int ty_flow_perf_finish(struct ty_flow_perf *p)
{
	struct ty_code *code = ty_flow_code(p->flow);
	int e = 0;

	for (uint32_t i = 0; i < p->jit_files.n; i++)
		if (p->jit_files.v[i].pid >= 0) {
			e = add_jit(p, ty_strtab_get(p->jit_paths, i), p->jit_files.v[i].pid);
			if (e)
				return e;
		}
	p->jit_files.n = 0;
	vec_sort(&p->changes, by_time);
	vec_each (c, &p->changes) {
		switch (c->what) {
		case MAP:
			e = ty_code_map(code, c->pid, c->t_ns, c->addr, c->len, c->off, c->file);
			if (e == -TY_EFORMAT) {
				p->bad++;
				e = 0;
			}
			break;
		case JIT:
			e = ty_code_jit(code, c->pid, c->t_ns, c->addr, c->file);
			if (e == -TY_EFORMAT)
				e = 0; /* a place that cannot be */
			break;
		case EXEC: e = ty_code_exec(code, c->pid, c->t_ns); break;
		case FORK: e = ty_code_fork(code, c->parent, c->pid, c->t_ns); break;
		}
		if (e)
			return e;
	}
	p->changes.n = 0;
	/* A mask such as 0x3c000: the field's value is what config has under it. */
	if (p->mtc_freq_bits)
		p->cpu.mtc_freq = (uint8_t)((p->config & p->mtc_freq_bits) /
					    (p->mtc_freq_bits & -p->mtc_freq_bits));
	if (p->cpu.family || p->cpu.nom_freq || p->cpu.cpuid_15_eax)
		ty_flow_set_cpu(p->flow, &p->cpu);
	return 0;
}
