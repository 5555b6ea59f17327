/* SPDX-License-Identifier: MIT */
#include "fixture_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/time.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

static char dir[256];

const char *ty_fx_dir(void)
{
	if (!*dir) {
		snprintf(dir, sizeof(dir), "%s/tarry-test-XXXXXX",
			 getenv("TMPDIR") ? getenv("TMPDIR") : P_tmpdir);
		assert_non_null(mkdtemp(dir));
	}
	return dir;
}

const char *ty_fx_path(const char *name)
{
	static char path[8][512];
	static unsigned k;
	char *p = path[k++ % 8];

	snprintf(p, sizeof(path[0]), "%s/%s", ty_fx_dir(), name);
	return p;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
	return remove(path);
}

void ty_fx_remove_dir(void)
{
	if (*dir)
		nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	*dir = 0;
}

unsigned ty_fx_files(const char *in)
{
	DIR *d = opendir(in);
	unsigned n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

uint64_t ty_fx_ns(unsigned buffer, unsigned cpu, unsigned n)
{
	return 1000000ull * (n + 1) + cpu * 1000 + buffer;
}

void ty_fx_page(uint8_t *page, uint32_t page_size, unsigned buffer, unsigned cpu, unsigned n)
{
	uint64_t ns = ty_fx_ns(buffer, cpu, n), commit = page_size - 16;

	memcpy(page, &ns, 8);
	memcpy(page + 8, &commit, 8);
	for (uint32_t i = 16; i < page_size; i++)
		page[i] = (uint8_t)(i / 16 + n * 7 + cpu * 31 + buffer * 57);
}

static void put(struct ty_spool_writer *w, int type, uint32_t stream, uint64_t seq, const void *p,
		size_t n)
{
	const struct ty_spool_chunk what = {.type = (uint16_t)type, .stream = stream, .seq = seq};
	struct ty_err err = {0};

	assert_int_equal(ty_spool_put(w, &what, p, n, &err), 0);
}

#define HEADER_PAGE                                                                                \
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"                                 \
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
#define FORMAT(name, id) "name: " name "\nID: " #id "\nformat:\n"

#define PUT(type, stream, seq, text) put(w, type, stream, seq, text, sizeof(text) - 1)

void ty_fx_spool_meta(struct ty_spool_writer *w)
{
	PUT(TY_SPOOL_META, TY_META_HEADER_PAGE, 0, HEADER_PAGE);
	PUT(TY_SPOOL_META, TY_META_HEADER_EVENT, 0, "# compressed entry header\n");
	PUT(TY_SPOOL_META, TY_META_FTRACE_FORMAT, 0, FORMAT("print", 5));
	PUT(TY_SPOOL_META, TY_META_EVENT_FORMAT, 0, "sched\0" FORMAT("sched_switch", 300));
	PUT(TY_SPOOL_META, TY_META_EVENT_FORMAT, 1, "irq\0" FORMAT("irq_entry", 301));
	PUT(TY_SPOOL_META, TY_META_EVENT_FORMAT, 2, "sched\0" FORMAT("sched_waking", 302));
	PUT(TY_SPOOL_META, TY_META_KALLSYMS, 0, "ffff T first\n");
	PUT(TY_SPOOL_META, TY_META_KALLSYMS, 1, "fffe T second\n");
	PUT(TY_SPOOL_META, TY_META_PRINTK, 0, "");
	PUT(TY_SPOOL_META, TY_META_BUFFER, 0, "\0perf\0");
	PUT(TY_SPOOL_META, TY_META_BUFFER, 1, "syscalls\0perf\0");
	PUT(TY_SPOOL_META, TY_META_UNAME, 0, "Linux box 6.1 x86_64");
	PUT(TY_SPOOL_META, TY_META_VERSION, 0, "tarry test");
	PUT(TY_SPOOL_META, TY_META_CPUCOUNT, 0, "4\n");
	PUT(TY_SPOOL_META, TY_META_TRACE_CLOCK, 0, "local [perf]\n");
	PUT(TY_SPOOL_SECTION, TY_SEC_MACHINE, 0, "tarry=test\n");
}

int ty_fx_spool_data(struct ty_spool_writer *w, unsigned buffer, unsigned cpu, uint64_t seq,
		     unsigned pages, struct ty_err *err)
{
	uint8_t *p = malloc((size_t)pages * TY_FX_PAGE + 1);
	unsigned first = (unsigned)seq * pages;
	const struct ty_spool_chunk what = {.type = TY_SPOOL_DATA,
					    .flags = seq % 2 ? TY_SPOOL_LZ4 : 0,
					    .stream = buffer << 16 | cpu,
					    .seq = seq,
					    .first_ns = ty_fx_ns(buffer, cpu, first),
					    .last_ns = ty_fx_ns(buffer, cpu, first + pages - 1)};
	int r;

	for (unsigned i = 0; i < pages; i++)
		ty_fx_page(p + i * TY_FX_PAGE, TY_FX_PAGE, buffer, cpu, first + i);
	r = ty_spool_put(w, &what, p, (size_t)pages * TY_FX_PAGE, err);
	free(p);
	return r;
}

void ty_fx_spool_end(struct ty_spool_writer *w)
{
	PUT(TY_SPOOL_META, TY_META_CPUSTAT, 0, "CPU: 0\nentries: 0\n");
	PUT(TY_SPOOL_META, TY_META_CPUSTAT, 1, "CPU: 1\nentries: 0\n");
	PUT(TY_SPOOL_META, TY_META_CMDLINES, 0, "1 init\n");
	PUT(TY_SPOOL_SECTION, TY_SEC_SELF, 0, "lost=0\n");
	PUT(TY_SPOOL_SECTION, TY_SEC_SELF, 1, "stop=done\n");
}

/* trace.dat ---------------------------------------------------------------------------------- */

static const struct ty_fx_dat *dat;

static void num(struct ty_buf *b, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		ty_buf_addc(b, (char)(v >> 8 * (dat->big_endian ? bytes - 1 - i : i)));
}

static void patch(struct ty_buf *b, size_t at, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		b->p[at + i] = (char)(v >> 8 * (dat->big_endian ? bytes - 1 - i : i));
}

static void text(struct ty_buf *b, const char *s, unsigned width)
{
	num(b, strlen(s), width);
	ty_buf_adds(b, s);
}

static bool compressed(void)
{
	return dat->version == 7 && strcmp(dat->codec, "none");
}

/* u32 compressed size, u32 size, bytes. */
static void block(struct ty_buf *b, const void *p, size_t n)
{
	uLongf len = compressBound(n) + 1024;
	uint8_t *z = malloc(len);

	if (!strcmp(dat->codec, "zlib"))
		assert_int_equal(compress(z, &len, p, n), Z_OK);
	else
		len = ZSTD_compress(z, len, p, n, 1);
	num(b, len, 4);
	num(b, n, 4);
	ty_buf_add(b, z, len);
	free(z);
}

static void header_info(struct ty_buf *b)
{
	ty_buf_add(b, "header_page", 12);
	text(b,
	     dat->long_size == 4 ? "\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n"
				 : HEADER_PAGE,
	     8);
	ty_buf_add(b, "header_event", 13);
	text(b, "# header\n", 8);
}

static void ftrace_formats(struct ty_buf *b)
{
	num(b, 1, 4);
	text(b, FORMAT("print", 5), 8);
}

static void event_formats(struct ty_buf *b)
{
	num(b, 2, 4);
	ty_buf_add(b, "irq", 4);
	num(b, 1, 4);
	text(b, FORMAT("irq_entry", 301), 8);
	ty_buf_add(b, "sched", 6);
	num(b, 2, 4);
	text(b, FORMAT("sched_switch", 300), 8);
	text(b, FORMAT("sched_waking", 302), 8);
}

static void kallsyms(struct ty_buf *b)
{
	text(b, "ffff T first\n", 4);
}

static void printk(struct ty_buf *b)
{
	num(b, 0, 4);
}

static void cmdlines(struct ty_buf *b)
{
	text(b, "1 init\n", 8);
}

static void (*const meta[])(struct ty_buf *) = {header_info, ftrace_formats, event_formats,
						kallsyms,    printk,	     cmdlines};

static void option(struct ty_buf *b, unsigned id, const void *p, size_t n)
{
	num(b, id, 2);
	num(b, n, 4);
	ty_buf_add(b, p, n);
}

static void pages(struct ty_buf *b, unsigned buffer, unsigned cpu, unsigned from, unsigned n)
{
	uint8_t page[TY_FX_PAGE];

	for (unsigned i = from; i < from + n; i++) {
		ty_fx_page(page, TY_FX_PAGE, buffer, cpu, i);
		ty_buf_add(b, page, sizeof(page));
	}
}

static void align(struct ty_buf *b)
{
	while (b->len % TY_FX_PAGE)
		ty_buf_addc(b, 0);
}

/* One CPU's data at a page boundary; *off, *size as the file's table has them. */
static void cpu_data(struct ty_buf *b, unsigned buffer, unsigned cpu, uint64_t *off, uint64_t *size)
{
	struct ty_buf t;

	align(b);
	*off = b->len;
	if (!compressed()) {
		pages(b, buffer, cpu, 0, dat->pages);
		for (unsigned i = 0; i < dat->odd; i++)
			ty_buf_addc(b, 'x');
	} else {
		num(b, (dat->pages + dat->chunk_pages - 1) / dat->chunk_pages, 4);
		for (unsigned i = 0; i < dat->pages; i += dat->chunk_pages) {
			unsigned n = dat->pages - i;

			ty_buf_init(&t, 1 << 24);
			pages(&t, buffer, cpu, i, n < dat->chunk_pages ? n : dat->chunk_pages);
			for (unsigned k = 0; k < dat->odd && n <= dat->chunk_pages; k++)
				ty_buf_addc(&t, 'x');
			block(b, t.p, t.len);
			ty_buf_fini(&t);
		}
	}
	*size = b->len - *off - (compressed() && dat->short_size ? 4 : 0);
}

static void dat6(struct ty_buf *b)
{
	size_t at_buffer = 0, table;

	for (unsigned i = 0; i < 6; i++)
		meta[i](b);
	num(b, dat->cpus, 4);
	ty_buf_add(b, "options  ", 10);
	option(b, 5, "Linux box", 10);
	option(b, 4, "", 0);
	option(b, 7, "-5", 3);
	option(b, 99, "what is this", 12);
	if (dat->buffers > 1) {
		at_buffer = b->len + 6;
		option(b, 3, "\0\0\0\0\0\0\0\0syscalls", 17);
	}
	num(b, 0, 2);
	for (unsigned k = 0; k < dat->buffers; k++) {
		if (k)
			patch(b, at_buffer, b->len, 8);
		ty_buf_add(b, "flyrecord", 10);
		table = b->len;
		for (unsigned c = 0; c < dat->cpus; c++)
			num(b, 0, 8), num(b, 0, 8);
		text(b, "[perf]", 8);
		for (unsigned c = 0; c < dat->cpus; c++) {
			uint64_t off, size;

			cpu_data(b, k, c, &off, &size);
			patch(b, table + c * 16, off, 8);
			patch(b, table + c * 16 + 8, size, 8);
		}
	}
}

static size_t section(struct ty_buf *b, unsigned id, bool z, const struct ty_buf *content)
{
	size_t at = b->len;

	num(b, id, 2);
	num(b, z, 2);
	num(b, 0, 4);
	num(b, 0, 8);
	if (z)
		block(b, content->p, content->len);
	else if (content)
		ty_buf_add(b, content->p, content->len);
	patch(b, at + 8, b->len - at - 16, 8);
	return at;
}

static void option_u64(struct ty_buf *b, unsigned id, uint64_t v)
{
	num(b, id, 2);
	num(b, 8, 4);
	num(b, v, 8);
}

/* One buffer's section, and its option into o. The options come in the order bottom buffer first,
 * which a reader must not mind. */
static void dat7_buffer(struct ty_buf *b, struct ty_buf *o, unsigned k)
{
	size_t at = section(b, 3, false, NULL);
	struct ty_buf p;

	patch(b, at + 2, compressed(), 2);
	ty_buf_init(&p, 1 << 20);
	num(&p, at, 8);
	ty_buf_add(&p, k ? "syscalls" : "", k ? 9 : 1);
	ty_buf_add(&p, "perf", 5);
	num(&p, TY_FX_PAGE, 4);
	num(&p, dat->cpus, 4);
	for (unsigned c = dat->cpus; c-- > 0;) {
		uint64_t off, size;

		cpu_data(b, k, c, &off, &size);
		num(&p, c, 4);
		num(&p, off, 8);
		num(&p, size, 8);
	}
	patch(b, at + 8, b->len - at - 16, 8);
	option(o, 3, p.p, p.len);
	ty_buf_fini(&p);
}

static void dat7(struct ty_buf *b)
{
	struct ty_buf t, o;
	size_t at, second;

	ty_buf_add(b, dat->codec, strlen(dat->codec) + 1);
	ty_buf_add(b, "1.0", 4);
	at = b->len;
	num(b, 0, 8);
	ty_buf_init(&o, 1 << 20);
	option(&o, 5, "Linux box", 10);
	option(&o, 4, "local [perf] mono", 18);
	option(&o, 7, "-5", 3);
	option(&o, 99, "what is this", 12);
	for (unsigned i = 0; i < 6; i++) {
		ty_buf_init(&t, 1 << 20);
		meta[i](&t);
		option_u64(&o, 16 + i, section(b, 16 + i, compressed(), &t));
		ty_buf_fini(&t);
	}
	/* DONE of the first options section points to the second. It lies right behind when the
	 * first is not compressed; a compressed first one comes behind the second. */
	ty_buf_init(&t, 1 << 20);
	for (unsigned k = dat->buffers; k-- > 0;)
		dat7_buffer(b, &t, k);
	option_u64(&t, 0, 0);
	second = section(b, 0, false, &t);
	option_u64(&o, 0, second);
	patch(b, at, section(b, 0, dat->compress_options && compressed(), &o), 8);
	ty_buf_fini(&t);
	ty_buf_fini(&o);
}

void ty_fx_dat(const struct ty_fx_dat *d, struct ty_buf *out)
{
	dat = d;
	ty_buf_init(out, 64 << 20);
	ty_buf_add(out, "\x17\x08\x44tracing", 10);
	ty_buf_add(out, d->version == 6 ? "6" : "7", 2);
	ty_buf_addc(out, d->big_endian);
	ty_buf_addc(out, 8);
	num(out, TY_FX_PAGE, 4);
	if (d->version == 6)
		dat6(out);
	else
		dat7(out);
	assert_int_equal(out->failed, 0);
}

void ty_fx_cpu_limit(unsigned seconds)
{
	struct itimerval it = {.it_value.tv_sec = seconds};

	setitimer(ITIMER_PROF, &it, NULL);
}

void ty_fx_write(const char *path, const void *p, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, p, n), n);
	close(fd);
}

void ty_fx_read(const char *path, struct ty_buf *out)
{
	char b[65536];
	int fd = open(path, O_RDONLY);
	ssize_t n;

	assert_true(fd >= 0);
	ty_buf_init(out, 1 << 30);
	while ((n = read(fd, b, sizeof(b))) > 0)
		ty_buf_add(out, b, (size_t)n);
	close(fd);
}

uint64_t ty_fx_check(const struct ty_trace *t, uint32_t stream, unsigned *bad_chunks)
{
	const struct ty_stream *s = &t->streams.v[stream];
	uint8_t want[TY_FX_PAGE];
	struct ty_chunk_scratch scratch;
	uint64_t n = 0;

	ty_chunk_scratch_init(&scratch);
	*bad_chunks = 0;
	for (uint32_t k = 0; k < s->chunks; k++) {
		struct ty_chunk c = ty_trace_chunk(t, stream, k);
		uint8_t *p = malloc(c.raw_bytes + 1);
		struct ty_err err = {0};

		if (ty_trace_chunk_read(t, stream, k, p, &scratch, &err)) {
			assert_int_not_equal(err.code, 0);
			assert_non_null(strstr(err.msg, t->path));
			++*bad_chunks;
			free(p);
			continue;
		}
		assert_int_equal(c.raw_bytes % TY_FX_PAGE, 0);
		for (uint32_t i = 0; i < c.raw_bytes / TY_FX_PAGE; i++, n++) {
			uint64_t ns;

			/* The page says itself which one it is. */
			memcpy(&ns, p + i * TY_FX_PAGE, 8);
			ty_fx_page(want, TY_FX_PAGE, s->buffer, s->cpu,
				   (unsigned)(ns / 1000000 - 1));
			assert_memory_equal(p + i * TY_FX_PAGE, want, TY_FX_PAGE);
			if (!i && c.first_ns)
				assert_int_equal(ns, c.first_ns);
			if (i + 1 == c.raw_bytes / TY_FX_PAGE && c.last_ns)
				assert_int_equal(ns, c.last_ns);
		}
		free(p);
	}
	ty_chunk_scratch_fini(&scratch);
	return n;
}

void ty_fx_read_all(const struct ty_trace *t)
{
	struct ty_chunk_scratch scratch;

	ty_chunk_scratch_init(&scratch);
	for (uint32_t s = 0; s < t->streams.n; s++)
		for (uint32_t k = 0; k < t->streams.v[s].chunks; k++) {
			struct ty_chunk c = ty_trace_chunk(t, s, k);
			uint8_t *p;

			if (c.missing)
				assert_int_equal(c.raw_bytes, 0);
			p = malloc(c.raw_bytes + 1);
			if (p)
				ty_trace_chunk_read(t, s, k, p, &scratch, NULL);
			free(p);
		}
	ty_chunk_scratch_fini(&scratch);
}
