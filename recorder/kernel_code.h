/* SPDX-License-Identifier: MIT */
/*
 * The running kernel's code and names, for decoding kernel instructions later or elsewhere:
 * modules, BPF programs and the kernel's patches of its own code are in no file. Bounded:
 * TY_KERNEL_CODE_MAX bytes of code, and as much of names.
 */
#ifndef TY_KERNEL_CODE_H
#define TY_KERNEL_CODE_H

#include <stddef.h>

#include "buf.h"

#define TY_KERNEL_CODE_MAX (64u << 20)

struct ty_kernel_code {
	struct ty_buf head, code; /* head and code concatenated are an ELF core: one segment per
				   * stretch */
	struct ty_buf names;	  /* the lines of kallsyms that name code */
};

/*
 * Reads files in the format of /proc/kcore and /proc/kallsyms. k is always filled, and freed with
 * ty_kernel_code_fini: 0; -TY_ENOTFOUND: unavailable; -TY_ENOMEM. why: a clause with the reason or,
 * with 0, why some of it is missing; "": complete.
 */
int ty_kernel_code_read(const char *kcore, const char *kallsyms, struct ty_kernel_code *k,
			char *why, size_t why_n);
void ty_kernel_code_fini(struct ty_kernel_code *k);

#endif
