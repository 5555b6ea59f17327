/* SPDX-License-Identifier: MIT */
/* Ring-buffer pages made by hand, for tests: little or big endian, 64- or 32-bit kernels. */
#ifndef TY_TEST_RING_PAGES_H
#define TY_TEST_RING_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page_maker {
	uint8_t *p;
	uint32_t size, pos; /* pos: next record */
	unsigned long_size;
	bool be;
};

/* Begin a page (zeroed) at time ts. */
void ty_page_begin(struct page_maker *m, void *page, uint32_t size, uint64_t ts, unsigned long_size,
		   bool be);
/* Records. data of n bytes; n must be a multiple of 4 up to 112 for the short form. */
void ty_page_data(struct page_maker *m, uint32_t delta, const void *data, uint32_t n);
void ty_page_long(struct page_maker *m, uint32_t delta, const void *data, uint32_t n);
void ty_page_padding(struct page_maker *m, uint32_t delta, uint32_t n);
void ty_page_extend(struct page_maker *m, uint64_t delta);
void ty_page_stamp(struct page_maker *m, uint64_t abs);
/* Any two words. */
void ty_page_raw(struct page_maker *m, uint32_t type, uint32_t delta, uint32_t word);
/* Write the commit field. missed: 0 none, UINT64_MAX "some", else the number. */
void ty_page_end(struct page_maker *m, uint64_t missed);
/* v in `bytes` at p, in the page's byte order. */
void ty_page_put(const struct page_maker *m, void *p, uint64_t v, unsigned bytes);

#endif
