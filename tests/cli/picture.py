"""
picture.py - draws what `bloomshm top` shows as a page: picture.py COMMAND SEGMENT SECONDS >PAGE

Licensed under the MIT licence; see LICENSE.
"""

import fcntl
import html
import os
import pty
import select
import struct
import sys
import termios
import time

import pyte

LINES, COLUMNS = 20, 100
COLOURS = {
    "default": "#d7dce4", "black": "#10141a", "green": "#6cc37f", "cyan": "#5fb9c9",
    "red": "#ff7b72", "brightblack": "#8b95a3",
}
PAGE = """<!DOCTYPE html><meta charset="utf-8"><style>
body {{ margin: 0; background: #10141a; width: max-content }}
pre {{ margin: 0; padding: 14px 18px; font: 15px/1.35 "DejaVu Sans Mono", monospace }}
</style><pre>{}</pre>
"""


def watch(command, segment, seconds):
    """The screen after so many seconds."""
    child, master = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm")
        os.environ.pop("NO_COLOR", None)
        os.execv(command, [command, "--path", segment, "top"])
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    screen = pyte.Screen(COLUMNS, LINES)
    stream = pyte.ByteStream(screen)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([master], [], [], 0.1)[0]:
            stream.feed(os.read(master, 65536))
    cells = [[screen.buffer[y][x] for x in range(COLUMNS)] for y in range(LINES)]
    os.write(master, b"q")
    os.waitpid(child, 0)
    return cells


def style(cell):
    # pyte takes bright black for bold black.
    grey = cell.fg == "black" and cell.bg == "default"
    front = "brightblack" if grey else cell.fg
    front, back = COLOURS[front], COLOURS[cell.bg] if cell.bg != "default" else "none"
    front, back = (COLOURS["black"], front) if cell.reverse else (front, back)
    return f"color:{front};background:{back};font-weight:{700 if cell.bold and not grey else 400}"


def line(cells):
    """The cells of a line, those of one style together."""
    parts = []
    for cell in cells:
        if parts and parts[-1][0] == style(cell):
            parts[-1][1] += cell.data
        else:
            parts.append([style(cell), cell.data])
    return "".join(f'<span style="{s}">{html.escape(text)}</span>' for s, text in parts)


print(PAGE.format("\n".join(map(line, watch(sys.argv[1], sys.argv[2], float(sys.argv[3]))))))
