/* SPDX-License-Identifier: MIT */
/*
 * See flow_perf.h. Words of intel_pt's AUXTRACE_INFO: linux tools/perf/util/intel-pt.h; bits of
 * attr.config: linux arch/x86/include/asm/msr-index.h, IA32_RTIT_CTL.
 */
#include "flow_perf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

enum what { MAP, EXEC, FORK };

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

struct ty_flow_perf {
	struct ty_flow *flow;
	struct ty_pt_cpu cpu;
	uint64_t config, mtc_freq_bits;
	VEC(struct change) changes;
	struct ty_strtab *names;	/* of files with a build id: */
	VEC(struct build_id) build_ids; /* by name */
	uint64_t bad;
};

struct ty_flow_perf *ty_flow_perf_new(struct ty_flow *f)
{
	struct ty_flow_perf *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->flow = f;
	p->names = ty_strtab_new();
	if (!p->names) {
		free(p);
		return NULL;
	}
	return p;
}

void ty_flow_perf_free(struct ty_flow_perf *p)
{
	if (!p)
		return;
	ty_strtab_free(p->names);
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
	return p->changes.n >= 1u << 26 ? -TY_ELIMIT : vec_push(&p->changes, c);
}

static int on_mmap(struct ty_flow_perf *p, const struct ty_perf_rec *r, uint64_t t_ns)
{
	struct ty_perf_mmap m;
	struct change c = {.t_ns = t_ns, .what = MAP};

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

static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->t_ns != y->t_ns)
		return x->t_ns < y->t_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

int ty_flow_perf_finish(struct ty_flow_perf *p)
{
	struct ty_code *code = ty_flow_code(p->flow);
	int e = 0;

	if (p->changes.n)
		qsort(p->changes.v, p->changes.n, sizeof(*p->changes.v), by_time);
	vec_each (c, &p->changes) {
		switch (c->what) {
		case MAP:
			e = ty_code_map(code, c->pid, c->t_ns, c->addr, c->len, c->off, c->file);
			if (e == -TY_EFORMAT) {
				p->bad++;
				e = 0;
			}
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
