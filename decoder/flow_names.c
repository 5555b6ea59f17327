/* SPDX-License-Identifier: MIT */
/* See flow_names.h. Symbols of a file, and a process's perf map (symbol_list.h), are read on first
 * use. */
#include "flow_names.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base_name.h"
#include "symbol_list.h"
#include "pair_map.h"
#include "vec.h"

struct perf_map {
	char path[40];
	struct ty_symbol_list *names; /* NULL: there is none */
};

struct ty_flow_names {
	pthread_mutex_t lock;
	struct ty_code *code;
	ty_flow_symbols *make; /* NULL: ty_symbols_new */
	void *ctx;
	VEC(struct ty_symbols *) files;
	struct ty_symbol_list *kernel;
	struct ty_code_where where; /* the last one */
	struct ty_pair_map map_of;  /* a process to its perf map */
	VEC(struct perf_map *) maps;
};

struct ty_flow_names *ty_flow_names_new(struct ty_code *code)
{
	struct ty_flow_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	pthread_mutex_init(&n->lock, NULL);
	n->code = code;
	return n;
}

void ty_flow_names_free(struct ty_flow_names *n)
{
	if (!n)
		return;
	vec_each (s, &n->files)
		ty_symbols_free(*s);
	vec_each (m, &n->maps) {
		ty_symbol_list_free((*m)->names);
		free(*m);
	}
	ty_symbol_list_free(n->kernel);
	vec_fini(&n->files);
	vec_fini(&n->maps);
	ty_pair_map_fini(&n->map_of);
	pthread_mutex_destroy(&n->lock);
	free(n);
}

void ty_flow_names_symbols(struct ty_flow_names *n, ty_flow_symbols *make, void *ctx)
{
	n->make = make;
	n->ctx = ctx;
}

struct making {
	struct ty_flow_names *n;
	const char *name;
	struct ty_bytes bytes;
	struct ty_symbols *made;
};

static void make(void *ctx)
{
	struct making *k = ctx;

	k->made = k->n->make(k->n->ctx, k->name, k->bytes);
}

static struct ty_symbols *symbols(struct ty_flow_names *n, int file)
{
	while (n->files.n <= (size_t)file)
		if (vec_push(&n->files, NULL))
			return NULL;
	if (!n->files.v[file]) {
		struct making k = {.n = n,
				   .name = ty_code_file_name(n->code, file),
				   .bytes = ty_code_file_bytes(n->code, file)};

		/* The call may search for other files. */
		if (n->make)
			ty_code_alone(n->code, make, &k);
		else
			k.made = ty_symbols_new(k.bytes.p, k.bytes.n);
		n->files.v[file] = k.made;
	}
	return n->files.v[file];
}

size_t ty_flow_names_kernel(struct ty_flow_names *n, const char *text, size_t bytes)
{
	ty_symbol_list_free(n->kernel);
	n->kernel = ty_symbol_list_new(text, bytes, TY_NAMES_KALLSYMS);
	return n->kernel ? ty_symbol_list_count(n->kernel) : 0;
}

/* The code that the process's JIT compiler has described. NULL: out of memory. */
static const struct perf_map *perf_map(struct ty_flow_names *n, int32_t pid)
{
	uint32_t *at = ty_pair_map_add(&n->map_of, (uint32_t)pid, 0);
	struct perf_map *m;
	struct ty_bytes b;

	if (!at || *at != TY_PAIR_NONE)
		return at ? n->maps.v[*at] : NULL;
	m = calloc(1, sizeof(*m));
	if (!m || vec_push(&n->maps, m)) {
		free(m);
		return NULL;
	}
	snprintf(m->path, sizeof(m->path), "/tmp/perf-%d.map", (int)pid);
	if (!ty_code_other(n->code, m->path, &b))
		m->names = ty_symbol_list_new((const char *)b.p, b.n, TY_NAMES_PERF_MAP);
	*at = (uint32_t)n->maps.n - 1;
	return m;
}

/* Code that no file names: the kernel's, or a JIT compiler's. */
static bool listed(struct ty_flow_names *n, int32_t pid, uint64_t ip, struct ty_flow_name *out)
{
	bool kernel = ip >> 63;
	const struct perf_map *m = kernel || pid < 0 ? NULL : perf_map(n, pid);
	const struct ty_symbol_list *l = kernel ? n->kernel : m ? m->names : NULL;

	if (!l || !ty_symbol_list_find(l, ip, &out->function, &out->start, &out->size))
		return false;
	out->own = out->function;
	out->file = kernel ? "[kernel.kallsyms]" : m->path;
	return true;
}

/* The symbol at off of a file, whose byte is at ip. */
static bool symbol_at(struct ty_flow_names *n, int file, uint64_t off, uint64_t ip,
		      struct ty_flow_name *out)
{
	struct ty_symbols *s;
	struct ty_symbol sym;

	out->file_id = file;
	out->file = ty_code_file_name(n->code, file);
	out->off = off;
	if (ty_code_is_function(n->code, file)) {
		out->function = out->own = out->file;
		out->file = "[jit]";
		out->start = ip - off;
		out->size = ty_code_file_bytes(n->code, file).n;
		return true;
	}
	s = symbols(n, file);
	if (!s || !ty_symbols_find(s, off, &sym))
		return false;
	out->function = sym.name;
	out->own = sym.own;
	out->start = ip - (off - sym.start);
	out->size = sym.size;
	return true;
}

/* Where the file that is mapped at the address has no symbol of it. */
static __attribute__((noinline)) void name_otherwise(struct ty_flow_names *n, int32_t pid,
						     uint64_t t_ns, uint64_t ip,
						     struct ty_flow_name *out)
{
	struct ty_flow_name other = {.file_id = -1, .until_ns = out->until_ns};
	struct ty_code_at at = {0};

	/* If the mapped file is not available: the source of its bytes. */
	if (ty_code_find(n->code, pid, t_ns, ip, &at) && at.file >= 0 && at.file != n->where.file &&
	    symbol_at(n, at.file, at.off + (ip - at.lo), ip, &other)) {
		*out = other;
		return;
	}
	if (!out->file)
		*out = other;
	(void)listed(n, pid, ip, out);
}

static void name_at(struct ty_flow_names *n, int32_t pid, uint64_t t_ns, uint64_t ip,
		    struct ty_flow_name *out)
{
	int file;

	pthread_mutex_lock(&n->lock);
	ty_code_where(n->code, pid, t_ns, ip, &n->where);
	file = n->where.file;
	*out = (struct ty_flow_name){.file_id = -1, .until_ns = n->where.until_ns};
	if (file < 0 || !symbol_at(n, file, ip + n->where.bias, ip, out))
		name_otherwise(n, pid, t_ns, ip, out);
	pthread_mutex_unlock(&n->lock);
}

struct ty_flow_name ty_flow_names_at(struct ty_flow_names *n, int32_t pid, uint64_t t_ns,
				     uint64_t ip)
{
	struct ty_flow_name out;

	name_at(n, pid, t_ns, ip, &out);
	return out;
}

/* As name_at, of a symbol in the file that is mapped at the address; false: there is none. */
static bool symbol_extent(struct ty_flow_names *n, int32_t pid, uint64_t t_ns, uint64_t ip,
			  struct ty_extent *out)
{
	uint64_t start, size, off;
	struct ty_symbols *s;
	bool found;

	pthread_mutex_lock(&n->lock);
	ty_code_where(n->code, pid, t_ns, ip, &n->where);
	off = ip + n->where.bias;
	s = n->where.file < 0 || ty_code_is_function(n->code, n->where.file)
		    ? NULL
		    : symbols(n, n->where.file);
	found = s && ty_symbols_extent(s, off, &start, &size);
	if (found)
		*out = (struct ty_extent){.lo = size ? ip - (off - start) : 0,
					  .hi = size ? ip - (off - start) + size : 0,
					  .until_ns = n->where.until_ns,
					  .named = true};
	pthread_mutex_unlock(&n->lock);
	return found;
}

void ty_flow_names_extent(void *names, int32_t pid, uint64_t t_ns, uint64_t ip,
			  struct ty_extent *out)
{
	struct ty_flow_name at;

	if (symbol_extent(names, pid, t_ns, ip, out))
		return;
	name_at(names, pid, t_ns, ip, &at);
	*out = (struct ty_extent){.until_ns = at.until_ns, .named = at.function};
	if (at.function && at.size) {
		out->lo = at.start;
		out->hi = at.start + at.size;
	}
}

bool ty_flow_names_variable(struct ty_flow_names *n, int32_t pid, uint64_t t_ns, uint64_t ip,
			    uint64_t addr, struct ty_flow_variable *out)
{
	/* Of a page of the code, only the part that lies in the file. */
	const uint64_t page = ip & ~(uint64_t)4095;
	uint64_t off, until;
	const int file = ty_code_mapping_of(n->code, pid, t_ns, page, &off, &until);
	struct ty_symbols *s;
	struct ty_symbol sym;
	bool found;

	*out = (struct ty_flow_variable){0};
	if (file < 0 || ty_code_is_function(n->code, file))
		return false;
	pthread_mutex_lock(&n->lock);
	s = symbols(n, file);
	found = s && (ty_symbols_variable(s, off, true, (int64_t)(addr - page), &sym, &out->in) ||
		      ty_symbols_variable_fixed(s, addr, &sym, &out->in));
	if (found) {
		out->name = sym.name;
		ty_symbols_declared(s, &sym, &out->file, &out->line);
	}
	pthread_mutex_unlock(&n->lock);
	return found;
}

int32_t ty_flow_names_program(struct ty_flow_names *n, int32_t pid, uint64_t t_ns)
{
	return ty_code_program(n->code, pid, t_ns);
}

void ty_flow_names_text(struct ty_flow_names *n, int32_t pid, uint64_t t_ns, uint64_t ip, char *out,
			size_t size)
{
	struct ty_flow_name at = ty_flow_names_at(n, pid, t_ns, ip);

	if (at.function)
		snprintf(out, size, "%s+0x%" PRIx64, at.function, ip - at.start);
	else if (at.file)
		snprintf(out, size, "[%s+0x%" PRIx64 "]", ty_base_name(at.file), at.off);
	else
		snprintf(out, size, "0x%" PRIx64, ip);
}

bool ty_flow_names_line(struct ty_flow_names *n, const struct ty_flow_name *at, const char **file,
			int *line)
{
	const struct ty_code_line *l;
	struct ty_symbols *s;
	bool told;

	if (ty_code_is_function(n->code, at->file_id)) {
		l = ty_code_line_at(n->code, at->file_id, at->off);
		*file = l ? l->file : NULL;
		*line = l ? l->line : 0;
		return l;
	}
	pthread_mutex_lock(&n->lock);
	s = at->file_id >= 0 ? symbols(n, at->file_id) : NULL;
	told = s && ty_symbols_line(s, at->off, file, line);
	pthread_mutex_unlock(&n->lock);
	return told;
}

size_t ty_flow_names_inlined(struct ty_flow_names *n, const struct ty_flow_name *at,
			     struct ty_inlined *out, size_t max, struct ty_inlined *caller)
{
	struct ty_symbols *s;
	size_t got = 0;

	*caller = (struct ty_inlined){0};
	if (ty_code_is_function(n->code, at->file_id)) {
		(void)ty_flow_names_line(n, at, &caller->file, &caller->line);
		return 0;
	}
	pthread_mutex_lock(&n->lock);
	s = at->file_id >= 0 ? symbols(n, at->file_id) : NULL;
	if (s)
		got = ty_symbols_inlined(s, at->off, out, max, caller);
	pthread_mutex_unlock(&n->lock);
	return got;
}
