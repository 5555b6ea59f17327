/* SPDX-License-Identifier: MIT */
#include "syscall_args.h"
#include <stddef.h>
const struct ty_sysargs *ty_sysargs_find(unsigned os, bool bits32, const char *name)
{
	return NULL;
}
