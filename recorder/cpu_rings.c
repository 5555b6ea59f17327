/* SPDX-License-Identifier: MIT */
/* See cpu_rings.h. */
#include "cpu_rings.h"

#include <errno.h>
#include <stdlib.h>
#ifdef TY_HAVE_BPF
#include <bpf/bpf.h>
#endif

enum { RING = 1 << 20, RING_MANY = 256 << 10, MANY_CPUS = 32 };

bool ty_cpu_rings_open(struct ty_cpu_rings *r, struct perf_event_attr *attr, const unsigned *cpus,
		       unsigned n)
{
	const size_t bytes = n > MANY_CPUS ? RING_MANY : RING;
	int error;

	attr->watermark = 1;
	attr->wakeup_watermark = (uint32_t)bytes / 4;
	r->v = calloc(n, sizeof(*r->v));
	while (r->v && r->n < n &&
	       !ty_aux_open(&r->v[r->n], attr, -1, (int)cpus[r->n], bytes, 0, false, NULL))
		r->n++;
	if (r->v && r->n == n)
		return true;
	error = errno;
	ty_cpu_rings_close(r);
	errno = error;
	return false;
}

#ifdef TY_HAVE_BPF
bool ty_cpu_rings_open_output(struct ty_cpu_rings *r, struct perf_event_attr *attr, int map_fd,
			      const unsigned *cpus, unsigned n)
{
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_BPF_OUTPUT;
	attr->sample_type |= PERF_SAMPLE_RAW;
	attr->sample_period = 1;
	if (!ty_cpu_rings_open(r, attr, cpus, n))
		return false;
	for (unsigned i = 0; i < n; i++)
		if (bpf_map_update_elem(map_fd, &cpus[i], &r->v[i].fd, BPF_ANY))
			return false;
	return true;
}
#endif

void ty_cpu_rings_drain(struct ty_cpu_rings *r, const struct ty_aux_sink *sink)
{
	for (unsigned i = 0; i < r->n; i++)
		ty_aux_drain(&r->v[i], sink);
}

void ty_cpu_rings_close(struct ty_cpu_rings *r)
{
	while (r->n)
		ty_aux_close(&r->v[--r->n]);
	free(r->v);
	r->v = NULL;
}
