/* SPDX-License-Identifier: MIT */
/*
 * jitdump: code records that a JIT compiler writes while it runs (jit-PID.dump): functions with
 * their bytes, addresses, the times from which they are valid, and moves. Format: linux
 * tools/perf/Documentation/jitdump-specification.txt. Little endian. No I/O.
 */
#ifndef TY_JITDUMP_H
#define TY_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code_map.h"
#include "vec.h"

struct ty_jit_load {
	uint64_t ts;   /* as written */
	uint64_t addr; /* address from then on */
	uint64_t n;
	const uint8_t *code; /* n bytes */
	const char *name;
	size_t line, lines_n; /* its source lines, in the dump's */
};

struct ty_jitdump {
	int32_t pid;
	bool tsc;	/* times are TSC; otherwise ns of CLOCK_MONOTONIC */
	uint64_t loads; /* number of load records */
	bool damaged;	/* it ends inside a record or with a malformed one */
	/* Lines by function; names are borrowed from the dump. When no line is in the first 64
	 * bytes of any function, 64 is subtracted from all, as V8's dumps need: inferred, because a
	 * dump does not name its writer. */
	VEC(struct ty_code_line) lines;
};

/*
 * Reports all functions in file order; a moved one is reported again. An error of `load` ends it.
 * out is always filled and its lines belong to the caller: 0; -TY_EFORMAT: not a jitdump, or one of
 * another byte order; load's error.
 */
int ty_jitdump_read(const uint8_t *p, size_t n, struct ty_jitdump *out,
		    int (*load)(void *ctx, const struct ty_jit_load *l), void *ctx);
#endif
