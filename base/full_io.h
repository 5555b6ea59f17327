/* SPDX-License-Identifier: MIT */
/* Reads and writes that continue after a signal, and after a part. */
#ifndef TY_FULL_IO_H
#define TY_FULL_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TY_IO_HERE UINT64_MAX /* at the file's own position: of pipes, too */

/* *got: how many bytes were read, less than n at the end of the file only. false: errno, of the
 * byte after those. */
bool ty_partial_read(int fd, void *p, size_t n, uint64_t off, size_t *got);
/* The same: how many; -1: errno. */
ssize_t ty_full_read(int fd, void *p, size_t n, uint64_t off);
/* All n bytes? */
bool ty_exact_read(int fd, void *p, size_t n, uint64_t off);
/* All n bytes. false: errno; ENOSPC when nothing more can be written. */
bool ty_full_write(int fd, const void *p, size_t n, uint64_t off);

#endif
