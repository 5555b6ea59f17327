/* SPDX-License-Identifier: MIT */
/* One report: all results, computed once for both text and JSON. */
#ifndef TY_REPORT_H
#define TY_REPORT_H

#include <stdio.h>

#include "answer.h"
#include "buf.h"
#include "counter_stats.h"
#include "window_diff.h"
#include "hot_functions.h"
#include "findings.h"
#include "json_out.h"
#include "longest_waits.h"
#include "object_totals.h"
#include "outliers.h"
#include "report_explain.h"
#include "region_stats.h"
#include "requests.h"
#include "window_select.h"
#include "session.h"
#include "stack_groups.h"
#include "syscall_stats.h"
#include "thread_stats.h"

enum {
	TY_REP_HEADER = 1,
	TY_REP_SYSCALLS = 2,
	TY_REP_THREADS = 4,
	TY_REP_LONGEST = 8,
	TY_REP_LOSS = 16,
	TY_REP_STALLS = 32,
	TY_REP_LEDGER = 64, /* when requested */
	TY_REP_CHAIN = 128,
	TY_REP_OUTLIERS = 256,
	TY_REP_DIFF = 512,
	TY_REP_REQUESTS = 1024,
	TY_REP_ANSWER = 2048,
	TY_REP_FINDINGS = 4096,
	TY_REP_STACKS = 8192, /* when requested */
	TY_REP_HOT = 16384,   /* the same */
	TY_REP_REGIONS = 32768,
	TY_REP_OBJECTS = 65536,	  /* when requested */
	TY_REP_COUNTERS = 131072, /* by default if the recording has any */
	TY_REP_ALL = 63 | TY_REP_REGIONS | TY_REP_REQUESTS | TY_REP_ANSWER | TY_REP_FINDINGS |
		     TY_REP_COUNTERS,
};

#define TY_REP_WAITS	    10
#define TY_REP_OUTLIERS_MAX 1000 /* found at most */

struct ty_report {
	struct ty_session *s;
	struct ty_window w;
	bool whole;	/* the window is the whole recording */
	bool selected;	/* threads or CPUs were chosen */
	bool processes; /* ledgers of processes */
	uint32_t why;	/* explain this stall, from 1; 0: none */
	bool rejected;	/* list idle waits */
	struct ty_syscall_stats *calls;
	uint32_t calls_n;
	struct ty_thread_stats *threads; /* by running time */
	uint32_t threads_n;
	struct ty_wait blocked[TY_REP_WAITS], runnable[TY_REP_WAITS];
	uint32_t blocked_n, runnable_n;
	struct ty_explained explained;
	unsigned requested; /* TY_REP_*, as typed; 0: the default ones */
	struct ty_outliers outliers;
	struct ty_diff diff;
	struct ty_requests requests;
	struct ty_region_report regions;
	struct ty_answer answer;
	struct ty_findings findings;
	struct ty_stack_groups stacks;
	struct ty_hot hot;
	struct ty_object_totals objects;
	struct ty_count_stats counters;
	struct ty_report_logs logs;
	bool blocked_ours; /* sleeps of bystanders are left out of `blocked` */
};

/* "futex(0x7f.., FUTEX_WAIT, ...)" of a call, appended; the name alone where its arguments are not
 * recorded. */
void ty_report_call(const struct ty_report *r, uint32_t call, struct ty_buf *out);
/* "irq", "softirq", "nmi" or NULL. */
const char *ty_report_context(uint8_t context);

/* report_time.c */
/* Of a field: the time to the microsecond; ctx: the report. */
const char *ty_report_instant(const void *ctx, uint64_t t_ns, char *buf, size_t n);
/* Times are numbers of seconds: the heading of their column says so. */
bool ty_report_in_seconds(const struct ty_report *r);

/* report_correlate.c */
/* A slow call or region beside a median one: its first n rows as lines; members of a JSON object
 * that is open. */
void ty_outlier_rows(const struct ty_outlier *o, uint32_t n, FILE *f);
/* The calls, samples and counters of both. */
void ty_outlier_parts_text(const struct ty_report *r, const struct ty_outlier *o, FILE *f);
void ty_outlier_json(const struct ty_report *r, const struct ty_outlier *o, struct ty_json *j);
void ty_outliers_text(const struct ty_report *r, FILE *f);
void ty_outliers_json(const struct ty_report *r, struct ty_json *j);
void ty_diff_text(const struct ty_report *r, FILE *f);
void ty_diff_json(const struct ty_report *r, struct ty_json *j);

/* report_answer.c */
void ty_answer_text(const struct ty_report *r, FILE *f);
/* The first rows of the command's ledger, if there is one. */
void ty_answer_ledger_text(const struct ty_report *r, FILE *f);
void ty_answer_json(const struct ty_report *r, struct ty_json *j);

/* report_syscalls.c */
void ty_syscalls_text(const struct ty_report *r, FILE *f);
void ty_syscalls_json(const struct ty_report *r, struct ty_json *j);

/* report_threads.c */
void ty_threads_text(const struct ty_report *r, FILE *f);
void ty_threads_json(const struct ty_report *r, struct ty_json *j);

/* report_loss.c */
void ty_loss_text(const struct ty_report *r, FILE *f);
void ty_loss_json(const struct ty_report *r, struct ty_json *j);

/* report_findings.c */
void ty_findings_text(const struct ty_report *r, FILE *f);
void ty_findings_json(const struct ty_report *r, struct ty_json *j);

/* report_requests.c */
void ty_requests_text(const struct ty_report *r, FILE *f);
void ty_requests_json(const struct ty_report *r, struct ty_json *j);

/* report_regions.c */
void ty_regions_text(const struct ty_report *r, FILE *f);
void ty_regions_json(const struct ty_report *r, struct ty_json *j);

/* report_stacks.c */
void ty_stacks_text(const struct ty_report *r, FILE *f);
void ty_stacks_json(const struct ty_report *r, struct ty_json *j);

/* report_objects.c */
void ty_objects_text(const struct ty_report *r, FILE *f);
void ty_objects_json(const struct ty_report *r, struct ty_json *j);

/* report_counters.c */
/* All measures (counter_measures.h) of a sum: in lines indented by that much; from measure `from`
 * on as an array. */
void ty_count_measures_text(const struct ty_counts *c, const struct ty_count_sum *s, int indent,
			    FILE *f);
void ty_count_measures_json(const struct ty_counts *c, const struct ty_count_sum *s, uint32_t from,
			    struct ty_json *j);
int ty_counters_section_find(struct ty_report *r, struct ty_err *err);
void ty_counters_text(const struct ty_report *r, FILE *f);
void ty_counters_json(const struct ty_report *r, struct ty_json *j);

/* report_hot.c */
int ty_hot_section_find(struct ty_report *r, struct ty_err *err);
void ty_hot_text(const struct ty_report *r, FILE *f);
void ty_hot_json(const struct ty_report *r, struct ty_json *j);
/* The hottest function, as a note of the answer: an estimate, marked so. Nothing where there are no
 * samples. 0 or -TY_E.... */
int ty_hot_note(struct ty_report *r);
/* All of a perf.data file that is no trace. 0 or -TY_E... */
int ty_hot_perf(const char *path, const struct ty_select *sel, const struct ty_texts *roots,
		FILE *f, struct ty_err *err);

/* The request for a report. */
struct ty_report_query {
	unsigned sections; /* TY_REP_*; 0: the default ones */
	struct ty_stalls_opts stalls;
	const char *region; /* regions: in depth; NULL: none */
	const char *at; /* chain: a time within the wait, as typed; with one thread in sel->tids */
};
/* Fill r, whose session, window and logs are set. 0 or -TY_E... with err; fini in any case (logs
 * stay the caller's). */
int ty_report_find(struct ty_report *r, const struct ty_select *sel,
		   const struct ty_report_query *q, struct ty_err *err);
void ty_report_fini(struct ty_report *r);

void ty_report_text(const struct ty_report *r, unsigned sections, FILE *f);
void ty_report_json(const struct ty_report *r, FILE *f);

#endif
