/* SPDX-License-Identifier: MIT */
/*
 * In the kernel: records go straight into a ring of their CPU, which the recorder maps
 * (call_data_ring.c), with the time of the trace clock. bpf_perf_event_output would copy each
 * through perf's sample.
 *
 * BPF has no helper for that clock (local_clock). But reading an event that counts it, of this CPU,
 * leaves its time in the event: hw.prev_count, whose address note_clock finds.
 */
#ifndef TY_CALL_DATA_RING_BPF_H
#define TY_CALL_DATA_RING_BPF_H

#include "call_data_kernel_bpf.h"
#include "tids_bpf.h"

struct record {
	struct ty_ev_record head;
	char bytes[TY_EV_BYTES];
};
_Static_assert(sizeof(struct record) == TY_EV_RECORD_MOST, "room");

/* By CPU; the loader knows how many, and the size: a struct ty_ev_ring. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, TY_EV_RING_BYTES(1 << 20));
} rings SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} clocks SEC(".maps");
/* Something is written when the reader should look. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1);
} wakes SEC(".maps");

const volatile __u64 ring_bytes = 1 << 20; /* a power of 2 */
/* The reader's tick drains alone: before 6.12 a PREEMPT_RT kernel may sleep in bpf_ringbuf_output.
 */
const volatile __u8 no_wakes;
__u64 lost;

static __always_inline struct ty_ev_ring *own_ring(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&rings, &cpu);
}

/* Where the next record of this CPU is written: behind the ring's end, if the ring was full when
 * begin_record looked. */
static __always_inline struct record *record_of(struct ty_ev_ring *r)
{
	__u64 at = r->head;

	if (r->full)
		at = ring_bytes + TY_EV_RECORD_MOST;
	else
		at &= ring_bytes - 8;
	return (struct record *)(r->bytes + at);
}

static __always_inline struct record *begin_record_of(struct ty_ev_ring *r)
{
	r->full = r->head + TY_EV_RECORD_MOST - r->tail > ring_bytes;
	return record_of(r);
}

/* The place of a record that put_record ends; nothing is taken before. NULL: it is lost. */
static __always_inline struct record *begin_record(void)
{
	struct ty_ev_ring *r = own_ring();

	if (r && !r->busy)
		return begin_record_of(r);
	__sync_fetch_and_add(&lost, 1);
	return NULL;
}

/* The one that was begun. */
static __always_inline struct record *this_record(void)
{
	struct ty_ev_ring *r = own_ring();

	return r ? record_of(r) : NULL;
}

/* 0: unknown. */
static __always_inline __u64 trace_clock(const struct ty_ev_ring *r)
{
	__u64 ns = 0;

	if ((__s64)bpf_perf_event_read(&clocks, BPF_F_CURRENT_CPU) >= 0)
		bpf_probe_read_kernel(&ns, sizeof(ns), (const void *)r->clock);
	return ns;
}

static __always_inline void put_record(struct record *s, __u64 len)
{
	const __u64 last = ring_bytes - 1;
	struct ty_ev_ring *r = own_ring();
	__u64 ns, head, next;

	if (!r)
		return;
	ns = r->full ? 0 : trace_clock(r);
	if (!ns) {
		if (!r->full)
			r->no_clock = 1;
		__sync_fetch_and_add(&lost, 1);
		return;
	}
	barrier_var(len);
	if (len > TY_EV_BYTES)
		len = TY_EV_BYTES;
	s->head.ns = ns;
	s->head.len = len;
	s->head.pad = 0;
	s->head.pad2 = 0;
	head = r->head;
	next = TY_EV_RING_NEXT(head, sizeof(s->head) + len, ring_bytes);
	__sync_lock_test_and_set(&r->head, next); /* after the record, on any machine */
	if (!no_wakes && (head ^ next) & ~(last >> 2))
		bpf_ringbuf_output(&wakes, &head, sizeof(head), BPF_RB_FORCE_WAKEUP);
}

#endif
