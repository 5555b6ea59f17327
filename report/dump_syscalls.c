/* SPDX-License-Identifier: MIT */
/*
 * tarry dump syscalls: one line per system call, in the order of their beginnings, as
 * strace -f -yy -tt -T shows calls that are not interrupted.
 *
 * Lines wait in a queue until all calls that began earlier are over. When LINES_MAX wait for one
 * that blocks, that one is shown as unfinished and its end later as resumed, as strace does: it
 * moves to the list of split calls. So memory is bounded: about 160 bytes per waiting line, and the
 * same per thread whose call was split. Positions in both are found by binary search: keys ascend,
 * a call's key is 2 x seq + 1, other lines have the even key behind the latest call's.
 *
 * A call is in the queue or the list from its beginning to its end, or is not wanted. Its name is
 * the thread's when it began; of a thread without a name by then, the first name learned.
 *
 * With --from and --to a call is shown when any part of it lies in the window; reading continues
 * behind the window until the ends of its calls are known. It begins at the first event, because
 * what comes before the window shows calls that reach into it, names, processes, and ABIs.
 *
 * Budget: 700 ns per line of text, decoding included.
 */
#include "dump_syscalls_priv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "partition.h"
#include "plain_text.h"

#define LINES_MAX      (1u << 19)
#define LINE_MAX_BYTES (1u << 20)
#define BUFFERS_MAX    64

static struct line *at(const struct dump *d, size_t i)
{
	return &d->ring[(d->head + i) & (d->cap - 1)];
}

/* An execve by a thread continues as the leader's: its owner is known at its end. */
static bool may_move(const struct dump *d, const struct ty_call *c)
{
	return ty_syscall_class(d->s->arch, c->abi, c->nr) == TY_SC_EXEC ||
	       (c->abi == TY_ABI_UNSURE &&
		ty_syscall_class(d->s->arch, TY_ABI_COMPAT32, c->nr) == TY_SC_EXEC);
}

static bool tids_wanted(const struct dump *d, const struct ty_call *c)
{
	return ty_window_has_tid(d->w, c->tid) || ty_window_has_tid(d->w, c->end_tid);
}

/* Decided by what is known at its start. */
static bool begin_wanted(const struct dump *d, const struct ty_call *c)
{
	return (tids_wanted(d, c) || may_move(d, c)) && ty_window_has_cpu(d->w, c->cpu) &&
	       c->start_ns < d->w->to_ns;
}

/* All of it, when it is over. */
static bool end_wanted(const struct dump *d, const struct ty_call *c, const char *comm)
{
	if (!tids_wanted(d, c) || !ty_window_has_cpu(d->w, c->cpu) ||
	    !ty_window_has_comm(d->w, comm))
		return false;
	if (c->how == TY_CALL_OPEN)
		return true;
	if (ty_call_end_only(c) && c->end_ns >= d->w->to_ns)
		return false;
	return c->end_ns >= d->w->from_ns;
}

/* Show what waits for nothing any more. */
static void flush_lines(struct dump *d)
{
	while (d->n && at(d, 0)->kind != LINE_PENDING) {
		ty_dump_line(d, at(d, 0));
		d->head = (d->head + 1) & (d->cap - 1);
		d->n--;
	}
}

/* queue --------------------------------------------------------------------------------------- */

/* Forget lines that will not be shown but lie behind one that waits. */
static void squeeze(struct dump *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->n; i++)
		if (at(d, i)->kind != LINE_DROPPED)
			*at(d, kept++) = *at(d, i);
	d->n = kept;
}

static int grow(struct dump *d)
{
	size_t cap = d->cap ? d->cap * 2 : 256;
	struct line *r = malloc(cap * sizeof(*r));

	if (!r)
		return -TY_ENOMEM;
	for (size_t i = 0; i < d->n; i++)
		r[i] = *at(d, i);
	free(d->ring);
	d->ring = r;
	d->cap = cap;
	d->head = 0;
	return 0;
}

/* The first line waits for its end: go on without it. Its beginning is shown when it is known to be
 * wanted; before the window, or without a name, that is unknown yet. */
static int split_first(struct dump *d)
{
	struct line *l = at(d, 0);

	if (d->split_n == d->split_cap) {
		size_t cap = d->split_cap ? d->split_cap * 2 : 64;
		struct line *p = realloc(d->split, cap * sizeof(*p));

		if (!p)
			return -TY_ENOMEM;
		d->split = p;
		d->split_cap = cap;
	}
	if (d->now_ns >= d->w->from_ns && (l->named || !d->w->comms_n) && !d->json &&
	    end_wanted(d, &l->u.call, l->comm)) {
		ty_dump_line_begun(d, l);
		l->shown = true;
	}
	d->split[d->split_n++] = *l;
	d->split_open++;
	l->kind = LINE_DROPPED;
	flush_lines(d);
	return 0;
}

static struct line *push(struct dump *d)
{
	if (d->n == d->cap && d->cap == LINES_MAX) {
		flush_lines(d);
		squeeze(d);
		/* Half of it at once, so that a queue of nothing but open calls is not squeezed at
		 * each line. */
		while (d->n > LINES_MAX / 2)
			if (split_first(d))
				return NULL;
	} else if (d->n == d->cap && grow(d)) {
		return NULL;
	}
	memset(at(d, d->n), 0, sizeof(struct line));
	return at(d, d->n++);
}

static struct line *find(const struct dump *d, uint64_t key)
{
	size_t lo = partition_point(i, 0, d->n, at(d, i)->key < key);

	return lo < d->n && at(d, lo)->key == key ? at(d, lo) : NULL;
}

static struct line *find_split(const struct dump *d, uint64_t key)
{
	size_t lo = partition_point(i, 0, d->split_n, d->split[i].key < key);

	return lo < d->split_n && d->split[lo].key == key ? &d->split[lo] : NULL;
}

/* Take a call that is over out of the list. */
static struct line take_split(struct dump *d, struct line *l)
{
	struct line taken = *l;

	l->kind = LINE_DROPPED;
	if (--d->split_open < d->split_n / 2) {
		size_t kept = 0;

		for (size_t i = 0; i < d->split_n; i++)
			if (d->split[i].kind != LINE_DROPPED)
				d->split[kept++] = d->split[i];
		d->split_n = kept;
	}
	return taken;
}

static void set_name(struct line *l, const char *comm)
{
	size_t n = strnlen(comm, TY_COMM);

	memcpy(l->comm, comm, n);
	l->comm[n] = 0;
}

static int begun(struct dump *d, const struct ty_call *c, uint64_t after_ns)
{
	const char *comm = ty_thread_names_get(d->comms, c->tid);
	bool named = ty_thread_names_known(d->comms, c->tid);
	struct line *l;

	if (!begin_wanted(d, c) || (named && !ty_window_has_comm(d->w, comm)))
		return 0;
	l = push(d);
	if (!l)
		return -TY_ENOMEM;
	l->key = d->last_key = 2 * c->seq + 1;
	l->kind = LINE_PENDING;
	l->u.call = *c;
	l->after_ns = after_ns;
	l->pid = ty_tgid_map_get(d->walk.tgids, c->tid);
	ty_dump_line_name(d, l);
	l->named = named;
	set_name(l, comm);
	return 0;
}

/* A rename contains the previous name of the thread. */
static void learn_old_name(struct dump *d, const struct ty_event *ev)
{
	const struct ty_call *c;
	struct line *l;

	if (ev->decode_error || ev->u.rename.tid <= 0 || !*ev->u.rename.old_comm)
		return;
	c = ty_pairs_current(d->walk.pairs, ev->u.rename.tid);
	if (!c)
		return;
	l = find(d, 2 * c->seq + 1);
	if (!l)
		l = find_split(d, 2 * c->seq + 1);
	if (l && !l->named) {
		set_name(l, ev->u.rename.old_comm);
		l->named = true;
	}
}

/* The call or the recording has ended: complete its line with what is known now. */
static void complete(struct dump *d, struct line *l, const struct ty_call *c)
{
	l->u.call = *c;
	if (!l->named)
		set_name(l, ty_thread_names_get(d->comms, c->end_tid));
	if (!end_wanted(d, c, l->comm))
		l->kind = LINE_DROPPED;
	else
		ty_dump_line_result(d, l);
}

static int over(struct dump *d, const struct ty_call *c)
{
	uint64_t key = 2 * c->seq + 1;
	struct line *l = NULL, taken = {.kind = LINE_CALL, .key = key};

	if (!ty_call_end_only(c)) {
		l = find(d, key);
		if (l) {
			l->kind = LINE_CALL;
			complete(d, l, c);
			return 0;
		}
		l = find_split(d, key);
		if (!l)
			return 0; /* not wanted */
		taken = take_split(d, l);
		taken.kind = taken.shown ? LINE_RESUMED : LINE_CALL;
		taken.key = (d->last_key | 1) + 1;
	} else {
		taken.pid = ty_tgid_map_get(d->walk.tgids, c->end_tid);
	}
	complete(d, &taken, c);
	if (taken.kind == LINE_DROPPED)
		return 0;
	l = push(d);
	if (!l)
		return -TY_ENOMEM;
	*l = taken;
	d->last_key = l->key;
	return 0;
}

/* Buffers without system calls cannot lose any. */
static bool loses_calls(const struct dump *d, const struct ty_event *ev)
{
	return ev->kind == TY_EV_GAP &&
	       !(d->sys_buffers && ev->buffer < BUFFERS_MAX && !(d->sys_buffers >> ev->buffer & 1));
}

static int lost(struct dump *d, const struct ty_event *ev)
{
	struct line *l;

	if (!ty_window_has_cpu(d->w, ev->cpu) || !ty_window_has_gap(d->w, ev))
		return 0;
	l = push(d);
	if (!l)
		return -TY_ENOMEM;
	l->key = d->last_key = (d->last_key | 1) + 1;
	l->kind = LINE_GAP;
	l->u.gap.from_ns = ev->u.gap.from_ns;
	l->u.gap.to_ns = ev->ts_ns;
	l->u.gap.count = ev->u.gap.count;
	l->u.gap.cpu = ev->cpu;
	l->u.gap.what = ev->u.gap.what;
	l->u.gap.to_end = ev->u.gap.to_end;
	d->loss_shown = true;
	return 0;
}

/* the loop ------------------------------------------------------------------------------------ */

static int one(struct dump *d, const struct ty_event *ev, struct ty_err *err)
{
	const bool loses = loses_calls(d, ev);
	struct ty_pair_step step;
	int r;

	d->now_ns = ev->ts_ns;
	if (ev->kind == TY_EV_RENAME)
		learn_old_name(d, ev);
	r = ty_thread_names_feed(d->comms, ev);
	if (!r)
		r = ty_wall_feed(&d->wall, ev);
	if (!r && loses)
		r = lost(d, ev);
	if ((ev->kind == TY_EV_SYS_ENTER || ev->kind == TY_EV_SYS_EXIT) && ev->buffer < BUFFERS_MAX)
		d->sys_buffers |= (uint64_t)1 << ev->buffer;
	if (!r)
		r = ty_call_walk_feed(&d->walk, ev, loses, &step, err);
	if (r)
		return r;
	for (unsigned i = 0; i < step.done_n && !r; i++) {
		r = ty_call_walk_end(&d->walk, &step.done[i]);
		r = r ? r : over(d, &step.done[i]);
	}
	if (!r && step.started)
		r = begun(d, &step.call,
			  d->walk.strings ? ty_call_data_after(d->walk.strings, step.call.tid) : 0);
	/* Its own line is the last one that names the descriptor it closes. */
	if (!r && step.started)
		ty_call_walk_begin(&d->walk, &step.call);
	flush_lines(d);
	return r;
}

static void finish(struct dump *d)
{
	struct ty_call c;
	uint32_t it = 0;

	while (ty_pairs_open_next(d->walk.pairs, &it, &c)) {
		struct line *l = find(d, 2 * c.seq + 1), late;

		if (c.how != TY_CALL_OPEN && !c.end_ns)
			c.end_ns = d->now_ns; /* its end was lost: that shows only here */
		if (l) {
			l->kind = LINE_CALL;
			complete(d, l, &c);
			continue;
		}
		l = find_split(d, 2 * c.seq + 1);
		if (!l)
			continue;
		late = *l;
		complete(d, &late, &c);
		if (late.kind == LINE_DROPPED || (late.shown && c.how == TY_CALL_OPEN))
			continue;
		late.kind = late.shown ? LINE_RESUMED : LINE_CALL;
		ty_dump_line(d, &late);
	}
	flush_lines(d);
}

/* Reports strings that should have been recorded and are missing. */
static void tell_unknown(const struct dump *d)
{
	const struct ty_call_data_counts n = ty_call_data_counts(d->walk.strings);

	if (d->paths_unknown)
		fprintf(stderr,
			"tarry: %s: the paths of %" PRIu64 " of %" PRIu64
			" calls are unknown (the pointer is shown)\n",
			d->s->trace->path, d->paths_unknown, d->paths);
	if (n.lost)
		fprintf(stderr, "tarry: %s: %" PRIu64 " strings were lost while recording\n",
			d->s->trace->path, n.lost);
	if (n.cut_inferred)
		fprintf(stderr,
			"tarry: %s: %" PRIu64 " strings are probably truncated. They end in "
			"\"...\", and the recording does not say how much the kernel kept\n",
			d->s->trace->path, n.cut_inferred);
	if (n.damaged || n.pieces_missing)
		fprintf(stderr, "tarry: %s: some of the recorded strings are %s\n",
			d->s->trace->path, n.damaged ? "damaged" : "missing");
}

static int run(struct dump *d, const struct ty_select *sel, struct ty_err *err)
{
	struct ty_event ev;
	int r;

	while ((r = ty_events_next(d->s->events, &ev, err)) > 0) {
		if (ev.ts_ns >= d->w->to_ns && !d->n && !d->split_open &&
		    ty_events_past(d->s->events, d->w->to_ns))
			return 0;
		r = one(d, &ev, err);
		if (r < 0)
			return ty_fail(err, -r, TY_NO_OFFSET, "%s: %s while listing system calls",
				       d->s->trace->path, ty_strerror(r));
		if (ferror_unlocked(d->out))
			return 0; /* the caller reports it */
	}
	if (!r && !d->loss_shown) /* "nothing is known there" is a valid result */
		r = ty_select_inside(sel, d->w, d->now_ns, err);
	if (r < 0)
		return r;
	finish(d);
	tell_unknown(d);
	if (!d->sys_buffers)
		ty_say("tarry: %s has no system calls (raw_syscalls:sys_enter and sys_exit were "
		       "not recorded)\n",
		       d->s->trace->path);
	return 0;
}

static int prepare(struct dump *d, bool clock_chosen, struct ty_err *err)
{
	struct ty_trace *t = d->s->trace;
	int r;

	d->comms = ty_thread_names_new(t->cmdlines.s, ty_trace_section(t, TY_SEC_THREADS).s);
	d->inner = ty_strtab_new();
	if (ty_call_walk_init(&d->walk, d->s) || !d->comms || !d->inner)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", t->path);
	ty_pairs_command(d->walk.pairs, ty_trace_command(t));
	if (d->json)
		return 0;
	r = ty_wall_find(&d->wall, t, d->s->events, err);
	if (r < 0)
		return r;
	if (d->wall.clock != TY_CLOCK_WALL || d->wall.points.n)
		return 0;
	if (clock_chosen)
		return ty_select_no_wall(t->path, err);
	ty_say("tarry: %s has no time of day. Times are seconds of the trace clock.\n", t->path);
	return 0;
}

int ty_dump_syscalls(struct ty_session *s, const struct ty_select *sel, const struct ty_window *w,
		     FILE *out, struct ty_err *err)
{
	struct dump d = {.s = s, .w = w, .out = out, .json = sel->json};
	int r;

	ty_wall_init(&d.wall);
	if (sel->clock_chosen)
		d.wall.clock = sel->clock;
	ty_buf_init(&d.text, LINE_MAX_BYTES);
	ty_buf_init(&d.strings_text, LINE_MAX_BYTES);
	ty_json_init(&d.j, out);
	r = prepare(&d, sel->clock_chosen, err);
	if (!r)
		r = run(&d, sel, err);
	ty_json_fini(&d.j);
	free(d.ring);
	free(d.split);
	ty_buf_fini(&d.text);
	ty_buf_fini(&d.strings_text);
	ty_strtab_free(d.inner);
	ty_wall_fini(&d.wall);
	ty_fd_holders_fini(&d.holders);
	ty_thread_names_free(d.comms);
	ty_call_walk_fini(&d.walk);
	return r;
}
