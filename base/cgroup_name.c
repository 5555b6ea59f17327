/* SPDX-License-Identifier: MIT */
/*
 * See cgroup_name.h. The paths are those of the runtimes' two cgroup drivers: systemd
 * (docker-ID.scope, cri-containerd-ID.scope, crio-ID.scope, libpod-ID.scope, machine-NAME.scope)
 * and cgroupfs (docker/ID, kubepods/.../podUID/ID, libpod_parent/libpod-ID, lxc.payload.NAME). ID
 * is 64 hex digits, of which the runtimes' own tools show 12.
 */
#include "cgroup_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { ID = 64, ID_SHOWN = 12 };

static const struct {
	const char *prefix, *runtime;
	bool named; /* a name instead of an id */
} runtimes[] = {{"docker-", "docker", false},	   {"cri-containerd-", "containerd", false},
		{"nerdctl-", "containerd", false}, {"crio-", "crio", false},
		{"libpod-", "podman", false},	   {"lxc.payload.", "lxc", true},
		{"machine-", "machine", true}};

static bool is_id(const char *s, size_t n)
{
	for (size_t i = 0; i < ID && i < n; i++)
		if (!isxdigit((unsigned char)s[i]))
			return false;
	return n == ID;
}

static bool ends_with(const char *s, size_t n, const char *end)
{
	const size_t k = strlen(end);

	return n > k && !memcmp(s + n - k, end, k);
}

static void put(char out[TY_CGROUP_NAME_MAX], const char *before, const char *colon, const char *s,
		size_t n)
{
	const size_t room = TY_CGROUP_NAME_MAX - 1 - strlen(before) - strlen(colon);

	snprintf(out, TY_CGROUP_NAME_MAX, "%s%s%.*s%s", before, colon,
		 (int)(n > room ? room - 3 : n), s, n > room ? "..." : "");
}

/* A part of the path, and the one before it. */
static bool container(const char *s, size_t n, const char *was, size_t was_n,
		      char out[TY_CGROUP_NAME_MAX])
{
	const bool scope = ends_with(s, n, ".scope");

	if (is_id(s, n)) {
		const bool docker = was_n == 6 && !memcmp(was, "docker", 6),
			   pod = was_n > 3 && !memcmp(was, "pod", 3);

		put(out, docker ? "docker" : pod ? "pod" : "container", ":", s, ID_SHOWN);
		return true;
	}
	for (size_t i = 0; i < sizeof(runtimes) / sizeof(*runtimes); i++) {
		const size_t k = strlen(runtimes[i].prefix), rest = n - (scope ? 6 : 0);

		if (rest <= k || memcmp(s, runtimes[i].prefix, k))
			continue;
		if (runtimes[i].named)
			put(out, runtimes[i].runtime, ":", s + k, rest - k);
		else if (is_id(s + k, rest - k))
			put(out, runtimes[i].runtime, ":", s + k, ID_SHOWN);
		else
			continue;
		return true;
	}
	return false;
}

enum ty_cgroup_kind ty_cgroup_name(const char *path, char out[TY_CGROUP_NAME_MAX])
{
	enum ty_cgroup_kind kind = TY_CGROUP_OTHER;
	const char *was = "";
	size_t was_n = 0;

	*out = 0;
	while (*path) {
		const size_t n = strcspn(path, "/");

		if (container(path, n, was, was_n, out)) {
			kind = TY_CGROUP_CONTAINER;
		} else if (kind != TY_CGROUP_CONTAINER &&
			   (ends_with(path, n, ".service") || ends_with(path, n, ".scope"))) {
			put(out, "", "", path, n);
			kind = TY_CGROUP_UNIT;
		}
		was = path;
		was_n = n;
		path += n + (path[n] == '/');
	}
	return kind;
}
