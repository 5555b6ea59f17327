/* SPDX-License-Identifier: MIT */
/* Names of C++ and Rust functions as their authors wrote them, without parameters: as perf shows
 * them. By libiberty; in a build without it names stay as they are. */
#ifndef TY_DEMANGLE_H
#define TY_DEMANGLE_H

#include <stdbool.h>

#include "buf.h"

/* Does the name begin as one of C++ or Rust does? Others are shown as they are. */
static inline bool ty_is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

#define TY_DEMANGLE_NS UINT64_C(20000000)

/*
 * Appends "Box::take" for "_ZN3Box4takeEv", and with "@plt" behind it what is there. Returns 1; 0:
 * it is no such name, or takes more than 4 KB; or -TY_ELIMIT after TY_DEMANGLE_NS of CPU time
 * (names of hostile files can grow beyond any memory and time). Nothing is appended then.
 * Thread-safe; uses SIGVTALRM.
 */
int ty_demangle(const char *name, struct ty_buf *out);

#endif
