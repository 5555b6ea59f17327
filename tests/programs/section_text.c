/* SPDX-License-Identifier: MIT */
/* Writes the call data section (the data behind pointers) of a recording to stdout, decompressed.
 * FILE */
#include <stdio.h>

#include "section.h"
#include "trace.h"

int main(int argc, char **argv)
{
	struct ty_trace *t;
	struct ty_err err = {0};
	struct ty_text s;

	if (argc != 2)
		return 2;
	if (ty_trace_open(argv[1], &t, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	s = ty_trace_section(t, TY_SEC_CALL_DATA);
	if (s.n)
		fwrite(s.s, 1, s.n, stdout);
	ty_trace_close(t);
	return 0;
}
