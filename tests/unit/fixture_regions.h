/* SPDX-License-Identifier: MIT */
/* A recording with regions of user code. Included behind cmocka.h. */
#ifndef TY_FIXTURE_REGIONS_H
#define TY_FIXTURE_REGIONS_H

#include "fixture_model.h"

static inline void at(uint64_t ts, int tid, uint32_t kind, const char *name, int64_t value)
{
	struct ty_event ev = {.ts_ns = ts, .tid = tid, .kind = TY_EV_REGION, .id = 30};

	ev.u.region.kind = kind;
	ev.u.region.name = name;
	ev.u.region.value = value;
	ty_mx_feed(ev);
}

static inline void start(void)
{
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 100, 0, R, 5);
}

#endif
