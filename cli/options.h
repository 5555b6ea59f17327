/* SPDX-License-Identifier: MIT */
/*
 * The options of a command as tables. The same rows parse the command line and print the help, so
 * that neither can tell what the other does not do; the completions read the help.
 */
#ifndef TY_OPTIONS_H
#define TY_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"
#include "texts.h"

struct ty_option {
	char letter;	  /* -o; 0: none */
	const char *name; /* --output; NULL ends a table */
	const char *arg;  /* its value in the help: "FILE"; "[=WHEN]" may be left out; NULL: none */
	const char *help; /* broken into lines where it is printed; NULL: not shown */
	/* Take it, with NULL for a value that was left out. 0, or -TY_E... with err: TY_EUSAGE is
	 * told with a hint at --help. */
	int (*take)(void *to, const char *arg, struct ty_err *err);
	size_t at; /* where what is taken lies in the group's struct */
	/* A value that may be left out may also be the next word, when it is one of these. */
	bool (*is_value)(const char *word);
};

/* A table and the struct that it fills. */
struct ty_option_group {
	const struct ty_option *options;
	void *to;
	const char *title; /* a line above them in the help; NULL */
};

#define TY_OPTION_GROUPS 12
struct ty_command_line {
	const char *cmd;	 /* "report" */
	const char *head, *tail; /* the help before and behind the options; tail may be NULL */
	bool first_word_ends;	 /* what stands behind the first word that is no option belongs to
				    another program */
	struct ty_option_group
		groups[TY_OPTION_GROUPS]; /* an option of two groups is the first's */
};

/* Words that are no options, in the order in which they stand, end up behind all options from
 * argv[optind] on. -1: go on; else the exit status: the help was shown (it is --help's), or
 * something is wrong, and told. */
int ty_options_parse(const struct ty_command_line *c, int argc, char **argv);

/*
 * Before it is clear which of several command lines it is: does one of the words (NULL ends them)
 * stand in it, as one that is neither an option nor an option's value? One that begins with "--" is
 * the option of that name. c: the options of all those command lines. argv stays as it is.
 */
bool ty_options_have(const struct ty_command_line *c, const char *const *words, int argc,
		     char **argv);

/* What rows take: a bool that becomes true, a const char *, one more of a struct ty_texts. */
int ty_take_flag(void *to, const char *arg, struct ty_err *err);
int ty_take_text(void *to, const char *arg, struct ty_err *err);
int ty_take_texts(void *to, const char *arg, struct ty_err *err);

#endif
