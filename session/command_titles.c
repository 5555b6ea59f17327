/* SPDX-License-Identifier: MIT */
/*
 * See command_titles.h. At most TITLES_MAX command lines and TEXT_MAX bytes; of each at most
 * ARGS_MAX arguments are compared.
 */
#include "command_titles.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "field_text.h"
#include "interpreter.h"
#include "process_titles.h"
#include "snapshot_text.h"
#include "strtab.h"
#include "vec.h"

#define TITLES_MAX (1u << 20)
#define TEXT_MAX   (64u << 20)
#define ARGS_MAX   64
#define LINE_MAX   4096

/* A command line while they are compared: `argv` in the arguments' buffer, a NUL after each. */
struct line {
	struct ty_title title;
	size_t argv;
	uint32_t argv_n; /* bytes */
	uint32_t comm;	 /* id in `words` */
};
/* How many different lines have a word (name and argument); since `line` it is counted. */
struct word {
	uint32_t n, line;
};
struct work {
	struct ty_model *m;
	VEC(struct line) lines;
	struct ty_buf argv, text;
	struct ty_strtab *words; /* names; "NAME\1ARGUMENT"; "NAME\2LINE" */
	VEC(struct word) of;	 /* by id */
	struct ty_buf key;
};

static int add_line(void *ctx, int32_t tid, uint64_t ns, const char *argv, size_t n)
{
	struct work *k = ctx;
	const uint32_t p = ty_model_thread_find(k->m, tid, ns);
	struct line l = {.title = {.from_ns = ns, .process = p, .brief = TY_NONE}};

	if (p == TY_NONE || k->lines.n >= TITLES_MAX || k->argv.len + n + 1 > TEXT_MAX)
		return 0;
	l.argv = k->argv.len;
	l.argv_n = (uint32_t)n + (argv[n - 1] != 0);
	if (ty_buf_add(&k->argv, argv, n) || (argv[n - 1] && ty_buf_addc(&k->argv, 0)))
		return -TY_ENOMEM;
	return vec_push(&k->lines, l);
}

/* The arguments were noted at the exec's event, but not at its very time: the nearest one is it. */
static int add_executed(void *ctx, int32_t tid, uint64_t ns, const char *argv, size_t n)
{
	enum { NEAR = 1000000 };
	const struct work *k = ctx;
	const uint32_t p = ty_model_thread_find(k->m, tid, ns);
	const uint64_t after =
		p == TY_NONE ? UINT64_MAX : ty_model_executed(k->m, p, ns, ns + NEAR);

	if (after != UINT64_MAX) {
		const uint64_t back = after - ns < ns ? ns - (after - ns) : 0;

		if (ty_model_executed(k->m, p, back, ns) == UINT64_MAX)
			ns = after;
	}
	return add_line(ctx, tid, ns, argv, n);
}

static int add_section(struct work *k, const char *text)
{
	struct ty_snap_command c;
	char line[LINE_MAX];
	int r = 0;

	while (!r && ty_snap_command(&text, &c)) {
		const char *p = c.arguments.s, *end = p + c.arguments.n;
		size_t n = 0;

		for (const char *tab; p <= end && n + 1 < sizeof(line); p = tab + 1) {
			tab = memchr(p, '\t', (size_t)(end - p));
			tab = tab ? tab : end;
			n += ty_unescape_field(p, (size_t)(tab - p), line + n, sizeof(line) - n) +
			     1;
		}
		if (n > 1)
			r = add_line(k, c.pid, c.ns, line, n);
	}
	return r;
}

ORDER(by_process, struct line,
      compare(a->title.process, b->title.process) ?: compare(a->title.from_ns, b->title.from_ns))

/* The same line of the same process, read again, says nothing new. */
static void sort(struct work *k)
{
	size_t to = 0;

	vec_sort(&k->lines, by_process);
	for (size_t i = 0; i < k->lines.n; i++) {
		const struct line *l = &k->lines.v[i], *was = to ? &k->lines.v[to - 1] : NULL;

		if (!was || was->title.process != l->title.process || was->argv_n != l->argv_n ||
		    memcmp(k->argv.p + was->argv, k->argv.p + l->argv, l->argv_n) ||
		    ty_model_executed(k->m, l->title.process, was->title.from_ns,
				      l->title.from_ns) != UINT64_MAX)
			k->lines.v[to++] = *l;
	}
	k->lines.n = to;
}

/* comparing ---------------------------------------------------------------------------------- */

static uint32_t word_id(struct work *k, const char *comm, char sign, const char *s, size_t n,
			bool add)
{
	ty_buf_reset(&k->key);
	ty_buf_adds(&k->key, comm);
	ty_buf_addc(&k->key, sign);
	for (size_t i = 0; i < n; i++)
		ty_buf_addc(&k->key, s[i] ? s[i] : '\1');
	if (k->key.failed)
		return UINT32_MAX;
	return add ? ty_strtab_add(k->words, k->key.p, k->key.len)
		   : ty_strtab_find(k->words, k->key.p, k->key.len);
}

static struct word *word_of(struct work *k, uint32_t id)
{
	while (id != UINT32_MAX && k->of.n <= id)
		if (vec_push(&k->of, (struct word){0}))
			return NULL;
	return id == UINT32_MAX ? NULL : &k->of.v[id];
}

static const char *comm_of(const struct work *k, const struct line *l)
{
	return ty_model_comm(k->m, l->title.process, l->title.from_ns);
}

static bool is_traced(const struct work *k, const struct line *l)
{
	return ty_model_thread(k->m, l->title.process)->traced;
}

/* Among all processes, and among the traced ones, each different line of a name counts once, and in
 * each of them each argument. Signs: WORD_ of an argument, LINE_ of a line, LINES_ of the name. */
enum { WORD_ = 1, LINE_, LINES_, TRACED_, PLACE_ = 8, PLACES_ };

static int count_words(struct work *k, bool traced)
{
	const char of = traced ? TRACED_ : 0;

	for (uint32_t i = 0; i < k->lines.n; i++) {
		const struct line *l = &k->lines.v[i];
		const char *comm = comm_of(k, l), *argv = k->argv.p + l->argv;
		struct word *w;

		if (traced && !is_traced(k, l))
			continue;
		w = word_of(k, word_id(k, comm, (char)(LINE_ + of), argv, l->argv_n, true));
		if (!w)
			return -TY_ENOMEM;
		if (w->n++)
			continue;
		w = word_of(k, word_id(k, comm, (char)(LINES_ + of), "", 0, true));
		if (!w)
			return -TY_ENOMEM;
		w->n++;
		for (size_t at = strlen(argv) + 1, n = 0; at < l->argv_n && n < ARGS_MAX; n++) {
			const size_t len = strlen(argv + at);

			w = word_of(k, word_id(k, comm, (char)(WORD_ + of), argv + at, len, true));
			if (!w)
				return -TY_ENOMEM;
			if (w->line != i + 1) {
				w->line = i + 1;
				w->n++;
			}
			at += len + 1;
		}
	}
	return 0;
}

static uint32_t count_of(struct work *k, const char *comm, char sign, const char *s, size_t n)
{
	const uint32_t id = word_id(k, comm, sign, s, n, false);

	return id < k->of.n ? k->of.v[id].n : 0;
}

/* What is more likely to be known to a reader: a file, any other word, an option. */
static unsigned rank(const char *argument)
{
	return *argument == '-' ? 0 : strpbrk(argument, "./") ? 2 : 1;
}

/* An argument that the fewest lines of its name have (of a traced process: of other traced ones,
 * since a recording of one command is about that), unless all have it; of several the best by
 * rank, and of those the first. NULL: none. */
static const char *rarest(struct work *k, const struct line *l)
{
	const char *comm = comm_of(k, l), *argv = k->argv.p + l->argv, *best = NULL;
	const char of = is_traced(k, l) ? TRACED_ : 0;
	uint32_t least = count_of(k, comm, (char)(LINES_ + of), "", 0);

	for (size_t at = strlen(argv) + 1, n = 0; at < l->argv_n && n < ARGS_MAX; n++) {
		const size_t len = strlen(argv + at);
		const uint32_t c = count_of(k, comm, (char)(WORD_ + of), argv + at, len);

		if (len && c &&
		    (c < least || (best && c == least && rank(argv + at) > rank(best)))) {
			best = argv + at;
			least = c;
		}
		at += len + 1;
	}
	return best;
}

/* texts -------------------------------------------------------------------------------------- */

/* Length of a cut of s that reads as a whole, at most n: words, without the start of a quotation or
 * a bracket; 0: there is none. */
static size_t whole_words(const char *s, size_t n)
{
	const size_t open = strcspn(s, "\"'`([{;|&<>$");

	if (open <= n)
		n = open;
	else
		while (n && s[n] != ' ')
			n--;
	while (n && strchr(" ,;:", s[n - 1]))
		n--;
	return n;
}

/* s as a string of its own in the text, `most` bytes at most: whole words of it, or its start and
 * its end. */
static uint32_t put_text(struct work *k, const char *before, const char *s, size_t most)
{
	const size_t at = k->text.len, room = most - strlen(before);
	size_t whole = strlen(s), n, tail;

	while (whole > 1 && s[whole - 1] == '/') /* a number follows */
		whole--;
	n = whole > room ? whole_words(s, room) : whole;
	tail = whole;
	if (!n && whole) {
		n = (room - 3) / 2;
		tail -= room - 3 - n;
		while (n && (s[n] & 0xc0) == 0x80) /* not amid a character */
			n--;
		while ((s[tail] & 0xc0) == 0x80)
			tail++;
	}
	ty_buf_adds(&k->text, before);
	ty_buf_add(&k->text, s, n);
	if (tail < whole) {
		ty_buf_adds(&k->text, "...");
		ty_buf_add(&k->text, s + tail, whole - tail);
	}
	return ty_buf_addc(&k->text, 0) ? TY_NONE : (uint32_t)at;
}

/* A path's last part. */
static const char *last_part(const char *s)
{
	const char *slash = *s == '-' ? NULL : strrchr(s, '/');

	return slash && slash[1] ? slash + 1 : s;
}

/* "nginx: worker process": written over the arguments. */
static bool is_own_title(const struct line *l, const char *argv)
{
	const char *sign = strstr(argv, ": ");

	return strlen(argv) + 1 == l->argv_n && sign && sign > argv && *argv != '/';
}

static void choose_brief(struct work *k, struct line *l)
{
	const char *argv = k->argv.p + l->argv, *part;
	const struct ty_interpreter *in = ty_interpreter_of(comm_of(k, l));
	bool module = false;

	if (is_own_title(l, argv)) {
		l->title.replaces_name = true;
		l->title.brief = put_text(k, "", argv, TY_TITLE_OWN);
		return;
	}
	part = in ? ty_script(in, argv, l->argv_n, &module) : rarest(k, l);
	if (part)
		l->title.brief = put_text(k, module ? "-m " : "", last_part(part), TY_TITLE_BRIEF);
}

/* The container that the process runs in; "": none. */
static const char *place_of(const struct work *k, const struct line *l,
			    char out[TY_CGROUP_NAME_MAX])
{
	return ty_model_cgroup(k->m, l->title.process, out) == TY_CGROUP_CONTAINER ? out : "";
}

/* The word for lines of one name that have the same part; its `line` is their first place, and n
 * above 1: they run in several. */
static struct word *same_part(struct work *k, const struct line *l)
{
	const char *part = l->title.brief == TY_NONE ? "" : k->text.p + l->title.brief;

	return word_of(k, word_id(k, comm_of(k, l), PLACES_, part, strlen(part), true));
}

static int note_place(struct work *k, const struct line *l)
{
	char name[TY_CGROUP_NAME_MAX];
	const char *place = place_of(k, l, name);
	const uint32_t id = word_id(k, "", PLACE_, place, strlen(place), true);
	struct word *w = same_part(k, l);

	if (!w || id == UINT32_MAX)
		return -TY_ENOMEM;
	if (!w->n || w->line != id)
		w->n++;
	w->line = id;
	return 0;
}

/* Where the part does not tell it from a process of another container, its container does. */
static void add_place(struct work *k, struct line *l)
{
	char name[TY_CGROUP_NAME_MAX], part[TY_TITLE_OWN + 2] = "";
	const char *place = place_of(k, l, name);
	const struct word *w = *place ? same_part(k, l) : NULL;
	const size_t at = k->text.len;

	if (!w || w->n < 2)
		return;
	if (l->title.brief != TY_NONE)
		snprintf(part, sizeof(part), "%s ", k->text.p + l->title.brief);
	if (!ty_buf_addf(&k->text, "%s%s", part, place) && !ty_buf_addc(&k->text, 0))
		l->title.brief = (uint32_t)at;
}

static uint32_t put_whole(struct work *k, const struct line *l)
{
	const size_t at = k->text.len;

	if (ty_buf_add(&k->text, k->argv.p + l->argv, l->argv_n))
		return TY_NONE;
	for (size_t i = at; i + 1 < k->text.len; i++)
		if (!k->text.p[i])
			k->text.p[i] = ' ';
	return (uint32_t)at;
}

static int give(struct work *k)
{
	struct ty_titles *t = calloc(1, sizeof(*t));

	if (t)
		t->v = malloc((k->lines.n + 1) * sizeof(*t->v));
	if (!t || !t->v) {
		ty_titles_free(t);
		return -TY_ENOMEM;
	}
	vec_each (l, &k->lines) {
		choose_brief(k, l);
		if (note_place(k, l)) {
			ty_titles_free(t);
			return -TY_ENOMEM;
		}
	}
	vec_each (l, &k->lines) {
		l->title.placeless = l->title.brief;
		add_place(k, l);
		l->title.whole = put_whole(k, l);
		if (l->title.whole != TY_NONE)
			t->v[t->n++] = l->title;
	}
	t->text = k->text.p;
	k->text.p = NULL;
	ty_model_set_titles(k->m, t);
	return 0;
}

int ty_command_titles(struct ty_model *m, const char *section,
		      const struct ty_call_data_index *strings)
{
	struct work k = {.m = m, .words = ty_strtab_new()};
	int r = k.words ? 0 : -TY_ENOMEM;

	ty_buf_init(&k.argv, TEXT_MAX + LINE_MAX);
	ty_buf_init(&k.text, 2 * TEXT_MAX);
	ty_buf_init(&k.key, 2 * LINE_MAX);
	r = r ? r : add_section(&k, section ? section : "");
	if (!r && strings)
		r = ty_call_data_each(strings, TY_EVK_ARGV, add_executed, &k);
	if (!r && k.lines.n) {
		sort(&k);
		r = count_words(&k, false);
		r = r ? r : count_words(&k, true);
		r = r ? r : give(&k);
	}
	ty_buf_fini(&k.argv);
	ty_buf_fini(&k.text);
	ty_buf_fini(&k.key);
	vec_fini(&k.lines);
	vec_fini(&k.of);
	ty_strtab_free(k.words);
	return r;
}
