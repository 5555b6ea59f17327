/* SPDX-License-Identifier: MIT */
/*
 * Samples of what ran on the CPUs: when, which thread, in which function, called by which ones.
 * Stacks share their outer frames: a sample has the number of its innermost frame's node, whose
 * parents lead outwards. Filled once, then constant. Memory: 40 bytes per sample, 16 per node.
 */
#ifndef TY_SAMPLES_H
#define TY_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pair_map.h"
#include "strtab.h"
#include "vec.h"

/* A function, or the substitute for code without a symbol. */
struct ty_sample_func {
	uint32_t name;	 /* text; 0: unknown */
	uint32_t module; /* text: the mapped file's path, "[kernel.kallsyms]"; 0: unknown */
	bool kernel;
};
/* Where in it: of the innermost frame where it ran, of others the line of the call. */
struct ty_sample_frame {
	uint32_t func; /* in funcs */
	uint32_t file; /* text: source; 0: unknown */
	int32_t line;
	bool inlined; /* into its caller */
};
struct ty_sample_node {
	uint32_t parent; /* node of the caller; 0: none, as of node 0, which is no frame */
	uint32_t frame;
};

struct ty_sample {
	uint64_t ns;
	uint64_t period; /* period of the event: the weight of the sample */
	int32_t pid, tid;
	uint32_t comm; /* text; 0: unknown */
	uint32_t node; /* 0: no frame */
	uint16_t cpu;  /* UINT16_MAX: unknown */
	uint8_t event; /* of several, in their order */
	bool in_kernel : 1;
	bool cut : 1;	   /* outer frames are missing */
	uint32_t branches; /* in branch_sets; 0: none, or not requested */
};

/* A branch that the CPU recorded. */
struct ty_sample_branch {
	uint64_t from, to;
	uint16_t cycles;	      /* since the branch before; 0: unknown */
	bool mispredicted, predicted; /* neither: unknown */
	bool in_transaction, abort;
};
struct ty_sample_branches {
	size_t first; /* in branch_v: the newest */
	uint32_t n;
};

struct ty_samples {
	VEC(struct ty_sample) v; /* by time */
	VEC(uint32_t) by_thread; /* of v, by thread and time; empty before ty_samples_by_thread */
	/* Waits whose stack was recorded, where they were requested: ns is when one began, period
	 * its length; the innermost function is "[sleeping]" or "[blocked]". */
	VEC(struct ty_sample) waits;
	VEC(struct ty_sample_func) funcs;
	VEC(struct ty_sample_frame) frames;
	VEC(struct ty_sample_node) nodes;
	struct ty_strtab *texts;
	uint64_t lost;	   /* samples that the recording counts as lost */
	uint64_t no_time;  /* samples without a time: left out */
	uint64_t others;   /* samples of the file's other events */
	bool damaged;	   /* some could not be read */
	uint64_t branches; /* entries of branch stacks that are no calls */
	/* Where they were requested; set 0 is none. */
	VEC(struct ty_sample_branches) branch_sets;
	VEC(struct ty_sample_branch) branch_v;
	uint32_t hz;	/* samples a second and CPU that were requested; 0: by a period */
	char event[64]; /* "cpu-clock", "cycles:u" */
	bool clock;	/* its period is nanoseconds of CPU time */
	bool of_time;	/* samples are as frequent as time on a CPU: a clock or cycles, in user mode
			 * and in the kernel */
	bool all_threads; /* of all threads; else of traced ones */
	const char *how;  /* how callers were found: "DWARF", "frame pointers"; NULL: no stacks */
	/* While filled: numbers by content. */
	struct ty_pair_map func_of, frame_of, node_of;
};

/* The node of "[threads without samples]": of no sample, for time that has none. */
enum { TY_SAMPLES_UNSEEN = 1 };

struct ty_samples *ty_samples_new(void); /* NULL: out of memory */
void ty_samples_free(struct ty_samples *s);

/* Numbers of texts, functions, frames and nodes; equal ones share a number. UINT32_MAX: out of
 * memory. Text NULL: 0. */
uint32_t ty_samples_text(struct ty_samples *s, const char *text);
uint32_t ty_samples_func(struct ty_samples *s, const char *name, const char *module, bool kernel);
uint32_t ty_samples_frame(struct ty_samples *s, const struct ty_sample_frame *f);
uint32_t ty_samples_node(struct ty_samples *s, uint32_t parent, uint32_t frame);
/* All are in: by time. */
void ty_samples_sort(struct ty_samples *s);

static inline const char *ty_samples_str(const struct ty_samples *s, uint32_t text)
{
	return ty_strtab_get(s->texts, text);
}

/* Orders them by thread, too: for ty_samples_of_thread. 0 or -TY_ENOMEM. */
int ty_samples_by_thread(struct ty_samples *s);
/* Samples by_thread[first, end) of a thread number in a window. */
void ty_samples_of_thread(const struct ty_samples *s, int32_t tid, uint64_t from_ns, uint64_t to_ns,
			  size_t *first, size_t *end);
/* Samples [first, end) of a window, by time. */
void ty_samples_range(const struct ty_samples *s, uint64_t from_ns, uint64_t to_ns, size_t *first,
		      size_t *end);

#endif
