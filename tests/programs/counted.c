/* SPDX-License-Identifier: MIT */
/*
 * counted: two threads that fault in pages, sleep and work, and what the kernel counted of
 * them: a line "tid NAME VALUE" each, by getrusage(2), /proc/thread-self/stat and the thread's CPU
 * clock. With an argument, work is that many times as long.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGES = 3000, SLEEPS = 120, WORK = 20000000 };
static long times = 1;
static struct seen {
	long tid;
	unsigned long minflt;
	struct timespec cpu;
	struct rusage u;
} seen[2];

static unsigned long stat_minflt(void)
{
	FILE *f = fopen("/proc/thread-self/stat", "re");
	unsigned long v = 0;

	if (!f || fscanf(f, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %lu", &v) != 1)
		v = 0;
	if (f)
		fclose(f);
	return v;
}

static void *work(void *arg)
{
	const long page = sysconf(_SC_PAGESIZE), n = PAGES * (1 + (arg != seen));
	char *p = mmap(NULL, (size_t)(n * page), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct timespec pause = {0, 200000};
	struct seen *s = arg;
	volatile long sum = 0;

	if (p == MAP_FAILED)
		exit(1);
	madvise(p, (size_t)(n * page), MADV_NOHUGEPAGE);
	for (long i = 0; i < n; i++)
		p[i * page] = 1;
	for (int i = 0; i < SLEEPS; i++)
		nanosleep(&pause, NULL);
	for (long i = 0; i < WORK * times; i++)
		sum += i;
	s->tid = syscall(SYS_gettid);
	s->minflt = stat_minflt();
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &s->cpu);
	getrusage(RUSAGE_THREAD, &s->u);
	syscall(SYS_exit, 0); /* the C library's way out has page faults of its own */
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[2];

	if (argc > 1)
		times = atol(argv[1]);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, work, &seen[i]))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	for (const struct seen *s = seen; s < seen + 2; s++) {
		printf("%ld minflt %lu\n", s->tid, s->minflt);
		printf("%ld faults %ld\n", s->tid, s->u.ru_minflt + s->u.ru_majflt);
		printf("%ld switches %ld\n", s->tid, s->u.ru_nvcsw + s->u.ru_nivcsw);
		printf("%ld cpu %lld\n", s->tid,
		       (long long)s->cpu.tv_sec * 1000000000 + s->cpu.tv_nsec);
	}
	return 0;
}
