/* SPDX-License-Identifier: MIT */
/*
 * Option tables of commands. The same rows parse the command line and print the help, so that the
 * two cannot differ; the completions read the help.
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
	const char *arg;  /* its value in the help: "FILE"; "[=WHEN]" is optional; NULL: none */
	const char *help; /* wrapped when it is printed; NULL: hidden */
	/* Stores the value, NULL when it was omitted. 0, or -TY_E... with err: TY_EUSAGE is printed
	 * with a hint at --help. */
	int (*take)(void *to, const char *arg, struct ty_err *err);
	size_t at; /* offset of the destination in the group's struct */
	/* An optional value may also be the next word when this is true for it. */
	bool (*is_value)(const char *word);
};

/* A table and the struct that it fills. */
struct ty_option_group {
	const struct ty_option *options;
	void *to;
	const char *title; /* heading in the help; NULL */
};

#define TY_OPTION_GROUPS 12
struct ty_command_line {
	const char *cmd;	 /* "report" */
	const char *head, *tail; /* help before and after the options; tail may be NULL */
	bool first_word_ends;	 /* the first word that is not an option, and all after it, belong
				  * to another program */
	struct ty_option_group groups[TY_OPTION_GROUPS]; /* when two groups have the same option,
							  * the first one applies */
};

/* Moves words that are not options, in their order, to the end: argv[optind] and after. -1:
 * continue; else the exit status: the help was printed (for --help), or an error. */
int ty_options_parse(const struct ty_command_line *c, int argc, char **argv);

/*
 * Used before it is known which of several command lines applies: true when one of the words
 * (terminated by NULL) occurs in it as neither an option nor an option's value. A word beginning
 * with "--" is the option of that name. c: the options of all these command lines. Leaves argv
 * unchanged.
 */
bool ty_options_have(const struct ty_command_line *c, const char *const *words, int argc,
		     char **argv);

/* What the functions of rows return for a value that they do not take. */
#define ty_wrong_value(err, ...) ty_fail(err, TY_EUSAGE, TY_NO_OFFSET, __VA_ARGS__)

/* Common row functions: set a bool, store a const char *, append to a struct ty_texts. */
int ty_take_flag(void *to, const char *arg, struct ty_err *err);
int ty_take_text(void *to, const char *arg, struct ty_err *err);
int ty_take_texts(void *to, const char *arg, struct ty_err *err);

#endif
