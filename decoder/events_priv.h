/* SPDX-License-Identifier: MIT */
/* Shared by events.c (merging), events_open.c, events_seek.c and events_lookup.c only. */
#ifndef TY_EVENTS_PRIV_H
#define TY_EVENTS_PRIV_H

#include "batch_prefetch.h"
#include "events.h"
#include "vec.h"

/* Cache of chunks that were looked up, limited in number and in bytes (or one larger one);
 * set-associative. */
#define TY_LOOKUP_SETS	512
#define TY_LOOKUP_WAYS	8
#define TY_LOOKUPS	(TY_LOOKUP_SETS * TY_LOOKUP_WAYS)
#define TY_LOOKUP_BYTES (UINT64_C(8) << 20) /* of the cache at least */

#define LOC_STREAM_SHIFT 52

enum ty_head { AT_OVERRUN, AT_DAMAGED, AT_RECORD, AT_UNFINISHED, AT_END };

struct ty_cursor {
	uint64_t key;			  /* time of the current item */
	const struct ty_item *next, *end; /* of the batch */
	const struct ty_item *rec;	  /* valid with has_record */
	struct ty_batch *batch;		  /* NULL: none loaded */
	uint64_t ts;			  /* of rec, offset added, never less than last_ts */
	uint64_t last_ts;		  /* time of the previous item; valid with any */
	uint8_t head;			  /* enum ty_head */
	bool has_record, any, damaged;
	bool to_end; /* the pending gaps extend to the end of the recording */
	uint16_t buffer;
	uint32_t cpu, stream, page_size;
	ty_loc loc_base;	/* of the batch's begin */
	uint32_t same_cpu;	/* the next stream of its CPU, in a ring */
	uint32_t chunk, chunks; /* chunk: of the batch; == chunks: at the end */
	uint64_t gap_from;	/* start of the pending gaps */
	uint64_t overrun;	/* pending: 0, a number, TY_MISSED_UNKNOWN */
	uint64_t damage_until;	/* last time that a missing chunk is known to have covered; 0:
				 * unknown for the latest damage */
	uint64_t done;		/* bytes of the preceding chunks */
};

/* Marks of a page: position and time of every TY_LOOKUP_STEP-th record, up to front. */
#define TY_LOOKUP_STEP 32
struct ty_lookup_mark {
	uint32_t pos;
	uint64_t ts; /* of the record before */
};
struct ty_lookup_page {
	bool made;
	struct ty_ring_page front; /* after the last record that was walked over */
	uint32_t since;		   /* records after the last mark */
	VEC(struct ty_lookup_mark) mark;
};

struct ty_lookup {
	uint32_t stream, chunk, pages;
	uint64_t first_page, used, bytes;
	struct ty_batch *batch; /* bytes only; NULL: empty */
	struct ty_lookup_page *page;
	/* Position of the last look-up, so that later ones in the same page continue from it. */
	bool walking;
	uint64_t walk_page;
	struct ty_ring_page walk;   /* after: */
	struct ty_ring_record last; /* the record that was found */
};

/* The heap stores the keys themselves, so that comparing touches no cursor. */
struct ty_head_key {
	uint64_t key;
	uint32_t stream;
};

struct ty_events {
	const struct ty_trace *trace;
	struct ty_batch_source src;
	struct ty_batch_prefetch *ahead;
	struct ty_cursor *cursors;
	struct ty_head_key *heap;
	uint32_t n, heap_n;
	bool started, pulled; /* pulled: the item at the heap's top was returned */
	uint64_t offset;      /* to be added to the file's times */
	uint64_t calm_until;  /* until then, no stream has a loss to report */
	uint64_t all_bytes, tick;
	struct ty_chunk_scratch scratch; /* for seeking and look-ups */
	struct ty_batch *probe;		 /* the same */
	struct ty_lookup lookup[TY_LOOKUPS], *latest;
	uint64_t lookup_bytes, lookup_limit; /* over the whole cache */
};

/* events_seek.c: finds the last chunk known to begin before t (the file's own time), 0 when there
 * is none. The stream must have chunks. 0 or -TY_E.... */
int ty_events_find_chunk(struct ty_events *es, struct ty_cursor *c, uint64_t t, uint32_t *chunk,
			 struct ty_err *err);
/* events.c: decodes the whole event of a record. */
void ty_events_decode(const struct ty_events *es, struct ty_event *ev,
		      const struct ty_ring_record *rec);
/* events_lookup.c: its memory. */
void ty_lookup_fini(struct ty_lookup *l);

#endif
