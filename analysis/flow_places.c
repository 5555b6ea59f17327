/* SPDX-License-Identifier: MIT */
/* See flow_places.h. */
#include "flow_places.h"

#include <stdlib.h>
#include <string.h>

#include "code_bucket.h"
#include "err.h"
#include "huge_alloc.h"
#include "strtab.h"

enum {
	PLACES_MAX = 1 << 18, /* then all are forgotten */
	BUCKETS_BITS = 13,    /* at first */
	LOOK = 64,	      /* places examined in a bucket */
	MANY = 1 << 11,
	TEXT = 512,	 /* of a name, at most */
	TEXTS = 1 << 16, /* bytes of texts at a time, after a few times: */
	TEXTS_FEW = 4,
	TEXTS_HUGE = 2 << 20,
};

int ty_flow_places_init(struct ty_flow_places *ps, struct ty_flow_names *names)
{
	ps->names = names;
	ps->file_ids = ty_strtab_new();
	ps->bits = BUCKETS_BITS;
	ps->buckets = calloc((size_t)1 << ps->bits, sizeof(*ps->buckets));
	return ps->file_ids && ps->buckets ? 0 : -TY_ENOMEM;
}

void ty_flow_places_fini(struct ty_flow_places *ps)
{
	vec_each (t, &ps->texts)
		free(*t);
	vec_fini(&ps->texts);
	vec_fini(&ps->files);
	ty_strtab_free(ps->file_ids);
	vec_fini(&ps->funcs);
	vec_fini(&ps->own);
	vec_fini(&ps->traits);
	ty_hash_fini(&ps->by_name);
	vec_fini(&ps->places);
	free(ps->buckets);
}

static enum ty_flow_trait trait_of(const char *name)
{
	static const char *const setjmps[] = {"_setjmp",       "setjmp",	 "__sigsetjmp",
					      "sigsetjmp",     "_setjmp@plt",	 "setjmp@plt",
					      "__sigjmp_save", "__sigsetjmp@plt"};

	/* As nearly all. */
	if (*name != '_' && !strchr(name, 'j'))
		return TY_FUNC_PLAIN;
	for (size_t i = 0; i < sizeof(setjmps) / sizeof(*setjmps); i++)
		if (!strcmp(name, setjmps[i]))
			return TY_FUNC_SETS_JUMP;
	if (strstr(name, "longjmp") && !strstr(name, "@plt"))
		return TY_FUNC_JUMPS;
	return strcmp(name, "_Unwind_Resume") && strcmp(name, "_Unwind_Resume@plt")
		       ? TY_FUNC_PLAIN
		       : TY_FUNC_UNWINDS;
}

/* A copy of n bytes of text, kept as long as the places; NULL: out of memory. */
static const char *keep(struct ty_flow_places *ps, const char *s, size_t length)
{
	const size_t n = length + 1, most = ps->texts.n < TEXTS_FEW ? TEXTS : TEXTS_HUGE;
	const size_t size = n > most ? n : most;
	char *to;

	if (!ps->texts.n || ps->text_left < n) {
		to = ty_huge_alloc(size);
		if (!to || vec_push(&ps->texts, to)) {
			free(to);
			ps->nomem = true;
			return NULL;
		}
		ps->text = to;
		ps->text_left = size;
	}
	to = ps->text;
	ps->text += n;
	ps->text_left -= n;
	to[length] = 0;
	return memcpy(to, s, length);
}

/* The number of a file, which is mostly that of the last one; UINT32_MAX: out of memory. */
static uint32_t file_of(struct ty_flow_places *ps, const char *file)
{
	uint32_t id;

	if (ps->files.n && !strcmp(ps->files.v[ps->file], file))
		return ps->file;
	id = ty_strtab_add(ps->file_ids, file, strlen(file));
	while (id != UINT32_MAX && ps->files.n <= id) {
		const char *of = ps->files.n ? file : "", *kept = keep(ps, of, strlen(of));

		if (!kept || vec_push(&ps->files, kept))
			id = UINT32_MAX;
	}
	ps->nomem |= id == UINT32_MAX;
	ps->file = id == UINT32_MAX ? 0 : id;
	return id;
}

/* The number of the function of this own name (n bytes) and file; TY_NO_FUNC: there is none yet. */
static uint32_t known(const struct ty_flow_places *ps, uint32_t hash, const char *own, size_t n,
		      const char *file)
{
	hash_each (i, &ps->by_name, hash)
		if (ps->funcs.v[i].file == file && !strncmp(ps->own.v[i], own, n) &&
		    !ps->own.v[i][n])
			return i;
	return TY_NO_FUNC;
}

/* As much of the name as is kept: parts of a function that the compiler placed elsewhere (including
 * landing pads of exceptions) belong to it. */
static size_t length_of(const char *name)
{
	const size_t n = strnlen(name, TEXT - 1);
	const char *cold = memchr(name, '.', n) ? memmem(name, n, ".cold", 5) : NULL;

	return cold ? (size_t)(cold - name) : n;
}

/* The function of n bytes of an own name, in file `of`; hash: of both. name: as shown, which may be
 * `own`. */
static uint32_t function(struct ty_flow_places *ps, const char *own, size_t n, const char *name,
			 uint32_t of, uint32_t hash)
{
	struct ty_flow_calls_function f;
	const char *kept;
	uint32_t id;

	if (of == UINT32_MAX)
		return TY_NO_FUNC;
	id = known(ps, hash, own, n, ps->files.v[of]);
	if (id == TY_NO_FUNC && ps->funcs.n + 1 >= TY_CALLS_FUNCS) {
		own = name = "(later functions)";
		n = strlen(own);
		of = 0;
		hash = ty_hash_bytes(own, n);
		id = known(ps, hash, own, n, ps->files.v[of]);
	}
	if (id != TY_NO_FUNC)
		return id;
	if (ps->funcs.n == MANY) {
		(void)vec_reserve(&ps->funcs, TY_CALLS_FUNCS);
		(void)vec_reserve(&ps->own, 2 * TY_CALLS_FUNCS); /* huge pages */
		(void)ty_hash_reserve(&ps->by_name, TY_CALLS_FUNCS);
	}
	f.file = ps->files.v[of];
	kept = keep(ps, own, n);
	f.name = name == own || !kept ? kept : keep(ps, name, length_of(name));
	id = (uint32_t)ps->funcs.n;
	if (!f.name || vec_push(&ps->own, kept) || vec_push(&ps->traits, (uint8_t)trait_of(kept)) ||
	    vec_push(&ps->funcs, f) || ty_hash_add(&ps->by_name, hash, id)) {
		ps->nomem = true;
		return TY_NO_FUNC;
	}
	return id;
}

static void forget_places(struct ty_flow_places *ps)
{
	ps->places.n = ps->ahead_n = 0;
	memset(ps->buckets, 0, sizeof(*ps->buckets) << ps->bits);
	memset(ps->recent, 0, sizeof(ps->recent));
	ps->before = 0;
}

static void put_place(struct ty_flow_places *ps, size_t i)
{
	struct ty_flow_place *p = &ps->places.v[i];
	uint32_t *first = &ps->buckets[ty_code_bucket(p->pid, p->ip, ps->bits)];

	p->chain = *first;
	*first = (uint32_t)i + 1;
}

/* A place to be filled; NULL: out of memory. */
static struct ty_flow_place *new_place(struct ty_flow_places *ps, int32_t pid, uint64_t ip)
{
	uint32_t *more;

	if (ps->places.n == PLACES_MAX)
		forget_places(ps);
	/* Without memory for more buckets there are as many as there are. */
	if (ps->places.n >> ps->bits && (more = ty_huge_table(sizeof(*more) << (ps->bits + 3)))) {
		free(ps->buckets);
		ps->buckets = more;
		ps->bits += 3;
		for (size_t i = 0; i < ps->places.n; i++)
			put_place(ps, i);
	}
	/* For many there is room for all: memory that is not written yet costs nothing. */
	if (ps->places.n >= MANY && ps->places.cap < PLACES_MAX)
		(void)ty_huge_grow((void **)&ps->places.v, ps->places.n, &ps->places.cap,
				   PLACES_MAX, sizeof(*ps->places.v));
	if (vec_push(&ps->places, ((struct ty_flow_place){.ip = ip, .pid = pid, .age = ps->age}))) {
		ps->nomem = true;
		return NULL;
	}
	put_place(ps, ps->places.n - 1);
	return &ps->places.v[ps->places.n - 1];
}

/* All of a place but the number of its function. */
static void ask(struct ty_flow_places *ps, struct ty_flow_place *p, uint64_t t,
		struct ty_flow_place_asked *k)
{
	struct ty_flow_name *n = &k->name;

	*n = ty_flow_names_at(ps->names, p->pid, t, p->ip);
	p->from_ns = t;
	p->until_ns = n->until_ns;
	p->pending = true;
	k->file = file_of(ps, n->file ? n->file : "");
	if (!n->function)
		return;
	p->lo = n->start;
	p->hi = n->size ? n->start + n->size : 0;
	k->length = length_of(n->own);
	p->start = p->ip == n->start && strncmp(n->own + k->length, ".cold", 5) != 0;
	p->entry = p->start && !strcmp(n->own, "_start");
	k->hash = ty_hash_bytes(n->own, k->length) ^ k->file;
	ty_hash_prefetch(&ps->by_name, k->hash);
}

/* That number. */
static void answer(struct ty_flow_places *ps, struct ty_flow_place *p,
		   const struct ty_flow_place_asked *k)
{
	char text[TEXT];

	p->pending = false;
	if (k->name.function) {
		p->func = function(ps, k->name.own, k->length, k->name.function, k->file, k->hash);
		return;
	}
	ty_flow_names_text(ps->names, p->pid, p->from_ns, p->ip, text, sizeof(text));
	p->func = function(ps, text, strlen(text), text, k->file,
			   ty_hash_bytes(text, strlen(text)) ^ k->file);
}

/* The place that is known; NULL: there is none. */
static struct ty_flow_place *known_at(const struct ty_flow_places *ps, int32_t pid, uint64_t t,
				      uint64_t ip)
{
	uint32_t i = ps->buckets[ty_code_bucket(pid, ip, ps->bits)];

	for (unsigned looks = 0; i && looks < LOOK; looks++) {
		struct ty_flow_place *p = &ps->places.v[i - 1];

		if (ty_flow_is_place(ps, p, pid, t, ip))
			return p;
		i = p->chain;
	}
	return NULL;
}

static uint32_t find(struct ty_flow_places *ps, int32_t pid, uint64_t t, uint64_t ip)
{
	struct ty_flow_place *p = known_at(ps, pid, t, ip);
	struct ty_flow_place_asked k;
	size_t ahead;

	if (!p) {
		p = new_place(ps, pid, ip);
		if (!p)
			return 0;
		p->pending = true;
	}
	ahead = (size_t)(p - ps->places.v) - ps->ahead_first;
	if (p->pending && ahead < ps->ahead_n) {
		answer(ps, p, &ps->ahead[ahead]);
	} else if (p->pending) {
		ask(ps, p, t, &k);
		answer(ps, p, &k);
		ps->fresh = true;
	}
	return (uint32_t)(p - ps->places.v) + 1;
}

void ty_flow_places_ahead(struct ty_flow_places *ps, int32_t pid, uint64_t t, const uint64_t *ip,
			  unsigned n)
{
	ps->ahead_n = 0;
	/* None is forgotten meanwhile. */
	if (ps->places.n + n > PLACES_MAX)
		return;
	ps->ahead_first = ps->places.n;
	for (unsigned i = 0; i < n; i++) {
		struct ty_flow_place *p =
			known_at(ps, pid, t, ip[i]) ? NULL : new_place(ps, pid, ip[i]);

		if (p)
			ask(ps, p, t, &ps->ahead[ps->ahead_n++]);
	}
}

/* Code that is executed again leads to the same places in the same order. */
uint32_t ty_flow_place_find(struct ty_flow_places *ps, int32_t pid, uint64_t t, uint64_t ip)
{
	uint32_t i = ps->before ? ps->places.v[ps->before - 1].after : 0;

	if (!i || !ty_flow_is_place(ps, &ps->places.v[i - 1], pid, t, ip)) {
		i = find(ps, pid, t, ip);
		/* Which may have forgotten all. */
		if (ps->before)
			ps->places.v[ps->before - 1].after = i;
	}
	return ps->before = i;
}
