/* SPDX-License-Identifier: MIT */
/* Shared by the reports on memory samples: the results, and code as text and JSON. */
#ifndef TY_MEM_REPORT_H
#define TY_MEM_REPORT_H

#include <stdio.h>

#include "fields.h"
#include "mem_names.h"
#include "mem_session.h"
#include "sentence.h"

struct ty_mem_report {
	struct ty_mem_session s;
	const struct ty_mem_points *points;
	struct ty_mem_work work;
	struct ty_mem_names *names;
	const struct ty_mem_facts *facts;
	uint32_t line_bytes;
};

/* An instruction, for a table of fields. */
struct ty_mem_report_code {
	uint64_t pc, offset, mapping_offset; /* UINT64_MAX: unknown */
	const char *symbol, *mapping, *file;
	int32_t line; /* -1: unknown */
	bool assumed;
};
#define TY_MEM_CODE_AT(at_, member) .at = (at_) + offsetof(struct ty_mem_report_code, member)
#define TY_MEM_CODE_FIELDS(at_)                                                                      \
	{TY_F_HEX, "pc", NULL, 0, TY_MEM_CODE_AT(at_, pc), .optional = true},                        \
		{TY_F_STR, "symbol", NULL, 0, TY_MEM_CODE_AT(at_, symbol), .optional = true},        \
		{TY_F_U64, "symbol_offset", NULL, 0, TY_MEM_CODE_AT(at_, offset), .optional = true}, \
		{TY_F_STR, "object", NULL, 0, TY_MEM_CODE_AT(at_, mapping), .optional = true},       \
		{TY_F_STR, "file", NULL, 0, TY_MEM_CODE_AT(at_, file), .optional = true},            \
		{TY_F_ID, "source_line", NULL, 0, TY_MEM_CODE_AT(at_, line), .optional = true},      \
	{                                                                                            \
		TY_F_BOOL, "name_assumed", NULL, 0, TY_MEM_CODE_AT(at_, assumed), .optional = true   \
	}
#define TY_MEM_NO_CODE                                                                             \
	(struct ty_mem_report_code)                                                                \
	{                                                                                          \
		.pc = UINT64_MAX, .offset = UINT64_MAX, .line = -1                                 \
	}

struct ty_mem_report_code ty_mem_report_code(struct ty_mem_report *r, const struct ty_mem_code *c);
/* "0x4000 main+0x10 (main.c:3)" */
void ty_mem_report_code_text(const struct ty_mem_report_code *c, struct ty_sentence *o);
/* Copies s without control characters to buf; returns buf. */
const char *ty_mem_report_plain(char *buf, size_t size, const char *s);

/* The sections, as text to f, or as JSON where j is not NULL. 0; -TY_ENOMEM; -TY_ELIMIT (too much
 * to count, analysis/memory.h). */
int ty_mem_report_tables(struct ty_mem_report *r, FILE *f, struct ty_json *j);
int ty_mem_report_sharing(struct ty_mem_report *r, FILE *f, struct ty_json *j);

#endif
