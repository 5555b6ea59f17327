/* SPDX-License-Identifier: MIT */
/*
 * Where samples are read from: the sections of a recording (TY_SEC_SAMPLING, TY_SEC_SAMPLES), or a
 * perf.data file. See sample_load.h; naming and unwinding: sample_load.c.
 */
#include "sample_load_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "key_value.h"
#include "plain_text.h"
#include "section.h"

/* PERF_TYPE_..., PERF_COUNT_HW_CPU_CYCLES; exclude_user, exclude_kernel of linux/perf_event.h */
enum { HARDWARE = 0, CPU_CYCLES = 0, ONE_MODE = 1 << 4 | 1 << 5 };

static bool stopped(const struct loader *l)
{
	return l->o->stop && atomic_load(l->o->stop);
}

static void describe(struct ty_samples *s, const struct ty_perf_event *e)
{
	const struct ty_perf_attr *a = &e->attr;

	s->clock = ty_perf_event_is_clock(e);
	s->of_time = (s->clock || (a->type == HARDWARE && a->config == CPU_CYCLES)) &&
		     !(a->flags & ONE_MODE);
	if (a->flags >> 10 & 1) /* freq */
		s->hz = (uint32_t)a->sample_period;
	else if (s->clock && a->sample_period)
		s->hz = (uint32_t)((1000000000 + a->sample_period / 2) / a->sample_period);
	if (*e->name)
		snprintf(s->event, sizeof(s->event), "%s", e->name);
	else
		snprintf(s->event, sizeof(s->event), "event %u:0x%" PRIx64, a->type, a->config);
	ty_plain(s->event, strlen(s->event));
}

bool ty_samples_recorded(const struct ty_trace *t)
{
	return t->perf_samples || (ty_trace_section_bytes(t, TY_SEC_SAMPLES) &&
				   ty_trace_section_bytes(t, TY_SEC_SAMPLING));
}

void ty_samples_why_none(const struct ty_trace *t, char *why, size_t n)
{
	const char *facts = ty_trace_section(t, TY_SEC_MACHINE).s;

	*why = 0;
	ty_key_value(facts, "sample_why", why, n);
	ty_plain(why, strlen(why));
	if (!*why && !ty_trace_cut_keeps(t))
		snprintf(why, n, "not kept when this part of a recording was exported");
	if (!*why)
		snprintf(why, n, "%s",
			 ty_key_u64(facts, "sample_hz") ? "no traced thread was on a CPU for long"
							: "the recording has none");
}

/* The mappings: all records of the section's perf.data file. */
static int read_sampling(struct loader *l, struct ty_perf *f, struct ty_err *err)
{
	struct ty_perf_rec r;
	int e = 0, more;

	while (!e && (more = ty_perf_next(f, &r, err)) != 0) {
		struct ty_perf_id id;

		if (more < 0)
			return more == -TY_ENOMEM ? more
						  : 0; /* damaged: use the part read so far */
		if (r.type == TY_PERF_SAMPLE)
			continue;
		ty_perf_id(f, &r, &id);
		e = ty_sample_loader_side(l, &r, &id);
	}
	return e;
}

/* from_ns: where the part begins that was kept (record --keep drops samples less finely than
 * events). */
static int read_samples(struct loader *l, const struct ty_perf_event *ev, struct ty_text t,
			uint64_t from_ns)
{
	struct ty_perf_rec r;
	size_t pos = 0;
	int e = 0, more;

	while (!e && (more = ty_perf_buf_next((const uint8_t *)t.s, t.n, &pos, &r)) != 0) {
		struct ty_perf_sample p;
		struct ty_perf_lost lost;

		if (stopped(l))
			return -TY_EINTR;
		if (more < 0) {
			l->out->damaged = true;
			break;
		}
		if (r.type == TY_PERF_LOST && !ty_perf_lost(&r, &lost))
			l->out->lost += lost.count;
		if (r.type != TY_PERF_SAMPLE)
			continue;
		if (ty_perf_sample_parse(&r, &ev->attr, &p))
			l->out->damaged = true;
		else if (p.id.time >= from_ns)
			e = ty_sample_loader_sample(l, &ev->attr, &p, 0);
	}
	return e;
}

int ty_samples_of_trace(const struct ty_trace *t, const struct ty_sample_load_opts *o,
			struct ty_samples **out, struct ty_err *err)
{
	const struct ty_text head = ty_trace_section(t, TY_SEC_SAMPLING),
			     samples = ty_trace_section(t, TY_SEC_SAMPLES),
			     vdso = ty_trace_section(t, TY_SEC_VDSO);
	struct ty_perf *f = NULL;
	struct ty_err why = {0};
	char mode[16] = "";
	struct loader l;
	int e;

	*out = NULL;
	if (t->perf_samples)
		return ty_samples_of_perf(t->path, o, out, err);
	if (!ty_samples_recorded(t))
		return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET, "%s: it has no samples", t->path);
	e = ty_sample_loader_init(&l, o);
	if (!e)
		e = ty_perf_open_bytes(t->path, head.s, head.n, &f, &why);
	if (!e) {
		const char *arch = ty_perf_text(f, TY_PERF_F_ARCH);

		ty_flow_files_of(l.files, t);
		ty_flow_files_vdso(l.files, (struct ty_bytes){(const uint8_t *)vdso.s, vdso.n});
		l.given_kallsyms = ty_trace_section(t, TY_SEC_KALLSYMS);
		e = read_sampling(&l, f, &why);
		arch = arch ? arch : ty_perf_text(f, TY_PERF_F_ARCH);
		l.arm = arch && !strcmp(arch, "aarch64");
	}
	ty_key_value(ty_trace_section(t, TY_SEC_MACHINE).s, "mode", mode, sizeof(mode));
	if (!e)
		l.out->all_threads = !strcmp(mode, "all");
	e = e ? e : ty_sample_loader_ready(&l);
	if (!e && !f->events.n)
		e = ty_fail(&why, TY_EFORMAT, TY_NO_OFFSET, "%s: its samples have no event",
			    t->path);
	if (!e) {
		describe(l.out, &f->events.v[0]);
		e = read_samples(&l, &f->events.v[0], samples, t->kept_from_ns);
	}
	e = e ? e : ty_sample_loader_finish(&l);
	ty_perf_close(f);
	if (e && err)
		*err = why;
	return ty_sample_loader_done(&l, e, t->path, out, err);
}

/* All records of a perf.data file: first all others, then the samples. */
static int read_perf(struct loader *l, struct ty_perf *f, bool samples, struct ty_err *err)
{
	struct ty_perf_rec r;
	int e = 0;

	while (!e && (e = ty_perf_next(f, &r, err)) > 0) {
		const struct ty_perf_event *ev;
		struct ty_perf_sample p;
		struct ty_perf_id id;

		e = 0;
		if (stopped(l))
			return -TY_EINTR;
		if ((r.type == TY_PERF_SAMPLE) != samples)
			continue;
		if (!samples) {
			ty_perf_id(f, &r, &id);
			e = ty_sample_loader_side(l, &r, &id);
			continue;
		}
		ev = ty_perf_event_of(f, &r);
		if (!ev || !ty_perf_event_samples(ev))
			continue;
		if (ty_perf_sample_parse(&r, &ev->attr, &p))
			l->out->damaged = true;
		else if ((size_t)(ev - f->events.v) < TY_SAMPLE_EVENTS)
			e = ty_sample_loader_sample(l, &ev->attr, &p, (uint8_t)(ev - f->events.v));
	}
	return e;
}

/* Reads the machine and the files from the header of the file. */
static int perf_head(struct loader *l, const struct ty_perf *f)
{
	const char *host = ty_perf_text(f, TY_PERF_F_HOSTNAME),
		   *arch = ty_perf_text(f, TY_PERF_F_ARCH);
	struct ty_perf_build_id id;
	size_t pos = 0;
	int e = 0;

	ty_flow_files_local(l->files, ty_is_this_host(host), false);
	l->arm = arch && !strcmp(arch, "aarch64");
	while (!e && ty_perf_build_id_next(f, &pos, &id))
		e = ty_flow_perf_build_id(l->perf, id.name, id.id, id.n);
	return e;
}

int ty_samples_of_perf(const char *path, const struct ty_sample_load_opts *o,
		       struct ty_samples **out, struct ty_err *err)
{
	struct ty_perf *f = NULL;
	struct loader l;
	int e = ty_sample_loader_init(&l, o);
	unsigned best = 0;

	*out = NULL;
	e = e ? e : ty_perf_open(path, &f, err);
	e = e ? e : perf_head(&l, f);
	e = e ? e : read_perf(&l, f, false, err);
	if (!e && f->pipe)
		e = perf_head(&l, f);
	e = e ? e : ty_sample_loader_ready(&l);
	if (!e) {
		ty_perf_rewind(f);
		e = read_perf(&l, f, true, err);
	}
	if (!e && f->note && !o->quiet)
		ty_say("tarry: %s: %s\n", path, f->note);
	for (unsigned i = 0; !e && i < f->events.n && i < TY_SAMPLE_EVENTS; i++)
		if (l.count[i] > l.count[best])
			best = i;
	if (!e && f->events.n)
		describe(l.out, &f->events.v[best]);
	if (!e)
		l.out->all_threads = true;
	e = e ? e : ty_sample_loader_finish(&l);
	ty_perf_close(f);
	return ty_sample_loader_done(&l, e, path, out, err);
}
