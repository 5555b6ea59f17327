/* SPDX-License-Identifier: MIT */
/* See chain_links.h. */
#include "chain_links.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wait_call.h"
#include "wait_fd.h"

struct ty_root ty_path_root(const struct ty_path *p)
{
	struct ty_root best = {.thread = TY_NONE, .seg = TY_NONE};
	uint64_t longest[TY_SEG_WHATS] = {0}, *ns;
	uint32_t lo = TY_NONE, hi = 0, last = TY_NONE, seg[TY_SEG_WHATS] = {0};
	unsigned what = 0;

	vec_each (s, &p->seg) {
		lo = s->thread < lo ? s->thread : lo;
		hi = s->thread > hi ? s->thread : hi;
	}
	ns = p->seg.n ? calloc((size_t)(hi - lo) + 1, sizeof(*ns)) : NULL;
	if (!ns)
		return best;
	vec_each (s, &p->seg)
		ns[s->thread - lo] += s->end_ns - s->start_ns;
	/* Of equal ones the youngest. */
	vec_each (s, &p->seg) {
		if (s->thread == last)
			continue;
		last = s->thread;
		if (best.thread == TY_NONE || ns[last - lo] > best.ns ||
		    (ns[last - lo] == best.ns && last > best.thread)) {
			best.thread = last;
			best.ns = ns[last - lo];
		}
	}
	free(ns);
	vec_each (s, &p->seg) {
		uint64_t of = s->end_ns - s->start_ns;

		if (s->thread != best.thread)
			continue;
		best.what_ns[s->what] += of;
		if (of >= longest[s->what]) {
			longest[s->what] = of;
			seg[s->what] = (uint32_t)(s - p->seg.v);
		}
	}
	for (unsigned w = 1; w < TY_SEG_WHATS; w++)
		if (best.what_ns[w] > best.what_ns[what])
			what = w;
	best.seg = seg[what];
	return best;
}

static int64_t nr_at(const struct ty_model *m, uint32_t thread, uint64_t t)
{
	uint32_t call = ty_model_syscall_at(m, thread, t);

	return call == TY_NONE ? -1 : ty_model_syscall_brief(m, thread, call).nr;
}

/* All waits of the thread in this call that the same thread ended. Budget: 0.2% of a report's
 * stalls. */
static uint64_t such_waits_ns(const struct ty_model *m, const struct ty_path *p,
			      const struct ty_hop *of)
{
	int64_t nr = nr_at(m, of->thread, of->start_ns);
	uint64_t ns = 0;

	vec_each (h, &p->hop)
		if (h->thread == of->thread && h->waker.thread == of->waker.thread &&
		    (h == of || nr_at(m, h->thread, h->start_ns) == nr))
			ns += h->end_ns - h->start_ns;
	return ns;
}

uint32_t ty_path_links(const struct ty_model *m, const struct ty_path *p, uint32_t seg_i,
		       struct ty_link *out, uint32_t n)
{
	uint32_t depth = 1, k = 0, hop;
	const struct ty_seg *s;

	if (seg_i >= p->seg.n || !n)
		return 0;
	s = &p->seg.v[seg_i];
	for (hop = s->hop; hop != TY_NONE; hop = p->hop.v[hop].parent)
		depth++;
	k = depth - 1;
	if (k < n) {
		out[k] = (struct ty_link){.thread = s->thread,
					  .span = s->span,
					  .start_ns = s->start_ns,
					  .end_ns = s->end_ns,
					  .what = s->what,
					  .waker = s->waker};
		vec_each (g, &p->seg)
			if (g->thread == s->thread && g->what == s->what)
				out[k].all_ns += g->end_ns - g->start_ns;
	}
	for (hop = s->hop; hop != TY_NONE; hop = p->hop.v[hop].parent) {
		const struct ty_hop *h = &p->hop.v[hop];

		if (--k < n)
			out[k] = (struct ty_link){.thread = h->thread,
						  .span = h->span,
						  .start_ns = h->start_ns,
						  .end_ns = h->end_ns,
						  .all_ns = k ? such_waits_ns(m, p, h) : 0,
						  .what = TY_SEG_WHATS,
						  .waker = h->waker};
	}
	return depth < n ? depth : n;
}

/* The object of the last wait; "": given by the next link, or it sleeps by its call. */
static void link_end(const struct ty_explain *x, const struct ty_link *l, bool sleeps, char *out,
		     size_t size)
{
	const struct ty_model *m = x->m;
	const struct ty_waker *k = &l->waker;
	struct ty_waker w = *k;
	char disk[TY_DISK_TEXT], by[TY_WAKER_TEXT];
	struct ty_io io;

	if ((l->what == TY_SEG_DEVICE || l->what == TY_SEG_QUEUED) && k->io != TY_NONE) {
		io = ty_model_io(m, k->io);
		snprintf(out, size, ", waiting %s %s",
			 l->what == TY_SEG_DEVICE ? "for" : "in the queue of",
			 ty_explain_disk(x, io.major, io.minor, disk));
	} else if (l->what == TY_SEG_NO_REQUEST && k->io != TY_NONE) {
		io = ty_model_io(m, k->io);
		snprintf(out, size, ", before any I/O request was in flight on %s",
			 ty_explain_disk(x, io.major, io.minor, disk));
	} else if (l->what == TY_SEG_TIMER && sleeps && !k->net) {
		*out = 0;
	} else if (l->what == TY_SEG_TIMER || l->what == TY_SEG_IRQ ||
		   (l->what == TY_SEG_DEVICE && k->name)) {
		w.kind = l->what == TY_SEG_TIMER   ? TY_WAKER_TIMER
			 : w.kind == TY_WAKER_NONE ? TY_WAKER_UNKNOWN
						   : w.kind;
		snprintf(out, size, ", woken by %s", ty_waker_text(m, &w, by));
	} else if (l->what == TY_SEG_KILLED) {
		snprintf(out, size, ", until a signal killed it");
	} else if (l->what == TY_SEG_UNWOKEN) {
		snprintf(out, size, ", waker not recorded");
	} else {
		snprintf(out, size, "%s%s", l->what == TY_SEG_WHATS ? "" : ", ",
			 l->what == TY_SEG_WHATS ? "" : ty_seg_text(m, l->what));
	}
}

/* The object that a link's thread waits for in the call: a descriptor with its name, or a path;
 * kind LOCK: a file lock. */
static struct ty_wait_for object_of(const struct ty_explain *x, const struct ty_span *s)
{
	static const char found[] = "ready: ";
	struct ty_wait_for w = {.kind = TY_STALL_OTHER};

	if (s->syscall == TY_NONE)
		return w;
	if (s->state == TY_ST_SLEEPING) {
		w = ty_wait_for(x, s, s->syscall);
		if ((w.fd >= 0 && !w.guessed) || w.kind == TY_STALL_EVENTS)
			ty_wait_look_at_fd(x, s, s->syscall, false, &w);
		if (w.kind != TY_STALL_SEMAPHORE && w.kind != TY_STALL_QUEUE &&
		    (w.fd < 0 || (w.guessed && !w.ready) || !strchr(w.object, '<')))
			*w.object = 0;
		else if (w.ready) {
			memmove(w.object + strlen(found), w.object,
				sizeof(w.object) - strlen(found));
			memcpy(w.object, found, strlen(found));
			w.object[sizeof(w.object) - 1] = 0;
		}
	}
	ty_wait_look_at_path(x, s, s->syscall, &w);
	return w;
}

bool ty_link_text(const struct ty_explain *x, const struct ty_link *l, const char *length,
		  char *out, size_t size)
{
	const char *gap = *length ? " " : "", *during = *length ? " for " : "";
	struct ty_span s = {.state = TY_ST_UNKNOWN, .syscall = TY_NONE};
	struct ty_wait_for w;
	char buf[32], end[TY_WAKER_TEXT + TY_DISK_TEXT];
	const char *call;
	bool lock;

	if (l->what == TY_SEG_RUNS) {
		s.syscall = ty_explain_main_call(x->m, l->thread, l->start_ns, l->end_ns);
	} else if (l->span != TY_NONE) {
		s = ty_model_span(x->m, l->span);
		s.syscall = ty_model_syscall_at(x->m, l->thread, l->start_ns);
		s.syscall = ty_wait_call(x, &s);
	}
	call = ty_explain_call(x, s.syscall, buf);
	switch (l->what) {
	case TY_SEG_RUNS:
		snprintf(out, size, "ran%s%s%s%s", gap, length, *call ? " in " : "", call);
		return false;
	case TY_SEG_RUNNABLE:
		snprintf(out, size, "waited%s%s for a CPU", gap, length);
		return false;
	case TY_SEG_STOLEN:
		snprintf(out, size,
			 "ran%s%s on a CPU that showed no activity (steal time, inferred)", gap,
			 length);
		return false;
	case TY_SEG_LOST:
	case TY_SEG_UNKNOWN:
		snprintf(out, size, "was in an unknown state%s%s%s", during, length,
			 l->what == TY_SEG_LOST ? " because of lost events" : "");
		return false;
	default: break;
	}
	if (s.state == TY_ST_STOPPED) {
		snprintf(out, size, "was stopped%s%s%s", during, length,
			 ty_waker_signal(x->m, l->thread, &l->waker) == SIGCONT ? " until SIGCONT"
										: "");
		return false;
	}
	w = object_of(x, &s);
	link_end(x, l, w.kind == TY_STALL_SLEEP, end, sizeof(end));
	/* Of a futex' word it is mostly inferred that it is a lock. */
	lock = w.kind == TY_STALL_LOCK && *w.object;
	if (lock)
		snprintf(out, size, "waited%s%s for the lock on %s (%s)%s%s", gap, length, w.object,
			 call, end, l->waker.inferred ? " (inferred)" : "");
	else
		snprintf(out, size, "%s%s%s%s%s%s%s%s%s%s",
			 s.state == TY_ST_BLOCKED	      ? "blocked (uninterruptible)"
			 : s.state == TY_ST_RUNNING	      ? "busy-waited"
			 : w.kind == TY_STALL_SLEEP || !*call ? "slept"
							      : "waited",
			 s.state == TY_ST_BLOCKED ? during : gap, length, *call ? " in " : "", call,
			 *w.object ? "(" : "", w.object, *w.object ? ")" : "", end,
			 !l->waker.inferred ? ""
			 : ty_model_thread(x->m, l->thread)->kernel
				 ? " (inferred: the thread it served)"
				 : " (inferred)");
	return lock;
}
