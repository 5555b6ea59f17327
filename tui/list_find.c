/* SPDX-License-Identifier: MIT */
#include "list_find.h"

#include <string.h>

void ty_list_find_start(struct ty_list_find *f, int at)
{
	*f = (struct ty_list_find){.typing = true, .from = at};
}

enum ty_input_key ty_list_find_key(struct ty_list_find *f, uint32_t key)
{
	const enum ty_input_key k = ty_input_prompt_key(&f->typing, f->text, sizeof(f->text), key);

	if (k == TY_INPUT_CANCELLED)
		f->text[0] = 0;
	return k;
}

bool ty_list_find_is(const struct ty_list_find *f, const char *line)
{
	return line && strcasestr(line, f->text);
}

int ty_list_find_next(const struct ty_list_find *f, int n, int from, int by,
		      const char *(*line)(void *ctx, int i), void *ctx)
{
	for (int i = 0; *f->text && i < n; i++) {
		const int at = ((from + i * by) % n + n) % n;

		if (ty_list_find_is(f, line(ctx, at)))
			return at;
	}
	return -1;
}
