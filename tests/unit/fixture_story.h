/* SPDX-License-Identifier: MIT */
/*
 * The recording that the tests of the timeline look at, as events; and a writer that makes a
 * trace.dat of events, with formats as x86_64 kernels have them.
 */
#ifndef TY_FIXTURE_STORY_H
#define TY_FIXTURE_STORY_H

#include <stddef.h>
#include <stdint.h>

#include "event.h"

#define TY_STORY_START 1000000000000ull
#define TY_STORY_THREADS                                                                           \
	"taken 999999000000 999999900000\n"                                                        \
	"100\t100\t1\t5\tR\t0\t0\t0\t-\t-\t-\t-\twebserver\n"

enum { TY_STORY_WEB = 100, TY_STORY_BACKUP = 101, TY_STORY_LOGGER = 102, TY_STORY_KWORKER = 7 };

/* The story of the demo, in time order: a request hangs for 3 s behind another process's lock. */
void ty_story_stall(void (*emit)(const struct ty_event *ev));

/* Write a trace.dat: begin, then events in time order, then end. One at a time. threads: text of
 * tarry's section; NULL: none. */
void ty_story_begin(const char *path, unsigned cpus, const char *machine, const char *threads);
void ty_story_section(unsigned type, const void *p, size_t n); /* one of tarry's sections */
/* One more format; such an event is of kind TY_EV_OTHER, with its record as data (at most 256
 * bytes, a multiple of 4). */
void ty_story_format(const char *system, const char *format);
void ty_story_event(const struct ty_event *ev);
void ty_story_end(void);

#endif
