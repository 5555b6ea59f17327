/* SPDX-License-Identifier: MIT */
/*
 * Data sources: the table of codes by core, what events alone imply, and perf's data_src.
 *
 * Codes are implementation defined. Neoverse and Cortex: the cores' technical reference manuals,
 * "Data Source packet"; AmpereOne and HiSilicon: linux tools/perf/util/arm-spe.c. perf's data_src:
 * include/uapi/linux/perf_event.h, union perf_mem_data_src.
 */
#include <stdio.h>
#include <string.h>

#include "mem_access.h"
#include "spe_packet.h"

const char *ty_mem_level_name(enum ty_mem_level l)
{
	static const char *const names[] = {"unknown",	 "L1",	       "LFB",
					    "L2",	 "L3",	       "L0",
					    "L2 MHB",	 "L4",	       "memory-side cache",
					    "any cache", "peer",       "remote",
					    "RAM",	 "remote RAM", "PMEM",
					    "CXL",	 "uncached",   "device"};

	_Static_assert(sizeof(names) / sizeof(*names) == TY_MEM_LV_COUNT, "a name for each");
	return l < TY_MEM_LV_COUNT ? names[l] : "unknown";
}

/* True if the name of the level implies the flag. */
static bool implies_remote(enum ty_mem_level l)
{
	return l == TY_MEM_LV_REMOTE || l == TY_MEM_LV_REMOTE_RAM;
}

const char *ty_mem_level_text(enum ty_mem_level l, unsigned f, char out[TY_MEM_LEVEL_TEXT])
{
	static const char *const hops[] = {"",
					   ", another core of the node",
					   ", another node of the socket",
					   ", another socket",
					   ", another board",
					   ", 5 hops",
					   ", 6 hops",
					   ", 7 hops"};
	unsigned far = (f & TY_MEM_SRC_HOPS) >> TY_MEM_SRC_HOPS_SHIFT;

	snprintf(out, TY_MEM_LEVEL_TEXT, "%s%s%s%s%s%s%s", ty_mem_level_name(l),
		 f & TY_MEM_SRC_MISS ? " miss" : "", hops[far],
		 f & TY_MEM_SRC_HITM ? ", modified" : "",
		 f & TY_MEM_SRC_PEER && l != TY_MEM_LV_PEER && !far ? ", peer" : "",
		 f & TY_MEM_SRC_REMOTE && !implies_remote(l) && !far ? ", remote" : "",
		 f & TY_MEM_SRC_EVENTS ? " (by events)" : "");
	return out;
}

struct source {
	uint16_t code;
	uint8_t level, flags;
	const char *name;
};

#define PEER   TY_MEM_SRC_PEER
#define HITM   TY_MEM_SRC_HITM
#define REMOTE TY_MEM_SRC_REMOTE

static const struct source arm_codes[] = {
	{0x0, TY_MEM_LV_L1, 0, "L1"},
	{0x8, TY_MEM_LV_L2, 0, "L2"},
	{0x9, TY_MEM_LV_PEER, PEER, "peer core"},
	{0xa, TY_MEM_LV_PEER, PEER, "local cluster"},
	{0xb, TY_MEM_LV_L3, 0, "system cache"},
	{0xc, TY_MEM_LV_PEER, PEER, "peer cluster"},
	{0xd, TY_MEM_LV_REMOTE, PEER | REMOTE, "remote socket"},
	{0xe, TY_MEM_LV_RAM, 0, "DRAM"},
	{0},
};
static const struct source ampere_codes[] = {
	{0x0, TY_MEM_LV_PEER, PEER, "local chip cache or device"},
	{0x3, TY_MEM_LV_L3, 0, "system cache"},
	{0x5, TY_MEM_LV_REMOTE, PEER | REMOTE, "remote chip cache"},
	{0x7, TY_MEM_LV_RAM, 0, "DDR"},
	{0x8, TY_MEM_LV_L1, 0, "L1"},
	{0x9, TY_MEM_LV_L2, 0, "L2"},
	{0},
};
static const struct source hisi_codes[] = {
	{0, TY_MEM_LV_PEER, PEER, "peer core"},
	{1, TY_MEM_LV_PEER, PEER | HITM, "peer core, modified"},
	{2, TY_MEM_LV_L3, 0, "L3"},
	{3, TY_MEM_LV_L3, HITM, "L3, modified"},
	{4, TY_MEM_LV_PEER, PEER, "peer cluster"},
	{5, TY_MEM_LV_PEER, PEER | HITM, "peer cluster, modified"},
	{6, TY_MEM_LV_REMOTE, PEER | REMOTE, "remote socket"},
	{7, TY_MEM_LV_REMOTE, PEER | REMOTE | HITM, "remote socket, modified"},
	{8, TY_MEM_LV_RAM, 0, "local memory"},
	{9, TY_MEM_LV_REMOTE_RAM, REMOTE, "remote memory"},
	{13, TY_MEM_LV_DEVICE, 0, "not cacheable or device"},
	{16, TY_MEM_LV_L2, 0, "L2"},
	{17, TY_MEM_LV_L2, HITM, "L2, modified"},
	{18, TY_MEM_LV_L1, 0, "L1"},
	{0},
};

/* By implementer (MIDR[31:24]) and part (MIDR[15:4]). */
static const struct {
	uint32_t implementer, part;
	const char *name;
	const struct source *codes;
} cores[] = {
	{0x41, 0xd0c, "Neoverse N1", arm_codes},  {0x41, 0xd49, "Neoverse N2", arm_codes},
	{0x41, 0xd40, "Neoverse V1", arm_codes},  {0x41, 0xd4f, "Neoverse V2", arm_codes},
	{0x41, 0xd81, "Cortex-A720", arm_codes},  {0x41, 0xd89, "Cortex-A720AE", arm_codes},
	{0x41, 0xd87, "Cortex-A725", arm_codes},  {0x41, 0xd4c, "Cortex-X1C", arm_codes},
	{0x41, 0xd4e, "Cortex-X3", arm_codes},	  {0x41, 0xd85, "Cortex-X925", arm_codes},
	{0xc0, 0xac4, "AmpereOne", ampere_codes}, {0x48, 0xd06, "HiSilicon HIP12", hisi_codes},
};

static int core_find(uint64_t midr)
{
	for (unsigned i = 0; i < sizeof(cores) / sizeof(*cores); i++)
		if (cores[i].implementer == (midr >> 24 & 0xff) &&
		    cores[i].part == (midr >> 4 & 0xfff))
			return (int)i;
	return -1;
}

const char *ty_mem_core_name(uint64_t midr)
{
	int c = core_find(midr);

	return c < 0 ? NULL : cores[c].name;
}

static const struct source *code_find(uint64_t midr, unsigned code)
{
	int c = core_find(midr);

	if (c >= 0)
		for (const struct source *s = cores[c].codes; s->name; s++)
			if (s->code == code)
				return s;
	return NULL;
}

/* From the nearest level outwards, by the events. */
static void by_events(struct ty_mem *m)
{
	uint64_t e = m->events;

	m->src_flags |= TY_MEM_SRC_EVENTS;
	if (m->kind == TY_MEM_STORE) {
		if (e & (TY_MEM_EV_LLC_ACCESS | TY_MEM_EV_LLC_MISS)) {
			m->level = TY_MEM_LV_L3;
			m->src_flags |= e & TY_MEM_EV_LLC_MISS ? TY_MEM_SRC_MISS : 0;
		} else if (e & (TY_MEM_EV_L2_ACCESS | TY_MEM_EV_L2_MISS)) {
			m->level = TY_MEM_LV_L2;
			m->src_flags |= e & TY_MEM_EV_L2_MISS ? TY_MEM_SRC_MISS : 0;
		} else if (e & (TY_MEM_EV_L1_ACCESS | TY_MEM_EV_L1_MISS)) {
			m->level = TY_MEM_LV_L1;
			m->src_flags |= e & TY_MEM_EV_L1_MISS ? TY_MEM_SRC_MISS : 0;
		}
	} else if (e & TY_MEM_EV_L1_ACCESS && !(e & TY_MEM_EV_L1_MISS)) {
		m->level = TY_MEM_LV_L1;
	} else if (e & TY_MEM_EV_RECENT) {
		m->level = TY_MEM_LV_LFB;
	} else if (e & TY_MEM_EV_L2_ACCESS && !(e & TY_MEM_EV_L2_MISS)) {
		m->level = TY_MEM_LV_L2;
	} else if (e & TY_MEM_EV_LLC_ACCESS && !(e & TY_MEM_EV_LLC_MISS)) {
		m->level = TY_MEM_LV_L3;
	} else if (e & (TY_MEM_EV_LLC_MISS | TY_MEM_EV_L2_MISS | TY_MEM_EV_L1_MISS)) {
		m->level = e & TY_MEM_EV_LLC_MISS  ? TY_MEM_LV_L3
			   : e & TY_MEM_EV_L2_MISS ? TY_MEM_LV_L2
						   : TY_MEM_LV_L1;
		m->src_flags |= TY_MEM_SRC_MISS;
	}
	if (m->level == TY_MEM_LV_UNKNOWN)
		m->src_flags &= (uint8_t)~TY_MEM_SRC_EVENTS;
}

void ty_mem_set_level(struct ty_mem *m, uint64_t midr)
{
	const struct source *s = NULL;

	m->level = TY_MEM_LV_UNKNOWN;
	m->src_flags = 0;
	if (m->kind != TY_MEM_LOAD && m->kind != TY_MEM_STORE)
		return;
	/* The codes give the source of a load's data; for a store they are not defined. */
	if (m->kind == TY_MEM_LOAD && m->has & TY_MEM_HAS_SOURCE)
		s = code_find(midr, m->source);
	if (s) {
		m->level = s->level;
		m->src_flags = s->flags;
	} else if (m->kind == TY_MEM_STORE || core_find(midr) < 0 ||
		   !(m->has & TY_MEM_HAS_SOURCE)) {
		by_events(m);
	}
	if (m->events & TY_MEM_EV_REMOTE)
		m->src_flags |= TY_MEM_SRC_REMOTE;
	if (m->events & TY_MEM_EV_SNOOPED && m->events & TY_MEM_EV_MODIFIED)
		m->src_flags |= TY_MEM_SRC_HITM | TY_MEM_SRC_PEER;
}

const char *ty_mem_source_text(const struct ty_mem *m, uint64_t midr, char buf[TY_MEM_LEVEL_TEXT])
{
	const struct source *s = NULL;
	char *p;

	if (m->kind == TY_MEM_LOAD && m->has & TY_MEM_HAS_SOURCE && !m->data_src)
		s = code_find(midr, m->source);
	if (s)
		return s->name;
	if (m->level != TY_MEM_LV_UNKNOWN && m->data_src)
		return ty_mem_level_text((enum ty_mem_level)m->level, m->src_flags, buf);
	if (m->level != TY_MEM_LV_UNKNOWN) {
		if (!(m->src_flags & TY_MEM_SRC_MISS))
			return ty_mem_level_name(m->level);
		strcat(strcpy(buf, ty_mem_level_name(m->level)), " miss");
		return buf;
	}
	if (!(m->has & TY_MEM_HAS_SOURCE) || m->data_src || m->kind != TY_MEM_LOAD)
		return "";
	p = stpcpy(buf, "unknown 0x");
	for (int shift = 12; shift >= 0; shift -= 4)
		if (m->source >> shift || !shift)
			*p++ = "0123456789abcdef"[m->source >> shift & 15];
	*p = 0;
	return buf;
}

/* perf's data_src ------------------------------------------------------------------------------ */

/* mem_lvl */
enum {
	LVL_MISS = 0x4,
	LVL_L1 = 0x8,
	LVL_LFB = 0x10,
	LVL_L2 = 0x20,
	LVL_L3 = 0x40,
	LVL_RAM = 0x80,
	LVL_REMOTE_RAM = 0x300,	  /* one hop, two */
	LVL_REMOTE_CACHE = 0xc00, /* one hop, two */
	LVL_IO = 0x1000,
	LVL_UNCACHED = 0x2000,
};
/* mem_dtlb */
enum {
	TLB_NA = 1,
	TLB_HIT = 2,
	TLB_MISS = 4,
	TLB_L1 = 8,
	TLB_L2 = 0x10,
	TLB_WK = 0x20,
	TLB_OS = 0x40
};

/* mem_lvl_num, which newer kernels fill; 0: nothing that is known (or, as 15, not recorded). */
static const uint8_t level_of_num[16] = {
	[1] = TY_MEM_LV_L1,	 [2] = TY_MEM_LV_L2,	     [3] = TY_MEM_LV_L3,
	[4] = TY_MEM_LV_L4,	 [5] = TY_MEM_LV_L2_MHB,     [6] = TY_MEM_LV_MSC,
	[7] = TY_MEM_LV_L0,	 [8] = TY_MEM_LV_UNCACHED,   [9] = TY_MEM_LV_CXL,
	[10] = TY_MEM_LV_DEVICE, [11] = TY_MEM_LV_ANY_CACHE, [12] = TY_MEM_LV_LFB,
	[13] = TY_MEM_LV_RAM,	 [14] = TY_MEM_LV_PMEM,
};

/* The nearest of the older field's bits. */
static enum ty_mem_level level_of_bits(unsigned lvl)
{
	return lvl & LVL_L1		? TY_MEM_LV_L1
	       : lvl & LVL_LFB		? TY_MEM_LV_LFB
	       : lvl & LVL_L2		? TY_MEM_LV_L2
	       : lvl & LVL_L3		? TY_MEM_LV_L3
	       : lvl & LVL_RAM		? TY_MEM_LV_RAM
	       : lvl & LVL_REMOTE_RAM	? TY_MEM_LV_REMOTE_RAM
	       : lvl & LVL_REMOTE_CACHE ? TY_MEM_LV_REMOTE
	       : lvl & LVL_IO		? TY_MEM_LV_DEVICE
	       : lvl & LVL_UNCACHED	? TY_MEM_LV_UNCACHED
					: TY_MEM_LV_UNKNOWN;
}

/*
 * The outcome of the TLB as events. A hit in the first or second level is no walk. A miss in the
 * second level, or in an unnamed one, is a walk, and so is data found by the walker or the system.
 * A miss in the first level alone says nothing about the second.
 */
static uint64_t tlb_events(unsigned tlb, bool arm)
{
	if (tlb & TLB_NA || !(tlb & (TLB_HIT | TLB_MISS)))
		return 0;
	if (tlb & TLB_MISS && (tlb & (TLB_L1 | TLB_L2 | TLB_WK | TLB_OS)) == TLB_L1)
		return 0;
	if (tlb & TLB_MISS ||
	    (!(tlb & (TLB_L1 | TLB_L2)) && (tlb & TLB_OS || (tlb & TLB_WK && !arm))))
		return TY_MEM_EV_TLB_ACCESS | TY_MEM_EV_TLB_WALK;
	return TY_MEM_EV_TLB_ACCESS;
}

void ty_mem_set_data_src(struct ty_mem *m, uint64_t d, bool arm)
{
	unsigned op = d & 0x1f, lvl = d >> 5 & 0x3fff, snoop = d >> 19 & 0x1f;
	unsigned num = d >> 33 & 15, snoopx = d >> 38 & 3, hops = d >> 43 & 7;
	bool remote = (d >> 37 & 1 && !hops) || hops > 1; /* one hop is a core of this node */

	m->data_src = d;
	m->kind = op & TY_MEM_SRC_OP_LOAD    ? TY_MEM_LOAD
		  : op & TY_MEM_SRC_OP_STORE ? TY_MEM_STORE
					     : TY_MEM_OTHER;
	m->level = level_of_num[num] ? level_of_num[num] : (uint8_t)level_of_bits(lvl);
	m->src_flags = (uint8_t)(hops << TY_MEM_SRC_HOPS_SHIFT);
	remote |= !level_of_num[num] && implies_remote((enum ty_mem_level)m->level);
	if (snoop & 16)
		m->src_flags |= TY_MEM_SRC_HITM | TY_MEM_SRC_PEER;
	if (snoopx & 2 || hops == 1) /* PEER; another core of this node */
		m->src_flags |= TY_MEM_SRC_PEER;
	if (remote)
		m->src_flags |= TY_MEM_SRC_REMOTE;
	if (lvl & LVL_MISS)
		m->src_flags |= TY_MEM_SRC_MISS;
	if (m->src_flags & TY_MEM_SRC_PEER &&
	    (m->level == TY_MEM_LV_L2 || m->level == TY_MEM_LV_L3))
		m->level = TY_MEM_LV_PEER;
	if (remote && m->level == TY_MEM_LV_RAM)
		m->level = TY_MEM_LV_REMOTE_RAM;
	if (remote && (m->level == TY_MEM_LV_PEER || m->level == TY_MEM_LV_L3))
		m->level = TY_MEM_LV_REMOTE;
	m->events |= tlb_events(d >> 26 & 0x7f, arm);
	if (m->level != TY_MEM_LV_UNKNOWN)
		m->events |= TY_MEM_EV_L1_ACCESS |
			     (m->level != TY_MEM_LV_L1 || lvl & LVL_MISS ? TY_MEM_EV_L1_MISS : 0);
	if (m->events)
		m->has |= TY_MEM_HAS_EVENTS;
}

void ty_mem_op_text(const struct ty_mem *m, struct ty_buf *out)
{
	static const char *const kinds[] = {"other", "LD", "ST", "B", "GAP"};

	if (m->has & TY_MEM_HAS_OP)
		ty_spe_op_text(m->op_class, m->op, out);
	else
		ty_buf_adds(out, m->kind == TY_MEM_LOAD && ty_mem_writes(m)
					 ? "LD+ST"
					 : kinds[m->kind <= TY_MEM_GAP ? m->kind : 0]);
}
