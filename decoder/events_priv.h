/* SPDX-License-Identifier: MIT */
/* Shared by events.c (merging), events_open.c, events_seek.c and events_lookup.c; nobody else. */
#ifndef TY_EVENTS_PRIV_H
#define TY_EVENTS_PRIV_H

#include "batch_ahead.h"
#include "events.h"

/* Chunks that were looked up are kept, so many at most and so many bytes (or one larger one): as
 * many as fit hash to a set. */
#define TY_LOOKUP_SETS	64
#define TY_LOOKUP_WAYS	8
#define TY_LOOKUPS	(TY_LOOKUP_SETS * TY_LOOKUP_WAYS)
#define TY_LOOKUP_BYTES (UINT64_C(64) << 20)

#define LOC_STREAM_SHIFT 52

enum ty_head { AT_OVERRUN, AT_DAMAGED, AT_RECORD, AT_UNFINISHED, AT_END };

struct ty_cursor {
	uint64_t key;			  /* time of the item it stands at */
	const struct ty_item *next, *end; /* of the batch */
	const struct ty_item *rec;	  /* valid with has_record */
	struct ty_batch *batch;		  /* NULL: none loaded */
	uint64_t ts;			  /* of rec, offset added, never less than last_ts */
	uint64_t last_ts;		  /* of the item given before; valid with any */
	uint8_t head;			  /* enum ty_head */
	bool has_record, any, damaged;
	bool to_end; /* the gaps pending go on to the end of the recording */
	uint16_t buffer;
	uint32_t cpu, stream, page_size;
	ty_loc loc_base;	/* of the batch's begin */
	uint32_t same_cpu;	/* the next stream of its CPU, in a ring */
	uint32_t chunk, chunks; /* chunk: of the batch; == chunks: at the end */
	uint64_t gap_from;	/* of the gaps pending */
	uint64_t overrun;	/* pending: 0, a number, TY_MISSED_UNKNOWN */
	uint64_t damage_until;	/* last time that a missing chunk is known to have covered; 0: the
				   latest damage does not tell */
	uint64_t done;		/* bytes of the chunks before this one */
};

struct ty_lookup {
	uint32_t stream, chunk, pages;
	uint64_t first_page, used, bytes;
	struct ty_batch *batch; /* bytes only; NULL: empty */
	/* Where the last look-up in it ended: those that follow in a page go on from there. */
	bool walking;
	uint64_t walk_page;
	struct ty_ring_page walk;   /* behind: */
	struct ty_ring_record last; /* the record that was found */
};

/* The heap holds the keys themselves: comparing touches no cursor. */
struct ty_head_key {
	uint64_t key;
	uint32_t stream;
};

struct ty_events {
	const struct ty_trace *trace;
	struct ty_batch_source src;
	struct ty_batch_ahead *ahead;
	struct ty_cursor *cursors;
	struct ty_head_key *heap;
	uint32_t n, heap_n;
	bool started, pulled; /* pulled: the item at the heap's top was given out */
	uint64_t offset;      /* to be added to the file's times */
	uint64_t calm_until;  /* before that, no stream has a loss to tell */
	uint64_t all_bytes, tick;
	struct ty_chunk_scratch scratch; /* for seeking and looking up */
	struct ty_batch *probe;		 /* the same */
	struct ty_lookup lookup[TY_LOOKUPS], *latest;
	uint64_t lookup_bytes; /* of all that are kept */
};

/* events_seek.c: the last chunk that is known to begin before t (the file's own time), 0 when none
 * is. Of a stream that has chunks. 0 or -TY_E.... */
int ty_events_find_chunk(struct ty_events *es, struct ty_cursor *c, uint64_t t, uint32_t *chunk,
			 struct ty_err *err);
/* events.c: the whole event of a record. */
void ty_events_decode(const struct ty_events *es, struct ty_event *ev,
		      const struct ty_ring_record *rec);

#endif
