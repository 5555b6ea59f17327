/* SPDX-License-Identifier: MIT */
/*
 * A perf.data file with tracepoints (perf record -e 'sched:*', perf trace record, perf sched
 * record) or with Intel PT as a trace: samples of tracepoints are the events, their raw data is
 * what a ring page holds, too. One pass over the file puts them into ring pages of a nameless file
 * (page_out.h), in order (perf_queue.h); from there on nothing is different from other traces.
 *
 * COMM, FORK, EXIT and SWITCH are events "perf:comm", "perf:fork", "perf:exit", "perf:switch",
 * where no tracepoint tells the same; those that perf made up at its start, of what was there, are
 * a table of threads. A SWITCH does not tell why a thread leaves the CPU, unless it was preempted.
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
#include "field_text.h"
#include "perf_data.h"
#include "perf_queue.h"
#include "rd.h"
#include "trace_file.h"

#define TRACEPOINT	 2u /* PERF_TYPE_TRACEPOINT */
#define ATTR_FREQ	 (1u << 10)
#define ATTR_USE_CLOCKID (1u << 25)
#define THREADS_BYTES	 (256u << 20)
#define IDS_MAX		 (4u << 20) /* what else is lost is lost nowhere */
#define COMM_BYTES	 16u
#define TELL_EVERY	 (1u << 14) /* records */
#define HEAD_RECORDS	 65536u	    /* before which a file tells what its AUX data is */
#define CLONE_THREAD	 0x10000u
#define COMMON_FIELDS                                                                              \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define HEAD_FIELDS                                                                                \
	COMMON_FIELDS "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"                        \
		      "\tfield:pid_t tgid;\toffset:12;\tsize:4;\tsigned:1;\n"

/* perf's own records of threads, as events: what tells the same, and the format. */
enum { COMM, FORK, EXIT, SWITCH, KINDS };
static const struct {
	const char *system, *same, *format;
} kinds[KINDS] = {
	{"task", "task_rename",
	 "name: comm\nID: %u\n" HEAD_FIELDS "\tfield:char comm[16];\toffset:16;\tsize:16;\t"
	 "signed:0;\n\tfield:int exec;\toffset:32;\tsize:4;\tsigned:1;\n\n"
	 "print fmt: \"pid=%%d tgid=%%d comm=%%s exec=%%d\", REC->pid, REC->tgid, REC->comm, "
	 "REC->exec\n"},
	{"task", "task_newtask",
	 "name: fork\nID: %u\n" HEAD_FIELDS
	 "\tfield:pid_t parent_pid;\toffset:16;\tsize:4;\tsigned:1;\n"
	 "\tfield:pid_t parent_tgid;\toffset:20;\tsize:4;\tsigned:1;\n"
	 "\tfield:unsigned int clone_thread;\toffset:24;\tsize:4;\tsigned:0;\n\n"
	 "print fmt: \"pid=%%d tgid=%%d parent_pid=%%d parent_tgid=%%d\", REC->pid, REC->tgid, "
	 "REC->parent_pid, REC->parent_tgid\n"},
	{"sched", "sched_process_exit",
	 "name: exit\nID: %u\n" HEAD_FIELDS "\n"
	 "print fmt: \"pid=%%d tgid=%%d\", REC->pid, REC->tgid\n"},
	{"sched", "sched_switch",
	 "name: switch\nID: %u\n" COMMON_FIELDS
	 "\tfield:pid_t prev_pid;\toffset:8;\tsize:4;\tsigned:1;\n"
	 "\tfield:pid_t next_pid;\toffset:12;\tsize:4;\tsigned:1;\n"
	 "\tfield:unsigned int prev_state;\toffset:16;\tsize:4;\tsigned:0;\n\n"
	 "print fmt: \"prev_pid=%%d%%s next_pid=%%d\", REC->prev_pid, REC->prev_state ? "
	 "\" preempted\" : \"\", REC->next_pid\n"},
};
#define PREEMPTED 0x100u /* of prev_state, as the kernel's own event has it; 0: not told */

struct id_cpu {
	uint64_t id;
	int64_t cpu; /* -1: not of one CPU */
};
struct id_count {
	uint64_t id, count;
};

struct reading {
	struct ty_trace *t;
	struct ty_perf *p;
	struct ty_perf_queue *queue;
	uint16_t id[KINDS];    /* of the events made here; 0: none */
	struct ty_buf threads; /* the section's lines */
	int32_t leader, ppid;  /* of the process that the table is at */
	int32_t fork_tid, fork_ppid;
	uint64_t first_ns;
	uint32_t cpus;
	bool idle_seen;			   /* an event of an idle CPU: of the whole machine then */
	bool index, index_tids;		   /* ID_INDEX: there, and it names threads */
	VEC(struct id_cpu) ids;		   /* of ID_INDEX */
	VEC(struct id_count) at_end;	   /* what perf counted as lost when it ended, by event */
	uint64_t told[TY_DAT_CPUS_MAX];	   /* lost events that have a place, by CPU */
	uint64_t counted[TY_DAT_CPUS_MAX]; /* all lost events, as perf says */
	uint64_t lost_nowhere;		   /* that have none */
	int32_t on[TY_DAT_CPUS_MAX];	   /* who is on a CPU, by SWITCH records; -1: not known */
};

static bool is_tracepoint(const struct ty_perf_attr *a)
{
	return a->type == TRACEPOINT && a->sample_type & TY_PERF_S_RAW;
}

/* Does it tell of switches in records of their own? */
static bool has_switches(const struct ty_perf_attr *a)
{
	const uint64_t need = TY_PERF_S_TID | TY_PERF_S_TIME | TY_PERF_S_CPU;

	return a->flags & TY_PERF_ATTR_CTX_SWITCH && a->flags & TY_PERF_ATTR_SAMPLE_ID_ALL &&
	       (a->sample_type & need) == need;
}

/* formats ------------------------------------------------------------------------------------- */

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
			       "%s: its events are of a big-endian machine, which tarry does not "
			       "read from perf.data",
			       t->path);
	if (in.bad || (t->long_size != 4 && t->long_size != 8) ||
	    (r = ty_trace_header_info(t, &in)) || (r = ty_trace_ftrace_formats(t, &in)) ||
	    (r = ty_trace_event_formats(t, &in)) ||
	    (r = ty_trace_sized_text(t, &in, 4, &t->kallsyms)) ||
	    (r = ty_trace_sized_text(t, &in, 4, &t->printk)))
		return ty_trace_damaged(t, r, "event formats", off, err);
	/* Since 0.6; it is of perf's end and of little use then. */
	if (strcmp(version, "0.5"))
		r = ty_trace_sized_text(t, &in, 8, &t->cmdlines);
	return r == -TY_ENOMEM ? ty_trace_damaged(t, r, "", off, err) : 0;
}

/* "name: NAME" and "ID: N" of a format text. */
static bool format_is(const char *text, const char *name, unsigned *id)
{
	const char *n = strstr(text, "name: "), *i = strstr(text, "ID: ");
	size_t len = strlen(name);

	*id = i ? (unsigned)strtoul(i + 4, NULL, 10) : 0;
	return n && !strncmp(n + 6, name, len) && n[6 + len] == '\n';
}

static int keep(struct ty_trace *t, const char *s, size_t n, struct ty_text *out)
{
	struct ty_in in = {.fd = -1, .mem = (const uint8_t *)s, .end = n};

	return ty_trace_keep(t, &in, n, THREADS_BYTES, out);
}

/* Formats of the events made here, under ids that the file does not use. */
static int add_kinds(struct reading *rd)
{
	uint8_t used[65536 / 8] = {1};
	bool told[KINDS] = {[SWITCH] = true};
	uint32_t next = 65535;
	unsigned id;

	vec_each (e, &rd->p->events)
		told[SWITCH] &= !has_switches(&e->attr);
	vec_each (f, &rd->t->formats) {
		format_is(f->text.s, "", &id);
		if (id < 65536)
			used[id / 8] |= (uint8_t)(1u << id % 8);
		for (unsigned k = 0; k < KINDS; k++)
			if (!strcmp(f->system, kinds[k].system) &&
			    format_is(f->text.s, kinds[k].same, &id))
				vec_each (e, &rd->p->events)
					told[k] |= is_tracepoint(&e->attr) && e->attr.config == id;
	}
	for (unsigned k = 0; k < KINDS; k++) {
		struct ty_event_format f = {.system = "perf"};
		char text[2048];
		int n, r;

		if (told[k])
			continue;
		while (next && used[next / 8] >> next % 8 & 1)
			next--;
		if (!next)
			return 0;
		rd->id[k] = (uint16_t)next--;
		n = snprintf(text, sizeof(text), kinds[k].format, rd->id[k]);
		r = keep(rd->t, text, (size_t)n, &f.text);
		if (r || vec_push(&rd->t->formats, f))
			return r ? r : -TY_ENOMEM;
	}
	return 0;
}

/* threads ------------------------------------------------------------------------------------- */

static void le32(uint8_t *p, int32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		p[i] = (uint8_t)((uint32_t)v >> 8 * i);
}

/* An event made of a record: its common fields, two ids, and what follows them. */
static int put(struct reading *rd, unsigned kind, const struct ty_perf_id *id, uint8_t *e,
	       uint32_t n, int32_t a, int32_t b, struct ty_err *err)
{
	e[0] = (uint8_t)rd->id[kind];
	e[1] = (uint8_t)(rd->id[kind] >> 8);
	e[2] = e[3] = 0;
	le32(e + 4, id->tid);
	le32(e + 8, a);
	le32(e + 12, b);
	return ty_perf_queue_add(rd->queue, id->cpu, id->time, e, n, err);
}

/* A line of the table: what perf found when it began. */
static void add_thread(struct reading *rd, const struct ty_perf_comm *c)
{
	struct ty_buf *b = &rd->threads;

	if (c->tid <= 0)
		return;
	if (c->tid == c->pid) {
		rd->leader = c->pid;
		rd->ppid = rd->fork_tid == c->tid ? rd->fork_ppid : -1;
	}
	ty_buf_addf(b, "%d\t%d\t", c->tid, c->pid);
	if (rd->leader == c->pid && rd->ppid >= 0)
		ty_buf_addf(b, "%d", rd->ppid);
	else
		ty_buf_addc(b, '-');
	ty_buf_adds(b, "\t-\t-\t-\t-\t-\t-\t-\t-\t-\t");
	ty_escape_field(b, c->comm, strnlen(c->comm, COMM_BYTES));
	ty_buf_addc(b, '\n');
}

static int comm(struct reading *rd, const struct ty_perf_rec *r, const struct ty_perf_id *id,
		struct ty_err *err)
{
	struct ty_perf_comm c;
	uint8_t e[36] = {0};

	if (ty_perf_comm(r, &c))
		return 0;
	if (!id->time)
		add_thread(rd, &c);
	if (!id->time || !rd->id[COMM])
		return 0;
	memcpy(e + 16, c.comm, strnlen(c.comm, COMM_BYTES - 1));
	le32(e + 32, c.exec);
	return put(rd, COMM, id, e, sizeof(e), c.tid, c.pid, err);
}

static int fork_or_exit(struct reading *rd, const struct ty_perf_rec *r,
			const struct ty_perf_id *id, struct ty_err *err)
{
	bool fork = r->type == TY_PERF_FORK;
	struct ty_perf_task t;
	uint8_t e[28];

	if (ty_perf_task(r, &t))
		return 0;
	if (!id->time && fork) {
		rd->fork_tid = t.tid;
		rd->fork_ppid = t.ppid;
	}
	if (!id->time || !rd->id[fork ? FORK : EXIT])
		return 0;
	if (!fork)
		return put(rd, EXIT, id, e, 16, t.tid, t.pid, err);
	le32(e + 16, t.ptid);
	le32(e + 20, t.ppid);
	le32(e + 24, t.pid == t.ppid ? CLONE_THREAD : 0);
	return put(rd, FORK, id, e, sizeof(e), t.tid, t.pid, err);
}

/*
 * Records of a whole CPU name both threads as one is left, and again as the next one is there: the
 * first is enough, unless it was lost. Who leaves for good has no number any more: it is the one
 * that came last, and -1 (nobody knows) where records were lost since. Those of one thread tell
 * when it leaves and comes; of whom for, or of whom from, they do not.
 */
static int switched(struct reading *rd, const struct ty_perf_rec *r, const struct ty_perf_id *id,
		    struct ty_err *err)
{
	struct ty_perf_switch s;
	struct ty_perf_id who = *id;
	uint8_t e[20] = {0};
	int32_t was, prev, next;

	if (ty_perf_switch(r, &s) || !id->time || !rd->id[SWITCH])
		return 0;
	was = rd->on[id->cpu];
	if (s.out) {
		prev = who.tid >= 0 ? who.tid : was;
		next = s.has_other ? s.other_tid : 0;
		who.tid = prev;
	} else {
		prev = s.has_other ? s.other_tid : 0;
		next = who.tid;
		who.tid = s.has_other ? prev : next;
	}
	rd->on[id->cpu] = next;
	/* Told already, or it tells nothing. */
	if (s.has_other ? !s.out && next == was : who.tid < 0)
		return 0;
	if (!rd->first_ns || id->time < rd->first_ns)
		rd->first_ns = id->time;
	if (id->cpu >= rd->cpus)
		rd->cpus = id->cpu + 1;
	rd->idle_seen |= s.has_other;
	le32(e + 16, s.preempt ? PREEMPTED : 0);
	return put(rd, SWITCH, &who, e, sizeof(e), prev, next, err);
}

/* records ------------------------------------------------------------------------------------- */

static int sample(struct reading *rd, const struct ty_perf_rec *r, struct ty_err *err)
{
	const struct ty_perf_event *e = ty_perf_event_of(rd->p, r);
	struct ty_perf_sample s;

	rd->t->perf_memory |= e && e->attr.sample_type & TY_PERF_S_DATA_SRC;
	if (!e || !is_tracepoint(&e->attr) || ty_perf_sample_parse(r, &e->attr, &s) ||
	    s.id.cpu >= TY_DAT_CPUS_MAX)
		return 0;
	if (s.id.cpu >= rd->cpus)
		rd->cpus = s.id.cpu + 1;
	if (!rd->first_ns || s.id.time < rd->first_ns)
		rd->first_ns = s.id.time;
	rd->idle_seen |= !s.id.tid;
	return ty_perf_queue_add(rd->queue, s.id.cpu, s.id.time, s.raw, s.raw_n, err);
}

static int lost(struct reading *rd, const struct ty_perf_rec *r, const struct ty_perf_id *id,
		struct ty_err *err)
{
	struct ty_perf_lost l;

	if (ty_perf_lost(r, &l) || !l.count)
		return 0;
	if (id->time) {
		rd->told[id->cpu] += l.count;
		if (r->type == TY_PERF_LOST) /* switches may be among them; else samples alone */
			rd->on[id->cpu] = -1;
		return ty_perf_queue_lost(rd->queue, id->cpu, id->time, l.count, err);
	}
	if (r->type == TY_PERF_LOST_SAMPLES && id->have & TY_PERF_S_ID && rd->at_end.n < IDS_MAX)
		return vec_push(&rd->at_end, (struct id_count){id->id, l.count})
			       ? ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory",
					 rd->t->path)
			       : 0;
	rd->lost_nowhere += l.count;
	return 0;
}

static int by_id(const void *a, const void *b)
{
	const struct id_cpu *x = a, *y = b;

	return compare(x->id, y->id);
}

/*
 * When it ends, perf (since 6.1) writes how many were lost in all, event by event. What no LOST
 * record told was lost behind the last record of that CPU.
 */
static int lost_at_end(struct reading *rd, struct ty_err *err)
{
	uint64_t nowhere = 0, had = 0;
	int r = 0;

	if (rd->ids.n)
		qsort(rd->ids.v, rd->ids.n, sizeof(*rd->ids.v), by_id);
	vec_each (e, &rd->at_end) {
		struct id_cpu key = {.id = e->id}, *i = NULL;

		if (rd->ids.n)
			i = bsearch(&key, rd->ids.v, rd->ids.n, sizeof(key), by_id);
		if (i && i->cpu >= 0 && i->cpu < rd->cpus)
			rd->counted[i->cpu] += e->count;
		else
			nowhere += e->count;
	}
	for (uint32_t cpu = 0; cpu < rd->cpus && !r; cpu++) {
		uint64_t all = rd->counted[cpu], told = rd->told[cpu];

		had += told;
		if (all > told)
			r = ty_perf_queue_lost(rd->queue, cpu, UINT64_MAX, all - told, err);
	}
	/* Of recordings by thread only the sum can be compared. */
	if (nowhere > had)
		rd->lost_nowhere += nowhere - had;
	return r;
}

/* Which threads and CPUs the events were opened for: -1 is all threads of a CPU. */
static int id_index(struct reading *rd, const struct ty_perf_rec *r)
{
	struct ty_rd in = ty_rd_init(r->body, r->n, false);
	uint64_t n = ty_rd_u64(&in);

	for (; n && ty_rd_left(&in) >= 32; n--) {
		struct id_cpu i = {.id = ty_rd_u64(&in)};
		const struct ty_perf_event *e = ty_perf_event_find(rd->p, i.id);

		ty_rd_u64(&in); /* index */
		i.cpu = (int64_t)ty_rd_u64(&in);
		if ((int64_t)ty_rd_u64(&in) >= 0 && e &&
		    (rd->id[SWITCH] ? has_switches(&e->attr) : is_tracepoint(&e->attr)))
			rd->index_tids = true;
		rd->index = true;
		if (rd->ids.n < IDS_MAX && vec_push(&rd->ids, i))
			return -TY_ENOMEM;
	}
	return 0;
}

static int record(struct reading *rd, const struct ty_perf_rec *r, struct ty_err *err)
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
		return comm(rd, r, &id, err);
	if (r->type == TY_PERF_FORK || r->type == TY_PERF_EXIT)
		return fork_or_exit(rd, r, &id, err);
	if (r->type == TY_PERF_SWITCH || r->type == TY_PERF_SWITCH_CPU_WIDE)
		return switched(rd, r, &id, err);
	return lost(rd, r, &id, err);
}

static void tell(const struct reading *rd)
{
	const struct ty_trace_private *v = rd->t->priv;
	uint64_t done, all;

	ty_perf_progress(rd->p, &done, &all);
	v->tell(v->tell_ctx, all ? (double)done / (double)all : 0);
}

static int read_records(struct reading *rd, struct ty_err *err)
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
		if (t->priv->tell && !(++n % TELL_EVERY))
			tell(rd);
	}
	if (e && e != -TY_EFORMAT) {
		*err = cut;
		return e;
	}
	if (e || rd->p->note || rd->p->unfinished) {
		/* What follows is not known. */
		t->truncated = t->unfinished = true;
		ty_trace_note(t, "%s",
			      e		    ? cut.msg
			      : rd->p->note ? rd->p->note
					    : "perf did not finish it: what came last is missing");
	}
	e = lost_at_end(rd, err);
	e = e ? e : ty_perf_queue_finish(rd->queue, &late, err);
	if (late)
		ty_trace_note(t, "%" PRIu64 " events came out of order and count as lost", late);
	if (rd->lost_nowhere)
		ty_trace_note(t,
			      "%" PRIu64 " events were lost, the file does not tell when and where",
			      rd->lost_nowhere);
	return e;
}

/* What is there besides events ---------------------------------------------------------------- */

static int describe(struct reading *rd)
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
	r = keep(t, text, (size_t)n, &t->uname);
	n = snprintf(text, sizeof(text), "perf %.255s", version ? version : "");
	r = r ? r : keep(t, text, (size_t)n, &t->recorder_version);
	t->own_only = rd->index ? rd->index_tids : !rd->idle_seen;
	if (r || !rd->threads.len)
		return r;
	r = rd->threads.failed;
	r = r ? r : keep(t, rd->threads.p, rd->threads.len, &threads);
	return r ? r : ty_trace_add_section(t, TY_SEC_THREADS, threads);
}

/* Is it Intel PT with switches? What is traced stands at its begin. */
static bool is_flow(struct ty_perf *p)
{
	struct ty_perf_auxtrace_info info;
	struct ty_perf_rec r;
	bool switches = false;

	vec_each (e, &p->events)
		switches |= has_switches(&e->attr);
	if (!switches)
		return false;
	ty_perf_rewind(p);
	for (unsigned i = 0; i < HEAD_RECORDS && ty_perf_next(p, &r, NULL) > 0; i++)
		if (r.type == TY_PERF_AUXTRACE_INFO && !ty_perf_auxtrace_info(&r, &info))
			return info.type == TY_PERF_AUXTRACE_INTEL_PT;
	return false;
}

/* Events that are not what they seem: without them no trace, with a period only some of them. */
static int check_events(struct ty_trace *t, struct ty_perf *p, bool *formats, struct ty_err *err)
{
	const uint64_t need = TY_PERF_S_TID | TY_PERF_S_TIME | TY_PERF_S_CPU;
	bool any = false, some = false;

	vec_each (e, &p->events) {
		if (!is_tracepoint(&e->attr))
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
	if (!any && !is_flow(p))
		return ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
			       "%s: is a perf.data file without tracepoints: `tarry dump F flow` "
			       "and `tarry dump F memory` show instructions (Intel PT) and memory "
			       "samples, where it has such",
			       t->path);
	if (some)
		ty_trace_note(t, "its tracepoints were sampled (perf record -c or -F): events in "
				 "between are not there");
	return 0;
}

/* The clock of the time stamps, as ftrace calls them. */
static const char *clock_name(const struct ty_perf *p)
{
	vec_each (e, &p->events) {
		if (!(is_tracepoint(&e->attr) || has_switches(&e->attr)) ||
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
	return "perf";
}

static int read_all(struct reading *rd, struct ty_err *err)
{
	struct ty_trace_buffer top = {
		.name = "", .clock = clock_name(rd->p), .page_size = TY_PAGE_OUT_BYTES};
	struct ty_page_sink sink = {0};
	struct ty_trace *t = rd->t;
	uint64_t off, n;
	bool formats;
	int r = check_events(t, rd->p, &formats, err);

	if (r)
		return r;
	t->long_size = 8;
	if (formats && !ty_perf_feature_place(rd->p, TY_PERF_F_TRACING_DATA, &off, &n))
		return ty_fail(err, TY_EFORMAT, TY_NO_OFFSET,
			       "%s: the formats of its tracepoints are not in the file", t->path);
	r = formats ? read_formats(t, off, n, err) : 0;
	if (!r && (add_kinds(rd) || vec_push(&t->buffers, top)))
		r = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", t->path);
	t->switches_only = rd->id[SWITCH];
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
			is |= is_tracepoint(&e->attr);
	if (p && !is)
		is = is_flow(p);
	ty_perf_close(p);
	return is;
}

int ty_trace_read_perf(struct ty_trace *t, struct ty_err *err)
{
	struct reading *rd = calloc(1, sizeof(*rd));
	int r;

	if (!rd)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", t->path);
	*rd = (struct reading){.t = t, .leader = -1, .ppid = -1, .fork_tid = -1};
	for (unsigned i = 0; i < TY_DAT_CPUS_MAX; i++)
		rd->on[i] = -1;
	ty_buf_init(&rd->threads, THREADS_BYTES);
	r = ty_perf_open(t->path, &rd->p, err);
	t->perf = true;
	t->perf_stepped = !r && ty_perf_stepped(rd->p);
	r = r ? r : read_all(rd, err);
	ty_perf_close(rd->p);
	ty_buf_fini(&rd->threads);
	vec_fini(&rd->ids);
	vec_fini(&rd->at_end);
	free(rd);
	return r;
}
