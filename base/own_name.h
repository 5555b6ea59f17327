/* SPDX-License-Identifier: MIT */
/* The name of tarry's process that removes BPF hooks behind a recording: for seconds, in which the
 * next recording may begin. Its waits are not those of the recorded system. */
#ifndef TY_OWN_NAME_H
#define TY_OWN_NAME_H

#define TY_UNHOOK_NAME "tarry-unhook"

#endif
