/* SPDX-License-Identifier: MIT */
/* Machine code to text and to what it accesses, by capstone. Not thread-safe. */
#ifndef TY_DISASM_H
#define TY_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ty_disasm_arch { TY_DISASM_X86_64, TY_DISASM_X86_32, TY_DISASM_ARM64 };

struct ty_disasm;

struct ty_disasm *ty_disasm_new(
	enum ty_disasm_arch arch); /* NULL: out of memory, or not built in */
void ty_disasm_free(struct ty_disasm *d);
/* The instruction at `ip` into out ("mov eax, 1"); its bytes. 0 and "(bad)" when it is none. */
unsigned ty_disasm_text(struct ty_disasm *d, const uint8_t *code, size_t n, uint64_t ip, char *out,
			size_t size);
/* How many bytes of memory the instruction there loads or stores at once; 0: none, or not known. Of
 * a pair all of it; of a vector instruction whose length is the machine's: not known. */
unsigned ty_disasm_access(struct ty_disasm *d, const uint8_t *code, size_t n, uint64_t ip);
/* Bytes of the instruction at `ip`; 0 when it is none. */
unsigned ty_disasm_size(struct ty_disasm *d, const uint8_t *code, size_t n, uint64_t ip);

#endif
