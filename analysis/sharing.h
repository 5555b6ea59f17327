/* SPDX-License-Identifier: MIT */
/*
 * Cache lines that two or more threads access and at least one writes.
 *
 * A line of shared memory is identified by device, inode and offset, if its mapping is recorded;
 * otherwise by its physical address, if recorded and the page never moved, otherwise by process and
 * virtual address. A sample without a physical address joins the physical line when other samples
 * of the same process always show its page at one place. Unknown threads are ignored. An access
 * across a line's end, of a known width or flagged unaligned, counts for both lines.
 *
 * A write need not be sampled: loads of data modified by another core prove it, and if no store at
 * all is sampled, loads of another core's data suggest it. In these cases the written bytes are
 * unknown. For a single thread that stays on its CPU two loads of modified data suffice.
 *
 * Not reported: lines that stay on one CPU, whose threads ran there in turn, and lines that were
 * only read after a second thread appeared.
 *
 * An access site is a thread with an offset in the line. It takes part when another thread has a
 * site in the line and one of the two writes; it is truly shared when such a site overlaps it in
 * bytes. All participating sites truly shared: true sharing; none: false sharing; else mixed.
 * Samples lack the access width, except for vectors; the instruction gives it if its code is
 * available (the points then have it). Otherwise it is assumed to be the alignment of the address,
 * at most 8 bytes, and not to reach the next observed offset.
 */
#ifndef TY_SHARING_H
#define TY_SHARING_H

#include "mem_points.h"

enum ty_sharing_kind {
	TY_SHARING_FALSE,
	TY_SHARING_TRUE,
	TY_SHARING_MIXED,
	TY_SHARING_UNKNOWN, /* no sample shows the written bytes */
};

/* Best evidence that the line moved between cores. */
enum ty_sharing_evidence {
	TY_SHARING_APART,  /* the threads' accesses do not even overlap in time */
	TY_SHARING_TIME,   /* only that they accessed it at the same time */
	TY_SHARING_REMOTE, /* loads reached the last-level cache or another socket */
	TY_SHARING_PEER,   /* loads came from another core's cache, or modified data did */
};

struct ty_sharing_site {
	uint32_t thread; /* in the points */
	uint32_t pc;	 /* id; UINT32_MAX */
	uint16_t offset;
	uint8_t size;	   /* assumed */
	bool size_assumed; /* size is assumed */
	bool writes;
	bool true_shared; /* overlaps bytes used by another thread */
	uint64_t count, lat_count, lat_sum;
	uint64_t peer; /* data came from another core's cache */
};

struct ty_sharing_line {
	uint64_t line; /* address of its first byte */
	bool physical;
	uint32_t shared; /* shared memory: its number among mappings, `line` is an offset in it;
			  * TY_MEM_NOT_SHARED */
	int32_t pid;	 /* of a virtual line; -1: unknown, or the kernel's */
	uint64_t va;	 /* one virtual address of the line; 0: none */
	int32_t va_pid;
	uint64_t va_ts_ns;
	uint8_t kind;	  /* enum ty_sharing_kind */
	uint8_t evidence; /* enum ty_sharing_evidence */
	bool size_assumed;
	bool one_process; /* virtual, process unknown: assumed to be a single one */
	uint32_t threads, sites_first, sites_n;
	uint64_t count, writes, peer, remote, lat_sum, lat_count;
	uint64_t modified; /* of peer: modified there */
	uint64_t lost;	   /* latency of the loads that came from another core's cache, cycles */
	uint64_t turns;	   /* how often, in time order, a different thread than the previous one
			    * accessed it, on another CPU, and one of the two wrote */
	bool rewritten;	   /* written after another thread had accessed it */
	uint64_t first_ns, last_ns;
};

struct ty_sharing {
	struct ty_sharing_line *lines; /* most expensive first */
	uint32_t lines_n;
	uint64_t left_out;	       /* weaker ones, dropped for lack of memory */
	struct ty_sharing_site *sites; /* of a line: by offset, thread, pc */
	uint32_t sites_n;
	uint32_t *access; /* ty_sharing_one: indices of the line's points, ascending */
	uint64_t access_n;
	uint64_t accesses;  /* with an address and a thread */
	uint64_t no_thread; /* excluded: with an address, of unknown threads */
	/* Lines not reported: */
	uint64_t written_once; /* only read after a second thread appeared */
	uint64_t one_cpu;      /* stayed on the CPU that their threads ran on in turn */
	uint32_t line_bytes;
};

/* line_bytes: a power of 2, at most TY_LINE_MAX. Memory is bounded by the work's bytes for any
 * number of lines, with as many passes over the points as needed. 0, -TY_ENOMEM, -TY_EINTR;
 * -TY_ELIMIT: the samples of one line alone exceed it, or the pages of samples with and without a
 * physical address. */
#define TY_LINE_MAX 4096u
int ty_sharing_find(const struct ty_mem_points *p, uint32_t line_bytes,
		    const struct ty_mem_work *work, struct ty_sharing *out);
/* One line with its accesses (4 bytes each); key: line, physical and pid of a line found before. */
int ty_sharing_one(const struct ty_mem_points *p, uint32_t line_bytes,
		   const struct ty_sharing_line *line, const struct ty_mem_work *work,
		   struct ty_sharing *out);
void ty_sharing_fini(struct ty_sharing *s);

const char *ty_sharing_kind_name(unsigned kind);
const char *ty_sharing_evidence_name(unsigned evidence);

/* The first accessed address of the line, because the line's start may belong to another
 * variable. */
static inline uint64_t ty_sharing_accessed(const struct ty_sharing *s,
					   const struct ty_sharing_line *l)
{
	return (l->va ? l->va : l->line) + (l->sites_n ? s->sites[l->sites_first].offset : 0);
}

#endif
