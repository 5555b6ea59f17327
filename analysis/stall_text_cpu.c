/* SPDX-License-Identifier: MIT */
/* The cause of a stall in words, where it is the CPU: other threads, a quota, interrupts, the
 * hypervisor. */
#include "stalls_priv.h"

#include <string.h>

#include "cpu_ranges.h"
#include "sentence.h"
#include "units.h"

#define PATH_SHOWN 72 /* the end of a cgroup's path says most */

/* The kernel's scale: 0..98 real-time (99 - rt priority), 100..139 nice. */
static void say_prio(struct ty_sentence *o, int32_t prio, const char *before, const char *behind)
{
	if (prio == INT32_MIN)
		return;
	if (prio < 0)
		ty_put(o, "%sa deadline thread%s", before, behind);
	else if (prio < 100)
		ty_put(o, "%sreal-time priority %d%s", before, 99 - prio, behind);
	else
		ty_put(o, "%snice %d%s", before, prio - 120, behind);
}

uint32_t ty_stall_cpu_of(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	return ty_model_span_brief(h->x->m, c->s.thread, c->s.span).cpu;
}

/* The CPU that was idle longest meanwhile, of the others on which the thread may run; TY_NONE. */
static uint32_t idle_cpu(const struct ty_stall_search *h, const struct ty_candidate *c,
			 uint64_t *idle_ns)
{
	const struct ty_model *m = h->x->m;
	uint32_t affinity = ty_model_thread(m, c->s.thread)->affinity, best = TY_NONE;
	uint32_t own = ty_stall_cpu_of(h, c);

	*idle_ns = 0;
	for (uint32_t cpu = 0; cpu < ty_model_summary(m)->cpus; cpu++) {
		struct ty_track t = {TY_TRACK_CPU, cpu};
		struct ty_cell cell;

		if (cpu == own || (affinity && !ty_cpu_ranges_have(ty_model_str(m, affinity), cpu)))
			continue;
		ty_model_cells(m, t, c->s.start_ns, c->end_ns, 1, &cell);
		if (cell.ns[TY_ST_IDLE] > *idle_ns) {
			*idle_ns = cell.ns[TY_ST_IDLE];
			best = cpu;
		}
	}
	return best;
}

bool ty_stall_was_left(const struct ty_stall_search *h, const struct ty_candidate *c)
{
	uint64_t ns;

	return c->s.kind == TY_STALL_RUNQUEUE && c->s.state == TY_ST_RUNNABLE && c->s.waits <= 1 &&
	       ty_model_thread(h->x->m, c->s.thread)->affinity && idle_cpu(h, c, &ns) != TY_NONE &&
	       ns >= c->s.duration_ns / 2;
}

static void say_idle(struct ty_sentence *o, const struct ty_stall_search *h,
		     const struct ty_candidate *c)
{
	uint64_t most;
	uint32_t best = c->s.waits > 1 ? TY_NONE /* in between it ran */ : idle_cpu(h, c, &most);

	if (best == TY_NONE || most < c->s.duration_ns / 10)
		return;
	ty_put(o, ". CPU %u was idle for %s%s", best, ty_duration(most),
	       !ty_model_thread(h->x->m, c->s.thread)->affinity ? " (CPU affinity not recorded)"
	       : ty_stall_was_left(h, c) ? ": unknown why it did not run there"
					 : "");
}

void ty_stall_say_throttled(struct ty_sentence *o, const struct ty_candidate *c)
{
	size_t n = strlen(c->held.path);
	bool cut = n > PATH_SHOWN;

	ty_put(o, "throttled by CPU quota: its cgroup %s%s may use %s of CPU time every %s",
	       cut ? "..." : "", c->held.path + (cut ? n - PATH_SHOWN : 0),
	       ty_duration(c->held.quota_us * 1000), ty_duration(c->held.period_us * 1000));
	if (c->used_ns)
		ty_put(o, ", and had already used %s in that period", ty_duration(c->used_ns));
	else if (c->held.ns)
		ty_put(o, ", and was throttled for %s around that time", ty_duration(c->held.ns));
	else
		ty_put(o, "; the thread's CPU was idle for %s", ty_duration(c->idle_ns));
}

void ty_stall_say_steal(struct ty_sentence *o, const struct ty_stall_search *h,
			const struct ty_candidate *c, bool aside)
{
	uint32_t cpu = ty_stall_cpu_of(h, c);

	if (aside) {
		if (ty_stall_steal_matters(c))
			ty_put(o,
			       ". For %s of that time, a CPU showed no activity (steal time, "
			       "inferred)",
			       ty_duration(c->s.steal_ns));
		return;
	}
	if (c->s.steal_ns)
		ty_put(o,
		       "CPU %u showed no activity for %s of %s: lost to the hypervisor (steal "
		       "time, inferred)",
		       cpu, ty_duration(c->s.steal_ns), ty_duration(c->end_ns - c->s.start_ns));
	else
		ty_put(o, "CPU %u was lost to the hypervisor (steal time, inferred)", cpu);
	if (c->s.steal_counted_ns)
		ty_put(o, " (the kernel counted %s of steal time around then)",
		       ty_duration(c->s.steal_counted_ns));
}

/* " for 40.0 ms of that time", or of nearly all of it " all that time". */
static void say_part(struct ty_sentence *o, uint64_t ns, uint64_t of_ns)
{
	if (ns >= of_ns - of_ns / 100)
		ty_put(o, " all that time");
	else
		ty_put(o, " for %s of that time", ty_duration(ns));
}

void ty_stall_say_run_queue(struct ty_sentence *o, const struct ty_stall_search *h,
			    const struct ty_candidate *c)
{
	uint32_t cpu = ty_stall_cpu_of(h, c);

	if (c->s.kind == TY_STALL_THROTTLED) {
		ty_stall_say_throttled(o, c);
	} else if (c->s.culprit != TY_NONE) {
		ty_put(o, "%s ran", ty_who(h->x->m, c->s.culprit, c->s.culprit_ns));
		say_part(o, c->rival_ns, c->s.duration_ns);
		ty_put(o, " on CPU %u", cpu);
		if (c->rival_prio != 120)
			say_prio(o, c->rival_prio, ", ", "");
		if (c->own_prio != c->rival_prio)
			say_prio(o, c->own_prio, " (victim: ", ")");
		say_idle(o, h, c);
	} else if (c->unfair) {
		ty_put(o,
		       "starved by other threads, which used %s on CPU %u, more than the victim's "
		       "priority explains. Possible cause%s the CPU weight of its cgroup or "
		       "autogroup",
		       ty_duration(c->rival_ns), cpu, c->quota_seen ? "s: a CPU quota, or" : ":");
	} else if (c->rival_ns) {
		ty_put(o, "several threads shared CPU %u", cpu);
		say_part(o, c->rival_ns, c->s.duration_ns);
		for (unsigned i = 0; i < c->rivals_n; i++) {
			const struct ty_ran *ran = &c->rivals[i];

			if (!i && c->rivals_n > 1)
				ty_put(o, "; the top %s: ", c->rivals_n == 2 ? "two" : "three");
			ty_put(o, "%s%s (%s",
			       i		 ? ", "
			       : c->rivals_n > 1 ? ""
						 : "; the top one: ",
			       ty_who(h->x->m, ran->thread, ran->at_ns), ty_duration(ran->ns));
			if (ran->prio != 120)
				say_prio(o, ran->prio, ", ", "");
			ty_put(o, ")");
		}
		say_idle(o, h, c);
	} else if (c->idle_ns) {
		ty_put(o,
		       "its CPU %u was idle for %s, and no CPU quota of its cgroup is recorded: "
		       "unknown why it did not run",
		       cpu, ty_duration(c->idle_ns));
	} else {
		ty_put(o, "the thread that ran instead is not recorded");
	}
}

void ty_stall_say_theft(struct ty_sentence *o, const struct ty_stall_search *h,
			const struct ty_candidate *c)
{
	static const char *const what[] = {"interrupt", "softirq", "vector"};

	ty_put(o, "interrupts took %s of %s on CPU %u, of which %s %s took %s in %u run%s",
	       ty_duration(c->stolen_ns), ty_duration(c->end_ns - c->s.start_ns),
	       ty_stall_cpu_of(h, c), what[c->theft.kind < 3 ? c->theft.kind : 2],
	       ty_model_str(h->x->m, c->theft.name), ty_duration(c->theft.ns), c->theft.n,
	       c->theft.n == 1 ? "" : "s");
}
