/* SPDX-License-Identifier: MIT */
/* See python_layout.h. Offsets as offsetof gives them with the headers of 3.8.18, 3.9.18, 3.10.13,
 * 3.11.2, 3.11.7, 3.12.1 and 3.13.0; they are the same on x86-64 and AArch64. */
#include "python_layout.h"

#include <string.h>

#include "unaligned.h"

static const struct ty_python_layout known[] = {
	{.version = 0x0308,
	 .lines = TY_PY_LNOTAB,
	 .interpreters = 32,
	 .threads = 8,
	 .next_thread = 8,
	 .thread_id = 176,
	 .frame = 24,
	 .previous_frame = 24,
	 .code = 32,
	 .instruction = 104,
	 .file = 104,
	 .name = 112,
	 .first_line = 40,
	 .line_table = 120,
	 .ascii = 48,
	 .compact = 72},
	{.version = 0x0309,
	 .lines = TY_PY_LNOTAB,
	 .interpreters = 32,
	 .threads = 8,
	 .next_thread = 8,
	 .thread_id = 176,
	 .frame = 24,
	 .previous_frame = 24,
	 .code = 32,
	 .instruction = 104,
	 .file = 104,
	 .name = 112,
	 .first_line = 40,
	 .line_table = 120,
	 .ascii = 48,
	 .compact = 72},
	{.version = 0x030a,
	 .lines = TY_PY_LINETABLE,
	 .interpreters = 32,
	 .threads = 8,
	 .next_thread = 8,
	 .thread_id = 176,
	 .frame = 24,
	 .previous_frame = 24,
	 .code = 32,
	 .instruction = 96,
	 .file = 104,
	 .name = 112,
	 .first_line = 40,
	 .line_table = 120,
	 .ascii = 48,
	 .compact = 72},
	{.version = 0x030b,
	 .lines = TY_PY_LOCATIONS,
	 .entry = TY_PY_ENTRY_FLAG,
	 .interpreters = 40,
	 .threads = 16,
	 .next_thread = 8,
	 .thread_id = 152,
	 .native_id = 160,
	 .frame = 56,
	 .by_cframe = true,
	 .current_frame = 8,
	 .previous_frame = 48,
	 .code = 32,
	 .instruction = 56,
	 .mark = 68,
	 .file = 112,
	 .name = 128,
	 .first_line = 72,
	 .line_table = 136,
	 .instructions = 184,
	 .ascii = 48,
	 .compact = 72},
	{.version = 0x030c,
	 .lines = TY_PY_LOCATIONS,
	 .entry = TY_PY_ENTRY_SHIM,
	 .interpreters = 40,
	 .threads = 72,
	 .next_thread = 8,
	 .thread_id = 136,
	 .native_id = 144,
	 .frame = 56,
	 .by_cframe = true,
	 .previous_frame = 8,
	 .instruction = 56,
	 .mark = 70,
	 .file = 112,
	 .name = 128,
	 .first_line = 68,
	 .line_table = 136,
	 .instructions = 192,
	 .ascii = 40,
	 .compact = 56},
};

const struct ty_python_layout *ty_python_layout(uint32_t version)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].version == version)
			return &known[i];
	return NULL;
}

/* The numbers of struct _Py_DebugOffsets of 3.13 (Include/internal/pycore_runtime.h). */
enum { OFFSET_MAX = 1 << 24 };
enum {
	VERSION = 1,
	FREE_THREADED = 2,
	INTERPRETERS = 5,
	NEXT_INTERPRETER = 8,
	THREADS = 9,
	PREVIOUS_THREAD = 20,
	NEXT_THREAD = 21,
	CURRENT_FRAME = 23,
	THREAD_ID = 24,
	NATIVE_ID = 25,
	PREVIOUS_FRAME = 29,
	EXECUTABLE = 30,
	INSTR_PTR = 31,
	OWNER = 33,
	FILENAME = 35,
	QUALNAME = 37,
	LINETABLE = 38,
	FIRSTLINENO = 39,
	CODE_ADAPTIVE = 43,
	OB_TYPE = 45,
	BYTES_SIZE = 65,
	BYTES_SVAL = 66,
	UNICODE_STATE = 68,
	UNICODE_LENGTH = 69,
	ASCII_SIZE = 70,
};

bool ty_python_layout_own(const void *p, size_t n, struct ty_python_layout *out)
{
	uint64_t v[TY_PY_OWN_BYTES / 8];

	if (n < sizeof(v) || memcmp(p, "xdebugpy", 8))
		return false;
	memcpy(v, p, sizeof(v));
	/* The table of another version has other rows. Builds without the GIL have other objects.
	 */
	if (v[VERSION] >> 16 != 0x030d || v[FREE_THREADED] || v[OB_TYPE] != 8 ||
	    v[BYTES_SIZE] != 16 || v[BYTES_SVAL] != 32 || v[UNICODE_LENGTH] != 16 ||
	    v[UNICODE_STATE] != 32 || v[ASCII_SIZE] != 40)
		return false;
	for (unsigned i = INTERPRETERS; i <= CODE_ADAPTIVE; i++)
		if (v[i] > OFFSET_MAX)
			return false;
	*out = (struct ty_python_layout){.version = 0x030d,
					 .lines = TY_PY_LOCATIONS,
					 .entry = TY_PY_ENTRY_SHIM,
					 .interpreters = (uint32_t)v[INTERPRETERS],
					 .next_interpreter = (uint32_t)v[NEXT_INTERPRETER],
					 .threads = (uint32_t)v[THREADS],
					 .previous_thread = (uint32_t)v[PREVIOUS_THREAD],
					 .next_thread = (uint32_t)v[NEXT_THREAD],
					 .thread_id = (uint32_t)v[THREAD_ID],
					 .native_id = (uint32_t)v[NATIVE_ID],
					 .frame = (uint32_t)v[CURRENT_FRAME],
					 .previous_frame = (uint32_t)v[PREVIOUS_FRAME],
					 .code = (uint32_t)v[EXECUTABLE],
					 .instruction = (uint32_t)v[INSTR_PTR],
					 .mark = (uint32_t)v[OWNER],
					 .file = (uint32_t)v[FILENAME],
					 .name = (uint32_t)v[QUALNAME],
					 .first_line = (uint32_t)v[FIRSTLINENO],
					 .line_table = (uint32_t)v[LINETABLE],
					 .instructions = (uint32_t)v[CODE_ADAPTIVE],
					 .ascii = (uint32_t)v[ASCII_SIZE],
					 .compact = (uint32_t)v[ASCII_SIZE] + 16};
	return true;
}
