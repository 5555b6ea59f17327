/* SPDX-License-Identifier: MIT */
/* The TY_SEC_MACHINE section: machine, command, options. */
#ifndef TY_MACHINE_FACTS_H
#define TY_MACHINE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

/* Appends one "key=value" line; newlines in the value are escaped. The buffer's failure is
 * sticky. */
void ty_fact(struct ty_buf *b, const char *key, const char *value);
void ty_fact_u64(struct ty_buf *b, const char *key, uint64_t value);

/* Host, kernel, CPUs, memory, page size, directory, time. */
void ty_machine_facts(struct ty_buf *b);

/* Appends argv in shell syntax, in one line. */
void ty_shell_quote(struct ty_buf *b, char *const *argv);

/* "model name" of /proc/cpuinfo, or its equivalent; "" when there is none. */
void ty_cpu_model(char *out, size_t size);
/* True when the file contains the text. (flags of /proc/cpuinfo and the like) */
bool ty_file_has(const char *path, const char *text);

#endif
