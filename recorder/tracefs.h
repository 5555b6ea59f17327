/* SPDX-License-Identifier: MIT */
/*
 * tracefs: finding it, and managing own instances, by libtracefs. The top-level buffer's state is
 * never written, because other recordings may use it. The function tracer's files are not even
 * opened (a container may forbid them), so only those libtracefs functions are called that touch no
 * file but those passed to them: neither its tracers nor its lists of options or events
 * (tests/e2e/tracefs_files.sh). It opens files without O_CLOEXEC: a command is forked before there
 * is an instance (recording_start.c), so that it inherits none.
 *
 * An instance is named tarry-PID-STARTTIME-WHAT, so that the next recorder can identify those of
 * dead recorders (ty_instance_sweep). A live recorder holds files of its instances open, and the
 * kernel refuses to remove such an instance (EBUSY): a wrong guess about a recorder being dead,
 * e.g. one in another pid namespace, removes nothing.
 */
#ifndef TY_TRACEFS_H
#define TY_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "err.h"

struct tracefs_instance;

#define TY_TRACEFS_PATH 256

/*
 * Finds tracefs; mounts it on /sys/kernel/tracing when it is mounted nowhere and `may_mount`. Sets
 * root. 0, -TY_EPERM (not root), -TY_ENOTFOUND (the kernel has none, or it is not mounted and may
 * not be), each with the fix.
 */
int ty_tracefs_find(char root[TY_TRACEFS_PATH], bool may_mount, struct ty_err *err);

/* Appends a whole small file (up to `limit` bytes) to out. 0 or -TY_E.... */
int ty_tracefs_read(int dirfd, const char *path, struct ty_buf *out, struct ty_err *err);
bool ty_tracefs_exists(int dirfd, const char *path);

struct ty_instance {
	char name[96];
	char path[TY_TRACEFS_PATH + 112];
	struct tracefs_instance *lib; /* NULL: nothing to remove */
	int dir;		      /* directory fd of the instance */
	int on;		     /* its tracing_on, open for writing: also prevents its removal by other
			      * recorders */
	uint32_t page_bytes; /* bytes of one page of its rings (the kernel's sub-buffer) */
};

/*
 * Creates the instance tarry-PID-STARTTIME-what, tracing off, with the given clock (NULL: the
 * default; setting one takes the kernel 40 ms) and rings of ring_bytes per CPU (0: the kernel's
 * default) in pages of page_bytes (a power of two; 0: the machine's). Kernels before 6.8, and those
 * without such pages available, use the machine's: see page_bytes of the instance. 0 or -TY_E....
 */
int ty_instance_create(struct ty_instance *inst, const char *root, const char *what,
		       const char *clock, uint64_t ring_bytes, uint32_t page_bytes,
		       struct ty_err *err);
/*
 * Writes text to a file of the instance, in one write. `append` keeps the content of a list file
 * (set_event_pid). 0 or -TY_E...; errno is preserved for callers that depend on it.
 */
int ty_instance_write(const struct ty_instance *inst, const char *file, const char *text,
		      bool append, struct ty_err *err);
/* The same for a file (enable, filter) of an event. */
int ty_instance_event(const struct ty_instance *inst, const char *system, const char *event,
		      const char *file, const char *text, struct ty_err *err);
bool ty_instance_has(const struct ty_instance *inst, const char *file);
/* Tracing on or off. */
int ty_instance_on(const struct ty_instance *inst, bool on, struct ty_err *err);
/* Closes and removes it; all other files of the instance must be closed. In any state, also when it
 * was never created. */
void ty_instance_remove(struct ty_instance *inst);
/*
 * The last entry of the instance's error_log in one line ("Field not found in 'foo == 1'"); false
 * when it is empty or missing.
 */
bool ty_instance_error(const struct ty_instance *inst, char *out, size_t size);

/* Removes the instances of dead recorders. Returns how many. */
unsigned ty_instance_sweep(const char *root);

/* "now ts" of the instance's clock in nanoseconds, with microsecond resolution; 0 when
 * unreadable. */
uint64_t ty_instance_now_ns(const struct ty_instance *inst);

struct ty_cpu_stats {
	uint64_t entries, overrun, commit_overrun, dropped, read;
};
/* Numbers of per_cpu/cpuN/stats, and its text when `text` is not NULL. 0 or -TY_E.... */
int ty_instance_stats(const struct ty_instance *inst, unsigned cpu, struct ty_cpu_stats *st,
		      struct ty_buf *text);

/* Start time of a process in clock ticks since boot (field 22 of stat); 0 when it does not exist or
 * is a zombie. */
uint64_t ty_proc_start_ticks(int pid);

/* True in a pid namespace, where process ids are not the kernel's own. Then a pid does not show
 * whether a recorder outside the namespace is alive. */
bool ty_proc_own_pids(void);

#endif
