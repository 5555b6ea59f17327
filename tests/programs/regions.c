/* SPDX-License-Identifier: MIT */
/*
 * Regions whose truth is known: 40 rounds of 5 (round, load inside it, parse inside load, and two
 * by id that overlap, one of them ended by another thread). Prints what it knows by its own clock:
 * "NAME COUNT LEAST-NS MOST-NS". `regions wait`: first waits for a line, then continues until end
 * of file. `regions exec`: runs itself once more.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../include/tarry.h"

enum { ROUND, LOAD, PARSE, REQUEST, HANDOFF, KINDS };
static const char *const names[] = {"round", "load", "parse", "request", "handoff"};
static struct {
	uint64_t from, least, most;
	int n;
} truth[KINDS];
static sem_t go, done;
static int64_t handed;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void spin(uint64_t ns)
{
	for (uint64_t end = now() + ns; now() < end;)
		;
}

/* The bounds: what the program measures lies around what is recorded. */
static void over(int kind)
{
	uint64_t ns = now() - truth[kind].from;

	truth[kind].most = ns > truth[kind].most ? ns : truth[kind].most;
	truth[kind].least = !truth[kind].n || ns < truth[kind].least ? ns : truth[kind].least;
	truth[kind].n++;
}

static void begun(int kind)
{
	truth[kind].from = now();
}

static void *other(void *arg)
{
	for (int i = 0; i < 40; i++) {
		sem_wait(&go);
		tarry_async_end("handoff", handed);
		sem_post(&done);
	}
	return NULL;
}

__attribute__((noinline)) int work(int a, long b) /* traced by name */
{
	spin(20000);
	__asm__ volatile("" ::: "memory");
	return a + (int)b;
}

static void all(void)
{
	pthread_t t;
	int sum = 0;

	sem_init(&go, 0, 0);
	sem_init(&done, 0, 0);
	pthread_create(&t, NULL, other, NULL);
	for (int i = 0; i < 40; i++) {
		begun(ROUND);
		tarry_begin("round");
		begun(REQUEST);
		tarry_async_begin("request", i);
		handed = 1000 + i;
		begun(HANDOFF);
		tarry_async_begin("handoff", handed);
		begun(LOAD);
		tarry_begin("load");
		spin(50000);
		begun(PARSE);
		tarry_begin("parse");
		sum += work(i, 7);
		tarry_end();
		over(PARSE);
		tarry_end();
		over(LOAD);
		sem_post(&go);
		sem_wait(&done);
		over(HANDOFF);
		tarry_async_end("request", i);
		over(REQUEST);
		tarry_counter("sum", sum);
		tarry_end();
		over(ROUND);
	}
	tarry_instant("all done");
	pthread_join(t, NULL);
	for (int i = 0; i < KINDS; i++)
		printf("%s %d %llu %llu\n", names[i], truth[i].n,
		       (unsigned long long)truth[i].least, (unsigned long long)truth[i].most);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char line[64];

	if (argc > 1 && !strcmp(argv[1], "exec")) {
		tarry_begin("before exec");
		execl(argv[0], argv[0], (char *)NULL);
		return 1;
	}
	if (argc > 1 && !strcmp(argv[1], "wait")) {
		puts("up");
		fflush(stdout);
		tarry_begin("open before");
		if (!fgets(line, sizeof(line), stdin))
			return 1;
		tarry_end();
		all();
		while (fgets(line, sizeof(line), stdin))
			;
		return 0;
	}
	all();
	return 0;
}
