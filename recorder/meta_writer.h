/* SPDX-License-Identifier: MIT */
/* Writes what the file needs besides ring pages to the spool: v7's metadata texts and tarry's
 * sections. */
#ifndef TY_META_WRITER_H
#define TY_META_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "event_set.h"
#include "spool.h"
#include "tracefs.h"
#include "vec.h"

enum { TY_META_KINDS = 32 };

/* A chunk not written to the file yet. */
struct ty_meta_chunk {
	char *p; /* heap */
	size_t len;
};
typedef VEC(struct ty_meta_chunk) ty_meta_chunks;

struct ty_meta {
	struct ty_spool_writer *writer;
	ty_meta_chunks
		*aside; /* collects chunks that will be written later; NULL: write directly */
	uint64_t meta_seq[TY_META_KINDS], section_seq[TY_META_KINDS];
};

int ty_meta_init(struct ty_meta *m, struct ty_spool *spool, struct ty_err *err);
void ty_meta_fini(struct ty_meta *m);

/* Writes one text as one chunk (split only when it is very long). */
int ty_meta_put(struct ty_meta *m, enum ty_spool_meta kind, const void *text, size_t n,
		struct ty_err *err);
/* Writes part of a section; long texts are split at line ends. */
int ty_meta_section(struct ty_meta *m, enum ty_section section, const char *text, size_t n,
		    struct ty_err *err);

/*
 * Writes everything known before the first event: page and event headers, formats of the tracer's
 * own and of the enabled events, printk formats, uname, version, CPU count, the buffers with their
 * clock.
 */
int ty_meta_start(struct ty_meta *m, const char *root, const struct ty_event_set *set,
		  const struct ty_instance *const *inst, const char *const *names, unsigned n,
		  unsigned cpu_count, const char *clock, struct ty_err *err);

/*
 * "TID NAME" lines: `names` (from the start), then the kernel's current saved_cmdlines, which are
 * newer.
 */
int ty_meta_cmdlines(struct ty_meta *m, const char *root, const struct ty_buf *names,
		     struct ty_err *err);

#endif
