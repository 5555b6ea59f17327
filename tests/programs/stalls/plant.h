/* SPDX-License-Identifier: MIT */
/*
 * What the planted stalls share. Each program: stall_NAME SEED TRUTH. The seed chooses names,
 * lengths and what is a thread, a process or the program itself; TRUTH is where the program writes,
 * as one JSON object, what the stall was, as it saw it: victim, culprit, kind, system calls, begin,
 * length.
 *
 * No thread waits for another one except where the stall is planted: turns are taken by polling a
 * shared flag with short sleeps. Everything shared lies in one MAP_SHARED mapping, so that any part
 * may be a process. A program that cannot plant its stall here exits with 77 and says why on
 * stdout.
 */
#ifndef TY_PLANT_H
#define TY_PLANT_H

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PLANT_MAX_HOPS 4

struct plant_who {
	_Atomic int tid; /* 0: none */
	char comm[16];
};

/* Shared by all parts of the program; a program's own things follow in `own`. */
struct plant {
	_Atomic int turn; /* see plant_turn */
	_Atomic int over; /* the victim and the culprit are done */
	struct plant_who victim, culprit, hop[PLANT_MAX_HOPS];
	uint64_t start_ns, duration_ns; /* of the stall, CLOCK_REALTIME */
	_Alignas(64) char own[16384];
};

static struct plant *plant;
static const char *plant_path;
static unsigned long plant_seed;
static uint64_t plant_state;
/* What the seed chose that most programs need. */
static struct {
	const char *victim, *culprit;
	unsigned way, ms, before, after;
} the;

static inline uint64_t plant_random(void)
{
	uint64_t z = plant_state += 0x9e3779b97f4a7c15ull; /* splitmix64 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* A number in [0, n). Chosen before the parts run, so that the seed decides alone. */
static inline unsigned plant_pick(unsigned n)
{
	return (unsigned)(plant_random() % n);
}

static inline unsigned plant_between(unsigned from, unsigned to)
{
	return from + plant_pick(to - from + 1);
}

static inline uint64_t plant_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void plant_sleep_us(unsigned us)
{
	struct timespec t = {us / 1000000, us % 1000000 * 1000l};

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* By the clock on the wall. */
static inline void plant_spin_ms(unsigned ms)
{
	uint64_t end = plant_ns(CLOCK_MONOTONIC) + ms * 1000000ull;

	while (plant_ns(CLOCK_MONOTONIC) < end)
		;
}

/* Let `ms` go by in one of several ways; `way` is any number of plant_pick. */
static inline void plant_spend_ms(unsigned way, unsigned ms)
{
	struct timeval tv = {ms / 1000, ms % 1000 * 1000};

	switch (way % 4) {
	case 0: plant_sleep_us(ms * 1000); break;
	case 1: plant_spin_ms(ms); break;
	case 2: poll(NULL, 0, (int)ms); break;
	default: select(0, NULL, NULL, NULL, &tv); break;
	}
}

/* Ordinary work: some computing, some system calls. */
static inline void plant_work(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		plant_spin_ms(1);
		getppid();
	}
}

static inline void plant_turn(int turn)
{
	atomic_store(&plant->turn, turn);
}

static inline void plant_await(int turn)
{
	while (atomic_load(&plant->turn) < turn)
		plant_sleep_us(300);
}

/* A name like "kelomi3": no two of a program are the same. */
static inline const char *plant_new_name(void)
{
	static char names[16][16];
	static unsigned n;
	static const char cons[] = "bdfgklmnprstvz", vow[] = "aeiou";
	char *s = names[n % 16];
	unsigned len = plant_between(2, 4);

	for (unsigned i = 0; i < len; i++) {
		*s++ = cons[plant_pick(sizeof(cons) - 1)];
		*s++ = vow[plant_pick(sizeof(vow) - 1)];
	}
	snprintf(s, 4, "%u", n);
	return names[n++ % 16];
}

static inline int plant_tid(void)
{
	return (int)syscall(SYS_gettid);
}

/* The caller takes this name and is noted as `who` (may be NULL). */
static inline void plant_be(struct plant_who *who, const char *name)
{
	prctl(PR_SET_NAME, name);
	if (!who)
		return;
	snprintf(who->comm, sizeof(who->comm), "%s", name);
	atomic_store(&who->tid, plant_tid());
}

/* The victim calls these around the call that stalls. */
static inline uint64_t plant_begin(void)
{
	return plant_ns(CLOCK_REALTIME);
}

static inline void plant_end(uint64_t begin)
{
	plant->duration_ns = plant_ns(CLOCK_REALTIME) - begin;
	plant->start_ns = begin;
}

/* True when the program shall only prepare what the stall needs (files, cold caches), unrecorded.
 */
static inline bool plant_init(int argc, char **argv)
{
	bool prepare = argc == 4 && !strcmp(argv[3], "prepare");

	if (argc != 3 && !prepare)
		errx(2, "usage: %s SEED TRUTH [prepare]", argv[0]);
	plant_seed = strtoul(argv[1], NULL, 10);
	/* Another program with the same seed chooses otherwise. */
	plant_state = plant_seed * 0x2545f4914f6cdd1dull;
	for (const char *s = strrchr(argv[0], '/') ?: argv[0]; *s; s++)
		plant_state = plant_state * 31 + (unsigned char)*s;
	plant_path = argv[2];
	plant = mmap(NULL, sizeof(*plant), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (plant == MAP_FAILED)
		err(1, "mmap");
	the.victim = plant_new_name(), the.culprit = plant_new_name();
	the.way = plant_pick(4), the.ms = plant_between(80, 600);
	/* A thread that waits and then merely ends cannot be distinguished from one that was kept
	 * for later and requested to exit (wait-graph.md): some work comes after each wait. */
	the.before = plant_between(0, 20), the.after = plant_between(3, 20);
	return prepare;
}

static inline void plant_skip(const char *why)
{
	printf("%s\n", why);
	fflush(stdout);
	_exit(77);
}

static inline void plant_who_json(FILE *f, const char *key, const struct plant_who *w)
{
	if (w->tid)
		fprintf(f, ",\"%s\":{\"tid\":%d,\"comm\":\"%s\"}", key, w->tid, w->comm);
	else
		fprintf(f, ",\"%s\":null", key);
}

/* Write the truth. kind: see tests/e2e/stalls.py; syscalls: separated by "|", any of them, or NULL.
 */
static inline void plant_truth(const char *kind, const char *syscalls)
{
	FILE *f = fopen(plant_path, "w");
	const char *comma = "";

	if (!f)
		err(1, "%s", plant_path);
	fprintf(f, "{\"seed\":%lu,\"kind\":\"%s\",\"syscalls\":", plant_seed, kind);
	if (syscalls)
		fprintf(f, "\"%s\"", syscalls);
	else
		fprintf(f, "null");
	plant_who_json(f, "victim", &plant->victim);
	plant_who_json(f, "culprit", &plant->culprit);
	fprintf(f, ",\"hops\":[");
	for (int i = 0; i < PLANT_MAX_HOPS && plant->hop[i].tid; i++) {
		fprintf(f, "%s%d", comma, plant->hop[i].tid);
		comma = ",";
	}
	fprintf(f, "],\"start_realtime_ns\":%llu,\"duration_ns\":%llu}\n",
		(unsigned long long)plant->start_ns, (unsigned long long)plant->duration_ns);
	if (fclose(f))
		err(1, "%s", plant_path);
}

/* A part of the program: a thread, a child, or the program's main thread. */
enum plant_as { PLANT_THREAD, PLANT_CHILD, PLANT_MAIN };
struct plant_part {
	enum plant_as as;
	void (*run)(void);
	pthread_t thread;
	pid_t pid;
};

static inline void *plant_part_thread(void *arg)
{
	((struct plant_part *)arg)->run();
	return NULL;
}

static inline struct plant_part plant_start(struct plant_part *p, enum plant_as as,
					    void (*run)(void))
{
	*p = (struct plant_part){.as = as, .run = run};
	if (as == PLANT_THREAD) {
		if ((errno = pthread_create(&p->thread, NULL, plant_part_thread, p)))
			err(1, "pthread_create");
	} else if (as == PLANT_CHILD) {
		p->pid = fork();
		if (p->pid < 0)
			err(1, "fork");
		if (!p->pid) {
			run();
			_exit(0);
		}
	} else {
		run();
	}
	return *p;
}

static inline void plant_finish(struct plant_part *p)
{
	if (p->as == PLANT_THREAD)
		pthread_join(p->thread, NULL);
	else if (p->as == PLANT_CHILD)
		waitpid(p->pid, NULL, 0);
}

/* Threads without a part in the stall: one sleeps now and then, one waits for work that
 * never comes. The seed says which of them there are. */
static int plant_idle_pipe[2];

static inline void plant_sleeper(void)
{
	prctl(PR_SET_NAME, "sleeper");
	while (atomic_load(&plant->over) == 0)
		plant_sleep_us(15000);
}

static inline void plant_idler(void)
{
	char c;

	prctl(PR_SET_NAME, "idler");
	while (read(plant_idle_pipe[0], &c, 1) < 0 && errno == EINTR)
		;
}

/* Culprit and victim run at the same time; one of them may be the main thread. */
static inline void plant_run_as(enum plant_as v, void (*victim)(void), enum plant_as c,
				void (*culprit)(void))
{
	struct plant_part pv, pc, sleeper, idler;
	unsigned bystanders = plant_pick(4);

	if (pipe(plant_idle_pipe))
		err(1, "pipe");
	if (bystanders & 1)
		plant_start(&sleeper, PLANT_THREAD, plant_sleeper);
	if (bystanders & 2)
		plant_start(&idler, PLANT_THREAD, plant_idler);
	if (c == PLANT_MAIN)
		plant_start(&pv, v, victim);
	plant_start(&pc, c, culprit);
	if (c != PLANT_MAIN)
		plant_start(&pv, v, victim);
	plant_finish(&pv);
	plant_finish(&pc);
	atomic_store(&plant->over, 1);
	if (bystanders & 1)
		plant_finish(&sleeper);
	if (write(plant_idle_pipe[1], "", 1) != 1)
		err(1, "pipe");
	if (bystanders & 2)
		plant_finish(&idler);
}

/* The same, each as the seed says. */
static inline void plant_run(void (*victim)(void), void (*culprit)(void))
{
	enum plant_as v = plant_pick(3), c = plant_pick(v == PLANT_MAIN ? 2 : 3);

	plant_run_as(v, victim, c, culprit);
}

/* One of the CPUs this program may use. */
static inline int plant_cpu(void)
{
	cpu_set_t s;
	unsigned nth;

	if (sched_getaffinity(0, sizeof(s), &s))
		err(1, "sched_getaffinity");
	nth = plant_pick((unsigned)CPU_COUNT(&s));
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &s) && !nth--)
			return i;
	return 0;
}

static inline void plant_pin(int cpu)
{
	cpu_set_t s;

	CPU_ZERO(&s);
	CPU_SET(cpu, &s);
	if (sched_setaffinity(0, sizeof(s), &s))
		err(1, "sched_setaffinity");
}

/* Compute until the turn comes; the longest time without progress is the stall. */
static inline void plant_watch(int turn)
{
	uint64_t last = plant_ns(CLOCK_REALTIME), now;

	for (bool over = false; !over; last = now) {
		over = atomic_load(&plant->turn) >= turn;
		for (volatile int i = 0; i < 2000; i++)
			;
		now = plant_ns(CLOCK_REALTIME);
		if (now - last > plant->duration_ns)
			plant->start_ns = last, plant->duration_ns = now - last;
	}
}

/* Mutexes and the like for parts that may be processes. */
static inline void plant_mutex(pthread_mutex_t *m, int protocol)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setprotocol(&a, protocol);
	if ((errno = pthread_mutex_init(m, &a)))
		err(1, "pthread_mutex_init");
}

/* A file beside the truth, opened anew by each part that calls this: locks of files are per open.
 */
static inline int plant_file(const char *what, int flags)
{
	char path[4200];
	int fd;

	snprintf(path, sizeof(path), "%s.%s", plant_path, what);
	fd = open(path, flags | O_CLOEXEC, 0600);
	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

#endif
