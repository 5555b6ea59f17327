/* SPDX-License-Identifier: MIT */
/*
 * Cache lines that two or more threads touch and at least one writes.
 *
 * A line of memory that processes share is known by its device, inode and place there, where its
 * mapping is recorded; else by its physical address where that is recorded and the page never
 * moved, else by process and virtual address. A sample without a physical address joins the
 * physical line when other samples of the same process show where its page lies, always at one
 * place. A thread that is not known counts for nothing. An access over a line's end, of a known
 * width or flagged unaligned, touches both lines.
 *
 * That one writes need not be sampled: loads of what another core has modified show it, and where
 * no store at all is sampled, loads of what another core has suggest it. Then which bytes are
 * written is not known. Of a single thread that stays on its CPU two loads of modified data are
 * enough.
 *
 * No findings are lines that stay on one CPU, whose threads ran there in turn, and lines that were
 * only read when a second thread had come.
 *
 * An access site is a thread with an offset in the line. It takes part when another thread has a
 * site in the line and one of the two writes; it is truly shared when such a one overlaps it in
 * bytes. All sites that take part truly shared: true sharing; none: false sharing; else mixed.
 * Samples do not tell how many bytes an access has, but for vectors; the instruction does where its
 * code is at hand (the points then have it). Else it is taken to be as wide as its address is
 * aligned, at most 8 bytes, and not to reach the next offset that was seen.
 */
#ifndef TY_SHARING_H
#define TY_SHARING_H

#include "mem_points.h"

enum ty_sharing_kind {
	TY_SHARING_FALSE,
	TY_SHARING_TRUE,
	TY_SHARING_MIXED,
	TY_SHARING_UNKNOWN, /* no sample shows which bytes are written */
};

/* What shows that the line went from core to core; the best there is. */
enum ty_sharing_evidence {
	TY_SHARING_APART,  /* the threads' accesses do not even overlap in time */
	TY_SHARING_TIME,   /* nothing but that they touched it at the same time */
	TY_SHARING_REMOTE, /* loads came from far away, or missed all caches */
	TY_SHARING_PEER,   /* loads came from another core's cache, or modified data did */
};

struct ty_sharing_site {
	uint32_t thread; /* in the points */
	uint32_t pc;	 /* id; UINT32_MAX */
	uint16_t offset;
	uint8_t size;	   /* as taken */
	bool size_assumed; /* not recorded */
	bool writes;
	bool true_shared; /* overlaps what another thread uses */
	uint64_t count, lat_count, lat_sum;
};

struct ty_sharing_line {
	uint64_t line; /* address of its first byte */
	bool physical;
	uint32_t shared; /* memory that processes share: its number among mappings, `line` is a
			    place in it; TY_MEM_NOT_SHARED */
	int32_t pid;	 /* of a virtual line; -1: not known, or the kernel's */
	uint64_t va;	 /* one virtual address of the line; 0: none */
	int32_t va_pid;
	uint64_t va_ts_ns;
	uint8_t kind;	  /* enum ty_sharing_kind */
	uint8_t evidence; /* enum ty_sharing_evidence */
	bool size_assumed;
	bool one_process; /* virtual, and no process known: taken to be of one */
	uint32_t threads, sites_first, sites_n;
	uint64_t count, writes, peer, remote, lat_sum, lat_count;
	uint64_t modified; /* of peer: it was modified there */
	uint64_t lost;	   /* latency of the loads that came from another core's cache, cycles */
	uint64_t turns;	   /* how often, in time order, another thread than before came, on another
			      CPU, and one of the two wrote */
	bool rewritten;	   /* written after another thread had touched it */
	uint64_t first_ns, last_ns;
};

struct ty_sharing {
	struct ty_sharing_line *lines; /* the dearest first */
	uint32_t lines_n;
	uint64_t left_out;	       /* weaker ones, which the memory has no room for */
	struct ty_sharing_site *sites; /* of a line: by offset, thread, pc */
	uint32_t sites_n;
	uint32_t *access; /* ty_sharing_one: points that are the line's, in their order */
	uint64_t access_n;
	uint64_t accesses;  /* with an address and a thread */
	uint64_t no_thread; /* left out: with an address, of unknown threads */
	/* Lines that are no findings: */
	uint64_t written_once; /* only read when another thread had come */
	uint64_t one_cpu;      /* never left the CPU that their threads ran on in turn */
	uint32_t line_bytes;
};

/* line_bytes: a power of 2, at most TY_LINE_MAX. What it holds is bounded by the work's bytes,
 * whatever the number of lines, by as many passes over the points as that takes. 0, -TY_ENOMEM,
 * -TY_EINTR; -TY_ELIMIT: the samples of one line alone need more, or the pages of samples with and
 * without a physical address. */
#define TY_LINE_MAX 4096u
int ty_sharing_find(const struct ty_mem_points *p, uint32_t line_bytes,
		    const struct ty_mem_work *work, struct ty_sharing *out);
/* One line with its accesses (4 bytes each); key: line, physical and pid of one that was found. */
int ty_sharing_one(const struct ty_mem_points *p, uint32_t line_bytes,
		   const struct ty_sharing_line *line, const struct ty_mem_work *work,
		   struct ty_sharing *out);
void ty_sharing_fini(struct ty_sharing *s);

const char *ty_sharing_kind_name(unsigned kind);
const char *ty_sharing_evidence_name(unsigned evidence);

/* The first address of the line that was accessed: what the line begins with may be another
 * variable.
 */
static inline uint64_t ty_sharing_accessed(const struct ty_sharing *s,
					   const struct ty_sharing_line *l)
{
	return (l->va ? l->va : l->line) + (l->sites_n ? s->sites[l->sites_first].offset : 0);
}

#endif
