/* SPDX-License-Identifier: MIT */
#include "ring_pages.h"

#include <string.h>

void ty_page_put(const struct page_maker *m, void *p, uint64_t v, unsigned bytes)
{
	uint8_t *b = p;

	for (unsigned i = 0; i < bytes; i++)
		b[m->be ? bytes - 1 - i : i] = (uint8_t)(v >> (8 * i));
}

void ty_page_begin(struct page_maker *m, void *page, uint32_t size, uint64_t ts, unsigned long_size,
		   bool be)
{
	*m = (struct page_maker){page, size, 8 + long_size, long_size, be};
	memset(page, 0, size);
	ty_page_put(m, m->p, ts, 8);
}

static void head(struct page_maker *m, uint32_t type, uint32_t delta)
{
	ty_page_put(m, m->p + m->pos, m->be ? type << 27 | delta : delta << 5 | type, 4);
	m->pos += 4;
}

void ty_page_raw(struct page_maker *m, uint32_t type, uint32_t delta, uint32_t word)
{
	head(m, type, delta);
	ty_page_put(m, m->p + m->pos, word, 4);
	m->pos += 4;
}

void ty_page_data(struct page_maker *m, uint32_t delta, const void *data, uint32_t n)
{
	head(m, n / 4, delta);
	memcpy(m->p + m->pos, data, n);
	m->pos += n;
}

void ty_page_long(struct page_maker *m, uint32_t delta, const void *data, uint32_t n)
{
	ty_page_raw(m, 0, delta, n + 4);
	memcpy(m->p + m->pos, data, n);
	m->pos += (n + 3) & ~3u;
}

void ty_page_padding(struct page_maker *m, uint32_t delta, uint32_t n)
{
	ty_page_raw(m, 29, delta, n);
	m->pos += (n + 3) / 4 * 4 - 4;
}

void ty_page_extend(struct page_maker *m, uint64_t delta)
{
	ty_page_raw(m, 30, delta & ((1u << 27) - 1), (uint32_t)(delta >> 27));
}

void ty_page_stamp(struct page_maker *m, uint64_t abs)
{
	ty_page_raw(m, 31, abs & ((1u << 27) - 1), (uint32_t)(abs >> 27));
}

void ty_page_end(struct page_maker *m, uint64_t missed)
{
	uint64_t commit = m->pos - (8 + m->long_size);

	if (missed)
		commit |= 1u << 31;
	if (missed && missed != UINT64_MAX) {
		commit |= 1u << 30;
		ty_page_put(m, m->p + m->pos, missed, m->long_size);
	}
	ty_page_put(m, m->p + 8, commit, m->long_size);
}
