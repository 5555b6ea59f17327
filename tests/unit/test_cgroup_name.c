/* SPDX-License-Identifier: MIT */
/* Paths as runtimes and systemd make them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cgroup_name.h"

#define ID "3f2a9c1b2d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8"

static void names(void **state)
{
	static const struct {
		const char *path, *name;
		enum ty_cgroup_kind kind;
	} of[] = {
		{"/docker/" ID, "docker:3f2a9c1b2d4e", TY_CGROUP_CONTAINER},
		{"/system.slice/docker-" ID ".scope", "docker:3f2a9c1b2d4e", TY_CGROUP_CONTAINER},
		{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice/"
		 "cri-containerd-" ID ".scope",
		 "containerd:3f2a9c1b2d4e", TY_CGROUP_CONTAINER},
		{"/kubepods/burstable/pod12-34/" ID, "pod:3f2a9c1b2d4e", TY_CGROUP_CONTAINER},
		{"/kubepods.slice/x.slice/crio-" ID ".scope", "crio:3f2a9c1b2d4e",
		 TY_CGROUP_CONTAINER},
		{"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID
		 ".scope/container",
		 "podman:3f2a9c1b2d4e", TY_CGROUP_CONTAINER},
		{"/ecs/task/" ID, "container:3f2a9c1b2d4e", TY_CGROUP_CONTAINER},
		{"/lxc.payload.web/system.slice/nginx.service", "lxc:web", TY_CGROUP_CONTAINER},
		{"/machine.slice/machine-deb.scope", "machine:deb", TY_CGROUP_CONTAINER},
		/* The monitor outside of the container. */
		{"/machine.slice/libpod-conmon-" ID ".scope",
		 "libpod-conmon-3f2a9c1b2d4e5f60718293a4b5c6d7...", TY_CGROUP_UNIT},
		/* An id is 64 digits. */
		{"/docker/3f2a9c1b2d4e", "", TY_CGROUP_OTHER},
		{"/docker-3f2a.scope", "docker-3f2a.scope", TY_CGROUP_UNIT},
		{"/docker/" ID "0", "", TY_CGROUP_OTHER},
		{"/system.slice/nginx.service", "nginx.service", TY_CGROUP_UNIT},
		{"/user.slice/user-0.slice/user@0.service/app.slice/a.service", "a.service",
		 TY_CGROUP_UNIT},
		{"/user.slice/user-0.slice/session-3.scope", "session-3.scope", TY_CGROUP_UNIT},
		{"/init.scope", "init.scope", TY_CGROUP_UNIT},
		{"/.service", "", TY_CGROUP_OTHER},
		{"/lxc.payload.", "", TY_CGROUP_OTHER},
		{"/user.slice", "", TY_CGROUP_OTHER},
		{"/", "", TY_CGROUP_OTHER},
		{"", "", TY_CGROUP_OTHER},
	};
	char out[TY_CGROUP_NAME_MAX];

	for (unsigned i = 0; i < sizeof(of) / sizeof(*of); i++) {
		assert_int_equal(ty_cgroup_name(of[i].path, out), of[i].kind);
		assert_string_equal(out, of[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(names)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
