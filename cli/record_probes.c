/* SPDX-License-Identifier: MIT */
#include "record_probes.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "command.h"
#include "function_find.h"
#include "plain_text.h"

enum { USDT_MOST = 32 };

/* The parameters that `names` lists, into p->args. */
static int find_params(struct ty_symbols *syms, const struct ty_symbol *sym, char *names,
		       struct ty_span_point *p, struct ty_err *err)
{
	struct ty_param all[64];
	const char *why, *name;
	size_t n = ty_symbols_params(syms, sym, all, 64, &why), i;
	char have[400] = "", *rest;

	if (!n)
		return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			       "--span: cannot find the parameters of %s: %s", p->name,
			       why ? why : "it has none");
	for (i = 0; i < n; i++) {
		size_t k = strlen(have);

		snprintf(have + k, sizeof(have) - k, "%s%s%s", i ? ", " : "", all[i].name,
			 all[i].reg < 0 ? " (not in an integer register)" : "");
	}
	for (name = strtok_r(names, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
		struct ty_span_arg *arg = &p->args[p->args_n];

		for (i = 0; i < n && strcmp(all[i].name, name) != 0; i++)
			;
		if (i == n || all[i].reg < 0)
			return ty_fail(
				err, TY_ENOTFOUND, TY_NO_OFFSET,
				i == n ? "--span: %s has no parameter '%.60s'. Its "
					 "parameters: %s"
				       : "--span: %s: the register of parameter '%.60s' cannot "
					 "be determined. Its parameters: %s",
				p->name, name, have);
		if (p->args_n == TY_SPAN_ARGS || strlen(name) >= sizeof(arg->name))
			return ty_wrong_value(err,
					      "--span %s: at most %d parameters, with names of at "
					      "most %zu bytes",
					      p->name, TY_SPAN_ARGS, sizeof(arg->name) - 1);
		strcpy(arg->name, name);
		arg->reg = (unsigned)all[i].reg;
		snprintf(arg->type, sizeof(arg->type), "%c%u", all[i].sort, all[i].size * 8u % 100);
		p->args_n++;
	}
	return p->args_n ? 0
			 : ty_wrong_value(err, "--span %s(): name a parameter: %s", p->name, have);
}

static int find_functions(struct ty_record_args *a, const char *option, const char *text,
			  bool offsets, struct ty_functions *f, struct ty_err *err)
{
	const char *at = strchr(text, '@');
	struct ty_command c = {.path = ""};
	int r = 0;

	*f = (struct ty_functions){0};
	if (a->o.argv && (!at || !strchr(at, '/')))
		r = ty_command_find(&c, a->o.argv, err);
	return r ? r : ty_functions_find(f, option, text, a->o.argv ? c.path : NULL, offsets, err);
}

int ty_record_find_function(struct ty_record_args *a, const char *option, const char *text,
			    char *path, struct stat *st, struct ty_symbol *sym, struct ty_err *err)
{
	struct ty_functions f;
	char at[400] = "";
	int r = find_functions(a, option, text, true, &f, err);

	for (size_t i = 0, k = 0; !r && i < f.n && k < sizeof(at); i++)
		k += (size_t)snprintf(at + k, sizeof(at) - k, "%s%#" PRIx64, i ? ", " : "",
				      f.sym[i].start);
	if (!r && f.n > 1)
		r = ty_fail(
			err, TY_ENOTFOUND, TY_NO_OFFSET,
			"%s %s: %s has %zu functions of this name, at offsets %s, and a filter "
			"takes one: OFFSET@FILE with --flow=step, OFFSET/SIZE@FILE with Intel PT",
			option, text, f.path, f.n, at);
	strcpy(path, f.path);
	*st = f.st;
	*sym = f.sym[0];
	ty_functions_fini(&f);
	return r;
}

/* OFFSET/SIZE@FILE: 1; not of that form: 0. */
static int is_stretch(const char *text)
{
	char *end;

	if (*text < '0' || *text > '9')
		return 0;
	strtoull(text, &end, 0);
	if (*end != '/' || end[1] < '0' || end[1] > '9')
		return 0;
	strtoull(end + 1, &end, 0);
	return *end == '@' && end[1];
}

int ty_record_add_pt_filter(struct ty_record_args *a, const char *text, struct ty_err *err)
{
	const char *what = "filter", *rest = text;
	char path[PATH_MAX];
	struct ty_symbol sym;
	struct stat st;
	int r;

	if (a->pt_filter.len)
		ty_buf_addc(&a->pt_filter, ',');
	if (is_stretch(text)) {
		ty_buf_addf(&a->pt_filter, "filter %s", text);
		return 0;
	}
	if (!strncmp(text, "start ", 6) || !strncmp(text, "stop ", 5)) {
		what = text[2] == 'a' ? "start" : "stop";
		rest = strchr(text, ' ') + 1;
	}
	r = ty_record_find_function(a, "--flow-filter", rest, path, &st, &sym, err);
	if (r)
		return r;
	ty_buf_addf(&a->pt_filter, "%s %#" PRIx64, what, sym.start);
	if (*what == 'f' && !sym.size)
		return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			       "--flow-filter: the symbol table has no size of '%s': give "
			       "%#" PRIx64 "/SIZE@%s",
			       rest, sym.start, path);
	if (*what == 'f')
		ty_buf_addf(&a->pt_filter, "/%#" PRIx64, sym.size);
	ty_buf_addf(&a->pt_filter, "@%s", path);
	return 0;
}

/* Letters of a name that the kernel's list of probes takes. */
static bool is_plain(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] <= ' ' || s[i] > '~' || strchr("\"\\/", s[i]))
			return false;
	return n > 0;
}

static int add_span(struct ty_record_args *a, const char *text, struct ty_err *err)
{
	static const char suffix[] = ":return";
	struct ty_span_point p = {0};
	char place[PATH_MAX + TY_PROBE_NAME];
	size_t k = strlen(text), cut = sizeof(suffix) - 1;
	struct ty_functions f;
	size_t n = strcspn(text, "@"), open;
	char params[512];
	int r;

	p.returns = k > cut && !strcmp(text + k - cut, suffix);
	if (p.returns) {
		k -= cut;
		n = n < k ? n : k;
	}
	open = strcspn(text, "(");
	open = open < n && text[n - 1] == ')' && n - open < sizeof(params) ? open : n;
	if (k >= sizeof(place) || open > TY_PROBE_NAME || !is_plain(text, open))
		return ty_wrong_value(err,
				      "--span '%s' is not FUNC@FILE, FUNC(PARAMETER,...)@FILE or "
				      "FUNC@FILE:return, as in --span main@/usr/bin/env",
				      text);
	snprintf(place, sizeof(place), "%.*s%.*s", (int)open, text, (int)(k - n), text + n);
	snprintf(p.name, sizeof(p.name), "%.*s", (int)open, text);
	snprintf(params, sizeof(params), "%.*s", open < n ? (int)(n - open - 2) : 0,
		 open < n ? text + open + 1 : "");
	r = find_functions(a, "--span", place, false, &f, err);
	strcpy(p.path, f.path);
	p.dev = f.st.st_dev;
	p.ino = f.st.st_ino;
	p.changed = f.st.st_mtim;
	for (size_t i = 0; !r && i < f.n; i++) {
		struct ty_span_point of = p;
		char names[sizeof(params)];

		strcpy(names, params);
		of.offset = f.sym[i].start;
		if (open < n)
			r = find_params(f.syms, &f.sym[i], names, &of, err);
		if (!r && vec_push(&a->spans, of))
			r = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	}
	if (!r && f.n > 1)
		ty_say("tarry: --span %s: %s has %zu functions of this name, and all are "
		       "recorded\n",
		       p.name, p.path, f.n);
	ty_functions_fini(&f);
	return r;
}

static int add_usdt(struct ty_record_args *a, const char *text, struct ty_err *err)
{
	const char *colon = strchr(text, ':'), *at = strchr(text, '@'),
		   *end = at ? at : text + strlen(text);
	struct ty_usdt_point p = {.path = at ? at + 1 : NULL};
	size_t n = colon && colon < end ? (size_t)(colon - text) : 0;

	if (!n || n >= TY_SDT_NAME || end - colon - 1 >= TY_SDT_NAME || end == colon + 1 ||
	    !is_plain(text, (size_t)(end - text)) || (at && !at[1]))
		return ty_wrong_value(err, "--usdt '%s' is not PROVIDER:NAME or PROVIDER:NAME@FILE",
				      text);
	if (a->usdt.n == USDT_MOST)
		return ty_wrong_value(err, "--usdt can be given %d times at most", USDT_MOST);
	memcpy(p.provider, text, n);
	memcpy(p.name, colon + 1, (size_t)(end - colon - 1));
	return vec_push(&a->usdt, p) ? ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory") : 0;
}

int ty_record_find_probes(struct ty_record_args *a)
{
	struct ty_err err = {0};
	size_t keep = 0;

	for (size_t i = 0; i < a->region_files.n; i++) {
		if (!strcmp(a->region_files.v[i], "off"))
			a->o.probes.no_regions = true;
		else
			a->region_files.v[keep++] = a->region_files.v[i];
	}
	a->region_files.n = keep;
	if (a->o.probes.no_regions && keep)
		return ty_cli_usage("record", "give either --regions off or --regions FILE");
	vec_each (s, &a->span_texts)
		if (add_span(a, *s, &err))
			return ty_cli_fail(&err);
	vec_each (s, &a->usdt_texts)
		if (add_usdt(a, *s, &err))
			return ty_cli_fail(&err);
	a->o.probes.files = a->region_files.v;
	a->o.probes.files_n = a->region_files.n;
	a->o.probes.spans = a->spans.v;
	a->o.probes.spans_n = a->spans.n;
	a->o.probes.usdt = a->usdt.v;
	a->o.probes.usdt_n = a->usdt.n;
	return 0;
}
