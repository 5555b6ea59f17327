/* SPDX-License-Identifier: MIT */
/* See wait_holder.h. */
#include "wait_holder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model_time.h"
#include "process_titles.h"
#include "wakeup.h"

/* The last look at a lock lies so near to the wait's end: some looks, and a part of the wait. */
#define NEAR_NS 50000000ull
enum { NEAR_PART = 8 };

/* A thread whose process is not recorded counts as its first one. */
static int32_t process_of(const struct ty_model *m, uint32_t thread)
{
	const struct ty_thread *t = ty_model_thread(m, thread);

	return t->tgid > 0 ? t->tgid : t->tid;
}

bool ty_wait_holder(const struct ty_explain *x, uint32_t thread, uint32_t i,
		    struct ty_wait_holder *out)
{
	const struct ty_model *m = x->m;
	struct ty_waker by;
	struct ty_span span;

	*out = (struct ty_wait_holder){.thread = TY_NONE};
	if (!x->holder || i == TY_NONE)
		return false;
	span = ty_model_span(m, i);
	if ((span.state != TY_ST_SLEEPING && span.state != TY_ST_BLOCKED) ||
	    !x->holder(x->ctx, ty_model_tid(m, thread, span.start_ns), span.start_ns, span.end_ns,
		       &out->seen))
		return false;
	out->thread = ty_model_thread_find(m, out->seen.holder, out->seen.at_ns);
	by = ty_waker_find(m, span.edge);
	if (by.kind == TY_WAKER_THREAD && !by.inferred)
		out->proven = out->seen.process
				      ? process_of(m, by.thread) == out->seen.holder
				      : out->seen.looks >= 2 && out->thread != TY_NONE &&
						by.thread == out->thread &&
						span.end_ns - out->seen.at_ns <=
							NEAR_NS + (span.end_ns - span.start_ns) /
									  NEAR_PART;
	return out->proven || out->seen.certain;
}

void ty_wait_holder_text(const struct ty_explain *x, const struct ty_wait_holder *h, char *buf,
			 size_t n)
{
	const struct ty_lock_seen *s = &h->seen;
	char name[160] = "", who[TY_WHO_MAX], at[TY_TIME_MAX] = "", t[TY_TIME_MAX];

	if (h->thread != TY_NONE)
		ty_model_who_numbered(x->m, h->thread, s->at_ns, (int32_t)s->holder, who);
	else
		snprintf(who, sizeof(who), "%d", (int)s->holder);
	if (*s->name)
		snprintf(name, sizeof(name), " %s", s->name);
	else if (s->word)
		snprintf(name, sizeof(name), " %#" PRIx64, s->word);
	/* The process that took a file lock may have passed it to another one that inherited the
	 * file. */
	if (s->process && !h->proven)
		snprintf(at, sizeof(at), "%s", ty_time_text(x->m, x->clock, s->at_ns, 1000000, t));
	if (*at)
		snprintf(buf, n,
			 "file lock (%s)%s: at %s /proc/locks listed process %s as its holder",
			 s->kind, name, at, who);
	else
		snprintf(buf, n, "%s%s%s%s, held by %s%s", s->process ? "file lock (" : "", s->kind,
			 s->process ? ")" : "", name, s->process ? "process " : "", who);
}
