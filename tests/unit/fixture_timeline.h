/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the timeline share: models made of a few events or of the story
 * (fixture_story.h), a view on them, its frames as text, and keys.
 */
#ifndef TY_FIXTURE_TIMELINE_H
#define TY_FIXTURE_TIMELINE_H

#include <stdint.h>

#include "build.h"
#include "event.h"
#include "timeline_priv.h"

/* A model: begin, events in time order (microseconds from TY_STORY_START), end. One at a time. */
void ty_tl_build(const struct ty_build_facts *facts);
void ty_tl_feed(struct ty_event ev, uint64_t us, uint32_t cpu, int tid, int kind);
void ty_tl_switch(uint64_t us, uint32_t cpu, int prev, uint64_t state, int next);
void ty_tl_wake(uint64_t us, uint32_t cpu, int by, uint8_t flags, int tid, int target_cpu);
void ty_tl_enter(uint64_t us, uint32_t cpu, int tid, int nr);
void ty_tl_leave(uint64_t us, uint32_t cpu, int tid, int nr);
struct ty_model *ty_tl_built(void);

/* The story's model; and what a view is opened on (one at a time). */
struct ty_model *ty_tl_stall(void);
struct ty_model *ty_tl_stall_first(unsigned events); /* of its first events only */
struct ty_view_input ty_tl_input(const struct ty_model *m);
struct ty_timeline *ty_tl_open(const struct ty_view_input *in);

/* Without colours, so that a frame is its text. */
extern const struct ty_palette ty_tl_utf8, ty_tl_ascii;
/* The view's frame; until the next one is drawn. */
char *ty_tl_frame(struct ty_timeline *t, const struct ty_palette *p, int w, int h);
/* The same of any view. */
/* Fails where a key that moves in one view is not bound in this one (axis: that has a time axis or
 * boxes side by side). */
void ty_tl_moves(const struct ty_view_ops *ops, void *self, bool axis);
char *ty_tl_view_frame(const struct ty_view_ops *ops, void *self, const struct ty_palette *p, int w,
		       int h);
/* s without line breaks, blanks squeezed to one; until the next one. */
char *ty_tl_flat(const char *s);
/* Is it tests/golden/NAME.txt? With GOLDEN_UPDATE set it becomes that. */
void ty_tl_golden(const char *name, const char *got);

/* Characters and Enter; jobs to their end; an action with a prompt, the answer, and its job. */
void ty_tl_type(struct ty_timeline *t, const char *s);
void ty_tl_work(struct ty_timeline *t);
void ty_tl_ask(struct ty_timeline *t, enum ty_action a, const char *text);

/* What frames depend on: UTF-8, and UTC. */
void ty_tl_locale(void);

#endif
