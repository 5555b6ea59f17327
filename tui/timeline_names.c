/* SPDX-License-Identifier: MIT */
/* Arguments of the call in the details: at first as numbers, which costs a decompression; in a
 * thread with the names of descriptors and paths, for which calls of the whole process are read. */
#include "call_args.h"

#include <stdio.h>
#include <string.h>

#include "timeline_priv.h"

/* Names found within this time are in the frame of the key that moved the cursor. */
#define AT_ONCE_MS 5

static void make(void *ctx)
{
	struct ty_call_names *n = ctx;
	struct ty_buf b;

	n->text[0] = 0;
	ty_buf_init(&b, 1 << 16);
	n->rc = ty_call_args(&n->explain, n->call, &b);
	if (!n->rc && b.p)
		snprintf(n->text, sizeof(n->text), "%s", b.p);
	ty_buf_fini(&b);
}

static void as_numbers(struct ty_timeline *t, uint32_t call)
{
	char buf[sizeof(t->args)];
	const char *s = t->in->host.syscall_args
				? t->in->host.syscall_args(t->in->host.ctx, call, buf, sizeof(buf))
				: NULL;

	snprintf(t->args, sizeof(t->args), "%s", s ? s : "...");
}

/* True when they are there. A job for another call is stopped, not waited for: it may be reading
 * the file. */
static bool names(struct ty_timeline *t, unsigned ms)
{
	struct ty_call_names *n = &t->names;

	if (n->aside.on && n->call != t->args_of)
		atomic_store(&n->aside.stop, true);
	if (!n->aside.on && n->call != t->args_of && t->args_of != TY_NONE) {
		n->explain = *t->in->explain;
		n->explain.stop = &n->aside.stop;
		n->explain.steps = NULL;
		n->call = t->args_of;
		ty_background_start(&n->aside, t->in->aside, make, n);
	}
	if (!ty_background_wait(&n->aside, ms))
		return false;
	if (atomic_load(&n->aside.stop))
		n->call = TY_NONE;
	if (n->call != t->args_of || n->rc)
		return false;
	snprintf(t->args, sizeof(t->args), "%s", n->text);
	return true;
}

const char *ty_timeline_args(struct ty_timeline *t, uint32_t call)
{
	const struct ty_explain *x = t->in->explain;

	if (t->args_of == call)
		return t->args;
	t->args_of = call;
	as_numbers(t, call);
	if (x && x->args && x->arch)
		names(t, AT_ONCE_MS);
	return t->args;
}

void ty_timeline_args_forget(struct ty_timeline *t)
{
	ty_background_stop(&t->names.aside);
	t->args_of = t->names.call = TY_NONE;
}

static bool names_work(struct ty_timeline *t)
{
	return t->names.aside.on && (names(t, 0) || (!t->names.aside.on && names(t, 0)));
}

static int names_wait_ms(const struct ty_timeline *t)
{
	return t->names.aside.on ? TY_LAYER_POLL_MS : -1;
}

const struct ty_layer ty_names_layer = {
	.wait_ms = names_wait_ms, .work = names_work, .fini = ty_timeline_args_forget};
