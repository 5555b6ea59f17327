/* SPDX-License-Identifier: MIT */
/* See flow_places.h. */
#include "flow_places.h"

#include <stdlib.h>
#include <string.h>

#include "code_bucket.h"
#include "err.h"
#include "strtab.h"

enum {
	PLACES_MAX = 1 << 18, /* then all are forgotten */
	BUCKETS_BITS = 12,    /* at first */
	LOOK = 64,	      /* places examined in a bucket */
	TEXT = 512,
	TEXTS = 1 << 16, /* bytes of texts at a time */
};

int ty_flow_places_init(struct ty_flow_places *ps, struct ty_flow_names *names)
{
	ps->names = names;
	ps->keys = ty_strtab_new();
	ps->file_ids = ty_strtab_new();
	ps->bits = BUCKETS_BITS;
	ps->buckets = calloc((size_t)1 << ps->bits, sizeof(*ps->buckets));
	return ps->keys && ps->file_ids && ps->buckets ? 0 : -TY_ENOMEM;
}

void ty_flow_places_fini(struct ty_flow_places *ps)
{
	vec_each (t, &ps->texts)
		free(*t);
	vec_fini(&ps->texts);
	vec_fini(&ps->files);
	ty_strtab_free(ps->file_ids);
	vec_fini(&ps->funcs);
	vec_fini(&ps->traits);
	ty_strtab_free(ps->keys);
	vec_fini(&ps->places);
	free(ps->buckets);
}

static enum ty_flow_trait trait_of(const char *name)
{
	static const char *const setjmps[] = {"_setjmp",       "setjmp",	 "__sigsetjmp",
					      "sigsetjmp",     "_setjmp@plt",	 "setjmp@plt",
					      "__sigjmp_save", "__sigsetjmp@plt"};

	/* As nearly all. */
	if (!strstr(name, "jmp") && *name != '_')
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

/* As much of s as there is room for behind `at`; where it ends. */
static size_t put(char *text, size_t size, size_t at, const char *s)
{
	const char *end = memccpy(text + at, s, 0, size - at);

	if (end)
		return (size_t)(end - text) - 1;
	text[size - 1] = 0;
	return size - 1;
}

/* A copy, kept as long as the places; NULL: out of memory. */
static const char *keep(struct ty_flow_places *ps, const char *s)
{
	const size_t n = strlen(s) + 1, size = n > TEXTS ? n : TEXTS;
	char *to;

	if (!ps->texts.n || ps->text_left < n) {
		to = malloc(size);
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
	return memcpy(to, s, n);
}

/* The number of a file, which is mostly that of the last one; UINT32_MAX: out of memory. */
static uint32_t file_of(struct ty_flow_places *ps, const char *file)
{
	uint32_t id;

	if (ps->files.n && !strcmp(ps->files.v[ps->file], file))
		return ps->file;
	id = ty_strtab_add(ps->file_ids, file, strlen(file));
	while (id != UINT32_MAX && ps->files.n <= id) {
		const char *kept = keep(ps, ps->files.n ? file : "");

		if (!kept || vec_push(&ps->files, kept))
			id = UINT32_MAX;
	}
	ps->nomem |= id == UINT32_MAX;
	ps->file = id == UINT32_MAX ? 0 : id;
	return id;
}

static uint32_t function(struct ty_flow_places *ps, const char *name, const char *file)
{
	char key[TEXT + 16];
	uint32_t of = file_of(ps, file), id;
	size_t n = put(key, sizeof(key) - 8, 0, name);

	if (of == UINT32_MAX)
		return TY_NO_FUNC;
	/* Its number, in bytes that are not 0. */
	key[n++] = 1;
	for (uint32_t k = of; k; k >>= 6)
		key[n++] = (char)(0x40 | (k & 0x3f));
	/* Id 0 is no function. */
	if (ty_strtab_count(ps->keys) >= TY_CALLS_FUNCS &&
	    ty_strtab_find(ps->keys, key, n) == UINT32_MAX) {
		name = "(later functions)";
		of = 0;
		n = put(key, sizeof(key), 0, name);
	}
	id = ty_strtab_add(ps->keys, key, n);
	if (id == UINT32_MAX || !id) {
		ps->nomem = true;
		return TY_NO_FUNC;
	}
	while (ps->funcs.n < id) {
		struct ty_flow_calls_function f = {.name = keep(ps, name), .file = ps->files.v[of]};

		if (!f.name || vec_push(&ps->traits, (uint8_t)trait_of(name)) ||
		    vec_push(&ps->funcs, f)) {
			ps->nomem = true;
			return TY_NO_FUNC;
		}
	}
	return id - 1;
}

static void forget_places(struct ty_flow_places *ps)
{
	ps->places.n = 0;
	memset(ps->buckets, 0, sizeof(*ps->buckets) << ps->bits);
	memset(ps->recent, 0, sizeof(ps->recent));
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
	if (ps->places.n >> ps->bits && (more = calloc((size_t)8 << ps->bits, sizeof(*more)))) {
		free(ps->buckets);
		ps->buckets = more;
		ps->bits += 3;
		for (size_t i = 0; i < ps->places.n; i++)
			put_place(ps, i);
	}
	if (vec_push(&ps->places, ((struct ty_flow_place){.ip = ip, .pid = pid, .age = ps->age}))) {
		ps->nomem = true;
		return NULL;
	}
	put_place(ps, ps->places.n - 1);
	return &ps->places.v[ps->places.n - 1];
}

/* Look up the function at the place. */
static void ask(struct ty_flow_places *ps, struct ty_flow_place *p, uint64_t t)
{
	struct ty_flow_name n = ty_flow_names_at(ps->names, p->pid, t, p->ip);
	char text[TEXT], *cold;

	p->from_ns = t;
	p->until_ns = n.until_ns;
	if (n.function) {
		p->lo = n.start;
		p->hi = n.size ? n.start + n.size : 0;
		p->start = p->ip == n.start;
		p->entry = p->start && !strcmp(n.function, "_start");
		put(text, sizeof(text), 0, n.function);
		/* Parts of a function that the compiler placed elsewhere (including landing pads of
		 * exceptions) belong to it. */
		cold = strstr(text, ".cold");
		if (cold) {
			p->start = false;
			*cold = 0;
		}
	} else {
		ty_flow_names_text(ps->names, p->pid, t, p->ip, text, sizeof(text));
	}
	p->func = function(ps, text, n.file ? n.file : "");
}

uint32_t ty_flow_place_find(struct ty_flow_places *ps, int32_t pid, uint64_t t, uint64_t ip)
{
	uint32_t i = ps->buckets[ty_code_bucket(pid, ip, ps->bits)];
	struct ty_flow_place *p;

	for (unsigned looks = 0; i && looks < LOOK; looks++) {
		p = &ps->places.v[i - 1];
		if (ty_flow_is_place(ps, p, pid, t, ip))
			return i;
		i = p->chain;
	}
	p = new_place(ps, pid, ip);
	if (!p)
		return 0;
	ask(ps, p, t);
	return (uint32_t)(p - ps->places.v) + 1;
}
