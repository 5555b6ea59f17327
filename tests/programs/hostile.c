/* SPDX-License-Identifier: MIT */
/* Names that a terminal takes for commands, wherever a program may choose them: of threads, files,
 * sockets, functions and the program itself. hostile DIR. The function's name is written over in
 * the built program (hostile_text.sh). */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Escape, a newline with what looks like another line, a right-to-left override, bytes that are no
 * UTF-8, the C1 control CSI. */
#define EVIL "\033[31m\nFORGED\xe2\x80\xae\xff\xc2\x9b"

static char path[4096];

__attribute__((noinline)) void EVIL_NAME_FUNCTION(const char *s, int fd)
{
	__asm__ volatile("" : : "r"(s), "r"(fd) : "memory");
	if (write(fd, s, strlen(s)) < 0)
		_exit(3);
}

static void *waits(void *arg)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	prctl(PR_SET_NAME, "T\033\nFORG\xe2\x80\xae\xffx");
	if (fd < 0 || flock(fd, LOCK_EX) || close(fd)) /* the other one waits for it, too */
		_exit(4);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	pthread_t t;
	int fd, s, status;
	pid_t p;

	prctl(PR_SET_NAME, "M\033\nFORG\xe2\x80\xae\xffx");
	snprintf(path, sizeof(path), "%s/f" EVIL, argv[1]);
	fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX))
		return 1;
	EVIL_NAME_FUNCTION("data " EVIL "\n", fd);
	p = fork();
	if (!p) {
		waits(NULL);
		_exit(0);
	}
	if (pthread_create(&t, NULL, waits, NULL))
		return 1;
	s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "s" EVIL);
	connect(s, (struct sockaddr *)&a, sizeof(a));
	usleep(300000);
	flock(fd, LOCK_UN);
	if (pthread_join(t, NULL) || waitpid(p, &status, 0) != p)
		return 1;
	unlink(path);
	return status ? 1 : 0;
}
