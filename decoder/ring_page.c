/* SPDX-License-Identifier: MIT */
/* See ring_page.h for format, invariants and budget. */
#include "ring_page.h"

#include "err.h"
#include "format_text.h"
#include "checked_read.h"
#include "unaligned.h"

enum { TYPE_PADDING = 29, TYPE_TIME_EXTEND = 30, TYPE_TIME_STAMP = 31 };

#define COMMIT_MASK   ((1u << 27) - 1)
#define MISSED_EVENTS (1u << 31)
#define MISSED_STORED (1u << 30)
#define TS_SHIFT      27
#define TS_MSB	      (UINT64_C(0xf8) << 56) /* what an absolute time stamp has no room for */

int ty_ring_layout_init(struct ty_ring_layout *l, const char *header_page, unsigned long_size,
			bool big_endian)
{
	struct ty_ft_field commit, data;

	if (long_size != 4 && long_size != 8)
		return -TY_EFORMAT;
	*l = (struct ty_ring_layout){.commit_off = 8,
				     .commit_size = (uint8_t)long_size,
				     .data_off = (uint8_t)(8 + long_size),
				     .long_size = (uint8_t)long_size,
				     .big_endian = big_endian};
	if (!header_page || ty_ft_find(header_page, "commit", &commit) ||
	    ty_ft_find(header_page, "data", &data))
		return 0;
	if ((commit.size != 4 && commit.size != 8) || commit.off > 64 || data.off > 128 ||
	    data.off % 4 || commit.off < 8 || data.off < commit.off + commit.size)
		return -TY_EFORMAT;
	l->commit_off = (uint8_t)commit.off;
	l->commit_size = (uint8_t)commit.size;
	l->data_off = (uint8_t)data.off;
	return 0;
}

uint64_t ty_ring_page_ts(const struct ty_ring_layout *l, const void *page)
{
	return ty_load(page, 8, l->big_endian);
}

int ty_ring_page_init(struct ty_ring_page *it, const struct ty_ring_layout *l, const void *page,
		      uint32_t page_size)
{
	const uint8_t *p = page;
	uint64_t commit;
	uint32_t used;

	*it = (struct ty_ring_page){.base = p, .big_endian = l->big_endian};
	if (page_size < l->data_off)
		return -TY_EFORMAT;
	it->ts = ty_ring_page_ts(l, p);
	commit = ty_load(p + l->commit_off, l->commit_size, l->big_endian);
	used = (uint32_t)commit & COMMIT_MASK;
	if (used > page_size - l->data_off)
		return -TY_EFORMAT;
	it->pos = l->data_off;
	it->end = l->data_off + used;
	if (commit & MISSED_EVENTS) {
		it->missed = TY_MISSED_UNKNOWN;
		if (commit & MISSED_STORED && page_size - it->end >= l->long_size)
			it->missed = ty_load(p + it->end, l->long_size, l->big_endian);
		if (!it->missed) /* "events were lost" applies; their number cannot be 0 */
			it->missed = TY_MISSED_UNKNOWN;
	}
	return 0;
}

static inline uint32_t load32(const uint8_t *p, bool big_endian)
{
	const uint32_t v = ty_u32_at(p);

	return big_endian ? __builtin_bswap32(v) : v;
}

/* The kernel keeps 59 bits of an absolute time; the rest is that of the time before, and a smaller
 * result means the 59 bits wrapped (rb_fix_abs_ts). */
static uint64_t fix_abs(uint64_t abs, uint64_t before)
{
	if (before & TS_MSB) {
		abs |= before & TS_MSB;
		if (abs < before)
			abs += UINT64_C(1) << 59;
	}
	return abs;
}

static int damaged(struct ty_ring_page *it)
{
	it->pos = UINT32_MAX;
	it->end = 0;
	return -TY_EFORMAT;
}

int ty_ring_page_next_any(struct ty_ring_page *it, struct ty_ring_record *rec)
{
	while (it->pos < it->end) {
		const uint8_t *p = it->base + it->pos;
		uint32_t left = it->end - it->pos, head, type, delta, word = 0, total;

		if (left < 4)
			return damaged(it);
		head = load32(p, it->big_endian);
		type = it->big_endian ? head >> 27 : head & 31;
		delta = it->big_endian ? head & COMMIT_MASK : head >> 5;
		if (type - 1 < 28) {
			total = 4 + type * 4;
			if (total > left)
				return damaged(it);
			it->ts += delta;
			*rec = (struct ty_ring_record){it->ts, p + 4, total - 4, it->pos};
			it->pos += total;
			return 1;
		}
		if (type == TYPE_PADDING && !delta)
			break;
		if (left < 8)
			return damaged(it);
		word = load32(p + 4, it->big_endian);
		switch (type) {
		case 0:
			if (word < 4 || word > left - 4)
				return damaged(it);
			total = 4 + ((word + 3) & ~3u);
			if (total > left)
				return damaged(it);
			it->ts += delta;
			*rec = (struct ty_ring_record){it->ts, p + 8, word - 4, it->pos};
			it->pos += total;
			return 1;
		case TYPE_PADDING:
			if (word > left - 4)
				return damaged(it);
			total = 4 + ((word + 3) & ~3u);
			if (total < 8 || total > left)
				return damaged(it);
			it->ts += delta;
			it->pos += total;
			break;
		case TYPE_TIME_EXTEND:
			it->ts += (uint64_t)word << TS_SHIFT | delta;
			it->pos += 8;
			break;
		case TYPE_TIME_STAMP:
			it->ts = fix_abs((uint64_t)word << TS_SHIFT | delta, it->ts);
			it->pos += 8;
			break;
		}
	}
	if (it->pos == UINT32_MAX)
		return -TY_EFORMAT;
	it->pos = it->end;
	return 0;
}

struct ty_ring_record ty_ring_page_record(const struct ty_ring_layout *l, const void *page,
					  uint32_t off, uint64_t ts)
{
	const uint8_t *p = (const uint8_t *)page + off;
	uint32_t head = load32(p, l->big_endian);
	uint32_t type = l->big_endian ? head >> 27 : head & 31;

	if (type)
		return (struct ty_ring_record){ts, p + 4, type * 4, off};
	return (struct ty_ring_record){ts, p + 8, load32(p + 4, l->big_endian) - 4, off};
}
