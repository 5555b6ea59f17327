/* SPDX-License-Identifier: MIT */
/* Lines of log files in the report. */
#ifndef TY_REPORT_LOG_H
#define TY_REPORT_LOG_H

#include <stdio.h>

#include "session.h"
#include "explain.h"
#include "json_out.h"
#include "log_file.h"
#include "texts.h"

struct ty_report_logs {
	struct ty_texts path; /* as typed (--log) */
	struct ty_log log;
};

/* Read all files onto the model's axis. 0 or -TY_E... with err. */
int ty_report_logs_read(struct ty_report_logs *l, const struct ty_model *m, struct ty_err *err);
void ty_report_logs_fini(struct ty_report_logs *l);

/* The lines around [from, to), at most a few, indented below a stall. Nothing without --log. */
void ty_report_logs_near_text(const struct ty_report_logs *l, const struct ty_explain *x,
			      uint64_t from_ns, uint64_t to_ns, FILE *f);
/* Indexes into JSON's log.lines. */
void ty_report_logs_near_json(const struct ty_report_logs *l, uint64_t from_ns, uint64_t to_ns,
			      struct ty_json *j);
/* The number of lines read, and how their times were interpreted. */
void ty_report_logs_text(const struct ty_report_logs *l, FILE *f);
void ty_report_logs_json(const struct ty_report_logs *l, struct ty_json *j);

#endif
