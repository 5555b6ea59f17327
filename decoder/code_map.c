/* SPDX-License-Identifier: MIT */
/*
 * See code_map.h. Lives (one per exec or fork of a process) are kept by pid and time; a life's
 * mappings by time. ELF: System V ABI, "ELF Header", "Program Header".
 */
#include "code_map.h"

#include <elf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "vec.h"

enum { FILES_MAX = 1 << 20, MAPS_MAX = 1 << 24, SEGMENTS_MAX = 65535, PAGE = 4096 };

struct file {
	char *name;
	uint8_t build_id[TY_BUILD_ID_MAX];
	uint8_t build_id_n;
	bool tried;
	struct ty_bytes bytes;
};

struct map {
	uint64_t t_ns, lo, hi, off;
	int file;
};

struct image {
	uint64_t t_ns, lo, hi;
	const uint8_t *p;
	int32_t pid;
	uint32_t order;
};

struct life {
	int32_t pid;
	uint32_t order; /* of equal pid and time, the later one wins */
	uint64_t from_ns;
	VEC(struct map) maps;
};

struct ty_code {
	ty_code_load *load;
	void *ctx;
	VEC(struct file) files;
	VEC(struct life) lives;
	VEC(struct image) images; /* by pid, address, time; all of one size and aligned to it */
	size_t maps_n;
	pthread_mutex_t lock; /* of loading */
};

struct ty_code *ty_code_new(ty_code_load *load, void *ctx)
{
	struct ty_code *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->load = load;
	c->ctx = ctx;
	pthread_mutex_init(&c->lock, NULL);
	return c;
}

void ty_code_free(struct ty_code *c)
{
	if (!c)
		return;
	vec_each (f, &c->files)
		free(f->name);
	vec_each (l, &c->lives)
		vec_fini(&l->maps);
	vec_fini(&c->files);
	vec_fini(&c->lives);
	vec_fini(&c->images);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static int add_file(struct ty_code *c, const char *name, const uint8_t *build_id, size_t n)
{
	struct file f = {.build_id_n = (uint8_t)(n > TY_BUILD_ID_MAX ? TY_BUILD_ID_MAX : n)};

	if (c->files.n >= FILES_MAX)
		return -TY_ELIMIT;
	f.name = strdup(name);
	if (!f.name)
		return -TY_ENOMEM;
	if (f.build_id_n)
		memcpy(f.build_id, build_id, f.build_id_n);
	if (vec_push(&c->files, f)) {
		free(f.name);
		return -TY_ENOMEM;
	}
	return (int)c->files.n - 1;
}

int ty_code_file(struct ty_code *c, const char *path, const uint8_t *build_id, size_t build_id_n)
{
	if (build_id_n > TY_BUILD_ID_MAX)
		build_id_n = TY_BUILD_ID_MAX;
	/* From the newest back: a process maps one file several times in a row. */
	for (size_t i = c->files.n; i-- > 0;) {
		const struct file *f = &c->files.v[i];

		if (f->build_id_n == build_id_n && !(f->tried && f->bytes.p) &&
		    !strcmp(f->name, path) &&
		    (!build_id_n || !memcmp(f->build_id, build_id, build_id_n)))
			return (int)i;
	}
	return add_file(c, path, build_id, build_id_n);
}

int ty_code_blob(struct ty_code *c, const char *name, const void *p, size_t n)
{
	int i = add_file(c, name, NULL, 0);

	if (i >= 0) {
		c->files.v[i].tried = true;
		c->files.v[i].bytes = (struct ty_bytes){.p = p, .n = n};
	}
	return i;
}

/* The life that a pid has at the end of what was added so far. */
static struct life *newest(struct ty_code *c, int32_t pid)
{
	for (size_t i = c->lives.n; i-- > 0;)
		if (c->lives.v[i].pid == pid)
			return &c->lives.v[i];
	return NULL;
}

static struct life *begin(struct ty_code *c, int32_t pid, uint64_t t_ns)
{
	struct life l = {.pid = pid, .from_ns = t_ns, .order = (uint32_t)c->lives.n};

	if (c->lives.n >= MAPS_MAX || vec_push(&c->lives, l))
		return NULL;
	return &c->lives.v[c->lives.n - 1];
}

int ty_code_map(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr, uint64_t len,
		uint64_t off, int file)
{
	struct life *l = newest(c, pid);
	struct map m = {.t_ns = t_ns, .lo = addr, .hi = addr + len, .off = off, .file = file};

	if (!len || addr + len < addr || off + len < off || file < 0 || file >= (int)c->files.n)
		return -TY_EFORMAT;
	if (c->maps_n >= MAPS_MAX)
		return -TY_ELIMIT;
	/* What a process is first seen with holds from the beginning. */
	if (!l)
		l = begin(c, pid, 0);
	if (!l)
		return -TY_ENOMEM;
	c->maps_n++;
	return vec_push(&l->maps, m);
}

int ty_code_exec(struct ty_code *c, int32_t pid, uint64_t t_ns)
{
	return begin(c, pid, t_ns) ? 0 : -TY_ENOMEM;
}

int ty_code_fork(struct ty_code *c, int32_t parent, int32_t pid, uint64_t t_ns)
{
	struct life *from, *l = begin(c, pid, t_ns);

	if (!l)
		return -TY_ENOMEM;
	from = newest(c, parent);
	if (!from || from == l || !from->maps.n)
		return 0;
	if (c->maps_n + from->maps.n > MAPS_MAX)
		return -TY_ELIMIT;
	if (vec_reserve(&l->maps, from->maps.n))
		return -TY_ENOMEM;
	memcpy(l->maps.v, from->maps.v, from->maps.n * sizeof(*from->maps.v));
	l->maps.n = from->maps.n;
	c->maps_n += from->maps.n;
	return 0;
}

int ty_code_image(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr, const void *p,
		  size_t n)
{
	struct image i = {.t_ns = t_ns,
			  .lo = addr,
			  .hi = addr + n,
			  .p = p,
			  .pid = pid,
			  .order = (uint32_t)c->images.n};

	if (n != PAGE || addr % PAGE || i.hi < addr)
		return -TY_EFORMAT;
	return c->images.n >= MAPS_MAX ? -TY_ELIMIT : vec_push(&c->images, i);
}

int ty_code_map_elf(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t base, int file,
		    struct ty_err *err)
{
	struct ty_bytes b = ty_code_file_bytes(c, file);
	const char *name = ty_code_file_name(c, file);
	uint64_t lowest = UINT64_MAX, delta;
	Elf64_Ehdr eh;
	Elf64_Phdr ph;

	if (b.n < sizeof(eh) || memcmp(b.p, ELFMAG, SELFMAG) || b.p[EI_CLASS] != ELFCLASS64 ||
	    b.p[EI_DATA] != ELFDATA2LSB)
		return ty_fail(err, TY_EFORMAT, 0,
			       "%s is not a 64-bit little-endian ELF file: give its place as "
			       "FILE@ADDRESS:OFFSET:SIZE",
			       name);
	memcpy(&eh, b.p, sizeof(eh));
	if (eh.e_phentsize != sizeof(ph) || eh.e_phoff > b.n ||
	    (uint64_t)eh.e_phnum * sizeof(ph) > b.n - eh.e_phoff)
		return ty_fail(err, TY_EFORMAT, eh.e_phoff,
			       "%s: its program headers lie outside the file", name);
	for (unsigned i = 0; i < eh.e_phnum; i++) {
		memcpy(&ph, b.p + eh.e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_LOAD && (ph.p_vaddr & -(uint64_t)PAGE) < lowest)
			lowest = ph.p_vaddr & -(uint64_t)PAGE;
	}
	delta = base ? base - lowest : 0;
	for (unsigned i = 0; i < eh.e_phnum; i++) {
		int r;

		memcpy(&ph, b.p + eh.e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type != PT_LOAD || !ph.p_filesz)
			continue;
		r = ty_code_map(c, pid, t_ns, ph.p_vaddr + delta, ph.p_filesz, ph.p_offset, file);
		if (r)
			return ty_fail(err, -r, eh.e_phoff, "%s: segment %u: %s", name, i,
				       ty_strerror(r));
	}
	return 0;
}

static int by_pid_time(const void *a, const void *b)
{
	const struct life *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_pid_addr_time(const void *a, const void *b)
{
	const struct image *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	if (x->t_ns != y->t_ns)
		return x->t_ns < y->t_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void ty_code_ready(struct ty_code *c)
{
	if (c->images.n)
		qsort(c->images.v, c->images.n, sizeof(*c->images.v), by_pid_addr_time);
	if (c->lives.n)
		qsort(c->lives.v, c->lives.n, sizeof(*c->lives.v), by_pid_time);
}

struct ty_bytes ty_code_file_bytes(struct ty_code *c, int file)
{
	struct file *f;
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

const char *ty_code_file_name(const struct ty_code *c, int file)
{
	return file >= 0 && file < (int)c->files.n ? c->files.v[file].name : "?";
}

int ty_code_files(const struct ty_code *c)
{
	return (int)c->files.n;
}

/* The last life of the pid that began at or before t (or its first), and until when it lasts. */
static struct life *life_at(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t *until_ns)
{
	size_t lo = 0, hi = c->lives.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		const struct life *l = &c->lives.v[mid];

		if (l->pid < pid || (l->pid == pid && l->from_ns <= t_ns))
			lo = mid + 1;
		else
			hi = mid;
	}
	*until_ns =
		lo < c->lives.n && c->lives.v[lo].pid == pid ? c->lives.v[lo].from_ns : UINT64_MAX;
	if (lo && c->lives.v[lo - 1].pid == pid)
		return &c->lives.v[lo - 1];
	/* A little before its first: the clocks of two sources do not agree to the nanosecond. */
	return lo < c->lives.n && c->lives.v[lo].pid == pid ? &c->lives.v[lo] : NULL;
}

/* Narrow [lo, hi) of `at` so that it does not reach into a newer mapping, and until_ns to the next
 * change of that stretch. */
static void narrow(struct life *l, const struct map *m, uint64_t t_ns, uint64_t addr,
		   struct ty_code_at *at)
{
	vec_each (o, &l->maps) {
		if (o == m || o->hi <= at->lo || o->lo >= at->hi)
			continue;
		if (o->t_ns > t_ns) {
			if (o->t_ns < at->until_ns)
				at->until_ns = o->t_ns;
		} else if (o > m) {
			if (o->lo <= addr && addr < o->hi)
				continue; /* newer, but its bytes cannot be had */
			if (o->hi <= addr && o->hi > at->lo)
				at->lo = o->hi;
			else if (o->lo > addr && o->lo < at->hi)
				at->hi = o->lo;
		}
	}
}

static bool find_in(struct ty_code *c, struct life *l, uint64_t t_ns, uint64_t addr,
		    struct ty_code_at *at)
{
	for (size_t i = l->maps.n; i-- > 0;) {
		const struct map *m = &l->maps.v[i];
		struct ty_bytes b;
		uint64_t left;

		if (m->t_ns > t_ns || addr < m->lo || addr >= m->hi)
			continue;
		b = ty_code_file_bytes(c, m->file);
		if (m->off >= b.n || addr - m->lo >= b.n - m->off)
			continue;
		left = b.n - m->off;
		at->lo = m->lo;
		at->hi = left < m->hi - m->lo ? m->lo + left : m->hi;
		at->from_ns = m->t_ns > l->from_ns ? m->t_ns : l->from_ns;
		at->file = m->file;
		narrow(l, m, t_ns, addr, at);
		at->off = m->off + (at->lo - m->lo);
		at->p = b.p + at->off;
		return true;
	}
	return false;
}

/* The newest image of the page at time t, or the page's first one. */
static bool find_image(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr,
		       struct ty_code_at *at)
{
	size_t lo = 0, hi = c->images.n;
	const uint64_t page = addr & -(uint64_t)PAGE;
	const struct image *i;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		i = &c->images.v[mid];
		if (i->pid < pid ||
		    (i->pid == pid && (i->lo < page || (i->lo == page && i->t_ns <= t_ns))))
			lo = mid + 1;
		else
			hi = mid;
	}
	at->until_ns = UINT64_MAX;
	i = c->images.v + lo; /* the next one */
	if (lo < c->images.n && i->pid == pid && i->lo == page)
		at->until_ns = i->t_ns;
	if (lo && i[-1].pid == pid && i[-1].lo == page)
		i--;
	else if (at->until_ns == UINT64_MAX)
		return false;
	at->lo = i->lo;
	at->hi = i->hi;
	at->p = i->p;
	at->from_ns = i->t_ns <= t_ns ? i->t_ns : t_ns;
	at->pid = pid;
	at->file = -1;
	at->off = 0;
	return true;
}

/*
 * The first mapping after t that covers addr. What was executed was mapped; the time stamps of
 * packets lag behind (each is that of the last one before), those of mappings do not.
 */
static bool find_later(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr,
		       struct ty_code_at *at)
{
	uint64_t until;
	struct life *l = life_at(c, pid, t_ns, &until), *end = c->lives.v + c->lives.n;

	for (; l && l < end && l->pid == pid; l++)
		vec_each (m, &l->maps) {
			uint64_t t = m->t_ns > l->from_ns ? m->t_ns : l->from_ns;

			at->until_ns = t;
			if (t <= t_ns || addr < m->lo || addr >= m->hi ||
			    !find_in(c, l, t, addr, at))
				continue;
			at->from_ns = at->until_ns = t_ns; /* to be asked again at another time */
			return true;
		}
	return false;
}

/* Is anything known of the process's own address space? */
static bool may_map(struct ty_code *c, int32_t pid)
{
	uint64_t until;

	return pid != TY_CODE_EVERYBODY && life_at(c, pid, 0, &until);
}

bool ty_code_find(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr,
		  struct ty_code_at *at)
{
	const int32_t pids[] = {pid, TY_CODE_EVERYBODY};

	if (c->images.n && find_image(c, pid, t_ns, addr, at))
		return true;
	for (unsigned i = pid == TY_CODE_EVERYBODY; i < 2; i++) {
		struct life *l = life_at(c, pids[i], t_ns, &at->until_ns);

		at->pid = pid;
		if (l && find_in(c, l, t_ns, addr, at)) {
			/* Found among everybody's: its own process may map it at any time. */
			if (i && may_map(c, pid) && !(addr >> 63))
				at->until_ns = t_ns;
			return true;
		}
	}
	if (pid != TY_CODE_EVERYBODY && find_later(c, pid, t_ns, addr, at))
		return true;
	*at = (struct ty_code_at){0};
	return false;
}

int ty_code_whose(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr, uint64_t *off)
{
	const int32_t pids[] = {pid, TY_CODE_EVERYBODY};

	for (unsigned i = pid == TY_CODE_EVERYBODY; i < 2; i++) {
		uint64_t until;
		struct life *l = life_at(c, pids[i], t_ns, &until);

		for (size_t k = l ? l->maps.n : 0; k-- > 0;) {
			const struct map *m = &l->maps.v[k];

			if (m->t_ns <= t_ns && addr >= m->lo && addr < m->hi) {
				*off = m->off + (addr - m->lo);
				return m->file;
			}
		}
	}
	return -1;
}

size_t ty_code_read(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr, void *buf,
		    size_t n, struct ty_code_at *at)
{
	size_t done = 0;

	while (done < n) {
		uint64_t a = addr + done, k;

		if (a < addr)
			break;
		if (!(at->p && at->pid == pid && a >= at->lo && a < at->hi && t_ns >= at->from_ns &&
		      t_ns < at->until_ns) &&
		    !ty_code_find(c, pid, t_ns, a, at))
			break;
		k = at->hi - a;
		if (k > n - done)
			k = n - done;
		memcpy((char *)buf + done, at->p + (a - at->lo), k);
		done += k;
	}
	return done;
}
