"""Waits in Python functions. Before each, its thread prints what CPython itself says of its stack."""
import functools, gc, json, queue, socket, sys, threading, time
from concurrent.futures import ThreadPoolExecutor

T = float(sys.argv[1])
out = threading.Lock()


def say(wait, more=0):
    f, frames = sys._getframe(1), []
    while f:
        c = f.f_code
        frames.append([getattr(c, 'co_qualname', c.co_name), c.co_filename, f.f_lineno + more])
        more = 0
        f = f.f_back
    with out:
        print(json.dumps([threading.get_native_id(), wait, frames]), flush=True)
    return True


def plain():
    say('sleep') and time.sleep(T)


def nested(n):
    if n:
        return nested(n - 1)
    say('sleep') and time.sleep(T)


def locked():
    lock = threading.Lock()
    lock.acquire()
    say('lock') and lock.acquire(True, T)


def receives():
    a, b = socket.socketpair()
    a.settimeout(T)
    try:
        say('recv') and a.recv(1)
    except socket.timeout:
        pass


def takes():
    try:
        say('queue') and queue.Queue().get(True, T)
    except queue.Empty:
        pass


def generator():
    for i in range(2):
        say('sleep') and time.sleep(T / 2)
        yield i


def generates():
    def delegates():
        yield from generator()

    return list(delegates())


def twice(f):
    @functools.wraps(f)
    def wrapper(*a):
        return f(*a)

    return wrapper


class Decorated:
    @twice
    @twice
    def method(self):
        say('sleep') and time.sleep(T)

    @property
    def value(self):
        return say('sleep') and time.sleep(T)

    def __lt__(self, other):
        return bool(say('sleep') and time.sleep(T))


def größe_测试_𐐀():
    say('sleep') and time.sleep(T)


def by_c_code():
    list(map(lambda x: say('sleep') and time.sleep(T), [1]))
    sorted([Decorated(), Decorated()])
    [nested(1) for _ in range(1)]


def several_lines():
    say(
        'sleep', 2
    ) and time.sleep(
        T
    )


def deep(n):
    return deep(n - 1) if n else say('sleep') and time.sleep(T)


def coroutine():
    async def inner():
        say('sleep') and time.sleep(T)

    async def outer():
        await inner()

    try:
        outer().send(None)
    except StopIteration:
        pass


made = {'say': say, 'time': time, 'T': T}
exec('def executed():\n    say("sleep") and time.sleep(T)\n', made)
exec(compile('\n' * 40000 + 'def far():\n' + '\n' * 300 + '    say("sleep") and time.sleep(T)\n', '/tmp/far away.py', 'exec'), made)
# Code whose memory is used again by other code.
again = ['def f%d():\n%s    say("sleep") and time.sleep(T / 4)\nf%d()' % (i, '\n' * i, i) for i in range(10, 14)]


def replaced():
    for i, text in enumerate(again):
        exec(compile(text, '/tmp/made%d.py' % i, 'exec'), dict(made))
        gc.collect()


waits = [plain, lambda: nested(5), locked, receives, takes, generates, Decorated().method, lambda: Decorated().value,
         größe_测试_𐐀, by_c_code, several_lines, lambda: deep(100), coroutine, made['executed'], made['far'], replaced]
threads = [threading.Thread(target=w) for w in waits]
for t in threads: t.start()
plain()
for t in threads: t.join()
with ThreadPoolExecutor(int(sys.argv[2])) as pool:
    list(pool.map(nested, [3] * int(sys.argv[2])))
