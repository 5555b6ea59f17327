/* SPDX-License-Identifier: MIT */
/* Adds waits to the CPU samples, so that both can be shown as one tree of functions. */
#ifndef TY_WAIT_SAMPLES_H
#define TY_WAIT_SAMPLES_H

#include <stdatomic.h>

#include "samples.h"
#include "session.h"

/*
 * Adds the waits whose user stack was recorded to out->waits. Reads the file's sections and s's
 * model only, so that it may run beside other readers of s. stop: ends it early (-TY_EINTR); may be
 * NULL. 0, -TY_ENOMEM or -TY_EINTR.
 */
int ty_wait_samples_add(const struct ty_session *s, const struct ty_texts *roots,
			const atomic_bool *stop, struct ty_samples *out);

#endif
