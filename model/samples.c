/* SPDX-License-Identifier: MIT */
/* See samples.h. */
#include "samples.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "partition.h"

static bool add_unseen(struct ty_samples *s)
{
	const struct ty_sample_frame f = {
		.func = ty_samples_func(s, "[threads without samples]", NULL, false)};
	const uint32_t frame = f.func == UINT32_MAX ? UINT32_MAX : ty_samples_frame(s, &f);

	return frame == UINT32_MAX || ty_samples_node(s, 0, frame) != TY_SAMPLES_UNSEEN;
}

struct ty_samples *ty_samples_new(void)
{
	struct ty_samples *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->texts = ty_strtab_new();
	/* Node 0 is no frame. */
	if (!s->texts || vec_push(&s->nodes, (struct ty_sample_node){0}) || add_unseen(s)) {
		ty_samples_free(s);
		return NULL;
	}
	return s;
}

void ty_samples_free(struct ty_samples *s)
{
	if (!s)
		return;
	ty_strtab_free(s->texts);
	vec_fini(&s->v);
	vec_fini(&s->by_thread);
	vec_fini(&s->waits);
	vec_fini(&s->branch_sets);
	vec_fini(&s->branch_v);
	vec_fini(&s->funcs);
	vec_fini(&s->frames);
	vec_fini(&s->nodes);
	ty_pair_map_fini(&s->func_of);
	ty_pair_map_fini(&s->frame_of);
	ty_pair_map_fini(&s->node_of);
	free(s);
}

uint32_t ty_samples_text(struct ty_samples *s, const char *text)
{
	return text ? ty_strtab_add(s->texts, text, strlen(text)) : 0;
}

uint32_t ty_samples_func(struct ty_samples *s, const char *name, const char *module, bool kernel)
{
	const struct ty_sample_func f = {ty_samples_text(s, name), ty_samples_text(s, module),
					 kernel};

	if (f.name == UINT32_MAX || f.module == UINT32_MAX)
		return UINT32_MAX;
	return pair_number(&s->func_of, f.name, (uint64_t)f.module << 1 | kernel, &s->funcs, f);
}

uint32_t ty_samples_frame(struct ty_samples *s, const struct ty_sample_frame *f)
{
	return pair_number(&s->frame_of, (uint64_t)f->func << 32 | f->file,
			   (uint64_t)(uint32_t)f->line << 1 | f->inlined, &s->frames, *f);
}

uint32_t ty_samples_node(struct ty_samples *s, uint32_t parent, uint32_t frame)
{
	return pair_number(&s->node_of, parent, frame, &s->nodes,
			   (struct ty_sample_node){parent, frame});
}

ORDER(by_time, struct ty_sample,
      compare(a->ns, b->ns) ?: compare(a->tid, b->tid) ?: compare(a->cpu, b->cpu))

void ty_samples_sort(struct ty_samples *s)
{
	vec_sort(&s->v, by_time);
}

void ty_samples_range(const struct ty_samples *s, uint64_t from_ns, uint64_t to_ns, size_t *first,
		      size_t *end)
{
	*first = partition_point(i, (size_t)0, s->v.n, s->v.v[i].ns < from_ns);
	*end = partition_point(i, *first, s->v.n, s->v.v[i].ns < to_ns);
}

static int by_tid(const void *pa, const void *pb, void *ctx)
{
	const struct ty_samples *s = ctx;
	const uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	/* They are by time. */
	return compare(s->v.v[a].tid, s->v.v[b].tid) ?: compare(a, b);
}

int ty_samples_by_thread(struct ty_samples *s)
{
	const size_t n = s->v.n < UINT32_MAX ? s->v.n : UINT32_MAX;

	if (s->by_thread.n == n)
		return 0;
	s->by_thread.n = 0;
	if (vec_reserve(&s->by_thread, n))
		return -TY_ENOMEM;
	while (s->by_thread.n < n) {
		s->by_thread.v[s->by_thread.n] = (uint32_t)s->by_thread.n;
		s->by_thread.n++;
	}
	qsort_r(s->by_thread.v, n, sizeof(*s->by_thread.v), by_tid, s);
	return 0;
}

void ty_samples_of_thread(const struct ty_samples *s, int32_t tid, uint64_t from_ns, uint64_t to_ns,
			  size_t *first, size_t *end)
{
#define AT(i) (&s->v.v[s->by_thread.v[i]])
	*first = partition_point(i, (size_t)0, s->by_thread.n,
				 AT(i)->tid < tid || (AT(i)->tid == tid && AT(i)->ns < from_ns));
	*end = partition_point(i, *first, s->by_thread.n, AT(i)->tid == tid && AT(i)->ns < to_ns);
#undef AT
}
