/* SPDX-License-Identifier: MIT */
/*
 * Which CPU samples are selected, and how much time each of them stands for. Where switches are
 * recorded, the samples of a thread divide its exact time on a CPU in the window, each by its
 * period: sums are exact to the nanosecond, the time of a function is an estimate. A thread whose
 * time is that of fewer than TY_HOT_LEAST samples is put together with all such threads of its
 * name: most of them have no sample of their own.
 */
#ifndef TY_SAMPLE_WEIGHTS_H
#define TY_SAMPLE_WEIGHTS_H

#include "samples.h"
#include "window.h"

/* Of fewer samples a share says nothing. */
enum { TY_HOT_LEAST = 10 };

/* CPU samples; waits with a stack, each by its length in the window; both. */
enum ty_hot_what { TY_HOT_CPU, TY_HOT_WAITS, TY_HOT_BOTH };

/* What is selected. */
struct ty_hot_of {
	const struct ty_samples *s;
	const struct ty_window *w;
	const struct ty_model *model; /* NULL: names and times are not known */
	enum ty_hot_what what;
	int32_t pid; /* of a process; 0: of all */
};
/* The samples of the window: of a window to an end of the trace, also those beyond that end. Events
 * and samples need not cover the same time. */
void ty_hot_range(const struct ty_hot_of *of, size_t *first, size_t *end);
bool ty_hot_chosen(const struct ty_hot_of *of, const struct ty_sample *sample);
/* Can the thread have samples that are selected? */
bool ty_hot_thread(const struct ty_hot_of *of, uint32_t thread);

struct ty_sample_weights {
	/* False: switches are not recorded, and a sample stands for its period. */
	bool by_time;
	VEC(uint64_t) v;		  /* ns of the samples of the window, in their order */
	uint64_t on_cpu_ns;		  /* exact; sum of v and unseen_ns */
	uint64_t unseen_ns;		  /* of threads that no sample stands for */
	uint64_t ran;			  /* threads that ran */
	uint64_t unsampled, unsampled_ns; /* of them, without a sample of their own */
	uint64_t stray; /* samples where their thread is not recorded as running: weight 0 */
	double even;	/* how many samples of equal weight say as much as one of these, up to 1 */
};
/* 0 or -TY_ENOMEM; fini in any case. */
int ty_sample_weights_find(const struct ty_hot_of *of, struct ty_sample_weights *out);
void ty_sample_weights_fini(struct ty_sample_weights *w);

#endif
