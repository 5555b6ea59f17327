/* SPDX-License-Identifier: MIT */
/*
 * The builder's front: takes events in time order, maintains counts, gaps and clock points, and
 * dispatches each event to the modules for threads, names, interrupts and system calls (builder.h).
 *
 * Time never decreases: an event with an earlier time than the previous one is placed at that one's
 * time. Scheduler and interrupt events are taken from one buffer only (the first that has them), so
 * that a file that holds them twice does not count them twice.
 */
#include "builder.h"
#include "block_coder.h"
#include "key_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TY_CLOCK_MARKER	 "tarry_clock " /* section.h */
#define DAY_NS		 UINT64_C(86400000000000)
#define OPEN_BLOCKS_PART 16 /* share of the memory for blocks being filled */
#define PROGRAM_BYTES	 (20u << 20)
#define EVEN_MAX	 4000000 /* events; losses everywhere may put an even end off for ever */

static void clock_point(struct ty_builder *b, const char *text, uint64_t ts)
{
	struct ty_clock_point p = {.ts_ns = ts};

	if (strncmp(text, TY_CLOCK_MARKER, strlen(TY_CLOCK_MARKER)) ||
	    sscanf(text + strlen(TY_CLOCK_MARKER),
		   "realtime_ns=%" SCNu64 " monotonic_ns=%" SCNu64 " boottime_ns=%" SCNu64
		   " tsc=%" SCNu64,
		   &p.realtime_ns, &p.monotonic_ns, &p.boottime_ns, &p.tsc) < 1)
		return;
	if (b->clock.n && b->clock.v[b->clock.n - 1].ts_ns >= ts)
		return;
	if (vec_push(&b->clock, p))
		ty_build_fail(b, -TY_ENOMEM);
}

/* A file that was cut out of another one has the marker before its window here. */
static void clock_of_cut(struct ty_builder *b, const char *text)
{
	char line[200];
	const char *v;
	size_t n;

	while (ty_key_next(&text, "clock", &v, &n)) {
		char *marker;
		uint64_t ts;

		n = n < sizeof(line) ? n : sizeof(line) - 1;
		memcpy(line, v, n);
		line[n] = 0;
		ts = strtoull(line, &marker, 10);
		if (marker != line && *marker == ' ')
			clock_point(b, marker + 1, ts);
	}
}

/* The store's share of the memory: an eighth is for data decoded ahead, some for the program itself
 * and for blocks being filled. */
static uint64_t store_budget(uint64_t memory_bytes)
{
	uint64_t most = memory_bytes / 4 * 3, but_program = memory_bytes / 8 * 7;

	but_program = but_program > PROGRAM_BYTES ? but_program - PROGRAM_BYTES : 0;
	return !memory_bytes ? UINT64_MAX : but_program < most ? but_program : most;
}

struct ty_builder *ty_builder_new(const struct ty_build_facts *facts)
{
	struct ty_builder *b = calloc(1, sizeof(*b));
	const struct ty_sysarch *arch;
	int64_t lost;

	if (!b)
		return NULL;
	b->facts = *facts;
	b->gaps.endless = UINT64_MAX;
	b->regions.max = TY_REGIONS_MAX;
	if (facts->memory_bytes &&
	    facts->memory_bytes / 8 / sizeof(struct ty_region) < TY_REGIONS_MAX)
		b->regions.max = (uint32_t)(facts->memory_bytes / 8 / sizeof(struct ty_region));
	arch = ty_sysarch_find(facts->arch ? facts->arch : "");
	b->yield_nr = ty_syscall_number(arch, "sched_yield");
	b->setaffinity_nr = ty_syscall_number(arch, "sched_setaffinity");
	ty_calls_keep(&b->kept, arch);
	b->pairs = ty_pairs_new(arch);
	b->vector_name = calloc(65536, sizeof(*b->vector_name));
	b->store = ty_store_new(store_budget(facts->memory_bytes));
	if (facts->memory_bytes) /* 0 would be none */
		b->open_blocks.limit = facts->memory_bytes / OPEN_BLOCKS_PART + 1;
	for (unsigned i = 0; i < TY_TABLES; i++) {
		ty_table_fill_init(&b->fill[i], &ty_table_kinds[i], b->store);
		b->fill[i].pool = &b->open_blocks;
	}
	if (!b->store || !b->pairs || !b->vector_name || ty_identity_init(b) ||
	    (facts->cpus && facts->cpus <= TY_MAX_CPUS && ty_builder_cpu(b, facts->cpus - 1)))
		goto nomem;
	b->complete = facts->machine != NULL;
	b->own_only = facts->own_only;
	ty_identity_machine(b, facts->machine);
	clock_of_cut(b, facts->machine);
	ty_identity_snapshot(b, facts->threads);
	b->self_end = ty_key_u64(facts->self, "end_ns");
	b->self_lost = ty_key_u64(facts->self, "lost");
	b->none_lost = !facts->gaps_known && ty_key_i64(facts->self, "lost", &lost) && !lost;
	if (b->failed)
		goto nomem;
	if (facts->index_of)
		b->index = ty_index_begin(&ty_index_of_model, b->store, facts->index_of,
					  facts->index_fd);
	if (facts->aside)
		b->coder = ty_block_coder_new();
	for (unsigned i = 0; i < TY_TABLES; i++)
		b->fill[i].coder = b->coder;
	return b;
nomem:
	ty_builder_free(b);
	return NULL;
}

/* From here on the builder codes blocks itself. */
static void stop_coder(struct ty_builder *b)
{
	ty_build_fail(b, ty_block_coder_free(b->coder));
	b->coder = NULL;
	for (unsigned i = 0; i < TY_TABLES; i++)
		b->fill[i].coder = NULL;
}

void ty_builder_free(struct ty_builder *b)
{
	if (!b)
		return;
	stop_coder(b);
	for (uint32_t i = 0; i < b->cpus; i++) {
		vec_fini(&b->cpu[i].irq);
		vec_fini(&b->cpu[i].gaps.g);
	}
	free(b->cpu);
	vec_fini(&b->thread);
	ty_hash_fini(&b->by_tid);
	vec_fini(&b->alias);
	ty_strtab_free(b->strs);
	for (unsigned i = 0; i < TY_TABLES; i++)
		ty_table_fill_fini(&b->fill[i]);
	ty_paged_pool_fini(&b->open_blocks);
	ty_store_free(b->store);
	vec_fini(&b->names.thread);
	vec_fini(&b->names.at);
	vec_fini(&b->gaps.g);
	ty_regions_fini(&b->regions);
	vec_fini(&b->ios.io);
	free(b->ios.open);
	free(b->ios.bio);
	ty_pairs_free(b->pairs);
	vec_fini(&b->gap_spans);
	vec_fini(&b->clock);
	free(b->vector_name);
	free(b);
}

/* The first event: from here on there is a start. */
static void start(struct ty_builder *b, uint64_t ts)
{
	b->started = true;
	b->start = b->now = b->sum.start_ns = ts;
	for (uint32_t i = 0; i < b->cpus; i++)
		b->cpu[i].open_start = ts;
	for (size_t i = 0; i < b->thread.n; i++)
		b->thread.v[i].open_start = b->thread.v[i].pub.start_ns = ts;
	for (size_t i = 0; i < b->names.at.n; i++)
		b->names.at.v[i].from_ns = ts;
}

bool ty_builder_refuted(const struct ty_builder *b)
{
	return b->refuted;
}

static void gap(struct ty_builder *b, const struct ty_event *ev, uint64_t ts)
{
	struct ty_gap_span g = {.from_ns = ev->u.gap.from_ns,
				.to_ns = ts,
				.count = ev->u.gap.count,
				.cpu = ev->cpu,
				.buffer = ev->buffer,
				.what = ev->u.gap.what};

	b->refuted |= b->none_lost;
	if (g.from_ns < b->start)
		g.from_ns = b->start;
	if (g.from_ns > ts)
		g.from_ns = ts;
	if (ev->u.gap.to_end)
		g.to_ns = UINT64_MAX; /* ty_builder_finish knows the end */
	if (g.count == UINT64_MAX)
		b->sum.gaps_unknown++;
	else if (__builtin_add_overflow(b->sum.lost, g.count, &b->sum.lost))
		b->sum.lost = UINT64_MAX;
	if (vec_push(&b->gap_spans, g)) {
		ty_build_fail(b, -TY_ENOMEM);
		return;
	}
	ty_calls_event(b, ev, ts);
	if (ev->cpu >= TY_MAX_CPUS)
		return;
	if (ty_builder_cpu(b, ev->cpu)) {
		ty_build_fail(b, -TY_ENOMEM);
		return;
	}
	if (b->kind_buf[TY_EV_IRQ_ENTRY] == ev->buffer + 1u)
		ty_irq_cut(b, ev->cpu, g.from_ns, TY_SF_LOST);
	if (b->kind_buf[TY_EV_BLOCK_ISSUE] == ev->buffer + 1u)
		ty_points_gap(b, ts);
	ty_regions_gap(b, ev->buffer, g.from_ns, ts);
	if (ev->buffer == b->sched_buf)
		ty_sched_gap(b, ev->cpu, g.from_ns, ts, ev->u.gap.to_end);
}

/* The same event again, out of another buffer? Switches and wakings share one, whose gaps count;
 * so do interrupts; the other kinds are taken each from where it is first seen. */
static bool is_double(struct ty_builder *b, const struct ty_event *ev)
{
	unsigned kind = ev->kind;

	switch (kind) {
	case TY_EV_WAKING: kind = TY_EV_SWITCH; break;
	case TY_EV_IRQ_EXIT:
	case TY_EV_SOFTIRQ_ENTRY:
	case TY_EV_SOFTIRQ_EXIT:
	case TY_EV_VECTOR_ENTRY:
	case TY_EV_VECTOR_EXIT: kind = TY_EV_IRQ_ENTRY; break;
	case TY_EV_SWITCH:
	case TY_EV_WAKEUP:
	case TY_EV_WAKEUP_NEW:
	case TY_EV_MIGRATE:
	case TY_EV_IRQ_ENTRY:
	case TY_EV_SOFTIRQ_RAISE:
	case TY_EV_HRTIMER_EXPIRE:
	case TY_EV_BLOCK_ISSUE:
	case TY_EV_SIGNAL_GENERATE:
	case TY_EV_SIGNAL_DELIVER:
	case TY_EV_CONTENTION_BEGIN:
	case TY_EV_CONTENTION_END:
	case TY_EV_POSIX_LOCK:
	case TY_EV_FLOCK:
	case TY_EV_PI_SETPRIO: break;
	case TY_EV_BLOCK_COMPLETE:
	case TY_EV_BLOCK_QUEUE: kind = TY_EV_BLOCK_ISSUE; break;
	default: return false;
	}
	if (!b->kind_buf[kind]) {
		b->kind_buf[kind] = ev->buffer + 1u;
		if (kind == TY_EV_SWITCH)
			b->sched_buf = ev->buffer;
	}
	return b->kind_buf[kind] != ev->buffer + 1u;
}

static void exec(struct ty_builder *b, const struct ty_event *ev, uint64_t ts)
{
	int32_t tid = ev->u.exec.tid, old = ev->u.exec.old_tid;
	uint32_t a = ty_identity_find(b, old > 0 ? old : tid);

	if (old > 0 && old != tid && a != TY_NONE && !b->thread.v[a].exiting)
		ty_identity_handover(b, a, tid, ts, true);
	a = ty_identity_find(b, tid);
	if (a == TY_NONE)
		return;
	b->thread.v[a].pub.kernel = false; /* a usermode helper of the kernel */
	ty_identity_executed(b, a, ts);
}

static void dispatch(struct ty_builder *b, const struct ty_event *ev, uint64_t ts)
{
	uint32_t i;

	switch (ev->kind) {
	case TY_EV_SWITCH:
	case TY_EV_WAKING:
	case TY_EV_WAKEUP:
	case TY_EV_WAKEUP_NEW:
	case TY_EV_MIGRATE: ty_sched_event(b, ev, ts); break;
	case TY_EV_FORK:
		ty_identity_birth(b, ev, ev->u.fork.child_tid, ev->u.fork.parent_tid, ts);
		break;
	case TY_EV_NEWTASK: ty_identity_birth(b, ev, ev->u.newtask.tid, ev->tid, ts); break;
	case TY_EV_EXEC:
		exec(b, ev, ts);
		ty_regions_event(b, ev, ts);
		break;
	case TY_EV_EXIT:
		i = ty_identity_find(b, ev->u.tex.tid);
		if (i != TY_NONE)
			b->thread.v[i].exiting = b->thread.v[i].pub.died = true;
		break;
	case TY_EV_RENAME:
		i = ty_identity_find(b, ev->u.rename.tid);
		if (i != TY_NONE)
			ty_identity_name(b, i, ts, ev->u.rename.new_comm);
		break;
	case TY_EV_IRQ_ENTRY:
	case TY_EV_SOFTIRQ_ENTRY:
	case TY_EV_VECTOR_ENTRY:
	case TY_EV_IRQ_EXIT:
	case TY_EV_SOFTIRQ_EXIT:
	case TY_EV_VECTOR_EXIT: ty_irq_event(b, ev, ts); break;
	case TY_EV_PRINT:
		if (ev->u.print.text)
			clock_point(b, ev->u.print.text, ts);
		ty_regions_event(b, ev, ts);
		break;
	case TY_EV_REGION: ty_regions_event(b, ev, ts); break;
	default: break;
	}
}

static int failure(const struct ty_builder *b, struct ty_err *err)
{
	int r = b->failed == -TY_ENOMEM && b->store ? ty_store_why(b->store, err) : 0;

	if (r)
		return r;
	return ty_fail(err, -b->failed, TY_NO_OFFSET,
		       b->failed == -TY_ELIMIT
			       ? "too many threads or spans after %" PRIu64
				 " events: select a part of the recording with --from and --to"
			       : "out of memory after %" PRIu64 " events",
		       b->sum.events);
}

int ty_builder_feed(struct ty_builder *b, const struct ty_event *ev, struct ty_err *err)
{
	uint64_t ts = ev->ts_ns;

	if (!b->started)
		start(b, ts);
	if (ts < b->now)
		ts = b->now;
	b->now = ts;
	if (ev->kind == TY_EV_GAP) {
		gap(b, ev, ts);
		goto out;
	}
	b->sum.events++;
	if (ev->cpu >= TY_MAX_CPUS || ev->decode_error)
		goto out;
	if (ty_builder_cpu(b, ev->cpu)) {
		ty_build_fail(b, -TY_ENOMEM);
		goto out;
	}
	if (is_double(b, ev))
		goto out;
	ty_sched_evidence(b,
			  &(struct ty_brief){.tid = ev->tid,
					     .cpu = ev->cpu,
					     .buffer = ev->buffer,
					     .kind = ev->kind,
					     .flags = ev->flags},
			  ts);
	ty_calls_event(b, ev, ts);
	dispatch(b, ev, ts);
	ty_points_event(b, ev, ts);
out:
	return b->failed ? failure(b, err) : 0;
}

/* A switch or waking that is packed, out of the buffer they are taken from: ty_builder_feed's steps
 * without the event. false: nothing has happened. */
static bool feed_packed(struct ty_builder *b, const struct ty_brief *br)
{
	uint64_t ts = br->ts_ns;

	if ((br->kind != TY_EV_SWITCH && br->kind != TY_EV_WAKING) || !(br->val & TY_PACKED) ||
	    b->kind_buf[TY_EV_SWITCH] != br->buffer + 1u)
		return false;
	b->now = ts;
	b->sum.events++;
	ty_sched_evidence(b, br, ts);
	if (br->kind == TY_EV_SWITCH)
		ty_sched_switch(b,
				&(struct ty_switch){.cpu = br->cpu,
						    .prev = br->tid,
						    .next = br->nr,
						    .prev_prio = ty_packed_prev_prio(br->val),
						    .next_prio = ty_packed_next_prio(br->val),
						    .prev_state = ty_packed_state(br->val),
						    .prev_comm = ty_packed_name(br, 0),
						    .next_comm = ty_packed_name(br, 1)},
				ts);
	else
		ty_sched_wake(b,
			      &(struct ty_wake){.cpu = br->cpu,
						.waker = br->tid,
						.tid = br->nr,
						.target_cpu = ty_packed_target_cpu(br->val),
						.loc = br->loc,
						.comm = ty_packed_name(br, 0),
						.kind = br->kind,
						.flags = br->flags},
			      ts);
	return true;
}

/*
 * The thread of a system call on a CPU without a switch to it so far. The evidence only records it
 * for later, whatever else is known of the thread. TY_NONE: none.
 */
static uint32_t provisional(const struct ty_builder *b, const struct ty_bcpu *c,
			    const struct ty_brief *br)
{
	uint32_t thread;

	if (br->buffer == b->sched_buf || c->gaps.endless != UINT64_MAX ||
	    (c->prov && c->prov_tid != br->tid))
		return TY_NONE;
	thread = ty_identity_find(b, br->tid);
	return thread != TY_NONE && !b->thread.v[thread].ended ? thread : TY_NONE;
}

/*
 * The fast path for common events: packed ones, and system calls of the current thread (or the only
 * evidence of it) that concern no other module. Equals ty_builder_feed; the end of the call is
 * included if br->end_ns is left set. false: nothing was changed.
 */
static inline bool feed_quick(struct ty_builder *b, struct ty_brief *br)
{
	struct ty_bcpu *c;
	uint64_t ts = br->ts_ns;
	uint32_t thread;
	bool current;

	if (!b->started || ts < b->now || br->cpu >= b->cpus)
		return false;
	if (br->kind != TY_EV_SYS_ENTER && br->kind != TY_EV_SYS_EXIT)
		return feed_packed(b, br);
	c = &b->cpu[br->cpu];
	current = ty_sched_is_current(b, c, br->buffer, br->tid);
	if (current) {
		thread = c->cur;
	} else {
		thread = provisional(b, c, br);
		if (thread == TY_NONE)
			return false;
		br->end_ns = 0; /* events of other CPUs may still change the thread */
	}
	if (!ty_calls_quick(b, br, thread))
		return false;
	b->now = ts;
	b->sum.events++;
	if (!current) {
		ty_sched_evidence(b, br, ts);
		return true;
	}
	if (br->end_ns) {
		/* Events of other CPUs may precede it: the current time stays. */
		b->sum.events++;
		ts = br->end_ns;
		if (ts > b->ends_ns)
			b->ends_ns = ts;
	}
	ty_sched_proven(b, c, br->buffer, ts);
	return true;
}

/* The calls that follow the one that was just taken with its end: their number of events. */
static uint64_t take_run(struct ty_builder *b, struct ty_events *es, struct ty_brief *br)
{
	struct ty_bcpu *c = &b->cpu[br->cpu];
	const struct ty_item *end;
	struct ty_run run;
	uint64_t n;

	ty_events_run(es, &run);
	end = ty_calls_run(b, &run, br, c->cur);
	n = (uint64_t)(end - run.item);
	if (!n)
		return 0;
	ty_events_take_run(es, end);
	b->sum.events += n;
	if (br->end_ns > b->ends_ns)
		b->ends_ns = br->end_ns;
	ty_sched_proven(b, c, br->buffer, br->end_ns);
	return n;
}

/* Feeds the next event; early: and following ones that do not depend on other CPUs. 1, 0 at the
 * end. */
static inline int take_next(struct ty_builder *b, struct ty_events *es, bool early, uint64_t *n,
			    struct ty_err *err)
{
	uint64_t args[6];
	struct ty_brief br;
	struct ty_event ev;
	int r = ty_events_next_brief(es, &br, err);

	if (r <= 0)
		return r;
	++*n;
	if (!early)
		br.end_ns = 0;
	if (br.kind == TY_EV_SYS_ENTER && ty_calls_keep_more(b, br.nr) && ty_events_args(es, args))
		br.args = args;
	if (!feed_quick(b, &br)) {
		ty_events_whole(es, &ev);
		ty_builder_feed(b, &ev, NULL);
	} else if (br.end_ns) {
		ty_events_take_end(es);
		*n += 1 + take_run(b, es, &br);
	}
	return b->failed ? failure(b, err) : 1;
}

int ty_builder_take(struct ty_builder *b, struct ty_events *es, uint64_t most, uint64_t *n,
		    struct ty_err *err)
{
	uint64_t to = *n + most;
	int r = 1;

	while (*n < to && r > 0)
		r = take_next(b, es, true, n, err);
	return r;
}

int ty_builder_even(struct ty_builder *b, struct ty_events *es, uint64_t *n, struct ty_err *err)
{
	int r = 1;

	for (uint64_t i = 0; i < EVEN_MAX && r > 0; i++) {
		if (b->now > b->ends_ns && ty_events_past(es, b->now))
			break;
		r = take_next(b, es, false, n, err);
	}
	return r;
}

int ty_builder_finish(struct ty_builder *b, struct ty_model **out, struct ty_err *err)
{
	uint64_t end = b->now;
	struct ty_model *m;
	int r;

	*out = NULL;
	stop_coder(b);
	if (b->ends_ns > end)
		end = b->ends_ns;
	if (b->self_end > end && b->self_end - end < DAY_NS && b->started)
		end = b->self_end; /* nothing happened any more, and that is known */
	if (b->self_lost > b->sum.lost) {
		b->sum.lost_unplaced = b->self_lost - b->sum.lost;
		b->sum.lost = b->self_lost;
	}
	for (uint32_t i = 0; i < b->cpus; i++)
		ty_sched_resolve(b, i);
	for (uint32_t i = 0; b->own_only && i < b->cpus; i++)
		ty_sched_own_end(b, i);
	for (uint32_t i = 0; i < b->cpus; i++)
		ty_irq_cut(b, i, end, TY_SF_OPEN);
	for (size_t i = 0; i < b->gap_spans.n; i++)
		if (b->gap_spans.v[i].to_ns == UINT64_MAX)
			b->gap_spans.v[i].to_ns = end;
	ty_identity_cmdlines(b, b->facts.cmdlines);
	m = calloc(1, sizeof(*m));
	r = m ? b->failed : -TY_ENOMEM;
	if (!r)
		r = ty_finish_model(b, end, m);
	if (r) {
		ty_model_free(m);
		if (r == -TY_ENOMEM && b->store && ty_store_why(b->store, err))
			return ty_store_why(b->store, err);
		return ty_fail(err, -r, TY_NO_OFFSET,
			       "%s while building the spans of %" PRIu64 " events", ty_strerror(r),
			       b->sum.events);
	}
	*out = m;
	return 0;
}
