/* SPDX-License-Identifier: MIT */
/* Rules of stalls: for each, a wait that it decides on, and what one relation more or less makes of
 * that wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "rule.h"

#define R(name) TY_R_##name

/* What holds of the wait; the relation that is turned over then, and the rule that decides then. */
static const struct {
	const char *id;
	uint8_t holds[TY_RULE_TERMS];
	uint8_t turned;
	const char *then;
} waits[] = {
	{"holder-idle", {R(DEFINITE), R(BY_THREAD), R(HOLDER_IDLE)}, R(HOLDER_IDLE), "resource"},
	{"cpu-load",
	 {R(PEER), R(BY_THREAD), R(SENT_REQUEST), R(WAKER_RUNNABLE)},
	 R(WAKER_RUNNABLE),
	 "request-sent"},
	{"unexplained-sleep", {R(DEFINITE), R(UNCALLED)}, R(UNCALLED), "resource"},
	{"resource", {R(DEFINITE), R(BY_THREAD)}, R(HOLDER_IDLE), "holder-idle"},
	{"lost", {R(DEFINITE), R(END_LOST), R(WORK_LOST)}, R(WORK_LOST), "resource"},
	{"lost-idle", {R(PEER), R(END_LOST)}, R(WORK_LOST), "lost"},
	{"no-reply", {R(STILL_WAITING), R(PEER), R(NO_REPLY_YET)}, R(BEGAN_BEFORE), "not-woken"},
	{"reply-awaited-in-request",
	 {R(EVENTS), R(IDLE), R(BY_THREAD), R(MAYBE_IN_REQUEST), R(AWAITS_REPLY)},
	 R(MAYBE_IN_REQUEST),
	 "any-event"},
	{"no-reply-in-time",
	 {R(EVENTS), R(IDLE), R(BY_TIMER), R(TIMED_OUT), R(AWAITS_REPLY), R(ON_PATH)},
	 R(TIMED_OUT),
	 "reply-awaited"},
	{"reply-awaited",
	 {R(EVENTS), R(IDLE), R(BY_THREAD), R(AWAITS_REPLY), R(ON_PATH)},
	 R(AWAITS_REPLY),
	 "any-event"},
	{"peer-idle",
	 {R(BY_THREAD), R(PEER), R(SENT_REQUEST), R(PEER_IDLE)},
	 R(ON_PATH),
	 "request-sent"},
	{"accept",
	 {R(IDLE), R(BY_THREAD), R(ACCEPTS), R(SENT_REQUEST)},
	 R(ACCEPTS),
	 "request-sent"},
	{"terminal", {R(BY_THREAD), R(PEER), R(SENT_LAST), R(TERMINAL)}, R(TERMINAL), "reply-late"},
	{"no-cpu", {R(NO_CPU), R(CPU_EXPLAINED)}, R(CPU_EXPLAINED), "no-cpu-shared"},
	{"no-cpu-shared", {R(NO_CPU)}, R(CPU_EXPLAINED), "no-cpu"},
	{"loop-blocked", {R(COMPUTED)}, R(COMPUTED), "not-woken"},
	{"on-cpu", {R(ON_CPU)}, R(ON_CPU), "not-woken"},
	{"polled-lock", {R(POLLED), R(DEFINITE), R(BY_THREAD)}, R(POLLED), "resource"},
	{"timed-out",
	 {R(BY_TIMER), R(PEER), R(TIMED_OUT), R(WAKE_EXPECTED), R(SENT_OR_WOKE)},
	 R(RUNTIME_SLEEP),
	 "not-woken"},
	{"reply-late", {R(BY_THREAD), R(PEER), R(SENT_LAST)}, R(WORK_SHARED), "work-shared"},
	{"request-sent",
	 {R(BY_THREAD), R(IDLE), R(EVENTS), R(SENT_REQUEST)},
	 R(ENDED_BY_REQUEST),
	 "any-event"},
	{"in-request", {R(PEER), R(BY_TIMER), R(IN_REQUEST)}, R(IDLE), "not-woken"},
	{"slept-in-request",
	 {R(BY_TIMER), R(IDLE), R(SLEEP), R(IN_REQUEST)},
	 R(IN_REQUEST),
	 "voluntary-sleep"},
	{"server", {R(BY_THREAD), R(PEER), R(SERVED), R(ON_PATH)}, R(SERVED), "critical-path"},
	{"signal-reply-due",
	 {R(BY_THREAD), R(IDLE), R(SIGNALLED), R(REPLY_PENDING)},
	 R(REPLY_PENDING),
	 "any-event"},
	{"signal-needed",
	 {R(BY_THREAD), R(IDLE), R(SIGNALLED), R(NEEDED_ONCE)},
	 R(NEEDED_ONCE),
	 "any-event"},
	{"signal-reply-follows",
	 {R(BY_THREAD), R(IDLE), R(SIGNALLED), R(REPLY_PENDING_UNSEEN)},
	 R(SIGNALLED),
	 "any-event"},
	{"connecting", {R(PEER), R(BY_TIMER), R(CONNECTING)}, R(BY_THREAD), "no-dependent-work"},
	{"awaited-end",
	 {R(BY_THREAD), R(END), R(AWAITED_HELD_UP)},
	 R(AWAITED_HELD_UP),
	 "end-of-work"},
	{"lock-by-stack",
	 {R(PEER), R(WORD), R(BY_THREAD), R(LOCK_BY_STACK)},
	 R(LOCK_BY_STACK),
	 "no-dependent-work"},
	{"sleep-by-stack",
	 {R(PEER), R(WORD), R(BY_TIMER), R(SLEEP_BY_STACK)},
	 R(SLEEP_BY_STACK),
	 "not-woken"},
	{"lock-by-use",
	 {R(BY_THREAD), R(PEER), R(WORD), R(PASSED_ON), R(WORK_SHARED)},
	 R(PASSED_ON),
	 "work-shared"},
	{"killed-at-exit",
	 {R(BY_THREAD), R(IDLE), R(EVENTS), R(SENT_REQUEST), R(KILLED)},
	 R(KILLED),
	 "request-sent"},
	{"work-shared",
	 {R(BY_THREAD), R(PEER), R(WORK_SHARED), R(ON_PATH)},
	 R(WORK_SHARED),
	 "critical-path"},
	{"end-of-work",
	 {R(BY_THREAD), R(END), R(ON_PATH), R(SENT_REQUEST)},
	 R(AWAITED_HELD_UP),
	 "awaited-end"},
	{"started-program",
	 {R(BY_THREAD), R(PEER), R(FOR_PROGRAM), R(ON_PATH)},
	 R(SENT_LAST),
	 "reply-late"},
	{"stop-the-world",
	 {R(BY_THREAD), R(PEER), R(WORD), R(WORLD_STOPPED), R(SENT_REQUEST)},
	 R(WORLD_STOPPED),
	 "request-sent"},
	{"timer-needed",
	 {R(BY_TIMER), R(PEER), R(ON_PATH), R(COMPUTED_AFTER)},
	 R(RECURS),
	 "not-woken"},
	{"voluntary-sleep",
	 {R(BY_TIMER), R(IDLE), R(SLEEP), R(ON_PATH), R(COMPUTED_AFTER)},
	 R(SLEEP),
	 "timer-needed"},
	{"not-woken", {R(PEER), R(ON_PATH), R(SENT_REQUEST)}, R(BY_THREAD), "request-sent"},
	{"needed-once",
	 {R(BY_THREAD), R(IDLE), R(EVENTS), R(NEXT_FD), R(RELATED), R(NEEDED_ONCE)},
	 R(RELATED),
	 "any-event"},
	{"any-event", {R(BY_THREAD), R(IDLE), R(EVENTS), R(ON_PATH)}, R(PEER), "critical-path"},
	{"critical-path",
	 {R(BY_THREAD), R(PEER), R(ON_PATH)},
	 R(RECURS_SAME_WAKER),
	 "no-dependent-work"},
	{"had-work", {R(BY_THREAD), R(PEER), R(HAD_WORK)}, R(HAD_WORK), "no-dependent-work"},
	{"no-dependent-work", {R(BY_THREAD), R(PEER)}, R(HAD_WORK), "had-work"},
};
#define WAITS (sizeof(waits) / sizeof(*waits))

static bool holds(void *ctx, enum ty_relation r)
{
	return ((const bool *)ctx)[r];
}

static const char *judged(const bool *of)
{
	struct ty_relations r = {.find = holds, .ctx = (void *)of};

	return ty_rules_judge(&r)->id;
}

static void each_rule_decides_on_its_wait(void **state)
{
	for (size_t i = 0; i < WAITS; i++) {
		bool of[TY_R_COUNT] = {0};

		for (size_t k = 0; k < TY_RULE_TERMS && waits[i].holds[k]; k++)
			of[waits[i].holds[k]] = true;
		assert_string_equal(judged(of), waits[i].id);
		of[waits[i].turned] = !of[waits[i].turned];
		assert_string_equal(judged(of), waits[i].then);
	}
}

static void each_rule_has_a_wait(void **state)
{
	assert_int_equal(ty_rules_n, WAITS);
	for (unsigned i = 0; i < ty_rules_n; i++) {
		size_t k = 0;

		while (k < WAITS && strcmp(waits[k].id, ty_rule_table[i].id))
			k++;
		if (k == WAITS)
			fail_msg("no wait tests %s", ty_rule_table[i].id);
	}
}

/* So that it is basis and priority that decide, in a table that is tried from its start. The last
 * rule matches every wait, and only that. */
static void each_rule_is_weaker_than_the_one_before(void **state)
{
	for (unsigned i = 0; i + 1 < ty_rules_n; i++) {
		const struct ty_rule *a = &ty_rule_table[i], *b = a + 1;

		if (a->basis < b->basis || (a->basis == b->basis && a->priority <= b->priority))
			fail_msg("%s and %s", a->id, b->id);
		assert_int_not_equal(a->when[0], TY_R_NONE);
	}
	assert_int_equal(ty_rule_table[ty_rules_n - 1].when[0], TY_R_NONE);
}

static void rules_are_whole(void **state)
{
	for (unsigned i = 0; i < ty_rules_n; i++) {
		const struct ty_rule *r = &ty_rule_table[i];

		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(ty_rule_table[k].id, r->id);
		assert_true(r->says && *r->says && r->says[strlen(r->says) - 1] != '.');
		for (unsigned k = 0; k < TY_RULE_TERMS && r->when[k]; k++)
			assert_true(*ty_relation_text(
				(enum ty_relation)(r->when[k] < 0 ? -r->when[k] : r->when[k])));
	}
}

static unsigned found;

static bool count(void *ctx, enum ty_relation r)
{
	found++;
	return r == TY_R_BY_THREAD;
}

static void a_relation_is_found_once(void **state)
{
	struct ty_relations of = {.find = count};

	found = 0;
	ty_rules_judge(&of);
	assert_in_range(found, 1, TY_R_COUNT);
	found = 0;
	ty_rules_judge(&of);
	assert_int_equal(found, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule_decides_on_its_wait),
		cmocka_unit_test(each_rule_has_a_wait),
		cmocka_unit_test(each_rule_is_weaker_than_the_one_before),
		cmocka_unit_test(rules_are_whole),
		cmocka_unit_test(a_relation_is_found_once),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
