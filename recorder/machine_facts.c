/* SPDX-License-Identifier: MIT */
#include "machine_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "disk_names.h"
#include "field_text.h"
#include "first_line.h"
#include "now.h"

void ty_fact(struct ty_buf *b, const char *key, const char *value)
{
	ty_buf_addf(b, "%s=", key);
	ty_escape_field(b, value, strlen(value));
	ty_buf_addc(b, '\n');
}

void ty_fact_u64(struct ty_buf *b, const char *key, uint64_t value)
{
	ty_buf_addf(b, "%s=%" PRIu64 "\n", key, value);
}

bool ty_file_has(const char *path, const char *text)
{
	FILE *f = fopen(path, "re");
	char line[8192];
	bool has = false;

	if (!f)
		return false;
	while (!has && fgets(line, sizeof(line), f))
		has = strstr(line, text);
	fclose(f);
	return has;
}

void ty_cpu_model(char *out, size_t size)
{
	char line[1024], implementer[64] = "", part[64] = "";
	FILE *f = fopen("/proc/cpuinfo", "re");

	out[0] = 0;
	if (!f)
		return;
	while (!out[0] && fgets(line, sizeof(line), f)) {
		char *v = strchr(line, ':');

		line[strcspn(line, "\n")] = 0;
		if (!v)
			continue;
		v += strspn(v, ": \t");
		if (!strncmp(line, "model name", 10))
			snprintf(out, size, "%s", v);
		else if (!strncmp(line, "CPU implementer", 15))
			snprintf(implementer, sizeof(implementer), "%s", v);
		else if (!strncmp(line, "CPU part", 8))
			snprintf(part, sizeof(part), "%s", v);
	}
	fclose(f);
	if (!out[0] && implementer[0])
		snprintf(out, size, "implementer %s part %s", implementer, part);
}

void ty_machine_facts(struct ty_buf *b)
{
	struct timespec tick;
	struct utsname u;
	char text[4096];

	ty_fact(b, "tarry", TY_VERSION);
	if (!uname(&u)) {
		ty_fact(b, "host", u.nodename);
		ty_fact(b, "kernel", u.release);
		ty_fact(b, "arch", u.machine);
	}
	ty_first_line(text, sizeof(text), "/sys/devices/system/cpu/online");
	ty_fact(b, "cpus", text);
	ty_first_line(text, sizeof(text), "/sys/devices/system/cpu/possible");
	ty_fact(b, "possible_cpus", text);
	ty_cpu_model(text, sizeof(text));
	ty_fact(b, "cpu_model", text);
	/* The resolution of a coarse clock is a jiffy (kernel/time/hrtimer.c, LOW_RES_NSEC). */
	if (!clock_getres(CLOCK_MONOTONIC_COARSE, &tick) && !tick.tv_sec)
		ty_fact_u64(b, "tick_ns", (uint64_t)tick.tv_nsec);
	ty_first_line(text, sizeof(text), "/sys/devices/system/cpu/nohz_full");
	if (text[0] >= '0' && text[0] <= '9') /* "(null)" where there are none */
		ty_fact(b, "nohz_full", text);
	ty_fact_u64(b, "mem_bytes",
		    (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
	ty_fact_u64(b, "page_size", (uint64_t)sysconf(_SC_PAGESIZE));
	ty_disk_names(b, "");
	if (getcwd(text, sizeof(text)))
		ty_fact(b, "cwd", text);
	ty_fact_u64(b, "start_realtime_ns", ty_now_ns(CLOCK_REALTIME));
}

static bool plain(const char *s)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "_-./:=,@%+^";

	return *s && strspn(s, safe) == strlen(s);
}

void ty_shell_quote(struct ty_buf *b, char *const *argv)
{
	for (char *const *a = argv; *a; a++) {
		bool control = false;

		if (a != argv)
			ty_buf_addc(b, ' ');
		if (plain(*a)) {
			ty_buf_adds(b, *a);
			continue;
		}
		for (const unsigned char *p = (const unsigned char *)*a; *p; p++)
			control |= *p < ' ' || *p == 127;
		ty_buf_adds(b, control ? "$'" : "'");
		for (const unsigned char *p = (const unsigned char *)*a; *p; p++) {
			if (control && (*p < ' ' || *p == 127))
				ty_buf_addf(b, "\\%03o", *p);
			else if (*p == '\'')
				ty_buf_adds(b, control ? "\\'" : "'\\''");
			else if (control && *p == '\\')
				ty_buf_adds(b, "\\\\");
			else
				ty_buf_addc(b, (char)*p);
		}
		ty_buf_addc(b, '\'');
	}
}
