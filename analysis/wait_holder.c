/* SPDX-License-Identifier: MIT */
/* See wait_holder.h. */
#include "wait_holder.h"

#include <inttypes.h>
#include <stdio.h>

#include "wakeup.h"

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
	if (out->seen.process) {
		out->proven = true;
		return true;
	}
	by = ty_waker_find(m, span.edge);
	out->proven = out->seen.looks >= 2 && by.kind == TY_WAKER_THREAD && !by.inferred &&
		      out->thread != TY_NONE && by.thread == out->thread;
	return out->proven || out->seen.certain;
}

void ty_wait_holder_text(const struct ty_explain *x, const struct ty_wait_holder *h, char *buf,
			 size_t n)
{
	const struct ty_lock_seen *s = &h->seen;
	const char *comm = h->thread == TY_NONE ? "" : ty_model_comm(x->m, h->thread, s->at_ns);
	char name[160] = "";

	if (*s->name)
		snprintf(name, sizeof(name), " %s", s->name);
	else if (s->word)
		snprintf(name, sizeof(name), " %#" PRIx64, s->word);
	snprintf(buf, n, "%s%s, held by %s%s%s%d", s->kind, name, s->process ? "process " : "",
		 comm, *comm ? "/" : "", (int)s->holder);
}
