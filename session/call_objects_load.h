/* SPDX-License-Identifier: MIT */
/* Finds the object of every call of a model, in one pass over the recording. */
#ifndef TY_CALL_OBJECTS_LOAD_H
#define TY_CALL_OBJECTS_LOAD_H

#include <stdatomic.h>

#include "call_objects.h"
#include "session.h"

#define TY_CALL_OBJECTS_MAX (64u << 20) /* calls: 256 MB */

/*
 * m: the model of all of s's events, made by another session or by this one. stop (NULL): set by
 * another thread: -TY_EINTR. permille (NULL): how far it is. 0 or -TY_E... with err (-TY_ELIMIT:
 * more than TY_CALL_OBJECTS_MAX calls); *out is the caller's.
 */
int ty_call_objects_load(struct ty_session *s, const struct ty_model *m, const atomic_bool *stop,
			 atomic_uint *permille, struct ty_call_objects **out, struct ty_err *err);

void ty_call_objects_free(struct ty_call_objects *o);

#endif
