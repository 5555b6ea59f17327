/* SPDX-License-Identifier: MIT */
/*
 * The running kernel's code and names, for who decodes kernel instructions elsewhere or later:
 * modules, BPF programs and what the kernel has patched in its own code are in no file. Bounded:
 * TY_KERNEL_CODE_MAX bytes of code, and as much of names.
 */
#ifndef TY_KERNEL_CODE_H
#define TY_KERNEL_CODE_H

#include <stddef.h>

#include "buf.h"

#define TY_KERNEL_CODE_MAX (64u << 20)

struct ty_kernel_code {
	struct ty_buf head, code; /* one after the other an ELF core: a segment for each stretch */
	struct ty_buf names;	  /* the lines of kallsyms that name code */
};

/*
 * From files as /proc/kcore and /proc/kallsyms are. k is filled, and freed with
 * ty_kernel_code_fini, whatever is returned: 0; -TY_ENOTFOUND: it is not to be had; -TY_ENOMEM.
 * why: a clause that says why it is not there, or, with 0, why not all of it is; "": all is there.
 */
int ty_kernel_code_read(const char *kcore, const char *kallsyms, struct ty_kernel_code *k,
			char *why, size_t why_n);
void ty_kernel_code_fini(struct ty_kernel_code *k);

#endif
