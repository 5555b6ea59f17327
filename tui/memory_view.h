/* SPDX-License-Identifier: MIT */
/*
 * Memory samples on a time axis. Above: latency over time as a scatter (log scale, the glyph tells
 * how many, the colour the farthest source) with its histogram; or a strip per thread or per CPU
 * (the bar is the longest latency, the colour how many, or the farthest source); or who touched one
 * shared cache line when. Below a table of the same window, or of a rectangle selected above:
 * instructions, sources, pages, threads or shared cache lines. Enter lists the records of the
 * rectangle, or of the cursor's column.
 *
 * Drawing looks at cells only. They are filled when the window or the size has changed, from the
 * samples' groups (model/mem_points.h) where these lie within one cell; tables and strips are made
 * aside, and given up when something else is asked for.
 */
#ifndef TY_MEMORY_VIEW_H
#define TY_MEMORY_VIEW_H

#include "mem_points.h"
#include "view.h"

/* Borrowed; must outlive the view. */
struct ty_memory_input {
	const struct ty_mem_points *points;
	const char *path, *note;   /* note: what is missing in the file; NULL */
	uint32_t line_bytes;	   /* of the caches */
	uint64_t start_ns, end_ns; /* of the recording they belong to; 0, 0: of the samples */
	/* What an address of a process is at a time ("main+0x10"), into buf; "" not known. */
	void (*name)(void *ctx, int32_t pid, uint64_t addr, uint64_t ts_ns, char *buf, size_t n);
	/* An instruction as the thread's own process has it at that time. false: as it is, of
	 * another process. NULL: not known. */
	bool (*own_code)(void *ctx, const struct ty_mem_code *c, const struct ty_mem_thread *t,
			 uint64_t ts_ns, struct ty_mem_code *out);
	/* Bytes that instructions access, by code of the points; NULL: not known. Slow at first;
	 * from another thread. stop: as in ty_mem_work. */
	const uint8_t *(*widths)(void *ctx, const atomic_bool *stop);
	void *ctx;
	uint64_t work_bytes; /* as in ty_mem_work */
	bool aside;	     /* tables and strips are made in threads */
};

struct ty_memory_view;

/* 0; -TY_EUSAGE with a sentence when no sample has a time, -TY_ENOMEM. */
int ty_memory_view_new(const struct ty_memory_input *in, struct ty_memory_view **out,
		       struct ty_err *err);
/* It is opened above another view, which it leads back to, on this window. */
void ty_memory_view_show(struct ty_memory_view *v, uint64_t from_ns, uint64_t to_ns,
			 uint64_t cursor_ns);
/* The recording is longer than was known when the view was made. */
void ty_memory_view_extend(struct ty_memory_view *v, uint64_t start_ns, uint64_t end_ns);
/* Strips are coloured by the farthest source, not by how many samples. */
bool ty_memory_view_by_source(const struct ty_memory_view *v);
void ty_memory_view_colours(struct ty_memory_view *v, bool by_source);
void ty_memory_view_free(struct ty_memory_view *v);

extern const struct ty_view_ops ty_memory_view_ops;

#endif
