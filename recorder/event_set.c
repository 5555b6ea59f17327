/* SPDX-License-Identifier: MIT */
/*
 * See event_set.h. The defaults and their reasons: docs/design/recording.md. A default event that
 * the kernel lacks is not an error: the file and `tarry doctor` list it as skipped.
 */
#include "event_set.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum group { SYSCALLS, IDENTITY, SCHED };

static const struct {
	enum group group;
	const char *system, *event; /* event: shell pattern */
} defaults[] = {
	{SYSCALLS, "raw_syscalls", "sys_enter"},
	{SYSCALLS, "raw_syscalls", "sys_exit"},
	{IDENTITY, "sched", "sched_process_fork"},
	{IDENTITY, "sched", "sched_process_exec"},
	{IDENTITY, "sched", "sched_process_exit"},
	{IDENTITY, "task", "task_newtask"}, /* clone flags distinguish threads from processes */
	{IDENTITY, "task", "task_rename"},
	{SCHED, "sched", "sched_switch"},
	{SCHED, "sched", "sched_waking"},
	{SCHED, "sched", "sched_wakeup_new"},
	{SCHED, "sched", "sched_migrate_task"},
	{SCHED, "sched", "sched_pi_setprio"},
	{SCHED, "irq", "irq_handler_entry"},
	{SCHED, "irq", "irq_handler_exit"},
	{SCHED, "irq", "softirq_entry"},
	{SCHED, "irq", "softirq_exit"},
	{SCHED, "irq", "softirq_raise"},
	{SCHED, "irq_vectors", "*_entry"},
	{SCHED, "irq_vectors", "*_exit"},
	{SCHED, "timer", "hrtimer_expire_entry"},
	{SCHED, "block", "block_rq_issue"},
	{SCHED, "block", "block_rq_complete"},
	{SCHED, "block", "block_bio_queue"}, /* before its request; whose it is */
	{SCHED, "signal", "signal_generate"},
	{SCHED, "signal", "signal_deliver"},
	{SCHED, "lock", "contention_begin"},
	{SCHED, "lock", "contention_end"},
	/* Of all processes: the holder of a lock that a recorded thread polls. */
	{SCHED, "filelock", "posix_lock_inode"},
	{SCHED, "filelock", "flock_lock_inode"},
};

static int skip(struct ty_event_set *set, const char *system, const char *event, const char *why)
{
	char *s;

	if (asprintf(&s, "%s:%s %s", system, event, why) < 0)
		return -TY_ENOMEM;
	if (vec_push(&set->skipped, s)) {
		free(s);
		return -TY_ENOMEM;
	}
	return 0;
}

static struct ty_event_set_item *find(struct ty_event_set *set, const char *system,
				      const char *event)
{
	vec_each (it, &set->items) {
		if (!strcmp(it->system, system) && !strcmp(it->event, event))
			return it;
	}
	return NULL;
}

/* One more spec for an event that is there: it may only become more. NULL: no filter. */
static int widen(struct ty_event_set *set, struct ty_event_set_item *it, const char *filter)
{
	char *s;

	if (!filter) {
		free(it->filter);
		it->filter = NULL;
		return 0;
	}
	if (it->filter) {
		if (asprintf(&s, "(%s) || (%s)", it->filter, filter) < 0)
			return -TY_ENOMEM;
		free(it->filter);
		it->filter = s;
		return 0;
	}
	if (asprintf(&s,
		     "-e %s:%s:%s: the event is a default and recorded without filter "
		     "(--no-sched and --no-syscalls exclude the defaults)",
		     it->system, it->event, filter) < 0)
		return -TY_ENOMEM;
	if (vec_push(&set->notes, s)) {
		free(s);
		return -TY_ENOMEM;
	}
	return 0;
}

static int add(struct ty_event_set *set, const char *system, const char *event, const char *filter,
	       bool requested)
{
	struct ty_event_set_item *it = find(set, system, event), item = {0};

	if (it) {
		it->requested |= requested;
		return widen(set, it, filter);
	}
	item.system = strdup(system);
	item.event = strdup(event);
	item.filter = filter ? strdup(filter) : NULL;
	item.requested = requested;
	item.syscalls = !strcmp(system, "raw_syscalls") || !strcmp(system, "syscalls");
	if (item.system && item.event && (item.filter || !filter) && !vec_push(&set->items, item))
		return 0;
	free(item.system);
	free(item.event);
	free(item.filter);
	return -TY_ENOMEM;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Add all events of a system whose names match. How many, or -TY_ENOMEM. */
static int add_matching(struct ty_event_set *set, const char *root, const char *system,
			const char *pattern, const char *filter, bool requested)
{
	char path[TY_TRACEFS_PATH + 320];
	VEC(char *) names = {0};
	struct dirent *e;
	int n = 0, r = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%s/events/%s", root, system);
	d = opendir(path);
	if (!d)
		return 0;
	while (!r && (e = readdir(d))) {
		char *name;

		if (e->d_name[0] == '.' || fnmatch(pattern, e->d_name, 0))
			continue;
		snprintf(path, sizeof(path), "%s/enable", e->d_name);
		if (!ty_tracefs_exists(dirfd(d), path))
			continue;
		name = strdup(e->d_name);
		if (!name || vec_push(&names, name)) {
			free(name);
			r = -TY_ENOMEM;
		}
	}
	closedir(d);
	vec_sort(&names, by_name);
	vec_each (name, &names) {
		if (!r)
			r = add(set, system, *name, filter, requested);
		n++;
		free(*name);
	}
	vec_fini(&names);
	return r ? r : n;
}

static int add_spec(struct ty_event_set *set, const char *root, const char *spec,
		    struct ty_err *err)
{
	char system[128], event[128], dir[TY_TRACEFS_PATH + 320];
	const char *colon = strchr(spec, ':'), *second = colon ? strchr(colon + 1, ':') : NULL;
	size_t sn = colon ? (size_t)(colon - spec) : 0,
	       en = colon ? (second ? (size_t)(second - colon - 1) : strlen(colon + 1)) : 0;
	int n;

	if (!sn || !en || sn >= sizeof(system) || en >= sizeof(event) || memchr(spec, '/', sn) ||
	    memchr(colon, '/', en + 1) || spec[0] == '.')
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
			       "-e %s is not SYSTEM:EVENT or SYSTEM:EVENT:FILTER, as in "
			       "-e 'sched:sched_switch:prev_pid == 1'",
			       spec);
	snprintf(system, sizeof(system), "%.*s", (int)sn, spec);
	snprintf(event, sizeof(event), "%.*s", (int)en, colon + 1);
	n = add_matching(set, root, system, event, second && second[1] ? second + 1 : NULL, true);
	if (n > 0)
		return 0;
	if (n < 0)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the event list");
	snprintf(dir, sizeof(dir), "%s/events/%s", root, system);
	if (access(dir, F_OK))
		return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			       "-e %s: this kernel has no event system '%s' (%s: %s). ls %s/events "
			       "lists them",
			       spec, system, dir, strerror(errno), root);
	return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
		       "-e %s: this kernel has no event '%s' in '%s' (%s/%s: %s). ls %s lists them",
		       spec, event, system, dir, event, strerror(ENOENT), dir);
}

int ty_event_set_build(struct ty_event_set *set, const char *root, bool syscalls, bool sched,
		       const char *const *specs, size_t specs_n, struct ty_err *err)
{
	int r = 0;

	*set = (struct ty_event_set){0};
	for (size_t i = 0; i < sizeof(defaults) / sizeof(*defaults); i++) {
		if ((defaults[i].group == SYSCALLS && !syscalls) ||
		    (defaults[i].group == SCHED && !sched))
			continue;
		r = add_matching(set, root, defaults[i].system, defaults[i].event, NULL, false);
		if (!r)
			r = skip(set, defaults[i].system, defaults[i].event,
				 "this kernel does not have it");
		if (r < 0)
			return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET,
				       "out of memory for the event list");
	}
	r = 0;
	for (size_t i = 0; !r && i < specs_n; i++)
		r = add_spec(set, root, specs[i], err);
	return r;
}

int ty_event_set_add(struct ty_event_set *set, const char *system, const char *event,
		     bool requested)
{
	int r = add(set, system, event, NULL, requested);

	if (!r)
		set->items.v[set->items.n - 1].syscalls = true;
	return r;
}

void ty_event_set_fini(struct ty_event_set *set)
{
	vec_each (it, &set->items) {
		free(it->system);
		free(it->event);
		free(it->filter);
	}
	vec_each (s, &set->skipped)
		free(*s);
	vec_each (s, &set->notes)
		free(*s);
	vec_fini(&set->items);
	vec_fini(&set->skipped);
	vec_fini(&set->notes);
}

bool ty_event_set_has_syscalls(const struct ty_event_set *set)
{
	for (size_t i = 0; i < set->items.n; i++)
		if (set->items.v[i].syscalls)
			return true;
	return false;
}

static int enable(const struct ty_event_set_item *it, const struct ty_instance *inst,
		  struct ty_err *err)
{
	char kernel[300];

	if (it->filter) {
		if (ty_instance_event(inst, it->system, it->event, "filter", it->filter, NULL)) {
			int e = errno;

			if (!ty_instance_error(inst, kernel, sizeof(kernel)))
				snprintf(kernel, sizeof(kernel), "%s", strerror(e));
			return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
				       "-e %s:%s: the kernel refuses the filter: %s", it->system,
				       it->event, kernel);
		}
	}
	if (ty_instance_event(inst, it->system, it->event, "enable", "1", NULL)) {
		int e = errno;

		return ty_fail(err, e == EPERM || e == EACCES ? TY_EPERM : TY_ESYS, TY_NO_OFFSET,
			       "the kernel refuses to enable event %s:%s: %s", it->system,
			       it->event, strerror(e));
	}
	return 0;
}

int ty_event_set_enable(struct ty_event_set *set, const struct ty_instance *inst, bool syscalls,
			bool everything, struct ty_err *err)
{
	size_t keep = 0, n = set->items.n;
	int r = 0;

	for (size_t i = 0; i < n; i++) {
		struct ty_event_set_item *it = &set->items.v[i];

		if (!r && (everything || it->syscalls == syscalls)) {
			struct ty_err why = {0};

			r = enable(it, inst, &why);
			if (r && !it->requested) {
				r = skip(set, it->system, it->event, why.msg);
				free(it->system);
				free(it->event);
				free(it->filter);
				continue;
			}
			if (r)
				r = ty_fail(err, why.code, TY_NO_OFFSET, "%s", why.msg);
		}
		set->items.v[keep++] = *it;
	}
	set->items.n = keep;
	return r;
}
