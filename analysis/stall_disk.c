/* SPDX-License-Identifier: MIT */
/*
 * Other threads that waited for the disk while a stall's thread did without a request there
 * (throttled, or behind other I/O): what is recorded, not the cause. Of buffered writes the
 * kernel's threads issue the requests, and of throttled ones too, so that a thread is known by its
 * waits.
 *
 * Budget: a seek in each thread that lived for a tenth of the stall, and WAITS paths of waits.
 */
#include "stalls_priv.h"

#include "process_titles.h"
#include "sentence.h"
#include "units.h"

#define NAMED 2
#define WAITS 1024
#define SHARE 10 /* of the stall's time: shorter waits do not matter */

struct user {
	uint64_t ns;
	uint32_t thread;
};

static bool is_device(uint8_t what)
{
	return what == TY_SEG_DEVICE || what == TY_SEG_QUEUED || what == TY_SEG_NO_REQUEST;
}

/* A request of the device that the stall waited for, most of that time without one in flight;
 * TY_NONE: it did not. */
static uint32_t io_of(const struct ty_candidate *c)
{
	const struct ty_link *last = c->s.links > 1 ? &c->s.link[c->s.links - 1] : NULL;

	if (last && (last->what == TY_SEG_NO_REQUEST || last->what == TY_SEG_QUEUED))
		return last->waker.io;
	return c->no_io_ns + c->queued_ns > (c->longest_ns ? c->longest_ns : c->s.duration_ns) / 2
		       ? c->io
		       : TY_NONE;
}

static bool same_device(const struct ty_model *m, uint32_t io, const struct ty_io *of)
{
	struct ty_io o;

	if (io == TY_NONE)
		return false;
	o = ty_model_io(m, io);
	return o.major == of->major && o.minor == of->minor;
}

/* How long the thread waited for that device in [from, to). *waits: paths that are left. */
static uint64_t waited_ns(const struct ty_explain *x, uint32_t thread, uint64_t from, uint64_t to,
			  const struct ty_io *of, unsigned *waits)
{
	const struct ty_model *m = x->m;
	const struct ty_seek q = {
		.states = 1u << TY_ST_BLOCKED, .min_ns = (to - from) / (SHARE * SHARE), .nr = -1};
	const struct ty_track track = {TY_TRACK_THREAD, thread};
	struct ty_path p = {0};
	uint64_t ns = 0, at = to;

	for (; *waits; --*waits) {
		const uint32_t k = ty_model_seek(m, track, &q, at, true);
		struct ty_span s;
		uint64_t end;

		if (k == TY_NONE)
			break;
		s = ty_model_span_brief(m, thread, k);
		end = s.end_ns < to ? s.end_ns : to;
		if (s.end_ns <= from || s.start_ns >= at ||
		    ty_path_of_wait(x, k, s.start_ns, s.end_ns, &p))
			break;
		at = s.start_ns;
		for (size_t i = 0; i < p.seg.n; i++)
			if (is_device(p.seg.v[i].what) && same_device(m, p.seg.v[i].waker.io, of)) {
				ns += end - (at > from ? at : from);
				break;
			}
	}
	ty_path_fini(&p);
	return ns;
}

static bool in_chain(const struct ty_stall *s, uint32_t thread)
{
	for (uint32_t i = 0; i < s->links; i++)
		if (s->link[i].thread == thread)
			return true;
	return s->thread == thread;
}

/* What the device moved in [from, to). */
static uint64_t bytes_in(const struct ty_model *m, const struct ty_io *of, uint64_t from,
			 uint64_t to)
{
	uint64_t bytes = 0;

	for (uint32_t i = ty_model_io_after(m, from); i < ty_model_ios(m); i++) {
		const struct ty_io io = ty_model_io(m, i);

		if (io.start_ns >= to)
			break;
		bytes += io.major == of->major && io.minor == of->minor ? io.bytes : 0;
	}
	return bytes;
}

void ty_stall_say_disk_users(struct ty_sentence *o, const struct ty_stall_search *h,
			     const struct ty_candidate *c)
{
	const struct ty_model *m = h->x->m;
	const uint64_t from = c->s.start_ns, to = ty_stall_end_ns(&c->s);
	const uint32_t io = io_of(c);
	struct user v[NAMED + 1] = {0};
	unsigned n = 0, waits = WAITS;
	struct ty_io of;

	if (io == TY_NONE || c->dropped || from >= to)
		return;
	of = ty_model_io(m, io);
	for (uint32_t i = 0; i < ty_model_summary(m)->threads; i++) {
		const struct ty_thread *t = ty_model_thread(m, i);
		const uint64_t a = t->start_ns > from ? t->start_ns : from,
			       b = t->end_ns < to ? t->end_ns : to;
		struct user u = {.thread = i};
		unsigned at;

		if (t->kernel || !t->spans_n || a >= b || b - a < (to - from) / SHARE ||
		    in_chain(&c->s, i))
			continue;
		u.ns = waited_ns(h->x, i, from, to, &of, &waits);
		if (u.ns < (to - from) / SHARE)
			continue;
		for (at = n < NAMED ? n++ : NAMED; at && v[at - 1].ns < u.ns; at--)
			v[at] = v[at - 1];
		v[at] = u;
	}
	if (!n)
		return;
	ty_put(o, ". Meanwhile ");
	for (unsigned i = 0; i < n; i++)
		ty_put(o, "%s%s (%s)", i ? " and " : "", ty_who(m, v[i].thread, to - 1),
		       ty_duration(v[i].ns));
	ty_put(o, " also waited for that disk, which moved %s",
	       ty_byte_count(bytes_in(m, &of, from, to)));
}
