/* SPDX-License-Identifier: MIT */
/*
 * See mem_record.h. AUXTRACE_INFO, version 2: linux tools/perf/util/arm-spe.h. The thread of a
 * sample comes from CONTEXT packets (the kernel enables them for root, with
 * CONFIG_PID_IN_CONTEXTIDR), otherwise from the switches in the sideband.
 */
#include "mem_record.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "first_line.h"
#include "perf_record.h"
#include "perf_write.h"
#include "proc_snapshot.h"

#define CPU_MAGIC 0x1010101010101010ull
enum { INFO_VERSION = 2, INFO_HEAD = 4, INFO_CPU = 7, INFO_CPU_WORDS = 4, LINE_MAX_BYTES = 8192 };

struct info {
	unsigned n;
	uint64_t words[]; /* as they are written */
};

static void put_info(void *ctx, struct ty_buf *b, const struct perf_event_mmap_page *page)
{
	const struct info *i = ctx;

	ty_perf_put_auxtrace_info(b, TY_PERF_AUXTRACE_ARM_SPE, i->words, i->n, "");
}

static uint64_t midr(unsigned cpu)
{
	char text[64];

	ty_first_line(text, sizeof(text),
		      "/sys/devices/system/cpu/cpu%u/regs/identification/midr_el1", cpu);
	return strtoull(text, NULL, 16);
}

static struct info *make_info(const struct ty_spe_pmu *pmus, const uint8_t *pmu_of,
			      const unsigned *cpus, unsigned n)
{
	struct info *i = calloc(1, sizeof(*i) + (INFO_HEAD + (size_t)INFO_CPU * n) * 8);
	uint64_t *w = i ? i->words + INFO_HEAD : NULL;
	unsigned have = 0;

	for (unsigned k = 0; i && k < n; k++) {
		const struct ty_spe_pmu *p = &pmus[pmu_of[k]];

		if (pmu_of[k] == TY_AUX_NONE)
			continue;
		w[0] = CPU_MAGIC;
		w[1] = cpus[k];
		w[2] = INFO_CPU_WORDS;
		w[3] = midr(cpus[k]);
		w[4] = p->type;
		w[5] = p->min_interval;
		w[6] = p->event_filter;
		w += INFO_CPU;
		have++;
	}
	if (i) {
		i->words[0] = INFO_VERSION;
		i->words[1] = INFO_HEAD;
		i->words[2] = pmus[0].type;
		i->words[3] = have;
		i->n = INFO_HEAD + INFO_CPU * have;
	}
	return i;
}

/* All threads of the processes, beginning with those of the first. A process that has ended
 * meanwhile adds none; only the first one is required. */
static int list_tids(const struct ty_spe_target *w, int **tids, size_t *n, struct ty_err *err)
{
	int e = 0;

	for (size_t i = 0; i < w->pids_n && !e; i++) {
		e = ty_proc_threads(w->pids[i], tids, n, err);
		e = i && e == -TY_ENOTFOUND ? 0 : e;
	}
	return e;
}

/* The PMU of each CPU; how many CPUs have one. */
static unsigned assign(const struct ty_spe_pmu *pmus, unsigned pmus_n, const unsigned *cpus,
		       unsigned n, uint8_t *pmu_of)
{
	unsigned have = 0;

	memset(pmu_of, TY_AUX_NONE, n);
	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = 0; k < pmus_n; k++)
			if (ty_spe_has_cpu(&pmus[k], cpus[i]))
				pmu_of[i] = (uint8_t)k;
		have += pmu_of[i] != TY_AUX_NONE;
	}
	return have;
}

static int open_on(struct ty_aux_rec **out, const struct ty_spe_opts *o,
		   const struct ty_spe_target *w, struct ty_aux_events *ev,
		   const struct ty_spe_pmu *pmus, struct ty_err *err)
{
	struct perf_event_attr attrs[TY_SPE_PMUS_MAX];
	const char *names[TY_SPE_PMUS_MAX];
	int *tids = NULL, e = 0;
	size_t tids_n = 0;

	for (unsigned i = 0; i < ev->attrs_n && !e; i++) {
		attrs[i] = (struct perf_event_attr){.size = sizeof(attrs[i]),
						    .sample_type = TY_AUX_SAMPLE,
						    .disabled = 1,
						    .enable_on_exec = w->command != 0,
						    .inherit = w->command || w->pids_n,
						    .sample_id_all = 1};
		e = ty_spe_config(&pmus[i], o, &attrs[i], err);
		names[i] = pmus[i].name;
	}
	e = e ? e : list_tids(w, &tids, &tids_n, err);
	if (e) {
		free(tids);
		return e;
	}
	ev->option = "--memory";
	ev->what = "Arm SPE";
	ev->attrs = attrs;
	ev->names = names;
	ev->tids = w->command ? &w->command : tids;
	ev->tids_n = w->command ? 1 : tids_n;
	ev->data_maps = true;
	ev->put_info = put_info;
	ev->ctx = make_info(pmus, ev->pmu_of, ev->cpus, ev->cpus_n);
	e = ev->ctx ? ty_aux_rec_open(out, ev, err)
		    : ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	free(tids);
	return e;
}

int ty_spe_rec_open(struct ty_aux_rec **out, const struct ty_spe_opts *o,
		    const struct ty_spe_target *w, const unsigned *cpus, unsigned n,
		    struct ty_err *err)
{
	struct ty_spe_pmu pmus[TY_SPE_PMUS_MAX];
	struct ty_aux_events ev = {.cpus = cpus, .cpus_n = n};
	uint8_t *pmu_of = malloc(n ? n : 1);
	char why[200];
	int e;

	*out = NULL;
	ev.attrs_n = ty_spe_pmus(TY_SPE_DEVICES, pmus, TY_SPE_PMUS_MAX);
	ev.pmu_of = pmu_of;
	if (!pmu_of) {
		e = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	} else if (!ev.attrs_n) {
		ty_spe_why_not(why, sizeof(why));
		e = ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
			    "this machine cannot sample memory with Arm SPE: %s", why);
	} else if (!assign(pmus, ev.attrs_n, cpus, n, pmu_of)) {
		e = ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
			    "--memory: no CPU that is online belongs to %s (its cpumask)",
			    pmus[0].name);
	} else {
		e = open_on(out, o, w, &ev, pmus, err);
	}
	free(pmu_of);
	return e;
}

/* An id of no event: such records are from ever on. */
static struct ty_perf_where of(pid_t pid, pid_t tid)
{
	return (struct ty_perf_where){.pid = pid, .tid = tid, .id = UINT64_MAX};
}

static void put_threads(struct ty_buf *b, pid_t pid)
{
	int *tids = NULL;
	size_t n = 0;

	if (ty_proc_threads(pid, &tids, &n, NULL))
		n = 0;
	for (size_t i = 0; i < n; i++) {
		struct ty_perf_where w = of(pid, tids[i]);
		char comm[64];

		if (ty_first_line(comm, sizeof(comm), "/proc/%d/task/%d/comm", (int)pid, tids[i]))
			ty_perf_put_comm(b, &w, comm, false);
	}
	free(tids);
}

static void put_maps(struct ty_buf *b, pid_t pid)
{
	struct ty_perf_where w = of(pid, pid);
	char path[64], line[LINE_MAX_BYTES];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		uint64_t lo, hi, off;
		char prot[8];
		int name = 0;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &lo, &hi,
			   prot, &off, &name) < 4 ||
		    !name || hi <= lo)
			continue;
		line[strcspn(line, "\n")] = 0;
		ty_perf_put_mmap2(b, &w, lo, hi - lo, off,
				  (prot[0] == 'r') | (prot[1] == 'w') << 1 | (prot[2] == 'x') << 2,
				  NULL, 0, line[name] ? line + name : "//anon");
	}
	if (f)
		fclose(f);
}

void ty_spe_put_running(struct ty_buf *b, const struct ty_spe_target *w)
{
	DIR *d = w->command || w->pids_n ? NULL : opendir("/proc");
	struct dirent *e;

	for (size_t i = 0; i < w->pids_n; i++) {
		put_threads(b, w->pids[i]);
		put_maps(b, w->pids[i]);
	}
	while (d && (e = readdir(d)) != NULL) {
		pid_t pid = isdigit((unsigned char)e->d_name[0]) ? atoi(e->d_name) : 0;

		if (pid <= 0)
			continue;
		put_threads(b, pid);
		put_maps(b, pid);
	}
	if (d)
		closedir(d);
}
