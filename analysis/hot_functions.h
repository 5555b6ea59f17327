/* SPDX-License-Identifier: MIT */
/*
 * Where the CPUs were, by samples: functions and lines with what they did themselves (self) and
 * with what they called (total), and the tree of calls. Samples divide the exact time on a CPU
 * (sample_weights.h); a function's share is an estimate, with the error that the number of samples
 * has (95% interval, Wilson). Time of threads that no sample stands for is a row and a node of its
 * own, "[threads without samples]".
 */
#ifndef TY_HOT_FUNCTIONS_H
#define TY_HOT_FUNCTIONS_H

#include "sample_weights.h"

struct ty_hot_row {
	uint32_t func; /* in ty_samples.funcs */
	uint32_t file; /* of lines: text; else 0 */
	int32_t line;
	uint64_t self, total;		    /* samples; a function that calls itself counts once */
	uint64_t self_weight, total_weight; /* periods */
	uint64_t self_time, total_time;	    /* ns on a CPU, estimated; not by time: periods */
	uint32_t hot_file; /* of functions: the line with most samples of their own */
	int32_t hot_line;
	double share, low, high; /* self, of the time; its interval by the count */
};

struct ty_hot {
	uint64_t samples, weight;
	uint64_t time; /* exact ns on a CPU, and the sum of the rows' own; not by time: periods */
	struct ty_sample_weights weights; /* how samples divide it, without v */
	uint64_t in_kernel, cut, unnamed; /* of them: ran in the kernel; have no outer frames; ran
					     where no function is known */
	uint64_t no_call, faults; /* of a model's threads: outside system calls; of those, in the
				     kernel (page faults, interrupts) */
	uint32_t threads;
	struct ty_hot_row *funcs, *lines; /* most of their own first */
	uint32_t funcs_n, lines_n;
};

/* 0 or -TY_ENOMEM; fini in any case. */
int ty_hot_find(const struct ty_hot_of *of, struct ty_hot *out);
void ty_hot_fini(struct ty_hot *h);

/* The function with most samples' time of its own; NULL: none has a sample. */
const struct ty_hot_row *ty_hot_first(const struct ty_hot *h);
/* "~26% of the 1.20 s on CPU of 3 threads (95% interval 15 to 40%, 43 samples) in f", of
 * ty_hot_first, `place`; where that is not known, "26% of the CPU samples (...) in f". false: too
 * few samples, of all or of that function, to say anything. */
bool ty_hot_note_text(const struct ty_hot *h, const char *place, char *out, size_t size);

/* The most frequent chain of callers of a function: its caller, the caller's caller and so on, as
 * long as at least half of the function's samples, and two of them, have these. samples of `of`
 * have all of v. 0 or -TY_ENOMEM. */
enum { TY_HOT_CALLERS = 4 };
struct ty_hot_callers {
	uint32_t v[TY_HOT_CALLERS], n; /* in ty_samples.funcs */
	uint64_t samples, of;
};
int ty_hot_callers(const struct ty_hot_of *of, uint32_t func, struct ty_hot_callers *out);

/* Of a function without a symbol: the nearest direct or indirect caller with a name that at least
 * half of its samples, and two of them, share. Those that begin a program or thread (main) say
 * nothing of it. none: func is UINT32_MAX. 0 or -TY_ENOMEM. */
struct ty_hot_named {
	uint32_t func;	      /* in ty_samples.funcs */
	uint64_t samples, of; /* that have it; all of the function */
};
int ty_hot_named_caller(const struct ty_hot_of *of, uint32_t func, struct ty_hot_named *out);

/* The share of `time` of all that the n samples of w stand for, and its interval. */
double ty_hot_share(const struct ty_sample_weights *w, uint64_t time, uint64_t all, uint64_t n,
		    double *low, double *high);

/* The tree of calls: node 0 is all samples. Children follow each other by weight. */
struct ty_flame_node {
	uint32_t func; /* in ty_samples.funcs; of node 0, and of what has no frame: UINT32_MAX */
	uint32_t parent, first, next; /* nodes; 0: none */
	uint32_t depth;		      /* of node 0: 0 */
	uint64_t self, total;	      /* samples */
	uint64_t weight;	      /* of total: ns on a CPU, in waits; or periods */
};
struct ty_flame {
	VEC(struct ty_flame_node) v;
	struct ty_pair_map child;
	uint32_t depth;			  /* of the deepest */
	struct ty_sample_weights weights; /* how samples divide the time, without v */
};
enum ty_flame_kind {
	TY_FLAME_CALLEES, /* from the outermost function inwards */
	TY_FLAME_CALLERS, /* from the innermost one outwards */
};
/* focus: a function; only stacks that hold it, from it on (callees: its outermost occurrence;
 * callers: its innermost); UINT32_MAX: all. 0 or -TY_ENOMEM; fini in any case. */
int ty_flame_find(const struct ty_hot_of *of, enum ty_flame_kind kind, uint32_t focus,
		  struct ty_flame *out);
void ty_flame_fini(struct ty_flame *f);

#endif
