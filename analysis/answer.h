/* SPDX-License-Identifier: MIT */
/*
 * The answer at the top of a report: where the time went, on whose account, in few items.
 *
 * For attached threads: the slowest requests of the process that spends most time in requests,
 * beside median ones, each along its own path from its reply back to its start; without requests,
 * the sum over the threads. For a machine: the users of the CPUs, and the activity of the disks.
 *
 * For a command: its wall time along the critical path (command_path.h), from its exit back to its
 * start. Every nanosecond is in exactly one item and every item in one part, so that the parts sum
 * to the wall time exactly, even with lost events. What a process outside of the command's tree did
 * while the command waited for it is that process's item. A command that is a server, whose path
 * shows only how it waited for requests, is answered as attached threads are.
 *
 * Cost: the path, and one walk over it (ledger.h).
 */
#ifndef TY_ANSWER_H
#define TY_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "explain.h"
#include "ledger.h"
#include "requests.h"
#include "window.h"

#define TY_ANSWER_ITEMS 6  /* at most; the largest ones, until they cover nine tenths */
#define TY_ANSWER_ROWS	10 /* of the ledger */

/* Name in JSON, in text. */
#define TY_ANSWER_PARTS(X)                                                                         \
	X(CPU, "on_cpu", "on CPU")                                                                 \
	X(RUNNABLE, "runnable", "runnable")                                                        \
	X(THROTTLED, "throttled", "throttled by CPU quota")                                        \
	X(STOLEN, "stolen", "lost to the hypervisor (steal time, inferred)")                       \
	X(DISK, "disk", "disk")                                                                    \
	X(FAULT, "fault", "page faults")                                                           \
	X(DEVICE, "device", "other devices")                                                       \
	X(SLEEP, "sleep", "in sleep calls")                                                        \
	X(TIMEOUT, "timeout", "in waits that a timer ended")                                       \
	X(OTHERS, "others", "waiting for other processes or kernel threads")                       \
	X(STOPPED, "stopped", "stopped")                                                           \
	X(IDLE, "idle", "idle")                                                                    \
	X(WAIT, "wait", "in other waits")                                                          \
	X(UNKNOWN, "unknown", "unknown")

enum ty_answer_part {
#define X(name, json, text) TY_PART_##name,
	TY_ANSWER_PARTS(X)
#undef X
		TY_ANSWER_PARTS_N
};
const char *ty_answer_part_key(enum ty_answer_part p);

struct ty_answer_item {
	uint64_t ns, longest_ns; /* in total; longest piece */
	uint64_t pieces;
	uint32_t thread;  /* its first thread; TY_NONE: none */
	uint32_t threads; /* number of threads of that name */
	uint32_t span;	  /* that has the longest piece */
	uint8_t part;	  /* enum ty_answer_part */
	char text[320];	  /* "dd/12 waited for disk 254:0 in fsync on \"/var/x\"" */
};

enum ty_answer_of {
	TY_ANSWER_NOTHING,
	TY_ANSWER_COMMAND,
	TY_ANSWER_REQUESTS, /* of the process with most time in requests: its slowest ones */
	TY_ANSWER_THREADS,  /* the selected threads, or those attached to: sum of their times */
	TY_ANSWER_MACHINE   /* the CPUs' time together */
};
const char *ty_answer_of_key(enum ty_answer_of of);

#define TY_ANSWER_RIVALS 2
#define TY_ANSWER_NOTES	 5

struct ty_answer {
	enum ty_answer_of of;
	uint64_t start_ns, end_ns;
	uint64_t total_ns;   /* sum of the parts, and of the items with the rest */
	uint64_t command_ns; /* as ty_command_ns */
	bool inferred;	     /* part of the path is inferred */
	bool server;	     /* of a command: it is one, for others (ty_answer_is_server) */
	uint64_t part_ns[TY_ANSWER_PARTS_N];
	struct ty_answer_item item[TY_ANSWER_ITEMS]; /* most time first */
	uint32_t items;
	uint64_t rest_ns; /* of items beyond these */
	uint32_t rest;	  /* their number */
	/* For a command with children on its path: time of its own, time in children, and of
	 * which. */
	char children[320];
	/* Of a command: the first rows of its ledger, most time first, and the rest. */
	struct ty_ledger_row row[TY_ANSWER_ROWS];
	uint32_t rows, rows_left;
	uint64_t rows_left_ns;
	char head[240];	  /* subject of the answer; "": the command */
	char sum_of[240]; /* subject of the sum: "the 3 slowest "; "" */
	char note[TY_ANSWER_NOTES][320];
	uint32_t notes;
	/* Time spent runnable: number of pieces, and the names that ran most on those CPUs. */
	uint64_t ready_pieces;
	struct {
		uint64_t ns;
		uint32_t name; /* string id */
	} rival[TY_ANSWER_RIVALS];
};

/* Computes the answer within w. requests: those of the window; NULL: not analysed. 0 or
 * -TY_E.... */
int ty_answer_find(const struct ty_explain *x, const struct ty_window *w,
		   const struct ty_requests *requests, struct ty_answer *out);

struct ty_stalls;
/* Adds a note from the findings of the same window: to the answer of a machine, as its first one,
 * which thread was held up most; to that of a command the lock that was waited for longest, a tenth
 * of its time or more. Nothing if there is none. */
void ty_answer_stalls(const struct ty_explain *x, const struct ty_stalls *stalls,
		      struct ty_answer *out);

/*
 * Formats n values that sum to total_ns in one unit with the same number of decimals, so that the
 * displayed values sum to the displayed total: values are rounded down or up, those nearest to the
 * next step first. out[n] is the total.
 */
#define TY_ANSWER_FIXED 24
void ty_answer_fixed(const uint64_t *ns, uint32_t n, uint64_t total_ns,
		     char (*out)[TY_ANSWER_FIXED]);
/* Appends "812 ms = 398 ms on CPU + ...", largest part first. */
void ty_answer_sum_text(const uint64_t part_ns[TY_ANSWER_PARTS_N], uint64_t total_ns, char *out,
			size_t size);

#endif
