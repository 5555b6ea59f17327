/* SPDX-License-Identifier: MIT */
/*
 * What a stepped process executes: its executable mappings as perf records, and an image of every
 * page that is executed, once, and again when it has changed. So a recording can be decoded
 * anywhere, code that was written at run time included.
 */
#ifndef TY_STEP_CODE_H
#define TY_STEP_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "buf.h"

/* Where records go: a perf record stream, and code images (section.h, TY_SEC_CODE). */
struct ty_step_out {
	struct ty_buf perf, code;
};

struct ty_step_mm;

/* The address space of process pid as of now. NULL: out of memory. */
struct ty_step_mm *ty_step_mm_new(pid_t pid, uint64_t now_ns);
void ty_step_mm_free(struct ty_step_mm *mm);
/* Look at its mappings (again), by a living thread of it; records for the new ones. */
void ty_step_mm_maps(struct ty_step_mm *mm, pid_t tid, struct ty_step_out *out, uint64_t now_ns);
/* Have its mappings been looked at? */
bool ty_step_mm_known(const struct ty_step_mm *mm);
/* The bytes at ip, at most 16, into code; how many (0: they cannot be read). tid: the stopped
 * thread that is to execute them. *changed: the page had other bytes when it was imaged before, and
 * has been imaged again at now_ns. */
size_t ty_step_mm_code(struct ty_step_mm *mm, pid_t tid, struct ty_step_out *out, uint64_t now_ns,
		       uint64_t ip, uint8_t code[16], bool *changed);
/* Where this byte of a file is mapped executable; 0: nowhere. */
uint64_t ty_step_mm_where(const struct ty_step_mm *mm, uint64_t dev, uint64_t ino, uint64_t off);

#endif
