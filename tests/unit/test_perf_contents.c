/* SPDX-License-Identifier: MIT */
/* What a perf.data file without a timeline contains, and what shows it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "perf_contents.h"
#include "perf_write.h"

enum { SAMPLES = 3 };

/* A file with samples of event 0, of these fields, and what is said of it. Freed by the caller. */
static char *said_of(uint64_t sample_type, uint64_t data_src, bool json)
{
	struct ty_buf body, file;
	struct ty_err err = {0};
	struct perf_write w;
	char path[32], *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	pw_init(&w);
	w.sample_type = sample_type | TY_PERF_S_IDENTIFIER;
	for (unsigned i = 0; i < SAMPLES; i++) {
		ty_buf_init(&body, 4096);
		ty_buf_addle(&body, PW_ID, 8);
		if (sample_type & TY_PERF_S_IP)
			ty_buf_addle(&body, 0x401000, 8);
		if (sample_type & TY_PERF_S_TID)
			ty_buf_addle(&body, 7ull << 32 | 7, 8);
		if (sample_type & TY_PERF_S_TIME)
			ty_buf_addle(&body, 1000 + i, 8);
		if (sample_type & TY_PERF_S_ADDR)
			ty_buf_addle(&body, 0x7f0000001000, 8);
		if (sample_type & TY_PERF_S_BRANCH_STACK) {
			ty_buf_addle(&body, 1, 8);
			for (unsigned k = 0; k < 3; k++)
				ty_buf_addle(&body, 0x401000 + k, 8);
		}
		if (sample_type & TY_PERF_S_DATA_SRC)
			ty_buf_addle(&body, data_src, 8);
		pw_rec(&w, TY_PERF_SAMPLE, 0, body.p, body.len);
		ty_buf_fini(&body);
	}
	ty_buf_init(&file, 1 << 20);
	pw_file(&w, &file);
	pw_save(&file, path);
	ty_buf_fini(&file);
	pw_fini(&w);
	if (ty_perf_contents(path, json, f, &err))
		fail_msg("%s", err.msg);
	fclose(f);
	unlink(path);
	return text;
}

static void shows(uint64_t sample_type, uint64_t data_src, bool json, const char *what)
{
	char *text = said_of(sample_type, data_src, json);

	if (!strstr(text, what))
		fail_msg("'%s' is not in:\n%s", what, text);
	free(text);
}

#define PLACED (TY_PERF_S_IP | TY_PERF_S_TID | TY_PERF_S_TIME)
#define MEMORY (PLACED | TY_PERF_S_ADDR | TY_PERF_S_DATA_SRC)

static void what_shows_the_samples(void **state)
{
	shows(PLACED, 0, false,
	      " 3 samples of arm_spe_0/ts_enable=1/  (samples: tarry report FILE hot, tarry dump "
	      "FILE samples, tarry view FILE)\n");
	shows(PLACED | TY_PERF_S_BRANCH_STACK, 0, false,
	      "(samples: tarry report FILE hot, tarry view FILE; branch stacks: tarry dump FILE "
	      "samples)\n");
	shows(PLACED | TY_PERF_S_BRANCH_STACK, 0, true,
	      "\"samples\":3,\"memory_samples\":0,\"branch_stacks\":true");
	shows(TY_PERF_S_IP, 0, false, "(samples: use perf report)\n");
	shows(MEMORY, 2 | 1 << 5, false, "(memory samples: tarry report FILE memory|sharing,");
	/* Where the kind of access is not known, there are no memory samples. */
	shows(MEMORY, 0, false,
	      "(samples: tarry report FILE hot, tarry dump FILE samples, tarry view FILE)\n");
}

/* Of two CPUs, in two intervals: the last value of each counts. One had no counter half of the
 * time.
 */
static void counts_of_perf_stat(void **state)
{
	static const uint64_t stats[][5] = {{PW_ID, 0, 100, 1000, 1000},
					    {PW_ID, 1, 50, 1000, 500},
					    {PW_ID, 0, 300, 2000, 2000},
					    {PW_ID, 1, 110, 2000, 1000},
					    {999, 0, 77, 1, 1}};
	char *text, *json;
	size_t n;

	(void)state;
	for (unsigned as_json = 0; as_json < 2; as_json++) {
		FILE *f = open_memstream(as_json ? &json : &text, &n);
		struct perf_write w;
		struct ty_err err = {0};
		struct ty_buf file;
		char path[32];

		pw_init(&w);
		for (unsigned i = 0; i < 5; i++)
			pw_rec(&w, TY_PERF_STAT, 0, stats[i], sizeof(stats[i]));
		pw_rec(&w, TY_PERF_STAT, 0, stats[0], 32); /* cut off */
		ty_buf_init(&file, 1 << 20);
		pw_file(&w, &file);
		pw_save(&file, path);
		ty_buf_fini(&file);
		pw_fini(&w);
		if (ty_perf_contents(path, as_json, f, &err))
			fail_msg("%s", err.msg);
		fclose(f);
		unlink(path);
	}
	assert_non_null(strstr(text,
			       "         410 counted of arm_spe_0/ts_enable=1/  (perf stat: ~520 "
			       "scaled, an estimate: counting 75.0% of the time; tarry "
			       "report FILE counters, tarry view FILE)\n"));
	assert_non_null(strstr(json, "\"raw\":410,\"scaled\":520,\"estimated\":true,\"enabled_ns\":"
				     "4000,\"running_ns\":3000"));
	assert_non_null(strstr(json, "\"counts\":6"));
	free(text);
	free(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_shows_the_samples),
		cmocka_unit_test(counts_of_perf_stat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
