/* SPDX-License-Identifier: MIT */
/* tarry dump FILE flow: executed instructions, taken branches or calls. */
#include "dump_flow.h"

#include <errno.h>
#include <stdio.h>

#include "cli.h"
#include "flow_args.h"
#include "flow_dump.h"

static const char head[] =
	"usage: tarry dump [FILE] flow [--insn|--branches|--calls] [options]\n"
	"\n"
	"Print executed instructions, from Intel PT or single-stepping. Decoding starts\n"
	"at the PSB packet before --from and ends after --to. --comm selects a thread\n"
	"while it has that name. --cpu applies to recordings with one stream per CPU.\n"
	"\n";

static int take_branches(void *shape, const char *arg, struct ty_err *err)
{
	*(enum ty_flow_shape *)shape = TY_FLOW_BRANCHES;
	return 0;
}

static int take_insn(void *shape, const char *arg, struct ty_err *err)
{
	*(enum ty_flow_shape *)shape = TY_FLOW_INSNS;
	return 0;
}

static int take_calls(void *shape, const char *arg, struct ty_err *err)
{
	*(enum ty_flow_shape *)shape = TY_FLOW_CALLS;
	return 0;
}

static const struct ty_option shapes[] = {
	{0, "branches", NULL,
	 "print taken branches, FROM => TO; 0 is outside the traced code (default)",
	 .take = take_branches},
	{0, "insn", NULL, "print every instruction with symbol, disassembly and source line",
	 .take = take_insn},
	{0, "calls", NULL, "print calls, indented by depth, as they begin (JSON: as they end)",
	 .take = take_calls},
	{0}};

int ty_cmd_dump_flow(int argc, char **argv)
{
	struct ty_flow_args a = {0};
	enum ty_flow_shape shape = TY_FLOW_BRANCHES;
	struct ty_err err = {0};
	int status =
		ty_flow_args_parse(&a, "dump", head, (struct ty_option_group){shapes, .to = &shape},
				   (struct ty_option_group){0}, argc, argv);

	if (status < 0) {
		int r = ty_flow_source_open(&a.src, a.path, &err);

		r = r ? r : ty_flow_dump(&a.src, a.path, &a.sel, shape, stdout, &err);
		status = TY_EXIT_GOOD;
		if (r && !(errno == EPIPE && ferror(stdout)))
			status = ty_cli_fail(&err);
	}
	ty_flow_args_fini(&a);
	return status;
}
