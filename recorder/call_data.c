/* SPDX-License-Identifier: MIT */
/*
 * See call_data.h. The programs are attached to perf events of single system calls
 * (syscalls:sys_enter_NAME): measured beside a recording ring, getppid takes 740 ns, with them 765,
 * with programs on the raw tracepoints of all calls 870. They write to a ring per CPU
 * (call_data_ring.h), and count records that do not fit.
 */
#include "call_data.h"

#include <stdio.h>
#include <string.h>

#ifndef TY_HAVE_BPF

struct ty_call_data *ty_call_data_open(const char *root, bool trace_all, unsigned data_bytes,
				       const unsigned *cpus, unsigned cpus_n,
				       char why[TY_CALL_DATA_WHY])
{
	snprintf(why, TY_CALL_DATA_WHY,
		 "this tarry was built without BPF: install clang, bpftool and libbpf-dev, and "
		 "rebuild");
	return NULL;
}

size_t ty_call_data_follow(struct ty_call_data *e, const int *tids, size_t n)
{
	return 0;
}

bool ty_call_data_start(struct ty_call_data *e, struct ty_spool *spool, char why[TY_CALL_DATA_WHY])
{
	return false;
}

struct ty_spooled_section *ty_call_data_section(struct ty_call_data *e)
{
	return NULL;
}

const char *ty_call_data_names(const struct ty_call_data *e)
{
	return "";
}

int ty_call_data_tids_fd(const struct ty_call_data *e)
{
	return -1;
}

int ty_call_data_finish(struct ty_call_data *e, struct ty_call_data_result *res)
{
	*res = (struct ty_call_data_result){0};
	return -1;
}

bool ty_call_data_available(char why[TY_CALL_DATA_WHY])
{
	ty_call_data_open("", false, 0, NULL, 0, why);
	return false;
}

#else

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <call_data.skel.h>

#include "call_data_ring.h"
#include "call_data_table.h"
#include "compare.h"
#include "first_line.h"
#include "own_name.h"
#include "ring_drainer.h"
#include "section.h"
#include "vec.h"

/* Of the section, whose readers hold it in memory. */
#define SECTION_MAX (512ull << 20)
#define PID_MAX	    (4u << 20)

struct ty_call_data {
	struct call_data_bpf *bpf;
	int root; /* of tracefs */
	bool trace_all;
	struct ty_ev_tids *tids; /* mapped */
	size_t tids_bytes;
	VEC(int) hooks; /* perf events */
	VEC(char) names;
	struct ty_call_data_rings rings;
	struct ty_spool_writer *writer;
	struct ty_ring_drainer drainer;
	struct ty_spooled_section records;
	uint64_t lost_here; /* the section was full, or could not be written */
	uint64_t told;	    /* lost ones that the newest piece counts */
	struct ty_call_data_result res;
};

/* libbpf's last word, for `why`. */
static _Thread_local char said[TY_CALL_DATA_WHY];

static int hear(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level == LIBBPF_WARN && !*said) {
		vsnprintf(said, sizeof(said), fmt, ap);
		said[strcspn(said, "\n")] = 0;
	}
	return 0;
}

static void why_not(char why[TY_CALL_DATA_WHY], int error)
{
	char lockdown[64] = "";
	int fd = open("/sys/kernel/security/lockdown", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		ssize_t n = read(fd, lockdown, sizeof(lockdown) - 1);

		lockdown[n > 0 ? n : 0] = 0;
		close(fd);
	}
	if (error == ENOSYS)
		snprintf(why, TY_CALL_DATA_WHY,
			 "the kernel lacks BPF (CONFIG_BPF_SYSCALL, CONFIG_BPF_EVENTS)");
	else if (strstr(lockdown, "[confidentiality]"))
		snprintf(why, TY_CALL_DATA_WHY,
			 "kernel lockdown (confidentiality) forbids BPF to read memory: boot with "
			 "lockdown=integrity or none");
	else if (error == EPERM || error == EACCES)
		snprintf(why, TY_CALL_DATA_WHY,
			 "the kernel refuses BPF: run as root outside of a container, or with "
			 "CAP_BPF and CAP_PERFMON");
	else if (access("/sys/kernel/btf/vmlinux", R_OK))
		snprintf(why, TY_CALL_DATA_WHY,
			 "the kernel lacks type information in /sys/kernel/btf/vmlinux "
			 "(CONFIG_DEBUG_INFO_BTF)");
	else
		snprintf(why, TY_CALL_DATA_WHY, "the kernel rejects the BPF programs (%.140s)",
			 *said ? said : strerror(error));
}

static unsigned pid_max(void)
{
	char text[32];
	unsigned long v;

	ty_first_line(text, sizeof(text), "/proc/sys/kernel/pid_max");
	v = strtoul(text, NULL, 10);
	return v && v < PID_MAX ? (unsigned)v : PID_MAX;
}

/* cpus: how many, up to the last one. */
static struct call_data_bpf *load(bool trace_all, unsigned data_bytes, unsigned cpus,
				  char why[TY_CALL_DATA_WHY])
{
	struct call_data_bpf *b;
	int r;

	*said = 0;
	libbpf_set_print(hear);
	b = call_data_bpf__open();
	if (!b) {
		why_not(why, errno);
		return NULL;
	}
	bpf_map__set_max_entries(b->maps.tids, pid_max() / TY_EV_TIDS + 1);
	b->rodata->ring_bytes = ty_call_data_ring_bytes(cpus);
	bpf_map__set_max_entries(b->maps.rings, cpus);
	bpf_map__set_value_size(b->maps.rings, (uint32_t)TY_EV_RING_BYTES(b->rodata->ring_bytes));
	bpf_map__set_max_entries(b->maps.wakes, (uint32_t)sysconf(_SC_PAGESIZE));
	b->rodata->no_wakes =
		!access("/sys/kernel/realtime", F_OK); /* there with PREEMPT_RT only */
	b->rodata->trace_all = trace_all;
	b->rodata->own = (uint32_t)getpid();
	b->rodata->data = data_bytes;
	r = call_data_bpf__load(b);
	for (unsigned i = 0; !r && i < ty_call_data_table_n; i++) {
		uint32_t nr = (uint32_t)ty_call_data_table[i].nr;

		r = bpf_map__update_elem(b->maps.calls, &nr, sizeof(nr),
					 &ty_call_data_table[i].what, sizeof(struct ty_ev_call),
					 BPF_ANY);
	}
	if (!r) {
		b->bss->off = 1;
		return b;
	}
	why_not(why, -r);
	call_data_bpf__destroy(b);
	return NULL;
}

bool ty_call_data_available(char why[TY_CALL_DATA_WHY])
{
	const int here = sched_getcpu();
	const unsigned cpu = here > 0 ? (unsigned)here : 0;
	struct call_data_bpf *b = load(true, 0, cpu + 1, why);
	struct ty_call_data_rings rings = {0};
	bool works = false;

	if (b) {
		works = ty_call_data_rings_open(&rings, b->maps.rings, b->maps.clocks,
						b->maps.wakes, b->progs.note_clock,
						b->progs.check_clock, &cpu, 1);
		if (!works)
			why_not(why, errno);
		ty_call_data_rings_close(&rings);
	}
	call_data_bpf__destroy(b);
	return works;
}

/* -1: the kernel lacks it. */
static int tracepoint_id(const struct ty_call_data *e, const char *way, const char *name)
{
	char path[96], text[16];
	int fd, id = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "events/syscalls/sys_%s_%s/id", way, name);
	fd = openat(e->root, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	return sscanf(text, "%d", &id) == 1 ? id : -1;
}

static bool hook(struct ty_call_data *e, const struct bpf_program *p, int id)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
				       .size = sizeof(attr),
				       .config = (uint64_t)id,
				       .sample_period = 1,
				       .wakeup_events = 1};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return false;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(p)) ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) || vec_push(&e->hooks, fd)) {
		close(fd);
		return false;
	}
	return true;
}

static void add_name(struct ty_call_data *e, const char *name)
{
	const size_t at = e->names.n ? e->names.n - 1 : 0, n = strlen(name);

	if (vec_reserve(&e->names, at + n + 2))
		return;
	if (at)
		e->names.v[at] = ',';
	memcpy(e->names.v + at + !!at, name, n + 1);
	e->names.n = at + !!at + n + 1;
}

/* Values are read at that end of the call (enum ty_ev_when). */
static bool reads_values(const struct ty_call_data *e, const struct ty_ev_call *what, unsigned when)
{
	for (size_t i = 0; i < sizeof(what->values) / sizeof(*what->values); i++)
		if (what->values[i].when & when &&
		    (!(what->values[i].when & TY_EV_DATA) || e->bpf->rodata->data))
			return true;
	return false;
}

static bool hook_calls(struct ty_call_data *e)
{
	for (unsigned i = 0; i < ty_call_data_table_n; i++) {
		const char *name = ty_call_data_table[i].name;
		const struct ty_ev_call *what = &ty_call_data_table[i].what;
		const bool late = reads_values(e, what, TY_EV_LATE | TY_EV_OUT);
		const int enter = tracepoint_id(e, "enter", name),
			  exit = tracepoint_id(e, "exit", name);
		const struct {
			const struct bpf_program *program;
			bool wanted;
			int id;
		} hooks[] = {
			{e->bpf->progs.enter_exec, what->list, enter},
			{e->bpf->progs.enter_call, !what->list && (what->strings || what->sockaddr),
			 enter},
			{e->bpf->progs.enter_values, reads_values(e, what, TY_EV_IN), enter},
			{e->bpf->progs.enter_send, what->messages == TY_EV_MSG_SEND, enter},
			{e->bpf->progs.leave_messages, what->messages > TY_EV_MSG_SEND, exit},
			{e->bpf->progs.enter_address,
			 what->address || what->messages == TY_EV_MSG_ONE ||
				 what->messages == TY_EV_MSG_MANY,
			 enter},
			{e->bpf->progs.leave_address, what->address, exit},
			{e->bpf->progs.leave, what->exit && !late, exit},
			{e->bpf->progs.leave_fds, what->fds, exit},
			{e->bpf->progs.leave_values, late, exit},
		};
		bool any = false;

		for (unsigned k = 0; enter >= 0 && k < sizeof(hooks) / sizeof(*hooks); k++) {
			if (!hooks[k].wanted || hooks[k].id < 0)
				continue;
			if (!hook(e, hooks[k].program, hooks[k].id))
				return false;
			any = true;
		}
		if (any)
			add_name(e, name);
	}
	return e->hooks.n;
}

/* Removing a hook waits for all CPUs (70 ms each, in turn) and blocks everything that makes or
 * removes trace instances. So a child process, which holds only the hooks, does it when the
 * returned descriptor is closed. */
static int unhook_elsewhere(struct ty_call_data *e)
{
	int pipes[2] = {-1, -1}, from = 0;
	pid_t child = -1;
	char c;

	if (e->hooks.n && !pipe2(pipes, O_CLOEXEC))
		child = fork();
	if (!child) {
		if (fork())
			_exit(0);
		prctl(PR_SET_NAME, TY_UNHOOK_NAME);
		/* In ascending order, as they were opened; a pipe of the user's must not stay open.
		 */
		dup2(pipes[0], 0);
		for (size_t i = 0; i < e->hooks.n; i++) {
			if (e->hooks.v[i] > from + 1)
				syscall(SYS_close_range, from + 1, e->hooks.v[i] - 1, 0);
			from = e->hooks.v[i];
		}
		syscall(SYS_close_range, from + 1, UINT_MAX, 0);
		(void)!read(0, &c, 1);
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
	vec_each (fd, &e->hooks)
		close(*fd);
	if (pipes[0] >= 0)
		close(pipes[0]);
	vec_fini(&e->hooks);
	return pipes[1];
}

static int free_all(struct ty_call_data *e)
{
	int hold = unhook_elsewhere(e);

	ty_call_data_rings_close(&e->rings);
	if (e->tids)
		munmap(e->tids, e->tids_bytes);
	call_data_bpf__destroy(e->bpf);
	ty_spool_writer_free(e->writer);
	ty_ring_drainer_fini(&e->drainer);
	ty_spooled_section_fini(&e->records);
	if (e->root >= 0)
		close(e->root);
	vec_fini(&e->names);
	free(e);
	return hold;
}

ORDER(by_number, int, compare(*a, *b))

struct ty_call_data *ty_call_data_open(const char *root, bool trace_all, unsigned data_bytes,
				       const unsigned *cpus, unsigned cpus_n,
				       char why[TY_CALL_DATA_WHY])
{
	struct ty_call_data *e = calloc(1, sizeof(*e));
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct bpf_link *l[3] = {0};
	void *p;

	if (!e) {
		snprintf(why, TY_CALL_DATA_WHY, "out of memory");
		return NULL;
	}
	e->trace_all = trace_all;
	ty_ring_drainer_init(&e->drainer);
	e->root = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	e->bpf = load(trace_all, data_bytes, cpus_n ? cpus[cpus_n - 1] + 1 : 1, why);
	if (!e->bpf) {
		close(free_all(e));
		return NULL;
	}
	e->tids_bytes = ((pid_max() / TY_EV_TIDS + 1) * sizeof(*e->tids) + page - 1) & ~(page - 1);
	p = mmap(NULL, e->tids_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		 bpf_map__fd(e->bpf->maps.tids), 0);
	e->tids = p == MAP_FAILED ? NULL : p;
	l[0] = bpf_program__attach_raw_tracepoint(e->bpf->progs.executed, "sched_process_exec");
	e->bpf->links.executed = l[0];
	if (!trace_all) {
		l[1] = bpf_program__attach_raw_tracepoint(e->bpf->progs.forked,
							  "sched_process_fork");
		e->bpf->links.forked = l[1];
	}
	l[2] = bpf_program__attach_raw_tracepoint(e->bpf->progs.ended, "sched_process_exit");
	e->bpf->links.ended = l[2];
	if (e->tids && l[0] && l[2] && (trace_all || l[1]) && e->drainer.wake >= 0 &&
	    e->root >= 0 &&
	    ty_call_data_rings_open(&e->rings, e->bpf->maps.rings, e->bpf->maps.clocks,
				    e->bpf->maps.wakes, e->bpf->progs.note_clock,
				    e->bpf->progs.check_clock, cpus, cpus_n) &&
	    hook_calls(e))
		return e;
	why_not(why, errno);
	close(free_all(e));
	return NULL;
}

size_t ty_call_data_follow(struct ty_call_data *e, const int *tids, size_t n)
{
	size_t fresh = 0;

	for (size_t i = 0; i < n; i++) {
		uint8_t *b = (uint8_t *)e->tids + (unsigned)tids[i];

		if ((unsigned)tids[i] >= e->tids_bytes || *b & TY_EV_TRACED)
			continue;
		*b = TY_EV_TRACED;
		fresh++;
	}
	return fresh;
}

/* pieces ------------------------------------------------------------------------------------------
 */

static uint64_t lost(const struct ty_call_data *e)
{
	return __atomic_load_n(&e->bpf->bss->lost, __ATOMIC_RELAXED) + e->lost_here;
}

static void put_head(void *ctx, uint64_t piece, void *p)
{
	struct ty_call_data *e = ctx;
	const struct ty_ev_record head = {.kind = TY_EVK_PIECE, .ptr = piece, .ns = lost(e)};

	e->told = head.ns;
	memcpy(p, &head, sizeof(head));
}

static size_t record_bytes(const void *p)
{
	struct ty_ev_record rec;

	memcpy(&rec, p, sizeof(rec));
	return sizeof(rec) + rec.len;
}

static void unwritten(void *ctx, const void *p)
{
	struct ty_call_data *e = ctx;

	e->lost_here++;
	e->res.records--;
}

static const struct ty_section_form form = {.section = TY_SEC_CALL_DATA,
					    .most = SECTION_MAX,
					    .raw_part = 1,
					    .head_bytes = sizeof(struct ty_ev_record),
					    .put_head = put_head,
					    .record_bytes = record_bytes,
					    .unwritten = unwritten};

static void on_record(void *ctx, const struct ty_ev_record *rec, const char *bytes)
{
	struct ty_call_data *e = ctx;

	if (!ty_spooled_section_room(&e->records, sizeof(*rec) + rec->len)) {
		e->lost_here++;
		return;
	}
	ty_buf_add(&e->records.b, rec, sizeof(*rec));
	ty_buf_add(&e->records.b, bytes, rec->len);
	e->res.records++;
}

static int fd_of(const void *ctx, unsigned i)
{
	return ty_call_data_rings_fd(&((const struct ty_call_data *)ctx)->rings);
}

static void move(void *ctx, bool last)
{
	struct ty_call_data *e = ctx;

	ty_call_data_rings_drain(&e->rings, on_record, e);
	if (!last) {
		ty_spooled_section_tick(&e->records);
		return;
	}
	ty_spooled_section_put(&e->records);
	if (lost(e) > e->told)
		ty_spooled_section_tell(&e->records);
}

bool ty_call_data_start(struct ty_call_data *e, struct ty_spool *spool, char why[TY_CALL_DATA_WHY])
{
	e->writer = ty_spool_writer_new(spool, TY_SPOOLED_PIECE);
	ty_spooled_section_init(&e->records, &form, e);
	ty_spooled_section_start(&e->records, e->writer, false);
	if (!e->writer) {
		snprintf(why, TY_CALL_DATA_WHY, "out of memory");
		return false;
	}
	if (!ty_ring_drainer_start(&e->drainer, 1, fd_of, move, e)) {
		why_not(why, errno);
		return false;
	}
	e->bpf->bss->off = 0;
	return true;
}

struct ty_spooled_section *ty_call_data_section(struct ty_call_data *e)
{
	return e ? &e->records : NULL;
}

const char *ty_call_data_names(const struct ty_call_data *e)
{
	return e->names.v ? e->names.v : "";
}

int ty_call_data_tids_fd(const struct ty_call_data *e)
{
	return bpf_map__fd(e->bpf->maps.tids);
}

/* Structures that all CPUs left out. */
static uint64_t left_out(const struct ty_call_data *e)
{
	const int cpus = libbpf_num_possible_cpus();
	const uint32_t zero = 0;
	struct ty_ev_budget *b = cpus > 0 ? calloc((size_t)cpus, sizeof(*b)) : NULL;
	uint64_t n = 0;

	if (b && !bpf_map_lookup_elem(bpf_map__fd(e->bpf->maps.budgets), &zero, b))
		for (int i = 0; i < cpus; i++)
			n += b[i].left_out;
	free(b);
	return n;
}

int ty_call_data_finish(struct ty_call_data *e, struct ty_call_data_result *res)
{
	*res = (struct ty_call_data_result){0};
	if (!e)
		return -1;
	e->bpf->bss->off = 1;
	if (e->drainer.started) {
		ty_ring_drainer_stop(&e->drainer);
		e->res.lost = lost(e);
		e->res.failed = e->records.failed;
		e->res.left_out = left_out(e);
	}
	*res = e->res;
	/* As the child that removes them goes through its descriptors. */
	vec_sort(&e->hooks, by_number);
	return free_all(e);
}

#endif
