/* SPDX-License-Identifier: MIT */
/* Lists of CPUs as the kernel writes them. */
#ifndef TY_CPU_LIST_H
#define TY_CPU_LIST_H

/* More than any kernel has: numbers from here on are ignored. */
enum { TY_CPUS_MAX = 4096 };

/* "0-2,5" of a file like /sys/devices/system/cpu/online to a list; how many, 0 when unreadable. */
unsigned ty_cpu_list(const char *path, unsigned *cpus, unsigned max);

#endif
