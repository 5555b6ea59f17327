/* SPDX-License-Identifier: MIT */
/*
 * Length of an x86-64 instruction and nothing else. This dominates the cost of following code for
 * the first time, and a disassembler is far slower (figures: flow_blocks.c).
 */
#ifndef TY_INSN_SIZE_H
#define TY_INSN_SIZE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Length of the instruction at `code`. 0: it exceeds n bytes, or is one whose length does not
 * follow from the opcode maps alone (undefined, vendor-specific, prefixes in an order that no
 * compiler emits): use a disassembler. Instructions that are invalid only with some operands have
 * their nominal length: they are fetched in full before they fault.
 */
size_t ty_insn_size(const uint8_t *code, size_t n);

enum { TY_INSN_MAX = 15 };
/* Once before ty_insn_plain. */
void ty_insn_plain_ready(void);
/*
 * The lengths of the first instructions of n bytes, at most `most` (1 or more), as long as they are
 * common ones that do not change control flow (TY_STEP_OTHER of step_insn.h, no flags set) and
 * TY_INSN_MAX bytes are left. How many, and (if any) *bytes of code.
 */
unsigned ty_insn_plain(const uint8_t *code, size_t n, uint8_t *sizes, unsigned most, size_t *bytes);

#endif
