/* SPDX-License-Identifier: MIT */
/* See symbol_list.h. A kernel symbol extends to the next one, at most 1 MB. */
#include "symbol_list.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "compare.h"
#include "partition.h"
#include "vec.h"

enum { NAMES_LIMIT = 1 << 30, ENTRIES_MAX = 1 << 24, KERNEL_MAX = 1 << 20, BACK = 8 };

struct entry {
	uint64_t start, size;
	uint32_t name, order;
	bool doubt; /* another one has some of its addresses */
};

struct ty_symbol_list {
	VEC(struct entry) v;
	struct ty_buf names;
	bool failed;
};

/* A hexadecimal number before p[n); 0: there is none. */
static size_t hex(const char *p, size_t n, uint64_t *out)
{
	size_t i = n > 2 && p[0] == '0' && (p[1] | 32) == 'x' ? 2 : 0, digits = 0;

	for (*out = 0; i < n && digits <= 16; i++, digits++) {
		unsigned c = (unsigned char)p[i] | 32;

		if (p[i] >= '0' && p[i] <= '9')
			*out = *out << 4 | (c - '0');
		else if (c >= 'a' && c <= 'f')
			*out = *out << 4 | (c - 'a' + 10);
		else
			break;
	}
	return digits && digits <= 16 ? i : 0;
}

static void add(struct ty_symbol_list *l, uint64_t start, uint64_t size, const char *name, size_t n)
{
	struct entry e = {.start = start,
			  .size = size,
			  .name = (uint32_t)l->names.len,
			  .order = (uint32_t)l->v.n};

	if (!n || start + size < start || l->v.n >= ENTRIES_MAX)
		return;
	l->failed |= ty_buf_add(&l->names, name, n) || ty_buf_addc(&l->names, '?') ||
		     ty_buf_addc(&l->names, 0) || vec_push(&l->v, e);
}

static void perf_line(struct ty_symbol_list *l, const char *p, size_t n)
{
	uint64_t start, size;
	size_t a = hex(p, n, &start), b;

	if (!a || a == n || p[a] != ' ')
		return;
	b = hex(p + a + 1, n - a - 1, &size);
	if (b && size && a + 1 + b < n && p[a + 1 + b] == ' ')
		add(l, start, size, p + a + b + 2, n - a - b - 2);
}

static void kernel_line(struct ty_symbol_list *l, const char *p, size_t n)
{
	uint64_t start;
	size_t a = hex(p, n, &start);

	/* All zeros: hidden from a reader without the permission. */
	if (!a || n < a + 4 || p[a] != ' ' || p[a + 2] != ' ' || !start ||
	    !strchr("tTwWi", p[a + 1]))
		return;
	p += a + 3;
	n -= a + 3;
	for (a = 0; a < n && p[a] != '\t' && p[a] != ' ';)
		a++;
	add(l, start, 0, p, a);
}

ORDER(by_start, struct entry, compare(a->start, b->start) ?: compare(a->order, b->order))

static const char *name_of(const struct ty_symbol_list *l, const struct entry *e)
{
	return l->names.p + e->name;
}

/* Functions of different names at one address; equal lines are one. */
static void find_doubts(struct ty_symbol_list *l)
{
	struct entry *far = NULL; /* that reaches farthest so far */
	size_t n = 0;

	for (size_t i = 0; i < l->v.n; i++) {
		struct entry *e = &l->v.v[i], *last = n ? &l->v.v[n - 1] : NULL;

		if (last && last->start == e->start && last->size == e->size &&
		    !strcmp(name_of(l, last), name_of(l, e)))
			continue;
		l->v.v[n++] = *e;
	}
	l->v.n = n;
	vec_each (e, &l->v) {
		if (far && e->start < far->start + far->size)
			e->doubt = far->doubt = true;
		if (!far || e->start + e->size > far->start + far->size)
			far = e;
	}
}

/* One name of an address is enough: the first. It reaches to the next address. */
static void kernel_sizes(struct ty_symbol_list *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->v.n; i++)
		if (!n || l->v.v[n - 1].start != l->v.v[i].start)
			l->v.v[n++] = l->v.v[i];
	l->v.n = n;
	for (size_t i = 0; i < n; i++) {
		uint64_t left = i + 1 < n ? l->v.v[i + 1].start - l->v.v[i].start : KERNEL_MAX;

		l->v.v[i].size = left < KERNEL_MAX ? left : KERNEL_MAX;
	}
}

struct ty_symbol_list *ty_symbol_list_new(const char *text, size_t n, enum ty_symbol_list_kind kind)
{
	struct ty_symbol_list *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	ty_buf_init(&l->names, NAMES_LIMIT);
	while (n && !l->failed) {
		const char *end = memchr(text, '\n', n);
		size_t len = end ? (size_t)(end - text) : n;

		if (!memchr(text, 0, len)) {
			if (kind == TY_NAMES_KALLSYMS)
				kernel_line(l, text, len);
			else
				perf_line(l, text, len);
		}
		text += len + (end != NULL);
		n -= len + (end != NULL);
	}
	if (l->failed) {
		ty_symbol_list_free(l);
		return NULL;
	}
	vec_sort(&l->v, by_start);
	if (kind == TY_NAMES_KALLSYMS)
		kernel_sizes(l);
	else
		find_doubts(l);
	/* The question mark is there for those in doubt alone. */
	vec_each (e, &l->v)
		if (!e->doubt)
			l->names.p[e->name + strlen(name_of(l, e)) - 1] = 0;
	return l;
}

void ty_symbol_list_free(struct ty_symbol_list *l)
{
	if (!l)
		return;
	vec_fini(&l->v);
	ty_buf_fini(&l->names);
	free(l);
}

size_t ty_symbol_list_count(const struct ty_symbol_list *l)
{
	return l->v.n;
}

bool ty_symbol_list_find(const struct ty_symbol_list *l, uint64_t addr, const char **name,
			 uint64_t *start, uint64_t *size)
{
	size_t lo = partition_point(i, 0, l->v.n, l->v.v[i].start <= addr);

	/* A few may begin inside a larger one that continues behind them. */
	for (unsigned k = 0; k < BACK && lo > k; k++) {
		const struct entry *e = &l->v.v[lo - 1 - k];

		if (addr - e->start >= e->size)
			continue;
		*name = name_of(l, e);
		*start = e->start;
		*size = e->size;
		return true;
	}
	return false;
}
