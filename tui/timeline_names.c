/* SPDX-License-Identifier: MIT */
/* Arguments of the call in the details, found in a thread: first as numbers, for which a chunk is
 * decompressed; then with the names of descriptors and paths, for which calls of the whole process
 * are read. A frame waits for neither longer than AT_ONCE_MS. */
#include "call_args.h"

#include <stdio.h>

#include "timeline_priv.h"

/* What is found within this time is in the frame of the key that moved the cursor. */
#define AT_ONCE_MS 3

static void make(void *ctx)
{
	struct ty_call_names *n = ctx;
	struct ty_buf b;

	if (!n->host->syscall_args ||
	    !n->host->syscall_args(n->host->ctx, n->call, n->numbers, sizeof(n->numbers)))
		snprintf(n->numbers, sizeof(n->numbers), "...");
	atomic_store(&n->numbered, true);
	n->rc = -TY_ENOTFOUND;
	if (!n->explain.args || !n->explain.arch)
		return;
	ty_buf_init(&b, 1 << 16);
	n->rc = ty_call_args(&n->explain, n->call, &b);
	snprintf(n->text, sizeof(n->text), "%s", !n->rc && b.p ? b.p : "");
	ty_buf_fini(&b);
}

/* True when the text has changed. A job for another call is stopped, not waited for: it may be
 * reading the file. */
static bool names(struct ty_timeline *t, unsigned ms)
{
	struct ty_call_names *n = &t->names;
	bool finished;

	if (n->aside.on && n->call != t->args_of)
		atomic_store(&n->aside.stop, true);
	if (!n->aside.on && n->call != t->args_of && t->args_of != TY_NONE) {
		n->explain = t->in->explain ? *t->in->explain : (struct ty_explain){0};
		n->explain.stop = &n->aside.stop;
		n->explain.steps = NULL;
		n->host = &t->in->host;
		n->call = t->args_of;
		n->shown = false;
		atomic_store(&n->numbered, false);
		ty_background_start(&n->aside, t->in->aside, make, n);
	}
	finished = ty_background_wait(&n->aside, ms);
	if (finished && atomic_load(&n->aside.stop))
		n->call = TY_NONE;
	if (n->call != t->args_of || !atomic_load(&n->numbered) || (n->shown && !finished))
		return false;
	snprintf(t->args, sizeof(t->args), "%s", finished && !n->rc ? n->text : n->numbers);
	return n->shown = true;
}

const char *ty_timeline_args(struct ty_timeline *t, uint32_t call)
{
	if (t->args_of == call)
		return t->args;
	t->args_of = call;
	snprintf(t->args, sizeof(t->args), "...");
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
