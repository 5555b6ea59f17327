/* SPDX-License-Identifier: MIT */
/* Writes what a fuzzer starts from into the directory argv[1], for the fuzzer argv[2] without
 * "fuzz_"; the files argv[3]... are ELF files for those that read such. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "call_data_record.h"
#include "counter_record.h"
#include "stack_record.h"
#include "fixture_story.h"
#include "section.h"
#include "fixture_trace.h"
#include "perf_events.h"
#include "perf_write.h"
#include "pt_encode.h"
#include "ring_pages.h"
#include "spe_encode.h"

static const char *dir;
static char **elf; /* files, NULL at the end */

static const char *in_dir(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void spool(const char *name, bool finish)
{
	struct ty_spool_writer *w;
	struct ty_spool *s;

	assert_int_equal(ty_spool_create(in_dir(name), TY_FX_PAGE, &s, NULL), 0);
	assert_int_equal(ty_spool_publish(s, NULL), 0);
	w = ty_spool_writer_new(s, 1 << 16);
	ty_fx_spool_meta(w);
	for (unsigned k = 0; k < 2; k++)
		for (unsigned seq = 0; seq < 2; seq++)
			assert_int_equal(ty_fx_spool_data(w, k, k, seq, 1, NULL), 0);
	ty_fx_spool_end(w);
	if (finish)
		assert_int_equal(ty_spool_finish(s, NULL), 0);
	ty_spool_writer_free(w);
	ty_spool_close(s);
}

/* A call's string in an event of its own (user_strings.h), and one whose place is outside. */
static void event_string(void)
{
	const uint64_t ptr = 0x10;

	for (unsigned i = 0; i < 2; i++) {
		const uint32_t number = 80, tid = TY_STORY_WEB, loc = (i ? 5000 : 28) | 4 << 16;
		const uint64_t ns = TY_STORY_START + 4000000000ull + i * 10000;
		uint8_t p[32] = {700 & 0xff, 700 >> 8};
		struct ty_event ev = {.ts_ns = ns, .tid = TY_STORY_WEB, .kind = TY_EV_SYS_ENTER};

		ev.u.enter.nr = number;
		ev.u.enter.args[0] = ptr;
		ty_story_event(&ev);
		memcpy(p + 4, &tid, 4);
		memcpy(p + 8, &number, 4);
		memcpy(p + 16, &ptr, 8);
		memcpy(p + 24, &loc, 4);
		memcpy(p + 28, "/a", 3);
		ty_story_event(&(struct ty_event){
			.ts_ns = ns + 1000, .kind = TY_EV_OTHER, .data = p, .size = sizeof(p)});
	}
}

static const char string_format[] =
	"name: sys_enter_chdir\nID: 700\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:long filename;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc char[] __filename_val;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"\"\n";

/* Readings of counters, of which a ratio can be made; one damaged, one of losses. Command lines,
 * one of them cut. */
static void counted(const char *name)
{
	static const char facts[] = "arch=x86_64\ncounter=0 count cycles\n"
				    "counter=0 count instructions\ncounter=1 ns task-clock\n";
	char commands[200];
	struct ty_buf b;

	snprintf(commands, sizeof(commands),
		 "%llu\t%d\tpostgres:\\tapp\tSELECT\n%llu\t%d\tidle\n9\t8", TY_STORY_START + 10ull,
		 TY_STORY_WEB, TY_STORY_START + 20000000ull, TY_STORY_WEB);
	ty_buf_init(&b, 1 << 16);
	for (unsigned i = 0; i < 6; i++) {
		const uint64_t ns = (i + 1) * 10000000ull,
			       v[3 + 2 * 2] = {1000 * i,
					       500 * i,
					       9000000,
					       ns,
					       ns,
					       ns,
					       i == 4 ? ns + 1 : ns / 2};
		const struct ty_counter_head h = {.ns = TY_STORY_START + ns,
						  .dur_ns = i == 3 ? 7 : 9000000,
						  .pid = TY_STORY_WEB,
						  .tid = TY_STORY_WEB,
						  .cpu = i & 1,
						  .flags = (uint16_t)(i == 3   ? TY_CT_LOST
								      : i == 2 ? TY_CT_UNREAD
									       : 0)};

		ty_buf_add(&b, &h, sizeof(h));
		ty_buf_add(&b, v, sizeof(v));
	}
	ty_story_begin(in_dir(name), 2, facts, TY_STORY_THREADS);
	ty_story_section(TY_SEC_COUNTERS, b.p, b.len);
	ty_story_section(TY_SEC_COMMANDS, commands, strlen(commands));
	ty_story_format("syscalls", string_format);
	ty_story_stall(ty_story_event);
	event_string();
	ty_story_end();
	ty_buf_fini(&b);
}

static void perf_data(const char *name)
{
	struct pw_at at = {.pid = 7, .tid = 7};
	struct perf_write w;
	struct ty_buf b;

	pe_init(&w);
	pe_index(&w, 0, -1);
	pw_comm(&w, at, "seed");
	for (at.time = 1000; at.time < 3000; at.time += 500) {
		at.cpu = at.time % 1000 != 0;
		pe_switch(&w, at, 9, 1);
		pe_lost(&w, at, 3);
		pe_call(&w, at, true, 0);
		pe_task(&w, at, true, 8, 8);
		pe_round(&w);
	}
	ty_buf_init(&b, 1 << 20);
	pw_pipe(&w, &b);
	ty_fx_write(in_dir(name), b.p, b.len);
	ty_buf_fini(&b);
	pw_fini(&w);
}

static void test_seeds(void **state)
{
	static const struct {
		const char *name;
		struct ty_fx_dat d;
	} dat[] = {
		{"v6", {6, "none", false, 8, 2, 2, 1, 1, false, false, 0}},
		{"v6-be", {6, "none", true, 4, 1, 1, 1, 1, false, false, 0}},
		{"v7-none", {7, "none", false, 8, 2, 1, 1, 1, false, false, 0}},
		{"v7-zlib", {7, "zlib", false, 8, 1, 1, 2, 1, true, false, 0}},
		{"v7-zstd", {7, "zstd", false, 8, 2, 1, 2, 1, true, true, 0}},
		{"v7-zstd-be", {7, "zstd", true, 4, 1, 1, 2, 2, false, false, 0}},
	};

	for (unsigned i = 0; i < sizeof(dat) / sizeof(*dat); i++) {
		struct ty_buf b;

		ty_fx_dat(&dat[i].d, &b);
		ty_fx_write(in_dir(dat[i].name), b.p, b.len);
		ty_buf_fini(&b);
	}
	spool("spool", false);
	spool("finished", true);
	counted("counted");
	perf_data("perf-data");
}

/* Kinds of parts, as in fuzz_pt.c. */
enum { PACKETS, HOLE, BACK, SIDEBAND, CODE, IMAGE, ELF, LOSS };

static void part(struct ty_buf *b, unsigned kind, unsigned stream, const void *p, size_t n)
{
	ty_buf_addc(b, (char)(kind | stream << 3));
	ty_buf_addle(b, n, 2);
	ty_buf_add(b, p, n);
}

/* A loop with a call, and ways through it. */
static void walk(struct ty_buf *out, uint64_t tsc)
{
	struct ty_pt_enc e;

	ty_pt_enc_init(&e, 1 << 20);
	ty_pt_enc_on(&e, tsc, 0x400000, true);
	for (unsigned i = 0; i < 20; i++) {
		ty_pt_enc_cond(&e, tsc += 10, i & 1);
		ty_pt_enc_indirect(&e, tsc += 10, 0x400005);
		ty_pt_enc_tick(&e, tsc, 0x400005, true);
		if (i == 10) {
			ty_pt_enc_async_off(&e, 0x400005);
			ty_pt_enc_on(&e, tsc += 100, 0x400005, true);
		}
	}
	ty_pt_enc_async_off(&e, 0x400005);
	ty_buf_add(out, e.out.p, e.out.len);
	ty_pt_enc_fini(&e);
}

static void test_pt_seeds(void **state)
{
	static const uint8_t code[32] = {0xe8, 0x0b,	    0,	  0,	0,    0xeb,
					 0xf9, [16] = 0x74, 0x02, 0x90, 0x90, 0xc3};
	static const char *const names[] = {"one", "hole", "two-cpus", "images", "loss"};
	struct ty_perf_where w = {.pid = 1, .tid = 1, .time_ns = 10};

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct ty_buf b, side, pt;

		ty_buf_init(&b, 1 << 20);
		ty_buf_init(&side, 1 << 20);
		ty_buf_init(&pt, 1 << 20);
		walk(&pt, 1000);
		ty_perf_put_mmap2(&side, &w, 0x400000, 4096, 0, 5, NULL, 0, "code");
		ty_perf_put_comm(&side, &w, "name", true);
		ty_perf_put_itrace_start(&side, &w);
		ty_perf_put_task(&side, &w, true, 1, 1);
		part(&b, CODE, i == 2 ? 1 : 2, code, sizeof(code));
		part(&b, SIDEBAND, 0, side.p, side.len);
		part(&b, PACKETS, i == 2 ? 0 : 2, pt.p, pt.len);
		if (i == 1)
			part(&b, HOLE, 2, pt.p, pt.len / 2);
		if (i == 2)
			part(&b, PACKETS, 1, pt.p, pt.len);
		if (i == 3)
			part(&b, IMAGE, 0, code, sizeof(code));
		if (i == 4) {
			part(&b, LOSS, 2, "", 0);
			part(&b, BACK, 2, pt.p, pt.len);
		}
		ty_fx_write(in_dir(names[i]), b.p, b.len);
		ty_buf_fini(&b);
		ty_buf_fini(&side);
		ty_buf_fini(&pt);
	}
}

/* A jitdump (decoder/jitdump.h): two functions at one place, and the second one moved. */
static void jitdump(struct ty_buf *b)
{
	static const char *const names[] = {"first", "second"};
	static const uint8_t body[] = {0x90, 0x90, 0x90, 0xc3};

	ty_buf_add(b, "DTiJ", 4);
	for (unsigned i = 0; i < 5; i++) /* version, size, machine, padding, pid */
		ty_buf_addle(b, (const unsigned[]){1, 40, 62, 0, 7}[i], 4);
	ty_buf_addle(b, 1000, 8);
	ty_buf_addle(b, 0, 8);
	for (unsigned i = 0; i < 2; i++) {
		size_t n = strlen(names[i]) + 1;

		ty_buf_addle(b, 0, 4);
		ty_buf_addle(b, 16 + 40 + n + sizeof(body), 4);
		ty_buf_addle(b, 1100 + i, 8);
		ty_buf_addle(b, 7, 4);
		ty_buf_addle(b, 7, 4);
		ty_buf_addle(b, 0x1000, 8);
		ty_buf_addle(b, 0x1000, 8);
		ty_buf_addle(b, sizeof(body), 8);
		ty_buf_addle(b, i, 8);
		ty_buf_add(b, names[i], n);
		ty_buf_add(b, body, sizeof(body));
	}
	ty_buf_addle(b, 1, 4);
	ty_buf_addle(b, 16 + 48, 4);
	ty_buf_addle(b, 1200, 8);
	ty_buf_addle(b, 7, 4);
	ty_buf_addle(b, 7, 4);
	for (unsigned i = 0; i < 5; i++) /* addresses, bytes, which */
		ty_buf_addle(b, (const unsigned[]){0x2000, 0x1000, 0x2000, 4, 1}[i], 8);
}

/* Kinds of parts, as in fuzz_names.c. */
static void test_name_seeds(void **state)
{
	static const char map[] = "1000 20 one\n1010 10 two\n2000 0 none\n",
			  syms[] = "ffffffff81000000 T _stext\n"
				   "ffffffff81000100 t do_it\t[module]\n";
	enum { JITDUMP, MAP, KALLSYMS };
	struct ty_buf b, dump;

	ty_buf_init(&b, 1 << 16);
	ty_buf_init(&dump, 1 << 16);
	jitdump(&dump);
	part(&b, JITDUMP, 0, dump.p, dump.len);
	ty_fx_write(in_dir("jitdump"), b.p, b.len);
	part(&b, MAP, 0, map, sizeof(map) - 1);
	part(&b, KALLSYMS, 0, syms, sizeof(syms) - 1);
	ty_fx_write(in_dir("all"), b.p, b.len);
	ty_buf_fini(&b);
	ty_buf_fini(&dump);
}

/* What fuzz_formats reads: texts with one of each that is printed, lists, a record. */
#define COMMON                                                                                     \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define F(decl, off, size) "\tfield:" decl ";\toffset:" #off ";\tsize:" #size ";\tsigned:0;\n"

static void test_format_seeds(void **state)
{
	static const char *const texts[] = {
		"name: sys_enter\nID: 1\n" COMMON F("long id", 8, 8)
			F("unsigned long args[6]", 16, 48) "\nprint fmt: \"NR %ld (%lx, %lx)\", "
							   "REC->id, REC->args[0], REC->args[1]\n",
		"name: bprint\nID: 6\n" COMMON F("unsigned long ip", 8, 8)
			F("const char * fmt", 16, 8)
				F("u32 buf[]", 24,
				  0) "\nprint fmt: \"%ps: %s\", (void *)REC->ip, REC->fmt\n",
		"name: print\nID: 5\n" COMMON F("unsigned long ip", 8, 8)
			F("char buf[]", 16,
			  0) "\nprint fmt: \"%ps: %s\", (void *)REC->ip, REC->buf\n",
		"name: irq_handler_entry\nID: 7\n" COMMON F("int irq", 8, 4)
			F("__data_loc char[] name", 12,
			  4) "\nprint fmt: \"irq=%d name=%s\", REC->irq, __get_str(name)\n",
		"name: flags\nID: 8\n" COMMON F("u32 a", 8, 4) F("u8 b[4]", 12, 4)
			F("u64 c", 16, 8) "\nprint fmt: \"%s %s %s %s\", __print_flags(REC->a, "
					  "\"|\", { 1, \"S\" }, { "
					  "0x2UL, \"D\" }), __print_symbolic(REC->a, { 0, \"HI\" "
					  "}, { 1, \"TIMER\" }), "
					  "__print_hex(REC->b, 4), __print_array(REC->b, 4, 1)\n",
		"name: loc\nID: 9\n" COMMON F("__data_loc u8[] d", 8, 4) F("__rel_loc char[] r", 12,
									   4)
			F("__data_loc unsigned long[] m", 16,
			  4) "\nprint fmt: \"%s %d %s\", __print_hex(__get_dynamic_array(d), "
			     "__get_dynamic_array_len(d)), __get_dynamic_array_len(m), "
			     "__get_rel_str(r)\n",
		"name: ops\nID: 10\n" COMMON F("u64 a", 8, 8) F("int n", 16, 4)
			F("char s[4]", 20, 4) "\nprint fmt: \"%*s %.*s %d%%\", REC->n, REC->s, "
					      "REC->n, REC->s, (REC->a >> 3 & "
					      "0xff) / 4 + (REC->n ? sizeof(int) : ~REC->n)\n",
	};
	static const char lists[] =
		"0x1000 : \"n=%d %s\\n\"\n0x2000 : \"%5.2lx %p\"\0"
		"ffffffff81000000 T _stext\nffffffff81000100 t do_it\t[module]\n";

	for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		char name[16];
		struct ty_buf b;

		ty_buf_init(&b, 1 << 20);
		ty_buf_add(&b, texts[i], strlen(texts[i]) + 1);
		ty_buf_add(&b, lists, sizeof(lists));
		for (unsigned k = 0; k < 4; k++)
			ty_buf_addle(&b, (const uint64_t[]){0, 0x0004001800040018, 0x1000, 2}[k],
				     8);
		ty_buf_add(&b, "abc\0\1\2\3\4", 8);
		ty_buf_add(&b, "abcdefg\0\1\2\3\4\5\6\7\10", 16);
		snprintf(name, sizeof(name), "%u", i);
		ty_fx_write(in_dir(name), b.p, b.len);
		ty_buf_fini(&b);
	}
}

static void test_log_seeds(void **state)
{
	static const char text[] =
		"no time yet\n2024-05-06T12:53:30Z hello\n"
		"2024-05-06T14:53:20,123456789+02:00 x\n2024/05/06 12:53:40 GMT\n"
		"{\"time\":\"2024-05-06T12:53:50.5Z\"}\n\tat somewhere\n"
		"10.0.0.1 - - [06/May/2024:12:53:20 +0000] \"GET / HTTP/1.1\" 200\n"
		"Date: Mon, 06 May 2024 12:53:20 GMT\nMay  6 14:53:20 host prog[1]: x\n"
		"I0506 14:53:20.500000 4242 main.cc:7] x\n"
		"4242:M 06 May 2024 14:53:20.250 * Ready\n[  120.500000] kernel\n"
		"1715000005 x\n1715000005000 x\n1715000005.25 x\n12:53:25 x\n"
		"<34>1 2024-05-06T12:53:20.003Z host app - - - m\n"
		"2024-10-27 02:30:00 CEST x\n";

	ty_fx_write(in_dir("all"), text, sizeof(text) - 1);
	for (const char *p = text; *p; p = strchr(p, '\n') + 1) {
		char name[24];

		snprintf(name, sizeof(name), "line%td", p - text);
		ty_fx_write(in_dir(name), p, (size_t)(strchr(p, '\n') + 1 - p));
	}
}

static void test_spe_seeds(void **state)
{
	struct ty_buf b;

	for (unsigned k = 0; k < 4; k++) {
		ty_buf_init(&b, 1 << 16);
		ty_buf_addle(&b, k, 1);	 /* which processor */
		ty_buf_addle(&b, 31, 1); /* pieces of 512 bytes */
		for (unsigned i = 0; i < 12; i++)
			spe_mem(&b, (struct spe_mem){.pc = 0x400000 + i % 3 * 4,
						     .va = 0x7f0000001000 + i % 5 * 8,
						     .pa = 0x1000 + i % 5 * 8,
						     .has_pa = k & 1,
						     .ts = 1000 + i * 10,
						     .ctx = k == 3 ? -1 : (int)(i % 3),
						     .source = (int)i,
						     .op = i & 1,
						     .total = 100 + i,
						     .issue = 5,
						     .xlat = 2});
		spe_address(&b, 9, 0x1234);
		spe_op(&b, 2, 1);
		spe_end(&b);
		spe_pad(&b, 7);
		ty_fx_write(in_dir((const char *[]){"n1", "n2", "hisi", "none"}[k]), b.p, b.len);
		ty_buf_fini(&b);
	}
}

static void test_ring_page_seeds(void **state)
{
	for (unsigned k = 0; k < 4; k++) {
		uint8_t page[1 + 1024] = {0}, rec[64] = {0};
		struct page_maker m = {.be = k & 1};

		page[0] = (uint8_t)k; /* big endian, longs of 4 bytes */
		ty_page_begin(&m, page + 1, 1024, 1000, k & 2 ? 4 : 8, k & 1);
		for (unsigned id = 1; id <= 4; id++) {
			ty_page_put(&m, rec, id, 2);
			ty_page_put(&m, rec + 8, 0x00080020, 4);
			ty_page_put(&m, rec + 12, 0x00080008, 4);
			ty_page_put(&m, rec + 16, 0x00100020, 4);
			memcpy(rec + 20, "text and more", 14);
			ty_page_data(&m, 10, rec, sizeof(rec));
			ty_page_extend(&m, 1ull << 30);
			ty_page_long(&m, 10, rec, sizeof(rec));
			ty_page_stamp(&m, 1ull << 32);
		}
		ty_page_padding(&m, 5, 16);
		ty_page_end(&m, k == 2 ? 7 : 0);
		ty_fx_write(in_dir((const char *[]){"le8", "be8", "le4", "be4"}[k]), page,
			    sizeof(page));
	}
}

/* An edit of each kind, as in fuzz_index.c; its mutator makes the others. */
static void test_index_seeds(void **state)
{
	static const uint8_t edits[1 + 2 * 8] = {0,    0x10, 0, 0, 0x80, 2, 0xff, 0xff, 0xff,
						 0x40, 0x10, 0, 0, 0,	 1, 1,	  1};

	ty_fx_write(in_dir("none"), edits, 1);
	ty_fx_write(in_dir("body"), edits, 9);
	ty_fx_write(in_dir("both"), edits, 17);
}

static void test_symbol_seeds(void **state)
{
	for (unsigned i = 0; elf[i]; i++) {
		char name[16];
		struct ty_buf b;

		ty_buf_init(&b, 1 << 20);
		ty_fx_read(elf[i], &b);
		snprintf(name, sizeof(name), "elf%u", i);
		ty_fx_write(in_dir(name), b.p, b.len);
		ty_buf_fini(&b);
	}
}

/* Nested regions with a loss and a line: 8 bytes per event. */
static void test_region_seeds(void **state)
{
	static const char seed[] = "\1\0\1\0\0\5\0\0"
				   "\1\0\2\0\0\5\0\0"
				   "\5\1\2\1\0\5\0\0"
				   "\2\0\0\0\0\5\0\0"
				   "\15\0\0\3\0\5\0\0"
				   "\14\0\0\0\0\5\0\100"
				   "\7\2\3\0\0\5\0\0"
				   "\10\2\3\0\0\5\0\0"
				   "S|1|upload|7";

	ty_fx_write(in_dir("nested"), seed, sizeof(seed));
}

/* Files with a static probe: this program. */
/* Every file of fuzz_trace and fuzz_perf_data with every command, as in fuzz_cli.c. */
static void wide_part(struct ty_buf *b, unsigned kind, const void *p, size_t n)
{
	ty_buf_addle(b, kind, 1);
	ty_buf_addle(b, n, 3);
	ty_buf_add(b, p, n);
}

static void put_elf(struct ty_buf *b, const char *path)
{
	struct ty_buf file;

	ty_buf_init(&file, 1 << 20);
	ty_fx_read(path, &file);
	wide_part(b, 3, file.p, file.len);
	ty_buf_fini(&file);
}

static void test_cli_seeds(void **state)
{
	static const char *const files[] = {"v6",	 "v6-be",      "v7-none", "v7-zlib",
					    "v7-zstd",	 "v7-zstd-be", "spool",	  "finished",
					    "perf-data", "counted"};
	static const char log[] = "1.5 x\n2024-05-06T12:53:30Z hello\n[  120.500000] kernel\n",
			  syms[] = "ffffffff81000000 T _stext\n";
	/* Of an index: edits that change nothing that counts, and one of a number. */
	static const uint8_t edits[2][8] = {{0xff, 0x0f, 0, 0}, {72, 0, 0, 0, 1, 0xff, 0xff}};
	enum { COMMANDS = 18 };

	test_seeds(NULL);
	for (unsigned i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct ty_buf b, file;
		char name[40];

		ty_buf_init(&file, 1 << 20);
		ty_fx_read(in_dir(files[i]), &file);
		for (unsigned k = i % 3; k < COMMANDS; k += 3) {
			ty_buf_init(&b, 2 << 20);
			wide_part(&b, 0, &(uint8_t){(uint8_t)k}, 1);
			wide_part(&b, 1, file.p, file.len);
			wide_part(&b, 2, log, sizeof(log) - 1);
			wide_part(&b, 4, syms, sizeof(syms) - 1);
			if (k / 3 % 2)
				wide_part(&b, 5, edits[k / 6 % 2], sizeof(*edits));
			else if (*elf)
				put_elf(&b, elf[k % 2]);
			snprintf(name, sizeof(name), "%s.%u", files[i], k);
			ty_fx_write(in_dir(name), b.p, b.len);
			ty_buf_fini(&b);
		}
		ty_buf_fini(&file);
		unlink(in_dir(files[i]));
	}
}

#define POLLFDS "\3\0\0\0\1\0\1\0\4\0\0\0\5\0\0"
#define RIGHTS	"\30\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0\5\0\0\0\6\0\0"
/* Name, vector (itself one, of two buffers) and control data, all at 16 and 24. */
#define MSGHDR                                                                                     \
	"\20\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0\20\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\30\0\0\0\0\0\0\0"      \
	"\30\0\0\0\0\0\0\0\0\0\0\0\0\0\0"

/* Records of each kind, one piece behind the other. */
static void test_call_data_seeds(void **state)
{
	static const struct ty_ev_fd fd = {.inode = 1,
					   .peer_inode = 2,
					   .fd = 4,
					   .peer_pid = 7,
					   .mode = 0140777,
					   .family = 1,
					   .type = 1,
					   .path_len = 255,
					   .path = "/run/x"};
	static const struct {
		struct ty_ev_fd fd;
		char parts[11];
	} got = {{.fd = 5, .mode = 0100644, .deleted = 1}, "passwd\0etc"};
	static const char messages[128] = MSGHDR;
	static const struct {
		struct ty_ev_record h;
		const char *bytes;
	} v[] = {
		{{.kind = TY_EVK_PIECE}, ""},
		{{.ns = 990, .tid = 7, .nr = 257, .kind = 2, .arg = 1, .ptr = 16, .len = 12},
		 "/etc/passwd"},
		{{.ns = 991, .tid = 7, .nr = 257, .kind = 2, .arg = 1, .ptr = 16, .flags = 2}, ""},
		{{.ns = 992,
		  .tid = 7,
		  .nr = 257,
		  .kind = 2,
		  .arg = 1,
		  .ptr = 16,
		  .flags = 1,
		  .len = 6},
		 "/a\"\n\1"},
		{{.ns = 993, .tid = 8, .nr = 42, .kind = 3, .arg = 1, .ptr = 32, .len = 8},
		 "\2\0\0\65\177\0\0\1"},
		{{.ns = 994, .tid = 8, .nr = 42, .kind = 3, .arg = 1, .ptr = 32, .len = 9},
		 "\1\0/run/x"},
		{{.ns = 995, .tid = 8, .nr = 42, .kind = 3, .arg = 1, .ptr = 32, .len = 12},
		 "\20\0\0\0\1\0\0\0\3\0\0\0"},
		{{.ns = 998,
		  .ptr = 3,
		  .tid = 8,
		  .nr = 43,
		  .len = sizeof(fd),
		  .kind = TY_EVK_FDS,
		  .flags = 1},
		 (const char *)&fd},
		{{.ns = 9, .tid = 1, .nr = 7, .kind = 7, .ptr = 2, .len = 16}, POLLFDS},
		{{.ns = 9, .tid = 1, .nr = 7, .kind = 7, .ptr = 2, .flags = 1, .len = 16}, POLLFDS},
		{{.ns = 9, .tid = 2, .nr = 270, .kind = 7, .arg = 1, .ptr = 99, .len = 16},
		 POLLFDS},
		{{.ns = 9, .tid = 2, .nr = 270, .kind = 7, .arg = 5, .ptr = 99, .len = 16},
		 POLLFDS},
		{{.ns = 9, .tid = 3, .nr = 233, .kind = 7, .arg = 3, .ptr = 1, .len = 12}, POLLFDS},
		{{.ns = 9, .tid = 3, .nr = 61, .kind = 7, .arg = 1, .ptr = 1, .flags = 1, .len = 4},
		 "\x8b\0\0"},
		{{.ns = 9, .tid = 4, .nr = 38, .kind = 7, .arg = 1, .ptr = 1, .len = 32}, MSGHDR},
		{{.ns = 9, .tid = 4, .nr = 302, .kind = 7, .arg = 2, .ptr = 1, .len = 16}, MSGHDR},
		{{.ns = 9, .tid = 4, .nr = 14, .kind = 7, .arg = 1, .ptr = 1, .len = 8}, MSGHDR},
		{{.ns = 9, .tid = 4, .nr = 35, .kind = 7, .arg = 0, .ptr = 1, .len = 16}, MSGHDR},
		{{.ns = 9, .tid = 4, .nr = 20, .kind = 7, .arg = 1, .ptr = 16, .len = 32}, MSGHDR},
		{{.ns = 9, .tid = 4, .nr = 20, .kind = 8, .arg = 1, .ptr = 16, .len = 5}, "bytes"},
		{{.ns = 9, .tid = 5, .nr = 46, .kind = 7, .arg = 1, .ptr = 16, .len = 56}, MSGHDR},
		{{.ns = 9, .tid = 5, .nr = 46, .kind = 8, .arg = 1, .ptr = 16, .len = 32}, MSGHDR},
		{{.ns = 9, .tid = 5, .nr = 46, .kind = 8, .arg = 1, .ptr = 24, .len = 24}, RIGHTS},
		{{.ns = 9, .tid = 5, .nr = 1, .kind = 7, .arg = 1, .ptr = 16, .len = 5}, "bytes"},
		{{.ns = 9,
		  .tid = 6,
		  .nr = 43,
		  .kind = 9,
		  .arg = 1,
		  .ptr = 5,
		  .flags = 1,
		  .len = 16},
		 "\200\0\0\0\20\0\0\0\2\0\0\65\177\0\0\1"},
		{{.ns = 9,
		  .tid = 6,
		  .nr = 47,
		  .kind = 7,
		  .arg = 1,
		  .ptr = 16,
		  .flags = 1,
		  .len = 56},
		 MSGHDR},
		{{.ns = 9,
		  .tid = 6,
		  .nr = 47,
		  .kind = 8,
		  .arg = 1,
		  .ptr = 24,
		  .flags = 1,
		  .len = 24},
		 RIGHTS},
		{{.ns = 9,
		  .tid = 6,
		  .nr = 47,
		  .kind = 10,
		  .arg = 1,
		  .ptr = 16,
		  .flags = 1,
		  .len = sizeof(got.fd) + sizeof(got.parts)},
		 (const char *)&got},
		{{.ns = 9,
		  .tid = 6,
		  .nr = 299,
		  .kind = 7,
		  .arg = 1,
		  .ptr = 2,
		  .flags = 1,
		  .len = 128},
		 messages},
		{{.ns = 9,
		  .tid = 6,
		  .nr = 307,
		  .kind = 7,
		  .arg = 1,
		  .ptr = 2,
		  .flags = 5,
		  .len = 120},
		 messages},
		{{.kind = TY_EVK_PIECE, .ptr = 1, .ns = 3}, ""},
		{{.ns = 996, .tid = 9, .kind = 4, .flags = 4, .len = 9}, "ls\0-l\0abc"},
		{{.ns = 997, .tid = 9, .nr = 59, .kind = 5, .arg = 1, .ptr = 48, .len = 6},
		 "ls\0-l"},
	};
	struct ty_buf all;

	ty_buf_init(&all, 1 << 16);
	for (unsigned i = 0; i < sizeof(v) / sizeof(*v); i++) {
		char one[sizeof(v->h) + sizeof(got)], name[24];

		memcpy(one, &v[i].h, sizeof(v->h));
		memcpy(one + sizeof(v->h), v[i].bytes, v[i].h.len);
		snprintf(name, sizeof(name), "record%u", i);
		ty_fx_write(in_dir(name), one, sizeof(v->h) + v[i].h.len);
		ty_buf_add(&all, one, sizeof(v->h) + v[i].h.len);
	}
	ty_fx_write(in_dir("all"), all.p, all.len);
	ty_buf_fini(&all);
}

static void put_record(struct ty_buf *b, struct ty_stk_head h, const void *p, size_t n)
{
	h.len = (uint32_t)n;
	ty_buf_add(b, &h, sizeof(h));
	ty_buf_add(b, p, n);
}

/* Each file mapped as a whole at 4 MB, and a stack whose every word points into it. */
static void test_stack_seeds(void **state)
{
	for (unsigned i = 0; elf[i]; i++) {
		struct ty_buf file, stacks, maps, all;
		uint64_t words[1 + 17 + 64];
		struct ty_stk_map m = {.start = 0x400000, .bytes = 0x100000};
		char map[sizeof(m) + 5], name[16];

		ty_buf_init(&file, 1 << 20);
		ty_buf_init(&stacks, 1 << 16);
		ty_buf_init(&maps, 1 << 16);
		ty_buf_init(&all, 1 << 21);
		ty_fx_read(elf[i], &file);
		for (unsigned k = 0; k < sizeof(words) / 8; k++)
			words[k] = 0x401000 + 0x20 * k;
		words[1 + 7] = 0x7000000; /* the stack pointer */
		put_record(&stacks, (struct ty_stk_head){.kind = TY_STK_PIECE}, "", 0);
		for (unsigned k = 0; k < 2; k++)
			put_record(&stacks,
				   (struct ty_stk_head){.ns = 1000 + k,
							.pid = 7,
							.tid = 7 + k,
							.target = 7,
							.kind = (uint8_t)(TY_STK_WAIT + k),
							.regs_n = 17,
							.kernel_n = 1},
				   words, sizeof(words));
		put_record(
			&stacks,
			(struct ty_stk_head){
				.ns = 1000, .pid = 7, .tid = 7, .target = 7, .kind = TY_STK_PYTHON},
			"\51\0\0\0\5\0\2\0\1\0\0\0a.py\0f", 19);
		memcpy(map, &m, sizeof(m));
		memcpy(map + sizeof(m), "/elf", 5);
		put_record(&maps, (struct ty_stk_head){.ns = 1, .pid = 7, .kind = TY_STK_EXEC}, "",
			   0);
		put_record(&maps, (struct ty_stk_head){.ns = 2, .pid = 7, .kind = TY_STK_MAP}, map,
			   sizeof(map));
		ty_buf_addle(&all, stacks.len, 4);
		ty_buf_addle(&all, maps.len, 4);
		ty_buf_add(&all, stacks.p, stacks.len);
		ty_buf_add(&all, maps.p, maps.len);
		ty_buf_add(&all, file.p, file.len);
		snprintf(name, sizeof(name), "elf%u", i);
		ty_fx_write(in_dir(name), all.p, all.len);
		ty_buf_fini(&file);
		ty_buf_fini(&stacks);
		ty_buf_fini(&maps);
		ty_buf_fini(&all);
	}
}

/* Samples of an event with call chains, registers and copies of stacks; of one without. */
static void test_sample_seeds(void **state)
{
	const uint64_t more = TY_PERF_S_CALLCHAIN | TY_PERF_S_REGS_USER | TY_PERF_S_STACK_USER;

	for (unsigned k = 0; k < 6; k++) {
		struct pw_at at = {.pid = 7, .tid = 7, .time = 1000};
		struct perf_write w;
		struct ty_buf b;

		pw_init(&w);
		w.arch = "x86_64";
		w.sample_type = TY_PERF_S_IP | TY_PERF_S_TID | TY_PERF_S_TIME |
				TY_PERF_S_IDENTIFIER |
				(k > 3	 ? TY_PERF_S_CALLCHAIN | TY_PERF_S_BRANCH_STACK
				 : k & 1 ? more
					 : 0);
		w.branch_type = k == 4 ? TY_PERF_BRANCH_CALL_STACK : TY_PERF_BRANCH_HW_INDEX;
		pw_comm(&w, at, "seed");
		pw_mmap2(&w, at, 0x400000, 0x10000, 0, 5, "/proc/self/exe");
		for (unsigned i = 0; i < 8; i++) {
			/* 3 callers, no registers, 16 bytes of stack */
			const uint64_t body[] = {PW_ID,
						 0x400100 + i * 16,
						 7ull << 32 | 7,
						 2000 + i,
						 3,
						 (uint64_t)-512,
						 0x400100,
						 0x400200,
						 0,
						 16,
						 0x400300,
						 0,
						 16};

			/* Two branches; 0 is where the newest is */
			const uint64_t calls[] = {PW_ID,    0x400100, 7ull << 32 | 7,
						  2000 + i, 2,	      (uint64_t)-512,
						  0x400100, 2,	      0x400204,
						  0x400100, 0,	      0x400304,
						  0x400200, 2,	      0};

			if (k > 3)
				pw_rec(&w, TY_PERF_SAMPLE, 2, calls, (k == 4 ? 14 : 15) * 8);
			else
				pw_rec(&w, TY_PERF_SAMPLE, 2, body, (k & 1 ? 13 : 4) * 8);
		}
		ty_buf_init(&b, 1 << 20);
		if (k & 2)
			pw_pipe(&w, &b);
		else
			pw_file(&w, &b);
		ty_fx_write(in_dir((const char *[]){"plain", "chains", "pipe", "pipe-chains",
						    "calls", "branches"}[k]),
			    b.p, b.len);
		ty_buf_fini(&b);
		pw_fini(&w);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *fuzzer;
		CMUnitTestFunction f;
	} all[] = {{"trace", test_seeds},	   {"perf_data", test_seeds},
		   {"pt", test_pt_seeds},	   {"names", test_name_seeds},
		   {"formats", test_format_seeds}, {"log", test_log_seeds},
		   {"spe", test_spe_seeds},	   {"ring_page", test_ring_page_seeds},
		   {"index", test_index_seeds},	   {"symbols", test_symbol_seeds},
		   {"cli", test_cli_seeds},	   {"call_data", test_call_data_seeds},
		   {"stacks", test_stack_seeds},   {"sdt", test_symbol_seeds},
		   {"regions", test_region_seeds}, {"samples", test_sample_seeds}};

	if (argc < 3)
		return 2;
	dir = argv[1];
	elf = argv + 3;
	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(argv[2], all[i].fuzzer)) {
			const struct CMUnitTest one[] = {{argv[2], all[i].f, NULL, NULL, NULL}};

			return cmocka_run_group_tests(one, NULL, NULL);
		}
	fprintf(stderr, "seeds: none for '%s'\n", argv[2]);
	return 2;
}
