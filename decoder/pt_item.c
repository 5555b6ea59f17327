/* SPDX-License-Identifier: MIT */
/* See pt_item.h. */
#include "pt_item.h"

#ifdef TY_HAVE_IPT

#include <string.h>

bool ty_pt_item_event(const struct pt_event *ev, uint64_t ip, struct ty_flow_item *out)
{
	switch (ev->type) {
	case ptev_enabled:
		if (ev->status_update)
			return false;
		out->kind = TY_FLOW_START;
		out->ip = ev->variant.enabled.ip;
		if (ev->variant.enabled.resumed)
			out->flags |= TY_FF_RESUMED;
		return true;
	case ptev_disabled:
		out->kind = TY_FLOW_STOP;
		out->ip = ip;
		out->to = ev->ip_suppressed ? 0 : ev->variant.disabled.ip;
		return true;
	case ptev_async_disabled:
		out->kind = TY_FLOW_ASYNC;
		out->ip = ev->variant.async_disabled.at;
		return true;
	case ptev_async_branch:
		out->kind = TY_FLOW_ASYNC;
		out->ip = ev->variant.async_branch.from;
		out->to = ev->ip_suppressed ? 0 : ev->variant.async_branch.to;
		return true;
	case ptev_overflow:
		out->kind = TY_FLOW_OVERFLOW;
		out->ip = ev->ip_suppressed ? 0 : ev->variant.overflow.ip;
		return true;
	case ptev_tsx:
		if (!ev->variant.tsx.aborted)
			return false;
		out->kind = TY_FLOW_ABORT;
		out->ip = ev->ip_suppressed ? ip : ev->variant.tsx.ip;
		return true;
	case ptev_stop: return false;
	case ptev_ptwrite:
		out->kind = TY_FLOW_PTWRITE;
		out->ip = ev->ip_suppressed ? ip : ev->variant.ptwrite.ip;
		out->value = ev->variant.ptwrite.payload;
		return true;
	case ptev_cbr:
		out->kind = TY_FLOW_CBR;
		out->value = ev->variant.cbr.ratio;
		return true;
	case ptev_exstop:
		out->kind = TY_FLOW_POWER;
		out->text = "exstop";
		return true;
	case ptev_mwait:
		out->kind = TY_FLOW_POWER;
		out->text = "mwait";
		out->value = ev->variant.mwait.hints;
		return true;
	case ptev_pwre:
		out->kind = TY_FLOW_POWER;
		out->text = "pwre";
		out->value = ev->variant.pwre.state;
		return true;
	case ptev_pwrx:
		out->kind = TY_FLOW_POWER;
		out->text = "pwrx";
		out->value = ev->variant.pwrx.deepest;
		return true;
	default: return false;
	}
}

static uint8_t class_of(enum pt_insn_class c)
{
	switch (c) {
	case ptic_call: return TY_FC_CALL;
	case ptic_return: return TY_FC_RETURN;
	case ptic_jump: return TY_FC_JUMP;
	case ptic_cond_jump: return TY_FC_COND;
	case ptic_far_call: return TY_FC_FAR_CALL;
	case ptic_far_return: return TY_FC_FAR_RETURN;
	case ptic_far_jump: return TY_FC_FAR_JUMP;
	default: return TY_FC_OTHER;
	}
}

void ty_pt_item_insn(const struct pt_insn *insn, struct ty_flow_item *out)
{
	out->kind = TY_FLOW_INSN;
	out->cls = class_of(insn->iclass);
	out->size = insn->size <= sizeof(insn->raw) ? insn->size : 0;
	out->ip = insn->ip;
	memcpy(out->raw, insn->raw, out->size);
	if (insn->speculative)
		out->flags |= TY_FF_SPECULATIVE;
	if (insn->mode == ptem_32bit)
		out->flags |= TY_FF_32BIT;
}

bool ty_pt_item_needs_packet(const struct ty_flow_item *it)
{
	static const uint8_t prefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
					   0x66, 0x67, 0xf0, 0xf2, 0xf3};
	unsigned i = 0;

	if (it->cls != TY_FC_CALL && it->cls != TY_FC_JUMP)
		return it->cls != TY_FC_OTHER;
	while (i < it->size && (memchr(prefixes, it->raw[i], sizeof(prefixes)) ||
				(!(it->flags & TY_FF_32BIT) && it->raw[i] >> 4 == 4))) /* REX */
		i++;
	return i < it->size && it->raw[i] == 0xff;
}

#endif
