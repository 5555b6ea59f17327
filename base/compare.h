/* SPDX-License-Identifier: MIT */
/*
 * The order of what qsort sorts: -1, 0 or 1 as a is less than, equal to or greater than b, which
 * are evaluated twice. Keys are tried one after the other by ?: - a key that goes from large to
 * small has its sides changed:
 *
 *	return compare(y->total_ns, x->total_ns) ?: compare(x->tid, y->tid);
 */
#ifndef TY_COMPARE_H
#define TY_COMPARE_H

#define compare(a, b) (((a) > (b)) - ((a) < (b)))

#endif
