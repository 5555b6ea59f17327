/* SPDX-License-Identifier: MIT */
/* Indexes a whole recording in a thread, while the timeline shows its first part. */
#ifndef TY_VIEW_INDEXING_H
#define TY_VIEW_INDEXING_H

#include <stdatomic.h>

#include "background.h"
#include "session.h"
#include "view.h"

struct ty_view_indexing {
	struct ty_session *s; /* owned by the thread until it is done; then it has its model */
	struct ty_background aside;
	uint64_t memory_bytes;
	uint64_t begin_ms;
	atomic_uint done; /* thousandths of the file */
	int rc;
	struct ty_err err;
	/* Creates the input that shows s after it is done: NULL with err on failure. */
	const struct ty_view_input *(*shown)(void *ctx, struct ty_err *err);
	void *ctx;
};

void ty_view_indexing_start(struct ty_view_indexing *r);
/* As in struct ty_view_host. */
bool ty_view_indexing_poll(struct ty_view_indexing *r, struct ty_indexing_news *news);
/* Cancels it if it is running. */
void ty_view_indexing_stop(struct ty_view_indexing *r);

#endif
