/* SPDX-License-Identifier: MIT */
/* Synthetic traces for tests: ring pages that can be distinguished, spools and trace.dat files. */
#ifndef FIXTURE_TRACE_H
#define FIXTURE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "spool.h"
#include "trace.h"

#define TY_FX_PAGE 4096u

/* A fresh directory, and PATH in it (static buffers, one directory per process). */
const char *ty_fx_dir(void);
const char *ty_fx_path(const char *name);
void ty_fx_remove_dir(void);
/* How many files and folders are in it. */
unsigned ty_fx_files(const char *dir);

/* Ring page `n` of a stream: its time is ty_fx_ns(). */
uint64_t ty_fx_ns(unsigned buffer, unsigned cpu, unsigned n);
void ty_fx_page(uint8_t *page, uint32_t page_size, unsigned buffer, unsigned cpu, unsigned n);

/* Metadata of two buffers ("" and "syscalls") into the spool. */
void ty_fx_spool_meta(struct ty_spool_writer *w);
/* Chunk `seq` of `pages` pages, the stream's page numbers seq * pages and on; every second is LZ4.
 */
int ty_fx_spool_data(struct ty_spool_writer *w, unsigned buffer, unsigned cpu, uint64_t seq,
		     unsigned pages, struct ty_err *err);
/* Closing pieces: cpustat, cmdlines, tarry's sections. */
void ty_fx_spool_end(struct ty_spool_writer *w);

/* A trace.dat file of either version. */
struct ty_fx_dat {
	int version;	   /* 6 or 7 */
	const char *codec; /* "none", "zlib", "zstd"; version 6: ignored */
	bool big_endian;
	unsigned long_size;
	unsigned buffers; /* 1 or 2 */
	unsigned cpus;
	unsigned pages;	      /* per CPU */
	unsigned chunk_pages; /* version 7, compressed */
	bool compress_options;
	bool short_size; /* CPU sizes without the count, as trace-cmd 3.1 */
	unsigned odd;	 /* bytes of an incomplete page behind each CPU's last */
};
void ty_fx_dat(const struct ty_fx_dat *d, struct ty_buf *out);

/* End the test program when it has used so many seconds of CPU time from now on, which no busy
 * machine brings about; 0: no more. What waits without end is ended by tests/run. */
void ty_fx_cpu_limit(unsigned seconds);

void ty_fx_write(const char *path, const void *p, size_t n);
void ty_fx_read(const char *path, struct ty_buf *out);

/* All pages of stream (buffer, cpu) that can be read are what ty_fx_page gives; returns how many
 * could be read, and counts chunks that could not. Fails the test on wrong bytes. */
uint64_t ty_fx_check(const struct ty_trace *t, uint32_t stream, unsigned *bad_chunks);
/* Read every chunk, caring for nothing but not crashing. */
void ty_fx_read_all(const struct ty_trace *t);

#endif
