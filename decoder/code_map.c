/* SPDX-License-Identifier: MIT */
/* See code_map.h: collection of mappings. Lives (one per exec or fork of a process) are kept in the
 * order of their start until all are known, then by pid and time. */
#include "code_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code_priv.h"
#include "compare.h"
#include "partition.h"

enum { FILES_MAX = 1 << 20, MAPS_MAX = 1 << 23, KEY_MAX = 4096 + 2 * TY_BUILD_ID_MAX + 2 };

struct ty_code *ty_code_new(ty_code_load *load, void *ctx)
{
	struct ty_code *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->keys = ty_strtab_new();
	if (!c->keys) {
		free(c);
		return NULL;
	}
	c->load = load;
	c->ctx = ctx;
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->index_lock, NULL);
	return c;
}

void ty_code_free(struct ty_code *c)
{
	if (!c)
		return;
	vec_each (f, &c->files)
		free(f->name);
	vec_each (p, &c->owned)
		free(*p);
	vec_fini(&c->owned);
	vec_each (l, &c->lives) {
		vec_fini(&l->maps);
		ty_code_index_fini(&l->index);
	}
	vec_fini(&c->files);
	vec_fini(&c->lives);
	vec_fini(&c->images);
	vec_fini(&c->file_of_key);
	ty_strtab_free(c->keys);
	ty_pair_map_fini(&c->newest);
	pthread_mutex_destroy(&c->index_lock);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

int ty_code_own(struct ty_code *c, void *p)
{
	return vec_push(&c->owned, p);
}

static int add_file(struct ty_code *c, const char *name, const uint8_t *build_id, size_t n)
{
	struct ty_code_file f = {.build_id_n = (uint8_t)n};

	if (c->files.n >= FILES_MAX)
		return -TY_ELIMIT;
	f.name = strdup(name);
	if (!f.name)
		return -TY_ENOMEM;
	if (n)
		memcpy(f.build_id, build_id, n);
	if (vec_push(&c->files, f)) {
		free(f.name);
		return -TY_ENOMEM;
	}
	return (int)c->files.n - 1;
}

int ty_code_file(struct ty_code *c, const char *path, const uint8_t *build_id, size_t build_id_n)
{
	char key[KEY_MAX];
	uint32_t id;
	size_t at;

	if (build_id_n > TY_BUILD_ID_MAX)
		build_id_n = TY_BUILD_ID_MAX;
	/* The id first: a long path may be cut. */
	for (at = 0; at < 2 * build_id_n; at += 2) {
		key[at] = "0123456789abcdef"[build_id[at / 2] >> 4];
		key[at + 1] = "0123456789abcdef"[build_id[at / 2] & 15];
	}
	snprintf(key + at, sizeof(key) - at, " %s", path);
	id = ty_strtab_add(c->keys, key, strlen(key));
	if (id == UINT32_MAX)
		return -TY_ENOMEM;
	while (c->file_of_key.n <= id)
		if (vec_push(&c->file_of_key, -1))
			return -TY_ENOMEM;
	if (c->file_of_key.v[id] < 0)
		c->file_of_key.v[id] = add_file(c, path, build_id, build_id_n);
	return c->file_of_key.v[id];
}

static int add_bytes(struct ty_code *c, const char *name, const void *p, size_t n, bool function)
{
	int i = add_file(c, name, NULL, 0);

	if (i >= 0) {
		c->files.v[i].tried = true;
		c->files.v[i].function = function;
		c->files.v[i].bytes = (struct ty_bytes){.p = p, .n = n};
	}
	return i;
}

int ty_code_blob(struct ty_code *c, const char *name, const void *p, size_t n)
{
	return add_bytes(c, name, p, n, false);
}

int ty_code_function(struct ty_code *c, const char *name, const void *p, size_t n)
{
	return add_bytes(c, name, p, n, true);
}

bool ty_code_is_function(const struct ty_code *c, int file)
{
	return file >= 0 && file < (int)c->files.n && c->files.v[file].function;
}

void ty_code_set_lines(struct ty_code *c, int function, const struct ty_code_line *lines, size_t n)
{
	c->files.v[function].lines = lines;
	c->files.v[function].lines_n = n;
}

const struct ty_code_line *ty_code_line_at(const struct ty_code *c, int function, uint64_t off)
{
	const struct ty_code_file *f = &c->files.v[function];
	size_t n = partition_point(i, 0, f->lines_n, f->lines[i].off <= off);

	return n ? &f->lines[n - 1] : NULL;
}

static uint32_t newest(const struct ty_code *c, int64_t space)
{
	return ty_pair_map_get(&c->newest, (uint64_t)space, 0);
}

/* A new life of an address space; the parent's number, or TY_PAIR_NONE. */
static struct ty_code_life *begin(struct ty_code *c, int64_t space, uint64_t t_ns, uint32_t parent)
{
	struct ty_code_life l = {
		.space = space, .from_ns = t_ns, .order = (uint32_t)c->lives.n, .parent = parent};
	uint32_t *last;

	if (c->lives.n >= MAPS_MAX || vec_push(&c->lives, l))
		return NULL;
	last = ty_pair_map_add(&c->newest, (uint64_t)space, 0);
	if (!last)
		return NULL;
	*last = l.order;
	return &c->lives.v[l.order];
}

static int map(struct ty_code *c, int64_t space, struct ty_code_mapping m)
{
	uint32_t life = newest(c, space);
	struct ty_code_life *l = life == TY_PAIR_NONE ? NULL : &c->lives.v[life];

	if (c->maps_n >= MAPS_MAX)
		return -TY_ELIMIT;
	/* What a process is first seen with holds from the beginning. */
	if (!l)
		l = begin(c, space, 0, TY_PAIR_NONE);
	if (!l)
		return -TY_ENOMEM;
	m.order = (uint32_t)c->maps_n++;
	return vec_push(&l->maps, m);
}

int ty_code_map(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr, uint64_t len,
		uint64_t off, int file)
{
	if (!len || addr + len < addr || off + len < off || file < 0 || file >= (int)c->files.n)
		return -TY_EFORMAT;
	return map(c, ty_code_mapped(pid),
		   (struct ty_code_mapping){
			   .t_ns = t_ns, .lo = addr, .hi = addr + len, .off = off, .file = file});
}

int ty_code_jit(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr, int function)
{
	size_t n = function >= 0 && function < (int)c->files.n ? c->files.v[function].bytes.n : 0;

	if (!n || addr + n < addr)
		return -TY_EFORMAT;
	return map(c, ty_code_jitted(pid),
		   (struct ty_code_mapping){
			   .t_ns = t_ns, .lo = addr, .hi = addr + n, .file = function});
}

/* A space that continues from's, or an empty one; of a JIT compiler's, only where there was one. */
static int begin_both(struct ty_code *c, int32_t pid, uint64_t t_ns, bool forked, int32_t parent)
{
	uint32_t maps = forked ? newest(c, ty_code_mapped(parent)) : TY_PAIR_NONE;
	uint32_t jit = forked ? newest(c, ty_code_jitted(parent)) : TY_PAIR_NONE;

	if (!begin(c, ty_code_mapped(pid), t_ns, maps))
		return -TY_ENOMEM;
	if (jit == TY_PAIR_NONE && newest(c, ty_code_jitted(pid)) == TY_PAIR_NONE)
		return 0;
	return begin(c, ty_code_jitted(pid), t_ns, jit) ? 0 : -TY_ENOMEM;
}

int ty_code_exec(struct ty_code *c, int32_t pid, uint64_t t_ns)
{
	return begin_both(c, pid, t_ns, false, pid);
}

int ty_code_fork(struct ty_code *c, int32_t parent, int32_t pid, uint64_t t_ns)
{
	return begin_both(c, pid, t_ns, parent != pid, parent);
}

int ty_code_image(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr, const void *p,
		  size_t n)
{
	struct ty_code_image_of i = {.t_ns = t_ns,
				     .lo = addr,
				     .hi = addr + n,
				     .p = p,
				     .pid = pid,
				     .order = (uint32_t)c->images.n};

	if (n != TY_CODE_PAGE || addr % TY_CODE_PAGE || i.hi < addr)
		return -TY_EFORMAT;
	return c->images.n >= MAPS_MAX ? -TY_ELIMIT : vec_push(&c->images, i);
}

ORDER(by_space_time, struct ty_code_life,
      compare(a->space, b->space) ?: compare(a->from_ns, b->from_ns) ?:
      compare(a->order, b->order))

ORDER(by_pid_addr_time, struct ty_code_image_of,
      compare(a->pid, b->pid) ?: compare(a->lo, b->lo) ?: compare(a->t_ns, b->t_ns) ?:
      compare(a->order, b->order))

int ty_code_ready(struct ty_code *c)
{
	uint32_t *place = malloc((c->lives.n + 1) * sizeof(*place));

	if (!place)
		return -TY_ENOMEM;
	vec_sort(&c->images, by_pid_addr_time);
	vec_sort(&c->lives, by_space_time);
	for (uint32_t i = 0; i < c->lives.n; i++)
		place[c->lives.v[i].order] = i;
	vec_each (l, &c->lives)
		if (l->parent != TY_PAIR_NONE)
			l->parent = place[l->parent];
	free(place);
	return 0;
}

struct ty_bytes ty_code_file_bytes(struct ty_code *c, int file)
{
	struct ty_code_file *f;
	struct ty_bytes b;

	if (file < 0 || file >= (int)c->files.n)
		return (struct ty_bytes){0};
	f = &c->files.v[file];
	if (__atomic_load_n(&f->tried, __ATOMIC_ACQUIRE))
		return f->bytes;
	pthread_mutex_lock(&c->lock);
	if (!f->tried) {
		b = (struct ty_bytes){0};
		if (!c->load || c->load(c->ctx, f->name, f->build_id, f->build_id_n, &b))
			b = (struct ty_bytes){0};
		f->bytes = b;
		__atomic_store_n(&f->tried, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&c->lock);
	return f->bytes;
}

void ty_code_alone(struct ty_code *c, void (*call)(void *ctx), void *ctx)
{
	pthread_mutex_lock(&c->lock);
	call(ctx);
	pthread_mutex_unlock(&c->lock);
}

int ty_code_other(struct ty_code *c, const char *path, struct ty_bytes *out)
{
	int r;

	pthread_mutex_lock(&c->lock);
	r = c->load ? c->load(c->ctx, path, NULL, 0, out) : -TY_ENOTFOUND;
	pthread_mutex_unlock(&c->lock);
	return r;
}

const char *ty_code_file_name(const struct ty_code *c, int file)
{
	return file >= 0 && file < (int)c->files.n ? c->files.v[file].name : "?";
}
