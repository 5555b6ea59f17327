/* SPDX-License-Identifier: MIT */
/* See shell_word.h. */
#include "shell_word.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char safe[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+:,@%=-";

const char *ty_shell_word(const char *s, const char *instead, char *out, size_t size)
{
	bool bare = *s && s[strspn(s, safe)] == 0;
	size_t n = 0;

	for (const char *p = s; *p || p == s; p++) {
		const char *to = *p == '\'' ? "'\\''" : (char[]){*p, 0};

		if (p == s && !bare)
			out[n++] = '\'';
		if (n + strlen(to) + 2 > size) {
			snprintf(out, size, "%s", instead);
			return out;
		}
		memcpy(out + n, to, strlen(to));
		n += strlen(to);
		if (!*p)
			break;
	}
	if (!bare)
		out[n++] = '\'';
	out[n] = 0;
	return out;
}

void ty_shell_name_file(char *text, size_t size, const char *file)
{
	char word[400];
	size_t n, had = strlen("FILE");

	ty_shell_word(file, "FILE", word, sizeof(word));
	n = strlen(word);
	for (char *p = text; (p = strstr(p, "tarry ")); p++) {
		char *at = p + strlen("tarry ");

		at += strspn(at, "abcdefghijklmnopqrstuvwxyz");
		if (strncmp(at, " FILE", 1 + had) || (at[1 + had] && at[1 + had] != ' '))
			continue;
		at++;
		if (strlen(text) - had + n >= size)
			return;
		memmove(at + n, at + had, strlen(at + had) + 1);
		memcpy(at, word, n);
	}
}
