/* SPDX-License-Identifier: MIT */
/*
 * Python functions that a thread of CPython is in: read from the process' memory while the thread
 * sleeps, when its own frames and code objects do not change. Every pointer, type and size is
 * checked, and a frame that fails a check ends the list: the memory may hold anything.
 *
 * Budget: 7 reads per frame, most of them of memory that lies close together.
 */
#ifndef TY_PYTHON_FRAMES_H
#define TY_PYTHON_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "python_layout.h"
#include "stack_record.h"

struct ty_python {
	struct ty_python_layout layout;
	uint64_t runtime; /* addresses of _PyRuntime and PyCode_Type */
	uint64_t code_type;
	/* All n bytes at addr; false: they cannot be read. */
	bool (*read)(void *ctx, uint64_t addr, void *out, size_t n);
	void *ctx;
	struct ty_buf table; /* room for line tables; initialised with TY_PY_TABLE_MAX */
};
#define TY_PY_TABLE_MAX (1u << 20)

/*
 * The PyThreadState of a thread, in the list of the interpreter's. self: its pthread_self(), or 0
 * with the thread's number in its innermost PID namespace. hint: the one that was found last, or 0.
 * 0: it has none, or several that are in a function (of several interpreters).
 */
uint64_t ty_python_thread(const struct ty_python *p, uint64_t self, uint32_t native, uint64_t hint);
/* Appends struct ty_stk_python and strings per frame. Returns how many. */
unsigned ty_python_frames(struct ty_python *p, uint64_t thread, struct ty_buf *out,
			  enum ty_stk_python_end *end);

#endif
