/* SPDX-License-Identifier: MIT */
/* Build ids of mapped files. */
#ifndef TY_BUILD_ID_H
#define TY_BUILD_ID_H

#include <stdint.h>

/* Reads the GNU build id from the notes of an ELF file; returns its length, 0: none. */
unsigned ty_file_build_id(const char *path, uint8_t id[20]);

#endif
