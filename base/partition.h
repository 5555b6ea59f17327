/* SPDX-License-Identifier: MIT */
/*
 * Binary search. i = partition_point(k, 0, n, v[k].ts_ns < t) is the first index in [from, to) for
 * which the condition on k is false, or `to` when it is true for all. The condition must be true
 * for all indices before that one and false for all after. log2(n) evaluations; a macro, so that
 * the condition costs no call.
 */
#ifndef TY_PARTITION_H
#define TY_PARTITION_H

#define partition_point(k, from, to, condition)                                                    \
	({                                                                                         \
		typeof((to) + 0) lo_ = (from), hi_ = (to);                                         \
                                                                                                   \
		while (lo_ < hi_) {                                                                \
			typeof(lo_) k = lo_ + (hi_ - lo_) / 2;                                     \
                                                                                                   \
			if (condition)                                                             \
				lo_ = k + 1;                                                       \
			else                                                                       \
				hi_ = k;                                                           \
		}                                                                                  \
		lo_;                                                                               \
	})

#endif
