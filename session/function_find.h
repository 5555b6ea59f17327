/* SPDX-License-Identifier: MIT */
/* The functions that FUNC, FUNC@FILE or OFFSET@FILE name in a file of this machine: of a command,
 * of a library as the command would load it, or of any file. */
#ifndef TY_FUNCTION_FIND_H
#define TY_FUNCTION_FIND_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "flow_files.h"
#include "symbols.h"

enum { TY_FUNCTIONS_MOST = 16 };

struct ty_functions {
	char path[PATH_MAX];
	struct stat st; /* of the file, before its symbols were read */
	struct ty_symbol sym[TY_FUNCTIONS_MOST];
	size_t n; /* of that name */
	struct ty_flow_files *files;
	struct ty_symbols *syms;
};

/* option: for errors. command: the path of the command, "" when FILE is a path; NULL: there is
 * none. offsets: OFFSET@FILE is valid, too. 0 or -TY_E...; call fini in any case. */
int ty_functions_find(struct ty_functions *f, const char *option, const char *text,
		      const char *command, bool offsets, struct ty_err *err);
void ty_functions_fini(struct ty_functions *f);

#endif
