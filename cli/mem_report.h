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
	struct ty_mem_points points;
	struct ty_mem_names *names;
	const struct ty_mem_facts *facts;
	uint32_t line_bytes;
};

/* Address of a PC by its id; 0 when not recorded. */
static inline uint64_t ty_mem_report_pc(const struct ty_mem_report *r, uint32_t pc)
{
	return pc < r->points.pc_ids.keys.n ? r->points.pc_ids.keys.v[pc] : 0;
}

/* s without what a terminal would obey, in buf; returns buf. */
const char *ty_mem_report_plain(char *buf, size_t size, const char *s);
/* "0x4000 main+0x10 (main.c:3)" of an instruction of a process; the same as JSON keys. */
void ty_mem_report_code(struct ty_mem_report *r, FILE *f, int32_t pid, uint64_t pc, uint64_t ts);
void ty_mem_report_code_json(struct ty_mem_report *r, struct ty_json *j, int32_t pid, uint64_t pc,
			     uint64_t ts);

/* The sections, as text to f, or as JSON where j is not NULL. 0 or -TY_ENOMEM. */
int ty_mem_report_tables(struct ty_mem_report *r, FILE *f, struct ty_json *j);
int ty_mem_report_sharing(struct ty_mem_report *r, FILE *f, struct ty_json *j);

#endif
