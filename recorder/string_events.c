/* SPDX-License-Identifier: MIT */
/* See string_events.h. Source: kernel/trace/trace_syscalls.c, Documentation/trace/ftrace.rst
 * (syscall_user_buf_size). */
#include "string_events.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call_data_table.h"

#define TEXT_MAX  65536
#define BYTES_MAX "165" /* of the kernel; it takes less for more */

/* A field of that type whose name is __ARG_val. */
static bool has_strings(const char *format)
{
	static const char field[] = "field:__data_loc char[] __";

	for (const char *p = format; (p = strstr(p, field)); p += sizeof(field) - 1) {
		const char *end = strchr(p, ';');

		if (end && !strncmp(end - 4, "_val", 4))
			return true;
	}
	return false;
}

int ty_string_events_add(struct ty_event_set *set, const char *root, struct ty_buf *names)
{
	int dir = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	struct ty_err err;
	struct ty_buf b;
	char path[128];

	ty_buf_init(&b, TEXT_MAX);
	for (unsigned i = 0; dir >= 0 && i < ty_call_data_table_n && !r; i++) {
		const struct ty_call_data_call *c = &ty_call_data_table[i];

		snprintf(path, sizeof(path), "events/syscalls/sys_enter_%s/format", c->name);
		ty_buf_reset(&b);
		if (!c->what.strings || ty_tracefs_read(dir, path, &b, &err) || !has_strings(b.p))
			continue;
		r = ty_buf_addf(names, "%s%s", names->len ? "," : "", c->name);
		snprintf(path, sizeof(path), "sys_enter_%s", c->name);
		if (!r && set)
			r = ty_event_set_add(set, "syscalls", path, false);
	}
	if (dir >= 0)
		close(dir);
	ty_buf_fini(&b);
	return r;
}

unsigned ty_string_events_bytes(const struct ty_instance *inst)
{
	static const char file[] = "syscall_user_buf_size";
	struct ty_err err;
	unsigned long n = 0;
	struct ty_buf b;

	ty_buf_init(&b, TEXT_MAX);
	(void)ty_instance_write(inst, file, BYTES_MAX, false, &err);
	if (!ty_tracefs_read(inst->dir, file, &b, &err) && b.p)
		n = strtoul(b.p, NULL, 10);
	ty_buf_fini(&b);
	return n <= 4096 ? (unsigned)n : 0;
}
