/* SPDX-License-Identifier: MIT */
/*
 * Merging, gaps, seeking and reading again, on streams made here: this file stands in for
 * format/'s chunk reader, so that chunks can be missing or damaged at will.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "ring_pages.h"
#include "trace.h"

#define PAGE	2048
#define STREAMS 4
#define CHUNKS	64

enum fault { GOOD, MISSING, DAMAGED, IO_ERROR };

static struct {
	struct ty_trace t;
	struct ty_trace_buffer buffers[2];
	struct ty_stream streams[STREAMS];
	struct {
		uint8_t *raw;
		uint32_t n;
		uint64_t first_page, first_ns, last_ns;
		enum fault fault;
	} chunk[STREAMS][CHUNKS];
	bool times;	/* the chunk directory has times */
	unsigned reads; /* of chunks */
} fake;

struct ty_chunk ty_trace_chunk(const struct ty_trace *t, uint32_t stream, uint32_t chunk)
{
	struct ty_chunk c = {.raw_bytes = fake.chunk[stream][chunk].n,
			     .first_page = fake.chunk[stream][chunk].first_page,
			     .missing = fake.chunk[stream][chunk].fault == MISSING};

	assert_true(t == &fake.t && chunk < fake.streams[stream].chunks);
	if (fake.times) {
		c.first_ns = fake.chunk[stream][chunk].first_ns;
		c.last_ns = fake.chunk[stream][chunk].last_ns;
	}
	return c;
}

int ty_trace_chunk_read(const struct ty_trace *t, uint32_t stream, uint32_t chunk, void *dst,
			struct ty_chunk_scratch *scratch, struct ty_err *err)
{
	enum fault f = fake.chunk[stream][chunk].fault;

	assert_true(f != MISSING);
	fake.reads++;
	if (f != GOOD)
		return ty_fail(err, f == DAMAGED ? TY_EFORMAT : TY_EIO, 0, "as the test wants it");
	memcpy(dst, fake.chunk[stream][chunk].raw, fake.chunk[stream][chunk].n);
	return 0;
}

static void reset(unsigned streams)
{
	for (unsigned s = 0; s < STREAMS; s++)
		for (unsigned c = 0; c < CHUNKS; c++)
			free(fake.chunk[s][c].raw);
	memset(&fake, 0, sizeof(fake));
	fake.t.path = "test";
	fake.t.long_size = 8;
	fake.t.version = 7;
	fake.buffers[0] = (struct ty_trace_buffer){"", "perf", PAGE};
	fake.buffers[1] = (struct ty_trace_buffer){"two", "perf", PAGE};
	fake.t.buffers.v = fake.buffers;
	fake.t.buffers.n = fake.t.buffers.cap = 2;
	fake.t.streams.v = fake.streams;
	fake.t.streams.n = fake.t.streams.cap = streams;
	for (unsigned s = 0; s < streams; s++)
		fake.streams[s] = (struct ty_stream){.buffer = s / 2, .cpu = s % 2};
}

/* Add a chunk of n pages to stream s; pages are to be filled by page(). */
static unsigned add_chunk(unsigned s, unsigned pages)
{
	struct ty_stream *st = &fake.streams[s];
	unsigned c = st->chunks++;

	fake.chunk[s][c].raw = calloc(pages ? pages : 1, PAGE);
	fake.chunk[s][c].n = pages * PAGE;
	fake.chunk[s][c].first_page = st->raw_bytes / PAGE;
	st->raw_bytes += pages * PAGE;
	return c;
}

/* A page with events at these times; data: tid = tag, tag + 1... */
static void page(unsigned s, unsigned c, unsigned p, uint64_t missed, const uint64_t *ts,
		 unsigned n, uint32_t tag)
{
	struct page_maker m;

	ty_page_begin(&m, fake.chunk[s][c].raw + p * PAGE, PAGE, n ? ts[0] : 0, 8, false);
	for (unsigned i = 0; i < n; i++) {
		uint32_t data[2] = {7, tag + i};
		uint64_t delta = i ? ts[i] - ts[i - 1] : 0;

		if (delta >> 27) {
			ty_page_extend(&m, delta);
			delta = 0;
		}
		ty_page_data(&m, (uint32_t)delta, data, 8);
	}
	ty_page_end(&m, missed);
	if (!p)
		fake.chunk[s][c].first_ns = n ? ts[0] : 0;
	fake.chunk[s][c].last_ns = n ? ts[0] : 0;
}
#define TIMES(...) (const uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / 8

static struct ty_events *open_events(void)
{
	struct ty_events *es;
	struct ty_err err = {0};

	assert_int_equal(ty_events_open(&fake.t, NULL, &es, &err), 0);
	return es;
}

static void expect_event(struct ty_events *es, uint64_t ts, unsigned stream, uint32_t tag)
{
	struct ty_event ev;

	assert_int_equal(ty_events_next(es, &ev, NULL), 1);
	assert_int_equal(ev.kind, TY_EV_OTHER);
	assert_int_equal(ev.ts_ns, ts);
	assert_int_equal(ev.buffer, stream / 2);
	assert_int_equal(ev.cpu, stream % 2);
	assert_int_equal(ev.tid, tag);
	assert_int_equal(ev.id, 7);
	assert_int_equal(ev.size, 8);
}

static bool to_end; /* of the latest gap */

static void expect_gap(struct ty_events *es, enum ty_gap what, unsigned stream, uint64_t from,
		       uint64_t ts, uint64_t count)
{
	struct ty_event ev;

	assert_int_equal(ty_events_next(es, &ev, NULL), 1);
	assert_int_equal(ev.kind, TY_EV_GAP);
	assert_int_equal(ev.u.gap.what, what);
	assert_int_equal(ev.buffer, stream / 2);
	assert_int_equal(ev.cpu, stream % 2);
	assert_int_equal(ev.u.gap.from_ns, from);
	assert_int_equal(ev.ts_ns, ts);
	assert_true(ev.u.gap.count == count);
	assert_null(ev.data);
	to_end = ev.u.gap.to_end;
}

static void expect_end(struct ty_events *es)
{
	struct ty_event ev;
	uint64_t done, all;

	assert_int_equal(ty_events_next(es, &ev, NULL), 0);
	assert_int_equal(ty_events_next(es, &ev, NULL), 0);
	ty_events_progress(es, &done, &all);
	assert_int_equal(done, all);
	ty_events_close(es);
}

static void merges_by_time_buffer_cpu(void **state)
{
	struct ty_events *es;

	reset(4);
	for (unsigned s = 0; s < 4; s++)
		add_chunk(s, 1);
	page(0, 0, 0, 0, TIMES(10, 30, 30), 1);
	page(1, 0, 0, 0, TIMES(5, 30), 11);
	page(2, 0, 0, 0, TIMES(30, 31), 21);
	page(3, 0, 0, 0, TIMES(29, UINT64_C(1) << 40), 31);
	es = open_events();
	expect_event(es, 5, 1, 11);
	expect_event(es, 10, 0, 1);
	expect_event(es, 29, 3, 31);
	expect_event(es, 30, 0, 2);
	expect_event(es, 30, 0, 3);
	expect_event(es, 30, 1, 12);
	expect_event(es, 30, 2, 21);
	expect_event(es, 31, 2, 22);
	expect_event(es, UINT64_C(1) << 40, 3, 32);
	expect_end(es);
	reset(0);
	es = open_events();
	expect_end(es);
	reset(1); /* a stream without chunks, and one of empty chunks */
	es = open_events();
	expect_end(es);
	add_chunk(0, 0);
	add_chunk(0, 1);
	es = open_events();
	expect_end(es);
}

static void gaps_lie_in_place(void **state)
{
	struct ty_events *es;

	reset(2);
	add_chunk(0, 3);
	page(0, 0, 0, 12, TIMES(100, 110), 1);
	page(0, 0, 1, UINT64_MAX, TIMES(120), 3);
	page(0, 0, 2, 5, NULL, 0, 0); /* an empty page; what it lost adds up with the next's */
	add_chunk(0, 1);
	page(0, 1, 0, 6, TIMES(140), 4);
	add_chunk(1, 1);
	page(1, 0, 0, 0, TIMES(119, 120, 121), 11);
	es = open_events();
	expect_gap(es, TY_GAP_OVERRUN, 0, 0, 100, 12);
	expect_event(es, 100, 0, 1);
	expect_event(es, 110, 0, 2);
	expect_event(es, 119, 1, 11);
	expect_gap(es, TY_GAP_OVERRUN, 0, 110, 120, UINT64_MAX);
	expect_event(es, 120, 0, 3);
	expect_event(es, 120, 1, 12);
	expect_event(es, 121, 1, 13);
	expect_gap(es, TY_GAP_OVERRUN, 0, 120, 140, 11);
	expect_event(es, 140, 0, 4);
	expect_end(es);
}

static void damage_is_a_gap(void **state)
{
	struct ty_events *es;
	struct ty_event ev;
	struct ty_err err = {0};
	unsigned c;

	reset(2);
	add_chunk(0, 1);
	page(0, 0, 0, 0, TIMES(100), 1);
	c = add_chunk(0, 2);
	fake.chunk[0][c].fault = DAMAGED;
	c = add_chunk(0, 1);
	fake.chunk[0][c].fault = MISSING;
	c = add_chunk(0, 2);
	page(0, c, 0, 3, TIMES(200, 210), 2);
	page(0, c, 1, 0, TIMES(220), 4);
	fake.chunk[0][c].raw[16 + 12] = 20; /* the second record is longer than the page's data */
	c = add_chunk(0, 1);
	page(0, c, 0, 0, TIMES(230), 5);
	fake.chunk[0][c].raw[9] = 0x70; /* commit beyond the page */
	add_chunk(1, 1);
	page(1, 0, 0, 0, TIMES(1), 11);
	c = add_chunk(1, 1);
	fake.chunk[1][c].fault = MISSING;
	fake.chunk[1][c].first_ns = 400;
	fake.chunk[1][c].last_ns = 500;
	fake.times = true;
	es = open_events();
	expect_event(es, 1, 1, 11);
	expect_event(es, 100, 0, 1);
	expect_gap(es, TY_GAP_OVERRUN, 0, 100, 200, 3);
	expect_gap(es, TY_GAP_DAMAGED, 0, 100, 200, UINT64_MAX);
	expect_event(es, 200, 0, 2);
	expect_gap(es, TY_GAP_DAMAGED, 0, 200, 220, UINT64_MAX);
	assert_false(to_end);
	expect_event(es, 220, 0, 4);
	expect_gap(es, TY_GAP_DAMAGED, 0, 220, 220, UINT64_MAX); /* and nothing after it */
	assert_true(to_end);
	expect_gap(es, TY_GAP_DAMAGED, 1, 1, 500, UINT64_MAX);
	assert_false(to_end); /* the chunk was the last one and says how far it went */
	expect_end(es);

	fake.chunk[0][1].fault = IO_ERROR;
	es = open_events();
	expect_event(es, 1, 1, 11);
	expect_event(es, 100, 0, 1);
	assert_int_equal(ty_events_next(es, &ev, &err), -TY_EIO);
	assert_string_equal(err.msg, "as the test wants it");
	ty_events_close(es);
}

static void unfinished_says_so_per_stream(void **state)
{
	struct ty_events *es;

	reset(2);
	fake.t.unfinished = true;
	add_chunk(0, 1);
	page(0, 0, 0, 0, TIMES(100), 1);
	add_chunk(1, 1);
	page(1, 0, 0, 0, TIMES(50, 120), 11);
	add_chunk(1, 1);
	fake.chunk[1][1].fault = DAMAGED;
	es = open_events();
	expect_event(es, 50, 1, 11);
	expect_event(es, 100, 0, 1);
	expect_gap(es, TY_GAP_UNFINISHED, 0, 100, 100, UINT64_MAX);
	assert_true(to_end);
	expect_event(es, 120, 1, 12);
	expect_gap(es, TY_GAP_DAMAGED, 1, 120, 120, UINT64_MAX);
	assert_true(to_end);
	expect_gap(es, TY_GAP_UNFINISHED, 1, 120, 120, UINT64_MAX);
	expect_end(es);
}

static void time_never_goes_back(void **state)
{
	struct ty_events *es;

	reset(1);
	add_chunk(0, 3);
	page(0, 0, 0, 0, TIMES(5000000), 1);
	page(0, 0, 1, 0, TIMES(4999990, 5000001), 2); /* an unsteady clock */
	page(0, 0, 2, 0, TIMES(10, 20), 4);	      /* damage */
	es = open_events();
	expect_event(es, 5000000, 0, 1);
	expect_event(es, 5000000, 0, 2);
	expect_event(es, 5000001, 0, 3);
	expect_gap(es, TY_GAP_DAMAGED, 0, 5000001, 5000001, UINT64_MAX);
	expect_event(es, 5000001, 0, 4);
	expect_gap(es, TY_GAP_DAMAGED, 0, 5000001, 5000001, UINT64_MAX);
	expect_event(es, 5000001, 0, 5);
	expect_end(es);
}

/* Chunks of 1 MB, twice as many as are kept: those that were looked up of late are not read again,
 * and whatever was dropped is. */
static void chunks_are_kept(void **state)
{
	enum { PAGES = (1 << 20) / PAGE, ALL = 2 * CHUNKS, FEW = 40 };
	static ty_loc loc[ALL];
	struct ty_events *es;
	struct ty_event ev;

	reset(2);
	for (unsigned i = 0; i < ALL; i++) {
		add_chunk(i % 2, PAGES);
		page(i % 2, i / 2, 0, 0, TIMES(1000 * (i + 1)), i);
	}
	es = open_events();
	ty_events_lookup_memory(es, 64 << 20);
	for (unsigned i = 0; i < ALL; i++) {
		assert_int_equal(ty_events_next(es, &ev, NULL), 1);
		assert_int_equal(ev.tid, i);
		loc[i] = ev.loc;
	}
	for (unsigned round = 0; round < 3; round++) {
		fake.reads = 0;
		for (unsigned i = 0; i < FEW; i++) {
			assert_int_equal(ty_events_read_at(es, loc[3 * i], &ev, NULL), 0);
			assert_int_equal(ev.tid, 3 * i);
		}
		assert_int_equal(fake.reads, round ? 0 : FEW);
	}
	for (unsigned round = 0; round < 2; round++) {
		fake.reads = 0;
		for (unsigned i = 0; i < ALL; i++) {
			assert_int_equal(ty_events_read_at(es, loc[i], &ev, NULL), 0);
			assert_int_equal(ev.tid, i);
		}
		assert_true(fake.reads >= ALL - 64); /* no more than 64 MB are kept */
	}
	ty_events_close(es);
	reset(2);
}

static uint32_t seed = 7;
static uint32_t rnd(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* Random streams: seeking gives what reading on gives, and each record can be read again. */
static void seek_and_read_at(void **state)
{
	static struct ty_event all[40000];

	for (int round = 0; round < 12; round++) {
		struct ty_events *es;
		struct ty_event ev;
		size_t n = 0;

		reset(STREAMS);
		fake.times = round & 1;
		fake.t.ts_offset_ns = round % 3 == 0 ? 0 : round % 3 == 1 ? 100000 : -900;
		for (unsigned s = 0; s < STREAMS; s++) {
			uint64_t t = 1000 + rnd(500);
			unsigned chunks = 1 + rnd(CHUNKS - 1);

			for (unsigned c = 0; c < chunks; c++) {
				unsigned pages = 1 + rnd(5);

				add_chunk(s, pages);
				for (unsigned p = 0; p < pages; p++) {
					uint64_t ts[150];
					unsigned k = rnd(rnd(6) ? 30 : 150);

					for (unsigned i = 0; i < k; i++)
						ts[i] = t += rnd(8) ? rnd(4) : rnd(2000);
					if (!k)
						page(s, c, p, 0, &t, 0, 0);
					else
						page(s, c, p, rnd(9) ? 0 : 1 + rnd(100), ts, k,
						     1000 * s + c);
					/* an empty page has a time as well */
					ty_page_put(&(struct page_maker){.be = false},
						    fake.chunk[s][c].raw + p * PAGE, k ? ts[0] : t,
						    8);
					if (!p)
						fake.chunk[s][c].first_ns = k ? ts[0] : t;
				}
				if (round >= 8 && !rnd(4)) {
					fake.chunk[s][c].fault = rnd(2) ? MISSING : DAMAGED;
					fake.chunk[s][c].first_ns = fake.chunk[s][c].last_ns = 0;
				}
			}
		}
		es = open_events();
		while (ty_events_next(es, &ev, NULL) > 0) {
			assert_true(n < sizeof(all) / sizeof(*all));
			assert_true(!n || ev.ts_ns >= all[n - 1].ts_ns);
			all[n++] = ev;
		}
		for (size_t i = 0; i < n; i += 1 + rnd(20)) {
			if (all[i].kind == TY_EV_GAP)
				continue;
			assert_int_equal(ty_events_read_at(es, all[i].loc, &ev, NULL), 0);
			assert_int_equal(ev.ts_ns, all[i].ts_ns);
			assert_int_equal(ev.tid, all[i].tid);
			assert_int_equal(ev.cpu, all[i].cpu);
			assert_int_equal(ev.buffer, all[i].buffer);
			assert_int_equal(ev.loc, all[i].loc);
		}
		/* Back and forth, as analyses ask. */
		for (unsigned k = 0; n && k < 3000; k++) {
			size_t i = rnd((uint32_t)n);

			if (all[i].kind == TY_EV_GAP)
				continue;
			assert_int_equal(ty_events_read_at(es, all[i].loc, &ev, NULL), 0);
			assert_int_equal(ev.ts_ns, all[i].ts_ns);
			assert_int_equal(ev.tid, all[i].tid);
		}
		for (int k = 0; k < 150; k++) {
			uint64_t t = all[rnd((uint32_t)n)].ts_ns + rnd(3) - 1;
			size_t i = 0;

			if (k == 0)
				t = 0;
			if (k == 1)
				t = UINT64_MAX;
			assert_int_equal(ty_events_seek(es, t, NULL), 0);
			while (i < n && all[i].ts_ns < t)
				i++;
			for (int left = 300; left && i < n; i++, left--) {
				assert_int_equal(ty_events_next(es, &ev, NULL), 1);
				assert_int_equal(ev.kind, all[i].kind);
				assert_int_equal(ev.ts_ns, all[i].ts_ns);
				assert_true(ev.loc == all[i].loc);
				assert_int_equal(ev.cpu, all[i].cpu);
				if (ev.kind == TY_EV_GAP)
					assert_int_equal(ev.u.gap.what, all[i].u.gap.what);
			}
			if (i == n)
				assert_int_equal(ty_events_next(es, &ev, NULL), 0);
		}
		ty_events_close(es);
	}
}

static void bad_places_and_sizes(void **state)
{
	struct ty_err err = {0};
	struct ty_events *es;
	struct ty_event ev;

	reset(1);
	add_chunk(0, 1);
	page(0, 0, 0, 0, TIMES(10, 20), 1);
	es = open_events();
	assert_int_equal(ty_events_next(es, &ev, NULL), 1);
	assert_int_equal(ty_events_read_at(es, ev.loc, &ev, NULL), 0);
	assert_int_equal(ty_events_read_at(es, ev.loc + 1, &ev, &err), -TY_ENOTFOUND);
	assert_int_equal(ty_events_read_at(es, 0, &ev, NULL), -TY_ENOTFOUND);
	assert_int_equal(ty_events_read_at(es, UINT64_MAX, &ev, NULL), -TY_ENOTFOUND);
	assert_int_equal(ty_events_read_at(es, ev.loc | UINT64_C(1) << 20, &ev, NULL),
			 -TY_ENOTFOUND);
	assert_int_equal(ty_events_read_at(es, ev.loc | UINT64_C(1) << 52, &ev, NULL),
			 -TY_ENOTFOUND);
	expect_event(es, 20, 0, 2); /* the walk continues where it was */
	ty_events_close(es);
	for (uint32_t size = 0; size < 1u << 31; size = size * 3 + 1) {
		fake.buffers[0].page_size = size;
		if (!ty_events_open(&fake.t, NULL, &es, NULL)) {
			while (ty_events_next(es, &ev, NULL) > 0)
				;
			ty_events_close(es);
		} else {
			assert_null(es);
		}
	}
	fake.buffers[0].page_size = PAGE;
	fake.streams[0].buffer = 2;
	assert_int_equal(ty_events_open(&fake.t, NULL, &es, &err), -TY_EFORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merges_by_time_buffer_cpu),
		cmocka_unit_test(gaps_lie_in_place),
		cmocka_unit_test(damage_is_a_gap),
		cmocka_unit_test(unfinished_says_so_per_stream),
		cmocka_unit_test(time_never_goes_back),
		cmocka_unit_test(chunks_are_kept),
		cmocka_unit_test(seek_and_read_at),
		cmocka_unit_test(bad_places_and_sizes),
	};
	int r = cmocka_run_group_tests(tests, NULL, NULL);

	reset(0);
	return r;
}
