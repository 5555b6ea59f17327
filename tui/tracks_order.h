/* SPDX-License-Identifier: MIT */
/* Which threads come first: traced ones, then those with stalls, then those that ran longest. */
#ifndef TY_TRACKS_ORDER_H
#define TY_TRACKS_ORDER_H

#include "tracks.h"

#define TY_TRACKS_CALLS 6 /* of the foremost threads show their system calls at first */

/* Fills the processes, their members and the threads whose calls are shown, from rows without any.
 * 0 or -TY_ENOMEM. */
int ty_tracks_order(struct ty_tracks *t, const struct ty_window *choice,
		    const struct ty_findings *f);

#endif
