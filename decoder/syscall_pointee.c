/* SPDX-License-Identifier: MIT */
/* Data behind the pointers of system calls; see syscall_table.h. Sizes: the kernel's uapi headers
 * and the compat structures of 32-bit ABIs. */
#include "syscall_table.h"

enum { R = 1, W = 2, MANY = 4 };
#define VALUES TY_POINTEE_VALUES

static const struct {
	uint8_t form, how;
	uint16_t bytes[2]; /* 64-bit ABIs, 32-bit ones */
} v[] = {
	[TY_ARG_PATH - TY_ARG_PTR] = {TY_POINTEE_STRING, R, {1, 1}},
	[TY_ARG_STR - TY_ARG_PTR] = {TY_POINTEE_STRING, R, {1, 1}},
	[TY_ARG_STRS - TY_ARG_PTR] = {TY_POINTEE_STRINGS, R, {8, 4}},
	[TY_ARG_BUF_IN - TY_ARG_PTR] = {VALUES, R | MANY, {1, 1}},
	[TY_ARG_BUF_OUT - TY_ARG_PTR] = {VALUES, W | MANY, {1, 1}},
	[TY_ARG_ADDR_IN - TY_ARG_PTR] = {VALUES, R | MANY, {1, 1}},
	[TY_ARG_ADDR_OUT - TY_ARG_PTR] = {VALUES, W | MANY, {1, 1}},
	[TY_ARG_IOV_IN - TY_ARG_PTR] = {VALUES, R | MANY, {16, 8}},
	[TY_ARG_IOV_OUT - TY_ARG_PTR] = {VALUES, R | W | MANY, {16, 8}},
	[TY_ARG_MSG_IN - TY_ARG_PTR] = {VALUES, R, {56, 28}},
	[TY_ARG_MSG_OUT - TY_ARG_PTR] = {VALUES, R | W, {56, 28}},
	[TY_ARG_MMSG_IN - TY_ARG_PTR] = {VALUES, R | W | MANY, {64, 32}},
	[TY_ARG_MMSG_OUT - TY_ARG_PTR] = {VALUES, R | W | MANY, {64, 32}},
	[TY_ARG_TIME_IN - TY_ARG_PTR] = {VALUES, R, {16, 8}},
	[TY_ARG_TIME_OUT - TY_ARG_PTR] = {VALUES, W, {16, 8}},
	[TY_ARG_TIME64_IN - TY_ARG_PTR] = {VALUES, R, {16, 16}},
	[TY_ARG_TIME64_OUT - TY_ARG_PTR] = {VALUES, W, {16, 16}},
	[TY_ARG_TIMEVAL_IN - TY_ARG_PTR] = {VALUES, R, {16, 8}},
	[TY_ARG_TIMEVAL_OUT - TY_ARG_PTR] = {VALUES, W, {16, 8}},
	[TY_ARG_POLLFD - TY_ARG_PTR] = {VALUES, R | W | MANY, {8, 8}},
	[TY_ARG_FDSET - TY_ARG_PTR] = {VALUES, R | W, {0, 0}},
	[TY_ARG_EPOLL_IN - TY_ARG_PTR] = {VALUES, R, {16, 16}},
	[TY_ARG_EPOLL_OUT - TY_ARG_PTR] = {VALUES, W | MANY, {16, 16}},
	[TY_ARG_SIGSET_IN - TY_ARG_PTR] = {VALUES, R, {8, 8}},
	[TY_ARG_SIGSET_OUT - TY_ARG_PTR] = {VALUES, W, {8, 8}},
	[TY_ARG_SEMBUF - TY_ARG_PTR] = {VALUES, R | MANY, {6, 6}},
	[TY_ARG_FDS_OUT - TY_ARG_PTR] = {VALUES, W, {8, 8}},
	[TY_ARG_INT_IN - TY_ARG_PTR] = {VALUES, R, {4, 4}},
	[TY_ARG_INT_OUT - TY_ARG_PTR] = {VALUES, W, {4, 4}},
	[TY_ARG_INT_IO - TY_ARG_PTR] = {VALUES, R | W, {4, 4}},
	[TY_ARG_WORD - TY_ARG_PTR] = {VALUES, R, {4, 4}},
	[TY_ARG_OFF_OUT - TY_ARG_PTR] = {VALUES, W, {8, 8}},
	[TY_ARG_OFF_IO - TY_ARG_PTR] = {VALUES, R | W, {8, 8}},
	[TY_ARG_ITIMERSPEC_IN - TY_ARG_PTR] = {VALUES, R, {32, 16}},
	[TY_ARG_ITIMERSPEC_OUT - TY_ARG_PTR] = {VALUES, W, {32, 16}},
	[TY_ARG_ITIMERVAL_IN - TY_ARG_PTR] = {VALUES, R, {32, 16}},
	[TY_ARG_ITIMERVAL_OUT - TY_ARG_PTR] = {VALUES, W, {32, 16}},
	[TY_ARG_RLIMIT_IN - TY_ARG_PTR] = {VALUES, R, {16, 16}},
	[TY_ARG_RLIMIT_OUT - TY_ARG_PTR] = {VALUES, W, {16, 16}},
	[TY_ARG_WSTATUS_OUT - TY_ARG_PTR] = {VALUES, W, {4, 4}},
	[TY_ARG_SIGSET_ARG - TY_ARG_PTR] = {VALUES, R, {16, 8}},
	[TY_ARG_STAT_OUT - TY_ARG_PTR] = {VALUES, W, {56, 0}},
	[TY_ARG_STATX_OUT - TY_ARG_PTR] = {VALUES, W, {48, 48}},
	[TY_ARG_SIGACTION_IN - TY_ARG_PTR] = {VALUES, R, {32, 20}},
	[TY_ARG_SIGACTION_OUT - TY_ARG_PTR] = {VALUES, W, {32, 20}},
	[TY_ARG_STRUCT_IN - TY_ARG_PTR] = {VALUES, R, {0, 0}},
	[TY_ARG_STRUCT_OUT - TY_ARG_PTR] = {VALUES, W, {0, 0}},
	[TY_ARG_STRUCT_IO - TY_ARG_PTR] = {VALUES, R | W, {0, 0}},
};

struct ty_pointee ty_arg_pointee(uint8_t kind, unsigned os, bool bits32)
{
	struct ty_pointee p = {.form = TY_POINTEE_NONE};
	unsigned i = kind - TY_ARG_PTR;

	if (!ty_arg_is_pointer(kind))
		return p;
	p.form = v[i].form;
	p.in = v[i].how & R;
	p.out = v[i].how & W;
	p.counted = v[i].how & MANY;
	p.bytes = v[i].bytes[bits32];
	/* struct epoll_event is packed on x86. */
	if ((kind == TY_ARG_EPOLL_IN || kind == TY_ARG_EPOLL_OUT) &&
	    (os & ~TY_ARGOS_32) == TY_ARGOS_X86)
		p.bytes = 12;
	return p;
}
