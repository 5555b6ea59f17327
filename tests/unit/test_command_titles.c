/* SPDX-License-Identifier: MIT */
/* What distinguishes processes of one name: scripts, titles of their own, the rarest argument. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command_titles.h"
#include "call_data_record.h"
#include "fixture_model.h"
#include "process_titles.h"

#define THREAD(tid, tgid, comm) tid "\t" tgid "\t1\t0\tS\tn\t120\t0\t-\t-\t0\t/\t" comm "\n"

static const char threads[] = "taken 1 2\n" THREAD("10", "10", "python3") THREAD(
	"11", "10", "python3") THREAD("12", "10", "Worker") THREAD("20", "20", "postgres")
	THREAD("21", "21", "postgres") THREAD("30", "30", "cc1") THREAD("31", "31", "cc1")
		THREAD("32", "32", "cc1") THREAD("40", "40", "cat") THREAD("41", "41", "cat")
			THREAD("50", "50", "bash") THREAD("51", "51", "java")
				THREAD("52", "52", "python3.11") THREAD("53", "53", "nodejs")
					THREAD("54", "54", "flock") THREAD("55", "55", "flock")
						THREAD("56", "56", "curl")
							THREAD("57", "57", "curl")
								THREAD("58", "58", "cp")
									THREAD("59", "59", "cp");

static const char lines[] = "5\t10\tpython3\t-u\t-W\tignore\t/srv/app/worker.py\t--fast\n"
			    "5\t20\tpostgres: autovacuum launcher\n"
			    "5\t21\tpostgres\t-D\t/data\n"
			    "70\t21\tpostgres: idle in transaction, waiting for something long\n"
			    "5\t30\tcc1\t-quiet\tx86_64\t/src/one.c\t-O2\n"
			    "5\t31\tcc1\t-quiet\tx86_64\t/src/two.c\t-O2\n"
			    "5\t32\tcc1\t-quiet\tx86_64\t/src/two.c\t-O0\n"
			    "5\t40\tcat\t/same\n"
			    "5\t41\tcat\t/same\n"
			    "5\t50\tbash\t-ec\tdo something\n"
			    "5\t51\tjava\t-cp\t/lib/a.jar\t-Xmx1g\torg.Main\n"
			    "5\t52\tpython3\t-m\thttp.server\n"
			    "5\t53\tnode\t\\tend\n"
			    "5\t54\tflock\tpython3 -c \"import sys; print(1, 2, 3, 4)\"\n"
			    "5\t56\tcurl\thttp://localhost:80/\n"
			    "5\t57\tcurl\thttp://localhost:81/\n"
			    "5\t55\tflock\t/tmp/0123456789abcdef0123456789abcdef0123456789\n"
			    "5\t58\tcp\ta\"b\\\\c\n"
			    "5\t59\tcp\td\n"
			    "garbage\n5\t-1\tx\n5\t60\n5\t99\tnobody\n";

static void a_title_stands_once(void **state)
{
	char text[] = "a/1 \"x \\\" y\" waited for <pipe to a/12 \"v\">, woken by a/12 \"w\", a/1 "
		      "\"x \\\" y\", a/12 \"w\" and /tmp/12 \"open",
	     none[] = "a/1 waits on /srv/x";

	(void)state;
	ty_who_once(text);
	assert_string_equal(text,
			    "a/1 \"x \\\" y\" waited for <pipe to a/12 \"v\">, woken by a/12, "
			    "a/1, a/12 and /tmp/12 \"open");
	ty_who_once(none);
	assert_string_equal(none, "a/1 waits on /srv/x");
}

static void a_thread_without_a_name(void **state)
{
	const struct ty_model *m;
	char out[TY_WHO_MAX];

	(void)state;
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_event(0, 10, 4194303, TY_EV_OTHER);
	ty_mx_event(0, 20, 4194303, TY_EV_OTHER);
	m = ty_mx_end();
	assert_string_equal(ty_model_who(m, 0, 15, out), "[no name]/4194303");
	assert_string_equal(ty_model_who_within(m, 0, 15, 16, out), "[no nam~/4194303");
	ty_mx_drop();
}

static void blanks_behind_a_name(void **state)
{
	(void)state;
	assert_int_equal(ty_comm_shown("starman worker "), 14);
	assert_int_equal(ty_comm_shown("a b"), 3);
	assert_int_equal(ty_comm_shown("  "), 2);
	assert_int_equal(ty_comm_shown(""), 0);
}

static const struct ty_model *model_of(const char *section, const struct ty_call_data_index *x)
{
	struct ty_event ev = {.ts_ns = 80, .tid = 60, .kind = TY_EV_RENAME, .id = 60};
	const struct ty_model *m;

	ty_mx_begin("tarry=0.1\nmode=all\n", threads);
	ty_mx_event(0, 10, 10, TY_EV_OTHER);
	ty_mx_fork(0, 40, 10, 60, 0);
	ev.u.rename.tid = 60;
	strcpy(ev.u.rename.old_comm, "python3");
	strcpy(ev.u.rename.new_comm, "cc1");
	ty_mx_feed(ev);
	ty_mx_switch(0, 100, 10, S, 0);
	m = ty_mx_end();
	assert_int_equal(ty_command_titles((struct ty_model *)m, section, x), 0);
	return m;
}

static int drop(void **state)
{
	ty_mx_drop();
	return 0;
}

static const char *who(const struct ty_model *m, int tid, uint64_t t)
{
	static char out[TY_WHO_MAX];

	return ty_model_who(m, ty_model_thread_find(m, tid, t), t, out);
}

static const char *within(const struct ty_model *m, int tid, uint64_t t, unsigned columns)
{
	static char out[TY_WHO_MAX];

	return ty_model_who_within(m, ty_model_thread_find(m, tid, t), t, columns, out);
}

static void tell_apart(void **state)
{
	const struct ty_model *m = model_of(lines, NULL);
	char out[TY_WHO_MAX];

	assert_string_equal(who(m, 10, 1), "python3/10 \"worker.py\"");
	assert_string_equal(who(m, 11, 1), "python3/11 \"worker.py\"");
	assert_string_equal(who(m, 12, 1), "Worker/12"); /* a name of its own */
	assert_string_equal(who(m, 20, 50), "postgres/20 \"autovacuum launcher\"");
	assert_string_equal(who(m, 21, 50), "postgres/21 \"data\"");
	assert_string_equal(who(m, 21, 70), "postgres/21 \"idle in transaction, waiting for\"");
	assert_string_equal(who(m, 30, 50), "cc1/30 \"one.c\"");
	assert_string_equal(who(m, 31, 50), "cc1/31 \"two.c\"");
	assert_string_equal(who(m, 32, 50), "cc1/32 \"-O0\"");
	assert_string_equal(who(m, 40, 50), "cat/40");
	assert_string_equal(who(m, 50, 50), "bash/50"); /* text of a program is no name */
	assert_string_equal(who(m, 51, 50), "java/51 \"org.Main\"");
	assert_string_equal(who(m, 52, 50), "python3.11/52 \"-m http.server\"");
	assert_string_equal(who(m, 53, 50), "nodejs/53 \"\tend\"");
	assert_string_equal(who(m, 54, 50), "flock/54 \"python3 -c\"");
	assert_string_equal(who(m, 56, 50), "curl/56 \"http://localhost:80\"");
	assert_string_equal(who(m, 55, 50), "flock/55 \"0123456789abcd...bcdef0123456789\"");
	assert_string_equal(ty_model_command_line(m, ty_model_thread_find(m, 11, 50), 50),
			    "python3 -u -W ignore /srv/app/worker.py --fast");
	assert_string_equal(ty_model_who_short(m, ty_model_thread_find(m, 52, 1), 26, out),
			    "python3.11 -m http.server");
	assert_string_equal(ty_model_who_short(m, ty_model_thread_find(m, 52, 1), 20, out),
			    "-m http.server");
	assert_string_equal(ty_model_who_short(m, ty_model_thread_find(m, 20, 1), 20, out),
			    "autovacuum launcher");
	assert_string_equal(within(m, 20, 50, 34), "postgres/20 \"autovacuum launcher\"");
	assert_string_equal(within(m, 20, 50, 32), "postgres/20 \"autovacuum launch~\"");
	assert_string_equal(within(m, 20, 50, 17), "postgres/20 \"au~\"");
	assert_string_equal(within(m, 20, 50, 16), "postgres/20");
	assert_string_equal(within(m, 52, 50, 12), "python3.~/52");
	assert_string_equal(within(m, 58, 50, 11), "cp/58 \"a~\""); /* not half of \" */
	/* Quotes among the words; another number, and none. */
	assert_string_equal(who(m, 58, 50), "cp/58 \"a\\\"b\\\\c\"");
	assert_string_equal(ty_model_who_numbered(m, ty_model_thread_find(m, 11, 50), 50, 10, out),
			    "python3/10 \"worker.py\"");
	assert_string_equal(ty_model_who_numbered(m, ty_model_thread_find(m, 11, 50), 50, -1, out),
			    "python3 \"worker.py\"");
}

/* Cut names of a row: what distinguishes processes of one program remains, and their program where
 * an option does it. */
static void tell_apart_in_a_row(void **state)
{
	static const char section[] = "1\t10\tpython3\t/srv/worker_a.py\n"
				      "1\t11\tpython3\t/srv/worker_b.py\n"
				      "1\t12\tcc1\tcpp_stdout.tmp.12345\n"
				      "1\t13\tcc1\tcpp_stdout.tmp.12346\n"
				      "1\t14\tvalgrind\t--callgrind-out-file=a1\n"
				      "1\t15\tvalgrind\t--callgrind-out-file=a2\n"
				      "1\t16\tdb: app 10.0.0.1(4711) idle\n"
				      "1\t17\tdb: app 10.0.0.1(4712) idle\n"
				      "1\t18\tpython3\t-m\tgunicorn\n"
				      "1\t19\tcp\tä_ä_ä_ä_ä_1\n"
				      "1\t20\tcp\tä_ä_ä_ä_ä_2\n"
				      "1\t21\tdb: -idle for 12\n";
	static const char some[] = "taken 1 2\n" THREAD("10", "10", "python3")
		THREAD("11", "11", "python3") THREAD("12", "12", "cc1") THREAD("13", "13", "cc1")
			THREAD("14", "14", "valgrind") THREAD("15", "15", "valgrind")
				THREAD("16", "16", "db") THREAD("17", "17", "db")
					THREAD("18", "18", "python3") THREAD("19", "19", "cp")
						THREAD("20", "20", "cp") THREAD("21", "21", "db");
	static const struct {
		int tid;
		unsigned columns;
		const char *want;
	} rows[] = {
		{10, 20, "python3 worker_a.py"},
		{10, 19, "python3 worker_a.py"},
		{10, 18, "worker_a.py"},
		{10, 15, "worker_a.py"},
		{11, 15, "worker_b.py"},
		{10, 10, "work~_a.py"},
		{11, 10, "work~_b.py"},
		{10, 4, "w~py"},
		{10, 3, "worker_a.py"},
		{10, 0, "worker_a.py"},
		{12, 15, "cpp_std~p.12345"},
		{13, 15, "cpp_std~p.12346"},
		{13, 12, "cpp_s~.12346"},
		{14, 15, "valgrind ~le=a1"},
		{15, 13, "valgrind ~=a2"},
		{15, 12, "valgrind"},
		{15, 0, "valgrind"},
		{16, 15, "app 10.~1) idle"},
		{17, 15, "app 10.~2) idle"},
		{18, 11, "-m gunicorn"},
		{18, 10, "-m g~icorn"},
		{19, 12, "ä_ä~_ä_1"},
		{20, 12, "ä_ä~_ä_2"},
		{20, 8, "ä_~ä_2"},
		{21, 15, "-idle for 12"},
	};
	const struct ty_model *m;
	char out[TY_WHO_MAX];

	ty_mx_begin("tarry=0.1\nmode=all\n", some);
	ty_mx_event(0, 10, 10, TY_EV_OTHER);
	m = ty_mx_end();
	assert_int_equal(ty_command_titles((struct ty_model *)m, section, NULL), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		ty_model_who_short(m, ty_model_thread_find(m, rows[i].tid, 10), rows[i].columns,
				   out);
		assert_string_equal(out, rows[i].want);
	}
}

/* Options of one letter may share a word, and the rest of a word may be a value. */
static void options_of_interpreters(void **state)
{
	static const char section[] = "1\t10\tpython3\t-mhttp.server\t8000\n"
				      "1\t11\tpython3\t-um\tpip.calendar\tinstall\n"
				      "1\t12\tpython3\t-Wonce\t-X\tdev\t-Xutf8\t/a/w.py\n"
				      "1\t13\tpython3\t-uc\tmain()\tx\n"
				      "1\t14\tbash\t-euo\tpipefail\t/a/deploy.sh\n"
				      "1\t15\tbash\t-m\tjobs.sh\n"
				      "1\t16\tperl\t-Ilib/site\tp.pl\n"
				      "1\t17\tjava\t-Xmx1g\t-m\tapp/Main\n"
				      "1\t18\tbash\t--rcfile=c\tx.sh\n"
				      "1\t19\tperl\t-MDBI\tdump.pl\tin.csv\n"
				      "1\t20\tperl\t-CI\t-MTime::HiRes\tdump.pl\tin.csv\n"
				      "1\t21\tperl\t-d:Trace\tdump.pl\tin.csv\n"
				      "1\t22\tperl\t-i.bake\tdump.pl\tin.csv\n"
				      "1\t23\tperl\t-F:\t-l012ane\tprint\tin.csv\n"
				      "1\t24\tperl\t-0777ne\tprint\tin.csv\n"
				      "1\t25\truby\t-W:no-experimental\t-EUTF-8\t-C\t/\tx.rb\n"
				      "1\t26\tnode\t--require\tx\t--title=y\t/srv/app.js\tz\n"
				      "1\t27\tnode\t--eval\trun()\tz\n"
				      "1\t28\tbash\t+e\t+o\tposix\tx.sh\ty\n"
				      "1\t29\tjava\t-jar\t/a/b.jar\n"
				      "1\t30\tbash\t--rcfile\tc\tx.sh\n"
				      "1\t31\tpython3\t+e\tx.py\n";
	static const char some[] = "taken 1 2\n" THREAD("10", "10", "python3") THREAD(
		"11", "11", "python3") THREAD("12", "12", "python3") THREAD("13", "13", "python3")
		THREAD("14", "14", "bash") THREAD("15", "15", "bash") THREAD(
			"16", "16", "perl") THREAD("17", "17", "java") THREAD("18", "18", "bash")
			THREAD("19", "19", "perl") THREAD("20", "20", "perl") THREAD(
				"21", "21", "perl") THREAD("22", "22", "perl")
				THREAD("23", "23", "perl") THREAD("24", "24", "perl") THREAD(
					"25", "25", "ruby") THREAD("26", "26", "node")
					THREAD("27", "27", "node") THREAD("28", "28", "bash")
						THREAD("29", "29", "java")
							THREAD("30", "30", "bash")
								THREAD("31", "31", "python3");
	static const char *const want[] = {"python3/10 \"-m http.server\"",
					   "python3/11 \"-m pip.calendar\"",
					   "python3/12 \"w.py\"",
					   "python3/13",
					   "bash/14 \"deploy.sh\"",
					   "bash/15 \"jobs.sh\"",
					   "perl/16 \"p.pl\"",
					   "java/17 \"-m Main\"",
					   "bash/18 \"x.sh\"",
					   "perl/19 \"dump.pl\"",
					   "perl/20 \"dump.pl\"",
					   "perl/21 \"dump.pl\"",
					   "perl/22 \"dump.pl\"",
					   "perl/23",
					   "perl/24",
					   "ruby/25 \"x.rb\"",
					   "node/26 \"app.js\"",
					   "node/27",
					   "bash/28 \"x.sh\"",
					   "java/29 \"b.jar\"",
					   "bash/30 \"x.sh\"",
					   "python3/31 \"+e\""};
	const struct ty_model *m;

	ty_mx_begin("tarry=0.1\nmode=all\n", some);
	ty_mx_event(0, 10, 10, TY_EV_OTHER);
	m = ty_mx_end();
	assert_int_equal(ty_command_titles((struct ty_model *)m, section, NULL), 0);
	for (int i = 0; i < 22; i++)
		assert_string_equal(who(m, 10 + i, 10), want[i]);
}

/* The same command line in several containers, and on the host; a process of a unit, and those that
 * both made while it was recorded. */
static void containers(void **state)
{
#define ID		      "3f2a9c1b2d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8"
#define IN(tid, comm, cgroup) tid "\t" tid "\t1\t0\tS\tn\t120\t0\t-\t-\t0\t" cgroup "\t" comm "\n"
	static const char snapshot[] = "taken 1 2\n" IN("10", "nginx", "/docker/" ID)
		IN("11", "nginx", "/docker/a" ID) IN("12", "nginx", "/system.slice/nginx.service")
			IN("13", "nginx", "/system.slice/docker-b" ID ".scope")
				IN("14", "redis", "/docker/" ID) IN("15", "cat", "/docker/" ID)
					IN("16", "cat", "-") IN("17", "java", "/docker/" ID)
						IN("18", "java", "-");
#undef IN
#undef ID
	static const char section[] = "1\t10\tnginx: worker process\n1\t11\tnginx: worker process\n"
				      "1\t12\tnginx: worker process\n1\t13\tnginx: master\n"
				      "1\t14\tredis\n1\t15\tcat\t/a\n1\t16\tcat\t/b\n"
				      "1\t17\tjava\n1\t18\tjava\n";
	const struct ty_model *m;
	char name[TY_CGROUP_NAME_MAX], out[TY_WHO_MAX];

	ty_mx_begin("tarry=0.1\nmode=all\n", snapshot);
	ty_mx_event(0, 10, 10, TY_EV_OTHER);
	ty_mx_fork(0, 40, 10, 60, 0);
	ty_mx_fork(0, 50, 12, 61, 0);
	m = ty_mx_end();
	assert_int_equal(ty_command_titles((struct ty_model *)m, section, NULL), 0);
	assert_string_equal(who(m, 10, 1), "nginx/10 \"worker process docker:3f2a9c1b2d4e\"");
	assert_string_equal(who(m, 11, 1), "nginx/11 \"worker process\""); /* no id: 65 digits */
	assert_string_equal(who(m, 12, 1), "nginx/12 \"worker process\"");
	assert_string_equal(who(m, 13, 1), "nginx/13 \"master\"");
	assert_string_equal(who(m, 14, 1), "redis/14");
	assert_string_equal(who(m, 15, 1), "cat/15 \"a\"");
	assert_string_equal(who(m, 17, 1), "java/17 \"docker:3f2a9c1b2d4e\"");
	/* A short name has no container, least of all instead of a name. */
	assert_string_equal(ty_model_who_short(m, ty_model_thread_find(m, 17, 1), 15, out), "java");
	assert_string_equal(ty_model_who_short(m, ty_model_thread_find(m, 17, 1), 90, out), "java");
	assert_string_equal(ty_model_who_short(m, ty_model_thread_find(m, 10, 1), 15, out),
			    "worker process");
	/* A child is in its parent's container, but maybe no longer in its unit. */
	assert_int_equal(ty_model_cgroup(m, ty_model_thread_find(m, 60, 45), name),
			 TY_CGROUP_CONTAINER);
	assert_string_equal(name, "docker:3f2a9c1b2d4e");
	assert_int_equal(ty_model_cgroup(m, ty_model_thread_find(m, 12, 45), name), TY_CGROUP_UNIT);
	assert_int_equal(ty_model_cgroup(m, ty_model_thread_find(m, 61, 55), name),
			 TY_CGROUP_OTHER);
	assert_null(ty_model_cgroup_path(m, ty_model_thread_find(m, 61, 55)));
	assert_int_equal(ty_model_cgroup(m, ty_model_thread_find(m, 16, 45), name),
			 TY_CGROUP_OTHER);
}

/* Of two with different arguments only one is traced: it is distinguished by its name. */
static void traced_ones(void **state)
{
	static const char section[] = "5\t40\tcat\t/one\n5\t41\tcat\t/two\n";
	const struct ty_model *m;

	ty_mx_begin("tarry=0.1\nmode=pids\npid=40\n", threads);
	ty_mx_switch(0, 10, 0, S, 40);
	ty_mx_enter(0, 20, 40, 0);
	ty_mx_exit(0, 30, 40, 0, 0);
	ty_mx_switch(0, 40, 40, S, 41);
	ty_mx_switch(0, 50, 41, S, 0);
	m = ty_mx_end();
	assert_true(ty_model_thread(m, ty_model_thread_find(m, 40, 20))->traced);
	assert_false(ty_model_thread(m, ty_model_thread_find(m, 41, 20))->traced);
	assert_int_equal(ty_command_titles((struct ty_model *)m, section, NULL), 0);
	assert_string_equal(who(m, 40, 5), "cat/40");
	assert_string_equal(who(m, 41, 5), "cat/41 \"two\"");
}

/* Read just before it executed another program, whose line is not recorded. */
static void of_another_program(void **state)
{
	const struct ty_model *m = model_of("5\t10\tpython3\tworker.py\n", NULL);

	assert_string_equal(who(m, 10, 50), "python3/10 \"worker.py\"");
	assert_string_equal(who(m, 10, 100), "t10/10"); /* its name from there on */
	assert_null(ty_model_command_line(m, ty_model_thread_find(m, 10, 100), 100));
}

/* A child has its parent's until it executes something. */
static void of_children(void **state)
{
	static const char section[] = "5\t10\tpython3\tworker.py\n";
	const char argv[] = "python3\0child.py";
	struct ty_ev_record h = {
		.ns = 60, .tid = 60, .kind = TY_EVK_ARGV, .len = sizeof(argv), .ptr = 1};
	char bytes[sizeof(h) + sizeof(argv)];
	struct ty_call_data_index *x;
	const struct ty_model *m;

	memcpy(bytes, &h, sizeof(h));
	memcpy(bytes + sizeof(h), argv, sizeof(argv));
	x = ty_call_data_index_new(bytes, sizeof(bytes), 0);
	m = model_of(section, x);
	assert_string_equal(ty_model_command_line(m, ty_model_thread_find(m, 60, 50), 50),
			    "python3 worker.py");
	assert_string_equal(ty_model_command_line(m, ty_model_thread_find(m, 60, 60), 60),
			    "python3 child.py");
	ty_call_data_index_free(x);
	/* What it executes then is another program, of which nothing else is known. */
	m = model_of(section, NULL);
	assert_string_equal(ty_model_command_line(m, ty_model_thread_find(m, 60, 50), 50),
			    "python3 worker.py");
	assert_null(ty_model_command_line(m, ty_model_thread_find(m, 60, 90), 90));
	m = model_of(NULL, NULL);
	assert_string_equal(who(m, 10, 50), "python3/10");
	assert_null(ty_model_command_line(m, ty_model_thread_find(m, 10, 50), 50));
}

static void executes(uint64_t ns, int tid)
{
	struct ty_event ev = {.ts_ns = ns, .tid = tid, .kind = TY_EV_EXEC, .id = 61};

	ev.u.exec.tid = ev.u.exec.old_tid = tid;
	ty_mx_feed(ev);
}

/* 60 is a child of 10, which executes at 60, 10 at 150; the names remain. */
static const struct ty_model *model_of_execs(const char *section,
					     const struct ty_call_data_index *x)
{
	const struct ty_model *m;

	ty_mx_begin("tarry=0.1\nmode=all\n", threads);
	ty_mx_event(0, 10, 20, TY_EV_OTHER);
	ty_mx_fork(0, 40, 10, 60, 0);
	executes(60, 60);
	executes(150, 10);
	ty_mx_switch(0, 200, 20, S, 0);
	m = ty_mx_end();
	assert_int_equal(ty_command_titles((struct ty_model *)m, section, x), 0);
	return m;
}

static const char *line_at(const struct ty_model *m, int tid, uint64_t t)
{
	const char *s = ty_model_command_line(m, ty_model_thread_find(m, tid, t), t);

	return s ? s : "";
}

/* Another program of the same name: a script from a script. */
static void of_programs_of_one_name(void **state)
{
	const char argv[] = "python3\0child.py";
	struct ty_ev_record h = {
		.ns = 148, .tid = 10, .kind = TY_EVK_ARGV, .len = sizeof(argv), .ptr = 1};
	char bytes[sizeof(h) + sizeof(argv)];
	struct ty_call_data_index *x;
	const struct ty_model *m = model_of_execs("5\t10\tpython3\tworker.py\n", NULL);

	assert_string_equal(line_at(m, 60, 59), "python3 worker.py");
	assert_string_equal(line_at(m, 60, 60), "");
	assert_string_equal(line_at(m, 10, 149), "python3 worker.py");
	assert_string_equal(line_at(m, 10, 150), "");
	/* Read after its exec: what it was before is unknown. */
	m = model_of_execs("170\t10\tpython3\tworker.py\n", NULL);
	assert_string_equal(line_at(m, 10, 149), "");
	assert_string_equal(line_at(m, 10, 150), "python3 worker.py");
	assert_string_equal(line_at(m, 60, 50), "");
	/* The same line again, read after the exec. */
	m = model_of_execs("5\t10\tpython3\tworker.py\n170\t10\tpython3\tworker.py\n", NULL);
	assert_string_equal(line_at(m, 10, 160), "");
	assert_string_equal(line_at(m, 10, 170), "python3 worker.py");
	/* The arguments of an exec were noted shortly before its own event, or after it. */
	for (h.ns = 148; h.ns <= 152; h.ns += 4) {
		memcpy(bytes, &h, sizeof(h));
		memcpy(bytes + sizeof(h), argv, sizeof(argv));
		x = ty_call_data_index_new(bytes, sizeof(bytes), 0);
		m = model_of_execs("5\t10\tpython3\tworker.py\n", x);
		assert_string_equal(line_at(m, 10, 147), "python3 worker.py");
		assert_string_equal(line_at(m, 10, 152), "python3 child.py");
		assert_string_equal(line_at(m, 10, 199), "python3 child.py");
		ty_call_data_index_free(x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_title_stands_once),
		cmocka_unit_test(a_thread_without_a_name),
		cmocka_unit_test(blanks_behind_a_name),
		cmocka_unit_test_teardown(tell_apart, drop),
		cmocka_unit_test_teardown(tell_apart_in_a_row, drop),
		cmocka_unit_test_teardown(options_of_interpreters, drop),
		cmocka_unit_test_teardown(containers, drop),
		cmocka_unit_test_teardown(traced_ones, drop),
		cmocka_unit_test_teardown(of_another_program, drop),
		cmocka_unit_test_teardown(of_children, drop),
		cmocka_unit_test_teardown(of_programs_of_one_name, drop),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
