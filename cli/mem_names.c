/* SPDX-License-Identifier: MIT */
#include "mem_names.h"

#include <stdlib.h>
#include <string.h>

#include "symbols.h"
#include "vec.h"

struct image {
	char *path;
	struct ty_symbols *symbols; /* NULL: not found */
};

struct ty_mem_names {
	const struct ty_mem_stream *stream;
	struct ty_flow_files *files;
	VEC(struct image) images;
};

struct ty_mem_names *ty_mem_names_new(const struct ty_mem_stream *s, const char *const *roots,
				      size_t roots_n, bool local)
{
	struct ty_mem_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->stream = s;
	n->files = ty_flow_files_new(roots, roots_n);
	if (!n->files) {
		free(n);
		return NULL;
	}
	ty_flow_files_local(n->files, local);
	return n;
}

void ty_mem_names_free(struct ty_mem_names *n)
{
	if (!n)
		return;
	vec_each (i, &n->images) {
		ty_symbols_free(i->symbols);
		free(i->path);
	}
	vec_fini(&n->images);
	ty_flow_files_free(n->files);
	free(n);
}

static struct ty_symbols *symbols(struct ty_mem_names *n, const struct ty_mem_map *m)
{
	struct image i = {0};
	struct ty_bytes b = {0};

	vec_each (k, &n->images)
		if (!strcmp(k->path, m->name))
			return k->symbols;
	i.path = strdup(m->name);
	if (!i.path)
		return NULL;
	if (m->name[0] == '/' && strncmp(m->name, "//", 2) &&
	    !ty_flow_files_load(n->files, m->name, m->build_id_n ? m->build_id : NULL,
				m->build_id_n, &b))
		i.symbols = ty_symbols_new(b.p, b.n);
	if (vec_push(&n->images, i)) {
		ty_symbols_free(i.symbols);
		free(i.path);
		return NULL;
	}
	return i.symbols;
}

void ty_mem_name(struct ty_mem_names *n, int32_t pid, uint64_t addr, uint64_t ts_ns,
		 struct ty_mem_name_of *out)
{
	const struct ty_mem_map *m = ty_mem_map_find(n->stream, pid, addr, ts_ns);
	struct ty_symbols *s;
	struct ty_symbol sym;
	uint64_t off;

	*out = (struct ty_mem_name_of){0};
	if (!m)
		return;
	out->mapping = m->name;
	out->mapping_off = addr - m->addr;
	s = symbols(n, m);
	off = addr - m->addr + m->pgoff;
	if (s && ty_symbols_find(s, off, &sym)) {
		out->symbol = sym.name;
		out->offset = off - sym.start;
		if (!ty_symbols_line(s, off, &out->file, &out->line))
			out->file = NULL;
	}
}
