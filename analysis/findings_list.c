/* SPDX-License-Identifier: MIT */
/* Inserts a finding into the ranked list; names of threads and objects in it. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fd_kind.h"
#include "findings_priv.h"
#include "process_titles.h"
#include "shell_word.h"
#include "wait_fd.h"

const char *ty_finding_kind_key(enum ty_finding_kind k)
{
	static const char *const key[] = {
#define X(name, json) json,
		TY_FINDING_KINDS(X)
#undef X
	};

	return k < TY_FINDING_KINDS_N ? key[k] : "";
}

struct ty_finding *ty_finding_add(const struct ty_finding_work *k, const struct ty_finding *f)
{
	struct ty_findings *o = k->out;
	uint32_t i = o->n;

	if (o->n == TY_FINDINGS_MAX && o->v[o->n - 1].ns >= f->ns)
		return NULL;
	if (o->n < TY_FINDINGS_MAX)
		o->n++;
	else
		i--;
	for (; i && o->v[i - 1].ns < f->ns; i--)
		o->v[i] = o->v[i - 1];
	o->v[i] = *f;
	return &o->v[i];
}

static bool covered(const struct ty_finding *f, const struct ty_stall *s, uint32_t n)
{
	for (; f->kind == TY_FINDING_POLLED && n; n--, s++)
		if (s->thread == f->thread && s->kind == TY_STALL_LOCK && s->start_ns <= f->at_ns &&
		    f->at_ns + f->ns <= s->start_ns + s->duration_ns)
			return true;
	return false;
}

void ty_findings_leave(struct ty_findings *f, const struct ty_stall *stalls, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < f->n; i++)
		if (!covered(&f->v[i], stalls, n))
			f->v[kept++] = f->v[i];
	f->n = kept;
}

const char *ty_finding_thread_name(const struct ty_model *m, uint32_t thread, bool several,
				   char out[TY_WHO_MAX])
{
	const char *name = ty_model_str(m, ty_model_thread(m, thread)->name);

	if (several)
		snprintf(out, TY_WHO_MAX, "%.*s", ty_comm_shown(name), name);
	else
		ty_model_who_last(m, thread, out);
	return out;
}

void ty_finding_calls(struct ty_finding *f, const struct ty_model *m, uint32_t thread,
		      uint32_t name, bool several)
{
	char word[80];

	if (several)
		ty_finding_next(f, "tarry dump FILE syscalls --comm %s",
				ty_shell_word(ty_model_str(m, name), "NAME", word, sizeof(word)));
	else
		ty_finding_next(f, "tarry dump FILE syscalls --tid %d",
				ty_model_thread(m, thread)->tid);
}

void ty_finding_object(const struct ty_explain *x, uint32_t call, char out[96])
{
	struct ty_syscall c = ty_model_syscall(x->m, call);
	const char *name = NULL;
	const struct ty_sysrow *row;
	uint64_t args[6];
	bool behind;
	int object;
	char text[TY_WAIT_NAME];

	*out = 0;
	row = ty_explain_deed(x, &c, &behind);
	object = ty_sysrow_object(row, c.ret);
	if (object < 0 || behind || !x->args || x->args(x->ctx, &c, args))
		return;
	switch (row->a[object]) {
	case TY_ARG_FD:
		ty_fd_kind(x, c.thread, args[object], c.start_ns, &name);
		if (name)
			snprintf(out, 96, "fd %d <%s>", (int)args[object],
				 ty_wait_name(name, text));
		else
			snprintf(out, 96, "fd %d", (int)args[object]);
		return;
	case TY_ARG_PATH:
		name = x->pointee ? x->pointee(x->ctx, c.thread, call, (unsigned)object) : NULL;
		if (name)
			snprintf(out, 96, "\"%s\"", ty_wait_name(name, text));
		return;
	case TY_ARG_WORD: snprintf(out, 96, "futex %#llx", (unsigned long long)args[object]);
	}
}
