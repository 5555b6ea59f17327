/* SPDX-License-Identifier: MIT */
/* See rule.h. Budget: a wait tries each rule once, each relation is found once. */
#include "rule.h"

#include <stdlib.h>

const char *ty_relation_text(enum ty_relation r)
{
	static const char *const text[TY_R_COUNT] = {
#define X(name, says) [TY_R_##name] = says,
		TY_RELATIONS(X)
#undef X
	};

	return r < TY_R_COUNT && text[r] ? text[r] : "";
}

const char *ty_verdict_name(enum ty_verdict v)
{
	static const char *const name[] = {"idle", "stall", "own choice"};

	return name[v];
}

const char *ty_basis_name(enum ty_basis b)
{
	static const char *const name[] = {"by pattern", "by protocol", "by stack", "recorded"};

	return name[b];
}

const char *ty_basis_text(enum ty_basis b)
{
	static const char *const text[] = {
		"heuristic on wait patterns", "what the waiter and its waker did",
		"the function that the thread waited in", "recorded facts"};

	return text[b];
}

const char *ty_verdict_text(enum ty_verdict v)
{
	return v == TY_OWN_CHOICE ? "voluntary sleep" : v == TY_IDLE ? "not a stall" : "stall";
}

bool ty_relation_holds(struct ty_relations *of, enum ty_relation r)
{
	if (!of->known[r])
		of->known[r] = of->find(of->ctx, r) ? 2 : 1;
	return of->known[r] == 2;
}

static bool matches(const struct ty_rule *r, struct ty_relations *of)
{
	for (unsigned i = 0; i < TY_RULE_TERMS && r->when[i]; i++) {
		bool wanted = r->when[i] > 0;

		if (ty_relation_holds(of, (enum ty_relation)abs(r->when[i])) != wanted)
			return false;
	}
	return true;
}

const struct ty_rule *ty_rules_judge(struct ty_relations *of)
{
	const struct ty_rule *r = ty_rule_table;

	while (!matches(r, of))
		r++;
	return r;
}
