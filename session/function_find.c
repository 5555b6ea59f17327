/* SPDX-License-Identifier: MIT */
/* See function_find.h. */
#include "function_find.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader_find.h"

/* Leaves out those that only choose another function. all: how many have the name. */
static int check_found(const char *option, const char *name, size_t all, struct ty_functions *f,
		       struct ty_err *err)
{
	const size_t known = all < TY_FUNCTIONS_MOST ? all : TY_FUNCTIONS_MOST;

	for (size_t i = 0; i < known; i++)
		if (!f->sym[i].ifunc)
			f->sym[f->n++] = f->sym[i];
	if (all > TY_FUNCTIONS_MOST)
		return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			       "%s: %s has %zu functions '%s', more than %d", option, f->path, all,
			       name, TY_FUNCTIONS_MOST);
	if (!f->n)
		return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			       "%s: '%s' of %s only chooses a function when the program is loaded "
			       "(IFUNC): give the function that is chosen (see nm)",
			       option, name, f->path);
	return 0;
}

/* True where the name is that of an offset in the file. */
static bool is_offset(const char *name, const struct stat *st, uint64_t *off)
{
	char *end;

	*off = strtoull(name, &end, 0);
	return *name >= '0' && *name <= '9' && !*end && *off < (uint64_t)st->st_size;
}

int ty_functions_find(struct ty_functions *f, const char *option, const char *text,
		      const char *command, bool offsets, struct ty_err *err)
{
	char name[512], library[PATH_MAX], *at;
	const char *file = command;
	struct ty_bytes b;
	uint64_t off;
	size_t all = 0;
	int r = 0;

	*f = (struct ty_functions){0};
	if (strlen(text) >= sizeof(name))
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "%s: '%.40s...' is longer than %zu bytes", option, text,
			       sizeof(name) - 1);
	strcpy(name, text);
	at = strchr(name, '@');
	if (at) {
		*at = 0;
		file = at + 1;
	}
	if (!file)
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "%s %s: without a command give FUNC@FILE", option, text);
	/* A name alone is a library's, as the command would load it; or a file here. */
	if (command && at && !strchr(file, '/')) {
		if (ty_loader_find(command, file, NULL, library))
			file = library;
		else if (access(file, F_OK))
			return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
				       "%s: %s does not load a library '%s', and no "
				       "such file exists here: give its path",
				       option, command, file);
	}
	f->files = ty_flow_files_new(NULL, 0);
	if (!f->files)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	/* Before its symbols are read: what replaces it since then is noticed. */
	if (stat(file, &f->st))
		r = ty_fail_errno(err, "%s: cannot open %s", option, file);
	r = r ? r : ty_flow_files_read(f->files, file, &b, err);
	if (!r && !(f->syms = ty_flow_files_symbols(f->files,
						    realpath(file, f->path) ? f->path : file, b)))
		r = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	if (!r && offsets && at && is_offset(name, &f->st, &off)) {
		f->sym[0] = (struct ty_symbol){.start = off};
		all = 1;
	} else if (!r) {
		all = ty_symbols_named(f->syms, name, f->sym, TY_FUNCTIONS_MOST);
	}
	if (!r && (!all || !realpath(file, f->path)))
		r = ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			    "%s: %s has no function '%s' in its symbol table (see nm%s)", option,
			    file, name, at ? "" : "; for a function of a library give FUNC@FILE");
	return r ? r : check_found(option, name, all, f, err);
}

void ty_functions_fini(struct ty_functions *f)
{
	ty_symbols_free(f->syms);
	ty_flow_files_free(f->files);
}
