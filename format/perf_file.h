/* SPDX-License-Identifier: MIT */
/* Shared by perf_data.c (opening), perf_data_records.c (records) and perf_meta.c (header,
 * attributes, features). */
#ifndef TY_PERF_FILE_H
#define TY_PERF_FILE_H

#include "buf.h"
#include "perf_data.h"

/* One feature: its position in the file, and its bytes once they are read. */
struct ty_perf_feat {
	uint64_t off, n; /* n: 0 when it is stored in records (pipe form) */
	uint8_t *p;	 /* NUL after the last byte; NULL: absent, or not kept */
	size_t len;
};

struct ty_perf_id_ent {
	uint64_t id;
	uint32_t event;
};

struct ty_perf_priv {
	char *path;
	int fd;
	const uint8_t *mem;	  /* the whole content, instead of a file; NULL */
	uint64_t begin, end, pos; /* of the records */
	uint8_t *win;
	uint64_t win_off;
	size_t win_n, look; /* look: bytes of the last request */

	struct ZSTD_DCtx_s *zstd;
	bool zstd_on;  /* a stream is in progress */
	bool zin_more; /* more output may be pending */
	uint8_t *zin;  /* the COMPRESSED record's content */
	size_t zin_n, zin_pos;
	uint64_t zin_off;
	uint8_t *dec; /* unpacked records */
	size_t dec_n, dec_pos;

	struct ty_perf_feat feat[TY_PERF_F_COUNT];
	uint64_t meta_left;		/* bytes that features and ids may still use */
	VEC(struct ty_perf_id_ent) ids; /* sorted by id */
	VEC(uint64_t *) id_lists;	/* storage of events.ids */
	VEC(char *) names;
	bool ids_sorted;
	uint64_t meta_seen; /* pipe form: metadata records before this offset are processed */
	uint64_t last_id;
	uint32_t last_event; /* of last_id; UINT32_MAX: not looked up yet */
	bool same_tail;	     /* all events have the same layout of the record tail */
	struct ty_buf note;
};

#define TY_PERF_WINDOW (256u << 10) /* bytes of priv->win */

/* ty_perf_next without processing of the pipe form's metadata records. */
int ty_perf_next_record(struct ty_perf *p, struct ty_perf_rec *out, struct ty_err *err);
/* Notes that data after off is missing. Only the first note is kept. */
void ty_perf_note(struct ty_perf *p, uint64_t off, const char *what);
/* Reads the header of either form, with attributes and features. */
int ty_perf_read_header(struct ty_perf *p, struct ty_err *err);
/* Processes a pipe-form record of attributes or features. 0 or -TY_E.... */
int ty_perf_pipe_record(struct ty_perf *p, const struct ty_perf_rec *r, struct ty_err *err);
void ty_perf_meta_fini(struct ty_perf *p);
#define TY_PERF_EVENT_NAME 64
/* The event's name by its attribute, as perf derives it. False: its kind has no such name. */
bool ty_perf_event_name(const struct ty_perf_attr *a, char out[TY_PERF_EVENT_NAME]);

#endif
