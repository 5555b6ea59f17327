/* SPDX-License-Identifier: MIT */
/* See input_line.h. */
#include "input_line.h"

#include <string.h>

#include "keys.h"

static bool put(char *text, size_t size, uint32_t key)
{
	size_t n = strlen(text);
	char c[4];
	unsigned k = 0;

	if (key < 0x80) {
		c[k++] = (char)key;
	} else {
		if (key >= 0x10000)
			c[k++] = (char)(0xf0 | key >> 18), c[k++] = (char)(0x80 | (key >> 12 & 63));
		else if (key >= 0x800)
			c[k++] = (char)(0xe0 | key >> 12);
		if (key >= 0x800)
			c[k++] = (char)(0x80 | (key >> 6 & 63));
		else
			c[k++] = (char)(0xc0 | key >> 6);
		c[k++] = (char)(0x80 | (key & 63));
	}
	if (n + k >= size)
		return false;
	memcpy(text + n, c, k);
	text[n + k] = 0;
	return true;
}

enum ty_input_key ty_input_line_key(char *text, size_t size, uint32_t key)
{
	size_t n = strlen(text);

	if (key == TY_KEY_ENTER)
		return TY_INPUT_ENTERED;
	if (key == TY_KEY_ESC)
		return TY_INPUT_CANCELLED;
	if (key == TY_KEY_BACKSPACE) {
		while (n && ((unsigned char)text[--n] & 0xc0) == 0x80)
			; /* the whole character */
		text[n] = 0;
	} else if (key == TY_KEY_CTRL('U')) {
		text[0] = 0;
	} else if (key < 0x20 || key == 0x7f || key > 0x10ffff || !put(text, size, key)) {
		return TY_INPUT_IGNORED;
	}
	return TY_INPUT_CHANGED;
}

enum ty_input_key ty_input_prompt_key(bool *open, char *text, size_t size, uint32_t key)
{
	const enum ty_input_key k = ty_input_line_key(text, size, key);

	*open = *open && k != TY_INPUT_ENTERED && k != TY_INPUT_CANCELLED;
	return k;
}
