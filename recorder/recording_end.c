/* SPDX-License-Identifier: MIT */
/* Sections written at the end of a recording: data read, lost and dropped, names, the recorder's
 * own cost. */
#include "recording_priv.h"

#include <inttypes.h>
#include <sys/resource.h>

#include "keep.h"
#include "machine_facts.h"

/* For command lines that are still to be read. */
#define COMMANDS_MS 100

void ty_rec_totals(struct recording *r, struct ty_buf *self, struct ty_record_progress *p)
{
	for (unsigned i = 0; i < r->insts_n; i++) {
		for (unsigned k = 0; k < r->cpus_n; k++) {
			struct ty_cpu_stats st;

			if (ty_instance_stats(&r->inst[i], r->cpus[k], &st, NULL))
				continue;
			if (self)
				ty_keep_less(r->keep, i, k, &st);
			p->events += st.entries + st.read;
			p->lost += st.overrun + st.commit_overrun + st.dropped;
			if (self)
				ty_buf_addf(self,
					    "stat=%u %u %" PRIu64 " %" PRIu64 " %" PRIu64
					    " %" PRIu64 " %" PRIu64 "\n",
					    i, r->cpus[k], st.entries, st.overrun,
					    st.commit_overrun, st.dropped, st.read);
		}
	}
	p->elapsed_ns = ty_rec_clock_ns(CLOCK_MONOTONIC) - r->start_ns;
	p->file_bytes = ty_spool_bytes(r->spool);
}

static void own_cpu(struct ty_record_result *res)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	res->cpu_user_ns =
		(uint64_t)u.ru_utime.tv_sec * TY_REC_NS + (uint64_t)u.ru_utime.tv_usec * 1000;
	res->cpu_sys_ns =
		(uint64_t)u.ru_stime.tv_sec * TY_REC_NS + (uint64_t)u.ru_stime.tv_usec * 1000;
}

/* The sections of the end: CPUSTAT, names, SELF. */
int ty_rec_put_end(struct recording *r, uint64_t end_ns, struct ty_err *err)
{
	struct ty_record_progress p = {0};
	struct ty_record_result *res = r->res;
	struct ty_buf b;
	int e = 0;

	ty_buf_init(&b, TY_REC_TEXT);
	for (unsigned i = 0; !e && i < r->insts_n; i++) {
		for (unsigned k = 0; !e && k < r->cpus_n; k++) {
			struct ty_cpu_stats st;

			ty_buf_reset(&b);
			ty_buf_addf(&b, "CPU: %u\n", r->cpus[k]);
			if (!ty_instance_stats(&r->inst[i], r->cpus[k], &st, &b))
				e = ty_meta_put(&r->meta, TY_META_CPUSTAT, b.p, b.len, err);
		}
	}
	ty_rec_take_samples(r, false);
	if (r->quotas.left_out) {
		ty_buf_addf(&r->throttled, "left_out\t%" PRIu64 "\n", r->quotas.left_out);
		ty_rec_note(
			r,
			"%" PRIu64
			" CPU quota throttlings of cgroups were dropped: the limit was exceeded",
			r->quotas.left_out);
	}
	if (r->quotas.cut)
		ty_rec_note(r, "there are more than 4096 cgroups, or threads in one of them: CPU "
			       "quotas were not sampled for all");
	ty_rec_take_commands(r, COMMANDS_MS);
	e = e ? e : ty_rec_put_samples(r, err);
	e = e ? e : ty_keep_names(r->keep, &r->thread_names, err);
	e = e ? e : ty_meta_cmdlines(&r->meta, r->root, &r->thread_names, err);
	ty_buf_reset(&b);
	ty_rec_totals(r, &b, &p);
	own_cpu(res);
	res->events = p.events;
	res->lost = p.lost;
	res->all_ns = r->off_ns - r->start_ns;
	res->dropped = ty_keep_from_ns(r->keep);
	res->elapsed_ns = res->dropped ? end_ns - ty_keep_from_ns(r->keep) : res->all_ns;
	res->raw_bytes = ty_readers_raw_bytes(r->readers);
	ty_fact_u64(&b, "end_ns", end_ns);
	ty_fact_u64(&b, "duration_ns", res->elapsed_ns);
	ty_fact_u64(&b, "end_realtime_ns", ty_rec_clock_ns(CLOCK_REALTIME));
	ty_fact_u64(&b, "recorded_ns", res->all_ns);
	ty_fact_u64(&b, "events", res->events);
	ty_fact_u64(&b, "lost", res->lost);
	ty_fact_u64(&b, "raw_bytes", res->raw_bytes);
	ty_fact_u64(&b, "cpu_user_ns", res->cpu_user_ns);
	ty_fact_u64(&b, "cpu_sys_ns", res->cpu_sys_ns);
	ty_fact_u64(&b, "strings", res->strings);
	ty_fact_u64(&b, "strings_lost", res->strings_lost);
	ty_fact_u64(&b, "structures_left_out", res->structures_left_out);
	if (res->command_ended)
		ty_fact_u64(&b, "command_status", (uint64_t)res->command_status);
	ty_fact(&b, "stop", res->stop);
	for (unsigned i = r->end_notes; i < res->notes_n; i++)
		ty_fact(&b, "note", res->notes[i]);
	e = e ? e : ty_meta_section(&r->meta, TY_SEC_SELF, b.p, b.len, err);
	ty_buf_fini(&b);
	return e;
}
