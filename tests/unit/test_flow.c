/* SPDX-License-Identifier: MIT */
/*
 * A flow in ranges, on all CPUs, by the fast decoder, compared with libipt's instruction decoder on
 * the whole stream: the same instructions, branches and times, as a whole and in windows.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "flow.h"
#include "flow_branch.h"
#include "flow_priv.h"
#include "pt_encode.h"
#include "vec.h"

#define BASE 0x400000ull

/*
 * 400000 call 400010      400010 je 400014        400020 jmp rax
 * 400005 jmp 400000       400012 nop nop          400022 syscall
 *                         400014 ret              400024 vpternlog (AVX-512), jmp 400000
 */
static const uint8_t code[64] = {0xe8, 0x0b, 0,	   0,		0,    0xeb, 0xf9, [16] = 0x74, 0x02,
				 0x90, 0x90, 0xc3, [32] = 0xff, 0xe0, 0x0f, 0x05, 0x62,	       0xf3,
				 0x75, 0x48, 0x25, 0xc0,	0xff, 0xeb, 0xd3};

typedef VEC(struct ty_flow_item) items;

/* Random ways through the code, with interrupts and system calls. */
static void walk(struct ty_pt_enc *e, unsigned n)
{
	uint64_t tsc = 1000;

	srand(7);
	ty_pt_enc_on(e, tsc, BASE, true);
	for (unsigned i = 0; i < n; i++) {
		uint64_t next = BASE + 36;

		ty_pt_enc_cond(e, tsc += 10, rand() & 1);
		switch (rand() % 16) {
		case 0: /* interrupted before the ret, and on at the jump through rax */
			ty_pt_enc_async_off(e, BASE + 20);
			ty_pt_enc_on(e, tsc += 100, BASE + 32, true);
			ty_pt_enc_indirect(e, tsc += 10, BASE + 34);
			ty_pt_enc_off(e);
			ty_pt_enc_on(e, tsc += 100, BASE + 36, true);
			break;
		case 1:
			ty_pt_enc_indirect(e, tsc += 10, BASE + 34);
			ty_pt_enc_off(e);
			ty_pt_enc_on(e, tsc += 100, BASE + 36, true);
			break;
		default: ty_pt_enc_indirect(e, tsc += 10, next = BASE + 5);
		}
		ty_pt_enc_tick(e, tsc, next, true);
	}
	ty_pt_enc_async_off(e, BASE);
}

static size_t read_code(void *ctx, uint64_t tsc, uint64_t ip, void *buf, size_t n)
{
	size_t left = ip >= BASE && ip < BASE + sizeof(code) ? sizeof(code) - (ip - BASE) : 0;

	n = n < left ? n : left;
	memcpy(buf, code + (left ? ip - BASE : 0), n);
	return n;
}

/* Thread 7 and the code that it runs; no packets yet. */
static struct ty_flow *with_code(void)
{
	struct ty_flow *f = ty_flow_new(NULL, NULL);
	struct ty_code *c = ty_flow_code(f);

	assert_int_equal(0, ty_flow_thread(f, 7, 7));
	assert_int_equal(0, ty_code_map(c, 7, 0, BASE, sizeof(code), 0,
					ty_code_blob(c, "code", code, sizeof(code))));
	ty_flow_set_time(f, 0, 1, 0);
	return f;
}

static void split_all(struct ty_flow *f)
{
	const struct ty_flow_window all = {.to_ns = UINT64_MAX};

	assert_int_equal(0, ty_flow_split(f, &all));
}

static struct ty_flow *flow_of(const struct ty_buf *b)
{
	struct ty_flow *f = with_code();

	assert_int_equal(0, ty_flow_add(f, -1, 7, 0, b->p, b->len, 0));
	assert_int_equal(0, ty_flow_start(f, NULL));
	return f;
}

static void plain(const struct ty_buf *b, items *out, items *branches)
{
	const struct ty_pt_cpu cpu = {0};
	struct ty_brancher br = {0};
	struct ty_flow_item it;
	struct ty_branch two[2];
	struct ty_pt *pt;

	assert_int_equal(
		0, ty_pt_new(&cpu, (const uint8_t *)b->p, b->len, read_code, NULL, &pt, NULL));
	while (ty_pt_next(pt, &it) > 0) {
		unsigned n = ty_brancher_feed(&br, &it, two);

		assert_int_not_equal(TY_FLOW_GAP, it.kind);
		assert_int_equal(0, vec_push(out, it));
		for (unsigned i = 0; i < n; i++)
			assert_int_equal(
				0, vec_push(branches, (struct ty_flow_item){.ip = two[i].from,
									    .to = two[i].to}));
	}
	ty_pt_free(pt);
}

static void pull(struct ty_flow *f, items *out)
{
	struct ty_flow_at at;

	out->n = 0;
	while (ty_flow_next(f, &at) > 0) {
		assert_int_equal(at.item.tsc, at.ts_ns);
		assert_int_equal(0, vec_push(out, at.item));
	}
}

static void test_same(void **state)
{
	struct ty_flow_window w = {.to_ns = UINT64_MAX};
	items want = {0}, taken = {0}, got = {0}, part = {0};
	struct ty_pt_enc e;
	struct ty_flow *f;

	if (!ty_pt_available())
		skip();
	ty_pt_enc_init(&e, 16 << 20);
	walk(&e, 20000);
	plain(&e.out, &want, &taken);
	f = flow_of(&e.out);
	pull(f, &got);
	assert_int_equal(want.n, got.n);
	assert_true(want.n > 50000);
	for (size_t i = 0; i < want.n; i++) {
		assert_int_equal(want.v[i].kind, got.v[i].kind);
		assert_int_equal(want.v[i].ip, got.v[i].ip);
		assert_int_equal(want.v[i].to, got.v[i].to);
		assert_int_equal(want.v[i].cls, got.v[i].cls);
		assert_int_equal(want.v[i].size, got.v[i].size);
		assert_memory_equal(want.v[i].raw, got.v[i].raw, sizeof(got.v[i].raw));
	}
	/* Windows: what the whole has there, whatever ranges they start and end in. */
	for (unsigned n = 0; n < 40; n++) {
		unsigned k = n * 7 % 20; /* each twice: the second time it is kept */
		size_t lo = 0, hi;

		w.from_ns = 1000 + k * 20011;
		w.to_ns = w.from_ns + k * 3001;
		assert_int_equal(0, ty_flow_seek(f, &w, false, NULL));
		pull(f, &part);
		while (lo < got.n && got.v[lo].tsc < w.from_ns)
			lo++;
		for (hi = lo; hi < got.n && got.v[hi].tsc <= w.to_ns;)
			hi++;
		assert_int_equal(hi - lo, part.n);
		for (size_t i = 0; i < part.n; i++)
			assert_int_equal(got.v[lo + i].ip, part.v[i].ip);
	}
	w.from_ns = w.to_ns = UINT64_MAX - 1;
	assert_int_equal(0, ty_flow_seek(f, &w, false, NULL));
	assert_in_range(f->kept_bytes, 1, TY_FLOW_KEEP);
	w = (struct ty_flow_window){.to_ns = UINT64_MAX};
	assert_int_equal(0, ty_flow_seek(f, &w, true, NULL));
	pull(f, &got);
	assert_int_equal(taken.n, got.n);
	for (size_t i = 0; i < taken.n; i++) {
		assert_int_equal(taken.v[i].ip, got.v[i].ip);
		assert_int_equal(taken.v[i].to, got.v[i].to);
	}
	/* Left in the middle. */
	assert_int_equal(0, ty_flow_seek(f, &w, true, NULL));
	ty_flow_free(f);
	ty_pt_enc_fini(&e);
	vec_fini(&want);
	vec_fini(&taken);
	vec_fini(&got);
	vec_fini(&part);
}

/* A stream that is read when it is wanted: from a buffer, until `left` calls have been made. */
struct store {
	const struct ty_buf *b;
	atomic_int left;
};

static int read_store(void *ctx, uint64_t place, void *buf, size_t n)
{
	struct store *s = ctx;

	if (atomic_fetch_sub(&s->left, 1) <= 0)
		return -TY_EIO;
	if (place > s->b->len || n > s->b->len - place) /* may be another thread: no assertion */
		return -TY_EFORMAT;
	memcpy(buf, s->b->p + place, n);
	return 0;
}

/* A PSB, then nothing but padding up to another: the stream's bytes, none of which is kept. */
enum { HEAD = 64 << 10 };
struct padded {
	const struct ty_buf *b;
	uint64_t hole;
};

static int read_padded(void *ctx, uint64_t place, void *buf, size_t n)
{
	const struct padded *p = ctx;

	memset(buf, 0, n);
	for (size_t i = 0; i < n && (place + i < HEAD || place + i >= HEAD + p->hole); i++) {
		uint64_t at = place + i < HEAD ? place + i : place + i - HEAD - p->hole;

		((uint8_t *)buf)[i] = at < p->b->len ? (uint8_t)p->b->p[at] : 0;
	}
	return 0;
}

/* A range that is too long is a gap; what is behind it, and other streams, are whole. */
static void test_too_long(void **state)
{
	struct ty_flow_at at;
	struct ty_pt_enc e;
	struct ty_flow *f;
	struct padded p = {.b = &e.out, .hole = TY_FLOW_RANGE_MAX + (1 << 20)};
	uint64_t gaps = 0, insns[2] = {0};

	if (!ty_pt_available())
		skip();
	ty_pt_enc_init(&e, 16 << 20);
	walk(&e, 30000);
	assert_true(e.out.len > HEAD);
	f = with_code();
	assert_int_equal(0, ty_flow_thread(f, 7, 9));
	ty_flow_set_read(f, read_padded, &p);
	assert_int_equal(0, ty_flow_add(f, -1, 9, 0, e.out.p, e.out.len, 0));
	assert_int_equal(0, ty_flow_add_place(f, -1, 7, 0, 0, HEAD + p.hole + e.out.len, 0));
	assert_int_equal(0, ty_flow_start(f, NULL));
	while (ty_flow_next(f, &at) > 0) {
		insns[at.tid == 7] += at.item.kind == TY_FLOW_INSN;
		if (at.item.kind != TY_FLOW_GAP)
			continue;
		assert_non_null(strstr(at.item.text, "too many bytes without a PSB"));
		assert_true(at.ts_ns != TY_FLOW_NO_TIME);
		gaps++;
	}
	assert_int_equal(0, f->failed);
	assert_int_equal(1, gaps);
	assert_true(insns[0] > 100000 && insns[1] > insns[0]);
	ty_flow_free(f);
	ty_pt_enc_fini(&e);
}

/* Streams that come at the same time to ranges that the fast decoder rejects, and hold them:
 * what they hold never gets beyond what they may, for which of them there is no room is a gap that
 * says so, and all is given back. */
static void test_no_room(void **state)
{
	static const struct {
		int64_t beyond; /* room for a range and so much more */
		unsigned gaps;
	} cases[] = {{4 << 20, 1}, {0, 1}, {-1, 2}, {-600, 2}};
	struct ty_flow_at at;
	struct ty_pt_enc e;
	struct padded p = {.b = &e.out, .hole = TY_FLOW_WALK_MAX + (1 << 20)};

	if (!ty_pt_available())
		skip();
	ty_pt_enc_init(&e, 16 << 20);
	walk(&e, 30000);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ty_flow *f = with_code();
		size_t longest = 0, room;
		unsigned gaps = 0;

		assert_int_equal(0, ty_flow_thread(f, 7, 9));
		ty_flow_set_read(f, read_padded, &p);
		for (int32_t tid = 7; tid <= 9; tid += 2)
			assert_int_equal(0, ty_flow_add_place(f, -1, tid, 0, 0,
							      HEAD + p.hole + e.out.len, 0));
		assert_int_equal(0, ty_flow_start(f, NULL));
		split_all(f);
		vec_each (r, &f->ranges)
			if (ty_flow_range_bytes(r) > longest)
				longest = ty_flow_range_bytes(r);
		assert_true(longest > p.hole);
		room = (size_t)((int64_t)longest + cases[i].beyond);
		f->read_max = room;
		while (ty_flow_next(f, &at) > 0) {
			assert_true(f->read_max <= room);
			if (at.item.kind != TY_FLOW_GAP)
				continue;
			assert_non_null(strstr(at.item.text, "need slow decoding"));
			gaps++;
		}
		assert_int_equal(0, f->failed);
		assert_int_equal(cases[i].gaps, gaps);
		assert_int_equal(room, f->read_max);
		ty_flow_free(f);
	}
	ty_pt_enc_fini(&e);
}

static void density(const struct ty_buf *b, uint64_t to_ns, uint64_t bins[64])
{
	struct ty_flow *f = flow_of(b);

	assert_true(ty_flow_density(f, 7, 0, to_ns, 64, bins, NULL));
	ty_flow_free(f);
}

/* One time that is far ahead, whichever it is, changes where the bytes about it are counted, and
 * nothing else: but the last but one, which nothing shows to be wrong. */
static void test_odd_time(void **state)
{
	uint64_t want[64], got[64], to_ns;
	struct ty_pt_enc e;
	struct ty_flow *f;
	size_t n;

	if (!ty_pt_available())
		skip();
	ty_pt_enc_init(&e, 16 << 20);
	walk(&e, 400000);
	f = flow_of(&e.out);
	split_all(f);
	n = f->ranges.n;
	assert_true(n > 8);
	to_ns = f->ranges.v[n - 1].at.tsc;
	density(&e.out, to_ns, want);
	for (size_t k = 0; k + 2 < n; k++) {
		const struct ty_flow_range *r = &f->ranges.v[k];
		char *tsc = memchr(e.out.p + r->at.off + 16, 0x19, 64);
		uint64_t from = k ? r[-1].at.tsc : 0;

		assert_non_null(tsc);
		tsc[6] ^= 1; /* by 2^40 ns */
		density(&e.out, to_ns, got);
		tsc[6] ^= 1;
		for (uint64_t i = 0; i < 64; i++) {
			bool about = (i + 1) * to_ns / 64 >= from && i * to_ns / 64 <= r[1].at.tsc;

			if (!about)
				assert_in_range(got[i], want[i] - 1, want[i] + 1);
		}
	}
	ty_flow_free(f);
	ty_pt_enc_fini(&e);
}

static size_t coarse(const struct ty_flow *f)
{
	size_t n = 0;

	vec_each (r, &f->ranges)
		n += r->coarse_to != 0;
	return n;
}

static void same_ranges(const struct ty_flow *a, const struct ty_flow *b)
{
	assert_int_equal(a->ranges.n, b->ranges.n);
	for (size_t i = 0; i < a->ranges.n; i++) {
		assert_int_equal(a->ranges.v[i].at.off, b->ranges.v[i].at.off);
		assert_int_equal(a->ranges.v[i].end, b->ranges.v[i].end);
	}
}

/* A stream of several MB, of which only what windows want is searched: their items are those of a
 * stream that was searched as a whole, which is what it comes to. */
static void test_coarse(void **state)
{
	struct ty_flow_window w = {0};
	items want = {0}, got = {0};
	struct ty_flow *all, *lazy;
	uint64_t first[2], last[2];
	struct ty_pt_enc e;

	if (!ty_pt_available())
		skip();
	ty_pt_enc_init(&e, 64 << 20);
	walk(&e, 1500000);
	assert_true(e.out.len > 4 << 20);
	all = flow_of(&e.out);
	lazy = flow_of(&e.out);
	split_all(all);
	assert_int_equal(0, coarse(all));
	assert_true(coarse(lazy) > 2);
	assert_true(ty_flow_span(all, &first[0], &last[0]));
	assert_true(ty_flow_span(lazy, &first[1], &last[1]));
	assert_int_equal(first[0], first[1]);
	assert_int_equal(last[0], last[1]);
	for (uint64_t k = 0; k < 12; k++) {
		w.from_ns = last[0] / 12 * (k * 5 % 12);
		w.to_ns = w.from_ns + 3000 * (k + 1);
		assert_int_equal(0, ty_flow_seek(all, &w, false, NULL));
		assert_int_equal(0, ty_flow_seek(lazy, &w, false, NULL));
		assert_true(k > 1 || coarse(lazy));
		pull(all, &want);
		pull(lazy, &got);
		assert_true(want.n > 100);
		assert_int_equal(want.n, got.n);
		for (size_t i = 0; i < want.n; i++) {
			assert_int_equal(want.v[i].ip, got.v[i].ip);
			assert_int_equal(want.v[i].tsc, got.v[i].tsc);
		}
	}
	split_all(lazy);
	same_ranges(all, lazy);
	ty_flow_free(lazy);
	ty_flow_free(all);
	ty_pt_enc_fini(&e);
	vec_fini(&want);
	vec_fini(&got);
}

static void same_items(const items *a, const items *b)
{
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		assert_int_equal(a->v[i].ip, b->v[i].ip);
		assert_int_equal(a->v[i].tsc, b->v[i].tsc);
	}
}

/* What a window shows where the times of a stream fall between the places that a start looks at:
 * the same, whatever was looked at before; and all of it in the window that sees the fall. */
static void check_fall(const struct ty_buf *b, uint64_t at, uint64_t wrong, uint64_t end)
{
	struct ty_flow_window w = {.from_ns = at, .to_ns = at + 3000};
	struct ty_flow *f = flow_of(b), *fresh;
	items want = {0}, got = {0};
	uint64_t spans[4];
	struct ty_flow_at it;

	while (ty_flow_next(f, &it) > 0)
		if (it.ts_ns >= w.from_ns && it.ts_ns <= w.to_ns)
			assert_int_equal(0, vec_push(&want, it.item));
	assert_true(want.n > 100);
	ty_flow_free(f);
	f = flow_of(b);
	assert_true(ty_flow_span(f, &spans[0], &spans[1]));
	assert_int_equal(0, ty_flow_seek(f, &w, false, NULL));
	pull(f, &got);
	same_items(&want, &got);
	for (uint64_t k = 0; k < 8; k++) {
		w.from_ns = k == 7 ? wrong : end / 7 * (k * 3 % 7);
		w.to_ns = w.from_ns + 3000;
		fresh = flow_of(b);
		assert_int_equal(0, ty_flow_seek(fresh, &w, false, NULL));
		pull(fresh, &want);
		ty_flow_free(fresh);
		assert_true(k == 7 || want.n > 100);
		assert_int_equal(0, ty_flow_seek(f, &w, false, NULL));
		pull(f, &got);
		same_items(&want, &got);
	}
	split_all(f);
	assert_true(ty_flow_span(f, &spans[2], &spans[3]));
	assert_int_equal(spans[0], spans[2]);
	assert_int_equal(spans[1], spans[3]);
	ty_flow_free(f);
	vec_fini(&want);
	vec_fini(&got);
}

static void test_fall(void **state)
{
	struct ty_pt_enc e;
	struct ty_flow *f;
	uint64_t end;
	uint8_t *tsc, was[8];
	size_t k;

	if (!ty_pt_available())
		skip();
	ty_pt_enc_init(&e, 64 << 20);
	walk(&e, 1000000);
	f = flow_of(&e.out);
	split_all(f);
	for (k = f->ranges.n / 3; !f->ranges.v[k].inner || !f->ranges.v[k + 1].inner; k++)
		assert_true(k + 3 < f->ranges.n);
	end = f->ranges.v[f->ranges.n - 1].at.tsc;
	tsc = memchr(e.out.p + f->ranges.v[k].at.off + 16, 0x19, 64);
	assert_non_null(tsc);
	memcpy(was, tsc, sizeof(was));
	for (int ahead = 0; ahead < 2; ahead++) {
		/* By 2^40 ns, or to the start. */
		tsc[6] = (uint8_t)(was[6] ^ ahead);
		if (!ahead)
			tsc[3] = tsc[4] = 0;
		check_fall(&e.out, f->ranges.v[k + 1].at.tsc,
			   ahead ? f->ranges.v[k].at.tsc ^ 1ull << 40
				 : f->ranges.v[k].at.tsc & 0xffff,
			   end);
		memcpy(tsc, was, sizeof(was));
	}
	ty_flow_free(f);
	ty_pt_enc_fini(&e);
}

/* In pieces of any size, which continue each other. */
static struct ty_flow *flow_of_places(struct store *s, unsigned *seed)
{
	struct ty_flow *f = with_code();

	ty_flow_set_read(f, read_store, s);
	for (size_t at = 0, n; at < s->b->len; at += n) {
		n = 1 + (size_t)rand_r(seed) % 30000;
		n = n < s->b->len - at ? n : s->b->len - at;
		assert_int_equal(0, ty_flow_add_place(f, -1, 7, 0, at, n, 500 + at));
	}
	return f;
}

static void test_places(void **state)
{
	items want = {0}, got = {0};
	struct ty_pt_enc e;
	struct store s = {.b = &e.out, .left = INT_MAX};
	struct ty_flow *f;
	struct ty_flow_at at;
	unsigned seed = 3;
	int calls, r;

	if (!ty_pt_available())
		skip();
	ty_pt_enc_init(&e, 16 << 20);
	walk(&e, 100000);
	f = flow_of(&e.out);
	split_all(f);
	assert_true(f->ranges.n > 3);
	pull(f, &want);
	ty_flow_free(f);
	f = flow_of_places(&s, &seed);
	assert_int_equal(0, ty_flow_start(f, NULL));
	calls = INT_MAX - atomic_load(&s.left);
	pull(f, &got);
	ty_flow_free(f);
	assert_int_equal(want.n, got.n);
	for (size_t i = 0; i < want.n; i++) {
		assert_int_equal(want.v[i].kind, got.v[i].kind);
		assert_int_equal(want.v[i].ip, got.v[i].ip);
		assert_int_equal(want.v[i].tsc, got.v[i].tsc);
	}
	/* What cannot be read is an error, whenever it is noticed. */
	for (int left = 0; left < calls + 20; left++) {
		seed = 3;
		atomic_store(&s.left, left);
		f = flow_of_places(&s, &seed);
		r = ty_flow_start(f, NULL);
		while (!r && (r = ty_flow_next(f, &at)) > 0)
			r = 0;
		assert_int_equal(left < calls ? -TY_EIO : r, r);
		assert_true(r == -TY_EIO || left > calls);
		ty_flow_free(f);
	}
	ty_pt_enc_fini(&e);
	vec_fini(&want);
	vec_fini(&got);
}

/* Small pieces, between which the file has something else, are read many at once. */
static void test_small_pieces(void **state)
{
	items want = {0}, got = {0};
	struct ty_pt_enc e;
	struct ty_buf file;
	struct store s = {.b = &file, .left = INT_MAX};
	struct ty_flow *f;
	unsigned seed = 4;
	int pieces = 0, reads;

	if (!ty_pt_available())
		skip();
	ty_pt_enc_init(&e, 16 << 20);
	ty_buf_init(&file, SIZE_MAX / 2);
	walk(&e, 100000);
	f = flow_of(&e.out);
	split_all(f);
	pull(f, &want);
	ty_flow_free(f);
	f = with_code();
	ty_flow_set_read(f, read_store, &s);
	for (size_t at = 0, n; at < e.out.len; at += n, pieces++) {
		n = 1 + (size_t)rand_r(&seed) % 300;
		n = n < e.out.len - at ? n : e.out.len - at;
		for (unsigned k = rand_r(&seed) % 100; k; k--)
			assert_int_equal(0, ty_buf_addc(&file, (uint8_t)rand_r(&seed)));
		assert_int_equal(0, ty_flow_add_place(f, -1, 7, 0, file.len, n, 500 + at));
		assert_int_equal(0, ty_buf_add(&file, e.out.p + at, n));
	}
	assert_int_equal(0, ty_flow_start(f, NULL));
	pull(f, &got);
	ty_flow_free(f);
	reads = INT_MAX - atomic_load(&s.left);
	assert_in_range(reads, 1, pieces / 8);
	assert_int_equal(want.n, got.n);
	for (size_t i = 0; i < want.n; i++) {
		assert_int_equal(want.v[i].kind, got.v[i].kind);
		assert_int_equal(want.v[i].ip, got.v[i].ip);
		assert_int_equal(want.v[i].tsc, got.v[i].tsc);
	}
	ty_pt_enc_fini(&e);
	ty_buf_fini(&file);
	vec_fini(&want);
	vec_fini(&got);
}

/* The search for PSBs, beside the plain one. */
static void test_psb(void **state)
{
	uint8_t psb[16], p[100];
	unsigned seed = 5;

	for (size_t i = 0; i < sizeof(psb); i++)
		psb[i] = i % 2 ? 0x82 : 0x02;
	for (int round = 0; round < 200000; round++) {
		size_t n = (size_t)rand_r(&seed) % sizeof(p), from = (size_t)rand_r(&seed) % 90;
		const uint8_t *hit;

		/* Runs of what a PSB is made of, rarely broken. */
		for (size_t i = 0; i < n; i++)
			p[i] = rand_r(&seed) % 16 ? psb[(i + (n & 1)) % 2] : 0x02;
		hit = from < n ? memmem(p + from, n - from, psb, sizeof(psb)) : NULL;
		assert_int_equal(hit ? (size_t)(hit - p) : n, ty_pt_psb_after(p, n, from));
	}
}

static size_t resident(void)
{
	struct rusage u;

	assert_int_equal(0, getrusage(RUSAGE_SELF, &u));
	return (size_t)u.ru_maxrss << 10;
}

/* Hostile: before each branch a thousand jumps without a packet, in many streams, which all
 * hold their range. What is held is bounded by what there are packets. */
static void test_jumps(void **state)
{
	enum { JUMPS = 1300, STREAMS = 24, BITS = 700, MOST = 128 << 20 };
	static const uint8_t jump[] = {0xeb, 0}, back[] = {0x0f, 0x84};
	const int32_t far = -(int32_t)(sizeof(jump) * JUMPS + 6);
	struct ty_flow_at at;
	struct ty_flow *f;
	struct ty_code *c;
	struct ty_buf page;
	struct ty_pt_enc e;
	size_t before;

	if (!ty_pt_available())
		skip();
	ty_buf_init(&page, 4096);
	for (size_t i = 0; i < JUMPS; i++)
		ty_buf_add(&page, jump, sizeof(jump));
	ty_buf_add(&page, back, sizeof(back));
	ty_buf_addle(&page, (uint32_t)far, 4);
	ty_pt_enc_init(&e, 1 << 20);
	ty_pt_enc_on(&e, 1000, BASE, true);
	for (unsigned i = 0; i < BITS; i++)
		ty_pt_enc_cond(&e, 1000, true);
	ty_pt_enc_async_off(&e, BASE);
	f = ty_flow_new(NULL, NULL);
	c = ty_flow_code(f);
	for (int32_t tid = 1; tid <= STREAMS; tid++) {
		assert_int_equal(0, ty_flow_thread(f, 7, tid));
		assert_int_equal(0, ty_flow_add(f, -1, tid, (uint32_t)tid, e.out.p, e.out.len, 0));
	}
	assert_int_equal(0, ty_code_map(c, 7, 0, BASE, page.len, 0,
					ty_code_blob(c, "code", page.p, page.len)));
	before = resident();
	assert_int_equal(0, ty_flow_start(f, NULL));
	assert_int_equal(1, ty_flow_next(f, &at));
	assert_true(resident() - before < MOST);
	ty_flow_free(f);
	ty_pt_enc_fini(&e);
	ty_buf_fini(&page);
}

/* Pieces of a stream that jump, overlap and are empty, as no kernel writes them; losses anywhere.
 */
static void test_pieces(void **state)
{
	static const uint64_t offs[] = {0, 1000, 994, 1000, 995, 4999, UINT64_MAX};
	struct ty_flow_at at;
	unsigned seed = 1;

	if (!ty_pt_available())
		skip();
	for (int round = 0; round < 20000; round++) {
		struct ty_flow *f = ty_flow_new(NULL, NULL);
		struct ty_pt_enc e;

		ty_pt_enc_init(&e, 1 << 20);
		ty_pt_enc_on(&e, 1000, BASE, true);
		assert_int_equal(0, ty_flow_thread(f, 7, 7));
		ty_flow_set_time(f, 0, 1, 0);
		for (int i = 0; i < 6; i++) {
			uint64_t off = offs[rand_r(&seed) % (sizeof(offs) / sizeof(*offs))];
			size_t n = rand_r(&seed) % 3 ? rand_r(&seed) % 3 : e.out.len;

			assert_int_equal(0, ty_flow_add(f, -1, 7, 0, e.out.p,
							n < e.out.len ? n : e.out.len, off));
			assert_int_equal(0, ty_flow_loss(f, -1, 7, off + rand_r(&seed) % 20));
		}
		if (!ty_flow_start(f, NULL))
			while (ty_flow_next(f, &at) > 0)
				;
		ty_flow_free(f);
		ty_pt_enc_fini(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),	    cmocka_unit_test(test_coarse),
		cmocka_unit_test(test_places),	    cmocka_unit_test(test_psb),
		cmocka_unit_test(test_pieces),	    cmocka_unit_test(test_jumps),
		cmocka_unit_test(test_too_long),    cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_odd_time),    cmocka_unit_test(test_fall),
		cmocka_unit_test(test_small_pieces)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
