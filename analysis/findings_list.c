/* SPDX-License-Identifier: MIT */
/* Inserts a finding into the ranked list; names of threads and objects in it. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fd_kind.h"
#include "findings_priv.h"
#include "process_titles.h"

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

static void append(char *out, size_t size, const char *fmt, va_list ap)
{
	size_t n = strlen(out);

	vsnprintf(out + n, size - n, fmt, ap);
}

void ty_finding_say(struct ty_finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	append(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
}

void ty_finding_next(struct ty_finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	append(f->next, sizeof(f->next), fmt, ap);
	va_end(ap);
}

const char *ty_finding_thread_name(const struct ty_model *m, uint32_t thread, bool several,
				   char out[TY_WHO_MAX])
{
	if (several)
		snprintf(out, TY_WHO_MAX, "%s", ty_model_str(m, ty_model_thread(m, thread)->name));
	else
		ty_model_who_last(m, thread, out);
	return out;
}

/* The end of a long name is more specific than its beginning. */
static const char *end_of(const char *name)
{
	size_t n = strlen(name);

	if (n <= 72)
		return name;
	name += n - 72;
	while ((*name & 0xc0) == 0x80) /* not amid a character */
		name++;
	return name;
}

void ty_finding_object(const struct ty_explain *x, uint32_t call, char out[96])
{
	struct ty_syscall c = ty_model_syscall(x->m, call);
	const char *name = NULL;
	const struct ty_sysrow *row;
	uint64_t args[6];
	bool behind;

	*out = 0;
	row = ty_explain_deed(x, &c, &behind);
	if (row->object < 0 || behind || !x->args || x->args(x->ctx, &c, args))
		return;
	switch (row->a[row->object]) {
	case TY_ARG_FD:
		ty_fd_kind(x, c.thread, args[row->object], c.start_ns, &name);
		if (name)
			snprintf(out, 96, "fd %d <%s>", (int)args[row->object], end_of(name));
		else
			snprintf(out, 96, "fd %d", (int)args[row->object]);
		return;
	case TY_ARG_PATH:
		name = x->pointee ? x->pointee(x->ctx, c.thread, call, (unsigned)row->object)
				  : NULL;
		if (name)
			snprintf(out, 96, "\"%s\"", end_of(name));
		return;
	case TY_ARG_WORD: snprintf(out, 96, "futex %#llx", (unsigned long long)args[row->object]);
	}
}
