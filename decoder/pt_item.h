/* SPDX-License-Identifier: MIT */
/* What libipt gives, as items of ours; for the files that know libipt. */
#ifndef TY_PT_ITEM_H
#define TY_PT_ITEM_H

#include "pt_stream.h"

#ifdef TY_HAVE_IPT

#include <intel-pt.h>

/* Of an event, ip: of the instruction before it. False: it is not for anybody to see. */
bool ty_pt_item_event(const struct pt_event *ev, uint64_t ip, struct ty_flow_item *out);
void ty_pt_item_insn(const struct pt_insn *insn, struct ty_flow_item *out);
/* Is the instruction a branch of which a packet tells? */
bool ty_pt_item_needs_packet(const struct ty_flow_item *it);

#endif
#endif
