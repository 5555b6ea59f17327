/* SPDX-License-Identifier: MIT */
/*
 * Regions of your own code in a tarry recording: one header, no library, C and C++.
 *
 *	tarry_begin("parse");                a region of this thread, may hold others
 *	tarry_end();                         the innermost region of this thread ends; it has no
 *	                                     name: after a missing begin or end, later ones
 *	                                     pair with the wrong region
 *	tarry_async_begin("request", id);    a region that any thread of the process may end
 *	tarry_async_end("request", id);
 *	tarry_instant("cache flushed");
 *	tarry_counter("queue length", n);
 *	tarry::region r("parse");            C++: until the end of the block
 *
 * While nothing records, each is one load and one branch. While tarry records, the kernel writes an
 * event with the clock of the trace; the program needs no rights, opens no file and makes no system
 * call. Names are NUL-terminated, copied at the call, of at most 200 bytes.
 *
 * The mechanism is a user-space static probe (SDT, provider tarry, probe region; arguments: kind,
 * name, value) with a semaphore, so perf, bpftrace and gdb see it, too. All calls of a program or a
 * library share one probe. x86-64 and arm64 Linux; elsewhere, and with TARRY_DISABLE defined, the
 * functions do nothing.
 */
#ifndef TARRY_H
#define TARRY_H

#include <stdint.h>

enum tarry_kind {
	TARRY_BEGIN = 1,
	TARRY_END = 2,
	TARRY_INSTANT = 3,
	TARRY_COUNTER = 4,
	TARRY_ASYNC_BEGIN = 5,
	TARRY_ASYNC_END = 6
};

#if defined(__linux__) && (defined(__x86_64__) && defined(__LP64__) || defined(__aarch64__)) &&    \
	!defined(TARRY_DISABLE)

#ifdef __cplusplus
extern "C" {
#endif
extern volatile unsigned short tarry_region_semaphore __attribute__((visibility("hidden")));
void tarry_region_probe(uint32_t kind, const char *name, int64_t value)
	__attribute__((visibility("hidden")));
#ifdef __cplusplus
}
#endif

#ifdef __x86_64__
#define TARRY_ARGS_ "4@%edi 8@%rsi -8@%rdx"
#define TARRY_TYPE_ "@"
#else
#define TARRY_ARGS_ "4@w0 8@x1 -8@x2"
#define TARRY_TYPE_ "%"
#endif

/* One copy per program or library, however many files include this: groups of sections. The note is
 * that of <sys/sdt.h>, see "UserSpaceProbeImplementation" of SystemTap. */
__asm__(".ifndef tarry_region_probe\n"
	".pushsection .text.tarry_region_probe,\"axG\"," TARRY_TYPE_
	"progbits,tarry_region_probe,comdat\n"
	".weak tarry_region_probe\n"
	".hidden tarry_region_probe\n"
	".type tarry_region_probe, " TARRY_TYPE_ "function\n"
	".balign 16\n"
	"tarry_region_probe:\n"
	"	nop\n"
	"	ret\n"
	".size tarry_region_probe, . - tarry_region_probe\n"
	".popsection\n"
	".pushsection .probes,\"awG\"," TARRY_TYPE_ "progbits,tarry_region_probe,comdat\n"
	".weak tarry_region_semaphore\n"
	".hidden tarry_region_semaphore\n"
	".type tarry_region_semaphore, " TARRY_TYPE_ "object\n"
	".size tarry_region_semaphore, 2\n"
	".balign 2\n"
	"tarry_region_semaphore:\n"
	"	.2byte 0\n"
	".popsection\n"
	".pushsection .note.stapsdt,\"G\"," TARRY_TYPE_ "note,tarry_region_probe,comdat\n"
	".balign 4\n"
	".4byte 992f-991f, 994f-993f, 3\n"
	"991:	.asciz \"stapsdt\"\n"
	"992:	.balign 4\n"
	"993:	.8byte tarry_region_probe\n"
	"	.8byte _.stapsdt.base\n"
	"	.8byte tarry_region_semaphore\n"
	"	.asciz \"tarry\"\n"
	"	.asciz \"region\"\n"
	"	.asciz \"" TARRY_ARGS_ "\"\n"
	"994:	.balign 4\n"
	".popsection\n"
	".ifndef _.stapsdt.base\n" /* <sys/sdt.h> has it, too */
	".pushsection .stapsdt.base,\"aG\"," TARRY_TYPE_ "progbits,.stapsdt.base,comdat\n"
	".weak _.stapsdt.base\n"
	".hidden _.stapsdt.base\n"
	"_.stapsdt.base: .space 1\n"
	".size _.stapsdt.base, 1\n"
	".popsection\n"
	".endif\n"
	".endif\n");

/* Does anything record regions now? To be asked before costly names are made. */
static inline int tarry_recording(void)
{
	return __builtin_expect(tarry_region_semaphore != 0, 0);
}

static inline void tarry_emit(enum tarry_kind kind, const char *name, int64_t value)
{
	if (tarry_recording())
		tarry_region_probe((uint32_t)kind, name, value);
}

#else

static inline int tarry_recording(void)
{
	return 0;
}

static inline void tarry_emit(enum tarry_kind kind, const char *name, int64_t value)
{
	(void)kind;
	(void)name;
	(void)value;
}

#endif

static inline void tarry_begin(const char *name)
{
	tarry_emit(TARRY_BEGIN, name, 0);
}

static inline void tarry_end(void)
{
	tarry_emit(TARRY_END, "", 0);
}

static inline void tarry_async_begin(const char *name, int64_t id)
{
	tarry_emit(TARRY_ASYNC_BEGIN, name, id);
}

static inline void tarry_async_end(const char *name, int64_t id)
{
	tarry_emit(TARRY_ASYNC_END, name, id);
}

static inline void tarry_instant(const char *name)
{
	tarry_emit(TARRY_INSTANT, name, 0);
}

static inline void tarry_counter(const char *name, int64_t value)
{
	tarry_emit(TARRY_COUNTER, name, value);
}

#ifdef __cplusplus
namespace tarry
{
class region
{
      public:
	explicit region(const char *name)
	{
		tarry_begin(name);
	}
	~region()
	{
		tarry_end();
	}
	region(const region &) = delete;
	region &operator=(const region &) = delete;
};
} // namespace tarry
#endif

#endif
