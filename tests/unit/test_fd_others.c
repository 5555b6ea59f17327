/* SPDX-License-Identifier: MIT */
/* The other end of a pipe or socket by the names that both ends have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "call_data_record.h"
#include "fd_others.h"

static const char listed[] = "taken 1 2\n"
			     "7\t3\t-\tpipe:[9]\tr\n"
			     "8\t1\t-\tpipe:[9]\tw\n"
			     "9\t1\t-\tpipe:[9]\n" /* of an older recorder */
			     "7\t4\t-\tpipe:[10]\tr\n8\t4\t-\tpipe:[10]\tw\n"
			     "9\t4\t-\tpipe:[10]\tw\n9\t5\t-\tpipe:[10]\tw\n"
			     "10\t4\t-\tTCP:[127.0.0.1:80 listening]\n"
			     "10\t5\t-\tTCP:[[::ffff:127.0.0.1]:80->[::ffff:127.0.0.1]:4000]\n"
			     "11\t5\t-\tUDP:[127.0.0.53:53]\n"
			     "12\t0\t-\tTCP:[\n12\t0\t-\tTCP:[[1->2]\n12\t1\t-\tUNIX-STREAM:[x]\n"
			     "12\t2\t-\tTCP:[]\n12\t3\t-\tTCP:[->]\n12\t4\t-\tTCPv6:[[]]\n";

static const char *find_by(const struct ty_fd_others *o, const char *name, char access,
			   uint64_t t_ns, int not_pid, int by_tid)
{
	static char text[128];
	struct ty_fd_other e;

	if (!ty_fd_others_find(o, name, access, t_ns, not_pid, by_tid, &e))
		return "";
	snprintf(text, sizeof(text), "%d %d %d%s", e.pid, e.tid, (int)e.ns,
		 e.several ? " several" : "");
	return text;
}

static const char *find(const struct ty_fd_others *o, const char *name, char access, uint64_t t_ns,
			int not_pid)
{
	return find_by(o, name, access, t_ns, not_pid, 0);
}

static void of_the_list(void **state)
{
	struct ty_fd_others *o = ty_fd_others_new(listed, NULL);

	assert_string_equal(find(o, "pipe:[9]", 'r', 5, 7), "8 0 0");
	assert_string_equal(find(o, "pipe:[9]", 'w', 5, 8), "7 0 0");
	assert_string_equal(find(o, "pipe:[9]", 0, 5, 8), "");
	assert_string_equal(find(o, "pipe:[10]", 'r', 5, 7), "9 0 0 several");
	assert_string_equal(find(o, "pipe:[10]", 'r', 5, 8), "9 0 0");
	assert_string_equal(find(o, "pipe:[9]", 'r', 5, 8), ""); /* no other one writes */
	assert_string_equal(find(o, "TCP:[127.0.0.1:4000->127.0.0.1:80]", 0, 5, 7), "10 0 0");
	/* The process that listens there need not be the one that accepted it. */
	assert_string_equal(find(o, "TCP:[127.0.0.1:4001->127.0.0.1:80]", 0, 5, 7), "");
	assert_string_equal(find(o, "TCP:[127.0.0.1:4001->127.0.0.1:81]", 0, 5, 7), "");
	assert_string_equal(find(o, "UDP:[127.0.0.1:5->127.0.0.53:53]", 0, 5, 7), "11 0 0");
	assert_string_equal(find(o, "UDP:[127.0.0.1:5]", 0, 5, 7), "");
	assert_string_equal(find(o, "/tmp/pipe:[9]", 'r', 5, 7), "");
	assert_string_equal(find(o, "UNIX-STREAM:[5 to \"/s\" process 77]", 0, 5, 7), "77 0 0");
	assert_string_equal(find(o, "UNIX-STREAM:[5 to \"/s\" process 7]", 0, 5, 7), "");
	/* a path may have these words, too */
	assert_string_equal(find(o, "UNIX-STREAM:[5 to \"/a process 4\" process 77]", 0, 5, 7),
			    "77 0 0");
	assert_string_equal(find(o, "UNIX-STREAM:[5 to \"/a process 4\"]", 0, 5, 7), "");
	assert_string_equal(find(o, "TCP:[->", 0, 5, 7), "");
	assert_string_equal(find(NULL, "pipe:[9]", 'r', 5, 7), "");
	ty_fd_others_free(o);
	o = ty_fd_others_new(NULL, NULL);
	assert_string_equal(find(o, "pipe:[9]", 'r', 5, 7), "");
	ty_fd_others_free(o);
}

static size_t record(char *at, uint64_t ns, int tid, unsigned long inode, unsigned long peer)
{
	struct ty_ev_fd fd = {
		.inode = inode, .peer_inode = peer, .mode = 0140777, .family = 1, .type = 1};
	struct ty_ev_record h = {.ns = ns,
				 .tid = (uint32_t)tid,
				 .kind = TY_EVK_FDS,
				 .len = sizeof(fd),
				 .flags = TY_EVF_EXIT};

	memcpy(at, &h, sizeof(h));
	memcpy(at + sizeof(h), &fd, sizeof(fd));
	return sizeof(h) + sizeof(fd);
}

/* 17 was connected by 20; 18 is its other end, which 21 accepted later. */
static void of_calls(void **state)
{
	struct ty_call_data_index *x;
	struct ty_fd_others *o;
	char bytes[1024];
	size_t n = 0;

	n += record(bytes + n, 100, 20, 17, 0);
	n += record(bytes + n, 200, 21, 18, 17);
	n += record(bytes + n, 900, 22, 18, 17); /* the number again */
	x = ty_call_data_index_new(bytes, n, 0);
	o = ty_fd_others_new(NULL, x);
	assert_string_equal(find(o, "UNIX-STREAM:[17 to \"/s\" process 3]", 0, 150, 20),
			    "0 21 200");
	assert_string_equal(find(o, "UNIX-STREAM:[17]", 0, 500, 20), "0 21 200");
	assert_string_equal(find(o, "UNIX-STREAM:[17]", 0, 900, 20), "0 22 900");
	assert_string_equal(find(o, "UNIX-STREAM:[18->17,\"/s\"]", 0, 500, 21), "0 20 100");
	assert_string_equal(find(o, "UNIX-STREAM:[19]", 0, 500, 21), "");
	ty_fd_others_free(o);
	ty_call_data_index_free(x);
}

/* Two containers with the same connection, and one between them and the host. */
static void of_namespaces(void **state)
{
#define PAIR(server, client, net)                                                                  \
	server "\t3\t-\tTCP:[127.0.0.1:5432->127.0.0.1:4000]\t-\t" net "\n" client                 \
	       "\t3\t-\tTCP:[127.0.0.1:4000->127.0.0.1:5432]\t-\t" net "\n"
	static const char two[] = "taken 1 2\n" PAIR("10", "11", "71") PAIR(
		"20", "21", "72") "30\t3\t-\tTCP:[10.0.0.2:80->10.0.0.1:9]\t-\t71\n"
				  "31\t3\t-\tTCP:[10.0.0.1:9->10.0.0.2:80]\t-\t70\n"
				  "40\t3\t-\tTCP:[127.0.0.1:7->127.0.0.1:8]\t-\t71\n"
				  "41\t3\t-\tTCP:[127.0.0.1:8->127.0.0.1:7]\t-\t72\n"
				  "42\t3\t-\tTCP:[127.0.0.1:8->127.0.0.1:7]\n"
				  "50\t3\t-\tTCP:[127.0.0.1:17->127.0.0.1:18]\t-\tx\n"
				  "51\t3\t-\tTCP:[127.0.0.1:18->127.0.0.1:17]\t-\t99999999999\n";
	static const char client[] = "TCP:[127.0.0.1:4000->127.0.0.1:5432]",
			  server[] = "TCP:[127.0.0.1:5432->127.0.0.1:4000]";
	struct ty_fd_others *o = ty_fd_others_new(two, NULL);

	(void)state;
	assert_string_equal(find(o, client, 0, 5, 11), "10 0 0");
	assert_string_equal(find(o, client, 0, 5, 21), "20 0 0");
	assert_string_equal(find(o, server, 0, 5, 10), "11 0 0");
	assert_string_equal(find(o, server, 0, 5, 20), "21 0 0");
	/* In which namespace 22 is, a child of one of them, is unknown. */
	assert_string_equal(find(o, client, 0, 5, 22), "20 0 0 several");
	/* From a container to another one or its host, but not by a loopback device. */
	assert_string_equal(find(o, "TCP:[10.0.0.2:80->10.0.0.1:9]", 0, 5, 30), "31 0 0");
	assert_string_equal(find(o, "TCP:[127.0.0.1:7->127.0.0.1:8]", 0, 5, 40), "42 0 0");
	assert_string_equal(find(o, "TCP:[127.0.0.1:17->127.0.0.1:18]", 0, 5, 50), "51 0 0");
	ty_fd_others_free(o);
}

static size_t inet(char *at, uint64_t ns, int tid, uint32_t net, unsigned own, unsigned peer)
{
	struct ty_ev_fd fd = {
		.inode = own, .net = net, .mode = 0140777, .family = 2, .type = 1, .protocol = 6};
	struct ty_ev_record h = {.ns = ns,
				 .tid = (uint32_t)tid,
				 .kind = TY_EVK_FDS,
				 .len = sizeof(fd),
				 .flags = TY_EVF_EXIT};
	const unsigned char a[8] = {2, 0, (unsigned char)(own >> 8), (unsigned char)own, 127, 0,
				    0, 1},
			    b[8] = {2, 0, (unsigned char)(peer >> 8), (unsigned char)peer, 127, 0,
				    0, 1};

	memcpy(fd.own, a, sizeof(a));
	memcpy(fd.peer, b, sizeof(b));
	memcpy(at, &h, sizeof(h));
	memcpy(at + sizeof(h), &fd, sizeof(fd));
	return sizeof(h) + sizeof(fd);
}

/* The same of calls: the thread whose call made an end has its namespace. */
static void of_calls_in_namespaces(void **state)
{
	static const char client[] = "TCP:[127.0.0.1:4000->127.0.0.1:5432]";
	struct ty_call_data_index *x;
	struct ty_fd_others *o;
	char bytes[4096];
	size_t n = 0;

	(void)state;
	n += inet(bytes + n, 100, 11, 71, 4000, 5432);
	n += inet(bytes + n, 110, 10, 71, 5432, 4000);
	n += inet(bytes + n, 120, 21, 72, 4000, 5432);
	n += inet(bytes + n, 130, 20, 72, 5432, 4000);
	x = ty_call_data_index_new(bytes, n, 0);
	o = ty_fd_others_new(NULL, x);
	assert_string_equal(find_by(o, client, 0, 500, 1, 11), "0 10 110");
	assert_string_equal(find_by(o, client, 0, 500, 1, 21), "0 20 130");
	assert_string_equal(find_by(o, client, 0, 500, 1, 99), "0 20 130 several");
	ty_fd_others_free(o);
	/* Listed without a namespace: the end may be that of the calls, or another one. */
	o = ty_fd_others_new("taken 1 2\n10\t3\t-\tTCP:[127.0.0.1:5432->127.0.0.1:4000]\n", x);
	assert_string_equal(find_by(o, client, 0, 115, 1, 99), "0 10 110 several");
	assert_string_equal(find_by(o, client, 0, 500, 1, 99), "0 20 130 several");
	ty_fd_others_free(o);
	ty_call_data_index_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_the_list),
		cmocka_unit_test(of_calls),
		cmocka_unit_test(of_namespaces),
		cmocka_unit_test(of_calls_in_namespaces),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
