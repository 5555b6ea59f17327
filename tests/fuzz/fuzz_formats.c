/* SPDX-License-Identifier: MIT */
/*
 * Any text as an event's format, any bytes as its record: decoded, taken apart field by field, and
 * printed (which hands text and record to libtraceevent), with any list of printk formats and
 * kernel symbols. Input: the format text, the printk formats and the symbols, a NUL behind each,
 * then the record, whose first two bytes are set to the text's "ID:".
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format_text.h"
#include "formats.h"
#include "fuzz.h"
#include "trace.h"

/* libtraceevent leaks a few bytes on texts that it refuses. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent";
}

/* A copy of the text up to the next NUL, which is stepped over; NULL when there is none. */
static char *text(const uint8_t **data, size_t *size)
{
	const uint8_t *nul = *size ? memchr(*data, 0, *size) : NULL;
	char *s = nul ? strdup((const char *)*data) : NULL;

	if (s) {
		*size -= (size_t)(nul + 1 - *data);
		*data = nul + 1;
	}
	return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const systems[] = {"sched", "raw_syscalls", "ftrace", "irq"};
	const char *system = systems[size % 4];
	struct ty_trace t = {.path = "fuzz", .long_size = 8};
	struct ty_event_format one;
	struct ty_formats *f;
	struct ty_event ev = {0};
	struct ty_buf out;
	const char *name;
	char *format, *printk, *kallsyms;
	size_t name_n;
	uint8_t *rec;
	uint16_t id;

	if (size > 20000)
		return 0;
	format = text(&data, &size);
	printk = text(&data, &size);
	kallsyms = text(&data, &size);
	if (!format || ty_ft_head(format, &name, &name_n, &id))
		goto out;
	one = (struct ty_event_format){system, {format, strlen(format)}};
	t.formats.v = &one;
	t.formats.n = t.formats.cap = 1;
	if (printk)
		t.printk = (struct ty_text){printk, strlen(printk)};
	if (kallsyms)
		t.kallsyms = (struct ty_text){kallsyms, strlen(kallsyms)};
	if (ty_formats_new(&t, &f, NULL))
		goto out;
	ev.size = (uint32_t)size;
	rec = malloc(size ? size : 1);
	if (!rec)
		abort();
	memcpy(rec, data, size);
	if (size >= 2)
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
out:
	free(format);
	free(printk);
	free(kallsyms);
	return 0;
}
