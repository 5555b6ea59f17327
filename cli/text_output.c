/* SPDX-License-Identifier: MIT */
/* See text_output.h. */
#include "text_output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "text_page.h"

#define WIDTH	  80
#define WIDTH_MIN 20
#define WIDTH_MAX 10000

static bool is_color_word(const char *s)
{
	return s && (!strcmp(s, "auto") || !strcmp(s, "always") || !strcmp(s, "never"));
}

static int take_color(void *to, const char *arg, struct ty_err *err)
{
	if (!arg)
		arg = "always";
	if (!is_color_word(arg))
		return ty_wrong_value(err, "--color takes auto, always or never, not '%s'", arg);
	*(const char **)to = arg;
	return 0;
}

const struct ty_option ty_text_option_list[] = {
	{0, "color", "[=WHEN]",
	 "when to use color: auto (default), always or never; --color alone: always",
	 .take = take_color, .is_value = is_color_word,
	 .at = offsetof(struct ty_text_options, color)},
	{0, "no-pager", NULL, "do not page the text through $PAGER", .take = ty_take_flag,
	 .at = offsetof(struct ty_text_options, no_pager)},
	{0}};

/* Of the variable; 0: none, or no width. */
static unsigned columns_set(void)
{
	const char *s = getenv("COLUMNS");
	char *end;
	unsigned long v = s ? strtoul(s, &end, 10) : 0;

	return v >= WIDTH_MIN && v <= WIDTH_MAX && !*end ? (unsigned)v : 0;
}

static bool dumb(void)
{
	const char *term = getenv("TERM");

	return !term || !*term || !strcmp(term, "dumb");
}

static bool colored(const struct ty_text_options *opts, bool terminal)
{
	const char *no = getenv("NO_COLOR");

	if (opts->color && strcmp(opts->color, "auto"))
		return !strcmp(opts->color, "always");
	return terminal && !dumb() && !(no && *no);
}

void ty_text_output_open(struct ty_text_output *o, const struct ty_text_options *opts)
{
	struct winsize ws = {0};
	bool terminal = isatty(STDOUT_FILENO);

	*o = (struct ty_text_output){.width = columns_set()};
	ty_styles_switch(colored(opts, terminal));
	if (terminal && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) && !o->width)
		o->width = ws.ws_col >= WIDTH_MIN && ws.ws_col <= WIDTH_MAX ? ws.ws_col : 0;
	if (terminal && !o->width)
		o->width = WIDTH;
	o->height = ws.ws_row;
	if (terminal && !opts->no_pager && !dumb())
		o->held = open_memstream(&o->text, &o->n);
	o->f = ty_page_open(o->held ? o->held : stdout, o->width);
	if (!o->f)
		o->f = stdout;
}

/* Through the pager: false when there is none, or it could not be started. */
static bool paged(const struct ty_text_output *o)
{
	const char *pager = getenv("PAGER");
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	int fd[2], status = 0, r;
	sigset_t mine;
	pid_t pid;

	pager = pager ? pager : "less";
	if (!*pager || !strcmp(pager, "cat") || pipe2(fd, O_CLOEXEC))
		return false;
	setenv("LESS", "FRX", 0);
	sigemptyset(&mine);
	sigaddset(&mine, SIGINT);
	sigaddset(&mine, SIGPIPE);
	/* Ctrl-C is for the pager. A user who quits it early needs no more output. */
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, fd[0], STDIN_FILENO);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigdefault(&attr, &mine);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	r = posix_spawn(&pid, "/bin/sh", &files, &attr,
			(char *[]){(char *)"sh", (char *)"-c", (char *)pager, NULL}, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	close(fd[0]);
	for (size_t i = 0; !r && i < o->n;) {
		ssize_t n = write(fd[1], o->text + i, o->n - i);

		if (n < 0 && errno != EINTR)
			break;
		i += n > 0 ? (size_t)n : 0;
	}
	close(fd[1]);
	while (!r && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	/* The shell's words for "not found" and "cannot be executed". */
	return !r &&
	       !(WIFEXITED(status) && (WEXITSTATUS(status) == 127 || WEXITSTATUS(status) == 126));
}

int ty_text_output_close(struct ty_text_output *o, struct ty_err *err)
{
	int r = 0;

	/* A reader that has seen enough (head) is no failure. */
	if (o->f != stdout && fclose(o->f) && errno != EPIPE)
		r = ty_fail_errno(err, "standard output: write failed");
	if (o->held && fclose(o->held))
		r = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	if (o->held && !r &&
	    (!o->height || ty_page_rows(o->text, o->n, o->width) < o->height || !paged(o)))
		fwrite(o->text, 1, o->n, stdout);
	free(o->text);
	*o = (struct ty_text_output){0};
	return r ? r : ty_cli_written(err);
}
