/* SPDX-License-Identifier: MIT */
/* The names of some addresses of the running kernel: the whole list costs 639 KB in each file. */
#ifndef TY_KERNEL_NAMES_H
#define TY_KERNEL_NAMES_H

#include "buf.h"
#include "pair_map.h"

/*
 * Of a list as /proc/kallsyms is, the lines of the functions that hold the addresses (first word of
 * each pair), and the line behind each, so that a reader sees where it ends; in order of address.
 * Where the list cannot be read, or hides the addresses, nothing. `out` may be failed afterwards.
 */
void ty_kernel_names(const char *path, const struct ty_pair_map *addresses, struct ty_buf *out);

#endif
