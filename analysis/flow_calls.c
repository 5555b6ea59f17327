/* SPDX-License-Identifier: MIT */
/*
 * See flow_calls.h. Budget: no look-up for an instruction that continues with the next one or
 * stays within its function; a symbol is looked up once per entry address of a process.
 */
#include "flow_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code_bucket.h"
#include "flow_stack.h"
#include "flow_walk.h"
#include "strtab.h"
#include "vec.h"

enum {
	PLACES_MAX = 1 << 18, /* then all are forgotten */
	BUCKETS_BITS = 12,    /* at first */
	LOOK = 64,	      /* places looked at in a bucket */
	RECENT_BITS = 8,
	TEXT = 512,
	SYSCALL = 2 /* bytes */,
	HANDLERS_LOOK = 4096
};

struct thread {
	int32_t tid, pid;
	struct ty_flow_stack stack;
	uint64_t ip; /* of the last instruction */
	uint8_t size, cls;
	bool indirect; /* a jump to where a register or memory says */
	bool have;     /* ip is valid: the next instruction follows it */
	bool near;     /* it ended by a branch to what is not traced */
	bool off;      /* tracing ended; user mode continues at `resume` unless something happens */
	bool gap;
	bool doubt;   /* no symbol showed the level at which the thread continued */
	bool entered; /* a program's _start showed an exec whose record follows later */
	uint64_t resume;
	uint64_t ts_ns;
	int32_t program; /* ty_flow_names_program */
};

/* Functions that do not return as others do. */
enum trait {
	PLAIN,
	SETS_JUMP, /* setjmp: may return several times */
	JUMPS,	   /* longjmp */
	UNWINDS,   /* _Unwind_Resume: never returns to its caller, but into one further down */
};

/* Where an address belongs to. */
struct place {
	uint64_t ip, lo, hi, from_ns, until_ns; /* asked at from_ns, valid till until_ns */
	int32_t pid;
	uint32_t func;
	uint32_t chain; /* the next in its bucket, plus 1 */
	uint32_t age;
	bool start, entry; /* first byte of a function; of a program (_start) */
};

struct ty_flow_calls {
	struct ty_flow_names *names;
	void (*begin)(void *, const struct ty_flow_call *);
	void (*end)(void *, const struct ty_flow_call *);
	void *ctx;
	VEC(struct thread *) threads;
	struct thread *last;
	VEC(struct ty_flow_calls_function) funcs;
	VEC(uint8_t) traits;	/* enum trait, of funcs */
	struct ty_strtab *keys; /* "name\1file": id - 1 is the function's number */
	VEC(struct place) places;
	uint32_t age;			   /* of those that hold */
	uint32_t recent[1 << RECENT_BITS]; /* places by address, plus 1 */
	uint32_t *buckets;		   /* 2^bits: the first place of each, plus 1 */
	unsigned bits;
	uint64_t seq;
	bool nomem;
};

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
	c->keys = ty_strtab_new();
	c->bits = BUCKETS_BITS;
	c->buckets = calloc((size_t)1 << c->bits, sizeof(*c->buckets));
	if (!c->keys || !c->buckets) {
		ty_flow_calls_free(c);
		return NULL;
	}
	return c;
}

void ty_flow_calls_free(struct ty_flow_calls *c)
{
	if (!c)
		return;
	vec_each (t, &c->threads) {
		ty_flow_stack_fini(&(*t)->stack);
		free(*t);
	}
	vec_each (f, &c->funcs) {
		free(f->name);
		free(f->file);
	}
	vec_fini(&c->threads);
	vec_fini(&c->funcs);
	vec_fini(&c->traits);
	ty_strtab_free(c->keys);
	vec_fini(&c->places);
	free(c->buckets);
	free(c);
}

uint32_t ty_flow_calls_functions(const struct ty_flow_calls *c)
{
	return (uint32_t)c->funcs.n;
}

const struct ty_flow_calls_function *ty_flow_calls_function(const struct ty_flow_calls *c,
							    uint32_t func)
{
	static const struct ty_flow_calls_function none = {(char *)"?", (char *)""};

	return func < c->funcs.n ? &c->funcs.v[func] : &none;
}

static enum trait trait_of(const char *name)
{
	static const char *const setjmps[] = {"_setjmp",       "setjmp",	 "__sigsetjmp",
					      "sigsetjmp",     "_setjmp@plt",	 "setjmp@plt",
					      "__sigjmp_save", "__sigsetjmp@plt"};

	for (size_t i = 0; i < sizeof(setjmps) / sizeof(*setjmps); i++)
		if (!strcmp(name, setjmps[i]))
			return SETS_JUMP;
	if (strstr(name, "longjmp") && !strstr(name, "@plt"))
		return JUMPS;
	return strcmp(name, "_Unwind_Resume") && strcmp(name, "_Unwind_Resume@plt") ? PLAIN
										    : UNWINDS;
}

/* As much of s as there is room for behind `at`; where it ends. */
static size_t put(char *text, size_t size, size_t at, const char *s)
{
	const char *end = memccpy(text + at, s, 0, size - at);

	if (end)
		return (size_t)(end - text) - 1;
	text[size - 1] = 0;
	return size - 1;
}

static uint32_t function(struct ty_flow_calls *c, const char *name, const char *file)
{
	char key[TEXT + 256];
	size_t n = put(key, sizeof(key),
		       put(key, sizeof(key), put(key, sizeof(key), 0, name), "\1"), file);
	uint32_t id;

	/* Id 0 is no function. */
	if (ty_strtab_count(c->keys) >= TY_CALLS_FUNCS &&
	    ty_strtab_find(c->keys, key, n) == UINT32_MAX) {
		name = "(later functions)";
		file = "";
		n = put(key, sizeof(key), 0, name);
	}
	id = ty_strtab_add(c->keys, key, n);
	if (id == UINT32_MAX || !id) {
		c->nomem = true;
		return TY_NO_FUNC;
	}
	while (c->funcs.n < id) {
		struct ty_flow_calls_function f = {.name = strdup(name), .file = strdup(file)};

		if (!f.name || !f.file || vec_push(&c->traits, (uint8_t)trait_of(name)) ||
		    vec_push(&c->funcs, f)) {
			free(f.name);
			free(f.file);
			c->nomem = true;
			return TY_NO_FUNC;
		}
	}
	return id - 1;
}

static void forget_places(struct ty_flow_calls *c)
{
	c->places.n = 0;
	memset(c->buckets, 0, sizeof(*c->buckets) << c->bits);
	memset(c->recent, 0, sizeof(c->recent));
}

static void put_place(struct ty_flow_calls *c, size_t i)
{
	struct place *p = &c->places.v[i];
	uint32_t *first = &c->buckets[ty_code_bucket(p->pid, p->ip, c->bits)];

	p->chain = *first;
	*first = (uint32_t)i + 1;
}

/* A place to be filled; NULL: out of memory. */
static struct place *new_place(struct ty_flow_calls *c, int32_t pid, uint64_t ip)
{
	uint32_t *more;

	if (c->places.n == PLACES_MAX)
		forget_places(c);
	/* Without memory for more buckets there are as many as there are. */
	if (c->places.n >> c->bits && (more = calloc((size_t)8 << c->bits, sizeof(*more)))) {
		free(c->buckets);
		c->buckets = more;
		c->bits += 3;
		for (size_t i = 0; i < c->places.n; i++)
			put_place(c, i);
	}
	if (vec_push(&c->places, ((struct place){.ip = ip, .pid = pid, .age = c->age}))) {
		c->nomem = true;
		return NULL;
	}
	put_place(c, c->places.n - 1);
	return &c->places.v[c->places.n - 1];
}

/* Ask for the function at the place. */
static void ask(struct ty_flow_calls *c, struct place *p, uint64_t t)
{
	struct ty_flow_name n = ty_flow_names_at(c->names, p->pid, t, p->ip);
	char text[TEXT], *cold;

	p->from_ns = t;
	p->until_ns = n.until_ns;
	if (n.function) {
		p->lo = n.start;
		p->hi = n.size ? n.start + n.size : 0;
		p->start = p->ip == n.start;
		p->entry = p->start && !strcmp(n.function, "_start");
		put(text, sizeof(text), 0, n.function);
		/* What the compiler put elsewhere of a function (landing pads of exceptions, too)
		 * is a part of it. */
		cold = strstr(text, ".cold");
		if (cold) {
			p->start = false;
			*cold = 0;
		}
	} else {
		ty_flow_names_text(c->names, p->pid, t, p->ip, text, sizeof(text));
	}
	p->func = function(c, text, n.file ? n.file : "");
}

static inline bool is_place(const struct ty_flow_calls *c, const struct place *p, int32_t pid,
			    uint64_t t, uint64_t ip)
{
	return p->ip == ip && p->pid == pid && p->age == c->age && t >= p->from_ns &&
	       t < p->until_ns;
}

/* The number of a place, plus 1; 0: out of memory. */
static uint32_t find_place(struct ty_flow_calls *c, int32_t pid, uint64_t t, uint64_t ip)
{
	uint32_t i = c->buckets[ty_code_bucket(pid, ip, c->bits)];
	struct place *p;

	for (unsigned looks = 0; i && looks < LOOK; looks++) {
		p = &c->places.v[i - 1];
		if (is_place(c, p, pid, t, ip))
			return i;
		i = p->chain;
	}
	p = new_place(c, pid, ip);
	if (!p)
		return 0;
	ask(c, p, t);
	return (uint32_t)(p - c->places.v) + 1;
}

/* Valid until the next call. */
static inline const struct place *place(struct ty_flow_calls *c, int32_t pid, uint64_t ts_ns,
					uint64_t ip)
{
	static const struct place none = {.func = TY_NO_FUNC};
	const uint64_t t = ts_ns == TY_FLOW_NO_TIME ? UINT64_MAX - 1 : ts_ns;
	uint32_t *recent = &c->recent[ip * 0x9e3779b97f4a7c15ull >> (64 - RECENT_BITS)];

	if (!*recent || !is_place(c, &c->places.v[*recent - 1], pid, t, ip))
		*recent = find_place(c, pid, t, ip);
	return *recent ? &c->places.v[*recent - 1] : &none;
}

static struct thread *thread_of(struct ty_flow_calls *c, int32_t tid, int32_t pid)
{
	struct thread *t;

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
	t->stack.ctx = c->ctx;
	return c->last = t;
}

static struct ty_flow_frame *top(struct thread *t)
{
	return ty_flow_stack_top(&t->stack);
}

static enum trait trait(const struct ty_flow_calls *c, const struct ty_flow_frame *f)
{
	return f->call.func < c->traits.n ? (enum trait)c->traits.v[f->call.func] : PLAIN;
}

static void push(struct ty_flow_calls *c, struct thread *t, const struct ty_flow_at *at,
		 const struct place *p, uint64_t ret, uint8_t flags)
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
}

/* The topmost call ended by a jump into another function, which returns in its place. */
static void replace(struct ty_flow_calls *c, struct thread *t, const struct ty_flow_at *at,
		    const struct place *p)
{
	uint64_t ret = top(t)->call.ret;

	ty_flow_stack_pop(&t->stack, at->ts_ns, 0);
	push(c, t, at, p, ret, TY_CALL_TAIL);
}

static bool holds(const struct ty_flow_frame *f, uint64_t ip)
{
	return ip >= f->lo && ip < f->hi;
}

static bool inside(const struct ty_flow_frame *f, const struct place *p)
{
	return f->call.func == p->func || holds(f, p->ip);
}

/*
 * In the middle of a function, and not by a call: of one below `below`, or of one not seen yet.
 * Where there is no symbol nothing tells which: the level stays until a call or return tells.
 */
static void land(struct ty_flow_calls *c, struct thread *t, const struct ty_flow_at *at,
		 const struct place *p, size_t below)
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
static void returned_to(struct ty_flow_calls *c, struct thread *t, const struct ty_flow_at *at,
			size_t level, uint64_t ip)
{
	struct ty_flow_stack *s = &t->stack;
	struct ty_flow_frame *f = &s->frames.v[level];
	bool sets_jump = level + 1 == s->frames.n && trait(c, f) == SETS_JUMP;

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
static bool resumed(struct ty_flow_calls *c, struct thread *t, const struct ty_flow_at *at,
		    uint64_t ip)
{
	int r = ty_flow_stack_resume(&t->stack, ip, at->ts_ns, &c->seq);

	if (r < 0)
		c->nomem = true;
	if (r > 0)
		t->doubt = false;
	return r > 0;
}

/* A call of its own middle: the way by which code calls what it has the address of (retpolines). */
static bool trick(struct thread *t)
{
	size_t n = t->stack.frames.n;
	const struct ty_flow_frame *f = top(t);

	return n > 1 && f->hi && f->call.ip != f->lo && holds(&f[-1], f->call.ip);
}

/* By a return to the start of a function. */
static void returned_to_start(struct ty_flow_calls *c, struct thread *t,
			      const struct ty_flow_at *at, const struct place *p)
{
	struct ty_flow_stack *s = &t->stack;
	struct ty_flow_frame *f;
	uint64_t ret;

	if (trick(t)) {
		ty_flow_stack_pop(s, at->ts_ns, 0);
		replace(c, t, at, p);
		return;
	}
	/* A new stack (makecontext): it stands where another one does, if the thread is on one. */
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
static void returned(struct ty_flow_calls *c, struct thread *t, const struct ty_flow_at *at,
		     uint64_t ip)
{
	struct ty_flow_stack *s = &t->stack;
	struct ty_flow_frame *f = top(t);
	const struct place *p;
	size_t n = s->frames.n, level;

	if (f && f->call.ret == ip && trait(c, f) == PLAIN) {
		t->doubt = false;
		ty_flow_stack_pop(s, at->ts_ns, 0);
		return;
	}
	/* Cleaned up for an exception: the next function that wants it is further down. */
	if (n > 1 && trait(c, f) == UNWINDS) {
		p = place(c, t->pid, at->ts_ns, ip);
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
	p = place(c, t->pid, at->ts_ns, ip);
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
static bool by_longjmp(const struct ty_flow_calls *c, const struct thread *t)
{
	const struct ty_flow_stack *s = &t->stack;

	for (size_t n = s->frames.n, k = 1; t->indirect && k <= n && k <= 2; k++)
		if (trait(c, &s->frames.v[n - k]) == JUMPS)
			return true;
	return false;
}

static void jumped(struct ty_flow_calls *c, struct thread *t, const struct ty_flow_at *at,
		   uint64_t ip)
{
	struct ty_flow_stack *s = &t->stack;
	struct ty_flow_frame *f = top(t);
	const struct place *p;
	size_t level;

	if (f && holds(f, ip))
		return;
	/* A jump within a function changes no level. */
	p = place(c, t->pid, at->ts_ns, t->ip);
	if (ip >= p->lo && ip < p->hi)
		return;
	p = place(c, t->pid, at->ts_ns, ip);
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
static void executed(struct ty_flow_calls *c, struct thread *t, const struct ty_flow_at *at)
{
	c->age++;
	ty_flow_stack_unwind(&t->stack, 0, at->ts_ns, TY_CALL_CUT);
	ty_flow_stack_forget(&t->stack);
	t->doubt = false;
}

static bool other_program(struct ty_flow_calls *c, struct thread *t)
{
	int32_t was = t->program;

	t->program = ty_flow_names_program(c->names, t->pid, t->ts_ns);
	return was >= 0 && t->program != was;
}

/* User mode continues at ip after a system call, a signal, a gap. */
static void started(struct ty_flow_calls *c, struct thread *t, const struct ty_flow_at *at,
		    uint64_t ip)
{
	struct ty_flow_stack *s = &t->stack;
	struct ty_flow_frame *f;
	const struct place *p;
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
	p = place(c, t->pid, at->ts_ns, ip);
	f = top(t);
	if (p->entry && !exec) {
		struct place entry = *p;

		executed(c, t, at);
		t->entered = true;
		push(c, t, at, &entry, 0, 0);
	} else if (t->off && !t->gap && f && p->start) {
		/* From what is not traced, it is a call. */
		push(c, t, at, p, t->near ? 0 : t->resume, t->near ? 0 : TY_CALL_SIGNAL);
	} else if (t->off && !t->gap && f && f->over) {
		/* The handler has set where the program continues. */
		ty_flow_stack_pop(s, at->ts_ns, 0);
		land(c, t, at, p, s->frames.n);
	} else if (t->gap) {
		/* Comes to those below as this one ends. */
		if (f)
			f->call.flags |= TY_CALL_GAP;
		land(c, t, at, p, s->frames.n);
	} else if (!f) {
		push(c, t, at, p, 0, p->start ? 0 : TY_CALL_BEFORE);
	}
}

/*
 * In doubt about the level, the first call from where a call on the stack was made shows that this
 * one is over, and with it what it called.
 */
static void settle(struct thread *t, const struct ty_flow_at *at, uint64_t ret)
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

/* `n` instructions from ip on, of which only the last may do more than go on in its function. */
static inline void on_insns(struct ty_flow_calls *c, struct thread *t, const struct ty_flow_at *at,
			    uint64_t ip, uint64_t n)
{
	uint64_t next = t->ip + t->size;
	struct ty_flow_frame *f;

	if (!t->have)
		started(c, t, at, ip);
	else if (t->cls == TY_FC_CALL) {
		if (ip != next) {
			if (t->doubt)
				settle(t, at, next);
			push(c, t, at, place(c, t->pid, at->ts_ns, ip), next, 0);
		}
	} else if (t->cls == TY_FC_RETURN)
		returned(c, t, at, ip);
	else if (ip != next)
		jumped(c, t, at, ip);
	f = top(t);
	if (f) {
		f->call.insns += n;
		f->call.self_insns += n;
	}
	t->have = true;
	t->off = t->gap = false;
}

static void on_item(struct ty_flow_calls *c, struct thread *t, const struct ty_flow_at *at)
{
	const struct ty_flow_item *it = &at->item;
	const bool run = it->kind == TY_FLOW_RUN;

	on_insns(c, t, at, it->ip, run ? it->value : 1);
	if (run && at->last_ns != TY_FLOW_NO_TIME)
		t->ts_ns = at->last_ns;
	t->ip = run ? it->to : it->ip;
	t->size = it->size;
	t->cls = it->cls;
	t->indirect = run ? it->flags & TY_FF_INDIRECT : it->cls == TY_FC_JUMP && indirect(it);
}

int ty_flow_calls_runs(struct ty_flow_calls *c, const struct ty_flow *f,
		       const struct ty_flow_at *at, const struct ty_walk_run *runs, size_t n)
{
	struct thread *t = thread_of(c, at->tid, at->pid);
	struct ty_flow_at now = {.tid = at->tid, .pid = at->pid, .cpu = at->cpu};
	const bool timed = ty_flow_timed(f);
	uint64_t tsc = 0;

	now.ts_ns = TY_FLOW_NO_TIME;
	for (const struct ty_walk_run *r = runs; t && r < runs + n; r++) {
		if (!timed || r->flags & TY_FF_NO_TIME) {
			now.ts_ns = TY_FLOW_NO_TIME;
		} else if (r->tsc != tsc || now.ts_ns == TY_FLOW_NO_TIME) {
			tsc = r->tsc;
			t->ts_ns = now.ts_ns = ty_flow_ns(f, tsc);
		}
		on_insns(c, t, &now, r->ip, r->insns);
		t->ip = r->last;
		t->size = r->size;
		t->cls = r->cls & (uint8_t)~TY_BLOCK_INDIRECT;
		t->indirect = r->cls & TY_BLOCK_INDIRECT;
	}
	if (t && n && timed && runs[n - 1].until)
		t->ts_ns = ty_flow_ns(f, runs[n - 1].until);
	return !t || c->nomem ? -TY_ENOMEM : 0;
}

/* The last instruction went to what is not traced (a filter). */
static void left(struct ty_flow_calls *c, struct thread *t, const struct ty_flow_at *at,
		 uint64_t ip)
{
	struct ty_flow_stack *s = &t->stack;
	const struct place *p;
	size_t level;

	if (!s->frames.n || (t->cls != TY_FC_RETURN && !t->indirect))
		return;
	level = t->cls == TY_FC_RETURN ? ty_flow_stack_returns_to(s, s->frames.n, ip) : TY_NO_LEVEL;
	p = place(c, t->pid, at->ts_ns, ip);
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
	struct thread *t = thread_of(c, at->tid, at->pid);

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
		/* The last instruction was whole: what it did counts before the interruption. */
		if (t->have && t->cls == TY_FC_CALL && at->item.ip != t->ip + t->size)
			push(c, t, at, place(c, t->pid, at->ts_ns, at->item.ip), t->ip + t->size,
			     0);
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
	return c->nomem ? -TY_ENOMEM : 0;
}

void ty_flow_calls_finish(struct ty_flow_calls *c)
{
	vec_each (t, &c->threads)
		ty_flow_stack_unwind(&(*t)->stack, 0, (*t)->ts_ns ? (*t)->ts_ns : TY_FLOW_NO_TIME,
				     TY_CALL_OPEN);
}
