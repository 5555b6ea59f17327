/* SPDX-License-Identifier: MIT */
#include "query_word.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool capital(const char *s)
{
	for (; *s; s++)
		if (*s >= 'A' && *s <= 'Z')
			return true;
	return false;
}

static int compile(struct ty_query_word *w, const char *re, const char *all, const char *example,
		   struct ty_err *err)
{
	char why[120];
	int r;

	snprintf(w->text, sizeof(w->text), "%s", re);
	if (!*re)
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "'%s' needs a pattern after the colon (example: %s)", all, example);
	r = regcomp(&w->re, re, REG_EXTENDED | REG_NOSUB | (capital(re) ? 0 : REG_ICASE));
	if (r) {
		regerror(r, &w->re, why, sizeof(why));
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "'%s' is not a valid regular expression: %s (example: %s)", re, why,
			       example);
	}
	w->has_re = true;
	return 0;
}

int ty_query_word_numbers(struct ty_query_word *w, const char *s, struct ty_err *err)
{
	const char *all = s;

	for (;;) {
		char *end;
		long v = strtol(s, &end, 10);

		if (*s < '0' || *s > '9' || (*end && *end != ',' && *end != '|') || v > INT32_MAX)
			return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
				       "'%s' is not a number or a list of numbers (example: "
				       "tid:1234,1250)",
				       all);
		if (w->numbers == TY_QUERY_NUMBERS)
			return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
				       "a word has at most %d numbers", TY_QUERY_NUMBERS);
		w->number[w->numbers++] = (int32_t)v;
		if (!*end)
			return 0;
		s = end + 1;
	}
}

int ty_query_word_parse(struct ty_query_word *w, const char *s, const struct ty_query_key *keys,
			const char *all, const char *example, struct ty_err *err)
{
	for (const struct ty_query_key *k = keys; k->key; k++)
		if (!strncmp(s, k->key, strlen(k->key))) {
			w->field = k->field;
			s += strlen(k->key);
			return k->numbers ? ty_query_word_numbers(w, s, err)
					  : compile(w, s, all, example, err);
		}
	w->unknown_key = s[strspn(s, "abcdefghijklmnopqrstuvwxyz")] == ':';
	return compile(w, s, all, example, err);
}

int ty_query_too_long(const char *what, unsigned most, struct ty_err *err)
{
	return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET, "a %s has at most %u words", what, most);
}

bool ty_query_word_match(const struct ty_query_word *w, const char *s)
{
	return s && w->has_re && !regexec(&w->re, s, 0, NULL, 0);
}

bool ty_query_word_has(const struct ty_query_word *w, int32_t v)
{
	for (unsigned i = 0; i < w->numbers; i++)
		if (w->number[i] == v)
			return true;
	return false;
}

void ty_query_word_fini(struct ty_query_word *w)
{
	if (w->has_re)
		regfree(&w->re);
	w->has_re = false;
}

const char *ty_tid_meant(const char *text)
{
	const char *number = text + (strncmp(text, "thread:", 7) ? 0 : 7);

	return *number && !number[strspn(number, "0123456789")] ? number : NULL;
}
