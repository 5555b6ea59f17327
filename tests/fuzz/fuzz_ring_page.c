/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a ring page of any machine, and its records decoded by the formats of a real kernel:
 * no read outside the page, an end after at most one record per word, times and sizes as promised.
 * Input: one byte of choices, then the page.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats.h"
#include "ring_page.h"
#include "trace.h"

#define COMMON                                                                                     \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static struct ty_event_format texts[] = {
	{"raw_syscalls",
	 {"name: sys_enter\nID: 1\n" COMMON "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
	  "\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n",
	  0}},
	{"sched",
	 {"name: sched_process_fork\nID: 2\n" COMMON
	  "\tfield:__data_loc char[] parent_comm;\toffset:8;\tsize:4;\tsigned:0;\n"
	  "\tfield:pid_t parent_pid;\toffset:12;\tsize:4;\tsigned:1;\n"
	  "\tfield:__data_loc char[] child_comm;\toffset:16;\tsize:4;\tsigned:0;\n"
	  "\tfield:pid_t child_pid;\toffset:20;\tsize:4;\tsigned:1;\n",
	  0}},
	{"ftrace",
	 {"name: print\nID: 3\n" COMMON "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n",
	  0}},
	{"irq",
	 {"name: irq_handler_entry\nID: 4\n" COMMON
	  "\tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n"
	  "\tfield:__rel_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n"
	  "\tfield:__data_loc u64[] more;\toffset:16;\tsize:4;\tsigned:0;\n",
	  0}},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ty_formats *formats[2];
	static struct ty_trace trace[2];
	struct ty_ring_layout layout;
	struct ty_ring_page it;
	struct ty_ring_record rec;
	uint32_t k = 0, n;
	uint8_t *page;
	bool be;

	if (size < 1 || size > 70000)
		return 0;
	be = data[0] & 1;
	if (!formats[be]) {
		trace[be] = (struct ty_trace){.path = "fuzz",
					      .big_endian = be,
					      .long_size = 8,
					      .formats.v = texts,
					      .formats.n = sizeof(texts) / sizeof(*texts),
					      .formats.cap = sizeof(texts) / sizeof(*texts)};
		if (ty_formats_new(&trace[be], &formats[be], NULL))
			return 0;
	}
	n = (uint32_t)size - 1;
	page = malloc(n ? n : 1); /* its own block, so that ASan sees a step too far */
	if (!page || ty_ring_layout_init(&layout, NULL, data[0] & 2 ? 4 : 8, be))
		abort();
	memcpy(page, data + 1, n);
	if (!ty_ring_page_init(&it, &layout, page, n))
		while (ty_ring_page_next(&it, &rec) > 0) {
			struct ty_event ev = {.data = rec.data, .size = rec.size};
			struct ty_field_value v;

			if (rec.data < page || rec.data + rec.size > page + n || rec.off % 4 ||
			    ++k > n / 4)
				abort();
			ty_formats_decode(formats[be], &ev);
			if (ev.kind == TY_EV_PRINT && strlen(ev.u.print.text) > rec.size)
				abort();
			for (unsigned i = 0; i < ty_formats_nfields(formats[be], ev.id); i++)
				if (!ty_formats_field(formats[be], &ev, i, &v) &&
				    v.type == TY_FIELD_ARRAY && v.n)
					ty_formats_element(&v, v.n - 1);
		}
	free(page);
	return 0;
}
