/* SPDX-License-Identifier: MIT */
/* CPU lists in the kernel's notation. */
#ifndef TY_CPU_RANGES_H
#define TY_CPU_RANGES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* True when the CPU is in a list such as "0-3,7". NULL is an empty list. */
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
