/* SPDX-License-Identifier: MIT */
/* The line of an instruction of a Python code object, by the table that the object has for it. The
 * table is another process' memory: any bytes are safe. */
#ifndef TY_PYTHON_LINE_H
#define TY_PYTHON_LINE_H

#include <stddef.h>
#include <stdint.h>

enum ty_py_lines {
	TY_PY_LNOTAB,	 /* to 3.9: Objects/lnotab_notes.txt */
	TY_PY_LINETABLE, /* 3.10: the same file */
	TY_PY_LOCATIONS, /* from 3.11: Objects/locations.md */
};

/* at: of the instruction, in bytes from the first one; -1 before the first. 0: it has none. */
uint32_t ty_python_line(enum ty_py_lines kind, const uint8_t *table, size_t n, int32_t first_line,
			int64_t at);

#endif
