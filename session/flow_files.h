/* SPDX-License-Identifier: MIT */
/*
 * The files of the traced machine, found on this one: under the given roots by path, by name or by
 * build id; when the recording is of this machine, or the build id is known, at their own path; by
 * build id in perf's cache (~/.debug) and, where the user has set DEBUGINFOD_URLS, from the servers
 * named there. What was stripped of a file is found as gdb finds it (its manual, "Debugging
 * Information in Separate Files"). A file whose build id is not the recorded one is never used, and
 * neither is a JIT compiler's map of another process of that number; that is told.
 */
#ifndef TY_FLOW_FILES_H
#define TY_FLOW_FILES_H

#include <stdbool.h>
#include <stdio.h>

#include "code_map.h"
#include "symbols.h"
#include "trace.h"

struct ty_flow_files;

struct ty_flow_files *ty_flow_files_new(const char *const *roots,
					size_t roots_n); /* roots borrowed */
void ty_flow_files_free(struct ty_flow_files *f);
/* Paths of the recording are paths of this machine; its kernel has not been started anew since. */
void ty_flow_files_local(struct ty_flow_files *f, bool local, bool same_boot);
/* When it was recorded here, since the kernel was started, by the wall clock. Without it a JIT
 * compiler's /tmp/perf-PID.map, which tells nothing of whose it is, is used below a root only. */
void ty_flow_files_recorded(struct ty_flow_files *f, int64_t from_ns, int64_t to_ns);
/* Was the trace recorded since this machine's kernel was started, if it was here at all? Notes when
 * (ty_flow_files_recorded). */
bool ty_flow_files_this_boot(struct ty_flow_files *f, const struct ty_trace *t);
/* The recording's own "[vdso]", borrowed; n 0: it has none. */
void ty_flow_files_vdso(struct ty_flow_files *f, struct ty_bytes vdso);
/* Map a whole file until f is freed. 0, or -TY_E... with err. */
int ty_flow_files_read(struct ty_flow_files *f, const char *path, struct ty_bytes *out,
		       struct ty_err *err);
/* A ty_code_load. */
int ty_flow_files_load(void *ctx, const char *path, const uint8_t *build_id, size_t build_id_n,
		       struct ty_bytes *out);
/* The symbols of such a file: of what was stripped of it, too, where that is found by build id or
 * by the name and checksum that it tells, below a root, on this machine or at a debuginfod server.
 * NULL: out of memory. */
struct ty_symbols *ty_flow_files_symbols(void *ctx, const char *path, struct ty_bytes b);
/* Which files were there, but others: a line each. */
void ty_flow_files_note(struct ty_flow_files *f);

#endif
