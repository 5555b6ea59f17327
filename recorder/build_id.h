/* SPDX-License-Identifier: MIT */
/* Build ids of files that are mapped. */
#ifndef TY_BUILD_ID_H
#define TY_BUILD_ID_H

#include <stdint.h>

/* The GNU build id in the notes of an ELF file; its length, 0: none. */
unsigned ty_file_build_id(const char *path, uint8_t id[20]);

#endif
