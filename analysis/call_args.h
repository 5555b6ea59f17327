/* SPDX-License-Identifier: MIT */
/* The arguments of one system call, with the names of its descriptors and paths. */
#ifndef TY_CALL_ARGS_H
#define TY_CALL_ARGS_H

#include "buf.h"
#include "explain.h"

/*
 * Appends `8</srv/site.lock>, LOCK_EX`, as tarry dump writes it; what is unknown stays a number.
 * Cost: as ty_fd_kind, for each descriptor. 0; -TY_ENOTFOUND: its arguments are not recorded;
 * -TY_ENOMEM.
 */
int ty_call_args(const struct ty_explain *x, uint32_t call, struct ty_buf *out);

/*
 * Appends what the call acts on, "/srv/site.lock" or "TCP:[...]": its first descriptor or path
 * (ty_sysrow.object). Cost: as above. 0; -TY_ENOTFOUND: nothing with a name; -TY_ENOMEM.
 */
#define TY_NAMES_MS 1000 /* so long names of many calls are looked up; the others stay without */
int ty_call_object(const struct ty_explain *x, uint32_t call, struct ty_buf *out);

/* Names in a row of a ledger ("sleeping in flock(fd 8)") what the call of that span acts on:
 * "flock(fd 8 </srv/site.lock>)". Left as it is when that is unknown, or does not fit in n bytes.
 * Cost: as above. */
void ty_call_name_row(const struct ty_explain *x, uint32_t span, char *row, size_t n);

#endif
