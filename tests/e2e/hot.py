# SPDX-License-Identifier: MIT
# Of `tarry report hot --json` (argv 2) and the truth that hot_shares printed (argv 1): each function's
# share within four standard deviations: one of four shares of good samples is outside once in 4,000 times.
# argv 3: "tree" when callers must be known, too.
import json, math, sys
truth = {n: int(v) for n, v in (l.split() for l in open(sys.argv[1]))}
hot = json.load(open(sys.argv[2]))['hot']
rows = {f['function']: f for f in hot['functions'] if f['function']}
own = {n: rows[n]['self'] if n in rows else 0 for n in truth}
own['beta'] += rows.get('inlined_work', {'self': 0})['self']
n, whole, bad = sum(own.values()), sum(truth.values()), []
if n < 300: bad.append(f'{n} samples')
for name in truth:
    p = truth[name] / whole
    sd = math.sqrt(p * (1 - p) / n)
    if abs(own[name] / n - p) > 4 * sd: bad.append(f'{name}: {own[name] / n:.3f}, not {p:.3f} (sd {sd:.4f})')
if sum(f['self'] for f in hot['functions']) != hot['samples']: bad.append('self counts are not all samples')
if sys.argv[3:] == ['tree']:
    # deep calls itself: counted once; work called all of them. An interrupt may meet a prologue.
    for name in truth:
        if rows[name]['total'] > hot['samples']: bad.append(f'{name}: total above all')
    if rows['work']['total'] < 0.98 * n: bad.append(f"work: total {rows['work']['total']} of {n}")
    if rows['deep']['total'] < rows['deep']['self']: bad.append('deep: total below self')
    # The work of beta is inlined; one half of all is in main, the other in the second thread.
    total = {n: rows[n]['total'] if n in rows else 0 for n in ('beta', 'inlined_work', 'main', 'work')}
    if not 0.9 * own['beta'] <= total['inlined_work'] <= total['beta']: bad.append(f'inlining: {total}')
    if min(total['main'], total['work'] - total['main']) < 0.25 * n: bad.append(f'threads: {total}')
    if hot['cut'] > 0.02 * hot['samples']: bad.append(f"{hot['cut']} are cut")
    e = hot.get('exact')
    if e:
        off = hot['weight'] / e['on_cpu_ns'] - 1
        if abs(off) > 0.1: bad.append(f'samples are {off:+.3f} off the exact time on CPU')
print(*bad, sep='\n')
sys.exit(bool(bad))
