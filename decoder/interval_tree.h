/* SPDX-License-Identifier: MIT */
/*
 * Finds the intervals that contain a position of 0..n-1: a segment tree whose nodes list intervals.
 * An interval is listed at 2 log2(n) nodes at most; those that contain a position are listed at the
 * log2(n) nodes above it; within a node they keep their insertion order.
 *
 * To fill it, add all intervals twice in the same order: the first pass counts, the second (after
 * ty_interval_tree_turn) stores them.
 */
#ifndef TY_INTERVAL_TREE_H
#define TY_INTERVAL_TREE_H

#include <stdint.h>

struct ty_interval_tree {
	uint32_t n;
	uint32_t *first; /* of a node's entries; 2 n + 1 */
	uint32_t *entry; /* numbers of intervals */
};

/* 0 or -TY_ENOMEM; call fini in any state. */
int ty_interval_tree_begin(struct ty_interval_tree *l, uint32_t n);
/* [a, b), b <= n. */
void ty_interval_tree_add(struct ty_interval_tree *l, uint64_t a, uint64_t b, uint32_t number);
/* Ends the counting pass: 0 or -TY_ENOMEM. */
int ty_interval_tree_turn(struct ty_interval_tree *l);
/* Ends the storing pass. */
void ty_interval_tree_end(struct ty_interval_tree *l);
void ty_interval_tree_fini(struct ty_interval_tree *l);

/* Iterates over the nodes above position i: for (node = ..._node(l, i); node; node /= 2), with the
 * entries first[node] to first[node + 1]. */
static inline uint64_t ty_interval_tree_node(const struct ty_interval_tree *l, uint32_t i)
{
	return l->n ? (uint64_t)i + l->n : 0;
}

#endif
