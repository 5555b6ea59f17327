/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as an index file whose checksums are right: refused, or every question to the model is
 * answered. Input: where tables and arrays lie (struct ty_index_body), then the file behind its
 * head. Short inputs are edits of a good index: 8 bytes each, offset, value.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "build.h"
#include "model_priv.h"
#include "model_walk.h"

/* A small good one. */
static struct ty_model *sample(void)
{
	struct ty_build_facts facts = {.machine = "tarry=0.1\nmode=all\n", .arch = "x86_64"};
	struct ty_builder *b = ty_builder_new(&facts);
	struct ty_model *m;
	uint64_t t = 1000;

	if (!b)
		abort();
	for (unsigned i = 0; i < 6000; i++) {
		static const uint8_t kinds[] = {TY_EV_SYS_ENTER, TY_EV_IRQ_ENTRY, TY_EV_IRQ_EXIT,
						TY_EV_SYS_EXIT,	 TY_EV_WAKING,	  TY_EV_SWITCH};
		struct ty_event ev = {.ts_ns = t += 100 + i % 77,
				      .tid = 3 + (int32_t)(i / 6 % 2),
				      .kind = kinds[i % 6],
				      .id = 1 + i % 6,
				      .loc = i};

		if (ev.kind == TY_EV_IRQ_ENTRY)
			ev.u.irq.name = "eth0";
		if (ev.kind == TY_EV_SYS_ENTER || ev.kind == TY_EV_SYS_EXIT)
			ev.u.enter.nr = i % 5;
		if (ev.kind == TY_EV_WAKING)
			ev.u.wake.tid = 7 - ev.tid;
		if (ev.kind == TY_EV_SWITCH) {
			ev.u.sw.prev_tid = ev.tid;
			ev.u.sw.next_tid = 7 - ev.tid;
			ev.u.sw.prev_state = 1;
		}
		if (ty_builder_feed(b, &ev, NULL))
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
	static struct ty_model *good;
	struct ty_model *m = calloc(1, sizeof(*m));
	int fd = memfd_create("index", MFD_CLOEXEC);
	uint64_t bytes;

	if (!good)
		good = sample();
	if (!m || fd < 0)
		abort();
	if (size < sizeof(m->body) + 1024) {
		bytes = good->store->used;
		m->body = good->body;
		if (pwrite(fd, good->store->base, bytes, 0) != (ssize_t)bytes)
			abort();
		for (; size >= 8; data += 8, size -= 8) {
			uint32_t at;

			memcpy(&at, data, 4);
			if (data[4] & 128) {
				at %= sizeof(m->body) - 3;
				memcpy((uint8_t *)&m->body + at, data + 5, 3);
			} else if (pwrite(fd, data + 5, 3, at % (bytes - 3)) != 3) {
				abort();
			}
		}
	} else {
		memcpy(&m->body, data, sizeof(m->body));
		data += sizeof(m->body);
		size -= sizeof(m->body);
		bytes = TY_STORE_HEAD + size;
		if (pwrite(fd, data, size, TY_STORE_HEAD) != (ssize_t)size)
			abort();
	}
	m->store = ty_store_map(fd, bytes);
	if (m->store && !ty_model_attach(m, false))
		walk_model(m);
	ty_model_free(m);
	close(fd);
	return 0;
}
