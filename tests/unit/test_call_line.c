/* SPDX-License-Identifier: MIT */
/* Lines of `dump syscalls`: every way a call can be known or not, times of day, processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "call_line.h"
#include "tgid_map.h"
#include "wall_clock.h"

static const struct ty_sysarch *x86;
static struct ty_wall wall;
static struct ty_buf buf;

static int setup(void **state)
{
	setenv("TZ", "XYZ-2", 1); /* two hours east */
	tzset();
	x86 = ty_sysarch_find("x86_64");
	ty_wall_init(&wall);
	ty_buf_init(&buf, 1 << 16);
	return 0;
}

static int teardown(void **state)
{
	ty_wall_fini(&wall);
	ty_buf_fini(&buf);
	return 0;
}

static const struct ty_call read_call = {.seq = 1,
					 .start_ns = 5000000000,
					 .end_ns = 6234567890,
					 .nr = 0,
					 .ret = 10,
					 .args = {3, 0x7ffd00001000, 10},
					 .tid = 42,
					 .end_tid = 42,
					 .how = TY_CALL_RETURNED};

static const char *text(struct ty_call c, enum ty_call_part part)
{
	ty_buf_reset(&buf);
	ty_call_text(x86, &wall, &c, part, NULL, &buf);
	return buf.p;
}

static const char *text_how(enum ty_call_how how)
{
	struct ty_call c = read_call;

	c.how = how;
	if (ty_call_end_only(&c))
		c.start_ns = 0;
	return text(c, TY_CALL_WHOLE);
}

static void lines(void **state)
{
	struct ty_call c = read_call;

	assert_string_equal(text(c, TY_CALL_WHOLE),
			    "42    5.000000 read(3, 0x7ffd00001000, 10) = 10 <1.234567>");
	assert_string_equal(text(c, TY_CALL_BEGUN),
			    "42    5.000000 read(3, 0x7ffd00001000, 10 <unfinished ...>");
	assert_string_equal(text(c, TY_CALL_RESUMED),
			    "42    6.234567 <... read resumed>)      = 10 <1.234567>");
	c.gap_inside = true;
	assert_string_equal(text(c, TY_CALL_WHOLE), "42    5.000000 read(3, 0x7ffd00001000, 10) = "
						    "10 <1.234567> <events were lost during it>");
	assert_string_equal(text_how(TY_CALL_OPEN),
			    "42    5.000000 read(3, 0x7ffd00001000, 10 <unfinished ...>");
	assert_string_equal(text_how(TY_CALL_EXITED),
			    "42    5.000000 read(3, 0x7ffd00001000, 10) = ?");
	assert_string_equal(
		text_how(TY_CALL_END_LOST),
		"42    5.000000 read(3, 0x7ffd00001000, 10) = ? <unknown because of lost events>");
	assert_string_equal(text_how(TY_CALL_END_MISSING),
			    "42    5.000000 read(3, 0x7ffd00001000, 10) = ? <unknown: end not "
			    "recorded>");
	assert_string_equal(text_how(TY_CALL_NO_ENTER_BEFORE),
			    "42    6.234567 <... read resumed>)      = 10 <unknown: began before "
			    "the recording>");
	assert_string_equal(text_how(TY_CALL_NO_ENTER_LOST),
			    "42    6.234567 <... read resumed>)      = 10 <unknown because of lost "
			    "events: beginning>");
	c = read_call;
	c.tid = c.end_tid = 4194304;
	c.nr = 231;
	c.how = TY_CALL_OPEN; /* exit_group is over when it begins */
	assert_string_equal(text(c, TY_CALL_WHOLE), "4194304 5.000000 exit_group(3)          = ?");
	c.abi = TY_ABI_COMPAT32;
	c.nr = 1;
	assert_string_equal(text(c, TY_CALL_WHOLE),
			    "4194304 5.000000 exit(3)                = ? [32-bit]");
	c = read_call;
	c.abi = TY_ABI_UNSURE;
	assert_non_null(
		strstr(text(c, TY_CALL_WHOLE), " [or, from a 32-bit program: restart_syscall]"));
	c.nr = 435; /* clone3 is clone3 everywhere */
	assert_null(strstr(text(c, TY_CALL_WHOLE), "["));
}

static struct ty_event print_event(uint64_t ts, const char *s)
{
	return (struct ty_event){.kind = TY_EV_PRINT, .ts_ns = ts, .u.print.text = s};
}

static void time_of_day(void **state)
{
	struct ty_event ev;
	uint64_t ns;

	assert_false(ty_wall_realtime(&wall, 1, &ns));
	ev = print_event(1000, "hello");
	assert_int_equal(ty_wall_feed(&wall, &ev), 0);
	ev = print_event(1000, "tarry_clock realtime_ns=x");
	assert_int_equal(ty_wall_feed(&wall, &ev), 0);
	assert_int_equal(wall.points.n, 0);
	/* 2001-09-09 01:46:40 UTC */
	ev = print_event(5000000000, "tarry_clock realtime_ns=1000000000123456000 monotonic_ns=1");
	assert_int_equal(ty_wall_feed(&wall, &ev), 0);
	/* a step of one hour */
	ev = print_event(8000000000, "tarry_clock realtime_ns=1000003603000000000 monotonic_ns=1");
	assert_int_equal(ty_wall_feed(&wall, &ev), 0);
	assert_int_equal(ty_wall_feed(&wall, &ev), 0); /* after a rewind */
	assert_int_equal(wall.points.n, 2);
	assert_string_equal(text(read_call, TY_CALL_WHOLE),
			    "42    03:46:40.123456 read(3, 0x7ffd00001000, 10) = 10 <1.234567>");
	ty_buf_reset(&buf);
	ty_wall_fmt(&wall, 4999000000, &buf); /* before the first */
	ty_buf_addc(&buf, ' ');
	ty_wall_fmt(&wall, 7999999999, &buf);
	ty_buf_addc(&buf, ' ');
	ty_wall_fmt(&wall, 8000000000, &buf);
	assert_string_equal(buf.p, "03:46:40.122456 03:46:43.123455 04:46:43.000000");
}

static const struct ty_arg_names passwd = {.fd = {"/etc/\x1bx"}, .result = "/x"};

static void names_of_descriptors(void **state)
{
	ty_buf_reset(&buf);
	ty_call_text(x86, &wall, &read_call, TY_CALL_WHOLE, &passwd, &buf);
	assert_non_null(strstr(buf.p, " read(3</etc/?x>, 0x7ffd00001000, 10) = 10</x>"));
	ty_buf_reset(&buf);
	ty_call_text(x86, &wall, &read_call, TY_CALL_WHOLE,
		     &(struct ty_arg_names){.fd = {"/memfd:x (deleted)"}}, &buf);
	assert_non_null(strstr(buf.p, " read(3</memfd:x>(deleted), 0x7ffd00001000, 10) = 10 "));
}

static void json(void **state)
{
	struct ty_call c = read_call;
	char *out = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&out, &n);
	struct ty_json j;

	const struct ty_call_data_item item[6] = {{0},
						  {.p = "a\"\n", .len = 3, .kind = TY_EVK_STRING}};

	ty_json_init(&j, f);
	ty_call_json(x86, &c, 40, "a\"b", &passwd, item, NULL, &buf, &j);
	c.ret = -2;
	ty_call_json(x86, &c, -1, "x", NULL, NULL, NULL, &buf, &j);
	c.how = TY_CALL_OPEN;
	c.abi = TY_ABI_UNSURE;
	c.gap_inside = true;
	ty_call_json(x86, &c, 40, "x", NULL, NULL, NULL, &buf, &j);
	c.how = TY_CALL_NO_ENTER_BEFORE;
	c.abi = TY_ABI_NATIVE64;
	c.gap_inside = false;
	c.ret = 0;
	ty_call_json(x86, &c, 40, "x", NULL, NULL, NULL, &buf, &j);
	ty_json_fini(&j);
	fclose(f);
	assert_string_equal(
		out,
		"{\"ts_ns\":5000000000,\"duration_ns\":1234567890,\"tid\":42,\"pid\":40,"
		"\"comm\":\"a\\\"b\",\"name\":\"read\",\"args\":[\"0x3\",\"0x7ffd00001000\","
		"\"0xa\"],\"args_text\":\"3, 0x7ffd00001000, 10\","
		"\"fd_name\":\"/etc/"
		"\\u001bx\",\"fd_names\":[\"/etc/\\u001bx\",null,null],\"ret_name\":\"/x\","
		"\"strings\":[null,\"a\\\"\\u000a\",null],\"ret\":10,\"errno\":null,"
		"\"status\":\"returned\"}\n"
		"{\"ts_ns\":5000000000,\"duration_ns\":1234567890,\"tid\":42,\"pid\":null,"
		"\"comm\":\"x\",\"name\":\"read\",\"args\":[\"0x3\",\"0x7ffd00001000\","
		"\"0xa\"],\"args_text\":\"3, 0x7ffd00001000, 10\",\"ret\":-1,\"errno\":\"ENOENT\","
		"\"status\":\"returned\"}\n"
		"{\"ts_ns\":5000000000,\"duration_ns\":null,\"tid\":42,\"pid\":40,"
		"\"comm\":\"x\",\"name\":\"read\",\"args\":[\"0x3\",\"0x7ffd00001000\","
		"\"0xa\"],\"args_text\":\"3, 0x7ffd00001000, 10\",\"ret\":null,\"errno\":null,"
		"\"status\":\"unfinished\",\"unfinished\":true,\"lost_inside\":true,"
		"\"abi\":\"unknown\"}\n"
		"{\"ts_ns\":6234567890,\"duration_ns\":null,\"tid\":42,\"pid\":40,"
		"\"comm\":\"x\",\"name\":\"read\",\"args\":null,\"args_text\":null,\"ret\":0,"
		"\"errno\":null,\"status\":\"began_before\"}\n");
	free(out);
}

static void processes(void **state)
{
	struct ty_tgid_map *t =
		ty_tgid_map_new("taken 1 2\n7\t5\t1\tx\n99999999\t5\t\nbad\n8\t\n9\t9");
	struct ty_event ev = {.kind = TY_EV_NEWTASK, .tid = 7};

	assert_non_null(t);
	assert_int_equal(ty_tgid_map_get(t, 7), 5);
	assert_int_equal(ty_tgid_map_get(t, 8), -1);
	assert_int_equal(ty_tgid_map_get(t, 9), -1); /* cut: not trusted */
	assert_int_equal(ty_tgid_map_get(t, -1), -1);
	assert_int_equal(ty_tgid_map_get(t, INT32_MAX), -1);
	ev.u.newtask.tid = 20;
	ev.u.newtask.clone_flags = 0x10000; /* CLONE_THREAD */
	assert_int_equal(ty_tgid_map_feed(t, &ev), 0);
	assert_int_equal(ty_tgid_map_get(t, 20), 5);
	ev.u.newtask.clone_flags = 0;
	ev.u.newtask.tid = 4194304;
	assert_int_equal(ty_tgid_map_feed(t, &ev), 0);
	assert_int_equal(ty_tgid_map_get(t, 4194304), 4194304);
	ev.u.newtask.tid = 4194305;
	assert_int_equal(ty_tgid_map_feed(t, &ev), 0);
	assert_int_equal(ty_tgid_map_get(t, 4194305), -1);
	/* A thread of an unknown process; the tid had another owner before. */
	ev.tid = 1000;
	ev.u.newtask.tid = 20;
	ev.u.newtask.clone_flags = 0x10000;
	assert_int_equal(ty_tgid_map_feed(t, &ev), 0);
	assert_int_equal(ty_tgid_map_get(t, 20), -1);
	ev = (struct ty_event){.kind = TY_EV_EXEC, .u.exec = {.tid = 20, .old_tid = 21}};
	assert_int_equal(ty_tgid_map_feed(t, &ev), 0);
	assert_int_equal(ty_tgid_map_get(t, 20), 20);
	ty_tgid_map_free(t);
	ty_tgid_map_free(NULL);
}

/* The name of a unix socket says which process is at its other end; a path in it does not. */
static void json_peer(void **state)
{
	static const struct {
		const char *name, *want;
	} tried[] = {{"UNIX-STREAM:[17->18 process 5]", ",\"fd_peer_pid\":5,\"fd_names\":["},
		     {"UNIX-STREAM:[17 to \"/a process 4\" process 5]", "\"fd_peer_pid\":5,"},
		     {"UNIX-STREAM:[17 to \"/a process 4]\"]", NULL},
		     {"UNIX-STREAM:[17->18]", NULL},
		     {"UNIX-STREAM:[17->18 process 0]", NULL},
		     {"/tmp/UNIX- process 5]", NULL}};

	for (unsigned i = 0; i < sizeof(tried) / sizeof(*tried); i++) {
		char *out = NULL;
		size_t n = 0;
		FILE *f = open_memstream(&out, &n);
		struct ty_json j;

		ty_json_init(&j, f);
		ty_call_json(x86, &read_call, 40, "x",
			     &(struct ty_arg_names){.fd = {tried[i].name}}, NULL, NULL, &buf, &j);
		ty_json_fini(&j);
		fclose(f);
		assert_true(tried[i].want ? strstr(out, tried[i].want) != NULL
					  : !strstr(out, "fd_peer_pid"));
		free(out);
	}
}

/* Also a process with blanks in its name. */
static void json_peers(void **state)
{
	char *out = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&out, &n);
	struct ty_json j;

	(void)state;
	ty_json_init(&j, f);
	ty_call_json(x86, &read_call, 40, "x",
		     &(struct ty_arg_names){.fd = {"pipe:[1]"}, .peers = "12 a b\n13 c\n"}, NULL,
		     NULL, &buf, &j);
	ty_json_fini(&j);
	fclose(f);
	assert_non_null(strstr(out, ",\"fd_peers\":[{\"pid\":12,\"comm\":\"a b\"},"
				    "{\"pid\":13,\"comm\":\"c\"}]"));
	free(out);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(lines),      T(time_of_day), T(names_of_descriptors), T(json), T(json_peer),
		T(json_peers), T(processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
