/* SPDX-License-Identifier: MIT */
/*
 * Names of code by address, from a text: /tmp/perf-PID.map of a JIT compiler ("START SIZE name",
 * linux tools/perf/Documentation/jit-interface.txt) or a copy of /proc/kallsyms ("ADDRESS t name
 * [module]"). A perf map has no times: when several of its functions share an address, the name
 * ends in "?". Malformed lines are skipped. Thread-safe once built.
 */
#ifndef TY_SYMBOL_LIST_H
#define TY_SYMBOL_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ty_symbol_list_kind { TY_NAMES_PERF_MAP, TY_NAMES_KALLSYMS };

struct ty_symbol_list;

/* The text is copied. NULL: out of memory. */
struct ty_symbol_list *ty_symbol_list_new(const char *text, size_t n,
					  enum ty_symbol_list_kind kind);
void ty_symbol_list_free(struct ty_symbol_list *l);
/* The function that contains addr: its name (borrowed), first address and length. */
bool ty_symbol_list_find(const struct ty_symbol_list *l, uint64_t addr, const char **name,
			 uint64_t *start, uint64_t *size);
/* Number of symbols. */
size_t ty_symbol_list_count(const struct ty_symbol_list *l);

#endif
