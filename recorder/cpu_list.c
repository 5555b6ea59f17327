/* SPDX-License-Identifier: MIT */
/* See cpu_list.h. Format: Documentation/admin-guide/cputopology.rst. */
#include "cpu_list.h"
#include "first_line.h"

#include <stdlib.h>

unsigned ty_cpu_list(const char *path, unsigned *cpus, unsigned max)
{
	char text[4096], *p = text;
	unsigned n = 0;

	ty_first_line(text, sizeof(text), "%s", path);
	while (*p >= '0' && *p <= '9') {
		unsigned long a = strtoul(p, &p, 10), b = a;

		if (*p == '-')
			b = strtoul(p + 1, &p, 10);
		for (; a <= b && n < max && a < TY_CPUS_MAX; a++)
			cpus[n++] = (unsigned)a;
		if (*p == ',')
			p++;
	}
	return n;
}
