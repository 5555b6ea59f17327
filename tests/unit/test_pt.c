/* SPDX-License-Identifier: MIT */
/*
 * Intel PT packets of our own making (pt_encode.h) through the decoder: every kind of packet,
 * streams that start and end anywhere, garbage in the middle, code that changes, and call depths
 * behind a gap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "flow.h"
#include "flow_branch.h"
#include "flow_calls.h"
#include "pt_encode.h"

#define BASE 0x400000ull

/*
 * 400000 call 400010      400010 je 400014
 * 400005 jmp 400000       400012 nop nop
 *                         400014 ret
 */
static const uint8_t code[32] = {0xe8, 0x0b,	    0,	  0,	0,    0xeb,
				 0xf9, [16] = 0x74, 0x02, 0x90, 0x90, 0xc3};

static void rounds(struct ty_pt_enc *e, unsigned n, uint64_t *tsc)
{
	for (unsigned i = 0; i < n; i++) {
		ty_pt_enc_cond(e, ++*tsc, i & 1);
		ty_pt_enc_indirect(e, ++*tsc, BASE + 5);
		ty_pt_enc_tick(e, *tsc, BASE + 5, true);
	}
}

/* A flow of one thread (tid 7 of process 7) with the code above. */
static struct ty_flow *flow_of(const struct ty_buf *b, const void *bytes, size_t n)
{
	struct ty_flow *f = ty_flow_new(NULL, NULL);
	struct ty_code *c = ty_flow_code(f);

	assert_int_equal(0, ty_flow_thread(f, 7, 7));
	assert_int_equal(0, ty_code_map(c, 7, 0, BASE, n, 0, ty_code_blob(c, "code", bytes, n)));
	ty_flow_set_time(f, 0, 1, 0);
	assert_int_equal(0, ty_flow_add(f, -1, 7, 0, b->p, b->len, 0));
	assert_int_equal(0, ty_flow_start(f, NULL));
	return f;
}

static void skip_without_ipt(void)
{
	if (!ty_pt_available())
		skip();
}

static void test_rounds(void **state)
{
	struct ty_flow_at at;
	struct ty_pt_enc e;
	uint64_t tsc = 1000, insns = 0, gaps = 0, last = 0;
	unsigned starts = 0, stops = 0, asyncs = 0;
	struct ty_flow *f;

	skip_without_ipt();
	ty_pt_enc_init(&e, 1 << 20);
	ty_pt_enc_on(&e, tsc, BASE, true);
	rounds(&e, 4000, &tsc);
	ty_pt_enc_async_off(&e, BASE + 5);
	ty_pt_enc_on(&e, ++tsc, BASE + 5, true);
	ty_pt_enc_cond(&e, ++tsc, true);
	ty_pt_enc_off_to(&e, 0x500000);
	f = flow_of(&e.out, code, sizeof(code));
	while (ty_flow_next(f, &at) > 0) {
		insns += at.item.kind == TY_FLOW_INSN;
		gaps += at.item.kind == TY_FLOW_GAP;
		starts += at.item.kind == TY_FLOW_START;
		stops += at.item.kind == TY_FLOW_STOP;
		asyncs += at.item.kind == TY_FLOW_ASYNC;
		assert_true(at.ts_ns >= last);
		last = at.ts_ns;
		assert_int_equal(7, at.tid);
	}
	/* call je (nop nop) ret jmp; then jmp call je ret */
	assert_int_equal(2000 * 4 + 2000 * 6 - 1 + 4, insns);
	assert_int_equal(0, gaps);
	assert_int_equal(2, starts);
	assert_int_equal(1, stops);
	assert_int_equal(1, asyncs);
	ty_flow_free(f);
	ty_pt_enc_fini(&e);
}

struct depths {
	unsigned n[4], gaps;
};

static void on_call(void *ctx, const struct ty_flow_call *c)
{
	struct depths *d = ctx;

	assert_true(c->depth < 4);
	d->n[c->depth]++;
}

/* Garbage costs what lies up to the next PSB, and no level. */
static void test_garbage(void **state)
{
	struct depths d = {0};
	struct ty_flow_names *names;
	struct ty_flow_calls *calls;
	struct ty_flow_at at;
	struct ty_pt_enc e;
	uint64_t tsc = 1000;
	struct ty_flow *f;

	skip_without_ipt();
	ty_pt_enc_init(&e, 1 << 20);
	ty_pt_enc_on(&e, tsc, BASE, true);
	rounds(&e, 1000, &tsc);
	ty_buf_add(&e.out, "\x02\xff\x02\xff", 4);
	rounds(&e, 4000, &tsc);
	f = flow_of(&e.out, code, sizeof(code));
	names = ty_flow_names_new(ty_flow_code(f));
	calls = ty_flow_calls_new(names, on_call, NULL, &d);
	while (ty_flow_next(f, &at) > 0) {
		d.gaps += at.item.kind == TY_FLOW_GAP;
		if (at.item.kind == TY_FLOW_GAP)
			assert_non_null(at.item.text);
		assert_int_equal(0, ty_flow_calls_feed(calls, &at));
	}
	ty_flow_calls_finish(calls);
	assert_true(d.gaps >= 1);
	assert_int_equal(1, d.n[0]);
	assert_true(d.n[1] > 4000 && d.n[1] < 5000);
	assert_int_equal(0, d.n[2]);
	ty_flow_calls_free(calls);
	ty_flow_names_free(names);
	ty_flow_free(f);
	ty_pt_enc_fini(&e);
}

/* Cut anywhere, flipped anywhere: it ends. */
/* Bytes that cannot be entered anywhere are reported once. */
static void test_no_psb(void **state)
{
	struct ty_flow_at at;
	struct ty_pt_enc e;
	struct ty_buf rest;
	uint64_t tsc = 1000;
	struct ty_flow *f;

	skip_without_ipt();
	ty_pt_enc_init(&e, 1 << 20);
	ty_pt_enc_on(&e, tsc, BASE, true);
	rounds(&e, 20, &tsc);
	ty_buf_init(&rest, 1 << 20);
	assert_int_equal(0, ty_buf_add(&rest, e.out.p + 16, 64));
	f = flow_of(&rest, code, sizeof(code));
	assert_int_equal(1, ty_flow_next(f, &at));
	assert_int_equal(TY_FLOW_GAP, at.item.kind);
	assert_int_equal(0, at.item.off);
	assert_non_null(strstr(at.item.text, "no PSB"));
	assert_int_equal(0, ty_flow_next(f, &at));
	ty_flow_free(f);
	ty_buf_fini(&rest);
	ty_buf_fini(&e.out);
}

static void test_hostile(void **state)
{
	struct ty_flow_at at;
	struct ty_pt_enc e;
	uint64_t tsc = 1000;

	skip_without_ipt();
	ty_pt_enc_init(&e, 1 << 20);
	ty_pt_enc_on(&e, tsc, BASE, true);
	rounds(&e, 300, &tsc);
	srand(1);
	for (unsigned i = 0; i < 300; i++) {
		size_t from = (size_t)rand() % e.out.len, n = (size_t)rand() % (e.out.len - from);
		struct ty_buf b;
		struct ty_flow *f;
		unsigned items = 0;

		ty_buf_init(&b, 1 << 20);
		ty_buf_add(&b, e.out.p + (i & 1 ? from : 0), n + 1);
		for (unsigned k = 0; k < i % 8; k++)
			b.p[(size_t)rand() % b.len] = (char)rand();
		f = flow_of(&b, code, 5 + (size_t)rand() % 27);
		while (items < 1000000 && ty_flow_next(f, &at) > 0)
			items++;
		assert_true(items < 1000000);
		ty_flow_free(f);
		ty_buf_fini(&b);
	}
	ty_pt_enc_fini(&e);
}

/* The code at one address, by time and process. */
static void test_code_map(void **state)
{
	static const uint8_t a[4096] = {1}, b[4096] = {2}, page[4096] = {3};
	struct ty_code *c = ty_code_new(NULL, NULL);
	struct ty_code_at at = {0};
	int fa = ty_code_blob(c, "a", a, sizeof(a)), fb = ty_code_blob(c, "b", b, sizeof(b));
	uint8_t got = 0;

	assert_int_equal(0, ty_code_map(c, 5, 0, BASE, 4096, 0, fa));
	assert_int_equal(0, ty_code_fork(c, 5, 6, 50));
	assert_int_equal(0, ty_code_map(c, 5, 100, BASE, 4096, 0, fb));
	assert_int_equal(0, ty_code_exec(c, 6, 200));
	assert_int_equal(0, ty_code_image(c, 5, 300, BASE + 4096, page, 4096));
	assert_int_equal(-TY_EFORMAT, ty_code_map(c, 5, 0, UINT64_MAX - 10, 4096, 0, fa));
	assert_int_equal(-TY_EFORMAT, ty_code_image(c, 5, 0, BASE + 1, page, 4096));
	ty_code_ready(c);
	assert_int_equal(1, ty_code_read(c, 5, 99, BASE, &got, 1, &at));
	assert_int_equal(1, got);
	assert_int_equal(1, ty_code_read(c, 5, 100, BASE, &got, 1, &at));
	assert_int_equal(2, got);
	assert_int_equal(1, ty_code_read(c, 6, 150, BASE, &got, 1, &at));
	assert_int_equal(1, got);
	assert_int_equal(0, ty_code_read(c, 6, 200, BASE, &got, 1, &at));
	assert_int_equal(1, ty_code_read(c, 5, 300, BASE + 4096, &got, 1, &at));
	assert_int_equal(3, got);
	assert_int_equal(0, ty_code_read(c, 7, 300, BASE, &got, 1, &at));
	ty_code_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounds),	 cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_no_psb),	 cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_code_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
