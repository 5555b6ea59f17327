/* SPDX-License-Identifier: MIT */
/* The names of this machine's block devices, and what is mounted from them: events hold numbers
 * only, and another machine gives them to other devices. */
#ifndef TY_DISK_NAMES_H
#define TY_DISK_NAMES_H

#include "buf.h"

/*
 * Appends "disk=MAJOR MINOR NAME MOUNTS" lines (section.h, TY_SEC_MACHINE), one per block device of
 * a size other than 0, DISKS_MAX at most. MOUNTS holds the mount points of the device, and those of
 * its partitions and of the mapped devices on it, as seen by this process: separated by ", ",
 * MOUNTS_MAX at most. What cannot be read is left out. root: prefix of /proc and /sys, "" but in
 * tests.
 */
void ty_disk_names(struct ty_buf *out, const char *root);

#endif
