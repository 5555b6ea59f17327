/* SPDX-License-Identifier: MIT */
/*
 * Names and unwinds samples; see sample_load.h. Where they are read from: sample_sources.c. First
 * everything that is no sample (mappings, execs, forks, names), then the samples: what a process
 * has mapped is known to its end before an address of it is named. Where a sample has registers and
 * a copy of the stack, callers are found by call frame information (decoder/unwind.h); else by the
 * CPU's record of calls that have not returned (LBR); else they are those that the kernel found by
 * frame pointers.
 *
 * Order of registers: asm/perf_regs.h of x86 and arm64. Marks in call chains: enum
 * perf_callchain_context of linux/perf_event.h.
 */
#include "sample_load_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checked_read.h"
#include "compare.h"
#include "flow_files.h"
#include "flow_names.h"
#include "flow_perf.h"
#include "runtime_code.h"
#include "unwind.h"

enum {
	INLINED_MAX = 16,
	PATH_MAX_NODES = 2 * TY_FRAMES_MAX,
	KALLSYMS_MAX = 64 << 20,
};
#define CONTEXT_MAX    ((uint64_t)-4095)
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER   ((uint64_t)-512)

static void fini(struct loader *l)
{
	ty_unwinder_free(l->unwinder);
	ty_flow_names_free(l->names);
	ty_flow_perf_free(l->perf);
	ty_flow_free(l->flow);
	ty_flow_files_free(l->files);
	vec_fini(&l->comms);
	vec_fini(&l->named);
	vec_fini(&l->frames);
	ty_pair_map_fini(&l->named_of);
	ty_buf_fini(&l->kallsyms);
}

int ty_sample_loader_init(struct loader *l, const struct ty_sample_load_opts *o)
{
	*l = (struct loader){.o = o, .out = ty_samples_new()};
	ty_buf_init(&l->kallsyms, KALLSYMS_MAX);
	l->files = ty_flow_files_new(o->roots ? (const char *const *)o->roots->v : NULL,
				     o->roots ? o->roots->n : 0);
	l->flow = l->files ? ty_flow_new(ty_flow_files_load, l->files) : NULL;
	l->perf = l->flow ? ty_flow_perf_new(l->flow) : NULL;
	return l->perf && l->out ? 0 : -TY_ENOMEM;
}

/* records other than samples ------------------------------------------------------------------ */

static int on_comm(struct loader *l, const struct ty_perf_rec *r, uint64_t ns)
{
	struct name_change c = {.ns = ns, .order = (uint32_t)l->comms.n};
	struct ty_perf_comm comm;

	if (ty_perf_comm(r, &comm) || !*comm.comm)
		return 0;
	c.tid = comm.tid;
	c.text = ty_samples_text(l->out, comm.comm);
	return c.text == UINT32_MAX ? -TY_ENOMEM : vec_push(&l->comms, c);
}

static int on_fork(struct loader *l, const struct ty_perf_rec *r)
{
	struct name_change c = {.order = (uint32_t)l->comms.n};
	struct ty_perf_task t;

	if (ty_perf_task(r, &t))
		return 0;
	c.ns = t.time;
	c.tid = t.tid;
	c.parent = t.ptid;
	return vec_push(&l->comms, c);
}

int ty_sample_loader_side(struct loader *l, const struct ty_perf_rec *r,
			  const struct ty_perf_id *id)
{
	struct ty_perf_mmap m;
	struct ty_perf_lost lost;
	int e = 0;

	switch (r->type) {
	case TY_PERF_COMM: e = on_comm(l, r, id->time); break;
	case TY_PERF_FORK: e = on_fork(l, r); break;
	/* The kernel reports the same loss twice: when it was and, at the end, per event. */
	case TY_PERF_LOST:
	case TY_PERF_LOST_SAMPLES:
		if (!ty_perf_lost(r, &lost))
			l->lost[r->type == TY_PERF_LOST] += lost.count;
		break;
	case TY_PERF_MMAP:
	case TY_PERF_MMAP2:
		if (!l->kernel_text && !ty_perf_mmap(r, &m) && m.pid == -1 &&
		    !strncmp(m.name, "[kernel.kallsyms]_", 18))
			l->kernel_text = m.pgoff;
		break;
	}
	return e ? e : ty_flow_perf_record(l->perf, r, id, -1);
}

ORDER(by_change, struct name_change, compare(a->ns, b->ns) ?: compare(a->order, b->order))

/* The names of the samples' threads: both in order of time. */
static int name_threads(struct loader *l)
{
	struct ty_pair_map now = {0};
	size_t i = 0;
	int e = 0;

	vec_sort(&l->comms, by_change);
	vec_each (s, &l->out->v) {
		uint32_t text;

		for (; !e && i < l->comms.n && l->comms.v[i].ns <= s->ns; i++) {
			const struct name_change *c = &l->comms.v[i];
			const uint32_t is =
				c->text ? c->text : ty_pair_map_get(&now, (uint32_t)c->parent, 0);
			uint32_t *v = ty_pair_map_add(&now, (uint32_t)c->tid, 0);

			if (v)
				*v = is;
			else
				e = -TY_ENOMEM;
		}
		text = ty_pair_map_get(&now, (uint32_t)s->tid, 0);
		s->comm = text == TY_PAIR_NONE ? 0 : text;
	}
	ty_pair_map_fini(&now);
	return e;
}

/* names -------------------------------------------------------------------------------------------
 */

/* The kernel's own list, where it is that of the recorded kernel. */
static void read_kallsyms(struct loader *l)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[1024], *end;
	bool same = false;

	while (f && fgets(line, sizeof(line), f)) {
		const uint64_t addr = strtoull(line, &end, 16);

		if (end[0] == ' ' && end[1] && !strcmp(end + 2, " _text\n"))
			same = addr && addr == l->kernel_text;
		ty_buf_adds(&l->kallsyms, line);
	}
	if (f)
		fclose(f);
	if (!same || l->kallsyms.failed)
		l->kallsyms.len = 0;
}

/* Before the first name of the kernel. */
static void kernel_names(struct loader *l)
{
	l->kernel_ready = true;
	if (l->given_kallsyms.n) {
		ty_flow_names_kernel(l->names, l->given_kallsyms.s, l->given_kallsyms.n);
		return;
	}
	if (l->kernel_text)
		read_kallsyms(l);
	if (l->kallsyms.len)
		ty_flow_names_kernel(l->names, l->kallsyms.p, l->kallsyms.len);
}

static int add_frame(struct loader *l, struct ty_sample_frame f, const char *function,
		     const char *module, const char *file, bool kernel)
{
	uint32_t id;

	f.func = ty_samples_func(l->out, function, module, kernel);
	f.file = ty_samples_text(l->out, file);
	id = f.func == UINT32_MAX || f.file == UINT32_MAX ? UINT32_MAX
							  : ty_samples_frame(l->out, &f);
	return id == UINT32_MAX ? -TY_ENOMEM : vec_push(&l->frames, id);
}

/* perf's name for the kernel, which mappings carry with a symbol appended, and old files not at
 * all. */
static const char *module_of(const struct ty_flow_name *at, bool kernel)
{
	static const char name[] = "[kernel.kallsyms]";

	return (kernel && !at->file) || (at->file && !strncmp(at->file, name, sizeof(name) - 1))
		       ? name
		       : at->file;
}

static struct ty_flow_name place_of(struct loader *l, int32_t pid, uint64_t ns, uint64_t pc)
{
	if (pc >> 63 && !l->kernel_ready)
		kernel_names(l);
	return ty_flow_names_at(l->names, pid, ns, pc);
}

static bool is_nameless(struct loader *l, const struct ty_sample *s, uint64_t pc)
{
	const struct ty_flow_name at = place_of(l, s->pid, s->ns, pc);
	const char *module = module_of(&at, pc >> 63);

	return !at.function && !strcmp(module ? module : "", l->o->nameless);
}

/* The frames at an address, including inlined ones. NULL: out of memory. */
static const struct named *name_at(struct loader *l, int32_t pid, uint64_t ns, uint64_t pc)
{
	const bool kernel = pc >> 63;
	struct ty_inlined in[INLINED_MAX], caller = {0};
	struct named v = {.first = (uint32_t)l->frames.n};
	const struct ty_flow_name at = place_of(l, pid, ns, pc);
	uint32_t *id;
	size_t n;
	int e = 0;

	/* By the place in the file; where there is none, by address and process. */
	id = at.file_id >= 0 && !kernel
		     ? ty_pair_map_add(&l->named_of, (uint64_t)at.file_id << 2 | 1, at.off)
		     : ty_pair_map_add(&l->named_of, kernel ? 2 : (uint64_t)(uint32_t)pid << 2 | 3,
				       pc);
	if (!id)
		return NULL;
	if (*id != TY_PAIR_NONE)
		return &l->named.v[*id];
	/* A line of libc is not worth its debug information, which is large. */
	n = l->o->innermost && ty_is_runtime_file(at.file)
		    ? 0
		    : ty_flow_names_inlined(l->names, &at, in, INLINED_MAX, &caller);
	for (size_t i = 0; !e && i < n; i++)
		e = add_frame(l, (struct ty_sample_frame){.line = in[i].line, .inlined = true},
			      in[i].name, at.file, in[i].file, false);
	e = e ? e
	      : add_frame(l, (struct ty_sample_frame){.line = caller.line}, at.function,
			  module_of(&at, kernel), caller.file, kernel);
	v.n = (uint32_t)l->frames.n - v.first;
	if (e || vec_push(&l->named, v))
		return NULL;
	*id = (uint32_t)l->named.n - 1;
	return &l->named.v[*id];
}

/* stacks ------------------------------------------------------------------------------------------
 */

/* Addresses of a stack, the innermost first. */
struct chain {
	uint64_t pc[PATH_MAX_NODES];
	size_t n;
	bool cut;
};

static void add_pc(struct chain *c, uint64_t pc)
{
	if (c->n < PATH_MAX_NODES)
		c->pc[c->n++] = pc;
	else
		c->cut = true;
}

/* Registers of user code in the unwinder's order; false: some are missing. */
static bool take_regs(const struct loader *l, const struct ty_perf_attr *a,
		      const struct ty_perf_sample *p, struct ty_stack *out)
{
	static const uint8_t x86[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8};
	const unsigned n = l->arm ? 33 : sizeof(x86);

	if (!p->regs || p->regs_abi != 2)
		return false;
	for (unsigned i = 0; i < n; i++) {
		const unsigned bit = l->arm ? i : x86[i];
		const uint64_t below = a->sample_regs_user & ((1ull << bit) - 1);

		if (!(a->sample_regs_user >> bit & 1))
			return false;
		out->regs[i] = ty_load(p->regs + 8 * __builtin_popcountll(below), 8, false);
	}
	out->head.regs_n = (uint8_t)n;
	return true;
}

static void unwind(struct loader *l, const struct ty_perf_sample *p, struct ty_stack *s,
		   struct chain *c)
{
	struct ty_frame frames[TY_FRAMES_MAX];
	enum ty_stack_end end;
	size_t n;

	s->head.ns = p->id.time;
	s->head.pid = (uint32_t)p->id.pid;
	s->bytes = p->stack;
	s->bytes_n = p->stack_n;
	n = ty_unwind(l->unwinder, s, frames, &end);
	for (size_t i = 0; i < n; i++)
		add_pc(c, frames[i].pc);
	c->cut |= end != TY_STACK_COMPLETE;
}

/* The CPU keeps so many calls, and forgets the outermost first. */
static bool is_full(uint64_t branches)
{
	return branches == 8 || branches == 16 || branches == 32;
}

/* Callers by branch records: each call is where it was made, the innermost first. */
static void follow_calls(struct loader *l, const struct ty_perf_sample *p, struct chain *c)
{
	for (uint64_t i = 0; i < p->branches_n; i++)
		add_pc(c, ty_perf_branch_at(p, i).from);
	c->cut |= is_full(p->branches_n);
	l->calls = true;
}

/* The kernel's part of a call chain, and the user part by branch records or frame pointers. */
static void follow_chain(struct loader *l, const struct ty_perf_sample *p, bool with_user,
			 bool with_calls, struct chain *c)
{
	uint64_t context = CONTEXT_USER;
	bool first = true, user = false;

	for (uint64_t i = 0; i < p->ips_n; i++) {
		const uint64_t ip = ty_load(p->ips + 8 * i, 8, false);

		if (ip >= CONTEXT_MAX) {
			context = ip;
			first = true;
			continue;
		}
		if ((context != CONTEXT_KERNEL && context != CONTEXT_USER) ||
		    (context == CONTEXT_USER && !with_user))
			continue;
		/* Callers by their return addresses: the call is before it. */
		add_pc(c, first ? ip : ip - 1);
		user |= context == CONTEXT_USER;
		first = false;
		if (user && with_calls) {
			follow_calls(l, p, c);
			return;
		}
	}
	if (user && c->n > 1)
		l->pointers = true;
	c->cut |= with_user && !user;
}

static void find_chain(struct loader *l, const struct ty_perf_attr *a,
		       const struct ty_perf_sample *p, struct chain *c)
{
	struct ty_stack s = {0};
	const bool copied = take_regs(l, a, p, &s),
		   calls = a->branch_sample_type & TY_PERF_BRANCH_CALL_STACK && p->branches_n;

	c->n = 0;
	c->cut = false;
	if (l->o->innermost) {
		add_pc(c, p->ip);
		return;
	}
	if (p->have & TY_PERF_S_CALLCHAIN)
		follow_chain(l, p, !copied, calls, c);
	else if (p->ip >> 63 || !copied)
		add_pc(c, p->ip);
	if (copied) {
		unwind(l, p, &s, c);
		l->unwound = true;
	} else if (!(p->have & TY_PERF_S_CALLCHAIN)) {
		c->cut = true;
	}
	/* Of 32-bit processes, and where nothing was found. */
	if (!c->n)
		add_pc(c, p->ip);
}

static int add_branches(struct loader *l, const struct ty_perf_sample *p, struct ty_sample *s)
{
	struct ty_samples *out = l->out;
	const struct ty_sample_branches set = {out->branch_v.n, (uint32_t)p->branches_n};

	if (!l->o->branches || !p->branches_n)
		return 0;
	for (uint64_t i = 0; i < p->branches_n; i++) {
		const struct ty_perf_branch b = ty_perf_branch_at(p, i);

		if (vec_push(&out->branch_v,
			     (struct ty_sample_branch){b.from, b.to, b.cycles, b.mispredicted,
						       b.predicted, b.in_transaction, b.abort}))
			return -TY_ENOMEM;
	}
	if (!out->branch_sets.n && vec_push(&out->branch_sets, (struct ty_sample_branches){0}))
		return -TY_ENOMEM;
	s->branches = (uint32_t)out->branch_sets.n;
	return vec_push(&out->branch_sets, set);
}

int ty_sample_loader_sample(struct loader *l, const struct ty_perf_attr *a,
			    const struct ty_perf_sample *p, uint8_t event)
{
	struct ty_sample s = {.ns = p->id.time,
			      .period = p->have & TY_PERF_S_PERIOD ? p->period : a->sample_period,
			      .pid = p->id.pid,
			      .tid = p->id.tid,
			      .cpu = UINT16_MAX,
			      .event = event,
			      .in_kernel = p->ip >> 63};
	struct chain c;

	if (!(p->have & TY_PERF_S_TIME) || !(p->have & TY_PERF_S_TID) ||
	    !(p->have & TY_PERF_S_IP)) {
		l->out->no_time++;
		return 0;
	}
	if (p->have & TY_PERF_S_CPU && p->id.cpu < UINT16_MAX)
		s.cpu = (uint16_t)p->id.cpu;
	if (!(a->branch_sample_type & TY_PERF_BRANCH_CALL_STACK))
		l->out->branches += p->branches_n;
	if (l->o->nameless && !is_nameless(l, &s, p->ip)) {
		l->count[event]++;
		return 0;
	}
	if (add_branches(l, p, &s))
		return -TY_ENOMEM;
	find_chain(l, a, p, &c);
	s.cut = c.cut;
	for (size_t i = c.n; i-- > 0;) {
		const struct named *n = name_at(l, s.pid, s.ns, c.pc[i]);

		for (uint32_t k = n ? n->n : 0; k-- > 0;) {
			s.node = ty_samples_node(l->out, s.node, l->frames.v[n->first + k]);
			if (s.node == UINT32_MAX)
				return -TY_ENOMEM;
		}
		if (!n)
			return -TY_ENOMEM;
	}
	l->count[event]++;
	return vec_push(&l->out->v, s);
}

/* Everything but samples is in. */
int ty_sample_loader_ready(struct loader *l)
{
	int e = ty_flow_perf_finish(l->perf);

	e = e ? e : ty_code_ready(ty_flow_code(l->flow));
	if (e)
		return e;
	l->names = ty_flow_names_new(ty_flow_code(l->flow));
	l->unwinder = ty_unwinder_new(ty_flow_code(l->flow), l->names);
	if (!l->names || !l->unwinder)
		return -TY_ENOMEM;
	ty_flow_names_symbols(l->names, ty_flow_files_symbols, l->files);
	return 0;
}

/* Of several events that with most samples; the others' are left out. */
static void choose_event(struct loader *l)
{
	unsigned best = 0;
	size_t n = 0;

	for (unsigned i = 0; i < TY_SAMPLE_EVENTS; i++)
		if (l->count[i] > l->count[best])
			best = i;
	vec_each (s, &l->out->v)
		if (s->event == best)
			l->out->v.v[n++] = *s;
	l->out->others = l->out->v.n - n;
	l->out->v.n = n;
}

int ty_sample_loader_finish(struct loader *l)
{
	choose_event(l);
	l->out->lost += l->lost[0] > l->lost[1] ? l->lost[0] : l->lost[1];
	ty_samples_sort(l->out);
	l->out->how = l->unwound    ? "call frame information (DWARF)"
		      : l->calls    ? "branch records of the CPU (LBR)"
		      : l->pointers ? "frame pointers"
				    : NULL;
	return name_threads(l);
}

int ty_sample_loader_done(struct loader *l, int e, const char *path, struct ty_samples **out,
			  struct ty_err *err)
{
	if (!e && !l->o->quiet)
		ty_flow_files_note(l->files);
	fini(l);
	if (e) {
		ty_samples_free(l->out);
		l->out = NULL;
		if (err && !err->code)
			ty_fail(err, -e, TY_NO_OFFSET, "%s: cannot read the CPU samples: %s", path,
				ty_strerror(e));
	}
	*out = l->out;
	return e;
}
