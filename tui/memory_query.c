/* SPDX-License-Identifier: MIT */
/* See memory_query.h. Names of threads, kinds and sources are matched once. */
#include "memory_query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "partition.h"
#include "query_word.h"
#include "vec.h"

#define WORDS 8

enum field { ANY, THREAD, PROCESS, TID, PID, CPU, SOURCE, KIND, LONGER };

struct ty_memory_query {
	char text[TY_MEMORY_QUERY_MAX];
	const struct ty_mem_points *p;
	struct ty_query_word word[WORDS];
	unsigned n;
	uint8_t all;	 /* bits of the words that a thread, source, kind or CPU satisfies */
	uint32_t cycles; /* at least; 0 */
	uint8_t *thread; /* by thread of the points: words that it satisfies */
	uint8_t source[TY_MEM_LV_COUNT][256], kind[4]; /* the same by source, by kind */
};

const char *ty_memory_kind_name(unsigned kind)
{
	static const char *const kinds[] = {"other", "load", "store", "branch", "gap"};

	return kind < sizeof(kinds) / sizeof(*kinds) ? kinds[kind] : "?";
}

const char *ty_memory_query_text(const struct ty_memory_query *q)
{
	return q->text;
}

static int add_word(struct ty_memory_query *q, const char *s, struct ty_err *err)
{
	static const struct ty_query_key keys[] = {
		{"thread:", THREAD, false}, {"process:", PROCESS, false},
		{"tid:", TID, true},	    {"pid:", PID, true},
		{"cpu:", CPU, true},	    {"source:", SOURCE, false},
		{"kind:", KIND, false},	    {0}};
	struct ty_query_word *w = &q->word[q->n];
	int r;

	if (q->n == WORDS)
		return ty_query_too_long("filter", WORDS, err);
	q->n++;
	if (*s == '>') {
		w->field = LONGER;
		if (ty_query_word_numbers(w, s + 1, &(struct ty_err){0}) || w->numbers != 1)
			return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
				       "'%s' is not a number of cycles (example: >200)", s);
		q->cycles = (uint32_t)w->number[0] + 1;
		return 0;
	}
	q->all |= (uint8_t)(1u << (q->n - 1));
	r = ty_query_word_parse(w, s, keys, q->text, "source:peer", err);
	if (w->unknown_key)
		return ty_fail(
			err, TY_EUSAGE, TY_NO_OFFSET,
			"'%s': keys of samples are thread: process: tid: pid: cpu: source: kind: "
			"(example: source:peer)",
			s);
	return r;
}

struct tid {
	int32_t tid;
	uint32_t thread; /* of the points */
};

ORDER(by_tid, struct tid, compare(a->tid, b->tid) ?: compare(a->thread, b->thread))

typedef VEC(struct tid) tids;

static int find_tids(const struct ty_mem_points *p, tids *out)
{
	for (uint32_t i = 0; i < p->threads; i++)
		if (vec_push(out, (struct tid){p->thread[i].tid, i}))
			return -TY_ENOMEM;
	vec_sort(out, by_tid);
	return 0;
}

/* The name of a process: that of its first thread. */
static const char *process_name(const struct ty_mem_points *p, const tids *l, int32_t pid)
{
	size_t i = partition_point(k, (size_t)0, l->n, l->v[k].tid < pid);

	return pid >= 0 && i < l->n && l->v[i].tid == pid ? p->thread[l->v[i].thread].comm : NULL;
}

static bool thread_has(const struct ty_mem_points *p, const tids *l, const struct ty_query_word *w,
		       const struct ty_mem_thread *t)
{
	switch (w->field) {
	case TID: return ty_query_word_has(w, t->tid);
	case PID: return ty_query_word_has(w, t->pid);
	case PROCESS: return ty_query_word_match(w, process_name(p, l, t->pid));
	case ANY:
	case THREAD: return ty_query_word_match(w, t->comm);
	default: return false;
	}
}

static int fill(struct ty_memory_query *q)
{
	char source[TY_MEM_LEVEL_TEXT];
	tids known = {0};
	int r = 0;

	for (unsigned i = 0; i < q->n && !r && !known.n; i++)
		r = q->word[i].field == PROCESS ? find_tids(q->p, &known) : 0;
	for (unsigned i = 0; i < q->n && !r; i++) {
		const struct ty_query_word *w = &q->word[i];
		const uint8_t bit = (uint8_t)(1u << i);
		const bool sources = w->field == ANY || w->field == SOURCE;

		for (uint32_t t = 0; t < q->p->threads; t++)
			if (thread_has(q->p, &known, w, &q->p->thread[t]))
				q->thread[t] |= bit;
		for (unsigned k = 0; k < TY_MEM_GAP; k++)
			if ((w->field == ANY || w->field == KIND) &&
			    ty_query_word_match(w, ty_memory_kind_name(k)))
				q->kind[k] |= bit;
		for (unsigned l = 0; l < TY_MEM_LV_COUNT && sources; l++)
			for (unsigned f = 0; f < 256; f++)
				if (ty_query_word_match(
					    w, ty_mem_level_text((enum ty_mem_level)l, f, source)))
					q->source[l][f] |= bit;
	}
	vec_fini(&known);
	return r;
}

static uint8_t source_has(const struct ty_memory_query *q, const struct ty_mem_point *o)
{
	const bool access = o->kind == TY_MEM_LOAD || o->kind == TY_MEM_STORE;

	return access && o->level < TY_MEM_LV_COUNT ? q->source[o->level][o->src_flags] : 0;
}

bool ty_memory_query_has(const struct ty_memory_query *q, const struct ty_mem_point *o)
{
	uint8_t has = q->kind[o->kind & 3u] | source_has(q, o);

	if (q->cycles && (!(o->flags & TY_MP_HAS_LAT) || o->total < q->cycles))
		return false;
	if (o->thread < q->p->threads)
		has |= q->thread[o->thread];
	for (unsigned i = 0; i < q->n; i++)
		if (q->word[i].field == CPU && o->cpu != UINT16_MAX &&
		    ty_query_word_has(&q->word[i], o->cpu))
			has |= (uint8_t)(1u << i);
	return (has & q->all) == q->all;
}

void ty_memory_query_free(struct ty_memory_query *q)
{
	for (unsigned i = 0; q && i < q->n; i++)
		ty_query_word_fini(&q->word[i]);
	if (q)
		free(q->thread);
	free(q);
}

int ty_memory_query_new(const struct ty_mem_points *p, const char *text,
			struct ty_memory_query **out, struct ty_err *err)
{
	struct ty_memory_query *q = calloc(1, sizeof(*q));
	char words[TY_MEMORY_QUERY_MAX], *save = NULL;
	int r = 0;

	*out = NULL;
	if (q)
		q->thread = calloc((size_t)p->threads + 1, 1);
	if (!q || !q->thread) {
		ty_memory_query_free(q);
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the filter");
	}
	q->p = p;
	snprintf(q->text, sizeof(q->text), "%s", text);
	snprintf(words, sizeof(words), "%s", text);
	for (char *s = strtok_r(words, " ", &save); s && !r; s = strtok_r(NULL, " ", &save))
		r = add_word(q, s, err);
	if (!r && fill(q))
		r = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the filter");
	if (r) {
		ty_memory_query_free(q);
		return r;
	}
	*out = q;
	return 0;
}
