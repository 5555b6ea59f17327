/* SPDX-License-Identifier: MIT */
/*
 * Recompresses the LZ4 chunks of a spool as v7 chunks (zstd), on all CPUs. Each new chunk is
 * appended to the spool under its old number, and the table of chunks then refers to it. A reader
 * that finds both (the recorder died meanwhile) uses the first; their content is equal.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "trace_v7_write.h"

enum { THREADS_MAX = 64 };

struct repack {
	struct ty_spool *spool;
	struct ty_spool_scan *scan;
	_Atomic size_t next;
	size_t raw_max; /* of its chunks */
	pthread_t caller;
	atomic_bool failed; /* err has the reason */
	struct ty_err err;
};

bool ty_v7_is_lz4(const struct ty_spool_chunk *h)
{
	return h->type == TY_SPOOL_DATA && h->flags & TY_SPOOL_LZ4;
}

static int repack_one(const struct repack *k, struct ty_spool_ent *e, struct ty_spool_writer *w,
		      struct ty_buf *raw, char *packed, struct ty_err *err)
{
	struct ty_spool_chunk h = e->h;
	size_t len;
	int r;

	ty_buf_reset(raw);
	r = ty_spool_chunk_read(k->spool->fd, e, raw);
	if (r)
		return ty_v7_bad_chunk(k->spool, e, r, err);
	h.flags &= (uint16_t)~TY_SPOOL_LZ4;
	r = ty_spool_pack(w, &h, raw->p, h.raw, packed, ty_spool_packed_max(k->raw_max), &len, err);
	if (r)
		return r;
	if (ty_spool_write(k->spool, packed, len, &e->off))
		return ty_fail_errno(err, "%s: cannot write the finished file", k->spool->path);
	memcpy(&e->h, packed, sizeof(e->h));
	return 0;
}

static void *part_main(void *arg)
{
	struct repack *k = arg;
	struct ty_err err = {0};
	struct ty_spool_writer *w = ty_spool_writer_new(k->spool, k->raw_max);
	char *packed = malloc(ty_spool_packed_max(k->raw_max));
	struct ty_spool_ent *e;
	struct ty_buf raw;
	uint64_t was;
	int r = 0;

	ty_buf_init(&raw, k->raw_max);
	if (!w || !packed)
		r = ty_fail(&err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", k->spool->path);
	while (!r && !atomic_load(&k->failed)) {
		size_t i = atomic_fetch_add(&k->next, 1);

		if (i >= k->scan->ents.n)
			break;
		e = &k->scan->ents.v[i];
		if (!ty_v7_is_lz4(&e->h))
			continue;
		was = e->h.stored;
		r = repack_one(k, e, w, &raw, packed, &err);
		/* A smaller chunk reduces the work left for copying. */
		atomic_fetch_add(&k->spool->done, e->h.raw + was - e->h.stored);
		if (pthread_equal(pthread_self(), k->caller))
			ty_v7_progress(k->spool);
	}
	if (r && !atomic_exchange(&k->failed, true))
		k->err = err; /* read after all threads have ended */
	ty_spool_writer_free(w);
	ty_buf_fini(&raw);
	free(packed);
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
		if (!ty_v7_is_lz4(&e->h))
			continue;
		chunks++;
		k.raw_max = e->h.raw > k.raw_max ? e->h.raw : k.raw_max;
	}
	if (!chunks)
		return 0;
	n = threads(chunks);
	/* This thread is the first worker; failure to start others is not an error. */
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
