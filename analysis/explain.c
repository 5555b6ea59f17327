/* SPDX-License-Identifier: MIT */
#include "explain.h"

const char *ty_explain_call(const struct ty_explain *x, uint32_t call, char buf[32])
{
	struct ty_syscall c;

	if (call == TY_NONE)
		return "";
	c = ty_model_syscall(x->m, call);
	return ty_syscall_name(x->arch, c.abi, c.nr, buf);
}
