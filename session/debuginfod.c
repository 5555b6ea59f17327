/* SPDX-License-Identifier: MIT */
/* See debuginfod.h. Interface: debuginfod_find_executable(3), debuginfod_find_debuginfo(3).
 */
#include "debuginfod.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

typedef int find_by_id(void *client, const unsigned char *id, int n, char **path);

struct ty_debuginfod {
	bool tried;
	void *client;
	void (*end)(void *client);
	find_by_id *executable, *names;
};

struct ty_debuginfod *ty_debuginfod_new(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && *urls ? calloc(1, sizeof(struct ty_debuginfod)) : NULL;
}

void ty_debuginfod_free(struct ty_debuginfod *d)
{
	if (!d)
		return;
	if (d->client)
		d->end(d->client);
	/* The library is never unloaded: permanent resources of it and its dependencies would
	 * leak. */
	free(d);
}

static void load(struct ty_debuginfod *d)
{
	void *lib = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL), *(*begin)(void);

	d->tried = true;
	if (!lib)
		return;
	/* POSIX returns functions this way; ISO C has no conversion. */
	*(void **)&begin = dlsym(lib, "debuginfod_begin");
	*(void **)&d->end = dlsym(lib, "debuginfod_end");
	*(void **)&d->executable = dlsym(lib, "debuginfod_find_executable");
	*(void **)&d->names = dlsym(lib, "debuginfod_find_debuginfo");
	if (begin && d->end && d->executable && d->names)
		d->client = begin();
}

int ty_debuginfod_executable(struct ty_debuginfod *d, const uint8_t *build_id, size_t n)
{
	if (!d->tried)
		load(d);
	return d->client ? d->executable(d->client, build_id, (int)n, NULL) : -1;
}

int ty_debuginfod_names(struct ty_debuginfod *d, const uint8_t *build_id, size_t n)
{
	if (!d->tried)
		load(d);
	return d->client ? d->names(d->client, build_id, (int)n, NULL) : -1;
}
