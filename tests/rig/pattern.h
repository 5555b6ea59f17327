/* SPDX-License-Identifier: MIT */
/* The pattern of aux_replay.c found again in what was recorded, and that module's parameters. */
#ifndef PATTERN_H
#define PATTERN_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATTERN_WORD = 8, PATTERN_EDGE = 24 };

static inline uint64_t pattern_load(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint8_t pattern_byte(unsigned cpu, uint64_t pos)
{
	return (uint8_t)(((uint64_t)(cpu + 2) << 56 | pos >> 3) >> pos % 8 * 8);
}

/* The place in the pattern of what lies at p, of which n >= PATTERN_EDGE bytes are there. */
static inline bool pattern_find(unsigned cpu, const uint8_t *p, uint64_t *pos)
{
	for (unsigned i = 0; i < PATTERN_WORD; i++) {
		uint64_t w = pattern_load(p + i);

		if (w >> 56 == cpu + 2 && pattern_load(p + i + PATTERN_WORD) == w + 1) {
			*pos = (w << 8 >> 8) * 8 - i;
			return true;
		}
	}
	return false;
}

static inline bool pattern_zeros(const uint8_t *p, size_t n)
{
	while (n && !p[n - 1])
		n--;
	return !n;
}

/*
 * Compare n bytes that begin at place pos of the pattern. Where they do not go on, the place is
 * looked for, further on: *jumps, *skipped bytes. SPE pads with words of zeros, which the pattern
 * does not have. The end may be filled up with zeros to a whole word. Returns how many bytes of the
 * pattern there are, or -1.
 */
static inline int64_t pattern_compare(bool spe, unsigned cpu, uint64_t pos, const uint8_t *p,
				      size_t n, uint64_t *jumps, uint64_t *skipped)
{
	uint64_t at;
	int64_t good = 0;

	for (size_t i = 0; i < n;) {
		if (spe && i % PATTERN_WORD == 0 && !pattern_load(p + i)) {
			i += PATTERN_WORD;
		} else if (p[i] == pattern_byte(cpu, pos)) {
			pos++, i++, good++;
		} else if (n - i < PATTERN_WORD && pattern_zeros(p + i, n - i)) {
			break;
		} else if (n - i >= PATTERN_EDGE && pattern_find(cpu, p + i, &at) && at > pos) {
			*skipped += at - pos;
			++*jumps;
			pos = at;
		} else {
			printf("# CPU %u: byte %zu of %zu is not that of place %" PRIu64 "\n", cpu,
			       i, n, pos);
			return -1;
		}
	}
	return good;
}

/* One piece of the pattern without a break; zeros stand before a first byte inside a word. */
static inline bool pattern_snapshot(bool spe, unsigned cpu, const uint8_t *p, size_t n)
{
	uint64_t pos, jumps = 0, skipped = 0;
	size_t fill = 0;

	if (n < PATTERN_EDGE)
		return true;
	if (!pattern_find(cpu, p, &pos)) {
		printf("# CPU %u: a snapshot of %zu bytes does not begin with the pattern\n", cpu,
		       n);
		return false;
	}
	if (pos > UINT64_MAX - PATTERN_WORD) {
		fill = (size_t)-pos;
		pos = 0;
	}
	return pattern_zeros(p, fill) &&
	       pattern_compare(spe, cpu, pos, p + fill, n - fill, &jumps, &skipped) >= 0 && !jumps;
}

static inline void replay_set(const char *name, uint64_t v)
{
	char path[200];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/module/aux_replay/parameters/%s", name);
	f = fopen(path, "w");
	if (!f || fprintf(f, "%" PRIu64 "\n", v) < 0 || fclose(f)) {
		perror(path);
		exit(1);
	}
}

static inline uint64_t number_in(const char *path)
{
	uint64_t v = 0;
	FILE *f = fopen(path, "r");

	if (!f || fscanf(f, "%" SCNu64, &v) != 1) {
		perror(path);
		exit(1);
	}
	fclose(f);
	return v;
}

static inline uint64_t replay_number(const char *name)
{
	char path[200];

	snprintf(path, sizeof(path), "/sys/module/aux_replay/parameters/%s", name);
	return number_in(path);
}

#endif
