/* SPDX-License-Identifier: MIT */
#include "mem_names.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "disasm.h"
#include "symbol_list.h"
#include "pair_map.h"
#include "plain_text.h"
#include "symbols.h"
#include "vec.h"

#define FORKS_MAX 64	/* generations of parents searched */
#define LOOKS_MAX 10000 /* mappings searched for a variable */

struct image {
	const char *name;
	struct ty_symbols *symbols; /* NULL: not found */
	struct ty_bytes bytes;
};

struct ty_mem_names {
	const struct ty_mem_stream *stream;
	pthread_mutex_t lock, next; /* of all below */
	struct ty_flow_files *files;
	VEC(struct image) images;
	struct ty_pair_map
		image_of; /* by the address of the name: equal names of a stream share one text */
	struct ty_symbol_list *kernel; /* NULL: not given */
	struct ty_disasm *disasm;      /* NULL: not needed yet, or: */
	struct ty_err no_disasm;
	uint8_t *width; /* by code; NULL: not requested yet */
};

/* The waiting thread is next, even if the other one wants the lock again at once. */
static void take(struct ty_mem_names *n)
{
	pthread_mutex_lock(&n->next);
	pthread_mutex_lock(&n->lock);
	pthread_mutex_unlock(&n->next);
}

static void give(struct ty_mem_names *n)
{
	pthread_mutex_unlock(&n->lock);
}

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
	ty_flow_files_local(n->files, local, false);
	pthread_mutex_init(&n->lock, NULL);
	pthread_mutex_init(&n->next, NULL);
	return n;
}

void ty_mem_names_free(struct ty_mem_names *n)
{
	if (!n)
		return;
	vec_each (i, &n->images)
		ty_symbols_free(i->symbols);
	ty_symbol_list_free(n->kernel);
	ty_disasm_free(n->disasm);
	free(n->width);
	vec_fini(&n->images);
	ty_pair_map_fini(&n->image_of);
	ty_flow_files_free(n->files);
	pthread_mutex_destroy(&n->lock);
	pthread_mutex_destroy(&n->next);
	free(n);
}

int ty_mem_names_kernel(struct ty_mem_names *n, const char *path, struct ty_err *err)
{
	struct ty_bytes b;
	int r = ty_flow_files_read(n->files, path, &b, err);

	if (r)
		return r;
	n->kernel = ty_symbol_list_new((const char *)b.p, b.n, TY_NAMES_KALLSYMS);
	if (!n->kernel)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", path);
	if (!ty_symbol_list_count(n->kernel))
		return ty_fail(err, TY_EFORMAT, TY_NO_OFFSET,
			       "--kallsyms %s has no functions: it was copied without "
			       "permission to read kernel addresses (copy /proc/kallsyms as root), "
			       "or is not a "
			       "kallsyms file",
			       path);
	return 0;
}

void ty_mem_names_note(struct ty_mem_names *n)
{
	take(n);
	vec_each (i, &n->images)
		if (i->symbols && !ty_symbols_usable(i->symbols))
			ty_say("tarry: %s is not an ELF file or is damaged: its symbols are "
			       "unavailable. Copy the recorded file under a directory and pass "
			       "that with --symfs "
			       "DIR\n",
			       i->name);
	if (n->no_disasm.code)
		ty_say("tarry: sizes of accesses are unknown: %s\n", n->no_disasm.msg);
	ty_flow_files_note(n->files);
	give(n);
}

/* The file of a mapping; NULL: out of memory. */
static struct image *image(struct ty_mem_names *n, const struct ty_mem_map *m)
{
	uint32_t *known = ty_pair_map_add(&n->image_of, (uintptr_t)m->name, 0);
	struct image i = {.name = m->name};

	if (!known)
		return NULL;
	if (*known != TY_PAIR_NONE)
		return &n->images.v[*known];
	if (m->name[0] == '/' && strncmp(m->name, "//", 2) &&
	    !ty_flow_files_load(n->files, m->name, m->build_id_n ? m->build_id : NULL,
				m->build_id_n, &i.bytes))
		i.symbols = ty_flow_files_symbols(n->files, m->name, i.bytes);
	if (vec_push(&n->images, i)) {
		ty_symbols_free(i.symbols);
		return NULL;
	}
	*known = (uint32_t)n->images.n - 1;
	return &n->images.v[*known];
}

/* The variable that the file of the mapping itself has there. */
static bool name_mapped(struct ty_mem_names *n, const struct ty_mem_map *m, uint64_t addr,
			uint64_t ts_ns, struct ty_mem_name_of *out)
{
	const struct image *i = m ? image(n, m) : NULL;
	struct ty_symbol sym;
	uint64_t in;

	if (!i || !i->symbols ||
	    !ty_symbols_variable_of(i->symbols, addr - m->addr + m->pgoff, &sym, &in))
		return false;
	*out = (struct ty_mem_name_of){.symbol = sym.name,
				       .offset = in,
				       .mapping = m->name,
				       .mapping_off = addr - m->addr,
				       .assumed = m->ts_ns > ts_ns};
	return true;
}

/* A variable of one of the process's files, of the most recently mapped one first. The mapping of
 * the data need not be recorded: its distance to the code is that in the file, or the address is
 * given by the file. Mappings inherited by fork count, too. None if there are more mappings than
 * the limit, because another one may be nearer. */
static void name_data(struct ty_mem_names *n, int32_t pid, uint64_t addr, uint64_t ts_ns,
		      struct ty_mem_name_of *out)
{
	struct ty_mem_name_of found = {0};
	uint64_t ts = ts_ns;
	unsigned looks = 0;

	if (addr >> 55)
		return;
	for (int i = 0; pid >= 0 && !found.symbol && i < FORKS_MAX; i++) {
		bool before = false;
		size_t at;
		const struct ty_mem_map *maps = ty_mem_maps_of(n->stream, pid, &at);

		while (at-- > 0 && !before) {
			const struct ty_mem_map *m = &maps[at];
			const struct image *im = m->name[0] == '/' ? image(n, m) : NULL;
			struct ty_symbol sym;
			uint64_t in;

			if (looks++ == LOOKS_MAX)
				return;
			if (!im || !im->symbols ||
			    (!ty_symbols_variable(im->symbols, m->pgoff, m->prot & 4,
						  (int64_t)(addr - m->addr), &sym, &in) &&
			     !ty_symbols_variable_fixed(im->symbols, addr, &sym, &in)))
				continue;
			before = m->ts_ns <= ts; /* else the first one recorded later */
			found = (struct ty_mem_name_of){.symbol = sym.name,
							.offset = in,
							.mapping = m->name,
							.mapping_off = addr - m->addr,
							.assumed = true};
		}
		pid = ty_mem_map_parent(n->stream, pid, &ts);
	}
	if (found.symbol)
		*out = found;
}

static bool name_kernel(const struct ty_mem_names *n, uint64_t addr, struct ty_mem_name_of *out)
{
	uint64_t start, size;

	if (!n->kernel || !(addr >> 63) ||
	    !ty_symbol_list_find(n->kernel, addr, &out->symbol, &start, &size))
		return false;
	out->offset = addr - start;
	if (!out->mapping)
		out->mapping = "[kernel.kallsyms]";
	return true;
}

/* Returns the mapping. */
static const struct ty_mem_map *name_code(struct ty_mem_names *n, int32_t pid, uint64_t addr,
					  uint64_t ts_ns, struct ty_mem_name_of *out)
{
	const struct ty_mem_map *m = ty_mem_map_find(n->stream, pid, addr, ts_ns);
	const struct image *i;
	struct ty_symbol sym;
	uint64_t off;

	*out = (struct ty_mem_name_of){0};
	if (m) {
		out->mapping = m->name;
		out->mapping_off = addr - m->addr;
		out->assumed = m->ts_ns > ts_ns;
	}
	if (name_kernel(n, addr, out) || !m)
		return m;
	i = image(n, m);
	off = addr - m->addr + m->pgoff;
	if (i && i->symbols && ty_symbols_find(i->symbols, off, &sym)) {
		out->symbol = sym.name;
		out->offset = off - sym.start;
		if (!ty_symbols_line(i->symbols, off, &out->file, &out->line))
			out->file = NULL;
	}
	return m;
}

void ty_mem_name_codes(struct ty_mem_names *n, const struct ty_mem_code *c, uint32_t count,
		       struct ty_mem_name_of *out)
{
	take(n);
	for (uint32_t i = 0; i < count; i++)
		(void)name_code(n, c[i].pid, c[i].addr, c[i].ts_ns, &out[i]);
	give(n);
}

bool ty_mem_names_own_code(const struct ty_mem_names *n, const struct ty_mem_code *c,
			   const struct ty_mem_thread *t, uint64_t ts_ns, struct ty_mem_code *out)
{
	const struct ty_mem_place there = {c->addr, c->ts_ns, c->pid};
	uint64_t addr;

	*out = *c;
	if (!ty_mem_code_elsewhere(c, t))
		return true;
	if (!ty_mem_map_same_place(n->stream, there, t->pid, ts_ns, &addr))
		return false;
	*out = (struct ty_mem_code){addr, ts_ns, t->pid, 0};
	return true;
}

void ty_mem_name(struct ty_mem_names *n, int32_t pid, uint64_t addr, uint64_t ts_ns,
		 struct ty_mem_name_of *out)
{
	const struct ty_mem_map *m;

	take(n);
	m = name_code(n, pid, addr, ts_ns, out);
	if (!out->symbol && !name_mapped(n, m, addr, ts_ns, out))
		name_data(n, pid, addr, ts_ns, out);
	give(n);
}

static unsigned access_bytes(struct ty_mem_names *n, int32_t pid, uint64_t pc, uint64_t ts_ns)
{
	const struct ty_mem_map *m = ty_mem_map_find(n->stream, pid, pc, ts_ns);
	const char *arch = ty_mem_facts(n->stream)->arch;
	const struct image *i = m ? image(n, m) : NULL;
	uint64_t off;

	if (!i || !i->bytes.n || !arch || (strcmp(arch, "aarch64") && strcmp(arch, "x86_64")))
		return 0;
	off = pc - m->addr + m->pgoff;
	if (off >= i->bytes.n)
		return 0;
	if (!n->disasm && !n->no_disasm.code)
		n->disasm =
			ty_disasm_new(!strcmp(arch, "aarch64") ? TY_DISASM_ARM64 : TY_DISASM_X86_64,
				      &n->no_disasm);
	return n->disasm ? ty_disasm_access(n->disasm, i->bytes.p + off, i->bytes.n - off, pc) : 0;
}

/* Valid as long as n; if two threads create them at once, the first are used. */
static const uint8_t *keep_widths(struct ty_mem_names *n, uint8_t *width)
{
	const uint8_t *kept;

	take(n);
	if (n->width)
		free(width);
	else
		n->width = width;
	kept = n->width;
	give(n);
	return kept;
}

const uint8_t *ty_mem_access_widths(struct ty_mem_names *n, const struct ty_mem_points *p,
				    const atomic_bool *stop)
{
	const uint8_t *known = keep_widths(n, NULL);
	uint8_t *width = known ? NULL : calloc(p->codes + 1u, 1);

	if (!width)
		return known;
	for (uint32_t i = 0, end; i < p->codes; i = end) {
		end = p->codes - i < TY_MEM_NAMES_TURN ? p->codes : i + TY_MEM_NAMES_TURN;
		if (stop && atomic_load_explicit(stop, memory_order_relaxed)) {
			free(width);
			return NULL;
		}
		take(n);
		for (const struct ty_mem_code *c = &p->code[i]; i < end; i++, c++)
			width[i] = (uint8_t)access_bytes(n, c->pid, c->addr, c->ts_ns);
		give(n);
	}
	return keep_widths(n, width);
}
