/* SPDX-License-Identifier: MIT */
/*
 * Two threads of known behaviour: "user" computes without a system call, "kernel" spends its time
 * in one call that computes in the kernel (random bytes). Prints "TID NAME NS" per thread: how
 * long.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct part {
	const char *name;
	void (*run)(struct part *);
	pthread_t thread;
	long tid;
	uint64_t ns;
};

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void user(struct part *p)
{
	uint64_t t = cpu_ns();

	for (volatile unsigned long i = 0; i < 300000000ul; i++)
		;
	p->ns = cpu_ns() - t;
}

static void kernel(struct part *p)
{
	static char buf[1 << 16];
	static struct iovec v[1024];
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	uint64_t t;

	for (int i = 0; i < 1024; i++)
		v[i] = (struct iovec){buf, sizeof(buf)};
	t = cpu_ns();
	for (int i = 0; i < 2; i++)
		if (readv(fd, v, 1024) <= 0)
			err(1, "readv");
	p->ns = cpu_ns() - t;
	close(fd);
}

static void *thread(void *arg)
{
	struct part *p = arg;

	pthread_setname_np(pthread_self(), p->name);
	p->tid = syscall(SYS_gettid);
	p->run(p);
	return NULL;
}

int main(void)
{
	struct part p[] = {{.name = "user", .run = user}, {.name = "kernel", .run = kernel}};

	for (int i = 0; i < 2; i++) {
		pthread_create(&p[i].thread, NULL, thread, &p[i]);
		pthread_join(p[i].thread, NULL);
		printf("%ld %s %llu\n", p[i].tid, p[i].name, (unsigned long long)p[i].ns);
	}
	return 0;
}
