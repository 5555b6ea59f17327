/* SPDX-License-Identifier: MIT */
#include "formats_priv.h"
void ty_fmt_print_fini(struct ty_formats *f)
{
	(void)f;
}
