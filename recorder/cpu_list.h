/* SPDX-License-Identifier: MIT */
/* CPU lists in the kernel's notation. */
#ifndef TY_CPU_LIST_H
#define TY_CPU_LIST_H

/* More than any kernel supports: numbers from here on are ignored. */
enum { TY_CPUS_MAX = 4096 };

/* Parses "0-2,5" in a file like /sys/devices/system/cpu/online; returns the number of CPUs, 0 when
 * unreadable. */
unsigned ty_cpu_list(const char *path, unsigned *cpus, unsigned max);

#endif
