/* SPDX-License-Identifier: MIT */
/*
 * Event formats of one trace: the kind of each event id, and the offsets of its fields. Built once
 * from the format texts stored in the file (never from the running kernel's). The hot path
 * (ty_formats_decode) uses the precomputed offsets only; libtraceevent is used for print formats
 * only.
 */
#ifndef TY_FORMATS_H
#define TY_FORMATS_H

#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "err.h"
#include "event.h"
#include "ring_page.h"

struct ty_trace;
struct ty_formats;

int ty_formats_new(const struct ty_trace *trace, struct ty_formats **out, struct ty_err *err);
void ty_formats_free(struct ty_formats *f);

/*
 * Decodes head (id, kind, tid, flags, preempt) and union of *ev from ev->data/ev->size. Fields
 * missing in this kernel's format are zero (or -1 where the struct says so). Never reads outside
 * the record: a record too short for its kind sets decode_error.
 */
void ty_formats_decode(const struct ty_formats *f, struct ty_event *ev);
/* Only the arguments of a SYS_ENTER with that id; false: it is of an unusual form. */
bool ty_formats_args(const struct ty_formats *f, const struct ty_ring_record *rec, uint16_t id,
		     uint64_t args[6]);

/*
 * Converts records of a page to items, up to the available space; returns their number. The page
 * begins at page_at in its chunk. *more: 1 (there may be more), 0 at the page's end, -TY_EFORMAT
 * where it is damaged. f may be NULL: heads only, in the layout of all kernels since 2.6.33.
 */
uint32_t ty_formats_items(const struct ty_formats *f, struct ty_ring_page *it, uint32_t page_at,
			  struct ty_item *item, uint32_t room, int *more);

/* Names by event id; system "unknown" and a name like "event_N" for ids not in the file.
 * Borrowed. */
const char *ty_formats_system(const struct ty_formats *f, uint16_t id);
const char *ty_formats_name(const struct ty_formats *f, uint16_t id);

/*
 * Appends the text of an event's fields in the kernel's print format (libtraceevent; slow path).
 * Not thread-safe.
 */
int ty_formats_print(struct ty_formats *f, const struct ty_event *ev, struct ty_buf *out);

/* One raw field of an event, for JSON. */
struct ty_field_value {
	const char *name; /* borrowed from the formats */
	enum { TY_FIELD_INT, TY_FIELD_UINT, TY_FIELD_STR, TY_FIELD_ARRAY } type;
	int64_t i;
	uint64_t u;
	const char *s;	     /* STR: s[0..n), without NUL */
	size_t room;	     /* STR: bytes of the field: 0 is not an empty string */
	size_t n;	     /* STR: bytes; ARRAY: elements, fetched by ty_formats_element */
	const uint8_t *base; /* ARRAY: bytes of the array */
	unsigned elem_size;
	bool elem_signed, big_endian;
};

/* Number of fields of an event (without the common_ ones), and the k-th of this record.
 * ty_formats_field returns 0, or -TY_EFORMAT when the record is too short for it. */
unsigned ty_formats_nfields(const struct ty_formats *f, uint16_t id);
int ty_formats_field(const struct ty_formats *f, const struct ty_event *ev, unsigned k,
		     struct ty_field_value *out);
int64_t ty_formats_element(const struct ty_field_value *v, size_t i);

#endif
