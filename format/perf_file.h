/* SPDX-License-Identifier: MIT */
/* What perf_data.c (opening), perf_records.c (records) and perf_meta.c (header, attributes,
 * features) share. */
#ifndef TY_PERF_FILE_H
#define TY_PERF_FILE_H

#include "buf.h"
#include "perf_data.h"

/* One feature: its place in the file, and its bytes once they are read. */
struct ty_perf_feat {
	uint64_t off, n; /* n: 0 when it lies in records (pipe form) */
	uint8_t *p;	 /* NUL behind the last byte; NULL: absent, or not held */
	size_t len;
};

struct ty_perf_id_ent {
	uint64_t id;
	uint32_t event;
};

struct ty_perf_priv {
	char *path;
	int fd;
	const uint8_t *mem;	  /* all the bytes, instead of a file; NULL */
	uint64_t begin, end, pos; /* of the records */
	uint8_t *win;
	uint64_t win_off;
	size_t win_n, look; /* look: bytes that were asked for last */

	struct ZSTD_DCtx_s *zstd;
	bool zstd_on;  /* a stream is under way */
	bool zin_more; /* there may be more to unpack */
	uint8_t *zin;  /* the COMPRESSED record's content */
	size_t zin_n, zin_pos;
	uint64_t zin_off;
	uint8_t *dec; /* unpacked records */
	size_t dec_n, dec_pos;

	struct ty_perf_feat feat[TY_PERF_F_COUNT];
	uint64_t meta_left;		/* bytes that features and ids may still take */
	VEC(struct ty_perf_id_ent) ids; /* sorted by id */
	VEC(uint64_t *) id_lists;	/* what events.ids point to */
	VEC(char *) names;
	bool ids_sorted;
	uint64_t meta_seen; /* pipe form: records before this offset are taken up */
	uint64_t last_id;
	uint32_t last_event; /* of last_id; UINT32_MAX: not asked yet */
	bool same_tail;	     /* all events have the same record tail */
	struct ty_buf note;
};

#define TY_PERF_WINDOW (256u << 10) /* bytes of priv->win */

/* ty_perf_next, but for what records of the pipe form say. */
int ty_perf_next_record(struct ty_perf *p, struct ty_perf_rec *out, struct ty_err *err);
/* The first sentence is kept: what is missing behind off. */
void ty_perf_note(struct ty_perf *p, uint64_t off, const char *what);
/* The header of either form with all that it leads to. */
int ty_perf_read_header(struct ty_perf *p, struct ty_err *err);
/* Take up what a record of the pipe form tells of attributes and features. 0 or -TY_E.... */
int ty_perf_pipe_record(struct ty_perf *p, const struct ty_perf_rec *r, struct ty_err *err);
void ty_perf_meta_fini(struct ty_perf *p);

#endif
