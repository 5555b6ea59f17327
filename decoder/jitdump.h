/* SPDX-License-Identifier: MIT */
/*
 * jitdump: what a JIT compiler writes of its code while it runs (jit-PID.dump): functions with
 * their bytes and the time from which they are where, and when they move. Format: linux
 * tools/perf/Documentation/jitdump-specification.txt. Little endian. Bytes in, callbacks out.
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
	uint64_t addr; /* where the code is from then on */
	uint64_t n;
	const uint8_t *code; /* n bytes */
	const char *name;
	size_t line, lines_n; /* its source lines, in the dump's */
};

struct ty_jitdump {
	int32_t pid;
	bool tsc;	/* times are TSC, else ns of CLOCK_MONOTONIC */
	uint64_t loads; /* given */
	bool damaged;	/* it ends in the middle of a record, or with one that is none */
	/* Function by function; names lie in the dump. Where none lies in the first 64 bytes of any
	 * function, 64 is taken off, as V8's need: inferred, no dump tells who wrote it. */
	VEC(struct ty_code_line) lines;
};

/*
 * All functions, in the order of the file; one that moves is given again. load returns 0, or an
 * error that ends it. out is filled whatever is returned, its lines are the caller's: 0;
 * -TY_EFORMAT: it is no jitdump, or one of another byte order; load's error.
 */
int ty_jitdump_read(const uint8_t *p, size_t n, struct ty_jitdump *out,
		    int (*load)(void *ctx, const struct ty_jit_load *l), void *ctx);
#endif
