/* SPDX-License-Identifier: MIT */
/*
 * As a JIT compiler does: code that is written, run and written over, listed in a jitdump
 * (jit-PID.dump in the directory of the first argument) and in /tmp/perf-PID.map. Prints its pid.
 * "first" runs 3 times, "second" at the same place 5 times, "moved" (the second, moved) twice;
 * "listed" and "either", which only the map has, 4 times each: "either" has a place that "or" has,
 * too.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { LOAD, MOVE, DEBUG_INFO, SIZE = 6, PAGE = 4096 };

static FILE *dump;
static unsigned char *code;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void put(uint64_t v, size_t n)
{
	fwrite(&v, n, 1, dump);
}

static void head(int id, size_t body)
{
	put((uint64_t)id, 4);
	put(16 + body, 4);
	put(now(), 8);
}

static void ids(void)
{
	put((uint64_t)getpid() | (uint64_t)getpid() << 32, 8);
}

/* mov $n, %eax; ret */
static void write_code(unsigned char *at, unsigned char n)
{
	unsigned char insns[SIZE] = {0xb8, n, 0, 0, 0, 0xc3};

	memcpy(at, insns, SIZE);
}

static void load(const char *name, unsigned char *at, unsigned char n)
{
	write_code(at, n);
	head(LOAD, 40 + strlen(name) + 1 + SIZE);
	ids();
	put((uintptr_t)at, 8);
	put((uintptr_t)at, 8);
	put(SIZE, 8);
	put(n, 8);
	fwrite(name, strlen(name) + 1, 1, dump);
	fwrite(at, SIZE, 1, dump);
}

/* Its two instructions are the lines 10 and 11 of a file; before it is loaded. */
static void lines(const char *file, const unsigned char *at)
{
	head(DEBUG_INFO, 2 * 8 + 2 * 16 + strlen(file) + 1 + 2);
	put((uintptr_t)at, 8);
	put(2, 8);
	put((uintptr_t)at, 8);
	put(10, 8);
	fwrite(file, strlen(file) + 1, 1, dump);
	put((uintptr_t)at + 5, 8);
	put(11, 8);
	fwrite("\xff", 2, 1, dump);
}

static void move(unsigned char *from, unsigned char *to, unsigned char n)
{
	write_code(to, n);
	head(MOVE, 48);
	ids();
	put((uintptr_t)to, 8);
	put((uintptr_t)from, 8);
	put((uintptr_t)to, 8);
	put(SIZE, 8);
	put(n, 8);
}

static void run(const unsigned char *at, int times, int wanted)
{
	for (volatile int i = 0; i < times; i++)
		if (((int (*)(void))(uintptr_t)at)() != wanted)
			exit(1);
}

int main(int argc, char **argv)
{
	char path[4096];
	FILE *map;

	if (argc < 2)
		return 2;
	printf("%d\n", (int)getpid());
	fflush(stdout);
	snprintf(path, sizeof(path), "%s/jit-%d.dump", argv[1], (int)getpid());
	dump = fopen(path, "w+");
	code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (!dump || code == MAP_FAILED)
		return 1;
	put(0x4a695444, 4); /* magic, version, size of this, machine (x86-64), padding */
	put(1, 4);
	put(40, 4);
	put(62, 4);
	put(0, 4);
	put((uint64_t)getpid(), 4);
	put(now(), 8);
	put(0, 8);
	fflush(dump);
	/* So that it is found. */
	if (mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
		return 1;
	lines("first.js", code);
	load("first", code, 1);
	run(code, 3, 1);
	load("second", code, 2);
	run(code, 5, 2);
	move(code, code + 64, 2);
	run(code + 64, 2, 2);
	write_code(code + 128, 3);
	write_code(code + 192, 4);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (!map)
		return 1;
	fprintf(map, "%lx %x listed\n%lx %x either\n%lx %x or\n", (unsigned long)code + 128, SIZE,
		(unsigned long)code + 192, SIZE, (unsigned long)code + 192, SIZE + 1);
	run(code + 128, 4, 3);
	run(code + 192, 4, 4);
	return fclose(map) || fclose(dump);
}
