/* SPDX-License-Identifier: MIT */
/* See format_text.h. */
#include "format_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"

/* A decimal number at s; its end, or NULL. */
static const char *number(const char *s, uint32_t *v)
{
	uint64_t n = 0;

	while (*s == ' ' || *s == '\t')
		s++;
	if (!isdigit((unsigned char)*s))
		return NULL;
	for (; isdigit((unsigned char)*s); s++) {
		n = n * 10 + (uint64_t)(*s - '0');
		if (n > UINT32_MAX)
			return NULL;
	}
	*v = (uint32_t)n;
	return s;
}

/* "KEY:N;" within [s, end). */
static bool attribute(const char *s, const char *end, const char *key, uint32_t *v)
{
	size_t n = strlen(key);

	for (; s + n < end; s++)
		if (!memcmp(s, key, n) && (s[-1] == '\t' || s[-1] == ' ' || s[-1] == ';'))
			return number(s + n, v) != NULL;
	return false;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Does the declaration [s, end) contain this word? */
static bool has_word(const char *s, const char *end, const char *w)
{
	size_t n = strlen(w);

	for (const char *p = s; p + n <= end; p++)
		if (!memcmp(p, w, n) && (p == s || !is_word(p[-1])) &&
		    (p + n == end || !is_word(p[n])))
			return true;
	return false;
}

/* Bytes of the element type named in [s, end); 0: the name does not say. */
static uint32_t type_size(const char *s, const char *end, unsigned long_size)
{
	static const struct {
		const char *word;
		uint32_t size;
	} sizes[] = {
		{"char", 1},	{"u8", 1},	 {"s8", 1},	  {"__u8", 1},	  {"__s8", 1},
		{"bool", 1},	{"u16", 2},	 {"s16", 2},	  {"__u16", 2},	  {"__s16", 2},
		{"__be16", 2},	{"__le16", 2},	 {"short", 2},	  {"u32", 4},	  {"s32", 4},
		{"__u32", 4},	{"__s32", 4},	 {"__be32", 4},	  {"__le32", 4},  {"u64", 8},
		{"s64", 8},	{"__u64", 8},	 {"__s64", 8},	  {"__be64", 8},  {"__le64", 8},
		{"uint8_t", 1}, {"int8_t", 1},	 {"uint16_t", 2}, {"int16_t", 2}, {"uint32_t", 4},
		{"int32_t", 4}, {"uint64_t", 8}, {"int64_t", 8},  {"size_t", 0},  {"uuid_t", 16},
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if (has_word(s, end, sizes[i].word))
			return sizes[i].size ? sizes[i].size : long_size;
	if (has_word(s, end, "long"))
		return has_word(s, end, "long long") ? 8 : long_size;
	if (has_word(s, end, "int") || has_word(s, end, "unsigned"))
		return 4;
	return 0;
}

/* Split "unsigned long args[6]" or "__data_loc char[] name" of [s, end). */
static bool declaration(const char *s, const char *end, unsigned long_size, struct ty_ft_field *f)
{
	const char *e = end, *open = NULL;
	uint32_t count = 0, size;

	while (e > s && isspace((unsigned char)e[-1]))
		e--;
	if (e > s && e[-1] == ']') { /* brackets behind the name */
		while (e > s && e[-1] != '[')
			e--;
		if (e == s)
			return false;
		open = e;
		e--;
		while (e > s && isspace((unsigned char)e[-1]))
			e--;
	}
	f->name_n = 0;
	while (e > s && is_word(e[-1])) {
		e--;
		f->name_n++;
	}
	f->name = e;
	if (!f->name_n)
		return false;
	/* [s, e) is the type now */
	f->is_rel = has_word(s, e, "__rel_loc");
	f->is_loc = f->is_rel || has_word(s, e, "__data_loc");
	f->is_pointer = memchr(s, '*', (size_t)(e - s)) && !f->is_loc;
	f->is_array = false;
	f->is_string = false;
	f->elem_size = f->size;
	if (!f->is_loc && !open && !memchr(s, '[', (size_t)(e - s)))
		return f->size != 0;
	size = f->is_pointer ? long_size : type_size(s, e, long_size);
	if (f->is_loc) {
		if (f->size != 4)
			return false;
		f->elem_size = size ? size : 1;
		f->is_string = has_word(s, e, "char");
		return true;
	}
	f->is_array = true;
	if (open && number(open, &count) && count && f->size % count == 0)
		f->elem_size = f->size / count;
	else if (size && f->size % size == 0)
		f->elem_size = size;
	else
		f->elem_size = 1;
	f->is_string = f->elem_size == 1 && has_word(s, e, "char") && !f->is_pointer;
	return true;
}

int ty_ft_next(const char **text, unsigned long_size, struct ty_ft_field *f)
{
	const char *p = *text;

	for (;;) {
		const char *end = p + strcspn(p, "\n"), *line = p, *decl, *semi;
		uint32_t is_signed = 0;

		if (!*p) {
			*text = p;
			return 0;
		}
		p = *end ? end + 1 : end;
		while (line < end && isspace((unsigned char)*line))
			line++;
		if (!strncmp(line, "print fmt:", 10)) {
			*text = p;
			return 0;
		}
		if (strncmp(line, "field:", 6) && strncmp(line, "field special:", 14))
			continue;
		*text = p;
		decl = strchr(line, ':') + 1;
		semi = memchr(decl, ';', (size_t)(end - decl));
		if (!semi || !attribute(semi + 1, end, "offset:", &f->off) ||
		    !attribute(semi + 1, end, "size:", &f->size))
			return -TY_EFORMAT;
		attribute(semi + 1, end, "signed:", &is_signed);
		f->is_signed = is_signed != 0;
		if (f->off > TY_FT_RECORD_MAX || f->size > TY_FT_RECORD_MAX - f->off ||
		    !declaration(decl, semi, long_size, f))
			return -TY_EFORMAT;
		return 1;
	}
}

int ty_ft_find(const char *text, const char *name, struct ty_ft_field *f)
{
	size_t n = strlen(name);
	int r;

	while ((r = ty_ft_next(&text, 8, f)))
		if (r > 0 && f->name_n == n && !memcmp(f->name, name, n))
			return 0;
	return -TY_ENOTFOUND;
}

int ty_ft_head(const char *text, const char **name, size_t *name_n, uint16_t *id)
{
	const char *p = strstr(text, "name:");
	uint32_t v;

	if (!p || (p != text && p[-1] != '\n'))
		return -TY_EFORMAT;
	p += 5;
	p += strspn(p, " \t");
	*name = p;
	*name_n = strcspn(p, " \t\n");
	p = strstr(p, "\nID:");
	if (!*name_n || !p || !number(p + 4, &v) || v > UINT16_MAX)
		return -TY_EFORMAT;
	*id = (uint16_t)v;
	return 0;
}

const char *ty_ft_print(const char *text)
{
	const char *p = strstr(text, "\nprint fmt:");

	return p ? p + 11 : NULL;
}

/* Constant expressions of print formats: numbers, ( ) << >> | & + -. Depth is limited. */
struct expr {
	const char *p;
	unsigned depth;
	bool bad;
};

static uint64_t expression(struct expr *x, int min_prio);

static uint64_t operand(struct expr *x)
{
	uint64_t v;
	char *end;

	x->p += strspn(x->p, " \t");
	if (*x->p == '(') {
		if (++x->depth > 32) {
			x->bad = true;
			return 0;
		}
		x->p++;
		v = expression(x, 0);
		x->p += strspn(x->p, " \t");
		if (*x->p != ')')
			x->bad = true;
		else
			x->p++;
		x->depth--;
		return v;
	}
	if (!isdigit((unsigned char)*x->p)) {
		x->bad = true;
		return 0;
	}
	v = strtoull(x->p, &end, 0);
	x->p = end + strspn(end, "uUlL");
	return v;
}

static uint64_t expression(struct expr *x, int min_prio)
{
	uint64_t v = operand(x), w;

	while (!x->bad) {
		int op, prio;

		x->p += strspn(x->p, " \t");
		op = *x->p;
		if ((op == '<' || op == '>') && x->p[1] == op)
			prio = 3;
		else if (op == '+' || op == '-')
			prio = 4;
		else if (op == '&' && x->p[1] != '&')
			prio = 2;
		else if (op == '|' && x->p[1] != '|')
			prio = 1;
		else
			break;
		if (prio < min_prio + 1)
			break;
		x->p += prio == 3 ? 2 : 1;
		w = expression(x, prio);
		switch (op) {
		case '<': v = w < 64 ? v << w : 0; break;
		case '>': v = w < 64 ? v >> w : 0; break;
		case '+': v += w; break;
		case '-': v -= w; break;
		case '&': v &= w; break;
		default: v |= w;
		}
	}
	return v;
}

void ty_ft_task_states(const char *print_fmt, struct ty_ft_states *out)
{
	const char *p = print_fmt, *plus, *q;
	struct expr x;

	*out = (struct ty_ft_states){0};
	/* { 0x01, "S" } pairs of __print_flags */
	for (p = strchr(p, '{'); p; p = strchr(p + 1, '{')) {
		uint64_t bit;
		char *end;

		bit = strtoull(p + 1, &end, 0);
		end += strspn(end, " ,\t");
		if (end[0] == '"' && end[1] && end[2] == '"' && bit && !(bit & (bit - 1)) &&
		    bit <= UINT32_MAX)
			out->letter[__builtin_ctzll(bit)] = end[1];
	}
	/* REC->prev_state & EXPR ? "+" : "" */
	plus = strstr(print_fmt, "? \"+\"");
	if (!plus)
		return;
	for (p = NULL, q = print_fmt; (q = strstr(q, "REC->prev_state")) && q < plus; q++)
		p = q;
	if (!p)
		return;
	p += strlen("REC->prev_state");
	p += strspn(p, " \t");
	if (*p++ != '&')
		return;
	x = (struct expr){.p = p};
	out->preempted = expression(&x, 0);
	if (x.bad || x.p + strspn(x.p, " \t)") != plus)
		out->preempted = 0;
}
