/* SPDX-License-Identifier: MIT */
/*
 * Programs with random control flow, stepped by tarry itself, decoded by the flow (in ranges, on
 * all CPUs) and by libipt's plain instruction decoder over the whole stream: the same instructions.
 * FLOW_RANDOM_ROUNDS: how long each of the FLOW_RANDOM_SEEDS programs is, FLOW_RANDOM_FIRST: the
 * first seed (make soak: 5 million instructions, some programs at a time).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "flow_priv.h"
#include "flow_source.h"
#include "pt_conf.h"

#ifdef TY_HAVE_IPT

struct code {
	struct ty_flow_stream *s;
	struct ty_code_at at;
	uint64_t tsc;
};

static int read_code(uint8_t *buf, size_t n, const struct pt_asid *asid, uint64_t ip, void *ctx)
{
	struct code *c = ctx;
	struct ty_flow *f = c->s->flow;
	size_t got = ty_code_read(ty_flow_code(f), c->s->first_pid, ty_flow_ns(f, c->tsc), ip, buf,
				  n, &c->at);

	return got ? (int)got : -pte_nomap;
}

/* The next instruction of libipt's; false at the end, or at an error. */
static bool next_insn(struct pt_insn_decoder *d, struct code *c, int *status, struct pt_insn *insn)
{
	while (*status >= 0) {
		struct pt_event ev;

		pt_insn_time(d, &c->tsc, NULL, NULL);
		if (*status & pts_event_pending) {
			*status = pt_insn_event(d, &ev, sizeof(ev));
			continue;
		}
		if (*status & pts_eos)
			return false;
		*status = pt_insn_next(d, insn, sizeof(*insn));
		return insn->iclass != ptic_error;
	}
	return false;
}

static size_t compare(const char *path)
{
	struct ty_flow_source src = {0};
	struct pt_config conf;
	struct pt_insn_decoder *d;
	struct ty_flow_at at;
	struct ty_err err = {0};
	struct ty_flow_ahead ahead = {0};
	struct code code;
	uint8_t *bytes;
	int status;
	size_t n = 0;

	if (ty_flow_source_open(&src, path, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(1, (unsigned)src.flow->streams.n);
	code = (struct code){.s = &src.flow->streams.v[0]};
	bytes = malloc(code.s->size);
	assert_non_null(bytes);
	assert_int_equal(0, ty_flow_stream_read(code.s, &ahead, 0, bytes, code.s->size));
	ty_flow_ahead_fini(&ahead);
	ty_pt_conf(&conf, &src.flow->cpu, bytes, code.s->size);
	d = pt_insn_alloc_decoder(&conf);
	assert_non_null(d);
	assert_true(pt_image_set_callback(pt_insn_get_image(d), read_code, &code) >= 0);
	status = pt_insn_sync_forward(d);
	while (ty_flow_next(src.flow, &at) > 0) {
		struct pt_insn insn = {.iclass = ptic_error};

		assert_int_not_equal(TY_FLOW_GAP, at.item.kind);
		if (at.item.kind != TY_FLOW_INSN)
			continue;
		assert_true(next_insn(d, &code, &status, &insn));
		assert_int_equal(insn.ip, at.item.ip);
		assert_int_equal(insn.size, at.item.size);
		n++;
	}
	assert_false(next_insn(d, &code, &status, &(struct pt_insn){.iclass = ptic_error}));
	pt_insn_free_decoder(d);
	free(bytes);
	ty_flow_source_close(&src);
	ty_flow_source_fini(&src);
	return n;
}

static unsigned number(const char *name, unsigned otherwise)
{
	const char *s = getenv(name);

	return s ? (unsigned)strtoul(s, NULL, 0) : otherwise;
}

/* The command's status; it writes its errors to dir/err, which are printed when it fails. */
static int run(const char *dir, const char *cmd)
{
	char path[64], line[512];
	int status = system(cmd);
	FILE *f;

	snprintf(path, sizeof(path), "%s/err", dir);
	f = status ? fopen(path, "r") : NULL;
	while (f && fgets(line, sizeof(line), f))
		print_message("# %s", line);
	if (f)
		fclose(f);
	return status;
}

static void test_random(void **state)
{
	const char *tarry = getenv("TARRY"), *programs = getenv("PROGRAMS");
	unsigned rounds = number("FLOW_RANDOM_ROUNDS", 200), seeds = number("FLOW_RANDOM_SEEDS", 3),
		 first = number("FLOW_RANDOM_FIRST", 1);
	char dir[] = "/tmp/tarry-flow-XXXXXX", cmd[4096], path[64];
	size_t all = 0;

	if (!tarry || !programs || geteuid()) {
		print_message(
			"# SKIP it needs root, and TARRY and PROGRAMS as tests/run sets them\n");
		skip();
	}
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/t.dat", dir);
	snprintf(cmd, sizeof(cmd),
		 "strace -o %s/s true 2>%s/err && '%s' record -q -o %s -- true 2>%s/err", dir, dir,
		 tarry, path, dir);
	if (run(dir, cmd)) {
		print_message("# SKIP nothing can be traced here\n");
		snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
		(void)!system(cmd);
		skip();
	}
	for (unsigned seed = first; seed < first + seeds; seed++) {
		snprintf(cmd, sizeof(cmd),
			 "'%s' record -q --flow=step --flow-filter main -o %s '%s/flow_random' %u "
			 "%u 2>%s/err",
			 tarry, path, programs, seed, rounds, dir);
		assert_int_equal(0, run(dir, cmd));
		all += compare(path);
	}
	snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
	assert_int_equal(0, system(cmd));
	print_message("# %zu instructions\n", all);
	assert_true(all > (size_t)rounds * seeds * 10);
}

#else

static void test_random(void **state)
{
	skip();
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
