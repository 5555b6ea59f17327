/* SPDX-License-Identifier: MIT */
/*
 * The field lines of a kernel format text (events/SYSTEM/NAME/format, events/header_page):
 *
 * 	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
 * 	field:__data_loc char[] name;	offset:12;	size:4;	signed:1;
 *
 * Everything the hot path needs is in these lines, so it does not depend on a print format that a
 * library may or may not understand. The texts come from files: nothing in them is trusted before
 * it is checked, and parsing allocates nothing.
 */
#ifndef TY_FORMAT_TEXT_H
#define TY_FORMAT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Upper bound of a record in a ring page of any kernel. */
#define TY_FT_RECORD_MAX (1u << 20)

struct ty_ft_field {
	const char *name; /* in the text, name_n bytes */
	size_t name_n;
	uint32_t off,
		size; /* off + size <= TY_FT_RECORD_MAX; size 0: an array to the record's end */
	uint32_t elem_size; /* arrays: bytes of an element; else size. DATA_LOC: of an element */
	bool is_signed;	    /* of the value or element */
	bool is_array;	    /* fixed array: size / elem_size elements */
	bool is_string;	    /* array of char */
	bool is_pointer;
	bool is_loc,
		is_rel; /* u32 (length << 16 | offset); REL: offset from the end of the field */
};

/*
 * Parses the next field line at *text into *f and advances past it: 1, 0 at the end, -TY_EFORMAT
 * for a malformed line (skipped as well). Common fields come first.
 */
int ty_ft_next(const char **text, unsigned long_size, struct ty_ft_field *f);

/* The first field of that name. 0 or -TY_ENOTFOUND. */
int ty_ft_find(const char *text, const char *name, struct ty_ft_field *f);

/* "name: NAME" and "ID: N" of an event's format. 0 or -TY_EFORMAT. */
int ty_ft_head(const char *text, const char **name, size_t *name_n, uint16_t *id);

/* The print format line after "print fmt:"; NULL when there is none. */
const char *ty_ft_print(const char *text);

/*
 * Names of task states in a sched_switch print format: letter[b] of bit b (0: none), and the bit
 * that means "preempted" ("+"; 0: not in the text).
 */
struct ty_ft_states {
	char letter[32];
	uint64_t preempted;
};
void ty_ft_task_states(const char *print_fmt, struct ty_ft_states *out);

#endif
