/* SPDX-License-Identifier: MIT */
/*
 * LZ4 chunks of a spool become v7 chunks (zstd): all CPUs compress, each new chunk is appended to
 * the spool under its old number, and the table of chunks then names the new one. A reader that
 * finds both (the recorder died in here) takes the first; they hold the same.
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "rd.h"
#include "spool_finish.h"
#include "trace_file.h"

enum { THREADS_MAX = 64 };

struct repack {
	struct ty_spool *spool;
	struct ty_spool_scan *scan;
	_Atomic size_t next;
	size_t raw_max, stored_max; /* of its chunks */
	pthread_t caller;
	atomic_bool failed; /* err tells why */
	struct ty_err err;
};

bool ty_finish_is_lz4(const struct ty_spool_chunk *h)
{
	return h->type == TY_SPOOL_DATA && h->flags & TY_SPOOL_LZ4;
}

/* Read back and decompress. */
static int load(const struct repack *k, const struct ty_spool_ent *e, uint8_t *stored, uint8_t *raw,
		struct ty_err *err)
{
	const struct ty_spool_chunk *h = &e->h;

	if (ty_pread(k->spool->fd, stored, h->stored, e->off + sizeof(*h)) != h->stored)
		return ty_fail(err, TY_EIO, e->off, "%s: cannot read it back at offset %" PRIu64,
			       k->spool->path, e->off);
	if ((uint32_t)crc32(0, stored, h->stored) != h->crc || h->stored < TY_V7_CHUNK_HEAD ||
	    ty_decompress(TY_CODEC_LZ4, stored + TY_V7_CHUNK_HEAD, h->stored - TY_V7_CHUNK_HEAD,
			  raw, h->raw))
		return ty_fail(err, TY_EFORMAT, e->off,
			       "%s: the chunk at offset %" PRIu64 " is damaged", k->spool->path,
			       e->off);
	return 0;
}

static int repack_one(const struct repack *k, struct ty_spool_ent *e, struct ty_spool_writer *w,
		      uint8_t *stored, uint8_t *raw, struct ty_err *err)
{
	struct ty_spool_chunk h = e->h;
	size_t len;
	int r = load(k, e, stored, raw, err);

	h.flags &= (uint16_t)~TY_SPOOL_LZ4;
	if (!r)
		r = ty_spool_pack(w, &h, raw, h.raw, stored, ty_spool_packed_max(k->raw_max), &len,
				  err);
	if (r)
		return r;
	if (ty_spool_write(k->spool, stored, len, &e->off))
		return ty_fail_errno(err,
				     "%s: cannot write its finished form; it stays unfinished, "
				     "whole and readable by tarry",
				     k->spool->path);
	memcpy(&e->h, stored, sizeof(e->h));
	return 0;
}

static void *part_main(void *arg)
{
	struct repack *k = arg;
	struct ty_err err = {0};
	size_t room = ty_spool_packed_max(k->raw_max);
	struct ty_spool_writer *w = ty_spool_writer_new(k->spool, k->raw_max);
	uint8_t *stored = malloc(room > k->stored_max ? room : k->stored_max);
	uint8_t *raw = malloc(k->raw_max);
	struct ty_spool_ent *e;
	uint64_t was;
	int r = 0;

	if (!w || !stored || !raw)
		r = ty_fail(&err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", k->spool->path);
	while (!r && !atomic_load(&k->failed)) {
		size_t i = atomic_fetch_add(&k->next, 1);

		if (i >= k->scan->ents.n)
			break;
		e = &k->scan->ents.v[i];
		if (!ty_finish_is_lz4(&e->h))
			continue;
		was = e->h.stored;
		r = repack_one(k, e, w, stored, raw, &err);
		/* What became smaller need not be copied any more. */
		atomic_fetch_add(&k->spool->done, e->h.raw + was - e->h.stored);
		if (pthread_equal(pthread_self(), k->caller))
			ty_finish_tell(k->spool);
	}
	if (r && !atomic_exchange(&k->failed, true))
		k->err = err; /* read when all have ended */
	ty_spool_writer_free(w);
	free(stored);
	free(raw);
	return NULL;
}

static unsigned threads(size_t chunks)
{
	cpu_set_t set;
	size_t n = 1;

	if (!sched_getaffinity(0, sizeof(set), &set))
		n = (size_t)CPU_COUNT(&set);
	n = n < THREADS_MAX ? n : THREADS_MAX;
	return (unsigned)(n < chunks ? n : chunks);
}

int ty_spool_repack(struct ty_spool *s, struct ty_spool_scan *scan, struct ty_err *err)
{
	struct repack k = {.spool = s, .scan = scan, .caller = pthread_self()};
	pthread_t thread[THREADS_MAX];
	unsigned n, started;
	size_t chunks = 0;

	vec_each (e, &scan->ents) {
		if (!ty_finish_is_lz4(&e->h))
			continue;
		chunks++;
		k.raw_max = e->h.raw > k.raw_max ? e->h.raw : k.raw_max;
		k.stored_max = e->h.stored > k.stored_max ? e->h.stored : k.stored_max;
	}
	if (!chunks)
		return 0;
	n = threads(chunks);
	/* This thread is the first of them; others are a help. */
	for (started = 1; started < n; started++)
		if (pthread_create(&thread[started], NULL, part_main, &k))
			break;
	part_main(&k);
	for (unsigned i = 1; i < started; i++)
		pthread_join(thread[i], NULL);
	if (!atomic_load(&k.failed))
		return 0;
	return ty_fail(err, k.err.code, k.err.off, "%s", k.err.msg);
}
