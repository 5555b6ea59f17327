/* SPDX-License-Identifier: MIT */
/* See pt_machine.h. */
#include "pt_machine.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OP_TIP = 0x0d, OP_PGE = 0x11, OP_PGD = 0x01, OP_FUP = 0x1d };
enum { TNT_SHORT = 6, TNT_LONG = 47, PSB_EVERY = 16384, RATIO = 30 };
enum { CYCLES_PER_INSN = 102 /* of 256 */ };

static void check(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "pt_machine: %s\n", what);
		abort();
	}
}

void pm_init(struct pm *m, uint64_t base, struct pm_options o)
{
	*m = (struct pm){.o = o, .seed = 1, .base = base};
	m->o.psb_every = o.psb_every ? o.psb_every : PSB_EVERY;
	ty_buf_init(&m->code, SIZE_MAX / 2);
	ty_buf_init(&m->out, SIZE_MAX / 2);
}

void pm_fini(struct pm *m)
{
	ty_buf_fini(&m->code);
	ty_buf_fini(&m->out);
	vec_fini(&m->symbols);
	vec_fini(&m->stack);
}

unsigned pm_any(struct pm *m, unsigned n)
{
	return (unsigned)rand_r(&m->seed) % n;
}

/* ---- layout ---- */

uint64_t pm_here(const struct pm *m)
{
	return m->base + m->code.len;
}

static void end_function(struct pm *m)
{
	struct pm_symbol *s = m->symbols.n ? &m->symbols.v[m->symbols.n - 1] : NULL;

	if (s && !s->size)
		s->size = pm_here(m) - s->ip;
}

void pm_function(struct pm *m, const char *name)
{
	struct pm_symbol s = {0};

	end_function(m);
	while (m->code.len % 16)
		ty_buf_addc(&m->code, (char)0x90);
	s.ip = pm_here(m);
	snprintf(s.name, sizeof(s.name), "%s", name);
	check(!vec_push(&m->symbols, s), "out of memory");
}

static void filler(struct pm *m)
{
	static const struct {
		uint8_t n, b[7];
	} some[] = {
		{3, {0x48, 0x89, 0xc3}},			 /* mov rbx, rax */
		{4, {0x48, 0x83, 0xc0, 0x01}},			 /* add rax, 1 */
		{3, {0x8b, 0x45, 0xfc}},			 /* mov eax, [rbp-4] */
		{2, {0x89, 0xc2}},				 /* mov edx, eax */
		{4, {0x48, 0x8d, 0x04, 0x0a}},			 /* lea rax, [rdx+rcx] */
		{3, {0x0f, 0xb6, 0x00}},			 /* movzx eax, byte [rax] */
		{7, {0x48, 0x8b, 0x05, 0x10, 0x00, 0x00, 0x00}}, /* mov rax, [rip+16] */
		{2, {0x85, 0xc0}},				 /* test eax, eax */
		{1, {0x55}},					 /* push rbp */
	};
	unsigned i = pm_any(m, sizeof(some) / sizeof(*some));

	ty_buf_add(&m->code, some[i].b, some[i].n);
}

struct pm_block pm_block(struct pm *m, enum pm_kind kind, unsigned fillers, uint64_t target)
{
	struct pm_block b = {
		.ip = pm_here(m), .target = target, .insns = fillers + 1, .kind = (uint8_t)kind};

	while (fillers--)
		filler(m);
	b.last = pm_here(m);
	switch (kind) {
	case PM_COND: ty_buf_add(&m->code, "\x0f\x85\0\0\0\0", 6); break;
	case PM_JUMP: ty_buf_add(&m->code, "\xe9\0\0\0\0", 5); break;
	case PM_CALL: ty_buf_add(&m->code, "\xe8\0\0\0\0", 5); break;
	case PM_RETURN: ty_buf_add(&m->code, "\xc3", 1); break;
	case PM_INDIRECT_JUMP: ty_buf_add(&m->code, "\xff\xe0", 2); break;
	case PM_INDIRECT_CALL: ty_buf_add(&m->code, "\xff\xd0", 2); break;
	}
	check(!m->code.failed, "out of memory");
	b.next = pm_here(m);
	if (target)
		pm_aim(m, &b, target);
	return b;
}

void pm_aim(struct pm *m, struct pm_block *b, uint64_t target)
{
	int32_t d = (int32_t)(target - b->next);

	b->target = target;
	memcpy(m->code.p + (b->next - m->base) - 4, &d, 4);
}

static uint32_t put_name(struct ty_buf *b, const char *name)
{
	uint32_t at = (uint32_t)b->len;

	ty_buf_add(b, name, strlen(name) + 1);
	return at;
}

void pm_elf(struct pm *m, struct ty_buf *out)
{
	static const char names[] = "\0.text\0.symtab\0.strtab\0.shstrtab";
	Elf64_Ehdr e = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_entry = m->base,
			.e_phoff = sizeof(e),
			.e_ehsize = sizeof(e),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 5,
			.e_shstrndx = 4};
	Elf64_Phdr p = {.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_offset = PM_ELF_OFF,
			.p_vaddr = m->base,
			.p_paddr = m->base,
			.p_filesz = m->code.len,
			.p_memsz = m->code.len,
			.p_align = 4096};
	Elf64_Shdr sh[5] = {{0}};
	struct ty_buf syms, strs;

	end_function(m);
	ty_buf_init(&syms, SIZE_MAX / 2);
	ty_buf_init(&strs, SIZE_MAX / 2);
	ty_buf_add(&syms, &(Elf64_Sym){0}, sizeof(Elf64_Sym));
	ty_buf_addc(&strs, 0);
	vec_each (s, &m->symbols) {
		Elf64_Sym y = {.st_name = put_name(&strs, s->name),
			       .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			       .st_shndx = 1,
			       .st_value = s->ip,
			       .st_size = s->size};

		ty_buf_add(&syms, &y, sizeof(y));
	}
	sh[1] = (Elf64_Shdr){.sh_name = 1,
			     .sh_type = SHT_PROGBITS,
			     .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			     .sh_addr = m->base,
			     .sh_offset = PM_ELF_OFF,
			     .sh_size = m->code.len,
			     .sh_addralign = 16};
	sh[2] = (Elf64_Shdr){.sh_name = 7,
			     .sh_type = SHT_SYMTAB,
			     .sh_offset = PM_ELF_OFF + m->code.len,
			     .sh_size = syms.len,
			     .sh_link = 3,
			     .sh_info = 1,
			     .sh_addralign = 8,
			     .sh_entsize = sizeof(Elf64_Sym)};
	sh[3] = (Elf64_Shdr){.sh_name = 15,
			     .sh_type = SHT_STRTAB,
			     .sh_offset = sh[2].sh_offset + syms.len,
			     .sh_size = strs.len};
	sh[4] = (Elf64_Shdr){.sh_name = 23,
			     .sh_type = SHT_STRTAB,
			     .sh_offset = sh[3].sh_offset + strs.len,
			     .sh_size = sizeof(names)};
	e.e_shoff = sh[4].sh_offset + sizeof(names);
	ty_buf_add(out, &e, sizeof(e));
	ty_buf_add(out, &p, sizeof(p));
	while (out->len % PM_ELF_OFF)
		ty_buf_addc(out, 0);
	ty_buf_add(out, m->code.p, m->code.len);
	ty_buf_add(out, syms.p, syms.len);
	ty_buf_add(out, strs.p, strs.len);
	ty_buf_add(out, names, sizeof(names));
	ty_buf_add(out, sh, sizeof(sh));
	check(!out->failed && !syms.failed && !strs.failed, "out of memory");
	ty_buf_fini(&syms);
	ty_buf_fini(&strs);
}

/* ---- packets ---- */

static void le(struct pm *m, uint64_t v, unsigned n)
{
	check(!ty_buf_addle(&m->out, v, n), "out of memory");
}

static uint64_t tsc_now(const struct pm *m)
{
	return m->o.tsc + (m->cycles256 >> 8) * PM_NOM_FREQ / RATIO;
}

static void put_cyc(struct pm *m)
{
	uint64_t now = m->cycles256 >> 8, v = now - m->cyc_sent;

	if (!m->o.cyc)
		return;
	m->cyc_sent = now;
	le(m, (v & 31) << 3 | (v >> 5 ? 4 : 0) | 3, 1);
	for (v >>= 5; v; v >>= 7)
		le(m, (v & 127) << 1 | (v >> 7 ? 1 : 0), 1);
}

static void put_ip(struct pm *m, uint8_t op, uint64_t ip)
{
	unsigned ipc = ip >> 16 == m->last_ip >> 16 ? 1 : ip >> 32 == m->last_ip >> 32 ? 2 : 3;

	le(m, op | ipc << 5, 1);
	le(m, ip, 2 * ipc);
	m->last_ip = ip;
}

static void flush(struct pm *m)
{
	uint64_t v = 1ull << m->bits_n | m->bits;

	if (!m->bits_n)
		return;
	put_cyc(m);
	if (m->bits_n > TNT_SHORT) {
		le(m, 0xa302, 2);
		le(m, v, 6);
	} else {
		le(m, v << 1, 1);
	}
	m->bits = m->bits_n = 0;
}

static void put_psb(struct pm *m, uint64_t ip)
{
	flush(m);
	for (unsigned i = 0; i < 8; i++)
		le(m, 0x8202, 2);
	m->last_ip = 0;
	m->returns_n = 0;
	le(m, 0x19, 1);
	le(m, tsc_now(m), 7);
	if (m->o.mtc) {
		le(m, 0x7302, 2);
		le(m, tsc_now(m) / PM_TSC_CTC & 0xffff, 2);
		le(m, 0, 1);
		le(m, tsc_now(m) % PM_TSC_CTC, 2);
		m->mtc_sent = tsc_now(m) / PM_TSC_CTC >> PM_MTC_FREQ;
	}
	m->cyc_sent = m->cycles256 >> 8;
	le(m, 0x0302, 2);
	le(m, RATIO, 2);
	if (ip) {
		le(m, 0x0199, 2);
		put_ip(m, OP_FUP, ip);
	}
	le(m, 0x2302, 2);
	m->psb_at = m->out.len;
}

static void bit(struct pm *m, bool taken)
{
	m->bits = m->bits << 1 | taken;
	if (++m->bits_n == (m->o.long_tnt ? TNT_LONG : TNT_SHORT))
		flush(m);
}

static void tip(struct pm *m, uint8_t op, uint64_t to)
{
	flush(m);
	put_cyc(m);
	put_ip(m, op, to);
}

/* ---- execution ---- */

void pm_start(struct pm *m, uint64_t ip)
{
	put_psb(m, 0);
	le(m, 0x0199, 2);
	put_ip(m, OP_PGE, ip);
	m->ip = ip;
}

static void off(struct pm *m)
{
	flush(m);
	put_ip(m, OP_FUP, m->ip);
	le(m, OP_PGD, 1);
}

void pm_interrupt(struct pm *m, uint64_t to)
{
	off(m);
	m->cycles256 += 1 << 20;
	le(m, 0x19, 1);
	le(m, tsc_now(m), 7);
	m->cyc_sent = m->cycles256 >> 8;
	if (m->o.mtc) {
		le(m, 0x7302, 2);
		le(m, tsc_now(m) / PM_TSC_CTC & 0xffff, 2);
		le(m, 0, 1);
		le(m, tsc_now(m) % PM_TSC_CTC, 2);
		m->mtc_sent = tsc_now(m) / PM_TSC_CTC >> PM_MTC_FREQ;
	}
	le(m, 0x0199, 2);
	put_ip(m, OP_PGE, to);
	m->returns_n = 0;
	m->ip = to;
}

void pm_stop(struct pm *m)
{
	off(m);
	while (m->out.len % 8)
		le(m, 0, 1);
}

static void call(struct pm *m, uint64_t ret, bool kept)
{
	check(!vec_push(&m->stack, ret), "out of memory");
	if (!kept)
		return;
	m->returns[m->returns_at++ % PM_RETURNS] = ret;
	if (m->returns_n < PM_RETURNS)
		m->returns_n++;
}

static void give_back(struct pm *m)
{
	uint64_t to;
	bool same;

	check(m->stack.n, "a return from nowhere");
	to = m->stack.v[--m->stack.n];
	same = m->returns_n && m->returns[(m->returns_at - 1) % PM_RETURNS] == to;
	if (same && m->o.return_compression) {
		m->returns_at--;
		m->returns_n--;
		bit(m, true);
	} else {
		tip(m, OP_TIP, to);
	}
	m->ip = to;
}

void pm_run(struct pm *m, const struct pm_block *b, uint64_t to)
{
	check(b->ip == m->ip, "a block that is not the next");
	if (m->out.len - m->psb_at >= m->o.psb_every)
		put_psb(m, m->ip);
	m->insns += b->insns;
	m->cycles256 += (uint64_t)b->insns * CYCLES_PER_INSN;
	if (m->o.mtc) {
		uint64_t mtc = tsc_now(m) / PM_TSC_CTC >> PM_MTC_FREQ;

		if (mtc != m->mtc_sent) {
			put_cyc(m);
			le(m, 0x59, 1);
			le(m, mtc & 0xff, 1);
			m->mtc_sent = mtc;
		}
	}
	m->ip = b->target;
	switch (b->kind) {
	case PM_COND:
		bit(m, to);
		m->ip = to ? b->target : b->next;
		break;
	case PM_JUMP: break;
	/* A call of what is behind it only pushes an address. */
	case PM_CALL: call(m, b->next, b->target != b->next); break;
	case PM_RETURN: give_back(m); break;
	case PM_INDIRECT_CALL: call(m, b->next, true); /* fall through */
	default: tip(m, OP_TIP, to); m->ip = to;
	}
}
