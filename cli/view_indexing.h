/* SPDX-License-Identifier: MIT */
/* Indexing of a whole recording in a thread, while the timeline shows its first part. */
#ifndef TY_VIEW_INDEXING_H
#define TY_VIEW_INDEXING_H

#include <stdatomic.h>

#include "background.h"
#include "session.h"
#include "view.h"

struct ty_view_indexing {
	struct ty_session *s; /* the thread's until it is done; then it has its model */
	struct ty_background aside;
	uint64_t memory_bytes;
	uint64_t begin_ms;
	atomic_uint done; /* thousandths of the file */
	int rc;
	struct ty_err err;
	/* The input that shows s, made when it is done: NULL with err when that fails. */
	const struct ty_view_input *(*shown)(void *ctx, struct ty_err *err);
	void *ctx;
};

void ty_view_indexing_start(struct ty_view_indexing *r);
/* As in struct ty_view_host. */
bool ty_view_indexing_poll(struct ty_view_indexing *r, struct ty_indexing_news *news);
/* End it, when it is not over. */
void ty_view_indexing_stop(struct ty_view_indexing *r);

#endif
