/* SPDX-License-Identifier: MIT */
/* Regions of user code, one a line, in the order of their begins; nested ones are indented. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "dump.h"
#include "event.h"
#include "json_out.h"
#include "plain_text.h"
#include "region_stats.h"
#include "model_time.h"
#include "units.h"
#include "vec.h"

struct place {
	uint64_t start_ns;
	uint32_t thread, lane, region;
};

ORDER(by_begin, struct place,
      compare(a->start_ns, b->start_ns) ?: compare(a->thread, b->thread) ?:
      compare(a->lane, b->lane) ?: compare(a->region, b->region))

static bool has_length(const struct ty_region *r)
{
	return r->lane < TY_LANE_INSTANT;
}

/* Why start or end are unknown; NULL: both are known. */
static const char *reason(const struct ty_region *r)
{
	if (r->flags & TY_RGN_LOST)
		return has_length(r) ? "at least: events were lost" : "end only: events were lost";
	if (r->flags & TY_RGN_BEFORE)
		return "end only: began before the recording";
	if (r->flags & TY_RGN_UNMATCHED)
		return has_length(r) ? "left without a return" : "end without a start";
	if (r->flags & TY_RGN_ENDED)
		return "not ended: the thread exited, or executed another program";
	return r->flags & TY_RGN_OPEN ? "not ended when the recording did" : NULL;
}

static void text_line(const struct ty_session *s, const struct ty_region *r, FILE *out)
{
	char who[64], name[TY_REGION_NAME + 1];
	const char *why = reason(r);

	snprintf(who, sizeof(who), "%s/%d", ty_model_comm(s->model, r->thread, r->start_ns),
		 ty_model_tid(s->model, r->thread, r->start_ns));
	ty_plain(who, strlen(who));
	snprintf(name, sizeof(name), "%s", ty_model_str(s->model, r->name));
	ty_plain(name, strlen(name));
	fprintf(out, "%s %-20s %9s  %*s%s", ty_time_in(s->model, s->clock, r->start_ns, 1), who,
		has_length(r) ? ty_duration(r->end_ns - r->start_ns) : ty_region_kind_name(r->kind),
		r->lane < TY_LANE_ASYNC ? (int)(r->lane < 40 ? r->lane : 40) * 2 : 0, "",
		*name ? name : "-");
	if (r->kind == TY_REG_COUNTER)
		fprintf(out, " = %" PRId64, r->value);
	if (r->kind == TY_REG_ASYNC_BEGIN)
		fprintf(out, " (id %" PRId64 ")", r->value);
	fprintf(out, "%s%s%s\n", why ? "  [" : "", why ? why : "", why ? "]" : "");
}

static void json_line(const struct ty_session *s, const struct ty_region *r, FILE *out)
{
	const char *why = reason(r);
	struct ty_json j;

	ty_json_init(&j, out);
	ty_json_object(&j, NULL);
	ty_json_u64(&j, "start_ns", r->start_ns);
	if (has_length(r)) {
		ty_json_u64(&j, "duration_ns", r->end_ns - r->start_ns);
		ty_json_u64(&j, "self_ns", r->self_ns);
	}
	ty_json_str(&j, "name", ty_model_str(s->model, r->name));
	ty_json_str(&j, "kind", ty_region_kind_name(r->kind));
	ty_json_i64(&j, "tid", ty_model_tid(s->model, r->thread, r->start_ns));
	ty_json_str(&j, "comm", ty_model_comm(s->model, r->thread, r->start_ns));
	if (r->end_thread != TY_NONE && r->end_thread != r->thread)
		ty_json_i64(&j, "ended_by", ty_model_tid(s->model, r->end_thread, r->end_ns));
	if (r->lane < TY_LANE_ASYNC)
		ty_json_u64(&j, "depth", r->lane);
	if (r->kind == TY_REG_COUNTER || r->kind == TY_REG_CALL)
		ty_json_i64(&j, "value", r->value);
	if (r->kind == TY_REG_ASYNC_BEGIN)
		ty_json_i64(&j, "id", r->value);
	if (why)
		ty_json_str(&j, "unknown", why);
	ty_json_end_object(&j);
	ty_json_line(&j);
	ty_json_fini(&j);
}

int ty_dump_regions(struct ty_session *s, const struct ty_select *sel, const struct ty_window *w,
		    FILE *out, struct ty_err *err)
{
	struct ty_comm_memo memo = {0};
	uint32_t n = ty_model_regions(s->model), of = TY_NONE;
	uint64_t left_out = ty_model_summary(s->model)->regions_left_out;
	VEC(struct place) v = {0};
	int e = ty_select_clock(sel, s, err);

	if (e)
		return e;
	for (uint32_t i = 0; !e && i < n; i++) {
		struct ty_region r = ty_model_region(s->model, i);

		if (r.thread != of)
			memo = (struct ty_comm_memo){0};
		of = r.thread;
		if (ty_region_chosen(s->model, w, &r, &memo))
			e = vec_push(&v, (struct place){r.start_ns, r.thread, r.lane, i});
	}
	vec_sort(&v, by_begin);
	for (size_t i = 0; !e && i < v.n && !ferror(out); i++) {
		struct ty_region r = ty_model_region(s->model, v.v[i].region);

		(sel->json ? json_line : text_line)(s, &r, out);
	}
	vec_fini(&v);
	if (left_out)
		fprintf(stderr,
			"tarry: %s: %" PRIu64
			" regions are missing: too many. Give more --memory\n",
			s->trace->path, left_out);
	return e ? ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory for the regions",
			   s->trace->path)
		 : 0;
}
