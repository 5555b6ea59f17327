/* SPDX-License-Identifier: MIT */
/*
 * What decoding executed instructions costs, for tests/bench/flow:
 *   flow_decode make TRACE MEGABYTES OUT   a perf.data file (pipe form) of the recording's largest
 * PT stream, repeated with times that go on flow_decode libipt FILE                libipt's block
 * decoder alone, with the mapped files as image sections, so that it keeps the blocks it has seen
 *   flow_decode tarry FILE                 all taken branches
 *   flow_decode window FILE                1,000 instructions in the middle
 * The last three print seconds of decoding (reading the file not counted), and what was found.
 */
#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "flow_source.h"
#include "perf_record.h"
#include "perf_write.h"
#include "section.h"
#include "trace.h"

enum { PIPE_HEAD = 16, PIECE = 1 << 20 };

static void die(const char *what)
{
	fprintf(stderr, "flow_decode: %s\n", what);
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The pieces of the stream of tid joined; all else of the records through `other`. */
static void split(const uint8_t *p, size_t n, int32_t tid, struct ty_buf *stream, FILE *other)
{
	struct ty_perf_rec r;
	size_t pos = 0, from = 0;

	while (ty_perf_buf_next(p, n, &pos, &r) > 0) {
		struct ty_perf_auxtrace a;

		if (r.type == TY_PERF_AUXTRACE && !ty_perf_auxtrace(&r, &a)) {
			if (a.tid == tid && ty_buf_add(stream, p + pos, a.size))
				die("out of memory");
			pos += a.size;
		} else if (other && fwrite(p + from, 1, pos - from, other) != pos - from) {
			die("cannot write");
		}
		from = pos;
	}
}

/* Add `by` to every time stamp of the packets. */
static void shift(struct ty_buf *b, uint64_t by, uint64_t *first, uint64_t *last)
{
	struct pt_config conf;
	struct pt_packet_decoder *d;
	struct pt_packet pk;

	pt_config_init(&conf);
	conf.begin = (uint8_t *)b->p;
	conf.end = conf.begin + b->len;
	d = pt_pkt_alloc_decoder(&conf);
	if (!d || pt_pkt_sync_forward(d) < 0)
		die("no packets");
	for (;;) {
		uint64_t off = 0;

		pt_pkt_get_offset(d, &off);
		if (pt_pkt_next(d, &pk, sizeof(pk)) < 0)
			break;
		if (pk.type != ppt_tsc)
			continue;
		*last = pk.payload.tsc.tsc + by;
		*first = *first ? *first : *last;
		memcpy(b->p + off + 1, last, 7);
	}
	pt_pkt_free_decoder(d);
}

static int make(const char *trace, size_t bytes, const char *out)
{
	struct ty_trace *t = NULL;
	struct ty_buf stream, rec;
	struct ty_err err = {0};
	struct ty_perf_rec r;
	struct ty_text s;
	int32_t tid = -1;
	uint64_t most = 0, first = 0, last = 0, done = 0;
	size_t pos = PIPE_HEAD;
	FILE *f = fopen(out, "we");

	if (!f || ty_trace_open(trace, &t, &err))
		die(f ? err.msg : "cannot write");
	s = ty_trace_section(t, TY_SEC_PERF);
	while (ty_perf_buf_next((const uint8_t *)s.s, s.n, &pos, &r) > 0) {
		struct ty_perf_auxtrace a;

		if (r.type != TY_PERF_AUXTRACE || ty_perf_auxtrace(&r, &a))
			continue;
		if (a.size >= most)
			tid = a.tid;
		most = a.size > most ? a.size : most;
		pos += a.size;
	}
	ty_buf_init(&stream, SIZE_MAX / 2);
	ty_buf_init(&rec, SIZE_MAX / 2);
	fwrite(s.s, 1, PIPE_HEAD, f);
	split((const uint8_t *)s.s + PIPE_HEAD, s.n - PIPE_HEAD, tid, &stream, f);
	if (stream.len < 64)
		die("the recording has no packets");
	while (done < bytes) {
		uint64_t span = last ? last - first + 1000 : 0;

		first = 0;
		shift(&stream, span, &first, &last);
		for (size_t i = 0; i < stream.len; i += PIECE) {
			size_t n = stream.len - i < PIECE ? stream.len - i : PIECE;

			ty_buf_reset(&rec);
			ty_perf_put_auxtrace(&rec, -1, tid, 0, done, stream.p + i, n);
			if (fwrite(rec.p, 1, rec.len, f) != rec.len)
				die("cannot write");
			done += n;
		}
	}
	printf("%.1f MB, %zu times\n", (double)done / 1e6, (size_t)(done / stream.len));
	ty_buf_fini(&stream);
	ty_buf_fini(&rec);
	ty_trace_close(t);
	return fclose(f) != 0;
}

static void read_all(const char *path, struct ty_buf *b)
{
	FILE *f = fopen(path, "re");
	size_t n;

	ty_buf_init(b, SIZE_MAX / 2);
	while (f && !ty_buf_reserve(b, 1 << 20) && (n = fread(b->p + b->len, 1, 1 << 20, f)) > 0)
		b->len += n;
	if (!f || fclose(f))
		die("cannot read");
}

static int libipt(const char *path)
{
	/* Cached sections stay mapped, and the blocks in them known. */
	struct pt_image_section_cache *cache = pt_iscache_alloc("bench");
	struct pt_image *image = pt_image_alloc("bench");
	struct pt_block_decoder *d;
	struct pt_block block;
	struct pt_config conf;
	struct ty_buf file, stream;
	struct ty_perf_rec r;
	size_t pos = PIPE_HEAD;
	uint64_t insns = 0, blocks = 0, errors = 0;
	int32_t tid = -1;
	double t;
	int status;

	pt_iscache_set_limit(cache, 1 << 30);
	read_all(path, &file);
	while (ty_perf_buf_next((uint8_t *)file.p, file.len, &pos, &r) > 0) {
		struct ty_perf_auxtrace a;
		struct ty_perf_mmap m;

		if (r.type == TY_PERF_AUXTRACE && !ty_perf_auxtrace(&r, &a)) {
			tid = a.tid;
			pos += a.size;
		} else if (r.type == TY_PERF_MMAP2 && !ty_perf_mmap(&r, &m) && *m.name == '/') {
			int id = pt_iscache_add_file(cache, m.name, m.pgoff, m.len, m.addr);

			if (id > 0)
				pt_image_add_cached(image, cache, id, NULL);
		}
	}
	ty_buf_init(&stream, SIZE_MAX / 2);
	split((uint8_t *)file.p + PIPE_HEAD, file.len - PIPE_HEAD, tid, &stream, NULL);
	pt_config_init(&conf);
	conf.begin = (uint8_t *)stream.p;
	conf.end = conf.begin + stream.len;
	t = now();
	d = pt_blk_alloc_decoder(&conf);
	if (!d || pt_blk_set_image(d, image) < 0)
		die("libipt");
	for (status = pt_blk_sync_forward(d); status >= 0 || errors < 1000;) {
		if (status < 0) {
			if (status == -pte_eos)
				break;
			errors++;
			status = pt_blk_sync_forward(d);
			if (status == -pte_eos)
				break;
			continue;
		}
		if (status & pts_event_pending) {
			struct pt_event ev;

			status = pt_blk_event(d, &ev, sizeof(ev));
			continue;
		}
		if (status & pts_eos)
			break;
		status = pt_blk_next(d, &block, sizeof(block));
		insns += block.ninsn;
		blocks += block.ninsn != 0;
	}
	t = now() - t;
	printf("%.3f s, %llu instructions, %llu blocks, %llu errors\n", t,
	       (unsigned long long)insns, (unsigned long long)blocks, (unsigned long long)errors);
	pt_blk_free_decoder(d);
	pt_image_free(image);
	pt_iscache_free(cache);
	return 0;
}

static int tarry(const char *path, bool window)
{
	struct ty_flow_window w = {.to_ns = UINT64_MAX};
	struct ty_flow_source src = {0};
	struct ty_flow_at at;
	struct ty_err err = {0};
	uint64_t found = 0, gaps = 0, last;
	double t;

	if (ty_flow_source_open(&src, path, &err))
		die(err.msg);
	t = now();
	if (window && ty_flow_span(src.flow, &w.from_ns, &last))
		w.from_ns += (last - w.from_ns) / 2;
	if (ty_flow_seek(src.flow, &w, !window, &err))
		die(err.msg);
	while ((!window || found < 1000) && ty_flow_next(src.flow, &at) > 0) {
		found += at.item.kind == (window ? TY_FLOW_INSN : TY_FLOW_BRANCH);
		gaps += at.item.kind == TY_FLOW_GAP;
	}
	t = now() - t;
	printf("%.6f s, %llu %s, %llu gaps\n", t, (unsigned long long)found,
	       window ? "instructions" : "branches", (unsigned long long)gaps);
	ty_flow_source_close(&src);
	ty_flow_source_fini(&src);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "make"))
		return make(argv[2], strtoull(argv[3], NULL, 0) << 20, argv[4]);
	if (argc == 3 && !strcmp(argv[1], "libipt"))
		return libipt(argv[2]);
	if (argc == 3 && (!strcmp(argv[1], "tarry") || !strcmp(argv[1], "window")))
		return tarry(argv[2], !strcmp(argv[1], "window"));
	fputs("usage: flow_decode make TRACE MEGABYTES OUT | libipt|tarry|window FILE\n", stderr);
	return 2;
}
