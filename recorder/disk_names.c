/* SPDX-License-Identifier: MIT */
/*
 * See disk_names.h. Formats: proc(5) (/proc/partitions, /proc/PID/mountinfo), linux
 * Documentation/ABI/testing/sysfs-block. Budget: a file per device, and two per mounted one.
 */
#include "disk_names.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "field_text.h"
#include "first_line.h"

enum { DISKS_MAX = 256, MOUNTS_MAX = 3, STACKED_MAX = 8, NAME = 64, PATH = 300 };

struct disk {
	unsigned major, minor, mounts_n;
	char name[NAME];
	struct ty_buf mounts;
};

struct disks {
	const char *root;
	unsigned n;
	struct disk v[DISKS_MAX];
};

static FILE *open_text(const struct disks *d, const char *path)
{
	char full[PATH + 256];

	snprintf(full, sizeof(full), "%s%s", d->root, path);
	return fopen(full, "re");
}

/* The first line of a file of the device in sysfs, in out; false: there is none. */
static bool attribute(const struct disks *d, unsigned major, unsigned minor, const char *name,
		      char *out, size_t size)
{
	return ty_first_line(out, size, "%s/sys/dev/block/%u:%u/%s", d->root, major, minor, name);
}

static struct disk *find(struct disks *d, unsigned major, unsigned minor)
{
	for (struct disk *k = d->v; k < d->v + d->n; k++)
		if (k->major == major && k->minor == minor)
			return k;
	return NULL;
}

static void read_devices(struct disks *d)
{
	FILE *f = open_text(d, "/proc/partitions");
	char line[PATH], name[NAME];
	unsigned long long blocks;
	unsigned major, minor;

	while (f && d->n < DISKS_MAX && fgets(line, sizeof(line), f)) {
		struct disk *k = &d->v[d->n];

		if (sscanf(line, "%u %u %llu %63s", &major, &minor, &blocks, name) != 4 || !blocks)
			continue;
		*k = (struct disk){.major = major, .minor = minor};
		if (!attribute(d, major, minor, "dm/name", k->name, NAME))
			memcpy(k->name, name, NAME);
		ty_buf_init(&k->mounts, 4096);
		d->n++;
	}
	if (f)
		fclose(f);
}

/* Adds the mount point to the device, and to those that it is a part of or lies on. */
static void add_mount(struct disks *d, unsigned major, unsigned minor, const char *at, int depth)
{
	struct disk *k = find(d, major, minor);
	char text[PATH], path[PATH];
	struct dirent *e;
	unsigned up, low;
	DIR *slaves;

	if (!k || k->mounts_n > MOUNTS_MAX)
		return;
	if (k->mounts_n++)
		ty_buf_adds(&k->mounts, ", ");
	if (k->mounts_n > MOUNTS_MAX)
		ty_buf_adds(&k->mounts, "...");
	else
		ty_escape_field(&k->mounts, at, strlen(at));
	if (depth >= STACKED_MAX)
		return;
	if (attribute(d, major, minor, "partition", text, sizeof(text)) &&
	    attribute(d, major, minor, "../dev", text, sizeof(text)) &&
	    sscanf(text, "%u:%u", &up, &low) == 2)
		add_mount(d, up, low, at, depth + 1);
	snprintf(path, sizeof(path), "%s/sys/dev/block/%u:%u/slaves", d->root, major, minor);
	slaves = opendir(path);
	while (slaves && (e = readdir(slaves))) {
		snprintf(path, sizeof(path), "slaves/%.200s/dev", e->d_name);
		if (e->d_name[0] != '.' && attribute(d, major, minor, path, text, sizeof(text)) &&
		    sscanf(text, "%u:%u", &up, &low) == 2)
			add_mount(d, up, low, at, depth + 1);
	}
	if (slaves)
		closedir(slaves);
}

/* "\040" of mountinfo is a blank; in place. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		unsigned code;

		if (*s == '\\' && sscanf(s, "\\%3o", &code) == 1 && code < 256 && strlen(s) >= 4) {
			*to++ = (char)code;
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = 0;
}

/* A file system on several devices has its own device number, and names one of the devices. */
static bool device_of_source(const struct disks *d, const char *rest, unsigned *major,
			     unsigned *minor)
{
	const char *dash = strstr(rest, " - ");
	char source[200], path[PATH];
	struct stat st;

	if (!dash || sscanf(dash, " - %*s /dev/%190s", source) != 1)
		return false;
	snprintf(path, sizeof(path), "%s/dev/%s", d->root, source);
	if (stat(path, &st) || !S_ISBLK(st.st_mode))
		return false;
	*major = major(st.st_rdev);
	*minor = minor(st.st_rdev);
	return true;
}

static void read_mounts(struct disks *d)
{
	FILE *f = open_text(d, "/proc/self/mountinfo");
	char *line = NULL;
	size_t room = 0;

	while (f && getline(&line, &room, f) > 0) {
		unsigned major, minor;
		int root = 0, at = 0, end = 0;

		if (sscanf(line, "%*d %*d %u:%u %n%*s %n%*s%n", &major, &minor, &root, &at, &end) !=
			    2 ||
		    !end)
			continue;
		/* Not a part of the file system that is bound to somewhere else. */
		if (major && strncmp(line + root, "/ ", 2))
			continue;
		if (!major && !device_of_source(d, line + end, &major, &minor))
			continue;
		line[end] = 0;
		unescape(line + at);
		add_mount(d, major, minor, line + at, 0);
	}
	free(line);
	if (f)
		fclose(f);
}

void ty_disk_names(struct ty_buf *out, const char *root)
{
	struct disks *d = calloc(1, sizeof(*d));

	if (!d)
		return;
	d->root = root;
	read_devices(d);
	read_mounts(d);
	for (struct disk *k = d->v; k < d->v + d->n; k++) {
		ty_buf_addf(out, "disk=%u %u ", k->major, k->minor);
		ty_escape_field(out, k->name, strlen(k->name));
		ty_buf_addf(out, " %.*s\n", k->mounts.failed ? 0 : (int)k->mounts.len,
			    k->mounts.len ? k->mounts.p : "");
		ty_buf_fini(&k->mounts);
	}
	free(d);
}
