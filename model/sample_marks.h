/* SPDX-License-Identifier: MIT */
/* When CPU samples were taken, by thread number and by CPU: what a lane of them needs, without
 * their stacks and names. Filled once, then constant. Memory: 32 bytes per sample. */
#ifndef TY_SAMPLE_MARKS_H
#define TY_SAMPLE_MARKS_H

#include <stddef.h>
#include <stdint.h>

#include "vec.h"

struct ty_sample_mark {
	uint64_t ns;
	uint32_t id; /* thread number, or CPU */
};

enum ty_sample_marks_by { TY_MARKS_THREAD, TY_MARKS_CPU, TY_MARKS_KINDS };

struct ty_sample_marks {
	VEC(struct ty_sample_mark) by[TY_MARKS_KINDS]; /* by id, then time */
	uint64_t period_ns; /* between two samples of a busy CPU; 0: not by time */
};

struct ty_sample_marks *ty_sample_marks_new(void); /* NULL: out of memory */
void ty_sample_marks_free(struct ty_sample_marks *s);
/* In any order. 0 or -TY_ENOMEM. */
int ty_sample_marks_add(struct ty_sample_marks *s, uint64_t ns, uint32_t tid, uint32_t cpu);
void ty_sample_marks_sort(struct ty_sample_marks *s); /* all are in */
/* Those of an id in [from, to). Cost: log(samples). */
uint64_t ty_sample_marks_count(const struct ty_sample_marks *s, enum ty_sample_marks_by by,
			       uint32_t id, uint64_t from_ns, uint64_t to_ns);

#endif
