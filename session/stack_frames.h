/* SPDX-License-Identifier: MIT */
/* An unwound and named user stack. */
#ifndef TY_STACK_FRAMES_H
#define TY_STACK_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "stack_index.h"
#include "unwind.h"

struct ty_stack_frame {
	uint64_t pc;	      /* 0: a Python function */
	const char *function; /* NULL: unknown */
	const char *module;   /* the mapped file's path, of a Python function its source; NULL */
	uint64_t off;	      /* in the module */
	const char *file;     /* source; NULL */
	int line;	      /* 0: unknown */
	bool inlined;	      /* inlined into the next frame */
	bool by_pointer;      /* found by the frame pointer */
	bool runtime;	      /* of libc, the dynamic linker or a language's runtime */
};
enum { TY_STACK_FRAMES = 512 };
struct ty_stack_frames {
	struct ty_stack_frame v[TY_STACK_FRAMES];
	unsigned n;
	enum ty_stack_end end;
	int32_t tid;
	uint64_t ns;
	struct ty_stack stack;
};

#endif
