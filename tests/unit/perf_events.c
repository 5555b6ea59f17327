/* SPDX-License-Identifier: MIT */
/* See perf_events.h. Formats as kernels of x86_64 have them. */
#include "perf_events.h"

#include <string.h>

#define HEAD                                                                                       \
	"format:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"            \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const struct {
	const char *system, *text;
} formats[] = {
	{"sched", "name: sched_switch\nID: 300\n" HEAD
		  "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		  "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
		  "\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
		  "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
		  "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
		  "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
		  "\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\n"
		  "print fmt: \"prev_pid=%d next_pid=%d\", REC->prev_pid, REC->next_pid\n"},
	{"raw_syscalls",
	 "name: sys_enter\nID: 301\n" HEAD "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
	 "\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n\n"
	 "print fmt: \"NR %ld\", REC->id\n"},
	{"raw_syscalls",
	 "name: sys_exit\nID: 302\n" HEAD "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
	 "\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n\n"
	 "print fmt: \"NR %ld = %ld\", REC->id, REC->ret\n"},
};

static void add_formats(struct perf_write *w)
{
	struct ty_buf b;
	uint8_t body[4];

	ty_buf_init(&b, 1 << 16);
	ty_buf_add(&b, "\x17\x08\x44tracing0.6\0\0\x08\0\x10\0\0", 20);
	ty_buf_add(&b, "header_page\0\0\0\0\0\0\0\0\0header_event\0\0\0\0\0\0\0\0\0", 41);
	ty_buf_addle(&b, 0, 4); /* the tracer's own */
	ty_buf_addle(&b, 3, 4);
	for (unsigned i = 0; i < 3; i++) {
		ty_buf_add(&b, formats[i].system, strlen(formats[i].system) + 1);
		ty_buf_addle(&b, 1, 4);
		ty_buf_addle(&b, strlen(formats[i].text), 8);
		ty_buf_adds(&b, formats[i].text);
	}
	ty_buf_add(&b, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16); /* symbols, texts, names */
	for (unsigned i = 0; i < 4; i++)
		body[i] = (uint8_t)(b.len >> 8 * i);
	pw_rec(w, TY_PERF_HEADER_TRACING_DATA, 0, body, sizeof(body));
	while (b.len % 8)
		ty_buf_addc(&b, 0);
	ty_buf_add(&w->rec, b.p, b.len);
	ty_buf_fini(&b);
}

void pe_init(struct perf_write *w)
{
	pw_init(w);
	w->type = 2;
	w->config = PE_SWITCH;
	w->period = 1;
	w->sample_type = TY_PERF_S_IDENTIFIER | TY_PERF_S_TID | TY_PERF_S_TIME | TY_PERF_S_CPU |
			 TY_PERF_S_RAW;
	w->arch = "x86_64";
	w->cpus = 2;
	add_formats(w);
}

void pe_sample(struct perf_write *w, struct pw_at at, uint16_t id, const void *fields, size_t n)
{
	struct ty_buf b;

	ty_buf_init(&b, 1 << 16);
	ty_buf_addle(&b, PW_ID, 8);
	ty_buf_addle(&b, (uint32_t)at.pid, 4);
	ty_buf_addle(&b, (uint32_t)at.tid, 4);
	ty_buf_addle(&b, at.time, 8);
	ty_buf_addle(&b, at.cpu, 8);
	ty_buf_addle(&b, (n + 8 + 4 + 7) / 8 * 8 - 4, 4);
	ty_buf_addle(&b, id, 4);
	ty_buf_addle(&b, (uint32_t)at.tid, 4);
	ty_buf_add(&b, fields, n);
	while (b.len % 8)
		ty_buf_addc(&b, 0);
	pw_rec(w, TY_PERF_SAMPLE, 1, b.p, b.len);
	ty_buf_fini(&b);
}

void pe_switch(struct perf_write *w, struct pw_at at, int32_t next, uint64_t prev_state)
{
	struct {
		char prev_comm[16];
		int32_t prev, prev_prio;
		uint64_t state;
		char next_comm[16];
		int32_t next, next_prio;
	} f = {"one", at.tid, 120, prev_state, "two", next, 120};

	pe_sample(w, at, PE_SWITCH, &f, sizeof(f));
}

void pe_call(struct perf_write *w, struct pw_at at, bool enter, int64_t nr)
{
	int64_t f[7] = {nr};

	pe_sample(w, at, enter ? PE_ENTER : PE_EXIT, f, enter ? sizeof(f) : 16);
}

void pe_lost(struct perf_write *w, struct pw_at at, uint64_t count)
{
	uint64_t body[2] = {PW_ID, count};

	pw_rec_at(w, TY_PERF_LOST, 0, body, sizeof(body), at);
}

void pe_round(struct perf_write *w)
{
	pw_rec(w, TY_PERF_FINISHED_ROUND, 0, NULL, 0);
}

void pe_task(struct perf_write *w, struct pw_at at, bool fork, int32_t pid, int32_t tid)
{
	struct {
		int32_t pid, ppid, tid, ptid;
		uint64_t time;
	} body = {pid, at.pid, tid, at.tid, at.time};

	pw_rec_at(w, fork ? TY_PERF_FORK : TY_PERF_EXIT, 0, &body, sizeof(body), at);
}

void pe_index(struct perf_write *w, int64_t cpu, int64_t tid)
{
	int64_t body[5] = {1, PW_ID, 0, cpu, tid};

	pw_rec(w, TY_PERF_ID_INDEX, 0, body, sizeof(body));
}
