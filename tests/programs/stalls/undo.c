/* SPDX-License-Identifier: MIT */
/* A System V semaphore is given back by the kernel when its taker ends; or a message comes late. */
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>

#include "plant.h"

struct message {
	long type;
	char text[8];
};

int main(int argc, char **argv)
{
	struct sembuf take = {.sem_op = -1, .sem_flg = SEM_UNDO};
	struct message msg = {.type = 1};
	bool queue;
	uint64_t t;
	pid_t p;
	int id;

	if (plant_init(argc, argv))
		return 0;
	queue = plant_pick(2);
	id = queue ? msgget(IPC_PRIVATE, 0600) : semget(IPC_PRIVATE, 1, 0600);
	if (id < 0 || (!queue && semctl(id, 0, SETVAL, 1)))
		plant_skip("no System V objects can be made here");
	p = fork();
	if (!p) {
		plant_be(&plant->culprit, the.culprit);
		if (!queue && semop(id, &take, 1))
			err(1, "semop");
		plant_turn(1);
		plant_spend_ms(the.way, the.ms);
		if (queue && msgsnd(id, &msg, sizeof(msg.text), 0))
			err(1, "msgsnd");
		_exit(0);
	}
	plant_be(&plant->victim, the.victim);
	plant_await(1);
	t = plant_begin();
	if (queue ? msgrcv(id, &msg, sizeof(msg.text), 0, 0) < 0 : semop(id, &take, 1))
		err(1, "waiting");
	plant_end(t);
	plant_work(the.after);
	waitpid(p, NULL, 0);
	queue ? msgctl(id, IPC_RMID, NULL) : semctl(id, 0, IPC_RMID);
	plant_truth(queue ? "queue" : "semaphore", queue ? "msgrcv" : "semop|semtimedop");
	return 0;
}
