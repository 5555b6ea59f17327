/* SPDX-License-Identifier: MIT */
/*
 * Reads perf.data files, in file form and in pipe form (`perf record -o -`, saved to a file):
 * attributes with their ids, features, and the sequence of records, including compressed ones.
 * perf_record.h says what a record means. Records come in file order, which is not time order: they
 * are ordered only across FINISHED_ROUND.
 *
 * A file that was truncated or never finished (perf was killed: the header's data size is 0) is
 * read up to the last whole record; `note` says so. Memory is bounded: one window, plus attributes
 * and features within the limits of perf_data.c, never what the file merely claims.
 *
 * Format: linux tools/perf/Documentation/perf.data-file-format.txt, tools/perf/util/header.h.
 */
#ifndef TY_PERF_DATA_H
#define TY_PERF_DATA_H

#include <stdatomic.h>

#include "err.h"
#include "perf_record.h"
#include "vec.h"

/* Features (enum in tools/perf/util/header.h) that tarry uses; others can be read as well. */
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

/* One event: its attribute, its ids, and its name ("" when the file does not state it). */
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
	bool unfinished;	 /* perf was killed before it completed the header */
	const char *note;	 /* one clause when something is missing; NULL */
	const atomic_bool *stop; /* set by another thread: the next record is -TY_EINTR; NULL */
	VEC(struct ty_perf_event) events;
	struct ty_perf_priv *priv;
};

/* True when the first n bytes are those of a perf.data file of either byte order. */
bool ty_perf_magic(const uint8_t *p, size_t n);

/*
 * Opens the file and reads attributes and features. Fails, with a sentence in err, for a file that
 * is not perf.data, is big-endian, is of version 1, is not a regular file (a fifo, perf's directory
 * form), or is damaged before its first record. The caller closes.
 */
int ty_perf_open(const char *path, struct ty_perf **out, struct ty_err *err);
/* Opens n bytes in memory, borrowed: a section of a recording. `name` is used in messages. */
int ty_perf_open_bytes(const char *name, const void *bytes, size_t n, struct ty_perf **out,
		       struct ty_err *err);
void ty_perf_close(struct ty_perf *p);
/* The open file; -1 for bytes in memory. */
int ty_perf_fd(const struct ty_perf *p);

/*
 * Returns the next record, valid until the next call. 1; 0 at the end, including a file truncated
 * inside a record (see note); -TY_EFORMAT, -TY_EIO, -TY_ENOMEM with err when the rest cannot be
 * read. The content of COMPRESSED records is returned in their place. In the pipe form, records of
 * attributes and features are processed, and returned as well.
 */
int ty_perf_next(struct ty_perf *p, struct ty_perf_rec *out, struct ty_err *err);
/* Starts again at the first record. */
void ty_perf_rewind(struct ty_perf *p);

/* Reads n bytes of the file at off (rec.data_off). 0, or -TY_EFORMAT / -TY_EIO when fewer can be
 * read. Thread-safe. */
int ty_perf_read(const struct ty_perf *p, uint64_t off, void *dst, size_t n, struct ty_err *err);
/* Bytes of records read so far, and in total. */
void ty_perf_progress(const struct ty_perf *p, uint64_t *done, uint64_t *all);

/* Finds the event of an id, valid until the next ty_perf_next(). Id 0 (records that perf
 * synthesized) is the first event. NULL: none. Binary search; the last result is cached. */
const struct ty_perf_event *ty_perf_event_find(struct ty_perf *p, uint64_t id);
/* The event that a record belongs to: by its id, or the only event that there is. NULL: none. */
const struct ty_perf_event *ty_perf_event_of(struct ty_perf *p, const struct ty_perf_rec *r);
/* Are the samples of an event of what ran? Not those of tracepoints, nor of perf's dummy event. */
bool ty_perf_event_samples(const struct ty_perf_event *e);
/* Does it count nanoseconds? */
bool ty_perf_event_is_clock(const struct ty_perf_event *e);
/* Nanoseconds between two samples of a busy CPU, for an event of time; 0: others. */
uint64_t ty_perf_event_period_ns(const struct ty_perf_event *e);
/* Parses the tail of a kernel record other than a sample. have = 0 when there is none (no
 * sample_id_all, an unknown event, a record written by perf itself). */
void ty_perf_id(struct ty_perf *p, const struct ty_perf_rec *r, struct ty_perf_id *out);

/* Bytes of a feature, borrowed, n of them; NULL when absent. TRACING_DATA is not kept in memory:
 * use ty_perf_feature_place. */
const uint8_t *ty_perf_feature(const struct ty_perf *p, unsigned feature, size_t *n);
/* Position of a feature in the file. False when the file has none or stores it in a record. */
bool ty_perf_feature_place(const struct ty_perf *p, unsigned feature, uint64_t *off, uint64_t *n);
/* A feature that is one string (HOSTNAME, ARCH, CPUID...): NULL when absent or broken. */
const char *ty_perf_text(const struct ty_perf *p, unsigned feature);
/* NRCPUS; false when absent. */
bool ty_perf_cpus(const struct ty_perf *p, uint32_t *online, uint32_t *available);
/* The i-th word of the command line; NULL after the last. */
const char *ty_perf_cmdline(const struct ty_perf *p, uint32_t i);
/* True when tarry exported the file from a single-stepped recording, according to its command
 * line. */
bool ty_perf_stepped(const struct ty_perf *p);
/* PMU_MAPPINGS: the name of a PMU type; NULL when unknown. */
const char *ty_perf_pmu(const struct ty_perf *p, uint32_t type);

/* Iterates over BUILD_ID entries; *pos is 0 at first. False at the end. */
struct ty_perf_build_id {
	int32_t pid; /* -1, or the pid of a guest */
	uint16_t misc;
	uint8_t n;
	uint8_t id[20];
	const char *name;
};
bool ty_perf_build_id_next(const struct ty_perf *p, size_t *pos, struct ty_perf_build_id *out);

#endif
