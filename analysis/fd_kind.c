/* SPDX-License-Identifier: MIT */
/* See fd_kind.h. */
#include "fd_kind.h"

#include <stdlib.h>

#include "fd_table.h"

enum ty_fd_kind ty_fd_kind(const struct ty_explain *x, uint32_t thread, uint64_t fd, uint64_t t_ns,
			   const char **name)
{
	struct ty_fd_table *t = malloc(sizeof(*t));
	uint32_t calls = TY_FD_CALLS;
	enum ty_fd_kind k = TY_FD_UNKNOWN;

	*name = NULL;
	if (t && fd < TY_FDS && ty_fd_table_at(x, thread, t_ns, &calls, t) && t->open[fd]) {
		k = t->kind[fd];
		*name = ty_fd_table_name(x, t, fd);
	}
	free(t);
	return k;
}
