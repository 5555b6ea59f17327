/* SPDX-License-Identifier: MIT */
/* The rings of records that BPF programs write (call_data_ring_bpf.h), one on each CPU. A zeroed
 * one is empty. */
#ifndef TY_CALL_DATA_RING_H
#define TY_CALL_DATA_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vec.h"

struct bpf_map;
struct bpf_program;
struct ring_buffer;
struct ty_ev_record;

struct ty_call_data_rings {
	char *mapped;
	size_t bytes, stride;
	uint64_t ring;	 /* bytes of one */
	unsigned n;	 /* CPUs up to the last one */
	VEC(int) clocks; /* by CPU; -1: none */
	int clocks_fd;
	const struct bpf_program *note, *check;
	struct ring_buffer *wakes;
};

/* The bytes of a ring, and CPUs: before the map's programs are loaded, for them and it. */
uint64_t ty_call_data_ring_bytes(unsigned cpus);
/* Maps the rings, and gives each CPU its clock. wakes: readable when a quarter of a ring is new.
 * note, check: the programs that find and check a clock. A CPU that is offline gets its clock when
 * it has lost a record. false: errno. */
bool ty_call_data_rings_open(struct ty_call_data_rings *r, const struct bpf_map *rings,
			     const struct bpf_map *clocks, const struct bpf_map *wakes,
			     const struct bpf_program *note, const struct bpf_program *check,
			     const unsigned *cpus, unsigned cpus_n);
int ty_call_data_rings_fd(const struct ty_call_data_rings *r);
/* Gives all new records, in the order of each CPU; the bytes follow a record's head. */
void ty_call_data_rings_drain(struct ty_call_data_rings *r,
			      void (*give)(void *ctx, const struct ty_ev_record *rec,
					   const char *bytes),
			      void *ctx);
void ty_call_data_rings_close(struct ty_call_data_rings *r);

#endif
