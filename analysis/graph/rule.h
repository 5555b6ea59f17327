/* SPDX-License-Identifier: MIT */
/*
 * Rules: is a wait a stall, idle, or the thread's own choice?
 *
 * A rule is one row: its predicate is a conjunction of relations (relations.h) that hold or do not
 * hold, and nothing else. Of all rules that match, the one of the strongest basis decides; of one
 * basis, that of the highest priority. No two rules have the same basis and priority; the table has
 * them in that order, strongest first (checked by tests/unit/test_rulebook.c).
 */
#ifndef TY_RULE_H
#define TY_RULE_H

#include <stddef.h>

#include "relations.h"

enum ty_verdict { TY_IDLE, TY_STALL, TY_OWN_CHOICE };

/* What the verdict rests on, weakest first (JSON: grade). */
enum ty_basis {
	TY_BY_PATTERN,	/* habit: how such threads wait, before and after */
	TY_BY_PROTOCOL, /* both ends of the channel are seen */
	TY_BY_STACK,	/* the thread waited in a function whose role is known */
	TY_RECORDED	/* the kernel or a word in memory says so */
};

enum ty_rule_kind { /* of wait, where a rule says more than the call */
		    TY_KIND_OF_CALL,
		    TY_KIND_LOST,
		    TY_KIND_TIMER,
		    TY_KIND_REQUEST, /* the call's; of a request that waited for its reply */
		    TY_KIND_LOCK,
		    TY_KIND_OTHER
};

enum ty_proof {			/* can the finding be proven? */
		TY_PROOF_EDGES, /* when the edges of its chain are recorded */
		TY_PROOF_PATH,	/* and the critical path is that of a recorded command */
		TY_PROOF_NEVER
};

#define TY_RULE_TERMS 10
#define TY_NOT(r)     (-(int)(r))

struct ty_rule {
	const char *id;
	uint8_t verdict, basis, kind, proof; /* enums above */
	uint8_t proven_if;		     /* a relation that must hold, too; TY_R_NONE */
	unsigned priority;
	const char *says; /* one sentence */
	/* All must hold (or, TY_NOT, not hold). Cheap ones first: they are tried in this order. */
	int8_t when[TY_RULE_TERMS];
};
#define WHEN(...) .when = {__VA_ARGS__}
/* A row: id, verdict, basis, priority, sentence, WHEN(...), then kind and proof where they are not
 * the first of their enums. */
#define RULE(id_, verdict_, basis_, priority_, says_, ...)                                         \
	{                                                                                          \
		.id = (id_), .verdict = TY_##verdict_, .basis = TY_##basis_,                       \
		.priority = (priority_), .says = (says_), __VA_ARGS__                              \
	}
_Static_assert(TY_R_COUNT < 128, "a relation fits into int8_t");

/* As JSON has them, and as people read them. */
const char *ty_verdict_name(enum ty_verdict v);
const char *ty_verdict_text(enum ty_verdict v);
const char *ty_basis_name(enum ty_basis b);
const char *ty_basis_text(enum ty_basis b); /* as people read it */

/* All rules, strongest first; the last one matches every wait. */
extern const struct ty_rule ty_rule_table[];
extern const unsigned ty_rules_n;
/* The rule that decides. */
const struct ty_rule *ty_rules_judge(struct ty_relations *of);

#endif
