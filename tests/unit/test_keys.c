/* SPDX-License-Identifier: MIT */
/* The key table: nothing bound twice, every action reachable and explained. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "keys.h"

static void no_key_twice_and_every_action_has_one(void **state)
{
	unsigned n;
	const struct ty_key_row *t = ty_keys_table(&n);

	assert_int_equal(n, TY_ACT_COUNT - 1);
	for (unsigned i = 0; i < n; i++) {
		assert_int_not_equal(t[i].keys[0], 0);
		assert_true(strlen(t[i].help) > 3);
		assert_true(strlen(t[i].group) > 0);
		for (int k = 0; k < TY_KEYS_PER_ACTION && t[i].keys[k]; k++)
			for (unsigned j = 0; j < n; j++)
				for (int l = 0; l < TY_KEYS_PER_ACTION && t[j].keys[l]; l++)
					if (i != j || k != l)
						assert_int_not_equal(t[i].keys[k], t[j].keys[l]);
		assert_int_equal(ty_keys_action(t[i].keys[0]), t[i].action);
		assert_ptr_equal(ty_keys_row(t[i].action), &t[i]);
	}
	assert_int_equal(ty_keys_action(0), TY_ACT_NONE);
	assert_int_equal(ty_keys_action('Q'), TY_ACT_NONE);
	assert_null(ty_keys_row(TY_ACT_NONE));
}

static void groups_are_contiguous(void **state)
{
	unsigned n;
	const struct ty_key_row *t = ty_keys_table(&n);

	for (unsigned i = 1; i < n; i++)
		if (strcmp(t[i].group, t[i - 1].group))
			for (unsigned j = 0; j < i; j++)
				assert_string_not_equal(t[i].group, t[j].group);
}

static void names(void **state)
{
	char one[TY_KEY_NAME_MAX], all[TY_KEY_NAMES_MAX];

	assert_string_equal(ty_key_name(TY_KEY_PGUP, 0, one), "PgUp");
	assert_string_equal(ty_key_name(TY_KEY_CTRL('L'), 0, one), "Ctrl-L");
	assert_string_equal(ty_key_name(' ', 0, one), "Space");
	assert_string_equal(ty_key_names(ty_keys_row(TY_ACT_ZOOM_IN), 0, all), "w, +, =");
	assert_string_equal(ty_key_names(ty_keys_row(TY_ACT_UP), 0, all), "k, Up");
}

static void man_text_names_every_key(void **state)
{
	struct ty_buf b;
	unsigned n;
	const struct ty_key_row *t = ty_keys_table(&n);
	unsigned items = 0;

	ty_buf_init(&b, 1 << 16);
	assert_int_equal(ty_keys_man(&b), 0);
	for (const char *s = b.p; (s = strstr(s, ".TP\n")); s++)
		items++;
	assert_int_equal(items, n);
	for (unsigned i = 1; i < n; i++)
		if (!strpbrk(t[i].help, "-\\^'"))
			assert_non_null(strstr(b.p, t[i].help));
	assert_non_null(strstr(b.p, "\\fBs, \\-\\fR"));
	ty_buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_key_twice_and_every_action_has_one),
		cmocka_unit_test(groups_are_contiguous),
		cmocka_unit_test(names),
		cmocka_unit_test(man_text_names_every_key),
	};

	return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
