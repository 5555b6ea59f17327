/* SPDX-License-Identifier: MIT */
/* See flow_stack.h. */
#include "flow_stack.h"

#include <string.h>

enum {
	LOOK_FREE = 256, /* levels that a search may look at in any case */
	JUMPS_MAX = 4096,
	JUMPS_LOOK = 64,
	ASIDES_MAX = 256,
	ASIDE_FRAMES_MAX = 1 << 16,
};

static void forget(struct ty_flow_stack *s, size_t aside)
{
	s->aside_frames -= s->asides.v[aside].n;
	free(s->asides.v[aside].frames);
	s->asides.n--;
	memmove(&s->asides.v[aside], &s->asides.v[aside + 1],
		(s->asides.n - aside) * sizeof(*s->asides.v));
}

void ty_flow_stack_forget(struct ty_flow_stack *s)
{
	while (s->asides.n)
		forget(s, s->asides.n - 1);
}

void ty_flow_stack_fini(struct ty_flow_stack *s)
{
	ty_flow_stack_forget(s);
	vec_fini(&s->asides);
	vec_fini(&s->jumps);
	vec_fini(&s->frames);
}

int ty_flow_stack_push(struct ty_flow_stack *s, const struct ty_flow_call *call, uint64_t lo,
		       uint64_t hi)
{
	struct ty_flow_frame *f = ty_flow_stack_open(s);

	if (!f)
		return s->nomem ? -TY_ENOMEM : 0;
	f->call = *call;
	f->lo = lo;
	f->hi = hi;
	ty_flow_stack_begin(s, f);
	return 0;
}

void ty_flow_stack_pop(struct ty_flow_stack *s, uint64_t ts_ns, uint8_t flags)
{
	struct ty_flow_frame *f = ty_flow_stack_top(s);

	f->call.flags |= flags;
	ty_flow_stack_close(s, f, ts_ns);
}

void ty_flow_stack_unwind(struct ty_flow_stack *s, size_t level, uint64_t ts_ns, uint8_t flags)
{
	while (s->frames.n > level) {
		struct ty_flow_frame *f = &s->frames.v[s->frames.n - 1];

		f->call.flags |= flags;
		/* Longjmp closes many. */
		if (s->sums && flags & TY_CALL_PARTIAL) {
			ty_flow_stack_drop(s, f, ts_ns);
			ty_flow_sums_cut(s->sums, &f->call);
		} else {
			ty_flow_stack_end(s, f, ts_ns);
		}
	}
	ty_flow_stack_closed(s);
}

/* The depth limit of a search below a level. */
static size_t lowest(const struct ty_flow_stack *s, size_t below)
{
	return below > LOOK_FREE + s->credit ? below - LOOK_FREE - s->credit : 0;
}

static void pay(struct ty_flow_stack *s, size_t looked)
{
	size_t price = looked > LOOK_FREE ? looked - LOOK_FREE : 0;

	s->credit -= price < s->credit ? price : s->credit;
}

size_t ty_flow_stack_returns_to(struct ty_flow_stack *s, size_t below, uint64_t ip)
{
	size_t end = lowest(s, below), i = below, found = TY_NO_LEVEL;

	while (i > end && found == TY_NO_LEVEL)
		if (s->frames.v[--i].call.ret == ip)
			found = i;
	pay(s, below - i);
	return found;
}

size_t ty_flow_stack_level_of(struct ty_flow_stack *s, size_t below, uint32_t func, uint64_t ip)
{
	size_t end = lowest(s, below), i = below, found = TY_NO_LEVEL;

	while (i > end && found == TY_NO_LEVEL) {
		const struct ty_flow_frame *f = &s->frames.v[--i];

		if (f->call.func == func || (ip >= f->lo && ip < f->hi))
			found = i;
	}
	pay(s, below - i);
	return found;
}

void ty_flow_stack_jump_set(struct ty_flow_stack *s, uint64_t ip)
{
	size_t level = s->frames.n - 1, n = s->jumps.n;

	if (!s->frames.n)
		return;
	for (size_t k = 1; k <= n && k <= JUMPS_LOOK && s->jumps.v[n - k].level == level; k++)
		if (s->jumps.v[n - k].ip == ip)
			return; /* once more */
	/* Without room or memory longjmp goes to the topmost call of the function. */
	if (n < JUMPS_MAX)
		(void)vec_push(&s->jumps, (struct ty_flow_jump){.ip = ip, .level = level});
}

size_t ty_flow_stack_jump_to(const struct ty_flow_stack *s, uint64_t ip)
{
	for (size_t n = s->jumps.n, k = 1; k <= n && k <= JUMPS_LOOK; k++)
		if (s->jumps.v[n - k].ip == ip)
			return s->jumps.v[n - k].level;
	return TY_NO_LEVEL;
}

void ty_flow_stack_leave(struct ty_flow_stack *s, size_t level, uint64_t ts_ns)
{
	size_t n = s->frames.n - 1 - level;
	struct ty_flow_aside a = {.resume = s->frames.v[s->frames.n - 1].call.ret, .n = n};

	if (n && a.resume && n <= ASIDE_FRAMES_MAX)
		a.frames = calloc(n, sizeof(*a.frames));
	if (a.frames) {
		memcpy(a.frames, &s->frames.v[level], n * sizeof(*a.frames));
		/* The oldest are the likeliest to have ended unseen. */
		while (s->asides.n >= ASIDES_MAX || s->aside_frames + n > ASIDE_FRAMES_MAX)
			forget(s, 0);
		if (vec_push(&s->asides, a))
			free(a.frames);
		else
			s->aside_frames += n;
	}
	ty_flow_stack_unwind(s, level, ts_ns, TY_CALL_CUT);
}

int ty_flow_stack_resume(struct ty_flow_stack *s, uint64_t ip, uint64_t ts_ns, uint64_t *seq)
{
	struct ty_flow_frame *top = ty_flow_stack_top(s);
	struct ty_flow_aside a;
	size_t i = 0, level;
	uint64_t ret;
	int32_t cpu;
	int r = 0;

	while (i < s->asides.n && s->asides.v[i].resume != ip)
		i++;
	if (i == s->asides.n || !top || s->asides.v[i].n > LOOK_FREE + s->credit)
		return 0;
	pay(s, s->asides.v[i].n);
	a = s->asides.v[i];
	s->asides.v[i] = (struct ty_flow_aside){0};
	s->aside_frames -= a.n;
	forget(s, i);
	cpu = top->call.cpu;
	ret = s->frames.v[s->base != TY_NO_LEVEL ? s->base : s->frames.n - 1].call.ret;
	if (s->base != TY_NO_LEVEL)
		ty_flow_stack_leave(s, s->base, ts_ns);
	else
		ty_flow_stack_pop(s, ts_ns, 0);
	level = s->frames.n;
	for (size_t k = 0; k < a.n && !r; k++) {
		const struct ty_flow_frame *f = &a.frames[k];
		const struct ty_flow_call *was = &f->call;
		uint8_t kept = was->flags & (TY_CALL_SIGNAL | TY_CALL_TAIL);
		size_t n = s->frames.n;
		struct ty_flow_call call = (struct ty_flow_call){.start_ns = ts_ns,
								 .end_ns = TY_FLOW_NO_TIME,
								 .seq = (*seq)++,
								 .ip = was->ip,
								 .ret = k ? was->ret : ret,
								 .tid = was->tid,
								 .pid = was->pid,
								 .cpu = cpu,
								 .func = was->func,
								 .flags = kept | TY_CALL_BACK};

		r = ty_flow_stack_push(s, &call, f->lo, f->hi);
		if (s->frames.n > n)
			s->frames.v[n].over = f->over;
	}
	s->base = level < s->frames.n ? level : TY_NO_LEVEL;
	free(a.frames);
	return r ? r : 1;
}
