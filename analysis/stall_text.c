/* SPDX-License-Identifier: MIT */
/* A stall in words: object, cause and the one sentence, with its numbers. */
#include "stalls_priv.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call_args.h"
#include "cpu_ranges.h"
#include "sentence.h"
#include "model_time.h"
#include "units.h"
#include "process_titles.h"
#include "wait_holder.h"

#define PATH_SHOWN 72 /* the end of a cgroup's tells most */

static void say_ns(struct ty_sentence *o, uint64_t ns)
{
	char d[TY_DURATION_MAX];

	ty_put(o, "%s", ty_fmt_duration(ns, d));
}

static void say_who(struct ty_sentence *o, const struct ty_model *m, uint32_t thread, uint64_t t)
{
	char who[TY_WHO_MAX];

	ty_put(o, "%s", ty_model_who(m, thread, t, who));
}

static void say_time(struct ty_sentence *o, const struct ty_explain *x, uint64_t t)
{
	char b[TY_TIME_MAX];

	ty_put(o, "%s", ty_time_text(x->m, x->clock, t, 1000000, b));
}

/* The kernel's scale: 0..98 real-time (99 - rt priority), 100..139 nice. */
static void say_prio(struct ty_sentence *o, int32_t prio, const char *before, const char *behind)
{
	if (prio == INT32_MIN || prio == 120)
		return;
	if (prio < 0)
		ty_put(o, "%sa deadline thread%s", before, behind);
	else if (prio < 100)
		ty_put(o, "%sreal-time priority %d%s", before, 99 - prio, behind);
	else
		ty_put(o, "%snice %d%s", before, prio - 120, behind);
}

/* Was another CPU idle meanwhile, on which the thread may run? */
static void say_idle(struct ty_sentence *o, const struct ty_stall_search *h,
		     const struct ty_candidate *c)
{
	const struct ty_model *m = h->x->m;
	uint32_t affinity = ty_model_thread(m, c->s.thread)->affinity, best = TY_NONE;
	uint32_t own = ty_model_span_brief(m, c->s.thread, c->s.span).cpu;
	uint64_t most = 0;

	if (c->s.waits > 1)
		return; /* in between it ran */
	for (uint32_t cpu = 0; cpu < ty_model_summary(m)->cpus; cpu++) {
		struct ty_track t = {TY_TRACK_CPU, cpu};
		struct ty_cell cell;

		if (cpu == own || (affinity && !ty_cpu_ranges_have(ty_model_str(m, affinity), cpu)))
			continue;
		ty_model_cells(m, t, c->s.start_ns, c->end_ns, 1, &cell);
		if (cell.ns[TY_ST_IDLE] > most) {
			most = cell.ns[TY_ST_IDLE];
			best = cpu;
		}
	}
	if (best == TY_NONE || most < c->s.duration_ns / 10)
		return;
	ty_put(o, ". CPU %u was idle for ", best);
	say_ns(o, most);
	if (!affinity)
		ty_put(o, " (CPU affinity not recorded)");
}

static void say_device(struct ty_sentence *o, const struct ty_stall_search *h,
		       const struct ty_candidate *c)
{
	char disk[TY_DISK_TEXT];
	struct ty_io io;

	if (c->io == TY_NONE) {
		ty_put(o, "a device");
		return;
	}
	io = ty_model_io(h->x->m, c->io);
	ty_put(o, "%s", ty_explain_disk(h->x, io.major, io.minor, disk));
	ty_put(o, " (%u request%s%s%s", c->ios ? c->ios : 1, c->ios > 1 ? "s" : "",
	       c->longest_ns ? " in the longest wait" : "", c->ios > 1 ? ", the longest " : ", ");
	say_ns(o, io.end_ns - io.start_ns);
	ty_put(o, ")");
}

/* What of a wait for devices no request explains. */
static void say_before_device(struct ty_sentence *o, const struct ty_candidate *c)
{
	if (c->queued_ns > c->s.duration_ns / 20) {
		ty_put(o, ". For ");
		say_ns(o, c->queued_ns);
		ty_put(o, " of that time, the request was not yet issued to the device");
	}
	if (c->no_io_ns > c->s.duration_ns / 20 && c->s.links &&
	    c->s.link[c->s.links - 1].what != TY_SEG_NO_REQUEST) {
		ty_put(o, ". For ");
		say_ns(o, c->no_io_ns);
		ty_put(o,
		       " of that time, no request was in flight (throttled, or waiting for other "
		       "I/O)");
	}
}

static void say_throttled(struct ty_sentence *o, const struct ty_candidate *c)
{
	size_t n = strlen(c->held.path);
	bool cut = n > PATH_SHOWN;

	ty_put(o, "throttled by CPU quota: its cgroup %s%s may use ", cut ? "..." : "",
	       c->held.path + (cut ? n - PATH_SHOWN : 0));
	say_ns(o, c->held.quota_us * 1000);
	ty_put(o, " of CPU time every ");
	say_ns(o, c->held.period_us * 1000);
	if (!c->used_ns && !c->held.ns) {
		ty_put(o, ", and its CPU was idle for ");
		say_ns(o, c->idle_ns);
		return;
	}
	ty_put(o, c->used_ns ? ", and had used " : ", and was throttled for ");
	say_ns(o, c->used_ns ? c->used_ns : c->held.ns);
	ty_put(o, c->used_ns ? " in that period before" : " around that time");
}

/* What the hypervisor possibly took: the whole cause, or (aside) a part of it. */
static void say_steal(struct ty_sentence *o, const struct ty_stall_search *h,
		      const struct ty_candidate *c, bool aside)
{
	uint32_t cpu = ty_model_span_brief(h->x->m, c->s.thread, c->s.span).cpu;

	if (aside) {
		if (!ty_stall_steal_matters(c))
			return;
		ty_put(o, ". For ");
		say_ns(o, c->s.steal_ns);
		ty_put(o, " of that time, a CPU showed no activity (steal time, inferred)");
		return;
	}
	if (c->s.steal_ns) {
		ty_put(o, "CPU %u showed no activity for ", cpu);
		say_ns(o, c->s.steal_ns);
		ty_put(o, " of ");
		say_ns(o, c->end_ns - c->s.start_ns);
		ty_put(o, ": lost to the hypervisor (steal time, inferred)");
	} else {
		ty_put(o, "CPU %u was lost to the hypervisor (steal time, inferred)", cpu);
	}
	if (c->s.steal_counted_ns) {
		ty_put(o, " (the kernel counted ");
		say_ns(o, c->s.steal_counted_ns);
		ty_put(o, " of steal time around then)");
	}
}

static void run_queue(struct ty_sentence *o, const struct ty_stall_search *h,
		      const struct ty_candidate *c)
{
	const struct ty_model *m = h->x->m;
	struct ty_span s = ty_model_span_brief(m, c->s.thread, c->s.span);

	if (c->s.kind == TY_STALL_THROTTLED) {
		say_throttled(o, c);
		return;
	}
	if (c->idle_ns && c->s.culprit == TY_NONE && !c->unfair && !c->rival_ns) {
		ty_put(o, "its CPU %u was idle for ", s.cpu);
		say_ns(o, c->idle_ns);
		ty_put(o,
		       ", and no CPU quota of its cgroup is recorded: unknown why it did not run");
		return;
	}
	if (c->s.culprit == TY_NONE) {
		if (c->unfair) {
			ty_put(o, "starved: other threads used ");
			say_ns(o, c->rival_ns);
			ty_put(o, " on CPU %u, more than its priority explains", s.cpu);
			ty_put(o,
			       c->quota_seen
				       ? ". Possible causes: a CPU quota, or the weight of its "
					 "cgroup or session"
				       : ". Possible cause: the weight of its cgroup or session");
		} else if (c->rival_ns) {
			ty_put(o, "several threads shared CPU %u for ", s.cpu);
			say_ns(o, c->rival_ns);
			ty_put(o, " of that time: ");
			for (unsigned i = 0; i < c->rivals_n; i++) {
				ty_put(o, i ? ", " : "");
				say_who(o, m, c->rivals[i].thread, c->rivals[i].at_ns);
				ty_put(o, " ");
				say_ns(o, c->rivals[i].ns);
				say_prio(o, c->rivals[i].prio, " (", ")");
			}
			say_idle(o, h, c);
		} else {
			ty_put(o, "the thread that ran instead is not recorded");
		}
		return;
	}
	say_who(o, m, c->s.culprit, c->s.culprit_ns);
	ty_put(o, " ran for ");
	say_ns(o, c->rival_ns);
	ty_put(o, " of that time on CPU %u", s.cpu);
	say_prio(o, c->rival_prio, ", ", "");
	if (c->own_prio != c->rival_prio && c->own_prio != INT32_MIN) {
		ty_put(o, " (victim:");
		if (c->own_prio == 120)
			ty_put(o, " nice 0");
		else if (c->own_prio >= 100)
			ty_put(o, " nice %d", c->own_prio - 120);
		else
			ty_put(o, " real-time priority %d", 99 - c->own_prio);
		ty_put(o, ")");
	}
	say_idle(o, h, c);
}

/* The thread of a link, by the name it had in the middle; the culprit by the name at culprit_ns. */
static void say_link(struct ty_sentence *o, const struct ty_stall_search *h,
		     const struct ty_candidate *c, const struct ty_link *l)
{
	say_who(o, h->x->m, l->thread,
		l->thread == c->s.culprit ? c->s.culprit_ns
					  : l->start_ns + (l->end_ns - l->start_ns) / 2);
}

bool ty_stall_link_text(const struct ty_explain *x, const struct ty_stall *s, uint32_t k,
			char out[TY_LINK_TEXT])
{
	char d[TY_DURATION_MAX], length[sizeof(d) + sizeof("a total of ")];
	uint64_t ns = s->link[k].end_ns - s->link[k].start_ns;
	bool all = k + 1 == s->links && s->root_ns > ns;

	snprintf(length, sizeof(length), "%s%s", all ? "a total of " : "",
		 ty_fmt_duration(all ? s->root_ns : ns, d));
	return ty_link_text(x, &s->link[k], length, out, TY_LINK_TEXT);
}

/* "slept 2.305 s in fsync": what the thread at the root did, and what is known of it. */
static void say_root(struct ty_sentence *o, const struct ty_stall_search *h,
		     const struct ty_candidate *c, uint32_t k)
{
	const struct ty_link *l = &c->s.link[k];
	bool last = k + 1 == c->s.links;
	char what[TY_LINK_TEXT];

	ty_stall_link_text(h->x, &c->s, k, what);
	ty_put(o, "%s", what);
	if (!last) { /* it was runnable */
		ty_put(o, " while ");
		say_link(o, h, c, l + 1);
		ty_put(o, " ran there for ");
		say_ns(o, c->rival_ns);
	} else if (l->what == TY_SEG_DEVICE && c->ios) {
		ty_put(o, ": ");
		say_device(o, h, c);
	} else if (l->what == TY_SEG_RUNS &&
		   c->root.what_ns[TY_SEG_RUNNABLE] > c->s.duration_ns / 5) {
		ty_put(o, " and waited ");
		say_ns(o, c->root.what_ns[TY_SEG_RUNNABLE]);
		ty_put(o, " for a CPU");
	} else if (l->what == TY_SEG_RUNNABLE && c->held.path) {
		ty_put(o, ", ");
		say_throttled(o, c);
	}
}

/* "held the lock on /x (flock)": what the thread after this link did, which waited for a lock. */
static bool say_held(struct ty_sentence *o, const struct ty_stall_search *h,
		     const struct ty_link *waiter)
{
	char what[TY_LINK_TEXT], *name, *end;

	if (!ty_link_text(h->x, waiter, "", what, sizeof(what)))
		return false;
	name = strchr(what, '<');
	end = strrchr(what, '>');
	if (name && end)
		ty_put(o, "held the lock on %.*s%s and ", (int)(end - name - 1), name + 1, end + 1);
	return name && end;
}

/* Is the holder one that the recorder read? Then it is not inferred from the wakeup. */
static bool saw_holder(const struct ty_stall_search *h, const struct ty_candidate *c,
		       uint32_t thread)
{
	struct ty_wait_holder seen;

	return c->s.waits <= 1 && ty_wait_holder(h->x, c->s.thread, c->s.span, &seen) &&
	       seen.proven && seen.thread == thread;
}

/* "flusher/815, which slept 2.3 s in fsync"; of a longer chain the thread that woke the victim, and
 * the root cause. */
static void chain(struct ty_sentence *o, const struct ty_stall_search *h,
		  const struct ty_candidate *c)
{
	const struct ty_link *l = c->s.link;
	uint32_t root = c->s.links - 1;

	if (root > 1 && l[root - 1].what == TY_SEG_RUNNABLE)
		root--; /* the last one is what ran there */
	say_link(o, h, c, &l[1]);
	if (c->s.kind == TY_STALL_LOCK && !c->s.proven && !saw_holder(h, c, l[1].thread))
		ty_put(o, " [inferred holder]");
	ty_put(o, root > 1 ? ". Root cause: " : ", which ");
	if (root > 1) {
		say_link(o, h, c, &l[root]);
		ty_put(o, " ");
		say_held(o, h, &l[root - 1]);
	}
	say_root(o, h, c, root);
}

static void waker(struct ty_sentence *o, const struct ty_stall_search *h,
		  const struct ty_candidate *c)
{
	char by[TY_WAKER_TEXT];

	if (c->waker.kind == TY_WAKER_THREAD && c->s.links > 1)
		chain(o, h, c);
	else
		ty_put(o, "%s", ty_waker_text(h->x->m, &c->waker, by));
}

/* What the thread still was when the recording ended. */
static const char *still(const struct ty_candidate *c)
{
	return c->busy_waited || c->s.state == TY_ST_SLEEPING || c->s.state == TY_ST_BLOCKED ||
			       c->s.state == TY_ST_RUNNABLE
		       ? "waiting"
		       : ty_state_name(c->s.state);
}

static void theft(struct ty_sentence *o, const struct ty_model *m, const struct ty_candidate *c)
{
	static const char *const what[] = {"interrupt", "softirq", "vector"};

	ty_put(o, "interrupts took ");
	say_ns(o, c->stolen_ns);
	ty_put(o, " of ");
	say_ns(o, c->end_ns - c->s.start_ns);
	ty_put(o, " on CPU %u, of which %s %s took ",
	       ty_model_span_brief(m, c->s.thread, c->s.span).cpu,
	       what[c->theft.kind < 3 ? c->theft.kind : 2], ty_model_str(m, c->theft.name));
	say_ns(o, c->theft.ns);
	ty_put(o, " in %u run%s", c->theft.n, c->theft.n == 1 ? "" : "s");
}

/* A lock that was tried for again and again. */
static void polled(struct ty_sentence *o, const struct ty_stall_search *h,
		   const struct ty_candidate *c)
{
	struct ty_syscall s = ty_model_syscall(h->x->m, c->polled);

	if (c->waker.kind == TY_WAKER_THREAD) {
		ty_put(o, "released by ");
		waker(o, h, c);
	} else {
		ty_put(o, c->s.flags & TY_SF_OPEN ? "still waiting when the recording ended"
						  : "holder not recorded");
	}
	ty_put(o, ". It polled the lock: %u attempts failed with %s%s", c->polls,
	       ty_errno_name((int)-s.ret), c->poll_got == TY_NONE ? ", and none succeeded" : "");
}

static void cause(struct ty_sentence *o, const struct ty_stall_search *h,
		  const struct ty_candidate *c)
{
	const struct ty_model *m = h->x->m;
	bool served = c->s.state == TY_ST_SLEEPING; /* the page, by a program */

	switch (c->s.kind) {
	case TY_STALL_STEAL: say_steal(o, h, c, false); return;
	case TY_STALL_RUNQUEUE:
	case TY_STALL_THROTTLED:
		if (c->s.state == TY_ST_RUNNABLE) {
			run_queue(o, h, c);
			return;
		}
		break;
	case TY_STALL_IRQ: theft(o, m, c); return;
	case TY_STALL_CPU:
		ty_put(o, "the call itself used the CPU (computing or busy-waiting)");
		return;
	case TY_STALL_LOST:
		ty_put(o, c->s.state == TY_ST_UNKNOWN
				  ? "because of lost events"
				  : "its duration and waker are unknown because of lost events");
		return;
	case TY_STALL_TIMER:
		ty_put(o, c->waker.net				  ? "woken by " TY_NET_TIMER_TEXT
			  : ty_wait_timed_out(h->x, c->s.syscall) ? "timed out"
								  : "woken by a timer");
		return;
	case TY_STALL_STOPPED:
		if (c->tracer) {
			ty_put(o, "stopped by its tracer ");
			say_who(o, m, c->s.culprit, c->s.culprit_ns);
			return;
		}
		if (c->s.culprit != TY_NONE) {
			ty_put(o, "stopped by a signal from ");
			say_who(o, m, c->s.culprit, c->s.culprit_ns);
		} else {
			ty_put(o, "stopped by an unrecorded signal or tracer");
		}
		if (c->waker.kind == TY_WAKER_THREAD) {
			ty_put(o, ", continued by ");
			say_who(o, m, c->waker.thread, c->waker.act_ns);
			if (ty_waker_signal(m, c->s.thread, &c->waker) == SIGCONT)
				ty_put(o, " (SIGCONT)");
		}
		return;
	case TY_STALL_UNINTERRUPTIBLE:
		if (c->waker.io == TY_NONE)
			break;
		ty_put(o, "woken by block I/O completion on ");
		say_device(o, h, c);
		ty_put(o, ". For ");
		say_ns(o, c->no_io_ns);
		ty_put(o, " before that, no request was in flight (throttled, or waiting for other "
			  "I/O)");
		return;
	case TY_STALL_IO:
	case TY_STALL_FAULT:
		ty_put(o, "waiting for ");
		if (served || (c->s.kind == TY_STALL_FAULT && c->io == TY_NONE &&
			       !c->root.what_ns[TY_SEG_DEVICE]))
			ty_put(o, "a page");
		else
			say_device(o, h, c);
		if (c->waker.kind == TY_WAKER_THREAD) {
			ty_put(o, served ? ", served by " : ", woken by ");
			waker(o, h, c);
		}
		return;
	default: break;
	}
	if (c->polls) {
		polled(o, h, c);
		return;
	}
	if (c->waker.kind == TY_WAKER_NONE) {
		if (c->s.flags & TY_SF_OPEN)
			ty_put(o, "still %s when the recording ended", still(c));
		else
			ty_put(o, c->s.state == TY_ST_RUNNING ? "what ended it is not recorded"
							      : "waker not recorded");
		return;
	}
	ty_put(o, c->s.state == TY_ST_RUNNING ? "released by "
		  : c->s.kind == TY_STALL_LOCK && c->waker.kind == TY_WAKER_THREAD && c->s.links > 1
			  ? "held by "
			  : "woken by ");
	waker(o, h, c);
}

/* What several waited for. */
static void say_common(struct ty_sentence *o, const struct ty_stall_search *h,
		       const struct ty_candidate *c)
{
	if (c->s.by_root) {
		say_who(o, h->x->m, c->s.culprit, c->s.culprit_ns);
		return;
	}
	switch (c->s.kind) {
	case TY_STALL_RUNQUEUE: ty_put(o, "that CPU"); return;
	case TY_STALL_THROTTLED: ty_put(o, "that quota"); return;
	case TY_STALL_IO:
	case TY_STALL_FAULT: ty_put(o, "that disk"); return;
	case TY_STALL_LOCK: ty_put(o, "that lock"); return;
	default: ty_put(o, "the same cause");
	}
}

/* Which other waits had the same cause. */
static void others(struct ty_sentence *o, const struct ty_stall_search *h,
		   const struct ty_candidate *c)
{
	uint32_t named = c->others < TY_STALL_OTHERS ? c->others : TY_STALL_OTHERS;

	if (!c->others && !c->s.more_waits)
		return;
	ty_put(o, ". ");
	for (uint32_t i = 0; i < named; i++) {
		ty_put(o, !i ? "" : named == c->others ? " and " : ", ");
		say_who(o, h->x->m, c->other[i], c->other_ns[i]);
	}
	if (c->others > named)
		ty_put(o, " and %u more thread%s", c->others - named,
		       c->others - named > 1 ? "s" : "");
	if (c->others) {
		ty_put(o, " also waited for ");
		say_common(o, h, c);
	}
	if (c->s.more_waits)
		ty_put(o, "%s%u more wait%s of %s had the same cause", c->others ? ". " : "",
		       c->s.more_waits, c->s.more_waits > 1 ? "s" : "",
		       ty_model_comm(h->x->m, c->s.thread, c->s.start_ns));
	ty_put(o, c->s.sum_inferred && c->s.proven ? " (inferred; all these waits: "
						   : " (all these waits: ");
	say_ns(o, c->s.sum_ns);
	ty_put(o, ")");
}

const char *ty_stall_call(const struct ty_explain *x, const struct ty_stall *s, char buf[32])
{
	return s->by_waker ? "futex" : ty_explain_call(x, s->syscall, buf);
}

/* The device says little about whose data it was. */
static void name_file(const struct ty_explain *x, struct ty_stall *s)
{
	struct ty_buf b;

	ty_buf_init(&b, 8192);
	if (!ty_call_object(x, s->syscall, &b) && b.p && b.len < sizeof(s->file))
		memcpy(s->file, b.p, b.len + 1);
	ty_buf_fini(&b);
}

void ty_stall_say(const struct ty_stall_search *h, struct ty_candidate *c)
{
	const struct ty_model *m = h->x->m;
	struct ty_stall *s = &c->s;
	struct ty_sentence t = {s->text, sizeof(s->text), 0},
			   o = {s->sentence, sizeof(s->sentence), 0};
	char buf[32];
	const char *call = ty_stall_call(h->x, s, buf);
	static const char *const did[TY_ST_COUNT] = {
		[TY_ST_RUNNING] = "ran",	 [TY_ST_RUNNABLE] = "waited for a CPU",
		[TY_ST_SLEEPING] = "waited",	 [TY_ST_BLOCKED] = "blocked (uninterruptible)",
		[TY_ST_STOPPED] = "was stopped", [TY_ST_UNKNOWN] = "was in an unknown state"};
	bool file_lock = s->kind == TY_STALL_LOCK && s->state == TY_ST_SLEEPING &&
			 !c->busy_waited && !c->w.word && !c->w.path && !c->w.guessed &&
			 !c->w.by_waker && *call && *c->w.object;

	if (s->links && s->link[s->links - 1].what < TY_SEG_WHATS)
		s->root_ns = c->root.what_ns[s->link[s->links - 1].what];
	cause(&t, h, c);
	if (s->waits <= 1)
		say_before_device(&t, c);
	if (s->kind != TY_STALL_STEAL)
		say_steal(&t, h, c, true);
	if (c->kernel_timer)
		ty_put(&t, ". The purpose of that timer is not recorded (throttled I/O, or other "
			   "delayed work of the kernel)");
	others(&t, h, c);
	if (s->kind == TY_STALL_IO && c->io != TY_NONE) {
		struct ty_io io = ty_model_io(m, c->io);

		snprintf(s->object, sizeof(s->object), "device %u:%u", io.major, io.minor);
		if (!*c->w.object && *call)
			name_file(h->x, s);
	} else if (s->kind == TY_STALL_RUNQUEUE || s->kind == TY_STALL_THROTTLED ||
		   s->kind == TY_STALL_STEAL) {
		uint32_t cpu = ty_model_span_brief(m, s->thread, s->span).cpu;

		if (cpu != TY_NONE)
			snprintf(s->object, sizeof(s->object), "cpu %u", cpu);
	} else {
		memcpy(s->object, c->w.object, sizeof(s->object));
	}
	/* Of many waits the name is that of the chief one's time. */
	s->named_ns = s->waits > 1 && s->links ? s->link[0].start_ns : s->start_ns;
	say_who(&o, m, s->thread, s->named_ns);
	ty_put(&o, " %s%s", c->busy_waited ? "busy-waited" : did[s->state],
	       c->busy_waited && s->state == TY_ST_SLEEPING ? " and slept" : "");
	if (s->threads > 1 && s->kind == TY_STALL_STOPPED)
		ty_put(&o,
		       s->all_threads ? " with all %u threads of its process"
				      : " with %u threads of its process",
		       s->threads);
	if (file_lock)
		ty_put(&o, " for the lock on %s (%s)", c->w.object, call);
	else if (*call)
		ty_put(&o, " in %s", call);
	if (*s->file)
		ty_put(&o, " on %s", s->file);
	if (!file_lock && *call && *c->w.object && c->w.guessed && !c->w.path)
		ty_put(&o, ", probably for %s (inferred from its next call),", c->w.object);
	else if (!file_lock && *call && *c->w.object)
		ty_put(&o, "(%s%s)", c->w.object,
		       !c->w.path && c->w.by_waker ? ", from the waker's call" : "");
	if (*s->peer && (!*c->w.object || c->w.class == TY_WAIT_IDLE))
		ty_put(&o, c->connecting ? " for a connection on %s" : " for a reply on %s",
		       s->peer);
	ty_put(&o, s->flags & TY_SF_BEFORE ? " since before the recording began" : " at ");
	if (!(s->flags & TY_SF_BEFORE))
		say_time(&o, h->x, s->start_ns);
	if (s->waits > 1) {
		ty_put(&o, " (%u %s", s->waits, s->kind == TY_STALL_STOPPED ? "stops" : "waits");
		if (c->longest_ns) {
			ty_put(&o, ", longest ");
			say_ns(&o, c->longest_ns);
		}
		ty_put(&o, ")");
	}
	ty_put(&o, "%s %s", s->state == TY_ST_RUNNABLE ? ":" : ",", s->text);
	if (c->for_work_ns && s->waits <= 1) {
		ty_put(&o, ". The whole wait took ");
		say_ns(&o, c->whole_ns);
		ty_put(&o, ", and for ");
		say_ns(&o, c->for_work_ns);
		ty_put(&o, " of it the lock holder was idle");
	}
	if (s->in_request)
		ty_put(&o, ". Meanwhile a client waited for its reply");
	if (s->flags & TY_SF_LOST && s->kind != TY_STALL_LOST)
		ty_put(&o, ". Events were lost during this wait");
	if (s->flags & TY_SF_OPEN && strncmp(s->text, "still ", 6))
		ty_put(&o, ". It was still %s when the recording ended", still(c));
	ty_put(&o, " [%s]", s->proven ? "proven" : "inferred");
}
