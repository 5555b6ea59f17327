/* SPDX-License-Identifier: MIT */
/* Static probes of a program or library: its .note.stapsdt section (<sys/sdt.h>, tarry.h). */
#ifndef TY_SDT_NOTES_H
#define TY_SDT_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "vec.h"

enum { TY_SDT_NAME = 64, TY_SDT_ARGS = 256, TY_SDT_MAX = 4096 };

struct ty_sdt {
	char provider[TY_SDT_NAME], name[TY_SDT_NAME];
	char args[TY_SDT_ARGS]; /* as the note has them: "4@%edi 8@%rsi" */
	uint64_t offset;	/* of the probe's instruction in the file */
	uint64_t semaphore;	/* offset in the file; 0: none */
};
typedef VEC(struct ty_sdt) ty_sdts;

/*
 * Append the probes of the ELF file that is open as fd, at most TY_SDT_MAX; notes that are no sound
 * probe are left out, and so are those of another word size than ours. How many, 0 also for what is
 * no ELF file, or -TY_ENOMEM.
 */
int ty_sdt_read(int fd, ty_sdts *out);

/* Is the ELF file that is open as fd a Go program? */
bool ty_elf_is_go(int fd);

/*
 * One argument of a probe in the words of the kernel's uprobe events ("%di:s32"), from *args, which
 * moves behind it. 1; 0: no more; -TY_EUNSUPPORTED: this one cannot be fetched (another kind of
 * operand), and *args is behind it.
 */
int ty_sdt_arg(const char **args, char *out, size_t n);

#endif
