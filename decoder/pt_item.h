/* SPDX-License-Identifier: MIT */
/* Converts libipt's output to struct ty_pt_item; for the files that use libipt. */
#ifndef TY_PT_ITEM_H
#define TY_PT_ITEM_H

#include "pt_stream.h"

#ifdef TY_HAVE_IPT

#include <intel-pt.h>

/* Converts an event; ip: of the preceding instruction. False: the event is internal. */
bool ty_pt_item_event(const struct pt_event *ev, uint64_t ip, struct ty_flow_item *out);
void ty_pt_item_insn(const struct pt_insn *insn, struct ty_flow_item *out);
/* True when the instruction is a branch that a packet describes. */
bool ty_pt_item_needs_packet(const struct ty_flow_item *it);

#endif
#endif
