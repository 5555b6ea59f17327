/* SPDX-License-Identifier: MIT */
/*
 * tarry doctor: what this machine can capture, and the exact fix for what it cannot. Every line is
 * tried out or read from the kernel, none is concluded from a version number. Exit status 0 when
 * the defaults of `tarry record` work here.
 */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call_data.h"
#include "cli.h"
#include "cpu_list.h"
#include "event_set.h"
#include "first_line.h"
#include "idle_switch.h"
#include "kernel_code.h"
#include "machine_facts.h"
#include "options.h"
#include "pt_caps.h"
#include "pt_stream.h"
#include "spe_pmu.h"
#include "string_events.h"
#include "tracefs.h"
#include "units.h"
#include "user_probes.h"

static const char help[] =
	"usage: tarry doctor\n"
	"\n"
	"Show what this machine can record, and how to fix what it cannot. Mounts\n"
	"tracefs if needed, and removes trace instances and probes that killed recorders\n"
	"left behind. Changes nothing else.\n"
	"Exit status: 0 if tarry record works here with its defaults, else 1.\n";

/* ok: works; note: works, but know this; no: not here; FAIL: record will not work. */
static void say(const char *mark, const char *what, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void say(const char *mark, const char *what, const char *fmt, ...)
{
	va_list ap;

	printf("%-5s %-22s ", mark, what);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static bool check_idle(const char *root)
{
	enum ty_idle_verdict v[TY_IDLE_CPUS_MAX] = {TY_IDLE_UNTESTED};
	unsigned cpus[TY_IDLE_CPUS_MAX], n, bad = 0, open = 0;
	struct ty_err err = {0};
	char list[2][512] = {"", ""};

	n = ty_cpu_list("/sys/devices/system/cpu/online", cpus, TY_IDLE_CPUS_MAX);
	if (!n) {
		say("FAIL", "CPUs",
		    "cannot read /sys/devices/system/cpu/online: mount -t sysfs sysfs /sys");
		return false;
	}
	if (ty_idle_switch_test(root, cpus, n, v, &err)) {
		say("note", "switches from idle", "not tested: %s", err.msg);
		return true;
	}
	for (unsigned i = 0; i < n; i++) {
		char *l = list[v[i] == TY_IDLE_MISSING];
		size_t len = strlen(l);

		if (v[i] == TY_IDLE_DELIVERED)
			continue;
		snprintf(l + len, sizeof(list[0]) - len, " %u", cpus[i]);
		bad += v[i] == TY_IDLE_MISSING;
		open += v[i] == TY_IDLE_UNTESTED;
	}
	if (bad)
		say("note", "switches from idle",
		    "not delivered by CPU%s (a defect of this virtual machine). Start times of "
		    "runs there are inferred from the thread's next event (~ in the timeline)",
		    list[1]);
	if (open)
		say("note", "switches from idle",
		    "not tested on CPU%s (never idle during the test); run doctor again later",
		    list[0]);
	if (!bad && !open)
		say("ok", "switches from idle", "delivered by all %u CPUs tested", n);
	return true;
}

static bool check_events(const char *root)
{
	struct ty_event_set set;
	struct ty_err err = {0};
	struct ty_instance inst;
	bool good = true;
	int r = ty_event_set_build(&set, root, true, true, NULL, 0, &err);

	r = r ? r : ty_instance_create(&inst, root, "doctor", "perf", 64 << 10, 0, &err);
	if (r) {
		say("FAIL", "trace instance", "%s", err.msg);
		ty_event_set_fini(&set);
		return false;
	}
	say("ok", "trace instance", "can be created, with the perf clock");
	r = ty_event_set_enable(&set, &inst, false, true, &err);
	if (r)
		say("FAIL", "events", "%s", err.msg);
	else
		say("ok", "events", "%zu default events can be enabled", set.items.n);
	for (size_t i = 0; i < set.skipped.n; i++)
		say("no", "event", "%s: not recorded", set.skipped.v[i]);
	good = !r && ty_event_set_has_syscalls(&set);
	if (!r && !good)
		say("FAIL", "system calls",
		    "raw_syscalls:sys_enter and sys_exit are missing: the kernel needs "
		    "CONFIG_FTRACE_SYSCALLS");
	if (!ty_instance_has(&inst, "options/event-fork"))
		say("note", "later children",
		    "this kernel has no option event-fork. With -p or a command, system calls of "
		    "children "
		    "are missed: use -a");
	ty_instance_remove(&inst);
	ty_event_set_fini(&set);
	return good;
}

static void *try_priority(void *arg)
{
	const struct sched_param none = {0};
	int *r = arg;

	r[0] = setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), -20) ? errno : 0;
	r[1] = sched_setscheduler(0, SCHED_IDLE, &none) ? errno : 0;
	return NULL;
}

/* On a thread of its own, so that doctor's priority stays as it is. */
static void check_priority(void)
{
	int r[2] = {0, 0};
	pthread_t t;

	if (pthread_create(&t, NULL, try_priority, r))
		return;
	pthread_join(t, NULL);
	if (r[0])
		say("note", "priority",
		    "nice -20: %s; events may be lost on busy CPUs (needs CAP_SYS_NICE)",
		    strerror(r[0]));
	else
		say("ok", "priority", "tarry's readers are permitted to run at nice -20");
	if (r[1])
		say("note", "compression",
		    "SCHED_IDLE: %s; compression competes with the traced work (needs "
		    "CAP_SYS_NICE)",
		    strerror(r[1]));
	else
		say("ok", "compression", "tarry's compression is permitted to run at SCHED_IDLE");
}

static void check_space(void)
{
	char bytes[TY_DURATION_MAX];
	struct statvfs s;
	uint64_t left;

	if (statvfs(".", &s))
		return;
	left = (uint64_t)s.f_bavail * s.f_frsize;
	ty_fmt_bytes(left, bytes);
	if (access(".", W_OK))
		say("note", "output",
		    "this directory is not writable (%s): name a file elsewhere with -o",
		    strerror(errno));
	else if (left < 1ull << 30)
		say("note", "output", "%s are free in this directory; -o can name another", bytes);
	else
		say("ok", "output", "%s are free in this directory", bytes);
}

/* What the driver requires: linux drivers/perf/arm_spe_pmu.c, arm_spe_pmu_event_init. */
static void check_spe(void)
{
	struct ty_spe_pmu pmus[TY_SPE_PMUS_MAX];
	unsigned n = ty_spe_pmus(TY_SPE_DEVICES, pmus, TY_SPE_PMUS_MAX);
	char why[200];

	if (!n) {
		ty_spe_why_not(why, sizeof(why));
		say("no", "Arm SPE", "%s", why);
	}
	for (unsigned i = 0; i < n; i++)
		say("ok", "Arm SPE",
		    "the kernel offers %s (one sample in %llu operations or more); tarry record "
		    "--memory records it",
		    pmus[i].name, (unsigned long long)ty_spe_period(&pmus[i], 1));
	if (n && geteuid())
		say("note", "Arm SPE",
		    "physical addresses, samples of other users and thread ids in samples need "
		    "CAP_PERFMON: run as root");
}

/* As record --flow-kernel takes it: what a file's mode allows, the kernel may still refuse. */
static void check_kernel_code(void)
{
	struct ty_kernel_code k;
	char why[200];
	int r = ty_kernel_code_read("/proc/kcore", "/proc/kallsyms", &k, why, sizeof(why));

	if (r)
		say("note", "kernel code",
		    "%s: record --flow-kernel records which kernel code ran, but not the code "
		    "itself (run "
		    "as root on a kernel with CONFIG_PROC_KCORE, not locked down)",
		    why);
	else if (*why)
		say("note", "kernel code", "record --flow-kernel cannot record all of it: %s", why);
	else
		say("ok", "kernel code",
		    "/proc/kcore and /proc/kallsyms provide it for record "
		    "--flow-kernel");
	ty_kernel_code_fini(&k);
}

static void check_hardware(void)
{
	char text[300], why[200];

	ty_pt_caps_text(text, sizeof(text));
	ty_pt_caps_why_not(why, sizeof(why));
	if (ty_pt_caps_have())
		say("ok", "Intel PT", "the kernel offers intel_pt (%s); %s", text, why);
	else
		say("no", "Intel PT", "%s", why);
	if (ty_pt_caps_have())
		check_kernel_code();
#if defined(__x86_64__)
	say("ok", "single-stepping",
	    "record --flow=step records executed instructions instead, slowly");
#endif
	if (ty_pt_available())
		say("ok", "PT decoding", "libipt %s", ty_pt_version());
	else
		say("no", "PT decoding",
		    "not built in: install libipt (Debian: libipt-dev) and rebuild tarry");
	check_spe();
}

static void check_perf_and_bpf(void)
{
	char text[64];
	bool btf = !access("/sys/kernel/btf/vmlinux", R_OK);

	if (ty_first_line(text, sizeof(text), "/proc/sys/kernel/perf_event_paranoid"))
		say(geteuid() && atoi(text) > -1 ? "note" : "ok", "perf events",
		    geteuid() && atoi(text) > -1
			    ? "restricted by perf_event_paranoid %s: sysctl "
			      "kernel.perf_event_paranoid=-1, or run as root"
			    : "permitted (perf_event_paranoid %s does not restrict this user)",
		    text);
	else
		say("no", "perf events", "not in this kernel (CONFIG_PERF_EVENTS)");
	if (syscall(SYS_bpf, -1, NULL, 0) < 0 && errno == ENOSYS)
		say("no", "BPF", "not in this kernel (CONFIG_BPF_SYSCALL)");
	else
		say(btf ? "ok" : "no", "BPF",
		    btf ? "the system call and type information (BTF) are present"
			: "no type information in /sys/kernel/btf/vmlinux: the kernel needs "
			  "CONFIG_DEBUG_INFO_BTF");
}

/* What record does by itself; a Ctrl-C meanwhile leaves nothing behind. */
static void check_strings(const char *root)
{
	char why[TY_CALL_DATA_WHY];
	struct ty_buf names;

	ty_buf_init(&names, 4096);
	if (ty_call_data_available(why))
		say("ok", "strings",
		    "paths and socket addresses passed to system calls are recorded (BPF)");
	else if (ty_string_events_add(NULL, root, &names) || !names.len)
		say("no", "strings", "%s", why);
	else
		say("note", "strings",
		    "paths of system calls are recorded from the kernel's own events, the first "
		    "bytes of each. Socket addresses and structures are not: %s",
		    why);
	ty_buf_fini(&names);
}

/* The functions of Python programs in stacks of waits. */
static void check_python(void)
{
	char text[64], why[TY_CALL_DATA_WHY];

	if (!ty_call_data_available(why))
		say("no", "Python", "functions of Python programs are read with stacks: %s", why);
	else if (ty_first_line(text, sizeof(text), "/proc/sys/kernel/yama/ptrace_scope") &&
		 atoi(text) > 2)
		say("no", "Python",
		    "functions of Python programs are not read: kernel.yama.ptrace_scope is %s, "
		    "and forbids to read memory of processes until the next boot",
		    text);
	else
		say("ok", "Python",
		    "functions and lines of CPython 3.8 to 3.13 in stacks of waits");
}

/* Regions of user code, --span, --usdt; and lines that programs write. */
static void check_regions(const char *root)
{
	struct ty_err err = {0};
	char path[TY_TRACEFS_PATH + 40];

	snprintf(path, sizeof(path), "%s/uprobe_events", root);
	if (access(path, F_OK))
		say("no", "regions",
		    "not in this kernel (CONFIG_UPROBE_EVENTS): no tarry.h, "
		    "--span, --usdt");
	else if (ty_user_probes_trial(root, &err))
		say("no", "regions", "%s: no tarry.h, --span, --usdt", err.msg);
	else
		say("ok", "regions", "tarry.h, --span, --usdt: a test probe (uprobe) worked");
	snprintf(path, sizeof(path), "%s/options/copy_trace_marker", root);
	if (access(path, F_OK))
		say("no", "trace_marker",
		    "lines of programs are not recorded: this kernel has no "
		    "option copy_trace_marker");
	else
		say("ok", "trace_marker",
		    "lines that programs write to it are recorded as regions");
}

static void hold_signals(sigset_t *before)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++)
		sigaddset(&set, ending[i]);
	sigprocmask(SIG_BLOCK, &set, before);
}

static int doctor(void)
{
	sigset_t before;
	char root[TY_TRACEFS_PATH] = "", text[512];
	struct ty_err err = {0};
	bool good = true;
	unsigned swept;

	ty_cpu_model(text, sizeof(text));
	say("", "machine", "%s, %s", text[0] ? text : "CPU of unknown model",
	    ty_file_has("/proc/cpuinfo", " hypervisor") ? "virtual" : "no hypervisor reported");
	if (geteuid())
		say("note", "user", "not root: recording needs root (sudo tarry ...)");
	else
		say("ok", "user", "root");
	if (ty_tracefs_find(root, true, &err)) {
		say("FAIL", "tracefs", "%s", err.msg);
		good = false;
	} else {
		say("ok", "tracefs", "%s", root);
		swept = ty_instance_sweep(root);
		if (swept)
			say("note", "leftovers", "removed %u trace instance%s of dead recorders",
			    swept, swept == 1 ? "" : "s");
		swept = ty_user_probes_sweep(root);
		if (swept)
			say("note", "leftovers", "removed %u probe%s of dead recorders", swept,
			    swept == 1 ? "" : "s");
		/* A Ctrl-C meanwhile would leave trace instances and probes behind: it acts
		 * afterwards. */
		hold_signals(&before);
		check_regions(root);
		good = check_events(root) && check_idle(root);
		sigprocmask(SIG_SETMASK, &before, NULL);
	}
	if (readlink("/proc/self/ns/pid", text, sizeof(text) - 1) > 0 &&
	    strncmp(text, "pid:[4026531836]", 16))
		say("note", "process ids",
		    "this container has its own process ids, so only -a works: run outside, or "
		    "with "
		    "--pid=host");
	check_priority();
	check_space();
	check_perf_and_bpf();
	check_strings(root);
	check_python();
	check_hardware();
	puts(good ? "\ntarry record works here."
		  : "\ntarry record does not work here. Fix the checks marked FAIL.");
	return good ? TY_EXIT_GOOD : TY_EXIT_FAILED;
}

int ty_cmd_doctor(int argc, char **argv)
{
	const struct ty_command_line line = {.cmd = "doctor", .head = help};
	int status = ty_options_parse(&line, argc, argv);

	if (status >= 0)
		return status;
	if (optind < argc)
		return ty_cli_usage("doctor", "doctor takes no arguments (%s)", argv[optind]);
	return doctor();
}
