/* SPDX-License-Identifier: MIT */
/* See disasm.h. */
#include "disasm.h"

#include <capstone/capstone.h>
#include <stdio.h>
#include <stdlib.h>

struct ty_disasm {
	csh h;
	cs_insn *insn;
};

struct ty_disasm *ty_disasm_new(enum ty_disasm_arch arch)
{
	struct ty_disasm *d = calloc(1, sizeof(*d));
	cs_arch a = arch == TY_DISASM_ARM64 ? CS_ARCH_ARM64 : CS_ARCH_X86;
	cs_mode m = arch == TY_DISASM_ARM64    ? CS_MODE_ARM
		    : arch == TY_DISASM_X86_32 ? CS_MODE_32
					       : CS_MODE_64;

	if (!d)
		return NULL;
	if (cs_open(a, m, &d->h) != CS_ERR_OK) {
		free(d);
		return NULL;
	}
	d->insn = cs_malloc(d->h);
	if (!d->insn) {
		ty_disasm_free(d);
		return NULL;
	}
	return d;
}

void ty_disasm_free(struct ty_disasm *d)
{
	if (!d)
		return;
	if (d->insn)
		cs_free(d->insn, 1);
	cs_close(&d->h);
	free(d);
}

unsigned ty_disasm_text(struct ty_disasm *d, const uint8_t *code, size_t n, uint64_t ip, char *out,
			size_t size)
{
	uint64_t at = ip;

	if (!cs_disasm_iter(d->h, &code, &n, &at, d->insn)) {
		snprintf(out, size, "(bad)");
		return 0;
	}
	snprintf(out, size, "%s%s%s", d->insn->mnemonic, *d->insn->op_str ? " " : "",
		 d->insn->op_str);
	return d->insn->size;
}
