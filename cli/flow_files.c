/* SPDX-License-Identifier: MIT */
/* See flow_files.h. */
#include "flow_files.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bus.h"
#include "symbols.h"
#include "vec.h"

struct ty_flow_files {
	const char *const *roots;
	size_t roots_n;
	bool local;
	VEC(struct ty_bytes) maps;
};

static void unmap(const struct ty_bytes *m)
{
	ty_bus_forget(m->p);
	munmap((void *)m->p, m->n);
}

struct ty_flow_files *ty_flow_files_new(const char *const *roots, size_t roots_n)
{
	struct ty_flow_files *f = calloc(1, sizeof(*f));

	if (f) {
		f->roots = roots;
		f->roots_n = roots_n;
	}
	return f;
}

void ty_flow_files_free(struct ty_flow_files *f)
{
	if (!f)
		return;
	vec_each (m, &f->maps)
		unmap(m);
	vec_fini(&f->maps);
	free(f);
}

void ty_flow_files_local(struct ty_flow_files *f, bool local)
{
	f->local = local;
}

int ty_flow_files_read(struct ty_flow_files *f, const char *path, struct ty_bytes *out,
		       struct ty_err *err)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r = 0;
	void *p;

	if (fd < 0)
		return ty_fail_errno(err, "%s: cannot open", path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return ty_fail(err, TY_EIO, TY_NO_OFFSET, "%s is not a regular file", path);
	}
	if (!st.st_size) {
		close(fd);
		return ty_fail(err, TY_EFORMAT, 0, "%s is empty", path);
	}
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		r = ty_fail_errno(err, "%s: cannot map", path);
	close(fd);
	if (r)
		return r;
	*out = (struct ty_bytes){.p = p, .n = (size_t)st.st_size};
	if (vec_push(&f->maps, *out)) {
		munmap(p, (size_t)st.st_size);
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", path);
	}
	ty_bus_watch(p, (size_t)st.st_size, path);
	return 0;
}

static int attempt(struct ty_flow_files *f, const char *path, const uint8_t *build_id,
		   size_t build_id_n, struct ty_bytes *out)
{
	uint8_t id[TY_BUILD_ID_MAX];
	size_t n;

	if (ty_flow_files_read(f, path, out, NULL))
		return -TY_ENOTFOUND;
	if (!build_id_n)
		return 0;
	n = ty_elf_build_id(out->p, out->n, id);
	/* perf pads short ids with zeros. */
	if (n && n <= build_id_n && !memcmp(id, build_id, n))
		return 0;
	unmap(out);
	f->maps.n--;
	*out = (struct ty_bytes){0};
	return -TY_ENOTFOUND;
}

int ty_flow_files_load(void *ctx, const char *path, const uint8_t *build_id, size_t build_id_n,
		       struct ty_bytes *out)
{
	struct ty_flow_files *f = ctx;
	const char *base = strrchr(path, '/');
	char full[PATH_MAX], hex[2 * TY_BUILD_ID_MAX + 1] = "";

	base = base ? base + 1 : path;
	for (size_t i = 0; i < build_id_n && i < TY_BUILD_ID_MAX; i++)
		sprintf(hex + 2 * i, "%02x", build_id[i]);
	for (size_t i = 0; i < f->roots_n; i++) {
		snprintf(full, sizeof(full), "%s/%s", f->roots[i], path);
		if (!attempt(f, full, build_id, build_id_n, out))
			return 0;
		snprintf(full, sizeof(full), "%s/%s", f->roots[i], base);
		if (*base && !attempt(f, full, build_id, build_id_n, out))
			return 0;
		snprintf(full, sizeof(full), "%s/.build-id/%.2s/%s", f->roots[i], hex, hex + 2);
		if (build_id_n > 1 && !attempt(f, full, build_id, build_id_n, out))
			return 0;
		snprintf(full, sizeof(full), "%s/.build-id/%.2s/%s/elf", f->roots[i], hex, hex + 2);
		if (build_id_n > 1 && !attempt(f, full, build_id, build_id_n, out))
			return 0;
	}
	/* At its own path another machine's file is somebody else's, unless its build id says no.
	 */
	if (*path == '/' && strncmp(path, "//", 2) && (f->local || build_id_n))
		return attempt(f, path, build_id, build_id_n, out);
	return -TY_ENOTFOUND;
}
