/* SPDX-License-Identifier: MIT */
/* Which process a thread belongs to. */
#ifndef TY_PROCESS_H
#define TY_PROCESS_H

#include <stdint.h>

#include "model.h"

/* The thread index that stands for its process: its leader's as of its begin, or its own where the
 * leader is not known. */
uint32_t ty_process_of(const struct ty_model *m, uint32_t thread);

#endif
