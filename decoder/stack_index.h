/* SPDX-License-Identifier: MIT */
/*
 * User stacks of long waits (section.h, TY_SEC_STACKS), by thread and time, and the mappings of
 * their processes (TY_SEC_MAPS). Records: stack_record.h.
 */
#ifndef TY_STACK_INDEX_H
#define TY_STACK_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code_map.h"
#include "stack_record.h"

struct ty_stack_index;

/* Indexes the section's n bytes, which are borrowed; damaged records are skipped. NULL: out of
 * memory. Memory: 24 bytes per stack. */
struct ty_stack_index *ty_stack_index_new(const void *section, size_t n);
void ty_stack_index_free(struct ty_stack_index *x);

struct ty_stack_counts {
	uint64_t waits, wakers;
	uint64_t left_out, limited; /* part of left_out: by the rate limit */
	uint64_t pieces_missing;
	uint64_t newer; /* skipped: of kinds that this version does not know */
	bool damaged;
} ty_stack_counts(const struct ty_stack_index *x);

/* A copy of registers and stack. */
struct ty_stack {
	struct ty_stk_head head;
	uint64_t regs[TY_STK_REGS_MAX];	    /* by DWARF number, head.regs_n of them; the last is the
					       program counter */
	uint64_t kernel[TY_STK_KERNEL_MAX]; /* head.kernel_n, innermost first */
	const uint8_t *bytes;		    /* of the stack, from the stack pointer on; borrowed */
	size_t bytes_n;
};

/* The first stack of a wait of the thread in [from, to]. */
bool ty_stack_of_wait(const struct ty_stack_index *x, int32_t tid, uint64_t from_ns, uint64_t to_ns,
		      struct ty_stack *out);
/* The last stack of a waker of the thread in [from, to]. */
bool ty_stack_of_waker(const struct ty_stack_index *x, int32_t woken_tid, uint64_t from_ns,
		       uint64_t to_ns, struct ty_stack *out);

struct ty_python_frame {
	const char *file, *name; /* borrowed */
	uint32_t line;		 /* 0: unknown */
	bool entry;		 /* C code called the function */
};
/* The Python functions of a wait, the innermost first. Returns how many of out[TY_STK_PYTHON_MAX];
 * 0: unknown, or not of Python. */
unsigned ty_stack_python(const struct ty_stack_index *x, const struct ty_stack *wait,
			 struct ty_python_frame *out, enum ty_stk_python_end *end);

/* The holder of the lock that the thread waited for in [from, to], as of the last scan. Returns how
 * many scans in a row found it, including the last; 0: unknown. */
unsigned ty_stack_holder_of(const struct ty_stack_index *x, int32_t tid, uint64_t from_ns,
			    uint64_t to_ns, struct ty_stk_head *out);

/* The i-th stack of a wait, by thread and then time; false past the last. */
bool ty_stack_nth(const struct ty_stack_index *x, size_t i, struct ty_stack *out);

/* Adds the mappings in the n bytes of TY_SEC_MAPS to a code map. 1; 0: some were damaged;
 * -TY_ENOMEM. */
int ty_stack_maps(const void *section, size_t n, struct ty_code *code);

#endif
