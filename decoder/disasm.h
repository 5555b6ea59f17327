/* SPDX-License-Identifier: MIT */
/* Disassembly of instructions, and their memory access size, by capstone. Not thread-safe. */
#ifndef TY_DISASM_H
#define TY_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

enum ty_disasm_arch { TY_DISASM_X86_64, TY_DISASM_X86_32, TY_DISASM_ARM64 };

struct ty_disasm;

/* NULL: capstone cannot be loaded, or out of memory; err (or NULL) states which. */
struct ty_disasm *ty_disasm_new(enum ty_disasm_arch arch, struct ty_err *err);
void ty_disasm_free(struct ty_disasm *d);
/* Why capstone could not be loaded, in this process; NULL: it could, or was not needed. */
const char *ty_disasm_missing(void);
/* Writes the instruction at `ip` to out ("mov eax, 1") and returns its length. 0 and "(bad)" when
 * it is invalid. */
unsigned ty_disasm_text(struct ty_disasm *d, const uint8_t *code, size_t n, uint64_t ip, char *out,
			size_t size);
/* Number of bytes that the instruction loads or stores at once; 0: none or unknown. A pair counts
 * in full; scalable vectors are unknown. */
unsigned ty_disasm_access(struct ty_disasm *d, const uint8_t *code, size_t n, uint64_t ip);
/* Length of the instruction at `ip`; 0 when it is invalid. */
unsigned ty_disasm_size(struct ty_disasm *d, const uint8_t *code, size_t n, uint64_t ip);

#endif
