/* SPDX-License-Identifier: MIT */
/*
 * Classifies an x86 instruction by its effect on control flow: only the decoding that the
 * single-stepper and the flow decoder need (Intel SDM vol. 2, opcode maps). Only direct branches
 * have a known length; for others the single-stepper derives it from the next program counter.
 */
#ifndef TY_STEP_INSN_H
#define TY_STEP_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ty_step_class {
	TY_STEP_OTHER,
	TY_STEP_COND,	  /* to target or to next */
	TY_STEP_DIRECT,	  /* to target */
	TY_STEP_INDIRECT, /* returns, indirect calls and jumps */
	TY_STEP_KERNEL,	  /* syscall, sysenter, int */
	TY_STEP_REP,	  /* may repeat in place, but is one instruction */
	TY_STEP_UNKNOWN,  /* truncated before its class is known */
};

struct ty_step_insn {
	uint8_t cls;	       /* enum ty_step_class */
	bool syscall;	       /* syscall, sysenter, int 0x80 */
	bool call;	       /* DIRECT, INDIRECT: pushes a return address */
	bool ret;	       /* INDIRECT: a near return */
	bool far;	       /* INDIRECT: leaves the code segment (as all of KERNEL do) */
	bool rare;	       /* OTHER: a control transfer of the kernel (sysret, vmlaunch ...) */
	bool pushf;	       /* OTHER: pushes the flags */
	uint64_t next, target; /* COND, DIRECT */
};

static inline struct ty_step_insn ty_step_classify(const uint8_t *b, size_t n, uint64_t ip,
						   bool is64)
{
	struct ty_step_insn out = {.cls = TY_STEP_OTHER};
	const struct ty_step_insn unknown = {.cls = TY_STEP_UNKNOWN};
	bool rep = false, osize = false;
	size_t i = 0, rel = 0;
	uint8_t op;

	for (bool prefix = true; prefix && i < n; i += prefix) {
		switch (b[i]) {
		case 0xf2:
		case 0xf3: rep = true; break;
		case 0x66: osize = true; break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
		case 0x67:
		case 0xf0: break;
		default: prefix = is64 && (b[i] & 0xf0) == 0x40; /* REX, ignored before others */
		}
	}
	if (i >= n)
		return unknown;
	op = b[i++];
	if ((op == 0x0f || op == 0xff || op == 0xcd) && i >= n)
		return unknown;
	if ((op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0) {
		out.cls = TY_STEP_COND;
		rel = 1;
	} else if (op == 0xeb) {
		out.cls = TY_STEP_DIRECT;
		rel = 1;
	} else if (op == 0xe8 || op == 0xe9) {
		out.cls = TY_STEP_DIRECT;
		out.call = op == 0xe8;
		rel = is64 || !osize ? 4 : 2;
	} else if (op == 0x0f) {
		op = b[i++];
		if (op == 0x01 && i >= n)
			return unknown;
		if ((op & 0xf0) == 0x80) {
			out.cls = TY_STEP_COND;
			rel = is64 || !osize ? 4 : 2;
		} else if (op == 0x05 || op == 0x34) {
			out.cls = TY_STEP_KERNEL;
			out.syscall = true;
		} else if (op == 0x07 || op == 0x35) {
			out.rare = true;
		} else if (op == 0x01 && ((b[i] >= 0xc1 && b[i] <= 0xc3) || b[i] == 0xd7 ||
					  (rep && b[i] == 0xec))) {
			out.rare = true;
		}
	} else if (op == 0xc2 || op == 0xc3 || op == 0xca || op == 0xcb || op == 0xcf ||
		   (!is64 && (op == 0x9a || op == 0xea))) {
		out.cls = TY_STEP_INDIRECT;
		out.call = op == 0x9a;
		out.ret = op == 0xc2 || op == 0xc3;
		out.far = !out.ret;
	} else if (op == 0xff) {
		unsigned reg = b[i] >> 3 & 7;

		if (reg >= 2 && reg <= 5) {
			out.cls = TY_STEP_INDIRECT;
			out.call = reg <= 3;
			out.far = reg & 1;
		}
	} else if (op == 0xcc || op == 0xcd || op == 0xf1 || (!is64 && op == 0xce)) {
		out.cls = TY_STEP_KERNEL;
		out.syscall = op == 0xcd && b[i] == 0x80;
	} else if (op == 0x9c) {
		out.pushf = true;
	} else if (rep && ((op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf) ||
			   (op >= 0x6c && op <= 0x6f))) {
		out.cls = TY_STEP_REP;
	}
	if (rel) {
		int64_t d;

		if (i + rel > n)
			return unknown;
		d = rel == 1   ? (int8_t)b[i]
		    : rel == 2 ? (int16_t)(b[i] | b[i + 1] << 8)
			       : (int32_t)((uint32_t)b[i] | (uint32_t)b[i + 1] << 8 |
					   (uint32_t)b[i + 2] << 16 | (uint32_t)b[i + 3] << 24);
		out.next = ip + i + rel;
		out.target = out.next + (uint64_t)d;
		if (!is64) {
			out.next &= UINT32_MAX;
			out.target &= rel == 2 ? UINT16_MAX : UINT32_MAX;
		}
	}
	return out;
}

#endif
