/* SPDX-License-Identifier: MIT */
/* See fd_shared_tables.h. Bounds: SLOTS_MAX descriptors in all; beyond them descriptors have no
 * name. */
#include "fd_shared_tables.h"

#include <stdlib.h>
#include <string.h>

#include "err.h"

#define FD_MAX	  (1u << 20)
#define SLOTS_MAX (4u << 20)

struct ty_fd_process *ty_fd_process_find(const struct ty_fd_processes *all, int32_t pid)
{
	uint32_t i = ty_pair_map_get(&all->by_pid, (uint32_t)pid, 0);

	return i == TY_PAIR_NONE ? NULL : &all->v.v[i];
}

struct ty_fd_process *ty_fd_process_add(struct ty_fd_processes *all, int32_t pid)
{
	return pair_element(&all->by_pid, (uint32_t)pid, 0, &all->v,
			    (struct ty_fd_process){.pid = pid});
}

void ty_fd_slots_drop(struct ty_fd_processes *all, struct ty_fd_process *p)
{
	struct ty_fd_slots *a = p->table;

	p->table = NULL;
	if (!a || --a->users)
		return;
	all->slots -= a->n;
	free(a->v);
	free(a);
}

struct ty_fd_slot *ty_fd_slot_add(struct ty_fd_processes *all, struct ty_fd_process *p, uint64_t fd)
{
	uint32_t n = 16;
	struct ty_fd_slot *v;

	if (fd >= FD_MAX)
		return NULL;
	if (!p->table) {
		p->table = calloc(1, sizeof(*p->table));
		if (!p->table)
			return NULL;
		p->table->users = 1;
	}
	if (fd < p->table->n)
		return &p->table->v[fd];
	while (n <= fd)
		n *= 2;
	v = all->slots + n - p->table->n <= SLOTS_MAX ? realloc(p->table->v, n * sizeof(*v)) : NULL;
	if (!v)
		return NULL;
	memset(v + p->table->n, 0, (n - p->table->n) * sizeof(*v));
	all->slots += n - p->table->n;
	*p->table = (struct ty_fd_slots){v, n, p->table->users};
	return &v[fd];
}

struct ty_fd_slot *ty_fd_slot_find(const struct ty_fd_process *p, uint64_t fd)
{
	struct ty_fd_slot *s = p && p->table && fd < p->table->n ? &p->table->v[fd] : NULL;

	return s && s->open ? s : NULL;
}

int ty_fd_slots_unshare(struct ty_fd_processes *all, struct ty_fd_process *p)
{
	struct ty_fd_slots *a = p->table, *b;

	if (!a || a->users < 2)
		return 0;
	p->table = NULL;
	a->users--;
	if (all->slots + a->n > SLOTS_MAX)
		return 0;
	b = calloc(1, sizeof(*b));
	if (b && a->n)
		b->v = malloc(a->n * sizeof(*b->v));
	if (!b || (a->n && !b->v)) {
		free(b);
		return -TY_ENOMEM;
	}
	if (a->n)
		memcpy(b->v, a->v, a->n * sizeof(*b->v));
	b->n = a->n;
	b->users = 1;
	all->slots += b->n;
	p->table = b;
	return 0;
}

void ty_fd_processes_fini(struct ty_fd_processes *all)
{
	vec_each (p, &all->v)
		ty_fd_slots_drop(all, p);
	vec_fini(&all->v);
	ty_pair_map_fini(&all->by_pid);
}
