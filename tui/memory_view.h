/* SPDX-License-Identifier: MIT */
/*
 * Memory samples on a time axis. Top: latency over time as a scatter (log scale; the glyph shows
 * the number, the colour the farthest source) with its histogram; or a strip per thread or per CPU
 * (the bar is the longest latency, the colour the number or the farthest source); or the accesses
 * of threads to one shared cache line. Bottom: a table for the same window, or for a rectangle
 * selected above: instructions, sources, pages, threads or shared cache lines, the latter with the
 * accesses to the chosen one. Enter lists the records of the rectangle, or of the table's row; a
 * double click those of its column.
 *
 * Drawing uses cells only. They are filled when window or size change, from the samples' groups
 * (model/mem_points.h) where these are within one cell; tables and strips are computed in the
 * background, and cancelled when they are no longer needed.
 */
#ifndef TY_MEMORY_VIEW_H
#define TY_MEMORY_VIEW_H

#include "mem_points.h"
#include "view.h"

/* Borrowed; must outlive the view. */
struct ty_memory_input {
	const struct ty_mem_points *points;
	const char *path, *note;   /* note: missing data of the file; NULL */
	uint32_t line_bytes;	   /* cache line size */
	uint64_t start_ns, end_ns; /* of the recording they belong to; 0, 0: of the samples */
	/* Name of a process's address at a time ("main+0x10"), into buf; "" unknown. */
	void (*name)(void *ctx, int32_t pid, uint64_t addr, uint64_t ts_ns, char *buf, size_t n);
	/* The instruction's address in the thread's own process at that time. False: that of
	 * another process. NULL: unknown. */
	bool (*own_code)(void *ctx, const struct ty_mem_code *c, const struct ty_mem_thread *t,
			 uint64_t ts_ns, struct ty_mem_code *out);
	/* Access sizes of instructions, by code of the points; NULL: unknown. Slow on first use;
	 * called from another thread. stop: as in ty_mem_work. */
	const uint8_t *(*widths)(void *ctx, const atomic_bool *stop);
	void *ctx;
	uint64_t work_bytes; /* as in ty_mem_work */
	bool aside;	     /* compute tables and strips in threads */
};

struct ty_memory_view;

/* 0; -TY_EUSAGE with a sentence when no sample has a time, -TY_ENOMEM. */
int ty_memory_view_new(const struct ty_memory_input *in, struct ty_memory_view **out,
		       struct ty_err *err);
/* Opens it above another view, to which it returns, with this window. */
void ty_memory_view_show(struct ty_memory_view *v, uint64_t from_ns, uint64_t to_ns,
			 uint64_t cursor_ns);
/* Extends the recording's known time range. */
void ty_memory_view_extend(struct ty_memory_view *v, uint64_t start_ns, uint64_t end_ns);
/* True when strips are coloured by the farthest source, false: by number of samples. */
bool ty_memory_view_by_source(const struct ty_memory_view *v);
void ty_memory_view_colours(struct ty_memory_view *v, bool by_source);
void ty_memory_view_free(struct ty_memory_view *v);

extern const struct ty_view_ops ty_memory_view_ops;

#endif
