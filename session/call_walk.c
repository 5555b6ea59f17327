/* SPDX-License-Identifier: MIT */
#include "call_walk.h"

#include "call_data_source.h"

int ty_call_walk_init(struct ty_call_walk *w, struct ty_session *s)
{
	const struct ty_trace *t = s->trace;
	const struct ty_text strings = ty_session_call_data(s);

	w->pairs = ty_pairs_new(s->arch);
	w->tgids = ty_tgid_map_new(ty_trace_section(t, TY_SEC_THREADS).s);
	w->strings =
		strings.n ? ty_call_data_index_new(strings.s, strings.n, s->memory_bytes) : NULL;
	if (!w->pairs || !w->tgids || (strings.n && !w->strings))
		return -TY_ENOMEM;
	w->fds = ty_fd_track_new(t, s->arch, w->strings);
	return w->fds ? 0 : -TY_ENOMEM;
}

void ty_call_walk_fini(struct ty_call_walk *w)
{
	ty_fd_track_free(w->fds);
	ty_call_data_index_free(w->strings);
	ty_tgid_map_free(w->tgids);
	ty_pairs_free(w->pairs);
}

int ty_call_walk_feed(struct ty_call_walk *w, const struct ty_event *ev, bool lost,
		      struct ty_pair_step *step, struct ty_err *err)
{
	int r = ty_tgid_map_feed(w->tgids, ev);

	if (!r && (ev->kind == TY_EV_NEWTASK || ev->kind == TY_EV_EXIT)) {
		const struct ty_call *makes = ty_pairs_current(w->pairs, ev->tid);

		r = ty_fd_track_event(w->fds, ev, ty_tgid_map_get(w->tgids, ev->tid),
				      makes ? makes->start_ns : 0);
	}
	if (!r && lost) {
		ty_fd_track_lost(w->fds);
		if (w->strings)
			ty_call_data_gap(w->strings, ev->ts_ns);
	}
	return r ? r : ty_pairs_feed(w->pairs, ev, step, err);
}

int ty_call_walk_end(struct ty_call_walk *w, const struct ty_call *c)
{
	int r = 0;

	if (ty_fd_track_follows(w->fds, c))
		r = ty_fd_track_end(w->fds, ty_tgid_map_get(w->tgids, c->end_tid), c);
	if (w->strings)
		ty_call_data_over(w->strings, c->end_tid, c->end_ns);
	return r;
}

void ty_call_walk_begin(struct ty_call_walk *w, const struct ty_call *c)
{
	if (ty_fd_track_follows(w->fds, c))
		ty_fd_track_begin(w->fds, ty_tgid_map_get(w->tgids, c->tid), c);
}
