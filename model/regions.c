/* SPDX-License-Identifier: MIT */
/*
 * See regions.h. Lines of trace_marker are those of Android's atrace: "B|PID|NAME", "E|PID",
 * "I|PID|NAME", "C|PID|NAME|VALUE", "S|PID|NAME|ID" and "F|PID|NAME|ID"; the thread is the one that
 * wrote the line.
 */
#include "regions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "builder.h"
#include "compare.h"
#include "partition.h"

static bool room(struct ty_region_log *l)
{
	if (l->done.n < l->max)
		return true;
	l->left_out++;
	return false;
}

static void push(struct ty_builder *b, const struct ty_region *r)
{
	if (room(&b->regions) && vec_push(&b->regions.done, *r))
		ty_build_fail(b, -TY_ENOMEM);
}

/* The open regions of a thread; NULL: out of memory. */
static struct ty_region_stack *stack_of(struct ty_builder *b, uint32_t thread)
{
	struct ty_region_log *l = &b->regions;
	size_t n = l->stack.n;

	if (thread >= n) {
		if (vec_reserve(&l->stack, (size_t)thread + 1)) {
			ty_build_fail(b, -TY_ENOMEM);
			return NULL;
		}
		memset(l->stack.v + n, 0, (thread + 1 - n) * sizeof(*l->stack.v));
		l->stack.n = (size_t)thread + 1;
	}
	return &l->stack.v[thread];
}

/* One directly inside lasted from..to. */
static void cover(struct ty_open_region *o, uint64_t from, uint64_t to)
{
	from = from > o->covered_ns ? from : o->covered_ns;
	if (to > from) {
		o->inside_ns += to - from;
		o->covered_ns = to;
	}
}

/* Removes an open region from its thread's stack: it ended, or nothing later is known of it. */
static void end_open(struct ty_builder *b, struct ty_region_stack *s, size_t at, uint64_t ts,
		     uint32_t thread, unsigned flags)
{
	struct ty_open_region *o = &s->open.v[at];
	struct ty_region r = o->r;

	r.end_ns = ts > r.start_ns ? ts : r.start_ns;
	r.end_thread = thread;
	r.flags |= (uint8_t)flags;
	if (at + 1 < s->open.n) /* where both kinds cross */
		cover(o, o[1].r.start_ns, r.end_ns);
	r.self_ns = r.end_ns - r.start_ns;
	r.self_ns -= o->inside_ns < r.self_ns ? o->inside_ns : r.self_ns;
	if (at)
		cover(o - 1, r.start_ns, r.end_ns);
	push(b, &r);
	memmove(o, o + 1, (s->open.n - at - 1) * sizeof(*o));
	s->open.n--;
}

static void end_all(struct ty_builder *b, struct ty_region_stack *s, uint64_t ts, unsigned flags)
{
	s->over = 0;
	while (s->open.n)
		end_open(b, s, s->open.n - 1, ts, TY_NONE, flags);
}

/* Why an end has no start, in a thread or in the process of a leader: the start was lost, or was
 * before the recording. Without loss since it was born or executed its program, there was none; nor
 * while others of its kind are open, as those from before would end last (inside). */
static uint8_t no_begin(const struct ty_builder *b, uint32_t thread, bool inside)
{
	const struct ty_region_log *l = &b->regions;
	const uint64_t exec_ns = thread < l->stack.n ? l->stack.v[thread].exec_ns : 0;
	const struct ty_thread *t = thread == TY_NONE ? NULL : &b->thread.v[thread].pub;
	const uint64_t since = exec_ns ? exec_ns : t && t->born ? t->start_ns : 0;

	if (l->lost_ns && l->lost_ns >= since)
		return TY_RGN_LOST;
	return since || inside ? TY_RGN_UNMATCHED : TY_RGN_BEFORE;
}

static struct ty_region row_of(uint32_t thread, unsigned kind, uint32_t name, int64_t value,
			       uint64_t ts)
{
	return (struct ty_region){.start_ns = ts,
				  .end_ns = ts,
				  .value = value,
				  .name = name,
				  .thread = thread,
				  .end_thread = thread,
				  .kind = (uint8_t)kind};
}

static void begin(struct ty_builder *b, uint32_t thread, unsigned kind, uint32_t name,
		  int64_t value, uint64_t sp, uint64_t ts)
{
	struct ty_region_stack *s = stack_of(b, thread);
	struct ty_open_region o = {.r = row_of(thread, kind, name, value, ts), .sp = sp}, *top;

	if (!s)
		return;
	/* Frames at or below a new one were left without a return; the kernel forgets them, too. */
	while (sp && s->open.n && (top = &s->open.v[s->open.n - 1])->r.kind == TY_REG_CALL &&
	       top->sp && top->sp <= sp)
		end_open(b, s, s->open.n - 1, ts, thread, TY_RGN_UNMATCHED);
	if (s->over || s->open.n >= TY_REGION_DEPTH) {
		s->over += kind == TY_REG_BEGIN;
		b->regions.left_out++;
		return;
	}
	if (s->open.n)
		o.r.lane = (uint16_t)(s->open.v[s->open.n - 1].r.lane + 1);
	if (o.r.lane >= TY_LANE_ASYNC) { /* only where regions of several kinds cross */
		b->regions.left_out++;
		return;
	}
	if (vec_push(&s->open, o))
		ty_build_fail(b, -TY_ENOMEM);
}

/* Is it the return of this call? By the stack pointer, which on x86 is behind the return address by
 * then: the kernel reports no returns of calls nested deeper than 64. */
static bool returns(const struct ty_open_region *o, uint64_t sp)
{
	return o->sp == sp || (o->sp && sp - o->sp == 8);
}

/* An end: of the innermost region, or of the call that returns. Calls inside of that have ended
 * before, without a return (longjmp, an exception). */
static void end(struct ty_builder *b, uint32_t thread, unsigned kind, uint32_t name, uint64_t sp,
		uint64_t ts)
{
	struct ty_region_stack *s = stack_of(b, thread);
	bool inside = false;
	size_t i;

	if (!s)
		return;
	if (s->over && kind == TY_REG_BEGIN) {
		s->over--;
		return;
	}
	for (i = s->open.n; i > 0; i--) {
		const struct ty_open_region *o = &s->open.v[i - 1];

		if (o->r.kind == kind &&
		    (kind == TY_REG_BEGIN || (o->r.name == name && returns(o, sp))))
			break;
		inside |= o->r.kind == kind;
	}
	if (!i) {
		struct ty_region r = row_of(thread, kind, name, 0, ts);

		r.flags = no_begin(b, thread, inside);
		r.lane = TY_LANE_INSTANT;
		push(b, &r);
		return;
	}
	while (s->open.n > i && kind == TY_REG_CALL &&
	       s->open.v[s->open.n - 1].r.kind == TY_REG_CALL)
		end_open(b, s, s->open.n - 1, ts, thread, TY_RGN_UNMATCHED);
	end_open(b, s, i - 1, ts, thread, 0);
}

static int32_t process_of(const struct ty_builder *b, uint32_t thread)
{
	const struct ty_thread *t = &b->thread.v[thread].pub;

	return t->tgid > 0 ? t->tgid : t->tid;
}

static uint32_t async_key(int32_t process, uint32_t name, int64_t id)
{
	return ty_hash_mix((uint64_t)id ^ ty_hash_mix((uint64_t)(uint32_t)process << 32 | name));
}

static void async_begin(struct ty_builder *b, uint32_t thread, uint32_t name, int64_t id,
			uint64_t ts)
{
	struct ty_region_log *l = &b->regions;
	struct ty_open_async o = {.r = row_of(thread, TY_REG_ASYNC_BEGIN, name, id, ts),
				  .process = process_of(b, thread)};
	uint32_t at, *first;

	o.leader = ty_identity_find(b, o.process);
	first = ty_pair_map_add(&l->async_of, (uint32_t)o.process, 0);
	if (!first) {
		ty_build_fail(b, -TY_ENOMEM);
		return;
	}
	if (l->async_free.n) {
		at = l->async_free.v[--l->async_free.n];
	} else {
		if (l->async.n >= TY_REGION_ASYNC_OPEN) {
			l->left_out++;
			return;
		}
		at = (uint32_t)l->async.n;
		if (vec_push(&l->async, o)) {
			ty_build_fail(b, -TY_ENOMEM);
			return;
		}
	}
	/* Slots are lanes: regions open at the same time never share one. */
	o.r.lane = (uint16_t)(TY_LANE_ASYNC + (at < TY_LANES_ASYNC ? at : TY_LANES_ASYNC - 1));
	o.prev = TY_NONE;
	o.next = *first;
	if (o.next != TY_NONE)
		l->async.v[o.next].prev = at;
	*first = at;
	l->async.v[at] = o;
	if (ty_hash_add(&l->async_by, async_key(o.process, name, id), at))
		ty_build_fail(b, -TY_ENOMEM);
}

static void async_close(struct ty_builder *b, uint32_t at, uint64_t ts, uint32_t thread,
			unsigned flags)
{
	struct ty_region_log *l = &b->regions;
	struct ty_open_async *o = &l->async.v[at];
	struct ty_region r = o->r;

	r.end_ns = ts > r.start_ns ? ts : r.start_ns;
	r.self_ns = r.end_ns - r.start_ns;
	r.end_thread = thread;
	r.flags |= (uint8_t)flags;
	ty_hash_drop(&l->async_by, async_key(o->process, r.name, r.value), at);
	if (o->prev != TY_NONE)
		l->async.v[o->prev].next = o->next;
	else
		*ty_pair_map_add(&l->async_of, (uint32_t)o->process, 0) = o->next;
	if (o->next != TY_NONE)
		l->async.v[o->next].prev = o->prev;
	o->r.thread = TY_NONE;
	push(b, &r);
	if (vec_push(&l->async_free, at))
		ty_build_fail(b, -TY_ENOMEM);
}

/* The youngest of the process with that name and id. */
static void async_end(struct ty_builder *b, uint32_t thread, uint32_t name, int64_t id, uint64_t ts)
{
	struct ty_region_log *l = &b->regions;
	const int32_t process = process_of(b, thread);
	const uint32_t leader = ty_identity_find(b, process);
	struct ty_region lone;
	uint32_t found = TY_NONE;

	hash_each (at, &l->async_by, async_key(process, name, id)) {
		const struct ty_open_async *o = &l->async.v[at];

		if (o->r.thread != TY_NONE && o->r.name == name && o->r.value == id &&
		    o->process == process && (o->leader == leader || o->leader == TY_NONE) &&
		    (found == TY_NONE || o->r.start_ns >= l->async.v[found].r.start_ns))
			found = at;
	}
	if (found != TY_NONE) {
		async_close(b, found, ts, thread, 0);
		return;
	}
	lone = row_of(thread, TY_REG_ASYNC_BEGIN, name, id, ts);
	lone.flags = no_begin(b, leader, false);
	lone.lane = TY_LANE_INSTANT;
	push(b, &lone);
}

/* Beyond the bound (new names of 16 bytes per row) a region has no name; UINT32_MAX: out of memory.
 */
static uint32_t name_of(struct ty_builder *b, const char *text, size_t n)
{
	struct ty_region_log *l = &b->regions;
	uint32_t name = ty_strtab_find(b->strs, text, n);

	if (name != UINT32_MAX)
		return name;
	if (l->name_bytes + n > (uint64_t)l->max * 16 + TY_REGION_NAME) {
		l->left_out++;
		return 0;
	}
	l->name_bytes += n;
	name = ty_strtab_add(b->strs, text, n);
	if (name == UINT32_MAX)
		ty_build_fail(b, -TY_ENOMEM);
	return name;
}

static void take(struct ty_builder *b, const struct ty_event *ev, uint32_t kind, const char *text,
		 size_t n, int64_t value, uint64_t sp, uint64_t ts)
{
	uint32_t thread = ev->tid > 0 ? ty_identity_get(b, ev->tid, ts) : TY_NONE, name;
	struct ty_region r;

	if (thread == TY_NONE)
		return;
	name = name_of(b, text, n < TY_REGION_NAME ? n : TY_REGION_NAME);
	if (name == UINT32_MAX)
		return;
	b->regions.buffers |= UINT64_C(1) << (ev->buffer & 63);
	switch (kind) {
	case TY_REG_BEGIN:
	case TY_REG_CALL: begin(b, thread, kind, name, value, sp, ts); break;
	case TY_REG_END: end(b, thread, TY_REG_BEGIN, name, 0, ts); break;
	case TY_REG_RETURN: end(b, thread, TY_REG_CALL, name, sp, ts); break;
	case TY_REG_ASYNC_BEGIN: async_begin(b, thread, name, value, ts); break;
	case TY_REG_ASYNC_END: async_end(b, thread, name, value, ts); break;
	case TY_REG_INSTANT:
	case TY_REG_COUNTER:
		r = row_of(thread, kind, name, value, ts);
		r.lane = TY_LANE_INSTANT;
		push(b, &r);
		break;
	default: break;
	}
}

/* A line of a program; others' lines (the recorder's clock markers, too) are none of ours. */
static void marker(struct ty_builder *b, const struct ty_event *ev, const char *p, uint64_t ts)
{
	static const struct {
		char letter;
		uint8_t kind;
		bool value;
	} lines[] = {{'B', TY_REG_BEGIN, false},      {'E', TY_REG_END, false},
		     {'I', TY_REG_INSTANT, false},    {'C', TY_REG_COUNTER, true},
		     {'S', TY_REG_ASYNC_BEGIN, true}, {'F', TY_REG_ASYNC_END, true}};
	size_t i = 0, n;
	int64_t value = 0;
	const char *bar;
	char *stop;

	while (i < sizeof(lines) / sizeof(*lines) && lines[i].letter != *p)
		i++;
	if (i == sizeof(lines) / sizeof(*lines))
		return;
	n = strcspn(p, "\n");
	if (lines[i].kind == TY_REG_END && (n == 1 || p[1] == '|')) {
		take(b, ev, TY_REG_END, "", 0, 0, 0, ts);
		return;
	}
	bar = n > 2 && p[1] == '|' ? memchr(p + 2, '|', n - 2) : NULL;
	if (!bar)
		return;
	n -= (size_t)(bar + 1 - p);
	p = bar + 1;
	if (lines[i].value) {
		bar = memrchr(p, '|', n);
		if (!bar)
			return;
		errno = 0;
		value = strtoll(bar + 1, &stop, 10);
		if (errno || stop != p + n || stop == bar + 1)
			return;
		n = (size_t)(bar - p);
	}
	take(b, ev, lines[i].kind, p, n, value, 0, ts);
}

static void close_process(struct ty_builder *b, int32_t process, uint64_t ts)
{
	const struct ty_region_log *l = &b->regions;
	uint32_t next, i = ty_pair_map_get(&l->async_of, (uint32_t)process, 0);

	for (; i != TY_NONE; i = next) {
		next = l->async.v[i].next;
		async_close(b, i, ts, TY_NONE, TY_RGN_ENDED);
	}
}

/* A process executes another program: nothing of it remains, of no thread. */
static void executed(struct ty_builder *b, uint32_t thread, int32_t old_tid, uint64_t ts)
{
	const int32_t process = process_of(b, thread);
	struct ty_region_stack *s = stack_of(b, thread);

	if (s) {
		end_all(b, s, ts, TY_RGN_ENDED);
		s->exec_ns = ts;
	}
	close_process(b, process, ts);
	if (old_tid != process)
		close_process(b, old_tid, ts);
}

void ty_regions_event(struct ty_builder *b, const struct ty_event *ev, uint64_t ts)
{
	uint32_t thread;

	if (ev->kind == TY_EV_REGION && ev->u.region.name) {
		take(b, ev, ev->u.region.kind, ev->u.region.name, strlen(ev->u.region.name),
		     ev->u.region.value, ev->u.region.sp, ts);
	} else if (ev->kind == TY_EV_PRINT && ev->u.print.text) {
		marker(b, ev, ev->u.print.text, ts);
	} else if (ev->kind == TY_EV_EXEC) {
		thread = ty_identity_find(b, ev->u.exec.tid);
		if (thread != TY_NONE)
			executed(b, thread, ev->u.exec.old_tid, ts);
	}
}

/* Beyond the bound the last one represents all: too much is marked rather than too little. */
static void note_gap(struct ty_builder *b, uint64_t from, uint64_t to)
{
	struct ty_region_log *l = &b->regions;
	struct ty_region_gap *last = l->gaps.n ? &l->gaps.v[l->gaps.n - 1] : NULL;

	if (last && (l->gaps.n >= TY_REGION_GAPS || (from <= last->to && to >= last->from))) {
		last->from = from < last->from ? from : last->from;
		last->to = to > last->to ? to : last->to;
	} else if (vec_push(&l->gaps, (struct ty_region_gap){from, to})) {
		ty_build_fail(b, -TY_ENOMEM);
	}
}

void ty_regions_gap(struct ty_builder *b, unsigned buffer, uint64_t from, uint64_t to)
{
	struct ty_region_log *l = &b->regions;

	l->lost_ns = to;
	if (!(l->buffers >> (buffer & 63) & 1))
		return;
	note_gap(b, from, to);
	vec_each (s, &l->stack)
		end_all(b, s, from, TY_RGN_LOST);
	for (uint32_t i = 0; i < l->async.n; i++)
		if (l->async.v[i].r.thread != TY_NONE)
			async_close(b, i, from, TY_NONE, TY_RGN_LOST);
}

_Static_assert(TY_PAIR_NONE == TY_NONE, "a process without any");
ORDER(by_start, struct ty_region_gap, a->from<b->from ? -1 : a->from> b->from)

/* A gap is reported at its end, when regions of other buffers may have ended inside it. The lost
 * events may include their starts or ends. */
static void mark_gaps(struct ty_region_log *l)
{
	size_t n = 0;

	if (!l->gaps.n)
		return;
	vec_sort(&l->gaps, by_start);
	vec_each (g, &l->gaps) { /* overlapping ones merged: ordered by both times */
		if (n && g->from <= l->gaps.v[n - 1].to) {
			if (g->to > l->gaps.v[n - 1].to)
				l->gaps.v[n - 1].to = g->to;
		} else {
			l->gaps.v[n++] = *g;
		}
	}
	vec_each (r, &l->done) {
		size_t lo;

		if (r->lane == TY_LANE_INSTANT)
			continue;
		/* The first that ends after its start. */
		lo = partition_point(k, 0, n, l->gaps.v[k].to <= r->start_ns);
		if (lo < n && l->gaps.v[lo].from < r->end_ns)
			r->flags |= TY_RGN_LOST;
	}
}

ORDER(by_place, struct ty_region,
      compare(a->thread, b->thread) ?: compare(a->lane, b->lane) ?:
      compare(a->start_ns, b->start_ns) ?: compare(a->end_ns, b->end_ns))

/* When each process ended, by its leader; UINT64_MAX: it did not. One whose number another process
 * has ended before. NULL: out of memory. */
static uint64_t *process_ends(const struct ty_builder *b)
{
	uint64_t *ends = calloc(b->thread.n + 1, sizeof(*ends));

	for (uint32_t i = 0; ends && i < b->thread.n; i++) {
		const struct ty_bthread *t = &b->thread.v[i];
		const uint32_t leader = ty_identity_find(b, process_of(b, i));
		const uint64_t end = t->ended ? t->pub.end_ns : UINT64_MAX;

		if (leader != TY_NONE && t->pub.start_ns >= b->thread.v[leader].pub.start_ns)
			ends[leader] = end > ends[leader] ? end : ends[leader];
		if (leader != i && !ends[i])
			ends[i] = end;
	}
	return ends;
}

static void end_async(struct ty_builder *b, uint64_t end_ns)
{
	struct ty_region_log *l = &b->regions;
	uint64_t *ends = l->async.n ? process_ends(b) : NULL;

	if (l->async.n && !ends)
		ty_build_fail(b, -TY_ENOMEM);
	for (uint32_t i = 0; ends && i < l->async.n; i++) {
		const struct ty_open_async *o = &l->async.v[i];
		const uint32_t of = o->leader == TY_NONE ? o->r.thread : o->leader;

		if (o->r.thread != TY_NONE)
			async_close(b, i, ends[of] < end_ns ? ends[of] : end_ns, TY_NONE,
				    ends[of] < UINT64_MAX ? TY_RGN_ENDED : TY_RGN_OPEN);
	}
	free(ends);
}

void ty_regions_finish(struct ty_builder *b, uint64_t end_ns)
{
	struct ty_region_log *l = &b->regions;

	for (size_t i = 0; i < l->stack.n; i++) {
		const struct ty_bthread *t = &b->thread.v[i];

		end_all(b, &l->stack.v[i], t->ended ? t->pub.end_ns : end_ns,
			t->ended ? TY_RGN_ENDED : TY_RGN_OPEN);
	}
	end_async(b, end_ns);
	mark_gaps(l);
	vec_sort(&l->done, by_place);
	b->sum.regions_left_out = l->left_out;
}

void ty_regions_fini(struct ty_region_log *l)
{
	vec_each (s, &l->stack)
		vec_fini(&s->open);
	vec_fini(&l->stack);
	vec_fini(&l->done);
	vec_fini(&l->async);
	vec_fini(&l->async_free);
	vec_fini(&l->gaps);
	ty_hash_fini(&l->async_by);
	ty_pair_map_fini(&l->async_of);
}
