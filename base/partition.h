/* SPDX-License-Identifier: MIT */
/*
 * Searching what is in order:  i = partition_point(k, 0, n, v[k].ts_ns < t)  is the first index of
 * [from, to) for which the condition on k does not hold, `to` when it holds for all. It holds for
 * all before that index and for none behind it. log2(n) looks; the condition is written in place,
 * so that it costs no call.
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
