/* SPDX-License-Identifier: MIT */
/* A growing list of borrowed texts, such as the values of an option that may be repeated. */
#ifndef TY_TEXTS_H
#define TY_TEXTS_H

#include <stddef.h>

#include "vec.h"

/* vec_each, vec_push, vec_fini. */
struct ty_texts {
	const char **v;
	size_t n, cap;
};

#endif
