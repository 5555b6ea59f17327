/* SPDX-License-Identifier: MIT */
/* See flow_args.h. */
#include "flow_args.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "reader_options.h"

/* CPUs to choose, or, as it was called once, the model of the one that wrote bare packets. */
static int take_cpu(void *to, const char *arg, struct ty_err *err)
{
	struct ty_flow_args *a = to;

	if (!strchr(arg, '/'))
		return ty_select_take_cpus(&a->sel, arg, err);
	a->src.cpu = arg;
	return 0;
}

const struct ty_option ty_packet_options[] = {
	{0, "pt-raw", "FILE[,cpu=N][,tid=N]", "read bare Intel PT packets", .take = ty_take_texts,
	 .at = offsetof(struct ty_flow_args, src.raws)},
	{0, "pt-sideband", "FILE[,cpu=N][,sample=TYPE]",
	 "read the perf records of the --pt-raw packets (TYPE: their sample_type)",
	 .take = ty_take_texts, .at = offsetof(struct ty_flow_args, src.sidebands)},
	{0, "cpu-model", "F/M/S", "apply the errata of this CPU: family, model, stepping (6/85/4)",
	 .take = ty_take_text, .at = offsetof(struct ty_flow_args, src.cpu)},
	{0, "cpu", "F/M/S", NULL, .take = take_cpu},
	{0, "pt-time", "ZERO/MULT/SHIFT", "convert TSC to perf's clock", .take = ty_take_text,
	 .at = offsetof(struct ty_flow_args, src.time)},
	{0}};

static int take_words(struct ty_flow_args *a, const char *cmd, char **words, int n)
{
	for (int i = 0; i < n; i++) {
		if (!strcmp(words[i], "flow") && (a->path || i == n - 1))
			continue;
		if (a->path)
			return ty_cli_usage(cmd, "flow takes one file and no other section (%s)",
					    words[i]);
		a->path = words[i];
	}
	if (!a->path && !a->src.raws.n)
		a->path = "tarry.dat";
	return -1;
}

int ty_flow_args_parse(struct ty_flow_args *a, const char *cmd, const char *head,
		       struct ty_option_group own, struct ty_option_group more, int argc,
		       char **argv)
{
	/* ty_packet_options first: their --cpu takes both kinds. */
	const struct ty_command_line line = {
		cmd, head,
		.groups = {own,
			   {ty_json_option, .to = &a->sel},
			   more,
			   {ty_packet_options, .to = a,
			    .title = "Read bare packets instead of a recording:"},
			   {ty_select_options, .to = &a->sel, .title = "Select a part:"},
			   {ty_code_options, .to = &a->src, .title = "Locate code:"},
			   {ty_memory_option, .to = &a->sel},
			   {ty_unused_options, .to = &a->sel}}};
	int status = ty_options_parse(&line, argc, argv);

	a->src.memory_bytes = a->sel.memory_bytes;
	return status < 0 ? take_words(a, cmd, argv + optind, argc - optind) : status;
}

void ty_flow_args_fini(struct ty_flow_args *a)
{
	ty_flow_source_fini(&a->src);
	ty_select_fini(&a->sel);
}

/* Do other sections take it, too? */
static bool is_common(const struct ty_command_line *any, const char *name)
{
	for (unsigned g = 0; g < TY_OPTION_GROUPS; g++) {
		const struct ty_option *o = any->groups[g].options;

		if (!o || o == ty_packet_options || o == ty_code_options)
			continue;
		for (; o->name; o++)
			if (!strcmp(o->name, name))
				return true;
	}
	return false;
}

int ty_flow_options_refuse(const char *cmd, const struct ty_command_line *any, int argc,
			   char **argv)
{
	const struct ty_option *const tables[] = {ty_packet_options, ty_code_options};
	char word[32];

	for (unsigned i = 0; i < 2; i++)
		for (const struct ty_option *o = tables[i]; o->name; o++) {
			if (is_common(any, o->name))
				continue;
			snprintf(word, sizeof(word), "--%s", o->name);
			if (ty_options_have(any, (const char *const[]){word, NULL}, argc, argv))
				return ty_cli_usage(cmd, "%s works only with '%s flow'", word, cmd);
		}
	return -1;
}
