/* SPDX-License-Identifier: MIT */
/* The arrays and structures of system calls: their members, read from a record. Short records read
 * as absent. */
#ifndef TY_SYSCALL_STRUCTS_H
#define TY_SYSCALL_STRUCTS_H

#include <string.h>

#include "syscall_table.h"
#include "syscall_value_sink.h"

struct ty_record_bytes {
	const char *p;
	size_t n;
	bool cut;
};

static inline uint64_t ty_record_get(struct ty_record_bytes v, size_t at, unsigned bytes)
{
	uint64_t r = 0;

	if (at > v.n || v.n - at < bytes)
		return 0;
	memcpy(&r, v.p + at, bytes);
	return r;
}

static inline struct ty_record_bytes ty_record_bytes_of(const struct ty_call_data_item *i)
{
	return (struct ty_record_bytes){i->p, i->p ? i->len : 0, i->flags & TY_EVF_CUT};
}

/* Size of the control message at `at`, 0 at the end. */
static inline size_t ty_control_size(struct ty_record_bytes v, size_t at)
{
	const uint64_t n = at <= v.n && v.n - at >= 16 ? ty_record_get(v, at, 8) : 0;

	return n >= 16 && n <= v.n - at ? (size_t)n : 0;
}

static inline struct ty_pointee ty_values_pointee(const struct ty_values *o, unsigned i)
{
	return ty_arg_pointee(o->row->a[i], ty_sysarch_os(o->arch), false);
}

/* Writes argument i of the sink's call. False: its record is too short, or of no known structure.
 */
bool ty_struct_put(struct ty_value_sink *s, unsigned i, const struct ty_call_data_item *it);

#endif
