/* SPDX-License-Identifier: MIT */
/*
 * Unwinds a copy of registers and stack by the call frame information (CFI) of the mapped files
 * (.eh_frame, .debug_frame; DWARF 5, section 6.4). A caller counts only if a call instruction
 * precedes its return address in its file, and if its frame is higher on the stack. Code without
 * CFI (of a JIT compiler) is unwound by the frame pointer under the same conditions, a trampoline
 * of CPython by its layout. No I/O. Not thread-safe.
 */
#ifndef TY_UNWIND_H
#define TY_UNWIND_H

#include "code_map.h"
#include "flow_names.h"
#include "stack_index.h"

struct ty_unwinder;

/* The code map is borrowed, and ready; names, too (NULL: none). NULL: out of memory. */
struct ty_unwinder *ty_unwinder_new(struct ty_code *code, struct ty_flow_names *names);
void ty_unwinder_free(struct ty_unwinder *u);

enum { TY_FRAMES_MAX = 256 };

struct ty_frame {
	uint64_t pc;	 /* for a caller: the byte before the return address, inside the call */
	bool exact;	 /* not a call: the innermost frame, or one interrupted by a signal */
	bool by_pointer; /* found by the frame pointer */
};

enum ty_stack_end {
	TY_STACK_COMPLETE,   /* the outermost function */
	TY_STACK_CUT,	     /* the copy of the stack ends */
	TY_STACK_NO_MAPPING, /* no known mapping at the next frame's address */
	TY_STACK_NO_FILE,    /* the file of the last frame is not available */
	TY_STACK_NO_CFI,     /* the file has no CFI for the address */
	TY_STACK_INVALID,    /* the next frame would be invalid */
	TY_STACK_DEEP,	     /* more frames than fit */
	TY_STACK_32BIT,	     /* a 32-bit process: no registers */
};

/* Returns the frames of a stack, innermost first, and their number. */
size_t ty_unwind(struct ty_unwinder *u, const struct ty_stack *s,
		 struct ty_frame frames[TY_FRAMES_MAX], enum ty_stack_end *end);
/* As a clause: "the copy of the stack ends here". */
const char *ty_stack_end_text(enum ty_stack_end end);

#endif
