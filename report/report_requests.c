/* SPDX-License-Identifier: MIT */
/* The report's section "requests": services, and the slowest requests with where their time went.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "explain_session.h"
#include "fields.h"
#include "put_text.h"
#include "request_compare.h"
#include "report.h"
#include "units.h"
#include "process_titles.h"

#define SERVICES_SHOWN 10
#define SLOWEST_SHOWN  10
#define COMPARED_ROWS  8

#define WHO_COLUMNS 20

/* A request as it is shown. */
struct shown {
	struct ty_request q;
	uint64_t duration_ns;
	uint32_t rank;
	bool open, before, inferred;
	struct ty_request_most most;
};

static const char *thread_name(const struct ty_report *r, uint32_t thread, uint64_t at_ns,
			       char *buf, size_t n)
{
	if (thread == TY_NONE)
		return NULL;
	snprintf(buf, n, "%s", ty_who(r->s->model, thread, at_ns));
	return buf;
}

static const char *fit(const struct ty_report *r, uint32_t thread, uint64_t at_ns, char *buf)
{
	char who[TY_WHO_MAX];

	snprintf(buf, WHO_COLUMNS + 1, "%s",
		 ty_model_who_within(r->s->model, thread, at_ns, WHO_COLUMNS, who));
	return buf;
}

static const char *service_column(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_report *r = ctx;
	const struct ty_service *s = record;

	return fit(r, s->process, ty_model_thread(r->s->model, s->process)->end_ns, buf);
}

static const char *receiver_column(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct shown *s = record;

	return s->q.thread == TY_NONE ? NULL : fit(ctx, s->q.thread, s->q.start_ns, buf);
}

static const char *service_name(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_report *r = ctx;
	const struct ty_service *s = record;

	return thread_name(r, s->process, ty_model_thread(r->s->model, s->process)->end_ns, buf, n);
}

static const char *receiver(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct shown *s = record;

	return thread_name(ctx, s->q.thread, s->q.start_ns, buf, n);
}

static const char *replier(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct shown *s = record;

	return thread_name(ctx, s->q.replied_by, s->q.end_ns, buf, n);
}

static const char *most_of(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct shown *s = record;

	return thread_name(ctx, s->most.thread, s->q.end_ns, buf, n);
}

static const char *service_of(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_report *r = ctx;
	const struct shown *s = record;

	return service_name(ctx, &r->requests.services[s->q.service], buf, n);
}

static const char *where(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct ty_report *r = ctx;
	const char *noun = ty_model_noun(r->s->model);
	const struct shown *s = record;
	char who[TY_WHO_MAX + 2] = "", most[2 * TY_LEDGER_ROW_TEXT] = "";

	/* Of another thread than the column says. */
	bool other = s->most.thread != TY_NONE && s->most.thread != s->q.thread;

	if (other)
		snprintf(who, sizeof(who),
			 "%s: ", ty_who(r->s->model, s->most.thread, s->q.end_ns));
	if (*s->most.most.row)
		ty_ledger_most_text(&s->most.most, who, most, sizeof(most));
	snprintf(buf, n, "%s%s%s%s%s%s%s", most, s->open ? "; no reply before the " : "",
		 s->open ? (r->whole ? noun : "selected part") : "", s->open ? " ended" : "",
		 s->before ? "; began before the " : "", s->before ? noun : "",
		 s->inferred ? " (inferred)" : "");
	return buf;
}

static const char *where_json(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct shown *s = record;

	return *s->most.most.row ? s->most.most.row : NULL;
}

/* How it is known which end serves. */
static const char *server_end(const void *ctx, const void *record, char *buf, size_t n)
{
	return ((const struct ty_service *)record)->inferred ? "inferred" : "recorded";
}

#define OF(member) offsetof(struct ty_service, member)
#define TIMES	   0x3c /* columns of services with replies */
static const struct ty_field service_fields[] = {
	{TY_F_TEXT, NULL, "process", -WHO_COLUMNS, .text = service_column},
	{TY_F_TEXT, "service", NULL, 0, .text = service_name},
	{TY_F_U64, "requests", "requests", 9, .at = OF(n)},
	{TY_F_DURATION, "p50_ns", "p50", 7, .at = OF(p50_ns)},
	{TY_F_DURATION, "p90_ns", "p90", 7, .at = OF(p90_ns)},
	{TY_F_DURATION, "p99_ns", "p99", 7, .at = OF(p99_ns)},
	{TY_F_DURATION, "max_ns", "max", 7, .at = OF(max_ns)},
	{TY_F_U64, "open", "no reply", 8, .at = OF(open)},
	{TY_F_DURATION, "total_ns", NULL, 0, .at = OF(total_ns)},
	{TY_F_TEXT, NULL, "server role", 0, .text = server_end},
	{TY_F_BOOL, "inferred", NULL, 0, .at = OF(inferred)},
	{.type = TY_F_END}};
#undef OF
#define OF(member) offsetof(struct shown, member)
static const struct ty_field request_fields[] = {
	{TY_F_U32, NULL, "#", 2, .at = OF(rank)},
	{TY_F_DURATION, "duration_ns", "duration", 9, .at = OF(duration_ns)},
	{TY_F_INSTANT, "start_ns", "start", 10, .at = OF(q.start_ns)},
	{TY_F_TEXT, "service", NULL, 0, .text = service_of},
	{TY_F_TEXT, NULL, "received by", -WHO_COLUMNS, .text = receiver_column},
	{TY_F_TEXT, "received_by", NULL, 0, .text = receiver},
	{TY_F_TEXT, "replied_by", NULL, 0, .text = replier},
	{TY_F_I32, "fd", "fd", 4, .at = OF(q.fd)},
	{TY_F_TEXT, NULL, "state with most time", 0, .text = where},
	{TY_F_TEXT, "most_in", NULL, 0, .text = where_json},
	{TY_F_TEXT, "most_thread", NULL, 0, .text = most_of},
	{TY_F_DURATION, "most_ns", NULL, 0, .at = OF(most.most.ns)},
	{TY_F_BOOL, "open", NULL, 0, .at = OF(open)},
	{TY_F_BOOL, "began_before", NULL, 0, .at = OF(before)},
	{TY_F_BOOL, "inferred", NULL, 0, .at = OF(inferred)},
	{.type = TY_F_END}};

static struct shown show(const struct ty_report *r, uint32_t i)
{
	const struct ty_request *q = &r->requests.v[i];
	struct shown s = {.q = *q,
			  .duration_ns = q->end_ns - q->start_ns,
			  .rank = i + 1,
			  .open = q->flags & TY_REQ_OPEN,
			  .before = q->flags & TY_REQ_BEFORE,
			  .inferred = q->flags & TY_REQ_INFERRED};
	struct ty_explain x = ty_explain_session(r->s);

	if (ty_request_most(&x, q, &s.most))
		s.most = (struct ty_request_most){.thread = TY_NONE};
	return s;
}

/* The slowest request with a known thread beside a median one. False: there is none. */
static bool compare(const struct ty_report *r, struct ty_outlier *o)
{
	const struct ty_requests *q = &r->requests;
	struct ty_explain x = ty_explain_session(r->s);

	*o = (struct ty_outlier){0};
	return q->n && !ty_request_compare(&x, &q->v[0], ty_request_median(q, &q->v[0]), o);
}

static void compared_text(const struct ty_report *r, FILE *f)
{
	struct ty_outlier o;

	if (compare(r, &o)) {
		ty_put_heading(f, "request 1 compared with one near the median",
			       "where their threads spent the time");
		fprintf(f, "request 1 took %s, the one near the median %s\n",
			ty_duration(o.slow_ns), ty_duration(o.median_ns));
		ty_outlier_rows(&o, COMPARED_ROWS, f);
		if (o.n > COMPARED_ROWS)
			fprintf(f, "and %u row%s less\n", o.n - COMPARED_ROWS,
				o.n - COMPARED_ROWS == 1 ? " that differs" : "s that differ");
		ty_outlier_parts_text(r, &o, f);
		putc('\n', f);
	}
	ty_outlier_fini(&o);
}

void ty_requests_text(const struct ty_report *r, FILE *f)
{
	struct ty_field_ctx c = {.ctx = r, .instant = ty_report_instant};
	const struct ty_requests *q = &r->requests;
	char buf[TY_TIME_MAX];
	bool inferred = false;

	if (!q->services_n && !(r->requested & TY_REP_REQUESTS))
		return;
	ty_put_heading(
		f, "requests",
		"time from the receipt of a request on a socket to the first bytes of its reply "
		"(if sending the reply then waited for a disk: to the end of that call)");
	if (!q->services_n) {
		fputs("     none\n\n", f);
		return;
	}
	ty_fields_head(service_fields, &c, f);
	for (uint32_t i = 0; i < q->services_n && i < SERVICES_SHOWN; i++) {
		c.hide = q->services[i].n ? 0 : TIMES;
		ty_fields_text(service_fields, &c, &q->services[i], f);
		inferred |= q->services[i].inferred;
	}
	c.hide = 0;
	if (inferred)
		fputs("inferred: no accept or connect of these connections was recorded\n", f);
	if (q->services_n > SERVICES_SHOWN)
		fprintf(f, "and %u more process%s (--json has all)\n",
			q->services_n - SERVICES_SHOWN,
			q->services_n - SERVICES_SHOWN == 1 ? "" : "es");
	if (q->cut_ns)
		fprintf(f,
			"Requests after %s were not counted (too many calls). Narrow with --from "
			"and --to.\n",
			ty_report_instant(r, q->cut_ns, buf, sizeof(buf)));
	putc('\n', f);
	ty_put_heading(
		f, "slowest requests",
		"with the state in which their threads spent most time, and its largest part");
	ty_fields_head(request_fields, &c, f);
	for (uint32_t i = 0; i < q->n && i < SLOWEST_SHOWN; i++) {
		struct shown s = show(r, i);

		ty_fields_text(request_fields, &c, &s, f);
	}
	putc('\n', f);
	if (r->requested & TY_REP_REQUESTS)
		compared_text(r, f);
}

void ty_requests_json(const struct ty_report *r, struct ty_json *j)
{
	const struct ty_field_ctx c = {.ctx = r, .instant = ty_report_instant};
	const struct ty_requests *q = &r->requests;

	ty_json_object(j, "requests");
	ty_json_u64(j, "count", q->all);
	if (q->cut_ns)
		ty_json_u64(j, "cut_ns", q->cut_ns);
	ty_fields_array(service_fields, &c, "services", q->services, q->services_n,
			sizeof(*q->services), j);
	ty_json_array(j, "slowest");
	for (uint32_t i = 0; i < q->n; i++) {
		struct shown s = show(r, i);

		ty_fields_object(request_fields, &c, &s, j);
	}
	ty_json_end_array(j);
	if (r->requested & TY_REP_REQUESTS) {
		struct ty_outlier o;

		if (compare(r, &o)) {
			ty_json_object(j, "slowest_and_median");
			ty_outlier_json(r, &o, j);
			ty_json_end_object(j);
		}
		ty_outlier_fini(&o);
	}
	ty_json_end_object(j);
}
