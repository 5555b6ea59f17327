/* SPDX-License-Identifier: MIT */
/*
 * A good index file whose checksums are right and some of whose numbers are not: refused, or every
 * question to the model is answered. Input: which of the two indices (most are the small one: a
 * question to each row of the other costs 10 ms), then edits of 8 bytes: where (u32; the highest
 * bit: in struct ty_index_body), how many bytes (1 to 3), and they.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "build.h"
#include "fuzz.h"
#include "model_priv.h"
#include "model_walk.h"

static struct ty_model *sample(unsigned events)
{
	struct ty_build_facts facts = {.machine = "tarry=0.1\nmode=all\n", .arch = "x86_64"};
	struct ty_builder *b = ty_builder_new(&facts);
	struct ty_model *m;
	uint64_t t = 1000;

	if (!b)
		abort();
	for (unsigned i = 0; i < events; i++) {
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

enum { EDIT = 8, EDITS = 64, SMALL = 150, LARGE = 4000 };

struct edit {
	uint32_t at;
	uint8_t n, v[3];
};
_Static_assert(sizeof(struct edit) == EDIT, "an edit");

/* Edits are drawn anew, doubled and dropped; what they write is mostly at a limit. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	static const uint8_t limits[] = {0, 1, 2, 0x7f, 0x80, 0xfe, 0xff};
	unsigned state = seed, n = size ? (unsigned)((size - 1) / EDIT) : 0, k;
	struct edit e;

	if (max < 1 + EDIT)
		return size;
	data[0] = rand_r(&state) % 64 ? 0 : 1;
	if (n && rand_r(&state) % 4 == 0) {
		k = (unsigned)rand_r(&state) % n;
		memmove(data + 1 + k * EDIT, data + 1 + (k + 1) * EDIT, (n - k - 1) * EDIT);
		n--;
	}
	if (n >= EDITS || 1 + (n + 1) * EDIT > max)
		return 1 + n * EDIT;
	k = n ? (unsigned)rand_r(&state) % (n + 1) : 0;
	if (k < n && rand_r(&state) % 2) { /* beside another one */
		memcpy(&e, data + 1 + k * EDIT, EDIT);
		e.at += (uint32_t)(rand_r(&state) % 33) - 16;
	} else {
		e.at = (uint32_t)rand_r(&state) << 16 ^ (uint32_t)rand_r(&state);
	}
	e.n = (uint8_t)(rand_r(&state) % 3);
	for (unsigned i = 0; i < 3; i++)
		e.v[i] = rand_r(&state) % 2 ? limits[rand_r(&state) % sizeof(limits)]
					    : (uint8_t)rand_r(&state);
	memcpy(data + 1 + n * EDIT, &e, EDIT);
	return 1 + (n + 1) * EDIT;
}

/* What is edited lies in a file that stays; afterwards it is as before. */
struct file {
	struct ty_model *good;
	int fd;
};

static void put(int fd, const void *p, size_t n, uint64_t at)
{
	if (pwrite(fd, p, n, (off_t)at) != (ssize_t)n)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct file files[2];
	struct file *f = &files[size && data[0]];
	struct ty_model *m = calloc(1, sizeof(*m));
	unsigned n = size ? (unsigned)((size - 1) / EDIT) : 0;
	struct edit e;
	uint64_t bytes;

	if (!f->good) {
		f->good = sample(f == files ? SMALL : LARGE);
		f->fd = memfd_create("index", MFD_CLOEXEC);
		put(f->fd, f->good->store->base, f->good->store->used, 0);
	}
	if (!m)
		abort();
	bytes = f->good->store->used;
	m->body = f->good->body;
	n = n < EDITS ? n : EDITS;
	for (unsigned i = 0; i < n; i++) {
		memcpy(&e, data + 1 + i * EDIT, EDIT);
		if (e.at >> 31)
			memcpy((uint8_t *)&m->body + e.at % (sizeof(m->body) - 3), e.v,
			       1 + e.n % 3);
		else
			put(f->fd, e.v, 1 + e.n % 3, e.at % (bytes - 3));
	}
	m->store = ty_store_map(f->fd, bytes);
	if (m->store && !ty_model_load(m, false))
		walk_model(m);
	ty_model_free(m);
	for (unsigned i = 0; i < n; i++) {
		memcpy(&e, data + 1 + i * EDIT, EDIT);
		if (!(e.at >> 31))
			put(f->fd, (uint8_t *)f->good->store->base + e.at % (bytes - 3), 3,
			    e.at % (bytes - 3));
	}
	return 0;
}
