/* SPDX-License-Identifier: MIT */
/* See pt_conf.h; and whether libipt is there. */
#include "pt_conf.h"

#ifdef TY_HAVE_IPT

#include <stdio.h>

enum { MTC_FREQ_MAX = 15 }; /* four bits of the register */

bool ty_pt_available(void)
{
	return true;
}

const char *ty_pt_version(void)
{
	static char text[32];
	struct pt_version v = pt_library_version();

	snprintf(text, sizeof(text), "%u.%u", v.major, v.minor);
	return text;
}

void ty_pt_conf(struct pt_config *conf, const struct ty_pt_cpu *cpu, const uint8_t *bytes, size_t n)
{
	pt_config_init(conf);
	conf->begin = (uint8_t *)bytes; /* libipt's encoder shares the type; it only reads */
	conf->end = n ? conf->begin + n : conf->begin; /* of errata alone: of no bytes */
	if (cpu->family) {
		conf->cpu.vendor = pcv_intel;
		conf->cpu.family = cpu->family;
		conf->cpu.model = cpu->model;
		conf->cpu.stepping = cpu->stepping;
		/* An unknown CPU has no known errata. */
		(void)pt_cpu_errata(&conf->errata, &conf->cpu);
	}
	conf->mtc_freq = cpu->mtc_freq <= MTC_FREQ_MAX ? cpu->mtc_freq : 0;
	conf->nom_freq = cpu->nom_freq;
	conf->cpuid_0x15_eax = cpu->cpuid_15_eax;
	conf->cpuid_0x15_ebx = cpu->cpuid_15_ebx;
}

#else

bool ty_pt_available(void)
{
	return false;
}

const char *ty_pt_version(void)
{
	return "";
}

#endif
