/* SPDX-License-Identifier: MIT */
/* One pass over the records: samples and counts by event, AUX data by kind (perf_contents.h). */
#include "perf_contents.h"

#include <inttypes.h>
#include <string.h>

#include "counter_readings.h"
#include "json_out.h"
#include "mem_access.h"
#include "perf_data.h"
#include "pair_map.h"
#include "plain_text.h"
#include "units.h"
#include "vec.h"

struct of_event {
	uint64_t samples, accesses; /* accesses: with a known kind of access to memory */
	uint64_t sample_type;
	/* Of perf stat record: the last value of each CPU and thread. */
	uint64_t counters, raw, scaled, enabled_ns, running_ns;
	uint64_t not_counted; /* counters that never ran */
};

struct counted {
	struct ty_perf_stat stat;
	size_t event;
};

struct contents {
	VEC(struct of_event) events;
	uint64_t other_samples, records, aux_bytes;
	uint64_t counts; /* of perf stat record */
	VEC(struct counted) counted;
	struct ty_pair_map counted_of; /* by id, and by CPU and thread */
	uint32_t aux_type;
};

static struct of_event *row_of(struct contents *c, size_t event)
{
	while (c->events.n <= event)
		if (vec_push(&c->events, (struct of_event){0}))
			return NULL;
	return &c->events.v[event];
}

/* A counter's value; with intervals, each replaces the one before. */
static int count_stat(struct contents *c, struct ty_perf *p, const struct ty_perf_rec *r)
{
	struct ty_perf_stat s;
	const struct ty_perf_event *e;
	struct counted *to;

	c->counts++;
	e = ty_perf_stat(r, &s) ? NULL : ty_perf_event_find(p, s.id);
	if (!e)
		return 0;
	to = pair_element(&c->counted_of, s.id, (uint64_t)s.cpu << 32 | s.thread, &c->counted,
			  (struct counted){s, (size_t)(e - p->events.v)});
	if (!to)
		return -TY_ENOMEM;
	to->stat = s;
	return 0;
}

/* A sum that a file cannot make wrap. */
static uint64_t add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* As perf stat: each counter is scaled, then they are added. */
static int sum_counted(struct contents *c)
{
	vec_each (k, &c->counted) {
		const struct ty_perf_stat *s = &k->stat;
		struct of_event *to = row_of(c, k->event);
		uint64_t scaled = 0;

		if (!to)
			return -TY_ENOMEM;
		if (!ty_count_scaled(s->value, s->enabled_ns, s->running_ns, &scaled))
			to->not_counted++;
		to->counters++;
		to->raw = add(to->raw, s->value);
		to->scaled = add(to->scaled, scaled);
		to->enabled_ns = add(to->enabled_ns, s->enabled_ns);
		to->running_ns = add(to->running_ns, s->running_ns);
	}
	return 0;
}

static int count(struct contents *c, struct ty_perf *p, const struct ty_perf_rec *r)
{
	const struct ty_perf_event *e;
	struct ty_perf_auxtrace_info info;
	struct ty_perf_sample s;
	struct of_event *to;

	c->records++;
	if (r->type == TY_PERF_STAT)
		return count_stat(c, p, r);
	if (r->type == TY_PERF_AUXTRACE_INFO && !ty_perf_auxtrace_info(r, &info))
		c->aux_type = info.type;
	if (r->type == TY_PERF_AUXTRACE)
		c->aux_bytes += r->data_n;
	if (r->type != TY_PERF_SAMPLE)
		return 0;
	e = ty_perf_event_of(p, r);
	if (!e) {
		c->other_samples++;
		return 0;
	}
	to = row_of(c, (size_t)(e - p->events.v));
	if (!to)
		return -TY_ENOMEM;
	to->samples++;
	to->sample_type = e->attr.sample_type;
	if ((e->attr.sample_type & (TY_PERF_S_ADDR | TY_PERF_S_DATA_SRC)) ==
		    (TY_PERF_S_ADDR | TY_PERF_S_DATA_SRC) &&
	    !ty_perf_sample_parse(r, &e->attr, &s) && ty_mem_data_src_known(s.data_src))
		to->accesses++;
	return 0;
}

/* As report hot takes them (session/sample_load.c). */
static bool places_a_thread(const struct of_event *e)
{
	const uint64_t want = TY_PERF_S_IP | TY_PERF_S_TID | TY_PERF_S_TIME;

	return (e->sample_type & want) == want;
}

static bool has_branches(const struct of_event *e)
{
	return e->sample_type & TY_PERF_S_BRANCH_STACK;
}

static const char *shown_by(const struct of_event *e)
{
	return e->accesses ? "memory samples: tarry report FILE memory|sharing, tarry dump FILE "
			     "memory, tarry view FILE"
	       : !places_a_thread(e) ? "samples: use perf report"
	       : has_branches(e)
		       ? "samples: tarry report FILE hot, tarry view FILE; branch stacks: tarry "
			 "dump FILE samples"
		       : "samples: tarry report FILE hot, tarry dump FILE samples, tarry view FILE";
}

static const char *aux_kind(uint32_t type)
{
	return type == TY_PERF_AUXTRACE_INTEL_PT
		       ? "Intel PT: tarry report FILE flow, tarry dump FILE flow, tarry view FILE"
	       : type == TY_PERF_AUXTRACE_ARM_SPE ? "Arm SPE: tarry report FILE memory|sharing, "
						    "tarry dump FILE memory, tarry view FILE"
						  : "of an unsupported kind";
}

/* "1,234 counted of page-faults": raw beside scaled, which is an estimate. */
static void counted_text(const struct of_event *e, const char *name, bool is_time, FILE *f)
{
	const char *(*fmt)(uint64_t, char *) = is_time ? ty_fmt_duration : ty_fmt_count;
	char raw[TY_COUNT_MAX + TY_DURATION_MAX], scaled[TY_COUNT_MAX + TY_DURATION_MAX];

	fprintf(f, "  %10s counted of %s", fmt(e->raw, raw), name);
	if (e->not_counted == e->counters)
		fputs("  (perf stat: never counted; tarry report FILE counters, tarry view FILE)",
		      f);
	else if (e->running_ns < e->enabled_ns)
		fprintf(f,
			"  (perf stat: ~%s scaled, an estimate: counting %.1f%% of the time; "
			"tarry report FILE counters, tarry view FILE)",
			fmt(e->scaled, scaled),
			100.0 * (double)e->running_ns / (double)e->enabled_ns);
	else
		fputs("  (perf stat: tarry report FILE counters, tarry view FILE)", f);
	fputc('\n', f);
}

static void text(const struct contents *c, const struct ty_perf *p, FILE *f)
{
	char name[256];

	fprintf(f, "%s: a perf.data file without scheduling events or system calls. It contains:\n",
		p->path);
	for (size_t i = 0; i < c->events.n; i++) {
		const struct of_event *e = &c->events.v[i];

		snprintf(name, sizeof(name), "%s",
			 *p->events.v[i].name ? p->events.v[i].name : "an unnamed event");
		ty_plain(name, strlen(name));
		if (e->samples)
			fprintf(f, "  %10" PRIu64 " samples of %s  (%s)\n", e->samples, name,
				shown_by(e));
		if (e->counters)
			counted_text(e, name, ty_perf_event_is_clock(&p->events.v[i]), f);
	}
	if (c->other_samples)
		fprintf(f, "  %10" PRIu64 " samples of unknown events\n", c->other_samples);
	if (c->aux_type || c->aux_bytes)
		fprintf(f, "  %10" PRIu64 " bytes of AUX data  (%s)\n", c->aux_bytes,
			aux_kind(c->aux_type));
	fprintf(f, "  %10" PRIu64 " records in total\n", c->records);
}

static void json(const struct contents *c, const struct ty_perf *p, FILE *f)
{
	struct ty_json j;

	ty_json_init(&j, f);
	ty_json_object(&j, NULL);
	ty_json_array(&j, "contents");
	for (size_t i = 0; i < c->events.n; i++) {
		const struct of_event *e = &c->events.v[i];

		if (!e->samples && !e->counters)
			continue;
		ty_json_object(&j, NULL);
		ty_json_str(&j, "event", p->events.v[i].name);
		ty_json_u64(&j, "samples", e->samples);
		ty_json_u64(&j, "memory_samples", e->accesses);
		ty_json_bool(&j, "branch_stacks", has_branches(e));
		if (e->counters) {
			ty_json_u64(&j, "raw", e->raw);
			ty_json_u64(&j, "scaled", e->scaled);
			ty_json_bool(&j, "estimated", e->running_ns < e->enabled_ns);
			ty_json_u64(&j, "enabled_ns", e->enabled_ns);
			ty_json_u64(&j, "running_ns", e->running_ns);
		}
		ty_json_end_object(&j);
	}
	ty_json_end_array(&j);
	ty_json_u64(&j, "aux_bytes", c->aux_bytes);
	ty_json_u64(&j, "counts", c->counts);
	ty_json_u64(&j, "records", c->records);
	ty_json_end_object(&j);
	ty_json_line(&j);
	ty_json_fini(&j);
}

int ty_perf_contents(const char *path, bool as_json, FILE *f, struct ty_err *err)
{
	struct contents c = {0};
	struct ty_perf_rec r;
	struct ty_perf *p;
	int e = ty_perf_open(path, &p, err);

	if (e)
		return e;
	while ((e = ty_perf_next(p, &r, err)) > 0) {
		e = count(&c, p, &r);
		if (e) {
			ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", path);
			break;
		}
	}
	if (!e && sum_counted(&c))
		e = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", path);
	if (!e && !c.records)
		e = ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET, "%s: a perf.data file without records",
			    path);
	if (!e)
		(as_json ? json : text)(&c, p, f);
	if (!e && p->note)
		ty_say("tarry: %s: %s\n", path, p->note);
	vec_fini(&c.events);
	vec_fini(&c.counted);
	ty_pair_map_fini(&c.counted_of);
	ty_perf_close(p);
	return e;
}
