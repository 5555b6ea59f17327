/* SPDX-License-Identifier: MIT */
/* See counter_measures.h. */
#include "counter_measures.h"

#include <stdio.h>
#include <string.h>

#include "units.h"

/* The parts of an event's name: "PMU/EVENT/MODIFIERS" or "EVENT:MODIFIERS". */
struct parts {
	const char *event, *mods;
	size_t event_n;
};

static struct parts parts_of(const char *name)
{
	const char *slash = strchr(name, '/'), *end;
	struct parts p = {.event = slash ? slash + 1 : name};

	end = strpbrk(p.event, slash ? "/" : ":");
	p.event_n = end ? (size_t)(end - p.event) : strlen(p.event);
	p.mods = end ? end + 1 : "";
	return p;
}

static bool is(const struct parts *p, const char *event)
{
	return p->event_n == strlen(event) && !memcmp(p->event, event, p->event_n);
}

static void add_ratio(struct ty_counts *c, uint32_t over, uint32_t under, uint32_t per,
		      const char *what, size_t what_n, const char *mods)
{
	struct ty_count_ratio *r = &c->ratio[c->ratios++];

	*r = (struct ty_count_ratio){.over = over, .under = under, .per = per};
	snprintf(r->name, sizeof(r->name), "%.*s%s%s%s", (int)what_n, what, *mods ? ":" : "", mods,
		 per > 1 ? "/1,000 instr." : "");
}

void ty_count_ratios(struct ty_counts *c)
{
	c->ratios = 0;
	for (uint32_t i = 0; i < c->n; i++)
		for (uint32_t k = 0; k < c->n && c->ratios < TY_COUNTS_MAX; k++) {
			const struct parts a = parts_of(c->def[i].name),
					   b = parts_of(c->def[k].name);

			if (c->def[i].group != c->def[k].group || strcmp(a.mods, b.mods))
				continue;
			if (is(&a, "instructions") && (is(&b, "cycles") || is(&b, "cpu-cycles")))
				add_ratio(c, i, k, 1, "IPC", 3, a.mods);
			else if (a.event_n > 6 && is(&b, "instructions") &&
				 !memcmp(a.event + a.event_n - 6, "misses", 6))
				add_ratio(c, i, k, 1000, a.event, a.event_n, a.mods);
		}
}

uint32_t ty_count_measure_group(const struct ty_counts *c, uint32_t i)
{
	return c->def[i < c->n ? i : c->ratio[i - c->n].over].group;
}

bool ty_count_measure(const struct ty_counts *c, const struct ty_count_sum *s, uint32_t i,
		      double *value, bool *estimated)
{
	const uint32_t g = ty_count_measure_group(c, i);
	const uint64_t enabled = s->enabled[g], running = s->running[g];
	uint64_t v;

	*value = 0;
	*estimated = running < enabled || s->cut;
	if (i < c->n) {
		if (!s->readings || !ty_count_scaled(s->v[i], enabled, running, &v))
			return false;
		*value = (double)v;
		return true;
	}
	if (!running || !s->v[c->ratio[i - c->n].under])
		return false;
	*value = (double)s->v[c->ratio[i - c->n].over] * c->ratio[i - c->n].per /
		 (double)s->v[c->ratio[i - c->n].under];
	return true;
}

const char *ty_count_measure_text(const struct ty_counts *c, const struct ty_count_sum *s,
				  uint32_t i, char out[TY_COUNT_TEXT])
{
	const uint32_t g = ty_count_measure_group(c, i);
	char b[TY_COUNT_MAX + TY_DURATION_MAX];
	bool estimated;
	uint64_t scaled = 0;
	double v;

	if (!ty_count_measure(c, s, i, &v, &estimated)) {
		snprintf(out, TY_COUNT_TEXT, "%s",
			 s->readings && s->enabled[g] && !s->running[g] ? "not counted" : "-");
		return out;
	}
	if (i >= c->n) {
		snprintf(out, TY_COUNT_TEXT, "%s%.2f", estimated ? "~" : "", v);
		return out;
	}
	ty_count_scaled(s->v[i], s->enabled[g], s->running[g], &scaled);
	snprintf(out, TY_COUNT_TEXT, "%s%s", estimated ? "~" : "",
		 c->def[i].is_time ? ty_fmt_duration(scaled, b) : ty_fmt_count(scaled, b));
	return out;
}

struct ty_counts *ty_counts_of_cpus(const struct ty_counts *c)
{
	struct ty_counts *out = ty_counts_new();
	const size_t w = c->n + 2 * (size_t)c->groups + 1;
	bool good = out;

	if (out) {
		memcpy(out->def, c->def, sizeof(out->def));
		out->n = c->n;
		out->groups = c->groups;
		out->intervals = c->intervals;
	}
	for (size_t i = 0; good && i < c->readings.n; i++) {
		struct ty_count_reading r = c->readings.v[i];
		const uint64_t *v = c->values.v + i * w;
		const bool next = i && c->readings.v[i - 1].tid == r.tid;
		uint64_t grew[TY_COUNTS_MAX + 2 * TY_COUNT_GROUPS_MAX];

		for (size_t k = 0; k + 1 < w; k++)
			grew[k] = v[k] - (next ? (v - w)[k] : 0);
		if (r.cpu == TY_COUNT_NO_CPU)
			continue;
		r.tid = r.cpu;
		good = ty_counts_add(out, r, grew);
	}
	if (!good || ty_counts_finish(out)) {
		ty_counts_free(out);
		return NULL;
	}
	return out;
}
