/* SPDX-License-Identifier: MIT */
/*
 * See flow_priv.h: finds where streams may be cut. Blocks are searched on all CPUs, and only where
 * a range may end: within RANGE_MIN bytes after each chosen PSB nothing is read. Starting a thread
 * costs as much as many reads, so there is none below LOOKS_MIN of them.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "flow_priv.h"

enum { RANGE_MIN = TY_FLOW_RANGE_MIN, LOOKS_MIN = 1000, THREADS_MAX = 32 };
/* Searched at once: a little at first, because PSBs come at a distance that divides RANGE_MIN. */
enum { LOOK_MIN = 512, LOOK_MAX = 16 << 10, HEADER_MAX = TY_FLOW_HEADER_MAX };

struct search {
	ty_flow_blocks *blocks;
	atomic_size_t next;
};

bool ty_flow_is_border(const struct ty_pt_point *p)
{
	return p->whole && (!p->on || p->mode);
}

static int add_point(struct ty_flow_block *b, struct ty_pt_point p)
{
	if (!b->points_n)
		b->first = p;
	else if (vec_push(&b->more, p))
		return -TY_ENOMEM;
	b->points_n++;
	return 0;
}

/* The PSBs of a block that ranges begin at; its first one in any case. How often it was looked. */
static size_t search_block(struct ty_flow_block *b, struct ty_flow_ahead *ahead)
{
	uint8_t buf[LOOK_MAX + HEADER_MAX];
	size_t at = b->lo, look = LOOK_MIN, looks = 0;

	while (at < b->hi && !(b->first_only && b->points_n)) {
		size_t n = b->seg_hi - at < look + HEADER_MAX ? b->seg_hi - at : look + HEADER_MAX;
		size_t k;
		struct ty_pt_point p;

		looks++;
		b->failed = ty_flow_stream_read(b->s, ahead, at, buf, n);
		if (b->failed)
			break;
		k = ty_pt_psb_after(buf, n, 0);
		if (k >= look || k == n) {
			at += look;
			look = look < LOOK_MAX ? 2 * look : look;
			continue;
		}
		if (k >= b->hi - at)
			break;
		p = ty_pt_point_at(buf, n - k < HEADER_MAX ? n : k + HEADER_MAX, k);
		p.off = at + k;
		if ((!b->points_n || ty_flow_is_border(&p)) && add_point(b, p)) {
			b->failed = -TY_ENOMEM;
			break;
		}
		at += k + RANGE_MIN;
		look = LOOK_MIN;
	}
	b->searched = true;
	return looks;
}

/* Searches one more block. Returns the number of blocks searched; 0 when none is left. */
static size_t search_next(struct search *s, struct ty_flow_ahead *ahead)
{
	size_t i;

	while ((i = atomic_fetch_add(&s->next, 1)) < s->blocks->n)
		if (!s->blocks->v[i].searched)
			return search_block(&s->blocks->v[i], ahead);
	return 0;
}

static void *search_main(void *arg)
{
	struct ty_flow_ahead ahead = {0};

	while (search_next(arg, &ahead))
		;
	ty_flow_ahead_fini(&ahead);
	return NULL;
}

int ty_flow_search(ty_flow_blocks *blocks)
{
	struct search s = {.blocks = blocks};
	struct ty_flow_ahead ahead = {0};
	pthread_t threads[THREADS_MAX];
	unsigned n = 0, cpus_n = 1;
	size_t looks = 0, more;
	cpu_set_t cpus;

	while (looks < LOOKS_MIN && (more = search_next(&s, &ahead)))
		looks += more;
	ty_flow_ahead_fini(&ahead);
	if (looks >= LOOKS_MIN && !sched_getaffinity(0, sizeof(cpus), &cpus))
		cpus_n = (unsigned)CPU_COUNT(&cpus);
	while (n + 1 < cpus_n && n < THREADS_MAX &&
	       !pthread_create(&threads[n], NULL, search_main, &s))
		n++;
	search_main(&s);
	while (n)
		pthread_join(threads[--n], NULL);
	vec_each (b, blocks)
		if (b->failed)
			return b->failed;
	return 0;
}
