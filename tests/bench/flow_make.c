/* SPDX-License-Identifier: MIT */
/*
 * Traces of different shape, for tests/bench/flow: a perf.data file with Intel PT packets as
 * hardware makes them, and the program that they are of. flow_make PROGRAM OPTIONS BRANCHES ELF OUT
 * PROGRAM: loop, interpreter, compressor, sort, calls, recursion, functions, longjmp; OPTIONS:
 * letters of l (long TNT), u (returns not compressed), m (MTC), c (CYC), or "-".
 *   flow_make capture F/M/S MEGABYTES RAW IMAGE@BASE OUT
 * a capture of hardware, repeated with times that go on. Prints bytes of packets and instructions
 * (of captures 0: not known).
 */
#include <elf.h>
#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perf_record.h"
#include "perf_write.h"
#include "pt_machine.h"

enum { PMU_TYPE = 8, TID = 1000, FEAT_HOSTNAME = 3, FEAT_CPUID = 9 };
enum { CONFIG_CYC = 1 << 1, CONFIG_MTC = 1 << 9, CONFIG_TSC = 1 << 10, CONFIG_NORETCOMP = 1 << 11 };
enum { CONFIG_BRANCH = 1 << 13, MTC_FREQ_BITS = 15 << 14, MTC_FREQ_SHIFT = 14 };
#define BASE 0x400000ull

static void die(const char *what)
{
	fprintf(stderr, "flow_make: %s\n", what);
	exit(1);
}

/* ---- programs: each executes at least so many branches ---- */

static void loop(struct pm *m, uint64_t branches)
{
	struct pm_block body, out;

	pm_function(m, "spin");
	body = pm_block(m, PM_COND, 6, pm_here(m));
	out = pm_block(m, PM_JUMP, 1, body.ip);
	pm_start(m, body.ip);
	for (uint64_t i = 0; i < branches; i++)
		pm_run(m, &body, (i + 1) % 1000000 != 0),
			(i + 1) % 1000000 ? (void)0 : pm_run(m, &out, 0);
}

/* Threaded code: every handler ends with its own dispatch; some test, some call a helper. */
static void interpreter(struct pm *m, uint64_t branches)
{
	enum { OPS = 48, LENGTH = 700 };
	struct pm_block test[OPS], slow[OPS], call[OPS], go[OPS], helper, back;
	unsigned code[LENGTH];

	pm_function(m, "add_objects");
	helper = pm_block(m, PM_COND, 5, 0);
	pm_block(m, PM_RETURN, 1, 0);
	pm_aim(m, &helper, pm_here(m));
	back = pm_block(m, PM_RETURN, 4, 0);
	pm_function(m, "evaluate");
	for (unsigned i = 0; i < OPS; i++) {
		test[i] = pm_block(m, PM_COND, 2 + i % 5, 0);
		slow[i] = pm_block(m, PM_JUMP, 3, 0);
		pm_aim(m, &test[i], pm_here(m));
		if (i % 4 == 0)
			call[i] = pm_block(m, PM_CALL, 2, helper.ip);
		pm_aim(m, &slow[i], pm_here(m));
		go[i] = pm_block(m, PM_INDIRECT_JUMP, 4, 0);
	}
	for (unsigned i = 0; i < LENGTH; i++)
		code[i] = pm_any(m, OPS);
	pm_start(m, test[code[0]].ip);
	for (uint64_t n = 0, pc = 0; n < branches; n += 2) {
		unsigned op = code[pc], next = code[(pc + 1) % LENGTH];
		bool quick = pm_any(m, 16);

		pc = (pc + 1) % LENGTH;
		pm_run(m, &test[op], quick);
		if (!quick) {
			pm_run(m, &slow[op], 0);
		} else if (op % 4 == 0) {
			pm_run(m, &call[op], 0);
			pm_run(m, &helper, true);
			pm_run(m, &back, 0);
			n += 2;
		}
		pm_run(m, &go[op], test[next].ip);
	}
}

/* Literals and matches: loops of a few rounds within loops, by data; seldom a call. */
static void compressor(struct pm *m, uint64_t branches)
{
	struct pm_block find, chain, longer, lit, lit_loop, match, emit, ret, back;

	pm_function(m, "flush_block");
	emit = pm_block(m, PM_COND, 9, pm_here(m));
	ret = pm_block(m, PM_RETURN, 3, 0);
	pm_function(m, "deflate");
	find = pm_block(m, PM_COND, 8, 0); /* no candidate: literal */
	chain = pm_block(m, PM_COND, 5, pm_here(m));
	longer = pm_block(m, PM_COND, 4, pm_here(m));
	match = pm_block(m, PM_JUMP, 7, find.ip);
	pm_aim(m, &find, pm_here(m));
	lit = pm_block(m, PM_COND, 5, find.ip);
	lit_loop = pm_block(m, PM_CALL, 3, emit.ip);
	back = pm_block(m, PM_JUMP, 2, find.ip);
	pm_start(m, find.ip);
	for (uint64_t n = 0; n < branches; n += 2) {
		if (pm_any(m, 3)) {
			pm_run(m, &find, false);
			for (; pm_any(m, 4) == 0; n++)
				pm_run(m, &chain, true);
			pm_run(m, &chain, false);
			for (; pm_any(m, 12); n++)
				pm_run(m, &longer, true);
			pm_run(m, &longer, false);
			pm_run(m, &match, 0);
			continue;
		}
		pm_run(m, &find, true);
		if (pm_any(m, 200)) {
			pm_run(m, &lit, true);
			continue;
		}
		pm_run(m, &lit, false);
		pm_run(m, &lit_loop, 0);
		for (unsigned i = 0; i < 30; i++, n++)
			pm_run(m, &emit, i < 29);
		pm_run(m, &ret, 0);
		pm_run(m, &back, 0);
	}
}

static void sort(struct pm *m, uint64_t branches)
{
	struct pm_block up, compared, down, next, done, test, less, more;

	pm_function(m, "by_key");
	test = pm_block(m, PM_COND, 4, 0);
	less = pm_block(m, PM_RETURN, 1, 0);
	pm_aim(m, &test, pm_here(m));
	more = pm_block(m, PM_RETURN, 2, 0);
	pm_function(m, "partition");
	up = pm_block(m, PM_INDIRECT_CALL, 4, 0);
	compared = pm_block(m, PM_COND, 1, up.ip);
	down = pm_block(m, PM_INDIRECT_CALL, 4, 0);
	next = pm_block(m, PM_COND, 1, down.ip);
	done = pm_block(m, PM_JUMP, 8, up.ip);
	pm_start(m, up.ip);
	for (uint64_t n = 0; n < branches;) {
		for (unsigned side = 0; side < 2; side++) {
			bool again = true;

			for (; again; n += 4) {
				bool greater = pm_any(m, 2);

				again = pm_any(m, 2);
				pm_run(m, side ? &down : &up, test.ip);
				pm_run(m, &test, greater);
				pm_run(m, greater ? &more : &less, 0);
				pm_run(m, side ? &next : &compared, again);
			}
		}
		pm_run(m, &done, 0);
	}
}

/* fib(n): two calls in each call. */
struct fib {
	struct pm_block test, base, first, second, sum;
};

static uint64_t fib(struct pm *m, const struct fib *f, unsigned n)
{
	uint64_t k = 1;

	pm_run(m, &f->test, n < 2);
	if (n < 2) {
		pm_run(m, &f->base, 0);
		return 2;
	}
	pm_run(m, &f->first, 0);
	k += fib(m, f, n - 1);
	pm_run(m, &f->second, 0);
	k += fib(m, f, n - 2);
	pm_run(m, &f->sum, 0);
	return k + 3;
}

static void calls(struct pm *m, uint64_t branches)
{
	struct pm_block call, again;
	struct fib f;

	pm_function(m, "fib");
	f.test = pm_block(m, PM_COND, 5, 0);
	f.first = pm_block(m, PM_CALL, 2, f.test.ip);
	f.second = pm_block(m, PM_CALL, 3, f.test.ip);
	f.sum = pm_block(m, PM_RETURN, 5, 0);
	pm_aim(m, &f.test, pm_here(m));
	f.base = pm_block(m, PM_RETURN, 2, 0);
	pm_function(m, "main");
	call = pm_block(m, PM_CALL, 1, f.test.ip);
	again = pm_block(m, PM_JUMP, 0, call.ip);
	pm_start(m, call.ip);
	for (uint64_t n = 0; n < branches;) {
		pm_run(m, &call, 0);
		n += fib(m, &f, 20);
		pm_run(m, &again, 0);
	}
}

/* 5,000 deep, and back. */
static void recursion(struct pm *m, uint64_t branches)
{
	enum { DEPTH = 5000 };
	struct pm_block call, again, test, deeper, rest, base;

	pm_function(m, "visit");
	test = pm_block(m, PM_COND, 4, 0);
	deeper = pm_block(m, PM_CALL, 3, test.ip);
	rest = pm_block(m, PM_RETURN, 3, 0);
	pm_aim(m, &test, pm_here(m));
	base = pm_block(m, PM_RETURN, 1, 0);
	pm_function(m, "main");
	call = pm_block(m, PM_CALL, 1, test.ip);
	again = pm_block(m, PM_JUMP, 0, call.ip);
	pm_start(m, call.ip);
	for (uint64_t n = 0; n < branches; n += 3 * DEPTH) {
		pm_run(m, &call, 0);
		for (unsigned i = 0; i < DEPTH; i++) {
			pm_run(m, &test, false);
			pm_run(m, &deeper, 0);
		}
		pm_run(m, &test, true);
		pm_run(m, &base, 0);
		for (unsigned i = 0; i < DEPTH; i++)
			pm_run(m, &rest, 0);
		pm_run(m, &again, 0);
	}
}

/* Functions that are called once each, and so on from the first one when there are no more. */
static void functions(struct pm *m, uint64_t branches)
{
	enum { FUNCTIONS = 100000 };
	struct one {
		struct pm_block a, b, c, ret;
	} *f = calloc(FUNCTIONS, sizeof(*f));
	struct pm_block *call = calloc(FUNCTIONS, sizeof(*call)), again;
	uint64_t n = 0;
	char name[32];

	if (!f || !call)
		die("out of memory");
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		snprintf(name, sizeof(name), "once_%u", i);
		pm_function(m, name);
		f[i].a = pm_block(m, PM_COND, 3 + i % 7, 0);
		f[i].b = pm_block(m, PM_JUMP, 2, 0);
		pm_aim(m, &f[i].a, pm_here(m));
		f[i].c = pm_block(m, PM_COND, 2 + i % 3, 0);
		pm_aim(m, &f[i].b, pm_here(m));
		pm_aim(m, &f[i].c, pm_here(m));
		f[i].ret = pm_block(m, PM_RETURN, 4, 0);
	}
	pm_function(m, "main");
	for (unsigned i = 0; i < FUNCTIONS; i++)
		call[i] = pm_block(m, PM_CALL, 1, f[i].a.ip);
	again = pm_block(m, PM_JUMP, 0, call[0].ip);
	pm_start(m, call[0].ip);
	do {
		for (unsigned i = 0; i < FUNCTIONS; i++, n += 3) {
			bool first = pm_any(m, 2);

			pm_run(m, &call[i], 0);
			pm_run(m, &f[i].a, first);
			if (first)
				pm_run(m, &f[i].c, pm_any(m, 2));
			else
				pm_run(m, &f[i].b, 0);
			pm_run(m, &f[i].ret, 0);
		}
		pm_run(m, &again, 0);
	} while (n < branches);
	free(f);
	free(call);
}

/* Ten calls deep, and by longjmp to where setjmp returned. */
static void longjumps(struct pm *m, uint64_t branches)
{
	enum { DEPTH = 10 };
	struct pm_block set, save, again, call, deep[DEPTH], throw, jump;

	pm_function(m, "_setjmp");
	save = pm_block(m, PM_RETURN, 12, 0);
	pm_function(m, "longjmp");
	jump = pm_block(m, PM_INDIRECT_JUMP, 12, 0);
	for (unsigned i = DEPTH; i-- > 0;) {
		char name[32];

		snprintf(name, sizeof(name), "parse_%u", i);
		pm_function(m, name);
		deep[i] = pm_block(m, PM_CALL, 5, i == DEPTH - 1 ? jump.ip : deep[i + 1].ip);
		pm_block(m, PM_RETURN, 0, 0);
	}
	pm_function(m, "main");
	set = pm_block(m, PM_CALL, 2, save.ip);
	again = pm_block(m, PM_COND, 1, 0);
	call = pm_block(m, PM_CALL, 2, deep[0].ip);
	throw = pm_block(m, PM_JUMP, 2, set.ip);
	pm_aim(m, &again, pm_here(m));
	throw = pm_block(m, PM_JUMP, 3, set.ip);
	pm_start(m, set.ip);
	for (uint64_t n = 0; n < branches; n += 5) {
		pm_run(m, &set, 0);
		pm_run(m, &save, 0);
		pm_run(m, &again, false);
		pm_run(m, &call, 0);
		for (unsigned i = 0; i < DEPTH; i++)
			pm_run(m, &deep[i], 0);
		pm_run(m, &jump, again.ip);
		m->stack.n = 0;
		pm_run(m, &again, true);
		pm_run(m, &throw, 0);
	}
}

static const struct program {
	const char *name;
	void (*run)(struct pm *m, uint64_t branches);
} programs[] = {
	{"loop", loop},
	{"interpreter", interpreter},
	{"compressor", compressor},
	{"sort", sort},
	{"calls", calls},
	{"recursion", recursion},
	{"functions", functions},
	{"longjmp", longjumps},
};

/* ---- files ---- */

static void write_file(const char *path, const struct ty_buf *b, size_t from)
{
	FILE *f = fopen(path, "we");

	if (!f || b->failed || fwrite(b->p + from, b->len - from, 1, f) != 1 || fclose(f))
		die("cannot write");
}

static void read_file(const char *path, struct ty_buf *b)
{
	FILE *f = fopen(path, "re");
	size_t n;

	while (f && !ty_buf_reserve(b, 1 << 20) && (n = fread(b->p + b->len, 1, 1 << 20, f)) > 0)
		b->len += n;
	if (!f || fclose(f))
		die("cannot read");
}

struct image {
	const char *path;
	uint64_t addr, len, off;
};

/* The packets in pieces of so many bytes; lost: of each, what is behind it is lost. */
struct pieces {
	size_t bytes;
	bool lost;
};

static void perf_data(const struct ty_buf *packets, struct pieces pieces, struct pm_options o,
		      const char *cpu, const struct image *images, unsigned images_n,
		      const char *path)
{
	const struct ty_perf_where w = {.pid = TID, .tid = TID, .time_ns = 1, .id = 1};
	struct perf_event_attr attr = {
		.type = PMU_TYPE,
		.size = sizeof(attr),
		.config = CONFIG_TSC | CONFIG_BRANCH | 1 |
			  (o.return_compression ? 0 : CONFIG_NORETCOMP) |
			  (o.mtc ? CONFIG_MTC | PM_MTC_FREQ << MTC_FREQ_SHIFT : 0) |
			  (o.cyc ? CONFIG_CYC : 0),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_IDENTIFIER,
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
		[TY_PT_INFO_MTC_BIT] = CONFIG_MTC,
		[TY_PT_INFO_MTC_FREQ_BITS] = MTC_FREQ_BITS,
		[TY_PT_INFO_TSC_CTC_N] = PM_TSC_CTC,
		[TY_PT_INFO_TSC_CTC_D] = 1,
		[TY_PT_INFO_CYC_BIT] = CONFIG_CYC,
		[TY_PT_INFO_NONTURBO_RATIO] = PM_NOM_FREQ,
	};
	const uint64_t id = 1;
	uint64_t head[13] = {0};
	char text[64] = "";
	struct ty_buf b;

	ty_buf_init(&b, SIZE_MAX / 2);
	memcpy(head, "PERFILE2", 8);
	head[1] = sizeof(head);
	head[2] = sizeof(attr) + 16;
	head[3] = sizeof(head) + 8; /* attributes, behind the id */
	head[4] = head[2];
	head[5] = head[3] + head[4]; /* records */
	head[9] = 1 << FEAT_HOSTNAME | 1 << FEAT_CPUID;
	ty_buf_add(&b, head, sizeof(head));
	ty_buf_addle(&b, id, 8);
	ty_buf_add(&b, &attr, sizeof(attr));
	ty_buf_addle(&b, sizeof(head), 8);
	ty_buf_addle(&b, 8, 8);
	ty_perf_put_auxtrace_info(&b, TY_PERF_AUXTRACE_INTEL_PT, words, TY_PT_INFO_WORDS, "");
	ty_perf_put_time_conv(&b, &(struct perf_event_mmap_page){.time_mult = 1});
	ty_perf_put_comm(&b, &w, "bench", true);
	for (unsigned i = 0; i < images_n; i++)
		ty_perf_put_mmap2(&b, &w, images[i].addr, images[i].len, images[i].off,
				  PROT_READ | PROT_EXEC, NULL, 0, images[i].path);
	ty_perf_put_itrace_start(&b, &w);
	for (size_t at = 0, n; at < packets->len; at += n) {
		uint64_t off = pieces.lost ? 2 * at : at, reference = at + 1;

		n = packets->len - at < pieces.bytes ? packets->len - at : pieces.bytes;
		ty_perf_put_auxtrace(&b, -1, TID, 0, off, packets->p + at, n);
		/* perf wants one that is not 0. */
		memcpy(b.p + b.len - n - 24, &reference, 8);
	}
	head[6] = b.len - head[5];
	/* Where they are, and how long; each is a string: its length, padded, then it. */
	for (unsigned i = 0; i < 2; i++) {
		ty_buf_addle(&b, head[5] + head[6] + 32 + i * (4 + sizeof(text)), 8);
		ty_buf_addle(&b, 4 + sizeof(text), 8);
	}
	gethostname(text, sizeof(text) - 1);
	ty_buf_addle(&b, sizeof(text), 4);
	ty_buf_add(&b, text, sizeof(text));
	memset(text, 0, sizeof(text));
	snprintf(text, sizeof(text), "GenuineIntel,%s", cpu);
	ty_buf_addle(&b, sizeof(text), 4);
	ty_buf_add(&b, text, sizeof(text));
	memcpy(b.p, head, sizeof(head));
	write_file(path, &b, 0);
	ty_buf_fini(&b);
}

static int program(char **argv)
{
	struct pm_options o = {.tsc = 1000000, .return_compression = true};
	struct ty_buf elf;
	struct image image = {.path = argv[4], .addr = BASE, .off = PM_ELF_OFF};
	struct pm m;

	o.long_tnt = strchr(argv[2], 'l');
	o.return_compression = !strchr(argv[2], 'u');
	o.mtc = strchr(argv[2], 'm');
	o.cyc = strchr(argv[2], 'c');
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		if (strcmp(programs[i].name, argv[1]))
			continue;
		pm_init(&m, BASE, o);
		programs[i].run(&m, strtoull(argv[3], NULL, 0));
		pm_stop(&m);
		ty_buf_init(&elf, SIZE_MAX / 2);
		pm_elf(&m, &elf);
		write_file(argv[4], &elf, 0);
		image.len = (m.code.len + 4095) & ~(uint64_t)4095;
		perf_data(&m.out, (struct pieces){.bytes = SIZE_MAX}, o, "6,142,10", &image, 1,
			  argv[5]);
		printf("%zu %llu\n", m.out.len, (unsigned long long)m.insns);
		ty_buf_fini(&elf);
		pm_fini(&m);
		return 0;
	}
	die("no such program");
	return 1;
}

/* Add `by` to every TSC; *first and *last: of them then. Where the last packet ends that the stream
 * has whole, and (off) tracing was last off. */
static size_t shift(struct ty_buf *b, uint64_t by, uint64_t *first, uint64_t *last, size_t *off)
{
	struct pt_config conf;
	struct pt_packet_decoder *d;
	struct pt_packet pk;
	uint64_t at = 0;

	pt_config_init(&conf);
	conf.begin = (uint8_t *)b->p;
	conf.end = conf.begin + b->len;
	d = pt_pkt_alloc_decoder(&conf);
	if (!d || pt_pkt_sync_forward(d) < 0)
		die("no packets");
	*first = *off = 0;
	for (;;) {
		pt_pkt_get_offset(d, &at);
		if (pt_pkt_next(d, &pk, sizeof(pk)) < 0)
			break;
		if (pk.type == ppt_tip_pgd)
			*off = at + pk.size;
		if (pk.type != ppt_tsc)
			continue;
		*last = pk.payload.tsc.tsc + by;
		*first = *first ? *first : *last;
		memcpy(b->p + at + 1, last, 7);
	}
	pt_pkt_free_decoder(d);
	return at;
}

static int capture(char **argv)
{
	char *at = strchr(argv[5], '@'), cpu[32];
	size_t bytes = strtoull(argv[3], NULL, 0) << 20, psb, whole, off, piece;
	struct ty_buf raw, all, elf;
	uint64_t first = 0, last = 0, by = 0, lowest = UINT64_MAX, base;
	struct image images[16];
	unsigned images_n = 0, f, mo, s;
	Elf64_Ehdr e;

	if (!at || sscanf(argv[2], "%u/%u/%u", &f, &mo, &s) != 3)
		die("usage");
	snprintf(cpu, sizeof(cpu), "%u,%u,%u", f, mo, s);
	*at = 0;
	base = strtoull(at + 1, NULL, 0);
	ty_buf_init(&raw, SIZE_MAX / 2);
	ty_buf_init(&all, SIZE_MAX / 2);
	ty_buf_init(&elf, SIZE_MAX / 2);
	read_file(argv[4], &raw);
	read_file(argv[5], &elf);
	memcpy(&e, elf.p, sizeof(e));
	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < e.e_phnum && images_n < 16; i++) {
			Elf64_Phdr p;

			memcpy(&p, elf.p + e.e_phoff + i * sizeof(p), sizeof(p));
			if (p.p_type != PT_LOAD)
				continue;
			if (!pass)
				lowest = p.p_vaddr < lowest ? p.p_vaddr : lowest;
			else if (p.p_flags & PF_X)
				images[images_n++] = (struct image){
					argv[5],
					(base ? base - (lowest & ~4095ull) : 0) +
						(p.p_vaddr & ~4095ull),
					(p.p_memsz + (p.p_vaddr & 4095) + 4095) & ~4095ull,
					p.p_offset & ~4095ull};
		}
	/* From its first PSB to where tracing ended, each time as if what is behind it was lost:
	 * what a ring holds before is of no use. */
	whole = shift(&raw, 0, &first, &last, &off);
	psb = (size_t)((uint8_t *)memmem(raw.p, raw.len, "\x02\x82\x02\x82\x02\x82\x02\x82", 8) -
		       (uint8_t *)raw.p);
	raw.len = off ? off : whole;
	piece = (raw.len - psb + 7) & ~(size_t)7;
	while (all.len < bytes) {
		shift(&raw, by, &first, &last, &off);
		by = last - first + 1000;
		ty_buf_add(&all, raw.p + psb, raw.len - psb);
		while (all.len % piece)
			ty_buf_addc(&all, 0);
	}
	perf_data(&all, (struct pieces){.bytes = piece, .lost = true},
		  (struct pm_options){.return_compression = true}, cpu, images, images_n, argv[6]);
	printf("%zu 0\n", all.len);
	ty_buf_fini(&raw);
	ty_buf_fini(&all);
	ty_buf_fini(&elf);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 7 && !strcmp(argv[1], "capture"))
		return capture(argv);
	if (argc == 6)
		return program(argv);
	fputs("usage: flow_make PROGRAM OPTIONS BRANCHES ELF OUT | capture F/M/S MEGABYTES RAW "
	      "IMAGE@BASE OUT\n",
	      stderr);
	return 2;
}
