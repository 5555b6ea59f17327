/* SPDX-License-Identifier: MIT */
/*
 * One page of the kernel's ring buffer, as read from trace_pipe_raw: an iterator over its records.
 *
 * Format: struct buffer_data_page and struct ring_buffer_event of kernel/trace/ring_buffer.c and
 * include/linux/ring_buffer.h; the sizes of the head come from the file's header_page text.
 *
 *   u64 time_stamp; long commit; data...      (commit: bits 0..26 bytes of data in use,
 *                                              bit 31 events were lost before this page,
 *                                              bit 30 their number follows the data as a long)
 *   record: u32 type_len:5, time_delta:27 (a big-endian kernel has type_len in the high bits)
 *     1..28  type_len words of data
 *     0      u32 length (its own 4 bytes included), data
 *     29     padding: time_delta 0 ends the page, else u32 length of a discarded record
 *     30     time extend: u32 holds bits 27.. of the delta
 *     31     absolute time: 59 bits, the top 5 are those of the time before
 *
 * Every length is checked against the page: a damaged page gives its good records, then an error.
 * Budget: 10 ns per record. No allocation, no state but the struct.
 */
#ifndef TY_RING_PAGE_H
#define TY_RING_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Layout of a page of this trace, from ty_ring_layout_init. */
struct ty_ring_layout {
	uint8_t commit_off, commit_size; /* 4 or 8 bytes */
	uint8_t data_off;
	uint8_t long_size;
	bool big_endian;
};

/*
 * Parses the text of events/header_page (NULL or without the fields: the layout of all kernels
 * since 2.6.30 for this word size). 0, or -TY_EFORMAT for impossible offsets.
 */
int ty_ring_layout_init(struct ty_ring_layout *l, const char *header_page, unsigned long_size,
			bool big_endian);

#define TY_MISSED_UNKNOWN UINT64_MAX

struct ty_ring_page {
	const uint8_t *base;
	uint32_t pos, end; /* offset of the next record; end of the last one */
	uint64_t ts;	   /* of the last record; before the first: the page's own */
	uint64_t missed;   /* events lost before this page: 0, a number, or TY_MISSED_UNKNOWN */
	bool big_endian;
};

struct ty_ring_record {
	uint64_t ts;
	const uint8_t *data;
	uint32_t size;
	uint32_t off; /* of the record's head in the page: a multiple of 4 */
};

/* Starts with page (page_size bytes, borrowed). 0, or -TY_EFORMAT when its head is damaged. */
int ty_ring_page_init(struct ty_ring_page *it, const struct ty_ring_layout *l, const void *page,
		      uint32_t page_size);

/* ty_ring_page_next for every kind of record. */
int ty_ring_page_next_any(struct ty_ring_page *it, struct ty_ring_record *rec);

/* When a common kind of record begins there, with `left` bytes remaining (small, of our byte
 * order), returns its size with its head, whose upper 27 bits are the time since the previous
 * record; 0: use ty_ring_page_next_any. */
static inline uint32_t ty_ring_page_quick(const uint8_t *p, uint32_t left, uint32_t *head)
{
	uint32_t words, total;

	if (left < 4)
		return 0;
	memcpy(head, p, 4);
	words = *head & 31;
	total = 4 + words * 4;
	return words - 1 < 28 && total <= left ? total : 0;
}

/* Returns the next record: 1; 0 at the end of the page; -TY_EFORMAT where it is damaged, and on
 * every later call. */
static inline int ty_ring_page_next(struct ty_ring_page *it, struct ty_ring_record *rec)
{
	uint32_t left = it->pos < it->end && !it->big_endian ? it->end - it->pos : 0, head;
	uint32_t n = ty_ring_page_quick(it->base + it->pos, left, &head);

	if (!n)
		return ty_ring_page_next_any(it, rec);
	it->ts += head >> 5;
	*rec = (struct ty_ring_record){it->ts, it->base + it->pos + 4, n - 4, it->pos};
	it->pos += n;
	return 1;
}

/* Returns the record at off again, as ty_ring_page_next did with time ts; the page must be the
 * same. */
struct ty_ring_record ty_ring_page_record(const struct ty_ring_layout *l, const void *page,
					  uint32_t off, uint64_t ts);

/* The page's own time stamp, without further checks. */
uint64_t ty_ring_page_ts(const struct ty_ring_layout *l, const void *page);

#endif
