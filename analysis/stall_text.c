/* SPDX-License-Identifier: MIT */
/* A stall in words: object, cause and the one sentence, with its numbers. */
#include "stalls_priv.h"
#include "block_requests.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "call_args.h"
#include "fd_kind.h"
#include "sentence.h"
#include "model_time.h"
#include "units.h"
#include "process_titles.h"
#include "wait_fd.h"
#include "wait_holder.h"
#include "wait_peer.h"

/* A thread by its name at t. */
#define who(thread, t) ty_who(h->x->m, thread, t)

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
	ty_put(o, "%s (%u request%s%s%s%s)", ty_explain_disk(h->x, io.major, io.minor, disk),
	       c->ios ? c->ios : 1, c->ios > 1 ? "s" : "",
	       c->longest_ns ? " in the longest wait" : "",
	       c->ios > 1 ? "; slowest request " : ", ", ty_duration(io.end_ns - io.start_ns));
}

/* What of a wait for devices no request explains. */
static void say_before_device(struct ty_sentence *o, const struct ty_candidate *c)
{
	const uint64_t whole_ns = c->longest_ns ? c->longest_ns : c->s.duration_ns;
	const char *of = c->longest_ns ? "the longest wait" : "the wait";

	if (c->queued_ns > whole_ns / 20)
		ty_put(o, ". For %s of %s, the request was not yet issued to the device",
		       ty_duration(c->queued_ns), of);
	/* Else the last link says it, or the cause. */
	if (c->no_io_ns > whole_ns / 20 && c->s.links &&
	    (c->s.link[c->s.links - 1].what != TY_SEG_NO_REQUEST ||
	     (c->s.links == 1 && c->s.kind != TY_STALL_UNINTERRUPTIBLE)))
		ty_put(o, ". For %s of %s, " TY_NOT_IN_FLIGHT, ty_duration(c->no_io_ns), of);
}

/* The thread of a link, by the name it had in the middle; the culprit by the name at culprit_ns. */
#define link_who(c, l)                                                                             \
	who((l)->thread, (l)->thread == (c)->s.culprit                                             \
				 ? (c)->s.culprit_ns                                               \
				 : (l)->start_ns + ((l)->end_ns - (l)->start_ns) / 2)

bool ty_stall_link_text(const struct ty_explain *x, const struct ty_link *link, uint32_t k,
			char out[TY_LINK_TEXT])
{
	char length[2 * TY_DURATION_MAX + sizeof(" of the ")];
	uint64_t own_ns = link[k].end_ns - link[k].start_ns;
	bool pieces = link[k].all_ns > own_ns;
	const char *ns = ty_duration(pieces ? link[k].all_ns : own_ns),
		   *all = ty_duration(link->end_ns - link->start_ns);

	if (pieces && strcmp(ns, all) != 0)
		snprintf(length, sizeof(length), "%s of the %s", ns, all);
	else
		snprintf(length, sizeof(length), "%s", ns);
	return ty_link_text(x, &link[k], length, out, TY_LINK_TEXT);
}

/* "slept 2.305 s in fsync": what the thread at the root did, and what is known of it. */
static void say_root(struct ty_sentence *o, const struct ty_stall_search *h,
		     const struct ty_candidate *c, uint32_t k)
{
	const struct ty_link *l = &c->s.link[k];
	bool last = k + 1 == c->s.links;
	char what[TY_LINK_TEXT];

	ty_stall_link_text(h->x, c->s.link, k, what);
	ty_put(o, "%s", what);
	if (l->span != TY_NONE && ty_model_span(h->x->m, l->span).state == TY_ST_STOPPED &&
	    c->s.culprit != l->thread && c->s.culprit != TY_NONE)
		ty_put(o, ", by a signal from %s", who(c->s.culprit, c->s.culprit_ns));
	if (!last) { /* it was runnable */
		if (c->rival_ns + c->rival_ns / 100 < l->all_ns)
			ty_put(o, ", %s of it", ty_duration(c->rival_ns));
		ty_put(o, " while %s ran there", link_who(c, l + 1));
	} else if (l->what == TY_SEG_DEVICE && c->ios) {
		ty_put(o, ": ");
		say_device(o, h, c);
	} else if (l->what == TY_SEG_RUNS &&
		   c->root.what_ns[TY_SEG_RUNNABLE] > c->s.duration_ns / 5) {
		ty_put(o, " and waited %s for a CPU",
		       ty_duration(c->root.what_ns[TY_SEG_RUNNABLE]));
	} else if (l->what == TY_SEG_RUNNABLE && c->held.path) {
		ty_put(o, ", ");
		ty_stall_say_throttled(o, c);
	} else if (l->what == TY_SEG_TIMER && l->waker.net) {
		uint32_t peer = ty_wait_next_packet(h->x->m, l->thread, l->span);

		if (peer != TY_NONE)
			ty_put(o, "; the next packet came from %s", who(peer, l->end_ns));
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

/* Is the holder, or its process, one that the recorder read? Then it is not inferred from the
 * wakeup alone, as the line below the sentence says. */
static bool saw_holder(const struct ty_stall_search *h, const struct ty_candidate *c,
		       uint32_t thread)
{
	struct ty_wait_holder seen;

	return c->s.waits <= 1 && ty_wait_holder(h->x, c->s.thread, c->s.span, &seen) &&
	       seen.proven && thread == c->waker.thread;
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
	ty_put(o, "%s", link_who(c, &l[1]));
	/* The sentence ends with the grade of the rest. */
	if (c->s.kind == TY_STALL_LOCK && !c->s.proven && saw_holder(h, c, l[1].thread))
		ty_put(o, " (proven)");
	if (root > 1 && l[1].span != TY_NONE &&
	    ty_model_span(h->x->m, l[1].span).state == TY_ST_STOPPED)
		ty_put(o, ", which was stopped");
	/* Its links are those of its longest wait. */
	if (c->s.waits > 1 && l->end_ns - l->start_ns < c->s.duration_ns / 2)
		ty_put(o, root > 1 ? ". Root cause: in the longest of these waits, "
				   : ", which in the longest of these waits ");
	else
		ty_put(o, root > 1 ? ". Root cause: " : ", which ");
	if (root > 1) {
		ty_put(o, "%s %s", link_who(c, &l[root]),
		       l[root].thread == c->s.thread ? "itself, which " : "");
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
	else if (c->waker.kind == TY_WAKER_TIMER && !c->waker.net &&
		 ty_wait_reply_there(h->x, h->o.requests, c->s.thread, c->s.syscall, c->s.start_ns,
				     c->end_ns))
		ty_put(o, TY_REPLY_THERE_TEXT);
	else
		ty_put(o, "%s", ty_waker_text(h->x->m, &c->waker, by));
}

/* What the thread still was at the end. */
static const char *still(const struct ty_candidate *c)
{
	return c->busy_waited || c->s.state == TY_ST_SLEEPING || c->s.state == TY_ST_BLOCKED ||
			       c->s.state == TY_ST_RUNNABLE
		       ? "waiting"
		       : ty_state_name(c->s.state);
}

/* A lock with repeated failed attempts. */
static void polled(struct ty_sentence *o, const struct ty_stall_search *h,
		   const struct ty_candidate *c)
{
	struct ty_syscall s = ty_model_syscall(h->x->m, c->polled);

	if (c->waker.kind == TY_WAKER_THREAD) {
		ty_put(o, "released by ");
		waker(o, h, c);
	} else {
		ty_put(o,
		       c->s.flags & TY_SF_OPEN ? "still waiting when the %s ended"
					       : "holder not recorded",
		       ty_model_noun(h->x->m));
	}
	ty_put(o, ". It polled the lock: %u attempts failed with %s%s", c->polls,
	       ty_errno_name((int)-s.ret), c->poll_got == TY_NONE ? ", and none succeeded" : "");
	if (c->poll_checked != TY_NONE)
		ty_put(o, ". After a failed attempt it checked process %s (kill with signal 0)",
		       who(c->poll_checked, s.end_ns));
}

static void cause(struct ty_sentence *o, const struct ty_stall_search *h,
		  const struct ty_candidate *c)
{
	const struct ty_model *m = h->x->m;
	bool served = c->s.state == TY_ST_SLEEPING; /* the page, by a program */

	switch (c->s.kind) {
	case TY_STALL_STEAL: ty_stall_say_steal(o, h, c, false); return;
	case TY_STALL_RUNQUEUE:
	case TY_STALL_THROTTLED:
		if (c->s.state == TY_ST_RUNNABLE) {
			ty_stall_say_run_queue(o, h, c);
			if (c->run_inferred)
				ty_put(o, ". Some run times on that CPU are inferred");
			return;
		}
		break;
	case TY_STALL_IRQ: ty_stall_say_theft(o, h, c); return;
	case TY_STALL_CPU:
		if (c->computed_ns) {
			ty_put(o, "it used the CPU for %s%s", ty_duration(c->computed_ns),
			       c->s.flags & TY_SF_OPEN ? " without a reply" : " before it replied");
			return;
		}
		ty_put(o, "the call itself used the CPU ");
		if (ty_stall_shared_cpu(c)) {
			ty_put(o, "for %s", ty_duration(c->ran_ns));
			ty_put(o, ", and for %s the thread waited for a CPU",
			       ty_duration(c->waited_ns));
			return;
		}
		ty_put(o, "(computing or busy-waiting)");
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
		if (c->s.culprit == TY_NONE)
			ty_put(o, "stopped by an unrecorded signal or tracer");
		else
			ty_put(o, "stopped by %s %s", c->tracer ? "its tracer" : "a signal from",
			       who(c->s.culprit, c->s.culprit_ns));
		if (c->waker.kind == TY_WAKER_THREAD && !c->tracer)
			ty_put(o, ", continued by %s%s", who(c->waker.thread, c->waker.act_ns),
			       ty_waker_signal(m, c->s.thread, &c->waker) == SIGCONT ? " (SIGCONT)"
										     : "");
		return;
	case TY_STALL_UNINTERRUPTIBLE:
		if (c->waker.io == TY_NONE)
			break;
		ty_put(o, "woken by block I/O completion on ");
		say_device(o, h, c);
		ty_put(o, ". For %s before that, " TY_NOT_IN_FLIGHT, ty_duration(c->no_io_ns));
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
			ty_put(o, "still %s when the %s ended", still(c), ty_model_noun(h->x->m));
		else
			ty_put(o, c->s.state == TY_ST_RUNNING ? "what ended it is not recorded"
							      : "waker not recorded");
		return;
	}
	if (c->root.what_ns[TY_SEG_KILLED] && c->root.thread == c->s.thread) {
		ty_put(o, "until a signal from %s killed it",
		       who(c->waker.thread, c->waker.act_ns));
		return;
	}
	ty_put(o, c->s.state == TY_ST_RUNNING ? "released by "
		  : c->s.kind == TY_STALL_LOCK && c->waker.kind == TY_WAKER_THREAD && c->s.links > 1
			  ? "held by "
			  : "woken by ");
	waker(o, h, c);
}

/* What several waited for: behind "also waited". */
static void say_common(struct ty_sentence *o, const struct ty_stall_search *h,
		       const struct ty_candidate *c)
{
	if (c->held.path) {
		ty_put(o, " for that quota");
		return;
	}
	if (c->s.by_root) {
		ty_put(o, " for %s", who(c->s.culprit, c->s.culprit_ns));
		return;
	}
	switch (c->s.kind) {
	case TY_STALL_RUNQUEUE: ty_put(o, " for that CPU"); return;
	case TY_STALL_IO:
	case TY_STALL_FAULT: ty_put(o, " for that disk"); return;
	case TY_STALL_LOCK: ty_put(o, " for that lock"); return;
	default: ty_put(o, ", with the same cause");
	}
}

/* Is a thread or a thing to blame? */
static bool has_cause(const struct ty_candidate *c)
{
	switch ((enum ty_stall_kind)c->s.kind) {
	case TY_STALL_RUNQUEUE:
	case TY_STALL_THROTTLED:
	case TY_STALL_STEAL:
	case TY_STALL_IO:
	case TY_STALL_FAULT:
	case TY_STALL_LOCK: return true;
	default: return c->s.culprit != TY_NONE;
	}
}

/* Which other waits had the same cause. */
static void others(struct ty_sentence *o, const struct ty_stall_search *h,
		   const struct ty_candidate *c)
{
	uint32_t named = c->others < TY_STALL_OTHERS ? c->others : TY_STALL_OTHERS;
	const char *noun = c->s.state == TY_ST_RUNNING	   ? "call"
			   : c->s.kind == TY_STALL_STOPPED ? "stop"
							   : "wait";

	if (!c->others && !c->s.more_waits)
		return;
	ty_put(o, ". ");
	for (uint32_t i = 0; i < named; i++)
		ty_put(o, "%s%s",
		       !i		    ? ""
		       : named == c->others ? " and "
					    : ", ",
		       who(c->other[i], c->other_ns[i]));
	if (c->others > named)
		ty_put(o, " and %u more thread%s", c->others - named,
		       c->others - named > 1 ? "s" : "");
	if (c->others) {
		ty_put(o, " also waited");
		say_common(o, h, c);
	}
	if (c->s.more_waits)
		ty_put(o, "%s%u more %s%s of %s %s", c->others ? ". " : "", c->s.more_waits, noun,
		       c->s.more_waits > 1 ? "s" : "",
		       ty_model_comm(h->x->m, c->s.thread, c->s.start_ns),
		       has_cause(c)	     ? "had the same cause"
		       : c->s.more_waits > 1 ? "were of the same kind"
					     : "was of the same kind");
	ty_put(o, " (all these %ss together: %s%s)", noun, ty_duration(c->s.sum_ns),
	       c->s.sum_inferred && c->s.proven ? "; this sum is inferred" : "");
}

const char *ty_stall_grade(const struct ty_stall *s)
{
	const char *end = strstr(s->text, " ended");

	if (s->proven)
		return "proven";
	if (s->kind == TY_STALL_LOST)
		return "cause unknown";
	return !strncmp(s->text, "still ", 6) && end && !end[6] ? "cause unknown" : "inferred";
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

/* The clients that a stall inside a request held up. */
static void say_clients(struct ty_sentence *o, const struct ty_stall_search *h,
			const struct ty_candidate *c)
{
	uint32_t v[TY_STALL_CLIENTS], n = ty_stall_clients(h, c, v);
	char process[TY_WHO_MAX];

	ty_put(o, ". Meanwhile ");
	for (uint32_t i = 0; i < n && i < TY_STALL_CLIENTS; i++)
		ty_put(o, "%s%s", !i ? "" : n == 2 ? " and " : ", ", who(v[i], c->end_ns - 1));
	if (n > TY_STALL_CLIENTS)
		ty_put(o, " and %u more", n - TY_STALL_CLIENTS);
	ty_put(o, "%s from process %s",
	       n > 1 ? " waited for replies"
	       : n   ? " waited for a reply"
		     : "a client waited for a reply",
	       ty_model_who_process(h->x->m, c->s.thread, process));
}

/* sendfile waits for a disk because of the file that it reads, its second descriptor. */
static void name_source(const struct ty_stall_search *h, struct ty_candidate *c)
{
	const struct ty_explain *x = h->x;
	const struct ty_sysrow *r = ty_explain_row(x, c->s.syscall);
	const char *name = NULL;
	struct ty_syscall call;
	uint64_t args[6];
	char text[TY_WAIT_NAME];

	if (!(r->says & TY_GIVES) || r->a[0] != TY_ARG_FD || r->a[1] != TY_ARG_FD)
		return;
	call = ty_model_syscall(x->m, c->s.syscall);
	if (ty_explain_args(x, &call, 2, args))
		return;
	ty_fd_kind(x, call.thread, (uint32_t)args[1], call.start_ns, &name);
	if (name)
		snprintf(c->w.object, sizeof(c->w.object), "fd %u <%s>", (uint32_t)args[1],
			 ty_wait_name(name, text));
}

void ty_stall_say(const struct ty_stall_search *h, struct ty_candidate *c)
{
	const struct ty_model *m = h->x->m;
	struct ty_stall *s = &c->s;
	struct ty_sentence t = {s->text, TY_STALL_TEXT, 0}, o = {s->sentence, TY_STALL_SENTENCE, 0};
	char buf[32], time[TY_TIME_MAX];
	const char *call = ty_stall_call(h->x, s, buf);
	static const char *const did[TY_ST_COUNT] = {
		[TY_ST_RUNNING] = "ran",	 [TY_ST_RUNNABLE] = "waited for a CPU",
		[TY_ST_SLEEPING] = "waited",	 [TY_ST_BLOCKED] = "blocked (uninterruptible)",
		[TY_ST_STOPPED] = "was stopped", [TY_ST_UNKNOWN] = "was in an unknown state"};
	bool file_lock = s->kind == TY_STALL_LOCK && s->state == TY_ST_SLEEPING &&
			 !c->busy_waited && !c->w.word && !c->w.path && !c->w.guessed &&
			 !c->w.by_waker && *call && *c->w.object;
	const bool until_ready = !file_lock && *call && *c->w.object && c->w.ready &&
				 c->w.guessed && !c->w.path &&
				 !(*s->peer && c->w.class == TY_WAIT_IDLE);

	if ((s->kind == TY_STALL_IO || s->kind == TY_STALL_UNINTERRUPTIBLE) && c->io != TY_NONE)
		name_source(h, c);
	cause(&t, h, c);
	s->proven = s->proven && !ty_stall_was_left(h, c);
	if (s->waits <= 1 || c->longest_ns)
		say_before_device(&t, c);
	ty_stall_say_disk_users(&t, h, c);
	if (s->kind != TY_STALL_STEAL)
		ty_stall_say_steal(&t, h, c, true);
	if (c->kernel_timer)
		ty_put(&t,
		       ". The purpose of that timer is not recorded: it may be throttled I/O or "
		       "other delayed work of the kernel");
	others(&t, h, c);
	if (s->kind == TY_STALL_IO && c->io != TY_NONE) {
		struct ty_io io = ty_model_io(m, c->io);

		snprintf(s->object, sizeof(s->object), "device %u:%u", io.major, io.minor);
	} else if (s->kind == TY_STALL_RUNQUEUE || s->kind == TY_STALL_THROTTLED ||
		   s->kind == TY_STALL_STEAL) {
		uint32_t cpu = ty_stall_cpu_of(h, c);

		if (cpu != TY_NONE)
			snprintf(s->object, sizeof(s->object), "cpu %u", cpu);
	} else {
		memcpy(s->object, c->w.object, sizeof(s->object));
	}
	if ((s->kind == TY_STALL_IO || s->kind == TY_STALL_UNINTERRUPTIBLE) && c->io != TY_NONE &&
	    !*c->w.object && *call)
		name_file(h->x, s);
	/* Of many waits the name is that of the chief one's time. */
	s->named_ns = s->waits > 1 && s->links ? s->link[0].start_ns : s->start_ns;
	ty_put(&o, "%s %s%s", who(s->thread, s->named_ns),
	       c->busy_waited		? "busy-waited"
	       : ty_stall_shared_cpu(c) ? "ran and waited for a CPU"
					: did[s->state],
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
	if (*s->peer && c->w.guessed && c->w.class == TY_WAIT_IDLE)
		; /* by the peer below */
	else if (until_ready)
		; /* behind the time */
	else if (!file_lock && *call && *c->w.object && c->w.guessed && !c->w.path)
		ty_put(&o, ", probably for %s (inferred from its next call),", c->w.object);
	else if (!file_lock && *call && *c->w.object)
		ty_put(&o, "(%s%s)", ty_wait_argument(call, c->w.object),
		       !c->w.path && c->w.by_waker ? ", from the waker's call" : "");
	if (c->w.room)
		ty_put(&o, " for room to write");
	if (*s->peer && (!*c->w.object || c->w.class == TY_WAIT_IDLE))
		ty_put(&o, c->connecting ? " for a connection on %s" : " for a reply on %s",
		       s->peer);
	else if (*s->peer && c->connecting)
		ty_put(&o, " for a connection");
	if (s->flags & TY_SF_BEFORE)
		ty_put(&o, " since before the %s began", ty_model_noun(m));
	else
		ty_put(&o, " at %s", ty_time_text(m, h->x->clock, s->start_ns, 1000000, time));
	if (until_ready)
		ty_put(&o, " until %s was ready", c->w.object);
	if (s->waits > 1)
		ty_put(&o, " (%s %s%s%s)", ty_count(s->waits),
		       s->kind == TY_STALL_STOPPED ? "stops"
		       : s->state == TY_ST_RUNNING ? "times"
						   : "waits",
		       c->longest_ns ? ", longest " : "",
		       c->longest_ns ? ty_duration(c->longest_ns) : "");
	/* Only the last of a thread's waits can be unfinished. */
	ty_put(&o, "%s %s%s", s->state == TY_ST_RUNNABLE || s->kind == TY_STALL_CPU ? ":" : ",",
	       s->waits > 1 && !strncmp(s->text, "still ", 6) ? "the last " : "", s->text);
	if (c->for_work_ns && s->waits <= 1)
		ty_put(&o, ". The whole wait took %s, and for %s of it the lock holder was idle",
		       ty_duration(c->whole_ns), ty_duration(c->for_work_ns));
	if (s->in_request)
		say_clients(&o, h, c);
	if (s->flags & TY_SF_LOST && s->kind != TY_STALL_LOST)
		ty_put(&o, ". Events were lost during this wait");
	if (s->flags & TY_SF_OPEN && strncmp(s->text, "still ", 6))
		ty_put(&o, ". It was still %s when the %s ended", still(c), ty_model_noun(h->x->m));
	ty_put(&o, " [%s]", ty_stall_grade(s));
	ty_who_once(s->sentence);
}
