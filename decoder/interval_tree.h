/* SPDX-License-Identifier: MIT */
/*
 * Which intervals hold a place: of 0..n-1, by a tree whose nodes list the intervals that they make
 * up. An interval stands at 2 log2(n) nodes at most, and those that hold a place at the log2(n)
 * nodes above it; within a node they follow each other as they were added.
 *
 * Filled by adding all twice, in the same order: counted, then (ty_interval_tree_turn) listed.
 */
#ifndef TY_INTERVAL_TREE_H
#define TY_INTERVAL_TREE_H

#include <stdint.h>

struct ty_interval_tree {
	uint32_t n;
	uint32_t *first; /* of a node's entries; 2 n + 1 */
	uint32_t *entry; /* numbers of intervals */
};

/* 0 or -TY_ENOMEM; to be ended by fini in any state. */
int ty_interval_tree_begin(struct ty_interval_tree *l, uint32_t n);
/* [a, b), b <= n. */
void ty_interval_tree_add(struct ty_interval_tree *l, uint64_t a, uint64_t b, uint32_t number);
/* All are counted: 0 or -TY_ENOMEM. */
int ty_interval_tree_turn(struct ty_interval_tree *l);
/* All are listed. */
void ty_interval_tree_end(struct ty_interval_tree *l);
void ty_interval_tree_fini(struct ty_interval_tree *l);

/* The nodes above place i, one after the other: for (node = ..._node(l, i); node; node /= 2), with
 * the entries first[node] to first[node + 1]. */
static inline uint64_t ty_interval_tree_node(const struct ty_interval_tree *l, uint32_t i)
{
	return l->n ? (uint64_t)i + l->n : 0;
}

#endif
