/* SPDX-License-Identifier: MIT */
/*
 * Validates a format text against a grammar. libtraceevent's parser was written for texts from the
 * kernel and crashes on others (a fuzzer finds a crash within seconds), so it only gets texts that
 * this grammar accepts. It accepts what kernels write, not all of C.
 */
#ifndef TY_FORMAT_CHECK_H
#define TY_FORMAT_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* text[0..n), NUL-terminated at n. */
bool ty_ft_wellformed(const char *text, size_t n);

/*
 * Replaces each sizeof(TYPE) by its number, padded with blanks: libtraceevent's parser (1.7.1)
 * compares freed words where TYPE is "int", and fails for most other types. text is NUL-terminated
 * and well-formed, so that the types are known.
 */
void ty_ft_sizeof(char *text, unsigned long_size);

#endif
