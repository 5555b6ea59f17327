/* SPDX-License-Identifier: MIT */
/* See loader_find.h. Supports 64-bit little-endian ELF files, and the cache format since glibc 2.2
 * ("glibc-ld.so.cache1.1"). All values from a file are checked against its size. */
#include "loader_find.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unaligned.h"

enum { OBJECTS_MAX = 512, DYN_MAX = 4096, CACHE_ENTRY = 24, CACHE_HEAD = 48 };

struct file {
	const char *p;
	size_t n;
};

/* A program or library, and the object that requires it. */
struct object {
	char path[PATH_MAX];
	const struct object *by;
	struct file f;
	uint16_t machine;
	const char *rpath, *runpath; /* NULL: none */
	const Elf64_Dyn *dyn;
	size_t dyn_n;
	const char *strings;
	size_t strings_n;
};

static bool open_file(const char *path, struct file *f)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	void *p = MAP_FAILED;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	*f = (struct file){.p = p == MAP_FAILED ? NULL : p, .n = (size_t)st.st_size};
	return f->p;
}

static void close_file(struct file *f)
{
	if (f->p)
		munmap((void *)(uintptr_t)f->p, f->n);
	f->p = NULL;
}

/* n bytes at off; NULL: there are not as many. */
static const void *at(const struct file *f, uint64_t off, uint64_t n)
{
	return off <= f->n && n <= f->n - off ? f->p + off : NULL;
}

static const Elf64_Ehdr *head(const struct file *f)
{
	const Elf64_Ehdr *e = at(f, 0, sizeof(*e));

	return e && !memcmp(e->e_ident, ELFMAG, SELFMAG) && e->e_ident[EI_CLASS] == ELFCLASS64 &&
			       e->e_ident[EI_DATA] == ELFDATA2LSB &&
			       e->e_phentsize == sizeof(Elf64_Phdr) && !(e->e_phoff % 8)
		       ? e
		       : NULL;
}

/* The bytes of the file at an address, and their number; NULL: none. */
static const void *mapped(const struct file *f, const Elf64_Ehdr *e, uint64_t addr, size_t *n)
{
	const Elf64_Phdr *ph = at(f, e->e_phoff, (uint64_t)e->e_phnum * sizeof(*ph));

	for (unsigned i = 0; ph && i < e->e_phnum; i++) {
		if (ph[i].p_type != PT_LOAD || addr < ph[i].p_vaddr ||
		    addr - ph[i].p_vaddr >= ph[i].p_filesz ||
		    !at(f, ph[i].p_offset, ph[i].p_filesz))
			continue;
		*n = ph[i].p_filesz - (addr - ph[i].p_vaddr);
		return f->p + ph[i].p_offset + (addr - ph[i].p_vaddr);
	}
	return NULL;
}

static const char *text(const struct object *o, uint64_t off)
{
	return off < o->strings_n && memchr(o->strings + off, 0, o->strings_n - off)
		       ? o->strings + off
		       : NULL;
}

/* Open o->path. False: it is none that can be loaded. */
static bool open_object(struct object *o)
{
	const Elf64_Ehdr *e;
	const Elf64_Phdr *ph;

	if (!open_file(o->path, &o->f))
		return false;
	e = head(&o->f);
	ph = e ? at(&o->f, e->e_phoff, (uint64_t)e->e_phnum * sizeof(*ph)) : NULL;
	if (!ph) {
		close_file(&o->f);
		return false;
	}
	o->machine = e->e_machine;
	for (unsigned i = 0; i < e->e_phnum; i++)
		if (ph[i].p_type == PT_DYNAMIC && !(ph[i].p_offset % 8)) {
			o->dyn = at(&o->f, ph[i].p_offset, ph[i].p_filesz);
			o->dyn_n = o->dyn ? ph[i].p_filesz / sizeof(*o->dyn) : 0;
			o->dyn_n = o->dyn_n < DYN_MAX ? o->dyn_n : DYN_MAX;
		}
	for (size_t i = 0; i < o->dyn_n; i++)
		if (o->dyn[i].d_tag == DT_STRTAB)
			o->strings = mapped(&o->f, e, o->dyn[i].d_un.d_ptr, &o->strings_n);
	if (!o->strings)
		o->strings_n = 0;
	for (size_t i = 0; i < o->dyn_n && o->dyn[i].d_tag != DT_NULL; i++) {
		if (o->dyn[i].d_tag == DT_RPATH)
			o->rpath = text(o, o->dyn[i].d_un.d_val);
		if (o->dyn[i].d_tag == DT_RUNPATH)
			o->runpath = text(o, o->dyn[i].d_un.d_val);
	}
	return true;
}

static bool can_be(const char *path, uint16_t machine)
{
	const Elf64_Ehdr *e;
	struct file f;
	bool good;

	if (!open_file(path, &f))
		return false;
	e = head(&f);
	good = e && e->e_machine == machine;
	close_file(&f);
	return good;
}

/* dir, of which $ORIGIN is the folder of the object, into out with the name behind it. */
static void expand(const struct object *o, const char *dir, size_t n, const char *name,
		   char out[PATH_MAX])
{
	static const char *const origin[] = {"$ORIGIN", "${ORIGIN}"};
	char real[PATH_MAX];
	const char *slash;

	for (unsigned i = 0; i < 2; i++) {
		size_t k = strlen(origin[i]);

		if (n < k || strncmp(dir, origin[i], k))
			continue;
		if (!realpath(o->path, real))
			break;
		slash = strrchr(real, '/');
		snprintf(out, PATH_MAX, "%.*s%.*s/%s", (int)(slash - real), real, (int)(n - k),
			 dir + k, name);
		return;
	}
	snprintf(out, PATH_MAX, "%.*s/%s", (int)n, n ? dir : "", name);
}

/* In folders with ':' (or ';') between them; an empty one is the working folder. */
static bool in_folders(const struct object *o, const char *dirs, const char *name, uint16_t machine,
		       char path[PATH_MAX])
{
	for (; dirs; dirs = *dirs ? dirs + 1 : NULL) {
		size_t n = strcspn(dirs, ":;");

		expand(o, n ? dirs : ".", n ? n : 1, name, path);
		if (can_be(path, machine))
			return true;
		dirs += n;
	}
	return false;
}

static const char *cache_text(const struct file *f, size_t base, uint32_t off)
{
	const char *s = at(f, base + (uint64_t)off, 1);

	return s && memchr(s, 0, f->n - base - off) ? s : NULL;
}

static bool in_cache(const char *cache, const char *name, uint16_t machine, char path[PATH_MAX])
{
	static const char magic[] = "glibc-ld.so.cache1.1";
	struct file f;
	const char *head;
	size_t base = 0;
	bool found = false;

	if (!open_file(cache, &f))
		return false;
	/* The older form may precede it. */
	head = memmem(f.p, f.n, magic, sizeof(magic) - 1);
	base = head ? (size_t)(head - f.p) : 0;
	if (head && at(&f, base, CACHE_HEAD)) {
		uint32_t n = ty_u32_at(head + 20);

		for (uint32_t i = 0; i < n && !found; i++) {
			const char *e =
				at(&f, base + CACHE_HEAD + (uint64_t)i * CACHE_ENTRY, CACHE_ENTRY);
			const char *key = e ? cache_text(&f, base, ty_u32_at(e + 4)) : NULL;
			const char *value = key ? cache_text(&f, base, ty_u32_at(e + 8)) : NULL;
			uint64_t hwcap = 0;

			if (!value)
				break;
			memcpy(&hwcap, e + 16, sizeof(hwcap));
			if (hwcap || strcmp(key, name) || !can_be(value, machine))
				continue;
			snprintf(path, PATH_MAX, "%s", value);
			found = true;
		}
	}
	close_file(&f);
	return found;
}

/* Resolves a name as o requires it. */
static bool resolve(const struct object *o, const char *name, const char *cache,
		    char path[PATH_MAX])
{
	static const char system[] = "/lib64:/usr/lib64:/lib:/usr/lib";

	if (strchr(name, '/')) {
		snprintf(path, PATH_MAX, "%s", name);
		return can_be(path, o->machine);
	}
	for (const struct object *by = o; by && !o->runpath; by = by->by)
		if (!by->runpath && in_folders(by, by->rpath, name, o->machine, path))
			return true;
	return in_folders(o, getenv("LD_LIBRARY_PATH"), name, o->machine, path) ||
	       in_folders(o, o->runpath, name, o->machine, path) ||
	       in_cache(cache ? cache : "/etc/ld.so.cache", name, o->machine, path) ||
	       in_folders(o, system, name, o->machine, path);
}

bool ty_loader_find(const char *program, const char *name, const char *cache, char path[PATH_MAX])
{
	struct object *all = calloc(OBJECTS_MAX, sizeof(*all));
	size_t n = 1, done;
	bool found = false;

	if (!all)
		return false;
	snprintf(all[0].path, sizeof(all[0].path), "%s", program);
	if (!open_object(&all[0]))
		n = 0;
	/* Breadth first, as the loader goes: the first of a name is the one. */
	for (done = 0; done < n && !found; done++) {
		struct object *o = &all[done];

		for (size_t i = 0; i < o->dyn_n && o->dyn[i].d_tag != DT_NULL && !found; i++) {
			const char *need =
				o->dyn[i].d_tag == DT_NEEDED ? text(o, o->dyn[i].d_un.d_val) : NULL;
			struct object *next = &all[n];
			bool known =
				!need || n == OBJECTS_MAX || !resolve(o, need, cache, next->path);

			found = !known && !strcmp(need, name);
			if (found)
				snprintf(path, PATH_MAX, "%s", next->path);
			for (size_t k = 0; k < n && !known; k++)
				known = !strcmp(all[k].path, next->path);
			if (known || found)
				continue;
			next->by = o;
			n += open_object(next);
		}
	}
	found = found || (n && resolve(&all[0], name, cache, path));
	for (size_t i = 0; i < n; i++)
		close_file(&all[i].f);
	free(all);
	return found;
}
