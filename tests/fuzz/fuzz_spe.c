/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as an Arm SPE stream, given in pieces as a ring's reader would: every byte is in a
 * record, a gap or padding, nothing is read outside, and shared lines are found in what there is.
 * Input: two bytes of choices, then the stream, whose first record may be made as long as a record
 * can be by padding behind its first packet.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mem_points.h"
#include "sharing.h"
#include "spe_packet.h"
#include "spe_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t midrs[] = {0, 0x410fd0c0, 0xc00fac40, 0x480fd060};
	struct ty_spe_decoder d = {0};
	struct ty_mem_points points = {0};
	struct ty_sharing sharing;
	struct ty_mem m;
	size_t pos = 0, have, step, n, first, pad;
	struct ty_buf text;
	uint8_t *stream;

	if (size < 2)
		return 0;
	d.midr = midrs[data[0] & 3];
	step = (size_t)(data[1] + 1) * 16;
	pad = (size_t)(data[0] >> 2) * 66; /* up to 4158 */
	first = size - 2 < 5 ? size - 2 : 5;
	n = size - 2 + pad;
	stream = calloc(1, n + 1);
	if (!stream)
		abort();
	memcpy(stream, data + 2, first);
	memcpy(stream + first + pad, data + 2 + first, size - 2 - first);
	if (ty_mem_points_begin(&points, NULL, 0))
		abort();
	ty_buf_init(&text, 1 << 16);
	for (have = step < n ? step : n;;) {
		size_t used;
		/* Its own block, so that ASan sees a step too far. */
		uint8_t *p = malloc(have - pos ? have - pos : 1);
		int r;

		if (!p)
			abort();
		memcpy(p, stream + pos, have - pos);
		d.last = have == n;
		r = ty_spe_next(&d, p, have - pos, &used, &m);
		free(p);
		pos += used;
		if (pos > have || d.off != pos)
			abort();
		if (r) {
			if (!used)
				abort();
			if (m.kind != TY_MEM_GAP) {
				m.who = m.tid >= 0 ? TY_MEM_THREAD_CONTEXT : TY_MEM_THREAD_UNKNOWN;
				m.tid &= 3;
				ty_buf_reset(&text);
				ty_mem_op_text(&m, &text);
			}
			if (ty_mem_points_add(&points, &m, "", true))
				abort();
			continue;
		}
		if (have == n)
			break;
		have = n - have > step ? have + step : n;
	}
	if (pos != n || ty_mem_points_end(&points) || ty_sharing_find(&points, 64, NULL, &sharing))
		abort();
	ty_sharing_fini(&sharing);
	ty_mem_points_fini(&points);
	ty_buf_fini(&text);
	free(stream);
	return 0;
}
