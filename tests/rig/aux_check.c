/* SPDX-License-Identifier: MIT */
/*
 * Is the hardware's stream of a recording the pattern of aux_replay.c, all that the module made
 * since its counters were set to 0, and each break in it reported by an AUX record?
 *
 * Usage: aux_check TRACE.DAT intel_pt|arm_spe_0
 */
#include "pattern.h"
#include "perf_record.h"
#include "section.h"
#include "trace.h"

enum { CPUS = 2, HEAD = 16, CUTS = 16 };

struct stream {
	uint8_t *bytes;
	size_t n;
	uint64_t end; /* of the piece before */
	uint64_t truncated;
	size_t cuts[CUTS]; /* where a snapshot begins */
	unsigned cuts_n;
};

static void add(struct stream *s, const uint8_t *p, size_t n)
{
	s->bytes = realloc(s->bytes, s->n + n);
	if (!s->bytes)
		exit(1);
	memcpy(s->bytes + s->n, p, n);
	s->n += n;
}

/* A perf.data file in pipe form, in memory. */
static bool take(struct stream *streams, bool snapshots, const uint8_t *p, size_t n)
{
	struct ty_perf_rec rec;
	size_t pos = HEAD;
	uint64_t truncated = 0;
	int r;

	while ((r = ty_perf_buf_next(p, n, &pos, &rec)) == 1) {
		struct ty_perf_auxtrace a;
		struct ty_perf_aux aux;
		struct stream *s;

		if (rec.type == TY_PERF_AUX && !ty_perf_aux(&rec, &aux))
			truncated += aux.flags & 1;
		if (rec.type != TY_PERF_AUXTRACE)
			continue;
		if (ty_perf_auxtrace(&rec, &a) || a.size > n - pos || a.cpu < 0 || a.cpu >= CPUS)
			return false;
		s = &streams[a.cpu];
		if (a.offset != s->end && !snapshots) {
			printf("a piece of CPU %d at %" PRIu64 " does not go on at %" PRIu64 "\n",
			       a.cpu, a.offset, s->end);
			return false;
		}
		if (snapshots && (a.offset != s->end || !s->n) && s->cuts_n < CUTS)
			s->cuts[s->cuts_n++] = s->n;
		add(s, p + pos, (size_t)a.size);
		s->end = a.offset + a.size;
		pos += (size_t)a.size;
	}
	streams[0].truncated = truncated;
	return !r;
}

/* All of them, or -1. */
static int check_snapshots(bool spe, const struct stream *streams)
{
	unsigned all = 0;

	for (unsigned i = 0; i < CPUS; i++) {
		const struct stream *s = &streams[i];

		for (unsigned k = 0; k < s->cuts_n; k++) {
			size_t end = k + 1 < s->cuts_n ? s->cuts[k + 1] : s->n;

			if (!pattern_snapshot(spe, i, s->bytes + s->cuts[k], end - s->cuts[k]))
				return -1;
		}
		all += s->cuts_n;
	}
	printf("%u snapshots\n", all);
	return (int)all;
}

static bool check_stream(bool spe, const struct stream *streams)
{
	uint64_t made = replay_number("produced"), lost = replay_number("lost"), jumps = 0,
		 skipped = 0, good = 0;

	for (unsigned i = 0; i < CPUS; i++) {
		int64_t n = pattern_compare(spe, i, 0, streams[i].bytes, streams[i].n, &jumps,
					    &skipped);

		if (n < 0)
			return false;
		good += (uint64_t)n;
	}
	printf("%" PRIu64 " bytes made, %" PRIu64 " stored; %" PRIu64 " lost, %" PRIu64
	       " at %" PRIu64 " places; truncated %" PRIu64 "\n",
	       made, good, lost, skipped, jumps, streams[0].truncated);
	/* The zeros behind the last byte may look like the pattern's. */
	return good && good >= made && good < made + CPUS * PATTERN_WORD &&
	       jumps <= streams[0].truncated && skipped <= lost;
}

int main(int argc, char **argv)
{
	struct stream streams[CPUS] = {0};
	int snapshots = argc == 4 ? atoi(argv[3]) : 0;
	bool ok, spe = argc > 2 && !strcmp(argv[2], "arm_spe_0");
	struct ty_trace *t;
	struct ty_err err = {0};
	struct ty_text perf;

	if (argc < 3 || ty_trace_open(argv[1], &t, &err)) {
		printf("%s\n", err.msg);
		return 1;
	}
	perf = ty_trace_section(t, TY_SEC_PERF);
	ok = perf.n > HEAD && take(streams, snapshots, (const uint8_t *)perf.s, perf.n) &&
	     (snapshots ? check_snapshots(spe, streams) >= snapshots : check_stream(spe, streams));
	ty_trace_close(t);
	for (unsigned i = 0; i < CPUS; i++)
		free(streams[i].bytes);
	return !ok;
}
