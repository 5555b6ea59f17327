/* SPDX-License-Identifier: MIT */
/*
 * Names and numbers of system calls: tables per ABI. An entry is filled when it is first looked up,
 * from libseccomp (whose search costs 2,500 instructions) and from the list below for calls newer
 * than it.
 *
 * Invariant: an entry with a row never changes; look-ups of it are lock-free and O(1).
 */
#include "syscalls.h"

#include <pthread.h>
#include <seccomp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE	   1024
#define X32_BIT	   0x40000000
#define ARM_PRIV   0x0f0000 /* __ARM_NR_BASE */
#define ARM_PRIV_N 8

struct entry {
	const char *name;		       /* NULL: unknown */
	_Atomic(const struct ty_sysrow *) row; /* set last; NULL: not filled yet */
};

struct table {
	int32_t base; /* or-ed into numbers (x32) */
	uint32_t arch;
	unsigned os;
	bool bits32;
	struct entry e[TABLE];
	struct entry priv[ARM_PRIV_N];
};

struct ty_sysarch {
	const char *machine;
	uint32_t native, compat, x32;
	unsigned os; /* enum ty_argos */
	bool execve_proves;
	struct table *t[TY_ABI_UNSURE]; /* by enum ty_abi; NULL: none, or out of memory */
};

/* Calls of the table common to all architectures (scripts/syscall.tbl of the kernel) that are newer
 * than some libseccomp in use. */
static const struct {
	int nr;
	const char *name;
} newer[] = {
	{451, "cachestat"},	    {452, "fchmodat2"},	       {453, "map_shadow_stack"},
	{454, "futex_wake"},	    {455, "futex_wait"},       {456, "futex_requeue"},
	{457, "statmount"},	    {458, "listmount"},	       {459, "lsm_get_self_attr"},
	{460, "lsm_set_self_attr"}, {461, "lsm_list_modules"}, {462, "mseal"},
	{463, "setxattrat"},	    {464, "getxattrat"},       {465, "listxattrat"},
	{466, "removexattrat"},	    {467, "open_tree_attr"},   {468, "file_getattr"},
	{469, "file_setattr"},
};

static pthread_mutex_t fill_lock = PTHREAD_MUTEX_INITIALIZER;

/* Kept for the life of the process, as the tables are. */
static const char *name_of(const struct table *t, int nr)
{
	const char *s = seccomp_syscall_resolve_num_arch(t->arch, nr);

	for (size_t i = 0; !s && i < sizeof(newer) / sizeof(newer[0]); i++)
		if ((newer[i].nr | t->base) == nr)
			s = newer[i].name;
	return s;
}

static void fill(const struct table *t, struct entry *e, int nr)
{
	pthread_mutex_lock(&fill_lock);
	if (!atomic_load_explicit(&e->row, memory_order_relaxed)) {
		e->name = name_of(t, nr);
		atomic_store_explicit(&e->row, ty_sysrow_find(t->os, t->bits32, e->name ?: ""),
				      memory_order_release);
	}
	pthread_mutex_unlock(&fill_lock);
}

/* NULL: unknown. nr: without the bit of x32. */
static const struct entry *filled(struct table *t, struct entry *e, int nr)
{
	if (!atomic_load_explicit(&e->row, memory_order_acquire))
		fill(t, e, nr | t->base);
	return e->name ? e : NULL;
}

static const struct ty_sysrow *row_of(const struct entry *e)
{
	return atomic_load_explicit(&e->row, memory_order_relaxed);
}

static struct table *table_new(uint32_t arch, unsigned os, bool bits32)
{
	struct table *t = arch ? calloc(1, sizeof(*t)) : NULL;

	if (!t)
		return NULL;
	t->base = arch == SCMP_ARCH_X32 ? X32_BIT : 0;
	t->arch = arch;
	t->os = os;
	t->bits32 = bits32;
	return t;
}

static struct ty_sysarch archs[] = {
	{"x86_64", SCMP_ARCH_X86_64, SCMP_ARCH_X86, SCMP_ARCH_X32, TY_ARGOS_X86, true, {0}},
	{"aarch64", SCMP_ARCH_AARCH64, SCMP_ARCH_ARM, 0, TY_ARGOS_ARM, false, {0}},
	{"i686", SCMP_ARCH_X86, 0, 0, TY_ARGOS_X86 | TY_ARGOS_32, false, {0}},
	{"arm", SCMP_ARCH_ARM, 0, 0, TY_ARGOS_ARM | TY_ARGOS_32, false, {0}},
	{"riscv64", SCMP_ARCH_RISCV64, 0, 0, TY_ARGOS_GENERIC, false, {0}},
	{"", 0, 0, 0, TY_ARGOS_GENERIC, false, {0}}, /* any other: numbers only */
};
#define ARCHS (sizeof(archs) / sizeof(archs[0]))

static pthread_mutex_t build_lock = PTHREAD_MUTEX_INITIALIZER;

const struct ty_sysarch *ty_sysarch_find(const char *machine)
{
	struct ty_sysarch *a = &archs[ARCHS - 1];

	if (!machine)
		machine = "";
	for (size_t i = 0; i < ARCHS - 1; i++)
		if (!strcmp(machine, archs[i].machine))
			a = &archs[i];
	if (!strcmp(machine, "arm64"))
		a = &archs[1];
	else if (machine[0] == 'i' && machine[1] && !strcmp(machine + 2, "86"))
		a = &archs[2];
	else if (!strncmp(machine, "armv", 4))
		a = &archs[3];
	pthread_mutex_lock(&build_lock);
	if (a->native && !a->t[TY_ABI_NATIVE64]) {
		a->t[TY_ABI_COMPAT32] = table_new(a->compat, a->os, true);
		/* x32 keeps 64-bit arguments. */
		a->t[TY_ABI_X32] = table_new(a->x32, a->os, false);
		a->t[TY_ABI_NATIVE64] = table_new(a->native, a->os, a->os & TY_ARGOS_32);
	}
	pthread_mutex_unlock(&build_lock);
	return a;
}

static const struct entry *entry_of(const struct ty_sysarch *a, enum ty_abi abi, int64_t nr)
{
	struct table *t;

	if (abi == TY_ABI_UNSURE)
		abi = TY_ABI_NATIVE64;
	t = a && (unsigned)abi < TY_ABI_UNSURE ? a->t[abi] : NULL;
	if (!t || nr < 0)
		return NULL;
	if (t->base) {
		if (!(nr & t->base))
			return NULL;
		nr &= ~(int64_t)t->base;
	}
	if (nr < TABLE)
		return filled(t, &t->e[nr], (int)nr);
	if (t->arch == SCMP_ARCH_ARM && nr >= ARM_PRIV && nr < ARM_PRIV + ARM_PRIV_N)
		return filled(t, &t->priv[nr - ARM_PRIV], (int)nr);
	return NULL;
}

const char *ty_syscall_name(const struct ty_sysarch *a, enum ty_abi abi, int64_t nr, char buf[32])
{
	const struct entry *e = entry_of(a, abi, nr);

	if (e)
		return e->name;
	snprintf(buf, 32, "syscall_%lld", (long long)nr);
	return buf;
}

int ty_syscall_number(const struct ty_sysarch *a, const char *name)
{
	int nr = a && a->native ? seccomp_syscall_resolve_name_arch(a->native, name) : -1;

	if (nr >= 0)
		return nr < TABLE ? nr : -1;
	for (size_t i = 0; a && a->native && i < sizeof(newer) / sizeof(newer[0]); i++)
		if (!strcmp(newer[i].name, name))
			return newer[i].nr;
	return -1;
}

const struct ty_sysrow *ty_syscall_row(const struct ty_sysarch *a, enum ty_abi abi, int64_t nr)
{
	const struct entry *e = entry_of(a, abi, nr);

	return e ? row_of(e) : ty_sysrow_find(TY_ARGOS_GENERIC, false, "");
}

unsigned ty_sysarch_os(const struct ty_sysarch *a)
{
	return a ? a->os & ~TY_ARGOS_32 : TY_ARGOS_GENERIC;
}

bool ty_sysarch_bits32(const struct ty_sysarch *a, enum ty_abi abi)
{
	return abi == TY_ABI_COMPAT32 || (a && a->os & TY_ARGOS_32);
}

bool ty_syscall_exec_proves(const struct ty_sysarch *a, int64_t nr, enum ty_abi *abi)
{
	static const enum ty_abi try[] = {TY_ABI_NATIVE64, TY_ABI_COMPAT32, TY_ABI_X32};

	if (!a || !a->execve_proves)
		return false;
	for (size_t i = 0; i < sizeof(try) / sizeof(try[0]); i++) {
		const struct entry *e = entry_of(a, try[i], nr);

		if (e && row_of(e)->id == TY_SYS_execve) {
			*abi = try[i];
			return true;
		}
	}
	return false;
}

bool ty_sysarch_has_compat(const struct ty_sysarch *a)
{
	return a && a->compat;
}

bool ty_syscall_is_x32(const struct ty_sysarch *a, int64_t nr)
{
	return a && a->x32 && nr > 0 && nr & X32_BIT;
}
