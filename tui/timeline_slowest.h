/* SPDX-License-Identifier: MIT */
/* The slowest requests, or regions of a name, as a page; Enter on one opens a page that shows it
 * beside a median one. Left without a choice, that page leads back to the list. */
#ifndef TY_TIMELINE_SLOWEST_H
#define TY_TIMELINE_SLOWEST_H

#include <stdbool.h>
#include <stdint.h>

#include "explain.h"

#define TY_SLOWEST_LISTED 50u

struct ty_timeline;
struct ty_page_job;
struct ty_page_job_ops;

/* One of them, and what it is compared with (TY_NONE: nothing). */
struct ty_slow {
	uint32_t thread, median_thread; /* TY_NONE: unknown, and not compared */
	uint64_t start_ns, end_ns, median_start_ns, median_end_ns;
	bool elsewhere; /* one of the two ended in another thread: no counters */
	bool open;	/* no end when the recording ended */
	char *mostly;	/* where it spent most time; NULL: unknown */
};

/* All those of a thread, or process. */
struct ty_slow_group {
	uint32_t thread;
	bool inferred;
	uint64_t n, p50_ns, p90_ns, p99_ns, max_ns;
};

struct ty_timeline_slowest {
	const struct ty_model *m; /* whose they are; NULL: none were found */
	const char *of, *counted; /* "request", "answered" */
	const char *none;	  /* a sentence where there is none */
	char name[64];		  /* "": none */
	uint64_t all, cut_ns;	  /* later ones are not counted; 0: all are */
	struct ty_slow *v;	  /* TY_SLOWEST_LISTED at most, the longest first */
	struct ty_slow_group *groups;
	uint32_t n, groups_n;
	const struct ty_page_job_ops *list;
	int at; /* the line of the page that was left */
};
void ty_timeline_slowest_fini(struct ty_timeline_slowest *s);

/* For a page job that makes such a list in a->slowest. */
int ty_slowest_room(struct ty_page_job *a, uint32_t n, uint32_t groups);
/* Adds where it spent its time. */
void ty_slowest_add(struct ty_page_job *a, const struct ty_slow *s);
bool ty_slowest_page(struct ty_timeline *t, struct ty_page_job *a);
void ty_slowest_forget(struct ty_page_job *a);
void ty_slowest_left(struct ty_timeline *t);
/* The list that was made last, again. */
bool ty_slowest_again(struct ty_timeline *t);

#endif
