/* SPDX-License-Identifier: MIT */
/*
 * Intel PT packets that decoders lose their way in, of our own making: what cannot be decoded is as
 * little as possible and reported with its size, and nothing is reported that was not executed.
 * Each stream goes through the fast decoder (flow_walk.h, where it takes it) and libipt's
 * (pt_stream.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "buf.h"
#include "flow.h"
#include "flow_walk.h"
#include "pt_entry.h"
#include "pt_packet.h"

#define BASE  0x400000ull
#define ENTRY (BASE + 0x20) /* what the interpreter jumps to: A */
#define OTHER (BASE + 0x60)

/*
 * 00 jmp rax    10 call 40      20 mov rdi,rsp   30 syscall  40 nop        60 nop
 * 02 nop        15 jmp 00       23 call 40       32 jmp 30   41 je 44      61 jmp rax
 *                               28 jmp 15                    43 nop
 *                                                            44 ret
 */
static const uint8_t code[128] = {
	[0x00] = 0xff,
	0xe0,
	0x90,
	[0x10] = 0xe8,
	0x2b,
	0,
	0,
	0,
	0xeb,
	0xe9,
	[0x20] = 0x48,
	0x89,
	0xe7,
	0xe8,
	0x18,
	0,
	0,
	0,
	0xeb,
	0xeb,
	[0x30] = 0x0f,
	0x05,
	0xeb,
	0xfc,
	[0x40] = 0x90,
	0x74,
	0x01,
	0x90,
	0xc3,
	[0x60] = 0x90,
	0xff,
	0xe0,
};

static void put(struct ty_buf *b, const char *bytes, size_t n)
{
	assert_int_equal(0, ty_buf_add(b, bytes, n));
}

#define PUT(b, s) put(b, s, sizeof(s) - 1)
#define CBR	  "\x02\x03\x1e\x00"
#define PGD	  "\x01"
#define OVF	  "\x02\xf3"

enum { TIP = 0x0d, PGE = 0x11, FUP = 0x1d, PGD_TO = 0x01 };

static void ip48(struct ty_buf *b, uint8_t op, uint64_t ip)
{
	assert_int_equal(0, ty_buf_addle(b, op | 3 << 5, 1));
	assert_int_equal(0, ty_buf_addle(b, ip, 6));
}

static void ip16(struct ty_buf *b, uint8_t op, uint64_t ip)
{
	assert_int_equal(0, ty_buf_addle(b, op | 1 << 5, 1));
	assert_int_equal(0, ty_buf_addle(b, ip, 2));
}

static void tsc(struct ty_buf *b, uint64_t t)
{
	assert_int_equal(0, ty_buf_addle(b, t << 8 | 0x19, 8));
}

static void psb(struct ty_buf *b, uint64_t t, uint64_t on_at)
{
	for (unsigned i = 0; i < 8; i++)
		PUT(b, "\x02\x82");
	tsc(b, t);
	if (on_at) {
		PUT(b, "\x99\x01");
		ip48(b, FUP, on_at);
	}
	PUT(b, "\x02\x23");
}

static void begin(struct ty_buf *b, uint64_t t, uint64_t ip)
{
	tsc(b, t);
	PUT(b, "\x99\x01");
	ip48(b, PGE, ip);
}

static struct ty_buf new_stream(void)
{
	struct ty_buf b;

	ty_buf_init(&b, 1 << 20);
	psb(&b, 1000, 0);
	begin(&b, 1001, BASE);
	return b;
}

/* What was seen, one letter each, and the last gap and the last inferred interruption. */
struct seen {
	char text[256];
	struct ty_flow_item gap, inferred;
	unsigned gaps, insns;
	uint64_t lost; /* bytes of all gaps */
};

static void see(struct seen *s, const struct ty_flow_item *it)
{
	/* instruction, start, stop, async, gap, overflow, abort, ptwrite, ratio, power */
	static const char letters[] = "i<>a!oxwrp";
	size_t n = strlen(s->text);

	s->insns += it->kind == TY_FLOW_INSN;
	if (it->kind == TY_FLOW_CBR)
		return;
	if (n + 1 < sizeof(s->text))
		s->text[n] = letters[it->kind];
	if (it->kind == TY_FLOW_GAP) {
		s->gap = *it;
		s->gaps++;
		s->lost += it->value;
		assert_non_null(it->text);
	}
	if (it->flags & TY_FF_INFERRED) {
		assert_int_equal(TY_FLOW_ASYNC, it->kind);
		s->inferred = *it;
	}
}

static size_t read_code(void *ctx, uint64_t t, uint64_t ip, void *buf, size_t n)
{
	size_t left = ip >= BASE && ip < BASE + sizeof(code) ? sizeof(code) - (ip - BASE) : 0;

	n = n < left ? n : left;
	memcpy(buf, code + (left ? ip - BASE : 0), n);
	return n;
}

static int32_t pid_at(void *ctx, bool timed, uint64_t t, size_t *which)
{
	return 7;
}

static uint64_t ns_of(void *ctx, bool timed, uint64_t t)
{
	return t;
}

static struct ty_pt_cpu traced; /* none named */

/* Decode it by libipt; and as a recording's stream. quick: whether that is to be the fast decoder.
 */
static struct seen decode(const struct ty_buf *b, bool quick)
{
	const struct ty_walk_cpu cpu = ty_walk_cpu(&traced);
	struct ty_walk_range range = {.cpu = &cpu,
				      .bytes = (const uint8_t *)b->p,
				      .n = b->len,
				      .end = b->len,
				      .pid_at = pid_at,
				      .ns_of = ns_of};
	struct ty_flow *f = ty_flow_new(NULL, NULL);
	struct ty_code *c = ty_flow_code(f);
	struct seen slow = {0}, fast = {0};
	struct ty_walked w = {0};
	struct ty_blocks *blocks;
	struct ty_flow_item it;
	struct ty_flow_at at;
	struct ty_pt *pt;

	assert_int_equal(
		0, ty_pt_new(&traced, (const uint8_t *)b->p, b->len, read_code, NULL, &pt, NULL));
	while (ty_pt_next(pt, &it) > 0)
		see(&slow, &it);
	ty_pt_free(pt);
	assert_int_equal(0, ty_flow_thread(f, 7, 7));
	assert_int_equal(0, ty_code_map(c, 7, 0, BASE, sizeof(code), 0,
					ty_code_blob(c, "code", code, sizeof(code))));
	ty_flow_set_cpu(f, &traced);
	ty_flow_set_time(f, 0, 1, 0);
	assert_int_equal(0, ty_flow_add(f, -1, 7, 0, b->p, b->len, 0));
	assert_int_equal(0, ty_flow_start(f, NULL));
	while (ty_flow_next(f, &at) > 0)
		see(&fast, &at.item);
	blocks = ty_blocks_new(c);
	assert_int_equal(quick ? 0 : -TY_EUNSUPPORTED, ty_flow_walk(blocks, &range, &w));
	ty_walked_fini(&w);
	ty_blocks_free(blocks);
	ty_flow_free(f);
	assert_string_equal(slow.text, fast.text);
	assert_int_equal(slow.gap.value, fast.gap.value);
	assert_int_equal(slow.gap.off, fast.gap.off);
	assert_int_equal(slow.gap.ip, fast.gap.ip);
	assert_int_equal(slow.gap.to, fast.gap.to);
	assert_int_equal(slow.gap.until, fast.gap.until);
	assert_int_equal(slow.inferred.ip, fast.inferred.ip);
	return fast;
}

static int needs_ipt(void **state)
{
	if (!ty_pt_available())
		skip();
	return 0;
}

/* A program's first instruction faults twice; of the second fault there is no FUP. */
static void test_two_faults(void **state)
{
	struct ty_buf b = new_stream();
	struct seen s;

	ip16(&b, TIP, ENTRY);
	ip16(&b, FUP, ENTRY);
	PUT(&b, PGD CBR);
	begin(&b, 1100, ENTRY);
	PUT(&b, PGD CBR);
	begin(&b, 1200, ENTRY);
	PUT(&b, "\x06"); /* je */
	ip16(&b, TIP, BASE + 0x28);
	ip16(&b, TIP, OTHER);
	PUT(&b, OVF);
	s = decode(&b, false);
	/* jmp; mov call nop je ret; jmp jmp jmp; nop: the code before the faults was not executed
	 */
	assert_string_equal("<ia<a<iiiiiiiio", s.text);
	assert_int_equal(ENTRY, s.inferred.ip);
	b.len -= 2;
	s = decode(&b, true);
	assert_string_equal("<ia<a<iiiiiiii", s.text);
	assert_int_equal(0, s.gaps);
	ty_buf_fini(&b);
}

/* Erratum BDM70: while tracing is off, a PSB+ shows where it will begin. */
static void test_early_fup(void **state)
{
	struct ty_buf b = new_stream();
	struct seen s;

	ip16(&b, TIP, OTHER);
	ip16(&b, FUP, OTHER + 1);
	PUT(&b, PGD);
	psb(&b, 1100, OTHER + 1);
	begin(&b, 1101, OTHER + 1);
	ip16(&b, TIP, OTHER);
	decode(&b, false);
	traced = (struct ty_pt_cpu){.family = 6, .model = 61, .stepping = 4};
	s = decode(&b, true);
	traced = (struct ty_pt_cpu){0};
	assert_string_equal("<iia<i", s.text);
	assert_int_equal(0, s.gaps);
	ty_buf_fini(&b);
}

/* Code that is missing is a gap to where the packets have an address again. */
static void test_no_code(void **state)
{
	struct ty_buf b = new_stream();
	struct seen s;
	size_t off;

	off = b.len;
	ip16(&b, TIP, BASE + 0x1000);
	PUT(&b, "\x06"); /* a branch there */
	ip16(&b, FUP, BASE + 0x1010);
	ip16(&b, TIP, OTHER);
	ip16(&b, TIP, BASE + 0x1000);
	PUT(&b, "\x06");
	psb(&b, 1100, OTHER);
	ip16(&b, TIP, OTHER);
	s = decode(&b, true);
	assert_string_equal("<i!ii!ii", s.text);
	assert_int_equal(BASE + 0x1000, s.gap.ip);
	assert_int_equal(OTHER, s.gap.to);
	assert_int_equal(1100, s.gap.until);
	assert_true(s.gap.flags & TY_FF_NO_CODE);
	assert_int_equal(off + 3 + 1 + 3 + 3, s.gap.off);
	assert_int_equal(3 + 1, s.gap.value);
	ty_buf_fini(&b);
}

/* Interrupted a while later without a FUP: what was executed up to there follows from where tracing
 * begins again. */
static void test_interrupted_on_the_way(void **state)
{
	struct ty_buf b = new_stream();
	struct seen s;

	ip16(&b, TIP, ENTRY);
	PUT(&b, PGD);
	begin(&b, 1100, BASE + 0x40);
	PUT(&b, "\x06");
	ip16(&b, TIP, BASE + 0x28);
	ip16(&b, TIP, OTHER);
	s = decode(&b, true);
	assert_string_equal("<iiia<iiiiii", s.text);
	assert_int_equal(BASE + 0x40, s.inferred.ip);
	assert_int_equal(0, s.gaps);
	ty_buf_fini(&b);
}

/* Tracing begins elsewhere: what was executed is not known, and only that. */
static void test_ended_nowhere(void **state)
{
	struct ty_buf b = new_stream();
	struct seen s;
	size_t at;

	ip16(&b, TIP, ENTRY);
	at = b.len;
	PUT(&b, PGD);
	begin(&b, 1100, OTHER);
	ip16(&b, TIP, BASE + 2);
	s = decode(&b, true);
	assert_string_equal("<i!<ii", s.text);
	assert_int_equal(at, s.gap.off);
	assert_int_equal(ENTRY, s.gap.ip);
	assert_int_equal(OTHER, s.gap.to);
	assert_int_equal(1100, s.gap.until);
	ty_buf_fini(&b);
}

/* So it is where the trace ends with that, or a PSB+ is behind it. */
static void test_ended_at_end(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		struct ty_buf b = new_stream();
		struct seen s;
		size_t at;

		ip16(&b, TIP, ENTRY);
		at = b.len;
		PUT(&b, PGD);
		if (i & 1)
			PUT(&b, "\0\0" CBR);
		if (i & 2)
			psb(&b, 1100, 0);
		if (i & 4)
			begin(&b, 1200, OTHER);
		s = decode(&b, true);
		assert_string_equal(i & 4 ? "<i!<" : "<i!", s.text);
		assert_int_equal(at, s.gap.off);
		assert_int_equal(1, s.gap.value);
		assert_int_equal(ENTRY, s.gap.ip);
		assert_int_equal(i & 4 ? OTHER : 0, s.gap.to);
		assert_int_equal(i & 4 ? 1200 : 0, s.gap.until);
		ty_buf_fini(&b);
	}
}

/*
 * The trace ends behind a MODE packet and a time stamp: libipt, which has read on to there, reports
 * the event before them together with the end.
 */
static void test_mode_at_end(void **state)
{
	enum { FAULT, END, BEGIN, KINDS };
	static const char *const seen[KINDS] = {"<ia", "<ia", "<ia<"};

	for (unsigned k = 0; k < KINDS; k++) {
		struct ty_buf b = new_stream();
		struct seen s;

		ip16(&b, TIP, ENTRY);
		ip16(&b, FUP, ENTRY);
		if (k == FAULT)
			ip16(&b, TIP, BASE + 0x1000);
		else
			PUT(&b, PGD);
		if (k == BEGIN)
			begin(&b, 1100, OTHER);
		tsc(&b, 1200);
		PUT(&b, "\x99\x01");
		tsc(&b, 1300);
		s = decode(&b, true);
		assert_string_equal(seen[k], s.text);
		assert_int_equal(0, s.gaps);
		ty_buf_fini(&b);
	}
}

/* A trace of nothing but the state with which it could be decoded: nothing of it is missing. */
static void test_state_only(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct ty_buf b;
		struct seen s;

		ty_buf_init(&b, 1 << 20);
		psb(&b, 1000, 0);
		if (i & 1)
			PUT(&b, "\x99\x01");
		if (i & 2)
			tsc(&b, 1100);
		s = decode(&b, true);
		assert_string_equal("", s.text);
		/* Without the end of its header it cannot be. */
		b.len = 20;
		s = decode(&b, false);
		assert_string_equal("!", s.text);
		assert_int_equal(20, s.lost);
		ty_buf_fini(&b);
	}
}

/* Where a far transfer comes first, it was that, as ever. */
static void test_syscall(void **state)
{
	struct ty_buf b = new_stream();
	struct seen s;

	ip16(&b, TIP, BASE + 0x30);
	PUT(&b, PGD);
	begin(&b, 1100, BASE + 0x32);
	PUT(&b, PGD);
	/* Behind it again, which is on the way to it. */
	begin(&b, 1200, BASE + 0x32);
	PUT(&b, PGD);
	s = decode(&b, true);
	assert_string_equal("<ii><ii><ii>", s.text);
	assert_int_equal(0, s.gaps);
	ty_buf_fini(&b);
}

/* Interrupted without a FUP, and the code comes to a system call first: it was not called. */
static void test_interrupted_before_syscall(void **state)
{
	struct ty_buf b = new_stream();
	struct seen s;

	ip16(&b, TIP, BASE + 0x2c); /* adds up to the call */
	tsc(&b, 1050);
	PUT(&b, PGD CBR);
	begin(&b, 1100, BASE + 0x2e);
	PUT(&b, PGD);
	begin(&b, 1200, OTHER);
	s = decode(&b, true);
	assert_string_equal("<iia<ii><", s.text);
	assert_int_equal(BASE + 0x2e, s.inferred.ip);
	assert_int_equal(1050, s.inferred.tsc);
	assert_int_equal(0, s.gaps);
	ty_buf_fini(&b);
}

/* An address range that is traced ends in the middle of what runs straight on. */
static void test_runs_out(void **state)
{
	struct ty_buf b = new_stream();
	struct seen s;

	ip16(&b, TIP, ENTRY);
	ip16(&b, PGD_TO, BASE + 0x41);
	begin(&b, 1100, OTHER);
	ip16(&b, TIP, BASE + 2);
	s = decode(&b, true);
	assert_string_equal("<iiii><ii", s.text);
	ty_buf_fini(&b);
}

/* Packets that are not of this code: decoding resumes at the next start, not at the next PSB. */
static void test_next_begin(void **state)
{
	struct ty_buf b = new_stream();
	struct seen s;
	size_t at;

	ip16(&b, TIP, ENTRY);
	at = b.len;
	ip16(&b, FUP, OTHER); /* not on the way to the je, whose bit is missing */
	PUT(&b, PGD);
	begin(&b, 1300, OTHER);
	ip16(&b, TIP, BASE + 2);
	s = decode(&b, false);
	assert_int_equal(1, s.gaps);
	assert_string_equal("<i!<ii", s.text);
	assert_in_range(s.gap.off, at - 3, at); /* or the TIP before */
	assert_int_equal(OTHER, s.gap.to);
	assert_int_equal(1300, s.gap.until);
	assert_true(s.gap.value >= 8 && s.gap.value <= 20);
	ty_buf_fini(&b);
}

/* The same, and tracing is not off in between: behind a FUP and its TIP. */
static void test_next_interrupt(void **state)
{
	struct ty_buf b = new_stream();
	struct seen s;

	PUT(&b, "\x06");
	ip16(&b, TIP, OTHER); /* bits before it may be of later branches: no place to enter */
	ip16(&b, FUP, ENTRY);
	ip16(&b, TIP, BASE + 0x40);
	PUT(&b, "\x06");
	ip16(&b, TIP, OTHER);
	ip16(&b, TIP, BASE + 2);
	s = decode(&b, false);
	assert_int_equal(1, s.gaps);
	assert_int_equal(BASE + 0x40, s.gap.to);
	assert_string_equal("<i!iiiii", s.text); /* jmp; nop je ret; nop jmp */
	ty_buf_fini(&b);
}

/* Decoding resumes after an overflow at its FUP or where tracing begins, also where the CPU wrote
 * packets in between that libipt wants an erratum for. */
static void test_overflow(void **state)
{
	struct ty_buf b = new_stream();
	struct seen s;

	PUT(&b, OVF);
	ip48(&b, FUP, ENTRY);
	PUT(&b, "\x06");
	ip16(&b, TIP, OTHER);
	s = decode(&b, false);
	assert_string_equal("<oiiiii", s.text);
	ty_buf_fini(&b);
	b = new_stream();
	PUT(&b, OVF);
	begin(&b, 1200, OTHER);
	ip16(&b, TIP, BASE + 2);
	s = decode(&b, false);
	assert_string_equal("<o<ii", s.text);
	ty_buf_fini(&b);
	b = new_stream();
	PUT(&b, OVF);
	PUT(&b, "\x06");
	ip48(&b, TIP, BASE);
	PUT(&b, "\x06" PGD);
	begin(&b, 1200, OTHER);
	ip16(&b, TIP, BASE + 2);
	s = decode(&b, false);
	assert_string_equal("<!<ii", s.text);
	assert_non_null(strstr(s.gap.text, "overflow"));
	assert_int_equal(OTHER, s.gap.to);
	ty_buf_fini(&b);
}

/* Event Trace and PEBS records: packets that Debian's libipt does not know, without information on
 * the flow. */
static void test_unknown_packets(void **state)
{
	struct ty_buf b = new_stream();
	struct seen s;

	PUT(&b, "\x02\x13\x01\x00");				 /* CFE */
	PUT(&b, "\x02\x53\x02\x11\x22\x33\x44\x55\x66\x77\x88"); /* EVD */
	ip16(&b, TIP, ENTRY);
	PUT(&b, "\x02\x63\x04");			 /* BBP, items of eight bytes */
	PUT(&b, "\x04\x02\x82\x02\x82\x02\x82\x02\x82"); /* BIP */
	PUT(&b, "\x0c\x02\xf3\x02\xf3\x02\xf3\x02\xf3");
	PUT(&b, "\x02\xb3"); /* BEP and its FUP */
	ip16(&b, FUP, BASE + 0x40);
	PUT(&b, "\x06");
	ip16(&b, TIP, OTHER);
	s = decode(&b, false);
	assert_int_equal(0, s.gaps);
	assert_string_equal("<iiiiii", s.text);
	ty_buf_fini(&b);
}

/* Bytes that are no packets: only the next PSB shows where the next one begins. */
static void test_garbage(void **state)
{
	struct ty_buf b = new_stream();
	struct seen s;
	size_t at;

	ip16(&b, TIP, ENTRY);
	PUT(&b, "\x06");
	ip16(&b, TIP, BASE + 0x28);
	at = b.len;
	PUT(&b, "\x02\xff");
	begin(&b, 1100, BASE);
	at = b.len - at;
	psb(&b, 1200, OTHER);
	ip16(&b, TIP, BASE + 2);
	s = decode(&b, false);
	assert_string_equal("<iiiiii!ii", s.text);
	assert_in_range(s.gap.value, at, at + 4); /* or with the packets before */
	assert_int_equal(OTHER, s.gap.to);
	assert_int_equal(1200, s.gap.until);
	ty_buf_fini(&b);
}

/* Times continue from what the packets before gave, also of the crystal clock. */
static void test_time_behind(void **state)
{
	const struct ty_pt_cpu cpu = {.mtc_freq = 3, .cpuid_15_eax = 1, .cpuid_15_ebx = 10};
	struct ty_flow_item it, last = {0};
	struct ty_buf b = new_stream();
	struct ty_pt *pt;

	tsc(&b, 100000);
	PUT(&b, "\x02\x73\x00\x01\x00\x00\x00"); /* TMA: the crystal clock is 256 */
	PUT(&b, "\x59\x21\x59\x22");		 /* MTC: 16 clocks later */
	PUT(&b, "\x06");
	ip16(&b, FUP, ENTRY);
	ip16(&b, TIP, OTHER);
	PUT(&b, "\x59\x23");
	ip16(&b, TIP, BASE + 2);
	assert_int_equal(0,
			 ty_pt_new(&cpu, (const uint8_t *)b.p, b.len, read_code, NULL, &pt, NULL));
	while (ty_pt_next(pt, &it) > 0) {
		if (it.kind == TY_FLOW_GAP)
			assert_int_equal(100000 + 160, it.until);
		last = it;
	}
	assert_int_equal(TY_FLOW_INSN, last.kind);
	assert_int_equal(100000 + 240, last.tsc);
	ty_pt_free(pt);
	ty_buf_fini(&b);
}

/* Random flips in streams: it ends, and bytes of gaps are no more than there are. */
static void test_flips(void **state)
{
	unsigned seed = 1, insns = 0, gaps = 0;

	for (unsigned round = 0; round < 2000; round++) {
		const struct ty_pt_cpu cpu = {0};
		struct ty_buf b = new_stream();
		struct ty_flow_item it;
		struct seen s = {0};
		struct ty_pt *pt;

		for (unsigned i = 0; i < 30; i++) {
			ip16(&b, TIP, ENTRY);
			PUT(&b, "\x06");
			ip16(&b, TIP, BASE + 0x28);
			ip16(&b, TIP, BASE);
			if (i % 7 == 6) {
				ip16(&b, FUP, BASE);
				PUT(&b, PGD);
				begin(&b, 2000 + i, BASE);
			}
		}
		for (unsigned i = rand_r(&seed) % 4; i--;)
			b.p[60 + (unsigned)rand_r(&seed) % (b.len - 60)] = (char)rand_r(&seed);
		assert_int_equal(0, ty_pt_new(&cpu, (const uint8_t *)b.p, b.len, read_code, NULL,
					      &pt, NULL));
		while (ty_pt_next(pt, &it) > 0) {
			if (it.kind == TY_FLOW_GAP) {
				assert_true(it.off <= b.len);
				assert_true(it.value <= b.len - it.off);
			}
			see(&s, &it);
		}
		assert_true(s.lost <= b.len);
		insns += s.insns;
		gaps += s.gaps;
		ty_pt_free(pt);
		ty_buf_fini(&b);
	}
	/* 9 instructions a round; without going on before the next PSB it is less than 60%. */
	assert_true(gaps > 500);
	assert_true(insns > 2000 * 30 * 9 * 0.75);
}

/* Packets and their sizes: the last byte is the last, and one less is none. */
static void test_packets(void **state)
{
	static const struct {
		uint8_t kind, size;
		bool fup;
		const char *bytes;
	} all[] = {
		{TY_PKT_PAD, 1, 0, "\0"},
		{TY_PKT_TNT, 1, 0, "\x06"},
		{TY_PKT_TNT, 8, 0, "\x02\xa3\1\1\1\1\1\1"},
		{TY_PKT_TIP, 3, 0, "\x2d\1\1"},
		{TY_PKT_PGE, 5, 0, "\x51\1\1\1\1"},
		{TY_PKT_PGD, 1, 0, "\x01"},
		{TY_PKT_FUP, 9, 0, "\xdd\1\1\1\1\1\1\1\1"},
		{TY_PKT_PSB, 16, 0, "\2\x82\2\x82\2\x82\2\x82\2\x82\2\x82\2\x82\2\x82"},
		{TY_PKT_PSBEND, 2, 0, "\x02\x23"},
		{TY_PKT_OVF, 2, 0, "\x02\xf3"},
		{TY_PKT_STOP, 2, 0, "\x02\x83"},
		{TY_PKT_TSC, 8, 0, "\x19\1\1\1\1\1\1\1"},
		{TY_PKT_TMA, 7, 0, "\x02\x73\1\1\0\1\0"},
		{TY_PKT_MTC, 2, 0, "\x59\1"},
		{TY_PKT_CYC, 3, 0, "\x07\x03\x02"},
		{TY_PKT_CBR, 4, 0, "\x02\x03\1\0"},
		{TY_PKT_MODE_EXEC, 2, 0, "\x99\x01"},
		{TY_PKT_MODE_TSX, 2, 0, "\x99\x21"},
		{TY_PKT_PIP, 8, 0, "\x02\x43\1\1\1\1\1\1"},
		{TY_PKT_VMCS, 7, 0, "\x02\xc8\1\1\1\1\1"},
		{TY_PKT_MNT, 11, 0, "\x02\xc3\x88\1\1\1\1\1\1\1\1"},
		{TY_PKT_POWER, 2, 1, "\x02\xe2"},
		{TY_PKT_POWER, 10, 1, "\x02\xc2\1\1\1\1\1\1\1\1"},
		{TY_PKT_POWER, 4, 0, "\x02\x22\1\1"},
		{TY_PKT_POWER, 7, 0, "\x02\xa2\1\1\1\1\1"},
		{TY_PKT_PTW, 6, 0, "\x02\x12\1\1\1\1"},
		{TY_PKT_PTW, 10, 1, "\x02\xb2\1\1\1\1\1\1\1\1"},
		{TY_PKT_EVENT, 4, 1, "\x02\x13\x81\1"},
		{TY_PKT_EVENT, 11, 0, "\x02\x53\1\1\1\1\1\1\1\1\1"},
		{TY_PKT_BLOCK, 3, 0, "\x02\x63\1"},
		{TY_PKT_BLOCK, 2, 1, "\x02\xb3"},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		for (size_t n = 0; n <= all[i].size; n++) {
			uint8_t block = 0, *p = malloc(n ? n : 1); /* of its very size */
			struct ty_pt_packet k;

			memcpy(p, all[i].bytes, n);
			k = ty_pt_packet_at(p, n, &block);
			assert_int_equal(n < all[i].size ? TY_PKT_BAD : all[i].kind, k.kind);
			if (n == all[i].size) {
				assert_int_equal(n, k.size);
				assert_int_equal(all[i].fup, k.has_fup);
			}
			free(p);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_two_faults, needs_ipt),
		cmocka_unit_test_setup(test_interrupted_on_the_way, needs_ipt),
		cmocka_unit_test_setup(test_ended_nowhere, needs_ipt),
		cmocka_unit_test_setup(test_ended_at_end, needs_ipt),
		cmocka_unit_test_setup(test_state_only, needs_ipt),
		cmocka_unit_test_setup(test_mode_at_end, needs_ipt),
		cmocka_unit_test_setup(test_syscall, needs_ipt),
		cmocka_unit_test_setup(test_interrupted_before_syscall, needs_ipt),
		cmocka_unit_test_setup(test_runs_out, needs_ipt),
		cmocka_unit_test_setup(test_next_begin, needs_ipt),
		cmocka_unit_test_setup(test_next_interrupt, needs_ipt),
		cmocka_unit_test_setup(test_overflow, needs_ipt),
		cmocka_unit_test_setup(test_early_fup, needs_ipt),
		cmocka_unit_test_setup(test_no_code, needs_ipt),
		cmocka_unit_test_setup(test_unknown_packets, needs_ipt),
		cmocka_unit_test_setup(test_garbage, needs_ipt),
		cmocka_unit_test_setup(test_time_behind, needs_ipt),
		cmocka_unit_test_setup(test_flips, needs_ipt),
		cmocka_unit_test(test_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
