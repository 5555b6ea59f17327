/* SPDX-License-Identifier: MIT */
/*
 * How long an x86-64 instruction is, and nothing else of it: that is what following code for the
 * first time costs, and a disassembler is far slower (flow_blocks.c has the figures).
 */
#ifndef TY_INSN_SIZE_H
#define TY_INSN_SIZE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Bytes of the instruction that code begins with. 0: n bytes are not all of it, or it is none of
 * those whose length the opcode maps tell by themselves (undefined, of one vendor only, prefixes in
 * an order that no compiler writes): a disassembler may know. What is defined as invalid with some
 * operands only has the length that it would have: it is fetched as a whole before it faults.
 */
size_t ty_insn_size(const uint8_t *code, size_t n);

enum { TY_INSN_MAX = 15 };
/* As ty_insn_size, of TY_INSN_MAX bytes and the commonest instructions, of which none leads
 * elsewhere (TY_STEP_OTHER of step_insn.h, with nothing besides). 0: it is none of them. */
size_t ty_insn_plain(const uint8_t *code);

#endif
