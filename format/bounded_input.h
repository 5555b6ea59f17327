/* SPDX-License-Identifier: MIT */
/*
 * Bounded sequential reading of untrusted metadata, from a file or from memory (a decompressed
 * section). Files are read by pread through a small window, so that a file truncated meanwhile is a
 * short read, never a signal. A read past the end sets `bad` (sticky) and returns zeros, so that a
 * parser can read a whole record and check once.
 */
#ifndef TY_BOUNDED_INPUT_H
#define TY_BOUNDED_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ty_in {
	int fd;		    /* used when mem is NULL */
	const uint8_t *mem; /* borrowed */
	uint64_t pos, end;  /* file offsets, or offsets in mem */
	bool swap;	    /* the numbers are big endian */
	bool bad;
	uint8_t *win; /* WINDOW bytes borrowed from the trace (files only) */
	uint64_t win_off;
	size_t win_n;
};

#define TY_IN_WINDOW 65536u

static inline uint64_t ty_in_left(const struct ty_in *in)
{
	return in->bad ? 0 : in->end - in->pos;
}

/* Copies n bytes and advances past them; dst is zeroed on failure. */
void ty_in_get(struct ty_in *in, void *dst, size_t n);
/* An unsigned integer of 1, 2, 4 or 8 bytes. */
uint64_t ty_in_uint(struct ty_in *in, unsigned bytes);
void ty_in_skip(struct ty_in *in, uint64_t n);
/* Reads a NUL-terminated string into dst (size bytes, always terminated) and returns its length.
 * Sets `bad` when there is no NUL within size bytes. */
size_t ty_in_str(struct ty_in *in, char *dst, size_t size);

#endif
