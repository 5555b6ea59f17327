/* SPDX-License-Identifier: MIT */
/* See pt_caps.h. Facts: /sys/bus/event_source/devices/intel_pt, /proc/cpuinfo. */
#include "pt_caps.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "first_line.h"
#include "machine_facts.h"

#define PMU "/sys/bus/event_source/devices/intel_pt"

bool ty_pt_caps_have(void)
{
	return !access(PMU "/type", R_OK);
}

void ty_pt_caps_why_not(char *out, size_t size)
{
	const char *why;

	if (ty_pt_caps_have())
		why = "tarry record --flow records it";
	else if (!ty_file_has("/proc/cpuinfo", "GenuineIntel"))
		why = "this is not an Intel CPU";
	else if (ty_file_has("/proc/cpuinfo", " intel_pt"))
		why = "the CPU has Intel PT, but the kernel has no driver for it: "
		      "CONFIG_PERF_EVENTS_INTEL "
		      "is missing, or KVM keeps it for its guests";
	else if (ty_file_has("/proc/cpuinfo", " hypervisor"))
		why = "hidden by the hypervisor: use a bare-metal machine, or KVM with "
		      "kvm_intel.pt_mode=1";
	else
		why = "this Intel CPU has no Intel PT, or the firmware has switched it off";
	snprintf(out, size, "%s", why);
}

void ty_pt_caps_text(char *out, size_t size)
{
	struct dirent *e;
	DIR *d = opendir(PMU "/caps");
	size_t n = 0;

	*out = 0;
	while (d && (e = readdir(d)) != NULL) {
		char value[32];

		if (e->d_name[0] == '.' ||
		    !ty_first_line(value, sizeof(value), PMU "/caps/%s", e->d_name) ||
		    !strcmp(value, "0") || n >= size)
			continue;
		n += (size_t)snprintf(out + n, size - n, "%s%s%s%s", n ? ", " : "", e->d_name,
				      strcmp(value, "1") ? "=" : "",
				      strcmp(value, "1") ? value : "");
	}
	if (d)
		closedir(d);
}
