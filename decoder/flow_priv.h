/* SPDX-License-Identifier: MIT */
/*
 * Internals of a flow. flow.c collects the recording's content; pt_ranges.c divides its streams
 * into ranges at the positions found by flow_search.c, and reads their bytes on demand;
 * flow_prefetch.c decodes ranges, on all CPUs, ahead of the reader; flow_items.c converts decoded
 * data to items; flow_merge.c is the reader, which merges the streams.
 */
#ifndef TY_FLOW_PRIV_H
#define TY_FLOW_PRIV_H

#include "buf.h"
#include "flow.h"
#include "flow_blocks.h"
#include "flow_branch.h"
#include "flow_walk.h"
#include "pair_map.h"
#include "strtab.h"
#include "vec.h"

struct ty_flow_work;

/*
 * Shares of the memory that decoding may hold: cached code, of all threads (of each at least and at
 * most), ranges decoded ahead, and the cache of decoded ranges of windows (users zoom back). The
 * rest is for sums.
 */
enum { TY_FLOW_CODE_PART = 4, TY_FLOW_AHEAD_PART = 8, TY_FLOW_KEEP_PART = 8 };
#define TY_FLOW_CODE_MIN ((size_t)4 << 20)
#define TY_FLOW_CODE_MAX ((size_t)64 << 20)
#define TY_FLOW_KEEP	 ((size_t)64 << 20)

/*
 * Bytes of one range (the SDM's longest distance of PSBs is 64 MB), of all that are read at a time,
 * and of one that is decoded ahead: longer ones have too many branches to be kept, and are left to
 * the reader. Anything larger is a gap.
 */
#define TY_FLOW_RANGE_MAX ((size_t)128 << 20)
#define TY_FLOW_READ_MAX  ((size_t)512 << 20)
#define TY_FLOW_WALK_MAX  ((size_t)8 << 20)
/* Length of the packets that may belong to a PSB and are read with it. A longer header is not a
 * valid starting point; hardware's have less than 100 bytes. */
#define TY_FLOW_HEADER_MAX 512
/* Least bytes of a range that others follow. */
#define TY_FLOW_RANGE_MIN (32 << 10)

struct ty_flow_sw {
	uint64_t t_ns;
	int32_t cpu, pid, tid;
	uint32_t order;
};

struct ty_flow_tid {
	int32_t tid, pid;
	uint32_t order;
};

/* From t_ns on a thread has this name, or (parent not -1) its parent's name at that time. */
struct ty_flow_comm {
	uint64_t t_ns;
	int32_t tid, parent;
	uint32_t name, order;
};

/* Bytes of a stream from `at` on, at offset `off` of the AUX stream. */
struct ty_flow_piece {
	size_t at;
	uint64_t off;
	const uint8_t *p; /* NULL: to be read from: */
	uint64_t place;
};

/* What was read of the file at once: n bytes at `place`. One per thread; zeroed at first. */
struct ty_flow_ahead {
	size_t piece; /* the last one read */
	uint64_t place;
	size_t n;
	uint8_t *buf;
};

struct ty_flow_stream {
	struct ty_flow *flow;
	int32_t cpu, tid;
	uint32_t idx;
	size_t size;			  /* bytes of it */
	VEC(struct ty_flow_piece) pieces; /* in order */
	VEC(size_t) cuts;		  /* offsets in bytes where data is lost */
	size_t sw, sw_end;		  /* switches of this CPU */
	size_t ranges, ranges_end;

	/* Where its reader is (flow_merge.c). */
	size_t range, until;		       /* the current range, and the end of those to read */
	uint64_t wanted_bytes, headless_bytes; /* of the window's ranges; before the first PSB */
	bool rises;			       /* times of the window's ranges increase */
	bool lost;			       /* the previous item was a gap or in another range */
	const char *refused;		       /* why the range is not decoded: text of a gap to
						* emit */
	struct ty_pt *pt;		       /* fallback decoder, and its bytes */
	struct ty_buf bytes;
	struct ty_code_at code_at;
	struct ty_brancher brancher;
	struct ty_flow_at before, later; /* the previous item; one that comes after head */
	bool has_later;
	struct ty_walked *walked; /* fast path */
	size_t taken, time, mark; /* next of each */
	size_t run;
	unsigned path_run;	      /* of it, if it is a path: the next of its runs */
	const struct ty_block *block; /* contains ip, while the blocks' age is: */
	unsigned block_age;
	unsigned block_i;
	uint64_t ip, tsc;
	bool on, timed, entered;
	int32_t now_pid, now_tid, first_pid;
	struct ty_flow_at head;
	bool has;
	bool bare; /* head has only the fields of a branch */
};

/* A loss at this offset of the AUX stream of a CPU or of a thread. */
struct ty_flow_lost {
	uint64_t off;
	int32_t whose;
};
typedef VEC(struct ty_flow_lost) ty_flow_losts;

enum ty_range_state {
	TY_RANGE_IDLE,
	TY_RANGE_BUSY, /* being decoded */
	TY_RANGE_DONE, /* walked is available */
	TY_RANGE_SLOW, /* not ordinary: left to the instruction decoder */
};

/* From one PSB to another: the unit of decoding. */
struct ty_flow_range {
	struct ty_pt_point at;
	size_t end;	       /* in the stream's bytes, as at.off */
	size_t seg_lo, seg_hi; /* between two losses */
	size_t coarse_to;      /* not searched after its start up to there yet; 0: searched */
	uint64_t stop_ip;
	bool stops;
	bool inner;    /* part of a split coarse range, other than its start */
	bool blind;    /* the segment has no PSB */
	bool wanted;   /* in the window */
	uint8_t state; /* enum ty_range_state; under the lock of the work */
	bool kept;     /* walked is of an earlier window and may be evicted */
	bool quick;    /* decoded, and not by libipt */
	bool ahead;    /* counts as decoded and not yet read */
	uint64_t used; /* last use, of cached ones */
	uint32_t stream;
	struct ty_walked *walked;
};

typedef VEC(struct ty_flow_range) ty_flow_ranges;

/* [lo, hi) of a stream's bytes, in a segment, to be searched for PSBs. */
struct ty_flow_block {
	const struct ty_flow_stream *s;
	size_t lo, hi, seg_lo, seg_hi;
	size_t range; /* range that it is part of, where known */
	bool first_only, searched;
	int failed;
	size_t points_n;
	struct ty_pt_point first; /* mostly the only one; the others: */
	VEC(struct ty_pt_point) more;
};
typedef VEC(struct ty_flow_block) ty_flow_blocks;

static inline const struct ty_pt_point *ty_flow_point(const struct ty_flow_block *b, size_t i)
{
	return i ? &b->more.v[i - 1] : &b->first;
}

struct ty_flow {
	struct ty_code *code;
	struct ty_pt_cpu cpu;
	bool timed, software;
	uint64_t zero;
	uint32_t mult;
	uint16_t shift;
	ty_flow_read *read;
	void *read_ctx;
	VEC(struct ty_flow_stream) streams;
	struct ty_pair_map stream_ids;
	VEC(struct ty_flow_sw) sws;
	VEC(struct ty_flow_tid) tids;
	ty_flow_losts lost_cpu, lost_tid; /* by stream and position, once there are ranges */
	VEC(struct ty_flow_comm) comms;	  /* by thread and time, once started */
	struct ty_strtab *comm_names;	  /* NULL: none */
	ty_flow_ranges ranges;		  /* by stream and place */

	/* The stream whose item is next while its time is below those of all others. */
	struct ty_flow_stream *lead;
	uint64_t lead_until;

	struct ty_flow_stream *passed; /* its head was returned; NULL */
	struct ty_flow_window window;
	bool branches;	/* items are taken branches, not instructions */
	bool counts;	/* they are runs */
	bool by_libipt; /* always: for tests of the fast path */
	struct ty_flow_count count;
	struct ty_blocks *blocks; /* the reader's own */
	struct ty_memos *memos;	  /* of these, while it counts */
	struct ty_buf bytes;	  /* the same */
	struct ty_flow_ahead ahead;
	uint64_t memory;    /* see ty_flow_set_memory */
	size_t read_max;    /* memory left for streams' bytes */
	VEC(uint32_t) kept; /* ranges, at most TY_FLOW_KEEP bytes of them */
	size_t kept_bytes;
	uint64_t uses;
	struct ty_flow_work *work;
	uint64_t errata; /* gaps possibly due to an erratum */
	VEC(struct ty_flow_missing) missing;
	int failed; /* -TY_E...: reading a stream failed */
};

/* True when the window is the whole recording. */
static inline bool ty_flow_whole(const struct ty_flow_window *w)
{
	return !w->from_ns && w->to_ns == UINT64_MAX;
}

/* A part of the memory that decoding may hold, between these bounds. */
static inline size_t ty_flow_share(const struct ty_flow *f, unsigned part, size_t least,
				   size_t most)
{
	const uint64_t n = f->memory ? f->memory / part : most;

	return n < least ? least : n > most ? most : (size_t)n;
}

/* ---- flow_time.c ---- */

/* Index of the switch that is current on the stream's CPU at a time; s->sw - 1 is "none" (SIZE_MAX
 * when s->sw is 0). */
size_t ty_flow_sw_at(const struct ty_flow_stream *s, uint64_t t_ns);

/* ---- flow_pieces.c ---- */

static inline size_t ty_flow_piece_end(const struct ty_flow_stream *s, size_t i)
{
	return i + 1 < s->pieces.n ? s->pieces.v[i + 1].at : s->size;
}
/* Reads bytes [from, from + n), which must exist. 0 or the error of reading. */
int ty_flow_stream_read(const struct ty_flow_stream *s, struct ty_flow_ahead *a, size_t from,
			void *buf, size_t n);
void ty_flow_ahead_fini(struct ty_flow_ahead *a);

/* ---- flow_search.c ---- */

/* True when a range can end, and another begin, at the PSB. Its header must be complete, and
 * without MODE nothing would show that the decoder has reached it. */
bool ty_flow_is_border(const struct ty_pt_point *p);
/* Finds the points of the blocks not yet searched: PSBs to cut at, at least 32 KB apart, and the
 * first one in any case. 0; -TY_ENOMEM; errors of reading. */
int ty_flow_search(ty_flow_blocks *blocks);

/* ---- pt_ranges.c ---- */

/* Divides all streams into f->ranges, coarsely where possible. 0; -TY_ENOMEM; errors of reading. */
int ty_flow_find_ranges(struct ty_flow *f);
/* Ranges of the stream that may contain part of the window: [lo, hi). */
void ty_flow_ranges_in(const struct ty_flow_stream *s, const struct ty_flow_window *w, size_t *lo,
		       size_t *hi);
/* True when a range of the window is coarse. */
bool ty_flow_is_coarse(const struct ty_flow *f, const struct ty_flow_window *w);
/* Splits the coarse ones of these, in all streams. That may reallocate f->ranges, so no reader may
 * be running (ty_flow_refine). 0; -TY_ENOMEM; errors of reading. */
int ty_flow_split(struct ty_flow *f, const struct ty_flow_window *w);
/* Number of unrecorded bytes between the pieces that meet at this byte of the stream; 0: none or
 * unknown. */
uint64_t ty_flow_lost_at(const struct ty_flow_stream *s, size_t at);
/* Number of bytes that ty_flow_range_read reads: those of the range, and some following ones in its
 * segment, so that a PSB+ at its end is complete. */
size_t ty_flow_range_bytes(const struct ty_flow_range *r);
/* Reads into b (reset before). 0; -TY_ENOMEM; errors of reading. */
int ty_flow_range_read(const struct ty_flow *f, struct ty_flow_ahead *a,
		       const struct ty_flow_range *r, struct ty_buf *b);

/* ---- flow_thread_names.c ---- */

void ty_flow_comms_ready(struct ty_flow *f);

/* ---- flow_prefetch.c ---- */

/* Decodes the wanted ranges, in time order. Starts threads only for larger amounts. 0 or
 * -TY_ENOMEM. */
int ty_flow_work_start(struct ty_flow *f);
void ty_flow_work_stop(struct ty_flow *f);
/* Empties the cache of windows. */
void ty_flow_work_forget(struct ty_flow *f);
/* Waits for range i, or decodes it. The result belongs to the caller until ty_flow_work_drop; NULL:
 * left to the instruction decoder. */
struct ty_walked *ty_flow_work_take(struct ty_flow *f, size_t i);
void ty_flow_work_drop(struct ty_flow *f, size_t i);

/* ---- flow_items.c ---- */

/* The stream's next item; at a loss a gap, then what is behind it. False at the end. */
bool ty_flow_stream_next(struct ty_flow_stream *s, struct ty_flow_item *it);
/* Leaves the range that the stream's reader is in. */
void ty_flow_close_range(struct ty_flow_stream *s);
/* Takes the times that belong to the instruction at ip, or (each: false) to instructions that are
 * not reported individually. True: the last one is that of ip. */
bool ty_flow_pass_times(struct ty_flow_stream *s, bool each, uint64_t ip);

/* ---- flow_merge.c ---- */

/* Splits the coarse ranges of the window; if there are any, stops the readers. As ty_flow_split. */
int ty_flow_refine(struct ty_flow *f, const struct ty_flow_window *w);
/* Positions the streams' readers at the window's start. 0 or -TY_E... */
int ty_flow_pull_start(struct ty_flow *f, struct ty_err *err);
void ty_flow_pull_stop(struct ty_flow *f);

#endif
