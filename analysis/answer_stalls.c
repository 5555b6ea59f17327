/* SPDX-License-Identifier: MIT */
/* What the stalls add to an answer, as a note; see answer.h. */
#include "answer_priv.h"

#include <stdio.h>
#include <string.h>

#include "sentence.h"
#include "process_titles.h"
#include "stalls.h"
#include "units.h"

#define WORTH 10 /* of a command's time: a lock that was waited for that long is noted */

static bool is_lock(const struct ty_stall *s)
{
	return s->kind == TY_STALL_LOCK && *s->object;
}

/* For this very lock: of one stall, as those of one lock may be of the same threads, and an address
 * is another lock in each process. */
static uint64_t waited(const struct ty_stall *s)
{
	return s->sum_ns && !s->by_root ? s->sum_ns : s->duration_ns;
}

static void put_cause(struct ty_sentence *o, const struct ty_explain *x, const struct ty_stall *s,
		      unsigned number)
{
	if (s->culprit != TY_NONE)
		ty_put(o, " because of %s", ty_who(x->m, s->culprit, s->culprit_ns));
	ty_put(o, " (stall %u)", number);
}

/*
 * The lock that a command's threads waited for longest, unless an item names it. What its holders
 * did meanwhile is on the critical path, and says nothing of the lock; and of several that wait for
 * the command's steps one after another the path shows only the steps.
 */
static void note_lock(const struct ty_explain *x, const struct ty_stalls *v, struct ty_answer *out)
{
	uint64_t most = out->total_ns / WORTH;
	char text[sizeof(out->note[0])];
	struct ty_sentence o = {text, sizeof(text), 0};
	const struct ty_stall *s = NULL;

	for (uint32_t i = 0; i < v->n; i++)
		if (is_lock(&v->v[i]) && waited(&v->v[i]) > most) {
			most = waited(&v->v[i]);
			s = &v->v[i];
		}
	for (uint32_t i = 0; s && i < out->items; i++)
		if (strstr(out->item[i].text, s->object))
			return;
	if (!s)
		return;
	ty_put(&o, "%s", ty_who(x->m, s->thread, s->named_ns));
	if (s->threads > 1 && !s->by_root)
		ty_put(&o, " and %u more waited a total of", s->threads - 1);
	else
		ty_put(&o, " waited");
	ty_put(&o, " %s for the lock on %s", ty_duration(most), s->object);
	put_cause(&o, x, s, (unsigned)(s - v->v) + 1);
	ty_answer_note(out, "%s", text);
}

static void note_first(const struct ty_explain *x, const struct ty_stall *s, struct ty_answer *out)
{
	char text[sizeof(out->note[0])];
	struct ty_sentence o = {text, sizeof(text), 0};

	if (out->notes == TY_ANSWER_NOTES)
		return;
	ty_put(&o, "stall with the most time: %s %s %s", ty_who(x->m, s->thread, s->named_ns),
	       s->state == TY_ST_UNKNOWN   ? "was in an unknown state for"
	       : s->state == TY_ST_RUNNING ? "ran"
					   : "waited",
	       ty_duration(s->duration_ns));
	if (s->waits > 1)
		ty_put(&o, s->state == TY_ST_RUNNING ? " in %u calls" : " in %u waits", s->waits);
	if (s->culprit == TY_NONE && *s->peer)
		ty_put(&o, " for a reply on %s", s->peer);
	put_cause(&o, x, s, 1);
	memmove(out->note[1], out->note[0], out->notes++ * sizeof(out->note[0]));
	memcpy(out->note[0], text, sizeof(text));
}

void ty_answer_stalls(const struct ty_explain *x, const struct ty_stalls *stalls,
		      struct ty_answer *out)
{
	if (stalls->n && (out->of == TY_ANSWER_MACHINE || out->of == TY_ANSWER_THREADS))
		note_first(x, &stalls->v[0], out);
	if (out->of == TY_ANSWER_COMMAND)
		note_lock(x, stalls, out);
}
