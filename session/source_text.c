/* SPDX-License-Identifier: MIT */
/* See source_text.h. A file is read once, with the offsets of its lines; at most KEPT are cached,
 * least recently used evicted. */
#include "source_text.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "full_io.h"
#include "plain_text.h"
#include "vec.h"

#define FILE_MOST (16u << 20)
enum { KEPT = 8 };

struct source {
	char *path; /* as requested; NULL: unused */
	char *text; /* NULL: there is none */
	size_t bytes;
	VEC(uint32_t) lines; /* where they begin */
	struct timespec written;
	uint64_t used; /* when it was last requested */
};

struct ty_source_text {
	const struct ty_texts *roots;
	struct source kept[KEPT];
	uint64_t now;
};

struct ty_source_text *ty_source_text_new(const struct ty_texts *roots)
{
	struct ty_source_text *s = calloc(1, sizeof(*s));

	if (s)
		s->roots = roots;
	return s;
}

static void forget(struct source *f)
{
	free(f->path);
	free(f->text);
	vec_fini(&f->lines);
	*f = (struct source){0};
}

void ty_source_text_free(struct ty_source_text *s)
{
	if (!s)
		return;
	for (int i = 0; i < KEPT; i++)
		forget(&s->kept[i]);
	free(s);
}

static int open_regular(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode) || st->st_size > FILE_MOST)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The file below the first root that has it, else the path itself. */
static int open_source(const struct ty_source_text *s, const char *path, struct stat *st)
{
	char below[PATH_MAX];
	int fd = -1;

	for (size_t i = 0; fd < 0 && s->roots && i < s->roots->n; i++)
		if (snprintf(below, sizeof(below), "%s%s", s->roots->v[i], path) < PATH_MAX)
			fd = open_regular(below, st);
	return fd < 0 ? open_regular(path, st) : fd;
}

static void load(const struct ty_source_text *s, struct source *f)
{
	struct stat st;
	int fd = open_source(s, f->path, &st);
	ssize_t n;

	if (fd < 0)
		return;
	f->text = malloc((size_t)st.st_size + 1);
	n = f->text ? ty_full_read(fd, f->text, (size_t)st.st_size, 0) : 0;
	f->bytes = n > 0 ? (size_t)n : 0;
	close(fd);
	f->written = st.st_mtim;
	for (size_t at = 0; f->text && at < f->bytes;) {
		const char *end = memchr(f->text + at, '\n', f->bytes - at);

		if (vec_push(&f->lines, (uint32_t)at)) {
			free(f->text);
			f->text = NULL;
		}
		at = end ? (size_t)(end - f->text) + 1 : f->bytes;
	}
}

static struct source *find(struct ty_source_text *s, const char *path)
{
	struct source *oldest = &s->kept[0];

	for (int i = 0; i < KEPT; i++) {
		if (s->kept[i].path && !strcmp(s->kept[i].path, path))
			return &s->kept[i];
		if (s->kept[i].used < oldest->used)
			oldest = &s->kept[i];
	}
	forget(oldest);
	oldest->path = strdup(path);
	if (!oldest->path)
		return NULL;
	load(s, oldest);
	return oldest;
}

bool ty_source_text_line(struct ty_source_text *s, const char *path, int line, const char *program,
			 char *out, size_t n, bool *newer)
{
	struct source *f = *path == '/' ? find(s, path) : NULL;
	struct stat st;
	size_t from, to;

	*newer = false;
	if (f)
		f->used = ++s->now;
	if (!f || !f->text || line < 1 || (size_t)line > f->lines.n)
		return false;
	from = f->lines.v[line - 1];
	to = (size_t)line < f->lines.n ? f->lines.v[line] : f->bytes;
	while (to > from && (f->text[to - 1] == '\n' || f->text[to - 1] == '\r'))
		to--;
	while (from < to && (f->text[from] == ' ' || f->text[from] == '\t'))
		from++;
	snprintf(out, n, "%.*s", (int)(to - from < n ? to - from : n), f->text + from);
	ty_plain(out, strlen(out));
	for (char *tab = out; (tab = strchr(tab, '\t'));)
		*tab = ' ';
	if (program && !stat(program, &st))
		*newer = f->written.tv_sec > st.st_mtim.tv_sec ||
			 (f->written.tv_sec == st.st_mtim.tv_sec &&
			  f->written.tv_nsec > st.st_mtim.tv_nsec);
	return true;
}
