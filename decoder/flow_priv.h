/* SPDX-License-Identifier: MIT */
/*
 * Inside of a flow. flow.c is told what is in a recording; pt_ranges.c cuts its streams into
 * ranges where flow_search.c finds that they may be cut, and reads their bytes when they are
 * wanted; flow_work.c decodes ranges, on all CPUs,
 * ahead of the reader; flow_pull.c is the reader: it makes items of what was decoded, and merges
 * the streams.
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

/* Ranges of windows are kept when they are read: who zooms comes back. */
#define TY_FLOW_KEEP (64u << 20)

/*
 * Bytes of one range (the SDM's longest distance of PSBs is 64 MB), of all that are read at a time,
 * and of one that is decoded ahead: longer ones have too many branches to be kept, and are the
 * reader's. What is more is a gap.
 */
#define TY_FLOW_RANGE_MAX ((size_t)128 << 20)
#define TY_FLOW_READ_MAX  ((size_t)512 << 20)
#define TY_FLOW_WALK_MAX  ((size_t)8 << 20)
/* What may belong to a PSB and is read with it. Headers longer than that are no place to begin;
 * hardware's have less than 100 bytes. */
#define TY_FLOW_HEADER_MAX 512

struct ty_flow_sw {
	uint64_t t_ns;
	int32_t cpu, pid, tid;
	uint32_t order;
};

struct ty_flow_tid {
	int32_t tid, pid;
	uint32_t order;
};

/* From t_ns on a thread has a name, or (parent not -1) the one that its parent has then. */
struct ty_flow_comm {
	uint64_t t_ns;
	int32_t tid, parent;
	uint32_t name, order;
};

/* Bytes of a stream from `at` on, which have their place in the AUX stream from `off` on. */
struct ty_flow_piece {
	size_t at;
	uint64_t off;
	const uint8_t *p; /* NULL: to be read from: */
	uint64_t place;
};

struct ty_flow_stream {
	struct ty_flow *flow;
	int32_t cpu, tid;
	uint32_t idx;
	size_t size;			  /* bytes of it */
	VEC(struct ty_flow_piece) pieces; /* in order */
	VEC(size_t) cuts;		  /* offsets in bytes; what was there is lost */
	size_t sw, sw_end;		  /* switches of this CPU */
	size_t ranges, ranges_end;

	/* Where its reader is (flow_pull.c). */
	size_t range, until; /* the range that is read, and behind the last to read */
	uint64_t wanted_bytes, headless_bytes; /* of the window's ranges; before the first PSB */
	bool rises;			       /* so do the times of the window's ranges */
	bool lost;			       /* the item before was a gap, or another range's */
	const char *refused;		       /* why the range is not decoded: a gap, to be told */
	struct ty_pt *pt;		       /* the slow way, and its bytes */
	struct ty_buf bytes;
	struct ty_code_at code_at;
	struct ty_brancher brancher;
	struct ty_flow_at before, later; /* the item before; one that comes behind head */
	bool has_later;
	struct ty_walked *walked; /* the quick way */
	size_t taken, time, mark; /* next of each */
	size_t run;
	const struct ty_block *block; /* that ip is in, while the blocks' age is: */
	unsigned block_age;
	unsigned block_i;
	uint64_t ip, tsc;
	bool on, timed, entered;
	int32_t now_pid, now_tid, first_pid;
	struct ty_flow_at head;
	bool has;
	bool bare; /* head has nothing but what a branch has */
};

/* What came there in the AUX stream of a CPU, or of a thread, is lost. */
struct ty_flow_lost {
	uint64_t off;
	int32_t whose;
};
typedef VEC(struct ty_flow_lost) ty_flow_losts;

enum ty_range_state {
	TY_RANGE_IDLE,
	TY_RANGE_BUSY, /* somebody decodes it */
	TY_RANGE_DONE, /* walked is there */
	TY_RANGE_SLOW, /* not ordinary: the instruction decoder's */
};

/* From a PSB to another: what is decoded by itself. */
struct ty_flow_range {
	struct ty_pt_point at;
	size_t end;	       /* in the stream's bytes, as at.off */
	size_t seg_lo, seg_hi; /* what lies between two losses */
	size_t coarse_to;      /* not searched behind its begin yet, up to there; 0: it was */
	uint64_t stop_ip;
	bool stops;
	bool inner;    /* it was part of a coarse one, and not its begin */
	bool blind;    /* the segment has no PSB */
	bool wanted;   /* in the window */
	uint8_t state; /* enum ty_range_state; under the lock of the work */
	bool kept;     /* walked is of an earlier window, and may be forgotten */
	bool quick;    /* it was decoded, and not by libipt */
	bool ahead;    /* it counts among what is decoded and not read */
	uint64_t used; /* when, of those kept */
	uint32_t stream;
	struct ty_walked *walked;
};

typedef VEC(struct ty_flow_range) ty_flow_ranges;

/* [lo, hi) of a stream's bytes, in a segment, to be searched for PSBs. */
struct ty_flow_block {
	const struct ty_flow_stream *s;
	size_t lo, hi, seg_lo, seg_hi;
	size_t range; /* that it is part of, where that is known */
	bool first_only, searched;
	VEC(struct ty_pt_point) points;
	int failed;
};
typedef VEC(struct ty_flow_block) ty_flow_blocks;

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
	ty_flow_losts lost_cpu, lost_tid; /* by whose and place, once there are ranges */
	VEC(struct ty_flow_comm) comms;	  /* by thread and time, once started */
	struct ty_strtab *comm_names;	  /* NULL: none */
	ty_flow_ranges ranges;		  /* by stream and place */

	/* Whose item is next while its time is below that of all others. */
	struct ty_flow_stream *lead;
	uint64_t lead_until;

	struct ty_flow_stream *passed; /* its head was given away; NULL */
	struct ty_flow_window window;
	bool branches;	/* items are taken branches, not instructions */
	bool counts;	/* they are runs */
	bool by_libipt; /* all of it: for tests of the quick way */
	struct ty_flow_count count;
	struct ty_blocks *blocks; /* the reader's own */
	struct ty_memos *memos;	  /* of these, while it counts */
	struct ty_buf bytes;	  /* the same */
	size_t read_max;	  /* what streams' bytes may still take */
	VEC(uint32_t) kept;	  /* ranges, at most TY_FLOW_KEEP bytes of them */
	size_t kept_bytes;
	uint64_t uses;
	struct ty_flow_work *work;
	uint64_t errata; /* gaps that may come of one */
	VEC(struct ty_flow_missing) missing;
	int failed; /* -TY_E...: a stream could not be read on */
};

/* Is it no window but all? */
static inline bool ty_flow_whole(const struct ty_flow_window *w)
{
	return !w->from_ns && w->to_ns == UINT64_MAX;
}

/* ---- flow_time.c ---- */

/* Number of the switch that holds on the stream's CPU at a time; s->sw - 1 is "none" (SIZE_MAX when
 * s->sw is 0). */
size_t ty_flow_sw_at(const struct ty_flow_stream *s, uint64_t t_ns);

/* ---- flow_pieces.c ---- */

static inline size_t ty_flow_piece_end(const struct ty_flow_stream *s, size_t i)
{
	return i + 1 < s->pieces.n ? s->pieces.v[i + 1].at : s->size;
}
/* Bytes of the stream [from, from + n), which it has. 0 or what reading failed with. */
int ty_flow_stream_read(const struct ty_flow_stream *s, size_t from, void *buf, size_t n);

/* ---- flow_search.c ---- */

/* Can a range end, and another begin, at the PSB? Its header must have come to an end, and without
 * MODE nothing would tell that the decoder has come to it. */
bool ty_flow_is_border(const struct ty_pt_point *p);
/* Fill in the points of the blocks that are not searched: PSBs to cut at, 32 KB and more from each
 * other, and the first one, whatever it is. 0; -TY_ENOMEM; what reading failed with. */
int ty_flow_search(ty_flow_blocks *blocks);

/* ---- pt_ranges.c ---- */

/* Cut all streams into f->ranges, coarsely where that can be. 0; -TY_ENOMEM; what reading failed
 * with. */
int ty_flow_find_ranges(struct ty_flow *f);
/* Ranges of the stream that may hold some of the window: [lo, hi). */
void ty_flow_ranges_in(const struct ty_flow_stream *s, const struct ty_flow_window *w, size_t *lo,
		       size_t *hi);
/* Is a range of the window coarse? */
bool ty_flow_is_coarse(const struct ty_flow *f, const struct ty_flow_window *w);
/* Split those of them that are coarse, in all streams. Where there are any, f->ranges moves: no
 * reader is at work then (ty_flow_refine). 0; -TY_ENOMEM; what reading failed with. */
int ty_flow_split(struct ty_flow *f, const struct ty_flow_window *w);
/* What lies between the pieces that meet at this byte of the stream and was not recorded; 0:
 * nothing, or nobody knows how much. */
uint64_t ty_flow_lost_at(const struct ty_flow_stream *s, size_t at);
/* How many bytes ty_flow_range_read reads: those of the range, and some of what follows it in its
 * segment, so that a PSB+ at its end is whole. */
size_t ty_flow_range_bytes(const struct ty_flow_range *r);
/* Into b (reset before). 0; -TY_ENOMEM; what reading failed with. */
int ty_flow_range_read(const struct ty_flow *f, const struct ty_flow_range *r, struct ty_buf *b);

/* ---- flow_comm.c ---- */

void ty_flow_comms_ready(struct ty_flow *f);

/* ---- flow_work.c ---- */

/* Decode the wanted ranges, in the order of their times. Threads are begun when there is more than
 * a little. 0 or -TY_ENOMEM. */
int ty_flow_work_start(struct ty_flow *f);
void ty_flow_work_stop(struct ty_flow *f);
/* Forget what was kept of windows. */
void ty_flow_work_forget(struct ty_flow *f);
/* Waits for range i, or decodes it. The walked is the caller's until ty_flow_work_drop; NULL: it is
 * for the instruction decoder. */
struct ty_walked *ty_flow_work_take(struct ty_flow *f, size_t i);
void ty_flow_work_drop(struct ty_flow *f, size_t i);

/* ---- flow_pull.c ---- */

/* Split what of the window is coarse; where there is some, readers are stopped. As ty_flow_split.
 */
int ty_flow_refine(struct ty_flow *f, const struct ty_flow_window *w);
/* Put the streams' readers to the window's begin. 0 or -TY_E... */
int ty_flow_pull_start(struct ty_flow *f, struct ty_err *err);
void ty_flow_pull_stop(struct ty_flow *f);

#endif
