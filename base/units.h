/* SPDX-License-Identifier: MIT */
/* Durations and sizes as users type and read them. */
#ifndef TY_UNITS_H
#define TY_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* The decimal digits s[0..n), at most max. 0, or -TY_EUSAGE (none, others among them, too large).
 */
int ty_parse_digits(const char *s, size_t n, uint64_t max, uint64_t *out);
/* All of s, from 1 to max. */
int ty_parse_count(const char *s, uint64_t max, uint64_t *out);

/*
 * "500ms", "20s", "2m", "1.5h", "10us", "7ns"; a bare number is seconds. Result in nanoseconds.
 * 0, or -TY_EUSAGE (empty, negative, unknown unit, out of range).
 */
int ty_parse_duration(const char *s, uint64_t *ns);

/* "64M", "512k", "1G", "4096": bytes, powers of 1024. 0 or -TY_EUSAGE. */
int ty_parse_size(const char *s, uint64_t *bytes);

/* "2.310 s", "12.3 ms", "450 us", "80 ns": at most 9 characters; returns out. */
#define TY_DURATION_MAX 24
const char *ty_fmt_duration(uint64_t ns, char out[TY_DURATION_MAX]);

/* "3 h 2 min", "10 min 3 s", "12.3 s", "1.2 ms": an elapsed time for people. */
const char *ty_fmt_span(uint64_t ns, char out[TY_DURATION_MAX]);

/* "1.2 GB", "340 MB", "12 kB": powers of 1000, as file managers show them. */
const char *ty_fmt_bytes(uint64_t bytes, char out[TY_DURATION_MAX]);

/* "1,234,567"; returns out. */
#define TY_COUNT_MAX 32
const char *ty_fmt_count(uint64_t v, char out[TY_COUNT_MAX]);

/* The same in buffers that live as long as the block around them. */
#define ty_duration(ns)	 ty_fmt_duration(ns, (char[TY_DURATION_MAX]){0})
#define ty_elapsed(ns)	 ty_fmt_span(ns, (char[TY_DURATION_MAX]){0})
#define ty_byte_count(n) ty_fmt_bytes(n, (char[TY_DURATION_MAX]){0})
#define ty_count(n)	 ty_fmt_count(n, (char[TY_COUNT_MAX]){0})

#endif
