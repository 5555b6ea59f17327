/* SPDX-License-Identifier: MIT */
/*
 * Where CPython keeps its threads, frames and code objects in memory, by version. Offsets: bytes
 * from the start of the structure. Only versions that the tests have run are listed.
 */
#ifndef TY_PYTHON_LAYOUT_H
#define TY_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "python_line.h"

/* How one Python function called from another is marked off from one called by the C code. */
enum ty_py_entry {
	TY_PY_ENTRY_ALWAYS, /* to 3.10: each has an evaluation loop of its own */
	TY_PY_ENTRY_FLAG,   /* 3.11: in the frame that the loop began with */
	TY_PY_ENTRY_SHIM,   /* from 3.12: by a frame without Python code in between */
};

struct ty_python_layout {
	uint32_t version; /* major << 8 | minor */
	enum ty_py_lines lines;
	enum ty_py_entry entry;
	uint32_t interpreters;	   /* of _PyRuntime: the first */
	uint32_t next_interpreter; /* of an interpreter, as threads: the first */
	uint32_t threads;
	uint32_t previous_thread, next_thread; /* of a thread */
	uint32_t thread_id, native_id;	       /* native_id 0: there is none */
	uint32_t frame;			       /* its newest, or what current_frame is in */
	bool by_cframe;
	uint32_t current_frame;
	uint32_t previous_frame, code, instruction;  /* of a frame */
	uint32_t mark;				     /* is_entry, or owner */
	uint32_t file, name, first_line, line_table; /* of a code object */
	uint32_t instructions;	 /* its first; 0: frames have the number of an instruction */
	uint32_t ascii, compact; /* sizes of the heads of strings */
};

/* NULL: not a version whose offsets are known. */
const struct ty_python_layout *ty_python_layout(uint32_t version);
/* Versions that describe themselves at the start of _PyRuntime (_Py_DebugOffsets): p[0..n) of it.
 * false: not these, or nothing that can be. */
bool ty_python_layout_own(const void *p, size_t n, struct ty_python_layout *out);
enum { TY_PY_OWN_BYTES = 71 * 8 };

#endif
