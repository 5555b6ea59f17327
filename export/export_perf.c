/* SPDX-License-Identifier: MIT */
/*
 * See export_perf.h. Everything is written in time order, in rounds (FINISHED_ROUND), so that perf
 * needs memory for one round only. Events before the window are read as well, for the names of
 * threads.
 *
 * Formats: tools/perf/Documentation/perf.data-file-format.txt; HEADER_TRACING_DATA as written by
 * tools/perf/util/trace-event-info.c (the metadata of trace.dat 6 under version 0.6).
 */
#include "export_perf.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "window_filter.h"
#include "thread_names.h"
#include "export_sideband.h"
#include "hash_index.h"
#include "format_text.h"
#include "key_value.h"
#include "run_times.h"
#include "checked_read.h"
#include "section.h"
#include "tgid_map.h"

#define ROUND	  16384
#define TEXTS	  (1u << 30)
#define ID_BASE	  (UINT64_C(1) << 40) /* ids of tracepoints: beyond any that a kernel gave */
#define RUN_BYTES 40		      /* of ty_run_times_record */
#define TID_MAX	  4194304	      /* PID_MAX_LIMIT of include/linux/threads.h */
#define SAMPLE_TYPE                                                                                \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_RAW)

struct export
{
	struct ty_session *s;
	const struct ty_window *w;
	struct ty_perf_out *out;
	struct ty_perf_exported *done;
	struct ty_thread_names *comms;
	struct ty_tgid_map *tgids;
	uint32_t *told; /* by tid: hash of the name that perf has; 0: none */
	struct ty_buf rec;
	unsigned in_round;
	bool switches; /* perf's own records cover them */
	struct ty_run_times *runs;
	uint16_t run_id; /* of the event with run times; 0: none */
	uint16_t any;	 /* an event that is there: of records that are no samples */
	uint8_t seen[65536 / 8];
};

/* Thread, time and CPU in the order of a sample; other records have the id last. */
static void add_where(struct export *x, const struct ty_event *ev, int32_t tid)
{
	int32_t tgid = tid ? ty_tgid_map_get(x->tgids, tid) : 0;

	ty_buf_addle(&x->rec, (uint32_t)tgid, 4); /* -1: unknown */
	ty_buf_addle(&x->rec, (uint32_t)tid, 4);
	ty_buf_addle(&x->rec, ev->ts_ns, 8);
	ty_buf_addle(&x->rec, ev->cpu, 8);
}

static void put_with(struct export *x, uint32_t type, uint16_t misc)
{
	if (!x->rec.failed)
		ty_perf_out_rec(x->out, type, misc, x->rec.p, x->rec.len);
}

static void put(struct export *x, uint32_t type)
{
	put_with(x, type, type == PERF_RECORD_SAMPLE ? PERF_RECORD_MISC_KERNEL : 0);
}

static void pad(struct ty_buf *b)
{
	while (b->len % 8)
		ty_buf_addc(b, 0);
}

/* perf learns a name when it first matters, and when it has changed. */
static void tell_name(struct export *x, const struct ty_event *ev)
{
	const char *comm = ty_thread_names_get(x->comms, ev->tid);
	uint32_t h;

	if (ev->tid <= 0 || ev->tid > TID_MAX || !ty_thread_names_known(x->comms, ev->tid))
		return;
	h = ty_hash_bytes(comm, strlen(comm)) | 1;
	if (x->told[ev->tid] == h)
		return;
	x->told[ev->tid] = h;
	ty_buf_reset(&x->rec);
	ty_buf_addle(&x->rec, (uint32_t)ty_tgid_map_get(x->tgids, ev->tid), 4);
	ty_buf_addle(&x->rec, (uint32_t)ev->tid, 4);
	ty_buf_add(&x->rec, comm, strlen(comm) + 1);
	pad(&x->rec);
	add_where(x, ev, ev->tid);
	ty_buf_addle(&x->rec, ID_BASE + x->any, 8);
	put(x, PERF_RECORD_COMM);
}

static void put_lost(struct export *x, const struct ty_event *ev)
{
	/* perf knows no "some": one is the least it can be. */
	uint64_t n = ev->u.gap.count == UINT64_MAX ? 1 : ev->u.gap.count;

	ty_buf_reset(&x->rec);
	ty_buf_addle(&x->rec, ID_BASE + x->any, 8);
	ty_buf_addle(&x->rec, n, 8);
	add_where(x, ev, 0);
	ty_buf_addle(&x->rec, ID_BASE + x->any, 8);
	put(x, PERF_RECORD_LOST);
	x->done->lost += n;
}

/* With selected threads only their own switches are known. */
static void put_switch(struct export *x, const struct ty_event *ev)
{
	bool own = x->s->trace->own_only, out;
	struct ty_rd rd = ty_rd_init(ev->data, ev->size, false);
	int32_t prev, next;
	uint32_t state;

	ty_rd_bytes(&rd, 8); /* what all events have */
	prev = (int32_t)ty_rd_u32(&rd);
	next = (int32_t)ty_rd_u32(&rd);
	state = ty_rd_u32(&rd);
	if (rd.bad)
		return;
	out = !own || prev;
	ty_buf_reset(&x->rec);
	if (!own) {
		ty_buf_addle(&x->rec, next ? (uint32_t)ty_tgid_map_get(x->tgids, next) : 0, 4);
		ty_buf_addle(&x->rec, (uint32_t)next, 4);
	}
	add_where(x, ev, out ? prev : next);
	ty_buf_addle(&x->rec, ID_BASE + x->any, 8);
	put_with(x, own ? PERF_RECORD_SWITCH : PERF_RECORD_SWITCH_CPU_WIDE,
		 (uint16_t)((out ? PERF_RECORD_MISC_SWITCH_OUT : 0) |
			    (state ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0)));
	x->switches = true;
}

/* perf's own record of a thread, which a perf.data file gave as an event (format/trace_perf.c): a
 * record again. perf has its name already. */
static bool put_own(struct export *x, const struct ty_event *ev)
{
	bool fork = ev->kind == TY_EV_NEWTASK;
	const uint8_t *p = ev->data;

	if (!x->s->trace->perf || strcmp(ty_formats_system(x->s->formats, ev->id), "perf") != 0)
		return false;
	if (x->any && ev->kind == TY_EV_SWITCH)
		put_switch(x, ev);
	if (!x->any || (!fork && ev->kind != TY_EV_EXIT) || ev->size < (fork ? 24 : 16))
		return true;
	ty_buf_reset(&x->rec);
	/* pid, ppid, tid, ptid; an event has tid, pid, ptid, ppid. */
	ty_buf_add(&x->rec, p + 12, 4);
	ty_buf_add(&x->rec, fork ? p + 20 : p + 12, 4);
	ty_buf_add(&x->rec, p + 8, 4);
	ty_buf_add(&x->rec, fork ? p + 16 : p + 8, 4);
	ty_buf_addle(&x->rec, ev->ts_ns, 8);
	add_where(x, ev, ev->tid);
	ty_buf_addle(&x->rec, ID_BASE + x->any, 8);
	put(x, fork ? PERF_RECORD_FORK : PERF_RECORD_EXIT);
	return true;
}

static void put_event(struct export *x, const struct ty_event *ev)
{
	if (put_own(x, ev))
		return;
	x->any = ev->id;
	x->seen[ev->id / 8] |= (uint8_t)(1u << ev->id % 8);
	tell_name(x, ev);
	ty_buf_reset(&x->rec);
	ty_buf_addle(&x->rec, ID_BASE + ev->id, 8);
	ty_buf_addle(&x->rec, 0,
		     8); /* the address is not recorded, but perf script needs the field */
	add_where(x, ev, ev->tid);
	ty_buf_addle(&x->rec, (ev->size + 4 + 7) / 8 * 8 - 4, 4);
	ty_buf_add(&x->rec, ev->data, ev->size);
	pad(&x->rec);
	put(x, PERF_RECORD_SAMPLE);
	x->done->events++;
	if (++x->in_round >= ROUND) {
		x->in_round = 0;
		ty_perf_out_rec(x->out, TY_PERF_FINISHED_ROUND, 0, NULL, 0);
	}
}

/* Before the switch that ended the run. */
static void put_run(struct export *x, const struct ty_event *ev, uint64_t run_ns)
{
	tell_name(x, ev);
	ty_buf_reset(&x->rec);
	ty_buf_addle(&x->rec, ID_BASE + x->run_id, 8);
	ty_buf_addle(&x->rec, 0, 8);
	add_where(x, ev, ev->tid);
	ty_buf_addle(&x->rec, RUN_BYTES + 4, 4);
	ty_run_times_record(x->run_id, ev, ty_thread_names_get(x->comms, ev->tid), run_ns, &x->rec);
	pad(&x->rec);
	put(x, PERF_RECORD_SAMPLE);
	x->seen[x->run_id / 8] |= (uint8_t)(1u << x->run_id % 8);
}

/* The recording's own event is better; of perf's files a switch is no event. */
static void choose_run_id(struct export *x)
{
	bool *taken = calloc(65536, sizeof(*taken));
	bool own = x->s->trace->perf;
	const char *name;
	size_t n;
	uint16_t id;

	for (size_t i = 0; taken && i < x->s->trace->formats.n; i++) {
		if (ty_ft_head(x->s->trace->formats.v[i].text.s, &name, &n, &id))
			continue;
		taken[id] = true;
		own |= n == strlen("sched_stat_runtime") && !memcmp(name, "sched_stat_runtime", n);
	}
	x->run_id = taken && !own ? ty_run_times_id(taken) : 0;
	free(taken);
}

static bool chosen(const struct export *x, const struct ty_event *ev)
{
	if (!ty_window_has_cpu(x->w, ev->cpu))
		return false;
	if (ev->kind == TY_EV_GAP)
		return x->any && ty_window_has_gap(x->w, ev);
	return ev->ts_ns >= x->w->from_ns && ev->ts_ns < x->w->to_ns &&
	       ty_window_has_tid(x->w, ev->tid) &&
	       (!x->w->comms_n || ty_window_has_comm(x->w, ty_thread_names_get(x->comms, ev->tid)));
}

static int put_events(struct export *x, struct ty_export_sideband *side, struct ty_err *err)
{
	struct ty_event ev;
	uint64_t last = 0, run_ns;
	int r;

	while ((r = ty_events_next(x->s->events, &ev, err)) > 0) {
		last = ev.ts_ns;
		if (ev.ts_ns >= x->w->to_ns && ty_events_past(x->s->events, x->w->to_ns))
			break;
		r = ty_export_sideband_until(
			side, ev.ts_ns < x->w->to_ns ? ev.ts_ns : x->w->to_ns - 1, err);
		if (r)
			return r;
		if (ty_thread_names_feed(x->comms, &ev) || ty_tgid_map_feed(x->tgids, &ev))
			return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET,
				       "out of memory for thread names");
		run_ns = ty_run_times_feed(x->runs, &ev, x->w->from_ns);
		if (!chosen(x, &ev))
			continue;
		if (run_ns && x->run_id)
			put_run(x, &ev, run_ns);
		if (ev.kind == TY_EV_GAP)
			put_lost(x, &ev);
		else
			put_event(x, &ev);
		if (x->rec.failed)
			return ty_fail(err, -x->rec.failed, TY_NO_OFFSET,
				       "%s: cannot write the event at %llu ns: %s",
				       x->s->trace->path, (unsigned long long)ev.ts_ns,
				       ty_strerror(x->rec.failed));
	}
	if (!r && last && x->w->from_ns > last)
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "%s: --from is after the end of the recording", x->s->trace->path);
	return r < 0 ? r : ty_export_sideband_until(side, x->w->to_ns - 1, err);
}

/* The tracepoints that occurred, as events. */
static void put_attrs(struct export *x)
{
	for (uint32_t id = 0; id < 65536; id++) {
		struct perf_event_attr attr = {
			.type = PERF_TYPE_TRACEPOINT,
			.size = PERF_ATTR_SIZE_VER5,
			.config = id,
			.sample_period = 1,
			.sample_type = SAMPLE_TYPE,
			.sample_id_all = 1,
			.context_switch = x->switches,
		};
		uint64_t sample_id = ID_BASE + id;
		char name[256];

		if (!(x->seen[id / 8] >> id % 8 & 1))
			continue;
		if (x->run_id && id == x->run_id)
			snprintf(name, sizeof(name), "sched:sched_stat_runtime");
		else
			snprintf(name, sizeof(name), "%s:%s",
				 ty_formats_system(x->s->formats, (uint16_t)id),
				 ty_formats_name(x->s->formats, (uint16_t)id));
		ty_perf_out_event(x->out, &attr, PERF_ATTR_SIZE_VER5, &sample_id, 1, name);
	}
}

static void add_text(struct ty_buf *b, struct ty_text text, unsigned width)
{
	ty_buf_addle(b, text.n, width);
	ty_buf_add(b, text.s, text.n);
}

static bool is_seen(const struct export *x, const struct ty_event_format *f)
{
	const char *name;
	size_t n;
	uint16_t id;

	return !ty_ft_head(f->text.s, &name, &n, &id) && x->seen[id / 8] >> id % 8 & 1;
}

/* The formats of what occurred: one that perf cannot read is no trouble where nothing needs it. */
static int put_formats(const struct export *x, struct ty_err *err)
{
	static const uint8_t magic[] = {23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g'};
	const struct ty_trace *t = x->s->trace;
	uint32_t events = 0, ftrace = 0;
	struct ty_buf b, run = {0};
	int r = 0;

	ty_buf_init(&b, TEXTS);
	ty_buf_add(&b, magic, sizeof(magic));
	ty_buf_add(&b, "0.6", 4);
	ty_buf_addc(&b, 0); /* little endian */
	ty_buf_addc(&b, (char)t->long_size);
	ty_buf_addle(&b, t->buffers.n ? t->buffers.v[0].page_size : 4096, 4);
	ty_buf_add(&b, "header_page", 12);
	add_text(&b, t->header_page, 8);
	ty_buf_add(&b, "header_event", 13);
	add_text(&b, t->header_event, 8);
	vec_each (f, &t->formats) {
		ftrace += !strcmp(f->system, "ftrace") && is_seen(x, f);
		events += strcmp(f->system, "ftrace") && is_seen(x, f);
	}
	ty_buf_addle(&b, ftrace, 4);
	vec_each (f, &t->formats)
		if (!strcmp(f->system, "ftrace") && is_seen(x, f))
			add_text(&b, f->text, 8);
	/* perf accepts a system more than once: each event is written with its own. */
	if (x->run_id && x->seen[x->run_id / 8] >> x->run_id % 8 & 1) {
		ty_buf_init(&run, 4096);
		ty_run_times_format(x->run_id, &run);
		events++;
	}
	ty_buf_addle(&b, events, 4);
	if (run.len) {
		ty_buf_add(&b, "sched", strlen("sched") + 1);
		ty_buf_addle(&b, 1, 4);
		add_text(&b, (struct ty_text){run.p, run.len}, 8);
	}
	ty_buf_fini(&run);
	vec_each (f, &t->formats) {
		if (!strcmp(f->system, "ftrace") || !is_seen(x, f))
			continue;
		ty_buf_add(&b, f->system, strlen(f->system) + 1);
		ty_buf_addle(&b, 1, 4);
		add_text(&b, f->text, 8);
	}
	add_text(&b, t->kallsyms, 4);
	add_text(&b, t->printk, 4);
	add_text(&b, t->cmdlines, 8);
	if (b.failed)
		r = ty_fail(err, -b.failed, TY_NO_OFFSET, "%s: cannot export the event formats: %s",
			    t->path, ty_strerror(b.failed));
	else
		ty_perf_out_feature(x->out, TY_PERF_F_TRACING_DATA, b.p, b.len);
	ty_buf_fini(&b);
	return r;
}

/* A feature that is one string, from tarry's own description of the machine. */
static void put_fact(struct export *x, const char *key, unsigned feature)
{
	char value[256];
	struct ty_buf b;

	if (!ty_key_value(ty_trace_section(x->s->trace, TY_SEC_MACHINE).s, key, value,
			  sizeof(value)))
		return;
	ty_buf_init(&b, 1024);
	ty_perf_out_string(&b, value);
	if (!b.failed)
		ty_perf_out_feature(x->out, feature, b.p, b.len);
	ty_buf_fini(&b);
}

/* The recorder, in the form of perf's own command line: it marks single-stepping, which looks like
 * Intel PT otherwise, for perf's users and for tarry itself (ty_perf_stepped). */
static void put_command(struct export *x)
{
	struct ty_text machine = ty_trace_section(x->s->trace, TY_SEC_MACHINE);
	char how[32], option[48];
	bool flow = ty_key_value(machine.s, "flow", how, sizeof(how));
	struct ty_buf b;

	if (!machine.n) /* another program */
		return;
	ty_buf_init(&b, 4096);
	ty_buf_addle(&b, flow ? 3 : 2, 4);
	ty_perf_out_string(&b, "tarry");
	ty_perf_out_string(&b, "record");
	if (flow) {
		snprintf(option, sizeof(option), "--flow=%s", how);
		ty_perf_out_string(&b, option);
	}
	if (!b.failed)
		ty_perf_out_feature(x->out, TY_PERF_F_CMDLINE, b.p, b.len);
	ty_buf_fini(&b);
}

static void put_machine(struct export *x)
{
	const struct ty_trace *t = x->s->trace;
	struct ty_buf b;

	put_fact(x, "host", TY_PERF_F_HOSTNAME);
	put_fact(x, "kernel", TY_PERF_F_OSRELEASE);
	put_fact(x, "arch", TY_PERF_F_ARCH);
	put_fact(x, "cpu_model", TY_PERF_F_CPUDESC);
	put_command(x);
	if (!t->cpu_count)
		return;
	ty_buf_init(&b, 64);
	ty_buf_addle(&b, t->cpu_count, 4);
	ty_buf_addle(&b, t->cpu_count, 4);
	if (!b.failed)
		ty_perf_out_feature(x->out, TY_PERF_F_NRCPUS, b.p, b.len);
	ty_buf_fini(&b);
}

static int all(struct export *x, struct ty_err *err)
{
	const struct ty_trace *t = x->s->trace;
	struct ty_export_sideband *side;
	bool any;
	int r;

	put_machine(x);
	r = ty_export_sideband_new(t, x->out, x->w, x->comms, &side, err);
	if (r)
		return r;
	r = put_events(x, side, err);
	any = side || x->done->events;
	x->done->aux_bytes = ty_export_sideband_aux(side);
	x->done->uncut = ty_export_sideband_uncut(side);
	ty_export_sideband_free(side);
	if (r)
		return r;
	if (!any)
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET, "%s: no event in the selected range",
			       t->path);
	put_attrs(x);
	r = x->done->events ? put_formats(x, err) : 0;
	return r ? r : ty_perf_out_finish(x->out, err);
}

int ty_export_perf(struct ty_session *s, const struct ty_window *w, const char *path,
		   struct ty_perf_exported *done, struct ty_err *err)
{
	const struct ty_trace *t = s->trace;
	struct ty_text threads = ty_trace_section(t, TY_SEC_THREADS);
	struct export *x;
	int r;

	*done = (struct ty_perf_exported){.images = ty_trace_section_bytes(t, TY_SEC_CODE) != 0};
	if (t->big_endian)
		return ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
			       "%s comes from a big-endian machine, for which tarry cannot write "
			       "perf.data files",
			       t->path);
	x = calloc(1, sizeof(*x));
	if (!x)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", t->path);
	*x = (struct export){.s = s, .w = w, .done = done};
	ty_buf_init(&x->rec, UINT16_MAX);
	x->comms = ty_thread_names_new(t->cmdlines.s, threads.s);
	x->tgids = ty_tgid_map_new(threads.s);
	x->told = calloc(TID_MAX + 1, sizeof(*x->told));
	x->runs = ty_run_times_new();
	choose_run_id(x);
	if (!x->comms || !x->tgids || !x->told || !x->runs)
		r = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", t->path);
	else
		r = ty_perf_out_new(path, &x->out, err);
	r = r ? r : all(x, err);
	ty_perf_out_free(x->out);
	ty_thread_names_free(x->comms);
	ty_tgid_map_free(x->tgids);
	ty_buf_fini(&x->rec);
	free(x->told);
	ty_run_times_free(x->runs);
	free(x);
	return r;
}
