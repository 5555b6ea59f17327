/* SPDX-License-Identifier: MIT */
/* A spool that drops its oldest data: shared by spool_keep.c and spool_punch_hole.c. */
#ifndef TY_SPOOL_KEEP_H
#define TY_SPOOL_KEEP_H

#include <pthread.h>

#include "spool_file.h"

struct ty_spool_keep {
	pthread_mutex_t lock;
	ty_spool_firsts next; /* next number of each stream */
	uint64_t begin, seq;  /* start of the next hole; number of the next TY_SEC_KEPT chunk */
	uint64_t from, to;    /* the latest hole */
};

struct ty_spool_mark {
	uint64_t off;
	ty_spool_firsts first;
};

/* Raises the stream's number to at least seq. 0 or -TY_ENOMEM. */
int ty_spool_at_least(ty_spool_firsts *f, uint32_t type, uint32_t stream, uint64_t seq);

#endif
