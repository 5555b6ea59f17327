/* SPDX-License-Identifier: MIT */
/* A growing list of borrowed strings, such as the values of a repeatable option. */
#ifndef TY_TEXTS_H
#define TY_TEXTS_H

#include <stddef.h>

#include "vec.h"

/* Use with vec_each, vec_push, vec_fini. */
struct ty_texts {
	const char **v;
	size_t n, cap;
};

#endif
