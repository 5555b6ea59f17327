/* SPDX-License-Identifier: MIT */
/* See code_map.h: the queries. */
#include <elf.h>
#include <string.h>

#include "code_priv.h"
#include "partition.h"

enum {
	FORKS_MAX = 64, /* between an address space and that which has the mapping */
	LATER_MAX = 64, /* changes at an address that are searched for a first mapping */
};

/* The range of addresses and time for which a result is valid. */
struct holds {
	uint64_t lo, hi, from_ns, until_ns;
};

static void narrow(struct holds *h, const struct ty_code_piece *p, bool timed)
{
	if (p->lo > h->lo)
		h->lo = p->lo;
	if (p->hi < h->hi)
		h->hi = p->hi;
	if (timed && p->from_ns > h->from_ns)
		h->from_ns = p->from_ns;
	if (timed && p->until_ns < h->until_ns)
		h->until_ns = p->until_ns;
}

/* The last life of the space that began at or before t (or its first), and until when it lasts. */
static struct ty_code_life *life_at(const struct ty_code *c, int64_t space, uint64_t t_ns,
				    uint64_t *until_ns)
{
	struct ty_code_life *l = c->lives.v;
	const size_t lo = partition_point(k, 0, c->lives.n,
					  l[k].space < space ||
						  (l[k].space == space && l[k].from_ns <= t_ns));

	*until_ns = lo < c->lives.n && c->lives.v[lo].space == space ? c->lives.v[lo].from_ns
								     : UINT64_MAX;
	if (lo && c->lives.v[lo - 1].space == space)
		return &c->lives.v[lo - 1];
	/* A little before its first: the clocks of two sources do not agree to the nanosecond. */
	return lo < c->lives.n && c->lives.v[lo].space == space ? &c->lives.v[lo] : NULL;
}

/* The mapping of an address space that holds addr at a time; NULL: none. h is narrowed to where and
 * when that is so. */
static const struct ty_code_mapping *mapping_at(struct ty_code *c, int64_t space, uint64_t t_ns,
						uint64_t addr, struct holds *h)
{
	uint64_t until, at = t_ns;
	struct ty_code_life *l = life_at(c, space, t_ns, &until);
	struct ty_code_piece p = {.hi = UINT64_MAX, .until_ns = until};

	if (l && l->from_ns <= t_ns)
		p.from_ns = l->from_ns;
	narrow(h, &p, true);
	for (unsigned forks = 0; l && forks < FORKS_MAX; forks++) {
		p = ty_code_index_at(ty_code_index_of(c, l), at, addr);
		narrow(h, &p, !forks);
		if (p.map != TY_CODE_HOLE)
			return &l->maps.v[p.map];
		if (l->parent == TY_PAIR_NONE)
			break;
		/* As the parent was when it forked. */
		at = l->from_ns;
		l = &c->lives.v[l->parent];
	}
	return NULL;
}

/* The mapping's bytes at addr into at; false when they cannot be had. */
static bool bytes_of(struct ty_code *c, const struct ty_code_mapping *m, const struct holds *h,
		     uint64_t addr, struct ty_code_at *at)
{
	struct ty_bytes b = ty_code_file_bytes(c, m->file);
	uint64_t left;

	if (m->off >= b.n || addr - m->lo >= b.n - m->off)
		return false;
	left = b.n - m->off;
	at->lo = h->lo > m->lo ? h->lo : m->lo;
	at->hi = h->hi < m->hi ? h->hi : m->hi;
	if (at->hi - m->lo > left)
		at->hi = m->lo + left;
	at->from_ns = h->from_ns;
	at->until_ns = h->until_ns;
	at->file = m->file;
	at->off = m->off + (at->lo - m->lo);
	at->p = b.p + at->off;
	return true;
}

/* The newest image of the page at time t, or the page's first one. */
static bool find_image(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr,
		       struct ty_code_at *at)
{
	const uint64_t page = addr & -(uint64_t)TY_CODE_PAGE;
	const struct ty_code_image_of *i = c->images.v;
	const size_t lo = partition_point(
		k, 0, c->images.n,
		i[k].pid < pid || (i[k].pid == pid &&
				   (i[k].lo < page || (i[k].lo == page && i[k].t_ns <= t_ns))));

	at->until_ns = UINT64_MAX;
	i = vec_at(&c->images, lo); /* the next one */
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

/* Until when the process is the same program and the pid is its own. */
static uint64_t life_end(const struct ty_code *c, int32_t pid, uint64_t t_ns)
{
	const int64_t space = ty_code_mapped(pid);
	uint64_t until;
	struct ty_code_life *l = life_at(c, space, t_ns, &until);

	/* Before its first life, or in one of which nothing is known (forked by an unknown
	 * process): use the following one. */
	if (l && until != UINT64_MAX &&
	    (l->from_ns > t_ns || (!l->maps.n && l->parent == TY_PAIR_NONE)))
		(void)life_at(c, space, until, &until);
	return until;
}

/*
 * The first mapping after t that covers addr, where there is none at t. Executed code was mapped,
 * but time stamps of packets lag behind (each packet has the last one before it); those of mappings
 * do not. Code of a JIT compiler replaces part of a mapping, which must be the same at t.
 */
static bool find_later(struct ty_code *c, int32_t pid, bool jitted, uint64_t t_ns, uint64_t addr,
		       struct ty_code_at *at)
{
	const int64_t space = jitted ? ty_code_jitted(pid) : ty_code_mapped(pid);
	const uint64_t end = life_end(c, pid, t_ns);
	struct holds h = {.hi = UINT64_MAX, .until_ns = UINT64_MAX}, any = h;
	const struct ty_code_mapping *m = mapping_at(c, space, t_ns, addr, &h), *was, *is;
	uint64_t t = t_ns;

	if (m)
		return false; /* its bytes cannot be had: no other's are right */
	for (unsigned i = 0; !m && h.until_ns < end && i < LATER_MAX; i++) {
		t = h.until_ns;
		/* No further than where nothing else is mapped before it. */
		h.from_ns = 0;
		h.until_ns = UINT64_MAX;
		m = mapping_at(c, space, t, addr, &h);
	}
	was = m && jitted ? mapping_at(c, ty_code_mapped(pid), t_ns, addr, &any) : NULL;
	is = was ? mapping_at(c, ty_code_mapped(pid), t, addr, &any) : NULL;
	if (!m || (was && (!is || is->file != was->file)) || !bytes_of(c, m, &h, addr, at))
		return false;
	at->from_ns = at->until_ns = t_ns; /* to be looked up again at another time */
	return true;
}

int32_t ty_code_program(const struct ty_code *c, int32_t pid, uint64_t t_ns)
{
	uint64_t until;
	const struct ty_code_life *l = life_at(c, pid, t_ns, &until);

	return l ? (int32_t)(l - c->lives.v) : -1;
}

/* A mapped file that is no program may be another one than what was mapped: what was given for this
 * address knows better. */
static bool find_given(struct ty_code *c, const struct ty_code_mapping *m, uint64_t t_ns,
		       uint64_t addr, struct holds h, struct ty_code_at *at)
{
	struct ty_bytes b = ty_code_file_bytes(c, m->file);
	const struct ty_code_mapping *g;

	if (b.n >= SELFMAG && !memcmp(b.p, ELFMAG, SELFMAG))
		return false;
	g = mapping_at(c, TY_CODE_GIVEN, t_ns, addr, &h);
	return g && bytes_of(c, g, &h, addr, at);
}

bool ty_code_find(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr,
		  struct ty_code_at *at)
{
	struct holds h = {.hi = UINT64_MAX, .until_ns = UINT64_MAX};
	const struct ty_code_mapping *m;

	if (c->images.n && find_image(c, pid, t_ns, addr, at))
		return true;
	at->pid = pid;
	m = pid < 0 ? NULL : mapping_at(c, ty_code_jitted(pid), t_ns, addr, &h);
	if (m && bytes_of(c, m, &h, addr, at))
		return true;
	m = pid < 0 ? NULL : mapping_at(c, ty_code_mapped(pid), t_ns, addr, &h);
	if (m && (find_given(c, m, t_ns, addr, h, at) || bytes_of(c, m, &h, addr, at)))
		return true;
	for (int32_t of = TY_CODE_EVERYBODY; of >= TY_CODE_CORE_FILES; of--) {
		m = mapping_at(c, of, t_ns, addr, &h);
		if (m && bytes_of(c, m, &h, addr, at))
			return true;
	}
	if (pid >= 0 &&
	    (find_later(c, pid, true, t_ns, addr, at) || find_later(c, pid, false, t_ns, addr, at)))
		return true;
	*at = (struct ty_code_at){0};
	return false;
}

void ty_code_where(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr,
		   struct ty_code_where *w)
{
	struct holds h = {.hi = UINT64_MAX, .until_ns = UINT64_MAX};
	const struct ty_code_mapping *m = NULL;

	if (w->known && w->pid == pid && addr >= w->lo && addr < w->hi && t_ns >= w->from_ns &&
	    t_ns < w->until_ns)
		return;
	if (pid >= 0)
		m = mapping_at(c, ty_code_jitted(pid), t_ns, addr, &h);
	if (pid >= 0 && !m)
		m = mapping_at(c, ty_code_mapped(pid), t_ns, addr, &h);
	for (int32_t of = TY_CODE_EVERYBODY; !m && of >= TY_CODE_CORE_FILES; of--)
		m = of == TY_CODE_CORE ? NULL : mapping_at(c, of, t_ns, addr, &h);
	*w = (struct ty_code_where){.known = true,
				    .pid = pid,
				    .lo = h.lo,
				    .hi = h.hi,
				    .from_ns = h.from_ns,
				    .until_ns = h.until_ns,
				    .file = m ? m->file : -1,
				    .bias = m ? m->off - m->lo : 0};
}

int ty_code_mapping_of(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr, uint64_t *off,
		       uint64_t *until_ns)
{
	struct ty_code_where w = {0};

	ty_code_where(c, pid, t_ns, addr, &w);
	*until_ns = w.until_ns;
	if (w.file >= 0)
		*off = addr + w.bias;
	return w.file;
}

size_t ty_code_read(struct ty_code *c, int32_t pid, uint64_t t_ns, uint64_t addr, void *buf,
		    size_t n, struct ty_code_at *at)
{
	size_t done = 0;

	while (done < n) {
		uint64_t a = addr + done, k;

		if (a < addr)
			break;
		if (!ty_code_is_at(at, pid, t_ns, a) && !ty_code_find(c, pid, t_ns, a, at))
			break;
		k = at->hi - a;
		if (k > n - done)
			k = n - done;
		memcpy((char *)buf + done, at->p + (a - at->lo), k);
		done += k;
	}
	return done;
}
