/* SPDX-License-Identifier: MIT */
/*
 * See unwind.h. libdw reads the CFI; its expressions (DWARF 5, section 2.5) are evaluated here,
 * with access to the copy of the stack only: any other address ends the stack.
 */
#include "unwind.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "vec.h"

enum { DEPTH = 64, OPS_MAX = 1000, MACHINE_X86 = 17, MACHINE_ARM = 33 };

/* Of a file of the code map. */
struct info {
	Elf *elf;
	Dwarf *dw;
	Dwarf_CFI *eh, *debug;
	bool tried;
};

struct ty_unwinder {
	struct ty_code *code;
	struct ty_flow_names *names;
	VEC(struct info) files;
};

/* The frame whose caller is sought. */
struct state {
	const struct ty_stack *s;
	uint64_t reg[TY_STK_REGS_MAX];
	uint64_t known; /* bit per register */
	uint64_t base;	/* the stack pointer of the copy */
	unsigned pc, sp, fp;
};

struct ty_unwinder *ty_unwinder_new(struct ty_code *code, struct ty_flow_names *names)
{
	struct ty_unwinder *u = calloc(1, sizeof(*u));

	if (u) {
		u->code = code;
		u->names = names;
	}
	elf_version(EV_CURRENT);
	return u;
}

void ty_unwinder_free(struct ty_unwinder *u)
{
	if (!u)
		return;
	vec_each (f, &u->files) {
		if (f->eh)
			dwarf_cfi_end(f->eh);
		if (f->dw)
			dwarf_end(f->dw);
		if (f->elf)
			elf_end(f->elf);
	}
	vec_fini(&u->files);
	free(u);
}

static struct info *info_of(struct ty_unwinder *u, int file)
{
	struct info *i;

	while (u->files.n <= (size_t)file)
		if (vec_push(&u->files, (struct info){0}))
			return NULL;
	i = &u->files.v[file];
	if (!i->tried) {
		struct ty_bytes b = ty_code_is_function(u->code, file)
					    ? (struct ty_bytes){0}
					    : ty_code_file_bytes(u->code, file);

		i->tried = true;
		i->elf = b.n ? elf_memory((char *)b.p, b.n) : NULL;
		if (i->elf && elf_kind(i->elf) == ELF_K_ELF) {
			i->eh = dwarf_getcfi_elf(i->elf);
			i->dw = dwarf_begin_elf(i->elf, DWARF_C_READ, NULL);
			i->debug = i->dw ? dwarf_getcfi(i->dw) : NULL;
		}
	}
	return i;
}

/* Where the file has the byte at this offset. */
static bool file_addr(Elf *elf, uint64_t off, uint64_t *addr)
{
	size_t n;

	if (elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n && i < 65536; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD ||
		    !(ph.p_flags & PF_X) || off < ph.p_offset || off - ph.p_offset >= ph.p_filesz)
			continue;
		*addr = ph.p_vaddr + (off - ph.p_offset);
		return true;
	}
	return false;
}

static bool load(const struct state *t, uint64_t addr, unsigned size, uint64_t *out)
{
	*out = 0;
	if (addr < t->base || addr - t->base > t->s->bytes_n ||
	    t->s->bytes_n - (addr - t->base) < size)
		return false;
	memcpy(out, t->s->bytes + (addr - t->base), size); /* little endian */
	return true;
}

static bool reg_of(const struct state *t, uint64_t n, uint64_t *v)
{
	if (n >= t->s->head.regs_n || n == t->pc || !(t->known >> n & 1))
		return false;
	*v = t->reg[n];
	return true;
}

struct stack {
	uint64_t v[DEPTH];
	unsigned n;
};

static bool push(struct stack *k, uint64_t v)
{
	if (k->n == DEPTH)
		return false;
	k->v[k->n++] = v;
	return true;
}

static bool binary(struct stack *k, uint8_t atom)
{
	uint64_t b, a;

	if (k->n < 2)
		return false;
	b = k->v[--k->n];
	a = k->v[--k->n];
	switch (atom) {
	case DW_OP_plus: return push(k, a + b);
	case DW_OP_minus: return push(k, a - b);
	case DW_OP_mul: return push(k, a * b);
	case DW_OP_and: return push(k, a & b);
	case DW_OP_or: return push(k, a | b);
	case DW_OP_xor: return push(k, a ^ b);
	case DW_OP_shl: return push(k, b < 64 ? a << b : 0);
	case DW_OP_shr: return push(k, b < 64 ? a >> b : 0);
	case DW_OP_shra: return push(k, (uint64_t)((int64_t)a >> (b < 63 ? b : 63)));
	case DW_OP_eq: return push(k, a == b);
	case DW_OP_ne: return push(k, a != b);
	case DW_OP_ge: return push(k, (int64_t)a >= (int64_t)b);
	case DW_OP_gt: return push(k, (int64_t)a > (int64_t)b);
	case DW_OP_le: return push(k, (int64_t)a <= (int64_t)b);
	case DW_OP_lt: return push(k, (int64_t)a < (int64_t)b);
	}
	return false;
}

/* One operation, except jumps. cut: the memory it needs was not recorded. */
static bool step(const struct state *t, const Dwarf_Op *op, uint64_t cfa, struct stack *k,
		 bool *cut)
{
	uint64_t v;

	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return push(k, op->atom - DW_OP_lit0);
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		/* The program counter, too: of the procedure linkage table's code. */
		return op->atom - DW_OP_breg0 == (int)t->pc
			       ? push(k, t->reg[t->pc] + op->number)
			       : reg_of(t, op->atom - DW_OP_breg0, &v) && push(k, v + op->number);
	switch (op->atom) {
	case DW_OP_bregx: return reg_of(t, op->number, &v) && push(k, v + op->number2);
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts: return push(k, op->number);
	case DW_OP_call_frame_cfa: return push(k, cfa);
	case DW_OP_plus_uconst:
		if (!k->n)
			return false;
		k->v[k->n - 1] += op->number;
		return true;
	case DW_OP_deref:
	case DW_OP_deref_size:
		if (!k->n || (op->atom == DW_OP_deref_size && (!op->number || op->number > 8)))
			return false;
		if (!load(t, k->v[k->n - 1], op->atom == DW_OP_deref ? 8 : (unsigned)op->number,
			  &k->v[k->n - 1])) {
			*cut = true;
			return false;
		}
		return true;
	case DW_OP_dup: return k->n && push(k, k->v[k->n - 1]);
	case DW_OP_drop: return k->n && k->n--;
	case DW_OP_neg: return k->n && ((k->v[k->n - 1] = -k->v[k->n - 1]), true);
	case DW_OP_not: return k->n && ((k->v[k->n - 1] = ~k->v[k->n - 1]), true);
	case DW_OP_nop: return true;
	}
	return binary(k, op->atom);
}

/* What the operations give: an address, or (*is_value) a value. */
static bool compute(const struct state *t, const Dwarf_Op *op, size_t n, uint64_t cfa,
		    uint64_t *out, bool *is_value, bool *cut)
{
	struct stack k = {.n = 0};

	*is_value = false;
	if (n == 1 && op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
		*is_value = true;
		return reg_of(t, op->atom - DW_OP_reg0, out);
	}
	if (n == 1 && op->atom == DW_OP_regx) {
		*is_value = true;
		return reg_of(t, op->number, out);
	}
	for (size_t i = 0; i < n && i < OPS_MAX; i++) {
		if (op[i].atom == DW_OP_stack_value)
			*is_value = true;
		else if (!step(t, &op[i], cfa, &k, cut))
			return false;
	}
	if (!k.n || n > OPS_MAX)
		return false;
	*out = k.v[k.n - 1];
	return true;
}

/* The value of the register in the caller: 1; 0: none, -1: unknown, -2: the memory was not
 * recorded. */
static int caller_reg(const struct state *t, Dwarf_Frame *frame, unsigned n, uint64_t cfa,
		      uint64_t *out)
{
	Dwarf_Op mem[3], *ops;
	bool is_value, cut = false;
	size_t ops_n;

	if (dwarf_frame_register(frame, (int)n, mem, &ops, &ops_n))
		return -1;
	if (!ops_n && ops)
		return 0;
	if (!ops_n) /* unchanged */
		return reg_of(t, n, out) ? 1 : -1;
	if (!compute(t, ops, ops_n, cfa, out, &is_value, &cut))
		return cut ? -2 : -1;
	if (is_value)
		return 1;
	return load(t, *out, 8, out) ? 1 : -2;
}

/* Is what ends at addr a call? Code that cannot be read cannot be judged. */
static bool follows_call(struct ty_unwinder *u, const struct state *t, uint64_t addr)
{
	const struct ty_stk_head *h = &t->s->head;
	struct ty_code_at at = {0};
	uint8_t b[8] = {0};
	unsigned n = 8;

	while (n && ty_code_read(u->code, (int32_t)h->pid, h->ns, addr - n, b + 8 - n, n, &at) != n)
		n--;
	if (h->regs_n == MACHINE_ARM) {
		uint32_t op = (uint32_t)b[4] | (uint32_t)b[5] << 8 | (uint32_t)b[6] << 16 |
			      (uint32_t)b[7] << 24;

		/* BL; BLR and its authenticating forms */
		return n < 4 || op >> 26 == 0x25 || (op & 0xfffffc1f) == 0xd63f0000 ||
		       (op & 0xfefff800) == 0xd63f0800;
	}
	if (n < 2)
		return true;
	if (n >= 5 && b[3] == 0xe8) /* CALL rel32 */
		return true;
	/* FF /2 with a ModRM of 0 to 6 bytes behind it */
	for (unsigned len = 2; len <= 7 && len <= n; len++) {
		const uint8_t *p = b + 8 - len, mod = p[1] >> 6, rm = p[1] & 7;
		unsigned want = 2;

		if (p[0] != 0xff || (p[1] >> 3 & 7) != 2)
			continue;
		if (mod != 3 && rm == 4)
			want++; /* SIB */
		if (mod == 1)
			want++;
		else if (mod == 2 || (!mod && (rm == 5 || (rm == 4 && (p[2] & 7) == 5))))
			want += 4;
		if (want == len)
			return true;
	}
	return false;
}

/* A JIT compiler's, not one of a file that has no CFI there. */
static bool is_without_file(struct ty_unwinder *u, const struct state *t, uint64_t pc)
{
	uint64_t off, until;
	const int file = ty_code_mapping_of(u->code, (int32_t)t->s->head.pid, t->s->head.ns, pc,
					    &off, &until);

	const struct info *i = file >= 0 ? info_of(u, file) : NULL;

	return i && !i->elf;
}

static bool is_mapped(struct ty_unwinder *u, const struct state *t, uint64_t pc)
{
	uint64_t off, until;

	return ty_code_mapping_of(u->code, (int32_t)t->s->head.pid, t->s->head.ns, pc, &off,
				  &until) >= 0;
}

/* A return address without its pointer authentication code. */
static uint64_t unsigned_pc(struct ty_unwinder *u, const struct state *t, uint64_t pc)
{
	return t->s->head.regs_n != MACHINE_ARM || is_mapped(u, t, pc - 1)
		       ? pc
		       : pc & TY_STK_ARM_ADDRESS;
}

/* The caller by the frame pointer: both machines keep the caller's and then the return address
 * where it points. */
static bool by_pointer(struct ty_unwinder *u, struct state *t)
{
	const uint64_t fp = t->reg[t->fp];
	struct state next = *t;
	uint64_t caller_fp, ra;

	if (!(t->known >> t->fp & 1) || fp % 8 || fp < t->reg[t->sp] ||
	    !load(t, fp, 8, &caller_fp) || !load(t, fp + 8, 8, &ra) || !ra)
		return false;
	ra = unsigned_pc(u, t, ra);
	if (!is_mapped(u, t, ra - 1) || !follows_call(u, t, ra))
		return false;
	next.reg[t->fp] = caller_fp;
	next.reg[t->sp] = fp + 16;
	next.reg[t->pc] = ra;
	next.known = 1ull << t->fp | 1ull << t->sp | 1ull << t->pc;
	*t = next;
	return true;
}

/*
 * One of CPython's trampolines, a copy for each function (Python/asm_trampoline.S), which its perf
 * map names "py::FUNCTION:FILE". On x86-64 it has no frame pointer of its own before Python 3.14;
 * the return address is 8 bytes above its call's in any version, and no other register changes.
 */
static bool is_trampoline(struct ty_unwinder *u, const struct state *t, uint64_t pc)
{
	enum { SIZE = 64 };
	struct ty_flow_name at = {0};

	if (u->names && t->s->head.regs_n != MACHINE_ARM)
		at = ty_flow_names_at(u->names, (int32_t)t->s->head.pid, t->s->head.ns, pc);
	return at.function && !strncmp(at.function, "py::", 4) && at.size <= SIZE;
}

static bool by_trampoline(struct ty_unwinder *u, struct state *t)
{
	const uint64_t sp = t->reg[t->sp];
	uint64_t ra, fp;

	if (!load(t, sp + 8, 8, &ra) || !is_mapped(u, t, ra - 1) || !follows_call(u, t, ra))
		return false;
	if (t->known >> t->fp & 1 && t->reg[t->fp] == sp) { /* it pushed the caller's */
		if (!load(t, sp, 8, &fp))
			return false;
		t->reg[t->fp] = fp;
	}
	t->reg[t->sp] = sp + 16;
	t->reg[t->pc] = ra;
	return true;
}

/* The frame description of the function at pc from the mapped file; NULL: *end has the reason. To
 * be freed. */
static Dwarf_Frame *frame_at(struct ty_unwinder *u, const struct state *t, uint64_t pc,
			     enum ty_stack_end *end)
{
	const struct ty_stk_head *h = &t->s->head;
	uint64_t off, until, addr;
	const int file = ty_code_mapping_of(u->code, (int32_t)h->pid, h->ns, pc, &off, &until);
	struct info *i = file >= 0 ? info_of(u, file) : NULL;
	Dwarf_Frame *frame = NULL;

	*end = TY_STACK_NO_MAPPING;
	if (!i)
		return NULL;
	*end = TY_STACK_NO_CFI;
	if (!i->elf) {
		const char *name = ty_code_file_name(u->code, file);

		/* No file, or a JIT compiler's. */
		if (name[0] == '/' && strncmp(name, "//", 2) && strncmp(name, "/memfd:", 7) &&
		    !ty_code_is_function(u->code, file))
			*end = TY_STACK_NO_FILE;
		return NULL;
	}
	if (file_addr(i->elf, off, &addr) && (!i->eh || dwarf_cfi_addrframe(i->eh, addr, &frame)) &&
	    (!i->debug || dwarf_cfi_addrframe(i->debug, addr, &frame)))
		frame = NULL;
	return frame;
}

/* The return address of a signal handler was not pushed by a call. */
static bool is_signal_frame(struct ty_unwinder *u, const struct state *t, uint64_t pc)
{
	enum ty_stack_end end;
	Dwarf_Frame *frame = frame_at(u, t, pc, &end);
	bool signal = false;

	if (frame && dwarf_frame_info(frame, NULL, NULL, &signal) < 0)
		signal = false;
	free(frame);
	return signal;
}

/* Moves to the caller as the frame describes. *exact: in: this frame was entered by the kernel;
 * out: the caller was, or was interrupted by a signal. */
static enum ty_stack_end by_cfi(struct ty_unwinder *u, struct state *t, Dwarf_Frame *frame,
				bool *exact, bool *more)
{
	struct state next = *t;
	bool is_value, cut = false, signal;
	uint64_t cfa, v, pc;
	Dwarf_Op *ops;
	size_t ops_n;
	int ra, r;

	*more = false;
	ra = dwarf_frame_info(frame, NULL, NULL, &signal);
	if (ra < 0 || dwarf_frame_cfa(frame, &ops, &ops_n) || !ops_n)
		return TY_STACK_NO_CFI;
	if (!compute(t, ops, ops_n, 0, &cfa, &is_value, &cut))
		return cut ? TY_STACK_CUT : TY_STACK_NO_CFI;
	/* Only at the outermost function does the frame end where the caller's does. */
	if (cfa < t->reg[t->sp] && !signal)
		return TY_STACK_INVALID;
	next.known = 0;
	for (unsigned n = 0; n + 1 < t->s->head.regs_n; n++) {
		r = n == t->sp ? 0 : caller_reg(t, frame, n, cfa, &v);
		if (r > 0) {
			next.reg[n] = v;
			next.known |= 1ull << n;
		}
	}
	/* The caller's stack pointer, unless the frame describes another one. */
	r = signal ? caller_reg(t, frame, t->sp, cfa, &v) : 0;
	next.reg[t->sp] = r > 0 ? v : cfa;
	next.known |= 1ull << t->sp;
	r = caller_reg(t, frame, (unsigned)ra, cfa, &pc);
	if (r < 0)
		return r == -2 ? TY_STACK_CUT : TY_STACK_NO_CFI;
	if (r && pc == TY_STK_REMOVED)
		return TY_STACK_CUT;
	if (!r || !pc)
		return TY_STACK_COMPLETE;
	pc = unsigned_pc(u, t, pc);
	*exact = signal || is_signal_frame(u, t, pc);
	if (!is_mapped(u, t, *exact ? pc : pc - 1))
		return TY_STACK_NO_MAPPING;
	if (!*exact && !follows_call(u, t, pc))
		return TY_STACK_INVALID;
	if (!signal && cfa == t->reg[t->sp] && pc == t->reg[t->pc])
		return TY_STACK_INVALID;
	next.reg[t->pc] = pc;
	next.known |= 1ull << t->pc;
	*t = next;
	*more = true;
	return TY_STACK_COMPLETE;
}

static enum ty_stack_end go_back(struct ty_unwinder *u, struct state *t, uint64_t pc, bool *exact,
				 bool *pointer, bool *more)
{
	const bool at_call = !*exact;
	enum ty_stack_end end;
	Dwarf_Frame *frame = frame_at(u, t, pc, &end);

	*exact = *pointer = *more = false;
	if (frame) {
		end = by_cfi(u, t, frame, exact, more);
		free(frame);
		return end;
	}
	if (end == TY_STACK_NO_CFI && is_without_file(u, t, pc))
		*more = is_trampoline(u, t, pc) ? at_call && by_trampoline(u, t)
						: (*pointer = by_pointer(u, t));
	return *more ? TY_STACK_COMPLETE : end;
}

size_t ty_unwind(struct ty_unwinder *u, const struct ty_stack *s,
		 struct ty_frame frames[TY_FRAMES_MAX], enum ty_stack_end *end)
{
	struct state t = {.s = s};
	bool exact = true, pointer = false, more = true;
	size_t n = 0;

	*end = TY_STACK_32BIT;
	if (s->head.regs_n != MACHINE_X86 && s->head.regs_n != MACHINE_ARM)
		return 0;
	t.pc = s->head.regs_n - 1u;
	t.sp = s->head.regs_n == MACHINE_X86 ? 7 : 31;
	t.fp = s->head.regs_n == MACHINE_X86 ? 6 : 29;
	memcpy(t.reg, s->regs, sizeof(t.reg));
	t.known = (1ull << s->head.regs_n) - 1;
	t.base = t.reg[t.sp];
	while (more) {
		const uint64_t pc = t.reg[t.pc] - !exact;

		if (n == TY_FRAMES_MAX) {
			*end = TY_STACK_DEEP;
			break;
		}
		frames[n++] = (struct ty_frame){.pc = pc, .exact = exact, .by_pointer = pointer};
		*end = go_back(u, &t, pc, &exact, &pointer, &more);
	}
	return n;
}

const char *ty_stack_end_text(enum ty_stack_end end)
{
	static const char *const text[] = {
		[TY_STACK_COMPLETE] = "complete",
		[TY_STACK_CUT] = "cut: the recorded copy of the stack ends here",
		[TY_STACK_NO_MAPPING] = "cut: no mapping is known for the caller",
		[TY_STACK_NO_FILE] = "cut: the mapped file is not available (--symfs DIR)",
		[TY_STACK_NO_CFI] = "cut: no call frame information here",
		[TY_STACK_INVALID] = "cut: the caller could not be validated",
		[TY_STACK_DEEP] = "cut: too deep",
		[TY_STACK_32BIT] = "none: a 32-bit process",
	};

	return text[end];
}
