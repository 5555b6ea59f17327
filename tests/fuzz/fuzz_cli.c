/* SPDX-License-Identifier: MIT */
/*
 * The command line over any files: a recording, trace or perf.data file, an index and a log beside
 * it, the program that it names, a copy of kallsyms. Input: parts of u8 kind, u24 bytes, bytes
 * (fuzz.h); of each kind the last one counts. The first byte of a part of kind COMMAND chooses the
 * command; all run in this process, so that coverage guides the fuzzer (with -close_fd_mask=3,
 * which silences them). A part of kind INDEX is edits of 8 bytes (struct edit) to the index that a
 * report leaves; with other parts there is none. 230 to 380 executions per CPU second, not 1,000:
 * each opens a session from files; half the time is libFuzzer's own, for 16,000 features.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "cli.h"
#include "fuzz.h"
#include "index_file.h"
#include "store.h"

enum { WIDTH = 3, BYTES_MAX = 1 << 20 };
enum kind { COMMAND, TRACE, LOG, ELF, SYMS, INDEX, KINDS };

/* n % 3 + 1 of the bytes v, written at `at` modulo the size of the index. */
struct edit {
	uint32_t at;
	uint8_t n, v[3];
};
enum { EDITS = 64 };

/* The head of an index, which is also what its hash is of (model/index_file.c). */
enum { HEAD_BYTES_AT = 12, HASH_AT = 64, HEAD_MAX = 4096 };

/* libtraceevent and libdw leak on what they refuse. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent\nleak:libdw\nleak:libelf";
}

static char dir[64];

static void leave(void)
{
	char path[128];
	static const char *const names[] = {"trace",
					    "log",
					    ".trace." TY_INDEX_OF_MODEL,
					    ".trace." TY_INDEX_OF_SAMPLES,
					    "sym/code",
					    "syms",
					    "sym"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		remove(path);
	}
	snprintf(path, sizeof(path), "%s/out", dir);
	remove(path);
	rmdir(dir);
}

/* A folder in memory where there is one. */
static void begin(void)
{
	char path[128];

	snprintf(dir, sizeof(dir), "%s/tarry-fuzz-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(dir))
		abort();
	snprintf(path, sizeof(path), "%s/sym", dir);
	mkdir(path, 0700);
	setenv("XDG_CACHE_HOME", dir, 1);
	unsetenv("DEBUGINFOD_URLS");
	atexit(leave);
}

static void put(const char *name, const uint8_t *p, size_t n)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, p, n) != (ssize_t)n)
		abort();
	close(fd);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	return fuzz_mutate_parts(data, size, max, seed, WIDTH);
}

/* The head's hash fits. */
static void index_repair(int fd)
{
	uint8_t head[HEAD_MAX] = {0};
	uint32_t n;
	uint64_t hash;

	if (pread(fd, head, sizeof(head), 0) != sizeof(head))
		return;
	memcpy(&n, head + HEAD_BYTES_AT, sizeof(n));
	memset(head + HASH_AT, 0, sizeof(hash));
	hash = ty_store_hash(head, n < sizeof(head) ? n : sizeof(head));
	if (pwrite(fd, &hash, sizeof(hash), HASH_AT) != sizeof(hash))
		abort();
}

static void index_edit(const char *suffix, const uint8_t *edits, size_t n)
{
	char path[128];
	struct edit e;
	off_t size;
	int fd;

	snprintf(path, sizeof(path), "%s/.trace.%s", dir, suffix);
	fd = open(path, O_RDWR);
	size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	for (size_t i = 0; size > 0 && i < EDITS && (i + 1) * sizeof(e) <= n; i++) {
		memcpy(&e, edits + i * sizeof(e), sizeof(e));
		if (pwrite(fd, e.v, 1 + e.n % 3, e.at % size) != 1 + e.n % 3)
			abort();
	}
	if (size > 0)
		index_repair(fd);
	if (fd >= 0)
		close(fd);
}

static void index_remove(const char *suffix)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/.trace.%s", dir, suffix);
	remove(path);
}

static void run(unsigned which, bool index, const char *trace, const char *log, const char *sym,
		const char *syms, const char *out)
{
	static const struct {
		int (*cmd)(int, char **);
		const char *arg[10]; /* T, L, S, K, O: the files */
	} all[] = {
		{ty_cmd_report, {"report", "T"}},
		{ty_cmd_report, {"report", "T", "--json"}},
		{ty_cmd_report, {"report", "T", "--log", "L"}},
		{ty_cmd_report, {"report", "T", "stalls", "ledger", "longest", "--all"}},
		{ty_cmd_report, {"report", "T", "flow", "--symfs", "S"}},
		{ty_cmd_report, {"report", "T", "memory", "sharing", "--symfs", "S"}},
		{ty_cmd_report, {"report", "T", "diff", "--from", "0.1", "--to", "0.2"}},
		{ty_cmd_report, {"report", "T", "outliers", "loss", "threads", "syscalls"}},
		{ty_cmd_report, {"report", "T", "regions", "a"}},
		{ty_cmd_report, {"report", "T", "counters", "--from", "0.012"}},
		{ty_cmd_dump, {"dump", "T", "regions"}},
		{ty_cmd_dump, {"dump", "T"}},
		{ty_cmd_dump, {"dump", "T", "events"}},
		{ty_cmd_dump, {"dump", "T", "events", "--json"}},
		{ty_cmd_dump, {"dump", "T", "syscalls", "--json"}},
		{ty_cmd_dump, {"dump", "T", "memory"}},
		{ty_cmd_dump, {"dump", "T", "flow", "--symfs", "S"}},
		{ty_cmd_dump, {"dump", "T", "flow", "--json", "--symfs", "S", "--kallsyms", "K"}},
		{ty_cmd_view, {"view", "T", "--print"}},
		{ty_cmd_export, {"export", "T", "--to", "perf", "-o", "O"}},
		{ty_cmd_export, {"export", "T", "--to", "dat", "-o", "O"}},
	};
	char *argv[12] = {0};
	int argc = 0, r;

	which %= sizeof(all) / sizeof(*all);
	for (const char *const *a = all[which].arg; *a; a++) {
		const char *file = !strcmp(*a, "T")   ? trace
				   : !strcmp(*a, "L") ? log
				   : !strcmp(*a, "S") ? sym
				   : !strcmp(*a, "K") ? syms
				   : !strcmp(*a, "O") ? out
						      : *a;

		argv[argc++] = strdup(file);
	}
	if (!index)
		argv[argc++] = strdup("--no-index");
	r = all[which].cmd(argc, argv);
	if (r < 0 || r > TY_EXIT_USAGE)
		abort();
	fflush(NULL);
	for (int i = 0; i < 12; i++)
		free(argv[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_part part, of[KINDS] = {0};
	char trace[128], log[128], sym[128], syms[128], out[128];
	uint8_t *copy;
	size_t at = 0;

	if (size > BYTES_MAX)
		return 0;
	if (!*dir)
		begin();
	while (fuzz_part_next(data, size, WIDTH, &at, &part))
		of[part.kind % KINDS] = part;
	copy = malloc(of[TRACE].n + 1);
	if (!copy)
		abort();
	memcpy(copy, data + of[TRACE].body, of[TRACE].n);
	if (!(of[COMMAND].n > 1 && data[of[COMMAND].body + 1] & 1))
		fuzz_repair(copy, of[TRACE].n);
	put("trace", copy, of[TRACE].n);
	free(copy);
	put("log", data + of[LOG].body, of[LOG].n);
	put("sym/code", data + of[ELF].body, of[ELF].n);
	put("syms", data + of[SYMS].body, of[SYMS].n);
	snprintf(trace, sizeof(trace), "%s/trace", dir);
	snprintf(log, sizeof(log), "%s/log", dir);
	snprintf(sym, sizeof(sym), "%s/sym", dir);
	snprintf(syms, sizeof(syms), "%s/syms", dir);
	snprintf(out, sizeof(out), "%s/out", dir);
	index_remove(TY_INDEX_OF_MODEL);
	index_remove(TY_INDEX_OF_SAMPLES);
	if (of[INDEX].body) {
		run(0, true, trace, log, sym, syms, out);
		index_edit(TY_INDEX_OF_MODEL, data + of[INDEX].body, of[INDEX].n);
		index_edit(TY_INDEX_OF_SAMPLES, data + of[INDEX].body, of[INDEX].n);
	}
	run(of[COMMAND].n ? data[of[COMMAND].body] : 0, of[INDEX].body, trace, log, sym, syms, out);
	remove(out);
	return 0;
}
