/* SPDX-License-Identifier: MIT */
/*
 * Arguments and results of system calls as text, as strace prints them when the values alone
 * suffice (strings and structures behind pointers are not in the trace). Driven by the rows of
 * syscall_table.c; arguments that depend on others (fcntl, futex, clone, prctl...) are handled
 * here.
 *
 * Budget: one pass, no printf, no allocation except the buffer's growth.
 */
#include <string.h>

#include "digits.h"
#include "plain_text.h"
#include "syscall_constants.h"
#include "syscalls.h"

struct fmt {
	struct ty_buf *out;
	const struct ty_arg_names *names; /* NULL: none */
	const uint64_t *args;
	unsigned os;
	bool bits32;
	bool first;
};

static void add_dec(struct ty_buf *b, uint64_t v)
{
	char t[TY_DIGITS_MAX];

	ty_buf_add(b, t, (size_t)(ty_put_dec(t, v) - t));
}

static void add_int(struct ty_buf *b, int64_t v)
{
	if (v < 0)
		ty_buf_addc(b, '-');
	add_dec(b, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

/* "0x1f"; zero is "0x0" */
static void add_0x(struct ty_buf *b, uint64_t v)
{
	char t[TY_DIGITS_MAX];

	ty_buf_add(b, t, (size_t)(ty_put_hex(t, v) - t));
}

static void add_hex(struct ty_buf *b, uint64_t v)
{
	if (v)
		add_0x(b, v);
	else
		ty_buf_addc(b, '0');
}

static void add_ptr(struct ty_buf *b, uint64_t v)
{
	if (v)
		add_0x(b, v);
	else
		ty_buf_adds(b, "NULL");
}

static void add_octal(struct ty_buf *b, uint32_t v, unsigned width)
{
	char t[16];
	unsigned n = sizeof(t);

	for (; v; v >>= 3)
		t[--n] = (char)('0' + (v & 7));
	t[--n] = '0';
	while (sizeof(t) - n < width)
		t[--n] = '0';
	ty_buf_add(b, t + n, sizeof(t) - n);
}

static void add_unknown(struct ty_buf *b, const struct ty_setdef *s, uint64_t v)
{
	add_0x(b, v);
	ty_buf_adds(b, " /* ");
	ty_buf_adds(b, s->prefix);
	ty_buf_adds(b, "??? */");
}

static void add_enum(struct ty_buf *b, enum ty_set set, uint64_t v)
{
	const char *name = ty_set_name(set, v);

	if (name)
		ty_buf_adds(b, name);
	else
		add_unknown(b, ty_set_get(set), v);
}

/* The names of v's flags, '|' before each but the first; some: names stand before already. */
static void add_flags(struct ty_buf *b, enum ty_set set, uint64_t v, bool some)
{
	const struct ty_setdef *s = ty_set_get(set);

	if (!v && !some) {
		const char *zero = ty_set_name(set, 0);

		ty_buf_adds(b, zero ? zero : "0");
		return;
	}
	for (unsigned i = 0; v && i < s->n; i++) {
		uint64_t f = s->v[i].v;

		if (!f || (v & f) != f)
			continue;
		if (some)
			ty_buf_addc(b, '|');
		ty_buf_adds(b, s->v[i].name);
		some = true;
		v &= ~f;
	}
	if (v && some) {
		ty_buf_addc(b, '|');
		add_0x(b, v);
	} else if (v) {
		add_unknown(b, s, v);
	}
}

int ty_set_text(enum ty_set set, uint64_t v, struct ty_buf *out)
{
	if (ty_set_get(set)->kind == TY_SET_ENUM)
		add_enum(out, set, v);
	else
		add_flags(out, set, v, false);
	return out->failed;
}

/* arm and arm64 number four O_ flags otherwise: as on x86. */
static uint32_t o_flags(unsigned os, uint32_t v)
{
	uint32_t r = v & ~0740000u;

	if (os != TY_ARGOS_ARM)
		return v;
	r |= v & 040000 ? 0200000 : 0;	/* O_DIRECTORY */
	r |= v & 0100000 ? 0400000 : 0; /* O_NOFOLLOW */
	r |= v & 0200000 ? 040000 : 0;	/* O_DIRECT */
	r |= v & 0400000 ? 0100000 : 0; /* O_LARGEFILE */
	return r;
}

static void add_open(struct fmt *f, uint32_t v)
{
	v = o_flags(f->os, v);
	add_enum(f->out, TY_SET_ACCMODE, v & 3);
	add_flags(f->out, TY_SET_OFLAGS, v & ~3u, true);
}

static void add_signal(struct ty_buf *b, uint32_t v)
{
	const char *name = ty_set_name(TY_SET_SIGNAL, v);

	if (name) {
		ty_buf_adds(b, name);
	} else if (v > 32 && v <= 64) {
		ty_buf_adds(b, "SIGRT_");
		add_dec(b, v - 32);
	} else {
		add_int(b, (int32_t)v);
	}
}

static void add_mmap(struct ty_buf *b, uint64_t v)
{
	uint64_t huge = v >> 26 & 0x3f;

	add_enum(b, TY_SET_MAPTYPE, v & 15);
	add_flags(b, TY_SET_MAPFLAGS, v & ~(uint64_t)15 & ~((uint64_t)0x3f << 26), true);
	if (huge) {
		ty_buf_addc(b, '|');
		add_dec(b, huge);
		ty_buf_adds(b, "<<MAP_HUGE_SHIFT");
	}
}

static void add_socktype(struct ty_buf *b, uint32_t v)
{
	add_enum(b, TY_SET_SOCKTYPE, v & 15);
	add_flags(b, TY_SET_SOCKFLAGS, v & ~15u, true);
}

static void add_proto(struct ty_buf *b, uint32_t family, uint32_t v)
{
	switch (family) {
	case 2: /* AF_INET */
	case 10: /* AF_INET6 */ add_enum(b, TY_SET_IPPROTO, v); break;
	case 16: add_enum(b, TY_SET_NETLINK, v); break;
	default: add_int(b, (int32_t)v);
	}
}

static void add_sockopt(struct ty_buf *b, uint32_t level, uint32_t v)
{
	switch (level) {
	case 1: add_enum(b, TY_SET_SO, v); break;
	case 6: add_enum(b, TY_SET_TCP, v); break;
	case 0: add_enum(b, TY_SET_IP, v); break;
	case 41: add_enum(b, TY_SET_IPV6, v); break;
	default: add_int(b, (int32_t)v);
	}
}

static void comma(struct fmt *f)
{
	if (!f->first)
		ty_buf_add(f->out, ", ", 2);
	f->first = false;
}

static uint64_t word(const struct fmt *f, uint64_t v)
{
	return f->bits32 ? (uint32_t)v : v;
}

/* As in clone(2) and strace: the flags determine which arguments are valid. */
static void add_clone(struct fmt *f)
{
	struct ty_buf *b = f->out;
	uint32_t flags = (uint32_t)f->args[0] & ~0xffu, sig = f->args[0] & 0xff;
	bool forwards = f->os == TY_ARGOS_X86 && !f->bits32; /* child_tid before tls */

	ty_buf_adds(b, "child_stack=");
	add_ptr(b, word(f, f->args[1]));
	ty_buf_adds(b, ", flags=");
	if (flags)
		add_flags(b, TY_SET_CLONE, flags, false);
	if (sig) {
		if (flags)
			ty_buf_addc(b, '|');
		add_signal(b, sig);
	} else if (!flags) {
		ty_buf_addc(b, '0');
	}
	if (flags & (0x00100000 | 0x1000)) { /* CLONE_PARENT_SETTID, CLONE_PIDFD */
		ty_buf_adds(b, ", parent_tid=");
		add_ptr(b, word(f, f->args[2]));
	}
	if (flags & 0x00080000) { /* CLONE_SETTLS */
		ty_buf_adds(b, ", tls=");
		add_ptr(b, word(f, f->args[forwards ? 4 : 3]));
	}
	if (flags & (0x01000000 | 0x00200000)) { /* CLONE_CHILD_SETTID, CLONE_CHILD_CLEARTID */
		ty_buf_adds(b, ", child_tidptr=");
		add_ptr(b, word(f, f->args[forwards ? 3 : 4]));
	}
}

static void add_futex_op(struct ty_buf *b, uint32_t v)
{
	static const char *const ops[] = {"FUTEX_OP_SET", "FUTEX_OP_ADD", "FUTEX_OP_OR",
					  "FUTEX_OP_ANDN", "FUTEX_OP_XOR"};
	static const char *const cmps[] = {"FUTEX_OP_CMP_EQ", "FUTEX_OP_CMP_NE", "FUTEX_OP_CMP_LT",
					   "FUTEX_OP_CMP_LE", "FUTEX_OP_CMP_GT", "FUTEX_OP_CMP_GE"};
	unsigned op = v >> 28 & 7, cmp = v >> 24 & 15;

	if (op >= 5 || cmp >= 6) {
		add_0x(b, v);
		return;
	}
	if (v >> 31)
		ty_buf_adds(b, "FUTEX_OP_OPARG_SHIFT<<28|");
	ty_buf_adds(b, ops[op]);
	ty_buf_adds(b, "<<28|");
	add_hex(b, v >> 12 & 0xfff);
	ty_buf_adds(b, "<<12|");
	ty_buf_adds(b, cmps[cmp]);
	ty_buf_adds(b, "<<24|");
	add_hex(b, v & 0xfff);
}

/* What the operation's number means for the arguments after it: futex(2). One letter each: v value,
 * 2 second value (in the place of the timeout), t timeout, a second address, 3 third value, b bit
 * set, o operation. */
static const char *const futex_rest[] = {
	"vt", "v", "v", "v2a", "v2a3", "v2ao", "t", "", "", "vtb", "vb", "vta", "v2a3", "t",
};

static void add_futex(struct fmt *f)
{
	struct ty_buf *b = f->out;
	uint32_t op = (uint32_t)f->args[1], cmd = op & 127;
	const char *name = ty_set_name(TY_SET_FUTEX, cmd);
	const char *rest = "vt23";

	if (op & ~(127u | 128 | 256) || !name) {
		add_unknown(b, ty_set_get(TY_SET_FUTEX), op);
	} else {
		ty_buf_adds(b, name);
		if (op & 128)
			ty_buf_adds(b, "_PRIVATE");
		if (op & 256)
			ty_buf_adds(b, "|FUTEX_CLOCK_REALTIME");
		rest = futex_rest[cmd];
	}
	for (; *rest; rest++) {
		ty_buf_add(b, ", ", 2);
		switch (*rest) {
		case 'v': add_dec(b, (uint32_t)f->args[2]); break;
		case '2': add_dec(b, (uint32_t)f->args[3]); break;
		case 't':
			if (f->names && f->names->text[3])
				ty_buf_adds(b, f->names->text[3]);
			else
				add_ptr(b, word(f, f->args[3]));
			break;
		case 'a': add_ptr(b, word(f, f->args[4])); break;
		case '3': add_dec(b, (uint32_t)f->args[5]); break;
		case 'o': add_futex_op(b, (uint32_t)f->args[5]); break;
		case 'b':
			if ((uint32_t)f->args[5] == UINT32_MAX)
				ty_buf_adds(b, "FUTEX_BITSET_MATCH_ANY");
			else
				add_hex(b, (uint32_t)f->args[5]);
			break;
		}
	}
}

static void add_fcntl(struct fmt *f)
{
	struct ty_buf *b = f->out;
	uint32_t cmd = (uint32_t)f->args[1], v = (uint32_t)f->args[2];

	add_enum(b, TY_SET_FCNTL, cmd);
	switch (cmd) {
	case 1:	   /* F_GETFD */
	case 3:	   /* F_GETFL */
	case 9:	   /* F_GETOWN */
	case 11:   /* F_GETSIG */
	case 1025: /* F_GETLEASE */
	case 1028: /* F_CREATED_QUERY */
	case 1032: /* F_GETPIPE_SZ */
	case 1034: /* F_GET_SEALS */ return;
	}
	ty_buf_add(b, ", ", 2);
	switch (cmd) {
	case 2: add_flags(b, TY_SET_FDFLAGS, v, false); break; /* F_SETFD */
	case 4: add_open(f, v); break;			       /* F_SETFL */
	case 0:						       /* F_DUPFD */
	case 8:						       /* F_SETOWN */
	case 1027:					       /* F_DUPFD_QUERY */
	case 1030:					       /* F_DUPFD_CLOEXEC */
	case 1031: /* F_SETPIPE_SZ */ add_int(b, (int32_t)v); break;
	case 10: add_signal(b, v); break;			/* F_SETSIG */
	case 1024: add_enum(b, TY_SET_LEASE, v); break;		/* F_SETLEASE */
	case 1033: add_flags(b, TY_SET_SEALS, v, false); break; /* F_ADD_SEALS */
	case 1026: add_hex(b, v); break;			/* F_NOTIFY */
	default:
		if (ty_set_name(TY_SET_FCNTL, cmd))
			add_ptr(b, word(f, f->args[2]));
		else
			add_hex(b, word(f, f->args[2]));
	}
}

/* prctl's options by how many arguments they take and how those read: p pointer, d number, s
 * signal; others show all in hex. */
static const struct {
	uint32_t option;
	const char *rest;
} prctls[] = {
	{1, "s"},	   {2, "p"},
	{3, ""},	   {4, "d"},
	{7, ""},	   {8, "d"},
	{15, "p"},	   {16, "p"},
	{21, ""},	   {22, "dp"},
	{23, "d"},	   {24, "d"},
	{25, "p"},	   {26, "d"},
	{27, ""},	   {28, "d"},
	{29, "d"},	   {30, ""},
	{36, "d"},	   {37, "p"},
	{40, "p"},	   {0x53564d41, "dpdp"},
	{0x59616d61, "d"},
};

static void add_prctl(struct fmt *f)
{
	struct ty_buf *b = f->out;
	uint32_t option = (uint32_t)f->args[0];
	const char *rest = "xxxx";

	add_enum(b, TY_SET_PRCTL, option);
	for (size_t i = 0; i < sizeof(prctls) / sizeof(prctls[0]); i++)
		if (prctls[i].option == option)
			rest = prctls[i].rest;
	for (unsigned i = 1; *rest; rest++, i++) {
		ty_buf_add(b, ", ", 2);
		switch (*rest) {
		case 'p': add_ptr(b, word(f, f->args[i])); break;
		case 'd': add_dec(b, word(f, f->args[i])); break;
		case 's': add_signal(b, (uint32_t)f->args[i]); break;
		default: add_hex(b, word(f, f->args[i]));
		}
	}
}

static void add_set(struct fmt *f, enum ty_set set, uint64_t v)
{
	/* These are longs in the kernel. The others are ints, whose upper half is ignored. */
	if (f->bits32 || (set != TY_SET_PROT && set != TY_SET_MOUNT && set != TY_SET_PERFFLAGS))
		v = (uint32_t)v;
	if (ty_set_get(set)->kind == TY_SET_ENUM)
		add_enum(f->out, set, v);
	else
		add_flags(f->out, set, v, false);
}

/* One argument. true: it has taken all that follow as well. */
static bool add_arg(struct fmt *f, const struct ty_sysrow *row, unsigned i)
{
	uint64_t v = f->args[i];
	uint32_t v32 = (uint32_t)v;
	struct ty_buf *b = f->out;

	if (row->a[i] >= TY_ARG_SETS) {
		comma(f);
		add_set(f, (enum ty_set)(row->a[i] - TY_ARG_SETS), v);
		return false;
	}
	/* open's mode counts only when a file may be made: O_CREAT, __O_TMPFILE */
	if (row->a[i] == TY_ARG_OPENMODE && !(f->args[i - 1] & (0100 | 020000000)))
		return row->n == i + 1;
	comma(f);
	if (ty_arg_is_pointer(row->a[i])) {
		add_ptr(b, word(f, v));
		return false;
	}
	switch ((enum ty_argkind)row->a[i]) {
	case TY_ARG_FD:
	case TY_ARG_PID:
	case TY_ARG_UID:
	case TY_ARG_IPC:
	case TY_ARG_INT: add_int(b, (int32_t)v32); break;
	case TY_ARG_UINT: add_dec(b, v32); break;
	case TY_ARG_LONG: add_int(b, f->bits32 ? (int32_t)v32 : (int64_t)v); break;
	case TY_ARG_ULONG: add_dec(b, word(f, v)); break;
	case TY_ARG_HEX: add_hex(b, word(f, v)); break;
	case TY_ARG_HEX32: add_hex(b, v32); break;
	case TY_ARG_DIRFD:
		if ((int32_t)v32 == -100)
			ty_buf_adds(b, "AT_FDCWD");
		else
			add_int(b, (int32_t)v32);
		break;
	case TY_ARG_MODE:
	case TY_ARG_OPENMODE: add_octal(b, v32 & 0xffff, 3); break;
	case TY_ARG_OPEN: add_open(f, v32); break;
	case TY_ARG_OFLAGS: add_flags(b, TY_SET_OFLAGS, o_flags(f->os, v32), false); break;
	case TY_ARG_SIG: add_signal(b, v32); break;
	case TY_ARG_FUTEX: add_futex(f); return true;
	case TY_ARG_CLONE: add_clone(f); return true;
	case TY_ARG_MMAP: add_mmap(b, word(f, v)); break;
	case TY_ARG_SOCKTYPE: add_socktype(b, v32); break;
	case TY_ARG_PROTO: add_proto(b, (uint32_t)f->args[0], v32); break;
	case TY_ARG_SOLEVEL: add_enum(b, TY_SET_SOL, v32); break;
	case TY_ARG_SOOPT: add_sockopt(b, (uint32_t)f->args[1], v32); break;
	case TY_ARG_FCNTL: add_fcntl(f); return true;
	case TY_ARG_IOCTL: {
		const char *name = ty_set_name(TY_SET_IOCTL, v32);

		add_0x(b, v32);
		if (name) {
			ty_buf_adds(b, " /* ");
			ty_buf_adds(b, name);
			ty_buf_adds(b, " */");
		}
		break;
	}
	case TY_ARG_PRCTL: add_prctl(f); return true;
	case TY_ARG_MREMAP:
		add_flags(b, TY_SET_MREMAP, v32, false);
		return !(v32 & (2 | 4)); /* MREMAP_FIXED, MREMAP_DONTUNMAP */
	case TY_ARG_STATX:
		add_enum(b, TY_SET_STATXSYNC, v32 & 0x6000);
		add_flags(b, TY_SET_AT, v32 & ~0x6000u, true);
		break;
	case TY_ARG_PGOFF: add_hex(b, (uint64_t)v32 << 12); break;
	default: break;
	}
	return false;
}

int ty_syscall_fmt_fd_name(const char *name, struct ty_buf *b)
{
	static const char deleted[] = " (deleted)";
	const size_t n = strlen(name), tail = sizeof(deleted) - 1;
	const bool gone = n > tail && !strcmp(name + n - tail, deleted);
	size_t start;

	ty_buf_addc(b, '<');
	start = b->len;
	if (!ty_buf_add(b, name, gone ? n - tail : n))
		ty_plain(b->p + start, b->len - start);
	ty_buf_addc(b, '>');
	if (gone)
		ty_buf_adds(b, deleted + 1);
	return b->failed;
}

int ty_syscall_fmt_args(const struct ty_sysarch *a, enum ty_abi abi, int64_t nr,
			const uint64_t args[6], struct ty_buf *out)
{
	return ty_syscall_fmt_named(a, abi, nr, args, NULL, out);
}

int ty_syscall_fmt_named(const struct ty_sysarch *a, enum ty_abi abi, int64_t nr,
			 const uint64_t args[6], const struct ty_arg_names *names,
			 struct ty_buf *out)
{
	struct fmt f = {.out = out,
			.names = names,
			.args = args,
			.os = ty_sysarch_os(a),
			.bits32 = ty_sysarch_bits32(a, abi),
			.first = true};
	const struct ty_sysrow *row = ty_syscall_row(a, abi, nr);

	for (unsigned i = 0; i < row->n; i++) {
		if (names && names->text[i]) {
			comma(&f);
			ty_buf_adds(out, names->text[i]);
		} else if (add_arg(&f, row, i)) {
			break;
		}
		if (names && names->fd[i])
			ty_syscall_fmt_fd_name(names->fd[i], out);
	}
	return out->failed;
}

static const struct {
	int e;
	const char *name, *text;
	bool restart;
} kernel_errnos[] = {
	{512, "ERESTARTSYS", "To be restarted if SA_RESTART is set", true},
	{513, "ERESTARTNOINTR", "To be restarted", true},
	{514, "ERESTARTNOHAND", "To be restarted if no handler", true},
	{515, "ENOIOCTLCMD", "No ioctl command", false},
	{516, "ERESTART_RESTARTBLOCK", "Interrupted by signal", true},
	{517, "EPROBE_DEFER", "Driver requests probe retry", false},
	{518, "EOPENSTALE", "open found a stale dentry", false},
	{524, "ENOTSUPP", "Operation is not supported", false},
	{529, "EIOCBQUEUED", "iocb queued, will get completion event", false},
};

const char *ty_errno_name(int e)
{
	for (size_t i = 0; i < sizeof(kernel_errnos) / sizeof(kernel_errnos[0]); i++)
		if (kernel_errnos[i].e == e)
			return kernel_errnos[i].name;
	return e > 0 ? strerrorname_np(e) : NULL;
}

static void add_error(struct ty_buf *b, int e)
{
	const char *name = ty_errno_name(e), *text = e < 512 ? strerrordesc_np(e) : NULL;
	bool restart = false;

	for (size_t i = 0; i < sizeof(kernel_errnos) / sizeof(kernel_errnos[0]); i++)
		if (kernel_errnos[i].e == e) {
			text = kernel_errnos[i].text;
			restart = kernel_errnos[i].restart;
		}
	ty_buf_adds(b, restart ? "?" : "-1");
	if (!name) {
		ty_buf_adds(b, " (errno ");
		add_dec(b, (unsigned)e);
	} else {
		ty_buf_addc(b, ' ');
		ty_buf_adds(b, name);
		ty_buf_adds(b, " (");
		ty_buf_adds(b, text ? text : "?");
	}
	ty_buf_addc(b, ')');
}

static void add_fcntl_result(struct ty_buf *b, unsigned os, const uint64_t *args, int64_t ret)
{
	struct fmt f = {.out = b, .args = args, .os = os};

	switch (args ? (uint32_t)args[1] : 0) {
	case 1: /* F_GETFD */
		if (!ret)
			break;
		add_0x(b, (uint64_t)ret);
		ty_buf_adds(b, " (flags ");
		add_flags(b, TY_SET_FDFLAGS, (uint64_t)ret, false);
		ty_buf_addc(b, ')');
		return;
	case 3: /* F_GETFL */
		add_hex(b, (uint64_t)ret);
		ty_buf_adds(b, " (flags ");
		add_open(&f, (uint32_t)ret);
		ty_buf_addc(b, ')');
		return;
	}
	add_int(b, ret);
}

int ty_syscall_fmt_result(const struct ty_sysarch *a, enum ty_abi abi, int64_t nr,
			  const uint64_t *args, int64_t ret, struct ty_buf *out)
{

	if (ret < 0 && ret >= -4095) {
		add_error(out, (int)-ret);
		return out->failed;
	}
	switch ((enum ty_retkind)ty_syscall_row(a, abi, nr)->ret) {
	case TY_RET_PTR:
		add_ptr(out, ty_sysarch_bits32(a, abi) ? (uint32_t)ret : (uint64_t)ret);
		break;
	case TY_RET_OCT: add_octal(out, (uint32_t)ret, 3); break;
	case TY_RET_POLL:
		add_int(out, ret);
		if (!ret)
			ty_buf_adds(out, " (Timeout)");
		break;
	case TY_RET_FCNTL: add_fcntl_result(out, ty_sysarch_os(a), args, ret); break;
	case TY_RET_INT: add_int(out, ret);
	}
	return out->failed;
}

int ty_syscall_fmt_ret(const struct ty_sysarch *a, enum ty_abi abi, int64_t nr, int64_t ret,
		       struct ty_buf *out)
{
	return ty_syscall_fmt_result(a, abi, nr, NULL, ret, out);
}
