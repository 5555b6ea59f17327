/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a recording of Intel PT: packets of several streams, of CPUs and threads, in pieces
 * that go on, leave holes or overlap; any bytes as perf records, as images of code at any time, as
 * ELF files with symbols and core dumps; and what comes out as instructions, branches of a window,
 * and calls; the fast decoder and libipt agree on one stream. Input: parts of u8 kind, u16
 * bytes, bytes. A stream begins with a PSB+, so that its packets are reached, when the part says
 * so. Each input is decoded once as instructions and once more in one of four other ways, which
 * its checksum chooses: some bytes of packets stand for thousands of instructions. 400 to 570
 * executions per CPU second (88 when each input was decoded in all ways): of the rest a third goes
 * to callbacks of the fuzzer at comparisons in the decoder, a tenth to page faults.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow_calls.h"
#include "flow_perf.h"
#include "flow_priv.h"
#include "symbols.h"
#include "fuzz.h"

enum {
	ITEMS_MAX = 400,
	COMPARE_MAX = 400,
	GAPS_MAX = 12, /* before each may be a loop of 100,000 instructions */
	BYTES_MAX = 65536,
	STREAMS = 4,
	PAGE = 4096,
	PAGES_MAX = 64
};
enum kind { PACKETS, HOLE, BACK, SIDEBAND, CODE, IMAGE, ELF, LOSS, KINDS };
#define BASE 0x400000ull

struct streams {
	uint64_t off[STREAMS];
};

struct input {
	struct ty_flow *f;
	struct ty_flow_perf *p;
	struct streams s;
	uint8_t *pages[PAGES_MAX];
	unsigned pages_n;
	uint64_t t_ns;
};

static const uint8_t psb[] = {2,    0x82, 2,	0x82, 2,    0x82, 2,	0x82, 2,
			      0x82, 2,	  0x82, 2,    0x82, 2,	  0x82, 0x99, 1,
			      0x7d, 0,	  0,	0x40, 0x00, 0,	  0x00, 2,    0x23};

/* Two of CPUs, two of threads. */
static void packets(struct input *in, unsigned which, const uint8_t *p, size_t n, uint64_t off)
{
	int32_t cpu = which < 2 ? (int32_t)which : -1, tid = which < 2 ? -1 : (int32_t)which;

	ty_flow_add(in->f, cpu, tid, which, p, n, off);
	in->s.off[which] = off + n;
}

static void image(struct input *in, const uint8_t *p, size_t n)
{
	uint8_t *page = in->pages_n < PAGES_MAX ? calloc(1, PAGE) : NULL;

	if (!page)
		return;
	memcpy(page, p, n < PAGE ? n : PAGE);
	in->pages[in->pages_n++] = page;
	ty_code_image(ty_flow_code(in->f), 1 + (n & 3), in->t_ns, BASE + (n >> 2 & 1) * PAGE, page,
		      PAGE);
}

static void symbols(const uint8_t *p, size_t n)
{
	struct ty_symbols *s = ty_symbols_new(p, n);
	struct ty_symbol sym;
	uint32_t crc;

	ty_symbols_link(s, &crc);
	ty_symbols_debug(s, p, n);
	ty_symbols_find(s, 0x10, &sym);
	ty_symbols_free(s);
}

static void take(struct input *in, uint8_t op, const uint8_t *p, size_t n)
{
	struct ty_code *c = ty_flow_code(in->f);
	unsigned which = op >> 3 & 3;
	uint64_t off = in->s.off[which];
	struct ty_err err = {0};

	in->t_ns += 100;
	switch ((enum kind)(op % KINDS)) {
	case PACKETS:
		if (op & 0x20)
			packets(in, which, psb, sizeof(psb), off);
		packets(in, which, p, n, in->s.off[which]);
		break;
	case HOLE: packets(in, which, p, n, off + 64); break;
	case BACK: packets(in, which, p, n, off > n / 2 ? off - n / 2 : 0); break;
	case SIDEBAND:
		ty_flow_perf_file(in->p, p, n, op & 0x40 ? 0x10086 : 0x86, op & 0x20 ? 0 : -1);
		break;
	case CODE:
		ty_code_map(c, (int32_t)which, in->t_ns, BASE + (op >> 5) * PAGE, n, 0,
			    ty_code_blob(c, "code", p, n));
		break;
	case IMAGE: image(in, p, n); break;
	case ELF:
		symbols(p, n);
		ty_code_map_core(c, ty_code_blob(c, "core", p, n), &err);
		ty_code_map_elf(c, which ? (int32_t)which : TY_CODE_EVERYBODY, in->t_ns,
				op & 0x20 ? BASE : 0, ty_code_blob(c, "elf", p, n), &err);
		break;
	case LOSS:
		ty_flow_loss(in->f, which < 2 ? (int32_t)which : -1,
			     which < 2 ? -1 : (int32_t)which, off + n);
		break;
	case KINDS: break;
	}
}

/* Instructions and gaps that were seen; all: to the end. */
struct seen {
	uint64_t insns, gaps;
	bool all;
};

static struct seen pull(struct ty_flow *f, struct ty_flow_calls *calls)
{
	struct seen s = {0};
	struct ty_flow_at at;
	size_t items = 0;

	for (; items < ITEMS_MAX && s.gaps < GAPS_MAX && ty_flow_next(f, &at) > 0; items++) {
		s.insns += at.item.kind == TY_FLOW_INSN	 ? 1
			   : at.item.kind == TY_FLOW_RUN ? at.item.value
							 : 0;
		s.gaps += at.item.kind == TY_FLOW_GAP || at.item.kind == TY_FLOW_OVERFLOW;
		if (calls)
			ty_flow_calls_feed(calls, &at);
	}
	s.all = items < ITEMS_MAX && s.gaps < GAPS_MAX;
	return s;
}

/* Counted, it is as many as one by one. */
static void count(struct ty_flow *f, struct ty_flow_names *names, const struct ty_flow_window *w)
{
	const struct ty_flow_count c = {.extent_of = ty_flow_names_extent, .ctx = names};
	struct ty_flow_calls *calls = ty_flow_calls_new(names, NULL, NULL, NULL);
	struct seen one, counted;

	if (ty_flow_seek(f, w, false, NULL) || !(one = pull(f, NULL)).all ||
	    ty_flow_seek_runs(f, w, &c, NULL)) {
		ty_flow_calls_free(calls);
		return;
	}
	counted = pull(f, calls);
	ty_flow_calls_finish(calls);
	ty_flow_calls_free(calls);
	if (counted.all && (one.insns != counted.insns || one.gaps != counted.gaps)) {
		fprintf(stderr, "%llu instructions and %llu gaps, counted %llu and %llu\n",
			(unsigned long long)one.insns, (unsigned long long)one.gaps,
			(unsigned long long)counted.insns, (unsigned long long)counted.gaps);
		abort();
	}
}

/* The sums of the first items up to each, but of their times and of what gaps say; which are gaps,
 * and how many items there are. */
struct sums {
	uint64_t h[COMPARE_MAX];
	bool gap[COMPARE_MAX];
	size_t n;
};

static void sum(struct ty_flow *f, struct sums *s)
{
	struct ty_flow_at at;
	unsigned gaps = 0;
	uint64_t h = 0;

	for (s->n = 0; s->n < COMPARE_MAX && gaps < GAPS_MAX && ty_flow_next(f, &at) > 0; s->n++) {
		const struct ty_flow_item *it = &at.item;

		s->gap[s->n] = it->kind == TY_FLOW_GAP;
		gaps += s->gap[s->n];
		h ^= it->kind;
		if (!s->gap[s->n])
			h ^= it->ip << 8 ^ it->to << 24 ^ it->value << 40;
		h *= 0x9e3779b97f4a7c15ull;
		s->h[s->n] = h ^= h >> 29;
	}
}

static bool gap_from(const struct sums *s, size_t i)
{
	while (i < s->n && !s->gap[i])
		i++;
	return i < s->n;
}

/*
 * The fast decoder and libipt agree, also behind gaps that both have: up to a gap of
 * libipt's, which reads ahead, and may lose an event before what it cannot decode; or to one of the
 * fast decoder, which is not sure of all that libipt passes over, but of what has no gap at all.
 * (What comes behind other gaps is compared by tests/unit/test_pt_coverage.c.)
 */
static void compare(struct ty_flow *f)
{
	const struct ty_flow_window all = {.to_ns = UINT64_MAX};
	static struct sums quick, slow;
	size_t n, i = 0;

	/* Times decide on the order of streams, and on which thread runs: they differ a little. */
	if (f->streams.n != 1 || f->sws.n || ty_flow_seek(f, &all, false, NULL))
		return;
	sum(f, &quick);
	ty_flow_stop(f);
	ty_flow_work_forget(f);
	f->by_libipt = true;
	slow.n = 0;
	if (ty_flow_seek(f, &all, false, NULL))
		slow = quick;
	else
		sum(f, &slow);
	f->by_libipt = false;
	n = quick.n < slow.n ? quick.n : slow.n;
	while (i < n && quick.h[i] == slow.h[i])
		i++;
	if (i == n ? quick.n == slow.n : slow.gap[i] || (quick.gap[i] && gap_from(&slow, i)))
		return;
	fprintf(stderr, "%zu items, by libipt %zu, the first %zu alike\n", quick.n, slow.n, i);
	abort();
}

static void another_way(struct input *in, struct ty_flow_names *names, unsigned way,
			const struct ty_flow_window *w)
{
	const struct ty_flow_window all = {.to_ns = UINT64_MAX};
	struct ty_flow_at at;

	switch (way) {
	case 0: count(in->f, names, &all); break;
	case 1: count(in->f, names, w); break;
	case 2: compare(in->f); break;
	case 3: /* branches of a window; left in the middle, too */
		if (!ty_flow_seek(in->f, w, true, NULL))
			pull(in->f, NULL);
		if (!ty_flow_seek(in->f, w, false, NULL))
			ty_flow_next(in->f, &at);
		break;
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	return fuzz_mutate_parts(data, size, max, seed, 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {.f = ty_flow_new(NULL, NULL)};
	struct ty_flow_window w = {.from_ns = size / 2, .to_ns = UINT64_MAX};
	struct ty_flow_names *names;
	struct ty_flow_calls *calls;

	in.p = ty_flow_perf_new(in.f);
	for (int32_t tid = 1; tid < STREAMS; tid++)
		ty_flow_thread(in.f, tid, tid);
	for (size_t at_byte = 0; size <= BYTES_MAX && at_byte + 3 <= size;) {
		size_t n = (size_t)data[at_byte + 1] | (size_t)data[at_byte + 2] << 8,
		       left = size - at_byte - 3;

		n = n < left ? n : left;
		take(&in, data[at_byte], data + at_byte + 3, n);
		at_byte += 3 + n;
	}
	ty_flow_perf_finish(in.p);
	names = ty_flow_names_new(ty_flow_code(in.f));
	calls = ty_flow_calls_new(names, NULL, NULL, NULL);
	if (!ty_flow_start(in.f, NULL))
		pull(in.f, calls);
	ty_flow_calls_finish(calls);
	if (in.f->streams.n)
		another_way(&in, names, crc32(0, data, (unsigned)size) % 4, &w);
	ty_flow_calls_free(calls);
	ty_flow_names_free(names);
	ty_flow_perf_free(in.p);
	ty_flow_free(in.f);
	for (unsigned i = 0; i < in.pages_n; i++)
		free(in.pages[i]);
	return 0;
}
