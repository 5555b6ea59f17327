/* SPDX-License-Identifier: MIT */
/*
 * The code that the kernel maps into every process (vdso(7)): an ELF image without a file. It is
 * the same for all 64-bit processes of a running kernel.
 */
#ifndef TY_VDSO_H
#define TY_VDSO_H

#include <stddef.h>
#include <stdint.h>

/* The vDSO of this process, valid for its lifetime. NULL: there is none, or the process is not a
 * 64-bit one. */
const uint8_t *ty_vdso(size_t *n);

#endif
