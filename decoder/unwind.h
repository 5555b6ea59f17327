/* SPDX-License-Identifier: MIT */
/*
 * Who called whom, from a copy of registers and stack: by the call frame information (CFI) of the
 * files that were mapped (.eh_frame, .debug_frame; DWARF 5, section 6.4). A caller counts only if
 * what precedes its return address in its file is a call, and if its frame lies above. What no
 * CFI describes (a JIT compiler's code) is followed by the frame pointer under the same conditions.
 * Bytes in, no I/O. Not thread-safe.
 */
#ifndef TY_UNWIND_H
#define TY_UNWIND_H

#include "code_map.h"
#include "stack_index.h"

struct ty_unwinder;

/* The code is borrowed, and ready. NULL: out of memory. */
struct ty_unwinder *ty_unwinder_new(struct ty_code *code);
void ty_unwinder_free(struct ty_unwinder *u);

enum { TY_FRAMES_MAX = 256 };

struct ty_frame {
	uint64_t pc;	 /* of a caller the byte before the return address: it lies in the call */
	bool exact;	 /* no call: where the thread was itself, or where a signal met it */
	bool by_pointer; /* found by the frame pointer */
};

enum ty_stack_end {
	TY_STACK_COMPLETE,   /* the outermost function */
	TY_STACK_CUT,	     /* what was copied of the stack ends */
	TY_STACK_NO_MAPPING, /* nothing is known to be mapped where the next one would be */
	TY_STACK_NO_FILE,    /* the file of the last frame is not at hand */
	TY_STACK_NO_CFI,     /* the file does not say how to go on from there */
	TY_STACK_INVALID,    /* the next one would be wrong */
	TY_STACK_DEEP,	     /* there are more than fit */
	TY_STACK_32BIT,	     /* a 32-bit process: no registers */
};

/* The frames of a stack, the innermost first: how many. */
size_t ty_unwind(struct ty_unwinder *u, const struct ty_stack *s,
		 struct ty_frame frames[TY_FRAMES_MAX], enum ty_stack_end *end);
/* As a clause: "the copy of the stack ends here". */
const char *ty_stack_end_text(enum ty_stack_end end);

#endif
