/* SPDX-License-Identifier: MIT */
/* Stop-the-world: threads compute until one of them requests a service thread to work alone; the
 * others stop where they are until that is done. */
#include "plant.h"

#include <linux/futex.h>

#define N 3

static _Atomic int stop, asked, resumed, ended;
static unsigned rounds;

static void futex_wait(_Atomic int *word, int value)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(_Atomic int *word, int n)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}

/* Stand still until the service thread is done. */
static void safepoint(void)
{
	int round = atomic_load(&resumed);

	while (atomic_load(&stop) && atomic_load(&resumed) == round)
		futex_wait(&resumed, round);
}

static void service(void)
{
	plant_be(&plant->culprit, the.culprit);
	while (!atomic_load(&ended)) {
		futex_wait(&asked, 0);
		if (!atomic_load(&asked))
			continue;
		atomic_store(&stop, 1);
		plant_spin_ms(the.ms);
		atomic_store(&asked, 0);
		atomic_store(&stop, 0);
		atomic_fetch_add(&resumed, 1);
		futex_wake(&resumed, N + 1);
	}
}

static void mutator(void)
{
	static _Atomic int n;
	int i = atomic_fetch_add(&n, 1);

	plant_be(&plant->hop[i], the.victim);
	while (!atomic_load(&ended)) {
		plant_spin_ms(1);
		plant_sleep_us(1000);
		if (atomic_load(&stop))
			safepoint();
	}
}

static void asker(void)
{
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	for (unsigned i = 0; i < rounds; i++) {
		int round = atomic_load(&resumed);

		plant_work(20 + the.before);
		t = plant_begin();
		atomic_store(&asked, 1);
		futex_wake(&asked, 1);
		while (atomic_load(&resumed) == round)
			futex_wait(&resumed, round);
		if (plant_begin() - t > plant->duration_ns) /* the longest of the rounds */
			plant_end(t);
	}
	plant_work(the.after);
	atomic_store(&ended, 1);
	atomic_store(&asked, 1);
	futex_wake(&asked, 1);
}

int main(int argc, char **argv)
{
	struct plant_part p[N], s, a;

	if (plant_init(argc, argv))
		return 0;
	rounds = plant_between(1, 2);
	plant_start(&s, PLANT_THREAD, service);
	for (int i = 0; i < N; i++)
		plant_start(&p[i], PLANT_THREAD, mutator);
	plant_start(&a, PLANT_THREAD, asker);
	plant_finish(&a);
	for (int i = 0; i < N; i++)
		plant_finish(&p[i]);
	plant_finish(&s);
	plant_truth("gate", "futex");
	return 0;
}
