/* SPDX-License-Identifier: MIT */
/* perf.data (perf_data.h): opening, and processing of metadata records in its pipe form. */
#include "perf_data.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "buf.h"
#include "perf_file.h"

bool ty_perf_magic(const uint8_t *p, size_t n)
{
	return n >= 8 && (!memcmp(p, "PERFILE2", 8) || !memcmp(p, "2ELIFREP", 8) ||
			  !memcmp(p, "PERFFILE", 8));
}

int ty_perf_next(struct ty_perf *p, struct ty_perf_rec *out, struct ty_err *err)
{
	int r = ty_perf_next_record(p, out, err);

	if (r > 0 && p->pipe) {
		int e = ty_perf_pipe_record(p, out, err);

		r = e ? e : r;
	}
	return r;
}

enum { SOFTWARE = 1, TRACEPOINT = 2, CPU_CLOCK = 0, TASK_CLOCK = 1, DUMMY = 9, FREQ = 1 << 10 };

bool ty_perf_event_samples(const struct ty_perf_event *e)
{
	return e->attr.type != TRACEPOINT && !(e->attr.type == SOFTWARE && e->attr.config == DUMMY);
}

bool ty_perf_event_is_clock(const struct ty_perf_event *e)
{
	return e->attr.type == SOFTWARE &&
	       (e->attr.config == CPU_CLOCK || e->attr.config == TASK_CLOCK);
}

uint64_t ty_perf_event_period_ns(const struct ty_perf_event *e)
{
	const struct ty_perf_attr *a = &e->attr;

	if (!ty_perf_event_is_clock(e))
		return 0;
	return a->flags & FREQ && a->sample_period ? 1000000000 / a->sample_period
						   : a->sample_period;
}

void ty_perf_progress(const struct ty_perf *p, uint64_t *done, uint64_t *all)
{
	*done = p->priv->pos - p->priv->begin;
	*all = p->priv->end - p->priv->begin;
}

static int open_file(struct ty_perf *p, struct ty_err *err)
{
	struct ty_perf_priv *v = p->priv;
	struct stat st;

	v->fd = open(p->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (v->fd < 0 || fstat(v->fd, &st))
		return ty_fail_errno(err, "%s: cannot open", p->path);
	if (S_ISDIR(st.st_mode))
		return ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
			       "%s is a directory (perf record --threads), which tarry does not "
			       "read. Record without --threads",
			       p->path);
	if (!S_ISREG(st.st_mode))
		return ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
			       "%s is not a regular file. Copy it to one first", p->path);
	p->file_bytes = (uint64_t)st.st_size;
	v->win = malloc(TY_PERF_WINDOW);
	return v->win ? 0 : ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", p->path);
}

/* mem: content of the file; NULL: open path. */
static int open_any(const char *path, const uint8_t *mem, uint64_t n, struct ty_perf **out,
		    struct ty_err *err)
{
	struct ty_perf *p = calloc(1, sizeof(*p));
	struct ty_perf_priv *v = calloc(1, sizeof(*v));
	int r;

	*out = NULL;
	if (p)
		p->priv = v;
	if (v)
		v->fd = -1;
	if (p && v)
		p->path = v->path = strdup(path);
	if (!p || !v || !p->path) {
		r = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", path);
	} else {
		ty_buf_init(&v->note, 4096);
		v->mem = mem;
		p->file_bytes = n;
		r = mem ? 0 : open_file(p, err);
		if (!r)
			r = ty_perf_read_header(p, err);
	}
	if (r) {
		ty_perf_close(p);
		if (!p)
			free(v);
		return r;
	}
	ty_perf_rewind(p);
	*out = p;
	return 0;
}

int ty_perf_open(const char *path, struct ty_perf **out, struct ty_err *err)
{
	return open_any(path, NULL, 0, out, err);
}

int ty_perf_open_bytes(const char *name, const void *bytes, size_t n, struct ty_perf **out,
		       struct ty_err *err)
{
	return open_any(name, bytes, n, out, err);
}

int ty_perf_fd(const struct ty_perf *p)
{
	return p->priv->fd;
}

void ty_perf_close(struct ty_perf *p)
{
	struct ty_perf_priv *v = p ? p->priv : NULL;

	if (v) {
		if (v->fd >= 0)
			close(v->fd);
		ty_perf_meta_fini(p);
		ZSTD_freeDStream(v->zstd);
		ty_buf_fini(&v->note);
		free(v->win);
		free(v->zin);
		free(v->dec);
		free(v->path);
		free(v);
	}
	free(p);
}
