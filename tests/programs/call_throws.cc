/* SPDX-License-Identifier: MIT */
/*
 * As call_traps.c, what C++ exceptions leave: thrown through several calls, with destructors on the
 * way (landing pads that clean up), caught and thrown again, thrown while one is handled, out of a
 * recursion in which every level cleans up. main is level 0.
 */
#include <stdexcept>

#define NOINLINE __attribute__((noinline))
#define KEEP	 __asm__ volatile("" ::: "memory")

static volatile int counts[8];

#define AT(n)                                                                                      \
	extern "C" NOINLINE void at##n()                                                           \
	{                                                                                          \
		counts[n] = counts[n] + 1;                                                         \
		KEEP;                                                                              \
	}
AT(1) AT(2) AT(3) AT(4) AT(5)

struct cleans_1 { NOINLINE ~cleans_1() { at3(); KEEP; } }; /* an object of a function at level 1 */
struct cleans_2 { NOINLINE ~cleans_2() { at4(); KEEP; } };

extern "C" NOINLINE int throws(int n)
{
	if (n >= 0)
		throw std::runtime_error("x");
	return n;
}

/* Level 3 and below, without a destructor. */
extern "C" NOINLINE int passes(int n)
{
	int r = n ? passes(n - 1) : throws(n);

	KEEP;
	return r + 1;
}

/* Level 2, with one. */
extern "C" NOINLINE int cleans(int n)
{
	cleans_2 c;
	int r = passes(n);

	KEEP;
	return r;
}

extern "C" NOINLINE int through()
{
	int got = 0;

	for (int i = 0; i < 2; i++) {
		try {
			cleans_1 c;

			got += cleans(2);
		} catch (const std::exception &) {
			at2();
			got++;
		}
		at2();
	}
	KEEP;
	return got;
}

/* Level 2: catches, and throws it again. */
extern "C" NOINLINE int rethrows()
{
	int r;

	try {
		r = passes(1);
	} catch (const std::runtime_error &) {
		at3();
		throw;
	}
	KEEP;
	return r;
}

extern "C" NOINLINE int again()
{
	int got = 0;

	try {
		got += rethrows();
	} catch (...) {
		at2();
		/* One more while this one is handled. */
		try {
			got += passes(0);
		} catch (...) {
			at2();
			got++;
		}
		at2();
	}
	at2();
	KEEP;
	return got;
}

struct counted {
	int n;
	NOINLINE ~counted() { counts[0] = counts[0] + n; KEEP; }
};

/* Levels 2 to 5: each cleans up, none catches. */
extern "C" NOINLINE int recursion(int n)
{
	counted c = {1};
	int r;

	if (!n)
		throw 1;
	r = recursion(n - 1);
	KEEP;
	return r + c.n;
}

extern "C" NOINLINE int out_of_recursion()
{
	int got = 0;

	try {
		got += recursion(3);
	} catch (int) {
		at2();
		got++;
	}
	at2();
	KEEP;
	return got;
}

int main()
{
	int got = through();

	at1();
	got += again();
	at1();
	got += out_of_recursion();
	at1();
	return got == 4 && counts[0] == 4 ? 0 : 1;
}
