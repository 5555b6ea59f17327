/* SPDX-License-Identifier: MIT */
/*
 * The book of a ledger: rows by key, converted to text at the end. A time is added to one row; rows
 * with equal text are merged.
 */
#ifndef TY_LEDGER_ROWS_H
#define TY_LEDGER_ROWS_H

#include "hash_index.h"
#include "ledger.h"
#include "pair_map.h"
#include "vec.h"

struct ty_ledger_key {
	uint32_t who; /* command's ledger: thread index; else TY_NONE */
	uint8_t what; /* enum ty_ledger_what */
	uint8_t end;  /* enum ty_ledger_ender: of waits */
	uint8_t abi, state;
	int32_t nr;	 /* system call, -1 none */
	uint32_t name;	 /* string id: interrupt, rival, waker; 0 none */
	uint32_t object; /* index + 1 of an object's text; 0 none */
};

enum ty_ledger_what {
	TY_ROW_USER,
	TY_ROW_KERNEL,
	TY_ROW_KTHREAD,
	TY_ROW_UNRECORDED,
	TY_ROW_CALLS_LOST,
	TY_ROW_IRQ,
	TY_ROW_STEAL,
	TY_ROW_RUNNABLE,
	TY_ROW_THROTTLED,
	TY_ROW_WAIT,
	TY_ROW_FAULT,
	TY_ROW_STOPPED,
	TY_ROW_NEW,
	TY_ROW_DEAD,
	TY_ROW_LOST,
	TY_ROW_UNKNOWN,
	TY_ROW_OTHERS
};
enum ty_ledger_ender {
	TY_END_THREAD,
	TY_END_DEVICE,
	TY_END_IO,
	TY_END_QUEUED,
	TY_END_NO_REQUEST,
	TY_END_TIMER,
	TY_END_TIMEOUT, /* of the call */
	TY_END_SIGNAL,
	TY_END_IRQ,
	TY_END_OPEN,
	TY_END_NONE,
	TY_END_YIELD,
	TY_END_PREEMPT,
	TY_END_WOKEN,
	TY_END_IDLE,
	TY_END_SEVERAL
};

struct ty_book_row {
	struct ty_ledger_key k;
	uint64_t ns, longest, pieces;
	uint32_t span; /* of the longest piece */
};

/* CPU samples of user mode in a function. */
struct ty_book_sample {
	uint32_t who, func, n;
	uint64_t weight;
};

/* Threads of one name that are reported together: index of the first, and their number; of many
 * processes, or of one. */
struct ty_ledger_group {
	uint32_t thread, n, processes;
};
/* c[i].n is 1 for each thread of the ledger: sets the group with which each is reported. mine:
 * NULL, or by thread index: these are kept apart from others. 0 or -TY_ENOMEM. */
int ty_ledger_groups(const struct ty_model *m, const uint8_t *mine, struct ty_ledger_group *c);
/* "dd/12", "cc1 (14 processes)", "java (30 threads of process 7)": the group of the thread; its
 * length, cut to size. c: NULL: each thread by itself. */
size_t ty_ledger_group_name(const struct ty_model *m, const struct ty_ledger_group *c, uint32_t who,
			    char *out, size_t size);

#define TY_BOOK_HINTS 512

struct ty_book {
	const struct ty_explain *x;
	VEC(struct ty_book_row) row;
	struct ty_hash_index rows;	 /* of row, by the hash of its key */
	uint32_t in_call[TY_BOOK_HINTS]; /* cache: last row of a system call's number */
	VEC(char *) object;
	VEC(struct ty_book_sample) sample;	/* by their row's `who` and function */
	struct ty_pair_map samples;		/* of sample */
	const struct ty_ledger_group *group_of; /* by thread index; NULL: each thread by itself */
	uint32_t who;				/* ty_ledger_key.who of rows added from now on */
	int failed; /* -TY_ENOMEM, -TY_EINTR: further calls have no effect */
};

/* Adds ns in one piece. */
void ty_book_add(struct ty_book *b, struct ty_ledger_key k, uint64_t ns, uint32_t span);
/* Adds ns in several pieces, the longest of that length. */
void ty_book_pieces(struct ty_book *b, struct ty_ledger_key k, uint64_t ns, uint64_t longest,
		    uint32_t span);
/* Adds CPU time in a system call. */
void ty_book_call(struct ty_book *b, int32_t nr, uint8_t abi, uint64_t ns, uint32_t span);
/* Adds a CPU sample in a function to the row of user mode. */
void ty_book_sample(struct ty_book *b, uint32_t func, uint64_t weight);
/* Value for ty_ledger_key.object; 0 for "", and when the table is full. */
uint32_t ty_book_object(struct ty_book *b, const char *text);
/* Moves the rows to out, longest time first; out is empty if b failed. b is empty afterwards.
 * Returns b->failed. */
int ty_book_close(struct ty_book *b, struct ty_ledger *out);
void ty_book_fini(struct ty_book *b);

#endif
