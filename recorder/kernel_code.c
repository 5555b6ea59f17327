/* SPDX-License-Identifier: MIT */
/*
 * See kernel_code.h. The names determine where code is: each covers the range up to the next one,
 * at most a fixed length, in whole pages. One rule therefore covers the kernel's text, modules and
 * BPF programs, and only this much of a kernel's layout is assumed: code used only at boot, and
 * what follows the text, was freed and is in other use (linux arch/x86/mm/init.c free_initmem(),
 * init_64.c mark_rodata_ro()). Formats: proc(5), elf(5).
 */
#include "kernel_code.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"
#include "spool_file.h"
#include "vec.h"

enum { PAGE = 4096, REACH = 64 << 10, LINE = 1024, SEGMENTS_MAX = 60000 };

struct name {
	uint64_t addr;
	bool code;
};

struct stretch {
	uint64_t lo, hi, off; /* off: in the file it is read from */
};

typedef VEC(struct name) names;
typedef VEC(struct stretch) stretches;

ORDER(by_addr, struct name, compare(a->addr, b->addr))

ORDER(by_lo, struct stretch, compare(a->lo, b->lo))

static bool is_one_of(const char *name, const char *a, const char *b)
{
	return !strcmp(name, a) || !strcmp(name, b);
}

/* "ffffffff81000000 T _stext": kernel addresses only; hidden ones are 0. *cut: there are more than
 * there is room for. */
static int read_names(FILE *f, struct ty_buf *text, names *out, bool *cut)
{
	struct stretch init = {.lo = UINT64_MAX};
	char line[LINE], name[32], type;

	while (fgets(line, sizeof(line), f)) {
		char *end;
		uint64_t addr = strtoull(line, &end, 16);
		bool code;

		if (*end != ' ' || !(type = end[1]) || !(addr >> 63))
			continue;
		if (text->len >= TY_KERNEL_CODE_MAX) {
			*cut = true;
			break;
		}
		code = strchr("tTwW", type);
		if (sscanf(end + 2, " %31[^\n]", name) != 1)
			*name = 0;
		if (is_one_of(name, "__init_begin", "_sinittext") && addr < init.lo)
			init.lo = addr;
		if (is_one_of(name, "__init_end", "_einittext") && addr > init.hi)
			init.hi = addr;
		code &= !is_one_of(name, "_etext", "_einittext"); /* nothing begins there */
		if (vec_push(out, (struct name){addr, code}) || (code && ty_buf_adds(text, line)))
			return -TY_ENOMEM;
	}
	vec_each (n, out)
		n->code &= n->addr < init.lo || n->addr >= init.hi;
	vec_sort(out, by_addr);
	return 0;
}

/* The pages that hold code, by names in order. */
static int find_code(const names *n, stretches *out)
{
	for (size_t i = 0, k; i < n->n; i = k) {
		uint64_t lo = n->v[i].addr, hi;
		bool code = false;

		for (k = i; k < n->n && n->v[k].addr == lo; k++)
			code |= n->v[k].code;
		if (!code)
			continue;
		hi = UINT64_MAX - lo < REACH ? UINT64_MAX : lo + REACH;
		if (k < n->n && n->v[k].addr < hi)
			hi = n->v[k].addr;
		lo &= -(uint64_t)PAGE;
		hi = hi > -(uint64_t)PAGE ? -(uint64_t)PAGE : (hi + PAGE - 1) & -(uint64_t)PAGE;
		if (out->n && lo <= out->v[out->n - 1].hi) {
			if (hi > out->v[out->n - 1].hi)
				out->v[out->n - 1].hi = hi;
		} else if (lo < hi && vec_push(out, (struct stretch){.lo = lo, .hi = hi})) {
			return -TY_ENOMEM;
		}
	}
	return 0;
}

/* The loadable segments of kcore, in order of their addresses. -TY_EFORMAT: it is none. */
static int read_segments(int fd, stretches *out)
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph;

	if (ty_pread(fd, &eh, sizeof(eh), 0) != sizeof(eh) || memcmp(eh.e_ident, ELFMAG, SELFMAG) ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_phentsize != sizeof(ph))
		return -TY_EFORMAT;
	for (unsigned i = 0; i < eh.e_phnum; i++) {
		if (eh.e_phoff > INT64_MAX / 2 ||
		    ty_pread(fd, &ph, sizeof(ph), eh.e_phoff + i * sizeof(ph)) != sizeof(ph))
			return -TY_EFORMAT;
		if (ph.p_type == PT_LOAD && ph.p_filesz && ph.p_offset <= INT64_MAX / 2 &&
		    ph.p_filesz <= UINT64_MAX - ph.p_vaddr &&
		    vec_push(out,
			     (struct stretch){ph.p_vaddr, ph.p_vaddr + ph.p_filesz, ph.p_offset}))
			return -TY_ENOMEM;
	}
	vec_sort(out, by_lo);
	return 0;
}

/* What of the code was left out. */
struct left_out {
	bool cut;	 /* there was no room for some */
	uint64_t unread; /* bytes */
};

/* Copies [lo, hi) of a segment, which follows what is there. Continues with the next page where one
 * cannot be read. */
static int copy(int fd, const struct stretch *segment, uint64_t lo, uint64_t hi, stretches *out,
		struct ty_buf *bytes, struct left_out *left)
{
	for (uint64_t at = lo, next; at < hi; at = next) {
		size_t n = hi - at < REACH ? hi - at : REACH;
		struct stretch *last = out->n ? &out->v[out->n - 1] : NULL;
		int64_t got;

		if (n > TY_KERNEL_CODE_MAX - bytes->len || out->n >= SEGMENTS_MAX) {
			left->cut = true;
			return 0;
		}
		if (ty_buf_reserve(bytes, n))
			return -TY_ENOMEM;
		got = ty_pread(fd, bytes->p + bytes->len, n, segment->off + (at - segment->lo));
		got = got < 0 ? 0 : got;
		if (got && at > lo && last && last->hi == at)
			last->hi += (uint64_t)got;
		else if (got && vec_push(out, (struct stretch){at, at + (uint64_t)got, bytes->len}))
			return -TY_ENOMEM;
		bytes->len += (size_t)got;
		next = at + n;
		if ((size_t)got < n) {
			next = (at + (uint64_t)got + PAGE) & -(uint64_t)PAGE;
			next = next < hi ? next : hi;
			left->unread += next - at - (uint64_t)got;
		}
	}
	return 0;
}

/* What of the code lies in a segment and can be read. */
static int copy_code(int fd, const stretches *code, const stretches *segments, stretches *out,
		     struct ty_buf *bytes, struct left_out *left)
{
	size_t s = 0;
	int r = 0;

	vec_each (c, code)
		for (s = s ? s - 1 : 0; s < segments->n && segments->v[s].lo < c->hi; s++) {
			const struct stretch *g = &segments->v[s];
			uint64_t lo = g->lo > c->lo ? g->lo : c->lo;
			uint64_t hi = g->hi < c->hi ? g->hi : c->hi;

			if (out->n && lo < out->v[out->n - 1].hi)
				lo = out->v[out->n - 1].hi; /* segments that overlap */
			if (lo < hi)
				r = copy(fd, g, lo, hi, out, bytes, left);
			if (r || left->cut)
				return r;
		}
	return 0;
}

static int write_head(const stretches *s, struct ty_buf *out)
{
	const Elf64_Ehdr eh = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					   ELFDATA2LSB, EV_CURRENT},
			       .e_type = ET_CORE,
			       .e_machine = EM_X86_64,
			       .e_version = EV_CURRENT,
			       .e_phoff = sizeof(eh),
			       .e_ehsize = sizeof(eh),
			       .e_phentsize = sizeof(Elf64_Phdr),
			       .e_phnum = (Elf64_Half)s->n};
	int r = ty_buf_add(out, &eh, sizeof(eh));

	vec_each (x, s) {
		const Elf64_Phdr ph = {.p_type = PT_LOAD,
				       .p_flags = PF_R | PF_X,
				       .p_offset = sizeof(eh) + s->n * sizeof(ph) + x->off,
				       .p_vaddr = x->lo,
				       .p_filesz = x->hi - x->lo,
				       .p_memsz = x->hi - x->lo};

		r = r ? r : ty_buf_add(out, &ph, sizeof(ph));
	}
	return r;
}

/* The address ranges of the code that the names cover. */
static int read_core(int fd, const names *n, struct ty_kernel_code *k, struct left_out *left)
{
	stretches code = {0}, segments = {0}, found = {0};
	int r;

	r = find_code(n, &code);
	r = r ? r : read_segments(fd, &segments);
	r = r ? r : copy_code(fd, &code, &segments, &found, &k->code, left);
	if (!r)
		r = found.n ? write_head(&found, &k->head) : -TY_EFORMAT;
	vec_fini(&code);
	vec_fini(&segments);
	vec_fini(&found);
	return r;
}

int ty_kernel_code_read(const char *kcore, const char *kallsyms, struct ty_kernel_code *k,
			char *why, size_t why_n)
{
	struct left_out left = {0};
	FILE *f = fopen(kallsyms, "re");
	names n = {0};
	int r, fd = -1;

	*k = (struct ty_kernel_code){0};
	ty_buf_init(&k->head, sizeof(Elf64_Ehdr) + SEGMENTS_MAX * sizeof(Elf64_Phdr));
	ty_buf_init(&k->code, TY_KERNEL_CODE_MAX);
	ty_buf_init(&k->names, TY_KERNEL_CODE_MAX + LINE);
	*why = 0;
	if (!f) {
		snprintf(why, why_n, "%s: %s", kallsyms, strerror(errno));
		return -TY_ENOTFOUND;
	}
	r = read_names(f, &k->names, &n, &left.cut);
	fclose(f);
	if (!r && !k->names.len) {
		snprintf(why, why_n, "%s hides the addresses (sysctl kernel.kptr_restrict)",
			 kallsyms);
		r = -TY_ENOTFOUND;
	} else if (!r && (fd = open(kcore, O_RDONLY | O_CLOEXEC)) < 0) {
		snprintf(why, why_n, "%s: %s", kcore, strerror(errno));
		r = -TY_ENOTFOUND;
	}
	if (!r)
		r = read_core(fd, &n, k, &left);
	if (fd >= 0)
		close(fd);
	vec_fini(&n);
	if (r == -TY_EFORMAT) {
		snprintf(why, why_n, "%s has none of the code that %s lists", kcore, kallsyms);
		r = -TY_ENOTFOUND;
	} else if (r && !*why) {
		snprintf(why, why_n, "out of memory");
	} else if (!r && left.unread) {
		snprintf(why, why_n, "%" PRIu64 " KB of %s cannot be read",
			 (left.unread + 1023) / 1024, kcore);
	} else if (!r && left.cut) {
		snprintf(why, why_n, "code and names are limited to %u MB each",
			 TY_KERNEL_CODE_MAX >> 20);
	}
	return r;
}

void ty_kernel_code_fini(struct ty_kernel_code *k)
{
	ty_buf_fini(&k->head);
	ty_buf_fini(&k->code);
	ty_buf_fini(&k->names);
}
