/* SPDX-License-Identifier: MIT */
/* See flow_user_images.h. */
#include "flow_user_images.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "flow_files.h"

/* FILE@ADDR[:OFF:SIZE] */
static int add_image(struct ty_flow_source *s, const char *arg, struct ty_err *err)
{
	struct ty_code *code = ty_flow_code(s->flow);
	const char *sep = strrchr(arg, '@');
	unsigned long long n[3] = {0};
	struct ty_bytes b;
	int r, fields = 0, file;
	char *path, *end;

	if (sep && sep > arg) {
		const char *p = sep + 1;

		for (fields = 0; fields < 3; fields++) {
			errno = 0;
			n[fields] = strtoull(p, &end, 0);
			if (end == p || errno)
				break;
			p = end + (*end == ':');
			if (!*end) {
				fields++;
				break;
			}
			if (*end != ':') {
				fields = 0;
				break;
			}
		}
		if (*end)
			fields = 0;
	}
	if (fields != 1 && fields != 3)
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "--image '%s' is not FILE@ADDRESS or FILE@ADDRESS:OFFSET:SIZE", arg);
	path = strndup(arg, (size_t)(sep - arg));
	if (!path)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	r = ty_flow_files_read(s->files, path, &b, err);
	file = r ? r : ty_code_blob(code, path, b.p, b.n);
	free(path);
	if (file < 0)
		return ty_fail(err, -file, TY_NO_OFFSET, "--image '%s': %s", arg,
			       ty_strerror(file));
	if (fields == 1)
		return ty_code_map_elf(code, TY_CODE_GIVEN, 0, n[0], file, err);
	r = ty_code_map(code, TY_CODE_GIVEN, 0, n[0], n[2], n[1], file);
	return r ? ty_fail(err, TY_EUSAGE, TY_NO_OFFSET, "--image '%s': invalid address range", arg)
		 : 0;
}

/* The code of a core dump or of a copy of /proc/kcore. */
static int add_core(struct ty_flow_source *s, const char *path, struct ty_err *err)
{
	struct ty_bytes b;
	int r = ty_flow_files_read(s->files, path, &b, err);

	if (r)
		return r;
	r = ty_code_blob(ty_flow_code(s->flow), path, b.p, b.n);
	if (r < 0)
		return ty_fail(err, -r, TY_NO_OFFSET, "%s: %s", path, ty_strerror(r));
	return ty_code_map_core(ty_flow_code(s->flow), r, err);
}

/* path, or the file of this name in the directory that it is. */
static const char *in_dir(const char *path, const char *name, char full[PATH_MAX])
{
	struct stat st;

	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return path;
	snprintf(full, PATH_MAX, "%s/%s", path, name);
	return full;
}

/* A copy of the kernel's code, and beside it, of its names. */
static int add_kcore(struct ty_flow_source *s, const char *path, struct ty_err *err)
{
	char full[PATH_MAX], names[PATH_MAX];
	struct stat st;
	int r = add_core(s, in_dir(path, "kcore", full), err);

	if (!r && !s->kernel_names.n && in_dir(path, "kallsyms", names) == names &&
	    !stat(names, &st))
		r = ty_flow_files_read(s->files, names, &s->kernel_names, err);
	return r;
}

int ty_flow_user_images(struct ty_flow_source *s, const char *path, struct ty_err *err)
{
	char full[PATH_MAX];
	struct stat st;
	int r = 0;

	if (s->kallsyms)
		r = ty_flow_files_read(s->files, s->kallsyms, &s->kernel_names, err);
	for (size_t i = 0; i < s->kcores.n && !r; i++)
		r = add_kcore(s, s->kcores.v[i], err);
	/* perf record --kcore: a directory with the data and the copies. */
	if (!r && path && !s->kcores.n && in_dir(path, "kcore_dir", full) == full &&
	    !stat(full, &st))
		r = add_kcore(s, full, err);
	for (size_t i = 0; i < s->cores.n && !r; i++)
		r = add_core(s, s->cores.v[i], err);
	for (size_t i = 0; i < s->images.n && !r; i++)
		r = add_image(s, s->images.v[i], err);
	return r;
}
