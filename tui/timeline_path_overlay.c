/* SPDX-License-Identifier: MIT */
/* Overlays on the rows, computed in a thread: the chain of the span under the cursor, recomputed as
 * the cursor moves, and once the critical path of the traced command. */
#include <stdio.h>
#include <string.h>

#include "command_path.h"
#include "glyphs.h"
#include "ruler.h"
#include "timeline_priv.h"

/* A path computed within this time is in the frame of its key. */
#define AT_ONCE_MS 5

static void make_arrows(void *ctx)
{
	struct ty_path_overlay *a = ctx;
	struct ty_path p = {0};

	a->links = 0;
	a->rc = ty_path_find(&a->explain, a->thread, a->from_ns, a->to_ns, &p);
	if (!a->rc && p.seg.n)
		a->links = ty_path_links(a->explain.m, &p, ty_path_root(&p).seg, a->link,
					 TY_STALL_LINKS);
	ty_path_fini(&p);
}

static void make_route(void *ctx)
{
	struct ty_path_overlay *a = ctx;

	a->rc = ty_command_path(&a->explain, 0, UINT64_MAX, &a->from_ns, &a->to_ns, &a->path);
}

static void start(struct ty_timeline *t, struct ty_path_overlay *a, void (*make)(void *ctx))
{
	a->explain = *t->in->explain;
	a->explain.stop = &a->aside.stop;
	a->made = false;
	ty_background_start(&a->aside, t->in->aside, make, a);
	a->made = ty_background_wait(&a->aside, AT_ONCE_MS);
}

/* The wait under the cursor; false: no wait that a thread could have ended. */
static bool wait_here(const struct ty_timeline *t, uint32_t *thread, uint64_t *from, uint64_t *to)
{
	struct ty_track track;
	struct ty_cell cell;
	struct ty_span s;
	uint64_t a, b;
	uint32_t idx;

	if (!ty_timeline_subject(t, &track, &cell, &idx, &a, &b) || track.kind == TY_TRACK_CPU ||
	    track.kind == TY_TRACK_IRQS)
		return false;
	s = ty_track_span(t->m, track, idx);
	*thread = track.id;
	*from = s.start_ns;
	*to = s.end_ns;
	return track.kind == TY_TRACK_SYSCALLS || s.state == TY_ST_SLEEPING ||
	       s.state == TY_ST_BLOCKED || s.state == TY_ST_STOPPED || s.state == TY_ST_RUNNABLE;
}

/* C is done with, or the wait that it was about is left: the arrows are as they were before. */
static void end_only(struct ty_path_overlay *a)
{
	if (a->only)
		a->on = a->was_on;
	a->only = false;
}

/* The item under the cursor. */
static void follow(struct ty_timeline *t)
{
	struct ty_path_overlay *a = &t->arrows;
	const struct ty_stall *s;
	uint32_t thread;
	uint64_t from, to;

	if (!a->on)
		return;
	if (!wait_here(t, &thread, &from, &to)) {
		ty_background_stop(&a->aside);
		end_only(a);
		a->made = false;
		a->thread = TY_NONE;
		return;
	}
	if (a->thread == thread && a->from_ns == from && a->to_ns == to)
		return;
	ty_background_stop(&a->aside);
	a->made = false;
	a->thread = TY_NONE;
	end_only(a);
	if (!a->on)
		return;
	a->thread = thread;
	a->from_ns = from;
	a->to_ns = to;
	s = ty_stalls_around(&t->findings.stalls, thread, from, to);
	if (s) {
		/* The same as in the finding. */
		a->rc = 0;
		a->links = s->links;
		memcpy(a->link, s->link, sizeof(a->link));
		a->made = true;
		return;
	}
	start(t, a, make_arrows);
}

static void show_route(struct ty_timeline *t)
{
	const struct ty_path_overlay *a = &t->route;
	char len[TY_TIME_MAX];

	if (a->rc)
		ty_timeline_say(t, "critical path: %s", ty_strerror(a->rc));
	else
		ty_timeline_say(t, "critical path: %s in %zu parts%s%s; P hides it",
				ty_fmt_length(a->to_ns - a->from_ns, len), a->path.seg.n,
				a->path.cut ? " (too long: its beginning is missing)" : "",
				a->path.inferred ? ", partly inferred" : "");
}

/* "tid:12,34": the waiter, and the threads that held it up. */
static void filter_chain(struct ty_timeline *t)
{
	struct ty_path_overlay *a = &t->arrows;
	char text[200] = "tid:";
	size_t n = 4;

	end_only(a);
	for (uint32_t i = 0; !a->rc && i < a->links; i++) {
		char one[16];

		snprintf(one, sizeof(one), "%s%d", i ? "," : "",
			 ty_model_thread(t->m, a->link[i].thread)->tid);
		if (n + strlen(one) < sizeof(text))
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", one);
	}
	if (a->rc || !a->links)
		ty_timeline_say(t, "no wakeup chain: nothing is known to have held up this wait");
	else
		ty_timeline_filter(t, text);
}

void ty_timeline_only(struct ty_timeline *t)
{
	struct ty_path_overlay *a = &t->arrows;
	uint32_t thread;
	uint64_t from, to;

	if (!t->in->explain || !wait_here(t, &thread, &from, &to)) {
		ty_timeline_say(t, "no wait is under the cursor, so there is no wakeup chain");
		return;
	}
	end_only(a);
	a->was_on = a->on;
	a->on = true;
	follow(t);
	a->only = true;
	if (a->made)
		filter_chain(t);
	else
		ty_timeline_say(t, "computing the wakeup chain");
}

static bool overlay_work(struct ty_timeline *t)
{
	bool changed = false;

	if (ty_background_wait(&t->arrows.aside, 0)) {
		changed = t->arrows.made = true;
		if (t->arrows.only)
			filter_chain(t);
	}
	if (ty_background_wait(&t->route.aside, 0)) {
		changed = t->route.made = true;
		show_route(t);
	}
	return changed;
}

void ty_timeline_arrows(struct ty_timeline *t)
{
	struct ty_path_overlay *a = &t->arrows;

	if (!t->in->explain) {
		ty_timeline_say(t, "no scheduling was recorded: there are no wakeup chains");
		return;
	}
	a->on = !a->on;
	a->thread = TY_NONE;
	a->made = a->only = false;
	if (!a->on) {
		ty_background_stop(&a->aside);
		ty_timeline_say(t, "no arrows");
	} else {
		ty_timeline_say(t,
				"arrows: wakeup chain of the wait under the cursor; A hides them");
	}
}

void ty_timeline_route(struct ty_timeline *t)
{
	struct ty_path_overlay *a = &t->route;

	if (!t->in->explain || !t->in->explain->command_tid) {
		ty_timeline_say(t, "no command was traced, so there is no critical path");
		return;
	}
	a->on = !a->on;
	if (!a->on) {
		if (ty_background_stop(&a->aside))
			ty_path_fini(&a->path);
		ty_timeline_say(t, "no critical path");
	} else if (a->made && !a->rc) {
		show_route(t);
	} else {
		ty_timeline_say(t, "computing the critical path; P stops");
		ty_path_fini(&a->path);
		start(t, a, make_route);
		if (a->made)
			show_route(t);
	}
}

static void overlay_fini(struct ty_timeline *t)
{
	ty_background_stop(&t->arrows.aside);
	ty_background_stop(&t->route.aside);
	ty_path_fini(&t->route.path);
}

static void overlay_draw(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p)
{
	follow(t);
	ty_timeline_paths_draw(t, g, p);
}

static int overlay_wait_ms(const struct ty_timeline *t)
{
	return t->arrows.aside.on || t->route.aside.on ? TY_LAYER_POLL_MS : -1;
}

const struct ty_layer ty_path_overlay_layer = {.draw = overlay_draw,
					       .wait_ms = overlay_wait_ms,
					       .work = overlay_work,
					       .fini = overlay_fini};
