/* SPDX-License-Identifier: MIT */
/*
 * The recorder's parts against a made-up tracefs in a temporary folder: which events are chosen,
 * what the kernel's answers become, whose instances are swept, and every page of a ring exactly
 * once in the spool.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <tracefs.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "cpu_list.h"
#include "event_set.h"
#include "fixture_trace.h"
#include "int_set.h"
#include "machine_facts.h"
#include "proc_snapshot.h"
#include "ring_reader.h"
#include "spool.h"
#include "trace.h"
#include "tracefs.h"

static char dir[64];

static void make_dirs(const char *path)
{
	char p[512];

	snprintf(p, sizeof(p), "%s/%s", dir, path);
	for (char *s = p + strlen(dir) + 1; (s = strchr(s, '/')); *s++ = '/') {
		*s = 0;
		mkdir(p, 0755);
	}
	mkdir(p, 0755);
}

static void put_file(const char *path, const void *text, size_t n)
{
	char p[512], *slash;
	FILE *f;

	snprintf(p, sizeof(p), "%s", path);
	slash = strrchr(p, '/');
	if (slash) {
		*slash = 0;
		make_dirs(p);
	}
	snprintf(p, sizeof(p), "%s/%s", dir, path);
	f = fopen(p, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	fclose(f);
}

static void put_text(const char *path, const char *text)
{
	put_file(path, text, strlen(text));
}

static int setup(void **state)
{
	strcpy(dir, "/tmp/tarry-test-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	return system(cmd);
}

static const struct ty_event_set_item *item(const struct ty_event_set *s, const char *event)
{
	for (size_t i = 0; i < s->items.n; i++)
		if (!strcmp(s->items.v[i].event, event))
			return &s->items.v[i];
	return NULL;
}

static void a_kernel(void)
{
	put_text("events/raw_syscalls/sys_enter/enable", "0");
	put_text("events/raw_syscalls/sys_exit/enable", "0");
	put_text("events/sched/sched_switch/enable", "0");
	put_text("events/sched/sched_process_fork/enable", "0");
	put_text("events/sched/enable", "0");
	put_text("events/irq_vectors/local_timer_entry/enable", "0");
	put_text("events/irq_vectors/vector_setup/enable", "0");
	put_text("events/syscalls/sys_enter_openat/enable", "0");
}

static void events_are_chosen(void **state)
{
	static const char *const specs[] = {"syscalls:*",
					    "sched:sched_switch:prev_pid == 1 || x:y"},
				 *const two[] = {"sched:sched_switch:a == 1",
						 "sched:sched_switch:b == 2"},
				 *const wide[] = {"sched:sched_switch:a == 1",
						  "sched:sched_switch"};
	struct ty_event_set s;
	struct ty_err err = {0};
	bool told = false;

	a_kernel();
	assert_int_equal(ty_event_set_build(&s, dir, true, true, specs, 2, &err), 0);
	assert_true(item(&s, "sys_enter")->syscalls);
	assert_false(item(&s, "sched_switch")->syscalls);
	assert_true(item(&s, "sched_switch")->requested);
	/* A default is recorded whole; what is requested only adds. */
	assert_null(item(&s, "sched_switch")->filter);
	assert_int_equal(s.notes.n, 1);
	assert_non_null(strstr(s.notes.v[0], "sched:sched_switch:prev_pid == 1 || x:y"));
	assert_non_null(item(&s, "local_timer_entry"));
	assert_null(item(&s, "vector_setup"));
	assert_true(item(&s, "sys_enter_openat")->syscalls);
	for (size_t i = 0; i < s.skipped.n; i++)
		told |= !strncmp(s.skipped.v[i], "sched:sched_waking ", 19);
	assert_true(told);
	assert_true(ty_event_set_has_syscalls(&s));
	ty_event_set_fini(&s);

	assert_int_equal(ty_event_set_build(&s, dir, false, false, NULL, 0, &err), 0);
	assert_null(item(&s, "sched_switch"));
	assert_non_null(item(&s, "sched_process_fork"));
	assert_false(ty_event_set_has_syscalls(&s));
	ty_event_set_fini(&s);

	/* Only the first two colons part. */
	assert_int_equal(ty_event_set_build(&s, dir, true, false, specs, 2, &err), 0);
	assert_string_equal(item(&s, "sched_switch")->filter, "prev_pid == 1 || x:y");
	assert_int_equal(s.notes.n, 0);
	ty_event_set_fini(&s);
	assert_int_equal(ty_event_set_build(&s, dir, true, false, two, 2, &err), 0);
	assert_string_equal(item(&s, "sched_switch")->filter, "(a == 1) || (b == 2)");
	ty_event_set_fini(&s);
	assert_int_equal(ty_event_set_build(&s, dir, true, false, wide, 2, &err), 0);
	assert_null(item(&s, "sched_switch")->filter);
	ty_event_set_fini(&s);
}

static void wrong_events_are_refused(void **state)
{
	static const struct {
		const char *spec;
		int code;
	} bad[] = {
		{"sched_switch", TY_EUSAGE},
		{":x", TY_EUSAGE},
		{"sched:", TY_EUSAGE},
		{"sched::x", TY_EUSAGE},
		{"../sched:x", TY_EUSAGE},
		{"sched:../x", TY_EUSAGE},
		{"..:sched", TY_EUSAGE},
		{"sched:nothing", TY_ENOTFOUND},
		{"nothing:sched_switch", TY_ENOTFOUND},
		{"sched:nothing*", TY_ENOTFOUND},
	};
	struct ty_event_set s;

	a_kernel();
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct ty_err err = {0};

		assert_int_equal(ty_event_set_build(&s, dir, true, true, &bad[i].spec, 1, &err),
				 -bad[i].code);
		assert_non_null(strstr(err.msg, bad[i].spec));
		ty_event_set_fini(&s);
	}
}

static struct ty_instance fake_instance(void)
{
	struct ty_instance i = {.on = -1, .lib = tracefs_instance_alloc(dir, NULL)};

	snprintf(i.path, sizeof(i.path), "%s", dir);
	i.dir = open(dir, O_RDONLY | O_DIRECTORY);
	assert_true(i.dir >= 0);
	assert_non_null(i.lib);
	return i;
}

static void fake_gone(struct ty_instance *i)
{
	close(i->dir);
	tracefs_instance_free(i->lib);
}

static void kernel_errors_in_one_line(void **state)
{
	struct ty_instance i = fake_instance();
	char text[200];

	assert_false(ty_instance_error(&i, text, sizeof(text)));
	put_text("error_log", "");
	assert_false(ty_instance_error(&i, text, sizeof(text)));
	put_text("error_log",
		 "[    1.5] event filter parse error: error: Old\n  Command: a\n           ^\n"
		 "[    2.5] event filter parse error: error: Field not found\n"
		 "  Command: foo == 1\n"
		 "               ^\n");
	assert_true(ty_instance_error(&i, text, sizeof(text)));
	assert_string_equal(text,
			    "event filter parse error: error: Field not found (in 'foo == 1', "
			    "before '== 1')");
	put_text("error_log", "[ 2.5] odd");
	assert_true(ty_instance_error(&i, text, sizeof(text)));
	assert_string_equal(text, "odd");
	fake_gone(&i);
}

static void stats_are_read(void **state)
{
	struct ty_instance i = fake_instance();
	struct ty_cpu_stats st;
	struct ty_buf b;

	put_text("per_cpu/cpu3/stats",
		 "entries: 5\noverrun: 7\ncommit overrun: 11\nbytes: 99\noldest event ts:     1.0\n"
		 "now ts:  2524.424734\ndropped events: 13\nread events: 17\n");
	ty_buf_init(&b, 4096);
	assert_int_equal(ty_instance_stats(&i, 3, &st, &b), 0);
	assert_int_equal(st.entries, 5);
	assert_int_equal(st.overrun, 7);
	assert_int_equal(st.commit_overrun, 11);
	assert_int_equal(st.dropped, 13);
	assert_int_equal(st.read, 17);
	assert_int_equal(strncmp(b.p, "entries: 5\n", 11), 0);
	assert_int_equal(ty_instance_now_ns(&i), 2524424734000ull);
	assert_true(ty_instance_stats(&i, 4, &st, NULL) < 0);
	ty_buf_fini(&b);
	fake_gone(&i);
}

static void only_the_dead_are_swept(void **state)
{
	char live[128], other[128], path[256];
	pid_t zombie;

	snprintf(live, sizeof(live), "instances/tarry-%d-%llu-top", (int)getpid(),
		 (unsigned long long)ty_proc_start_ticks(getpid()));
	make_dirs(live);
	/* The same pid, another start: a recorder of before. */
	snprintf(other, sizeof(other), "instances/tarry-%d-1-top", (int)getpid());
	make_dirs(other);
	make_dirs("instances/tarry-bench-7-x");
	make_dirs("instances/somebody-elses");
	zombie = fork();
	if (!zombie)
		_exit(0);
	siginfo_t si;
	waitid(P_PID, (id_t)zombie, &si, WEXITED | WNOWAIT);
	assert_int_equal(ty_proc_start_ticks(zombie), 0);
	waitpid(zombie, NULL, 0);
	assert_int_equal(ty_instance_sweep(dir), 1);
	snprintf(path, sizeof(path), "%s/%s", dir, live);
	assert_int_equal(access(path, F_OK), 0);
	snprintf(path, sizeof(path), "%s/%s", dir, other);
	assert_int_not_equal(access(path, F_OK), 0);
	snprintf(path, sizeof(path), "%s/instances/tarry-bench-7-x", dir);
	assert_int_equal(access(path, F_OK), 0);
}

static void commands_are_found(void **state)
{
	char path[300], plain[300], *true_[] = {"true", NULL}, *none[] = {"no-such-command", NULL},
				    *file[] = {plain, NULL}, *folder[] = {dir, NULL},
				    *empty[] = {"", NULL}, *named[] = {"plain", NULL};
	struct ty_command c;
	struct ty_err err = {0};

	assert_int_equal(ty_command_find(&c, true_, &err), 0);
	assert_int_equal(access(c.path, X_OK), 0);
	assert_int_equal(ty_command_find(&c, none, &err), -TY_ENOTFOUND);
	assert_int_equal(c.exit_code, 127);
	assert_int_equal(ty_command_find(&c, empty, NULL), -TY_ENOTFOUND);
	put_text("plain", "x");
	snprintf(plain, sizeof(plain), "%s/plain", dir);
	assert_int_equal(ty_command_find(&c, file, NULL), -TY_EPERM);
	assert_int_equal(c.exit_code, 126);
	assert_int_equal(ty_command_find(&c, folder, NULL), -TY_EPERM);
	snprintf(path, sizeof(path), "%s", getenv("PATH"));
	setenv("PATH", dir, 1);
	assert_int_equal(ty_command_find(&c, named, NULL), -TY_EPERM);
	assert_int_equal(c.exit_code, 126);
	setenv("PATH", path, 1);
}

static void a_command_waits(void **state)
{
	char *argv[] = {"sh", "-c", "exit 9", NULL};
	struct ty_command c;
	sigset_t mask;
	int status;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	assert_int_equal(ty_command_find(&c, argv, NULL), 0);
	assert_int_equal(ty_command_fork(&c, &mask, &mask, NULL), 0);
	usleep(20000);
	assert_int_equal(waitpid(c.pid, &status, WNOHANG), 0);
	assert_int_equal(ty_command_release(&c, NULL), 0);
	assert_int_equal(waitpid(c.pid, &status, 0), c.pid);
	assert_int_equal(WEXITSTATUS(status), 9);

	assert_int_equal(ty_command_find(&c, argv, NULL), 0);
	assert_int_equal(ty_command_fork(&c, &mask, &mask, NULL), 0);
	ty_command_cancel(&c);
	assert_int_equal(c.pid, 0);
}

static void quoting(void **state)
{
	char *argv[] = {"a-b", "c d", "it's", "", "x\ny'\\", NULL};
	struct ty_buf b;

	ty_buf_init(&b, 4096);
	ty_shell_quote(&b, argv);
	assert_string_equal(b.p, "a-b 'c d' 'it'\\''s' '' $'x\\012y\\'\\\\'");
	ty_buf_reset(&b);
	ty_fact(&b, "cwd", "/a\nb\\c\t");
	assert_string_equal(b.p, "cwd=/a\\nb\\\\c\\t\n");
	ty_buf_fini(&b);
}

static void cpu_lists(void **state)
{
	unsigned cpus[8];
	char path[128];

	snprintf(path, sizeof(path), "%s/online", dir);
	put_text("online", "0-2,5,7-6\n");
	assert_int_equal(ty_cpu_list(path, cpus, 8), 4);
	assert_int_equal(cpus[2], 2);
	assert_int_equal(cpus[3], 5);
	put_text("online", "0-4000000000\n");
	assert_int_equal(ty_cpu_list(path, cpus, 8), 8);
	put_text("online", "");
	assert_int_equal(ty_cpu_list(path, cpus, 8), 0);
}

static void the_snapshot_has_this_thread(void **state)
{
	struct ty_buf b, names;
	ty_proc_tasks tasks = {0};
	char want[64], *line;
	int tabs = 0, *tids = NULL;
	size_t n = 0;

	ty_buf_init(&b, 64 << 20);
	ty_buf_init(&names, 64 << 20);
	assert_int_equal(ty_proc_snapshot(&b, &names, &tasks, NULL), 0);
	snprintf(want, sizeof(want), "\n%d\t%d\t%d\t", (int)getpid(), (int)getpid(),
		 (int)getppid());
	line = strstr(b.p, want);
	assert_non_null(line);
	for (char *p = line + 1; *p != '\n'; p++)
		tabs += *p == '\t';
	assert_int_equal(tabs, 12);
	assert_non_null(strstr(line, "\tR\tother\t"));
	snprintf(want, sizeof(want), "\n%d test_recorder\n", (int)getpid());
	assert_non_null(strstr(names.p, want));
	while (n < tasks.n && tasks.v[n].tid != getpid())
		n++;
	assert_true(n < tasks.n);
	assert_int_equal(tasks.v[n].tgid, getpid());
	assert_int_equal(tasks.v[n].fd, -1); /* it runs */
	vec_fini(&tasks);
	ty_buf_fini(&b);
	ty_buf_fini(&names);
	n = 0;
	assert_int_equal(ty_proc_threads(getpid(), &tids, &n, NULL), 0);
	assert_int_equal(n, 1);
	assert_int_equal(tids[0], getpid());
	free(tids);
	assert_int_equal(ty_proc_tgid(getpid()), getpid());
	assert_int_equal(ty_proc_tgid(0x7fffffff), 0);
}

/* (In a container pid 2 need not be kthreadd.) */
static bool is_kernel_thread(int tid)
{
	char path[40], line[512] = "", *p;
	unsigned flags = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	if (!(f = fopen(path, "r")))
		return false;
	if (!fgets(line, sizeof(line), f))
		line[0] = 0;
	fclose(f);
	p = strrchr(line, ')');
	return p && sscanf(p, ") %*c %*d %*d %*d %*d %*d %u", &flags) == 1 &&
	       flags & 0x00200000; /* PF_KTHREAD */
}

/* The call that a child is in, and on what; its own child, its parents' families. */
static void families_and_what_they_wait_for(void **state)
{
	ty_proc_pids family = {0};
	ty_proc_tasks tasks = {0};
	struct ty_buf b, names;
	int hold[2], told[2], child, pids[3] = {0}, on = -2;

	assert_int_equal(pipe(hold), 0);
	assert_int_equal(pipe(told), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		char c;
		int grandchild = fork();

		close(hold[1]);
		if (grandchild > 0 && write(told[1], &grandchild, sizeof(int)) != sizeof(int))
			_exit(1);
		_exit(read(hold[0], &c, 1) != 0); /* until the other end is closed */
	}
	pids[0] = getpid();
	pids[1] = child;
	assert_int_equal(read(told[0], &pids[2], sizeof(int)), sizeof(int));

	assert_int_equal(ty_proc_family(pids, 1, 0, &family, NULL), 0);
	assert_int_equal(family.n, 3);
	assert_memory_equal(family.v, pids, sizeof(pids));
	/* Given processes come first, and once. */
	assert_int_equal(ty_proc_family((int[]){child, getpid(), child}, 3, 0, &family, NULL), 0);
	assert_int_equal(family.n, 3);
	assert_memory_equal(family.v, ((int[]){child, getpid(), pids[2]}), sizeof(pids));
	assert_int_equal(ty_proc_family(pids, 1, child, &family, NULL), 0);
	assert_int_equal(family.n, 1);
	assert_int_equal(ty_proc_family((int[]){getppid()}, 1, child, &family, NULL), 0);
	family.n = ty_int_set(family.v, family.n);
	assert_non_null(bsearch(&pids[0], family.v, family.n, sizeof(int), ty_int_order));
	assert_null(bsearch(&pids[2], family.v, family.n, sizeof(int), ty_int_order));

	ty_buf_init(&b, 64 << 20);
	ty_buf_init(&names, 64 << 20);
	while (on != hold[0]) { /* once it sleeps there */
		tasks.n = 0;
		ty_buf_reset(&b);
		ty_buf_reset(&names);
		assert_int_equal(ty_proc_snapshot(&b, &names, &tasks, NULL), 0);
		on = -2;
		vec_each (t, &tasks) {
			assert_false(t->tid == 2 && is_kernel_thread(2));
			if (t->tid == pids[2])
				on = t->fd;
		}
		assert_int_not_equal(on, -2);
	}
	ty_buf_fini(&b);
	ty_buf_fini(&names);
	vec_fini(&tasks);
	vec_fini(&family);
	for (unsigned i = 0; i < 2; i++) {
		close(hold[i]);
		close(told[i]);
	}
	assert_int_equal(waitpid(child, &on, 0), child);
	assert_int_equal(on, 0);
}

/* The readers' splice: the kernel's, or that of a kernel without a free page. */
static _Atomic bool no_pages;

ssize_t splice(int in, off64_t *off_in, int out, off64_t *off_out, size_t n, unsigned flags)
{
	if (no_pages) {
		errno = ENOMEM;
		return -1;
	}
	return syscall(SYS_splice, in, off_in, out, off_out, n, flags);
}

/*
 * Files stand in for trace_pipe_raw: the readers find all pages at once, more than their slots
 * hold, and every one must be in the spool once and in order.
 */
static void check_every_page(void)
{
	enum { PAGES = 1001 };
	const size_t page = 32 << 10; /* larger than the machine's, as the recorder requests */
	struct ty_instance i = fake_instance();
	const struct ty_instance *insts[] = {&i};
	struct ty_readers *rs;
	struct ty_spool *spool;
	struct ty_spool_writer *meta;
	struct ty_trace *t;
	struct ty_err err = {0};
	struct ty_chunk_scratch scratch;
	unsigned cpus[4096], n = ty_cpu_list("/sys/devices/system/cpu/online", cpus, 4096);
	char path[128], *pages = calloc(PAGES, page), *out = malloc(1 << 20);
	int stop = eventfd(0, EFD_NONBLOCK);

	i.page_bytes = (uint32_t)page;
	assert_non_null(pages);
	assert_non_null(out);
	for (uint64_t k = 0; k < PAGES; k++) {
		uint64_t ns = 1000 + k;

		memcpy(pages + k * page, &ns, 8);
		memset(pages + k * page + 16, (int)(k * 7), 100);
	}
	for (unsigned c = 0; c < n; c++) {
		snprintf(path, sizeof(path), "per_cpu/cpu%u/trace_pipe_raw", cpus[c]);
		put_file(path, pages, (PAGES - c % 3) * page);
	}
	snprintf(path, sizeof(path), "%s/out", dir);
	assert_int_equal(ty_spool_create(path, (uint32_t)page, &spool, &err), 0);
	assert_int_equal(ty_spool_publish(spool, &err), 0);
	meta = ty_spool_writer_new(spool, 1 << 16);
	ty_fx_spool_meta(meta);
	ty_spool_writer_free(meta);
	assert_int_equal(ty_readers_start(&rs, insts, 1, spool, 1 << 20, stop, &err), 0);
	/* Without a page for splice, too, the readers keep up: nothing is left to the end. */
	for (unsigned k = 0; k < 1000 && ty_readers_raw_bytes(rs) < n * (PAGES - 2) * page; k++)
		usleep(5000);
	assert_true(ty_readers_raw_bytes(rs) >= n * (PAGES - 2) * page);
	assert_int_equal(ty_readers_finish(rs, &err), 0);
	ty_readers_free(rs);
	ty_spool_close(spool);

	assert_int_equal(ty_trace_open(path, &t, &err), 0);
	assert_int_equal(t->streams.n, n);
	ty_chunk_scratch_init(&scratch);
	for (unsigned s = 0; s < n; s++) {
		uint64_t at = 0, want = (PAGES - s % 3) * page;

		for (unsigned c = 0; c < t->streams.v[s].chunks; c++) {
			struct ty_chunk ch = ty_trace_chunk(t, s, c);

			assert_false(ch.missing);
			assert_true(ch.raw_bytes <= 1 << 20 && at + ch.raw_bytes <= want);
			assert_int_equal(ty_trace_chunk_read(t, s, c, out, &scratch, &err), 0);
			assert_memory_equal(out, pages + at, ch.raw_bytes);
			assert_int_equal(ch.first_ns, 1000 + at / page);
			at += ch.raw_bytes;
			assert_int_equal(ch.last_ns, 1000 + at / page - 1);
		}
		assert_int_equal(at, want);
	}
	ty_chunk_scratch_fini(&scratch);
	ty_trace_close(t);
	close(stop);
	fake_gone(&i);
	free(pages);
	free(out);
}

static void every_page_once(void **state)
{
	check_every_page();
}

static void every_page_once_without_memory(void **state)
{
	no_pages = true;
	check_every_page();
	no_pages = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(events_are_chosen, setup, teardown),
		cmocka_unit_test_setup_teardown(wrong_events_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(kernel_errors_in_one_line, setup, teardown),
		cmocka_unit_test_setup_teardown(stats_are_read, setup, teardown),
		cmocka_unit_test_setup_teardown(only_the_dead_are_swept, setup, teardown),
		cmocka_unit_test_setup_teardown(commands_are_found, setup, teardown),
		cmocka_unit_test_setup_teardown(a_command_waits, setup, teardown),
		cmocka_unit_test(quoting),
		cmocka_unit_test_setup_teardown(cpu_lists, setup, teardown),
		cmocka_unit_test(the_snapshot_has_this_thread),
		cmocka_unit_test(families_and_what_they_wait_for),
		cmocka_unit_test_setup_teardown(every_page_once, setup, teardown),
		cmocka_unit_test_setup_teardown(every_page_once_without_memory, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
