/* SPDX-License-Identifier: MIT */
/* See wait_samples.h. */
#include "wait_samples.h"

#include <stdio.h>
#include <stdlib.h>

#include "stack_groups.h"
#include "wait_stacks.h"

/* The frame below `node`; UINT32_MAX: out of memory. */
static uint32_t add_frame(struct ty_samples *out, uint32_t node, const char *function,
			  const struct ty_stack_frame *f)
{
	struct ty_sample_frame v = {
		.func = ty_samples_func(out, function, f ? f->module : NULL, !f),
		.file = ty_samples_text(out, f ? f->file : NULL),
		.line = f ? f->line : 0,
		.inlined = f && f->inlined};
	uint32_t frame = v.func == UINT32_MAX || v.file == UINT32_MAX ? UINT32_MAX
								      : ty_samples_frame(out, &v);

	return frame == UINT32_MAX ? UINT32_MAX : ty_samples_node(out, node, frame);
}

static int add_wait(const struct ty_session *s, const struct ty_stack_frames *f,
		    const struct ty_stack_wait *wait, struct ty_samples *out)
{
	struct ty_sample v = {.ns = wait->start_ns,
			      .period = wait->end_ns - wait->start_ns,
			      .pid = (int32_t)f->stack.head.pid,
			      .tid = f->tid,
			      .comm = ty_samples_text(out, wait->comm),
			      .cpu = UINT16_MAX,
			      .cut = f->end != TY_STACK_COMPLETE};
	char state[40];

	for (unsigned i = f->n; i-- > 0 && v.node != UINT32_MAX;)
		v.node = add_frame(out, v.node, f->v[i].function, &f->v[i]);
	snprintf(state, sizeof(state), "[%s]",
		 ty_state_name(ty_model_span(s->model, wait->span).state));
	if (v.node != UINT32_MAX)
		v.node = add_frame(out, v.node, state, NULL);
	if (v.node == UINT32_MAX || v.comm == UINT32_MAX)
		return -TY_ENOMEM;
	return vec_push(&out->waits, v);
}

int ty_wait_samples_add(const struct ty_session *s, const struct ty_texts *roots,
			const atomic_bool *stop, struct ty_samples *out)
{
	const struct ty_window all = {.to_ns = UINT64_MAX};
	struct ty_stack_frames *f = malloc(sizeof(*f));
	struct ty_wait_stacks *w = ty_wait_stacks_new(
		s->trace, roots ? (const char *const *)roots->v : NULL, roots ? roots->n : 0);
	int e = f && w ? 0 : -TY_ENOMEM;

	for (size_t i = 0; !e && ty_wait_stacks_peek(w, i, f); i++) {
		struct ty_stack_wait wait;

		if (stop && atomic_load(stop))
			e = -TY_EINTR;
		if (e || !ty_stack_wait_of(s, &all, f, &wait))
			continue;
		ty_wait_stacks_unwind(w, f);
		e = add_wait(s, f, &wait, out);
	}
	ty_wait_stacks_free(w);
	free(f);
	return e;
}
