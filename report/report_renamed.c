/* SPDX-License-Identifier: MIT */
/* See report_renamed.h. */
#include "report_renamed.h"

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "process_titles.h"
#include "put_text.h"

#define NAMES 128 /* of all threads */
#define LINES 5

struct named {
	uint64_t at_ns;
	uint32_t thread;
	char name[TY_WHO_MAX];
};

ORDER(by_time, struct named, compare(a->thread, b->thread) ?: compare(a->at_ns, b->at_ns))

struct names {
	const struct ty_model *m;
	struct named v[NAMES];
	unsigned n;
};

static void add(struct names *k, uint32_t thread, uint64_t t)
{
	struct named *to = &k->v[k->n];

	if (thread == TY_NONE || k->n == NAMES)
		return;
	to->thread = thread;
	to->at_ns = t;
	ty_model_who_numbered(k->m, thread, t, -1, to->name);
	for (unsigned i = 0; i < k->n; i++)
		if (k->v[i].thread == thread && !strcmp(k->v[i].name, to->name)) {
			k->v[i].at_ns = t < k->v[i].at_ns ? t : k->v[i].at_ns;
			return;
		}
	k->n++;
}

void ty_report_renamed(const struct ty_model *m, const struct ty_stall *v, uint32_t n, FILE *f)
{
	struct names k = {.m = m};
	unsigned lines = 0;

	for (uint32_t i = 0; i < n; i++) {
		add(&k, v[i].thread, v[i].named_ns);
		if (v[i].culprit != TY_NONE)
			add(&k, v[i].culprit, v[i].culprit_ns);
		for (uint32_t l = 1; l < v[i].links; l++)
			add(&k, v[i].link[l].thread,
			    v[i].link[l].start_ns +
				    (v[i].link[l].end_ns - v[i].link[l].start_ns) / 2);
	}
	/* As the answer and the tables name it. */
	for (unsigned i = 0, shown = k.n; i < shown; i++)
		add(&k, k.v[i].thread, ty_model_thread(m, k.v[i].thread)->end_ns - 1);
	if (k.n)
		qsort(k.v, k.n, sizeof(k.v[0]), by_time);
	for (unsigned i = 0, end; i < k.n && lines < LINES; i = end) {
		for (end = i + 1; end < k.n && k.v[end].thread == k.v[i].thread;)
			end++;
		if (end - i < 2)
			continue;
		fprintf(f, "     thread %d changed its name: first ",
			ty_model_thread(m, k.v[i].thread)->tid);
		for (unsigned j = i; j < end; j++) {
			fputs(j > i ? ", then " : "", f);
			ty_put_plain(f, k.v[j].name);
		}
		putc('\n', f);
		lines++;
	}
}
