/* SPDX-License-Identifier: MIT */
/*
 * A perf.data file opened for reading: the file form and the pipe form (`perf record -o -`, kept in
 * a file). Attributes with their ids, features, and the records one after the other, those that
 * lie compressed included. What a record means: perf_record.h. Records come in file order, which is
 * not time order: they are ordered only across FINISHED_ROUND.
 *
 * A file that was cut, or never finished (perf was killed: the header's data size is 0), is read as
 * far as whole records go; `note` says so. Bounded memory: one window, attributes and features
 * within the limits of perf_data.c, never what the file merely claims.
 *
 * Format: linux tools/perf/Documentation/perf.data-file-format.txt, tools/perf/util/header.h.
 */
#ifndef TY_PERF_DATA_H
#define TY_PERF_DATA_H

#include <stdatomic.h>

#include "err.h"
#include "perf_record.h"
#include "vec.h"

/* Features (enum in tools/perf/util/header.h) that are of use here; others can be asked for, too.
 */
enum ty_perf_feature {
	TY_PERF_F_TRACING_DATA = 1,
	TY_PERF_F_BUILD_ID = 2,
	TY_PERF_F_HOSTNAME = 3,
	TY_PERF_F_OSRELEASE = 4,
	TY_PERF_F_VERSION = 5,
	TY_PERF_F_ARCH = 6,
	TY_PERF_F_NRCPUS = 7,
	TY_PERF_F_CPUDESC = 8,
	TY_PERF_F_CPUID = 9,
	TY_PERF_F_CMDLINE = 11,
	TY_PERF_F_EVENT_DESC = 12,
	TY_PERF_F_PMU_MAPPINGS = 16,
	TY_PERF_F_AUXTRACE = 18,
	TY_PERF_F_CACHE = 20,
	TY_PERF_F_SAMPLE_TIME = 21,
	TY_PERF_F_CLOCKID = 23,
	TY_PERF_F_COMPRESSED = 27,
	TY_PERF_F_COUNT = 256
};

/* One event: its attribute, its ids, its name where the file tells it ("" where not). */
struct ty_perf_event {
	struct ty_perf_attr attr;
	const uint64_t *ids;
	uint32_t ids_n;
	const char *name;
};

struct ty_perf {
	const char *path;
	uint64_t file_bytes;
	bool pipe;		 /* the pipe form */
	bool unfinished;	 /* perf did not come to write the header's end */
	const char *note;	 /* one clause when something is missing; NULL */
	const atomic_bool *stop; /* set by another thread: the next record is -TY_EINTR; NULL */
	VEC(struct ty_perf_event) events;
	struct ty_perf_priv *priv;
};

/* Do the first n bytes of a file look like a perf.data file, of either byte order? */
bool ty_perf_magic(const uint8_t *p, size_t n);

/*
 * Open and read attributes and features. One sentence in err when it is none, is big-endian, is of
 * version 1, is no plain file (fifo, perf's directory form), or is damaged before its first record.
 * The caller closes.
 */
int ty_perf_open(const char *path, struct ty_perf **out, struct ty_err *err);
/* The same of n bytes that are in memory, borrowed: a section of a recording. name: in messages. */
int ty_perf_open_bytes(const char *name, const void *bytes, size_t n, struct ty_perf **out,
		       struct ty_err *err);
void ty_perf_close(struct ty_perf *p);
/* The open file; -1: bytes in memory. */
int ty_perf_fd(const struct ty_perf *p);

/*
 * The next record, valid until the next call. 1; 0 at the end (also where the file is truncated
 * inside a record: note); -TY_EFORMAT, -TY_EIO, -TY_ENOMEM with err: what follows cannot be read.
 * COMPRESSED records are not given, but what is in them. In the pipe form, attributes and features
 * that come by are taken up and given all the same.
 */
int ty_perf_next(struct ty_perf *p, struct ty_perf_rec *out, struct ty_err *err);
/* Begin anew. */
void ty_perf_rewind(struct ty_perf *p);

/* Bytes of the file at off, as rec.data_off says: exactly n, 0, or -TY_EFORMAT / -TY_EIO. Safe from
 * several threads. */
int ty_perf_read(const struct ty_perf *p, uint64_t off, void *dst, size_t n, struct ty_err *err);
/* How far the records are read, of how many bytes. */
void ty_perf_progress(const struct ty_perf *p, uint64_t *done, uint64_t *all);

/* The event, valid until the next ty_perf_next(), of an id; id 0 (records that perf made up) is the
 * first event. NULL: none. A look-up in a sorted table, the last answer remembered. */
const struct ty_perf_event *ty_perf_event_find(struct ty_perf *p, uint64_t id);
/* The event that a record belongs to: by its id, or the only kind there is. NULL: none. */
const struct ty_perf_event *ty_perf_event_of(struct ty_perf *p, const struct ty_perf_rec *r);
/* The tail of a kernel record that is no sample; have = 0 when it has none (no sample_id_all, an
 * unknown event, written by perf itself). */
void ty_perf_id(struct ty_perf *p, const struct ty_perf_rec *r, struct ty_perf_id *out);

/* A feature's bytes: borrowed, n of them; NULL when the file has none. TRACING_DATA is not held:
 * ask for its place. */
const uint8_t *ty_perf_feature(const struct ty_perf *p, unsigned feature, size_t *n);
/* Where it lies in the file; false when the file has none, or holds it in a record. */
bool ty_perf_feature_place(const struct ty_perf *p, unsigned feature, uint64_t *off, uint64_t *n);
/* A feature that is one string (HOSTNAME, ARCH, CPUID...): NULL when absent or broken. */
const char *ty_perf_text(const struct ty_perf *p, unsigned feature);
/* NRCPUS; false when absent. */
bool ty_perf_cpus(const struct ty_perf *p, uint32_t *online, uint32_t *available);
/* The i-th word of the command line; NULL behind the last. */
const char *ty_perf_cmdline(const struct ty_perf *p, uint32_t i);
/* Did tarry export it from a single-stepped recording (its command line says so)? */
bool ty_perf_stepped(const struct ty_perf *p);
/* PMU_MAPPINGS: the name of a PMU type; NULL. */
const char *ty_perf_pmu(const struct ty_perf *p, uint32_t type);

/* BUILD_ID entries: *pos is 0 at first. False when there is none left. */
struct ty_perf_build_id {
	int32_t pid; /* -1, or of a guest */
	uint16_t misc;
	uint8_t n;
	uint8_t id[20];
	const char *name;
};
bool ty_perf_build_id_next(const struct ty_perf *p, size_t *pos, struct ty_perf_build_id *out);

#endif
