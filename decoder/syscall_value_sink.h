/* SPDX-License-Identifier: MIT */
/*
 * Writes the members of a system call's structures, one after the other, as text in the forms of
 * strace 6.1 or as JSON. key: the member's name; NULL: an element of an array.
 */
#ifndef TY_SYSCALL_VALUE_SINK_H
#define TY_SYSCALL_VALUE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"
#include "json_out.h"
#include "syscall_constants.h"
#include "syscall_values.h"

enum { TY_SINK_SHOWN = 32 /* elements of an array, bytes of a buffer, as strace -s 32 does */ };

struct ty_value_sink {
	struct ty_buf *b;	   /* text, or space for JSON's strings */
	struct ty_json *j;	   /* NULL: text */
	bool more;		   /* text: another member precedes, at this level */
	const struct ty_values *o; /* the call: names of descriptors; NULL: none */
};

/* Begins a member whose value the caller writes. */
void ty_sink_next(struct ty_value_sink *s, const char *key);
/* c: '{' or '[', '}' or ']'. */
void ty_sink_open(struct ty_value_sink *s, const char *key, char c);
void ty_sink_close(struct ty_value_sink *s, char c);
void ty_sink_int(struct ty_value_sink *s, const char *key, int64_t v);
void ty_sink_uint(struct ty_value_sink *s, const char *key, uint64_t v);
void ty_sink_ptr(struct ty_value_sink *s, const char *key, uint64_t v);
void ty_sink_word(struct ty_value_sink *s, const char *key, const char *word);
/* The value as names of the set. */
void ty_sink_set(struct ty_value_sink *s, const char *key, enum ty_set set, uint64_t v);
/* A descriptor, with its name if known. */
void ty_sink_fd(struct ty_value_sink *s, const char *key, int32_t fd);
/* Bytes of a buffer. cut: there were more than are recorded. */
void ty_sink_data(struct ty_value_sink *s, const char *key, const char *p, size_t n, bool cut);
/* The rest of an array was not recorded, or is not shown. */
void ty_sink_dots(struct ty_value_sink *s);

#endif
