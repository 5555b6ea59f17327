/* SPDX-License-Identifier: MIT */
/* perf.data: what was written is read back, in the file form, the pipe form and compressed; cut and
 * broken files end with a sentence; real files of ../shared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#include "perf_data.h"
#include "perf_file.h"
#include "perf_write.h"

static const struct pw_at at1 = {.pid = 70, .tid = 71, .time = 1000, .cpu = 1};

static void content(struct perf_write *w)
{
	uint64_t words[2] = {8, 1};

	pw_init(w);
	pw_time_conv(w, 4, 16, 5);
	pw_words(w, TY_PERF_AUXTRACE_ARM_SPE, words, 2);
	pw_comm(w, at1, "worker");
	pw_mmap2(w, at1, 0x400000, 0x1000, 0x2000, 5, "/bin/thing");
	pw_switch(w, at1, true, 80, 81);
	pw_aux(w, at1, 4096, 12, TY_PERF_AUX_TRUNCATED);
	pw_auxtrace(w, 4096, 1, -1, "0123456789ab", 12);
	pw_rec(w, TY_PERF_FINISHED_ROUND, 0, NULL, 0);
}

static struct ty_perf *open_bytes(const struct ty_buf *b)
{
	struct ty_perf *p;
	struct ty_err err = {0};
	char path[32];

	pw_save(b, path);
	if (ty_perf_open(path, &p, &err))
		fail_msg("%s", err.msg);
	unlink(path);
	return p;
}

static struct ty_perf_rec next(struct ty_perf *p, uint32_t type)
{
	struct ty_perf_rec r;
	struct ty_err err = {0};
	int e;

	do {
		e = ty_perf_next(p, &r, &err);
		if (e < 0)
			fail_msg("%s", err.msg);
		assert_int_equal(e, 1);
	} while (p->pipe && (r.type == TY_PERF_HEADER_ATTR || r.type == TY_PERF_HEADER_FEATURE));
	assert_int_equal(r.type, type);
	return r;
}

static void check_content(struct ty_perf *p)
{
	struct ty_perf_rec r;
	struct ty_perf_time_conv tc;
	struct ty_perf_auxtrace_info info;
	struct ty_perf_comm comm;
	struct ty_perf_mmap map;
	struct ty_perf_switch sw;
	struct ty_perf_aux aux;
	struct ty_perf_auxtrace at;
	struct ty_perf_id id;
	struct ty_err err = {0};
	char data[12];

	r = next(p, TY_PERF_TIME_CONV);
	assert_int_equal(ty_perf_time_conv(&r, &tc), 0);
	assert_int_equal(ty_perf_time_ns(&tc, 0x123), 0x123 + 5);
	ty_perf_id(p, &r, &id);
	assert_int_equal(id.have, 0);
	r = next(p, TY_PERF_AUXTRACE_INFO);
	assert_int_equal(ty_perf_auxtrace_info(&r, &info), 0);
	assert_int_equal(info.type, TY_PERF_AUXTRACE_ARM_SPE);
	assert_int_equal(info.words, 2);
	assert_int_equal(ty_perf_word(&info, 0), 8);
	assert_int_equal(ty_perf_word(&info, 2), 0);
	r = next(p, TY_PERF_COMM);
	assert_int_equal(ty_perf_comm(&r, &comm), 0);
	assert_string_equal(comm.comm, "worker");
	assert_false(comm.exec);
	r = next(p, TY_PERF_MMAP2);
	assert_int_equal(ty_perf_mmap(&r, &map), 0);
	assert_string_equal(map.name, "/bin/thing");
	assert_int_equal(map.addr, 0x400000);
	assert_int_equal(map.pgoff, 0x2000);
	assert_int_equal(map.prot, 5);
	ty_perf_id(p, &r, &id);
	assert_true(id.have & TY_PERF_S_TIME && id.have & TY_PERF_S_ID);
	assert_int_equal(id.time, 1000);
	assert_int_equal(id.tid, 71);
	assert_int_equal(id.cpu, 1);
	assert_int_equal(id.id, PW_DUMMY);
	r = next(p, TY_PERF_SWITCH_CPU_WIDE);
	assert_int_equal(ty_perf_switch(&r, &sw), 0);
	assert_true(sw.out && sw.has_other);
	assert_int_equal(sw.other_tid, 81);
	r = next(p, TY_PERF_AUX);
	assert_int_equal(ty_perf_aux(&r, &aux), 0);
	assert_int_equal(aux.offset, 4096);
	assert_int_equal(aux.flags, TY_PERF_AUX_TRUNCATED);
	r = next(p, TY_PERF_AUXTRACE);
	assert_int_equal(ty_perf_auxtrace(&r, &at), 0);
	assert_int_equal(at.offset, 4096);
	assert_int_equal(at.cpu, 1);
	assert_int_equal(at.tid, -1);
	assert_int_equal(r.data_n, 12);
	assert_int_equal(ty_perf_read(p, r.data_off, data, 12, &err), 0);
	assert_memory_equal(data, "0123456789ab", 12);
	next(p, TY_PERF_FINISHED_ROUND);
	assert_int_equal(ty_perf_next(p, &r, &err), 0);
}

static void check_meta(struct ty_perf *p)
{
	uint32_t online, available;

	assert_int_equal(p->events.n, 2);
	assert_string_equal(p->events.v[0].name, "arm_spe_0/ts_enable=1/");
	assert_string_equal(p->events.v[1].name, "dummy:u");
	assert_int_equal(p->events.v[0].attr.type, 8);
	assert_int_equal(p->events.v[0].attr.config, 0x300010001);
	assert_ptr_equal(ty_perf_event_find(p, PW_DUMMY), &p->events.v[1]);
	assert_ptr_equal(ty_perf_event_find(p, 0), &p->events.v[0]);
	assert_null(ty_perf_event_find(p, 77));
	assert_string_equal(ty_perf_text(p, TY_PERF_F_ARCH), "aarch64");
	assert_string_equal(ty_perf_text(p, TY_PERF_F_CPUID), "0x00000000410fd0c0");
	assert_string_equal(ty_perf_cmdline(p, 1), "record");
	assert_null(ty_perf_cmdline(p, 2));
	assert_string_equal(ty_perf_pmu(p, 8), "arm_spe_0");
	assert_null(ty_perf_pmu(p, 9));
	assert_true(ty_perf_cpus(p, &online, &available));
	assert_int_equal(available, 4);
}

static void test_file(void **state)
{
	struct perf_write w;
	struct ty_buf b;
	struct ty_perf *p;

	(void)state;
	content(&w);
	ty_buf_init(&b, 1 << 20);
	pw_file(&w, &b);
	assert_true(ty_perf_magic((uint8_t *)b.p, b.len));
	p = open_bytes(&b);
	assert_false(p->pipe || p->unfinished || p->note);
	check_meta(p);
	check_content(p);
	ty_perf_rewind(p);
	check_content(p);
	ty_perf_close(p);
	ty_buf_fini(&b);
	pw_fini(&w);
}

static void test_pipe(void **state)
{
	struct perf_write w;
	struct ty_buf b;
	struct ty_perf *p;

	(void)state;
	content(&w);
	ty_buf_init(&b, 1 << 20);
	pw_pipe(&w, &b);
	p = open_bytes(&b);
	assert_true(p->pipe);
	check_meta(p);
	check_content(p);
	assert_int_equal(p->events.n, 2); /* not taken up twice */
	ty_perf_close(p);
	ty_buf_fini(&b);
	pw_fini(&w);
}

/* Records cut anywhere by the pieces of one zstd stream; AUX data between the pieces. */
static void test_compressed(void **state)
{
	struct perf_write in, w;
	struct ty_buf b;
	struct ty_perf *p;
	struct ty_perf_rec r;
	struct ty_err err = {0};
	char z[4096];
	size_t pos = 0, cut = 0;
	int e;
	ZSTD_CCtx *c = ZSTD_createCCtx();

	(void)state;
	pw_init(&in);
	for (unsigned i = 0; i < 4000; i++) {
		struct pw_at at = at1;

		at.time = i;
		pw_comm(&in, at, "busy");
	}
	pw_init(&w);
	while (pos < in.rec.len) {
		size_t step = 37 + cut++ * 731 % 9000;
		ZSTD_inBuffer zi = {in.rec.p + pos,
				    in.rec.len - pos < step ? in.rec.len - pos : step, 0};
		ZSTD_outBuffer zo = {z, sizeof(z), 0};

		assert_int_equal(ZSTD_compressStream2(c, &zo, &zi, ZSTD_e_flush), 0);
		pw_rec(&w, TY_PERF_COMPRESSED, 0, z, zo.pos);
		pos += zi.pos;
		if (cut == 3)
			pw_auxtrace(&w, 0, 1, -1, "abc", 3);
	}
	ZSTD_freeCCtx(c);
	ty_buf_init(&b, 1 << 20);
	pw_file(&w, &b);
	p = open_bytes(&b);
	for (unsigned pass = 0; pass < 2; pass++, ty_perf_rewind(p)) {
		unsigned comms = 0, aux = 0;

		while ((e = ty_perf_next(p, &r, &err)) > 0) {
			struct ty_perf_id id;

			aux += r.type == TY_PERF_AUXTRACE;
			if (r.type != TY_PERF_COMM)
				continue;
			ty_perf_id(p, &r, &id);
			assert_int_equal(id.time, comms++);
		}
		assert_int_equal(e, 0);
		assert_int_equal(comms, 4000);
		assert_int_equal(aux, 1);
	}
	ty_perf_close(p);
	/* A broken piece is an error with its place, not something made up. */
	memset(b.p + 408 + 8 + 6, 0x55, 16); /* behind the first frame's head */
	p = open_bytes(&b);
	while ((e = ty_perf_next(p, &r, &err)) > 0)
		;
	assert_int_equal(e, -TY_EFORMAT);
	assert_non_null(strstr(err.msg, "cannot be decompressed"));
	ty_perf_close(p);
	ty_buf_fini(&b);
	pw_fini(&w);
	pw_fini(&in);
}

/* Cut at every length: opens or says why, and ends. */
static void test_cut(void **state)
{
	struct perf_write w;
	struct ty_buf b, cut;
	unsigned opened = 0;

	(void)state;
	content(&w);
	ty_buf_init(&b, 1 << 20);
	ty_buf_init(&cut, 1 << 20);
	pw_file(&w, &b);
	for (size_t n = 0; n < b.len; n += 3) {
		struct ty_perf *p;
		struct ty_perf_rec r;
		struct ty_err err = {0};
		char path[32];
		int e;

		ty_buf_reset(&cut);
		ty_buf_add(&cut, b.p, n);
		pw_save(&cut, path);
		e = ty_perf_open(path, &p, &err);
		if (e) {
			assert_true(err.msg[0]);
		} else {
			while ((e = ty_perf_next(p, &r, &err)) > 0)
				;
			assert_int_equal(e, 0);
			assert_non_null(p->note);
			opened++;
			ty_perf_close(p);
		}
		unlink(path);
	}
	assert_true(opened > 100);
	/* Never finished: perf writes the data's size last. */
	memset(b.p + 48, 0, 8);
	{
		struct ty_perf *p = open_bytes(&b);

		assert_true(p->unfinished);
		assert_int_equal(p->events.n, 2);
		next(p, TY_PERF_TIME_CONV);
		ty_perf_close(p);
	}
	ty_buf_fini(&cut);
	ty_buf_fini(&b);
	pw_fini(&w);
}

static void refused(const char *bytes, size_t n, const char *why)
{
	struct ty_buf b;
	struct ty_perf *p = NULL;
	struct ty_err err = {0};
	char path[32];

	ty_buf_init(&b, 1 << 20);
	ty_buf_add(&b, bytes, n);
	pw_save(&b, path);
	assert_true(ty_perf_open(path, &p, &err) < 0);
	assert_null(p);
	if (!strstr(err.msg, why))
		fail_msg("%s", err.msg);
	unlink(path);
	ty_buf_fini(&b);
}

static void test_refused(void **state)
{
	struct ty_perf *p;
	struct ty_err err = {0};

	(void)state;
	refused("", 0, "too short");
	refused("2ELIFREP\0\0\0\0\0\0\0\0", 16, "big-endian");
	refused("PERFFILE\0\0\0\0\0\0\0\0", 16, "version 1");
	refused("something else, longer", 22, "not a perf.data file");
	refused("PERFILE2\x20\0\0\0\0\0\0\0", 16, "header size");
	assert_true(ty_perf_open("/tmp", &p, &err) < 0);
	assert_non_null(strstr(err.msg, "directory"));
}

/* Every part of a sample is stepped over by its own rule. */
static void test_sample(void **state)
{
	struct ty_perf_attr attr = {.sample_type = TY_PERF_S_KNOWN & ~TY_PERF_S_WEIGHT_STRUCT &
						   ~TY_PERF_S_AUX,
				    .read_format = 0xf,
				    .sample_regs_user = 5,
				    .sample_regs_intr = 1,
				    .branch_sample_type = 1u << 17};
	struct ty_perf_sample s;
	struct ty_perf_rec r;
	struct ty_buf b;

	(void)state;
	ty_buf_init(&b, 4096);
	for (unsigned i = 0; i < 9;
	     i++) /* IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD */
		ty_buf_addle(&b, i == 2 ? 20ull << 32 | 10 : i == 5 ? 100 : 100 + i, 8);
	ty_buf_addle(&b, 2, 8); /* READ: a group of 2, with both times and ids */
	for (unsigned i = 0; i < 2 + 2 * 2; i++)
		ty_buf_addle(&b, 7, 8);
	ty_buf_addle(&b, 3, 8); /* CALLCHAIN */
	for (unsigned i = 0; i < 3; i++)
		ty_buf_addle(&b, 0xc0 + i, 8);
	ty_buf_addle(&b, 4, 4); /* RAW */
	ty_buf_add(&b, "wxyz", 4);
	ty_buf_addle(&b, 1, 8); /* BRANCH_STACK with its index */
	for (unsigned i = 0; i < 4; i++)
		ty_buf_addle(&b, 7, 8);
	for (unsigned i = 0; i < 3; i++) /* REGS_USER */
		ty_buf_addle(&b, 2, 8);
	ty_buf_addle(&b, 8, 8); /* STACK_USER */
	ty_buf_addle(&b, 7, 8);
	ty_buf_addle(&b, 8, 8);
	ty_buf_addle(&b, 0x111, 8); /* WEIGHT */
	ty_buf_addle(&b, 0x222, 8); /* DATA_SRC */
	ty_buf_addle(&b, 0x333, 8); /* TRANSACTION */
	ty_buf_addle(&b, 0, 8);	    /* REGS_INTR: none */
	ty_buf_addle(&b, 0x444, 8); /* PHYS_ADDR */
	ty_buf_addle(&b, 0x555, 8); /* CGROUP */
	ty_buf_addle(&b, 4096, 8);
	ty_buf_addle(&b, 65536, 8);
	r = (struct ty_perf_rec){
		.type = TY_PERF_SAMPLE, .body = (uint8_t *)b.p, .n = (uint32_t)b.len};
	assert_int_equal(ty_perf_sample_parse(&r, &attr, &s), 0);
	assert_int_equal(s.ip, 101);
	assert_int_equal(s.id.pid, 10);
	assert_int_equal(s.id.tid, 20);
	assert_int_equal(s.id.time, 103);
	assert_int_equal(s.addr, 104);
	assert_int_equal(s.id.id, 100);
	assert_int_equal(s.id.cpu, 107);
	assert_int_equal(s.period, 108);
	assert_int_equal(s.ips_n, 3);
	assert_int_equal(s.ips[8], 0xc1);
	assert_int_equal(s.raw_n, 4);
	assert_memory_equal(s.raw, "wxyz", 4);
	assert_int_equal(s.weight, 0x111);
	assert_int_equal(s.data_src, 0x222);
	assert_int_equal(s.phys_addr, 0x444);
	assert_int_equal(s.code_page_size, 65536);
	for (r.n = 0; r.n < b.len; r.n++)
		assert_int_equal(ty_perf_sample_parse(&r, &attr, &s), -TY_EFORMAT);
	ty_buf_fini(&b);
}

/* Records without a file around them. */
static void test_buffer(void **state)
{
	struct perf_write w;
	struct ty_perf_rec r;
	struct ty_perf_id id;
	size_t pos = 0;
	unsigned n = 0;

	(void)state;
	pw_init(&w);
	pw_comm(&w, at1, "a");
	pw_switch(&w, at1, false, 1, 2);
	while (ty_perf_buf_next((uint8_t *)w.rec.p, w.rec.len, &pos, &r) > 0) {
		assert_int_equal(ty_perf_id_parse(&r, w.dummy_type, &id), 0);
		assert_int_equal(id.time, 1000);
		n++;
	}
	assert_int_equal(n, 2);
	assert_int_equal(pos, w.rec.len);
	pos = 0;
	assert_int_equal(ty_perf_buf_next((uint8_t *)w.rec.p, 20, &pos, &r), -TY_EFORMAT);
	pw_fini(&w);
}

static void test_shared(void **state)
{
	static const struct {
		const char *path;
		unsigned type;
		uint64_t aux;
	} files[] = {
		{"../shared/spe/scenarios/false-peer.data", TY_PERF_AUXTRACE_ARM_SPE, 0},
		{"../shared/pt/perfdata/loopy/loopy-20180404T162955.perf",
		 TY_PERF_AUXTRACE_INTEL_PT, 0},
		{"../shared/pt/perfdata/control_flow/control_flow-20180404T163033.perf",
		 TY_PERF_AUXTRACE_INTEL_PT, 0},
	};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct ty_perf *p;
		struct ty_perf_rec r;
		struct ty_perf_auxtrace_info info = {0};
		struct ty_err err = {0};
		uint64_t aux = 0;
		int e;

		if (access(files[i].path, R_OK)) {
			print_message("# %s is not there\n", files[i].path);
			skip();
		}
		if (ty_perf_open(files[i].path, &p, &err))
			fail_msg("%s", err.msg);
		while ((e = ty_perf_next(p, &r, &err)) > 0) {
			if (r.type == TY_PERF_AUXTRACE_INFO)
				assert_int_equal(ty_perf_auxtrace_info(&r, &info), 0);
			if (r.type == TY_PERF_AUXTRACE)
				aux += r.data_n;
		}
		assert_int_equal(e, 0);
		assert_null(p->note);
		assert_int_equal(info.type, files[i].type);
		assert_true(aux > 0);
		ty_perf_close(p);
	}
}

/* A mapping has a build id by its flag, which kernels also set of records with device and inode. */
static void test_build_id(void **state)
{
	static const uint32_t majors[] = {254, 8, 259};
	uint8_t body[72] = {[64] = '/', 'x'}; /* its union lies at 32 */
	struct ty_perf_rec r = {.type = TY_PERF_MMAP2,
				.misc = TY_PERF_MISC_MMAP_BUILD_ID,
				.body = body,
				.n = sizeof(body)};
	struct ty_perf_mmap m;

	(void)state;
	for (unsigned size = 1; size <= 20; size++) {
		memset(body + 32, 0, 24);
		memset(body + 36, 0xab, size);
		body[32] = (uint8_t)size;
		assert_int_equal(ty_perf_mmap(&r, &m), 0);
		assert_true(m.has_build_id);
		assert_int_equal(m.build_id_n, size);
		assert_memory_equal(m.build_id, body + 36, size);
	}
	/* Device 254:0, inode 5; 8:1, inode 5, generation 7; 259:3 */
	for (unsigned k = 0; k < 3; k++) {
		memset(body + 32, 0, 24);
		body[32] = (const uint8_t[]){254, 8, 3}[k];
		body[33] = k == 2;
		body[36] = (const uint8_t[]){0, 1, 3}[k];
		body[40] = 5;
		body[48] = 7;
		assert_int_equal(ty_perf_mmap(&r, &m), 0);
		assert_false(m.has_build_id);
		assert_int_equal(m.major, majors[k]);
		assert_int_equal(m.inode, 5);
	}
}

/* Names of events that the file does not name are perf's: by the attribute, and as a pipe gives
 * them later. */
static void test_names(void **state)
{
	enum { USER = 1 << 4, KERNEL = 1 << 5, HV = 1 << 6, HOST = 1 << 19, GUEST = 1 << 20 };
	static const struct {
		uint32_t type;
		uint64_t config, flags;
		const char *name; /* NULL: none */
	} cases[] = {
		{0, 2, GUEST, "cache-references"},
		{0, 0, KERNEL | HV | GUEST, "cycles:uH"},
		{0, 1, USER | HV, "instructions:k"},
		{0, 1, HOST, "instructions:G"},
		{0, 0, 2 << 15 | GUEST, "cycles:ppH"},
		{0, 10, GUEST, NULL},
		{1, 0, GUEST, "cpu-clock"},
		{1, 0, 0, "cpu-clock"}, /* tarry's own samples */
		{0, 0, KERNEL | HV, "cycles:u"},
		{0, 0, HOST | GUEST, "cycles"},
		{1, 9, GUEST, "dummy"},
		{3, 0x10002, GUEST, "LLC-load-misses"},
		{3, 0x00203, GUEST, "dTLB-prefetches"},
		{3, 0x20002, GUEST, NULL},
		{3, 0x00302, GUEST, NULL},
		{4, 0x1a8, GUEST, "raw 0x1a8"},
		{2, 300, GUEST, NULL},
		{8, 0, GUEST, NULL},
	};
	static const char update[] = "\2\0\0\0\0\0\0\0"
				     "\x65\0\0\0\0\0\0\0"
				     "mem-loads\0\0\0\0\0\0";
	char name[TY_PERF_EVENT_NAME], path[32];
	struct ty_err err = {0};
	struct ty_perf_rec r;
	struct perf_write w;
	struct ty_buf file;
	struct ty_perf *p;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct ty_perf_attr a = {
			.type = cases[i].type, .config = cases[i].config, .flags = cases[i].flags};

		assert_int_equal(ty_perf_event_name(&a, name), cases[i].name != NULL);
		if (cases[i].name)
			assert_string_equal(name, cases[i].name);
	}
	for (unsigned cut = 0; cut < 2; cut++) { /* cut: the text has no end */
		pw_init(&w);
		w.type = 4;
		w.config = 0x1cd;
		w.unnamed = true;
		pw_rec(&w, TY_PERF_EVENT_UPDATE, 0, update, cut ? 24 : sizeof(update) - 1);
		ty_buf_init(&file, 1 << 20);
		pw_pipe(&w, &file);
		pw_save(&file, path);
		assert_int_equal(ty_perf_open(path, &p, &err), 0);
		unlink(path);
		while (ty_perf_next(p, &r, &err) > 0)
			;
		assert_int_equal(strncmp(p->events.v[0].name, "raw 0x1cd", 9) == 0, cut);
		if (!cut)
			assert_string_equal(p->events.v[0].name, "mem-loads");
		assert_int_equal(strncmp(p->events.v[1].name, "dummy", 5), 0);
		ty_perf_close(p);
		ty_buf_fini(&file);
		pw_fini(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),	   cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_compressed), cmocka_unit_test(test_cut),
		cmocka_unit_test(test_refused),	   cmocka_unit_test(test_sample),
		cmocka_unit_test(test_buffer),	   cmocka_unit_test(test_shared),
		cmocka_unit_test(test_build_id),   cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
