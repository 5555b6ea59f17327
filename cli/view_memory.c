/* SPDX-License-Identifier: MIT */
#include "view_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plain_text.h"

static void address_name(void *ctx, int32_t pid, uint64_t addr, uint64_t ts_ns, char *buf, size_t n)
{
	struct ty_view_memory *v = ctx;
	struct ty_mem_name_of of;

	ty_mem_name(v->names, pid, addr, ts_ns, &of);
	if (of.symbol)
		snprintf(buf, n, "%s+0x%" PRIx64 "%s", of.symbol, of.offset,
			 of.assumed ? " (assumed)" : "");
	else
		snprintf(buf, n, "%s%s", of.mapping ? of.mapping : "",
			 of.mapping && of.assumed ? " (assumed)" : "");
	ty_plain(buf, strlen(buf));
}

static bool own_code(void *ctx, const struct ty_mem_code *c, const struct ty_mem_thread *t,
		     uint64_t ts_ns, struct ty_mem_code *out)
{
	const struct ty_view_memory *v = ctx;

	return ty_mem_names_own_code(v->names, c, t, ts_ns, out);
}

static const uint8_t *widths(void *ctx, const atomic_bool *stop)
{
	const struct ty_view_memory *v = ctx;

	return ty_mem_access_widths(v->names, v->points, stop);
}

/* v->s is open. */
static int read_points(struct ty_view_memory *v, const struct ty_select *sel, struct ty_err *err)
{
	int r;

	r = ty_mem_session_names(&v->s, &v->files, &v->names, err);
	r = r ? r : ty_mem_session_points(&v->s, sel, &v->points, err);
	v->in = (struct ty_memory_input){
		.points = v->points,
		.path = v->s.path,
		.note = v->s.perf ? v->s.perf->note : NULL,
		.line_bytes = ty_mem_facts(v->s.stream)->line_bytes,
		.start_ns = v->start_ns,
		.end_ns = v->end_ns,
		.name = address_name,
		.own_code = own_code,
		.widths = widths,
		.ctx = v,
		.work_bytes = ty_mem_session_work_bytes(sel),
		.aside = v->aside,
	};
	return r;
}

int ty_view_memory_open(struct ty_view_memory *v, const char *path, const struct ty_select *sel,
			struct ty_err *err)
{
	int r = ty_mem_session_open(&v->s, path, &v->files, err);

	v->s.show_progress = true;
	return r ? r : read_points(v, sel, err);
}

int ty_view_memory_load(struct ty_view_memory *v, const atomic_bool *stop,
			const struct ty_memory_input **out, struct ty_err *err)
{
	const struct ty_select all = {.memory_bytes = v->memory_bytes, .no_index = v->no_index};
	int r = ty_mem_session_of_trace(&v->s, v->trace, stop, err);

	*out = &v->in;
	return r ? r : read_points(v, &all, err);
}

int ty_view_memory_check(const struct ty_view_memory *v, struct ty_err *err)
{
	return v->s.path ? ty_mem_session_check(&v->s, err) : 0;
}

void ty_view_memory_fini(struct ty_view_memory *v)
{
	if (v->names)
		ty_mem_names_note(v->names);
	ty_mem_names_free(v->names);
	if (v->s.path)
		ty_mem_session_fini(&v->s);
}
