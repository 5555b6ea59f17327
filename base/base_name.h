/* SPDX-License-Identifier: MIT */
/* The last part of a path; the whole of one that ends with a slash. NULL for NULL. */
#ifndef TY_BASE_NAME_H
#define TY_BASE_NAME_H

#include <stddef.h>
#include <string.h>

static inline const char *ty_base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

#endif
