/* SPDX-License-Identifier: MIT */
/*
 * See follow_pids.h. Once a tid is in set_event_pid, event-fork adds its children. A thread created
 * earlier by one not yet in the list is missed, with all its descendants. In addition, a write
 * copies the list and then replaces it: tids that event-fork added in between are lost. So only the
 * kernel's list itself shows that all threads are in it: list, write, and repeat until every thread
 * of several fresh listings is in it; several, because a listing made while a thread creates its
 * successor and exits may have neither.
 *
 * Children are found through their living parent: each round searches again, which also finds those
 * created by a process that was not yet followed.
 *
 * A write waits for an RCU grace period (10 to 30 ms) after replacing the list; between listing and
 * replacing are some 50 us, which limits how short-lived threads may be.
 */
#include "follow_pids.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "int_set.h"
#include "now.h"

/* Limit of the search: this long, or on a machine with many threads this multiple of the first
 * listing. */
#define PATIENCE_NS 3000000000u
enum { WRITE_BYTES = 32000, ROUNDS = 200, PATIENCE_LOOKS = 8, SURE = 3 };

static void sort(ty_tids *t)
{
	vec_sort(t, ty_int_order);
}

/* Leave in `t` what is not in `known` (sorted). */
static void without(ty_tids *t, const ty_tids *known)
{
	size_t keep = 0;

	for (size_t i = 0; i < t->n; i++)
		if (!known->n ||
		    !bsearch(&t->v[i], known->v, known->n, sizeof(*known->v), ty_int_order))
			t->v[keep++] = t->v[i];
	t->n = keep;
}

/* All threads of the processes; one that has ended has none. */
static int list(ty_tids *t, const ty_proc_pids *pids, struct ty_err *err)
{
	t->n = 0;
	vec_each (pid, pids) {
		int *v = t->v, e;
		size_t k = t->n;

		/* It grows the memory that it gets by its count alone. */
		e = ty_proc_threads(*pid, &v, &k, err);
		t->v = v;
		t->cap = t->n = k;
		if (e && e != -TY_ENOTFOUND)
			return e;
		if (e)
			*err = (struct ty_err){0};
	}
	return 0;
}

int ty_follow_list(const struct ty_instance *inst, struct ty_buf *text, ty_tids *t,
		   struct ty_err *err)
{
	int e;

	t->n = 0;
	ty_buf_reset(text);
	e = ty_tracefs_read(inst->dir, "set_event_pid", text, err);
	for (char *p = text->p, *end; !e && p && *p; p = end) {
		long tid = strtol(p, &end, 10);

		if (end == p)
			break;
		if (vec_push(t, (int)tid))
			e = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the threads");
	}
	sort(t);
	return e;
}

int ty_follow_tids(const struct ty_instance *inst, const int *tids, size_t n, struct ty_err *err)
{
	char *text = malloc(WRITE_BYTES + 32);
	int e = 0;

	if (!text)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the threads");
	for (size_t i = 0; !e && i < n;) {
		size_t len = 0;

		while (i < n && len < WRITE_BYTES)
			len += (size_t)snprintf(text + len, WRITE_BYTES + 32 - len, "%d ",
						tids[i++]);
		e = ty_instance_write(inst, "set_event_pid", text, true, err);
	}
	free(text);
	return e;
}

int ty_follow_pids(const struct ty_instance *inst, const pid_t *pids, size_t n,
		   ty_proc_pids *family, bool *sure, struct ty_err *err)
{
	ty_tids tids = {0}, known = {0};
	struct ty_buf text;
	const uint64_t start = ty_now_ns(CLOCK_MONOTONIC);
	uint64_t patience = PATIENCE_NS;
	int e = 0, complete = 0; /* listings, one after the other */

	ty_buf_init(&text, 8 << 20);
	*sure = false;
	for (int round = 0;
	     !e && !*sure && round < ROUNDS && ty_now_ns(CLOCK_MONOTONIC) - start <= patience;
	     round++) {
		/* The slow listing first: the last listing is the newest. */
		e = ty_proc_family(pids, n, getpid(), family, err);
		if (round && !e)
			e = ty_follow_list(inst, &text, &known, err);
		e = e ? e : list(&tids, family, err);
		without(&tids, &known);
		/* Threads made between the two lists by one that is followed are no news. */
		if (!e && round && tids.n) {
			e = ty_follow_list(inst, &text, &known, err);
			without(&tids, &known);
		}
		complete = tids.n ? 0 : complete + 1;
		*sure = !e && complete == SURE;
		if (!e && tids.n)
			e = ty_follow_tids(inst, tids.v, tids.n, err);
		if (!round && (ty_now_ns(CLOCK_MONOTONIC) - start) * PATIENCE_LOOKS > patience)
			patience = (ty_now_ns(CLOCK_MONOTONIC) - start) * PATIENCE_LOOKS;
	}
	if (!e && *sure && !known.n)
		e = ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			    "-p %d: the process%s ended before recording began", (int)*pids,
			    n > 1 ? " and the others" : "");
	ty_buf_fini(&text);
	vec_fini(&tids);
	vec_fini(&known);
	return e;
}
