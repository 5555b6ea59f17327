/* SPDX-License-Identifier: MIT */
/*
 * Opens a trace of any layout. Limits are those of trace_dat.h: a file of N bytes costs at most the
 * memory of its own texts and chunk tables, never what it merely claims.
 */
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "key_value.h"
#include "perf_data.h"
#include "trace_file.h"

#define META_BUDGET (1536ull << 20)
/* Each section is decompressed once and may have TY_DAT_SECTION_BYTES: enough for the largest. */
#define UNPACK_BUDGET (3072ull << 20)

/* Opens a regular file; never blocks (a FIFO would). */
static int open_file(struct ty_trace *t, struct ty_err *err)
{
	struct stat st;

	t->priv->fd = open(t->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (t->priv->fd < 0 && errno == ENOENT)
		return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			       "%s: no such file. Record it with: tarry record -o %s -- COMMAND",
			       t->path, t->path);
	if (t->priv->fd < 0)
		return ty_fail_errno(err, "%s: cannot open", t->path);
	if (fstat(t->priv->fd, &st))
		return ty_fail_errno(err, "%s: cannot stat", t->path);
	if (S_ISDIR(st.st_mode))
		return ty_fail(err, TY_EFORMAT, TY_NO_OFFSET,
			       "%s is a directory: give a file (directories of perf record "
			       "--threads are not supported)",
			       t->path);
	if (!S_ISREG(st.st_mode))
		return ty_fail(err, TY_EFORMAT, TY_NO_OFFSET, "%s is not a regular file", t->path);
	t->file_bytes = (uint64_t)st.st_size;
	return 0;
}

/* trace.dat: the common part of the initial header (trace-cmd.dat.v7(5), INITIAL FORMAT). */
static int read_dat(struct ty_trace *t, struct ty_err *err)
{
	struct ty_in in = ty_trace_in(t, TY_DAT_MAGIC_LEN, t->file_bytes);
	char version[16];
	uint64_t endian, size, page;

	ty_in_str(&in, version, sizeof(version));
	if (!in.bad && strcmp(version, "6") && strcmp(version, "7"))
		return ty_fail(err, TY_EUNSUPPORTED, TY_DAT_MAGIC_LEN,
			       "%s: is trace.dat of version %s; tarry reads 6 and 7", t->path,
			       version[strspn(version, "0123456789")] ? "(garbled)" : version);
	endian = ty_in_uint(&in, 1);
	size = ty_in_uint(&in, 1);
	if (in.bad || endian > 1 || (size != 4 && size != 8))
		return ty_trace_damaged(t, 0, "initial header", 0, err);
	t->big_endian = in.swap = endian;
	t->long_size = (unsigned)size;
	page = ty_in_uint(&in, 4);
	if (in.bad || !ty_trace_page_size_ok(page))
		return ty_trace_damaged(t, 0, "initial header", 0, err);
	t->priv->page_size = (uint32_t)page;
	t->version = version[0] - '0';
	return t->version == 6 ? ty_trace_read_v6(t, &in, err) : ty_trace_read_v7(t, &in, err);
}

static int read_any(struct ty_trace *t, struct ty_err *err)
{
	char magic[TY_DAT_MAGIC_LEN] = "";
	int64_t n;

	if (!t->file_bytes)
		return ty_fail(err, TY_EFORMAT, 0, "%s is empty", t->path);
	n = ty_pread(t->priv->fd, magic, sizeof(magic), 0);
	if (n < 0)
		return ty_fail_errno(err, "%s: cannot read", t->path);
	if (n == TY_DAT_MAGIC_LEN && !memcmp(magic, TY_DAT_MAGIC, TY_DAT_MAGIC_LEN))
		return read_dat(t, err);
	if (n >= 8 && !memcmp(magic, TY_SPOOL_MAGIC, 8))
		return ty_trace_read_spool(t, err);
	if (n >= 8 && ty_perf_magic((const uint8_t *)magic, (size_t)n))
		return ty_trace_read_perf(t, err);
	return ty_fail(
		err, TY_EFORMAT, 0,
		"%s: unknown format: not a recording of tarry or trace-cmd, nor a perf.data file",
		t->path);
}

/* Appends the clauses counted while reading, and sets the note. */
static void finish_note(struct ty_trace *t)
{
	struct ty_trace_private *p = t->priv;

	if (p->streams_cut)
		ty_trace_note(t,
			      "events are missing in %" PRIu64
			      " damaged or truncated place%s, the first at offset %" PRIu64
			      " of %" PRIu64,
			      p->streams_cut, p->streams_cut > 1 ? "s" : "", p->first_cut,
			      t->file_bytes);
	if (p->note.len)
		t->note = (struct ty_text){p->note.p, p->note.len};
}

int ty_trace_open(const char *path, struct ty_trace **out, struct ty_err *err)
{
	return ty_trace_open_progress(path, NULL, NULL, out, err);
}

/* Finds what the file does not cover: the reader of perf.data knows it, a cut states it. */
static void find_scope(struct ty_trace *t)
{
	const char *machine = ty_trace_section(t, TY_SEC_MACHINE).s;

	t->own_only |= ty_key_value(machine, "own_only", NULL, 0);
	t->switches_only |= ty_key_value(machine, "switches_only", NULL, 0);
	t->counts_only |= ty_key_value(machine, "counter_intervals", NULL, 0);
}

static void find_kept(struct ty_trace *t)
{
	const char *facts = ty_trace_section(t, TY_SEC_KEPT).s,
		   *machine = ty_trace_section(t, TY_SEC_MACHINE).s;

	t->cut_origin_ns = ty_key_u64(machine, "cut_origin_ns");
	t->is_part = ty_key_value(machine, "cut_to_ns", NULL, 0);
	t->kept_from_ns = ty_key_u64(facts, "from_ns");
	t->kept_began_ns = ty_key_u64(facts, "began_ns");
	if (t->kept_from_ns)
		t->begins_later = facts;
	else if (ty_key_value(machine, "cut_from_ns", NULL, 0))
		t->begins_later = machine;
}

int32_t ty_trace_command(const struct ty_trace *t)
{
	uint64_t tid = ty_key_u64(ty_trace_section(t, TY_SEC_MACHINE).s, "command_tid");

	return t->begins_later || tid > INT32_MAX ? 0 : (int32_t)tid;
}

bool ty_trace_cut_keeps(const struct ty_trace *t)
{
	return !t->is_part ||
	       ty_key_value(ty_trace_section(t, TY_SEC_MACHINE).s, "cut_keeps", NULL, 0);
}

int ty_trace_open_progress(const char *path, ty_trace_progress *progress, void *ctx,
			   struct ty_trace **out, struct ty_err *err)
{
	struct ty_trace *t = calloc(1, sizeof(*t));
	struct ty_text kept;
	uint64_t failed_off;
	int r, failed;

	*out = NULL;
	if (!t || !(t->priv = calloc(1, sizeof(*t->priv)))) {
		free(t);
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", path);
	}
	t->priv->fd = t->priv->data_fd = -1;
	pthread_mutex_init(&t->priv->loading, NULL);
	t->priv->progress = progress;
	t->priv->progress_ctx = ctx;
	t->priv->meta_left = META_BUDGET;
	t->priv->unpack_left = UNPACK_BUDGET;
	ty_buf_init(&t->priv->note, 4096);
	t->path = path;
	t->priv->win = malloc(TY_IN_WINDOW);
	r = ty_trace_keep_bytes(t, path, strlen(path), UINT64_MAX, &kept);
	if (r || !t->priv->win) {
		r = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", path);
	} else {
		t->path = kept.s;
		r = open_file(t, err);
	}
	ty_pread_forget();
	if (!r)
		r = read_any(t, err);
	/* A read error is not damage, and nothing is concluded from missing data. */
	if (r != -TY_ENOMEM && (failed = ty_pread_failed(&failed_off))) {
		if (err)
			*err = (struct ty_err){0};
		errno = failed;
		r = ty_fail_errno(err, "%s: cannot read at offset %" PRIu64, path, failed_off);
	}
	if (r) {
		ty_trace_close(t);
		return r;
	}
	find_kept(t);
	find_scope(t);
	finish_note(t);
	*out = t;
	return 0;
}

int ty_trace_fd(const struct ty_trace *t)
{
	return t->priv->fd;
}

void ty_trace_close(struct ty_trace *t)
{
	struct ty_trace_private *p = t ? t->priv : NULL;

	if (!t)
		return;
	vec_each (d, &p->data)
		vec_fini(&d->chunks);
	vec_fini(&p->data);
	vec_each (s, &p->kept)
		free(*s);
	vec_fini(&p->kept);
	ty_trace_sections_fini(p);
	ty_buf_fini(&p->note);
	if (p->fd >= 0)
		close(p->fd);
	if (p->data_fd >= 0)
		close(p->data_fd);
	free(p->win);
	free(p);
	vec_fini(&t->formats);
	vec_fini(&t->cpustat);
	vec_fini(&t->buffers);
	vec_fini(&t->streams);
	free(t);
}
