/* SPDX-License-Identifier: MIT */
/*
 * Comparison for qsort: -1, 0 or 1 as a is less than, equal to or greater than b. Evaluates both
 * arguments twice. Chain several keys with ?: and swap the arguments of a descending key:
 *
 * 	return compare(y->total_ns, x->total_ns) ?: compare(x->tid, y->tid);
 */
#ifndef TY_COMPARE_H
#define TY_COMPARE_H

#define compare(a, b) (((a) > (b)) - ((a) < (b)))

/*
 * Defines a function for qsort, bsearch and the like, for elements a and b of a type:
 *
 * 	ORDER(by_start, struct span, compare(a->start_ns, b->start_ns))
 */
#define ORDER(name, type, order)                                                                   \
	static int name(const void *pa, const void *pb)                                            \
	{                                                                                          \
		const type *a = pa, *b = pb;                                                       \
                                                                                                   \
		return order;                                                                      \
	}

#endif
