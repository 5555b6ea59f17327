/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a trace file: open it and read every chunk. Checksums would keep a fuzzer out of
 * what lies behind them, so where the last byte of the input is odd, the checksums of a spool's
 * chunks and of the footer's directory are made to fit first.
 */
#include "fuzz.h"
#include "trace.h"

static void read_all(const struct ty_trace *t)
{
	struct ty_chunk_scratch scratch;

	ty_chunk_scratch_init(&scratch);
	for (uint32_t s = 0; s < t->streams.n; s++)
		for (uint32_t k = 0; k < t->streams.v[s].chunks; k++) {
			struct ty_chunk c = ty_trace_chunk(t, s, k);
			struct ty_err err = {0};
			uint8_t *p = malloc(c.raw_bytes);
			int r = ty_trace_chunk_read(t, s, k, p, &scratch, &err);

			if (r && (!err.code || !err.msg[0]))
				abort();
			if (!r && c.missing)
				abort();
			free(p);
		}
	ty_chunk_scratch_fini(&scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ty_err err = {0};
	struct ty_trace *t;
	char path[64];
	uint8_t *p;

	p = malloc(size + 1);
	if (size)
		memcpy(p, data, size);
	if (size && data[size - 1] & 1)
		fuzz_repair(p, size);
	fuzz_file(p, size, path);
	free(p);
	if (!ty_trace_open(path, &t, &err)) {
		if (t->truncated && !t->note.s)
			abort();
		read_all(t);
		for (unsigned i = 0; i < 6; i++) {
			struct ty_text s = ty_trace_section(t, i);

			if (s.s && s.s[s.n])
				abort();
		}
		ty_trace_close(t);
	} else if (!err.code || !err.msg[0]) {
		abort();
	}
	return 0;
}
