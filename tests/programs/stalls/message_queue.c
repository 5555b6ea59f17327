/* SPDX-License-Identifier: MIT */
/* The client waits for its answer in a message queue: POSIX or System V. */
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>

#include "service.h"

static mqd_t there = -1, back = -1;
static int sysv = -1;

struct message {
	long type;
	char text[8];
};

static void put(bool answers)
{
	struct message g = {answers ? 2 : 1, "text"};

	if (sysv >= 0 ? msgsnd(sysv, &g, sizeof(g.text), 0)
		      : mq_send(answers ? back : there, g.text, sizeof(g.text), 0))
		err(1, "message");
}

static void get(bool answers)
{
	struct message g;

	if ((sysv >= 0 ? msgrcv(sysv, &g, sizeof(g.text), answers ? 2 : 1, 0)
		       : mq_receive(answers ? back : there, g.text, sizeof(g.text), NULL)) < 0)
		err(1, "message");
}

static void ask(void)
{
	put(false);
}

static void take(void)
{
	get(true);
}

static void hear(void)
{
	get(false);
}

static void answer(void)
{
	put(true);
}

static mqd_t queue(const char *what)
{
	struct mq_attr a = {.mq_maxmsg = 4, .mq_msgsize = 8};
	char name[64];
	mqd_t q;

	snprintf(name, sizeof(name), "/%s-%s-%d", the.victim, what, getpid());
	q = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &a);
	mq_unlink(name);
	return q;
}

int main(int argc, char **argv)
{
	if (plant_init(argc, argv))
		return 0;
	if (plant_pick(2)) {
		sysv = msgget(IPC_PRIVATE, 0600);
		if (sysv < 0)
			plant_skip("this kernel has no System V message queues");
	} else {
		there = queue("there"), back = queue("back");
		if (there < 0 || back < 0)
			plant_skip("this kernel has no POSIX message queues");
	}
	service_run();
	if (sysv >= 0)
		msgctl(sysv, IPC_RMID, NULL);
	plant_truth("queue", sysv >= 0 ? "msgrcv" : "mq_timedreceive");
	return 0;
}
