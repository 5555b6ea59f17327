/* SPDX-License-Identifier: MIT */
/* Records of perf_event, from bytes to fields (perf_record.h). */
#include "perf_record.h"

#include <string.h>

#include "err.h"
#include "checked_read.h"

#define S_IN_TAIL                                                                                  \
	(TY_PERF_S_TID | TY_PERF_S_TIME | TY_PERF_S_ID | TY_PERF_S_STREAM_ID | TY_PERF_S_CPU |     \
	 TY_PERF_S_IDENTIFIER)

static struct ty_rd body(const struct ty_perf_rec *r)
{
	return ty_rd_init(r->body, r->n, false);
}

static int done(const struct ty_rd *rd)
{
	return rd->bad ? -TY_EFORMAT : 0;
}

int ty_perf_attr_parse(const uint8_t *p, size_t n, struct ty_perf_attr *a)
{
	uint8_t full[144] = {0}; /* PERF_ATTR_SIZE_VER9 */

	*a = (struct ty_perf_attr){0};
	if (n < TY_PERF_ATTR_MIN)
		return -TY_EFORMAT;
	memcpy(full, p, n < sizeof(full) ? n : sizeof(full));
	a->type = (uint32_t)ty_load(full, 4, false);
	a->size = (uint32_t)ty_load(full + 4, 4, false);
	a->config = ty_load(full + 8, 8, false);
	a->sample_period = ty_load(full + 16, 8, false);
	a->sample_type = ty_load(full + 24, 8, false);
	a->read_format = ty_load(full + 32, 8, false);
	a->flags = ty_load(full + 40, 8, false);
	a->config1 = ty_load(full + 56, 8, false);
	a->config2 = ty_load(full + 64, 8, false);
	a->branch_sample_type = ty_load(full + 72, 8, false);
	a->sample_regs_user = ty_load(full + 80, 8, false);
	a->sample_stack_user = (uint32_t)ty_load(full + 88, 4, false);
	a->clockid = (int32_t)ty_load(full + 92, 4, false);
	a->sample_regs_intr = ty_load(full + 96, 8, false);
	a->config3 = ty_load(full + 128, 8, false);
	a->config4 = ty_load(full + 136, 8, false);
	return 0;
}

int ty_perf_buf_next(const uint8_t *p, size_t n, size_t *pos, struct ty_perf_rec *out)
{
	uint32_t size;

	if (*pos >= n)
		return 0;
	if (n - *pos < 8)
		return -TY_EFORMAT;
	p += *pos;
	size = (uint32_t)ty_load(p + 6, 2, false);
	if (size < 8 || size > n - *pos)
		return -TY_EFORMAT;
	*out = (struct ty_perf_rec){.type = (uint32_t)ty_load(p, 4, false),
				    .misc = (uint16_t)ty_load(p + 4, 2, false),
				    .body = p + 8,
				    .n = size - 8,
				    .off = *pos};
	*pos += size;
	return 1;
}

uint32_t ty_perf_id_bytes(uint64_t sample_type)
{
	return 8 * (uint32_t)__builtin_popcountll(sample_type & S_IN_TAIL);
}

int ty_perf_id_parse(const struct ty_perf_rec *r, uint64_t type, struct ty_perf_id *id)
{
	uint32_t n = ty_perf_id_bytes(type);
	struct ty_rd rd;

	*id = (struct ty_perf_id){.pid = -1, .tid = -1};
	if (r->type == TY_PERF_SAMPLE || n > r->n)
		return -TY_EFORMAT;
	rd = ty_rd_init(r->body + r->n - n, n, false);
	if (type & TY_PERF_S_TID) {
		id->pid = (int32_t)ty_rd_u32(&rd);
		id->tid = (int32_t)ty_rd_u32(&rd);
	}
	if (type & TY_PERF_S_TIME)
		id->time = ty_rd_u64(&rd);
	if (type & TY_PERF_S_ID)
		id->id = ty_rd_u64(&rd);
	if (type & TY_PERF_S_STREAM_ID)
		id->stream_id = ty_rd_u64(&rd);
	if (type & TY_PERF_S_CPU) {
		id->cpu = ty_rd_u32(&rd);
		ty_rd_u32(&rd);
	}
	if (type & TY_PERF_S_IDENTIFIER)
		id->id = ty_rd_u64(&rd);
	id->have = type & S_IN_TAIL & ~TY_PERF_S_IDENTIFIER;
	if (type & TY_PERF_S_IDENTIFIER)
		id->have |= TY_PERF_S_ID;
	return done(&rd);
}

/* struct read_format: values this reader has no use for. */
static void skip_read(struct ty_rd *rd, uint64_t format)
{
	uint64_t nr, words;

	if (format & 8) { /* PERF_FORMAT_GROUP */
		nr = ty_rd_u64(rd);
		if (nr > ty_rd_left(rd) / 8) {
			rd->bad = true;
			return;
		}
		words = (uint64_t)__builtin_popcountll(format & 3) +
			nr * (1 + !!(format & 4) + !!(format & 16));
	} else {
		words = 1 + (uint64_t)__builtin_popcountll(format & 0x17);
	}
	ty_rd_bytes(rd, words * 8);
}

/* Gives their values; NULL: none. */
static const uint8_t *take_regs(struct ty_rd *rd, uint64_t mask, uint64_t *abi)
{
	*abi = ty_rd_u64(rd);
	return *abi ? ty_rd_bytes(rd, 8 * (uint64_t)__builtin_popcountll(mask)) : NULL;
}

static void take_branches(struct ty_rd *rd, uint64_t branch_type, struct ty_perf_sample *s)
{
	const uint64_t nr = ty_rd_u64(rd);

	if (branch_type & TY_PERF_BRANCH_HW_INDEX)
		ty_rd_u64(rd);
	if (nr > ty_rd_left(rd) / TY_PERF_BRANCH_BYTES) {
		rd->bad = true;
		return;
	}
	s->branches = ty_rd_bytes(rd, nr * TY_PERF_BRANCH_BYTES);
	s->branches_n = nr;
	if (branch_type & TY_PERF_BRANCH_COUNTERS)
		ty_rd_bytes(rd, 8 * nr);
}

struct ty_perf_branch ty_perf_branch_at(const struct ty_perf_sample *s, uint64_t i)
{
	const uint8_t *p = s->branches + i * TY_PERF_BRANCH_BYTES;
	const uint64_t flags = ty_load(p + 16, 8, false);

	return (struct ty_perf_branch){.from = ty_load(p, 8, false),
				       .to = ty_load(p + 8, 8, false),
				       .mispredicted = flags & 1,
				       .predicted = flags >> 1 & 1,
				       .in_transaction = flags >> 2 & 1,
				       .abort = flags >> 3 & 1,
				       .cycles = (uint16_t)(flags >> 4)};
}

/* The parts in the order of the kernel's perf_output_sample(). */
int ty_perf_sample_parse(const struct ty_perf_rec *r, const struct ty_perf_attr *attr,
			 struct ty_perf_sample *s)
{
	uint64_t t = attr->sample_type, n;
	struct ty_rd rd = body(r);

	*s = (struct ty_perf_sample){.have = t, .id = {.pid = -1, .tid = -1}};
	if (r->type != TY_PERF_SAMPLE)
		return -TY_EFORMAT;
	s->id.have = t & S_IN_TAIL & ~TY_PERF_S_IDENTIFIER;
	if (t & TY_PERF_S_IDENTIFIER) {
		s->id.id = ty_rd_u64(&rd);
		s->id.have |= TY_PERF_S_ID;
	}
	if (t & TY_PERF_S_IP)
		s->ip = ty_rd_u64(&rd);
	if (t & TY_PERF_S_TID) {
		s->id.pid = (int32_t)ty_rd_u32(&rd);
		s->id.tid = (int32_t)ty_rd_u32(&rd);
	}
	if (t & TY_PERF_S_TIME)
		s->id.time = ty_rd_u64(&rd);
	if (t & TY_PERF_S_ADDR)
		s->addr = ty_rd_u64(&rd);
	if (t & TY_PERF_S_ID)
		s->id.id = ty_rd_u64(&rd);
	if (t & TY_PERF_S_STREAM_ID)
		s->id.stream_id = ty_rd_u64(&rd);
	if (t & TY_PERF_S_CPU) {
		s->id.cpu = ty_rd_u32(&rd);
		ty_rd_u32(&rd);
	}
	if (t & TY_PERF_S_PERIOD)
		s->period = ty_rd_u64(&rd);
	if (t & TY_PERF_S_READ)
		skip_read(&rd, attr->read_format);
	if (t & TY_PERF_S_CALLCHAIN) {
		n = ty_rd_u64(&rd);
		s->ips = n > ty_rd_left(&rd) / 8 ? (rd.bad = true, NULL) : ty_rd_bytes(&rd, n * 8);
		s->ips_n = s->ips ? n : 0;
	}
	if (t & TY_PERF_S_RAW) {
		s->raw_n = ty_rd_u32(&rd);
		s->raw = ty_rd_bytes(&rd, s->raw_n);
		if (!s->raw)
			s->raw_n = 0;
	}
	if (t & TY_PERF_S_BRANCH_STACK)
		take_branches(&rd, attr->branch_sample_type, s);
	if (t & TY_PERF_S_REGS_USER)
		s->regs = take_regs(&rd, attr->sample_regs_user, &s->regs_abi);
	if (t & TY_PERF_S_STACK_USER) {
		n = ty_rd_u64(&rd);
		s->stack = ty_rd_bytes(&rd, n);
		s->stack_n = s->stack && n ? ty_rd_u64(&rd) : 0; /* the part that is filled */
		if (s->stack_n > n)
			s->stack_n = n;
	}
	if (t & (TY_PERF_S_WEIGHT | TY_PERF_S_WEIGHT_STRUCT))
		s->weight = ty_rd_u64(&rd);
	if (t & TY_PERF_S_DATA_SRC)
		s->data_src = ty_rd_u64(&rd);
	if (t & TY_PERF_S_TRANSACTION)
		s->transaction = ty_rd_u64(&rd);
	if (t & TY_PERF_S_REGS_INTR)
		take_regs(&rd, attr->sample_regs_intr, &n);
	if (t & TY_PERF_S_PHYS_ADDR)
		s->phys_addr = ty_rd_u64(&rd);
	if (t & TY_PERF_S_CGROUP)
		s->cgroup = ty_rd_u64(&rd);
	if (t & TY_PERF_S_DATA_PAGE_SIZE)
		s->data_page_size = ty_rd_u64(&rd);
	if (t & TY_PERF_S_CODE_PAGE_SIZE)
		s->code_page_size = ty_rd_u64(&rd);
	return done(&rd);
}

/* Size, three zeros, and the build id, padded with zeros to 20 bytes. Kernels set the flag of a
 * record for another recorder's event, too, and write device and inode all the same. */
static bool is_build_id(const uint8_t id[24])
{
	unsigned n = id[0];

	if (!n || n > 20 || id[1] || id[2] || id[3])
		return false;
	while (n < 20 && !id[4 + n])
		n++;
	return n == 20;
}

int ty_perf_mmap(const struct ty_perf_rec *r, struct ty_perf_mmap *m)
{
	struct ty_rd rd = body(r);

	*m = (struct ty_perf_mmap){.name = ""};
	if (r->type != TY_PERF_MMAP && r->type != TY_PERF_MMAP2)
		return -TY_EFORMAT;
	m->pid = (int32_t)ty_rd_u32(&rd);
	m->tid = (int32_t)ty_rd_u32(&rd);
	m->addr = ty_rd_u64(&rd);
	m->len = ty_rd_u64(&rd);
	m->pgoff = ty_rd_u64(&rd);
	m->prot = r->misc & TY_PERF_MISC_MMAP_DATA ? 0 : 4;
	if (r->type == TY_PERF_MMAP2) {
		const uint8_t *id = ty_rd_bytes(&rd, 24); /* maj, min, ino, ino_generation */

		if (id && r->misc & TY_PERF_MISC_MMAP_BUILD_ID && is_build_id(id)) {
			m->has_build_id = true;
			m->build_id_n = id[0];
			memcpy(m->build_id, id + 4, m->build_id_n);
		} else if (id) {
			m->major = (uint32_t)ty_load(id, 4, false);
			m->minor = (uint32_t)ty_load(id + 4, 4, false);
			m->inode = ty_load(id + 8, 8, false);
			m->generation = ty_load(id + 16, 8, false);
		}
		m->prot = ty_rd_u32(&rd);
		m->flags = ty_rd_u32(&rd);
	}
	m->name = ty_rd_str(&rd);
	if (!m->name)
		m->name = "";
	return done(&rd);
}

int ty_perf_comm(const struct ty_perf_rec *r, struct ty_perf_comm *c)
{
	struct ty_rd rd = body(r);

	c->pid = (int32_t)ty_rd_u32(&rd);
	c->tid = (int32_t)ty_rd_u32(&rd);
	c->exec = r->misc & TY_PERF_MISC_COMM_EXEC;
	c->comm = ty_rd_str(&rd);
	if (!c->comm)
		c->comm = "";
	return r->type == TY_PERF_COMM ? done(&rd) : -TY_EFORMAT;
}

int ty_perf_task(const struct ty_perf_rec *r, struct ty_perf_task *t)
{
	struct ty_rd rd = body(r);

	t->pid = (int32_t)ty_rd_u32(&rd);
	t->ppid = (int32_t)ty_rd_u32(&rd);
	t->tid = (int32_t)ty_rd_u32(&rd);
	t->ptid = (int32_t)ty_rd_u32(&rd);
	t->time = ty_rd_u64(&rd);
	return r->type == TY_PERF_FORK || r->type == TY_PERF_EXIT ? done(&rd) : -TY_EFORMAT;
}

int ty_perf_aux(const struct ty_perf_rec *r, struct ty_perf_aux *a)
{
	struct ty_rd rd = body(r);

	a->offset = ty_rd_u64(&rd);
	a->size = ty_rd_u64(&rd);
	a->flags = ty_rd_u64(&rd);
	return r->type == TY_PERF_AUX ? done(&rd) : -TY_EFORMAT;
}

int ty_perf_itrace_start(const struct ty_perf_rec *r, struct ty_perf_itrace_start *s)
{
	struct ty_rd rd = body(r);

	s->pid = (int32_t)ty_rd_u32(&rd);
	s->tid = (int32_t)ty_rd_u32(&rd);
	return r->type == TY_PERF_ITRACE_START ? done(&rd) : -TY_EFORMAT;
}

int ty_perf_lost(const struct ty_perf_rec *r, struct ty_perf_lost *l)
{
	struct ty_rd rd = body(r);

	if (r->type == TY_PERF_LOST)
		ty_rd_u64(&rd); /* the event's id */
	else if (r->type != TY_PERF_LOST_SAMPLES)
		return -TY_EFORMAT;
	l->count = ty_rd_u64(&rd);
	return done(&rd);
}

int ty_perf_switch(const struct ty_perf_rec *r, struct ty_perf_switch *s)
{
	struct ty_rd rd = body(r);

	*s = (struct ty_perf_switch){.out = r->misc & TY_PERF_MISC_SWITCH_OUT,
				     .preempt = r->misc & TY_PERF_MISC_SWITCH_PREEMPT,
				     .other_pid = -1,
				     .other_tid = -1};
	if (r->type == TY_PERF_SWITCH)
		return 0;
	if (r->type != TY_PERF_SWITCH_CPU_WIDE)
		return -TY_EFORMAT;
	s->has_other = true;
	s->other_pid = (int32_t)ty_rd_u32(&rd);
	s->other_tid = (int32_t)ty_rd_u32(&rd);
	return done(&rd);
}

int ty_perf_stat(const struct ty_perf_rec *r, struct ty_perf_stat *s)
{
	struct ty_rd rd = body(r);

	s->id = ty_rd_u64(&rd);
	s->cpu = ty_rd_u32(&rd);
	s->thread = ty_rd_u32(&rd);
	s->value = ty_rd_u64(&rd);
	s->enabled_ns = ty_rd_u64(&rd);
	s->running_ns = ty_rd_u64(&rd);
	return r->type == TY_PERF_STAT ? done(&rd) : -TY_EFORMAT;
}

int ty_perf_auxtrace_info(const struct ty_perf_rec *r, struct ty_perf_auxtrace_info *i)
{
	struct ty_rd rd = body(r);

	*i = (struct ty_perf_auxtrace_info){.type = ty_rd_u32(&rd)};
	ty_rd_u32(&rd);
	if (r->type != TY_PERF_AUXTRACE_INFO || rd.bad)
		return -TY_EFORMAT;
	i->priv = rd.p;
	i->words = (uint32_t)(ty_rd_left(&rd) / 8);
	return 0;
}

uint64_t ty_perf_word(const struct ty_perf_auxtrace_info *i, uint32_t word)
{
	return word < i->words ? ty_load(i->priv + (size_t)word * 8, 8, false) : 0;
}

int ty_perf_auxtrace(const struct ty_perf_rec *r, struct ty_perf_auxtrace *a)
{
	struct ty_rd rd = body(r);

	a->size = ty_rd_u64(&rd);
	a->offset = ty_rd_u64(&rd);
	a->reference = ty_rd_u64(&rd);
	a->idx = ty_rd_u32(&rd);
	a->tid = (int32_t)ty_rd_u32(&rd);
	a->cpu = (int32_t)ty_rd_u32(&rd);
	return r->type == TY_PERF_AUXTRACE ? done(&rd) : -TY_EFORMAT;
}

int ty_perf_time_conv(const struct ty_perf_rec *r, struct ty_perf_time_conv *tc)
{
	struct ty_rd rd = body(r);

	*tc = (struct ty_perf_time_conv){.shift = ty_rd_u64(&rd),
					 .mult = ty_rd_u64(&rd),
					 .zero = ty_rd_u64(&rd),
					 .has_zero = true};
	if (r->type != TY_PERF_TIME_CONV || rd.bad || tc->shift > 63)
		return -TY_EFORMAT;
	/* Kernels from 5.8 on write more; before, the record was written only with a known
	 * time_zero. */
	if (ty_rd_left(&rd) >= 18) {
		tc->cycles = ty_rd_u64(&rd);
		tc->mask = ty_rd_u64(&rd);
		tc->has_zero = ty_rd_u8(&rd);
		tc->is_short = ty_rd_u8(&rd);
	}
	return 0;
}
