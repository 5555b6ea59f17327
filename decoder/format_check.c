/* SPDX-License-Identifier: MIT */
/*
 * A recognizer by recursive descent:
 *
 *   text    = "name: " WORD NL "ID: " NUMBER NL "format:" NL { field | NL } [ print ]
 *   field   = TAB "field:" declaration ";" TAB "offset:" NUMBER ";" TAB "size:" NUMBER ";"
 *             [ TAB "signed:" NUMBER ";" ] NL
 *   print   = "print fmt: " string { "," expr } [ NL ]
 *   expr    = unary { BINARY unary } [ "?" expr ":" expr ]
 *   unary   = { "!" | "~" | "-" } ( "(" type ")" unary | primary { "[" expr "]" } )
 *   primary = NUMBER | string | "REC" "->" WORD | WORD | WORD "(" arguments ")" | "(" expr ")"
 *
 * Arguments of the __print_ functions may be { value, "name" } lists, which only those may have.
 * Depth and size are limited; nothing is allocated.
 */
#include "format_check.h"

#include <ctype.h>
#include <string.h>

#include "format_text.h"

#define TEXT_MAX  (256u << 10)
#define DEPTH_MAX 60
#define TERMS_MAX 6000 /* outside of lists; a libtraceevent tree is as deep as a chain is long */
#define CHAIN_MAX 400

struct in {
	const char *p;
	const char *text;
	unsigned depth, terms;
};

static bool expr(struct in *x);

static void blanks(struct in *x)
{
	while (*x->p == ' ' || *x->p == '\t')
		x->p++;
}

static bool lit(struct in *x, const char *s)
{
	size_t n = strlen(s);

	if (strncmp(x->p, s, n))
		return false;
	x->p += n;
	return true;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* A word that does not begin with a digit; its length, 0 when there is none. */
static size_t word(struct in *x)
{
	size_t n = 0;

	if (isdigit((unsigned char)*x->p))
		return 0;
	while (is_word(x->p[n]))
		n++;
	if (n > 200)
		return 0;
	x->p += n;
	return n;
}

static bool decimal(struct in *x)
{
	size_t n = strspn(x->p, "0123456789");

	x->p += n;
	return n > 0 && n < 10;
}

/* 12, 0x1fUL, 1ULL */
static bool number(struct in *x)
{
	size_t n;

	if (x->p[0] == '0' && (x->p[1] == 'x' || x->p[1] == 'X')) {
		x->p += 2;
		n = strspn(x->p, "0123456789abcdefABCDEF");
	} else {
		n = strspn(x->p, "0123456789");
	}
	if (!n || n > 20)
		return false;
	x->p += n;
	x->p += strspn(x->p, "uUlL");
	return !is_word(*x->p);
}

/* Is the word a field of this text, of the kind that its use needs? */
static bool is_field(const struct in *x, const char *name, size_t n, bool loc)
{
	const char *p = x->text;
	struct ty_ft_field f;
	int r;

	while ((r = ty_ft_next(&p, 8, &f)))
		if (r > 0 && f.name_n == n && !memcmp(f.name, name, n))
			return f.is_loc || !loc;
	return false;
}

/* REC-> and the name of a field. */
static bool member(struct in *x)
{
	const char *name;
	size_t n;

	blanks(x);
	if (!lit(x, "->"))
		return false;
	blanks(x);
	name = x->p;
	n = word(x);
	return n && is_field(x, name, n, false);
}

/* "..." "..."; widths of directives have at most 4 digits. */
static bool string(struct in *x)
{
	bool any = false;

	for (;;) {
		blanks(x);
		if (*x->p != '"')
			return any;
		for (x->p++; *x->p != '"'; x->p++) {
			if (*x->p == '\\')
				x->p++;
			else if (*x->p == '%' && strspn(x->p + 1, "0123456789.-+ #") > 6)
				return false;
			if (!*x->p)
				return false;
		}
		x->p++;
		any = true;
	}
}

/* Words and stars of a cast, as in (const unsigned char *); false leaves *x as it was. */
static bool cast(struct in *x)
{
	struct in t = *x;
	unsigned words = 0;

	if (*t.p++ != '(' || !strncmp(t.p, "REC)", 4))
		return false;
	for (;;) {
		blanks(&t);
		if (!word(&t))
			break;
		if (++words > 6)
			return false;
	}
	while (*t.p == '*' || *t.p == ' ')
		t.p++;
	if (!words || *t.p++ != ')')
		return false;
	blanks(&t);
	/* what follows must begin an operand; "(x) - 1" reads either way, and is well-formed both
	 * ways */
	if (!is_word(*t.p) && *t.p != '(' && *t.p != '~' && *t.p != '!' && *t.p != '-')
		return false;
	*x = t;
	return true;
}

/* { value, "name" }, ... or { { value, "name" }, ... } as the kernels write them. */
static bool list(struct in *x)
{
	bool outer = false;

	for (;;) {
		unsigned terms = x->terms;

		blanks(x);
		if (*x->p != '{')
			return false;
		x->p++;
		blanks(x);
		if (*x->p == '{' && !outer) {
			outer = true;
			continue;
		}
		if (!expr(x))
			return false;
		x->terms = terms; /* each value is a tree of its own */
		blanks(x);
		if (*x->p++ != ',')
			return false;
		blanks(x);
		if (!lit(x, "((void *)0)") && !string(x)) /* NULL: the kernel's end mark */
			return false;
		blanks(x);
		if (*x->p++ != '}')
			return false;
		blanks(x);
		if (*x->p != ',')
			break;
		x->p++;
		blanks(x);
		if (*x->p != '{') /* a comma before the end */
			break;
	}
	blanks(x);
	if (outer && *x->p++ != '}')
		return false;
	return true;
}

/* The bytes of the type at *p, stepping over it and blanks; 0 when it is not a known one. */
static unsigned type_size(const char **p, unsigned long_size)
{
	static const struct {
		const char *word;
		unsigned char n; /* 0: long_size */
	} types[] = {{"char", 1},  {"bool", 1},	 {"short", 2}, {"int", 4},   {"long", 0},
		     {"u8", 1},	   {"u16", 2},	 {"u32", 4},   {"u64", 8},   {"s8", 1},
		     {"s16", 2},   {"s32", 4},	 {"s64", 8},   {"__u8", 1},  {"__u16", 2},
		     {"__u32", 4}, {"__u64", 8}, {"__s8", 1},  {"__s16", 2}, {"__s32", 4},
		     {"__s64", 8}};
	struct in x = {.p = *p};
	unsigned size = 0;
	const char *w;
	size_t n;

	blanks(&x);
	if (lit(&x, "unsigned ") || lit(&x, "signed "))
		blanks(&x);
	w = x.p;
	n = word(&x);
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (strlen(types[i].word) == n && !memcmp(types[i].word, w, n))
			size = types[i].n ? types[i].n : long_size;
	blanks(&x);
	if (n == 4 && !memcmp(w, "long", 4) && lit(&x, "long")) {
		size = 8;
		blanks(&x);
	}
	*p = x.p;
	return size;
}

/* Behind the '(' of a call up to and with its ')'. */
static bool arguments(struct in *x, const char *name, size_t n)
{
	static const struct {
		const char *name;
		unsigned char least, most;
		bool list, field; /* field: the first argument is the bare name of a field */
	} known[] = {
		{"__print_flags", 2, 3, true, false},
		{"__print_symbolic", 1, 2, true, false},
		{"__print_flags_u64", 2, 3, true, false},
		{"__print_symbolic_u64", 1, 2, true, false},
		{"__print_hex", 2, 2, false, false},
		{"__print_hex_str", 2, 2, false, false},
		{"__print_array", 3, 3, false, false},
		{"__get_str", 1, 1, false, true},
		{"__get_rel_str", 1, 1, false, true},
		{"__get_bitmask", 1, 1, false, true},
		{"__get_rel_bitmask", 1, 1, false, true},
		{"__get_cpumask", 1, 1, false, true},
		{"__get_rel_cpumask", 1, 1, false, true},
		{"__get_dynamic_array", 1, 1, false, true},
		{"__get_rel_dynamic_array", 1, 1, false, true},
		{"__get_dynamic_array_len", 1, 1, false, true},
		{"__get_rel_dynamic_array_len", 1, 1, false, true},
		{"__builtin_expect", 2, 2, false, false},
		{"sizeof", 1, 1, false, true},
	};
	unsigned k, args = 0;

	for (k = 0; k < sizeof(known) / sizeof(*known); k++)
		if (strlen(known[k].name) == n && !memcmp(known[k].name, name, n))
			break;
	if (k == sizeof(known) / sizeof(*known))
		return false;
	for (;;) {
		blanks(x);
		if (known[k].list && args >= known[k].least && *x->p == '{') {
			if (!list(x))
				return false;
		} else if (known[k].field) {
			const char *field = x->p;
			bool good = n == 6 ? type_size(&x->p, 8) != 0 /* sizeof(unsigned int) */
					   : is_field(x, field, word(x), true);

			if (!good)
				return false;
		} else if (!expr(x)) {
			return false;
		}
		args++;
		blanks(x);
		if (*x->p != ',')
			break;
		x->p++;
	}
	return *x->p++ == ')' && args >= known[k].least && args <= known[k].most;
}

static bool primary(struct in *x)
{
	const char *name = x->p;
	size_t n;

	if (*x->p == '"')
		return string(x);
	if (isdigit((unsigned char)*x->p))
		return number(x);
	if (*x->p == '\'') /* 'F' */
		return x->p[1] >= ' ' && x->p[1] != '\\' && x->p[1] != '\'' && x->p[2] == '\'' &&
		       (x->p += 3);
	if (!strncmp(x->p, "(REC)->", 7)) {
		x->p += 5;
		return member(x);
	}
	if (*x->p == '(') {
		x->p++;
		if (!expr(x))
			return false;
		blanks(x);
		return *x->p++ == ')';
	}
	n = word(x);
	if (!n)
		return false;
	if (n == 3 && !memcmp(name, "REC", 3))
		return member(x);
	blanks(x);
	if (*x->p != '(')
		return true; /* the name of a constant */
	x->p++;
	return arguments(x, name, n);
}

static bool unary(struct in *x)
{
	unsigned signs = 0;

	if (++x->terms > TERMS_MAX)
		return false;
	for (;;) {
		blanks(x);
		if ((*x->p == '!' && x->p[1] != '=') || *x->p == '~' || *x->p == '-') {
			x->p++;
			if (++signs > 3)
				return false;
		} else if (!cast(x)) {
			break;
		}
		if (++x->terms > TERMS_MAX)
			return false;
	}
	if (!primary(x))
		return false;
	blanks(x);
	while (*x->p == '[') {
		x->p++;
		if (!expr(x))
			return false;
		blanks(x);
		if (*x->p++ != ']')
			return false;
		blanks(x);
	}
	return true;
}

/* The next operator, stepping over it: its first character, 0 when there is none. */
static char binary(struct in *x)
{
	static const char *const ops[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+",
					  "-",	"*",  "/",  "%",  "&",	"|",  "^",  "<",  ">"};

	blanks(x);
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		if (lit(x, ops[i]))
			return ops[i][0];
	return 0;
}

/*
 * What libtraceevent may divide by without dividing by zero: a positive number or a sizeof, not
 * followed by another multiplication or division.
 */
static bool divisor(const struct in *x)
{
	struct in t = *x;

	blanks(&t);
	if (lit(&t, "sizeof(")) {
		t.p += strcspn(t.p, ")\n");
		t.p += *t.p == ')';
	} else {
		if (*t.p < '1' || *t.p > '9' || strspn(t.p, "0123456789") > 9 || !number(&t))
			return false;
	}
	blanks(&t);
	return *t.p != '*' && *t.p != '/' && *t.p != '%' && *t.p != '[';
}

static bool expr(struct in *x)
{
	unsigned chain = 0;
	char op = 0;

	if (++x->depth > DEPTH_MAX)
		return false;
	do {
		if ((op == '/' || op == '%') && !divisor(x))
			return false;
		if (++chain > CHAIN_MAX || !unary(x))
			return false;
	} while ((op = binary(x)));
	blanks(x);
	if (*x->p == '?') {
		x->p++;
		if (!expr(x))
			return false;
		blanks(x);
		if (*x->p++ != ':' || !expr(x))
			return false;
	}
	x->depth--;
	return true;
}

/* unsigned long args[6], __data_loc char[] name, char buf[], const char * p, u8 a[(4 + 2)] */
static bool declaration(struct in *x)
{
	const char *end = x->p + strcspn(x->p, ";\n"), *open;
	unsigned words = 0, depth = 0;
	bool name = false;

	if (*end != ';' || end - x->p > 300)
		return false;
	while (x->p < end) {
		if (*x->p == ' ') {
			x->p++;
		} else if (*x->p == '*') {
			if (!words)
				return false;
			x->p++;
			name = false;
		} else if (*x->p == '[') {
			if (!words)
				return false;
			for (open = ++x->p; x->p < end && *x->p != ']'; x->p++) {
				depth += *x->p == '(';
				if (*x->p == ')' && !depth--)
					return false;
				if (!is_word(*x->p) && !strchr("()+-*/ ", *x->p))
					return false;
			}
			/* nothing, or a number, a word or an expression in parentheses */
			if (x->p == end || depth || (x->p == open + 1 && !is_word(*open)))
				return false;
			x->p++;
			if (x->p < end && (*x->p != ' ' || !is_word(x->p[1])))
				return false;
		} else if (!word(x)) {
			return false;
		} else {
			words++;
			name = true;
		}
	}
	x->p++;
	return words >= 2 && name;
}

static bool fields(struct in *x)
{
	unsigned n = 0;

	for (;;) {
		if (*x->p == '\n') {
			x->p++;
			continue;
		}
		if (!lit(x, "\tfield:"))
			return n > 0;
		if (!declaration(x) || !lit(x, "\toffset:") || !decimal(x) || !lit(x, ";\tsize:") ||
		    !decimal(x) || !lit(x, ";") ||
		    (lit(x, "\tsigned:") && (!decimal(x) || !lit(x, ";"))) || !lit(x, "\n") ||
		    ++n > 1000)
			return false;
	}
}

bool ty_ft_wellformed(const char *text, size_t n)
{
	struct in x = {.p = text, .text = text};

	if (n > TEXT_MAX || strlen(text) != n || !lit(&x, "name: ") || !word(&x) ||
	    !lit(&x, "\nID: ") || !decimal(&x) || !lit(&x, "\nformat:\n") || !fields(&x))
		return false;
	if (!lit(&x, "print fmt: ") || !string(&x))
		return false;
	for (;;) {
		blanks(&x);
		if (*x.p != ',')
			break;
		x.p++;
		x.terms = 0;
		if (!expr(&x)) {
			return false;
		}
	}
	while (*x.p == '\n')
		x.p++;
	return !*x.p;
}

void ty_ft_sizeof(char *text, unsigned long_size)
{
	static const char call[] = "sizeof(";

	for (char *p = text; (p = strstr(p, call)); p++) {
		const char *end = p + strlen(call);
		unsigned n = type_size(&end, long_size);

		if ((p > text && is_word(p[-1])) || !n || *end != ')')
			continue;
		memset(p, ' ', (size_t)(end + 1 - p));
		*p = (char)('0' + n);
	}
}
