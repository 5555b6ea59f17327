/* SPDX-License-Identifier: MIT */
/* Waits that another thread ended by a signal. */
#include "rule.h"

static const struct ty_rule rows[] = {
	{.id = "signal-reply-due",
	 .verdict = TY_STALL,
	 .grade = TY_BY_PROTOCOL,
	 .priority = 84,
	 .says = "the thread had a reply pending and waited for a signal",
	 .when = {TY_R_BY_THREAD, TY_R_IDLE, TY_R_SIGNALLED, TY_R_REPLY_PENDING}},
	{.id = "signal-needed",
	 .verdict = TY_STALL,
	 .grade = TY_BY_PROTOCOL,
	 .priority = 83,
	 .proof = TY_PROOF_PATH,
	 .says = "the command made no progress until this one-time signal",
	 .when = {TY_R_BY_THREAD, TY_R_IDLE, TY_R_SIGNALLED, TY_R_SIGNALLER_TRACED,
		  TY_R_NEEDED_ONCE}},
	{.id = "signal-after-request",
	 .verdict = TY_STALL,
	 .grade = TY_BY_PROTOCOL,
	 .priority = 82,
	 .proof = TY_PROOF_PATH,
	 .says = "the thread had sent something, and the command waited until the signal came",
	 .when = {TY_R_BY_THREAD, TY_R_IDLE, TY_R_SIGNALLED, TY_R_SENT, TY_NOT(TY_R_SERVES),
		  TY_R_ON_PATH_ANY}},
	{.id = "signal-reply-follows",
	 .verdict = TY_STALL,
	 .grade = TY_BY_PROTOCOL,
	 .priority = 81,
	 .proof = TY_PROOF_NEVER,
	 .says = "the thread replied as soon as the signal came, so a reply was pending",
	 .when = {TY_R_BY_THREAD, TY_R_IDLE, TY_R_SIGNALLED, TY_R_REPLY_PENDING_UNSEEN}},
};
const struct ty_rules ty_rules_signal = {rows, sizeof(rows) / sizeof(*rows)};
