/* SPDX-License-Identifier: MIT */
/* Lists of CPUs as the kernel writes them. */
#ifndef TY_CPU_RANGES_H
#define TY_CPU_RANGES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Is the CPU in a list like "0-3,7"? NULL: an empty one. */
static inline bool ty_cpu_ranges_have(const char *list, uint32_t cpu)
{
	while (list && *list) {
		char *end;
		unsigned long a = strtoul(list, &end, 10), b = a;

		if (end == list)
			return false;
		if (*end == '-')
			b = strtoul(end + 1, &end, 10);
		if (cpu >= a && cpu <= b)
			return true;
		list = *end == ',' ? end + 1 : end + strlen(end);
	}
	return false;
}

#endif
