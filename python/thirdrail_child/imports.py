"""Tells whether a program may need asyncio, by its text and by what it imports."""

from __future__ import annotations

import sys as _sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import FrozenSet, List

_CodeType = type((lambda: 0).__code__)

# Modules of the standard library that import asyncio themselves.
STARTS_ASYNCIO = frozenset(["doctest", "idlelib", "test", "unittest"])

# sys.stdlib_module_names came with Python 3.10.
STANDARD_LIBRARY: FrozenSet[str] = getattr(_sys, "stdlib_module_names", frozenset())
if not STANDARD_LIBRARY:
    STANDARD_LIBRARY = frozenset(
        (
            "__future__ abc aifc antigravity argparse array ast asynchat asyncio asyncore atexit audioop "
            "base64 bdb binascii binhex bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code "
            "codecs codeop collections colorsys compileall concurrent configparser contextlib contextvars "
            "copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal difflib dis distutils "
            "doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch "
            "formatter fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp "
            "gzip hashlib heapq hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress "
            "itertools json keyword lib2to3 linecache locale logging lzma mailbox mailcap marshal math "
            "mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath "
            "nturl2path numbers opcode operator optparse os ossaudiodev parser pathlib pdb pickle "
            "pickletools pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty "
            "pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re readline reprlib resource "
            "rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site smtpd smtplib "
            "sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics "
            "string stringprep struct subprocess sunau symbol symtable sys sysconfig syslog tabnanny tarfile "
            "telnetlib tempfile termios test textwrap this threading time timeit tkinter token tokenize "
            "trace traceback tracemalloc tty turtle turtledemo types typing unicodedata unittest urllib uu "
            "uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp "
            "zipfile zipimport zlib zoneinfo"
        ).split()
    )


def may_need_asyncio(text: str, codes: List[CodeType]) -> bool:
    """Report whether the text names asyncio, or imports what may use it.

    What may use it is all that is not of the standard library. A module whose
    name is only known when the program runs counts too.
    """
    if "asyncio" in text:
        return True
    if "import" not in text:
        return False
    if "import_module" in text or "__import__" in text:
        return True
    opcode = _import_opcode()
    pending = list(codes)
    while pending:
        code = pending.pop()
        pending.extend(item for item in code.co_consts if type(item) is _CodeType)
        if _imports_other(code, opcode):
            return True
    return False


def _import_opcode() -> int:
    """Return this Python's opcode for an import: the only one with argument 7 here."""
    code: CodeType = compile("del a, b, c, d, e, f, g\nimport h", "", "exec", dont_inherit=True)
    return code.co_code[2 * code.co_code[1::2].index(7)]


def _imports_other(code: CodeType, opcode: int) -> bool:
    if len(code.co_names) > 256:
        return True  # the number of a name may take more than one byte: not worth following
    text = code.co_code
    operations = text[::2]
    position = operations.find(opcode)
    while position >= 0:
        name = code.co_names[text[2 * position + 1]].partition(".")[0]
        if name in STARTS_ASYNCIO or (name and name not in STANDARD_LIBRARY):
            return True
        position = operations.find(opcode, position + 1)
    return False
