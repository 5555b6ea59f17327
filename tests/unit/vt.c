/* SPDX-License-Identifier: MIT */
#include "vt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <vterm.h>

static struct {
	pid_t pid;
	int fd, w, h;
	VTerm *vt;
	VTermScreen *screen;
	uint64_t bytes;
	bool alternate, hidden, eof;
} v = {.fd = -1};

/* So long anything may take on a machine that has other things to do. */
#define WAIT_MS 30000

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int set_prop(VTermProp prop, VTermValue *val, void *user)
{
	if (prop == VTERM_PROP_ALTSCREEN)
		v.alternate = val->boolean;
	if (prop == VTERM_PROP_CURSORVISIBLE)
		v.hidden = !val->boolean;
	return 1;
}

static const VTermScreenCallbacks callbacks = {.settermprop = set_prop};

static void drop(void)
{
	if (v.fd >= 0)
		close(v.fd);
	if (v.vt)
		vterm_free(v.vt);
	v.fd = -1;
	v.vt = NULL;
}

static void run(const char *const *env, const char *const *argv)
{
	for (; *env; env++)
		putenv((char *)*env);
	execv(argv[0], (char *const *)argv);
	_exit(127);
}

/* A shell with one job, in the terminal that is file 0. */
static void shell(const char *const *env, const char *const *argv)
{
	char c = 0;
	int st = 0, times = 0;
	pid_t job;

	signal(SIGTTOU, SIG_IGN);
	job = fork();
	if (!job) {
		setpgid(0, 0);
		tcsetpgrp(0, getpid());
		signal(SIGTTOU, SIG_DFL);
		run(env, argv);
	}
	setpgid(job, job);
	tcsetpgrp(0, job);
	while (waitpid(job, &st, WUNTRACED) == job && WIFSTOPPED(st)) {
		tcsetpgrp(0, getpgrp());
		if (dprintf(1, "[stopped %d]\r\n", ++times) < 0)
			_exit(126);
		while (read(0, &c, 1) == 1 && c != '\n')
			;
		tcsetpgrp(0, job);
		kill(-job, SIGCONT);
	}
	_exit(WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st));
}

static void start(int w, int h, const char *const *env, const char *const *argv,
		  void (*child)(const char *const *env, const char *const *argv))
{
	struct winsize ws = {.ws_row = (unsigned short)h, .ws_col = (unsigned short)w};

	drop();
	memset(&v, 0, sizeof(v));
	v.w = w;
	v.h = h;
	v.vt = vterm_new(h, w);
	assert_non_null(v.vt);
	vterm_set_utf8(v.vt, 1);
	v.screen = vterm_obtain_screen(v.vt);
	vterm_screen_enable_altscreen(v.screen, 1);
	vterm_screen_set_callbacks(v.screen, &callbacks, NULL);
	vterm_screen_reset(v.screen, 1);
	v.pid = forkpty(&v.fd, NULL, NULL, &ws);
	assert_true(v.pid >= 0);
	if (!v.pid)
		child(env, argv);
}

void ty_vt_start(int w, int h, const char *const *env, const char *const *argv)
{
	start(w, h, env, argv, run);
}

void ty_vt_start_job(int w, int h, const char *const *env, const char *const *argv)
{
	start(w, h, env, argv, shell);
}

void ty_vt_send(const char *bytes, size_t n)
{
	while (n) {
		ssize_t k = write(v.fd, bytes, n);

		if (k < 0 && errno == EINTR)
			continue;
		assert_true(k > 0);
		bytes += k;
		n -= (size_t)k;
	}
}

void ty_vt_resize(int w, int h)
{
	struct winsize ws = {.ws_row = (unsigned short)h, .ws_col = (unsigned short)w};

	v.w = w;
	v.h = h;
	vterm_set_size(v.vt, h, w);
	ioctl(v.fd, TIOCSWINSZ, &ws);
}

/* Something within ms; false: nothing, or the end. */
static bool pump(int ms)
{
	struct pollfd p = {.fd = v.fd, .events = POLLIN};
	char buf[16384];
	ssize_t n;

	if (v.eof || poll(&p, 1, ms) <= 0)
		return false;
	n = read(v.fd, buf, sizeof(buf));
	if (n <= 0) {
		v.eof = true;
		return false;
	}
	v.bytes += (uint64_t)n;
	vterm_input_write(v.vt, buf, (size_t)n);
	n = (ssize_t)vterm_output_read(v.vt, buf, sizeof(buf)); /* answers to what it asked */
	if (n > 0)
		ty_vt_send(buf, (size_t)n);
	return true;
}

static size_t utf8(uint32_t c, char *out)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	out[0] = (char)(0xe0 | c >> 12);
	out[1] = (char)(0x80 | (c >> 6 & 63));
	out[2] = (char)(0x80 | (c & 63));
	return 3;
}

const char *ty_vt_screen(void)
{
	static char out[1 << 18];
	size_t n = 0;

	for (int y = 0; y < v.h; y++) {
		for (int x = 0; x < v.w; x++) {
			VTermScreenCell c;

			if (!vterm_screen_get_cell(v.screen, (VTermPos){.row = y, .col = x}, &c))
				continue;
			if (c.chars[0] == UINT32_MAX) /* right half */
				continue;
			n += utf8(c.chars[0] ? c.chars[0] : ' ', out + n);
		}
		out[n++] = '\n';
	}
	out[n] = 0;
	return out;
}

static int rgb(VTermColor *c, bool fg)
{
	if (fg ? VTERM_COLOR_IS_DEFAULT_FG(c) : VTERM_COLOR_IS_DEFAULT_BG(c))
		return -1;
	vterm_screen_convert_color_to_rgb(v.screen, c);
	return c->rgb.red << 16 | c->rgb.green << 8 | c->rgb.blue;
}

void ty_vt_dump(const char *path)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fprintf(f, "%d %d\n", v.w, v.h);
	for (int y = 0; y < v.h; y++)
		for (int x = 0; x < v.w; x++) {
			VTermScreenCell c;

			vterm_screen_get_cell(v.screen, (VTermPos){.row = y, .col = x}, &c);
			if (c.chars[0] != UINT32_MAX)
				fprintf(f, "%d %d %u %d %d %d %d\n", x, y,
					c.chars[0] ? c.chars[0] : ' ', rgb(&c.fg, true),
					rgb(&c.bg, false), c.attrs.bold, c.attrs.reverse);
		}
	fclose(f);
}

bool ty_vt_coloured(void)
{
	for (int y = 0; y < v.h; y++)
		for (int x = 0; x < v.w; x++) {
			VTermScreenCell c;

			vterm_screen_get_cell(v.screen, (VTermPos){.row = y, .col = x}, &c);
			if (!VTERM_COLOR_IS_DEFAULT_FG(&c.fg) || !VTERM_COLOR_IS_DEFAULT_BG(&c.bg))
				return true;
		}
	return false;
}

static bool until(const char *s, bool there)
{
	int64_t end = now_ms() + WAIT_MS;

	while (!v.eof && now_ms() < end) {
		if (!strstr(ty_vt_screen(), s) == !there)
			return true;
		pump(10);
	}
	return !strstr(ty_vt_screen(), s) == !there;
}

bool ty_vt_shows(const char *s)
{
	return until(s, true);
}

bool ty_vt_lacks(const char *s)
{
	return until(s, false);
}

void ty_vt_settle(int ms)
{
	while (pump(ms))
		;
}

uint64_t ty_vt_bytes(void)
{
	return v.bytes;
}

bool ty_vt_taken(void)
{
	return v.alternate && v.hidden;
}

int ty_vt_pid(void)
{
	return v.pid;
}

void ty_vt_until_writing(void)
{
	char path[40], text[64] = "", waits[40];
	size_t n = (size_t)snprintf(waits, sizeof(waits), "%d 0x%x ", SYS_write, STDOUT_FILENO);
	bool told = true;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)tcgetpgrp(v.fd));
	for (int64_t end = now_ms() + WAIT_MS; told && strncmp(text, waits, n) && now_ms() < end;
	     usleep(1000)) {
		FILE *f = fopen(path, "r");

		told = f && fgets(text, sizeof(text), f);
		if (f)
			fclose(f);
	}
}

int ty_vt_end(void)
{
	int status = -1;

	for (int64_t end = now_ms() + WAIT_MS; now_ms() < end;) {
		pump(1);
		if (waitpid(v.pid, &status, WNOHANG) == v.pid) {
			ty_vt_settle(0);
			v.eof = true;
			return status;
		}
		usleep(1000);
	}
	kill(v.pid, SIGKILL);
	waitpid(v.pid, &status, 0);
	return -1;
}
