/* SPDX-License-Identifier: MIT */
/*
 * A semaphore that serves as a lock: one thread holds it for long, others which have work of their
 * own want it meanwhile. The program waits for the holder's end, not for theirs.
 */
#include <semaphore.h>
#include <sys/ipc.h>
#include <sys/sem.h>

#include "plant.h"

#define OTHERS 2

static sem_t *sem;
static int sysv = -1;
static unsigned rounds;
static const char *names[OTHERS];

static void take(void)
{
	static struct sembuf op = {0, -1, SEM_UNDO};

	if (sysv >= 0 ? semop(sysv, &op, 1) : sem_wait(sem))
		err(1, "semaphore");
}

static void give(void)
{
	static struct sembuf op = {0, 1, SEM_UNDO};

	if (sysv >= 0 ? semop(sysv, &op, 1) : sem_post(sem))
		err(1, "semaphore");
}

static void round_of(unsigned hold_ms)
{
	take();
	plant_spin_ms(1);
	if (hold_ms)
		plant_sleep_us(hold_ms * 1000);
	give();
}

static void holder(void)
{
	plant_be(&plant->culprit, the.culprit);
	for (unsigned i = 0; i < rounds; i++) {
		round_of(0);
		plant_sleep_us(1500);
	}
	take();
	plant_turn(1);
	plant_sleep_us(the.ms * 1000);
	give();
	plant_work(3 * rounds + 4);
	plant_turn(2);
}

/* Works, with a short turn now and then, until the holder is done. */
static void wants(bool victim)
{
	uint64_t longest = 0, t, ns;

	if (!rounds)
		plant_await(1);
	do {
		t = plant_begin();
		round_of(0);
		ns = plant_begin() - t;
		if (victim && ns > longest) {
			longest = ns;
			plant_end(t);
		}
		plant_work(2);
		plant_sleep_us(1000);
	} while (rounds && atomic_load(&plant->turn) < 2);
}

static void victim(void)
{
	plant_be(&plant->victim, the.victim);
	wants(true);
}

static _Atomic unsigned *next;

static void other(void)
{
	unsigned i = atomic_fetch_add(next, 1);

	plant_be(&plant->hop[i], names[i]);
	wants(false);
}

int main(int argc, char **argv)
{
	struct plant_part v, h, o[OTHERS];
	enum plant_as as = PLANT_THREAD;
	unsigned others = 0;

	if (plant_init(argc, argv))
		return 0;
	sem = (void *)plant->own;
	next = (void *)(plant->own + 1024);
	sem_init(sem, 1, 1);
	for (unsigned i = 0; i < OTHERS; i++)
		names[i] = plant_new_name();
	switch (plant_pick(3)) {
	case 0: break; /* two threads, once */
	case 1:	       /* two processes, again and again */
		sysv = semget(IPC_PRIVATE, 1, 0600);
		if (sysv < 0 || semctl(sysv, 0, SETVAL, 1))
			plant_skip("this kernel has no System V semaphores");
		as = PLANT_CHILD;
		rounds = plant_between(10, 20);
		break;
	default: others = OTHERS; /* each passes it to the next */
	}
	plant_start(&h, as, holder);
	plant_start(&v, as, victim);
	for (unsigned i = 0; i < others; i++)
		plant_start(&o[i], PLANT_THREAD, other);
	plant_finish(&h);
	plant_finish(&v);
	for (unsigned i = 0; i < others; i++)
		plant_finish(&o[i]);
	if (sysv >= 0)
		semctl(sysv, 0, IPC_RMID);
	plant_truth("turns", sysv >= 0 ? "semop|semtimedop" : "futex");
	return 0;
}
