/* SPDX-License-Identifier: MIT */
/* Shared by formats.c (tables), formats_decode.c (hot path) and formats_print.c (libtraceevent)
 * only. */
#ifndef TY_FORMATS_PRIV_H
#define TY_FORMATS_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "event.h"
#include "format_text.h"
#include "formats.h"
#include "checked_read.h"
#include "trace.h"
#include "vec.h"

/* Interpretation of a slot's bytes. */
enum { HOW_SIGNED = 1, HOW_STR = 2, HOW_LOC = 4, HOW_REL = 8, HOW_TAIL = 16 };

/* A field of a known event. size 0: this kernel's format does not have it. */
struct ty_fmt_slot {
	uint32_t off;
	uint16_t size; /* of the element for arrays */
	uint8_t how;
	uint8_t count; /* elements, for arrays of numbers; else 1 */
};

#define TY_FMT_SLOTS 8

/* Conversion of a record with the usual head to an item. */
enum ty_fmt_how {
	TY_FMT_CALL, /* a system call whose numbers are little-endian words of 8 bytes */
	TY_FMT_PACK, /* a switch or waking whose fields are of the usual sizes, little endian */
	TY_FMT_HEAD  /* its head only */
};

/* The part of an entry that ty_formats_items needs. */
struct ty_fmt_hot {
	uint8_t kind, how;		/* how: enum ty_fmt_how */
	uint16_t need, nr_off, val_off; /* need: minimum record size for this path, including the
					 * head */
};
#define TY_FMT_NEVER UINT16_MAX /* as `need`: always the slow path */

struct ty_fmt_entry {
	const char *system, *name; /* NUL-terminated, kept by the formats */
	const char *text;	   /* the format text, borrowed from the trace */
	size_t text_n;
	uint16_t id;
	uint8_t kind;
	bool plain_states;   /* prev_state needs a mask only */
	uint8_t print_state; /* formats_print.c */
	uint32_t need;	     /* a record shorter than this is damaged */
	uint32_t preempted;  /* sched_switch: the bit of "R+" */
	struct ty_fmt_slot slot[TY_FMT_SLOTS];
	uint16_t state_of_bit[32];  /* sched_switch: TY_TASK_* of each bit */
	struct ty_ft_field *fields; /* without the common ones; names NUL-terminated */
	unsigned nfields;
	struct tep_event *tep;
	const char *label; /* REGION: the name of what is probed, where the record has none */
};

struct ty_formats {
	const struct ty_trace *trace;
	bool big_endian;
	struct ty_fmt_slot c_type, c_flags, c_preempt, c_pid;
	uint32_t c_need;
	bool usual_head; /* little endian: u16 type, u8 flags, u8 preempt count, s32 pid */
	VEC(struct ty_fmt_entry) entries;
	VEC(struct ty_fmt_hot) hot; /* by the same number + 1; 0: of no entry */
	VEC(char *) kept;	    /* blocks of strings */
	size_t kept_used, kept_cap;
	struct tep_handle *tep;
	const struct tep_event *bprint; /* the one that libtraceevent may print */
	struct trace_seq *seq;
	uint8_t *scratch;		   /* a record followed by zeros */
	size_t scratch_cap, scratch_dirty; /* bytes from scratch_dirty on are zero */
	uint16_t index[65536];		   /* id -> entry + 1 */
};

/* The entry of an id, NULL when the file has no such format. */
static inline const struct ty_fmt_entry *ty_fmt_entry(const struct ty_formats *f, uint16_t id)
{
	return f->index[id] ? &f->entries.v[f->index[id] - 1] : NULL;
}

/* An unsigned integer of 1, 2, 4 or 8 bytes of the traced machine; 0 for other sizes. */
static inline uint64_t ty_fmt_load(const uint8_t *p, unsigned size, bool be)
{
	if (be)
		return ty_load(p, size, true);
	switch (size) {
	case 4: {
		uint32_t v;
		memcpy(&v, p, 4);
		return v;
	}
	case 8: {
		uint64_t v;
		memcpy(&v, p, 8);
		return v;
	}
	case 2: {
		uint16_t v;
		memcpy(&v, p, 2);
		return v;
	}
	case 1: return *p;
	default: return 0;
	}
}

/* formats_quick.c: whether ty_fmt_quick_print supports the entry's print format, and that text. */
bool ty_fmt_quick_knows(const struct ty_formats *f, const struct ty_fmt_entry *e);
int ty_fmt_quick_print(const struct ty_event *ev, struct ty_buf *out);

/* Frees the state of formats_print.c. */
void ty_fmt_print_fini(struct ty_formats *f);

#endif
