/* SPDX-License-Identifier: MIT */
/*
 * The answer at the top of a report: where the time went, and whose it was, in few items.
 *
 * Of threads that were attached to: the slowest requests of the process that spends most time in
 * requests, beside median ones, each along its own path from its reply back to its begin; without
 * requests what their threads did, together. Of a machine: who had the CPUs, what the disks did.
 *
 * Of a command: its wall time along the critical path (command_path.h), from its exit back to its
 * start. Every nanosecond is in exactly one item and every item in one part, so that the parts sum
 * to the wall time exactly, whatever was lost. What a process outside of the command's tree did
 * while the command waited for it is that process's item.
 *
 * Cost: the path, and one walk over it (ledger.h).
 */
#ifndef TY_ANSWER_H
#define TY_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "explain.h"
#include "requests.h"
#include "window.h"

#define TY_ANSWER_ITEMS 6 /* at most: the largest, until they make nine tenths */

/* Name in JSON, in text. */
#define TY_ANSWER_PARTS(X)                                                                         \
	X(CPU, "on_cpu", "on CPU")                                                                 \
	X(RUNNABLE, "runnable", "runnable")                                                        \
	X(THROTTLED, "throttled", "throttled by CPU quota")                                        \
	X(STOLEN, "stolen", "possibly stolen by the hypervisor")                                   \
	X(DISK, "disk", "disk")                                                                    \
	X(FAULT, "fault", "page faults")                                                           \
	X(DEVICE, "device", "other devices")                                                       \
	X(SLEEP, "sleep", "sleeping")                                                              \
	X(TIMEOUT, "timeout", "timed out")                                                         \
	X(OTHERS, "others", "other processes")                                                     \
	X(STOPPED, "stopped", "stopped")                                                           \
	X(IDLE, "idle", "idle")                                                                    \
	X(WAIT, "wait", "other waits")                                                             \
	X(UNKNOWN, "unknown", "unknown")

enum ty_answer_part {
#define X(name, json, text) TY_PART_##name,
	TY_ANSWER_PARTS(X)
#undef X
		TY_ANSWER_PARTS_N
};
const char *ty_answer_part_key(enum ty_answer_part p);
const char *ty_answer_part_text(enum ty_answer_part p);

struct ty_answer_item {
	uint64_t ns, longest_ns; /* together; the longest piece */
	uint64_t pieces;
	uint32_t thread;  /* whose it is, the first of them; TY_NONE: nobody's */
	uint32_t threads; /* so many of that name */
	uint8_t part;	  /* enum ty_answer_part */
	char text[320];	  /* "dd/12 waited for disk 254:0 in fsync on \"/var/x\"" */
};

enum ty_answer_of {
	TY_ANSWER_NOTHING,
	TY_ANSWER_COMMAND,
	TY_ANSWER_REQUESTS, /* of the process with most time in requests: its slowest ones */
	TY_ANSWER_THREADS,  /* the chosen ones, or those that were attached to: their times together
			     */
	TY_ANSWER_MACHINE   /* the CPUs' time together */
};
const char *ty_answer_of_key(enum ty_answer_of of);

#define TY_ANSWER_RIVALS 2
#define TY_ANSWER_NOTES	 3

struct ty_answer {
	enum ty_answer_of of;
	uint64_t start_ns, end_ns;
	uint64_t total_ns; /* what parts, and items with the rest, sum to */
	bool inferred;	   /* the path is, somewhere */
	uint64_t part_ns[TY_ANSWER_PARTS_N];
	struct ty_answer_item item[TY_ANSWER_ITEMS]; /* most time first */
	uint32_t items;
	uint64_t rest_ns; /* of items that are not among these */
	uint32_t rest;	  /* how many */
	/* Of a command with children on its path: how long itself, how long in which children, and
	 * theirs. */
	char children[320];
	char head[240];	 /* what the answer is about; "": of a command */
	char sum_of[64]; /* what the sum is of: "the 3 slowest "; "" */
	char note[TY_ANSWER_NOTES][320];
	uint32_t notes;
	/* Of the time that was spent waiting for a CPU: in how many pieces, and who ran there most.
	 */
	uint64_t ready_pieces;
	struct {
		uint64_t ns;
		uint32_t name; /* string id */
	} rival[TY_ANSWER_RIVALS];
};

/* Of what was recorded, within w. requests: those of the window; NULL: not looked for. 0 or
 * -TY_E.... */
int ty_answer_find(const struct ty_explain *x, const struct ty_window *w,
		   const struct ty_requests *requests, struct ty_answer *out);

/*
 * n values that sum to total_ns as text of one unit and as many decimals, so that what is shown
 * sums to the shown total, too: each is rounded down or up, the nearest first. out[n] is the total.
 */
#define TY_ANSWER_FIXED 24
void ty_answer_fixed(const uint64_t *ns, uint32_t n, uint64_t total_ns,
		     char (*out)[TY_ANSWER_FIXED]);
/* "812 ms = 398 ms on CPU + ...", appended to out: the largest first. */
void ty_answer_sum_text(const uint64_t part_ns[TY_ANSWER_PARTS_N], uint64_t total_ns, char *out,
			size_t size);

#endif
