/* SPDX-License-Identifier: MIT */
/*
 * Counting (ty_flow_seek_runs) against instructions one by one, over random programs on the machine
 * of pt_machine.h: the same calls with the same times and numbers of instructions, of all and of
 * windows, with and without symbols; and libipt's block decoder: as many instructions. RUNS_SEEDS,
 * RUNS_BRANCHES: how many programs, how long; RUNS_LOOP_SEEDS, RUNS_LOOPS: the same of programs
 * with loops, which are only counted (make soak: 10^9 instructions).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "flow_calls.h"
#include "flow_names.h"
#include "flow_priv.h"
#include "flow_stats.h"
#include "nth_element.h"
#include "pt_conf.h"
#include "pt_machine.h"
#include "percentiles.h"

#define BASE 0x400000ull
enum { FUNCTIONS = 9, BLOCKS = 9, TID = 7 };

static unsigned long number(const char *name, unsigned long otherwise)
{
	const char *s = getenv(name);

	return s ? strtoul(s, NULL, 0) : otherwise;
}

#ifdef TY_HAVE_IPT

struct function {
	unsigned n;
	struct pm_block v[BLOCKS];
};

struct program {
	struct function f[FUNCTIONS];
	VEC(const struct pm_block *) by_ip; /* by address - BASE */
};

static void lay_out(struct pm *m, struct program *p)
{
	static const char *const names[FUNCTIONS] = {"main",	       "work",	    "_setjmp",
						     "longjmp",	       "helper",    "leaf",
						     "_Unwind_Resume", "work.cold", "last"};

	for (unsigned i = 0; i < FUNCTIONS; i++) {
		struct function *f = &p->f[i];

		pm_function(m, names[i]);
		f->n = 2 + pm_any(m, BLOCKS - 1);
		for (unsigned k = 0; k < f->n; k++) {
			enum pm_kind kind = pm_any(m, 16) < 6 ? PM_COND : pm_any(m, 6);

			if (k == f->n - 1)
				kind = pm_any(m, 3) ? PM_RETURN : PM_INDIRECT_JUMP;
			f->v[k] = pm_block(m, kind, pm_any(m, 5), 0);
		}
	}
	while (m->code.len >= p->by_ip.n)
		assert_int_equal(0, vec_push(&p->by_ip, NULL));
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		struct function *f = &p->f[i];

		for (unsigned k = 0; k < f->n; k++) {
			struct pm_block *b = &f->v[k];
			const struct function *o = &p->f[pm_any(m, FUNCTIONS)];
			bool inside = pm_any(m, 8);

			p->by_ip.v[b->ip - BASE] = b;
			/* Where direct ones lead back, no packet says how often. */
			if (b->kind == PM_CALL && i + 1 < FUNCTIONS && pm_any(m, 20))
				pm_aim(m, b, p->f[i + 1 + pm_any(m, FUNCTIONS - i - 1)].v[0].ip);
			else if (b->kind == PM_CALL || b->kind == PM_JUMP)
				pm_aim(m, b,
				       k + 1 == f->n ? b->next
						     : f->v[k + 1 + pm_any(m, f->n - k - 1)].ip);
			else if (b->kind == PM_COND)
				pm_aim(m, b,
				       inside ? f->v[pm_any(m, f->n)].ip
					      : o->v[pm_any(m, 3) ? 0 : pm_any(m, o->n)].ip);
		}
	}
}

/* Where a random indirect branch leads to. */
static uint64_t somewhere(struct pm *m, const struct program *p, bool start)
{
	const struct function *f = &p->f[pm_any(m, FUNCTIONS)];

	return f->v[start ? 0 : pm_any(m, f->n)].ip;
}

static void execute(struct pm *m, const struct program *p, unsigned long branches, unsigned loops)
{
	unsigned still = 0;
	bool taken = false;

	pm_start(m, p->f[0].v[0].ip);
	for (unsigned long n = 0; n < branches; n++) {
		const struct pm_block *b = p->by_ip.v[m->ip - BASE];
		bool call = b && (b->kind == PM_CALL || b->kind == PM_INDIRECT_CALL);

		if (!b || (b->kind == PM_RETURN && !m->stack.n) || (call && m->stack.n > 200) ||
		    !pm_any(m, 5000)) {
			pm_interrupt(m, somewhere(m, p, false));
			continue;
		}
		if (still)
			still--;
		else if (!(still = loops ? pm_any(m, 2 * loops) : 0) || !pm_any(m, 3))
			taken = pm_any(m, 2);
		pm_run(m, b,
		       b->kind == PM_COND ? (still ? taken : pm_any(m, 2))
					  : somewhere(m, p, b->kind == PM_INDIRECT_CALL));
	}
	pm_stop(m);
}

/* What is reported of calls, as a sum that depends on the order. */
struct told {
	const struct ty_flow_calls *of;
	uint64_t sum, calls, insns;
	struct ty_flow_call log[8];
};

static void add(struct told *t, uint64_t v)
{
	t->sum = (t->sum ^ v) * 0x100000001b3ull;
	t->sum ^= t->sum >> 29;
}

/* Numbers of functions are in the order in which they were looked up: counting looks up fewer. */
static void add_function(struct told *t, uint32_t func)
{
	const char *name = func == TY_NO_FUNC ? "" : ty_flow_calls_function(t->of, func)->name;

	while (*name)
		add(t, (uint64_t)*name++);
}

static void add_call(struct told *t, const struct ty_flow_call *c, bool ends)
{
	t->log[t->calls++ % 8] = *c;
	add(t, c->start_ns);
	add(t, ends ? c->end_ns : 0);
	add(t, ends ? c->insns : 0);
	add(t, ends ? c->self_insns : 0);
	add(t, ends ? c->children_ns : 0);
	add(t, c->ip);
	add(t, c->ret);
	add(t, c->seq);
	add(t, c->depth);
	add_function(t, c->func);
	add_function(t, c->caller);
	add(t, (uint64_t)ends << 32 | c->flags);
}

static void begins(void *ctx, const struct ty_flow_call *c)
{
	add_call(ctx, c, false);
}

static void ends(void *ctx, const struct ty_flow_call *c)
{
	add_call(ctx, c, true);
}

static struct ty_flow *flow_of(const struct pm *m, const struct ty_buf *elf)
{
	const struct ty_pt_cpu cpu = {.mtc_freq = PM_MTC_FREQ,
				      .nom_freq = PM_NOM_FREQ,
				      .cpuid_15_eax = 1,
				      .cpuid_15_ebx = PM_TSC_CTC};
	struct ty_flow *f = ty_flow_new(NULL, NULL);
	struct ty_code *c = ty_flow_code(f);

	assert_int_equal(0, ty_flow_thread(f, TID, TID));
	assert_int_equal(0, ty_code_map_elf(c, TID, 0, 0,
					    ty_code_blob(c, "program", elf->p, elf->len), NULL));
	ty_flow_set_cpu(f, &cpu);
	ty_flow_set_time(f, 0, 1, 0);
	assert_int_equal(0, ty_flow_add(f, -1, TID, 0, m->out.p, m->out.len, 0));
	assert_int_equal(0, ty_flow_start(f, NULL));
	return f;
}

/* The same, of which some code is missing. */
static struct ty_flow *flow_with_holes(const struct pm *m, const struct program *p,
				       const struct ty_buf *elf, unsigned seed)
{
	const struct ty_pt_cpu cpu = {.family = 6,
				      .model = 142,
				      .stepping = 10,
				      .mtc_freq = PM_MTC_FREQ,
				      .nom_freq = PM_NOM_FREQ,
				      .cpuid_15_eax = 1,
				      .cpuid_15_ebx = PM_TSC_CTC};
	struct ty_flow *f = ty_flow_new(NULL, NULL);
	struct ty_code *c = ty_flow_code(f);
	int file = ty_code_blob(c, "program", elf->p, elf->len);
	size_t at = 0, n;

	assert_int_equal(0, ty_flow_thread(f, TID, TID));
	/* Between blocks; of some also in the middle of instructions. */
	for (size_t end = m->code.len, cut = seed % 8 == 0; at < end;) {
		n = 20 + rand_r(&seed) % 200;
		while (!cut && at + n < end && !p->by_ip.v[at + n])
			n++;
		n = n < end - at ? n : end - at;
		assert_int_equal(0, ty_code_map(c, TID, 0, BASE + at, n, PM_ELF_OFF + at, file));
		at += n + 1 + rand_r(&seed) % 20;
		while (!cut && at < end && !p->by_ip.v[at])
			at++;
	}
	ty_flow_set_cpu(f, &cpu);
	ty_flow_set_time(f, 0, 1, 0);
	assert_int_equal(0, ty_flow_add(f, -1, TID, 0, m->out.p, m->out.len, 0));
	assert_int_equal(0, ty_flow_start(f, NULL));
	return f;
}

/* Of what comes before an event libipt gives the time that it has read ahead: *ahead, when that is
 * earlier than the last one, because a TSC has corrected an estimate. */
static bool same_item(const struct ty_flow_at *a, const struct ty_flow_at *b, uint64_t *ahead)
{
	const struct ty_flow_item *x = &a->item, *y = &b->item;
	bool in_time = x->tsc <= y->tsc;

	if (x->kind == TY_FLOW_INSN && !in_time) {
		in_time = !*ahead || *ahead == y->tsc;
		*ahead = y->tsc;
	} else if (x->kind != TY_FLOW_INSN && *ahead) {
		in_time = x->tsc == *ahead;
		*ahead = 0;
	}
	return x->kind == y->kind && x->ip == y->ip && x->to == y->to && x->value == y->value &&
	       x->off == y->off && x->until == y->until && x->text == y->text && in_time &&
	       !((x->flags ^ y->flags) & ~(unsigned)TY_FF_EXACT);
}

#define ITEM(a)                                                                                    \
	(a).item.kind, (unsigned long long)(a).item.ip, (unsigned long long)(a).item.to,           \
		(unsigned long long)(a).item.off, (unsigned long long)(a).item.value,              \
		(unsigned long long)(a).item.until, (a).item.text ? (a).item.text : "-",           \
		(unsigned long long)(a).item.tsc, (a).item.flags

/* All items from a seek on. */
static struct told feed(struct ty_flow *f, struct ty_flow_names *names, bool spans)
{
	struct told t = {0};
	struct ty_flow_calls *calls = ty_flow_calls_new(names, begins, ends, &t);
	const struct ty_walk_run *runs;
	struct ty_flow_at at;
	size_t n = 0;

	t.of = calls;
	while ((spans ? ty_flow_next_runs(f, &at, &runs, &n) : ty_flow_next(f, &at)) > 0) {
		if (at.item.kind == TY_FLOW_GAP)
			fail_msg("a gap at %#llx: %s", (unsigned long long)at.item.ip,
				 at.item.text);
		t.insns += at.item.kind == TY_FLOW_INSN	 ? 1
			   : at.item.kind == TY_FLOW_RUN ? at.item.value
							 : 0;
		assert_int_equal(0, ty_flow_calls_feed(calls, &at));
		assert_int_equal(0, n ? ty_flow_calls_runs(calls, f, &at, runs, n, &t.insns) : 0);
	}
	ty_flow_calls_finish(calls);
	ty_flow_calls_free(calls);
	return t;
}

static uint64_t libipt(const struct pm *m)
{
	struct pt_image_section_cache *cache = pt_iscache_alloc(NULL);
	char path[] = "/tmp/tarry-runs-XXXXXX";
	int fd = mkstemp(path), id, status;
	struct pt_image *image = pt_image_alloc(NULL);
	struct pt_block_decoder *d;
	struct pt_config conf;
	uint64_t insns = 0;

	assert_true(fd >= 0 && write(fd, m->code.p, m->code.len) == (ssize_t)m->code.len);
	close(fd);
	id = pt_iscache_add_file(cache, path, 0, m->code.len, BASE);
	assert_true(id > 0 && !pt_image_add_cached(image, cache, id, NULL));
	pt_config_init(&conf);
	conf.begin = (uint8_t *)m->out.p;
	conf.end = conf.begin + m->out.len;
	d = pt_blk_alloc_decoder(&conf);
	assert_true(d && !pt_blk_set_image(d, image));
	status = pt_blk_sync_forward(d);
	while (status >= 0 && !(status & pts_eos && !(status & pts_event_pending))) {
		struct pt_block block;
		struct pt_event ev;

		if (status & pts_event_pending) {
			status = pt_blk_event(d, &ev, sizeof(ev));
			continue;
		}
		status = pt_blk_next(d, &block, sizeof(block));
		insns += block.ninsn;
	}
	assert_true(status >= 0 || status == -pte_eos);
	pt_blk_free_decoder(d);
	pt_image_free(image);
	pt_iscache_free(cache);
	unlink(path);
	return insns;
}

static void same(const struct told *a, const struct told *b, unsigned seed, const char *what)
{
	if (a->sum == b->sum && a->insns == b->insns)
		return;
	for (uint64_t i = 0; i < 8; i++)
		print_message("# %s: call at %#llx, %llu insns, depth %u, flags %u; counted: "
			      "%#llx, %llu, "
			      "%u, %u\n",
			      what, (unsigned long long)a->log[i].ip,
			      (unsigned long long)a->log[i].insns, a->log[i].depth, a->log[i].flags,
			      (unsigned long long)b->log[i].ip, (unsigned long long)b->log[i].insns,
			      b->log[i].depth, b->log[i].flags);
	fail_msg("seed %u, %s: %llu instructions and %llu begins and ends, counted %llu and %llu",
		 seed, what, (unsigned long long)a->insns, (unsigned long long)a->calls,
		 (unsigned long long)b->insns, (unsigned long long)b->calls);
}

static bool every(void *ctx, const struct ty_flow_at *at)
{
	return true;
}

/* Sums of the flow's calls from a seek on. */
static struct ty_flow_stats stats(struct ty_flow *f, struct ty_flow_names *names,
				  ty_flow_choose *choose, bool calls, size_t most)
{
	struct ty_flow_stats s;

	assert_int_equal(0, ty_flow_stats(f, names, calls, most, choose, NULL, &s, NULL));
	return s;
}

static const char *name_of(const struct ty_flow_stats *s, uint32_t func)
{
	return func == TY_NO_FUNC ? "" : ty_flow_calls_function(s->calls_of, func)->name;
}

/* Functions are numbered as they appear, which differs where one is only passed. */
static const struct ty_flow_func *func_of(const struct ty_flow_stats *s, const char *name)
{
	vec_each (f, &s->funcs)
		if (!strcmp(name_of(s, f->func), name))
			return f;
	fail_msg("no function %s", name);
	return NULL;
}

#define SAME(field) assert_int_equal(f->field, g->field)

static void same_stats(const struct ty_flow_stats *a, const struct ty_flow_stats *b)
{
	assert_int_equal(a->funcs.n, b->funcs.n);
	assert_int_equal(a->calls, b->calls);
	vec_each (f, &a->funcs) {
		const struct ty_flow_func *g = func_of(b, name_of(a, f->func));
		uint64_t calls = 0;

		SAME(count);
		SAME(not_whole);
		SAME(insns);
		SAME(self_insns);
		SAME(total_ns);
		SAME(self_ns);
		SAME(p50_ns);
		SAME(p99_ns);
		SAME(max_ns);
		SAME(max_start_ns);
		SAME(p50_insns);
		SAME(p99_insns);
		SAME(max_insns);
		SAME(max_tid);
		SAME(callers.n);
		for (size_t k = 0; k < f->callers.n; k++) {
			const struct ty_flow_caller *c = &f->callers.v[k];
			size_t i = 0;

			SAME(callers.v[k].count);
			calls += c->count;
			while (i < g->callers.n &&
			       strcmp(name_of(a, c->func), name_of(b, g->callers.v[i].func)))
				i++;
			assert_true(i < g->callers.n && g->callers.v[i].count == c->count);
		}
		assert_int_equal(f->count, calls);
	}
}

/* Sums added as runs are read, and of each call when it has ended. */
static void sums(struct ty_flow *f, struct ty_flow_names *names, const struct ty_flow_window *w,
		 const struct ty_flow_count *count)
{
	struct ty_flow_stats quick, first, each, calls;

	assert_int_equal(0, ty_flow_seek_runs(f, w, count, NULL));
	quick = stats(f, names, NULL, false, SIZE_MAX);
	assert_int_equal(quick.functions, quick.funcs.n);
	assert_int_equal(0, ty_flow_seek_runs(f, w, count, NULL));
	first = stats(f, names, NULL, false, 2);
	assert_int_equal(first.functions, quick.functions);
	assert_int_equal(first.funcs.n, quick.functions < 2 ? quick.functions : 2);
	for (size_t i = 0; i < first.funcs.n; i++) {
		assert_int_equal(first.funcs.v[i].func, quick.funcs.v[i].func);
		assert_int_equal(first.funcs.v[i].p99_insns, quick.funcs.v[i].p99_insns);
	}
	assert_int_equal(0, ty_flow_seek(f, w, false, NULL));
	each = stats(f, names, every, false, SIZE_MAX);
	same_stats(&quick, &each);
	assert_int_equal(0, ty_flow_seek(f, w, false, NULL));
	calls = stats(f, names, NULL, true, SIZE_MAX);
	same_stats(&quick, &calls);
	ty_flow_stats_fini(&first);
	ty_flow_stats_fini(&quick);
	ty_flow_stats_fini(&each);
	ty_flow_stats_fini(&calls);
}

static uint64_t one(unsigned seed, unsigned long branches, unsigned loops, bool step)
{
	const struct pm_options o = {.long_tnt = seed & 1,
				     .return_compression = seed & 2,
				     .mtc = seed & 4,
				     .cyc = seed & 8,
				     .psb_every = 1 + seed % 5 * 2000,
				     .tsc = 1000000};
	struct ty_flow_window w = {.to_ns = UINT64_MAX};
	struct ty_flow_count count = {.extent_of = ty_flow_names_extent};
	struct ty_flow_names *names;
	struct ty_buf elf;
	struct ty_flow *f;
	struct program p = {0};
	struct told all, counted;
	uint64_t first, last, insns;
	struct pm m;

	pm_init(&m, BASE, o);
	m.seed = seed;
	lay_out(&m, &p);
	execute(&m, &p, branches, loops);
	ty_buf_init(&elf, SIZE_MAX / 2);
	/* Some without symbols; some with a few. */
	if (seed % 7 == 0)
		m.symbols.n = seed % 3;
	pm_elf(&m, &elf);
	f = flow_of(&m, &elf);
	names = ty_flow_names_new(ty_flow_code(f));
	count.ctx = names;
	assert_int_equal(0, ty_flow_seek_runs(f, &w, &count, NULL));
	counted = feed(f, names, true);
	if (m.insns != counted.insns || m.insns != libipt(&m))
		fail_msg("seed %u: %llu instructions executed, %llu counted, %llu by libipt", seed,
			 (unsigned long long)m.insns, (unsigned long long)counted.insns,
			 (unsigned long long)libipt(&m));
	insns = counted.insns;
	if (step) {
		assert_int_equal(0, ty_flow_seek(f, &w, false, NULL));
		all = feed(f, names, false);
		same(&all, &counted, seed, "all");
		if (seed % 3 == 1)
			sums(f, names, &w, &count);
		count.each_time = true;
		assert_int_equal(0, ty_flow_seek_runs(f, &w, &count, NULL));
		counted = feed(f, names, false);
		same(&all, &counted, seed, "each time");
		count.each_time = false;
		assert_true(ty_flow_span(f, &first, &last));
		for (unsigned i = 0; i < 3; i++) {
			w.from_ns = first + pm_any(&m, (unsigned)(last - first + 1));
			w.to_ns = w.from_ns + pm_any(&m, (unsigned)(last - first) / 4 + 1);
			assert_int_equal(0, ty_flow_seek(f, &w, false, NULL));
			all = feed(f, names, false);
			assert_int_equal(0, ty_flow_seek_runs(f, &w, &count, NULL));
			counted = feed(f, names, false);
			same(&all, &counted, seed, "a window");
		}
	}
	ty_flow_free(f);
	ty_flow_names_free(names);
	ty_buf_fini(&elf);
	vec_fini(&p.by_ip);
	pm_fini(&m);
	return insns;
}

/* The same flow by the fast decoder, by libipt, and counted, of a program of which code is missing.
 */
static uint64_t holes(unsigned seed, unsigned long branches, size_t *ranges, size_t *quickly)
{
	const struct pm_options o = {.long_tnt = seed & 1,
				     .return_compression = seed & 2,
				     .mtc = seed & 4,
				     .cyc = seed & 8,
				     .psb_every = 1 + seed % 5 * 2000,
				     .tsc = 1000000};
	const struct ty_flow_window all = {.to_ns = UINT64_MAX};
	struct ty_flow *quick, *slow;
	struct ty_flow_at x, y;
	struct ty_flow_names *names;
	struct ty_flow_count count = {.extent_of = ty_flow_names_extent};
	struct ty_buf elf;
	struct program p = {0};
	uint64_t gaps = 0, insns = 0, counted = 0, counted_gaps = 0, items = 0, ahead = 0;
	struct pm m;

	pm_init(&m, BASE, o);
	m.seed = seed;
	lay_out(&m, &p);
	execute(&m, &p, branches, 0);
	ty_buf_init(&elf, SIZE_MAX / 2);
	pm_elf(&m, &elf);
	quick = flow_with_holes(&m, &p, &elf, seed);
	slow = flow_with_holes(&m, &p, &elf, seed);
	slow->by_libipt = true;
	assert_int_equal(0, ty_flow_seek(quick, &all, false, NULL));
	assert_int_equal(0, ty_flow_seek(slow, &all, false, NULL));
	while (ty_flow_next(quick, &x) > 0) {
		assert_int_equal(1, ty_flow_next(slow, &y));
		items++;
		if (!same_item(&x, &y, &ahead))
			fail_msg("seed %u, item %llu: kind %u at %#llx to %#llx, byte %llu, %llu "
				 "until %llu, %s, time %llu, %x; by libipt: %u at %#llx to %#llx, "
				 "byte %llu, %llu until %llu, %s, time %llu, %x",
				 seed, (unsigned long long)items, ITEM(x), ITEM(y));
		gaps += x.item.kind == TY_FLOW_GAP;
		insns += x.item.kind == TY_FLOW_INSN;
	}
	assert_int_equal(0, ty_flow_next(slow, &y));
	*ranges += quick->ranges.n;
	vec_each (r, &quick->ranges)
		*quickly += r->quick;
	names = ty_flow_names_new(ty_flow_code(quick));
	count.ctx = names;
	assert_int_equal(0, ty_flow_seek_runs(quick, &all, &count, NULL));
	while (ty_flow_next(quick, &x) > 0) {
		counted += x.item.kind == TY_FLOW_RUN	 ? x.item.value
			   : x.item.kind == TY_FLOW_INSN ? 1
							 : 0;
		counted_gaps += x.item.kind == TY_FLOW_GAP;
	}
	assert_int_equal(insns, counted);
	assert_int_equal(gaps, counted_gaps);
	ty_flow_free(quick);
	ty_flow_free(slow);
	ty_flow_names_free(names);
	ty_buf_fini(&elf);
	vec_fini(&p.by_ip);
	pm_fini(&m);
	return gaps;
}

/* Functions of four blocks, called one after the other, twice: more code than a little memory
 * holds. */
static void lay_out_many(struct pm *m, unsigned functions)
{
	struct many {
		struct pm_block a, b, c, ret;
	} *f = calloc(functions, sizeof(*f));
	struct pm_block *call = calloc(functions + 1, sizeof(*call));
	char name[32];

	assert_true(f && call);
	for (unsigned i = 0; i < functions; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		pm_function(m, name);
		f[i].a = pm_block(m, PM_COND, i % 7, 0);
		f[i].b = pm_block(m, PM_JUMP, 2, 0);
		pm_aim(m, &f[i].a, pm_here(m));
		f[i].c = pm_block(m, PM_COND, 1, 0);
		pm_aim(m, &f[i].b, pm_here(m));
		pm_aim(m, &f[i].c, pm_here(m));
		f[i].ret = pm_block(m, PM_RETURN, 1, 0);
	}
	pm_function(m, "main");
	for (unsigned i = 0; i < functions; i++)
		call[i] = pm_block(m, PM_CALL, 1, f[i].a.ip);
	call[functions] = pm_block(m, PM_JUMP, 0, call[0].ip);
	pm_start(m, call[0].ip);
	for (unsigned twice = 0; twice < 2; twice++) {
		for (unsigned i = 0; i < functions; i++) {
			pm_run(m, &call[i], 0);
			pm_run(m, &f[i].a, twice);
			pm_run(m, twice ? &f[i].c : &f[i].b, 0);
			pm_run(m, &f[i].ret, 0);
		}
		pm_run(m, &call[functions], 0);
	}
	pm_stop(m);
	free(f);
	free(call);
}

/* Sums with so much memory; *forgotten: how often there was no room for the code. */
static struct ty_flow_stats stats_within(const struct pm *m, const struct ty_buf *elf,
					 uint64_t memory, unsigned *forgotten)
{
	const struct ty_flow_window all = {.to_ns = UINT64_MAX};
	struct ty_flow *f = flow_of(m, elf);
	struct ty_flow_names *names = ty_flow_names_new(ty_flow_code(f));
	struct ty_flow_count count = {.extent_of = ty_flow_names_extent, .ctx = names};
	struct ty_flow_stats s;

	ty_flow_set_memory(f, memory);
	f->blocks = ty_blocks_new(ty_flow_code(f));
	ty_blocks_set_extents(f->blocks, count.extent_of, count.ctx);
	*forgotten = ty_blocks_age(f->blocks);
	assert_int_equal(0, ty_flow_seek_runs(f, &all, &count, NULL));
	s = stats(f, names, NULL, false, SIZE_MAX);
	*forgotten = ty_blocks_age(f->blocks) - *forgotten;
	ty_flow_free(f);
	ty_flow_names_free(names);
	return s;
}

/* With little memory the code is decoded more often, and the result is the same; with none, the
 * percentiles are those of fewer calls, which are counted. */
static void test_memory(void **state)
{
	enum { MANY = 20000 };
	static const uint64_t memory[] = {0, 16 << 20, 256 << 10};
	struct ty_flow_stats s[3];
	unsigned forgotten[3];
	struct ty_buf elf;
	struct pm m;

	pm_init(&m, BASE,
		(struct pm_options){.return_compression = true, .mtc = true, .tsc = 1000});
	lay_out_many(&m, MANY);
	ty_buf_init(&elf, SIZE_MAX / 2);
	pm_elf(&m, &elf);
	for (unsigned i = 0; i < 3; i++) {
		s[i] = stats_within(&m, &elf, memory[i], &forgotten[i]);
		assert_int_equal(m.insns, s[i].insns);
		assert_int_equal(MANY + 1, s[i].functions);
		assert_int_equal(2 * MANY, s[i].kept + s[i].beyond);
		assert_int_equal(s[0].funcs.n, s[i].funcs.n);
		for (size_t k = 0; k < s[i].funcs.n; k++) {
			const struct ty_flow_func *f = &s[0].funcs.v[k], *g = &s[i].funcs.v[k];

			SAME(func);
			SAME(count);
			SAME(insns);
			SAME(self_insns);
			SAME(total_ns);
			SAME(max_ns);
			SAME(max_insns);
			if (i == 1) {
				SAME(p50_ns);
				SAME(p99_ns);
				SAME(p50_insns);
			}
		}
	}
	assert_int_equal(0, forgotten[0]);
	assert_true(forgotten[1]);
	assert_int_equal(0, s[0].beyond + s[1].beyond);
	assert_true(s[2].beyond && s[2].kept);
	for (unsigned i = 0; i < 3; i++)
		ty_flow_stats_fini(&s[i]);
	ty_buf_fini(&elf);
	pm_fini(&m);
}

static void test_holes(void **state)
{
	unsigned long seeds = number("RUNS_SEEDS", 60), branches = number("RUNS_BRANCHES", 20000),
		      first = number("RUNS_FIRST", 1);
	size_t ranges = 0, quickly = 0;
	uint64_t gaps = 0;

	if (!ty_pt_available())
		skip();
	for (unsigned long i = first; i < first + seeds; i++)
		gaps += holes((unsigned)i, branches / 4, &ranges, &quickly);
	/* Where decoding resumes behind a gap, a range ends, and nothing is between the two PSB+;
	 * code is missing right before the end of a range; a TSC corrects the time before an event.
	 */
	gaps += holes(1100, 5000, &ranges, &quickly);
	gaps += holes(1910, 5000, &ranges, &quickly);
	gaps += holes(1213, 5000, &ranges, &quickly);
	print_message("# %llu gaps, %zu of %zu ranges quickly\n", (unsigned long long)gaps, quickly,
		      ranges);
	assert_true(gaps > 10 * seeds);
	assert_true(quickly > ranges / 2);
}

static void test_same(void **state)
{
	unsigned long seeds = number("RUNS_SEEDS", 60), branches = number("RUNS_BRANCHES", 20000),
		      first = number("RUNS_FIRST", 1);
	uint64_t insns = 0;

	if (!ty_pt_available())
		skip();
	for (unsigned long i = first; i < first + seeds; i++)
		insns += one((unsigned)i, branches, i % 3 ? 0 : 30, true);
	print_message("# %llu instructions\n", (unsigned long long)insns);
	assert_true(insns > seeds * branches);
}

/* Loops: as many instructions as libipt says. */
static void test_loops(void **state)
{
	unsigned long seeds = number("RUNS_LOOP_SEEDS", 4), branches = number("RUNS_LOOPS", 200000);
	uint64_t insns = 0;

	if (!ty_pt_available())
		skip();
	for (unsigned long i = 0; i < seeds; i++)
		insns += one((unsigned)(1000 + i), branches, 400, false);
	print_message("# %llu instructions\n", (unsigned long long)insns);
}

#else

static void test_memory(void **state)
{
	skip();
}

static void test_holes(void **state)
{
	skip();
}

static void test_same(void **state)
{
	skip();
}

static void test_loops(void **state)
{
	skip();
}

#endif

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void test_nth(void **state)
{
	unsigned seed = 1;

	for (size_t n = 1; n < 3000; n += 1 + n / 3) {
		for (unsigned shape = 0; shape < 4; shape++) {
			uint64_t *v = malloc(n * sizeof(*v)), *sorted = malloc(n * sizeof(*v));

			for (size_t i = 0; i < n; i++) {
				uint64_t r =
					(uint64_t)rand_r(&seed) << 33 ^ (uint64_t)rand_r(&seed);

				v[i] = shape == 0   ? r << 1
				       : shape == 1 ? r % 5
				       : shape == 2 ? 7
						    : r % 70000;
			}
			memcpy(sorted, v, n * sizeof(*v));
			qsort(sorted, n, sizeof(*v), by_value);
			for (size_t k = 0; k < n; k += 1 + n / 9)
				assert_int_equal(sorted[k], ty_nth_element(v, n, k));
			qsort(v, n, sizeof(*v), by_value);
			assert_memory_equal(sorted, v, n * sizeof(*v));
			free(sorted);
			free(v);
		}
	}
}

/* Percentiles of numbers most of which are counted: from small to large, and of a few sizes. */
static void test_percentiles(void **state)
{
	enum { MOST = 40000 };
	/* Small and large ones; equal ones, at last followed by one that is not. */
	static const uint64_t most[] = {
		3, TY_RANKS_SMALL, 3 * TY_RANKS_SMALL, 30000, UINT64_MAX, 1, 1, 1};
	static const uint64_t plus[] = {0, 0, 0, 0, 0, 7, 9000, UINT64_MAX};
	uint64_t *sorted = malloc(MOST * sizeof(*sorted));
	unsigned seed = 1;

	for (size_t n = 1; n <= MOST; n += 1 + n / 2) {
		for (size_t shape = 0; shape < 8; shape++) {
			struct ty_ranks r = {0};
			struct ty_ranks_room m = {0};

			for (size_t i = 0; i < n; i++) {
				sorted[i] =
					((uint64_t)rand_r(&seed) << 33 ^ (uint64_t)rand_r(&seed)) %
						most[shape] +
					plus[shape];
				if (plus[shape] && n > 3 && i >= n - 3)
					sorted[i] = i;
				assert_int_equal(0, ty_ranks_add(&r, sorted[i], &m));
			}
			qsort(sorted, n, sizeof(*sorted), by_value);
			for (size_t k = 0; k < n; k += 1 + n / 400)
				assert_int_equal(sorted[k], ty_ranks_nth(&r, k));
			/* Counts take no more memory than the values would. */
			assert_true(r.limit <= 2 * n);
			assert_int_equal(ty_ranks_count(&r), n);
			if (r.n) {
				assert_int_equal(m.held, 0);
			} else {
				assert_int_equal(m.held, r.kept->cap * sizeof(*r.kept->v) +
								 r.limit * sizeof(*r.kept->small));
				if (n > TY_RANKS_SMALL && n > most[shape] && n > plus[shape])
					assert_true(r.kept->n <= n / 2);
			}
			ty_ranks_fini(&r);
			ty_ranks_room_fini(&m);
		}
	}
	free(sorted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nth),   cmocka_unit_test(test_percentiles),
		cmocka_unit_test(test_same),  cmocka_unit_test(test_holes),
		cmocka_unit_test(test_loops), cmocka_unit_test(test_memory)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
