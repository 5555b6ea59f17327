/* SPDX-License-Identifier: MIT */
/* Lines with the command lines of the processes that a section blames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command_titles.h"
#include "fixture_model.h"
#include "process_titles.h"
#include "report_commands.h"

#define THREAD(tid, tgid, comm) tid "\t" tgid "\t1\t0\tS\tn\t120\t0\t-\t-\t0\t/\t" comm "\n"
#define TEN			"0123456789"
#define MANY			TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static const char threads[] = "taken 1 2\n" THREAD("10", "10", "pv") THREAD("11", "10", "writer")
	THREAD("20", "20", "nginx") THREAD("30", "30", "cat") THREAD("31", "31", "cat")
		THREAD("40", "40", "sh") THREAD("50", "50", "dd") THREAD("60", "60", "tail");

static const char lines[] =
	"5\t10\tpv\t-q\t-L\t300k\n5\t20\tnginx: worker process\n"
	"5\t30\tcat\tone\n5\t31\tcat\ttwo\n5\t40\t/bin/sh\n"
	"5\t50\tdd\t" MANY "1234\xc3\xa4\xc3\xa4\n5\t60\ttail\ta\\nb\x1b[1m\tc\n";

static const struct ty_model *model(void)
{
	const struct ty_model *m;

	ty_mx_begin("tarry=0.1\nmode=all\n", threads);
	ty_mx_event(0, 10, 10, TY_EV_OTHER);
	ty_mx_event(0, 100, 10, TY_EV_OTHER);
	m = ty_mx_end();
	assert_int_equal(ty_command_titles((struct ty_model *)m, lines, NULL), 0);
	return m;
}

static int drop(void **state)
{
	(void)state;
	ty_mx_drop();
	return 0;
}

/* What is written for a thread by its number; 0: for TY_NONE. */
static const char *put(struct ty_commands *k, const struct ty_model *m, int tid)
{
	static char *text;
	size_t n;
	bool any;
	FILE *f;

	free(text);
	f = open_memstream(&text, &n);
	any = ty_put_command(k, m, tid ? ty_model_thread_find(m, tid, 50) : TY_NONE, 50, 2, f);
	fclose(f);
	assert_int_equal(any, n > 0);
	return text;
}

static void what_the_name_leaves_out(void **state)
{
	const struct ty_model *m = model();
	struct ty_commands k = {0};

	(void)state;
	assert_string_equal(put(&k, m, 10), "  pv/10: pv -q -L 300k\n");
	assert_string_equal(put(&k, m, 10), ""); /* once */
	assert_string_equal(put(&k, m, 11), ""); /* the same process */
	assert_string_equal(put(&k, m, 20), ""); /* nginx/20 "worker process" */
	assert_string_equal(put(&k, m, 31), ""); /* cat/31 "two" */
	assert_string_equal(put(&k, m, 40), ""); /* no arguments */
	assert_string_equal(put(&k, m, 0), "");
	assert_string_equal(put(&k, m, 50), "  dd/50: dd " MANY "1234\xc3\xa4...\n");
	assert_string_equal(put(&k, m, 60), "  tail/60: tail a?b?[1m c\n");
	assert_int_equal(k.n, 3);
	for (k.n = 0; k.n < TY_COMMANDS_SHOWN; k.n++)
		k.line[k.n] = "";
	assert_string_equal(put(&k, m, 10), "");
}

/* The holder of the lock is in the middle of the chain. */
static void of_a_chain(void **state)
{
	const struct ty_model *m = model();
	struct ty_stall s = {.thread = ty_model_thread_find(m, 60, 50),
			     .culprit = ty_model_thread_find(m, 50, 50),
			     .culprit_ns = 50,
			     .links = 3};
	struct ty_commands k = {0};
	char *text = NULL, *line;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	(void)state;
	s.link[0] = (struct ty_link){.thread = s.thread, .start_ns = 20, .end_ns = 60};
	s.link[1] = (struct ty_link){
		.thread = ty_model_thread_find(m, 11, 50), .start_ns = 20, .end_ns = 60};
	s.link[2] = (struct ty_link){.thread = s.culprit, .start_ns = 20, .end_ns = 60};
	ty_put_stall_commands(&k, m, &s, 0, f);
	fclose(f);
	assert_non_null(line = strchr(text, '\n'));
	*line = 0;
	assert_string_equal(text, "writer/11: pv -q -L 300k");
	assert_int_equal(strncmp(line + 1, "dd/50: dd 0", 11), 0);
	assert_ptr_equal(strchr(line + 1, '\n'), text + n - 1);
	free(text);
}

static void becomes(uint64_t ns, int tid, const char *from, const char *to)
{
	struct ty_event ev = {.ts_ns = ns, .tid = tid, .kind = TY_EV_RENAME, .id = 60};

	ev.u.rename.tid = tid;
	strcpy(ev.u.rename.old_comm, from);
	strcpy(ev.u.rename.new_comm, to);
	ty_mx_feed(ev);
}

/* 40 starts 80, a script that becomes another one and then a shell, which starts 81, which becomes
 * gdb. */
static void of_a_culprit_without_one(void **state)
{
	const struct ty_model *m;
	struct ty_stall s = {.links = 0, .culprit_ns = 95};
	struct ty_commands k = {0};
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	(void)state;
	ty_mx_begin("tarry=0.1\nmode=all\n", threads);
	ty_mx_event(0, 10, 40, TY_EV_OTHER);
	ty_mx_fork(0, 20, 40, 80, 0);
	becomes(30, 80, "t40", "snapshot.sh");
	becomes(40, 80, "snapshot.sh", "gcore");
	becomes(50, 80, "gcore", "bash");
	ty_mx_fork(0, 60, 80, 81, 0);
	becomes(70, 81, "t80", "gdb");
	becomes(90, 80, "bash", "later");
	ty_mx_event(0, 100, 40, TY_EV_OTHER);
	m = ty_mx_end();
	s.culprit = ty_model_thread_find(m, 81, 95);
	ty_put_stall_commands(&k, m, &s, 2, f);
	ty_put_stall_commands(&k, m, &s, 2, f); /* once */
	s.culprit = ty_model_thread_find(m, 40, 95);
	ty_put_stall_commands(&k, m, &s, 2, f);
	fclose(f);
	assert_string_equal(text,
			    "  gdb/81: started by bash/80, earlier named snapshot.sh, gcore\n");
	free(text);
}

/* A shell that was there before starts a kill, whose line was read where it ran. */
static void of_a_tool(void **state)
{
	static const char tools[] = "5\t60\tsh\tbackup.sh\t--nightly\n70\t80\tkill\t-STOP\t9\n";
	const struct ty_model *m;
	struct ty_stall s = {.culprit_ns = 65};
	struct ty_commands k = {0};
	char *text = NULL;
	struct ty_json j;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	(void)state;
	ty_mx_begin("tarry=0.1\nmode=all\n", threads);
	ty_mx_event(0, 10, 60, TY_EV_OTHER);
	ty_mx_fork(0, 20, 60, 80, 0);
	becomes(30, 80, "tail", "kill");
	ty_mx_event(0, 100, 60, TY_EV_OTHER);
	m = ty_mx_end();
	assert_int_equal(ty_command_titles((struct ty_model *)m, tools, NULL), 0);
	s.culprit = ty_model_thread_find(m, 80, 65);
	ty_put_stall_commands(&k, m, &s, 0, f);
	ty_json_init(&j, f);
	ty_json_object(&j, NULL);
	ty_callers_json(m, s.culprit, 65, &j);
	ty_json_end_object(&j);
	ty_json_fini(&j);
	fclose(f);
	assert_non_null(strstr(text, "kill/80: kill -STOP 9\nkill/80: started by tail/60"));
	assert_non_null(strstr(text, "\ntail/60: sh backup.sh --nightly\n"));
	assert_non_null(strstr(text, "{\"started_by\":[{\"comm\":\"tail\",\"tid\":60,"
				     "\"command_line\":\"sh backup.sh --nightly\"}]}"));
	free(text);
}

static void as_json(void **state)
{
	const struct ty_model *m = model();
	char *text = NULL;
	struct ty_json j;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	(void)state;
	ty_json_init(&j, f);
	ty_json_object(&j, NULL);
	ty_command_json(m, ty_model_thread_find(m, 20, 50), 50, &j);
	ty_json_end_object(&j);
	ty_json_fini(&j);
	fclose(f);
	assert_non_null(strstr(text, "{\"command_line\":\"nginx: worker process\"}"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(what_the_name_leaves_out, drop),
		cmocka_unit_test_teardown(of_a_chain, drop),
		cmocka_unit_test_teardown(of_a_culprit_without_one, drop),
		cmocka_unit_test_teardown(of_a_tool, drop),
		cmocka_unit_test_teardown(as_json, drop)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
