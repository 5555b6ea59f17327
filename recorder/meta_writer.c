/* SPDX-License-Identifier: MIT */
/* See meta_writer.h. The layout of the finished file: trace-cmd.dat.v7(5). */
#include "meta_writer.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "compare.h"
#include "line_piece.h"

enum { PIECE = 1 << 20 };
#define TEXT_LIMIT (64u << 20)

int ty_meta_init(struct ty_meta *m, struct ty_spool *spool, struct ty_err *err)
{
	*m = (struct ty_meta){.writer = ty_spool_writer_new(spool, PIECE)};
	return m->writer ? 0 : ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
}

void ty_meta_fini(struct ty_meta *m)
{
	ty_spool_writer_free(m->writer);
	m->writer = NULL;
}

static int put_aside(struct ty_meta *m, const struct ty_spool_chunk *what, const char *text,
		     size_t n, struct ty_err *err)
{
	const size_t cap = ty_spool_packed_max(n);
	struct ty_meta_chunk c = {.p = malloc(cap)};
	char *less;
	int r = c.p ? ty_spool_pack(m->writer, what, text, n, c.p, cap, &c.len, err)
		    : ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");

	if (!r && (less = realloc(c.p, c.len)))
		c.p = less;
	if (!r && vec_push(m->aside, c))
		r = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	if (r)
		free(c.p);
	return r;
}

static int put_pieces(struct ty_meta *m, enum ty_spool_type type, unsigned kind, uint64_t *seq,
		      const char *text, size_t n, struct ty_err *err)
{
	struct ty_spool_chunk what = {
		.type = (uint16_t)type, .flags = m->aside ? TY_SPOOL_LATER : 0, .stream = kind};

	do {
		const size_t k = ty_line_piece(text, n, PIECE);
		int r;

		what.seq = (*seq)++;
		r = m->aside ? put_aside(m, &what, text, k, err)
			     : ty_spool_put(m->writer, &what, text, k, err);
		if (r)
			return r;
		text += k;
		n -= k;
	} while (n);
	return 0;
}

int ty_meta_put(struct ty_meta *m, enum ty_spool_meta kind, const void *text, size_t n,
		struct ty_err *err)
{
	return put_pieces(m, TY_SPOOL_META, kind, &m->meta_seq[kind], text, n, err);
}

int ty_meta_section(struct ty_meta *m, enum ty_section section, const char *text, size_t n,
		    struct ty_err *err)
{
	return put_pieces(m, TY_SPOOL_SECTION, section, &m->section_seq[section], text, n, err);
}

static int put_file(struct ty_meta *m, int dir, const char *path, enum ty_spool_meta kind,
		    const char *prefix, struct ty_err *err)
{
	struct ty_buf b;
	int r = 0;

	ty_buf_init(&b, TEXT_LIMIT);
	if (prefix)
		r = ty_buf_add(&b, prefix, strlen(prefix) + 1);
	if (r)
		r = ty_fail(err, -r, TY_NO_OFFSET, "%s: %s", path, ty_strerror(r));
	else
		r = ty_tracefs_read(dir, path, &b, err);
	if (!r)
		r = ty_meta_put(m, kind, b.p ? b.p : "", b.len, err);
	ty_buf_fini(&b);
	return r;
}

static int put_formats(struct ty_meta *m, int root, const struct ty_event_set *set,
		       struct ty_err *err)
{
	char path[400];
	struct dirent *e;
	int fd = openat(root, "events/ftrace", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d) {
		r = ty_fail_errno(err, "cannot open events/ftrace of tracefs");
		if (fd >= 0)
			close(fd);
		return r;
	}
	while (!r && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "events/ftrace/%s/format", e->d_name);
		if (ty_tracefs_exists(root, path))
			r = put_file(m, root, path, TY_META_FTRACE_FORMAT, NULL, err);
	}
	closedir(d);
	for (size_t i = 0; !r && i < set->items.n; i++) {
		snprintf(path, sizeof(path), "events/%s/%s/format", set->items.v[i].system,
			 set->items.v[i].event);
		r = put_file(m, root, path, TY_META_EVENT_FORMAT, set->items.v[i].system, err);
	}
	return r;
}

int ty_meta_start(struct ty_meta *m, const char *root, const struct ty_event_set *set,
		  const struct ty_instance *const *inst, const char *const *names, unsigned n,
		  unsigned cpu_count, const char *clock, struct ty_err *err)
{
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), own, r, k;
	struct utsname u;
	char text[512];

	if (fd < 0)
		return ty_fail_errno(err, "cannot open %s", root);
	/* An instance has a file with its own page size; older kernels have one file and one size
	 * for all. */
	own = ty_tracefs_exists(inst[0]->dir, "events/header_page") ? inst[0]->dir : fd;
	r = put_file(m, own, "events/header_page", TY_META_HEADER_PAGE, NULL, err);
	r = r ? r : put_file(m, fd, "events/header_event", TY_META_HEADER_EVENT, NULL, err);
	r = r ? r : put_formats(m, fd, set, err);
	if (!r && ty_tracefs_exists(fd, "printk_formats"))
		r = put_file(m, fd, "printk_formats", TY_META_PRINTK, NULL, err);
	r = r ? r : put_file(m, inst[0]->dir, "trace_clock", TY_META_TRACE_CLOCK, NULL, err);
	close(fd);
	for (unsigned i = 0; !r && i < n; i++) {
		k = snprintf(text, sizeof(text), "%s%c%s", names[i], 0, clock);
		r = ty_meta_put(m, TY_META_BUFFER, text, (size_t)k + 1, err);
	}
	if (!r && !uname(&u)) {
		k = snprintf(text, sizeof(text), "%s %s %s %s", u.sysname, u.nodename, u.release,
			     u.machine);
		r = ty_meta_put(m, TY_META_UNAME, text, (size_t)k, err);
	}
	r = r ? r
	      : ty_meta_put(m, TY_META_VERSION, "tarry " TY_VERSION, strlen("tarry " TY_VERSION),
			    err);
	k = snprintf(text, sizeof(text), "%u", cpu_count);
	return r ? r : ty_meta_put(m, TY_META_CPUCOUNT, text, (size_t)k, err);
}

struct name {
	long tid;
	const char *line;
	size_t n, order;
};

ORDER(by_tid, struct name, compare(a->tid, b->tid) ?: compare(a->order, b->order))

int ty_meta_cmdlines(struct ty_meta *m, const char *root, const struct ty_buf *names,
		     struct ty_err *err)
{
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	VEC(struct name) all = {0};
	struct ty_buf b, out;

	ty_buf_init(&b, TEXT_LIMIT);
	ty_buf_init(&out, TEXT_LIMIT);
	if (names->len)
		r = ty_buf_add(&b, names->p, names->len);
	if (fd >= 0) {
		/* Names are a help to other readers: without saved_cmdlines there are fewer. */
		ty_tracefs_read(fd, "saved_cmdlines", &b, NULL);
		close(fd);
	}
	for (char *p = b.p; !r && p && *p;) {
		size_t n = strcspn(p, "\n");

		if (*p >= '1' && *p <= '9' && memchr(p, ' ', n))
			r = vec_push(&all, (struct name){strtol(p, NULL, 10), p, n, all.n});
		p += n + (p[n] == '\n');
	}
	vec_sort(&all, by_tid);
	for (size_t i = 0; !r && i < all.n; i++) {
		if (i + 1 < all.n && all.v[i + 1].tid == all.v[i].tid)
			continue;
		r = ty_buf_add(&out, all.v[i].line, all.v[i].n);
		r = r ? r : ty_buf_addc(&out, '\n');
	}
	if (r)
		r = ty_fail(err, -r, TY_NO_OFFSET, "cannot save the thread names: %s",
			    ty_strerror(r));
	else
		r = ty_meta_put(m, TY_META_CMDLINES, out.p ? out.p : "", out.len, err);
	vec_fini(&all);
	ty_buf_fini(&b);
	ty_buf_fini(&out);
	return r;
}
