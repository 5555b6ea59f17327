/* SPDX-License-Identifier: MIT */
/* Any bytes as a log file beside a small recording: nothing is read outside, what is kept lies in
 * the recording, by time. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "log_file.h"

/* 100 s to 200 s of trace time, from 2024-05-06 12:53:20 UTC; its clock is set back once. */
static struct ty_model *recording(void)
{
	static const char *const marks[] = {
		"tarry_clock realtime_ns=1715000000000000000 monotonic_ns=50000000000 "
		"boottime_ns=2 tsc=3",
		"tarry_clock realtime_ns=1715000050000000000 monotonic_ns=100000000000 "
		"boottime_ns=2 tsc=3",
		"tarry_clock realtime_ns=1715000010000000000 monotonic_ns=150000000000 "
		"boottime_ns=2 tsc=3"};
	struct ty_build_facts facts = {.long_size = 8, .arch = "x86_64"};
	struct ty_builder *b = ty_builder_new(&facts);
	struct ty_model *m = NULL;

	for (unsigned i = 0; i < 3; i++) {
		struct ty_event ev = {.ts_ns = (100 + 50 * i) * UINT64_C(1000000000),
				      .kind = TY_EV_PRINT,
				      .tid = 5};

		ev.u.print.text = marks[i];
		if (!b || ty_builder_feed(b, &ev, NULL))
			abort();
	}
	if (ty_builder_finish(b, &m, NULL))
		abort();
	ty_builder_free(b);
	return m;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ty_model *m;
	struct ty_log l = {0};
	/* Its own block, so that ASan sees a step too far. */
	char *p = malloc(size ? size : 1);

	m = m ? m : recording();
	if (!p)
		abort();
	if (size)
		memcpy(p, data, size);
	/* Each line by itself, for steps behind its end; then all. */
	for (size_t at = 0; at < size;) {
		const char *end = memchr(p + at, '\n', size - at);
		size_t n = end ? (size_t)(end - p) - at : size - at;
		char *line = malloc(n ? n : 1);
		struct ty_log_stamp s;

		if (!line)
			abort();
		memcpy(line, p + at, n);
		if (ty_log_stamp(line, n, UINT64_C(1715000000000000000), &s) &&
		    (s.clock == TY_LOG_NONE || s.format >= TY_LOG_FORMATS))
			abort();
		free(line);
		at += n + 1;
	}
	if (ty_log_add(&l, m, p, size, 0))
		abort();
	ty_log_sort(&l);
	for (size_t i = 0; i < l.line.n; i++)
		if (l.line.v[i].ts_ns < ty_model_summary(m)->start_ns ||
		    l.line.v[i].ts_ns > ty_model_summary(m)->end_ns ||
		    ty_log_after(&l, l.line.v[i].ts_ns) > i)
			abort();
	ty_log_fini(&l);
	free(p);
	return 0;
}
