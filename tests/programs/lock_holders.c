/* SPDX-License-Identifier: MIT */
/*
 * lock_holders TIMES: threads that contend for locks of each kind, TIMES each; every lock is held
 * for a moment that is slept. Writes a line "KIND ADDRESS TID FROM UNTIL FREE" for each time that a
 * thread had a lock, CLOCK_REALTIME: it had it from FROM to UNTIL at least, and no longer at FREE.
 * Some wait for what is no lock but looks like one: a condition variable, and a word that is
 * followed by a living thread's number. (tests/e2e/holders.sh)
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { KINDS = 6, SETS = 2, WAITERS = 4 };
struct held {
	int tid;
	uint64_t from, until, free;
};
struct contended {
	union {
		pthread_mutex_t mutex;
		pthread_rwlock_t rwlock;
	} lock;
	struct held *log;
	unsigned n;
};

pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static struct contended all[SETS][KINDS];
static int times;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void nap(long ns)
{
	nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

static void *contend(void *arg)
{
	struct contended *c = arg;
	const int kind = (int)((c - &all[0][0]) % KINDS), tid = (int)syscall(SYS_gettid);

	for (int i = 0; i < times; i++) {
		struct held *h;

		if (kind == 5)
			pthread_rwlock_wrlock(&c->lock.rwlock);
		else
			pthread_mutex_lock(&c->lock.mutex);
		h = &c->log[c->n++];
		*h = (struct held){.tid = tid, .from = now()};
		nap(25000000);
		h->until = now();
		if (kind == 5)
			pthread_rwlock_unlock(&c->lock.rwlock);
		else
			pthread_mutex_unlock(&c->lock.mutex);
		h->free = now();
	}
	return NULL;
}

static void make(struct contended *c, int kind)
{
	static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
				    PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_NORMAL,
				    PTHREAD_MUTEX_NORMAL};
	pthread_mutexattr_t a;

	c->log = calloc((size_t)times * WAITERS, sizeof(*c->log));
	if (kind == 5) {
		pthread_rwlock_init(&c->lock.rwlock, NULL);
		return;
	}
	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, types[kind]);
	if (kind == 3)
		pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	if (kind == 4)
		pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&c->lock.mutex, &a);
}

/* What is no lock. */
static struct {
	uint32_t word, zero, tid, users, kind;
} alike = {2, 0, 0, 1, 0};
static struct {
	pthread_cond_t cond;
	pthread_mutex_t mutex;
} pair = {PTHREAD_COND_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void *wait_alike(void *arg)
{
	syscall(SYS_futex, &alike, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
	return arg;
}

static void *wait_cond(void *arg)
{
	pthread_mutex_lock(&pair.mutex);
	pthread_cond_wait(&pair.cond, &pair.mutex);
	pthread_mutex_unlock(&pair.mutex);
	return arg;
}

static void *bystander(void *arg)
{
	alike.tid = (uint32_t)syscall(SYS_gettid);
	nap(300000000);
	return arg;
}

static void *wait_global(void *arg)
{
	pthread_mutex_lock(&g_lock);
	pthread_mutex_unlock(&g_lock);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t[SETS][KINDS][WAITERS], other, alike_t, cond, global;

	times = argc > 1 ? atoi(argv[1]) : 10;
	pthread_create(&other, NULL, bystander, NULL);
	while (!((volatile uint32_t *)&alike.tid)[0])
		nap(1000000);
	pthread_mutex_lock(&g_lock);
	pthread_create(&global, NULL, wait_global, NULL);
	nap(120000000);
	pthread_mutex_unlock(&g_lock);
	pthread_join(global, NULL);
	pthread_create(&alike_t, NULL, wait_alike, NULL);
	pthread_create(&cond, NULL, wait_cond, NULL);
	nap(120000000);
	alike.word = 0;
	syscall(SYS_futex, &alike, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	pthread_mutex_lock(&pair.mutex);
	pthread_cond_signal(&pair.cond);
	pthread_mutex_unlock(&pair.mutex);
	pthread_join(alike_t, NULL);
	pthread_join(cond, NULL);
	pthread_join(other, NULL);
	for (int s = 0; s < SETS; s++)
		for (int k = 0; k < KINDS; k++)
			make(&all[s][k], k);
	for (int s = 0; s < SETS; s++)
		for (int k = 0; k < KINDS; k++)
			for (int w = 0; w < WAITERS; w++)
				pthread_create(&t[s][k][w], NULL, contend, &all[s][k]);
	for (int s = 0; s < SETS; s++)
		for (int k = 0; k < KINDS; k++)
			for (int w = 0; w < WAITERS; w++)
				pthread_join(t[s][k][w], NULL);
	for (int s = 0; s < SETS; s++)
		for (int k = 0; k < KINDS; k++)
			for (unsigned i = 0; i < all[s][k].n; i++)
				printf("%d %#lx %d %lu %lu %lu\n", k,
				       (unsigned long)&all[s][k].lock, all[s][k].log[i].tid,
				       (unsigned long)all[s][k].log[i].from,
				       (unsigned long)all[s][k].log[i].until,
				       (unsigned long)all[s][k].log[i].free);
	return 0;
}
