/* SPDX-License-Identifier: MIT */
/*
 * Any text as an event's format, any bytes as its record: decoded, taken apart field by field, and
 * printed (which hands text and record to libtraceevent). Input: the format text, a NUL, the
 * record. The text's "ID:" is found by the record's first two bytes being set to it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format_text.h"
#include "formats.h"
#include "trace.h"

/* libtraceevent leaks a few bytes on texts that it refuses. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const systems[] = {"sched", "raw_syscalls", "ftrace", "irq"};
	const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
	struct ty_trace t = {.path = "fuzz", .long_size = 8};
	struct ty_event_format one;
	struct ty_formats *f;
	struct ty_event ev = {0};
	struct ty_buf out;
	const char *name;
	size_t name_n;
	uint8_t *rec;
	uint16_t id;

	if (!nul || size > 20000)
		return 0;
	one = (struct ty_event_format){systems[size % 4],
				       {(const char *)data, (size_t)(nul - data)}};
	if (ty_ft_head(one.text.s, &name, &name_n, &id))
		return 0;
	t.formats.v = &one;
	t.formats.n = t.formats.cap = 1;
	if (ty_formats_new(&t, &f, NULL))
		return 0;
	ev.size = (uint32_t)(size - (size_t)(nul - data) - 1);
	rec = malloc(ev.size ? ev.size : 1);
	if (!rec)
		abort();
	memcpy(rec, nul + 1, ev.size);
	if (ev.size >= 2)
		memcpy(rec, &id, 2);
	ev.data = rec;
	ty_formats_decode(f, &ev);
	for (unsigned i = 0; i < ty_formats_nfields(f, ev.id); i++) {
		struct ty_field_value v;

		if (!ty_formats_field(f, &ev, i, &v) && v.type == TY_FIELD_ARRAY && v.n)
			ty_formats_element(&v, v.n - 1);
	}
	ty_buf_init(&out, 64 << 20);
	ty_formats_print(f, &ev, &out);
	ty_buf_fini(&out);
	free(rec);
	ty_formats_free(f);
	return 0;
}
