/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as Intel PT, any bytes as the code they ran, any bytes as perf records, and calls from
 * what comes out. Input: u8 tells where the packets end (in 256ths), the rest is code; both halves
 * are also read as records and as an ELF file. A PSB+ is put before the packets, so that they are
 * reached.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "flow_calls.h"
#include "flow_perf.h"
#include "symbols.h"

enum { ITEMS_MAX = 200000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t head[] = {2,    0x82, 2,	 0x82, 2,    0x82, 2,	 0x82, 2,
				       0x82, 2,	   0x82, 2,    0x82, 2,	   0x82, 0x99, 1,
				       0x7d, 0,	   0,	 0x40, 0x00, 0,	   0x00, 2,    0x23};
	size_t cut = size ? (size - 1) * data[0] / 256 : 0, items = 0;
	struct ty_flow *f;
	struct ty_flow_perf *p;
	struct ty_flow_names *names;
	struct ty_flow_calls *calls;
	struct ty_symbols *s;
	struct ty_symbol sym;
	struct ty_code *c;
	struct ty_flow_window w = {.from_ns = size / 2, .to_ns = UINT64_MAX};
	struct ty_flow_at at;

	if (size < 2 || size > 65536)
		return 0;
	data++;
	size--;
	f = ty_flow_new(NULL, NULL);
	c = ty_flow_code(f);
	p = ty_flow_perf_new(f);
	ty_flow_thread(f, 1, 1);
	ty_code_map(c, 1, 0, 0x400000, size - cut, 0,
		    ty_code_blob(c, "code", data + cut, size - cut));
	ty_code_map_elf(c, TY_CODE_EVERYBODY, 0, 0, 0, NULL);
	ty_flow_perf_file(p, data, cut, 0x10086, -1);
	ty_flow_perf_finish(p);
	ty_flow_add(f, -1, 1, 0, head, sizeof(head), 0);
	ty_flow_add(f, -1, 1, 0, data, cut, sizeof(head));
	names = ty_flow_names_new(c);
	calls = ty_flow_calls_new(names, NULL, NULL, NULL);
	if (!ty_flow_start(f, NULL))
		while (items++ < ITEMS_MAX && ty_flow_next(f, &at) > 0)
			ty_flow_calls_feed(calls, &at);
	ty_flow_calls_finish(calls);
	/* And as branches of a window. */
	items = 0;
	if (ty_flow_streams(f) && !ty_flow_seek(f, &w, true, NULL))
		while (items++ < ITEMS_MAX && ty_flow_next(f, &at) > 0)
			;
	s = ty_symbols_new(data + cut, size - cut);
	ty_symbols_find(s, 0x10, &sym);
	ty_symbols_free(s);
	ty_flow_calls_free(calls);
	ty_flow_names_free(names);
	ty_flow_perf_free(p);
	ty_flow_free(f);
	return 0;
}
