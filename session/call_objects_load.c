/* SPDX-License-Identifier: MIT */
/*
 * See call_objects_load.h. The pass yields each thread's calls in order; so they are merged with
 * the model's, which are read in blocks. Besides the result, BATCH calls per thread are held.
 */
#include "call_objects_load.h"

#include <stdlib.h>
#include <string.h>

#include "object_walk.h"
#include "vec.h"

#define BATCH 512u

struct named {
	uint64_t start_ns;
	uint32_t name;
};

struct of_thread {
	VEC(struct named) v; /* not merged yet */
	uint32_t next;	     /* the model's first call that was not looked at */
};

struct work {
	const struct ty_model *m;
	struct of_thread *thread;
	struct ty_call_rows *rows;
	struct ty_call_objects *out;
};

void ty_call_objects_free(struct ty_call_objects *o)
{
	if (!o)
		return;
	free(o->of);
	ty_strtab_free(o->names);
	free(o);
}

/* For so many calls. NULL: out of memory. */
static struct ty_call_objects *objects_new(uint32_t calls)
{
	struct ty_call_objects *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->calls = calls;
	o->of = calloc(calls + (size_t)1, sizeof(*o->of));
	o->names = ty_strtab_new();
	if (o->of && o->names)
		return o;
	ty_call_objects_free(o);
	return NULL;
}

static void merge(struct work *k, uint32_t thread)
{
	struct of_thread *t = &k->thread[thread];
	size_t at = 0;
	uint32_t n;

	while (at < t->v.n && (n = ty_model_call_rows(k->m, thread, t->next, k->rows)) > 0) {
		uint32_t i = 0;

		while (i < n && at < t->v.n) {
			const uint64_t start = k->rows->start_ns[i];

			if (t->v.v[at].start_ns < start) {
				at++; /* the model does not have it */
				continue;
			}
			if (t->v.v[at].start_ns == start && t->next + i < k->out->calls)
				k->out->of[t->next + i] = t->v.v[at++].name;
			i++;
		}
		t->next += i;
	}
	t->v.n = 0;
}

static int64_t object(void *ctx, enum ty_object_kind kind, const char *name, int32_t tid,
		      int32_t pid, bool own)
{
	struct work *k = ctx;
	uint32_t id;

	if (kind == TY_OBJECT_FUTEX || kind == TY_OBJECT_UNKNOWN)
		return TY_OBJECT_NONE;
	id = ty_strtab_add(k->out->names, name, strlen(name));
	return id == UINT32_MAX ? -TY_ENOMEM : id;
}

static int over(void *ctx, int64_t object, const struct ty_call *c, uint64_t end_ns, int32_t pid)
{
	struct work *k = ctx;
	const uint32_t thread =
		object > 0 ? ty_model_thread_find(k->m, c->tid, c->start_ns) : TY_NONE;
	struct of_thread *t;

	if (thread == TY_NONE)
		return 0;
	t = &k->thread[thread];
	if (vec_push(&t->v, ((struct named){c->start_ns, (uint32_t)object})))
		return -TY_ENOMEM;
	if (t->v.n >= BATCH)
		merge(k, thread);
	return 0;
}

int ty_call_objects_load(struct ty_session *s, const struct ty_model *m, const atomic_bool *stop,
			 atomic_uint *permille, struct ty_call_objects **out, struct ty_err *err)
{
	const struct ty_summary *sum = ty_model_summary(m);
	struct work k = {.m = m};
	struct ty_object_walk walk = {.ctx = &k,
				      .to_ns = UINT64_MAX,
				      .stop = stop,
				      .permille = permille,
				      .first_ns = sum->start_ns,
				      .last_ns = sum->end_ns,
				      .object = object,
				      .over = over};
	uint64_t calls = 0;
	int r;

	*out = NULL;
	for (uint32_t i = 0; i < sum->threads; i++) {
		const struct ty_thread *t = ty_model_thread(m, i);
		const uint64_t end = (uint64_t)t->syscalls_first + t->syscalls_n;

		calls = end > calls ? end : calls;
	}
	if (calls > TY_CALL_OBJECTS_MAX)
		return ty_fail(err, TY_ELIMIT, TY_NO_OFFSET,
			       "%s: too many system calls to search by file; use tarry dump "
			       "syscalls --from T --to T",
			       s->trace->path);
	k.out = objects_new((uint32_t)calls);
	k.rows = malloc(sizeof(*k.rows));
	k.thread = calloc(sum->threads + (size_t)1, sizeof(*k.thread));
	for (uint32_t i = 0; k.thread && i < sum->threads; i++)
		k.thread[i].next = ty_model_thread(m, i)->syscalls_first;
	r = k.out && k.rows && k.thread
		    ? ty_object_walk(s, &walk, err)
		    : ty_fail(err, TY_ENOMEM, TY_NO_OFFSET,
			      "%s: out of memory for the objects of calls", s->trace->path);
	for (uint32_t i = 0; k.thread && i < sum->threads; i++) {
		if (!r)
			merge(&k, i);
		vec_fini(&k.thread[i].v);
	}
	free(k.thread);
	free(k.rows);
	if (r)
		ty_call_objects_free(k.out);
	else
		*out = k.out;
	return r;
}
