/* SPDX-License-Identifier: MIT */
/* See interpreter.h. */
#include "interpreter.h"

#include <string.h>

#include "base_name.h"

/* Programs whose first argument is the program. Of letters, of which one word may have several, and
 * of words: code(s): the program's text follows; value(s): another word, or the rest of this one;
 * rest: the rest of this one, if any; module(s): its name. plus: options begin with + as well.
 * Perl's -l and -0 end no word: only digits belong to them. */
static const struct ty_interpreter {
	const char *comm, *code, *value, *rest, *module, *codes, *values, *modules;
	bool plus;
} interpreters[] = {
	{"python", "c", "WX", "", "m", .values = " --check-hash-based-pycs "},
	{"pypy", "c", "WX", "", .module = "m"},
	{"perl", "eE", "I", "MmFixDC:", .module = ""}, /* -d:MODULE */
	{"ruby", "e", "IrECX", "FixK:", .module = ""}, /* -W:CATEGORY */
	{"node", "ep", "rC", "", "", .codes = " --eval --print ",
	 .values = " --require --import --loader --experimental-loader --conditions --env-file "
		   "--env-file-if-exists --title --openssl-config --icu-data-dir "
		   "--diagnostic-dir --cpu-prof-dir --heap-prof-dir --redirect-warnings "
		   "--unhandled-rejections --dns-result-order --inspect-port "},
	{"php", "r", "cd", "", "", .codes = " --run ", .values = " --php-ini --define "},
	{"lua", "e", "l", "", .module = ""},
	{"Rscript", "e", "", "", .module = ""},
	{"java", "", "", "", "", .modules = " -m --module ",
	 .values = " -cp -classpath --class-path -p --module-path --add-opens --add-modules "},
	{"bash", "c", "oO", "", "", .values = " --rcfile --init-file ", .plus = true},
	{"dash", "c", "o", "", "", .plus = true},
	{"ksh", "c", "o", "", "", .plus = true},
	{"zsh", "c", "o", "", "", .plus = true},
	{"sh", "c", "o", "", "", .plus = true},
};

const struct ty_interpreter *ty_interpreter_of(const char *comm)
{
	for (size_t i = 0; i < sizeof(interpreters) / sizeof(*interpreters); i++) {
		const size_t n = strlen(interpreters[i].comm);

		/* python3.11, php8.2, nodejs */
		if (!strncmp(comm, interpreters[i].comm, n) &&
		    (!comm[n + strspn(comm + n, "0123456789.-")] || !strcmp(comm + n, "js")))
			return &interpreters[i];
	}
	return NULL;
}

static bool in_words(const char *list, const char *word)
{
	const size_t n = strlen(word);

	for (const char *p = list; p && (p = strstr(p, word)); p++)
		if (p > list && p[-1] == ' ' && p[n] == ' ')
			return true;
	return false;
}

enum option { OTHER, CODE, VALUE, MODULE };

static bool is_option(const struct ty_interpreter *in, const char *a)
{
	return *a == '-' || (in->plus && *a == '+');
}

/* rest: what follows its letter in this word. */
static enum option option_of(const struct ty_interpreter *in, const char *a, const char **rest)
{
	*rest = "";
	if (in_words(in->codes, a))
		return CODE;
	if (in_words(in->modules, a))
		return MODULE;
	if (in_words(in->values, a))
		return VALUE;
	for (const char *p = a + 1; *p && *p != '-' && !strchr(in->rest, *p); p++) {
		*rest = p + 1;
		if (strchr(in->code, *p))
			return CODE;
		if (strchr(in->module, *p))
			return MODULE;
		if (strchr(in->value, *p))
			return VALUE;
	}
	return OTHER;
}

const char *ty_script(const struct ty_interpreter *in, const char *argv, size_t n, bool *module)
{
	*module = false;
	for (size_t at = strlen(argv) + 1; at < n; at += strlen(argv + at) + 1) {
		const char *a = argv + at, *rest;
		enum option what;

		if (!is_option(in, a))
			return *a ? a : NULL;
		what = option_of(in, a, &rest);
		if (!a[1] || what == CODE)
			return NULL; /* from standard input, or of the command line */
		*module = what == MODULE;
		if (*module && *rest)
			return rest;
		if (what == OTHER || *rest)
			continue;
		at += strlen(a) + 1;
		if (*module)
			return at < n && argv[at] ? argv + at : NULL;
	}
	return NULL;
}

static bool is_tool(const char *name)
{
	static const char *const tools[] = {"kill", "pkill", "killall", "gdb", "strace"};

	for (size_t i = 0; i < sizeof(tools) / sizeof(*tools); i++)
		if (!strcmp(name, tools[i]))
			return true;
	return false;
}

bool ty_needs_caller(const char *argv, size_t n)
{
	const char *name = ty_base_name(argv + (*argv == '-'));
	const struct ty_interpreter *in = ty_interpreter_of(name);

	if (!in)
		return is_tool(name);
	for (size_t at = strlen(argv) + 1; at < n; at += strlen(argv + at) + 1)
		if (argv[at] && !is_option(in, argv + at))
			return false;
	return true;
}
