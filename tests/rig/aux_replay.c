/* SPDX-License-Identifier: MIT */
/*
 * A PMU with an AUX buffer, for an emulated machine: to user space and to the kernel's perf core it
 * is intel_pt (name=intel_pt) or arm_spe_0 (name=arm_spe_0); what the hardware would write is
 *   - a pattern, `chunk` bytes every `period_us` on each CPU whose event is on: byte P of a
 * buffer's stream is byte P % 8 of the word (2 + CPU of the event) << 56 | P / 8. P runs on over
 * bytes that found no room, so that every loss, repetition and misplaced byte shows; or
 *   - what a program writes into /dev/aux_replay: those bytes, at once, into the stream of the CPU
 *     it runs on (EAGAIN when no event is on there). So a program can trace itself.
 * Parameters (writable at any time): chunk, period_us; collide=N: each N-th interrupt says that
 * samples collided. Counters (write to reset): produced, lost (found no room), truncated (times),
 * buffers (that were mapped).
 *
 * How the drivers deal with the core is documented in the kernel's arch/x86/events/intel/pt.c and
 * drivers/perf/arm_spe_pmu.c. Here as there: PT fills whole pages and, overwriting, keeps its place
 * in handle->head; SPE begins at a multiple of 64, never wraps inside one session, and skips what
 * it cannot use, which are zeros. All of it runs with interrupts off on the CPU concerned.
 */
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "sysfs_text.h"

enum { SPE_STEP = 64, WRITE_MAX = 1 << 16 };

static char *name = "intel_pt";
module_param(name, charp, 0444);
static uint chunk, period_us = 1000, collide;
module_param(chunk, uint, 0644);
module_param(period_us, uint, 0644);
module_param(collide, uint, 0644);

static atomic64_t produced, lost, truncated, buffers, interrupts;

static int count_get(char *out, const struct kernel_param *p)
{
	return sysfs_emit(out, "%lld\n", (long long)atomic64_read(p->arg));
}

static int count_set(const char *text, const struct kernel_param *p)
{
	atomic64_set(p->arg, 0);
	return 0;
}

static const struct kernel_param_ops count_ops = {.get = count_get, .set = count_set};
module_param_cb(produced, &count_ops, &produced, 0644);
module_param_cb(lost, &count_ops, &lost, 0644);
module_param_cb(truncated, &count_ops, &truncated, 0644);
module_param_cb(buffers, &count_ops, &buffers, 0644);

static bool spe;

/* An AUX buffer and the stream that goes into it. */
struct stream {
	void **pages;
	u64 size, pos;
	bool overwrite;
	u8 id;
};

/* The tracer of one CPU. A session lies between perf_aux_output_begin and _end. */
struct tracer {
	struct perf_output_handle handle;
	struct stream *stream;
	struct hrtimer timer;
	u64 done;   /* bytes of this session */
	u64 room;   /* bytes at which the buffer is full, or (SPE) the session has to end */
	u64 alarm;  /* bytes at which an interrupt comes, at most room */
	u64 missed; /* bytes of the stream since the session ended for want of room */
	u64 due;    /* up to when the pattern is written, ns */
	bool on;
};
static struct tracer __percpu *tracers;

static void put(struct stream *s, u64 at, u8 byte)
{
	u64 off = at % s->size;

	((u8 *)s->pages[off / PAGE_SIZE])[off % PAGE_SIZE] = byte;
}

/* Zeros that the reader gets without an AUX record, as arm_spe_pmu pads. */
static void skip(struct tracer *t, u64 n)
{
	for (u64 i = 0; i < n; i++)
		put(t->stream, t->handle.head + i, 0);
	perf_aux_output_skip(&t->handle, n);
}

static void limits_pt(struct tracer *t)
{
	u64 head = t->handle.head, end = round_down(head + t->handle.size + 1, PAGE_SIZE),
	    wake = round_down((u64)t->handle.wakeup, PAGE_SIZE);

	t->room = end > head ? end - head : 0;
	t->alarm = wake > head && wake < end ? wake - head : t->room;
}

static void limits_spe(struct tracer *t)
{
	struct perf_output_handle *h = &t->handle;
	u64 end, wake = round_up((u64)h->wakeup, PAGE_SIZE);

	t->room = t->alarm = 0;
	if (h->head % SPE_STEP)
		skip(t, min_t(u64, h->size, SPE_STEP - h->head % SPE_STEP));
	end = min(round_up((u64)h->head + 1, t->stream->size),
		  round_down((u64)h->head + h->size, PAGE_SIZE));
	if (end > h->head)
		t->room = end - h->head;
	else
		skip(t, h->size);
	t->alarm = wake > h->head && wake < end ? wake - h->head : t->room;
}

static void full(struct tracer *t)
{
	perf_aux_output_flag(&t->handle, PERF_AUX_FLAG_TRUNCATED);
	atomic64_inc(&truncated);
}

static bool begin(struct tracer *t, struct perf_event *event)
{
	t->on = false;
	t->done = 0;
	t->stream = perf_aux_output_begin(&t->handle, event);
	event->hw.state = PERF_HES_STOPPED;
	if (!t->stream)
		return false;
	if (t->stream->pos)
		t->stream->pos += t->missed;
	t->missed = 0;
	if (t->stream->overwrite) {
		t->handle.head %= t->stream->size;
		t->room = t->alarm = U64_MAX;
	} else if (spe) {
		limits_spe(t);
	} else {
		limits_pt(t);
	}
	if (!t->room) {
		full(t);
		perf_aux_output_end(&t->handle, 0);
		return false;
	}
	event->hw.state = 0;
	return t->on = true;
}

static void end(struct tracer *t)
{
	struct stream *s = t->stream;

	t->on = false;
	if (s->overwrite)
		t->handle.head = (t->handle.head + t->done) % s->size;
	perf_aux_output_end(&t->handle, s->overwrite ? s->size : t->done);
}

static void interrupt(struct tracer *t)
{
	struct perf_event *event = t->handle.event;
	/* SPE sees that a buffer is full when it begins the next session. */
	bool is_full = !spe && t->done == t->room;

	if (collide && atomic64_inc_return(&interrupts) % collide == 0)
		perf_aux_output_flag(&t->handle, PERF_AUX_FLAG_COLLISION);
	if (is_full)
		full(t);
	end(t);
	if (is_full)
		event->hw.state = PERF_HES_STOPPED;
	else
		begin(t, event);
}

/* n bytes from the hardware; bytes NULL: of the pattern. */
static void produce(struct tracer *t, const u8 *bytes, u64 n)
{
	u64 i;

	for (i = 0; i < n && t->on; i++) {
		struct stream *s = t->stream;
		u64 word = (u64)s->id << 56 | s->pos >> 3;

		put(s, t->handle.head + t->done, bytes ? bytes[i] : word >> s->pos % 8 * 8);
		s->pos++;
		if (++t->done == t->alarm)
			interrupt(t);
	}
	/* For the next session: the stream may be gone. */
	t->missed += n - i;
	atomic64_add(i, &produced);
	atomic64_add(n - i, &lost);
}

/* What of the pattern is due by now; at most a few chunks, for a machine that is slow. */
static void produce_due(struct tracer *t)
{
	u64 now = ktime_get_ns(), period = max(period_us, 1u) * 1000ull, ticks;

	ticks = min(div64_u64(now - t->due, period), 16ull);
	t->due = ticks < 16 ? t->due + ticks * period : now;
	produce(t, NULL, ticks * (spe ? round_up(chunk, SPE_STEP) : chunk));
}

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct tracer *t = container_of(timer, struct tracer, timer);

	if (t->on)
		produce_due(t);
	if (!t->on)
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(max(period_us, 1u) * 1000ull));
	return HRTIMER_RESTART;
}

static void replay_start(struct perf_event *event, int flags)
{
	struct tracer *t = this_cpu_ptr(tracers);

	if (!begin(t, event))
		return;
	/* Said once: intel_pt requires that, arm_spe does not. */
	if (!spe)
		event->attach_state |= PERF_ATTACH_ITRACE;
	t->due = ktime_get_ns();
	hrtimer_start(&t->timer, ns_to_ktime(max(period_us, 1u) * 1000ull),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

static void replay_stop(struct perf_event *event, int flags)
{
	struct tracer *t = this_cpu_ptr(tracers);

	if (event->hw.state & PERF_HES_STOPPED)
		return;
	hrtimer_try_to_cancel(&t->timer);
	produce_due(t);
	event->hw.state = PERF_HES_STOPPED;
	if (t->on)
		end(t);
}

static int replay_add(struct perf_event *event, int flags)
{
	struct tracer *t = this_cpu_ptr(tracers);

	if (t->on)
		return -EBUSY;
	event->hw.state = PERF_HES_STOPPED;
	if (flags & PERF_EF_START) {
		replay_start(event, 0);
		if (event->hw.state & PERF_HES_STOPPED)
			return -EINVAL;
	}
	return 0;
}

static void replay_del(struct perf_event *event, int flags)
{
	replay_stop(event, PERF_EF_UPDATE);
}

static void replay_read(struct perf_event *event)
{
}

static void *replay_setup_aux(struct perf_event *event, void **pages, int n, bool overwrite)
{
	struct stream *s = spe && overwrite ? NULL : kzalloc(sizeof(*s), GFP_KERNEL);

	if (s)
		*s = (struct stream){.pages = pages,
				     .size = (u64)n * PAGE_SIZE,
				     .overwrite = overwrite,
				     .id = 2 + event->cpu};
	atomic64_inc(&buffers);
	return s;
}

static void replay_free_aux(void *aux)
{
	kfree(aux);
}

static ssize_t replay_write(struct file *f, const char __user *from, size_t n, loff_t *pos)
{
	u8 *bytes = n && n <= WRITE_MAX ? memdup_user(from, n) : ERR_PTR(-EINVAL);
	unsigned long flags;
	struct tracer *t;
	bool on;

	if (IS_ERR(bytes))
		return PTR_ERR(bytes);
	local_irq_save(flags);
	t = this_cpu_ptr(tracers);
	on = t->on;
	if (on)
		produce(t, bytes, n);
	local_irq_restore(flags);
	kfree(bytes);
	return on ? n : -EAGAIN;
}

static const struct file_operations replay_fops = {.owner = THIS_MODULE, .write = replay_write};
static struct miscdevice replay_device = {
	.minor = MISC_DYNAMIC_MINOR, .name = "aux_replay", .fops = &replay_fops};

/* sysfs, as of a Skylake and of a Neoverse N1. */
static struct attribute *pt_format[] = {
	TEXT(pt, "config:0"),
	TEXT(cyc, "config:1"),
	TEXT(pwr_evt, "config:4"),
	TEXT(fup_on_ptw, "config:5"),
	TEXT(mtc, "config:9"),
	TEXT(tsc, "config:10"),
	TEXT(noretcomp, "config:11"),
	TEXT(ptw, "config:12"),
	TEXT(branch, "config:13"),
	TEXT(mtc_period, "config:14-17"),
	TEXT(cyc_thresh, "config:19-22"),
	TEXT(psb_period, "config:24-27"),
	NULL,
};
static struct attribute *pt_caps[] = {
	TEXT(psb_cyc, "1"),	  TEXT(ip_filtering, "1"),
	TEXT(mtc, "1"),		  TEXT(ptwrite, "1"),
	TEXT(topa_output, "1"),	  TEXT(num_address_ranges, "2"),
	TEXT(mtc_periods, "249"), TEXT(cycle_thresholds, "3fff"),
	TEXT(psb_periods, "3f"),  NULL,
};
static struct attribute *pt_top[] = {TEXT(max_nonturbo_ratio, "24"), NULL};

static struct attribute *spe_format[] = {
	TEXT(ts_enable, "config:0"),	   TEXT(pa_enable, "config:1"),
	TEXT(pct_enable, "config:2"),	   TEXT(jitter, "config:16"),
	TEXT(branch_filter, "config:32"),  TEXT(load_filter, "config:33"),
	TEXT(store_filter, "config:34"),   TEXT(event_filter, "config1:0-63"),
	TEXT(min_latency, "config2:0-11"), NULL,
};
static struct attribute *spe_caps[] = {
	TEXT(arch_inst, "0"),
	TEXT(ernd, "1"),
	TEXT(count_size, "12"),
	TEXT(min_interval, "1024"),
	NULL,
};
static ssize_t cpumask_show(struct device *d, struct device_attribute *a, char *out)
{
	return cpumap_print_to_pagebuf(true, out, cpu_online_mask);
}
static DEVICE_ATTR_RO(cpumask);
static struct attribute *spe_top[] = {&dev_attr_cpumask.attr, NULL};

static const struct attribute_group *pt_groups[] = {
	GROUP("format", pt_format), GROUP("caps", pt_caps), GROUP(NULL, pt_top), NULL};
static const struct attribute_group *spe_groups[] = {
	GROUP("format", spe_format), GROUP("caps", spe_caps), GROUP(NULL, spe_top), NULL};

static struct pmu pmu;

/* As strict as the real ones: unknown bits are refused. */
static int replay_event_init(struct perf_event *event)
{
	const u64 pt_bits = 0x0f7bfe33, spe_bits = 0x700010007;

	if (event->attr.type != pmu.type)
		return -ENOENT;
	if (event->attr.config & ~(spe ? spe_bits : pt_bits))
		return -EINVAL;
	if (spe && (event->attr.freq || event->attr.config2 > 4095))
		return -EINVAL;
	return 0;
}

static int filters_validate(struct list_head *filters)
{
	return 0;
}

static void filters_sync(struct perf_event *event)
{
}

static struct pmu pmu = {
	.module = THIS_MODULE,
	.capabilities = PERF_PMU_CAP_EXCLUSIVE | PERF_PMU_CAP_ITRACE,
	.task_ctx_nr = perf_sw_context,
	.event_init = replay_event_init,
	.add = replay_add,
	.del = replay_del,
	.start = replay_start,
	.stop = replay_stop,
	.read = replay_read,
	.setup_aux = replay_setup_aux,
	.free_aux = replay_free_aux,
};

static int __init replay_init(void)
{
	int cpu, e;

	spe = !strncmp(name, "arm_spe_", 8);
	pmu.attr_groups = spe ? spe_groups : pt_groups;
	if (!spe) {
		pmu.nr_addr_filters = 2;
		pmu.addr_filters_validate = filters_validate;
		pmu.addr_filters_sync = filters_sync;
	}
	tracers = alloc_percpu(struct tracer);
	if (!tracers)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
	{
		struct hrtimer *timer = &per_cpu_ptr(tracers, cpu)->timer;

		hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
		timer->function = tick;
	}
	e = misc_register(&replay_device);
	if (e)
		goto no_device;
	e = perf_pmu_register(&pmu, name, -1);
	if (!e)
		return 0;
	misc_deregister(&replay_device);
no_device:
	free_percpu(tracers);
	return e;
}

static void __exit replay_exit(void)
{
	perf_pmu_unregister(&pmu);
	misc_deregister(&replay_device);
	free_percpu(tracers);
}
module_init(replay_init);
module_exit(replay_exit);
MODULE_DESCRIPTION("intel_pt or arm_spe_0 without the hardware");
MODULE_LICENSE("Dual MIT/GPL");
