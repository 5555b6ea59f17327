/* SPDX-License-Identifier: MIT */
/* See flow_source.h. */
#include "flow_source.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "disasm.h"
#include "flow_files.h"
#include "flow_user_images.h"
#include "flow_perf.h"
#include "key_value.h"
#include "perf_data.h"
#include "plain_text.h"
#include "checked_read.h"
#include "session.h"

#define SAMPLE_TYPE_LIBIPT 0x10086 /* TID, TIME, CPU, IDENTIFIER: what perf record writes */

void ty_flow_source_close(struct ty_flow_source *s)
{
	ty_flow_free(s->flow);
	ty_flow_files_free(s->files);
	ty_perf_close(s->perf);
	ty_trace_close(s->trace);
	s->flow = NULL;
	s->files = NULL;
	s->perf = NULL;
	s->trace = NULL;
	s->kernel_names = (struct ty_bytes){0};
	s->start_ns = 0;
}

void ty_flow_source_fini(struct ty_flow_source *s)
{
	ty_flow_source_close(s);
	vec_fini(&s->raws);
	vec_fini(&s->sidebands);
	vec_fini(&s->images);
	vec_fini(&s->cores);
	vec_fini(&s->kcores);
	vec_fini(&s->roots);
}

/* "FILE,key=N,...": the file's name (to be freed) and the numbers. */
struct named {
	char *file;
	int32_t cpu, tid;
	uint64_t sample;
};

static int split(const char *arg, struct named *out, struct ty_err *err)
{
	char *p, *next;

	*out = (struct named){
		.file = strdup(arg), .cpu = -1, .tid = -1, .sample = SAMPLE_TYPE_LIBIPT};
	if (!out->file)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	p = strchr(out->file, ',');
	if (p)
		*p++ = 0;
	for (; p; p = next) {
		char *value = strchr(p, '='), *end;
		unsigned long long v;

		next = strchr(p, ',');
		if (next)
			*next++ = 0;
		errno = 0;
		v = value && value[1] ? strtoull(value + 1, &end, 0) : 0;
		if (!value || !value[1] || *end || errno)
			goto bad;
		if (!strncmp(p, "cpu=", 4) && v <= INT32_MAX)
			out->cpu = (int32_t)v;
		else if (!strncmp(p, "tid=", 4) && v <= INT32_MAX)
			out->tid = (int32_t)v;
		else if (!strncmp(p, "sample=", 7))
			out->sample = v;
		else
			goto bad;
	}
	return 0;
bad:
	free(out->file);
	return ty_fail(
		err, TY_EUSAGE, TY_NO_OFFSET,
		"'%s': after the file name give cpu=N, tid=N or sample=TYPE, separated by commas",
		arg);
}

/* Reads the file that an argument names; b stays valid until the source is closed. */
static int read_named(struct ty_flow_source *s, const char *arg, struct named *f,
		      struct ty_bytes *b, struct ty_err *err)
{
	int r = split(arg, f, err);

	if (r)
		return r;
	r = ty_flow_files_read(s->files, f->file, b, err);
	if (r)
		free(f->file);
	return r;
}

/* Ends the use of f after its bytes were added with result r. */
static int end_named(struct named *f, int r, struct ty_err *err)
{
	if (r)
		ty_fail(err, -r, TY_NO_OFFSET, "%s: %s", f->file, ty_strerror(r));
	free(f->file);
	return r;
}

static int add_raw(struct ty_flow_source *s, const char *arg, struct ty_err *err)
{
	struct ty_bytes b;
	struct named f;
	int r = read_named(s, arg, &f, &b, err);

	return r ? r : end_named(&f, ty_flow_add(s->flow, f.cpu, f.tid, 0, b.p, b.n, 0), err);
}

static int add_sideband(struct ty_flow_source *s, struct ty_flow_perf *perf, const char *arg,
			struct ty_err *err)
{
	struct ty_bytes b;
	struct named f;
	int r = read_named(s, arg, &f, &b, err);

	return r ? r : end_named(&f, ty_flow_perf_file(perf, b.p, b.n, f.sample, f.cpu), err);
}

static int add_numbers(struct ty_flow_source *s, struct ty_err *err)
{
	if (s->cpu) {
		struct ty_pt_cpu cpu = {0};
		unsigned f, m, st;
		char rest;

		if (sscanf(s->cpu, "%u/%u/%u%c", &f, &m, &st, &rest) != 3 || f > UINT16_MAX ||
		    m > UINT8_MAX || st > UINT8_MAX)
			return ty_fail(
				err, TY_EUSAGE, TY_NO_OFFSET,
				"--cpu-model '%s' is not FAMILY/MODEL/STEPPING such as 6/85/4",
				s->cpu);
		cpu.family = (uint16_t)f;
		cpu.model = (uint8_t)m;
		cpu.stepping = (uint8_t)st;
		ty_flow_set_cpu(s->flow, &cpu);
	}
	if (s->time) {
		uint64_t zero;
		uint32_t mult;
		uint16_t shift;
		char rest;

		if (sscanf(s->time, "%" SCNu64 "/%" SCNu32 "/%" SCNu16 "%c", &zero, &mult, &shift,
			   &rest) != 3 ||
		    shift > 63)
			return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
				       "--pt-time '%s' is not ZERO/MULT/SHIFT, three numbers",
				       s->time);
		ty_flow_set_time(s->flow, zero, mult, shift);
	}
	return 0;
}

/* One piece of an AUX stream. */
static int add_auxtrace(struct ty_flow_source *s, const struct ty_perf *f,
			const struct ty_perf_rec *r, struct ty_err *err)
{
	struct ty_perf_auxtrace a;
	int e;

	if (ty_perf_auxtrace(r, &a))
		return ty_fail(err, TY_EFORMAT, r->off, "%s: malformed AUXTRACE record", f->path);
	e = ty_flow_add_place(s->flow, a.cpu, a.cpu < 0 ? a.tid : -1, a.idx, r->data_off, r->data_n,
			      a.offset);
	return e ? ty_fail(err, -e, r->off, "%s: %s", f->path, ty_strerror(e)) : 0;
}

/* A ty_flow_read. */
static int read_aux(void *ctx, uint64_t place, void *buf, size_t n)
{
	return ty_perf_read(ctx, place, buf, n, NULL);
}

/* Reads the machine and the events from the header of a perf.data file. */
static int perf_head(struct ty_flow_source *s, struct ty_flow_perf *perf, const struct ty_perf *f)
{
	struct ty_perf_build_id id;
	const char *host = ty_perf_text(f, TY_PERF_F_HOSTNAME);
	const char *cpuid = ty_perf_text(f, TY_PERF_F_CPUID);
	size_t pos = 0;
	int r = 0;

	ty_flow_files_local(s->files, ty_is_this_host(host),
			    s->trace && ty_flow_files_this_boot(s->files, s->trace));
	if (cpuid)
		ty_flow_perf_cpuid(perf, cpuid);
	if (ty_perf_stepped(f))
		ty_flow_set_software(s->flow);
	for (size_t i = 0; i < f->events.n; i++) {
		const struct ty_perf_attr *attr = &f->events.v[i].attr;

		/* The file's clock is the one of JIT compilers. */
		if (!r && attr->flags & TY_PERF_ATTR_USE_CLOCKID &&
		    attr->clockid == CLOCK_MONOTONIC)
			r = ty_flow_perf_monotonic(perf, 1, 1);
	}
	for (size_t i = 0; i < f->events.n; i++) {
		const char *pmu = ty_perf_pmu(f, f->events.v[i].attr.type);

		if (!strncmp(f->events.v[i].name, "intel_pt", 8) ||
		    (pmu && !strcmp(pmu, "intel_pt")))
			ty_flow_perf_config(perf, f->events.v[i].attr.config);
	}
	while (!r && ty_perf_build_id_next(f, &pos, &id))
		r = ty_flow_perf_build_id(perf, id.name, id.id, id.n);
	return r;
}

/* All records of the open s->perf. shown: its name in messages. */
static int add_perf(struct ty_flow_source *s, struct ty_flow_perf *perf, const char *shown,
		    struct ty_err *err)
{
	struct ty_perf *f = s->perf;
	struct ty_perf_rec rec;
	int r = perf_head(s, perf, f);

	ty_flow_set_read(s->flow, read_aux, f);
	while (!r && (r = ty_perf_next(f, &rec, err)) > 0) {
		struct ty_perf_id id;

		ty_perf_id(f, &rec, &id);
		r = rec.type == TY_PERF_AUXTRACE ? add_auxtrace(s, f, &rec, err)
						 : ty_flow_perf_record(perf, &rec, &id, -1);
	}
	/* In the pipe form they are among the records. */
	if (!r && f->pipe)
		r = perf_head(s, perf, f);
	if (r)
		ty_fail(err, -r, TY_NO_OFFSET, "%s: %s", shown, ty_strerror(r));
	if (f->note && !s->quiet)
		ty_say("tarry: %s: %s\n", shown, f->note);
	return r;
}

/* Images of code (section.h, TY_SEC_CODE). Their bytes are the trace's. */
static int add_images(struct ty_flow_source *s, const char *path, struct ty_text t,
		      struct ty_err *err)
{
	struct ty_rd r = ty_rd_init(t.s, t.n, false);
	int e = 0;

	while (ty_rd_left(&r) && !e) {
		uint64_t t_ns = ty_rd_u64(&r), addr = ty_rd_u64(&r);
		int32_t pid = (int32_t)ty_rd_u32(&r);
		uint32_t n = ty_rd_u32(&r);
		const uint8_t *p = ty_rd_bytes(&r, n);

		if (!p)
			return ty_fail(err, TY_EFORMAT, TY_NO_OFFSET,
				       "%s: its code images are truncated", path);
		e = ty_code_image(ty_flow_code(s->flow), pid, t_ns, addr, p, n);
	}
	return e ? ty_fail(err, -e, TY_NO_OFFSET, "%s: cannot read the code images: %s", path,
			   ty_strerror(e))
		 : 0;
}

/* The kernel's code and names, unless code was given by hand: names of one kernel are no names of
 * another's code. Bytes are the trace's. */
static int add_kernel(struct ty_flow_source *s, const char *path, struct ty_err *err)
{
	struct ty_text core = ty_trace_section(s->trace, TY_SEC_KERNEL);
	struct ty_text names = ty_trace_section(s->trace, TY_SEC_KALLSYMS);
	struct ty_code *code = ty_flow_code(s->flow);
	int r;

	if (!core.n || s->kcores.n)
		return 0;
	if (!s->kernel_names.n)
		s->kernel_names = (struct ty_bytes){(const uint8_t *)names.s, names.n};
	r = ty_code_blob(code, "[kernel]", core.s, core.n);
	r = r < 0 ? r : ty_code_map_core(code, r, err);
	return r == -TY_EFORMAT
		       ? ty_fail(err, TY_EFORMAT, TY_NO_OFFSET,
				 "%s: the kernel's code in it is damaged: give another copy "
				 "with --kcore FILE",
				 path)
	       : r < 0 ? ty_fail(err, -r, TY_NO_OFFSET, "%s: its kernel's code: %s", path,
				 ty_strerror(r))
		       : 0;
}

/* How CLOCK_MONOTONIC ran: all the recorder's clock markers. Reads the whole recording. */
static int add_clock(struct ty_trace *t, struct ty_flow_perf *perf, struct ty_err *err)
{
	static const char key[] = "monotonic_ns=";
	struct ty_formats *formats = NULL;
	struct ty_events *events = NULL;
	struct ty_event ev;
	int r = ty_formats_new(t, &formats, err);

	r = r ? r : ty_events_open(t, formats, &events, err);
	while (!r && (r = ty_events_next(events, &ev, err)) > 0) {
		const char *s = ev.kind == TY_EV_PRINT && !ev.decode_error ? ev.u.print.text : NULL;

		r = 0;
		if (!s || strncmp(s, TY_CLOCK_MARKER, sizeof(TY_CLOCK_MARKER) - 1))
			continue;
		s = strstr(s, key);
		if (s &&
		    ty_flow_perf_monotonic(perf, strtoull(s + sizeof(key) - 1, NULL, 10), ev.ts_ns))
			r = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	}
	ty_events_close(events);
	ty_formats_free(formats);
	return r;
}

/* A tarry recording: its PT is a perf.data file in pipe form. */
static int add_trace(struct ty_flow_source *s, struct ty_flow_perf *perf, const char *path,
		     struct ty_err *err)
{
	struct ty_text pt, vdso;
	char how[32];
	int r = ty_trace_open(path, &s->trace, err);

	if (r)
		return r;
	if (s->trace->note.s && !s->quiet)
		ty_say("tarry: %s: %s\n", path, s->trace->note.s);
	pt = ty_trace_section(s->trace, TY_SEC_PERF);
	if (!pt.n)
		return 0;
	if (ty_key_value(ty_trace_section(s->trace, TY_SEC_MACHINE).s, "flow", how, sizeof(how)) &&
	    !strcmp(how, "step"))
		ty_flow_set_software(s->flow);
	vdso = ty_trace_section(s->trace, TY_SEC_VDSO);
	ty_flow_files_vdso(s->files, (struct ty_bytes){(const uint8_t *)vdso.s, vdso.n});
	r = ty_perf_open_bytes(path, pt.s, pt.n, &s->perf, err);
	r = r ? r : add_perf(s, perf, path, err);
	r = r ? r : add_kernel(s, path, err);
	if (!r && ty_flow_perf_has_jit(perf))
		r = add_clock(s->trace, perf, err);
	return r ? r : add_images(s, path, ty_trace_section(s->trace, TY_SEC_CODE), err);
}

/* The file by its first bytes. */
static int add_path(struct ty_flow_source *s, struct ty_flow_perf *perf, const char *path,
		    struct ty_err *err)
{
	uint8_t head[16];
	char data[PATH_MAX];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	ssize_t n;
	int r;

	/* perf's directory form: the data of one thread of perf's, and copies of the kernel. */
	if (fd >= 0 && !fstat(fd, &st) && S_ISDIR(st.st_mode)) {
		close(fd);
		snprintf(data, sizeof(data), "%s/data", path);
		fd = open(data, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		path = fd < 0 ? path : data;
	}
	n = fd < 0 ? -1 : read(fd, head, sizeof(head));
	if (fd >= 0)
		close(fd);
	if (n <= 0 || !ty_perf_magic(head, (size_t)n))
		return add_trace(s, perf, path, err);
	r = ty_perf_open(path, &s->perf, err);
	return r ? r : add_perf(s, perf, path, err);
}

static void tell_jit(struct ty_flow_jit j)
{
	if (j.missing)
		ty_say("tarry: %u of %u jitdump file%s of JIT compilers %s missing: %s "
		       "functions have no names. Copy %s under a directory and pass that with "
		       "--symfs DIR\n",
		       j.missing, j.files, j.files == 1 ? "" : "s", j.missing == 1 ? "is" : "are",
		       j.missing == 1 ? "its" : "their", j.missing == 1 ? "it" : "them");
	if (j.damaged)
		ty_say("tarry: %u jitdump file%s truncated or damaged\n", j.damaged,
		       j.damaged == 1 ? " is" : "s are");
	if (j.left_out)
		ty_say("tarry: %" PRIu64 " of %" PRIu64
		       " functions of JIT compilers are left out: they share their addresses with "
		       "others, and the recording's clock cannot be matched to jitdump timestamps. "
		       "Record with perf record -k mono\n",
		       j.left_out, j.left_out + j.functions);
}

int ty_flow_source_open(struct ty_flow_source *s, const char *path, struct ty_err *err)
{
	struct ty_flow_perf *perf = NULL;
	int r = 0;

	s->files = ty_flow_files_new(s->roots.v, s->roots.n);
	s->flow = s->files ? ty_flow_new(ty_flow_files_load, s->files) : NULL;
	perf = s->flow ? ty_flow_perf_new(s->flow) : NULL;
	if (!perf)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	ty_flow_set_memory(s->flow, s->memory_bytes ? s->memory_bytes : ty_memory_default());
	r = ty_flow_user_images(s, path, err);
	if (path && !r)
		r = add_path(s, perf, path, err);
	for (size_t i = 0; i < s->raws.n && !r; i++)
		r = add_raw(s, s->raws.v[i], err);
	for (size_t i = 0; i < s->sidebands.n && !r; i++)
		r = add_sideband(s, perf, s->sidebands.v[i], err);
	if (!r) {
		r = ty_flow_perf_finish(perf);
		if (r)
			ty_fail(err, -r, TY_NO_OFFSET, "cannot read the perf records: %s",
				ty_strerror(r));
	}
	r = r ? r : add_numbers(s, err);
	r = r ? r : ty_flow_start(s->flow, err);
	if (!r && !s->quiet)
		tell_jit(ty_flow_perf_jit(perf));
	s->bad = ty_flow_perf_bad(perf);
	ty_flow_perf_free(perf);
	return r;
}

struct ty_flow_names *ty_flow_source_names(struct ty_flow_source *s, struct ty_err *err)
{
	struct ty_flow_names *n = ty_flow_names_new(ty_flow_code(s->flow));
	const struct ty_bytes *k = &s->kernel_names;

	if (n)
		ty_flow_names_symbols(n, ty_flow_files_symbols, s->files);
	if (!n)
		ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for names");
	else if (k->n && !ty_flow_names_kernel(n, (const char *)k->p, k->n) && !s->quiet)
		ty_say("tarry: the copy of kallsyms has no functions. It was copied without "
		       "permission to read kernel addresses (copy it as root), or is not a "
		       "kallsyms file.\n");
	return n;
}

/* What code was missing, and how to give it. */
static void tell_missing(const struct ty_flow_source *s, const struct ty_flow_missing *m)
{
	struct ty_code *code = ty_flow_code(s->flow);
	struct ty_bytes b = ty_code_file_bytes(code, m->file);
	const bool kernel = m->ip >> 63;
	char name[300];

	if (m->file < 0) {
		fprintf(stderr,
			"tarry: unknown what was mapped at %#" PRIx64 " and elsewhere (%" PRIu64
			" gap%s): give it with %s\n",
			m->ip, m->gaps, m->gaps == 1 ? "" : "s",
			kernel ? "--kcore FILE" : "--image FILE@ADDRESS");
		return;
	}
	snprintf(name, sizeof(name), "%s", ty_code_file_name(code, m->file));
	ty_plain(name, strlen(name));
	fprintf(stderr, "tarry: %s %s (%" PRIu64 " gap%s, the first at %#" PRIx64 "): give %s\n",
		name,
		!b.n						 ? "is not available"
		: b.n > SELFMAG && !memcmp(b.p, ELFMAG, SELFMAG) ? "has no such code"
								 : "is not an ELF file",
		m->gaps, m->gaps == 1 ? "" : "s", m->ip,
		kernel ? "the kernel's code of the recorded machine with --kcore FILE"
		       : "the directory with the mapped files with --symfs DIR, or the code "
			 "with --image FILE@ADDRESS");
}

void ty_flow_source_note(const struct ty_flow_source *s)
{
	uint64_t errata = s->flow ? ty_flow_errata(s->flow) : 0;
	const struct ty_flow_missing *m;

	for (size_t i = 0; s->flow && (m = ty_flow_missing(s->flow, i)); i++)
		tell_missing(s, m);
	if (errata)
		fprintf(stderr,
			"tarry: %" PRIu64
			" gap%s may be due to errata of the recorded CPU, whose model "
			"is not recorded: give it with --cpu-model FAMILY/MODEL/STEPPING\n",
			errata, errata == 1 ? "" : "s");
	if (s->bad)
		ty_say("tarry: %" PRIu64 " malformed perf record%s left out: code may be "
		       "missing, or shown under another thread\n",
		       s->bad, s->bad == 1 ? " is" : "s are");
	if (s->flow && ty_disasm_missing())
		ty_say("tarry: code with instructions of unknown length was not followed: %s\n",
		       ty_disasm_missing());
	if (s->files)
		ty_flow_files_note(s->files);
}

int ty_flow_source_start(struct ty_flow_source *s, const char *path, uint64_t *start_ns,
			 struct ty_err *err)
{
	struct ty_trace *trace = s->trace, *own = NULL;
	uint64_t last;
	int r = 0;

	*start_ns = s->start_ns;
	if (s->start_ns)
		return 0;
	if (!ty_flow_span(s->flow, start_ns, &last)) {
		*start_ns = 0;
		return 0;
	}
	/* As the other readers count; unless the file has no such number. */
	if (!trace && path && ty_trace_in_perf(path)) {
		r = ty_trace_open(path, &own, err);
		trace = own;
	}
	for (uint32_t i = 0; trace && i < trace->streams.n; i++) {
		uint64_t t = trace->streams.v[i].chunks ? ty_trace_chunk(trace, i, 0).first_ns : 0;

		if (t && t < *start_ns)
			*start_ns = t;
	}
	ty_trace_close(own);
	s->start_ns = r ? 0 : *start_ns;
	return r;
}

/* The source's last instant: what lies behind the last PSB is decoded. */
static int last_instant(struct ty_flow_source *s, const char *path, uint64_t *last,
			struct ty_err *err)
{
	struct ty_flow_window w = {.to_ns = UINT64_MAX};
	struct ty_flow_at at;
	uint64_t first;
	int r, more = 0;

	if (!ty_flow_span(s->flow, &first, last))
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "%s: its instructions have no timestamps: leave out --from and --to",
			       path);
	w.from_ns = *last;
	r = ty_flow_seek(s->flow, &w, true, err);
	while (!r && (more = ty_flow_next(s->flow, &at)) > 0)
		*last = at.ts_ns;
	return more < 0 ? ty_fail(err, -more, TY_NO_OFFSET, "%s: %s", path, ty_strerror(more)) : r;
}

int ty_flow_source_window(struct ty_flow_source *s, const char *path, const struct ty_select *sel,
			  bool branches, const struct ty_flow_count *count, struct ty_err *err)
{
	struct ty_flow_window all = {.to_ns = UINT64_MAX};
	uint64_t first, last;
	struct ty_window w;
	int r = 0;

	if (sel->from || sel->to) {
		const char *name = path ? path : s->raws.v[0];

		r = last_instant(s, name, &last, err);
		r = r ? r : ty_flow_source_start(s, path, &first, err);
		r = r ? r : ty_select_range(sel, name, first, last, &w, err);
		if (r)
			return r;
		all.from_ns = w.from_ns;
		all.to_ns = w.to_ns - 1; /* a window's end is open */
	} else if (!branches && !count) {
		return 0;
	}
	return count ? ty_flow_seek_runs(s->flow, &all, count, err)
		     : ty_flow_seek(s->flow, &all, branches, err);
}
