/* SPDX-License-Identifier: MIT */
/* A word of a search or filter: a pattern, or numbers. Patterns are POSIX extended regular
 * expressions, in either case unless they have a capital. */
#ifndef TY_QUERY_WORD_H
#define TY_QUERY_WORD_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "err.h"

#define TY_QUERY_NUMBERS 16 /* of one word: tid:12,13 */

struct ty_query_word {
	uint8_t field; /* the caller's */
	bool has_re, unknown_key;
	char letter; /* the caller's */
	regex_t re;
	int32_t number[TY_QUERY_NUMBERS];
	unsigned numbers;
	char text[48]; /* the pattern, for messages */
};

/* A key that a word may begin with, NULL after the last one. */
struct ty_query_key {
	const char *key; /* "tid:" */
	uint8_t field;	 /* the caller's */
	bool numbers;	 /* are to follow, instead of a pattern */
};

/* s: the word, of which `all` is the text; example: of a word, for messages. A word without a known
 * key is a pattern, with field 0; unknown_key: it looks like a key. 0, or -TY_EUSAGE with a
 * sentence. The words are zero before, and fini is called in any case. */
int ty_query_word_parse(struct ty_query_word *w, const char *s, const struct ty_query_key *keys,
			const char *all, const char *example, struct ty_err *err);
/* `most` words are in use. */
int ty_query_too_long(const char *what, unsigned most, struct ty_err *err);
int ty_query_word_numbers(struct ty_query_word *w, const char *s, struct ty_err *err);
bool ty_query_word_match(const struct ty_query_word *w, const char *s); /* s NULL: false */
bool ty_query_word_has(const struct ty_query_word *w, int32_t v);
void ty_query_word_fini(struct ty_query_word *w);

/* The number in a text that is nothing else, or a thread's name ("102", "thread:102"): the thread
 * with that number may be meant. NULL: it is not one. */
const char *ty_tid_meant(const char *text);

#endif
