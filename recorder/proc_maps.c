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

static void add_id(uint32_t pid, struct ty_stk_map *m)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", pid,
		 (unsigned long long)m->start, (unsigned long long)(m->start + m->bytes));
	m->build_id_n = (uint8_t)ty_file_build_id(path, m->build_id);
}

/* A whole one, or none from here on. */
static void add(struct ty_reading *r, const struct ty_stk_map *map, const char *path)
{
	r->full = r->full || ty_buf_reserve(&r->bytes, sizeof(*map) + strlen(path) + 1);
	if (r->full)
		return;
	ty_buf_add(&r->bytes, map, sizeof(*map));
	ty_buf_add(&r->bytes, path, strlen(path) + 1);
}

void ty_proc_maps_read(void *unused, struct ty_reading *r)
{
	char path[96], line[PATH_MAX + 128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/maps", r->pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
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
			add_id(r->pid, &m);
		add(r, &m, line[name] ? line + name : "//anon");
	}
	if (f)
		fclose(f);
}
