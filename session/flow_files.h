/* SPDX-License-Identifier: MIT */
/*
 * Finds the files of the traced machine on this one: under the given roots by path, by name or by
 * build id; when the recording is of this machine, or the build id is known, at their own path; by
 * build id in perf's cache (~/.debug) and, when the user has set DEBUGINFOD_URLS, from debuginfod
 * servers. Separate debug files are found as by gdb (its manual, "Debugging Information in Separate
 * Files"). A file with a build id other than the recorded one is never used, nor is a JIT
 * compiler's map of another process with the same pid; a note says so.
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
/* local: paths of the recording are paths of this machine; same_boot: its kernel has not been
 * rebooted since. */
void ty_flow_files_local(struct ty_flow_files *f, bool local, bool same_boot);
/* True when the trace was recorded since this machine's last boot, if it was recorded here at all.
 * Then notes its wall-clock range. Without a range a JIT compiler's /tmp/perf-PID.map, which does
 * not identify its process, is used below a root only. */
bool ty_flow_files_this_boot(struct ty_flow_files *f, const struct ty_trace *t);
/* Calls both for a recording of tarry. */
void ty_flow_files_of(struct ty_flow_files *f, const struct ty_trace *t);
/* The name of this machine? NULL: no. */
bool ty_is_this_host(const char *host);
/* The recording's own "[vdso]", borrowed; n 0: none. */
void ty_flow_files_vdso(struct ty_flow_files *f, struct ty_bytes vdso);
/* Maps a whole file until f is freed. 0, or -TY_E... with err. */
int ty_flow_files_read(struct ty_flow_files *f, const char *path, struct ty_bytes *out,
		       struct ty_err *err);
/* A ty_code_load. */
int ty_flow_files_load(void *ctx, const char *path, const uint8_t *build_id, size_t build_id_n,
		       struct ty_bytes *out);
/* Symbols of such a file, with those of its separate debug file when one is found by build id, or
 * by the name and checksum in .gnu_debuglink, below a root, on this machine or at a debuginfod
 * server. NULL: out of memory. */
struct ty_symbols *ty_flow_files_symbols(void *ctx, const char *path, struct ty_bytes b);
/* Prints a line for each file that was found but did not match. */
void ty_flow_files_note(struct ty_flow_files *f);

#endif
