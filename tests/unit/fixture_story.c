/* SPDX-License-Identifier: MIT */
/* See fixture_story.h. Records as include/trace/events of Linux 6 declares them. */
#include "fixture_story.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "ring_pages.h"
#include "spool.h"

#define MS   1000000ull
#define PAGE 4096u

enum {
	WEB = TY_STORY_WEB,
	BACKUP = TY_STORY_BACKUP,
	LOGGER = TY_STORY_LOGGER,
	KWORKER = TY_STORY_KWORKER
};
enum {
	NR_WRITE = 1,
	NR_CLONE = 56,
	NR_FLOCK = 73,
	NR_FSYNC = 74,
	NR_FUTEX = 202,
	NR_NANOSLEEP = 230
};

static void (*emit)(const struct ty_event *ev);

static const char *name_of(int tid)
{
	switch (tid) {
	case WEB: return "webserver";
	case BACKUP: return "backup";
	case LOGGER: return "log\xff\xe6\xbc\xa2\xe5\xad\x97";
	case KWORKER: return "kworker/1:0";
	case 0: return "swapper";
	default: return "busy";
	}
}

static void feed(struct ty_event ev, uint64_t us, uint32_t cpu, int tid, int kind)
{
	ev.ts_ns = TY_STORY_START + us * 1000;
	ev.cpu = cpu;
	ev.tid = tid;
	ev.kind = (uint8_t)kind;
	ev.id = (uint16_t)kind;
	emit(&ev);
}

static void sw(uint64_t us, uint32_t cpu, int prev, uint64_t state, int next)
{
	struct ty_event ev = {0};

	ev.u.sw.prev_tid = prev;
	ev.u.sw.next_tid = next;
	ev.u.sw.prev_state = state;
	ev.u.sw.prev_prio = ev.u.sw.next_prio = 120;
	snprintf(ev.u.sw.prev_comm, sizeof(ev.u.sw.prev_comm), "%s", name_of(prev));
	snprintf(ev.u.sw.next_comm, sizeof(ev.u.sw.next_comm), "%s", name_of(next));
	feed(ev, us, cpu, prev, TY_EV_SWITCH);
}

static void wake(uint64_t us, uint32_t cpu, int by, uint8_t flags, int tid, int target_cpu)
{
	struct ty_event ev = {.flags = flags};

	ev.u.wake.tid = tid;
	ev.u.wake.prio = 120;
	ev.u.wake.target_cpu = target_cpu;
	snprintf(ev.u.wake.comm, sizeof(ev.u.wake.comm), "%s", name_of(tid));
	feed(ev, us, cpu, by, TY_EV_WAKING);
}

static void enter(uint64_t us, uint32_t cpu, int tid, int nr)
{
	struct ty_event ev = {0};

	ev.u.enter.nr = nr;
	feed(ev, us, cpu, tid, TY_EV_SYS_ENTER);
}

static void leave(uint64_t us, uint32_t cpu, int tid, int nr)
{
	struct ty_event ev = {0};

	ev.u.exit.nr = nr;
	ev.u.exit.ret = nr == NR_CLONE ? BACKUP : 0;
	feed(ev, us, cpu, tid, TY_EV_SYS_EXIT);
}

static void born(uint64_t us, uint32_t cpu, int by, int tid, uint64_t clone_flags)
{
	struct ty_event ev = {0};

	ev.u.newtask.tid = tid;
	ev.u.newtask.clone_flags = clone_flags;
	snprintf(ev.u.newtask.comm, sizeof(ev.u.newtask.comm), "%s", name_of(tid));
	feed(ev, us, cpu, by, TY_EV_NEWTASK);
	memset(&ev, 0, sizeof(ev));
	ev.u.fork.parent_tid = by;
	ev.u.fork.child_tid = tid;
	snprintf(ev.u.fork.parent_comm, sizeof(ev.u.fork.parent_comm), "%s", name_of(by));
	snprintf(ev.u.fork.child_comm, sizeof(ev.u.fork.child_comm), "%s", name_of(tid));
	feed(ev, us, cpu, by, TY_EV_FORK);
}

/* A timer wakes the web server, which answers a request and sleeps again. */
static void request(uint64_t ms)
{
	uint64_t t = ms * 1000;

	wake(t, 0, 0, TY_EVF_HARDIRQ, WEB, 0);
	sw(t + 30, 0, 0, 0, WEB);
	leave(t + 40, 0, WEB, NR_NANOSLEEP);
	enter(t + 50, 0, WEB, NR_FLOCK);
	leave(t + 60, 0, WEB, NR_FLOCK);
	enter(t + 5000, 0, WEB, NR_WRITE);
	leave(t + 12000, 0, WEB, NR_WRITE);
	enter(t + 15000, 0, WEB, NR_NANOSLEEP);
	sw(t + 15010, 0, WEB, TY_TASK_INTERRUPTIBLE, 0);
}

void ty_story_stall(void (*to)(const struct ty_event *ev))
{
	struct ty_event ev = {0};
	int64_t ms;

	emit = to;
	ev.u.print.text = "tarry_clock realtime_ns=1700000000000000000 monotonic_ns=5 "
			  "boottime_ns=5 tsc=5";
	feed(ev, 0, 0, WEB, TY_EV_PRINT);
	sw(1, 1, 0, 0, KWORKER);
	sw(2, 1, KWORKER, TY_TASK_INTERRUPTIBLE, 0);
	enter(100, 0, WEB, NR_CLONE);
	born(200, 0, WEB, BACKUP, 0);
	wake(210, 0, WEB, 0, BACKUP, 1);
	leave(220, 0, WEB, NR_CLONE);
	sw(250, 1, 0, 0, BACKUP);
	enter(260, 1, BACKUP, NR_NANOSLEEP);
	sw(270, 1, BACKUP, TY_TASK_INTERRUPTIBLE, 0);
	enter(300, 0, WEB, NR_CLONE);
	born(310, 0, WEB, LOGGER, 0x10000 | 0x100);
	wake(320, 0, WEB, 0, LOGGER, 1);
	leave(330, 0, WEB, NR_CLONE);
	sw(350, 1, 0, 0, LOGGER);
	enter(360, 1, LOGGER, NR_FUTEX);
	sw(370, 1, LOGGER, TY_TASK_INTERRUPTIBLE, 0);
	enter(400, 0, WEB, NR_NANOSLEEP);
	sw(410, 0, WEB, TY_TASK_INTERRUPTIBLE, 0);
	for (ms = 50; ms < 500; ms += 50)
		request((uint64_t)ms);
	/* backup takes the lock, writes, and is off the CPU in fsync */
	wake(500000, 1, 0, TY_EVF_HARDIRQ, BACKUP, 1);
	sw(500030, 1, 0, 0, BACKUP);
	leave(500040, 1, BACKUP, NR_NANOSLEEP);
	enter(500050, 1, BACKUP, NR_FLOCK);
	leave(500060, 1, BACKUP, NR_FLOCK);
	enter(501000, 1, BACKUP, NR_WRITE);
	/* web runs into it */
	wake(510000, 0, 0, TY_EVF_HARDIRQ, WEB, 0);
	sw(510030, 0, 0, 0, WEB);
	leave(510040, 0, WEB, NR_NANOSLEEP);
	enter(510050, 0, WEB, NR_FLOCK);
	sw(510070, 0, WEB, TY_TASK_INTERRUPTIBLE, 0);
	leave(900000, 1, BACKUP, NR_WRITE);
	enter(900010, 1, BACKUP, NR_FSYNC);
	sw(900020, 1, BACKUP, TY_TASK_UNINTERRUPTIBLE, 0);
	wake(1700000, 1, 0, TY_EVF_SOFTIRQ, BACKUP, 1);
	sw(1700020, 1, 0, 0, BACKUP);
	leave(1700030, 1, BACKUP, NR_FSYNC);
	/* a kernel thread takes the CPU away for 300 ms */
	wake(1900000, 1, BACKUP, 0, KWORKER, 1);
	sw(2000000, 1, BACKUP, 0x100, KWORKER);
	sw(2300000, 1, KWORKER, TY_TASK_INTERRUPTIBLE, BACKUP);
	enter(2300010, 1, BACKUP, NR_NANOSLEEP);
	sw(2300020, 1, BACKUP, TY_TASK_INTERRUPTIBLE, 0);
	wake(3510000, 1, 0, TY_EVF_HARDIRQ, BACKUP, 1);
	sw(3510020, 1, 0, 0, BACKUP);
	leave(3510030, 1, BACKUP, NR_NANOSLEEP);
	enter(3510040, 1, BACKUP, NR_FLOCK);
	wake(3510050, 1, BACKUP, 0, WEB, 0);
	leave(3510060, 1, BACKUP, NR_FLOCK);
	sw(3510090, 0, 0, 0, WEB);
	leave(3510100, 0, WEB, NR_FLOCK);
	enter(3511000, 0, WEB, NR_NANOSLEEP);
	sw(3511010, 0, WEB, TY_TASK_INTERRUPTIBLE, 0);
	memset(&ev, 0, sizeof(ev));
	for (ms = 3550; ms < 3700; ms += 50)
		request((uint64_t)ms);
	ev.u.gap.from_ns = TY_STORY_START + 3700 * MS;
	ev.u.gap.count = 123;
	feed(ev, 3800000, 1, 0, TY_EV_GAP);
	enter(3810000, 1, BACKUP, NR_WRITE);
	leave(3811000, 1, BACKUP, NR_WRITE);
	for (ms = 3850; ms < 4000; ms += 50)
		request((uint64_t)ms);
}

/* the file ---------------------------------------------------------------------------------- */

#define COMMON                                                                                     \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define HEAD(name, id) "name: " name "\nID: " #id "\n" COMMON
#define F(decl, off, size, sgn)                                                                    \
	"\tfield:" decl ";\toffset:" #off ";\tsize:" #size ";\tsigned:" #sgn ";\n"
#define FMT(text) "\nprint fmt: " text "\n"

enum {
	ID_PRINT = 5,
	ID_EXIT = 19,
	ID_ENTER = 20,
	ID_NEWTASK = 30,
	ID_FORK = 31,
	ID_SIGNAL = 40,
	ID_SWITCH = 300,
	ID_WAKING = 302
};

static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
static const char print_format[] = HEAD("print", 5) F("unsigned long ip", 8, 8, 0)
	F("char buf[]", 16, 0, 0) FMT("\"%ps: %s\", (void *)REC->ip, REC->buf");
static const struct {
	const char *system, *text;
} formats[] = {
	{"raw_syscalls", HEAD("sys_enter", 20) F("long id", 8, 8, 1)
				 F("unsigned long args[6]", 16, 48, 0) FMT("\"NR %ld\", REC->id")},
	{"raw_syscalls", HEAD("sys_exit", 19) F("long id", 8, 8, 1) F("long ret", 16, 8, 1)
				 FMT("\"NR %ld = %ld\", REC->id, REC->ret")},
	{"sched", HEAD("sched_switch", 300) F("char prev_comm[16]", 8, 16, 0)
			  F("pid_t prev_pid", 24, 4, 1) F("int prev_prio", 28, 4, 1) F(
				  "long prev_state", 32, 8, 1) F("char next_comm[16]", 40, 16, 0)
				  F("pid_t next_pid", 56, 4, 1) F("int next_prio", 60, 4, 1)
					  FMT("\"%d ==> %d\", REC->prev_pid, REC->next_pid")},
	{"sched",
	 HEAD("sched_waking", 302) F("char comm[16]", 8, 16, 0) F("pid_t pid", 24, 4, 1)
		 F("int prio", 28, 4, 1) F("int target_cpu", 32, 4, 1) FMT("\"pid=%d\", REC->pid")},
	{"sched", HEAD("sched_process_fork", 31) F("char parent_comm[16]", 8, 16, 0)
			  F("pid_t parent_pid", 24, 4, 1) F("char child_comm[16]", 28, 16, 0)
				  F("pid_t child_pid", 44, 4, 1) FMT("\"%d\", REC->child_pid")},
	{"task", HEAD("task_newtask", 30) F("pid_t pid", 8, 4, 1) F("char comm[16]", 12, 16, 0)
			 F("unsigned long clone_flags", 32, 8, 0) F("short oom_score_adj", 40, 2, 1)
				 FMT("\"%d\", REC->pid")},
	{"signal", HEAD("signal_generate", 40) F("int sig", 8, 4, 1) F("int errno", 12, 4, 1)
			   F("int code", 16, 4, 1) F("char comm[16]", 20, 16, 0)
				   F("pid_t pid", 36, 4, 1) F("int group", 40, 4, 1)
					   F("int result", 44, 4, 1) FMT("\"%d\", REC->sig")},
};

static struct {
	struct ty_spool *spool;
	struct ty_spool_writer *w;
	unsigned cpus;
	uint64_t formats;
	struct cpu {
		uint8_t page[PAGE];
		struct page_maker m;
		uint64_t first_ns, ts, missed, seq;
		bool open;
	} * cpu;
} out;

static void put(enum ty_spool_type type, uint32_t stream, uint64_t seq, uint64_t first,
		uint64_t last, const void *p, size_t n)
{
	struct ty_err err = {0};
	struct ty_spool_chunk what = {.type = (uint16_t)type,
				      .stream = stream,
				      .seq = seq,
				      .first_ns = first,
				      .last_ns = last};

	if (ty_spool_put(out.w, &what, p, n, &err))
		fail_msg("%s", err.msg);
}

static void text(enum ty_spool_meta kind, uint64_t seq, const char *s)
{
	put(TY_SPOOL_META, kind, seq, 0, 0, s, strlen(s));
}

void ty_story_format(const char *system, const char *format)
{
	struct ty_buf b;

	ty_buf_init(&b, 1 << 16);
	ty_buf_add(&b, system, strlen(system) + 1);
	ty_buf_adds(&b, format);
	put(TY_SPOOL_META, TY_META_EVENT_FORMAT, out.formats++, 0, 0, b.p, b.len);
	ty_buf_fini(&b);
}

void ty_story_begin(const char *path, unsigned cpus, const char *machine, const char *threads)
{
	struct ty_err err = {0};
	char n[16];

	memset(&out, 0, sizeof(out));
	out.cpus = cpus;
	out.cpu = calloc(cpus, sizeof(*out.cpu));
	assert_non_null(out.cpu);
	if (ty_spool_create(path, PAGE, &out.spool, &err))
		fail_msg("%s", err.msg);
	out.w = ty_spool_writer_new(out.spool, 1 << 20);
	assert_non_null(out.w);
	text(TY_META_HEADER_PAGE, 0, header_page);
	text(TY_META_HEADER_EVENT, 0, "# header\n");
	text(TY_META_FTRACE_FORMAT, 0, print_format);
	for (unsigned i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		ty_story_format(formats[i].system, formats[i].text);
	put(TY_SPOOL_META, TY_META_BUFFER, 0, 0, 0, "\0perf", 6);
	text(TY_META_UNAME, 0, "Linux test 6.0 x86_64");
	text(TY_META_VERSION, 0, "tarry test");
	text(TY_META_TRACE_CLOCK, 0, "local [perf]");
	text(TY_META_CMDLINES, 0, "7 kworker/1:0\n");
	snprintf(n, sizeof(n), "%u", cpus);
	text(TY_META_CPUCOUNT, 0, n);
	put(TY_SPOOL_SECTION, TY_SEC_MACHINE, 0, 0, 0, machine, strlen(machine));
	if (threads)
		put(TY_SPOOL_SECTION, TY_SEC_THREADS, 0, 0, 0, threads, strlen(threads));
}

void ty_story_section(unsigned type, const void *p, size_t n)
{
	enum { CHUNK = 1 << 20 };

	for (uint64_t seq = 0; seq * CHUNK < n || !seq; seq++) {
		const size_t at = seq * CHUNK;

		put(TY_SPOOL_SECTION, type, seq, 0, 0, (const char *)p + at,
		    n - at < CHUNK ? n - at : CHUNK);
	}
}

static void close_page(unsigned cpu)
{
	struct cpu *c = &out.cpu[cpu];

	if (!c->open)
		return;
	ty_page_end(&c->m, c->missed);
	put(TY_SPOOL_DATA, cpu, c->seq++, c->first_ns, c->first_ns, c->page, PAGE);
	c->open = false;
	c->missed = 0;
}

static void num(uint8_t *p, uint64_t v, unsigned n)
{
	memcpy(p, &v, n);
}

static void comm(uint8_t *p, const char *s)
{
	memcpy(p, s, strlen(s) < 16 ? strlen(s) : 15);
}

/* The record's bytes; 0: a kind that the writer does not know. */
static unsigned encode(const struct ty_event *ev, uint8_t p[256])
{
	static const struct {
		uint8_t kind;
		uint16_t id;
		uint8_t size;
	} kinds[] = {{TY_EV_SYS_ENTER, ID_ENTER, 64}, {TY_EV_SYS_EXIT, ID_EXIT, 24},
		     {TY_EV_SWITCH, ID_SWITCH, 64},   {TY_EV_WAKING, ID_WAKING, 36},
		     {TY_EV_FORK, ID_FORK, 48},	      {TY_EV_NEWTASK, ID_NEWTASK, 44},
		     {TY_EV_PRINT, ID_PRINT, 16},     {TY_EV_SIGNAL_GENERATE, ID_SIGNAL, 48}};
	unsigned i, n;

	if (ev->kind == TY_EV_OTHER && ev->size <= 256) {
		memcpy(p, ev->data, ev->size);
		return ev->size;
	}
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds) && kinds[i].kind != ev->kind; i++)
		;
	if (i == sizeof(kinds) / sizeof(*kinds))
		return 0;
	n = kinds[i].size;
	memset(p, 0, 256);
	num(p, kinds[i].id, 2);
	p[2] = ev->flags;
	num(p + 4, (uint32_t)ev->tid, 4);
	switch (ev->kind) {
	case TY_EV_SYS_ENTER:
		num(p + 8, (uint64_t)ev->u.enter.nr, 8);
		memcpy(p + 16, ev->u.enter.args, 48);
		break;
	case TY_EV_SYS_EXIT:
		num(p + 8, (uint64_t)ev->u.exit.nr, 8);
		num(p + 16, (uint64_t)ev->u.exit.ret, 8);
		break;
	case TY_EV_SWITCH:
		comm(p + 8, ev->u.sw.prev_comm);
		num(p + 24, (uint32_t)ev->u.sw.prev_tid, 4);
		num(p + 28, 120, 4);
		num(p + 32, ev->u.sw.prev_state, 8);
		comm(p + 40, ev->u.sw.next_comm);
		num(p + 56, (uint32_t)ev->u.sw.next_tid, 4);
		num(p + 60, 120, 4);
		break;
	case TY_EV_WAKING:
		comm(p + 8, ev->u.wake.comm);
		num(p + 24, (uint32_t)ev->u.wake.tid, 4);
		num(p + 28, 120, 4);
		num(p + 32, (uint32_t)ev->u.wake.target_cpu, 4);
		break;
	case TY_EV_FORK:
		comm(p + 8, ev->u.fork.parent_comm);
		num(p + 24, (uint32_t)ev->u.fork.parent_tid, 4);
		comm(p + 28, ev->u.fork.child_comm);
		num(p + 44, (uint32_t)ev->u.fork.child_tid, 4);
		break;
	case TY_EV_NEWTASK:
		num(p + 8, (uint32_t)ev->u.newtask.tid, 4);
		comm(p + 12, ev->u.newtask.comm);
		num(p + 32, ev->u.newtask.clone_flags, 8);
		break;
	case TY_EV_SIGNAL_GENERATE:
		num(p + 8, (uint32_t)ev->u.sig.sig, 4);
		num(p + 36, (uint32_t)ev->u.sig.tid, 4);
		break;
	case TY_EV_PRINT:
		snprintf((char *)p + 16, 200, "%s\n", ev->u.print.text);
		n = (16 + (unsigned)strlen((char *)p + 16) + 1 + 3) & ~3u;
		break;
	}
	return n;
}

void ty_story_event(const struct ty_event *ev)
{
	struct cpu *c = &out.cpu[ev->cpu];
	uint8_t p[256];
	unsigned n;
	uint64_t delta;

	assert_true(ev->cpu < out.cpus);
	if (ev->kind == TY_EV_GAP) { /* lost before the next page */
		close_page(ev->cpu);
		c->missed = ev->u.gap.count;
		return;
	}
	n = encode(ev, p);
	assert_int_not_equal(n, 0);
	if (c->open && c->m.pos + n + 16 > PAGE)
		close_page(ev->cpu);
	if (!c->open) {
		ty_page_begin(&c->m, c->page, PAGE, ev->ts_ns, 8, false);
		c->first_ns = c->ts = ev->ts_ns;
		c->open = true;
	}
	delta = ev->ts_ns - c->ts;
	c->ts = ev->ts_ns;
	if (delta >> 27) {
		ty_page_extend(&c->m, delta);
		delta = 0;
	}
	if (n <= 112)
		ty_page_data(&c->m, (uint32_t)delta, p, n);
	else
		ty_page_long(&c->m, (uint32_t)delta, p, n);
}

void ty_story_end(void)
{
	struct ty_err err = {0};

	for (unsigned i = 0; i < out.cpus; i++)
		close_page(i);
	if (ty_spool_publish(out.spool, &err) || ty_spool_finish(out.spool, &err))
		fail_msg("%s", err.msg);
	ty_spool_writer_free(out.w);
	ty_spool_close(out.spool);
	free(out.cpu);
}
