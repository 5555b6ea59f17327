/* SPDX-License-Identifier: MIT */
/*
 * Parts of executed instructions, and the view of them: PT packets of our own making, decoded;
 * calls and steps against each other; golden frames; every key.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "disasm.h"
#include "fixture_timeline.h"
#include "flow_view_priv.h"
#include "pt_encode.h"

#define BASE 0x400000ull

/*
 * 400000 call 400010   400010 call 400020   400020 je 400024
 * 400005 jmp 400000    400015 nop           400022 nop nop
 *                      400016 ret           400024 ret
 */
static const uint8_t code[48] = {
	0xe8, 0x0b, 0,	  0,	0,	     0xeb, 0xf9, [16] = 0xe8, 0x0b, 0,
	0,    0,    0x90, 0xc3, [32] = 0x74, 0x02, 0x90, 0x90,	      0xc3};

static struct ty_pt_enc enc;
/* Of thread 7, what comes behind a loss. */
static const uint8_t *behind;
static size_t behind_n;
static struct ty_disasm *disasm;
/* What was read last into each slot; the view's is the first. */
static struct {
	struct ty_flow *flow;
	struct ty_flow_names *names;
	struct ty_flow_part part;
} slots[TY_FLOW_SLOTS];
#define shown (slots[0].part)
static unsigned reads;
static int32_t read_tid; /* the last one */
static uint32_t most = UINT32_MAX;
static uint64_t zero; /* time of TSC 0 */

static void rounds(unsigned n, uint64_t *tsc)
{
	for (unsigned i = 0; i < n; i++) {
		ty_pt_enc_cond(&enc, ++*tsc, i & 1);
		ty_pt_enc_indirect(&enc, ++*tsc, BASE + 0x15);
		*tsc += 40;
		ty_pt_enc_indirect(&enc, *tsc, BASE + 5);
		*tsc += 7;
		ty_pt_enc_tick(&enc, *tsc, BASE + 5, true);
	}
}

/* 30 rounds, something undecodable, 30 more: 1000 ns and on. */
static uint64_t encode(void)
{
	uint64_t tsc = 1000;

	ty_pt_enc_init(&enc, 1 << 20);
	ty_pt_enc_on(&enc, tsc, BASE, true);
	rounds(30, &tsc);
	ty_buf_add(&enc.out, "\x02\xff\x02\xff", 4);
	rounds(300, &tsc);
	ty_pt_enc_async_off(&enc, BASE + 5);
	return tsc;
}

static void drop_slot(uint32_t i)
{
	ty_flow_part_fini(&slots[i].part);
	ty_flow_names_free(slots[i].names);
	ty_flow_free(slots[i].flow);
	slots[i].names = NULL;
	slots[i].flow = NULL;
}

static void drop(void)
{
	for (uint32_t i = 0; i < TY_FLOW_SLOTS; i++)
		drop_slot(i);
}

/* Thread 7 executes it, and 9 the same. */
static struct ty_flow *open_flow(void)
{
	struct ty_flow *f = ty_flow_new(NULL, NULL);
	struct ty_code *c = ty_flow_code(f);

	assert_int_equal(0, ty_flow_thread(f, 7, 7));
	assert_int_equal(0, ty_flow_thread(f, 7, 9));
	assert_int_equal(0, ty_code_map(c, 7, 0, BASE, sizeof(code), 0,
					ty_code_blob(c, "code", code, sizeof(code))));
	ty_flow_set_time(f, zero, 1, 0);
	assert_int_equal(0, ty_flow_add(f, -1, 7, 0, enc.out.p, enc.out.len, 0));
	assert_int_equal(0, ty_flow_add(f, -1, 9, 0, enc.out.p, enc.out.len, 0));
	if (behind_n)
		assert_int_equal(0, ty_flow_add(f, -1, 7, 0, behind, behind_n, enc.out.len + 4096));
	assert_int_equal(0, ty_flow_start(f, NULL));
	return f;
}

static int read_part(void *ctx, const struct ty_flow_part_request *ask,
		     const struct ty_flow_part **out, struct ty_err *err)
{
	struct ty_flow_part_request mine = *ask;
	uint32_t i = ask->slot;
	int r;

	reads++;
	read_tid = ask->tid;
	drop_slot(i);
	slots[i].flow = open_flow();
	slots[i].names = ty_flow_names_new(ty_flow_code(slots[i].flow));
	mine.most = mine.most < most ? mine.most : most;
	r = ty_flow_part_read(slots[i].flow, slots[i].names, &mine, &slots[i].part);
	if (r && ask->stop &&
	    atomic_load(ask->stop)) /* in a thread aside, which is requested to end */
		return ty_fail(err, TY_EINTR, TY_NO_OFFSET, "stopped");
	assert_int_equal(0, r);
	*out = &slots[i].part;
	return 0;
}

/* As many packets as the test says. */
static uint64_t many;
static int packets(void *ctx, const struct ty_flow_part_request *ask, uint32_t n, uint64_t *bytes,
		   struct ty_err *err)
{
	struct ty_flow *f = open_flow();

	assert_true(ty_flow_density(f, ask->tid, ask->from_ns, ask->to_ns, n, bytes, NULL));
	for (uint32_t i = 0; many && i < n; i++)
		bytes[i] = i % 7 * many;
	ty_flow_free(f);
	return 0;
}

static void place(void *ctx, int32_t pid, const struct ty_flow_step *s, char *out, size_t n)
{
	ty_flow_names_text(slots[0].names, 7, s->ts_ns, s->ip, out, n);
}

static void insn(void *ctx, int32_t pid, const struct ty_flow_step *s, char *out, size_t n,
		 char *bytes, size_t bytes_n)
{
	snprintf(bytes, bytes_n, "%02x", code[s->ip - BASE]);
	ty_disasm_text(disasm, code + (s->ip - BASE), s->size, s->ip, out, n);
}

static void line(void *ctx, int32_t pid, const struct ty_flow_step *s, char *out, size_t n)
{
	snprintf(out, n, "code.c:%u", (unsigned)(s->ip - BASE));
}

/* The source file has 33 lines, and is newer than the program from line 32 on. */
static bool source(void *ctx, int32_t pid, const struct ty_flow_step *s, char *out, size_t n,
		   bool *newer)
{
	snprintf(out, n, "statement(%u);", (unsigned)(s->ip - BASE));
	*newer = s->ip - BASE >= 32;
	return s->ip - BASE < 34;
}

static struct ty_flow_input input = {.read = read_part,
				     .packets = packets,
				     .place = place,
				     .insn = insn,
				     .line = line,
				     .source = source};

static struct ty_flow_view *open_view(uint64_t from, uint64_t to, uint64_t cursor)
{
	const struct ty_flow_on on = {.in = &input,
				      .start_ns = 900,
				      .end_ns = 30000,
				      .from_ns = from,
				      .to_ns = to,
				      .cursor_ns = cursor,
				      .tid = 7,
				      .comm = "worker"};
	struct ty_flow_view *v;

	reads = 0;
	v = ty_flow_view_new(&on);
	assert_non_null(v);
	return v;
}

static const char *frame(struct ty_flow_view *v, bool utf8, int w, int h)
{
	const struct ty_palette p = {.mode = TY_COLOR_NONE, .utf8 = utf8};
	static struct ty_buf b;
	struct ty_grid g;

	ty_buf_fini(&b);
	ty_buf_init(&b, 1 << 24);
	assert_int_equal(ty_grid_init(&g, w, h), 0);
	ty_flow_view_ops.draw(v, &g, &p);
	for (int i = 0; ty_flow_view_ops.wait_ms(v) >= 0; i++) {
		assert_true(i < 5);
		ty_flow_view_ops.work(v);
		ty_flow_view_ops.draw(v, &g, &p);
	}
	assert_int_equal(ty_grid_dump(&g, &p, &b), 0);
	ty_grid_fini(&g);
	return b.p;
}

static void act(struct ty_flow_view *v, enum ty_action a)
{
	ty_flow_view_ops.act(v, a);
	frame(v, true, 80, 24);
}

static uint64_t ip(const struct ty_flow_view *v)
{
	return v->part->steps.v[v->at].ip - BASE;
}

/* Calls and steps say the same, and the search by depth finds what looking at all finds. */
static void check_part(void)
{
	uint64_t insns = 0;

	vec_each (c, &shown.calls) {
		uint64_t n = 0;

		assert_true(c->first <= c->last && c->last <= shown.steps.n);
		for (uint32_t i = c->first; i < c->last; i++)
			n += shown.steps.v[i].kind == TY_FLOW_INSN;
		if (!(c->flags & TY_CALL_BEFORE) && c->first)
			assert_int_equal(n, c->insns);
		if (c->parent != TY_NO_CALL) {
			const struct ty_flow_part_call *up = &shown.calls.v[c->parent];

			assert_int_equal(up->depth + 1, c->depth);
			assert_true(up->first <= c->first && c->last <= up->last);
		}
		for (uint32_t i = c->first; i < c->last; i++)
			assert_true(shown.calls.v[shown.steps.v[i].call].depth >= c->depth);
	}
	vec_each (s, &shown.steps)
		insns += s->kind == TY_FLOW_INSN;
	for (uint32_t d = 0; d < ty_flow_part_depths(&shown) + 1; d++)
		for (uint32_t s = 0; s <= shown.steps.n; s += 1 + (uint32_t)(insns / 97)) {
			uint32_t want = TY_NO_CALL;

			for (uint32_t i = 0; want == TY_NO_CALL && i < shown.calls.n; i++)
				if (shown.calls.v[i].depth == d && shown.calls.v[i].last > s)
					want = i;
			assert_int_equal(want, ty_flow_part_call_from(&shown, d, s));
		}
}

static void test_part(void **state)
{
	struct ty_flow_part_request ask = {.tid = 7, .to_ns = UINT64_MAX, .most = 1u << 20};
	const struct ty_flow_part *got;
	uint64_t all;

	assert_int_equal(0, read_part(NULL, &ask, &got, NULL));
	assert_int_equal(3, ty_flow_part_depths(&shown));
	assert_true(shown.gaps.n >= 1);
	assert_false(shown.cut);
	check_part();
	all = shown.steps.n;
	/* A part in the middle; where calls go on over its edges. */
	for (uint64_t from = 1000; from < 9000; from += 171) {
		ask.from_ns = from;
		ask.to_ns = from + 500;
		assert_int_equal(0, read_part(NULL, &ask, &got, NULL));
		assert_true(shown.steps.n < all);
		vec_each (s, &shown.steps)
			assert_true(s->ts_ns >= from && s->ts_ns < from + 500);
		check_part();
	}
	/* No more than was requested. */
	ask = (struct ty_flow_part_request){.tid = 7, .to_ns = UINT64_MAX, .most = 100};
	assert_int_equal(0, read_part(NULL, &ask, &got, NULL));
	assert_true(shown.cut);
	assert_int_equal(100, shown.steps.n);
	check_part();
	/* Another thread's are not there. */
	ask.tid = 8;
	assert_int_equal(0, read_part(NULL, &ask, &got, NULL));
	assert_int_equal(0, shown.steps.n);
	drop();
}

/* Between two time stamps steps have places of their own, in order, and are found by them. What
 * ends without a later stamp is not spread. */
static void test_places(void **state)
{
	struct ty_flow_part_request ask = {.tid = 7, .to_ns = UINT64_MAX, .most = 1u << 20};
	struct ty_viewport vp = {.end_ns = UINT64_MAX};
	struct ty_flow_axis a = {.part = &shown, .vp = &vp, .w = 80};
	const struct ty_flow_part *got;
	uint32_t between = 0, together = 0;
	uint64_t before = 0;

	assert_int_equal(0, read_part(NULL, &ask, &got, NULL));
	for (uint32_t i = 0; i < shown.steps.n; i++) {
		struct ty_flow_part_stretch s = ty_flow_part_stretch(&shown, i);
		uint64_t pos = ty_flow_axis_pos(&a, i), ts = shown.steps.v[i].ts_ns;

		assert_true(s.first <= i && i < s.first + s.n && s.from_ns == ts);
		assert_true(pos >= before && pos >= ts * TY_FLOW_PER_NS);
		assert_true(pos <= s.to_ns * TY_FLOW_PER_NS);
		between += pos > ts * TY_FLOW_PER_NS;
		together += i && pos == before;
		if (pos != before)
			assert_int_equal(i, ty_flow_axis_step(&a, pos));
		assert_int_equal(i && pos == before ? ty_flow_axis_step(&a, before) : i,
				 ty_flow_axis_step(&a, pos));
		before = pos;
	}
	assert_true(between > shown.steps.n / 2);
	/* Before the gap, before tracing ends, and at the end. */
	assert_true(shown.gaps.n && shown.ends.n >= 2);
	for (uint32_t i = 0; i < shown.gaps.n; i++)
		assert_true(shown.gaps.v[i] &&
			    ty_flow_axis_pos(&a, shown.gaps.v[i] - 1) ==
				    shown.steps.v[shown.gaps.v[i] - 1].ts_ns * TY_FLOW_PER_NS);
	assert_true(together && together < 30);
	drop();
}

/* Every step is in its stretch, and has a place. */
static void check_stretches(const struct ty_flow_part *p)
{
	struct ty_viewport vp = {.end_ns = UINT64_MAX};
	struct ty_flow_axis a = {.part = p, .vp = &vp, .w = 80};

	for (uint32_t i = 0; i < p->steps.n; i++) {
		struct ty_flow_part_stretch s = ty_flow_part_stretch(p, i);

		assert_true(s.first <= i && i - s.first < s.n && s.n <= p->steps.n - s.first);
		assert_true(s.from_ns == p->steps.v[i].ts_ns && s.to_ns >= s.from_ns);
		ty_flow_axis_pos(&a, i);
	}
}

/* Steps in no order of time, as no part has them. */
static void test_no_order(void **state)
{
	static const uint64_t runs[][2] = {
		{50, 100}, {10, 105}, {20, 103}, {50, 110}, {7, TY_FLOW_NO_TIME}, {9, 101}};
	struct ty_flow_part p = {0};

	for (size_t r = 0; r < sizeof(runs) / sizeof(*runs); r++)
		for (uint64_t i = 0; i < runs[r][0]; i++)
			assert_int_equal(0, vec_push(&p.steps,
						     ((struct ty_flow_step){.ts_ns = runs[r][1]})));
	check_stretches(&p);
	for (uint32_t i = 5; i < p.steps.n; i += 17)
		assert_int_equal(
			0, vec_push(&p.ends, ((struct ty_flow_part_end){i, 90 + i * 7 % 30})));
	check_stretches(&p);
	ty_flow_part_fini(&p);
}

/* A stream whose time goes back, and behind a loss is not known: the part's does not go back, what
 * was raised is not exact, and all of it is drawn. */
static void test_time_back(void **state)
{
	/* PSBEND, MODE.Exec, TIP.PGE 400000, TNT, TIP 400015, TIP 400005, FUP 400005, TIP.PGD */
	static const uint8_t run[] = {0x02, 0x23, 0x99, 0x01, 0x71, 0,	  0, 0x40, 0,	 0, 0,
				      0x06, 0x2d, 0x15, 0,    0x2d, 0x05, 0, 0x3d, 0x05, 0, 0x01};
	struct ty_flow_part_request ask = {.tid = 7, .to_ns = UINT64_MAX, .most = 1u << 20};
	uint64_t tsc = 1000, largest = 0, last = 0;
	uint8_t bytes[16 + sizeof(run)];
	const struct ty_flow_part *got;
	struct ty_flow_view *v;
	uint32_t exact = 0;

	ty_pt_enc_fini(&enc);
	ty_pt_enc_init(&enc, 1 << 20);
	ty_pt_enc_on(&enc, tsc, BASE, true);
	for (unsigned i = 0; i < 40; i++) {
		rounds(5, &tsc);
		largest = tsc - 7; /* the last that is written */
		tsc -= 15 + i * 2;
	}
	ty_pt_enc_async_off(&enc, BASE + 5);
	for (size_t i = 0; i < 16; i++)
		bytes[i] = i % 2 ? 0x82 : 0x02;
	memcpy(bytes + 16, run, sizeof(run));
	behind = bytes;
	behind_n = sizeof(bytes);

	assert_int_equal(0, read_part(NULL, &ask, &got, NULL));
	assert_true(got->steps.n > 1000);
	vec_each (s, &got->steps) {
		bool stamped = s->flags & TY_FF_EXACT;

		assert_true(s->ts_ns != TY_FLOW_NO_TIME && s->ts_ns >= last);
		exact += stamped;
		last = s->ts_ns;
	}
	assert_int_equal(largest, last);
	/* Three time stamps a round; those that went back are fewer. */
	assert_in_range(exact, 200, 40 * 5 * 3 - 40);
	/* The last run, of six instructions, came behind the loss. */
	for (uint32_t i = 1; i <= 6; i++) {
		const struct ty_flow_step *s = &got->steps.v[got->steps.n - i];

		assert_true(s->kind == TY_FLOW_INSN && s->ts_ns == largest);
		assert_false(s->flags & TY_FF_EXACT);
	}
	check_part();
	check_stretches(got);
	v = open_view(1000, largest + 10, 1100);
	for (uint64_t at = 1000; at < largest; at += 97) {
		ty_viewport_jump(&v->vp, at * TY_FLOW_PER_NS, (at + 150) * TY_FLOW_PER_NS);
		frame(v, true, 80, 24);
	}
	ty_flow_view_free(v);
	drop();
	behind_n = 0;
	ty_pt_enc_fini(&enc);
	encode();
}

/* All bytes of packets are where their time is, of a thread's own stream. */
static void test_packets(void **state)
{
	uint64_t bytes[300], sum = 0;
	struct ty_flow *f = open_flow();

	assert_true(ty_flow_density(f, 7, 0, 100000, 300, bytes, NULL));
	for (unsigned i = 0; i < 300; i++)
		sum += bytes[i];
	assert_in_range(sum, enc.out.len - 300, enc.out.len);
	assert_true(ty_flow_density(f, 8, 0, 100000, 300, bytes, NULL));
	for (unsigned i = 0; i < 300; i++)
		assert_int_equal(bytes[i], 0);
	ty_flow_free(f);
}

/* Of a stream whose time goes back, too; and it ends on request. */
static void test_packets_back(void **state)
{
	atomic_bool stop = true;
	uint64_t bytes[300], sum = 0, tsc = 10000;
	struct ty_flow *f;

	ty_pt_enc_fini(&enc);
	ty_pt_enc_init(&enc, 1 << 24);
	ty_pt_enc_on(&enc, tsc, BASE, true);
	for (unsigned i = 0; i < 8; i++) {
		rounds(2000, &tsc);
		tsc = i % 2 ? 90000 : 20000;
	}
	ty_pt_enc_async_off(&enc, BASE + 5);
	f = open_flow();
	ty_flow_density(f, 7, 0, 200000, 300, bytes, NULL);
	for (unsigned i = 0; i < 300; i++)
		sum += bytes[i];
	assert_in_range(sum, enc.out.len - 300, enc.out.len);
	assert_false(ty_flow_density(f, 7, 0, 200000, 300, bytes, &stop));
	ty_flow_free(f);
	ty_pt_enc_fini(&enc);
	encode();
}

static void test_frames(void **state)
{
	struct ty_flow_view *v = open_view(1000, 1300, 1100);

	ty_tl_golden("flow-80x24", frame(v, true, 80, 24));
	ty_tl_golden("flow-80x24-ascii", frame(v, false, 80, 24));
	ty_tl_golden("flow-40x10", frame(v, true, 40, 10));
	ty_tl_golden("flow-160x30", frame(v, true, 160, 30));
	ty_tl_moves(&ty_flow_view_ops, v, true);
	for (int w = 1; w < 210; w += 7) /* every size is drawn */
		for (int h = 1; h < 60; h += 5)
			frame(v, true, w, h);
	ty_flow_view_free(v);
	drop();
}

static void type(struct ty_flow_view *v, const char *text)
{
	act(v, TY_ACT_SEARCH);
	assert_true(ty_flow_view_ops.wants_text(v));
	for (; *text; text++)
		ty_flow_view_ops.text(v, (unsigned char)*text);
	ty_flow_view_ops.text(v, TY_KEY_ENTER);
	assert_false(ty_flow_view_ops.wants_text(v));
}

/* Single-stepped: the axis counts instructions until the user chooses time, of the whole recording
 * where that is not too much. */
static void test_software(void **state)
{
	struct ty_flow_view *v;
	uint32_t at;

	input.software = true;
	v = open_view(1000, 1300, 1100);
	assert_true(v->by_insn);
	assert_int_equal(reads, 1);
	assert_true(v->part->from_ns <= 900 && v->part->to_ns >= 30000);
	at = v->at;
	ty_tl_golden("flow-insns-80x24", frame(v, true, 80, 24));
	ty_tl_golden("flow-insns-80x24-ascii", frame(v, false, 80, 24));
	ty_tl_golden("flow-insns-200x60", frame(v, true, 200, 60));
	assert_non_null(strstr(frame(v, true, 80, 24), "xN: executed N times"));
	act(v, TY_ACT_SEARCH);
	ty_flow_view_ops.text(v, 'x');
	ty_tl_golden("flow-find-80x24", frame(v, true, 80, 24));
	ty_flow_view_ops.text(v, TY_KEY_ESC);
	assert_false(v->prompting);
	act(v, TY_ACT_FOLD);
	assert_false(v->by_insn);
	assert_int_equal(v->at, at);
	assert_null(strstr(frame(v, true, 80, 24), "number"));
	act(v, TY_ACT_FOLD);
	assert_true(v->by_insn);
	for (int w = 1; w < 210; w += 7)
		for (int h = 1; h < 60; h += 5)
			frame(v, true, w, h);
	ty_flow_view_free(v);

	/* Too much for all at once: of the window, and instructions are counted all the same. */
	most = 800;
	v = open_view(1000, 1300, 1100);
	frame(v, true, 80, 24);
	assert_true(v->by_insn && !v->part->cut && v->part->to_ns < 2000);
	ty_flow_view_free(v);
	most = UINT32_MAX;
	/* Nothing executed in the window: those about the cursor. */
	v = open_view(29000, 29900, 29500);
	frame(v, true, 80, 24);
	assert_true(v->by_insn && v->at == v->part->steps.n - 1);
	ty_flow_view_free(v);
	input.software = false;
	v = open_view(1000, 1300, 1100);
	assert_false(v->by_insn);
	ty_flow_view_free(v);
	drop();
}

/* Functions are found by a part of their name, forward and then from the beginning. */
static void test_find(void **state)
{
	struct ty_flow_view *v;
	uint32_t before, calls = 0;

	input.software = true;
	v = open_view(1000, 1300, 1000);
	for (uint32_t i = 0; i < v->part->calls.n; i++)
		calls += strstr(ty_flow_part_function(v->part, i), "code+0x2") != NULL;
	assert_true(calls > 100);
	act(v, TY_ACT_TIME_FIRST);
	for (uint32_t i = 0; i < calls; i++) {
		before = v->at;
		type(v, i ? "" : "DE+0x2");
		if (!i) { /* capital letters are meant */
			assert_int_equal(v->at, before);
			assert_non_null(
				strstr(v->message, "no call of a function named like 'DE+0x2'"));
			type(v, "de+0x2");
		}
		assert_true(v->at > before);
		assert_int_equal(ip(v), 0x20);
	}
	before = v->at;
	type(v, "");
	assert_true(v->at < before);
	assert_int_equal(ip(v), 0x20);
	assert_non_null(strstr(v->message, "call 1 of "));
	/* What is typed may be taken back, and is no action. */
	before = v->at;
	act(v, TY_ACT_SEARCH);
	ty_flow_view_ops.text(v, 'q');
	ty_flow_view_ops.text(v, TY_KEY_BACKSPACE);
	ty_flow_view_ops.text(v, TY_KEY_ESC);
	assert_int_equal(v->at, before);
	ty_flow_view_free(v);
	drop();
	input.software = false;
}

/* The source line stands beside the instruction on every screen, its text where there is room, and
 * for the cursor's always. */
static void test_source(void **state)
{
	struct ty_flow_view *v = open_view(1000, 1300, 1100);
	const char *f;

	while (ip(v) != 0x15)
		act(v, TY_ACT_DOWN);
	f = frame(v, true, 80, 24);
	assert_non_null(strstr(f, "code.c:21  statement(21);"));
	assert_non_null(strstr(f, "code.c:36"));
	assert_null(strstr(f, "statement(22)"));
	assert_non_null(strstr(frame(v, true, 100, 24), "statement(22)"));
	act(v, TY_ACT_DOWN);
	while (ip(v) != 0x20)
		act(v, TY_ACT_DOWN);
	assert_non_null(strstr(frame(v, true, 80, 24), "code.c:32  (newer) statement(32);"));
	while (ip(v) != 0x24)
		act(v, TY_ACT_DOWN);
	assert_non_null(strstr(frame(v, true, 80, 24), "code.c:36  (source file not found)"));
	ty_flow_view_free(v);
	drop();
}

static void test_steps(void **state)
{
	struct ty_flow_view *v = open_view(1000, 2000, 1000);
	uint64_t at;

	frame(v, true, 80, 24);
	act(v, TY_ACT_TIME_FIRST);
	assert_int_equal(0, ip(v));
	act(v, TY_ACT_DOWN); /* into the call */
	assert_int_equal(0x10, ip(v));
	act(v, TY_ACT_UP);
	act(v, TY_ACT_SPAN_NEXT); /* over it */
	assert_int_equal(5, ip(v));
	act(v, TY_ACT_SPAN_PREV);
	assert_int_equal(0, ip(v));
	act(v, TY_ACT_DOWN);
	act(v, TY_ACT_DOWN);
	assert_int_equal(0x20, ip(v));
	act(v, TY_ACT_LOG_NEXT); /* out */
	assert_int_equal(0x15, ip(v));
	act(v, TY_ACT_LOG_PREV); /* to where it was called */
	assert_int_equal(0, ip(v));
	act(v, TY_ACT_HIT_NEXT);
	assert_int_equal(0, ip(v));
	assert_true(v->at > 5);
	act(v, TY_ACT_HIT_PREV);
	assert_int_equal(0, v->at);
	act(v, TY_ACT_HIT_PREV);
	assert_non_null(strstr(frame(v, true, 80, 24), "no earlier execution"));
	act(v, TY_ACT_NEXT);
	assert_int_not_equal(TY_FLOW_INSN, v->part->steps.v[v->at].kind);
	assert_non_null(strstr(frame(v, true, 80, 24), "GAP: "));
	assert_non_null(strstr(frame(v, true, 80, 24), " not decoded"));
	assert_true(ty_flow_view_at(v, &at) && at > 1000);
	/* The window to the call, then to its caller. */
	act(v, TY_ACT_TIME_FIRST);
	while (ip(v) != 0x10)
		act(v, TY_ACT_DOWN);
	act(v, TY_ACT_ZOOM_SPAN);
	assert_true(v->vp.to_ns - v->vp.from_ns < 100 * TY_FLOW_PER_NS);
	/* The same instruction, as often as the column says. */
	act(v, TY_ACT_ALL);
	frame(v, true, 100, 24);
	assert_true(v->counted && v->counts > 4);
	for (uint32_t i = 0, n = 0; i <= v->part->steps.n; i++) {
		if (i == v->part->steps.n)
			assert_int_equal(n, v->count[0]);
		else
			n += v->part->steps.v[i].ip == v->ip[0];
	}
	ty_flow_view_free(v);
	drop();
}

/* What is shown is decoded, and only when it is shown; what is too much is reported. */
static void test_window(void **state)
{
	struct ty_flow_view *v = open_view(5000, 5200, 5100);
	uint64_t n;

	frame(v, true, 80, 24);
	assert_int_equal(1, reads);
	assert_true(v->part->from_ns >= 4800 && v->part->to_ns <= 5400);
	n = v->part->steps.n;
	act(v, TY_ACT_ZOOM_IN);
	act(v, TY_ACT_ZOOM_IN);
	act(v, TY_ACT_PAN_LEFT);
	assert_int_equal(1, reads);
	act(v, TY_ACT_ALL);
	assert_true(reads == 2 && v->part->steps.n > n);
	ty_flow_view_free(v);
	most = 50;
	v = open_view(1000, 3000, 2900);
	assert_non_null(strstr(frame(v, true, 80, 24), "NOT ALL DECODED"));
	assert_int_equal(1, reads);
	ty_flow_view_free(v);
	most = UINT32_MAX;
	v = open_view(29000, 30000, 29500); /* nothing there */
	assert_non_null(strstr(frame(v, true, 80, 24), "no instructions of this thread"));
	for (int a = 1; a < TY_ACT_COUNT; a++)
		act(v, (enum ty_action)a);
	ty_flow_view_free(v);
	drop();
}

/* Any keys in any order. */
static void test_random(void **state)
{
	struct ty_flow_view *v = open_view(1000, 9000, 4000);
	unsigned seed = 1;

	frame(v, true, 80, 24);
	for (int i = 0; i < 3000; i++) {
		struct ty_mouse m = {.what = (enum ty_mouse_what)(rand_r(&seed) % TY_MOUSE_COUNT),
				     .x = rand_r(&seed) % 90,
				     .y = rand_r(&seed) % 30};

		if (rand_r(&seed) % 4)
			ty_flow_view_ops.act(
				v, (enum ty_action)(1 + rand_r(&seed) % (TY_ACT_COUNT - 1)));
		else
			ty_flow_view_ops.mouse(v, &m);
		if (i % 3 == 0)
			frame(v, true, 80, 24);
		assert_true(v->vp.from_ns < v->vp.to_ns && v->vp.to_ns <= v->vp.end_ns);
		if (v->part)
			assert_true(!v->part->steps.n || v->at < v->part->steps.n);
	}
	ty_flow_view_free(v);
	drop();
}

static void tl_act(struct ty_timeline *t, enum ty_action a)
{
	ty_timeline_ops.act(t, a);
	ty_tl_work(t);
}

static unsigned tl_calls(const struct ty_timeline *t)
{
	unsigned n = 0;

	vec_each (r, &t->tracks.rows)
		n += r->kind == TY_ROW_FLOW;
	return n;
}

/* The same calls in rows of the timeline: decoded as they are looked at, down to instructions. */
static void test_rows(void **state)
{
	const struct ty_build_facts facts = {.cpus = 1};
	struct ty_view_input in;
	struct ty_timeline *t;
	struct ty_model *m;
	uint32_t first = 0, other = 0;
	unsigned seed = 5;
	uint64_t at;

	input.software = true; /* "software" stands beside the rows */
	ty_tl_build(&facts);
	ty_tl_switch(0, 0, 0, 0, 7);
	ty_tl_switch(20, 0, 7, 1, 9);
	ty_tl_switch(29, 0, 9, 1, 0);
	m = ty_tl_built();
	for (uint32_t i = 0; i < ty_model_summary(m)->threads; i++)
		*(ty_model_thread(m, i)->tid == 7 ? &first : &other) = i;
	zero = ty_model_summary(m)->start_ns;
	in = ty_tl_input(m);
	t = ty_tl_open(&in);
	tl_act(t, TY_ACT_CALLS);
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "no executed instructions"));
	assert_int_equal(0, tl_calls(t));
	ty_timeline_free(t);
	in.flow = &input;
	t = ty_tl_open(&in);
	t->row = ty_tracks_reveal(&t->tracks, first);
	reads = 0;
	tl_act(t, TY_ACT_CALLS);
	assert_int_equal(1, reads);
	/* Three depths, and instructions. */
	assert_int_equal(4, tl_calls(t));
	ty_tl_golden("timeline-calls-80x24", ty_tl_frame(t, &ty_tl_utf8, 80, 24));
	ty_viewport_jump(&t->vp, zero + 1000, zero + 3000);
	t->cursor_ns = zero + 2000;
	tl_act(t, TY_ACT_DOWN);
	assert_int_equal(TY_ROW_FLOW, t->tracks.rows.v[t->row].kind);
	ty_tl_golden("timeline-calls-100x24", ty_tl_frame(t, &ty_tl_utf8, 100, 24));
	ty_tl_golden("timeline-calls-80x24-ascii", ty_tl_frame(t, &ty_tl_ascii, 80, 24));
	/* Decoded again only where something else is looked at. */
	assert_int_equal(1, reads);
	/* The deepest: instruction by instruction; a step of the cursor is a nanosecond. */
	ty_viewport_jump(&t->vp, zero + 1032, zero + 1033);
	t->cursor_ns = zero + 1030;
	ty_timeline_clamp(t);
	ty_tl_work(t);
	ty_tl_golden("timeline-insns-100x24", ty_tl_frame(t, &ty_tl_utf8, 100, 24));
	at = t->cursor_ns;
	tl_act(t, TY_ACT_RIGHT);
	assert_int_equal(at + 1, t->cursor_ns);
	tl_act(t, TY_ACT_LEFT);
	assert_int_equal(at, t->cursor_ns);
	/* Another thread's beside it. */
	ty_viewport_jump(&t->vp, zero + 1000, zero + 3000);
	t->row = ty_tracks_reveal(&t->tracks, other);
	tl_act(t, TY_ACT_CALLS);
	assert_int_equal(8, tl_calls(t));
	ty_tl_golden("timeline-calls-two-100x30", ty_tl_frame(t, &ty_tl_utf8, 100, 30));
	tl_act(t, TY_ACT_CALLS);
	assert_int_equal(4, tl_calls(t));
	/* More bytes than instructions fit: there may be few in them. */
	many = 1u << 12;
	t->row = ty_tracks_reveal(&t->tracks, other);
	reads = 0;
	tl_act(t, TY_ACT_CALLS);
	assert_int_equal(1, reads);
	assert_int_equal(8, tl_calls(t));
	tl_act(t, TY_ACT_CALLS);
	/* More than is decoded at a time: its packets. */
	many = 1u << 20;
	t->row = ty_tracks_reveal(&t->tracks, other);
	reads = 0;
	tl_act(t, TY_ACT_CALLS);
	tl_act(t, TY_ACT_DOWN);
	assert_int_equal(0, reads);
	ty_tl_golden("timeline-packets-100x24", ty_tl_frame(t, &ty_tl_utf8, 100, 24));
	ty_tl_golden("timeline-packets-80x24-ascii", ty_tl_frame(t, &ty_tl_ascii, 80, 24));
	tl_act(t, TY_ACT_CALLS);
	many = 0;
	t->row = ty_tracks_reveal(&t->tracks, first);
	tl_act(t, TY_ACT_DOWN);
	most = 50;
	tl_act(t, TY_ACT_ALL);
	tl_act(t, TY_ACT_CALLS);
	assert_int_equal(0, tl_calls(t));
	tl_act(t, TY_ACT_INSNS);
	assert_non_null(t->flow);
	ty_timeline_ops.resumed(t);
	tl_act(t, TY_ACT_CALLS);
	tl_act(t, TY_ACT_DOWN);
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 80, 24), "only a part of the window"));
	most = UINT32_MAX;
	/* Any keys in any order. */
	for (int i = 0; i < 1500; i++) {
		enum ty_action a = (enum ty_action)(1 + rand_r(&seed) % (TY_ACT_COUNT - 1));

		if (a == TY_ACT_EXPORT || a == TY_ACT_MEMORY)
			continue;
		if (rand_r(&seed) % 8 == 0)
			a = TY_ACT_CALLS;
		tl_act(t, a);
		if (t->prompt)
			ty_timeline_ops.text(t, TY_KEY_ESC);
		if (t->flow)
			ty_timeline_ops.resumed(t);
		if (i % 3 == 0)
			ty_tl_frame(t, &ty_tl_utf8, 30 + rand_r(&seed) % 120,
				    5 + rand_r(&seed) % 50);
	}
	ty_timeline_free(t);
	ty_model_free(m);
	zero = 0;
	drop();
	input.software = false;
}

/* One that is decoding until it is requested to end. */
static atomic_bool begun;
static int read_slow(void *ctx, const struct ty_flow_part_request *ask,
		     const struct ty_flow_part **out, struct ty_err *err)
{
	if (!ask->slot)
		return read_part(ctx, ask, out, err);
	atomic_store(&begun, true);
	while (!atomic_load(ask->stop))
		sched_yield();
	return ty_fail(err, TY_EINTR, TY_NO_OFFSET, "stopped");
}

/* The instructions are requested while calls are being decoded: these wait. */
static void test_stop(void **state)
{
	const struct ty_build_facts facts = {.cpus = 1};
	struct ty_flow_input slow = input;
	struct ty_view_input in;
	struct ty_timeline *t;
	struct ty_model *m;

	ty_tl_build(&facts);
	ty_tl_switch(0, 0, 0, 0, 7);
	ty_tl_switch(20, 0, 7, 1, 0);
	m = ty_tl_built();
	zero = ty_model_summary(m)->start_ns;
	slow.read = read_slow;
	in = ty_tl_input(m);
	in.flow = &slow;
	in.aside = true;
	t = ty_tl_open(&in);
	t->row = ty_tracks_reveal(&t->tracks, ty_model_thread_find(m, 7, zero + 5000));
	ty_timeline_ops.act(t, TY_ACT_CALLS);
	while (!atomic_load(&begun) && (t->calls.aside.on || !ty_calls_layer.wait_ms(t)))
		ty_timeline_ops.work(t);
	assert_true(atomic_load(&begun));
	ty_timeline_ops.act(t, TY_ACT_INSNS);
	assert_non_null(t->flow);
	assert_false(t->calls.aside.on);
	ty_timeline_ops.resumed(t);
	assert_true(!ty_calls_layer.wait_ms(t));
	ty_timeline_free(t);
	ty_model_free(m);
	zero = 0;
	drop();
}

/* A thread is selected by the tid that it had where the cursor is: an exec by one that was not
 * the leader gives it the leader's. */
static void test_exec(void **state)
{
	const struct ty_build_facts facts = {.cpus = 2};
	const struct ty_event exec = {.u.exec = {.tid = 7, .old_tid = 9, .filename = "/bin/x"}};
	struct ty_view_input in;
	struct ty_timeline *t;
	struct ty_model *m;
	uint32_t thread;

	ty_tl_build(&facts);
	ty_tl_switch(0, 0, 0, 0, 7);
	ty_tl_switch(1, 1, 0, 0, 9);
	ty_tl_switch(10, 0, 7, TY_TASK_DEAD, 0);
	ty_tl_feed(exec, 20, 1, 7, TY_EV_EXEC);
	ty_tl_switch(29, 1, 7, 1, 0);
	m = ty_tl_built();
	zero = ty_model_summary(m)->start_ns;
	thread = ty_model_thread_find(m, 9, zero + 5000);
	assert_int_equal(7, ty_model_thread(m, thread)->tid);
	in = ty_tl_input(m);
	in.flow = &input;
	t = ty_tl_open(&in);
	t->row = ty_tracks_reveal(&t->tracks, thread);
	for (int32_t tid = 9; tid >= 7; tid -= 2) {
		t->cursor_ns = zero + (tid == 9 ? 5000 : 25000);
		reads = 0;
		if (tid == 9)
			tl_act(t, TY_ACT_CALLS);
		ty_tl_work(t);
		assert_int_equal(1, reads);
		assert_int_equal(tid, read_tid);
		tl_act(t, TY_ACT_INSNS);
		assert_non_null(t->flow);
		assert_int_equal(tid, t->flow->on.tid);
		ty_timeline_ops.resumed(t);
		t->row = ty_tracks_reveal(&t->tracks, thread);
	}
	ty_timeline_free(t);
	ty_model_free(m);
	zero = 0;
	drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_part),	     cmocka_unit_test(test_frames),
		cmocka_unit_test(test_software),     cmocka_unit_test(test_find),
		cmocka_unit_test(test_source),	     cmocka_unit_test(test_steps),
		cmocka_unit_test(test_window),	     cmocka_unit_test(test_random),
		cmocka_unit_test(test_rows),	     cmocka_unit_test(test_places),
		cmocka_unit_test(test_packets),	     cmocka_unit_test(test_no_order),
		cmocka_unit_test(test_time_back),    cmocka_unit_test(test_exec),
		cmocka_unit_test(test_packets_back), cmocka_unit_test(test_stop),
	};
	int failed = 0;

	setlocale(LC_ALL, "C.UTF-8");
	if (!ty_pt_available()) {
		printf("1..0 # SKIP built without libipt\n");
		return 0;
	}
	disasm = ty_disasm_new(TY_DISASM_X86_64, NULL);
	encode();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	ty_pt_enc_fini(&enc);
	ty_disasm_free(disasm);
	return failed;
}
