/* SPDX-License-Identifier: MIT */
/*
 * recorder/aux_ring against the perf core of a real kernel: the pattern of aux_replay.c, on every
 * CPU at once, collected whole and compared byte by byte. Prints TAP, one line per case; a case
 * ends when enough has been seen (never after a time), or fails after minutes without it.
 *
 * Usage: ring_test PMU-NAME
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "aux_ring.h"
#include "pattern.h"

enum { CPUS = 2, KEEP = 32 << 20, WAIT_S = 240, CUTS = 4096 };

struct test {
	const char *name;
	unsigned chunk; /* bytes per millisecond */
	unsigned pages; /* of the AUX ring */
	unsigned delay_ms;
	unsigned bytes, truncations, snapshots; /* enough of each, on every CPU */
};

static const struct test tests[] = {
	{"a ring that wraps around", 1003, 16, 0, 1 << 20, 0, 0},
	{"a small one", 1003, 4, 0, 256 << 10, 0, 0},
	{"one of 4 MB", 8192, 1024, 0, 6 << 20, 0, 0},
	{"a full one, started again", 40000, 16, 20, 64 << 10, 8, 0},
	{"a full one of one page", 4000, 1, 20, 4096, 8, 0},
	{"snapshots of a ring not yet full", 37, 64, 20, 1, 0, 4},
	{"snapshots of one that has wrapped", 40003, 16, 20, 1, 0, 4},
};

struct seen {
	uint8_t *bytes;
	size_t n;
	uint64_t off;	   /* of the piece before, behind its end */
	size_t cuts[CUTS]; /* where a snapshot begins */
	unsigned cuts_n;
	uint64_t started; /* ITRACE_START records */
	bool wrong_off, overflow;
};
static struct seen seen[CPUS];
static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int on_records(void *ctx, const struct ty_aux_ring *r, const void *p, size_t n)
{
	struct perf_event_header h;

	for (size_t i = 0; i + sizeof(h) <= n; i += h.size) {
		memcpy(&h, (const uint8_t *)p + i, sizeof(h));
		if (h.size < sizeof(h))
			return -1;
		seen[r->cpu].started += h.type == PERF_RECORD_ITRACE_START;
	}
	return 0;
}

static int on_aux(void *ctx, const struct ty_aux_ring *r, uint64_t off, const void *p, size_t n)
{
	struct seen *s = &seen[r->cpu];

	s->wrong_off |= n % PATTERN_WORD || off % PATTERN_WORD || off < s->off ||
			(!r->snapshot && s->off && off != s->off);
	s->overflow |= n > KEEP - s->n || s->cuts_n == CUTS;
	if (r->snapshot && off != s->off && !s->overflow)
		s->cuts[s->cuts_n++] = s->n;
	s->off = off + n;
	if (s->overflow)
		return 0;
	memcpy(s->bytes + s->n, p, n);
	s->n += n;
	return 0;
}

/* Until every CPU has shown enough. */
static bool collect(const struct test *t, struct ty_aux_ring *r, const struct ty_aux_sink *sink)
{
	uint64_t end = now_ms() + WAIT_S * 1000ull;
	unsigned taken = 0;
	bool enough = false;
	struct ty_err err = {0};

	while (!enough && now_ms() < end) {
		struct pollfd p[CPUS] = {{r[0].fd, POLLIN, 0}, {r[1].fd, POLLIN, 0}};

		poll(p, CPUS, 20);
		usleep(t->delay_ms * 1000);
		enough = taken >= t->snapshots;
		for (unsigned i = 0; i < CPUS; i++) {
			if (t->snapshots ? ty_aux_snapshot(&r[i], sink, &err)
					 : ty_aux_drain(&r[i], sink))
				printf("# %s\n", err.msg);
			enough &= seen[i].n >= t->bytes && r[i].truncated >= t->truncations;
		}
		taken++;
	}
	return enough;
}

static bool run(const struct test *t, bool spe, uint32_t type)
{
	struct perf_event_attr attr = {.type = type,
				       .disabled = 1,
				       .sample_period = 4096,
				       .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
				       .sample_id_all = 1};
	const struct ty_aux_sink sink = {on_records, on_aux, NULL};
	struct ty_aux_ring r[CPUS];
	struct ty_err err = {0};
	uint64_t jumps = 0, skipped = 0, truncated = 0, made, lost;
	int64_t good = 0;
	bool ok;

	for (unsigned i = 0; i < CPUS; i++)
		seen[i] = (struct seen){.bytes = seen[i].bytes};
	replay_set("chunk", t->chunk);
	replay_set("produced", 0);
	replay_set("lost", 0);
	for (unsigned i = 0; i < CPUS; i++)
		if (ty_aux_open(&r[i], &attr, -1, (int)i, 64 << 10, (size_t)t->pages << 12,
				t->snapshots, &err) ||
		    ty_aux_on(&r[i], true, &err)) {
			printf("# %s\n", err.msg);
			return false;
		}
	ok = collect(t, r, &sink);
	if (!ok)
		printf("# not enough after %d s\n", WAIT_S);
	for (unsigned i = 0; i < CPUS; i++) {
		struct seen *s = &seen[i];
		int64_t n;

		ty_aux_finish(&r[i], &sink);
		printf("# CPU %u: %zu bytes, truncated %" PRIu64 ", started %" PRIu64 "\n", i, s->n,
		       r[i].truncated, s->started);
		ok &= !s->wrong_off && !s->overflow && s->started && !r[i].lost;
		truncated += r[i].truncated;
		if (!t->snapshots) {
			n = pattern_compare(spe, i, 0, s->bytes, s->n, &jumps, &skipped);
			ok &= n >= 0;
			good += n;
		}
		for (unsigned k = 0; k < s->cuts_n; k++)
			ok &= pattern_snapshot(spe, i, s->bytes + s->cuts[k],
					       (k + 1 < s->cuts_n ? s->cuts[k + 1] : s->n) -
						       s->cuts[k]);
		ty_aux_close(&r[i]);
	}
	made = replay_number("produced");
	lost = replay_number("lost");
	printf("# %" PRIu64 " bytes made, %" PRIu64 " lost; %" PRIu64 " seen to be lost at %" PRIu64
	       " places\n",
	       made, lost, skipped, jumps);
	/* Nothing is lost but by a full ring, nothing comes twice. (The zeros behind the last byte
	   may look like the pattern's.) */
	return ok && (t->snapshots ||
		      (good >= (int64_t)made && good < (int64_t)made + CPUS * PATTERN_WORD &&
		       jumps <= truncated && skipped <= lost));
}

int main(int argc, char **argv)
{
	char path[200];
	unsigned n = 0;
	uint32_t type;
	bool good = true, spe;

	if (argc != 2)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	spe = !strncmp(argv[1], "arm_spe", 7);
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", argv[1]);
	type = (uint32_t)number_in(path);
	for (unsigned i = 0; i < CPUS; i++)
		if (!(seen[i].bytes = malloc(KEEP)))
			return 1;
	for (unsigned i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		bool ok;

		/* Neither is possible there. */
		if (spe && (tests[i].snapshots || tests[i].pages == 1))
			continue;
		ok = run(&tests[i], spe, type);
		printf("%s %u - %s: %s\n", ok ? "ok" : "not ok", ++n, argv[1], tests[i].name);
		good &= ok;
	}
	replay_set("chunk", 0);
	printf("1..%u\n", n);
	return !good;
}
