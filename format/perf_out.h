/* SPDX-License-Identifier: MIT */
/*
 * Writing a perf.data file, file form: records as they come, then features, events and the header.
 * The file takes its place at the end (atomic_file.h): what fails leaves nothing behind. Failures
 * are kept and told by ty_perf_out_finish, so that a writer may put many records and look once.
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

/* The file that will be placed at path, over a regular file that is there. 0 or -TY_E.... */
int ty_perf_out_new(const char *path, struct ty_perf_out **out, struct ty_err *err);
/* Without ty_perf_out_finish: the file is not there. */
void ty_perf_out_free(struct ty_perf_out *o);

/* A record of n bytes of body; more than a record can hold is a failure. */
void ty_perf_out_rec(struct ty_perf_out *o, uint32_t type, uint16_t misc, const void *body,
		     size_t n);
/* The n bytes that follow the AUXTRACE record written last, in as many calls as it takes. */
void ty_perf_out_aux(struct ty_perf_out *o, const void *p, size_t n);
/* An event: n bytes of its perf_event_attr, the ids of its records, its name. A repetition of the
 * event before, with other ids, adds these. */
void ty_perf_out_event(struct ty_perf_out *o, const void *attr, size_t n, const uint64_t *ids,
		       size_t ids_n, const char *name);
/* A feature's bytes (perf_data.h: enum ty_perf_feature); the last ones given count. EVENT_DESC and
 * AUXTRACE are made here. */
void ty_perf_out_feature(struct ty_perf_out *o, unsigned feature, const void *p, size_t n);
/* `text` as perf writes strings in features: a length, the bytes, zeros up to a multiple of 64. */
void ty_perf_out_string(struct ty_buf *b, const char *text);

/* Write what belongs around the records, and place the file. 0 or -TY_E... with err. */
int ty_perf_out_finish(struct ty_perf_out *o, struct ty_err *err);

#endif
