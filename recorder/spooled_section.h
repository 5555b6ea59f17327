/* SPDX-License-Identifier: MIT */
/*
 * A section of the file that grows while it is recorded: records wait in memory and go into the
 * spool as numbered pieces of whole records. Its size is limited; what a flight recorder has
 * dropped of the file makes room again.
 *
 * The owner's lock protects all but the counters, which any thread may read.
 */
#ifndef TY_SPOOLED_SECTION_H
#define TY_SPOOLED_SECTION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "spool.h"

enum { TY_SPOOLED_PIECE = 1 << 20 }; /* bytes of a piece, at most */
enum { TY_SPOOLED_LAST = 4096 };     /* counted bytes kept for ty_spooled_section_last */

struct ty_section_form {
	uint32_t section;  /* TY_SEC_... */
	uint64_t most;	   /* bytes, as they are counted */
	uint32_t raw_part; /* counted: bytes as stored, but no less than this part of the raw ones;
			      1: raw bytes */
	/* Each piece begins with that many bytes, which put_head fills; 0: none. */
	size_t head_bytes;
	void (*put_head)(void *ctx, uint64_t piece, void *head);
	/* Bytes of the record at p; NULL: a piece may be cut anywhere. */
	size_t (*record_bytes)(const void *p);
	/* The record at p, which was added, could not be written, so that its owner can count it as
	 * lost. NULL: failed says enough. */
	void (*unwritten)(void *ctx, const void *p);
};

struct ty_spooled_section {
	const struct ty_section_form *form;
	void *ctx;
	struct ty_spool_writer *writer; /* borrowed; NULL: nothing is written yet */
	bool at_end;			/* all is kept until the end of the recording */
	bool failed;			/* a piece could not be written: no further one is */
	struct ty_buf b;		/* what waits, behind room for a head */
	uint64_t put_ms;		/* the newest piece */
	_Atomic uint64_t pieces, bytes, dropped; /* so far; counted bytes; of these, dropped */
};

void ty_spooled_section_init(struct ty_spooled_section *s, const struct ty_section_form *form,
			     void *ctx);
void ty_spooled_section_fini(struct ty_spooled_section *s);
/* The writer's pieces are TY_SPOOLED_PIECE at least. */
void ty_spooled_section_start(struct ty_spooled_section *s, struct ty_spool_writer *writer,
			      bool at_end);
/* Counted bytes, with those that wait and without those that were dropped. */
uint64_t ty_spooled_section_held(const struct ty_spooled_section *s);
/* Before n more bytes are added to s->b, as whole records: these additions cannot fail then.
 * false: there is no room, or a piece could not be written. */
bool ty_spooled_section_room(struct ty_spooled_section *s, size_t n);
/* The same for a last record, of TY_SPOOLED_LAST bytes at most, for which a full section has room:
 * it says what was refused. Once. */
bool ty_spooled_section_last(struct ty_spooled_section *s, size_t n);
/* Now and then: what waits has waited long enough for a piece. */
void ty_spooled_section_tick(struct ty_spooled_section *s);
/* A piece of only a head, when all else is written: its owner has counts that no head has yet. */
void ty_spooled_section_tell(struct ty_spooled_section *s);
/* Write all that waits, at the end. */
void ty_spooled_section_put(struct ty_spooled_section *s);

#endif
