/* SPDX-License-Identifier: MIT */
/* Shared by the reports on memory samples: the findings, and code as text and JSON. */
#ifndef TY_MEM_REPORT_H
#define TY_MEM_REPORT_H

#include <stdio.h>

#include "json_out.h"
#include "mem_names.h"
#include "mem_session.h"

struct ty_mem_report {
	struct ty_mem_session s;
	const struct ty_mem_points *points;
	struct ty_mem_work work;
	struct ty_mem_names *names;
	const struct ty_mem_facts *facts;
	uint32_t line_bytes;
};

/* Copies s without control characters to buf; returns buf. */
const char *ty_mem_report_plain(char *buf, size_t size, const char *s);
/* "0x4000 main+0x10 (main.c:3)" of an instruction; the same as JSON keys. */
void ty_mem_report_code(struct ty_mem_report *r, FILE *f, const struct ty_mem_code *c);
void ty_mem_report_code_json(struct ty_mem_report *r, struct ty_json *j,
			     const struct ty_mem_code *c);

/* The sections, as text to f, or as JSON where j is not NULL. 0; -TY_ENOMEM; -TY_ELIMIT (too much
 * to count, analysis/memory.h). */
int ty_mem_report_tables(struct ty_mem_report *r, FILE *f, struct ty_json *j);
int ty_mem_report_sharing(struct ty_mem_report *r, FILE *f, struct ty_json *j);

#endif
