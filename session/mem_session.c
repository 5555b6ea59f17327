/* SPDX-License-Identifier: MIT */
#include "mem_session.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "full_io.h"
#include "sigbus.h"
#include "window_filter.h"
#include "now.h"
#include "plain_text.h"
#include "store.h"

#define PROGRESS_SAMPLES (1u << 18)
#define AHEAD_BYTES	 (1u << 20) /* of AUX streams: worth a thread */

static int raw_read(void *ctx, uint64_t off, void *dst, size_t n, struct ty_err *err)
{
	const struct ty_mem_session *s = ctx;
	const ssize_t r = ty_full_read(s->fd, dst, n, off);

	if (r < 0)
		return ty_fail_errno(err, "%s: cannot read at offset %" PRIu64, s->path, off);
	return r == (ssize_t)n ? 0
			       : ty_fail(err, TY_EFORMAT, off + (size_t)r,
					 "%s was truncated while tarry read it", s->path);
}

/* A thread for each other CPU, where there is enough to do. */
static void set_threads(struct ty_mem_session *s)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (ty_mem_facts(s->stream)->aux_bytes >= AHEAD_BYTES)
		ty_mem_threads(s->stream, cpus > 1 ? (unsigned)cpus - 1 : 0);
}

static int open_raw(struct ty_mem_session *s, const struct ty_mem_options *o, struct ty_err *err)
{
	uint64_t midr = 0;
	struct stat st;
	char *end;
	int r;

	if (o->midr) {
		midr = s->midr = strtoull(o->midr, &end, 16);
		if (!*o->midr || *end)
			return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
				       "--midr '%s' is not a hexadecimal number, as in "
				       "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1",
				       o->midr);
	}
	s->fd = open(o->raw, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (s->fd < 0 || fstat(s->fd, &st))
		return ty_fail_errno(err, "%s: cannot open", o->raw);
	if (!S_ISREG(st.st_mode))
		return ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET, "%s is not a regular file",
			       o->raw);
	r = ty_mem_open_raw(o->raw, raw_read, s, (uint64_t)st.st_size, midr, &s->stream, err);
	if (!r)
		set_threads(s);
	return r;
}

/* First and last instant according to the chunks (tarry's have them). */
static void trace_bounds(struct ty_mem_session *s)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (uint32_t i = 0; i < s->trace->streams.n; i++) {
		uint32_t n = s->trace->streams.v[i].chunks;
		struct ty_chunk a, b;

		if (!n)
			continue;
		a = ty_trace_chunk(s->trace, i, 0);
		b = ty_trace_chunk(s->trace, i, n - 1);
		if (a.first_ns && a.first_ns < first)
			first = a.first_ns;
		if (b.last_ns > last)
			last = b.last_ns;
	}
	s->start_ns = first <= last ? first : 0;
	s->end_ns = first <= last ? last : 0;
}

int ty_mem_session_of_trace(struct ty_mem_session *s, struct ty_trace *t, const atomic_bool *stop,
			    struct ty_err *err)
{
	struct ty_text b = ty_trace_section(t, TY_SEC_PERF);
	int r = -TY_ENOTFOUND;

	*s = (struct ty_mem_session){
		.fd = -1, .path = t->path, .trace = t, .borrowed = true, .stop = stop};
	trace_bounds(s);
	if (b.n)
		r = ty_perf_open_bytes(t->path, b.s, b.n, &s->perf, err);
	else if (t->perf_memory)
		r = ty_perf_open(t->path, &s->perf, err);
	if (s->perf && !r) {
		s->perf->stop = stop;
		r = ty_mem_open(s->perf, &s->stream, err);
	}
	if (!r)
		set_threads(s);
	return r != -TY_ENOTFOUND
		       ? r
		       : ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
				 "%s has no memory samples: record them on an Arm machine with "
				 "tarry record --memory, or give a perf.data file of "
				 "`perf record -e arm_spe_0//` or, on x86, `perf mem record`",
				 t->path);
}

int ty_mem_session_open(struct ty_mem_session *s, const char *path, const struct ty_mem_options *o,
			struct ty_err *err)
{
	struct ty_trace *t = NULL;
	int r;

	*s = (struct ty_mem_session){.fd = -1, .path = o->raw ? o->raw : path ? path : "tarry.dat"};
	if (o->raw && path)
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "--spe-raw %s replaces the recording: give it or %s, not both",
			       o->raw, path);
	if (o->raw)
		return open_raw(s, o, err);
	if (o->midr)
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "--midr needs --spe-raw: a recording names its cores itself");
	if (ty_mem_session_is_perf(s->path)) {
		r = ty_perf_open(s->path, &s->perf, err);
		if (!r)
			r = ty_mem_open(s->perf, &s->stream, err);
		if (!r)
			set_threads(s);
		if (!r && s->perf->note)
			ty_say("tarry: %s: %s\n", s->path, s->perf->note);
		return r;
	}
	r = ty_trace_open(s->path, &t, err);
	if (r)
		return r;
	if (t->note.s)
		ty_say("tarry: %s: %s\n", t->path, t->note.s);
	r = ty_mem_session_of_trace(s, t, NULL, err);
	s->borrowed = false;
	return r;
}

void ty_mem_session_fini(struct ty_mem_session *s)
{
	ty_mem_points_fini(&s->part);
	ty_mem_points_fini(&s->whole); /* waits for its index file */
	ty_mem_close(s->stream);
	ty_perf_close(s->perf);
	if (s->fd >= 0)
		close(s->fd);
	if (!s->borrowed)
		ty_trace_close(s->trace);
	*s = (struct ty_mem_session){.fd = -1};
}

static int no_times(const struct ty_mem_session *s, struct ty_err *err)
{
	return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
		       "%s: its samples have no timestamps: leave out --from and --to", s->path);
}

int ty_mem_session_window(struct ty_mem_session *s, const struct ty_select *sel,
			  struct ty_window *w, struct ty_err *err)
{
	uint64_t first = UINT64_MAX, last = 0;
	const struct ty_mem *m;
	int r;

	if (!sel->from && !sel->to)
		return ty_select_range(sel, s->path, 0, UINT64_MAX - 1, w, err);
	if (s->end_ns)
		return ty_select_range(sel, s->path, s->start_ns, s->end_ns, w, err);
	while ((r = ty_mem_next(s->stream, &m, err)) > 0)
		if (m->has & TY_MEM_HAS_TIME) {
			first = m->ts_ns < first ? m->ts_ns : first;
			last = m->ts_ns > last ? m->ts_ns : last;
		}
	ty_mem_rewind(s->stream);
	if (r < 0)
		return r;
	if (first > last)
		return no_times(s, err);
	return ty_select_range(sel, s->path, first, last, w, err);
}

bool ty_mem_chosen(const struct ty_mem_stream *s, const struct ty_window *w, const struct ty_mem *m)
{
	bool whole = !w->from_ns && w->to_ns == UINT64_MAX;

	if (!whole &&
	    (!(m->has & TY_MEM_HAS_TIME) || m->ts_ns < w->from_ns || m->ts_ns >= w->to_ns))
		return false;
	if (w->cpus_n && (!(m->has & TY_MEM_HAS_CPU) || !ty_window_has_cpu(w, m->cpu)))
		return false;
	if (m->kind == TY_MEM_GAP)
		return true; /* the threads of lost samples are unknown */
	if (w->tids_n && !ty_window_has_tid(w, m->tid))
		return false;
	if (w->comms_n) {
		const char *comm = m->tid >= 0 ? ty_mem_comm(s, m->tid, m->ts_ns) : NULL;

		return comm && ty_window_has_comm(w, comm);
	}
	return true;
}

/* A line on stderr, at most five times a second; n 0: it is over. */
static void show_progress(uint64_t n, uint64_t *last_ms)
{
	uint64_t now_ms = ty_now_ms();

	if (!n) {
		if (*last_ms)
			fputs("\r\033[K", stderr);
		return;
	}
	if (now_ms - *last_ms < 200)
		return;
	*last_ms = now_ms;
	fprintf(stderr, "\rreading: %.1f M samples\033[K", (double)n / 1e6);
}

/* The file that the samples are of, where they may have an index file. -1: not. */
static int indexed_fd(const struct ty_mem_session *s)
{
	if (s->no_index || (s->trace && s->trace->unfinished) || (s->perf && s->perf->unfinished))
		return -1;
	if (s->perf && ty_perf_fd(s->perf) >= 0)
		return ty_perf_fd(s->perf);
	return s->trace ? ty_trace_fd(s->trace) : s->fd;
}

uint64_t ty_mem_session_work_bytes(const struct ty_select *sel)
{
	return (sel->memory_bytes ? sel->memory_bytes : ty_memory_default()) / 8;
}

/* Why a point could not be added. */
static int no_room(const struct ty_mem_session *s, const struct ty_mem_points *p, int e,
		   struct ty_err *err)
{
	if (e == -TY_ELIMIT)
		return ty_fail(
			err, TY_ELIMIT, TY_NO_OFFSET,
			p->n >= UINT32_MAX - 1
				? "%s has more than 2^32 samples: narrow with --from and --to"
				: "%s: its samples cover more distinct instructions than fit "
				  "into the memory limit: raise --memory",
			s->path);
	if (p->store && ty_store_why(p->store, err))
		return -err->code;
	return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", s->path);
}

/* The attributes of a sample, looked up once for consecutive samples of the same thread or CPU: a
 * thread has the name of its first sample. */
struct beside {
	int32_t pid, tid;
	uint32_t cpu;
	const char *comm; /* NULL: nothing is known yet */
	bool core;
};

static void look_beside(const struct ty_mem_session *s, const struct ty_mem *m, struct beside *b)
{
	uint32_t cpu = m->has & TY_MEM_HAS_CPU ? m->cpu : UINT32_MAX;

	if (!b->comm || b->cpu != cpu) {
		b->cpu = cpu;
		b->core = ty_mem_core_name(ty_mem_midr(s->stream, cpu)) != NULL;
	}
	if (!b->comm || b->pid != m->pid || b->tid != m->tid) {
		b->pid = m->pid;
		b->tid = m->tid;
		b->comm = m->tid >= 0 ? ty_mem_comm(s->stream, m->tid, m->ts_ns) : NULL;
		b->comm = b->comm ? b->comm : "";
	}
}

/* All samples, decoded. */
static int decode(struct ty_mem_session *s, const struct ty_select *sel, int fd, struct ty_err *err)
{
	bool show = s->show_progress && isatty(STDERR_FILENO);
	struct beside b = {0};
	const struct ty_mem *m;
	uint64_t seen = 0, shown_ms = 0;
	int e = ty_mem_points_begin(&s->whole, s->stream,
				    sel->memory_bytes ? sel->memory_bytes : ty_memory_default());

	if (e)
		return no_room(s, &s->whole, e, err);
	if (fd >= 0)
		ty_mem_points_index(&s->whole, s->path, fd, s->midr);
	while ((e = ty_mem_next(s->stream, &m, err)) > 0) {
		if (s->stop && atomic_load_explicit(s->stop, memory_order_relaxed))
			return ty_fail(err, TY_EINTR, TY_NO_OFFSET, "%s: stopped", s->path);
		if (show && !(++seen % PROGRESS_SAMPLES))
			show_progress(seen, &shown_ms);
		look_beside(s, m, &b);
		e = ty_mem_points_add(&s->whole, m, b.comm, b.core);
		if (e)
			return no_room(s, &s->whole, e, err);
	}
	if (show)
		show_progress(0, &shown_ms);
	ty_mem_rewind(s->stream); /* its threads and buffers are not needed any more */
	if (e < 0)
		return e;
	e = ty_mem_points_end(&s->whole);
	return e ? no_room(s, &s->whole, e, err) : 0;
}

static bool slice(const struct ty_window *w)
{
	return w->from_ns || w->to_ns != UINT64_MAX;
}

/* As ty_mem_chosen. */
static bool chosen(const struct ty_mem_session *s, const struct ty_window *w,
		   const struct ty_mem_point *o)
{
	const struct ty_mem_thread *t =
		o->thread == TY_MEM_NO_THREAD ? NULL : &s->whole.thread[o->thread];
	const char *comm;

	if (slice(w) &&
	    (!(o->flags & TY_MP_HAS_TIME) || o->ts_ns < w->from_ns || o->ts_ns >= w->to_ns))
		return false;
	if (w->cpus_n && (o->cpu == UINT16_MAX || !ty_window_has_cpu(w, o->cpu)))
		return false;
	if (w->tids_n && !ty_window_has_tid(w, t ? t->tid : -1))
		return false;
	if (!w->comms_n)
		return true;
	comm = t ? ty_mem_comm(s->stream, t->tid, o->ts_ns) : NULL;
	return comm && ty_window_has_comm(w, comm);
}

static int select_gaps(struct ty_mem_session *s, const struct ty_window *w)
{
	vec_each (g, &s->whole.gaps) {
		if ((slice(w) && (!g->ts_ns || g->ts_ns < w->from_ns || g->ts_ns >= w->to_ns)) ||
		    (w->cpus_n && (g->cpu == UINT16_MAX || !ty_window_has_cpu(w, g->cpu))))
			continue;
		s->part.gaps_n++;
		s->part.unreadable_bytes += g->bytes;
		if (vec_push(&s->part.gaps, *g))
			return -TY_ENOMEM;
	}
	s->part.gaps_cut = s->whole.gaps_n > s->whole.gaps.n;
	return 0;
}

static int select_points(struct ty_mem_session *s, const struct ty_select *sel,
			 const struct ty_window *w, struct ty_err *err)
{
	struct ty_mem_point rows[TY_BLOCK_ROWS];
	uint64_t first = 0, all = s->whole.n;
	uint32_t n;
	int e = ty_mem_points_part(&s->part, &s->whole,
				   sel->memory_bytes ? sel->memory_bytes : ty_memory_default());

	if (!e && slice(w))
		ty_mem_points_between(&s->whole, w->from_ns, w->to_ns, &first, &all);
	for (uint64_t at = 0; !e && at < all; at += n) {
		n = ty_mem_points_rows(&s->whole, first + at, TY_MEM_WANT_ALL, rows);
		if (!n)
			break;
		if (s->stop && atomic_load_explicit(s->stop, memory_order_relaxed))
			return ty_fail(err, TY_EINTR, TY_NO_OFFSET, "%s: stopped", s->path);
		for (uint32_t i = 0; !e && i < n; i++)
			if (chosen(s, w, &rows[i]))
				e = ty_mem_points_take(&s->part, &rows[i]);
	}
	e = e ? e : select_gaps(s, w);
	e = e ? e : ty_mem_points_end(&s->part);
	return e ? no_room(s, &s->part, e, err) : 0;
}

int ty_mem_session_points(struct ty_mem_session *s, const struct ty_select *sel,
			  const struct ty_mem_points **out, struct ty_err *err)
{
	uint64_t first = s->start_ns, last = s->end_ns;
	struct ty_window w;
	int e = 0, fd;

	s->no_index = sel->no_index;
	fd = indexed_fd(s);
	ty_sigbus_catch(s->path);
	ty_mem_points_fini(&s->part);
	if (!s->whole.store && (fd < 0 || !ty_mem_points_open(&s->whole, s->path, fd, s->midr)))
		e = decode(s, sel, fd, err);
	if (e)
		return e;
	s->whole.stream = s->stream;
	*out = &s->whole;
	if (!last) {
		first = s->whole.sum.first_ns;
		last = s->whole.sum.last_ns;
	}
	if (!sel->from && !sel->to)
		last = UINT64_MAX - 1;
	else if (!last)
		return no_times(s, err);
	e = ty_select_range(sel, s->path, sel->from || sel->to ? first : 0, last, &w, err);
	if (e || (!slice(&w) && !w.cpus_n && !w.tids_n && !w.comms_n))
		return e;
	e = select_points(s, sel, &w, err);
	*out = &s->part;
	return e;
}

int ty_mem_session_check(const struct ty_mem_session *s, struct ty_err *err)
{
	return s->whole.damaged ? ty_index_damaged(s->path, err) : 0;
}

/* Whether this machine made the recording. Its files may have changed: build ids are compared. */
static bool is_local(const struct ty_mem_session *s)
{
	const struct ty_mem_facts *f = ty_mem_facts(s->stream);
	struct utsname u;

	return f->host && f->arch && !uname(&u) && !strcmp(u.nodename, f->host) &&
	       !strcmp(u.machine, f->arch);
}

int ty_mem_session_names(const struct ty_mem_session *s, const struct ty_mem_options *o,
			 struct ty_mem_names **out, struct ty_err *err)
{
	*out = ty_mem_names_new(s->stream, o->roots.v, o->roots.n, is_local(s));
	if (!*out)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", s->path);
	return o->kallsyms ? ty_mem_names_kernel(*out, o->kallsyms, err) : 0;
}

bool ty_mem_session_is_perf(const char *path)
{
	uint8_t magic[8];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is = fd >= 0 && pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
		  ty_perf_magic(magic, sizeof(magic));

	if (fd >= 0)
		close(fd);
	return is;
}
