/* SPDX-License-Identifier: MIT */
/*
 * See proc_maps.h. Build ids are read through /proc/PID/map_files, which is the mapped file itself
 * even after its path was removed or replaced.
 */
#include "proc_maps.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "build_id.h"

static void add_id(int pid, struct ty_stk_map *m)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid,
		 (unsigned long long)m->start, (unsigned long long)(m->start + m->bytes));
	m->build_id_n = (uint8_t)ty_file_build_id(path, m->build_id);
}

int ty_proc_maps(int pid, void (*each)(void *ctx, const struct ty_stk_map *m, const char *path),
		 void *ctx)
{
	char path[64], line[PATH_MAX + 128];
	FILE *f;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f)) {
		struct ty_stk_map m = {0};
		uint64_t lo, hi, off;
		char prot[8];
		int name = 0;

		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &lo, &hi,
			   prot, &off, &name) < 4 ||
		    !name || hi <= lo || prot[2] != 'x')
			continue;
		m.start = lo;
		m.bytes = hi - lo;
		m.off = off;
		if (line[name] == '/')
			add_id(pid, &m);
		each(ctx, &m, line[name] ? line + name : "//anon");
		n++;
	}
	fclose(f);
	return n;
}
