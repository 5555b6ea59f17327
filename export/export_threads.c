/* SPDX-License-Identifier: MIT */
/*
 * See export_threads.h. Only certain facts of the model are written: an inferred state, or one that
 * lost events may have changed, is "-", and so is everything known only from /proc.
 */
#include "export_threads.h"

#include <inttypes.h>
#include <string.h>

#include "explain_session.h"
#include "field_text.h"
#include "int_set.h"
#include "key_value.h"
#include "vec.h"

struct writing {
	struct ty_explain x;
	uint64_t at_ns;
	struct ty_buf *out;
};

static bool lives(const struct writing *w, const struct ty_thread *t)
{
	return t->start_ns <= w->at_ns && t->end_ns > w->at_ns;
}

/* As /proc/TID/stat has it, which does not distinguish running from runnable. */
static char letter(uint8_t state)
{
	switch ((enum ty_state)state) {
	case TY_ST_RUNNING: return 'R';
	case TY_ST_RUNNABLE: return 'w';
	case TY_ST_SLEEPING: return 'S';
	case TY_ST_BLOCKED: return 'D';
	case TY_ST_STOPPED: return 'T';
	case TY_ST_DEAD: return 'Z';
	default: return '-';
	}
}

static void number(struct ty_buf *out, int64_t v, int64_t none)
{
	if (v == none)
		ty_buf_addc(out, '-');
	else
		ty_buf_addf(out, "%" PRId64, v);
	ty_buf_addc(out, '\t');
}

/* The call that it waits in, with its arguments where they are known. */
static void call(struct writing *w, uint32_t thread)
{
	uint32_t i = ty_model_syscall_at(w->x.m, thread, w->at_ns);
	struct ty_syscall c;
	uint64_t args[6];

	if (i != TY_NONE)
		c = ty_model_syscall(w->x.m, i);
	if (i == TY_NONE || c.flags & TY_SF_LOST) {
		ty_buf_adds(w->out, "-\t");
		return;
	}
	ty_buf_addf(w->out, "%" PRId32, c.nr);
	if (!w->x.args(w->x.ctx, &c, args))
		for (unsigned k = 0; k < 6; k++)
			ty_buf_addf(w->out, " 0x%" PRIx64, args[k]);
	ty_buf_addc(w->out, '\t');
}

static void line(struct writing *w, uint32_t thread)
{
	const struct ty_model *m = w->x.m;
	const struct ty_thread *t = ty_model_thread(m, thread);
	const char *comm = ty_model_comm(m, thread, w->at_ns);
	const char *affinity = ty_model_str(m, t->affinity), *group = ty_model_str(m, t->cgroup);
	uint32_t s = ty_model_span_find(m, thread, w->at_ns);
	struct ty_span span =
		s == TY_NONE ? (struct ty_span){.cpu = TY_NONE} : ty_model_span_brief(m, thread, s);
	char state = span.flags & (TY_SF_INFERRED | TY_SF_LOST) ? '-' : letter(span.state);

	ty_buf_addf(w->out, "%" PRId32 "\t", ty_model_tid(m, thread, w->at_ns));
	number(w->out, t->tgid, -1);
	number(w->out, t->ppid, -1);
	ty_buf_addf(w->out, "-\t%c\t", state);
	number(w->out, t->policy, -1);
	ty_buf_adds(w->out, "-\t");
	number(w->out, span.cpu, TY_NONE);
	if (state == 'R' || state == 'w')
		ty_buf_adds(w->out, "running\t");
	else
		call(w, thread);
	/* Fields of the text that they were read from. */
	ty_buf_addf(w->out, "-\t%s\t%s\t", *affinity ? affinity : "-", *group ? group : "-");
	ty_escape_field(w->out, comm, strlen(comm));
	ty_buf_addc(w->out, '\n');
}

void ty_export_threads(struct ty_session *s, uint64_t at_ns, struct ty_buf *out)
{
	struct writing w = {ty_explain_session(s), at_ns, out};
	uint64_t file_ns = at_ns - (uint64_t)s->trace->ts_offset_ns;

	ty_buf_addf(out, "taken %" PRIu64 " %" PRIu64 "\n", file_ns, file_ns);
	for (uint32_t i = 0; i < ty_model_summary(s->model)->threads && !out->failed; i++)
		if (lives(&w, ty_model_thread(s->model, i)))
			line(&w, i);
}

void ty_export_traced(const struct ty_session *s, uint64_t at_ns, struct ty_buf *out)
{
	const struct writing w = {.at_ns = at_ns};
	VEC(int) tids = {0};
	int r = 0;

	for (uint32_t i = 0; !r && i < ty_model_summary(s->model)->threads; i++) {
		const struct ty_thread *t = ty_model_thread(s->model, i);

		if (t->traced && lives(&w, t))
			r = vec_push(&tids, ty_model_tid(s->model, i, at_ns));
	}
	tids.n = ty_int_set(tids.v, tids.n);
	if (r || ty_key_add_ranges(out, "traced", tids.v, tids.n))
		out->failed = out->failed ? out->failed : -TY_ENOMEM;
	vec_fini(&tids);
}
