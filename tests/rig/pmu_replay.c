/* SPDX-License-Identifier: MIT */
/*
 * A CPU's PMU for an emulated machine that has none: counting and sampling events for the kernel's
 * perf core. Each CPU has three counters, of which `reserved` (a parameter, writable) are taken by
 * others: groups that need more are refused or take turns, as on hardware. Its events, as
 * PMU rig_cpu and (the first two) as PERF_TYPE_HARDWARE:
 *   - cycles: one each nanosecond; can be sampled, with the branch stack that was last written to
 *     /dev/lbr_replay (struct perf_branch_entry, the newest branch first) by the sampled process;
 *   - instructions: two each nanosecond;
 *   - written: the bytes that were written to /dev/pmu_replay on that CPU.
 * Beside it a PMU rig_package, whose events belong to all CPUs together (cpumask).
 *
 * How the drivers deal with the core is documented in the kernel's arch/x86/events/core.c and
 * kernel/events/core.c (cpu_clock_event_*). All of it runs with interrupts off on the CPU
 * concerned.
 */
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/kprobes.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/uaccess.h>

#include <asm/irq_regs.h>

#include "sysfs_text.h"

enum { CYCLES, INSTRUCTIONS, WRITTEN = 0x10, COUNTERS = 3, BRANCHES = 32, NS_MIN = 100000 };

static uint reserved;
module_param(reserved, uint, 0644);

static DEFINE_PER_CPU(unsigned, used);
static DEFINE_PER_CPU(u64, written);
static struct pmu pmu, package;
static int (*overflow)(struct perf_event *, struct perf_sample_data *, struct pt_regs *);

/* Of one process. */
static pid_t lbr_owner;
static struct {
	struct perf_branch_stack head;
	struct perf_branch_entry entries[BRANCHES];
} lbr;

static bool is_ours(const struct perf_event *event)
{
	return event->pmu == &pmu;
}

static u64 counter(const struct perf_event *event)
{
	return event->attr.config == WRITTEN
		       ? this_cpu_read(written)
		       : ktime_get_mono_fast_ns() << (event->attr.config == INSTRUCTIONS);
}

static void update(struct perf_event *event)
{
	const u64 now = counter(event);

	local64_add(now - local64_xchg(&event->hw.prev_count, now), &event->count);
}

static enum hrtimer_restart sample(struct hrtimer *timer)
{
	struct perf_event *event = container_of(timer, struct perf_event, hw.hrtimer);
	struct pt_regs *regs = get_irq_regs();
	struct perf_sample_data data;

	if (event->state != PERF_EVENT_STATE_ACTIVE)
		return HRTIMER_NORESTART;
	update(event);
	perf_sample_data_init(&data, 0, event->hw.last_period);
	if (has_branch_stack(event) && current->tgid == lbr_owner) {
		data.br_stack = &lbr.head;
		data.sample_flags |= PERF_SAMPLE_BRANCH_STACK;
	}
	if (regs && !(event->attr.exclude_idle && is_idle_task(current)) &&
	    overflow(event, &data, regs))
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(max_t(u64, event->hw.sample_period, NS_MIN)));
	return HRTIMER_RESTART;
}

static void pmu_start(struct perf_event *event, int flags)
{
	event->hw.state = 0;
	local64_set(&event->hw.prev_count, counter(event));
	if (is_sampling_event(event))
		hrtimer_start(&event->hw.hrtimer,
			      ns_to_ktime(max_t(s64, local64_read(&event->hw.period_left), NS_MIN)),
			      HRTIMER_MODE_REL_PINNED_HARD);
}

static void pmu_stop(struct perf_event *event, int flags)
{
	if (event->hw.state & PERF_HES_STOPPED)
		return;
	if (is_sampling_event(event)) {
		/* What is left of its period, after others had the counter. */
		local64_set(&event->hw.period_left,
			    ktime_to_ns(hrtimer_get_remaining(&event->hw.hrtimer)));
		hrtimer_cancel(&event->hw.hrtimer);
	}
	update(event);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int pmu_add(struct perf_event *event, int flags)
{
	if (this_cpu_read(used) + min_t(unsigned, reserved, COUNTERS) >= COUNTERS)
		return -EAGAIN;
	this_cpu_inc(used);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		pmu_start(event, 0);
	return 0;
}

static void pmu_del(struct perf_event *event, int flags)
{
	pmu_stop(event, PERF_EF_UPDATE);
	this_cpu_dec(used);
}

static void pmu_read(struct perf_event *event)
{
	if (!(event->hw.state & PERF_HES_STOPPED))
		update(event);
}

static int pmu_event_init(struct perf_event *event)
{
	const struct perf_event *leader = event->group_leader, *sibling;
	const u64 config = event->attr.config;
	unsigned n = 1;

	if (event->attr.type == PERF_TYPE_HARDWARE ? config > INSTRUCTIONS
						   : event->attr.type != pmu.type)
		return -ENOENT;
	if (config > INSTRUCTIONS && config != WRITTEN)
		return -EINVAL;
	if (event->attr.precise_ip || (is_sampling_event(event) && config != CYCLES))
		return -EOPNOTSUPP;
	if (has_branch_stack(event) &&
	    !(event->attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK))
		return -EOPNOTSUPP;
	if (leader != event) {
		n += is_ours(leader);
		for_each_sibling_event(sibling, leader) n += is_ours(sibling);
	}
	if (n > COUNTERS)
		return -EINVAL;
	if (is_sampling_event(event)) {
		hrtimer_init(&event->hw.hrtimer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
		event->hw.hrtimer.function = sample;
		/* As cpu-clock has it. */
		if (event->attr.freq) {
			event->attr.sample_period = NSEC_PER_SEC / event->attr.sample_freq;
			event->hw.sample_period = event->hw.last_period = event->attr.sample_period;
			local64_set(&event->hw.period_left, event->attr.sample_period);
			event->attr.freq = 0;
		}
	}
	return 0;
}

/* All its events are on the first CPU. */
static int package_event_init(struct perf_event *event)
{
	if (event->attr.type != package.type)
		return -ENOENT;
	if (event->cpu < 0 || is_sampling_event(event))
		return -EINVAL;
	event->cpu = 0;
	return 0;
}

static ssize_t count_write(struct file *f, const char __user *from, size_t n, loff_t *pos)
{
	this_cpu_add(written, n);
	return n;
}

static ssize_t lbr_write(struct file *f, const char __user *from, size_t n, loff_t *pos)
{
	const size_t entries = n / sizeof(lbr.entries[0]);

	if (n % sizeof(lbr.entries[0]) || entries > BRANCHES)
		return -EINVAL;
	lbr_owner = 0;
	if (copy_from_user(lbr.entries, from, n))
		return -EFAULT;
	lbr.head.nr = entries;
	WRITE_ONCE(lbr_owner, current->tgid);
	return n;
}

static const struct file_operations count_fops = {.owner = THIS_MODULE, .write = count_write},
				    lbr_fops = {.owner = THIS_MODULE, .write = lbr_write};
static struct miscdevice devices[] = {
	{.minor = MISC_DYNAMIC_MINOR, .name = "pmu_replay", .fops = &count_fops},
	{.minor = MISC_DYNAMIC_MINOR, .name = "lbr_replay", .fops = &lbr_fops}};

static struct attribute *format[] = {TEXT(event, "config:0-7"), NULL};
static struct attribute *events[] = {TEXT(cycles, "event=0x0"), TEXT(instructions, "event=0x1"),
				     TEXT(written, "event=0x10"), NULL};
static struct attribute *package_top[] = {TEXT(cpumask, "0"), NULL};
static const struct attribute_group *groups[] = {GROUP("format", format), GROUP("events", events),
						 NULL},
				    *package_groups[] = {GROUP("format", format),
							 GROUP(NULL, package_top), NULL};

static struct pmu pmu = {
	.module = THIS_MODULE,
	.task_ctx_nr = perf_hw_context,
	.attr_groups = groups,
	.event_init = pmu_event_init,
	.add = pmu_add,
	.del = pmu_del,
	.start = pmu_start,
	.stop = pmu_stop,
	.read = pmu_read,
};

/* It counts cycles, too. */
static struct pmu package = {
	.module = THIS_MODULE,
	.task_ctx_nr = perf_invalid_context,
	.attr_groups = package_groups,
	.event_init = package_event_init,
	.add = pmu_add,
	.del = pmu_del,
	.start = pmu_start,
	.stop = pmu_stop,
	.read = pmu_read,
};

static int __init pmu_replay_init(void)
{
	struct kprobe probe = {.symbol_name = "perf_event_overflow"};
	int e = register_kprobe(&probe);

	if (e)
		return e;
	/* Not exported: a PMU that samples is no module elsewhere. */
	overflow = (void *)probe.addr;
	unregister_kprobe(&probe);
	e = misc_register(&devices[0]);
	e = e ?: misc_register(&devices[1]);
	e = e ?: perf_pmu_register(&pmu, "rig_cpu", -1);
	e = e ?: perf_pmu_register(&package, "rig_package", -1);
	return e;
}

/* Loaded once, up to the end of the machine: there is no way out. */
module_init(pmu_replay_init);
MODULE_DESCRIPTION("a CPU's PMU without the hardware");
MODULE_LICENSE("Dual MIT/GPL");
