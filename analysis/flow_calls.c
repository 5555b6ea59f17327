/* SPDX-License-Identifier: MIT */
/*
 * See flow_calls.h. Budget: nothing is looked up for an instruction that goes on to the next or
 * stays within its function; a symbol is looked up once per entry address of a process.
 */
#include "flow_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strtab.h"
#include "vec.h"

enum { DEPTH_MAX = 1 << 20, CACHE = 4096, TEXT = 512, SYSCALL = 2 /* bytes */ };

struct frame {
	struct ty_flow_call call;
	uint64_t lo, hi; /* addresses of the function; hi 0: not known */
};

struct thread {
	int32_t tid, pid;
	VEC(struct frame) stack;
	uint64_t ip; /* of the last instruction */
	uint8_t size, cls;
	bool have; /* ip is valid: the next instruction follows it */
	bool off;  /* tracing ended; user mode goes on at `resume` unless something happens */
	bool gap;
	bool doubt; /* a gap behind which no symbol told the level */
	uint64_t resume;
	uint64_t ts_ns;
};

/* Where an address belongs to. */
struct place {
	uint64_t ip, lo, hi;
	int32_t pid;
	uint32_t func;
	bool valid, start, entry; /* first byte of a function; of a program (_start) */
};

struct ty_flow_calls {
	struct ty_flow_names *names;
	void (*begin)(void *, const struct ty_flow_call *);
	void (*end)(void *, const struct ty_flow_call *);
	void *ctx;
	VEC(struct thread *) threads;
	struct thread *last;
	VEC(struct ty_flow_calls_function) funcs;
	struct ty_strtab *keys; /* "name\1file": id - 1 is the function's number */
	struct place cache[CACHE];
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
	if (!c->keys) {
		free(c);
		return NULL;
	}
	return c;
}

void ty_flow_calls_free(struct ty_flow_calls *c)
{
	if (!c)
		return;
	vec_each (t, &c->threads) {
		vec_fini(&(*t)->stack);
		free(*t);
	}
	vec_each (f, &c->funcs) {
		free(f->name);
		free(f->file);
	}
	vec_fini(&c->threads);
	vec_fini(&c->funcs);
	ty_strtab_free(c->keys);
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

static uint32_t function(struct ty_flow_calls *c, const char *name, const char *file)
{
	char key[TEXT + 256];
	uint32_t id;

	snprintf(key, sizeof(key), "%s\1%s", name, file);
	id = ty_strtab_add(c->keys, key, strlen(key));
	if (id == UINT32_MAX || !id) {
		c->nomem = true;
		return TY_NO_FUNC;
	}
	while (c->funcs.n < id) {
		struct ty_flow_calls_function f = {.name = strdup(name), .file = strdup(file)};

		if (!f.name || !f.file || vec_push(&c->funcs, f)) {
			free(f.name);
			free(f.file);
			c->nomem = true;
			return TY_NO_FUNC;
		}
	}
	return id - 1;
}

static const struct place *place(struct ty_flow_calls *c, int32_t pid, uint64_t ts_ns, uint64_t ip)
{
	struct place *p =
		&c->cache[(ip * 0x9e3779b97f4a7c15ull >> 40 ^ (uint32_t)pid) & (CACHE - 1)];
	uint64_t t = ts_ns == TY_FLOW_NO_TIME ? UINT64_MAX - 1 : ts_ns;
	struct ty_flow_name n;
	char text[TEXT];

	if (p->valid && p->ip == ip && p->pid == pid)
		return p;
	n = ty_flow_names_at(c->names, pid, t, ip);
	*p = (struct place){.ip = ip, .pid = pid, .valid = true};
	if (n.function) {
		p->lo = n.start;
		p->hi = n.size ? n.start + n.size : 0;
		p->start = ip == n.start;
		p->entry = p->start && !strcmp(n.function, "_start");
		/* What the compiler put elsewhere of a function is a part of it. */
		if (strstr(n.function, ".cold"))
			p->start = false;
		snprintf(text, sizeof(text), "%s", n.function);
	} else {
		ty_flow_names_text(c->names, pid, t, ip, text, sizeof(text));
	}
	p->func = function(c, text, n.file ? n.file : "");
	return p;
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
	return c->last = t;
}

static struct frame *top(struct thread *t)
{
	return t->stack.n ? &t->stack.v[t->stack.n - 1] : NULL;
}

static void push(struct ty_flow_calls *c, struct thread *t, const struct ty_flow_at *at,
		 const struct place *p, uint64_t ret, uint8_t flags)
{
	struct frame f = {.lo = p->lo, .hi = p->hi};
	struct frame *up = top(t);

	f.call = (struct ty_flow_call){.start_ns = at->ts_ns,
				       .end_ns = TY_FLOW_NO_TIME,
				       .ip = p->ip,
				       .ret = ret,
				       .seq = c->seq++,
				       .tid = t->tid,
				       .pid = t->pid,
				       .cpu = at->cpu,
				       .func = p->func,
				       .caller = up ? up->call.func : TY_NO_FUNC,
				       .depth = (uint32_t)t->stack.n,
				       .flags = flags};
	/* Deeper than any real stack: hostile or misread; no level is opened. */
	if (t->stack.n >= DEPTH_MAX)
		return;
	if (vec_push(&t->stack, f)) {
		c->nomem = true;
		return;
	}
	if (c->begin)
		c->begin(c->ctx, &f.call);
}

static void pop(struct ty_flow_calls *c, struct thread *t, uint64_t ts_ns, uint8_t flags)
{
	struct frame *f = top(t), *up;

	f->call.end_ns = ts_ns;
	f->call.flags |= flags;
	t->stack.n--;
	up = top(t);
	if (up) {
		up->call.insns += f->call.insns;
		up->call.flags |= f->call.flags & TY_CALL_GAP;
		if (f->call.start_ns != TY_FLOW_NO_TIME && ts_ns != TY_FLOW_NO_TIME)
			up->call.children_ns += ts_ns - f->call.start_ns;
	}
	if (c->end)
		c->end(c->ctx, &f->call);
}

/* End everything above level n. */
static void unwind(struct ty_flow_calls *c, struct thread *t, size_t n, uint64_t ts_ns,
		   uint8_t flags)
{
	while (t->stack.n > n)
		pop(c, t, ts_ns, flags);
}

static bool inside(const struct frame *f, const struct place *p)
{
	return f->call.func == p->func || (p->ip >= f->lo && p->ip < f->hi);
}

/* The highest level whose function holds the place; -1: none. */
static long level_of(const struct thread *t, const struct place *p)
{
	for (size_t i = t->stack.n; i-- > 0;)
		if (inside(&t->stack.v[i], p))
			return (long)i;
	return -1;
}

/* In the middle of a function, and not by a call: of one further down, or of one not seen yet. */
static void land(struct ty_flow_calls *c, struct thread *t, const struct ty_flow_at *at,
		 const struct place *p, uint8_t flags)
{
	long level = level_of(t, p);

	if (level >= 0)
		unwind(c, t, (size_t)level + 1, at->ts_ns, TY_CALL_CUT);
	else
		push(c, t, at, p, 0, flags);
}

/* A return went to `ip`. */
static void returned(struct ty_flow_calls *c, struct thread *t, const struct ty_flow_at *at,
		     uint64_t ip)
{
	struct frame *f = top(t);
	const struct place *p;

	for (size_t i = t->stack.n; i-- > 0;)
		if (t->stack.v[i].call.ret == ip) {
			unwind(c, t, i + 1, at->ts_ns, TY_CALL_CUT);
			pop(c, t, at->ts_ns, 0);
			t->doubt = false;
			return;
		}
	/* A handler returns into the code that ends the signal: still the handler's. */
	if (f && f->call.flags & TY_CALL_SIGNAL)
		return;
	p = place(c, t->pid, at->ts_ns, ip);
	if (f && inside(f, p))
		return; /* a return used as a jump */
	if (f && p->start) {
		uint64_t ret = f->call.ret;

		pop(c, t, at->ts_ns, 0);
		push(c, t, at, p, ret, TY_CALL_TAIL);
		return;
	}
	/* To the caller of a function whose call was not seen. */
	if (level_of(t, p) < 0) {
		while (t->stack.n && !top(t)->call.ret && !(top(t)->call.flags & TY_CALL_SIGNAL))
			pop(c, t, at->ts_ns, 0);
	}
	land(c, t, at, p, TY_CALL_BEFORE);
}

static void jumped(struct ty_flow_calls *c, struct thread *t, const struct ty_flow_at *at,
		   uint64_t ip)
{
	struct frame *f = top(t);
	const struct place *p;
	uint64_t ret;

	if (f && ip >= f->lo && ip < f->hi)
		return;
	p = place(c, t->pid, at->ts_ns, ip);
	if (f && f->call.func == p->func)
		return;
	if (p->start && f) {
		ret = f->call.ret;
		pop(c, t, at->ts_ns, 0);
		push(c, t, at, p, ret, TY_CALL_TAIL);
	} else if (p->hi) {
		land(c, t, at, p, TY_CALL_BEFORE);
	}
}

/* User mode goes on at ip after a system call, a signal, a gap. */
static void started(struct ty_flow_calls *c, struct thread *t, const struct ty_flow_at *at,
		    uint64_t ip)
{
	const struct place *p;

	if (t->off && ip == t->resume && !t->gap)
		return;
	/* Behind the system call that the signal interrupted, or at it when it is restarted. */
	for (size_t i = t->stack.n; i-- > 0;)
		if (t->stack.v[i].call.flags & TY_CALL_SIGNAL &&
		    (t->stack.v[i].call.ret == ip || t->stack.v[i].call.ret == ip + SYSCALL)) {
			unwind(c, t, i, at->ts_ns, 0);
			return;
		}
	p = place(c, t->pid, at->ts_ns, ip);
	if (p->entry) {
		/* Another program: what was known of the addresses is not true any more. */
		struct place entry = *p;

		memset(c->cache, 0, sizeof(c->cache));
		p = &c->cache[0];
		c->cache[0] = entry;
		c->cache[0].valid = false;
		unwind(c, t, 0, at->ts_ns, TY_CALL_CUT);
		push(c, t, at, p, 0, 0);
	} else if (t->off && !t->gap && t->stack.n && p->start) {
		push(c, t, at, p, t->resume, TY_CALL_SIGNAL);
	} else if (t->gap) {
		vec_each (f, &t->stack)
			f->call.flags |= TY_CALL_GAP;
		/* Without a symbol nothing tells the level: it stays until a return tells. */
		if (p->hi || p->start || !t->stack.n)
			land(c, t, at, p, TY_CALL_BEFORE);
		else
			t->doubt = true;
	} else if (!t->stack.n) {
		push(c, t, at, p, 0, p->start ? 0 : TY_CALL_BEFORE);
	}
}

/*
 * In doubt about the level, the first call from where a call on the stack was made shows that this
 * one is over, and with it what it called.
 */
static void settle(struct ty_flow_calls *c, struct thread *t, const struct ty_flow_at *at,
		   uint64_t ret)
{
	for (size_t i = t->stack.n; t->doubt && i-- > 0;)
		if (t->stack.v[i].call.ret == ret) {
			unwind(c, t, i, at->ts_ns, TY_CALL_CUT);
			t->doubt = false;
		}
}

static void on_insn(struct ty_flow_calls *c, struct thread *t, const struct ty_flow_at *at)
{
	const struct ty_flow_item *it = &at->item;
	uint64_t next = t->ip + t->size;
	struct frame *f;

	if (!t->have)
		started(c, t, at, it->ip);
	else if (t->cls == TY_FC_CALL && it->ip != next) {
		settle(c, t, at, next);
		push(c, t, at, place(c, t->pid, at->ts_ns, it->ip), next, 0);
	} else if (t->cls == TY_FC_RETURN)
		returned(c, t, at, it->ip);
	else if (it->ip != next && t->cls != TY_FC_CALL)
		jumped(c, t, at, it->ip);
	f = top(t);
	if (f) {
		f->call.insns++;
		f->call.self_insns++;
	}
	t->ip = it->ip;
	t->size = it->size;
	t->cls = it->cls;
	t->have = true;
	t->off = t->gap = false;
}

int ty_flow_calls_feed(struct ty_flow_calls *c, const struct ty_flow_at *at)
{
	struct thread *t = thread_of(c, at->tid, at->pid);

	if (!t)
		return -TY_ENOMEM;
	if (at->ts_ns != TY_FLOW_NO_TIME)
		t->ts_ns = at->ts_ns;
	switch (at->item.kind) {
	case TY_FLOW_INSN: on_insn(c, t, at); break;
	case TY_FLOW_STOP:
		/* Out of what is traced by a return (an address filter): the call is over. */
		if (t->have && t->cls == TY_FC_RETURN && t->stack.n)
			pop(c, t, at->ts_ns, 0);
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
		unwind(c, *t, 0, (*t)->ts_ns ? (*t)->ts_ns : TY_FLOW_NO_TIME, TY_CALL_OPEN);
}
