/* SPDX-License-Identifier: MIT */
/*
 * Converts perf's own records of threads to events.
 *
 * COMM, FORK, EXIT and SWITCH become events "perf:comm", "perf:fork", "perf:exit", "perf:switch",
 * unless a tracepoint records the same. Records that perf synthesized at its start, for existing
 * threads, become the thread table. A SWITCH does not say why a thread leaves the CPU, unless it
 * was preempted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "field_text.h"
#include "perf_reading.h"

#define TRACEPOINT 2u /* PERF_TYPE_TRACEPOINT */
#define COMM_BYTES 16u
#define PREEMPTED  0x100u /* in prev_state, as in the kernel's sched_switch; 0: unknown */

#define COMMON_FIELDS                                                                              \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define HEAD_FIELDS                                                                                \
	COMMON_FIELDS "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"                        \
		      "\tfield:pid_t tgid;\toffset:12;\tsize:4;\tsigned:1;\n"

/* The events, the tracepoints that make them redundant, and their formats. */
static const struct {
	const char *system, *same, *format;
} kinds[TY_PERF_KINDS] = {
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
	{"", "", "name: round\nID: %u\n" COMMON_FIELDS "\nprint fmt: \"counters read\"\n"},
};

bool ty_perf_is_tracepoint(const struct ty_perf_attr *a)
{
	return a->type == TRACEPOINT && a->sample_type & TY_PERF_S_RAW;
}

bool ty_perf_has_switches(const struct ty_perf_attr *a)
{
	const uint64_t need = TY_PERF_S_TID | TY_PERF_S_TIME | TY_PERF_S_CPU;

	return a->flags & TY_PERF_ATTR_CTX_SWITCH && a->flags & TY_PERF_ATTR_SAMPLE_ID_ALL &&
	       (a->sample_type & need) == need;
}

/* "name: NAME" and "ID: N" of a format text. */
static bool format_is(const char *text, const char *name, unsigned *id)
{
	const char *n = strstr(text, "name: "), *i = strstr(text, "ID: ");
	size_t len = strlen(name);

	*id = i ? (unsigned)strtoul(i + 4, NULL, 10) : 0;
	return n && !strncmp(n + 6, name, len) && n[6 + len] == '\n';
}

int ty_perf_kinds_add(struct ty_perf_reading *rd)
{
	uint8_t used[65536 / 8] = {1};
	bool lost_placed[TY_PERF_KINDS] = {
		[TY_PERF_KIND_SWITCH] = true, [TY_PERF_KIND_ROUND] = !rd->t->counts_only};
	uint32_t next = 65535;
	unsigned id;

	vec_each (e, &rd->p->events)
		lost_placed[TY_PERF_KIND_SWITCH] &= !ty_perf_has_switches(&e->attr);
	vec_each (f, &rd->t->formats) {
		format_is(f->text.s, "", &id);
		if (id < 65536)
			used[id / 8] |= (uint8_t)(1u << id % 8);
		for (unsigned k = 0; k < TY_PERF_KINDS; k++)
			if (!strcmp(f->system, kinds[k].system) &&
			    format_is(f->text.s, kinds[k].same, &id))
				vec_each (e, &rd->p->events)
					lost_placed[k] |= ty_perf_is_tracepoint(&e->attr) &&
							  e->attr.config == id;
	}
	for (unsigned k = 0; k < TY_PERF_KINDS; k++) {
		struct ty_event_format f = {.system = "perf"};
		char text[2048];
		int n, r;

		if (lost_placed[k])
			continue;
		while (next && used[next / 8] >> next % 8 & 1)
			next--;
		if (!next)
			return 0;
		rd->id[k] = (uint16_t)next--;
		n = snprintf(text, sizeof(text), kinds[k].format, rd->id[k]);
		r = ty_trace_keep_bytes(rd->t, text, (size_t)n, sizeof(text), &f.text);
		if (r || vec_push(&rd->t->formats, f))
			return r ? r : -TY_ENOMEM;
	}
	return 0;
}

static void le32(uint8_t *p, int32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		p[i] = (uint8_t)((uint32_t)v >> 8 * i);
}

/* Emits an event: its common fields, two ids, and further fields. */
static int put(struct ty_perf_reading *rd, unsigned kind, const struct ty_perf_id *id, uint8_t *e,
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

void ty_perf_add_thread(struct ty_perf_reading *rd, const struct ty_perf_comm *c)
{
	struct ty_buf *b = &rd->threads;

	if (c->tid <= 0)
		return;
	if (c->tid == c->pid) {
		rd->leader = c->pid;
		rd->ppid = rd->fork_tid == c->tid ? rd->fork_ppid : -1;
	}
	ty_buf_addf(b, "%d\t", c->tid);
	if (c->pid >= 0)
		ty_buf_addf(b, "%d\t", c->pid);
	else
		ty_buf_adds(b, "-\t");
	if (rd->leader == c->pid && rd->ppid >= 0)
		ty_buf_addf(b, "%d", rd->ppid);
	else
		ty_buf_addc(b, '-');
	ty_buf_adds(b, "\t-\t-\t-\t-\t-\t-\t-\t-\t-\t");
	ty_escape_field(b, c->comm, strnlen(c->comm, COMM_BYTES));
	ty_buf_addc(b, '\n');
}

int ty_perf_made_comm(struct ty_perf_reading *rd, const struct ty_perf_rec *r,
		      const struct ty_perf_id *id, struct ty_err *err)
{
	struct ty_perf_comm c;
	uint8_t e[36] = {0};

	if (ty_perf_comm(r, &c))
		return 0;
	if (!id->time)
		ty_perf_add_thread(rd, &c);
	if (!id->time || !rd->id[TY_PERF_KIND_COMM])
		return 0;
	memcpy(e + 16, c.comm, strnlen(c.comm, COMM_BYTES - 1));
	le32(e + 32, c.exec);
	return put(rd, TY_PERF_KIND_COMM, id, e, sizeof(e), c.tid, c.pid, err);
}

int ty_perf_made_task(struct ty_perf_reading *rd, const struct ty_perf_rec *r,
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
	if (!id->time || !rd->id[fork ? TY_PERF_KIND_FORK : TY_PERF_KIND_EXIT])
		return 0;
	if (!fork)
		return put(rd, TY_PERF_KIND_EXIT, id, e, 16, t.tid, t.pid, err);
	le32(e + 16, t.ptid);
	le32(e + 20, t.ppid);
	le32(e + 24, t.pid == t.ppid ? CLONE_THREAD : 0);
	return put(rd, TY_PERF_KIND_FORK, id, e, sizeof(e), t.tid, t.pid, err);
}

/*
 * CPU-wide records name both threads, once when the previous one is switched out and again when the
 * next one is switched in. The first suffices unless it was lost. An exited thread has no number
 * any more: it is the one switched in last, or -1 (unknown) when records were lost since.
 * Per-thread records say when that thread is switched in or out, but not the other thread.
 */
int ty_perf_made_switch(struct ty_perf_reading *rd, const struct ty_perf_rec *r,
			const struct ty_perf_id *id, struct ty_err *err)
{
	struct ty_perf_switch s;
	struct ty_perf_id who = *id;
	uint8_t e[20] = {0};
	int32_t was, prev, next;

	if (ty_perf_switch(r, &s) || !id->time || !rd->id[TY_PERF_KIND_SWITCH])
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
	/* already known, or no information */
	if (s.has_other ? !s.out && next == was : who.tid < 0)
		return 0;
	if (!rd->first_ns || id->time < rd->first_ns)
		rd->first_ns = id->time;
	if (id->cpu >= rd->cpus)
		rd->cpus = id->cpu + 1;
	rd->idle_seen |= s.has_other;
	le32(e + 16, s.preempt ? PREEMPTED : 0);
	return put(rd, TY_PERF_KIND_SWITCH, &who, e, sizeof(e), prev, next, err);
}

int ty_perf_made_round(struct ty_perf_reading *rd, uint64_t ns, struct ty_err *err)
{
	uint8_t e[8];

	e[0] = (uint8_t)rd->id[TY_PERF_KIND_ROUND];
	e[1] = (uint8_t)(rd->id[TY_PERF_KIND_ROUND] >> 8);
	memset(e + 2, 0, sizeof(e) - 2);
	return rd->id[TY_PERF_KIND_ROUND] ? ty_perf_queue_add(rd->queue, 0, ns, e, sizeof(e), err)
					  : 0;
}
