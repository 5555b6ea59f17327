/* SPDX-License-Identifier: MIT */
/*
 * Errors. A function that can fail returns 0 or a positive value on success and -TY_E... on
 * failure. The layer that failed fills struct ty_err with a whole sentence: what happened, to which
 * file or object, what to do next. Only cli/ and tui/ print it; libraries never print or exit.
 */
#ifndef TY_ERR_H
#define TY_ERR_H

#include <stdarg.h>
#include <stdint.h>

#define TY_ERRORS(X)                                                                               \
	X(NOMEM, "out of memory")                                                                  \
	X(IO, "input/output error")                                                                \
	X(FORMAT, "malformed data")                                                                \
	X(UNSUPPORTED, "not supported")                                                            \
	X(LIMIT, "over a built-in limit")                                                          \
	X(NOTFOUND, "not found")                                                                   \
	X(PERM, "permission denied")                                                               \
	X(SYS, "refused by the system")                                                            \
	X(USAGE, "wrong usage")                                                                    \
	X(NOSPC, "no space left")                                                                  \
	X(INTR, "interrupted")

enum ty_errcode {
	TY_OK = 0,
#define X(name, text) TY_E##name,
	TY_ERRORS(X)
#undef X
};

/* One failure. `off` is the byte offset of the fault in the file, or TY_NO_OFFSET. */
struct ty_err {
	int code;
	uint64_t off;
	char msg[480];
};

#define TY_NO_OFFSET UINT64_MAX

/* Short text of a code, positive or negative ("malformed data"); never NULL. */
const char *ty_strerror(int code);

/*
 * Fills *err (which may be NULL) and returns -code, so that a failing function can end with `return
 * ty_fail(err, TY_EFORMAT, off, "%s: ...", path)`. An error that is already set is kept, because
 * the innermost layer has the most precise one.
 */
int ty_fail(struct ty_err *err, int code, uint64_t off, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* As ty_fail, with ": " and strerror(errno) appended. The code is derived from errno (ENOSPC ->
 * NOSPC). */
int ty_fail_errno(struct ty_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
