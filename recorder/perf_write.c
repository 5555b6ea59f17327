/* SPDX-License-Identifier: MIT */
/* See perf_write.h. */
#include "perf_write.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "first_line.h"
#include "perf_record.h"

#define SAMPLE_TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER)
enum {
	PMU_TYPE = 8, /* any dynamic number; intel_pt's on many machines */
	EVENT_ID = 1,
	NAME_ALIGN = 64,
	FEAT_HOSTNAME = 3,
	FEAT_ARCH = 6,
	FEAT_CPUID = 9,
	FEAT_PMU_MAPPINGS = 16,
	CONFIG_TSC = 1 << 10,
	CONFIG_NORETCOMP = 1 << 11,
	CONFIG_BRANCH = 1 << 13,
};

enum { ATTR_IDS = 8000 };

static void head(struct ty_buf *b, uint32_t type, unsigned misc, size_t body)
{
	ty_buf_addle(b, type, 4);
	ty_buf_addle(b, misc, 2);
	ty_buf_addle(b, 8 + body, 2);
}

/* The tail that sample_id_all puts behind every kernel record. */
enum { TAIL = 24 };
static void tail(struct ty_buf *b, const struct ty_perf_where *w)
{
	ty_buf_addle(b, (uint32_t)w->pid, 4);
	ty_buf_addle(b, (uint32_t)w->tid, 4);
	ty_buf_addle(b, w->time_ns, 8);
	ty_buf_addle(b, w->id ? w->id : EVENT_ID, 8);
}

static void zeros(struct ty_buf *b, size_t n)
{
	while (n--)
		ty_buf_addc(b, 0);
}

static size_t padded(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

/* `text` as perf writes strings: length, bytes, zeros up to 64. */
static void put_string(struct ty_buf *b, const char *text)
{
	size_t n = strlen(text), len = padded(n + 1, NAME_ALIGN);

	ty_buf_addle(b, len, 4);
	ty_buf_adds(b, text);
	zeros(b, len - n);
}

/* A feature is padded to words like every record. */
static void feature(struct ty_buf *b, uint64_t id, const void *p, size_t n)
{
	size_t body = padded(8 + n, 8);

	head(b, TY_PERF_HEADER_FEATURE, 0, body);
	ty_buf_addle(b, id, 8);
	ty_buf_add(b, p, n);
	zeros(b, body - 8 - n);
}

static void text_feature(struct ty_buf *b, uint64_t id, const char *text)
{
	struct ty_buf v;

	ty_buf_init(&v, 1 << 12);
	put_string(&v, text);
	if (!v.failed)
		feature(b, id, v.p, v.len);
	ty_buf_fini(&v);
}

#if defined(__x86_64__) || defined(__i386__)
/* "GenuineIntel,6,94,3": vendor, family, model, stepping (Intel SDM vol. 2, CPUID leaf 1). */
static void put_cpuid(struct ty_buf *b)
{
	unsigned eax, regs[4], family, model;
	char vendor[13] = "", text[64];

	if (!__get_cpuid(0, &eax, &regs[0], &regs[2], &regs[1]))
		return;
	memcpy(vendor, regs, 12);
	if (!__get_cpuid(1, &eax, &regs[0], &regs[1], &regs[2]))
		return;
	family = eax >> 8 & 15;
	model = eax >> 4 & 15;
	if (family == 6 || family == 15)
		model |= eax >> 12 & 0xf0;
	if (family == 15)
		family += eax >> 20 & 0xff;
	snprintf(text, sizeof(text), "%s,%u,%u,%u", vendor, family, model, eax & 15);
	text_feature(b, FEAT_CPUID, text);
}
#elif defined(__aarch64__)
/* "0x00000000410fd0c0": MIDR_EL1 of the first CPU, as perf writes it. */
static void put_cpuid(struct ty_buf *b)
{
	char text[64];

	if (ty_first_line(text, sizeof(text),
			  "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1"))
		text_feature(b, FEAT_CPUID, text);
}
#else
static void put_cpuid(struct ty_buf *b)
{
}
#endif

void ty_perf_put_machine(struct ty_buf *b)
{
	struct utsname u;

	ty_buf_add(b, "PERFILE2", 8);
	ty_buf_addle(b, 16, 8);
	if (!uname(&u)) {
		text_feature(b, FEAT_HOSTNAME, u.nodename);
		text_feature(b, FEAT_ARCH, u.machine);
	}
	put_cpuid(b);
}

void ty_perf_put_pmus(struct ty_buf *b, const uint32_t *types, const char *const *names, unsigned n)
{
	struct ty_buf v;

	ty_buf_init(&v, 1 << 12);
	ty_buf_addle(&v, n, 4);
	for (unsigned i = 0; i < n; i++) {
		ty_buf_addle(&v, types[i], 4);
		put_string(&v, names[i]);
	}
	if (!v.failed)
		feature(b, FEAT_PMU_MAPPINGS, v.p, v.len);
	ty_buf_fini(&v);
}

void ty_perf_put_attr(struct ty_buf *b, const struct perf_event_attr *attr, const uint64_t *ids,
		      unsigned n)
{
	/* A record's size has 16 bits: many ids (CPUs times threads) take several, all alike. */
	do {
		unsigned part = n < ATTR_IDS ? n : ATTR_IDS;

		head(b, TY_PERF_HEADER_ATTR, 0, sizeof(*attr) + 8ull * part);
		ty_buf_add(b, attr, sizeof(*attr));
		for (unsigned i = 0; i < part; i++)
			ty_buf_addle(b, ids[i], 8);
		ids += part;
		n -= part;
	} while (n);
}

void ty_perf_put_auxtrace_info(struct ty_buf *b, uint32_t type, const uint64_t *words, unsigned n,
			       const char *text)
{
	size_t len = *text ? padded(strlen(text) + 1, 8) : 0;

	head(b, TY_PERF_AUXTRACE_INFO, 0, 8 + 8ull * n + len);
	ty_buf_addle(b, type, 4);
	ty_buf_addle(b, 0, 4);
	ty_buf_add(b, words, 8ull * n);
	if (len) {
		ty_buf_adds(b, text);
		zeros(b, len - strlen(text));
	}
}

void ty_perf_put_time_conv(struct ty_buf *b, const struct perf_event_mmap_page *page)
{
	bool is_short = page->cap_user_time_short;

	head(b, TY_PERF_TIME_CONV, 0, 48);
	ty_buf_addle(b, page->time_shift, 8);
	ty_buf_addle(b, page->time_mult, 8);
	ty_buf_addle(b, page->time_zero, 8);
	ty_buf_addle(b, is_short ? page->time_cycles : 0, 8);
	ty_buf_addle(b, is_short ? page->time_mask : (1ull << 56) - 1, 8);
	ty_buf_addle(b, 1 | (unsigned)is_short << 8, 8); /* has a zero; is a short counter */
}

void ty_perf_put_head(struct ty_buf *b)
{
	struct perf_event_attr attr = {
		.type = PMU_TYPE,
		.size = sizeof(attr),
		.config = CONFIG_TSC | CONFIG_NORETCOMP | CONFIG_BRANCH | 1,
		.sample_period = 1,
		.sample_type = SAMPLE_TYPE,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.sample_id_all = 1,
	};
	uint64_t words[TY_PT_INFO_WORDS] = {
		[TY_PT_INFO_PMU_TYPE] = PMU_TYPE,
		[TY_PT_INFO_TIME_MULT] = 1,
		[TY_PT_INFO_HAVE_TIME_ZERO] = 1,
		[TY_PT_INFO_TSC_BIT] = CONFIG_TSC,
		[TY_PT_INFO_NORETCOMP_BIT] = CONFIG_NORETCOMP,
	};
	const uint32_t type = PMU_TYPE;
	const char *name = "intel_pt";
	uint64_t id = EVENT_ID;

	ty_perf_put_machine(b);
	ty_perf_put_pmus(b, &type, &name, 1);
	ty_perf_put_attr(b, &attr, &id, 1);
	ty_perf_put_auxtrace_info(b, TY_PERF_AUXTRACE_INTEL_PT, words, TY_PT_INFO_WORDS, "");
	ty_perf_put_time_conv(b, &(struct perf_event_mmap_page){.time_mult = 1});
}

void ty_perf_put_mmap2(struct ty_buf *b, const struct ty_perf_where *w, uint64_t addr, uint64_t len,
		       uint64_t off, int prot, const uint8_t *build_id, unsigned build_id_n,
		       const char *path)
{
	size_t n = strlen(path), name = padded(n + 1, 8);
	uint8_t id[20] = {0};
	unsigned misc = PERF_RECORD_MISC_USER;

	if (build_id_n) {
		misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		build_id_n = build_id_n < sizeof(id) ? build_id_n : sizeof(id);
		memcpy(id, build_id, build_id_n);
	}
	head(b, PERF_RECORD_MMAP2, misc, 64 + name + TAIL);
	ty_buf_addle(b, (uint32_t)w->pid, 4);
	ty_buf_addle(b, (uint32_t)w->tid, 4);
	ty_buf_addle(b, addr, 8);
	ty_buf_addle(b, len, 8);
	ty_buf_addle(b, off, 8);
	ty_buf_addle(b, build_id_n, 4); /* or device and inode: unknown, 0 */
	ty_buf_add(b, id, sizeof(id));
	ty_buf_addle(b, (unsigned)prot, 4);
	ty_buf_addle(b, 2, 4); /* MAP_PRIVATE */
	ty_buf_adds(b, path);
	zeros(b, name - n);
	tail(b, w);
}

void ty_perf_put_comm(struct ty_buf *b, const struct ty_perf_where *w, const char *comm, bool exec)
{
	size_t n = strlen(comm), name = padded(n + 1, 8);

	head(b, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, 8 + name + TAIL);
	ty_buf_addle(b, (uint32_t)w->pid, 4);
	ty_buf_addle(b, (uint32_t)w->tid, 4);
	ty_buf_adds(b, comm);
	zeros(b, name - n);
	tail(b, w);
}

void ty_perf_put_task(struct ty_buf *b, const struct ty_perf_where *w, bool fork, pid_t ppid,
		      pid_t ptid)
{
	head(b, fork ? PERF_RECORD_FORK : PERF_RECORD_EXIT, 0, 24 + TAIL);
	ty_buf_addle(b, (uint32_t)w->pid, 4);
	ty_buf_addle(b, (uint32_t)ppid, 4);
	ty_buf_addle(b, (uint32_t)w->tid, 4);
	ty_buf_addle(b, (uint32_t)ptid, 4);
	ty_buf_addle(b, w->time_ns, 8);
	tail(b, w);
}

void ty_perf_put_itrace_start(struct ty_buf *b, const struct ty_perf_where *w)
{
	head(b, PERF_RECORD_ITRACE_START, 0, 8 + TAIL);
	ty_buf_addle(b, (uint32_t)w->pid, 4);
	ty_buf_addle(b, (uint32_t)w->tid, 4);
	tail(b, w);
}

void ty_perf_put_auxtrace(struct ty_buf *b, int cpu, pid_t tid, uint32_t idx, uint64_t off,
			  const void *p, size_t n)
{
	head(b, TY_PERF_AUXTRACE, 0, 40);
	ty_buf_addle(b, n, 8);
	ty_buf_addle(b, off, 8);
	ty_buf_addle(b, off, 8); /* reference: any number that differs */
	ty_buf_addle(b, idx, 4);
	ty_buf_addle(b, (uint32_t)tid, 4);
	ty_buf_addle(b, (uint32_t)cpu, 4);
	ty_buf_addle(b, 0, 4);
	ty_buf_add(b, p, n);
}
