/* SPDX-License-Identifier: MIT */
/*
 * Data sources: the one table of codes by core, what events alone tell, and perf's data_src.
 *
 * Codes are implementation defined. Neoverse and Cortex: the cores' technical reference manuals,
 * "Data Source packet"; AmpereOne and HiSilicon: linux tools/perf/util/arm-spe.c. perf's data_src:
 * include/uapi/linux/perf_event.h, union perf_mem_data_src.
 */
#include <string.h>

#include "mem_access.h"
#include "spe_packet.h"

const char *ty_mem_level_name(enum ty_mem_level l)
{
	static const char *const names[] = {"unknown", "L1",	 "LFB", "L2",	      "L3",
					    "peer",    "remote", "RAM", "remote RAM", "device"};

	return l < TY_MEM_LV_COUNT ? names[l] : "unknown";
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

/* From the nearest level outwards, as far as the events say. */
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
	/* The codes say where a load's data came from; a store's is not defined. */
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

const char *ty_mem_source_text(const struct ty_mem *m, uint64_t midr, char buf[24])
{
	const struct source *s = NULL;
	char *p;

	if (m->kind == TY_MEM_LOAD && m->has & TY_MEM_HAS_SOURCE && !m->data_src)
		s = code_find(midr, m->source);
	if (s)
		return s->name;
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

void ty_mem_set_data_src(struct ty_mem *m, uint64_t d)
{
	unsigned op = d & 0x1f, lvl = d >> 5 & 0x3fff, snoop = d >> 19 & 0x1f,
		 dtlb = d >> 26 & 0x7f;
	unsigned num = d >> 33 & 15, remote = d >> 37 & 1, snoopx = d >> 38 & 3, hops = d >> 43 & 7;

	m->data_src = d;
	m->kind = op & 2 ? TY_MEM_LOAD : op & 4 ? TY_MEM_STORE : TY_MEM_OTHER;
	m->level = TY_MEM_LV_UNKNOWN;
	m->src_flags = 0;
	if (snoop & 16)
		m->src_flags |= TY_MEM_SRC_HITM | TY_MEM_SRC_PEER;
	if (snoopx & 2 || hops == 1) /* PEER; another core of this node */
		m->src_flags |= TY_MEM_SRC_PEER;
	if (remote)
		m->src_flags |= TY_MEM_SRC_REMOTE;
	if (lvl & 4) /* MISS */
		m->src_flags |= TY_MEM_SRC_MISS;
	if (lvl & 8)
		m->level = TY_MEM_LV_L1;
	else if (lvl & 0x10)
		m->level = TY_MEM_LV_LFB;
	else if (lvl & 0x20)
		m->level = TY_MEM_LV_L2;
	else if (lvl & 0x40)
		m->level = TY_MEM_LV_L3;
	else if (lvl & 0x80)
		m->level = TY_MEM_LV_RAM;
	else if (lvl & 0x300)
		m->level = TY_MEM_LV_REMOTE_RAM, m->src_flags |= TY_MEM_SRC_REMOTE;
	else if (lvl & 0xc00)
		m->level = TY_MEM_LV_REMOTE, m->src_flags |= TY_MEM_SRC_REMOTE;
	else if (lvl & 0x3000)
		m->level = TY_MEM_LV_DEVICE;
	else if (num == 1)
		m->level = TY_MEM_LV_L1;
	else if (num == 2)
		m->level = TY_MEM_LV_L2;
	else if (num == 3 || num == 4)
		m->level = TY_MEM_LV_L3;
	else if (num == 12)
		m->level = TY_MEM_LV_LFB;
	else if (num == 13)
		m->level = TY_MEM_LV_RAM;
	else if (num == 10)
		m->level = TY_MEM_LV_DEVICE;
	if (m->src_flags & TY_MEM_SRC_PEER && m->level >= TY_MEM_LV_L2 && m->level <= TY_MEM_LV_L3)
		m->level = TY_MEM_LV_PEER;
	if (remote && m->level == TY_MEM_LV_RAM)
		m->level = TY_MEM_LV_REMOTE_RAM;
	if (remote && (m->level == TY_MEM_LV_PEER || m->level == TY_MEM_LV_L3))
		m->level = TY_MEM_LV_REMOTE;
	/* In the words of events, for what counts walks and misses. */
	if (dtlb & 0x38 && !(dtlb & 1))
		m->events |=
			TY_MEM_EV_TLB_ACCESS | (dtlb & 4 || dtlb & 0x10 ? TY_MEM_EV_TLB_WALK : 0);
	if (m->level != TY_MEM_LV_UNKNOWN)
		m->events |= TY_MEM_EV_L1_ACCESS |
			     (m->level != TY_MEM_LV_L1 || lvl & 4 ? TY_MEM_EV_L1_MISS : 0);
	if (m->events)
		m->has |= TY_MEM_HAS_EVENTS;
}

void ty_mem_op_text(const struct ty_mem *m, struct ty_buf *out)
{
	static const char *const kinds[] = {"other", "LD", "ST", "B", "GAP"};

	if (m->has & TY_MEM_HAS_OP)
		ty_spe_op_text(m->op_class, m->op, out);
	else
		ty_buf_adds(out, kinds[m->kind <= TY_MEM_GAP ? m->kind : 0]);
}
