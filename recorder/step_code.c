/* SPDX-License-Identifier: MIT */
/*
 * See step_code.h. Budget: the step itself costs 20 us and more; a read-only page mapped from a
 * file is read once, any other before each instruction (1 us).
 */
#include "step_code.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "build_id.h"
#include "hash_index.h"
#include "perf_write.h"
#include "vec.h"

enum { PAGE = 4096, CODE_MAX = 16, PATH_BYTES = 4200 };

struct map {
	uint64_t lo, hi, off, dev, ino;
	bool stable; /* of a file, and not writable */
};

struct page {
	uint64_t addr;
	bool stable;
	uint8_t *bytes;
	bool imaged;
};

struct ty_step_mm {
	pid_t pid, tid; /* tid: a stopped thread of it, which exists even if the first one has
			   exited */
	uint64_t since_ns;
	VEC(struct map) maps;
	VEC(struct page) pages;
	struct ty_hash_index by_addr; /* of pages */
};

struct ty_step_mm *ty_step_mm_new(pid_t pid, uint64_t now_ns)
{
	struct ty_step_mm *mm = calloc(1, sizeof(*mm));

	if (!mm)
		return NULL;
	mm->pid = mm->tid = pid;
	mm->since_ns = now_ns;
	return mm;
}

void ty_step_mm_free(struct ty_step_mm *mm)
{
	if (!mm)
		return;
	vec_each (p, &mm->pages)
		free(p->bytes);
	vec_fini(&mm->pages);
	ty_hash_fini(&mm->by_addr);
	vec_fini(&mm->maps);
	free(mm);
}

static bool known(const struct ty_step_mm *mm, const struct map *m)
{
	vec_each (o, &mm->maps)
		if (o->lo == m->lo && o->hi == m->hi && o->off == m->off && o->ino == m->ino &&
		    o->dev == m->dev)
			return true;
	return false;
}

static const struct map *map_at(const struct ty_step_mm *mm, uint64_t addr)
{
	vec_each (m, &mm->maps)
		if (addr >= m->lo && addr < m->hi)
			return m;
	return NULL;
}

void ty_step_mm_maps(struct ty_step_mm *mm, pid_t tid, struct ty_step_out *out, uint64_t now_ns)
{
	struct ty_perf_where w = {.pid = mm->pid, .tid = mm->pid, .time_ns = now_ns};
	struct ty_step_mm fresh = {0};
	static char line[PATH_BYTES];
	char path[64];
	FILE *f;

	mm->tid = tid;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		unsigned maj, min;
		char prot[8];
		int name = 0;
		uint8_t id[20];
		unsigned id_n;
		struct map m;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n",
			   &m.lo, &m.hi, prot, &m.off, &maj, &min, &m.ino, &name) < 7 ||
		    !name || prot[2] != 'x')
			continue;
		m.dev = makedev(maj, min);
		m.stable = m.ino && prot[1] != 'w';
		line[strcspn(line, "\n")] = 0;
		if (vec_push(&fresh.maps, m))
			break;
		if (known(mm, &m))
			continue;
		if (!m.ino)
			m.off = 0;
		id_n = m.ino ? ty_file_build_id(line + name, id) : 0;
		ty_perf_put_mmap2(&out->perf, &w, m.lo, m.hi - m.lo, m.off, PROT_READ | PROT_EXEC,
				  id, id_n, line[name] ? line + name : "//anon");
	}
	if (f)
		fclose(f);
	if (!fresh.maps.n)
		return; /* it has ended; what was read of it is kept */
	vec_fini(&mm->maps);
	mm->maps.v = fresh.maps.v;
	mm->maps.n = fresh.maps.n;
	mm->maps.cap = fresh.maps.cap;
	/* What was stable may have been mapped anew or made writable. */
	vec_each (p, &mm->pages)
		p->stable = false;
}

bool ty_step_mm_known(const struct ty_step_mm *mm)
{
	return mm->maps.n;
}

uint64_t ty_step_mm_where(const struct ty_step_mm *mm, uint64_t dev, uint64_t ino, uint64_t off)
{
	vec_each (m, &mm->maps)
		if (m->ino == ino && m->dev == dev && off >= m->off && off - m->off < m->hi - m->lo)
			return m->lo + (off - m->off);
	return 0;
}

static struct page *page_of(struct ty_step_mm *mm, uint64_t addr)
{
	uint32_t key = ty_hash_mix(addr);
	struct page p = {.addr = addr};

	hash_each (i, &mm->by_addr, key)
		if (mm->pages.v[i].addr == addr)
			return &mm->pages.v[i];
	p.bytes = malloc(PAGE);
	if (!p.bytes || vec_reserve(&mm->pages, mm->pages.n + 1) ||
	    ty_hash_add(&mm->by_addr, key, (uint32_t)mm->pages.n)) {
		free(p.bytes);
		return NULL;
	}
	mm->pages.v[mm->pages.n] = p;
	return &mm->pages.v[mm->pages.n++];
}

static size_t peek(const struct ty_step_mm *mm, uint64_t addr, void *dst, size_t n)
{
	struct iovec to = {dst, n}, from = {(void *)(uintptr_t)addr, n};
	ssize_t r = process_vm_readv(mm->tid, &to, 1, &from, 1, 0);
	char path[64];
	int fd;

	if (r == (ssize_t)n)
		return n;
	/* Pages that may only be executed, as a debugger reads them. */
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)mm->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	r = pread(fd, dst, n, (off_t)addr);
	close(fd);
	return r > 0 ? (size_t)r : 0;
}

static void put_image(struct ty_step_mm *mm, struct ty_step_out *out, uint64_t t_ns,
		      const struct page *p)
{
	ty_buf_addle(&out->code, t_ns, 8);
	ty_buf_addle(&out->code, p->addr, 8);
	ty_buf_addle(&out->code, (uint32_t)mm->pid, 4);
	ty_buf_addle(&out->code, PAGE, 4);
	ty_buf_add(&out->code, p->bytes, PAGE);
}

/* The bytes [ip, ip + n) within one page, up to date in the cache. False: cannot be read. */
static bool look(struct ty_step_mm *mm, struct ty_step_out *out, uint64_t now_ns, uint64_t ip,
		 size_t n, uint8_t *code, bool *changed)
{
	uint64_t addr = ip & -(uint64_t)PAGE;
	struct page *p = page_of(mm, addr);
	const struct map *m;
	bool fresh;

	if (!p)
		return false;
	fresh = !p->imaged;
	if (!p->stable || fresh) {
		uint8_t now[PAGE];
		bool can = peek(mm, ip, now, n) == n;

		/* Without its bytes there is no image: the decoder uses the file's, or reports a
		 * gap. */
		if (!can && fresh)
			return false;
		if (fresh || (can && memcmp(now, p->bytes + (ip - addr), n))) {
			if (peek(mm, addr, now, PAGE) != PAGE)
				return false;
			memcpy(p->bytes, now, PAGE);
			p->imaged = true;
			put_image(mm, out, fresh ? mm->since_ns : now_ns, p);
			*changed |= !fresh;
		}
		m = map_at(mm, ip);
		/* Only pages that a comparison of the whole page has confirmed are not read
		 * again. */
		if (m && m->stable && !fresh) {
			uint8_t *whole = malloc(PAGE);

			if (whole && peek(mm, addr, whole, PAGE) == PAGE &&
			    memcmp(whole, p->bytes, PAGE)) {
				memcpy(p->bytes, whole, PAGE);
				put_image(mm, out, now_ns, p);
				*changed = true;
			}
			free(whole);
		}
		p->stable = m && m->stable;
	}
	memcpy(code, p->bytes + (ip - addr), n);
	return true;
}

size_t ty_step_mm_code(struct ty_step_mm *mm, pid_t tid, struct ty_step_out *out, uint64_t now_ns,
		       uint64_t ip, uint8_t code[16], bool *changed)
{
	size_t first = PAGE - (ip & (PAGE - 1));

	*changed = false;
	mm->tid = tid;
	if (first > CODE_MAX)
		first = CODE_MAX;
	if (!look(mm, out, now_ns, ip, first, code, changed))
		return 0;
	/* The instruction may reach into the next page, or that may not be there. */
	if (first < CODE_MAX && map_at(mm, ip + first) &&
	    look(mm, out, now_ns, ip + first, CODE_MAX - first, code + first, changed))
		return CODE_MAX;
	return first;
}
