/* SPDX-License-Identifier: MIT */
/* Opens the spectrogram from the timeline, and returns from it. */
#include "glyphs.h"
#include "timeline_priv.h"

/* The subject under the cursor: its system call, else its state; elsewhere waits for a CPU. */
static struct ty_spec_kind kind_here(const struct ty_timeline *t)
{
	struct ty_spec_kind k = {.of = TY_SPEC_STATE, .state = TY_ST_RUNNABLE};
	struct ty_track track;
	struct ty_cell cell;
	struct ty_span s;
	uint32_t idx;
	uint64_t from, to;

	if (!ty_timeline_subject(t, &track, &cell, &idx, &from, &to) ||
	    track.kind == TY_TRACK_CPU || track.kind == TY_TRACK_IRQS)
		return k;
	s = ty_track_span(t->m, track, idx);
	if (s.syscall != TY_NONE && s.state != TY_ST_RUNNABLE) {
		struct ty_syscall c = ty_model_syscall(t->m, s.syscall);

		k.of = TY_SPEC_CALL;
		k.abi = c.abi == TY_ABI_UNSURE ? TY_ABI_NATIVE64 : c.abi;
		k.nr = c.nr;
	} else if (s.state != TY_ST_UNKNOWN && s.state != TY_ST_DEAD) {
		k.state = s.state;
	}
	return k;
}

static void spectrum_left(struct ty_timeline *t)
{
	uint32_t thread, row;
	uint64_t at;
	bool calls, leads = ty_spectrum_view_leads(t->spectrum, &thread, &at, &calls);

	ty_spectrum_view_free(t->spectrum);
	t->spectrum = NULL;
	if (!leads)
		return;
	t->message[0] = 0;
	t->vp.here = ty_timeline_place(t);
	ty_timeline_unselect(t);
	ty_timeline_visit(t, thread, at);
	if (calls && thread != TY_NONE) {
		row = ty_tracks_reveal_calls(&t->tracks, thread);
		t->row = row == TY_NONE ? t->row : row;
	}
}

bool ty_timeline_spectrum(struct ty_timeline *t)
{
	struct ty_spectrum_on on = {.in = t->in,
				    .gaps = &t->gaps,
				    .vp = &t->vp,
				    .cursor_ns = &t->cursor_ns,
				    .clock = &t->clock,
				    .kind = kind_here(t),
				    .thread = ty_timeline_row_thread(t)};

	/* A page that is being computed would be opened above this one. */
	ty_timeline_stop_page(t);
	ty_spectrum_view_free(t->spectrum);
	t->spectrum = ty_spectrum_view_new(&on);
	if (!t->spectrum) {
		ty_timeline_say(t, "out of memory for the spectrogram");
		return false;
	}
	return ty_timeline_push(t, &ty_spectrum_view_ops, t->spectrum, spectrum_left);
}
