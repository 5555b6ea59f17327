/* SPDX-License-Identifier: MIT */
/* See rule.h. Budget: a wait tries each rule once, each relation is found once. */
#include "rule.h"

#include <stdlib.h>
#include <string.h>

static const struct ty_rules *const groups[] = {&ty_rules_recorded, &ty_rules_reply,
						&ty_rules_signal, &ty_rules_pool, &ty_rules_path};

/* What nothing else is known of: an idle wait. */
static const struct ty_rule nothing = {
	.id = "no-dependent-work",
	.verdict = TY_IDLE,
	.grade = TY_BY_PATTERN,
	.priority = 0,
	.says = "no sign that the thread had work meanwhile",
};

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

const char *ty_grade_name(enum ty_grade g)
{
	static const char *const name[] = {"by pattern", "by protocol", "by stack", "recorded"};

	return name[g];
}

const char *ty_verdict_text(enum ty_verdict v)
{
	return v == TY_OWN_CHOICE ? "voluntary sleep" : ty_verdict_name(v);
}

const char *ty_grade_text(enum ty_grade g)
{
	static const char *const text[] = {"inferred from a pattern", "inferred from the protocol",
					   "inferred from the stack", "proven"};

	return text[g];
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

/* Strongest first. */
static int by_strength(const void *pa, const void *pb)
{
	const struct ty_rule *a = *(const struct ty_rule *const *)pa,
			     *b = *(const struct ty_rule *const *)pb;

	if (a->grade != b->grade)
		return a->grade > b->grade ? -1 : 1;
	return a->priority > b->priority ? -1 : a->priority < b->priority;
}

void ty_rulebook_init(struct ty_rulebook *b)
{
	b->n = 0;
	b->v[b->n++] = &nothing;
	for (size_t g = 0; g < sizeof(groups) / sizeof(*groups); g++)
		for (size_t i = 0; i < groups[g]->n && b->n < TY_RULES_MOST; i++)
			b->v[b->n++] = &groups[g]->v[i];
	qsort(b->v, b->n, sizeof(b->v[0]), by_strength);
}

const struct ty_rule *ty_rules_judge(const struct ty_rulebook *b, struct ty_relations *of)
{
	for (unsigned i = 0; i < b->n; i++)
		if (matches(b->v[i], of))
			return b->v[i];
	return &nothing;
}
