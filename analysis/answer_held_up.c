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

static void say_who(struct ty_sentence *o, const struct ty_model *m, uint32_t thread, uint64_t at)
{
	char who[TY_WHO_MAX];

	ty_put(o, "%s", ty_model_who(m, thread, at, who));
}

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

/*
 * The lock that a command's threads waited for longest, unless an item names it. What its holders
 * did meanwhile is on the critical path, and says nothing of the lock; and of several that wait for
 * the command's steps one after another the path shows only the steps.
 */
static void note_lock(const struct ty_explain *x, const struct ty_stalls *v, struct ty_answer *out)
{
	uint64_t most = out->total_ns / WORTH;
	char text[sizeof(out->note[0])], d[TY_DURATION_MAX];
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
	ty_put(&o, "lock %s: waited for ", s->object);
	ty_put(&o, "%s in all by ", ty_fmt_duration(most, d));
	say_who(&o, x->m, s->thread, s->named_ns);
	if (s->threads > 1 && !s->by_root)
		ty_put(&o, " and %u more", s->threads - 1);
	if (s->culprit != TY_NONE) {
		ty_put(&o, ", held up by ");
		say_who(&o, x->m, s->culprit, s->culprit_ns);
	}
	ty_put(&o, " (stall %u)", (unsigned)(s - v->v) + 1);
	ty_answer_note(out, "%s", text);
}

static void note_first(const struct ty_explain *x, const struct ty_stall *s, struct ty_answer *out)
{
	char text[sizeof(out->note[0])], d[TY_DURATION_MAX];
	struct ty_sentence o = {text, sizeof(text), 0};

	if (out->notes == TY_ANSWER_NOTES)
		return;
	ty_put(&o, "held up longest: ");
	say_who(&o, x->m, s->thread, s->named_ns);
	ty_put(&o, " for %s", ty_fmt_duration(s->duration_ns, d));
	if (s->culprit != TY_NONE) {
		ty_put(&o, " by ");
		say_who(&o, x->m, s->culprit, s->culprit_ns);
	}
	ty_put(&o, " (stall 1)");
	memmove(out->note[1], out->note[0], out->notes++ * sizeof(out->note[0]));
	memcpy(out->note[0], text, sizeof(text));
}

void ty_answer_held_up(const struct ty_explain *x, const struct ty_stalls *stalls,
		       struct ty_answer *out)
{
	if (stalls->n && out->of == TY_ANSWER_MACHINE)
		note_first(x, &stalls->v[0], out);
	if (out->of == TY_ANSWER_COMMAND)
		note_lock(x, stalls, out);
}
