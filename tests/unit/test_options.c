/* SPDX-License-Identifier: MIT */
/* Options by tables: what a command line sets, what is refused, and that the help lists the table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <getopt.h>

#include "cli.h"
#include "options.h"
#include "vec.h"

struct args {
	bool loud;
	const char *out, *colour, *first, *second;
	struct ty_texts names;
};

static int take_colour(void *to, const char *arg, struct ty_err *err)
{
	*(const char **)to = arg ? arg : "always";
	return arg && !strcmp(arg, "brown")
		       ? ty_fail(err, TY_EUSAGE, TY_NO_OFFSET, "no such colour")
		       : 0;
}

static bool is_colour(const char *word)
{
	return !strcmp(word, "red");
}

static const struct ty_option own[] = {
	{'o', "output", "FILE", "where to", .take = ty_take_text, .at = offsetof(struct args, out)},
	{0, "loud", NULL, "say more", .take = ty_take_flag, .at = offsetof(struct args, loud)},
	{0, "name", "NAME",
	 "a text that is so long that it is broken into lines, each of which begins where the "
	 "first "
	 "one did",
	 .take = ty_take_texts, .at = offsetof(struct args, names)},
	{0, "colour", "[=WHEN]", "a value that may be left out", .take = take_colour,
	 .at = offsetof(struct args, colour), .is_value = is_colour},
	{0, "to", "T", "the first of two", .take = ty_take_text,
	 .at = offsetof(struct args, first)},
	{0}};
static const struct ty_option other[] = {
	{0, "to", "T", "the other", .take = ty_take_text, .at = offsetof(struct args, second)},
	{0, "alias", "T", NULL, .take = ty_take_text, .at = offsetof(struct args, second)},
	{0}};

static int parse(struct args *a, bool first_word_ends, char **argv)
{
	const struct ty_command_line line = {
		"test", "usage: test\n", "tail\n", .first_word_ends = first_word_ends,
		.groups = {{own, .to = a}, {other, .to = a, .title = "Others:"}}};
	int argc = 0;

	while (argv[argc])
		argc++;
	return ty_options_parse(&line, argc, argv);
}
#define PARSE(a, ends, ...) parse((a), (ends), (char *[]){"test", __VA_ARGS__, NULL})

static void test_values(void **state)
{
	char *argv[] = {"test", "--loud", "file", "-oout", "--name=a", "word", "--name", "b", NULL};
	struct args a = {0};

	assert_int_equal(parse(&a, false, argv), -1);
	assert_true(a.loud);
	assert_string_equal(a.out, "out");
	assert_int_equal(a.names.n, 2);
	assert_string_equal(a.names.v[1], "b");
	/* Words stand behind the options, in their order. */
	assert_int_equal(optind, 6);
	assert_string_equal(argv[6], "file");
	assert_string_equal(argv[7], "word");
	vec_fini(&a.names);
	/* A command behind its name has options of its own. */
	a = (struct args){0};
	assert_int_equal(PARSE(&a, true, "--output", "x", "command", "--loud"), -1);
	assert_false(a.loud);
	assert_int_equal(optind, 3);
}

static void test_left_out(void **state)
{
	struct args a = {0};

	assert_int_equal(PARSE(&a, false, "--colour", "blue"), -1);
	assert_string_equal(a.colour, "always"); /* blue is a word */
	assert_int_equal(PARSE(&a, false, "--colour", "red"), -1);
	assert_string_equal(a.colour, "red");
	assert_int_equal(PARSE(&a, false, "--colour=blue"), -1);
	assert_string_equal(a.colour, "blue");
}

static void test_two_groups(void **state)
{
	struct args a = {0};

	assert_int_equal(PARSE(&a, false, "--to", "1"), -1);
	assert_string_equal(a.first, "1");
	assert_null(a.second);
	assert_int_equal(PARSE(&a, false, "--alias", "2"), -1);
	assert_string_equal(a.second, "2");
}

static void test_wrong(void **state)
{
	struct args a = {0};

	assert_int_equal(PARSE(&a, false, "--nonsense"), TY_EXIT_USAGE);
	assert_int_equal(PARSE(&a, false, "-x"), TY_EXIT_USAGE);
	assert_int_equal(PARSE(&a, false, "--output"), TY_EXIT_USAGE);
	assert_int_equal(PARSE(&a, false, "--loud=yes"), TY_EXIT_USAGE);
	assert_int_equal(PARSE(&a, false, "--colour=brown"), TY_EXIT_USAGE);
}

/* What is written to standard output meanwhile. */
static void help_of(struct args *a, char *text, size_t size)
{
	FILE *f = tmpfile();
	int kept = dup(STDOUT_FILENO), status;
	size_t n;

	assert_non_null(f);
	fflush(stdout);
	dup2(fileno(f), STDOUT_FILENO);
	status = PARSE(a, false, "--help");
	fflush(stdout);
	dup2(kept, STDOUT_FILENO);
	close(kept);
	assert_int_equal(status, TY_EXIT_GOOD);
	rewind(f);
	n = fread(text, 1, size - 1, f);
	text[n] = 0;
	fclose(f);
}

static void test_help(void **state)
{
	struct args a = {0};
	char text[2000];

	help_of(&a, text, sizeof(text));
	assert_string_equal(
		text,
		"usage: test\n"
		"  -o, --output FILE    where to\n"
		"      --loud           say more\n"
		"      --name NAME      a text that is so long that it is broken into lines, each\n"
		"                       of which begins where the first one did\n"
		"      --colour[=WHEN]  a value that may be left out\n"
		"      --to T           the first of two\n"
		"Others:\n"
		"      --to T           the other\n"
		"  -h, --help           print this help\n"
		"tail\n");
}

static bool has(const char *word, char **argv)
{
	const struct ty_command_line any = {.groups = {{.options = own}, {.options = other}}};
	int argc = 0;

	while (argv[argc])
		argc++;
	return ty_options_have(&any, (const char *const[]){"none", word, NULL}, argc, argv);
}
#define HAS(word, ...) has(word, (char *[]){(char *)"test", __VA_ARGS__, NULL})

static void test_words(void **state)
{
	assert_true(HAS("red", "F", "red"));
	assert_true(HAS("red", "--loud", "red", "--name", "a"));
	assert_true(HAS("red", "--unknown", "red"));
	assert_true(HAS("red", "-z", "red"));
	assert_true(HAS("red", "--name=x", "--", "red"));
	assert_false(HAS("red", "F", "--name", "red"));
	assert_false(HAS("red", "--na", "red"));
	assert_false(HAS("red", "--t", "red", "x"));
	assert_false(HAS("red", "-o", "red"));
	assert_false(HAS("red", "-ored", "--name=red", "--colour", "red"));
	assert_false(HAS("red", "--name"));
	assert_true(HAS("--name", "--nam", "x"));
	assert_false(HAS("--name", "--loud", "F"));
	assert_false(HAS("--name", "--alias", "--name"));
	/* Nothing is moved: the command's own parser finds it as it was typed. */
	char *argv[] = {(char *)"test", (char *)"F", (char *)"--loud", NULL};

	assert_false(has("red", argv));
	assert_string_equal(argv[1], "F");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),	   cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_two_groups), cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_help),	   cmocka_unit_test(test_words)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
