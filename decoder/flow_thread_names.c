/* SPDX-License-Identifier: MIT */
/* See flow.h: names of threads over time, from the recording's own records. */
#include "flow_priv.h"

#include "compare.h"
#include "partition.h"

#include <stdlib.h>
#include <string.h>

/* Forks that lie between a thread and the one whose name it has. */
enum { FORKS_MAX = 64 };
/* A compressed file may describe a thousand times more data than its size. */
enum { COMMS_MAX = 1 << 24 };

static int put(struct ty_flow *f, struct ty_flow_comm c)
{
	c.order = (uint32_t)f->comms.n;
	return f->comms.n >= COMMS_MAX ? -TY_ELIMIT : vec_push(&f->comms, c);
}

int ty_flow_comm(struct ty_flow *f, int32_t tid, uint64_t t_ns, const char *name)
{
	uint32_t id;

	if (!f->comm_names)
		f->comm_names = ty_strtab_new();
	id = f->comm_names ? ty_strtab_add(f->comm_names, name, strlen(name)) : UINT32_MAX;
	if (id == UINT32_MAX)
		return -TY_ENOMEM;
	return put(f, (struct ty_flow_comm){.t_ns = t_ns, .tid = tid, .parent = -1, .name = id});
}

int ty_flow_fork(struct ty_flow *f, int32_t tid, int32_t parent, uint64_t t_ns)
{
	if (tid == parent)
		return 0;
	return put(f, (struct ty_flow_comm){.t_ns = t_ns, .tid = tid, .parent = parent});
}

ORDER(by_tid_time, struct ty_flow_comm,
      compare(a->tid, b->tid) ?: compare(a->t_ns, b->t_ns) ?: compare(a->order, b->order))

void ty_flow_comms_ready(struct ty_flow *f)
{
	vec_sort(&f->comms, by_tid_time);
}

const char *ty_flow_comm_at(const struct ty_flow *f, int32_t tid, uint64_t t_ns, uint64_t *until_ns)
{
	const struct ty_flow_comm *v = f->comms.v;

	*until_ns = UINT64_MAX;
	for (unsigned forks = 0; forks < FORKS_MAX; forks++) {
		size_t lo = partition_point(
			i, 0, f->comms.n, v[i].tid < tid || (v[i].tid == tid && v[i].t_ns <= t_ns));

		if (!forks && lo < f->comms.n && v[lo].tid == tid)
			*until_ns = v[lo].t_ns;
		/* Before its first name: the one that it is first seen with. */
		if (!lo || v[lo - 1].tid != tid) {
			if (lo == f->comms.n || v[lo].tid != tid)
				return NULL;
			lo++;
		}
		if (v[lo - 1].parent < 0)
			return ty_strtab_get(f->comm_names, v[lo - 1].name);
		tid = v[lo - 1].parent;
		t_ns = v[lo - 1].t_ns;
	}
	return NULL;
}
