/* SPDX-License-Identifier: MIT */
/*
 * The short name of a cgroup, by its path as /proc/PID/cgroup has it: docker:3f2a9c1b2d4e,
 * nginx.service. Of a container the innermost one counts, and it goes before a unit within it.
 */
#ifndef TY_CGROUP_NAME_H
#define TY_CGROUP_NAME_H

enum ty_cgroup_kind {
	TY_CGROUP_OTHER,    /* it has no short name */
	TY_CGROUP_UNIT,	    /* of systemd: a service or a scope */
	TY_CGROUP_CONTAINER /* of docker, containerd, CRI-O, podman, LXC or systemd-nspawn; "pod:"
			     * and "container:" where the path does not say of which */
};
enum { TY_CGROUP_NAME_MAX = 48 };

/* out: "" for OTHER; what is longer ends with "...". */
enum ty_cgroup_kind ty_cgroup_name(const char *path, char out[TY_CGROUP_NAME_MAX]);

#endif
