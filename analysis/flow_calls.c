/* SPDX-License-Identifier: MIT */
/*
 * See flow_calls.h. Budget: no look-up for an instruction that continues with the next one or
 * stays within its function; a symbol is looked up once per entry address of a process.
 */
#include "flow_calls.h"

#include <stdio.h>
#include <stdlib.h>

#include "flow_calls_priv.h"
#include "vec.h"

enum { SYSCALL = 2 /* bytes */, HANDLERS_LOOK = 4096 };

struct ty_flow_calls *ty_flow_calls_new(struct ty_flow_names *names,
					void (*begin)(void *ctx, const struct ty_flow_call *c),
					void (*end)(void *ctx, const struct ty_flow_call *c),
					void *ctx)
{
	struct ty_flow_calls *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->names = names;
	c->begin = begin;
	c->end = end;
	c->ctx = ctx;
	if (ty_flow_places_init(&c->places, names)) {
		ty_flow_calls_free(c);
		return NULL;
	}
	return c;
}

void ty_flow_calls_sum_up(struct ty_flow_calls *c, struct ty_flow_sums *sums)
{
	c->sums = sums;
}

void ty_flow_calls_free(struct ty_flow_calls *c)
{
	if (!c)
		return;
	vec_each (t, &c->threads) {
		ty_flow_stack_fini(&(*t)->stack);
		free(*t);
	}
	vec_fini(&c->threads);
	ty_flow_paths_fini(&c->paths);
	ty_flow_places_fini(&c->places);
	free(c);
}

uint32_t ty_flow_calls_functions(const struct ty_flow_calls *c)
{
	return (uint32_t)c->places.funcs.n;
}

const struct ty_flow_calls_function *ty_flow_calls_function(const struct ty_flow_calls *c,
							    uint32_t func)
{
	static const struct ty_flow_calls_function none = {"?", ""};

	return func < c->places.funcs.n ? &c->places.funcs.v[func] : &none;
}

struct ty_flow_thread *ty_flow_calls_thread(struct ty_flow_calls *c, int32_t tid, int32_t pid)
{
	struct ty_flow_thread *t;

	if (c->last && c->last->tid == tid && c->last->pid == pid)
		return c->last;
	vec_each (it, &c->threads)
		if ((*it)->tid == tid && (*it)->pid == pid)
			return c->last = *it;
	t = calloc(1, sizeof(*t));
	if (!t || vec_push(&c->threads, t)) {
		free(t);
		return NULL;
	}
	t->tid = tid;
	t->pid = pid;
	t->program = -1;
	t->stack.base = TY_NO_LEVEL;
	t->stack.begin = c->begin;
	t->stack.end = c->end;
	t->stack.sums = c->sums;
	t->stack.ctx = c->ctx;
	return c->last = t;
}

static struct ty_flow_frame *top(struct ty_flow_thread *t)
{
	return ty_flow_stack_top(&t->stack);
}

static enum ty_flow_trait trait(const struct ty_flow_calls *c, const struct ty_flow_frame *f)
{
	return ty_flow_trait_of(&c->places, f->call.func);
}

static void push(struct ty_flow_calls *c, struct ty_flow_thread *t, const struct ty_flow_at *at,
		 const struct ty_flow_place *p, uint64_t ret, uint8_t flags)
{
	struct ty_flow_frame *f = ty_flow_stack_open(&t->stack);

	if (!f) {
		c->nomem |= t->stack.nomem;
		return;
	}
	f->call = (struct ty_flow_call){.start_ns = at->ts_ns,
					.end_ns = TY_FLOW_NO_TIME,
					.ip = p->ip,
					.ret = ret,
					.seq = c->seq++,
					.tid = t->tid,
					.pid = t->pid,
					.cpu = at->cpu,
					.func = p->func,
					.flags = flags};
	f->lo = p->lo;
	f->hi = p->hi;
	ty_flow_stack_begin(&t->stack, f);
	f->plain = trait(c, f) == TY_FUNC_PLAIN;
}

/* The topmost call ended by a jump into another function, which returns in its place. */
static void replace(struct ty_flow_calls *c, struct ty_flow_thread *t, const struct ty_flow_at *at,
		    const struct ty_flow_place *p)
{
	uint64_t ret = top(t)->call.ret;

	ty_flow_stack_pop(&t->stack, at->ts_ns, 0);
	push(c, t, at, p, ret, TY_CALL_TAIL);
}

static bool holds(const struct ty_flow_frame *f, uint64_t ip)
{
	return ip >= f->lo && ip < f->hi;
}

static bool inside(const struct ty_flow_frame *f, const struct ty_flow_place *p)
{
	return f->call.func == p->func || holds(f, p->ip);
}

/*
 * Entered the middle of a function without a call: one below `below`, or a new one. Without a
 * symbol it is unknown which: the level stays until a call or return shows it.
 */
static void land(struct ty_flow_calls *c, struct ty_flow_thread *t, const struct ty_flow_at *at,
		 const struct ty_flow_place *p, size_t below)
{
	size_t level = ty_flow_stack_level_of(&t->stack, below, p->func, p->ip);

	if (level != TY_NO_LEVEL)
		ty_flow_stack_unwind(&t->stack, level + 1, at->ts_ns, TY_CALL_CUT);
	else if (p->hi || p->start || !t->stack.frames.n)
		push(c, t, at, p, 0, TY_CALL_BEFORE);
	else
		t->doubt = true;
}

/* To the return address of the call at this level. */
static void returned_to(struct ty_flow_calls *c, struct ty_flow_thread *t,
			const struct ty_flow_at *at, size_t level, uint64_t ip)
{
	struct ty_flow_stack *s = &t->stack;
	struct ty_flow_frame *f = &s->frames.v[level];
	bool sets_jump = level + 1 == s->frames.n && trait(c, f) == TY_FUNC_SETS_JUMP;

	bool switched = !t->doubt && level + 1 < s->frames.n && f->hi && !holds(f, t->ip);

	t->doubt = false;
	/* By another function's return, that of a call in it: it continues later. */
	if (switched) {
		ty_flow_stack_leave(s, level, at->ts_ns);
		return;
	}
	ty_flow_stack_unwind(s, level + 1, at->ts_ns, TY_CALL_CUT);
	ty_flow_stack_pop(s, at->ts_ns, 0);
	if (sets_jump)
		ty_flow_stack_jump_set(s, ip);
}

/* To where a stack continues that the thread has left. */
static bool resumed(struct ty_flow_calls *c, struct ty_flow_thread *t, const struct ty_flow_at *at,
		    uint64_t ip)
{
	int r = ty_flow_stack_resume(&t->stack, ip, at->ts_ns, &c->seq);

	if (r < 0)
		c->nomem = true;
	if (r > 0)
		t->doubt = false;
	return r > 0;
}

/* A call into its own middle: an indirect call by a retpoline. */
static bool trick(struct ty_flow_thread *t)
{
	size_t n = t->stack.frames.n;
	const struct ty_flow_frame *f = top(t);

	return n > 1 && f->hi && f->call.ip != f->lo && holds(&f[-1], f->call.ip);
}

/* By a return to the start of a function. */
static void returned_to_start(struct ty_flow_calls *c, struct ty_flow_thread *t,
			      const struct ty_flow_at *at, const struct ty_flow_place *p)
{
	struct ty_flow_stack *s = &t->stack;
	struct ty_flow_frame *f;
	uint64_t ret;

	if (trick(t)) {
		ty_flow_stack_pop(s, at->ts_ns, 0);
		replace(c, t, at, p);
		return;
	}
	/* A new stack (makecontext) replaces another one, if the thread is on one. */
	if (s->base == TY_NO_LEVEL || s->base + 1 == s->frames.n) {
		replace(c, t, at, p);
	} else {
		f = &s->frames.v[s->base];
		ret = f->call.ret;
		ty_flow_stack_leave(s, s->base, at->ts_ns);
		push(c, t, at, p, ret, TY_CALL_TAIL);
	}
	s->base = s->frames.n - 1;
}

/* A return went to `ip`. */
static void returned(struct ty_flow_calls *c, struct ty_flow_thread *t, const struct ty_flow_at *at,
		     uint64_t ip)
{
	struct ty_flow_stack *s = &t->stack;
	struct ty_flow_frame *f = top(t);
	const struct ty_flow_place *p;
	size_t n = s->frames.n, level;

	if (f && f->call.ret == ip && trait(c, f) == TY_FUNC_PLAIN) {
		t->doubt = false;
		ty_flow_stack_pop(s, at->ts_ns, 0);
		return;
	}
	/* Clean-up for an exception: the next function that handles it is further down. */
	if (n > 1 && trait(c, f) == TY_FUNC_UNWINDS) {
		p = ty_flow_calls_place(c, t->pid, at->ts_ns, ip);
		ty_flow_stack_unwind(s, n - 2, at->ts_ns, TY_CALL_CUT);
		land(c, t, at, p, n - 2);
		return;
	}
	level = ty_flow_stack_returns_to(s, n, ip);
	if (level != TY_NO_LEVEL) {
		returned_to(c, t, at, level, ip);
		return;
	}
	if (resumed(c, t, at, ip))
		return;
	/* A handler returns into the code that ends the signal: still the handler's. */
	if (f && f->call.flags & TY_CALL_SIGNAL) {
		f->over = true;
		return;
	}
	p = ty_flow_calls_place(c, t->pid, at->ts_ns, ip);
	if (f && inside(f, p))
		return; /* a return used as a jump */
	if (f && p->start) {
		returned_to_start(c, t, at, p);
		return;
	}
	/* The first function of another stack is over. */
	if (f && s->base == n - 1) {
		replace(c, t, at, p);
		return;
	}
	/* To the caller of a function whose call was not seen, and to callers of that. */
	level = ty_flow_stack_level_of(s, n, p->func, ip);
	while ((f = top(t)) && !f->call.ret && !(f->call.flags & TY_CALL_SIGNAL)) {
		ty_flow_stack_pop(s, at->ts_ns, 0);
		if (level != TY_NO_LEVEL)
			break;
	}
	land(c, t, at, p, s->frames.n);
}

/* In longjmp, or in what it calls to do it. */
static bool by_longjmp(const struct ty_flow_calls *c, const struct ty_flow_thread *t)
{
	const struct ty_flow_stack *s = &t->stack;

	for (size_t n = s->frames.n, k = 1; t->indirect && k <= n && k <= 2; k++)
		if (trait(c, &s->frames.v[n - k]) == TY_FUNC_JUMPS)
			return true;
	return false;
}

static void jumped(struct ty_flow_calls *c, struct ty_flow_thread *t, const struct ty_flow_at *at,
		   uint64_t ip)
{
	struct ty_flow_stack *s = &t->stack;
	struct ty_flow_frame *f = top(t);
	const struct ty_flow_place *p;
	size_t level;

	if (f && holds(f, ip))
		return;
	/* A jump within a function changes no level. */
	p = ty_flow_calls_place(c, t->pid, at->ts_ns, t->ip);
	if (ip >= p->lo && ip < p->hi)
		return;
	p = ty_flow_calls_place(c, t->pid, at->ts_ns, ip);
	if (f && f->call.func == p->func)
		return;
	if (p->start && f) {
		replace(c, t, at, p);
		return;
	}
	if (t->indirect && f) {
		level = ty_flow_stack_jump_to(s, ip);
		if (level != TY_NO_LEVEL) {
			ty_flow_stack_unwind(s, level + 1, at->ts_ns, TY_CALL_CUT);
			t->doubt = false;
			return;
		}
		/* A return by other means, as some switch stacks. */
		level = ty_flow_stack_returns_to(s, s->frames.n, ip);
		if (level != TY_NO_LEVEL) {
			returned_to(c, t, at, level, ip);
			return;
		}
		if (resumed(c, t, at, ip))
			return;
	}
	/* To a caller of all that is known: longjmp goes nowhere else. */
	if (by_longjmp(c, t) && ty_flow_stack_level_of(s, s->frames.n, p->func, ip) == TY_NO_LEVEL)
		ty_flow_stack_unwind(s, 0, at->ts_ns, TY_CALL_CUT);
	if (p->hi)
		land(c, t, at, p, s->frames.n);
}

/* Another program: what was known of the addresses is not true any more. */
static void executed(struct ty_flow_calls *c, struct ty_flow_thread *t, const struct ty_flow_at *at)
{
	ty_flow_places_forget(&c->places);
	ty_flow_stack_unwind(&t->stack, 0, at->ts_ns, TY_CALL_CUT);
	ty_flow_stack_forget(&t->stack);
	t->doubt = false;
}

static bool other_program(struct ty_flow_calls *c, struct ty_flow_thread *t)
{
	int32_t was = t->program;

	t->program = ty_flow_names_program(c->names, t->pid, t->ts_ns);
	return was >= 0 && t->program != was;
}

/* User mode continues at ip after a system call, a signal, a gap. */
static void started(struct ty_flow_calls *c, struct ty_flow_thread *t, const struct ty_flow_at *at,
		    uint64_t ip)
{
	struct ty_flow_stack *s = &t->stack;
	struct ty_flow_frame *f;
	const struct ty_flow_place *p;
	bool exec = other_program(c, t), told = exec && t->entered;

	t->entered &= !exec;
	if (t->off && ip == t->resume && !t->gap && (!exec || told))
		return;
	if (exec && !told)
		executed(c, t, at);
	/* Behind the system call that the signal interrupted, or at it when it is restarted. */
	for (size_t i = s->frames.n, look = 0; i-- > 0 && look < HANDLERS_LOOK; look++) {
		f = &s->frames.v[i];
		if (f->call.flags & TY_CALL_SIGNAL &&
		    (f->call.ret == ip || f->call.ret == ip + SYSCALL)) {
			ty_flow_stack_unwind(s, i, at->ts_ns, 0);
			return;
		}
	}
	p = ty_flow_calls_place(c, t->pid, at->ts_ns, ip);
	f = top(t);
	if (p->entry && !exec) {
		struct ty_flow_place entry = *p;

		executed(c, t, at);
		t->entered = true;
		push(c, t, at, &entry, 0, 0);
	} else if (t->off && !t->gap && f && p->start) {
		/* Coming from code that is not traced, it is a call. */
		push(c, t, at, p, t->near ? 0 : t->resume, t->near ? 0 : TY_CALL_SIGNAL);
	} else if (t->off && !t->gap && f && f->over) {
		/* The handler has set where the program continues. */
		ty_flow_stack_pop(s, at->ts_ns, 0);
		land(c, t, at, p, s->frames.n);
	} else if (t->gap) {
		/* Added to the levels below when this one ends. */
		if (f)
			f->call.flags |= TY_CALL_GAP;
		land(c, t, at, p, s->frames.n);
	} else if (!f) {
		push(c, t, at, p, 0, p->start ? 0 : TY_CALL_BEFORE);
	}
}

/*
 * If the level is uncertain, a call from the site of a call on the stack shows that the latter has
 * ended, with everything it called.
 */
static void settle(struct ty_flow_thread *t, const struct ty_flow_at *at, uint64_t ret)
{
	size_t level = ty_flow_stack_returns_to(&t->stack, t->stack.frames.n, ret);

	if (level == TY_NO_LEVEL)
		return;
	ty_flow_stack_unwind(&t->stack, level, at->ts_ns, TY_CALL_CUT);
	t->doubt = false;
}

/* Of a near jump, whatever its prefixes: opcode FF (/4), not E9 or EB. */
static bool indirect(const struct ty_flow_item *it)
{
	for (unsigned i = 0; i < it->size && i < sizeof(it->raw); i++)
		if (it->raw[i] == 0xff || it->raw[i] == 0xe9 || it->raw[i] == 0xeb)
			return it->raw[i] == 0xff;
	return false;
}

void ty_flow_calls_insns(struct ty_flow_calls *c, struct ty_flow_thread *t,
			 const struct ty_flow_at *at, uint64_t ip, uint64_t n)
{
	uint64_t next = t->ip + t->size;

	if (!t->have)
		started(c, t, at, ip);
	else if (t->cls == TY_FC_CALL) {
		if (ip != next) {
			if (t->doubt)
				settle(t, at, next);
			push(c, t, at, ty_flow_calls_place(c, t->pid, at->ts_ns, ip), next, 0);
		}
	} else if (t->cls == TY_FC_RETURN)
		returned(c, t, at, ip);
	else if (ip != next)
		jumped(c, t, at, ip);
	t->stack.insns += n;
	t->have = true;
	t->off = t->gap = false;
}

static void on_item(struct ty_flow_calls *c, struct ty_flow_thread *t, const struct ty_flow_at *at)
{
	const struct ty_flow_item *it = &at->item;
	const bool run = it->kind == TY_FLOW_RUN;

	ty_flow_calls_insns(c, t, at, it->ip, run ? it->value : 1);
	if (run && at->last_ns != TY_FLOW_NO_TIME)
		t->ts_ns = at->last_ns;
	t->ip = run ? it->to : it->ip;
	t->size = it->size;
	t->cls = it->cls;
	t->indirect = run ? it->flags & TY_FF_INDIRECT : it->cls == TY_FC_JUMP && indirect(it);
}

/* The last instruction went to what is not traced (a filter). */
static void left(struct ty_flow_calls *c, struct ty_flow_thread *t, const struct ty_flow_at *at,
		 uint64_t ip)
{
	struct ty_flow_stack *s = &t->stack;
	const struct ty_flow_place *p;
	size_t level;

	if (!s->frames.n || (t->cls != TY_FC_RETURN && !t->indirect))
		return;
	level = t->cls == TY_FC_RETURN ? ty_flow_stack_returns_to(s, s->frames.n, ip) : TY_NO_LEVEL;
	p = ty_flow_calls_place(c, t->pid, at->ts_ns, ip);
	if (level != TY_NO_LEVEL) {
		returned_to(c, t, at, level, ip);
	} else if (t->cls == TY_FC_RETURN && (!ip || !top(t)->call.ret)) {
		ty_flow_stack_pop(s, at->ts_ns, 0);
	} else if (ip && !p->start &&
		   ty_flow_stack_level_of(s, s->frames.n, p->func, ip) == TY_NO_LEVEL) {
		/* To a caller of all that is known, by longjmp or an exception. */
		ty_flow_stack_unwind(s, 0, at->ts_ns, TY_CALL_CUT);
	}
}

int ty_flow_calls_feed(struct ty_flow_calls *c, const struct ty_flow_at *at)
{
	struct ty_flow_thread *t = ty_flow_calls_thread(c, at->tid, at->pid);

	if (!t)
		return -TY_ENOMEM;
	if (at->ts_ns != TY_FLOW_NO_TIME)
		t->ts_ns = at->ts_ns;
	switch (at->item.kind) {
	case TY_FLOW_INSN:
	case TY_FLOW_RUN: on_item(c, t, at); break;
	case TY_FLOW_STOP:
		if (t->have)
			left(c, t, at, at->item.to);
		t->near = at->item.to != 0;
		t->resume = t->ip + t->size;
		t->off = true;
		t->have = false;
		break;
	case TY_FLOW_ASYNC:
		/* The last instruction completed: its effect precedes the interruption. */
		if (t->have && t->cls == TY_FC_CALL && at->item.ip != t->ip + t->size)
			push(c, t, at, ty_flow_calls_place(c, t->pid, at->ts_ns, at->item.ip),
			     t->ip + t->size, 0);
		else if (t->have && t->cls == TY_FC_RETURN)
			returned(c, t, at, at->item.ip);
		else if (t->have && at->item.ip != t->ip + t->size)
			jumped(c, t, at, at->item.ip);
		t->resume = at->item.ip;
		t->near = false;
		t->off = true;
		t->have = false;
		break;
	case TY_FLOW_GAP:
	case TY_FLOW_OVERFLOW:
		t->gap = true;
		t->have = false;
		break;
	default: break;
	}
	return c->nomem || c->places.nomem ? -TY_ENOMEM : 0;
}

void ty_flow_calls_finish(struct ty_flow_calls *c)
{
	ty_flow_paths_add_up(&c->paths, c->sums);
	vec_each (t, &c->threads)
		ty_flow_stack_unwind(&(*t)->stack, 0, (*t)->ts_ns ? (*t)->ts_ns : TY_FLOW_NO_TIME,
				     TY_CALL_OPEN);
}
