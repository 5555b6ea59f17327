/* SPDX-License-Identifier: MIT */
/*
 * Random streams of every ordinary packet, timing included, through the fast decoder (pt_query.h,
 * flow_walk.h) against libipt's instruction decoder: the same items and times; and bytes that are
 * no packets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "buf.h"
#include "flow.h"
#include "flow_blocks.h"
#include "flow_walk.h"
#include "vec.h"

#define BASE 0x7fff80400000ull

/*
 * 00 call 10      08 nop nop     10 je 14
 * 05 jmp rax      0a jmp 00      12 nop nop    14 ret
 */
static const uint8_t code[32] = {0xe8, 0x0b, 0,	   0,		0,    0xff, 0xe0, 0x90, 0x90,
				 0x90, 0xeb, 0xf4, [16] = 0x74, 0x02, 0x90, 0x90, 0xc3};

struct enc {
	struct ty_buf out;
	unsigned seed;
	uint64_t tsc, last_ip, bits;
	unsigned bits_n, bits_max;
	uint64_t late[4]; /* targets of jumps that were executed between the bits */
	unsigned late_n;
	uint8_t ctc;
	bool tma;
};

static unsigned any(struct enc *e, unsigned n)
{
	return (unsigned)rand_r(&e->seed) % n;
}

static void le(struct enc *e, uint64_t v, unsigned n)
{
	assert_int_equal(0, ty_buf_addle(&e->out, v, n));
}

static void put_ip(struct enc *e, uint8_t op, uint64_t ip)
{
	static const uint8_t sizes[] = {0, 2, 4, 6, 6, 0, 8};
	static const uint64_t masks[] = {0, 0xffff, 0xffffffff, 0, 0xffffffffffff, 0, UINT64_MAX};
	unsigned ipc;

	do
		ipc = 1 + any(e, 6);
	while (ipc == 5 || (ipc == 3 && (uint64_t)((int64_t)(ip << 16) >> 16) != ip) ||
	       (ipc != 3 && (ip ^ e->last_ip) & ~masks[ipc]));
	le(e, op | ipc << 5, 1);
	le(e, ip, sizes[ipc]);
	e->last_ip = ip;
}

static void put_tsc(struct enc *e)
{
	e->tsc += any(e, 1000);
	le(e, 0x19, 1);
	le(e, e->tsc, 7);
	e->tma = true;
}

/* A packet with a time, or none. */
static void put_time(struct enc *e, bool no_cbr)
{
	unsigned what = any(e, 16), k;

	switch (what) {
	case 0: put_tsc(e); break;
	case 1:
		if (!e->tma)
			break;
		le(e, 0x7302, 2);
		le(e, any(e, 65536), 2);
		le(e, 0, 1);
		le(e, any(e, 512), 2);
		e->tma = false;
		break;
	case 2:
	case 3:
		le(e, 0x59, 1);
		le(e, e->ctc += (uint8_t)(1 + any(e, 20) / 19), 1);
		break;
	case 4:
	case 5:
	case 6:
		k = any(e, 3);
		le(e, any(e, 32) << 3 | (k ? 4 : 0) | 3, 1);
		while (k--)
			le(e, any(e, 128) << 1 | (k ? 1 : 0), 1);
		break;
	case 7:
		if (no_cbr || any(e, 8))
			break;
		le(e, 0x0302, 2);
		le(e, 1 + any(e, 40), 2);
		break;
	case 8: le(e, 0, 1); break;
	default: break;
	}
}

static void flush(struct enc *e)
{
	uint64_t v = 1ull << e->bits_n | e->bits;

	if (e->bits_n > 6 || (e->bits_n && !any(e, 4))) {
		le(e, 0xa302, 2);
		le(e, v, 6);
	} else if (e->bits_n) {
		le(e, v << 1, 1);
	}
	e->bits = e->bits_n = 0;
	e->bits_max = any(e, 4) ? 6 : 40;
	for (unsigned i = 0; i < e->late_n; i++) {
		put_time(e, true); /* an event would belong behind them */
		put_ip(e, 0x0d, e->late[i]);
	}
	e->late_n = 0;
}

static void bit(struct enc *e, bool taken)
{
	e->bits = e->bits << 1 | taken;
	if (++e->bits_n >= e->bits_max)
		flush(e);
	put_time(e, false);
}

static void put_psb(struct enc *e, bool on, uint64_t ip)
{
	flush(e);
	for (unsigned i = 0; i < 8; i++)
		le(e, 0x8202, 2);
	e->last_ip = 0;
	put_tsc(e);
	for (unsigned i = 0; i < 4; i++)
		put_time(e, true);
	if (any(e, 2))
		le(e, 0x20004302, 8); /* PIP */
	if (any(e, 2))
		le(e, 0x2099, 2); /* MODE.TSX */
	le(e, 0x0199, 2);
	if (any(e, 2))
		le(e, 0x1e0302, 4); /* CBR */
	if (on)
		put_ip(e, 0x1d, ip);
	put_time(e, true);
	le(e, 0x2302, 2);
}

static void begin(struct enc *e, uint64_t ip)
{
	le(e, 0x0199, 2);
	put_time(e, false);
	put_ip(e, 0x11, ip);
}

static void make(struct enc *e, unsigned seed, unsigned rounds)
{
	memset(e, 0, sizeof(*e));
	ty_buf_init(&e->out, 16 << 20);
	e->seed = seed;
	e->tsc = 1000000;
	put_psb(e, false, 0);
	begin(e, BASE);
	while (rounds--) {
		bool skip = any(e, 2);

		bit(e, any(e, 2));
		/* The call before is known where no PSB was since; an address needs all before. */
		if (any(e, 2)) {
			bit(e, true);
		} else {
			flush(e);
			put_ip(e, 0x0d, BASE + 5);
		}
		e->late[e->late_n++] = BASE + (skip ? 8 : 0);
		if (e->late_n == 4 || !any(e, 3))
			flush(e);
		switch (any(e, 40)) {
		case 0: put_psb(e, true, BASE); break;
		case 1: /* interrupted, and handled where nothing is traced */
			flush(e);
			put_ip(e, 0x1d, BASE + (skip ? 9 : 0));
			put_time(e, false);
			le(e, 0x01, 1);
			put_time(e, false);
			if (!any(e, 3))
				put_psb(e, false, 0);
			begin(e, BASE + (skip ? 9 : 0));
			break;
		case 2: /* and where it is looked at */
			flush(e);
			put_ip(e, 0x1d, BASE);
			put_time(e, false);
			put_ip(e, 0x0d, BASE);
			break;
		default: break;
		}
	}
	flush(e);
	put_ip(e, 0x1d, BASE);
	le(e, 0x01, 1);
}

static size_t read_code(void *ctx, uint64_t tsc, uint64_t ip, void *buf, size_t n)
{
	size_t left = ip >= BASE && ip < BASE + sizeof(code) ? sizeof(code) - (ip - BASE) : 0;

	n = n < left ? n : left;
	memcpy(buf, code + (left ? ip - BASE : 0), n);
	return n;
}

static int32_t pid_at(void *ctx, bool timed, uint64_t tsc, size_t *which)
{
	return 7;
}

static uint64_t ns_of(void *ctx, bool timed, uint64_t tsc)
{
	return tsc;
}

static struct ty_flow *flow_of(const struct ty_pt_cpu *cpu, const void *p, size_t n)
{
	struct ty_flow *f = ty_flow_new(NULL, NULL);
	struct ty_code *c = ty_flow_code(f);

	assert_int_equal(0, ty_flow_thread(f, 7, 7));
	assert_int_equal(0, ty_code_map(c, 7, 0, BASE, sizeof(code), 0,
					ty_code_blob(c, "code", code, sizeof(code))));
	ty_flow_set_cpu(f, cpu);
	ty_flow_set_time(f, 0, 1, 0);
	assert_int_equal(0, ty_flow_add(f, -1, 7, 0, p, n, 0));
	assert_int_equal(0, ty_flow_start(f, NULL));
	return f;
}

/* All of it in one go. */
static int walk(struct ty_flow *f, const struct ty_pt_cpu *cpu, const struct ty_buf *b)
{
	struct ty_blocks *blocks = ty_blocks_new(ty_flow_code(f));
	const struct ty_walk_cpu of = ty_walk_cpu(cpu);
	struct ty_walk_range r = {.cpu = &of,
				  .bytes = (const uint8_t *)b->p,
				  .n = b->len,
				  .end = b->len,
				  .pid_at = pid_at,
				  .ns_of = ns_of};
	struct ty_walked w = {0};
	int e = ty_flow_walk(blocks, &r, &w);

	ty_walked_fini(&w);
	ty_blocks_free(blocks);
	return e;
}

static const struct ty_pt_cpu cpus[] = {
	{0},
	{.family = 6, .model = 0x5e, .stepping = 3, .cpuid_15_eax = 2, .cpuid_15_ebx = 276},
	{.family = 6,
	 .model = 0x5e, /* SKL168, SKD007 */
	 .stepping = 3,
	 .mtc_freq = 3,
	 .nom_freq = 34,
	 .cpuid_15_eax = 2,
	 .cpuid_15_ebx = 276},
	{.mtc_freq = 10, .nom_freq = 21, .cpuid_15_eax = 3, .cpuid_15_ebx = 84},
};

static void test_same(void **state)
{
	size_t items = 0, events = 0, others = 0;

	if (!ty_pt_available())
		skip();
	for (unsigned seed = 1; seed <= 40; seed++) {
		const struct ty_pt_cpu *cpu = &cpus[seed % 4];
		struct ty_flow_item want;
		struct ty_flow_at got;
		struct ty_flow *f;
		struct ty_pt *pt;
		struct enc e;

		make(&e, seed, 600);
		f = flow_of(cpu, e.out.p, e.out.len);
		assert_int_equal(0, walk(f, cpu, &e.out));
		assert_int_equal(0, ty_pt_new(cpu, (const uint8_t *)e.out.p, e.out.len, read_code,
					      NULL, &pt, NULL));
		while (ty_pt_next(pt, &want) > 0) {
			assert_int_equal(1, ty_flow_next(f, &got));
			items++;
			assert_int_equal(want.kind, got.item.kind);
			assert_int_equal(want.ip, got.item.ip);
			assert_int_equal(want.to, got.item.to);
			assert_int_equal(want.value, got.item.value);
			assert_int_equal(want.size, got.item.size);
			/* libipt gives what is before an event the event's time. */
			if (want.kind != TY_FLOW_INSN)
				events++;
			if (want.kind != TY_FLOW_INSN || want.ip == BASE + 5 ||
			    want.ip == BASE + 16)
				others += want.tsc != got.item.tsc;
		}
		assert_int_equal(0, ty_flow_next(f, &got));
		ty_pt_free(pt);
		ty_flow_free(f);
		ty_buf_fini(&e.out);
	}
	assert_true(items > 100000);
	assert_in_range(events, 1, items / 20);
	assert_in_range(others, 0, events);
}

static void add(struct ty_buf *b, const void *p, size_t n)
{
	assert_int_equal(0, ty_buf_add(b, p, n));
}

static void add_ip(struct ty_buf *b, uint8_t op, uint64_t ip)
{
	assert_int_equal(0, ty_buf_addle(b, op | 3 << 5, 1));
	assert_int_equal(0, ty_buf_addle(b, ip, 6));
}

/* PSB+ with time and crystal clock (tsc not 0), or in the middle of what runs at ip (not 0). */
static void add_psb(struct ty_buf *b, uint64_t tsc, uint16_t ctc, uint64_t ip)
{
	static const uint8_t psb[] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
				      2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};

	add(b, psb, sizeof(psb));
	if (tsc) {
		assert_int_equal(0, ty_buf_addle(b, tsc << 8 | 0x19, 8));
		assert_int_equal(0, ty_buf_addle(b, (uint64_t)ctc << 16 | 0x7302, 7));
	}
	if (ip) {
		add(b, "\x99\x01", 2);
		add_ip(b, 0x1d, ip);
	}
	add(b, "\x02\x23", 2);
}

/* The time at which tracing ended, of libipt's decoder and of the fast decoder, which must be it.
 */
static uint64_t stopped_at(const struct ty_pt_cpu *cpu, const struct ty_buf *b)
{
	struct ty_flow *f = flow_of(cpu, b->p, b->len);
	struct ty_flow_item want = {0};
	struct ty_flow_at got = {0};
	struct ty_pt *pt;

	assert_int_equal(0, walk(f, cpu, b));
	assert_int_equal(0,
			 ty_pt_new(cpu, (const uint8_t *)b->p, b->len, read_code, NULL, &pt, NULL));
	while (ty_pt_next(pt, &want) > 0 && want.kind != TY_FLOW_STOP)
		assert_int_not_equal(TY_FLOW_GAP, want.kind);
	assert_int_equal(TY_FLOW_STOP, want.kind);
	while (ty_flow_next(f, &got) > 0 && got.item.kind != TY_FLOW_STOP)
		;
	assert_int_equal(TY_FLOW_STOP, got.item.kind);
	assert_int_equal(want.tsc, got.item.tsc);
	ty_pt_free(pt);
	ty_flow_free(f);
	return got.item.tsc;
}

/* The MTC shows more of the crystal clock than the TMA: bits above 16 are the MTC's, or one less
 * where the lower ones have wrapped since. */
static void test_mtc_beyond_tma(void **state)
{
	static const struct {
		uint16_t tma;
		uint32_t ctc; /* at the MTC */
		uint64_t ticks;
	} cases[] = {{0x0010, 0x20400, 2 * 0x3f0},
		     {0xfff0, 0x10400, 2 * 0x410},
		     {0xfff0, 0x40400, 2 * 0x410},
		     {0x0000, 0x3fc00, 2 * 0xfc00}};
	const struct ty_pt_cpu cpu = {.mtc_freq = 10, .cpuid_15_eax = 1, .cpuid_15_ebx = 2};

	if (!ty_pt_available())
		skip();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ty_buf b;

		ty_buf_init(&b, 4096);
		add_psb(&b, 1000000, cases[i].tma, 0);
		add(&b, "\x99\x01", 2);
		add_ip(&b, 0x11, BASE);
		ty_buf_addle(&b, 0x59 | (cases[i].ctc >> 10 & 0xff) << 8, 2);
		add(&b, "\x06", 1);
		add_ip(&b, 0x01, BASE + 100);
		assert_int_equal(1000000 + cases[i].ticks, stopped_at(&cpu, &b));
		ty_buf_fini(&b);
	}
}

/* After a PSB an MTC or a CYC may be missing (SKL168): then nothing is learned of the ratio of
 * cycles to time. Of other CPUs it is. */
static void test_skl168(void **state)
{
	const struct ty_pt_cpu skylake = cpus[2];
	struct ty_pt_cpu other = skylake;
	struct ty_buf b;
	uint64_t t;

	if (!ty_pt_available())
		skip();
	other.model = 0x4f;
	ty_buf_init(&b, 4096);
	add_psb(&b, 1000000, 0, 0);
	add(&b, "\x02\x03\x22\x00", 4); /* CBR: 34, cycles are ticks */
	add(&b, "\x99\x01", 2);
	add_ip(&b, 0x11, BASE);
	add(&b, "\x87\x44\x59\x01\x87\x44\x59\x02", 8); /* twice 1104 cycles and an MTC */
	add_psb(&b, 0, 0, BASE);
	add(&b, "\xa3\x59\x04\x53", 4); /* 20 cycles, the MTC after the next, 10 cycles */
	add(&b, "\x06", 1);
	add_ip(&b, 0x01, BASE + 100);
	t = 1000000 + 32 * 138; /* four MTCs of 8 crystal clocks */
	assert_int_equal(t + 10, stopped_at(&skylake, &b));
	assert_int_equal(t + (10 * (16 * 138 * 256 / 20) >> 8), stopped_at(&other, &b));
	ty_buf_fini(&b);
}

/* Bytes that are no packets: within bounds, and the result is that of libipt. */
static void test_damage(void **state)
{
	if (!ty_pt_available())
		skip();
	for (unsigned seed = 1; seed <= 3000; seed++) {
		const struct ty_pt_cpu *cpu = &cpus[seed % 4];
		struct ty_flow_item want;
		struct ty_flow_at got;
		struct ty_flow *f;
		struct ty_pt *pt;
		struct enc e;
		uint8_t *p;
		size_t n;

		make(&e, seed, 20);
		for (unsigned i = any(&e, 8); i--;)
			e.out.p[16 + any(&e, (unsigned)e.out.len - 16)] = (char)any(&e, 256);
		/* Of its very size, so that a byte too many is seen. */
		n = 16 + any(&e, (unsigned)e.out.len - 16);
		p = malloc(n);
		memcpy(p, e.out.p, n);
		f = flow_of(cpu, p, n);
		walk(f, cpu, &(struct ty_buf){.p = (char *)p, .len = n});
		assert_int_equal(0, ty_pt_new(cpu, p, n, read_code, NULL, &pt, NULL));
		while (ty_pt_next(pt, &want) > 0) {
			assert_int_equal(1, ty_flow_next(f, &got));
			assert_int_equal(want.kind, got.item.kind);
			assert_int_equal(want.ip, got.item.ip);
			assert_int_equal(want.to, got.item.to);
		}
		/* libipt drops an event before a packet that is cut off from its address. */
		if (ty_flow_next(f, &got) > 0) {
			assert_int_not_equal(TY_FLOW_INSN, got.item.kind);
			assert_int_equal(0, ty_flow_next(f, &got));
		}
		ty_pt_free(pt);
		ty_flow_free(f);
		free(p);
		ty_buf_fini(&e.out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same), cmocka_unit_test(test_mtc_beyond_tma),
		cmocka_unit_test(test_skl168), cmocka_unit_test(test_damage)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
