/* SPDX-License-Identifier: MIT */
/*
 * Writes a perf.data file in file form: records as they are added, then features, events and the
 * header. The file replaces its destination at the end (atomic_file.h), so that a failure leaves
 * nothing behind. Failures are sticky and reported by ty_perf_out_finish, so that a writer can put
 * many records and check once.
 *
 * Format: linux tools/perf/Documentation/perf.data-file-format.txt, tools/perf/util/header.c.
 */
#ifndef TY_PERF_OUT_H
#define TY_PERF_OUT_H

#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "err.h"

struct ty_perf_out;

/* Begins a file to be placed at path, where it replaces a regular file. 0 or -TY_E.... */
int ty_perf_out_new(const char *path, struct ty_perf_out **out, struct ty_err *err);
/* Without ty_perf_out_finish, discards the file. */
void ty_perf_out_free(struct ty_perf_out *o);

/* Writes a record with a body of n bytes. A body too long for a record is a failure. */
void ty_perf_out_rec(struct ty_perf_out *o, uint32_t type, uint16_t misc, const void *body,
		     size_t n);
/* Writes n bytes of data after the last AUXTRACE record, in any number of calls. */
void ty_perf_out_aux(struct ty_perf_out *o, const void *p, size_t n);
/* Adds an event: n bytes of its perf_event_attr, the ids of its records, its name. Repeating the
 * previous event with other ids adds these ids to it. */
void ty_perf_out_event(struct ty_perf_out *o, const void *attr, size_t n, const uint64_t *ids,
		       size_t ids_n, const char *name);
/* Sets a feature's bytes (perf_data.h: enum ty_perf_feature); the last call wins. EVENT_DESC and
 * AUXTRACE are generated. */
void ty_perf_out_feature(struct ty_perf_out *o, unsigned feature, const void *p, size_t n);
/* Appends `text` as perf writes strings in features: length, bytes, zero padding to a multiple of
 * 64. */
void ty_perf_out_string(struct ty_buf *b, const char *text);

/* Writes features and header, and places the file. 0 or -TY_E... with err. */
int ty_perf_out_finish(struct ty_perf_out *o, struct ty_err *err);

#endif
