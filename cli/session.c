/* SPDX-License-Identifier: MIT */
/* Opening a file for a reader: trace, formats, events, and the model built from them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "build.h"
#include "cli.h"
#include "key_value.h"

struct progress {
	bool on;
	struct timespec last;
};

/* At most five lines a second, and only when someone looks. */
static void progress_show(struct progress *p, const struct ty_events *es, uint64_t events, bool end)
{
	uint64_t done, all;
	struct timespec now;

	if (!p->on)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (end) {
		fputs("\r\033[K", stderr);
		return;
	}
	if ((now.tv_sec - p->last.tv_sec) * 1000 + (now.tv_nsec - p->last.tv_nsec) / 1000000 < 200)
		return;
	p->last = now;
	ty_events_progress(es, &done, &all);
	fprintf(stderr, "\rreading: %3.0f%%, %" PRIu64 " events\033[K",
		all ? 100.0 * (double)done / (double)all : 0.0, events);
}

static const char *event_name(void *ctx, uint16_t id)
{
	return ty_formats_name(ctx, id);
}

static int build_model(struct ty_session *s, const char *arch, uint64_t memory_bytes,
		       struct ty_err *err)
{
	struct ty_build_facts facts = {
		.machine = ty_trace_section(s->trace, TY_SEC_MACHINE).s,
		.threads = ty_trace_section(s->trace, TY_SEC_THREADS).s,
		.self = ty_trace_section(s->trace, TY_SEC_SELF).s,
		.cmdlines = s->trace->cmdlines.s,
		.cpus = s->trace->cpu_count,
		.long_size = s->trace->long_size,
		.arch = arch,
		.memory_bytes = memory_bytes,
		.event_name = event_name,
		.ctx = s->formats,
	};
	struct progress p = {.on = isatty(STDERR_FILENO)};
	struct ty_builder *b = ty_builder_new(&facts);
	struct ty_event ev;
	uint64_t n = 0;
	int r;

	if (!b)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", s->trace->path);
	clock_gettime(CLOCK_MONOTONIC, &p.last);
	while ((r = ty_events_next(s->events, &ev, err)) > 0) {
		r = ty_builder_feed(b, &ev, err);
		if (r < 0)
			break;
		if (!(++n & 0xffff))
			progress_show(&p, s->events, n, false);
	}
	if (!r)
		r = ty_builder_finish(b, &s->model, err);
	progress_show(&p, s->events, n, true);
	ty_builder_free(b);
	if (r < 0) {
		ty_fail(err, -r, TY_NO_OFFSET, "%s: %s while reading its events", s->trace->path,
			ty_strerror(r));
		return r;
	}
	return ty_events_seek(s->events, 0, err);
}

/* A quarter of the machine's memory. */
static uint64_t memory_default(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 4 : 256u << 20;
}

int ty_session_open(struct ty_session *s, const char *path, unsigned flags, uint64_t memory_bytes,
		    struct ty_err *err)
{
	char arch[32];
	int r;

	*s = (struct ty_session){0};
	if (!path)
		path = "tarry.dat";
	r = ty_trace_open(path, &s->trace, err);
	if (r)
		return r;
	if (s->trace->note.s)
		fprintf(stderr, "tarry: %s: %s\n", path, s->trace->note.s);
	r = ty_formats_new(s->trace, &s->formats, err);
	if (r)
		return r;
	if (!ty_key_value(ty_trace_section(s->trace, TY_SEC_MACHINE).s, "arch", arch,
			  sizeof(arch))) {
		/* trace-cmd's UNAME option is "Linux host release version machine". */
		const char *u = s->trace->uname.s, *last = u ? strrchr(u, ' ') : NULL;

		snprintf(arch, sizeof(arch), "%s", last ? last + 1 : "");
		arch[strcspn(arch, "\n")] = 0;
	}
	s->arch = ty_sysarch_find(arch);
	if (flags & (TY_OPEN_EVENTS | TY_OPEN_MODEL)) {
		r = ty_events_open(s->trace, s->formats, &s->events, err);
		if (r)
			return r;
	}
	if (flags & TY_OPEN_MODEL)
		return build_model(s, arch, memory_bytes ? memory_bytes : memory_default(), err);
	return 0;
}

void ty_session_fini(struct ty_session *s)
{
	ty_model_free(s->model);
	ty_events_close(s->events);
	ty_formats_free(s->formats);
	ty_trace_close(s->trace);
	*s = (struct ty_session){0};
}
