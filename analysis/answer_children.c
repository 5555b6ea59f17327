/* SPDX-License-Identifier: MIT */
/*
 * A command's time by process: time of its own, and time in children, down to the process with most
 * of it. Time behind a wait for a process outside of the command's tree counts for the waiter.
 */
#include "answer_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "process_of_thread.h"
#include "process_titles.h"
#include "sentence.h"
#include "units.h"
#include "vec.h"

#define DEPTH 64 /* generations */
#define SHOWN 3	 /* children by name */

/* By the index of the thread that represents the process. */
struct node {
	uint64_t self_ns, all_ns;
	uint32_t parent;
	uint8_t level; /* of the line to where most of the time was; 0: beside it */
};
typedef VEC(uint32_t) ty_processes;

/* Children of processes of one level that bear one name. */
struct group {
	uint64_t ns;
	uint32_t name, n, one;
};
typedef VEC(struct group) ty_groups;

static uint32_t parent_of(const struct ty_model *m, uint32_t process, uint32_t root)
{
	return process == root ? TY_NONE : ty_process_parent(m, process);
}

/* The process of the command's tree that a segment's time is counted for. */
static uint32_t charged(const struct ty_answer_work *k, const struct ty_seg *s, uint32_t root)
{
	uint32_t thread = s->thread;

	for (uint32_t h = s->hop; !k->mine[thread] && h != TY_NONE; h = k->path->hop.v[h].parent)
		thread = k->path->hop.v[h].thread;
	return k->mine[thread] ? ty_process_of(k->x->m, thread) : root;
}

ORDER(by_ns, struct group, compare(b->ns, a->ns) ?: compare(a->one, b->one))

static void say_group(char *out, size_t size, const struct ty_model *m, const struct group *g)
{
	const char *name = ty_model_str(m, ty_model_thread(m, g->one)->name);

	const size_t n = strlen(out);

	if (g->n > 1)
		ty_comm_several(out + n, size - n, name, g->n, "processes");
	else
		ty_put_behind(out, size, "%s", ty_who_last(m, g->one));
}

/* Each process of the tree that the path goes over, or that made such a one. 0 or -TY_ENOMEM. */
static int find_times(const struct ty_answer_work *k, uint32_t root, struct node *v,
		      ty_processes *all)
{
	int r = 0;

	vec_each (s, &k->path->seg) {
		uint64_t ns = s->end_ns - s->start_ns;
		uint32_t p = charged(k, s, root);

		v[p].self_ns += ns;
		for (unsigned depth = 0; p != TY_NONE && depth < DEPTH && !r; depth++) {
			if (!v[p].all_ns) {
				v[p].parent = parent_of(k->x->m, p, root);
				r = vec_push(all, p);
			}
			v[p].all_ns += ns;
			p = v[p].parent;
		}
	}
	return r;
}

/* Children of the processes of a level, most time first. 0 or -TY_ENOMEM. */
static int find_groups(const struct ty_model *m, const struct node *v, const ty_processes *all,
		       unsigned level, ty_groups *g)
{
	int r = 0;

	g->n = 0;
	vec_each (p, all) {
		uint32_t up = v[*p].parent, name = ty_model_thread(m, *p)->name;
		size_t i = 0;

		if (up == TY_NONE || v[up].level != level)
			continue;
		while (i < g->n && g->v[i].name != name)
			i++;
		if (i == g->n)
			r = r ? r : vec_push(g, (struct group){.name = name, .one = *p});
		if (i < g->n) {
			g->v[i].n++;
			g->v[i].ns += v[*p].all_ns;
		}
	}
	vec_sort(g, by_ns);
	return r;
}

/* The children of that name are the next level. */
static void descend(const struct ty_model *m, struct node *v, const ty_processes *all,
		    unsigned level, uint32_t name)
{
	vec_each (p, all)
		if (v[*p].parent != TY_NONE && v[v[*p].parent].level == level &&
		    ty_model_thread(m, *p)->name == name)
			v[*p].level = (uint8_t)(level + 1);
}

/* of_first: what is said of the first group. */
static void say_children(const struct ty_model *m, const ty_groups *g, const char *of_first,
			 char *out, size_t size)
{
	uint64_t rest = 0;
	uint32_t others = 0;

	for (size_t i = 0; i < g->n; i++) {
		if (i >= SHOWN) {
			others += g->v[i].n;
			rest += g->v[i].ns;
			continue;
		}
		ty_put_behind(out, size, i ? ", " : " ");
		say_group(out, size, m, &g->v[i]);
		ty_put_behind(out, size, " %s%s", ty_duration(g->v[i].ns), i ? "" : of_first);
	}
	if (others)
		ty_put_behind(out, size, ", %u other%s %s", others, others > 1 ? "s" : "",
			      ty_duration(rest));
}

int ty_answer_children(const struct ty_answer_work *k, uint32_t root, uint64_t total_ns, char *out,
		       size_t size)
{
	const struct ty_model *m = k->x->m;
	struct node *v = calloc((size_t)ty_model_summary(m)->threads + 1, sizeof(*v));
	ty_processes all = {0};
	ty_groups g = {0}, below = {0};
	char via[160] = "", last[TY_WHO_MAX + 24] = "",
	     of_first[sizeof(via) + sizeof(last) + 64] = "";
	uint64_t ns = 0;
	unsigned level;
	int r = v ? find_times(k, root, v, &all) : -TY_ENOMEM;

	*out = 0;
	if (!r) {
		v[root].level = 1;
		r = find_groups(m, v, &all, 1, &g);
	}
	/* Where most of the first group's time was, generation by generation. */
	for (level = 1; !r && level < DEPTH; level++) {
		const struct group *most = level == 1 ? g.v : below.v;

		if (!(level == 1 ? g.n : below.n) || most->ns <= total_ns / 2)
			break;
		if (level > 2)
			ty_put_behind(via, sizeof(via), "%s%s", *via ? " -> " : "", last);
		*last = 0;
		if (level > 1)
			say_group(last, sizeof(last), m, most);
		ns = most->ns;
		descend(m, v, &all, level, most->name);
		r = find_groups(m, v, &all, level + 1, &below);
	}
	if (*last)
		snprintf(of_first, sizeof(of_first), " (of which in %s %s%s%s: %s)",
			 *via ? "descendant" : "child", last, *via ? " via " : "", via,
			 ty_duration(ns));
	if (!r && g.n) {
		if (v[root].self_ns)
			ty_put_behind(out, size, "%s in %s itself. By child, with descendants:",
				      ty_duration(v[root].self_ns), ty_who_last(m, root));
		else
			ty_put_behind(out, size,
				      "By child of %s, with descendants:", ty_who_last(m, root));
		say_children(m, &g, of_first, out, size);
	}
	vec_fini(&below);
	vec_fini(&g);
	vec_fini(&all);
	free(v);
	return r;
}
