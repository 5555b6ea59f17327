/* SPDX-License-Identifier: MIT */
/*
 * String interning: equal byte strings get one 32-bit id. Id 0 is always "". Strings are stored
 * once, NUL-terminated; they may hold any byte but NUL. Not thread-safe.
 */
#ifndef TY_STRTAB_H
#define TY_STRTAB_H

#include <stddef.h>
#include <stdint.h>

struct ty_strtab;

struct ty_strtab *ty_strtab_new(void); /* NULL: out of memory */
void ty_strtab_free(struct ty_strtab *t);
/* Returns the id of the first n bytes of s (up to a NUL), and adds them when new; UINT32_MAX when
 * out of memory. */
uint32_t ty_strtab_add(struct ty_strtab *t, const char *s, size_t n);
/* Looks a string up without adding it; UINT32_MAX when it is not in the table. */
uint32_t ty_strtab_find(const struct ty_strtab *t, const char *s, size_t n);
/* The string of an id; "" for an unknown one. Borrowed; valid until the next add. */
const char *ty_strtab_get(const struct ty_strtab *t, uint32_t id);
/* Number of ids. */
uint32_t ty_strtab_count(const struct ty_strtab *t);

#endif
