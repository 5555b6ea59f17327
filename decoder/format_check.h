/* SPDX-License-Identifier: MIT */
/*
 * Is a format text well-formed? libtraceevent's parser was written for texts that a kernel made and
 * crashes on others (a fuzzer needs seconds to show it), so that it is only given texts that this
 * grammar accepts. It accepts what kernels write, not all of C.
 */
#ifndef TY_FORMAT_CHECK_H
#define TY_FORMAT_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* text[0..n), NUL-terminated at n. */
bool ty_ft_wellformed(const char *text, size_t n);

/*
 * Put numbers in the place of each sizeof(TYPE), padded with blanks: libtraceevent's parser (1.7.1)
 * compares words that it has freed where TYPE is "int", and fails at most others. text is
 * NUL-terminated and well-formed, so that the types are known.
 */
void ty_ft_sizeof(char *text, unsigned long_size);

#endif
