/* SPDX-License-Identifier: MIT */
#include "perf_write.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT (64u << 20)

void pw_init(struct perf_write *w)
{
	*w = (struct perf_write){
		.sample_type = TY_PERF_S_IP | TY_PERF_S_TID | TY_PERF_S_TIME | TY_PERF_S_ADDR |
			       TY_PERF_S_CPU | TY_PERF_S_DATA_SRC | TY_PERF_S_IDENTIFIER |
			       TY_PERF_S_WEIGHT,
		.dummy_type = TY_PERF_S_IP | TY_PERF_S_TID | TY_PERF_S_TIME | TY_PERF_S_CPU |
			      TY_PERF_S_IDENTIFIER,
		.type = 8,
		.config = 0x300010001,
		.period = 1024,
		.cpuid = "0x00000000410fd0c0",
		.arch = "aarch64",
		.cpus = 4,
	};
	ty_buf_init(&w->rec, LIMIT);
}

void pw_fini(struct perf_write *w)
{
	ty_buf_fini(&w->rec);
}

static void head(struct ty_buf *b, uint32_t type, uint16_t misc, size_t n)
{
	assert(n + 8 <= UINT16_MAX);
	ty_buf_addle(b, type, 4);
	ty_buf_addle(b, misc, 2);
	ty_buf_addle(b, n + 8, 2);
}

void pw_rec(struct perf_write *w, uint32_t type, uint16_t misc, const void *body, size_t n)
{
	head(&w->rec, type, misc, n);
	ty_buf_add(&w->rec, body, n);
}

void pw_rec_at(struct perf_write *w, uint32_t type, uint16_t misc, const void *body, size_t n,
	       struct pw_at at)
{
	uint64_t t = w->dummy_type;
	struct ty_buf *b = &w->rec;

	head(b, type, misc, n + (w->no_id_all ? 0 : ty_perf_id_bytes(t)));
	ty_buf_add(b, body, n);
	if (w->no_id_all)
		return;
	if (t & TY_PERF_S_TID) {
		ty_buf_addle(b, (uint32_t)at.pid, 4);
		ty_buf_addle(b, (uint32_t)at.tid, 4);
	}
	if (t & TY_PERF_S_TIME)
		ty_buf_addle(b, at.time, 8);
	if (t & TY_PERF_S_CPU)
		ty_buf_addle(b, at.cpu, 8);
	if (t & TY_PERF_S_IDENTIFIER)
		ty_buf_addle(b, PW_DUMMY, 8);
}

void pw_comm(struct perf_write *w, struct pw_at at, const char *comm)
{
	uint8_t body[24] = {0};

	memcpy(body, &at.pid, 4);
	memcpy(body + 4, &at.tid, 4);
	snprintf((char *)body + 8, 16, "%s", comm);
	pw_rec_at(w, TY_PERF_COMM, 0, body, sizeof(body), at);
}

void pw_mmap2_of(struct perf_write *w, struct pw_at at, uint64_t addr, uint64_t len, uint64_t pgoff,
		 struct pw_inode of, uint32_t prot, uint32_t flags, const char *name)
{
	uint8_t body[64 + 256] = {0};
	size_t n = (strlen(name) + 8) & ~7ul;

	memcpy(body, &at.pid, 4);
	memcpy(body + 4, &at.tid, 4);
	memcpy(body + 8, &addr, 8);
	memcpy(body + 16, &len, 8);
	memcpy(body + 24, &pgoff, 8);
	memcpy(body + 32, &of.major, 4);
	memcpy(body + 40, &of.inode, 8);
	memcpy(body + 56, &prot, 4);
	memcpy(body + 60, &flags, 4);
	snprintf((char *)body + 64, 256, "%s", name);
	pw_rec_at(w, TY_PERF_MMAP2, 2, body, 64 + n, at);
}

void pw_mmap2(struct perf_write *w, struct pw_at at, uint64_t addr, uint64_t len, uint64_t pgoff,
	      uint32_t prot, const char *name)
{
	pw_mmap2_of(w, at, addr, len, pgoff, (struct pw_inode){0}, prot, 0, name);
}

void pw_mmap2_shared(struct perf_write *w, struct pw_at at, uint64_t addr, uint64_t len,
		     uint64_t pgoff, uint64_t inode, const char *name)
{
	pw_mmap2_of(w, at, addr, len, pgoff, (struct pw_inode){0, inode}, 3, 1, name);
}

void pw_switch(struct perf_write *w, struct pw_at at, bool out, int32_t other_pid,
	       int32_t other_tid)
{
	int32_t body[2] = {other_pid, other_tid};

	pw_rec_at(w, TY_PERF_SWITCH_CPU_WIDE, out ? TY_PERF_MISC_SWITCH_OUT : 0, body, 8, at);
}

void pw_time_conv(struct perf_write *w, uint64_t shift, uint64_t mult, uint64_t zero)
{
	uint64_t body[6] = {shift, mult, zero, 0, UINT64_MAX, 1};

	pw_rec(w, TY_PERF_TIME_CONV, 0, body, sizeof(body));
}

void pw_words(struct perf_write *w, uint32_t type, const uint64_t *words, unsigned n)
{
	head(&w->rec, TY_PERF_AUXTRACE_INFO, 0, 8 + 8 * n);
	ty_buf_addle(&w->rec, type, 8);
	ty_buf_add(&w->rec, words, 8 * n);
}

void pw_auxtrace(struct perf_write *w, uint64_t offset, int32_t cpu, int32_t tid, const void *data,
		 size_t n)
{
	struct ty_buf *b = &w->rec;

	head(b, TY_PERF_AUXTRACE, 0, 40);
	ty_buf_addle(b, n, 8);
	ty_buf_addle(b, offset, 8);
	ty_buf_addle(b, 0x1234, 8);
	ty_buf_addle(b, cpu >= 0 ? (uint32_t)cpu : (uint32_t)tid, 4);
	ty_buf_addle(b, (uint32_t)tid, 4);
	ty_buf_addle(b, (uint32_t)cpu, 4);
	ty_buf_addle(b, 0, 4);
	ty_buf_add(b, data, n);
}

void pw_aux(struct perf_write *w, struct pw_at at, uint64_t offset, uint64_t size, uint64_t flags)
{
	uint64_t body[3] = {offset, size, flags};

	pw_rec_at(w, TY_PERF_AUX, 0, body, sizeof(body), at);
}

static void attr(const struct perf_write *w, unsigned event, struct ty_buf *b)
{
	uint64_t words[16] = {0};

	words[0] = (event ? 1 : w->type) | 128ull << 32;
	words[1] = event ? 9 : w->config;
	words[2] = event ? 1 : w->period;
	words[3] = event ? w->dummy_type : w->sample_type;
	words[5] = 1 | (w->no_id_all ? 0 : TY_PERF_ATTR_SAMPLE_ID_ALL) |
		   (event && w->switches ? TY_PERF_ATTR_CTX_SWITCH : 0);
	words[9] = event ? 0 : w->branch_type;
	ty_buf_add(b, words, sizeof(words));
}

static void string(struct ty_buf *b, const char *s)
{
	size_t n = (strlen(s) + 64) & ~63ul;

	ty_buf_addle(b, n, 4);
	ty_buf_add(b, s, strlen(s));
	while (n-- > strlen(s))
		ty_buf_addc(b, 0);
}

static bool feature(const struct perf_write *w, unsigned f, struct ty_buf *b)
{
	switch (f) {
	case TY_PERF_F_HOSTNAME: string(b, "test-host"); return true;
	case TY_PERF_F_ARCH:
		if (w->arch)
			string(b, w->arch);
		return w->arch;
	case TY_PERF_F_NRCPUS:
		ty_buf_addle(b, w->cpus, 4);
		ty_buf_addle(b, w->cpus, 4);
		return true;
	case TY_PERF_F_CPUID:
		if (w->cpuid)
			string(b, w->cpuid);
		return w->cpuid;
	case TY_PERF_F_CMDLINE:
		ty_buf_addle(b, 2, 4);
		string(b, "perf");
		string(b, "record");
		return true;
	case TY_PERF_F_EVENT_DESC:
		if (w->unnamed)
			return false;
		ty_buf_addle(b, 2, 4);
		ty_buf_addle(b, 128, 4);
		for (unsigned e = 0; e < 2; e++) {
			attr(w, e, b);
			ty_buf_addle(b, 1, 4);
			string(b, e ? "dummy:u" : "arm_spe_0/ts_enable=1/");
			ty_buf_addle(b, e ? PW_DUMMY : PW_ID, 8);
		}
		return true;
	case TY_PERF_F_PMU_MAPPINGS:
		ty_buf_addle(b, 2, 4);
		ty_buf_addle(b, 1, 4);
		string(b, "software");
		ty_buf_addle(b, w->type, 4);
		string(b, "arm_spe_0");
		return true;
	default: return false;
	}
}

void pw_file(const struct perf_write *w, struct ty_buf *out)
{
	uint64_t bits[4] = {0}, ids_off = 104, attrs_off = ids_off + 16, data_off = attrs_off + 288;
	uint64_t table = data_off + w->rec.len, pos = table;
	struct ty_buf feats, tab;

	ty_buf_init(&feats, LIMIT);
	ty_buf_init(&tab, LIMIT);
	for (unsigned f = 0; f < 64; f++) {
		size_t before = feats.len;

		if (feature(w, f, &feats)) {
			bits[0] |= 1ull << f;
			ty_buf_addle(&tab, before, 8);
			ty_buf_addle(&tab, feats.len - before, 8);
		}
	}
	pos += tab.len;
	for (size_t i = 0; i < tab.len; i += 16) {
		uint64_t at;

		memcpy(&at, tab.p + i, 8);
		at += pos;
		memcpy(tab.p + i, &at, 8);
	}
	ty_buf_add(out, "PERFILE2", 8);
	ty_buf_addle(out, 104, 8);
	ty_buf_addle(out, 144, 8);
	ty_buf_addle(out, attrs_off, 8);
	ty_buf_addle(out, 288, 8);
	ty_buf_addle(out, data_off, 8);
	ty_buf_addle(out, w->rec.len, 8);
	ty_buf_addle(out, 0, 8);
	ty_buf_addle(out, 0, 8);
	ty_buf_add(out, bits, sizeof(bits));
	ty_buf_addle(out, PW_ID, 8);
	ty_buf_addle(out, PW_DUMMY, 8);
	for (unsigned e = 0; e < 2; e++) {
		attr(w, e, out);
		ty_buf_addle(out, ids_off + 8 * e, 8);
		ty_buf_addle(out, 8, 8);
	}
	ty_buf_add(out, w->rec.p, w->rec.len);
	ty_buf_add(out, tab.p, tab.len);
	ty_buf_add(out, feats.p, feats.len);
	ty_buf_fini(&feats);
	ty_buf_fini(&tab);
	assert(!out->failed);
}

void pw_pipe(const struct perf_write *w, struct ty_buf *out)
{
	struct ty_buf f;

	ty_buf_init(&f, LIMIT);
	ty_buf_add(out, "PERFILE2", 8);
	ty_buf_addle(out, 16, 8);
	for (unsigned e = 0; e < 2; e++) {
		head(out, TY_PERF_HEADER_ATTR, 0, 136);
		attr(w, e, out);
		ty_buf_addle(out, e ? PW_DUMMY : PW_ID, 8);
	}
	for (unsigned i = 0; i < 64; i++) {
		ty_buf_reset(&f);
		if (!feature(w, i, &f))
			continue;
		head(out, TY_PERF_HEADER_FEATURE, 0, f.len + 8);
		ty_buf_addle(out, i, 8);
		ty_buf_add(out, f.p, f.len);
	}
	ty_buf_add(out, w->rec.p, w->rec.len);
	ty_buf_fini(&f);
	assert(!out->failed);
}

void pw_save(const struct ty_buf *b, char path[32])
{
	int fd;

	strcpy(path, "/tmp/tarry-perf-XXXXXX");
	fd = mkstemp(path);
	assert(fd >= 0 && write(fd, b->p, b->len) == (ssize_t)b->len);
	close(fd);
}
