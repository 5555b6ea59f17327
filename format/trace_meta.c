/* SPDX-License-Identifier: MIT */
/*
 * Metadata texts in the form common to trace.dat version 6 and 7 (trace-cmd.dat.v7(5), HEADER INFO
 * SECTION to SAVED COMMAND LINES SECTION), and the options they have in common.
 */
#include <stdlib.h>
#include <string.h>

#include "trace_file.h"

/* size (u64) and text. */
static int text64(struct ty_trace *t, struct ty_in *in, uint64_t limit, struct ty_text *out)
{
	uint64_t n = ty_in_uint(in, 8);

	return in->bad ? -TY_EFORMAT : ty_trace_keep(t, in, n, limit, out);
}

static bool expect(struct ty_in *in, const char *word, size_t n)
{
	char got[16];

	ty_in_get(in, got, n);
	return !in->bad && !memcmp(got, word, n);
}

int ty_trace_header_info(struct ty_trace *t, struct ty_in *in)
{
	int r;

	if (!expect(in, "header_page", 12))
		return -TY_EFORMAT;
	r = text64(t, in, TY_DAT_FORMAT_BYTES, &t->header_page);
	if (r)
		return r;
	if (!expect(in, "header_event", 13))
		return -TY_EFORMAT;
	return text64(t, in, TY_DAT_FORMAT_BYTES, &t->header_event);
}

static int add_format(struct ty_trace *t, struct ty_in *in, const char *system)
{
	struct ty_event_format f = {.system = system};
	int r = text64(t, in, TY_DAT_FORMAT_BYTES, &f.text);

	if (r)
		return r;
	if (t->formats.n >= TY_DAT_FORMATS_MAX)
		return -TY_EFORMAT;
	return vec_push(&t->formats, f);
}

int ty_trace_ftrace_formats(struct ty_trace *t, struct ty_in *in)
{
	uint64_t n = ty_in_uint(in, 4);
	int r = in->bad ? -TY_EFORMAT : 0;

	for (uint64_t i = 0; i < n && !r; i++)
		r = add_format(t, in, "ftrace");
	return r;
}

int ty_trace_event_formats(struct ty_trace *t, struct ty_in *in)
{
	uint64_t systems = ty_in_uint(in, 4), n;
	int r = in->bad ? -TY_EFORMAT : 0;

	for (uint64_t s = 0; s < systems && !r; s++) {
		struct ty_text name;

		r = ty_trace_keep_str(t, in, &name);
		n = ty_in_uint(in, 4);
		if (!r && in->bad)
			r = -TY_EFORMAT;
		for (uint64_t i = 0; i < n && !r; i++)
			r = add_format(t, in, name.s);
	}
	return r;
}

int ty_trace_sized_text(struct ty_trace *t, struct ty_in *in, unsigned width, struct ty_text *out)
{
	uint64_t n = ty_in_uint(in, width);

	if (in->bad)
		return -TY_EFORMAT;
	return n ? ty_trace_keep(t, in, n, TY_DAT_SECTION_BYTES, out) : 0;
}

/* A signed decimal or 0x number of a DATE or OFFSET option. */
static int text_number(struct ty_trace *t, struct ty_in *in, int64_t scale, int64_t *sum)
{
	char s[64] = "";
	uint64_t n = ty_in_left(in);
	int64_t v;

	(void)t;
	if (n >= sizeof(s))
		return -TY_EFORMAT;
	ty_in_get(in, s, (size_t)n);
	v = strtoll(s, NULL, 0);
	if (__builtin_mul_overflow(v, scale, &v) || __builtin_add_overflow(*sum, v, sum))
		return -TY_EFORMAT;
	return 0;
}

/* An option's text: all its bytes up to the first NUL. */
static int option_text(struct ty_trace *t, struct ty_in *in, struct ty_text *out)
{
	int r = ty_trace_keep(t, in, ty_in_left(in), TY_DAT_FORMAT_BYTES, out);

	if (!r)
		out->n = strlen(out->s);
	return r;
}

int ty_trace_option(struct ty_trace *t, unsigned id, struct ty_in *in, struct ty_err *err)
{
	struct ty_text text;
	uint64_t n;
	int r;

	switch (id) {
	case TY_DAT_DATE: return text_number(t, in, 1000, &t->ts_offset_ns); /* microseconds */
	case TY_DAT_OFFSET: return text_number(t, in, 1, &t->ts_offset_ns);
	case TY_DAT_CPUSTAT:
		r = option_text(t, in, &text);
		if (!r && t->cpustat.n >= TY_DAT_CPUS_MAX * TY_DAT_BUFFERS_MAX)
			return -TY_EFORMAT;
		return r ? r : vec_push(&t->cpustat, text);
	case TY_DAT_TRACECLOCK: return option_text(t, in, &t->trace_clock);
	case TY_DAT_UNAME: return option_text(t, in, &t->uname);
	case TY_DAT_VERSION: return option_text(t, in, &t->recorder_version);
	case TY_DAT_CPUCOUNT:
		n = ty_in_uint(in, 4);
		if (in->bad || n > TY_DAT_CPUS_MAX)
			return -TY_EFORMAT;
		t->cpu_count = (uint32_t)n;
		return 0;
	case TY_DAT_TSC2NSEC:
		return ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
			       "%s: its timestamps are raw TSC ticks, which tarry does not "
			       "support. Record with trace-cmd -C perf, mono or local",
			       t->path);
	}
	return 0;
}

void ty_trace_find_long_size(struct ty_trace *t)
{
	const char *p = t->header_page.s ? strstr(t->header_page.s, "commit;") : NULL;
	const char *end = p ? strchr(p, '\n') : NULL;

	p = p ? strstr(p, "size:") : NULL;
	if (p && (!end || p < end)) {
		long n = strtol(p + 5, NULL, 10);

		if (n == 4 || n == 8)
			t->long_size = (unsigned)n;
	}
}
