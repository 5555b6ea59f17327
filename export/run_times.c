/* SPDX-License-Identifier: MIT */
/* See run_times.h. The fields are those of include/trace/events/sched.h, sched_stat_runtime. */
#include "run_times.h"

#include <stdlib.h>
#include <string.h>

#define CPUS 65536

struct ty_run_times {
	struct on_cpu {
		uint64_t since_ns;
		int32_t tid;
		bool known;
	} cpu[CPUS];
};

uint16_t ty_run_times_id(const bool taken[65536])
{
	for (uint16_t id = UINT16_MAX; id; id--)
		if (!taken[id])
			return id;
	return 0;
}

struct ty_run_times *ty_run_times_new(void)
{
	return calloc(1, sizeof(struct ty_run_times));
}

void ty_run_times_free(struct ty_run_times *r)
{
	free(r);
}

uint64_t ty_run_times_feed(struct ty_run_times *r, const struct ty_event *ev, uint64_t from_ns)
{
	struct on_cpu *c = ev->cpu < CPUS ? &r->cpu[ev->cpu] : NULL;
	uint64_t since, ns = 0;

	if (!c)
		return 0;
	if (ev->kind == TY_EV_GAP)
		c->known = false;
	if (ev->kind != TY_EV_SWITCH)
		return 0;
	since = c->since_ns > from_ns ? c->since_ns : from_ns;
	if (c->known && c->tid == ev->u.sw.prev_tid && c->tid && ev->ts_ns > since)
		ns = ev->ts_ns - since;
	*c = (struct on_cpu){ev->ts_ns, ev->u.sw.next_tid, true};
	return ns;
}

void ty_run_times_format(uint16_t id, struct ty_buf *out)
{
	ty_buf_addf(out,
		    "name: sched_stat_runtime\nID: %u\nformat:\n"
		    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		    "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		    "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
		    "\tfield:u64 runtime;\toffset:32;\tsize:8;\tsigned:0;\n\n"
		    "print fmt: \"comm=%%s pid=%%d runtime=%%Lu [ns] (from switch to switch)\", "
		    "REC->comm, REC->pid, (unsigned long long)REC->runtime\n",
		    id);
}

void ty_run_times_record(uint16_t id, const struct ty_event *ev, const char *comm, uint64_t run_ns,
			 struct ty_buf *out)
{
	char name[16] = "";

	strncpy(name, comm, sizeof(name) - 1);
	ty_buf_addle(out, id, 4); /* flags, preempt count: 0 */
	ty_buf_addle(out, (uint32_t)ev->u.sw.prev_tid, 4);
	ty_buf_add(out, name, sizeof(name));
	ty_buf_addle(out, (uint32_t)ev->u.sw.prev_tid, 4);
	ty_buf_addle(out, 0, 4);
	ty_buf_addle(out, run_ns, 8);
}
