/* SPDX-License-Identifier: MIT */
/*
 * See stacks.h. A thread scans all traced threads every half of the least length (a BPF iterator,
 * stacks.bpf.c): a thread that slept from one scan to the next gets its stack copied. At most 2% of
 * a CPU: after a slow scan the next one is later. A waker of such a thread writes a sample, with
 * registers and stack, into a perf ring per CPU. Mappings of their processes: stack_maps.h. The
 * scanning thread may block in the kernel on the memory of a target. The end of a recording waits
 * END_MS for it; nothing it does afterwards reaches the file.
 */
#include "stacks.h"

#include <stdio.h>
#include <string.h>

#ifndef TY_HAVE_BPF

struct ty_stacks *ty_stacks_open(const struct ty_call_data *e, bool trace_all, uint64_t min_ns,
				 char why[TY_CALL_DATA_WHY])
{
	snprintf(why, TY_CALL_DATA_WHY, "this tarry was built without BPF");
	return NULL;
}

bool ty_stacks_start(struct ty_stacks *s, struct ty_spool *spool, const struct ty_instance *clock,
		     const unsigned *cpus, unsigned cpus_n, bool maps_last,
		     char why[TY_CALL_DATA_WHY])
{
	return false;
}

void ty_stacks_know(struct ty_stacks *s, const int *pids, size_t n)
{
}

void ty_stacks_name(struct ty_stacks *s, struct ty_command_lines *commands)
{
}

struct ty_spooled_section *ty_stacks_section(struct ty_stacks *s)
{
	return NULL;
}

void ty_stacks_finish(struct ty_stacks *s, struct ty_stacks_result *res)
{
	*res = (struct ty_stacks_result){0};
}

#else

#include <asm/perf_regs.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <stacks.skel.h>

#include "cpu_rings.h"
#include "file_locks.h"
#include "lock_holder.h"
#include "map_events.h"
#include "now.h"
#include "python_stacks.h"
#include "ring_drainer.h"
#include "section.h"
#include "stack_maps.h"
#include "stacks_bpf.h"
#include "unaligned.h"

/* Stacks per second, and how many at once; the share of a CPU that scans may use. */
enum { STACKS_RATE = 500, STACKS_BURST = 1000, LOOK_COST = 50, LOOK_BYTES = 64 << 10 };
#define END_MS	    2000
/* Of the sections, whose readers hold them in memory. */
#define SECTION_MAX (512ull << 20)
#define MAPS_MAX    (64ull << 20)

/* Wakers of waits this long have their command lines read. Waits of threads by number. */
#define NAMED_NS    UINT64_C(200000000)
#define NAMED_SLOTS 16384u

/* In the order of their DWARF numbers (System V ABI, AMD64 supplement, figure 3.36; DWARF for the
 * Arm 64-bit architecture, 4.1), then the program counter. */
#if defined(__x86_64__)
static const uint8_t regs[] = {
	PERF_REG_X86_AX,  PERF_REG_X86_DX,  PERF_REG_X86_CX,  PERF_REG_X86_BX,	PERF_REG_X86_SI,
	PERF_REG_X86_DI,  PERF_REG_X86_BP,  PERF_REG_X86_SP,  PERF_REG_X86_R8,	PERF_REG_X86_R9,
	PERF_REG_X86_R10, PERF_REG_X86_R11, PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14,
	PERF_REG_X86_R15, PERF_REG_X86_IP};
#elif defined(__aarch64__)
static const uint8_t regs[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
			       17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
#else
static const uint8_t regs[] = {0};
#endif
enum { REGS = sizeof(regs) };

/* A piece begins with one, that of TY_STK_PIECE. */
#define HEAD sizeof(struct ty_stk_head)

struct ty_stacks {
	struct stacks_bpf *bpf;
	const struct ty_call_data *call_data;
	bool trace_all;
	struct ty_cpu_rings rings;
	struct ty_spool_writer *writer;
	struct ty_ring_drainer drainer;
	pthread_t looker;
	bool started, looks;
	const struct ty_instance *clock;
	struct bpf_link *iterator;
	uint64_t min_ns, clock_off_ns, clock_at_ns;
	struct ty_file_locks *locks;
	struct ty_command_lines *commands;
	struct ty_python_stacks *python;
	pthread_mutex_t of_lock; /* of `of`, which the end takes from a thread that is held up */
	struct ty_stack_maps *of;
	struct ty_map_events *events;
	uint64_t given_ns;    /* events up to then */
	pthread_mutex_t lock; /* of what follows; of_lock and that of `of` are taken before it */
	struct ty_spooled_section stacks, maps;
	uint64_t lost_here;
	uint64_t told; /* of what left_out counts, in the newest piece */
	bool over;     /* nothing is put any more */
	struct ty_stacks_result res;
	/* A thread's two newest copied waits (a sample is read late), the last one first: a time at
	 * which it slept, and since when. Those of another thread in its slot are forgotten. */
	struct {
		uint64_t at_ns[2], from_ns[2];
		uint32_t tid;
	} waits[NAMED_SLOTS];
};

static uint64_t reg_mask(void)
{
	uint64_t m = 0;

	for (unsigned i = 0; i < REGS; i++)
		m |= 1ull << regs[i];
	return m;
}

static uint64_t left_out(const struct ty_stacks *s, uint64_t *limited)
{
	const uint64_t copied = __atomic_load_n(&s->bpf->bss->copied_late, __ATOMIC_RELAXED);
	const uint64_t wanted = __atomic_load_n(&s->bpf->bss->put_off, __ATOMIC_RELAXED);

	*limited = wanted > copied ? wanted - copied : 0;
	return *limited + __atomic_load_n(&s->bpf->bss->lost, __ATOMIC_RELAXED) + s->lost_here;
}

static void put_head(void *ctx, uint64_t piece, void *p)
{
	struct ty_stk_head head = {.kind = TY_STK_PIECE, .aux = piece};
	struct ty_stacks *s = ctx;
	uint64_t limited;

	s->told = head.ns = left_out(s, &limited);
	head.target = limited < UINT32_MAX ? (uint32_t)limited : UINT32_MAX;
	memcpy(p, &head, HEAD);
}

static size_t record_bytes(const void *p)
{
	struct ty_stk_head h;

	memcpy(&h, p, HEAD);
	return HEAD + h.len;
}

static void unwritten(void *ctx, const void *p)
{
	struct ty_stacks *s = ctx;
	struct ty_stk_head h;

	memcpy(&h, p, HEAD);
	s->lost_here++;
	s->res.stacks -= h.kind == TY_STK_WAIT;
}

static const struct ty_section_form stacks_form = {.section = TY_SEC_STACKS,
						   .most = SECTION_MAX,
						   .raw_part = 1,
						   .head_bytes = HEAD,
						   .put_head = put_head,
						   .record_bytes = record_bytes,
						   .unwritten = unwritten};
static const struct ty_section_form maps_form = {.section = TY_SEC_MAPS,
						 .most = MAPS_MAX,
						 .raw_part = 1,
						 .head_bytes = HEAD,
						 .put_head = put_head,
						 .record_bytes = record_bytes};

/* Records of the process' mappings; the lock of struct ty_stack_maps is held. */
static bool put_maps(void *ctx, const void *records, size_t n)
{
	struct ty_stacks *s = ctx;
	bool good;

	pthread_mutex_lock(&s->lock);
	good = ty_spooled_section_room(&s->maps, n);
	if (good)
		ty_buf_add(&s->maps.b, records, n);
	pthread_mutex_unlock(&s->lock);
	return good;
}

static void free_all(struct ty_stacks *s)
{
	bool full;

	ty_cpu_rings_close(&s->rings);
	stacks_bpf__destroy(s->bpf);
	ty_spool_writer_free(s->writer);
	ty_ring_drainer_fini(&s->drainer);
	ty_map_events_free(s->events);
	ty_stack_maps_finish(s->of, 0, &full);
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->of_lock);
	ty_spooled_section_fini(&s->stacks);
	ty_spooled_section_fini(&s->maps);
	ty_file_locks_free(s->locks);
	free(s);
}

static struct stacks_bpf *load(struct ty_stacks *s)
{
	struct stacks_bpf *b = stacks_bpf__open();

	if (!b)
		return NULL;
	b->rodata->trace_all = s->trace_all;
	b->rodata->own = (uint32_t)getpid();
	b->bss->off = 1;
	if (!bpf_map__reuse_fd(b->maps.tids, ty_call_data_tids_fd(s->call_data)) &&
	    !stacks_bpf__load(b)) {
		b->links.woken = bpf_program__attach_trace(b->progs.woken);
		s->iterator = b->links.look = bpf_program__attach_iter(b->progs.look, NULL);
		if (b->links.woken && b->links.look)
			return b;
	}
	stacks_bpf__destroy(b);
	return NULL;
}

struct ty_stacks *ty_stacks_open(const struct ty_call_data *e, bool trace_all, uint64_t min_ns,
				 char why[TY_CALL_DATA_WHY])
{
	struct ty_stacks *s = calloc(1, sizeof(*s));

	if (!s) {
		snprintf(why, TY_CALL_DATA_WHY, "out of memory");
		return NULL;
	}
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->of_lock, NULL);
	s->min_ns = min_ns;
	s->call_data = e;
	s->trace_all = trace_all;
	ty_spooled_section_init(&s->stacks, &stacks_form, s);
	ty_spooled_section_init(&s->maps, &maps_form, s);
	ty_ring_drainer_init(&s->drainer);
	s->of = ty_stack_maps_new(trace_all, put_maps, s);
	s->locks = ty_file_locks_new();
	if (s->of && s->locks && s->drainer.wake >= 0 && REGS > 1)
		s->bpf = load(s);
	if (s->bpf)
		return s;
	snprintf(why, TY_CALL_DATA_WHY, "the kernel rejected the BPF programs (%s)",
		 REGS > 1 ? strerror(errno) : "not known for this architecture");
	free_all(s);
	return NULL;
}

void ty_stacks_know(struct ty_stacks *s, const int *pids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ty_stack_maps_read(s->of, (uint32_t)pids[i], 0);
}

/* records of the rings ----------------------------------------------------------------------------
 */

/* The file needs the process' mappings, unless the recording is over. */
static void need_maps(struct ty_stacks *s, uint32_t pid, uint64_t ns)
{
	pthread_mutex_lock(&s->of_lock);
	if (s->of)
		ty_stack_maps_need(s->of, pid, ns);
	pthread_mutex_unlock(&s->of_lock);
}

/* Writes a record of TY_SEC_STACKS; h is complete except for len. Call without the lock. */
static void put_stack(struct ty_stacks *s, struct ty_stk_head h, const void *kernel,
		      const void *values, const char *stack, size_t stack_n)
{
	struct ty_buf *b = &s->stacks.b;

	stack_n = h.regs_n ? stack_n : 0;
	h.len = (uint32_t)(8 * (h.kernel_n + h.regs_n) + stack_n);
	need_maps(s, h.pid, h.ns);
	pthread_mutex_lock(&s->lock);
	if (s->over || !ty_spooled_section_room(&s->stacks, HEAD + h.len)) {
		s->lost_here++;
	} else {
		ty_buf_add(b, &h, HEAD);
		ty_buf_add(b, kernel, 8u * h.kernel_n);
		ty_buf_add(b, values, 8u * h.regs_n);
		ty_buf_add(b, stack, stack_n);
		s->res.stacks += h.kind == TY_STK_WAIT;
	}
	pthread_mutex_unlock(&s->lock);
}

static void note_wait(struct ty_stacks *s, const struct ty_stk_head *h)
{
	const unsigned at = h->tid % NAMED_SLOTS;
	const bool same = s->waits[at].tid == h->tid;

	pthread_mutex_lock(&s->lock);
	s->waits[at].at_ns[1] = same ? s->waits[at].at_ns[0] : UINT64_MAX;
	s->waits[at].from_ns[1] = s->waits[at].from_ns[0];
	s->waits[at].at_ns[0] = h->ns;
	s->waits[at].from_ns[0] = h->ns - h->wait_ms * UINT64_C(1000000);
	s->waits[at].tid = h->tid;
	pthread_mutex_unlock(&s->lock);
}

static void name_waker(struct ty_stacks *s, const struct ty_stk_head *h)
{
	const unsigned at = h->target % NAMED_SLOTS;
	bool is_long = false;

	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < 2 && s->waits[at].tid == h->target; i++) {
		if (s->waits[at].at_ns[i] > h->ns)
			continue;
		is_long = h->ns - s->waits[at].from_ns[i] >= NAMED_NS;
		break;
	}
	pthread_mutex_unlock(&s->lock);
	if (is_long)
		ty_command_lines_culprit(s->commands, (int)h->pid);
}

static void put_python(void *ctx, const struct ty_stk_head *h, const void *bytes)
{
	struct ty_stacks *s = ctx;

	pthread_mutex_lock(&s->lock);
	if (!s->over && ty_spooled_section_room(&s->stacks, HEAD + h->len)) {
		ty_buf_add(&s->stacks.b, h, HEAD);
		ty_buf_add(&s->stacks.b, bytes, h->len);
	} else {
		s->lost_here++;
	}
	pthread_mutex_unlock(&s->lock);
}

/* A sample of a waker: wakee, registers by number, and the stack: p[0..n) behind the record's head.
 */
static void on_sample(struct ty_stacks *s, const char *p, size_t n)
{
	struct ty_stk_head h = {.kind = TY_STK_WAKER};
	uint64_t stack_n = 0, size, by_number[64] = {0}, values[REGS], left = reg_mask();
	const char *stack = NULL, *end = p + n;

	/* u32 pid, tid; u64 time; u32 bytes of raw, and these */
	if (n < 24 || ty_u32_at(p + 16) < 4 || n - 20 < ty_u32_at(p + 16))
		return;
	h.pid = ty_u32_at(p);
	h.tid = ty_u32_at(p + 4);
	h.ns = ty_u64_at(p + 8);
	h.target = ty_u32_at(p + 20);
	p += 20 + ty_u32_at(p + 16);
	/* u64 abi, a u64 per register unless abi is 0, in the order of perf's numbers */
	if (end - p < 8 + 8 * REGS || ty_u64_at(p) != PERF_SAMPLE_REGS_ABI_64)
		return;
	p += 8;
	for (; left; left &= left - 1, p += 8)
		by_number[__builtin_ctzll(left)] = ty_u64_at(p);
	for (unsigned i = 0; i < REGS; i++)
		values[i] = by_number[regs[i]];
	h.regs_n = REGS;
	/* u64 size, so many bytes of the stack, u64 how many count */
	if (end - p >= 16) {
		size = ty_u64_at(p);
		if (size <= (size_t)(end - p) - 16) {
			stack = p + 8;
			stack_n = size ? ty_u64_at(stack + size) : 0;
			stack_n = stack_n < size ? stack_n : size;
			h.flags = stack_n == size ? TY_STK_CUT : 0;
		}
	}
	name_waker(s, &h);
	put_stack(s, h, NULL, values, stack, stack_n);
}

static int on_samples(void *ctx, const struct ty_aux_ring *r, const void *bytes, size_t n)
{
	struct perf_event_header h;

	for (const char *p; (p = ty_aux_next(&bytes, &n, &h));)
		if (h.type == PERF_RECORD_SAMPLE)
			on_sample(ctx, p, h.size - sizeof(h));
	return 0;
}

/* Drain the rings, and write the pieces that are due. */
static void move(void *ctx, bool last)
{
	struct ty_stacks *s = ctx;
	const struct ty_aux_sink sink = {on_samples, NULL, s};

	const uint64_t newest_ns = ty_map_events_take(s->events);

	ty_stack_maps_take(s->of);
	/* What lay in a ring when the rings were emptied before lies here now. */
	ty_map_events_give(s->events, last ? UINT64_MAX : s->given_ns);
	s->given_ns = newest_ns;
	ty_cpu_rings_drain(&s->rings, &sink);
	pthread_mutex_lock(&s->lock);
	ty_spooled_section_tick(&s->stacks);
	ty_spooled_section_tick(&s->maps);
	pthread_mutex_unlock(&s->lock);
}

/* Those of samples, then those of mappings. */
static int fd_of(const void *ctx, unsigned i)
{
	const struct ty_stacks *s = ctx;

	return i < s->rings.n ? s->rings.v[i].fd : ty_map_events_fd(s->events, i - s->rings.n);
}

/* The holder of the lock that a thread waits for, if the holder is alive. ns: h->ns as
 * CLOCK_MONOTONIC. */
static void on_lock(struct ty_stacks *s, const struct ty_stk_seen *seen, struct ty_stk_head h,
		    uint64_t ns)
{
	enum ty_lock_kind kind = 0;
	uint64_t read_ns = 0;
	int32_t holder = 0;

	h.kind = TY_STK_HOLDER;
	if (seen->nr == SYS_futex) {
		h.aux = seen->regs[0];
		holder = ty_futex_holder(seen->regs[1], seen->regs[2], seen->words, &kind);
		if (holder &&
		    (holder == (int32_t)h.tid || syscall(SYS_tgkill, (int)h.pid, (int)holder, 0)))
			holder = 0;
	} else if (seen->nr == SYS_flock ||
		   (seen->nr == SYS_fcntl &&
		    (seen->regs[1] == F_SETLKW || seen->regs[1] == F_OFD_SETLKW))) {
		kind = seen->nr == SYS_flock ? TY_LOCK_FLOCK : TY_LOCK_POSIX;
		/* The interval of scans is at least half the minimum wait. */
		holder = ty_file_locks_holder(s->locks, h.pid, seen->nr == SYS_flock,
					      ns - seen->looks * s->min_ns / 2, ns, &h.aux,
					      &read_ns);
		if (read_ns)
			h.ns = read_ns + s->clock_off_ns;
	}
	if (!holder)
		return;
	if (kind == TY_LOCK_FLOCK || kind == TY_LOCK_POSIX) /* a process, traced or not */
		ty_command_lines_culprit(s->commands, holder);
	h.target = (uint32_t)holder;
	h.flags = (uint8_t)kind;
	put_stack(s, h, NULL, NULL, NULL, 0);
}

/* Copies of stacks, p[0..n): whole ones. When: a time at which all of them slept. */
static void on_copies(struct ty_stacks *s, const char *p, size_t n, uint64_t ns, uint64_t period_ns)
{
	struct ty_stk_seen seen;

	while (n >= sizeof(seen)) {
		struct ty_stk_head h = {.kind = TY_STK_WAIT, .ns = ns};

		memcpy(&seen, p, sizeof(seen));
		p += sizeof(seen);
		n -= sizeof(seen);
		if (seen.stack_n > n)
			break;
		h.pid = seen.pid;
		h.tid = h.target = seen.tid;
		h.wait_ms = (uint32_t)(seen.looks * period_ns / 1000000);
		if (seen.lock) {
			on_lock(s, &seen, h, ns - s->clock_off_ns);
			continue;
		}
		h.flags = seen.flags;
		h.regs_n = seen.regs_n;
		h.kernel_n = seen.kernel_n;
		ty_command_lines_request(s->commands, (int)h.pid);
		note_wait(s, &h);
		put_stack(s, h, seen.kernel, seen.regs, p, seen.stack_n);
		/* Its stack could be copied, so the mmap lock was free. */
		if (seen.stack_n)
			ty_python_stacks_request(s->python,
						 &(struct ty_python_wait){.ns = h.ns,
									  .pid = h.pid,
									  .tid = h.tid,
									  .switches = seen.switches,
									  .self = seen.self});
		p += seen.stack_n;
		n -= seen.stack_n;
	}
}

/* Scan the threads from..to-1. A copied thread has slept since the previous scan: any time in
 * between is valid. */
static void look_at(struct ty_stacks *s, char *buf, uint32_t from, uint32_t to, uint64_t ns,
		    uint64_t period_ns)
{
	ssize_t n;
	int fd;

	s->bpf->bss->from = from;
	s->bpf->bss->to = to;
	fd = bpf_iter_create(bpf_link__fd(s->iterator));
	while (fd >= 0 && !atomic_load(&s->drainer.stop)) {
		n = read(fd, buf, LOOK_BYTES);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		/* Delayed beyond the end: the destination of the copies is closed. */
		if (n <= 0 || atomic_load(&s->drainer.stop))
			break;
		on_copies(s, buf, (size_t)n, ns + s->clock_off_ns - period_ns / 2, period_ns);
	}
	if (fd >= 0)
		close(fd);
}

/* The copies of one scan and the data not yet written may exceed the limit. */
static bool is_full(const struct ty_stacks *s)
{
	return atomic_load(&s->stacks.bytes) + 2 * TY_SPOOLED_PIECE >
	       SECTION_MAX + atomic_load(&s->stacks.dropped);
}

/* One scan of all threads, timed by the trace clock, which is read now and then. If not all waiting
 * threads could be copied, the next scan begins with the first one that was not. */
static void look(struct ty_stacks *s, char *buf, uint64_t period_ns)
{
	const uint64_t ns = ty_now_ns(CLOCK_MONOTONIC);
	const uint32_t from = s->bpf->bss->starved;

	/* A reading that took long may be off by as much: the one before stays. */
	if (ns >= s->clock_at_ns) {
		const uint64_t there = ty_instance_now_ns(s->clock);
		const uint64_t took = ty_now_ns(CLOCK_MONOTONIC) - ns;

		if (there && took < s->min_ns / 8) {
			s->clock_off_ns = there - ns - took / 2;
			s->clock_at_ns = ns + 1000000000;
		}
	}
	if (!s->clock_at_ns)
		return;
	s->bpf->bss->now++;
	s->bpf->bss->starved = 0;
	s->bpf->bss->locks = TY_STK_LOCKS;
	s->bpf->bss->lock_from = s->bpf->bss->lock_starved;
	s->bpf->bss->lock_starved = 0;
	s->bpf->bss->full = is_full(s);
	look_at(s, buf, from, UINT32_MAX, ns, period_ns);
	if (from)
		look_at(s, buf, 0, from, ns, period_ns);
}

static void *look_main(void *arg)
{
	struct ty_stacks *s = arg;
	char *buf = malloc(LOOK_BYTES);
	uint64_t period_ns = s->min_ns / 2, cost_ns = 0, at_ns = 0, looked_ns = 0;
	struct pollfd wake = {.fd = s->drainer.wake, .events = POLLIN};

	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), -20);
	while (buf && !atomic_load(&s->drainer.stop)) {
		const uint64_t from_ns = ty_now_ns(CLOCK_THREAD_CPUTIME_ID);
		const uint64_t now_ns = ty_now_ns(CLOCK_MONOTONIC);
		const uint64_t more =
			at_ns ? (now_ns - at_ns) * STACKS_RATE / 1000000000 : STACKS_BURST;
		struct timespec pause;

		/* Fractions are carried over to the next scan. */
		if (more) {
			s->bpf->bss->budget = s->bpf->bss->budget + (int)more < STACKS_BURST
						      ? s->bpf->bss->budget + (int)more
						      : STACKS_BURST;
			at_ns = now_ns;
		}
		if (looked_ns && now_ns - looked_ns > s->min_ns)
			s->res.late_ns += now_ns - looked_ns - s->min_ns;
		looked_ns = now_ns;
		look(s, buf, period_ns);
		/* The mean of some. */
		cost_ns = (7 * cost_ns + (ty_now_ns(CLOCK_THREAD_CPUTIME_ID) - from_ns)) / 8;
		period_ns =
			cost_ns * LOOK_COST > s->min_ns / 2 ? cost_ns * LOOK_COST : s->min_ns / 2;
		pause = (struct timespec){.tv_sec = (time_t)(period_ns / 1000000000),
					  .tv_nsec = (long)(period_ns % 1000000000)};
		ppoll(&wake, 1, &pause, NULL);
	}
	free(buf);
	return NULL;
}

static void on_map_event(void *ctx, const struct ty_map_event *e)
{
	struct ty_stack_maps *of = ((struct ty_stacks *)ctx)->of;

	switch (e->kind) {
	case TY_MAP_EV_MAP:
		ty_stack_maps_mmap(of, e->pid, e->ns, &e->map, e->text, e->text_n);
		break;
	case TY_MAP_EV_EXEC: ty_stack_maps_exec(of, e->pid, e->ns); break;
	case TY_MAP_EV_FORK: ty_stack_maps_fork(of, e->parent, e->pid, e->ns); break;
	case TY_MAP_EV_EXIT: ty_stack_maps_exit(of, e->pid, e->ns); break;
	case TY_MAP_EV_LOST: ty_stack_maps_lost(of, e->since_ns, e->ns); break;
	}
}

static bool open_rings(struct ty_stacks *s, const unsigned *cpus, unsigned n)
{
	struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
						      PERF_SAMPLE_REGS_USER |
						      PERF_SAMPLE_STACK_USER,
				       .sample_regs_user = reg_mask(),
				       .sample_stack_user = TY_STK_BYTES};

	if (!ty_cpu_rings_open_output(&s->rings, &attr, bpf_map__fd(s->bpf->maps.stacks_out), cpus,
				      n))
		return false;
	s->events = ty_map_events_open(cpus, n, on_map_event, s);
	return s->events;
}

void ty_stacks_name(struct ty_stacks *s, struct ty_command_lines *commands)
{
	if (s)
		s->commands = commands;
}

bool ty_stacks_start(struct ty_stacks *s, struct ty_spool *spool, const struct ty_instance *clock,
		     const unsigned *cpus, unsigned cpus_n, bool maps_last,
		     char why[TY_CALL_DATA_WHY])
{
	s->clock = clock;
	s->writer = ty_spool_writer_new(spool, TY_SPOOLED_PIECE);
	if (!s->writer) {
		snprintf(why, TY_CALL_DATA_WHY, "out of memory");
		return false;
	}
	if (!open_rings(s, cpus, cpus_n)) {
		snprintf(why, TY_CALL_DATA_WHY, "the kernel does not copy user stacks (%s)",
			 strerror(errno));
		return false;
	}
	s->bpf->bss->off = 0;
	ty_spooled_section_start(&s->stacks, s->writer, false);
	ty_spooled_section_start(&s->maps, s->writer, maps_last);
	s->python = ty_python_stacks_new(put_python, s);
	s->started = ty_ring_drainer_start(&s->drainer, 2 * s->rings.n, fd_of, move, s);
	s->looks = s->started && !pthread_create(&s->looker, NULL, look_main, s);
	if (!s->looks)
		snprintf(why, TY_CALL_DATA_WHY, "no thread can be created");
	return s->looks;
}

struct ty_spooled_section *ty_stacks_section(struct ty_stacks *s)
{
	return s ? &s->stacks : NULL;
}

/* Wait for its end, END_MS at most. */
static bool is_held_up(pthread_t thread)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += END_MS / 1000;
	if (!pthread_timedjoin_np(thread, NULL, &until))
		return false;
	pthread_detach(thread);
	return true;
}

void ty_stacks_finish(struct ty_stacks *s, struct ty_stacks_result *res)
{
	bool stuck, full = false;
	struct ty_stack_maps *of;

	*res = (struct ty_stacks_result){0};
	if (!s)
		return;
	s->bpf->bss->off = 1;
	if (!s->started) {
		if (ty_python_stacks_finish(s->python, END_MS, &s->res.python))
			free_all(s);
		return;
	}
	ty_ring_drainer_stop(&s->drainer);
	stuck = s->looks && is_held_up(s->looker);
	stuck |= !ty_python_stacks_finish(stuck ? NULL : s->python, END_MS, &s->res.python);
	pthread_mutex_lock(&s->of_lock);
	of = s->of;
	s->of = NULL;
	pthread_mutex_unlock(&s->of_lock);
	s->res.maps_unread = ty_stack_maps_finish(of, END_MS, &full);
	pthread_mutex_lock(&s->lock);
	s->over = true;
	ty_spooled_section_put(&s->stacks);
	ty_spooled_section_put(&s->maps);
	s->res.lost = left_out(s, &s->res.limited);
	if (s->res.lost > s->told)
		ty_spooled_section_tell(&s->stacks);
	s->res.failed = s->stacks.failed || s->maps.failed;
	s->res.maps_full |= full;
	s->res.locks_left = __atomic_load_n(&s->bpf->bss->locks_left, __ATOMIC_RELAXED);
	s->res.too_many_threads = s->bpf->bss->too_many_threads;
	s->res.lost -= s->res.limited;
	*res = s->res;
	pthread_mutex_unlock(&s->lock);
	/* What a thread uses that is held up stays; the process ends with it. */
	if (!stuck)
		free_all(s);
}

#endif
