/* SPDX-License-Identifier: MIT */
/*
 * See insn_size.h. Intel SDM vol. 2: "Instruction Format", appendix A "Opcode Map" (tables A-2 to
 * A-5, columns of 64-bit mode), "VEX" and "EVEX" (section 2.3, 2.7). A map is a string of 256
 * letters: what follows the opcode.
 */
#include "insn_size.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "unaligned.h"

enum { INSN_MAX = TY_INSN_MAX };

/*
 * .  nothing              m  ModR/M              X  not in this table
 * b  1 byte               B  ModR/M and 1 byte   3  ModR/M and 1 byte if its reg is 0 or 1
 * w  2 bytes              z  2 or 4 bytes        Z  ModR/M and 2 or 4
 * e  3 bytes              v  2, 4 or 8           4  ModR/M and 2 or 4 if its reg is 0 or 1
 * o  an address           d  4 bytes             r  ModR/M, of registers always
 * 0  as B, if its reg is 0                       1  as Z, if its reg is 0
 */
static const char one_byte[] = "mmmmbzXX"
			       "mmmmbzXX" /* 00 */
			       "mmmmbzXX"
			       "mmmmbzXX" /* 10 */
			       "mmmmbzXX"
			       "mmmmbzXX" /* 20 */
			       "mmmmbzXX"
			       "mmmmbzXX" /* 30 */
			       "XXXXXXXX"
			       "XXXXXXXX" /* 40: REX */
			       "........"
			       "........" /* 50 */
			       "XXXmXXXX"
			       "zZbB...." /* 60 */
			       "bbbbbbbb"
			       "bbbbbbbb" /* 70 */
			       "BZXBmmmm"
			       "mmmmmmmX" /* 80 */
			       "........"
			       "..X....." /* 90 */
			       "oooo...."
			       "bz......" /* a0 */
			       "bbbbbbbb"
			       "vvvvvvvv" /* b0 */
			       "BBw.XX01"
			       "e.w..bX." /* c0 */
			       "mmmmXXX."
			       "mmmmmmmm" /* d0 */
			       "bbbbbbbb"
			       "ddXb...." /* e0 */
			       "X.XX..34"
			       "......mm"; /* f0 */

static const char two_byte[] = "mmmmX..."
			       "..X.XmXX" /* 00 */
			       "mmmmmmmm"
			       "mmmmmmmm" /* 10 */
			       "rrrrXXXX"
			       "mmmmmmmm" /* 20 */
			       "......X."
			       "XXXXXXXX" /* 30 */
			       "mmmmmmmm"
			       "mmmmmmmm" /* 40 */
			       "mmmmmmmm"
			       "mmmmmmmm" /* 50 */
			       "mmmmmmmm"
			       "mmmmmmmm" /* 60 */
			       "BBBBmmm."
			       "mmXXmmmm" /* 70 */
			       "dddddddd"
			       "dddddddd" /* 80 */
			       "mmmmmmmm"
			       "mmmmmmmm" /* 90 */
			       "...mBmXX"
			       "...mBmmm" /* a0 */
			       "mmmmmmmm"
			       "mXBmmmmm" /* b0 */
			       "mmBmBBBm"
			       "........" /* c0 */
			       "mmmmmmmm"
			       "mmmmmmmm" /* d0 */
			       "mmmmmmmm"
			       "mmmmmmmm" /* e0 */
			       "mmmmmmmm"
			       "mmmmmmmX"; /* f0 */

struct insn {
	const uint8_t *code;
	size_t n, at; /* at: what is read up to; what lies beyond n counts, too */
	bool osize, asize, repne, rep, rex, wide; /* prefixes 66, 67, f2, f3, REX, its W */
};

/* The ModR/M byte with the SIB byte and displacement behind it; false: they are not all there. */
static bool modrm(struct insn *i, uint8_t *byte)
{
	unsigned mod, rm;
	bool disp4;

	if (i->at >= i->n)
		return false;
	*byte = i->code[i->at++];
	mod = *byte >> 6;
	rm = *byte & 7;
	disp4 = mod == 2 || (!mod && rm == 5);
	if (mod != 3 && rm == 4) {
		if (i->at >= i->n)
			return false;
		disp4 |= !mod && (i->code[i->at] & 7) == 5;
		i->at++;
	}
	i->at += disp4 ? 4 : mod == 1;
	return true;
}

/* The bytes behind the opcode; false: not in this table, or missing. */
static bool operands(struct insn *i, char what)
{
	const unsigned z = i->osize && !i->wide ? 2 : 4;
	uint8_t m = 0;

	if (strchr("mBZ0134", what) && !modrm(i, &m))
		return false;
	switch (what) {
	case '.':
	case 'm': return true;
	case 'b':
	case 'B':
	case 'r': i->at += 1; return true;
	case 'w': i->at += 2; return true;
	case 'e': i->at += 3; return true;
	case 'd': i->at += 4; return !i->osize; /* with 66 processors do not agree */
	case 'z':
	case 'Z': i->at += z; return true;
	case 'v': i->at += i->wide ? 8 : z; return true;
	case 'o': i->at += i->asize ? 4 : 8; return true;
	case '0': i->at += 1; return !(m & 0x38);
	case '1': i->at += z; return !(m & 0x38);
	case '3': i->at += (m >> 3 & 7) < 2 ? 1 : 0; return true;
	case '4': i->at += (m >> 3 & 7) < 2 ? z : 0; return true;
	default: return false;
	}
}

/* Is there such an instruction in the first map of VEX or EVEX? */
static bool is_vex(uint8_t op)
{
	return (op & 0xf8) == 0x10 || (op & 0xf8) == 0x28 || (op >= 0x41 && op <= 0x7f) ||
	       (op >= 0x90 && op <= 0x93) || op == 0x98 || op == 0x99 || op == 0xae || op == 0xc2 ||
	       (op >= 0xc4 && op <= 0xc6) || (op >= 0xd0 && op != 0xff);
}

/* Behind the prefixes: VEX and EVEX, which no other encoding begins as. */
static bool vex(struct insn *i)
{
	uint8_t first = i->code[i->at], map, op;

	if (i->n - i->at < 6)
		return false;
	map = first == 0xc5 ? 1 : i->code[i->at + 1] & (first == 0xc4 ? 0x1f : 7);
	i->at += first == 0xc5 ? 2 : first == 0xc4 ? 3 : 4;
	op = i->code[i->at++];
	if (!map || map == 4 || map > 6 || i->osize || i->repne || i->rep || i->rex)
		return false;
	if (map == 1 && op == 0x77) /* vzeroupper */
		return true;
	if (map == 1 && !is_vex(op))
		return false;
	return operands(i, map == 3 || (map == 1 && two_byte[op] == 'B') ? 'B' : 'm');
}

/* Behind 0f. */
static bool escaped(struct insn *i)
{
	uint8_t op;

	if (i->at >= i->n)
		return false;
	op = i->code[i->at++];
	if (op == 0x38 || op == 0x3a)
		return i->at++ < i->n && operands(i, op == 0x38 ? 'm' : 'B');
	if ((op == 0x78 || op == 0x79) && (i->osize || i->repne))
		return false; /* AMD's, with two bytes behind */
	if (op == 0xb8 && !i->rep)
		return false;
	return operands(i, two_byte[op]);
}

/* Of an opcode: bytes behind the operands, and how they begin. 0: not plain. */
enum { PLAIN = 0x80, MODRM = 0x40, IMM64 = 0x10 }; /* IMM64: of 4 bytes, with REX.W of 8 */

#define ALU(o)                                                                                     \
	[(o)] = PLAIN | MODRM, [(o) + 1] = PLAIN | MODRM, [(o) + 2] = PLAIN | MODRM,               \
	[(o) + 3] = PLAIN | MODRM, [(o) + 4] = PLAIN | 1, [(o) + 5] = PLAIN | 4
static const uint8_t plain_one[256] = {
	ALU(0x00),
	ALU(0x08),
	ALU(0x10),
	ALU(0x18),
	ALU(0x20),
	ALU(0x28),
	ALU(0x30),
	ALU(0x38),
	[0x50 ... 0x5f] = PLAIN,
	[0x63] = PLAIN | MODRM,
	[0x68] = PLAIN | 4,
	[0x69] = PLAIN | MODRM | 4,
	[0x6a] = PLAIN | 1,
	[0x6b] = PLAIN | MODRM | 1,
	[0x80] = PLAIN | MODRM | 1,
	[0x81] = PLAIN | MODRM | 4,
	[0x83] = PLAIN | MODRM | 1,
	[0x84 ... 0x8b] = PLAIN | MODRM,
	[0x8d] = PLAIN | MODRM,
	[0x90] = PLAIN,
	[0x98 ... 0x99] = PLAIN,
	[0xa8] = PLAIN | 1,
	[0xa9] = PLAIN | 4,
	[0xb0 ... 0xb7] = PLAIN | 1,
	[0xb8 ... 0xbf] = PLAIN | IMM64 | 4,
	[0xc0 ... 0xc1] = PLAIN | MODRM | 1,
	[0xc6] = PLAIN | MODRM | 1,
	[0xc7] = PLAIN | MODRM | 4,
	[0xd0 ... 0xd3] = PLAIN | MODRM,
};
#undef ALU
static const uint8_t plain_two[256] = {
	[0x10 ... 0x11] = PLAIN | MODRM, [0x1f] = PLAIN | MODRM,
	[0x28 ... 0x29] = PLAIN | MODRM, [0x40 ... 0x4f] = PLAIN | MODRM,
	[0x90 ... 0x9f] = PLAIN | MODRM, [0xaf] = PLAIN | MODRM,
	[0xb6 ... 0xb7] = PLAIN | MODRM, [0xbe ... 0xbf] = PLAIN | MODRM,
};

/* Of a ModR/M byte: it with its displacement and SIB byte; SIB: that may bring a displacement. */
enum { SIB = 0x80 };
#define ROW(others, sib, rip)                                                                      \
	(others), (others), (others), (others), (sib), (rip), (others), (others)
#define ROWS(o, s, r)                                                                              \
	ROW(o, s, r), ROW(o, s, r), ROW(o, s, r), ROW(o, s, r), ROW(o, s, r), ROW(o, s, r),        \
		ROW(o, s, r), ROW(o, s, r)
static const uint8_t modrm_size[256] = {ROWS(1, SIB | 2, 5), ROWS(2, 3, 2), ROWS(5, 6, 5),
					ROWS(1, 1, 1)};
#undef ROWS
#undef ROW

/*
 * Of the first two bytes behind REX: the length without REX, and what is to be checked; 0: not
 * plain. ESCAPED: it is that of the third byte in escaped_size. SIB_BASE: 4 more, if the base is 5.
 * WIDE: 4 more with REX.W. Two look-ups instead of one after another for each byte.
 */
enum { LENGTH = 15, ESCAPED = 0x10, SIB_BASE = 0x20, WIDE = 0x40 };
static uint8_t plain_size[1 << 16], escaped_size[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill(void)
{
	uint8_t base[256] = {0}, mask[256] = {0};

	for (unsigned op = 0; op < 256; op++) {
		const uint8_t what = plain_one[op];

		if (what)
			base[op] = (uint8_t)(1 + (what & 7) + (what & IMM64 ? WIDE : 0));
		if (what & MODRM)
			mask[op] = 0xff;
	}
	for (unsigned m = 0; m < 256; m++) {
		const uint8_t more =
			(uint8_t)((modrm_size[m] & ~SIB) + (modrm_size[m] & SIB ? SIB_BASE : 0));
		uint8_t *to = plain_size + (size_t)m * 256;

		for (unsigned op = 0; op < 256; op++)
			to[op] = (uint8_t)(base[op] + (mask[op] & more));
		if (m & 0x38)
			to[0xc6] = to[0xc7] = 0; /* mov: reg is 0 */
		to[0x0f] = plain_two[m] ? ESCAPED : 0;
		escaped_size[m] = (uint8_t)(2 + more);
	}
}

void ty_insn_plain_ready(void)
{
	(void)pthread_once(&once, fill);
}

/* Without a branch that depends on the instruction, so that the processor need not guess: with and
 * without REX both are looked up. */
static inline size_t plain(const uint8_t *code)
{
	uint64_t bytes = ty_u64_at(code);
	const unsigned rex = (bytes & 0xf0) == 0x40;
	unsigned size = plain_size[bytes & 0xffff], with = plain_size[bytes >> 8 & 0xffff];
	unsigned mask = 0 - rex, check, escape;

	__asm__("" : "+r"(mask)); /* else the compiler makes it a branch */
	size ^= (size ^ with) & mask;
	check = (unsigned)bytes << 3 & mask & WIDE;
	bytes >>= 16 + 8 * rex;
	escape = size & ESCAPED;
	mask = 0 - (escape >> 4);
	__asm__("" : "+r"(mask));
	size ^= (size ^ escaped_size[bytes & 0xff]) & mask;
	check |= (unsigned)((bytes >> (escape >> 1) & 7) == 5) << 5;
	check &= size;
	size &= LENGTH;
	if (!check)
		return size ? size + rex : 0;
	return size + rex + 4;
}

unsigned ty_insn_plain(const uint8_t *code, size_t n, uint8_t *sizes, unsigned most, size_t *bytes)
{
	const uint8_t *p = code, *end = code + n;
	unsigned k = 0;
	size_t size;

	while (k < most && (size_t)(end - p) >= INSN_MAX && (size = plain(p)) > 0) {
		sizes[k++] = (uint8_t)size;
		p += size;
	}
	*bytes = (size_t)(p - code);
	return k;
}

size_t ty_insn_size(const uint8_t *code, size_t n)
{
	struct insn i = {.code = code, .n = n};
	bool good;

	for (; i.at < n; i.at++) {
		const uint8_t b = code[i.at];
		const bool rex = (b & 0xf0) == 0x40;

		if (b == 0x66)
			i.osize = true;
		else if (b == 0x67)
			i.asize = true;
		else if (b == 0xf2)
			i.repne = true;
		else if (b == 0xf3)
			i.rep = true;
		else if (!rex && b != 0x26 && b != 0x2e && b != 0x36 && b != 0x3e && b != 0x64 &&
			 b != 0x65 && b != 0xf0)
			break;
		i.rex = rex; /* before another prefix it is ignored */
		i.wide = rex && b & 8;
	}
	if (i.at >= n)
		return 0;
	switch (code[i.at]) {
	case 0x62:
	case 0xc4:
	case 0xc5: good = vex(&i); break;
	case 0x0f:
		i.at++;
		good = escaped(&i);
		break;
	default:
		i.at++;
		good = operands(&i, one_byte[code[i.at - 1]]);
		break;
	}
	return good && i.at <= n && i.at <= INSN_MAX ? i.at : 0;
}
