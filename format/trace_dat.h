/* SPDX-License-Identifier: MIT */
/*
 * Constants of the trace.dat format (trace-cmd.dat.v6(5), trace-cmd.dat.v7(5)) and of tarry's part
 * of the file (tarry.dat(5)).
 */
#ifndef TY_TRACE_DAT_H
#define TY_TRACE_DAT_H

#include <stdint.h>

#define TY_DAT_MAGIC	 "\x17\x08\x44tracing"
#define TY_DAT_MAGIC_LEN 10

/* Options; also section ids where a section has the option's number. */
enum ty_dat_id {
	TY_DAT_DONE = 0, /* as section: OPTIONS */
	TY_DAT_DATE = 1,
	TY_DAT_CPUSTAT = 2,
	TY_DAT_BUFFER = 3, /* as section: BUFFER FLYRECORD */
	TY_DAT_TRACECLOCK = 4,
	TY_DAT_UNAME = 5,
	TY_DAT_OFFSET = 7,
	TY_DAT_CPUCOUNT = 8,
	TY_DAT_VERSION = 9,
	TY_DAT_TSC2NSEC = 14,
	TY_DAT_STRINGS = 15,
	TY_DAT_HEADER_INFO = 16,
	TY_DAT_FTRACE_EVENTS = 17,
	TY_DAT_EVENT_FORMATS = 18,
	TY_DAT_KALLSYMS = 19,
	TY_DAT_PRINTK = 20,
	TY_DAT_CMDLINES = 21,
	TY_DAT_BUFFER_TEXT = 22,
	/* tarry's sections: v7 sections with these ids, which trace-cmd skips. */
	TY_DAT_TARRY = 0x7400, /* + enum ty_section */
	TY_DAT_TARRY_LAST = 0x74fe,
	TY_DAT_TARRY_DIR = 0x74ff, /* directory of the other sections, and the footer: the last
				    * section */
};

#define TY_DAT_SECTION_HEAD 16 /* u16 id, u16 flags, u32 description, u64 size */
#define TY_DAT_COMPRESSED   1  /* section flag */

/* The last bytes of a finished file. */
struct ty_dat_footer {
	char magic[8];	       /* TY_DAT_FOOTER_MAGIC */
	uint32_t version, crc; /* crc32 of the directory */
	uint64_t off, size;    /* of the directory: struct ty_dat_entry * n */
};
struct ty_dat_entry {
	uint16_t id; /* TY_DAT_TARRY + ... */
	uint16_t pad;
	uint32_t crc;	    /* crc32 of the section's stored data */
	uint64_t off, size; /* the section's 16-byte head is at off, followed by `size` bytes of
			     * data */
};
_Static_assert(sizeof(struct ty_dat_footer) == 32 && sizeof(struct ty_dat_entry) == 24, "on disk");

#define TY_DAT_FOOTER_MAGIC   "TARRYEND"
#define TY_DAT_FOOTER_VERSION 1

/* Limits on what a file may make tarry hold in memory. */
#define TY_DAT_CPUS_MAX	     4096
#define TY_DAT_BUFFERS_MAX   64
#define TY_DAT_FORMATS_MAX   65536
#define TY_DAT_FORMAT_BYTES  (1u << 20)		   /* one event format */
#define TY_DAT_SECTION_BYTES ((uint64_t)INT32_MAX) /* one section, decompressed */
#define TY_DAT_PAGE_MIN	     512u
#define TY_DAT_PAGE_MAX	     (16u << 20)

#endif
