/* SPDX-License-Identifier: MIT */
/*
 * A trace file opened for reading: trace.dat version 6 and 7 (trace-cmd.dat.v6(5),
 * trace-cmd.dat.v7(5)), with tarry's sections where present, the spool of an unfinished recording
 * (spool.h), or a perf.data file with tracepoints (trace_perf.c). It provides bytes without
 * interpreting them: texts of the metadata, and whole ring pages of each stream.
 */
#ifndef TY_TRACE_H
#define TY_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "err.h"
#include "section.h"
#include "vec.h"

/* Text borrowed from the trace; s is NUL-terminated at s[n]; NULL when absent. */
struct ty_text {
	const char *s;
	size_t n;
};

struct ty_event_format {
	const char *system; /* "ftrace" for the tracer's own */
	struct ty_text text;
};

struct ty_trace_buffer {
	const char *name;  /* "" = the top buffer */
	const char *clock; /* "perf", "local", ... */
	uint32_t page_size;
};

/* One CPU of one buffer. Chunks are numbered from 0 in time order; each holds whole ring pages. */
struct ty_stream {
	uint32_t buffer; /* index into buffers */
	uint32_t cpu;
	uint32_t chunks;
	uint64_t raw_bytes; /* all chunks together, decompressed */
};

struct ty_chunk {
	uint32_t raw_bytes;	    /* decompressed; a multiple of the page size */
	uint64_t first_page;	    /* number of its first page in the stream */
	uint64_t first_ns, last_ns; /* 0, 0 when the file does not state it (files of other
				     * programs) */
	bool missing; /* known to have existed, absent from the file (gap in a spool's sequence) */
};

struct ty_trace {
	const char *path;
	int version; /* 6 or 7; 0 for a spool and for perf.data */
	/* perf.data: besides events it has Intel PT, memory samples (perf_data.h), or any samples
	 * of what a thread executed at a time. */
	bool perf, perf_pt, perf_memory, perf_samples;
	/* perf.data of perf stat record: readings of counters, and no event of a thread. */
	bool counts_only;
	bool perf_stepped; /* its Intel PT comes from the single-stepper */
	/* The file has events of chosen threads only, or cannot be shown to have others: activity
	 * of other threads is unknown (perf record without -a, and cuts of such files). */
	bool own_only;
	/* perf.data whose switches are perf's own records (recordings of Intel PT without
	 * sched_switch): why a thread left a CPU is unknown. */
	bool switches_only;
	bool big_endian;
	unsigned long_size;  /* 4 or 8, of the traced kernel */
	bool unfinished;     /* a spool: the recorder did not finish */
	bool truncated;	     /* bytes at the end were cut or damaged; see `note` */
	struct ty_text note; /* one sentence when unfinished or truncated */
	/* Start of a recording that kept its newest part only (trace clock; older events in the
	 * file do not count), and when it was begun; 0: nothing was dropped. */
	uint64_t kept_from_ns, kept_began_ns;
	/* Not NULL: earlier data is missing, because it was dropped or the file was cut out of
	 * another one. Lines "traced" of this text list the threads traced at the start. */
	const char *begins_later;
	/* Of a file exported from a longer one: when that one began (trace clock); 0: unknown, or
	 * not exported. */
	uint64_t cut_origin_ns;
	bool is_part; /* exported from a longer one */
	uint64_t file_bytes;
	uint64_t dropped_bytes; /* bytes in holes: an unfinished record --keep */
	struct ty_text header_page, header_event, kallsyms, printk, cmdlines;
	struct ty_text uname, recorder_version, trace_clock; /* options */
	uint32_t cpu_count;
	int64_t ts_offset_ns;		     /* OFFSET option, to be added to every time stamp */
	VEC(struct ty_event_format) formats; /* ftrace's own, then the events */
	VEC(struct ty_text) cpustat;	     /* one text per CPU and buffer */
	VEC(struct ty_trace_buffer) buffers;
	VEC(struct ty_stream) streams; /* by buffer, then cpu; only streams with data */
	struct ty_trace_private *priv;
};

/*
 * Opens a trace and reads all metadata. Fails, with one sentence in err, when the file is not a
 * trace, is of a kind that tarry does not read (latency text, an unknown version or compression),
 * or is damaged before its first event. The caller closes.
 */
int ty_trace_open(const char *path, struct ty_trace **out, struct ty_err *err);
/* The same with a progress callback, called while a perf.data file is read (part: 0 to 1). */
typedef void ty_trace_progress(void *ctx, double part);
int ty_trace_open_progress(const char *path, ty_trace_progress *progress, void *ctx,
			   struct ty_trace **out, struct ty_err *err);
void ty_trace_close(struct ty_trace *t);
/* The first thread of the recorded command where the recording begins with that; 0: it begins
 * later, or no command was recorded. */
int32_t ty_trace_command(const struct ty_trace *t);
/* True for a perf.data file with events: tracepoints, or Intel PT with switches of threads. */
bool ty_trace_in_perf(const char *path);
/* True for one of perf stat record. */
bool ty_trace_of_perf_stat(const char *path);
/* Its file descriptor, borrowed, for fstat and pread. */
int ty_trace_fd(const struct ty_trace *t);

/* Metadata of a chunk, without reading it. stream < streams.n, chunk < chunks. */
struct ty_chunk ty_trace_chunk(const struct ty_trace *t, uint32_t stream, uint32_t chunk);

/* Reusable state for reading chunks, one per thread. */
struct ty_chunk_scratch {
	struct ty_buf buf;
	void *zstd; /* decompression context, created on first use */
};
void ty_chunk_scratch_init(struct ty_chunk_scratch *s);
void ty_chunk_scratch_fini(struct ty_chunk_scratch *s);

/*
 * Reads and decompresses one chunk into dst (raw_bytes long). Thread-safe with one scratch per
 * thread. 0, -TY_EFORMAT when damaged (checksum, truncation, bad compression: err says where),
 * -TY_EIO, -TY_ENOMEM.
 */
int ty_trace_chunk_read(const struct ty_trace *t, uint32_t stream, uint32_t chunk, void *dst,
			struct ty_chunk_scratch *scratch, struct ty_err *err);

/* Content of a tarry section (section.h); {NULL,0} when the file has none. Several sections of one
 * type are concatenated in order. */
struct ty_text ty_trace_section(const struct ty_trace *t, enum ty_section type);
/* Its size, without reading it: a large section is decompressed when it is first requested, by any
 * thread. */
uint64_t ty_trace_section_bytes(const struct ty_trace *t, enum ty_section type);
/* At the end of output: a section that was requested could not be read. 0 or -TY_E... */
int ty_trace_section_check(const struct ty_trace *t, struct ty_err *err);
/* Memory limit of the reader (0: none): a section that takes more than a part of it is decompressed
 * into an unnamed temporary file. */
void ty_trace_memory(struct ty_trace *t, uint64_t bytes);
/* False for a file cut out of another one by an older tarry, which did not keep strings, names of
 * descriptors, stacks and samples. */
bool ty_trace_cut_keeps(const struct ty_trace *t);

#endif
