/* SPDX-License-Identifier: MIT */
/*
 * What decoding executed instructions costs, for tests/bench/flow:
 *   flow_decode make PERFDATA MEGABYTES OUT   a perf.data file with its largest PT stream repeated,
 * with increasing times, and no end of its thread
 *   flow_decode libipt FILE                libipt's block decoder alone, with the mapped files as
 * image sections, so that it keeps the blocks it has seen
 *   flow_decode follow FILE                the code followed and its instructions counted, as
 * libipt's decoder does: without functions, calls and sums flow_decode tarry FILE all taken
 * branches flow_decode bounds FILE                the times of 1,000 instructions in the middle
 *   flow_decode window FILE FROM TO        the instructions between two times
 * All but bounds print seconds and what was found: libipt's and those of follow are CPU time
 * without opening the file, those of tarry with all that opening it costs, which is printed beside
 * it.
 */
#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "flow_priv.h"
#include "flow_source.h"
#include "perf_record.h"
#include "perf_write.h"
#include "pt_conf.h"

enum { PIECE = 1 << 20, AUX_INDEX = 18 };
/* Words of perf.data's header; ATTRS and DATA: offset, then size. */
enum { ATTR_SIZE = 2, ATTRS = 3, DATA = 5, FEATURES = 9, WORDS = 13 };

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

/* The pieces of the stream of tid joined. */
static void join(const uint8_t *p, size_t n, int32_t tid, struct ty_buf *stream)
{
	struct ty_perf_auxtrace a;
	struct ty_perf_rec r;
	size_t pos = 0;

	while (ty_perf_buf_next(p, n, &pos, &r) > 0) {
		if (r.type != TY_PERF_AUXTRACE || ty_perf_auxtrace(&r, &a))
			continue;
		if (a.tid == tid && ty_buf_add(stream, p + pos, a.size))
			die("out of memory");
		pos += a.size;
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

static void put(FILE *f, const void *p, size_t n)
{
	if (n && fwrite(p, n, 1, f) != 1)
		die("cannot write");
}

static void read_all(const char *path, struct ty_buf *b)
{
	FILE *f = fopen(path, "re");
	size_t n;

	ty_buf_init(b, SIZE_MAX / 2);
	while (f && !ty_buf_reserve(b, 1 << 20) && (n = fread(b->p + b->len, 1, 1 << 20, f)) > 0)
		b->len += n;
	if (!f || fclose(f) || b->len < WORDS * 8)
		die("cannot read");
}

/* Its records; the bytes before them too are the bench's own export. */
static const uint8_t *records(const struct ty_buf *file, size_t *n)
{
	uint64_t head[WORDS];

	memcpy(head, file->p, sizeof(head));
	if (memcmp(file->p, "PERFILE2", 8) || head[DATA] > file->len ||
	    head[DATA + 1] > file->len - head[DATA])
		die("no perf.data file");
	*n = head[DATA + 1];
	return (const uint8_t *)file->p + head[DATA];
}

/* Add `by` to the offset that is stored at a place of the file. */
static void move(struct ty_buf *file, uint64_t at, uint64_t by)
{
	uint64_t v;

	if (at + sizeof(v) > file->len)
		die("damaged");
	memcpy(&v, file->p + at, sizeof(v));
	v += by;
	memcpy(file->p + at, &v, sizeof(v));
}

/* Zero the word whose offset is stored at a place of the file. */
static void clear(struct ty_buf *file, uint64_t at)
{
	uint64_t v;

	memcpy(&v, file->p + at, sizeof(v));
	if (v + sizeof(v) > file->len)
		die("damaged");
	memset(file->p + v, 0, sizeof(v));
}

static int make(const char *path, size_t bytes, const char *out)
{
	struct ty_buf file, stream, rec;
	uint64_t head[WORDS], most = 0, first = 0, last = 0, done = 0, old, by, at, sections = 0,
			      reference;
	int32_t tid = -1;
	struct ty_perf_rec r;
	size_t n, pos = 0, from = 0;
	const uint8_t *p;
	FILE *f = fopen(out, "we");

	if (!f)
		die("cannot write");
	read_all(path, &file);
	p = records(&file, &n);
	memcpy(head, file.p, sizeof(head));
	put(f, file.p, head[DATA]);
	while (ty_perf_buf_next(p, n, &pos, &r) > 0) {
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
	join(p, n, tid, &stream);
	for (pos = 0; ty_perf_buf_next(p, n, &pos, &r) > 0; from = pos) {
		struct ty_perf_auxtrace a;

		if (r.type == TY_PERF_AUXTRACE && !ty_perf_auxtrace(&r, &a))
			pos += a.size;
		else if (r.type != TY_PERF_EXIT)
			put(f, p + from, pos - from);
	}
	if (stream.len < 64)
		die("the recording has no packets");
	while (done < bytes) {
		uint64_t span = last ? last - first + 1000 : 0;

		first = 0;
		shift(&stream, span, &first, &last);
		for (size_t i = 0; i < stream.len; i += PIECE) {
			size_t k = stream.len - i < PIECE ? stream.len - i : PIECE;

			ty_buf_reset(&rec);
			ty_perf_put_auxtrace(&rec, -1, tid, 0, done, stream.p + i, k);
			reference = done + 1; /* perf wants one that is not 0 */
			memcpy(rec.p + 24, &reference, sizeof(reference));
			put(f, rec.p, rec.len);
			done += k;
		}
	}
	/* What comes behind moves. */
	old = head[DATA] + head[DATA + 1];
	head[DATA + 1] = (uint64_t)ftell(f) - head[DATA];
	by = head[DATA] + head[DATA + 1] - old;
	if (head[ATTRS] < old)
		die("not as tarry export writes it");
	for (unsigned i = 0; i < 256; i++)
		if (head[FEATURES + i / 64] >> i % 64 & 1) {
			at = old + 16 * sections++;
			if (i == AUX_INDEX) /* of no streams: they are read as they come */
				clear(&file, at);
			move(&file, at, by);
		}
	for (at = head[ATTRS]; at < head[ATTRS] + head[ATTRS + 1]; at += head[ATTR_SIZE])
		move(&file, at + head[ATTR_SIZE] - 16, by);
	put(f, file.p + old, file.len - old);
	head[ATTRS] += by;
	rewind(f);
	put(f, head, sizeof(head));
	printf("%.1f MB, %zu times\n", (double)done / 1e6, (size_t)(done / stream.len));
	ty_buf_fini(&stream);
	ty_buf_fini(&rec);
	ty_buf_fini(&file);
	return fclose(f) != 0;
}

static double cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct decoded {
	uint64_t insns, blocks, errors;
	double t;
};

static void decode(const struct ty_pt_cpu *cpu, struct pt_image *image, const struct ty_buf *stream,
		   struct decoded *o)
{
	struct pt_block_decoder *d;
	struct pt_block block;
	struct pt_config conf;
	double t = cpu_now();
	int status;

	ty_pt_conf(&conf, cpu, (const uint8_t *)stream->p, stream->len);
	d = pt_blk_alloc_decoder(&conf);
	if (!d || pt_blk_set_image(d, image) < 0)
		die("libipt");
	for (status = pt_blk_sync_forward(d);;) {
		if (status < 0) {
			if (status == -pte_eos)
				break;
			o->errors++;
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
		o->insns += block.ninsn;
		o->blocks += block.ninsn != 0;
	}
	pt_blk_free_decoder(d);
	o->t += cpu_now() - t;
}

static int libipt(const char *path)
{
	/* Cached sections stay mapped, and the blocks in them known. */
	struct pt_image_section_cache *cache = pt_iscache_alloc("bench");
	struct pt_image *image = pt_image_alloc("bench");
	struct ty_flow_source src = {0};
	struct ty_err err = {0};
	struct decoded o = {0};
	struct ty_buf file, stream;
	struct ty_perf_rec r;
	size_t pos = 0, n;
	const uint8_t *p;
	uint64_t end = 0;

	if (ty_flow_source_open(&src, path, &err))
		die(err.msg);
	pt_iscache_set_limit(cache, 1 << 30);
	read_all(path, &file);
	p = records(&file, &n);
	while (ty_perf_buf_next(p, n, &pos, &r) > 0) {
		struct ty_perf_auxtrace a;
		struct ty_perf_mmap m;

		if (r.type == TY_PERF_AUXTRACE && !ty_perf_auxtrace(&r, &a)) {
			pos += a.size;
		} else if (r.type == TY_PERF_MMAP2 && !ty_perf_mmap(&r, &m) && *m.name == '/') {
			int id = pt_iscache_add_file(cache, m.name, m.pgoff, m.len, m.addr);

			if (id > 0)
				pt_image_add_cached(image, cache, id, NULL);
		}
	}
	/* A stream that continues is one stream. */
	ty_buf_init(&stream, SIZE_MAX / 2);
	for (pos = 0; ty_perf_buf_next(p, n, &pos, &r) > 0;) {
		struct ty_perf_auxtrace a;

		if (r.type != TY_PERF_AUXTRACE || ty_perf_auxtrace(&r, &a))
			continue;
		if (stream.len && a.offset != end) {
			decode(&src.flow->cpu, image, &stream, &o);
			ty_buf_reset(&stream);
		}
		ty_buf_add(&stream, p + pos, a.size);
		end = a.offset + a.size;
		pos += a.size;
	}
	decode(&src.flow->cpu, image, &stream, &o);
	printf("%.3f s, %llu instructions, %llu blocks, %llu errors\n", o.t,
	       (unsigned long long)o.insns, (unsigned long long)o.blocks,
	       (unsigned long long)o.errors);
	ty_flow_source_close(&src);
	ty_flow_source_fini(&src);
	pt_image_free(image);
	pt_iscache_free(cache);
	ty_buf_fini(&stream);
	ty_buf_fini(&file);
	return 0;
}

/* From the middle on, 1,000 instructions and what has the time of the last of them; from and to are
 * what a window of them is requested with. */
static int bounds(const char *path)
{
	struct ty_flow_window w = {.to_ns = UINT64_MAX};
	struct ty_flow_source src = {0};
	struct ty_flow_at at = {0};
	struct ty_err err = {0};
	uint64_t found = 0, last;

	if (ty_flow_source_open(&src, path, &err))
		die(err.msg);
	if (!ty_flow_span(src.flow, &w.from_ns, &last))
		die("the packets have no time");
	w.from_ns += (last - w.from_ns) / 2;
	if (ty_flow_seek(src.flow, &w, false, &err))
		die(err.msg);
	while (found < 1000 && ty_flow_next(src.flow, &at) > 0)
		found += at.item.kind == TY_FLOW_INSN;
	printf("%llu %llu\n", (unsigned long long)w.from_ns, (unsigned long long)at.ts_ns);
	ty_flow_source_close(&src);
	ty_flow_source_fini(&src);
	return 0;
}

/* All code is of one function. */
static void one_function(void *ctx, int32_t pid, uint64_t t_ns, uint64_t ip, struct ty_extent *out)
{
	out->lo = ip & ~(uint64_t)INT32_MAX;
	out->hi = out->lo + INT32_MAX + 1ull;
	out->named = true;
}

static int follow(const char *path)
{
	const struct ty_flow_window all = {.to_ns = UINT64_MAX};
	const struct ty_flow_count count = {.extent_of = one_function};
	const struct ty_walk_run *runs;
	struct ty_flow_source src = {0};
	struct ty_flow_at at;
	struct ty_err err = {0};
	uint64_t insns = 0, gaps = 0;
	size_t n = 0;
	double t;

	if (ty_flow_source_open(&src, path, &err))
		die(err.msg);
	t = cpu_now();
	if (ty_flow_seek_runs(src.flow, &all, &count, &err))
		die(err.msg);
	while (ty_flow_next_runs(src.flow, &at, &runs, &n) > 0) {
		insns += at.item.kind == TY_FLOW_RUN	? at.item.value
			 : at.item.kind == TY_FLOW_INSN ? 1
							: 0;
		insns += n ? ty_flow_runs_insns(runs, n) : 0;
		gaps += at.item.kind == TY_FLOW_GAP;
	}
	t = cpu_now() - t;
	printf("%.3f s, %llu instructions, %llu gaps\n", t, (unsigned long long)insns,
	       (unsigned long long)gaps);
	ty_flow_source_close(&src);
	ty_flow_source_fini(&src);
	return 0;
}

/* w NULL: all taken branches. */
static int tarry(const char *path, const struct ty_flow_window *w)
{
	const struct ty_flow_window all = {.to_ns = UINT64_MAX};
	struct ty_flow_source src = {0};
	struct ty_flow_at at;
	struct ty_err err = {0};
	uint64_t found = 0, gaps = 0, first, last;
	struct rusage before, after;
	double t, opened;

	getrusage(RUSAGE_SELF, &before);
	t = now();
	if (ty_flow_source_open(&src, path, &err))
		die(err.msg);
	opened = now() - t;
	/* As the command that turns seconds from the start into times. */
	if (w && !ty_flow_span(src.flow, &first, &last))
		die("the packets have no time");
	if (ty_flow_seek(src.flow, w ? w : &all, !w, &err))
		die(err.msg);
	while (ty_flow_next(src.flow, &at) > 0) {
		found += at.item.kind == (w ? TY_FLOW_INSN : TY_FLOW_BRANCH);
		gaps += at.item.kind == TY_FLOW_GAP;
	}
	t = now() - t;
	getrusage(RUSAGE_SELF, &after);
	printf("%.6f s (%.6f to open), %llu %s, %llu gaps, %ld page faults\n", t, opened,
	       (unsigned long long)found, w ? "instructions" : "branches", (unsigned long long)gaps,
	       after.ru_minflt - before.ru_minflt);
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
	if (argc == 3 && !strcmp(argv[1], "follow"))
		return follow(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "tarry"))
		return tarry(argv[2], NULL);
	if (argc == 3 && !strcmp(argv[1], "bounds"))
		return bounds(argv[2]);
	if (argc == 5 && !strcmp(argv[1], "window")) {
		const struct ty_flow_window w = {.from_ns = strtoull(argv[3], NULL, 10),
						 .to_ns = strtoull(argv[4], NULL, 10)};

		return tarry(argv[2], &w);
	}
	fputs("usage: flow_decode make PERFDATA MEGABYTES OUT | libipt|follow|tarry|bounds FILE | "
	      "window "
	      "FILE FROM TO\n",
	      stderr);
	return 2;
}
