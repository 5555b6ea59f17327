/* SPDX-License-Identifier: MIT */
/* The report's section "objects": time, calls and bytes by file, pipe, socket, lock, device. */
#include <inttypes.h>
#include <stdlib.h>

#include "fields.h"
#include "put_text.h"
#include "report.h"
#include "units.h"

#define SHOWN 20

static const char *bytes(uint64_t v, char *buf, size_t n)
{
	snprintf(buf, n, "%s", v ? ty_byte_count(v) : "-");
	return buf;
}

static const char *received(const void *ctx, const void *record, char *buf, size_t n)
{
	return bytes(((const struct ty_object *)record)->received, buf, n);
}

static const char *sent(const void *ctx, const void *record, char *buf, size_t n)
{
	return bytes(((const struct ty_object *)record)->sent, buf, n);
}

static const char *name(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_object *o = record;

	if (!o->peer)
		return o->name;
	snprintf(buf, n, "%s %s", o->name, o->peer);
	return buf;
}

#define OF(member) offsetof(struct ty_object, member)
static const struct ty_field fields[] = {
	{TY_F_DURATION, "total_ns", "total", 8, .at = OF(total_ns)},
	{TY_F_DURATION, "max_ns", "longest", 8, .at = OF(max_ns)},
	{TY_F_U64, "calls", "calls", 7, .at = OF(calls)},
	{TY_F_TEXT, NULL, "received", 8, .text = received},
	{TY_F_TEXT, NULL, "sent", 8, .text = sent},
	{TY_F_STR, "kind", "kind", -7, .at = OF(kind)},
	{TY_F_TEXT, NULL, "object", 0, .text = name},
	{TY_F_STR, "name", NULL, 0, .at = OF(name)},
	{TY_F_STR, "peer", NULL, 0, .at = OF(peer), .optional = true},
	{TY_F_U64, "failed", NULL, 0, .at = OF(failed)},
	{TY_F_U64, "received_bytes", NULL, 0, .at = OF(received)},
	{TY_F_U64, "sent_bytes", NULL, 0, .at = OF(sent)},
	{TY_F_I32, "pid", NULL, 0, .at = OF(pid)},
	{TY_F_BOOL, "several_processes", NULL, 0, .at = OF(several)},
	{.type = TY_F_END}};

void ty_objects_text(const struct ty_report *r, FILE *f)
{
	const struct ty_object_totals *o = &r->objects;
	const struct ty_field_ctx c = {0};

	putc('\n', f);
	ty_put_heading(f, "objects", "system calls by the file, pipe, socket or lock they act on");
	if (!o->n)
		fputs("none: no system call in this window acts on an object\n", f);
	else
		ty_fields_head(fields, &c, f);
	for (size_t i = 0; i < o->n && i < SHOWN; i++)
		ty_fields_text(fields, &c, &o->v[i], f);
	if (o->n > SHOWN)
		fprintf(f, "and %s more objects (--json has all)\n", ty_count(o->n - SHOWN));
	if (o->left_out)
		fprintf(f, "%" PRIu64 " calls (%s) on further objects are not shown\n", o->left_out,
			ty_duration(o->left_out_ns));
}

void ty_objects_json(const struct ty_report *r, struct ty_json *j)
{
	const struct ty_object_totals *o = &r->objects;
	const struct ty_field_ctx c = {0};

	ty_json_object(j, "objects");
	ty_json_u64(j, "left_out", o->left_out);
	ty_json_u64(j, "left_out_ns", o->left_out_ns);
	ty_fields_array(fields, &c, "list", o->v, o->n, sizeof(*o->v), j);
	ty_json_end_object(j);
}
