/* SPDX-License-Identifier: MIT */
/*
 * Reads a perf.data file with tracepoints (perf record -e 'sched:*', perf trace record, perf sched
 * record), with Intel PT or with records of switches (perf record --switch-events) as a trace.
 * Samples of tracepoints are the events; their raw data has the format of ring page records. One
 * pass over the file sorts them (perf_queue.h) into ring pages of an unnamed file
 * (ring_page_writer.h); from there on it is a trace like any other.
 *
 * perf's own records of threads become events and a thread table: perf_thread_events.c.
 *
 * Format: perf_data.h; HEADER_TRACING_DATA: tools/perf/util/trace-event-read.c, the metadata of
 * trace.dat 6.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compare.h"
#include "perf_reading.h"
#include "checked_read.h"

#define ATTR_FREQ	 (1u << 10)
#define ATTR_USE_CLOCKID (1u << 25)
#define THREADS_BYTES	 (256u << 20)
#define IDS_MAX		 (4u << 20) /* losses of further ids have no CPU */
#define PROGRESS_EVERY	 (1u << 14) /* records */
#define HEAD_RECORDS	 65536u	    /* by then the file has described its AUX data */

static int read_formats(struct ty_trace *t, uint64_t off, uint64_t n, struct ty_err *err)
{
	struct ty_in in = ty_trace_in(t, off, off + n);
	char magic[TY_DAT_MAGIC_LEN], version[16];
	int r = -TY_EFORMAT;

	ty_in_get(&in, magic, sizeof(magic));
	ty_in_str(&in, version, sizeof(version));
	if (in.bad || memcmp(magic, TY_DAT_MAGIC, sizeof(magic)))
		return ty_trace_damaged(t, r, "event formats", off, err);
	t->big_endian = ty_in_uint(&in, 1);
	t->long_size = (unsigned)ty_in_uint(&in, 1);
	ty_in_uint(&in, 4); /* page size */
	if (!in.bad && t->big_endian)
		return ty_fail(err, TY_EUNSUPPORTED, off,
			       "%s: recorded on a big-endian machine, which tarry does not support "
			       "in perf.data files",
			       t->path);
	if (in.bad || (t->long_size != 4 && t->long_size != 8) ||
	    (r = ty_trace_header_info(t, &in)) || (r = ty_trace_ftrace_formats(t, &in)) ||
	    (r = ty_trace_event_formats(t, &in)) ||
	    (r = ty_trace_sized_text(t, &in, 4, &t->kallsyms)) ||
	    (r = ty_trace_sized_text(t, &in, 4, &t->printk)))
		return ty_trace_damaged(t, r, "event formats", off, err);
	/* Since 0.6; names as of perf's end, of little use. */
	if (strcmp(version, "0.5"))
		r = ty_trace_sized_text(t, &in, 8, &t->cmdlines);
	return r == -TY_ENOMEM ? ty_trace_damaged(t, r, "", off, err) : 0;
}

static int sample(struct ty_perf_reading *rd, const struct ty_perf_rec *r, struct ty_err *err)
{
	const uint64_t executed = TY_PERF_S_IP | TY_PERF_S_TID | TY_PERF_S_TIME;
	const struct ty_perf_event *e = ty_perf_event_of(rd->p, r);
	struct ty_perf_sample s;

	rd->t->perf_memory |= e && e->attr.sample_type & TY_PERF_S_DATA_SRC;
	rd->t->perf_samples |= e && !ty_perf_is_tracepoint(&e->attr) &&
			       (e->attr.sample_type & executed) == executed;
	if (!e || !ty_perf_is_tracepoint(&e->attr) || ty_perf_sample_parse(r, &e->attr, &s) ||
	    s.id.cpu >= TY_DAT_CPUS_MAX)
		return 0;
	if (s.id.cpu >= rd->cpus)
		rd->cpus = s.id.cpu + 1;
	if (!rd->first_ns || s.id.time < rd->first_ns)
		rd->first_ns = s.id.time;
	rd->idle_seen |= !s.id.tid;
	return ty_perf_queue_add(rd->queue, s.id.cpu, s.id.time, s.raw, s.raw_n, err);
}

static int lost(struct ty_perf_reading *rd, const struct ty_perf_rec *r,
		const struct ty_perf_id *id, struct ty_err *err)
{
	struct ty_perf_lost l;

	if (ty_perf_lost(r, &l) || !l.count)
		return 0;
	if (id->time) {
		rd->lost_placed[id->cpu] += l.count;
		if (r->type == TY_PERF_LOST) /* may include switches; otherwise samples only */
			rd->on[id->cpu] = -1;
		return ty_perf_queue_lost(rd->queue, id->cpu, id->time, l.count, err);
	}
	if (r->type == TY_PERF_LOST_SAMPLES && id->have & TY_PERF_S_ID && rd->at_end.n < IDS_MAX)
		return vec_push(&rd->at_end, (struct ty_perf_id_count){id->id, l.count})
			       ? ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory",
					 rd->t->path)
			       : 0;
	rd->lost_nowhere += l.count;
	return 0;
}

ORDER(by_id, struct ty_perf_id_cpu, compare(a->id, b->id))

/*
 * At its end, perf (since 6.1) writes the total loss of each event. What no LOST record stated was
 * lost after the last record of that CPU.
 */
static int lost_at_end(struct ty_perf_reading *rd, struct ty_err *err)
{
	uint64_t nowhere = 0, had = 0;
	int r = 0;

	vec_sort(&rd->ids, by_id);
	vec_each (e, &rd->at_end) {
		struct ty_perf_id_cpu key = {.id = e->id}, *i = NULL;

		if (rd->ids.n)
			i = bsearch(&key, rd->ids.v, rd->ids.n, sizeof(key), by_id);
		if (i && i->cpu >= 0 && i->cpu < rd->cpus)
			rd->counted[i->cpu] += e->count;
		else
			nowhere += e->count;
	}
	for (uint32_t cpu = 0; cpu < rd->cpus && !r; cpu++) {
		uint64_t all = rd->counted[cpu], lost_placed = rd->lost_placed[cpu];

		had += lost_placed;
		if (all > lost_placed)
			r = ty_perf_queue_lost(rd->queue, cpu, UINT64_MAX, all - lost_placed, err);
	}
	/* Of per-thread recordings only the sum can be compared. */
	if (nowhere > had)
		rd->lost_nowhere += nowhere - had;
	return r;
}

/* Threads and CPUs that the events were opened for; -1 means all threads of a CPU. */
static int id_index(struct ty_perf_reading *rd, const struct ty_perf_rec *r)
{
	struct ty_rd in = ty_rd_init(r->body, r->n, false);
	uint64_t n = ty_rd_u64(&in);

	for (; n && ty_rd_left(&in) >= 32; n--) {
		struct ty_perf_id_cpu i = {.id = ty_rd_u64(&in)};
		const struct ty_perf_event *e = ty_perf_event_find(rd->p, i.id);

		ty_rd_u64(&in); /* index */
		i.cpu = (int64_t)ty_rd_u64(&in);
		if ((int64_t)ty_rd_u64(&in) >= 0 && e &&
		    (rd->id[TY_PERF_KIND_SWITCH] ? ty_perf_has_switches(&e->attr)
						 : ty_perf_is_tracepoint(&e->attr)))
			rd->index_tids = true;
		rd->index = true;
		if (rd->ids.n < IDS_MAX && vec_push(&rd->ids, i))
			return -TY_ENOMEM;
	}
	return 0;
}

static int record(struct ty_perf_reading *rd, const struct ty_perf_rec *r, struct ty_err *err)
{
	const uint64_t whole = TY_PERF_S_TID | TY_PERF_S_TIME | TY_PERF_S_CPU;
	struct ty_perf_auxtrace_info info;
	struct ty_perf_id id;

	switch (r->type) {
	case TY_PERF_AUXTRACE_INFO:
		if (!ty_perf_auxtrace_info(r, &info)) {
			rd->t->perf_pt |= info.type == TY_PERF_AUXTRACE_INTEL_PT;
			rd->t->perf_memory |= info.type == TY_PERF_AUXTRACE_ARM_SPE;
		}
		return 0;
	case TY_PERF_SAMPLE: return sample(rd, r, err);
	case TY_PERF_THREAD_MAP:
	case TY_PERF_STAT_CONFIG:
	case TY_PERF_STAT:
	case TY_PERF_STAT_ROUND: return rd->t->counts_only ? ty_perf_rounds_add(rd, r, err) : 0;
	case TY_PERF_FINISHED_ROUND: return ty_perf_queue_round(rd->queue, err);
	case TY_PERF_ID_INDEX:
		return id_index(rd, r)
			       ? ty_fail(err, TY_ENOMEM, r->off, "%s: out of memory", rd->t->path)
			       : 0;
	case TY_PERF_COMM:
	case TY_PERF_FORK:
	case TY_PERF_EXIT:
	case TY_PERF_SWITCH:
	case TY_PERF_SWITCH_CPU_WIDE:
	case TY_PERF_LOST:
	case TY_PERF_LOST_SAMPLES: break;
	default: return 0;
	}
	ty_perf_id(rd->p, r, &id);
	if ((id.have & whole) != whole || id.cpu >= TY_DAT_CPUS_MAX)
		id.time = 0;
	if (r->type == TY_PERF_COMM)
		return ty_perf_made_comm(rd, r, &id, err);
	if (r->type == TY_PERF_FORK || r->type == TY_PERF_EXIT)
		return ty_perf_made_task(rd, r, &id, err);
	if (r->type == TY_PERF_SWITCH || r->type == TY_PERF_SWITCH_CPU_WIDE)
		return ty_perf_made_switch(rd, r, &id, err);
	return lost(rd, r, &id, err);
}

static void progress(const struct ty_perf_reading *rd)
{
	const struct ty_trace_private *v = rd->t->priv;
	uint64_t done, all;

	ty_perf_progress(rd->p, &done, &all);
	v->progress(v->progress_ctx, all ? (double)done / (double)all : 0);
}

static int read_records(struct ty_perf_reading *rd, struct ty_err *err)
{
	struct ty_trace *t = rd->t;
	unsigned n = 0;
	struct ty_perf_rec r;
	struct ty_err cut = {0};
	uint64_t late = 0;
	int e;

	ty_perf_rewind(rd->p);
	while ((e = ty_perf_next(rd->p, &r, &cut)) > 0) {
		e = record(rd, &r, err);
		if (e)
			return e;
		if (t->priv->progress && !(++n % PROGRESS_EVERY))
			progress(rd);
	}
	if (e && e != -TY_EFORMAT) {
		*err = cut;
		return e;
	}
	if (e || rd->p->note || rd->p->unfinished) {
		/* The rest is unknown. */
		t->truncated = t->unfinished = true;
		ty_trace_note(
			t, "%s",
			e ? cut.msg
			: rd->p->note
				? rd->p->note
				: "perf did not finish this file: its last events are missing");
	}
	e = lost_at_end(rd, err);
	e = e ? e : ty_perf_rounds_end(rd, err);
	e = e ? e : ty_perf_queue_finish(rd->queue, &late, err);
	if (late)
		ty_trace_note(t, "%" PRIu64 " events were out of order and count as lost", late);
	if (rd->lost_nowhere)
		ty_trace_note(t, "%" PRIu64 " events were lost at unknown times on unknown CPUs",
			      rd->lost_nowhere);
	return e;
}

/* Content besides events ----------------------------------------------------------------------- */

static int describe(struct ty_perf_reading *rd)
{
	const char *host = ty_perf_text(rd->p, TY_PERF_F_HOSTNAME),
		   *release = ty_perf_text(rd->p, TY_PERF_F_OSRELEASE),
		   *version = ty_perf_text(rd->p, TY_PERF_F_VERSION),
		   *arch = ty_perf_text(rd->p, TY_PERF_F_ARCH);
	struct ty_trace *t = rd->t;
	uint32_t online, available;
	char text[1024];
	struct ty_text threads;
	int r, n;

	t->cpu_count = rd->cpus;
	if (ty_perf_cpus(rd->p, &online, &available) && available > rd->cpus &&
	    available <= TY_DAT_CPUS_MAX)
		t->cpu_count = available;
	/* As uname -a. */
	n = snprintf(text, sizeof(text), "Linux %.255s %.255s %.255s", host ? host : "-",
		     release ? release : "-", arch ? arch : "");
	r = ty_trace_keep_bytes(t, text, (size_t)n, sizeof(text), &t->uname);
	n = snprintf(text, sizeof(text), "perf %.255s", version ? version : "");
	r = r ? r : ty_trace_keep_bytes(t, text, (size_t)n, sizeof(text), &t->recorder_version);
	t->own_only = rd->index ? rd->index_tids : !rd->idle_seen;
	if (r || !rd->threads.len)
		return r;
	r = rd->threads.failed;
	r = r ? r : ty_trace_keep_bytes(t, rd->threads.p, rd->threads.len, THREADS_BYTES, &threads);
	return r ? r : ty_trace_add_section(t, TY_SEC_THREADS, threads);
}

/*
 * True for a file whose switches make a timeline, with Intel PT or samples of what ran. The file's
 * start says what was traced. Memory samples are shown otherwise.
 */
static bool has_timeline(struct ty_perf *p)
{
	struct ty_perf_auxtrace_info info;
	struct ty_perf_rec r;
	bool switches = false, memory = false;

	vec_each (e, &p->events) {
		switches |= ty_perf_has_switches(&e->attr);
		memory |= e->attr.sample_type & TY_PERF_S_DATA_SRC &&
			  e->attr.sample_type & (TY_PERF_S_WEIGHT | TY_PERF_S_WEIGHT_STRUCT);
	}
	if (!switches)
		return false;
	ty_perf_rewind(p);
	for (unsigned i = 0; i < HEAD_RECORDS && ty_perf_next(p, &r, NULL) > 0; i++)
		if (r.type == TY_PERF_AUXTRACE_INFO && !ty_perf_auxtrace_info(&r, &info))
			return info.type == TY_PERF_AUXTRACE_INTEL_PT;
	return !memory;
}

/* perf stat record describes its counters before their first value. */
static bool of_perf_stat(struct ty_perf *p)
{
	struct ty_perf_rec r = {0};

	ty_perf_rewind(p);
	for (unsigned i = 0; i < HEAD_RECORDS && r.type != TY_PERF_SAMPLE &&
			     r.type != TY_PERF_STAT_CONFIG && ty_perf_next(p, &r, NULL) > 0;
	     i++)
		;
	return r.type == TY_PERF_STAT_CONFIG;
}

/* Checks the events' kinds: without tracepoints there is no trace; with a sampling period only some
 * events were recorded. */
static int check_events(struct ty_trace *t, struct ty_perf *p, bool *formats, struct ty_err *err)
{
	const uint64_t need = TY_PERF_S_TID | TY_PERF_S_TIME | TY_PERF_S_CPU;
	bool any = false, some = false;

	vec_each (e, &p->events) {
		if (!ty_perf_is_tracepoint(&e->attr))
			continue;
		any = true;
		some |= e->attr.sample_period != 1 || e->attr.flags & ATTR_FREQ;
		if ((e->attr.sample_type & need) != need)
			return ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
				       "%s: its tracepoints were recorded without thread, time or "
				       "CPU: record with `perf record -T --sample-cpu`",
				       t->path);
	}
	*formats = any;
	t->counts_only = !any && of_perf_stat(p);
	if (!any && !t->counts_only && !has_timeline(p))
		return ty_fail(
			err, TY_EUNSUPPORTED, TY_NO_OFFSET,
			"%s: this perf.data file has neither tracepoints nor context switches "
			"with CPU numbers (perf record -a --switch-events). `tarry report %s` "
			"lists what it has",
			t->path, t->path);
	if (some)
		ty_trace_note(t, "its tracepoints were sampled (perf record -c or -F): most events "
				 "are missing");
	return 0;
}

/* The clock of the time stamps, by its ftrace name. */
static const char *clock_name(const struct ty_perf_reading *rd)
{
	vec_each (e, &rd->p->events) {
		if (!(ty_perf_is_tracepoint(&e->attr) || ty_perf_has_switches(&e->attr)) ||
		    !(e->attr.flags & ATTR_USE_CLOCKID))
			continue;
		switch (e->attr.clockid) {
		case CLOCK_MONOTONIC: return "mono";
		case CLOCK_MONOTONIC_RAW: return "mono_raw";
		case CLOCK_BOOTTIME: return "boot";
		case CLOCK_TAI: return "tai";
		case CLOCK_REALTIME: return "realtime";
		default: return "";
		}
	}
	return rd->t->counts_only ? "" : "perf"; /* from perf stat's start */
}

static int read_all(struct ty_perf_reading *rd, struct ty_err *err)
{
	struct ty_trace_buffer top = {
		.name = "",
	};
	struct ty_page_sink sink = {0};
	struct ty_trace *t = rd->t;
	uint64_t off, n;
	bool formats;
	int r = check_events(t, rd->p, &formats, err);

	if (r)
		return r;
	top.clock = clock_name(rd);
	top.page_size = TY_PAGE_OUT_BYTES;
	t->long_size = 8;
	if (formats && !ty_perf_feature_place(rd->p, TY_PERF_F_TRACING_DATA, &off, &n))
		return ty_fail(err, TY_EFORMAT, TY_NO_OFFSET,
			       "%s: the file has no formats of its tracepoints", t->path);
	r = formats ? read_formats(t, off, n, err) : 0;
	if (!r && (ty_perf_kinds_add(rd) || vec_push(&t->buffers, top)))
		r = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", t->path);
	t->switches_only = rd->id[TY_PERF_KIND_SWITCH] && !t->counts_only;
	r = r ? r : ty_page_sink_init(&sink, t, err);
	if (!r && !(rd->queue = ty_perf_queue_new(&sink)))
		r = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", t->path);
	r = r ? r : read_records(rd, err);
	if (!r && (r = describe(rd)))
		r = ty_trace_damaged(t, r, "table of threads", 0, err);
	ty_perf_queue_free(rd->queue);
	ty_page_sink_fini(&sink);
	return r;
}

bool ty_trace_in_perf(const char *path)
{
	struct ty_perf *p = NULL;
	bool is = false;

	if (!ty_perf_open(path, &p, NULL))
		vec_each (e, &p->events)
			is |= ty_perf_is_tracepoint(&e->attr);
	if (p && !is)
		is = has_timeline(p);
	ty_perf_close(p);
	return is;
}

bool ty_trace_of_perf_stat(const char *path)
{
	struct ty_perf *p = NULL;
	const bool is = !ty_perf_open(path, &p, NULL) && of_perf_stat(p);

	ty_perf_close(p);
	return is;
}

int ty_trace_read_perf(struct ty_trace *t, struct ty_err *err)
{
	struct ty_perf_reading *rd = calloc(1, sizeof(*rd));
	int r;

	if (!rd)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", t->path);
	*rd = (struct ty_perf_reading){.t = t, .leader = -1, .ppid = -1, .fork_tid = -1};
	for (unsigned i = 0; i < TY_DAT_CPUS_MAX; i++)
		rd->on[i] = -1;
	ty_buf_init(&rd->threads, THREADS_BYTES);
	r = ty_perf_open(t->path, &rd->p, err);
	t->perf = true;
	t->perf_stepped = !r && ty_perf_stepped(rd->p);
	r = r ? r : read_all(rd, err);
	ty_perf_close(rd->p);
	ty_buf_fini(&rd->threads);
	ty_perf_rounds_free(rd->rounds);
	vec_fini(&rd->ids);
	vec_fini(&rd->at_end);
	free(rd);
	return r;
}
