/* SPDX-License-Identifier: MIT */
/* See options.h. getopt_long does the parsing. */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "vec.h"

#define OPTIONS_MAX 64
#define BY_ROW	    256 /* getopt's value of row 0; below: letters */
#define WIDTH	    80
#define TEXT_AT_MAX 27 /* a longer option gets a line of its own */

struct row {
	const struct ty_option *option;
	void *to; /* its group's struct */
};

/* All rows with getopt's view of them. */
struct rows {
	struct row v[OPTIONS_MAX];
	struct option longs[OPTIONS_MAX + 1];
	char letters[2 * OPTIONS_MAX + 4];
	size_t n;
};

int ty_take_flag(void *to, const char *arg, struct ty_err *err)
{
	*(bool *)to = true;
	return 0;
}

int ty_take_text(void *to, const char *arg, struct ty_err *err)
{
	*(const char **)to = arg;
	return 0;
}

int ty_take_texts(void *to, const char *arg, struct ty_err *err)
{
	struct ty_texts *texts = to;

	return vec_push(texts, arg) ? ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory") : 0;
}

static int take_help(void *to, const char *arg, struct ty_err *err)
{
	return 0; /* ty_options_parse */
}

static const struct ty_option help_option = {'h', "help", NULL, "print this help",
					     .take = take_help};

static int has_arg(const struct ty_option *o)
{
	if (!o->arg)
		return no_argument;
	return *o->arg == '[' ? optional_argument : required_argument;
}

static void add(struct rows *r, const struct ty_option *o, void *to)
{
	size_t n = strlen(r->letters);

	if (r->n == OPTIONS_MAX)
		return;
	for (size_t i = 0; i < r->n; i++) /* twice, getopt takes its abbreviation for two */
		if (!strcmp(r->v[i].option->name, o->name))
			return;
	r->v[r->n] = (struct row){o, to};
	r->longs[r->n] = (struct option){o->name, has_arg(o), NULL, BY_ROW + (int)r->n};
	r->n++;
	if (!o->letter)
		return;
	r->letters[n++] = o->letter;
	if (o->arg)
		r->letters[n++] = ':';
	r->letters[n] = 0;
}

/* mode: getopt's. */
static void add_all(struct rows *r, const struct ty_command_line *c, const char *mode)
{
	strcpy(r->letters, mode);
	for (size_t g = 0; g < TY_OPTION_GROUPS; g++)
		for (const struct ty_option *o = c->groups[g].options; o && o->name; o++)
			add(r, o, c->groups[g].to);
	add(r, &help_option, NULL);
}

/* " -o, --output FILE": returns its length; prints it if requested. */
static int names(const struct ty_option *o, bool print)
{
	char text[200];
	int n = snprintf(text, sizeof(text), "  %c%c%s--%s%s%s", o->letter ? '-' : ' ',
			 o->letter ? o->letter : ' ', o->letter ? ", " : "  ", o->name,
			 o->arg && *o->arg != '[' ? " " : "", o->arg ? o->arg : "");

	if (print)
		fputs(text, stdout);
	return n;
}

/* In lines from column `at` on; the cursor is at column `col`. */
static void paragraph(const char *text, int at, int col)
{
	if (col > at - 2) {
		putchar('\n');
		col = 0;
	}
	printf("%*s", at - col, "");
	for (col = at; *text;) {
		int n = (int)strcspn(text, " ");

		if (col > at && col + 1 + n > WIDTH) {
			printf("\n%*s", at, "");
			col = at;
		} else if (col > at) {
			putchar(' ');
			col++;
		}
		printf("%.*s", n, text);
		col += n;
		text += n + (text[n] == ' ');
	}
	putchar('\n');
}

static void print_group(const struct ty_option *options, int at)
{
	for (const struct ty_option *o = options; o && o->name; o++)
		if (o->help)
			paragraph(o->help, at, names(o, true));
}

static void print_help(const struct ty_command_line *c, const struct rows *r)
{
	const struct ty_option last[] = {help_option, {0}};
	int at = 0;

	for (size_t i = 0; i < r->n; i++) {
		int n = r->v[i].option->help ? names(r->v[i].option, false) + 2 : 0;

		at = n > at && n <= TEXT_AT_MAX ? n : at;
	}
	fputs(c->head, stdout);
	for (size_t g = 0; g < TY_OPTION_GROUPS; g++) {
		if (c->groups[g].title)
			puts(c->groups[g].title);
		print_group(c->groups[g].options, at);
	}
	print_group(last, at);
	if (c->tail)
		fputs(c->tail, stdout);
}

static const struct row *row_of(const struct rows *r, int value)
{
	if (value >= BY_ROW)
		return &r->v[value - BY_ROW];
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].option->letter == value)
			return &r->v[i];
	return NULL;
}

/* What getopt could not take: "-x" or "--nonsense". */
static int refuse(const char *cmd, int c, char **argv)
{
	char letter[] = {'-', (char)optopt, 0};
	const char *what = optopt > 0 && optopt < BY_ROW ? letter : argv[optind - 1];

	if (c == ':')
		return ty_cli_usage(cmd, "option %s needs a value", what);
	if (optopt >= BY_ROW)
		return ty_cli_usage(cmd, "option %s takes no value", what);
	return ty_cli_usage(cmd, "unknown or ambiguous option %s", what);
}

/* The value; a word that only may be one is stepped over. */
static const char *value(const struct ty_option *o, int argc, char **argv)
{
	if (!optarg && o->is_value && optind < argc && o->is_value(argv[optind]))
		return argv[optind++];
	return optarg;
}

static bool is_one_of(const char *const *words, const char *dashes, const char *word)
{
	size_t n = strlen(dashes);

	for (; *words; words++)
		if (!strncmp(*words, dashes, n) && !strcmp(*words + n, word))
			return true;
	return false;
}

bool ty_options_have(const struct ty_command_line *line, const char *const *words, int argc,
		     char **argv)
{
	struct rows rows = {0};
	bool have = false;
	int c;

	add_all(&rows, line, "-:"); /* words in their places, as the value 1 */
	optind = 0;
	opterr = 0;
	while (!have && (c = getopt_long(argc, argv, rows.letters, rows.longs, NULL)) != -1) {
		const struct row *r = c == 1 ? NULL : row_of(&rows, c);

		if (c == 1)
			have = is_one_of(words, "", optarg);
		else if (r)
			have = is_one_of(words, "--", r->option->name);
		if (r)
			value(r->option, argc, argv);
	}
	for (; !have && optind < argc; optind++) /* behind "--" */
		have = is_one_of(words, "", argv[optind]);
	return have;
}

int ty_options_parse(const struct ty_command_line *line, int argc, char **argv)
{
	struct rows rows = {0};
	int c;

	/* ":" distinguishes a missing value from an unknown option. */
	add_all(&rows, line, line->first_word_ends ? "+:" : ":");
	optind = 0; /* nothing is left of an earlier call */
	opterr = 0;
	while ((c = getopt_long(argc, argv, rows.letters, rows.longs, NULL)) != -1) {
		const struct row *r = c == ':' || c == '?' ? NULL : row_of(&rows, c);
		const char *arg;
		struct ty_err err = {0};

		if (!r)
			return refuse(line->cmd, c, argv);
		if (r->option->take == take_help) {
			print_help(line, &rows);
			return TY_EXIT_GOOD;
		}
		arg = value(r->option, argc, argv);
		if (!r->option->take((char *)r->to + r->option->at, arg, &err))
			continue;
		return err.code == TY_EUSAGE ? ty_cli_usage(line->cmd, "%s", err.msg)
					     : ty_cli_fail(&err);
	}
	return -1;
}
