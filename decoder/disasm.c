/* SPDX-License-Identifier: MIT */
/*
 * See disasm.h. capstone is loaded when it is needed: its 77,000 relocations and the pages that
 * they change take half of the start of every command.
 */
#include "disasm.h"

#include <capstone/capstone.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ty_disasm {
	enum ty_disasm_arch arch;
	bool details;
	csh h;
	cs_insn *insn;
	/* capstone, whose interface changes with the number in its file's name. */
	void *lib;
	__typeof__(cs_open) *open;
	__typeof__(cs_close) *close;
	__typeof__(cs_malloc) *room;
	__typeof__(cs_free) *release;
	__typeof__(cs_option) *option;
	__typeof__(cs_disasm_iter) *next;
};

#define TEXT_OF(x) #x
#define TEXT(x)	   TEXT_OF(x)
#define CAPSTONE   "libcapstone.so." TEXT(CS_API_MAJOR)

/* Why it could not be loaded; it is not tried again. */
static struct {
	pthread_mutex_t lock;
	char why[300];
} missing = {.lock = PTHREAD_MUTEX_INITIALIZER};

const char *ty_disasm_missing(void)
{
	const char *why;

	pthread_mutex_lock(&missing.lock);
	why = *missing.why ? missing.why : NULL;
	pthread_mutex_unlock(&missing.lock);
	return why;
}

static int load(struct ty_disasm *d)
{
	const struct {
		const char *name;
		void *to;
	} functions[] = {
		{"cs_open", &d->open},	  {"cs_close", &d->close},   {"cs_malloc", &d->room},
		{"cs_free", &d->release}, {"cs_option", &d->option}, {"cs_disasm_iter", &d->next},
	};

	if (ty_disasm_missing())
		return -TY_ENOTFOUND;
	d->lib = dlopen(CAPSTONE, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		/* POSIX returns functions this way; ISO C has no conversion. */
		void *f = d->lib ? dlsym(d->lib, functions[i].name) : NULL;

		if (!f) {
			pthread_mutex_lock(&missing.lock);
			if (!*missing.why)
				snprintf(missing.why, sizeof(missing.why),
					 "cannot load the disassembler: %s (install " CAPSTONE ")",
					 dlerror());
			pthread_mutex_unlock(&missing.lock);
			return -TY_ENOTFOUND;
		}
		memcpy(functions[i].to, &f, sizeof(f));
	}
	return 0;
}

struct ty_disasm *ty_disasm_new(enum ty_disasm_arch arch, struct ty_err *err)
{
	struct ty_disasm *d = calloc(1, sizeof(*d));
	cs_arch a = arch == TY_DISASM_ARM64 ? CS_ARCH_ARM64 : CS_ARCH_X86;
	cs_mode m = arch == TY_DISASM_ARM64    ? CS_MODE_ARM
		    : arch == TY_DISASM_X86_32 ? CS_MODE_32
					       : CS_MODE_64;

	if (d && load(d)) {
		ty_disasm_free(d);
		(void)ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET, "%s", ty_disasm_missing());
		return NULL;
	}
	if (d) {
		d->arch = arch;
		if (d->open(a, m, &d->h) == CS_ERR_OK)
			d->insn = d->room(d->h);
		if (d->insn)
			return d;
		ty_disasm_free(d);
	}
	(void)ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the disassembler");
	return NULL;
}

void ty_disasm_free(struct ty_disasm *d)
{
	if (!d)
		return;
	if (d->insn)
		d->release(d->insn, 1);
	if (d->h)
		d->close(&d->h);
	if (d->lib)
		dlclose(d->lib);
	free(d);
}

unsigned ty_disasm_text(struct ty_disasm *d, const uint8_t *code, size_t n, uint64_t ip, char *out,
			size_t size)
{
	uint64_t at = ip;

	if (!d->next(d->h, &code, &n, &at, d->insn)) {
		snprintf(out, size, "(bad)");
		return 0;
	}
	snprintf(out, size, "%s%s%s", d->insn->mnemonic, *d->insn->op_str ? " " : "",
		 d->insn->op_str);
	return d->insn->size;
}

/* x86: the memory operand's size is known. Pushes and the like have none. */
static unsigned x86_access(const cs_insn *i)
{
	const cs_x86 *x = &i->detail->x86;
	unsigned most = 0;

	if (i->id == X86_INS_LEA || i->id == X86_INS_NOP)
		return 0;
	for (unsigned k = 0; k < x->op_count; k++)
		if (x->operands[k].type == X86_OP_MEM && x->operands[k].size > most)
			most = x->operands[k].size;
	return most;
}

static unsigned register_bytes(const char *r)
{
	static const char letters[] = "bhswdxq";
	static const uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 16};
	const char *at = *r ? strchr(letters, *r) : NULL;

	/* "sp" is no data. */
	return at && ((r[1] >= '0' && r[1] <= '9') || !strncmp(r + 1, "zr", 2))
		       ? bytes[at - letters]
		       : 0;
}

/* Of "{v0.16b, v1.16b}, [x0]", and of lanes "{v0.s}[1], [x0]". */
static unsigned list_bytes(const char *mnemonic, const char *ops)
{
	const char *end = strchr(ops, '}'), *dot = strchr(ops, '.');
	unsigned regs = 0, lanes = 0, bytes;
	char element;

	if (!end || !dot || dot > end)
		return 0;
	for (const char *p = ops; p < end; p++)
		regs += *p == '.';
	for (dot++; *dot >= '0' && *dot <= '9'; dot++)
		lanes = lanes * 10 + (unsigned)(*dot - '0');
	element = *dot;
	bytes = element == 'b'	 ? 1
		: element == 'h' ? 2
		: element == 's' ? 4
		: element == 'd' ? 8
				 : 0;
	/* One lane of each, or one element for all lanes (ld1r). */
	if (!lanes || end[1] == '[' || mnemonic[strlen(mnemonic) - 1] == 'r')
		lanes = 1;
	return bytes * regs * lanes <= 64 ? bytes * regs * lanes : 0;
}

/*
 * arm64: by the mnemonic, whose forms are few (Arm ARM, C3.2 "Loads and stores"): a pair has a p at
 * its end, bytes and halfwords a b or an h, a loaded signed word an sw; all else has the size of
 * its data register, which is the first one, but in exclusive stores.
 */
static unsigned arm64_access(const cs_insn *i)
{
	const char *m = i->mnemonic, *ops = i->op_str;
	size_t n = strlen(m);
	bool load = !strncmp(m, "ld", 2), store = !strncmp(m, "st", 2), pair;
	unsigned bytes;

	if (!load && !store && strncmp(m, "cas", 3) && strncmp(m, "swp", 3))
		return 0;
	if (*ops == '{')
		return list_bytes(m, ops);
	if (!strncmp(m, "stxr", 4) || !strncmp(m, "stlxr", 5) || !strncmp(m, "stxp", 4) ||
	    !strncmp(m, "stlxp", 5)) {
		ops = strchr(ops, ',');
		ops = ops ? ops + 1 + strspn(ops + 1, " ") : "";
	}
	pair = !strncmp(m, "casp", 4) || m[n - 1] == 'p' || !strcmp(m, "ldpsw");
	if (!strncmp(m, "swp", 3))
		pair = false;
	if (n > 2 && !strcmp(m + n - 2, "sw"))
		bytes = 4;
	else
		bytes = pair || n < 3	  ? register_bytes(ops)
			: m[n - 1] == 'b' ? 1
			: m[n - 1] == 'h' ? 2
					  : register_bytes(ops);
	return pair ? 2 * bytes : bytes;
}

/* The atomics of Armv8.1, which older capstones do not know: Arm ARM, C4.1 "Loads and stores":
 * atomic memory operations, compare and swap. Their size is in the top two bits. */
static unsigned arm64_atomic(const uint8_t *code, size_t n)
{
	uint32_t w;

	if (n < 4)
		return 0;
	memcpy(&w, code, 4);
	return (w & 0x3f200c00) == 0x38200000 || (w & 0x3fa00000) == 0x08a00000 ? 1u << (w >> 30)
										: 0;
}

unsigned ty_disasm_access(struct ty_disasm *d, const uint8_t *code, size_t n, uint64_t ip)
{
	uint64_t at = ip;
	unsigned atomic = d->arch == TY_DISASM_ARM64 ? arm64_atomic(code, n) : 0;

	if (atomic)
		return atomic;
	if (!d->details && d->option(d->h, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK) {
		/* What the instruction is kept in must have room for them. */
		cs_insn *insn = d->room(d->h);

		if (!insn) {
			d->option(d->h, CS_OPT_DETAIL, CS_OPT_OFF);
			return 0;
		}
		d->release(d->insn, 1);
		d->insn = insn;
		d->details = true;
	}
	if (!d->details || !d->next(d->h, &code, &n, &at, d->insn))
		return 0;
	return d->arch == TY_DISASM_ARM64 ? arm64_access(d->insn) : x86_access(d->insn);
}

unsigned ty_disasm_size(struct ty_disasm *d, const uint8_t *code, size_t n, uint64_t ip)
{
	return d->next(d->h, &code, &n, &ip, d->insn) ? d->insn->size : 0;
}
