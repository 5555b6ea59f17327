/* SPDX-License-Identifier: MIT */
/*
 * The functions that addresses of code belong to, and what is special about them: looked up by name
 * once per address of a process and program. Private to the analysis of calls. Budget: 5 ns for an
 * address seen before; 64 bytes per address, for at most 2^18, then all are forgotten.
 */
#ifndef TY_FLOW_PLACES_H
#define TY_FLOW_PLACES_H

#include "flow_calls.h"
#include "hash_index.h"
#include "vec.h"

/* Functions that do not return as others do. */
enum ty_flow_trait {
	TY_FUNC_PLAIN,
	TY_FUNC_SETS_JUMP, /* setjmp: may return several times */
	TY_FUNC_JUMPS,	   /* longjmp */
	TY_FUNC_UNWINDS,   /* _Unwind_Resume: never returns to its caller, but into one further down
			    */
};

/* Where an address belongs to. */
struct ty_flow_place {
	uint64_t ip, lo, hi, from_ns, until_ns; /* looked up at from_ns, valid until until_ns */
	int32_t pid;
	uint32_t func;
	uint32_t chain; /* the next in its bucket, plus 1 */
	uint32_t after; /* the place looked up last after it, plus 1; 0: none */
	uint32_t age;
	bool start, entry; /* first byte of a function; of a program (_start) */
	bool pending;	   /* its function has no number yet */
};

/* A place whose function is looked up: its name. */
struct ty_flow_place_asked {
	struct ty_flow_name name;
	size_t length; /* of the own name, as much as is kept */
	uint32_t file, hash;
};

enum { TY_PLACES_RECENT_BITS = 8, TY_PLACES_AHEAD = 16 };

struct ty_flow_places {
	struct ty_flow_names *names;
	VEC(struct ty_flow_calls_function) funcs;
	VEC(uint8_t) traits;	      /* enum ty_flow_trait, of funcs */
	VEC(const char *) own;	      /* of funcs: the name in the file */
	struct ty_hash_index by_name; /* of funcs, by that and the file */
	struct ty_strtab *file_ids;
	VEC(const char *) files; /* by id */
	uint32_t file;		 /* the last one */
	VEC(char *) texts;	 /* of names and files; */
	char *text;		 /* the next goes there, where is room for: */
	size_t text_left;
	VEC(struct ty_flow_place) places;
	uint32_t age; /* of those that hold */
	struct {
		uint32_t ip; /* lower half: another place need not be read, which may be in no cache
			      */
		uint32_t at; /* plus 1 */
	} recent[1 << TY_PLACES_RECENT_BITS]; /* places by address */
	uint32_t before;		      /* the last one that was not there, plus 1 */
	uint32_t *buckets;		      /* 2^bits: the first place of each, plus 1 */
	unsigned bits;
	bool nomem;
	bool fresh; /* one was looked up that was not ahead; cleared by others */
	struct ty_flow_place_asked ahead[TY_PLACES_AHEAD]; /* of places from here on: */
	size_t ahead_first, ahead_n;
};

/* ps: zeroed; names: borrowed. 0 or -TY_ENOMEM; fini in any case. */
int ty_flow_places_init(struct ty_flow_places *ps, struct ty_flow_names *names);
void ty_flow_places_fini(struct ty_flow_places *ps);

/* Another program: discards all facts about addresses. */
static inline void ty_flow_places_forget(struct ty_flow_places *ps)
{
	ps->age++;
}

static inline enum ty_flow_trait ty_flow_trait_of(const struct ty_flow_places *ps, uint32_t func)
{
	return func < ps->traits.n ? (enum ty_flow_trait)ps->traits.v[func] : TY_FUNC_PLAIN;
}

/* As ty_flow_place_at: its number, plus 1; 0: out of memory (ps->nomem). */
uint32_t ty_flow_place_find(struct ty_flow_places *ps, int32_t pid, uint64_t t, uint64_t ip);

/*
 * Looks up the names at n addresses, at most TY_PLACES_AHEAD, that ty_flow_place_at will be called
 * for next, where they are not known: their places in the table of names, which is in no cache when
 * there are many, are on their way when it is. Numbers of functions are not given ahead.
 */
void ty_flow_places_ahead(struct ty_flow_places *ps, int32_t pid, uint64_t t, const uint64_t *ip,
			  unsigned n);

static inline bool ty_flow_is_place(const struct ty_flow_places *ps, const struct ty_flow_place *p,
				    int32_t pid, uint64_t t, uint64_t ip)
{
	return p->ip == ip && p->pid == pid && p->age == ps->age && t >= p->from_ns &&
	       t < p->until_ns;
}

/* The place of ip of a process at time t; valid until the next call. */
static inline const struct ty_flow_place *ty_flow_place_at(struct ty_flow_places *ps, int32_t pid,
							   uint64_t t, uint64_t ip)
{
	static const struct ty_flow_place none = {.func = TY_NO_FUNC};
	typeof(*ps->recent) *r = &ps->recent[ty_hash_bits(ip, TY_PLACES_RECENT_BITS)];

	if (!r->at || r->ip != (uint32_t)ip ||
	    !ty_flow_is_place(ps, &ps->places.v[r->at - 1], pid, t, ip)) {
		r->at = ty_flow_place_find(ps, pid, t, ip);
		r->ip = (uint32_t)ip;
	}
	return r->at ? &ps->places.v[r->at - 1] : &none;
}

#endif
