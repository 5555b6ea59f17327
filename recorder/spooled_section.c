/* SPDX-License-Identifier: MIT */
/* See spooled_section.h. */
#include "spooled_section.h"

#include "now.h"

/* A piece at the latest: what a killed recorder loses. */
enum { PIECE_MS = 1000 };

void ty_spooled_section_init(struct ty_spooled_section *s, const struct ty_section_form *form,
			     void *ctx)
{
	*s = (struct ty_spooled_section){.form = form, .ctx = ctx, .put_ms = ty_now_ms()};
	ty_buf_init(&s->b, form->most * form->raw_part + 2 * (uint64_t)TY_SPOOLED_PIECE);
}

void ty_spooled_section_fini(struct ty_spooled_section *s)
{
	ty_buf_fini(&s->b);
}

void ty_spooled_section_start(struct ty_spooled_section *s, struct ty_spool_writer *writer,
			      bool at_end)
{
	s->writer = writer;
	s->at_end = at_end;
	s->put_ms = ty_now_ms();
}

uint64_t ty_spooled_section_held(const struct ty_spooled_section *s)
{
	const uint64_t all = atomic_load(&s->bytes) + s->b.len / s->form->raw_part,
		       gone = atomic_load(&s->dropped);

	return all > gone ? all - gone : 0;
}

/* p[0..n) begins with room for the head. false: it could not be written. */
static bool put_piece(struct ty_spooled_section *s, char *p, size_t n)
{
	const struct ty_section_form *form = s->form;
	const struct ty_spool_chunk what = {.type = TY_SPOOL_SECTION,
					    .stream = form->section,
					    .seq = atomic_fetch_add(&s->pieces, 1)};
	size_t stored;

	if (form->put_head)
		form->put_head(s->ctx, what.seq, p);
	if (ty_spool_put(s->writer, &what, p, n, NULL)) {
		s->failed = true;
		return false;
	}
	stored = form->raw_part > 1 ? ty_spool_stored(s->writer) : n;
	atomic_fetch_add(&s->bytes, stored > n / form->raw_part ? stored : n / form->raw_part);
	return true;
}

/* Where the piece that begins at `from` ends. */
static size_t piece_end(const struct ty_spooled_section *s, size_t from)
{
	const size_t most = TY_SPOOLED_PIECE - s->form->head_bytes;
	size_t to = from, n;

	if (!s->form->record_bytes)
		return s->b.len - from < most ? s->b.len : from + most;
	do {
		n = s->form->record_bytes(s->b.p + to);
		if (to > from && to - from + n > most)
			break;
		to += n;
	} while (to < s->b.len);
	return to;
}

void ty_spooled_section_put(struct ty_spooled_section *s)
{
	const struct ty_section_form *form = s->form;
	const size_t head = form->head_bytes;
	size_t from = head, to;

	s->put_ms = ty_now_ms();
	/* What waited for the end is more than one piece. A head takes the place of bytes that are
	 * written. */
	for (; from < s->b.len && !s->failed; from = to) {
		to = piece_end(s, from);
		if (!put_piece(s, s->b.p + from - head, to - from + head))
			break;
	}
	for (; from < s->b.len && form->unwritten; from += form->record_bytes(s->b.p + from))
		form->unwritten(s->ctx, s->b.p + from);
	s->b.len = 0;
}

void ty_spooled_section_tell(struct ty_spooled_section *s)
{
	char head[64];

	if (s->writer && !s->failed && s->form->head_bytes <= sizeof(head))
		put_piece(s, head, s->form->head_bytes);
}

void ty_spooled_section_tick(struct ty_spooled_section *s)
{
	if (!s->at_end && ty_now_ms() - s->put_ms >= PIECE_MS)
		ty_spooled_section_put(s);
}

static bool make_room(struct ty_spooled_section *s, size_t n)
{
	static const char zeros[64];
	const size_t head = s->form->head_bytes;

	if (s->b.len + n > TY_SPOOLED_PIECE && s->writer && !s->at_end)
		ty_spooled_section_put(s);
	if (s->failed)
		return false;
	if (ty_buf_reserve(&s->b, head + n)) {
		s->b.failed = 0; /* the next one may be smaller */
		return false;
	}
	if (!s->b.len)
		ty_buf_add(&s->b, zeros, head);
	return true;
}

bool ty_spooled_section_room(struct ty_spooled_section *s, size_t n)
{
	return ty_spooled_section_held(s) + n + TY_SPOOLED_LAST <= s->form->most && make_room(s, n);
}

bool ty_spooled_section_last(struct ty_spooled_section *s, size_t n)
{
	return n <= TY_SPOOLED_LAST && make_room(s, n);
}
