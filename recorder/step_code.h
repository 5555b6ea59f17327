/* SPDX-License-Identifier: MIT */
/*
 * Code of a stepped process: its executable mappings as perf records, and an image of every
 * executed page, once, and again after it changed. A recording can therefore be decoded anywhere,
 * including code written at run time.
 */
#ifndef TY_STEP_CODE_H
#define TY_STEP_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "buf.h"

/* Destination of records: a perf record stream, and code images (section.h, TY_SEC_CODE). */
struct ty_step_out {
	struct ty_buf perf, code;
};

struct ty_step_mm;

/* The address space of process pid as of now. NULL: out of memory. */
struct ty_step_mm *ty_step_mm_new(pid_t pid, uint64_t now_ns);
void ty_step_mm_free(struct ty_step_mm *mm);
/* Reads its mappings (again) through a living thread of it; writes records for the new ones. */
void ty_step_mm_maps(struct ty_step_mm *mm, pid_t tid, struct ty_step_out *out, uint64_t now_ns);
/* True when its mappings have been read. */
bool ty_step_mm_known(const struct ty_step_mm *mm);
/* Reads the bytes at ip, at most 16, into code; returns how many (0: unreadable). tid: the stopped
 * thread that is about to execute them. *changed: the page differed from its last image, and has
 * been imaged again at now_ns. */
size_t ty_step_mm_code(struct ty_step_mm *mm, pid_t tid, struct ty_step_out *out, uint64_t now_ns,
		       uint64_t ip, uint8_t code[16], bool *changed);
/* Address at which this byte of a file is mapped executable; 0: none. */
uint64_t ty_step_mm_where(const struct ty_step_mm *mm, uint64_t dev, uint64_t ino, uint64_t off);

#endif
