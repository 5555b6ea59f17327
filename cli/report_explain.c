/* SPDX-License-Identifier: MIT */
/* The explaining sections of the report: stalls, ledger, chain; as text and as JSON. */
#include "report_explain.h"

#include <inttypes.h>
#include <string.h>

#include "explain_session.h"
#include "plain.h"
#include "units.h"

int ty_explained_find(struct ty_session *s, const struct ty_window *w, unsigned what,
		      const struct ty_stalls_opts *o, struct ty_explained *out, struct ty_err *err)
{
	*out = (struct ty_explained){.x = ty_explain_session(s)};
	return what & TY_EXPLAIN_STALLS
		       ? ty_stalls_find(&out->x, w, o, TY_EXPLAINED_STALLS, &out->stalls, err)
		       : 0;
}

void ty_explained_fini(struct ty_explained *e)
{
	ty_stalls_fini(&e->stalls);
}

/* stalls ------------------------------------------------------------------------------------ */

static void put(FILE *f, const char *s)
{
	char b[1024];

	snprintf(b, sizeof(b), "%s", s);
	ty_plain(b, strlen(b));
	fputs(b, f);
}

void ty_stalls_text(const struct ty_explained *e, FILE *f)
{
	char d[TY_DURATION_MAX];

	fputs("stalls\n", f);
	for (uint32_t i = 0; i < e->stalls.n && i < TY_EXPLAINED_SHOWN; i++) {
		const struct ty_stall *s = &e->stalls.v[i];

		fprintf(f, "%4u %9s  ", i + 1, ty_fmt_duration(s->duration_ns, d));
		put(f, s->sentence);
		putc('\n', f);
	}
	if (!e->stalls.n)
		fputs("     none (what waited for work is not counted; --all shows it)\n", f);
	if (e->stalls.n > TY_EXPLAINED_SHOWN)
		fprintf(f, "     and %u more (--json has %s)\n", e->stalls.n - TY_EXPLAINED_SHOWN,
			e->stalls.n == TY_EXPLAINED_STALLS ? "the first thousand" : "all");
}

/* tid and comm, or null both. */
static void who(const struct ty_model *m, struct ty_json *j, uint32_t thread, uint64_t t)
{
	if (thread == TY_NONE) {
		ty_json_null(j, "tid");
		ty_json_null(j, "comm");
		return;
	}
	ty_json_i64(j, "tid", ty_model_thread(m, thread)->tid);
	ty_json_str(j, "comm", ty_model_comm(m, thread, t));
}

static void json_link(const struct ty_explain *x, struct ty_json *j, const struct ty_link *l)
{
	char what[160];

	ty_json_object(j, NULL);
	who(x->m, j, l->thread, l->start_ns + (l->end_ns - l->start_ns) / 2);
	ty_link_text(x, l, what, sizeof(what));
	ty_json_str(j, "what", what);
	ty_json_u64(j, "start_ns", l->start_ns);
	ty_json_u64(j, "duration_ns", l->end_ns - l->start_ns);
	ty_json_end_object(j);
}

void ty_stalls_json(const struct ty_explained *e, struct ty_json *j)
{
	const struct ty_model *m = e->x.m;

	ty_json_array(j, "stalls");
	for (uint32_t i = 0; i < e->stalls.n; i++) {
		const struct ty_stall *s = &e->stalls.v[i];
		char buf[32];

		ty_json_object(j, NULL);
		ty_json_u64(j, "rank", i + 1);
		who(m, j, s->thread, s->start_ns);
		ty_json_u64(j, "start_ns", s->start_ns);
		ty_json_u64(j, "duration_ns", s->duration_ns);
		ty_json_str(j, "state", ty_state_name(s->state));
		if (s->syscall == TY_NONE)
			ty_json_null(j, "syscall");
		else
			ty_json_str(j, "syscall", ty_explain_call(&e->x, s->syscall, buf));
		if (*s->object)
			ty_json_str(j, "object", s->object);
		else
			ty_json_null(j, "object");
		ty_json_u64(j, "waits", s->waits);
		ty_json_u64(j, "path_ns", s->path_ns);
		ty_json_object(j, "cause");
		ty_json_str(j, "kind", ty_stall_kind_name(s->kind));
		who(m, j, s->culprit, s->culprit_ns);
		ty_json_str(j, "text", s->text);
		ty_json_str(j, "evidence", s->proven ? "proven" : "inferred");
		ty_json_end_object(j);
		ty_json_array(j, "chain");
		for (uint32_t k = 0; k < s->links; k++)
			json_link(&e->x, j, &s->link[k]);
		ty_json_end_array(j);
		ty_json_str(j, "sentence", s->sentence);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
}
