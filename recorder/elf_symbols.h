/* SPDX-License-Identifier: MIT */
/* Addresses of exported symbols of an ELF file. The file is untrusted. */
#ifndef TY_ELF_SYMBOLS_H
#define TY_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* values[i]: the address of names[i] in the dynamic symbols, 0: not there. base: the address of the
 * start of the file, from which both can be moved to where it is mapped. false: no ELF file of 64
 * bits with dynamic symbols. */
bool ty_elf_symbols(int fd, const char *const *names, size_t n, uint64_t *values, uint64_t *base);

#endif
