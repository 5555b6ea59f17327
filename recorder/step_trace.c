/* SPDX-License-Identifier: MIT */
/*
 * See step_trace.h. The single-stepper is a separate process, so that its stops and the command's
 * exit do not share one waitpid, and nothing in the recorder can delay a thread. Frames come
 * through a pipe; a thread of the recorder writes them to the spool.
 */
#include "step_trace.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "full_io.h"
#include "meta_writer.h"
#include "step_priv.h"

#define FRAME_MAX (128u << 20)

struct reader {
	pthread_t thread;
	struct ty_step *s;
	struct ty_meta meta;
};

static bool get_frame(int fd, uint32_t *kind, struct ty_buf *b)
{
	uint32_t head[2];

	ty_buf_reset(b);
	if (!ty_exact_read(fd, head, sizeof(head), TY_IO_HERE) || ty_buf_reserve(b, head[1]) ||
	    !ty_exact_read(fd, b->p, head[1], TY_IO_HERE))
		return false;
	b->len = head[1];
	b->p[b->len] = 0;
	*kind = head[0];
	return true;
}

int ty_step_start(struct ty_step *s, const struct ty_step_opts *o, pid_t pid, struct ty_err *err)
{
	uint32_t kind = TY_FRAME_FAILED;
	struct ty_buf b;
	int fds[2], r = 0;

	*s = (struct ty_step){.in = -1};
	if (pipe2(fds, O_CLOEXEC))
		return ty_fail_errno(err, "cannot create a pipe");
	s->pid = fork();
	if (!s->pid) {
		sigset_t none;
		int oom = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

		/* The kernel would kill the command with it (step_engine.c). */
		if (oom >= 0) {
			(void)!write(oom, "-1000", 5);
			close(oom);
		}
		close(fds[0]);
		/* Ctrl-C is for the command; the recorder decides when to end. */
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		signal(SIGPIPE, SIG_IGN);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		prctl(PR_SET_NAME, "tarry-step");
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		_exit(ty_step_engine(pid, o, fds[1]));
	}
	close(fds[1]);
	s->in = fds[0];
	if (s->pid < 0) {
		s->pid = 0;
		r = ty_fail_errno(err, "cannot fork");
		ty_step_finish(s);
		return r;
	}
	ty_buf_init(&b, FRAME_MAX);
	if (!get_frame(s->in, &kind, &b) || kind != TY_FRAME_READY) {
		r = ty_fail(err, TY_ESYS, TY_NO_OFFSET, "%s",
			    b.len ? b.p : "tarry-step exited immediately: run tarry doctor");
		ty_step_finish(s);
	}
	ty_buf_fini(&b);
	return r;
}

static void *reader_main(void *arg)
{
	struct reader *rd = arg;
	struct ty_step *s = rd->s;
	struct ty_step_end end = {0};
	bool ended = false;
	uint32_t kind;
	struct ty_buf b;

	ty_buf_init(&b, FRAME_MAX);
	while (get_frame(s->in, &kind, &b)) {
		int r = 0;

		if (kind == TY_FRAME_PERF || kind == TY_FRAME_CODE)
			r = s->lost ? 0
				    : ty_meta_section(&rd->meta,
						      kind == TY_FRAME_PERF ? TY_SEC_PERF
									    : TY_SEC_CODE,
						      b.p, b.len, NULL);
		else if (kind == TY_FRAME_END && b.len == sizeof(end))
			ended = memcpy(&end, b.p, sizeof(end));
		if (r)
			s->lost = true;
	}
	ty_buf_fini(&b);
	s->insns = end.insns;
	s->held = end.held;
	s->unset = end.unset;
	s->unset_why = end.unset_why;
	s->refused = end.refused;
	/* Killed, or out of memory. */
	s->lost |= !ended;
	return NULL;
}

int ty_step_collect(struct ty_step *s, struct ty_spool *spool, struct ty_err *err)
{
	struct reader *rd = calloc(1, sizeof(*rd));
	int r;

	if (!rd)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	rd->s = s;
	r = ty_meta_init(&rd->meta, spool, err);
	if (!r && pthread_create(&rd->thread, NULL, reader_main, rd)) {
		r = ty_fail(err, TY_ESYS, TY_NO_OFFSET, "cannot start a thread");
		ty_meta_fini(&rd->meta);
	}
	if (r)
		free(rd);
	else
		s->reader = rd;
	return r;
}

void ty_step_finish(struct ty_step *s)
{
	struct reader *rd = s->reader;

	if (s->pid > 0)
		kill(s->pid, SIGTERM);
	if (rd) {
		pthread_join(rd->thread, NULL);
		ty_meta_fini(&rd->meta);
		free(rd);
		s->reader = NULL;
	}
	/* The pipe has no reader any more: the child's next write fails, and it ends. */
	if (s->in >= 0)
		close(s->in);
	s->in = -1;
	if (s->pid > 0 && !s->held)
		waitpid(s->pid, NULL, 0);
	s->pid = 0;
}
