# SPDX-License-Identifier: MIT
# view_export.py TARRY RECORDING PATH: the timeline in a terminal; `e` writes all of it to PATH. What the
# screen got from then on is written to standard output. For full_disk.sh.
import fcntl, os, pty, select, struct, sys, termios, time

tarry, recording, path = sys.argv[1:]
pid, fd = pty.fork()
if not pid:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 240, 0, 0))
    os.environ["TERM"] = "xterm"
    os.execv(tarry, [tarry, "view", recording])
seen = b""


def until(*texts):
    end = time.time() + 60
    while not any(t in seen for t in texts) and time.time() < end and read():
        pass


def read():
    global seen
    if select.select([fd], [], [], 0.1)[0]:
        try:
            seen += os.read(fd, 65536)
        except OSError:
            return False
    return True


until(b"quit")
os.write(fd, b"e")
until(b".json")
seen = b""
os.write(fd, path.encode() + b"\r")
until(b"No space left", b"written", b"are free")
os.write(fd, b"q")
sys.stdout.buffer.write(seen)
sys.stdout.flush()
os.close(fd)
os.waitpid(pid, 0)
