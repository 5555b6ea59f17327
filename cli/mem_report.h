/* SPDX-License-Identifier: MIT */
/* What the reports on memory samples share: the findings, and code shown as text and JSON. */
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

/* s without what a terminal would obey, in buf; returns buf. */
const char *ty_mem_report_plain(char *buf, size_t size, const char *s);
/* "0x4000 main+0x10 (main.c:3)" of an instruction of the points; the same as JSON keys. Address and
 * names are those of the process that met it first. */
void ty_mem_report_code(struct ty_mem_report *r, FILE *f, uint32_t code);
void ty_mem_report_code_json(struct ty_mem_report *r, struct ty_json *j, uint32_t code);

/* The sections, as text to f, or as JSON where j is not NULL. 0 or -TY_ENOMEM. */
int ty_mem_report_tables(struct ty_mem_report *r, FILE *f, struct ty_json *j);
int ty_mem_report_sharing(struct ty_mem_report *r, FILE *f, struct ty_json *j);

#endif
