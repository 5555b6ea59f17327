/* SPDX-License-Identifier: MIT */
/* One pass over the records: samples by event, AUX data by kind (perf_contents.h). */
#include "perf_contents.h"

#include <inttypes.h>
#include <string.h>

#include "json_out.h"
#include "mem_access.h"
#include "perf_data.h"
#include "plain_text.h"
#include "vec.h"

struct of_event {
	uint64_t samples, accesses; /* accesses: with a known kind of access to memory */
	uint64_t sample_type;
};

struct contents {
	VEC(struct of_event) events;
	uint64_t other_samples, records, aux_bytes;
	uint64_t counts; /* of perf stat record */
	uint32_t aux_type;
};

static int count(struct contents *c, struct ty_perf *p, const struct ty_perf_rec *r)
{
	const struct ty_perf_event *e;
	struct ty_perf_auxtrace_info info;
	struct ty_perf_sample s;
	struct of_event *to;
	size_t at;

	c->records++;
	c->counts += r->type == TY_PERF_STAT;
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
	at = (size_t)(e - p->events.v);
	while (c->events.n <= at)
		if (vec_push(&c->events, (struct of_event){0}))
			return -TY_ENOMEM;
	to = &c->events.v[at];
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
	return e->accesses ? "memory samples: report memory, report sharing, dump memory, view"
	       : !places_a_thread(e) ? "samples: use perf report"
	       : has_branches(e)     ? "samples: report hot, view; branch stacks: perf report"
				     : "samples: report hot, view";
}

static const char *aux_kind(uint32_t type)
{
	return type == TY_PERF_AUXTRACE_INTEL_PT  ? "Intel PT: dump flow, report flow, view"
	       : type == TY_PERF_AUXTRACE_ARM_SPE ? "Arm SPE: report memory, report sharing, dump "
						    "memory, view"
						  : "of an unsupported kind";
}

static void text(const struct contents *c, const struct ty_perf *p, FILE *f)
{
	char name[256];

	fprintf(f, "%s: a perf.data file without events for a timeline. It contains:\n", p->path);
	for (size_t i = 0; i < c->events.n; i++) {
		const struct of_event *e = &c->events.v[i];

		if (!e->samples)
			continue;
		snprintf(name, sizeof(name), "%s", p->events.v[i].name);
		ty_plain(name, strlen(name));
		fprintf(f, "  %10" PRIu64 " samples of %s  (%s)\n", e->samples,
			*name ? name : "an unnamed event", shown_by(e));
	}
	if (c->other_samples)
		fprintf(f, "  %10" PRIu64 " samples of unknown events\n", c->other_samples);
	if (c->counts)
		fprintf(f, "  %10" PRIu64 " counts of perf stat record  (use perf stat report)\n",
			c->counts);
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

		if (!e->samples)
			continue;
		ty_json_object(&j, NULL);
		ty_json_str(&j, "event", p->events.v[i].name);
		ty_json_u64(&j, "samples", e->samples);
		ty_json_u64(&j, "memory_samples", e->accesses);
		ty_json_bool(&j, "branch_stacks", has_branches(e));
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
	if (!e && !c.records)
		e = ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET, "%s: a perf.data file without records",
			    path);
	if (!e)
		(as_json ? json : text)(&c, p, f);
	if (!e && p->note)
		ty_say("tarry: %s: %s\n", path, p->note);
	vec_fini(&c.events);
	ty_perf_close(p);
	return e;
}
