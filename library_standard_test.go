//go:build linux

package thirdrail

const ownMachine = "what it looks at is its own"

// standardCases use the standard library in one thread.
var standardCases = []libraryCase{
	{Name: "hashlib and hmac", Program: `
import hashlib, hmac
data = bytes(range(256)) * 100
names = ["md5", "sha1", "sha256", "sha512", "sha3_256", "blake2b", "blake2s"]
return [[hashlib.new(n, data).hexdigest() for n in names], hmac.new(b"k", data, "sha256").hexdigest(), hashlib.scrypt(b"p", salt=b"s", n=1024, r=8, p=1).hex(),
        hashlib.pbkdf2_hmac("sha256", b"p", b"s", 1000).hex()]
`},
	{Name: "ssl contexts", Program: `
import ssl
client, server = ssl.create_default_context(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
one, two = ssl.MemoryBIO(), ssl.MemoryBIO()
talk = client.wrap_bio(one, two, server_hostname="example.org")
try:
    talk.do_handshake()
except ssl.SSLWantReadError:
    hello = two.pending > 100
return [client.verify_mode.name, client.check_hostname, server.verify_mode.name, len(client.get_ciphers()), hello]
`},
	{Name: "sqlite3", Program: `
import sqlite3
with sqlite3.connect("numbers.db") as db:
    mode = db.execute("pragma journal_mode = wal").fetchone()[0]
    db.execute("create table numbers (n integer primary key, text)")
    db.executemany("insert into numbers values (?, ?)", ((n, str(n)) for n in range(20000)))
db.close()
memory = sqlite3.connect(":memory:")
sqlite3.connect("numbers.db").backup(memory)
return [mode, *memory.execute("select count(*), sum(n), max(length(text)) from numbers").fetchone()]
`, Value: `["wal",20000,199990000,5]`},
	{Name: "time zones", Program: `
import datetime, time, zoneinfo
when = datetime.datetime(2024, 3, 31, 0, 59, 59, tzinfo=datetime.timezone.utc)
zones = ["Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe"]
later = when + datetime.timedelta(seconds=1)
return [[[t.astimezone(zoneinfo.ZoneInfo(z)).isoformat() for t in (when, later)] for z in zones], len(zoneinfo.available_timezones()) > 400]
`, Value: `[[["2024-03-31T01:59:59+01:00","2024-03-31T03:00:00+02:00"],["2024-03-30T20:59:59-04:00","2024-03-30T21:00:00-04:00"],["2024-03-31T06:44:59+05:45","2024-03-31T06:45:00+05:45"],["2024-03-31T11:59:59+11:00","2024-03-31T12:00:00+11:00"]],true]`},
	{Name: "local time is UTC", Program: `
import datetime, email.utils, logging, os, time
winter, summer = 1704067200, 1719792000
local = datetime.datetime.now().astimezone()
record = logging.Formatter("%(asctime)s").formatTime(logging.makeLogRecord({"created": summer, "msecs": 0}))
return [[time.localtime(t).tm_hour for t in (winter, summer)], time.tzname[0], time.timezone, local.utcoffset().total_seconds(), local.tzname(),
        str(datetime.datetime.fromtimestamp(summer)), time.mktime(time.gmtime(winter)) == winter, record, email.utils.localtime().strftime("%z")]
`, Value: `[[0,0],"UTC",0,0.0,"UTC","2024-07-01 00:00:00",true,"2024-07-01 00:00:00,000","+0000"]`},
	{Name: "decimal and fractions", Program: `
import decimal, fractions, math, statistics
decimal.getcontext().prec = 50
return [str(decimal.Decimal(2).sqrt()), str(fractions.Fraction("3.14159265").limit_denominator(1000)), math.comb(50, 25), statistics.quantiles([1, 5, 2, 8, 4], n=4)]
`},
	{Name: "tempfile", Program: `
import os, tempfile
folder = tempfile.mkdtemp()
with tempfile.TemporaryDirectory() as other, tempfile.NamedTemporaryFile("w+") as named, tempfile.TemporaryFile() as nameless, tempfile.SpooledTemporaryFile(max_size=10) as spooled:
    for file in nameless, spooled:
        file.write(b"0123456789abcdef")
        file.seek(0)
    named.write("text")
    named.flush()
    read = [nameless.read().decode(), spooled.read().decode(), open(named.name).read()]
    home = os.path.realpath(os.environ["HOME"]) + "/"
    at_home = [os.path.realpath(p).startswith(home) for p in (folder, other, named.name, tempfile.gettempdir())]
return [read, at_home, os.path.exists(other), os.path.isdir(folder)]
`, Value: `[["0123456789abcdef","0123456789abcdef","text"],[true,true,true,true],false,true]`},
	{Name: "shutil, pathlib and glob", Program: `
import glob, os, pathlib, shutil
os.makedirs("a/b")
pathlib.Path("a/b/c.txt").write_text("größe", encoding="utf-8")
shutil.copytree("a", "z")
shutil.move("z", "y")
os.symlink("a/b/c.txt", "link")
os.link("a/b/c.txt", "hard")
os.chmod("hard", 0o640)
os.utime("hard", (1, 2))
stat = os.stat("a/b/c.txt")
found = sorted(glob.glob("**/*.txt", recursive=True))
shutil.rmtree("y")
os.replace("hard", "moved")
return [found, os.path.exists("y"), open("link").read(), oct(stat.st_mode), stat.st_nlink, stat.st_mtime, stat.st_uid == os.getuid(), shutil.disk_usage(".").free > 1 << 20, sorted(p.name for p in pathlib.Path("a").rglob("*"))]
`, Value: `[["a/b/c.txt","y/b/c.txt"],false,"größe","0o100640",2,2.0,true,true,["b","c.txt"]]`},
	{Name: "archives", Program: `
import bz2, gzip, io, lzma, os, shutil, tarfile, zipfile, zlib
data = b"some text, " * 5000
with zipfile.ZipFile("a.zip", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("in/file", data)
with tarfile.open("a.tar.xz", "w:xz") as t:
    t.add("a.zip", "inner.zip")
with tarfile.open("a.tar.xz") as t:
    inner = t.extractfile("inner.zip").read()
os.mkdir("tree")
open("tree/x", "wb").write(data)
shutil.make_archive("packed", "gztar", "tree")
shutil.unpack_archive("packed.tar.gz", "unpacked")
return [zipfile.ZipFile(io.BytesIO(inner)).read("in/file") == data, open("unpacked/x", "rb").read() == data,
        [module.decompress(module.compress(data)) == data for module in (bz2, gzip, lzma, zlib)]]
`, Value: `[true,true,[true,true,true,true]]`},
	{Name: "csv, json, xml and configparser", Program: `
import configparser, csv, io, json, xml.etree.ElementTree as xml
with open("t.csv", "w", newline="") as f:
    csv.writer(f).writerows([["name", "n"], ["a, \"b\"", 1], ["line\nbreak", 2]])
rows = list(csv.DictReader(open("t.csv", newline="")))
tree = xml.fromstring("<a><b c='1'>x</b><b c='2'/></a>")
config = configparser.ConfigParser()
config.read_string("[s]\nx = 1\ny = %(x)s0\n")
return [rows, [b.get("c") for b in tree.findall("b")], config.getint("s", "y"), json.loads(json.dumps({"é": [1.5, None, True]}))]
`, Value: `[[{"name":"a, \"b\"","n":"1"},{"name":"line\nbreak","n":"2"}],["1","2"],10,{"é":[1.5,null,true]}]`},
	{Name: "mmap", Program: `
import mmap
with open("m", "w+b") as f:
    f.truncate(8192)
    with mmap.mmap(f.fileno(), 0) as m:
        m[4096:4099] = b"abc"
        m.flush()
    found = open("m", "rb").read().find(b"abc")
memory = mmap.mmap(-1, 1 << 20)
memory.write(b"x" * 100)
return [found, memory[:200].count(b"x"), len(memory)]
`, Value: `[4096,100,1048576]`},
	{Name: "ctypes", Program: `
import ctypes, ctypes.util
libc = ctypes.CDLL(None)
numbers = (ctypes.c_int * 5)(4, 3, 5, 2, 1)
compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
libc.qsort(numbers, 5, ctypes.sizeof(ctypes.c_int), compare(lambda a, b: a[0] - b[0]))
text = ctypes.create_string_buffer(20)
libc.snprintf(text, 20, b"%d-%s", 7, b"x")
libm = ctypes.CDLL("libm.so.6")
libm.cos.restype, libm.cos.argtypes = ctypes.c_double, [ctypes.c_double]
return [list(numbers), text.value.decode(), libm.cos(0.0), libc.strlen(b"abc")]
`, Value: `[[1,2,3,4,5],"7-x",1.0,3]`},
	{Name: "who and where", Program: `
import getpass, grp, os, pathlib, pwd
me = pwd.getpwuid(os.getuid())
return [getpass.getuser(), me.pw_name, grp.getgrgid(os.getgid()).gr_name, pwd.getpwnam(me.pw_name).pw_uid == os.getuid(), len(pwd.getpwall()),
        os.path.samefile(os.path.expanduser("~"), "."), os.path.samefile(pathlib.Path.home(), "."), os.path.samefile(me.pw_dir, "."), os.getcwd() == os.environ["HOME"]]
`, Value: `["sandbox","sandbox","sandbox",true,1,true,true,true,true]`, Inside: ownMachine},
	{Name: "machine", Program: `
import os, multiprocessing, platform, sysconfig, resource
return [os.cpu_count(), multiprocessing.cpu_count(), len(os.sched_getaffinity(0)), platform.system(), platform.machine(), platform.python_version(), platform.platform(),
        platform.python_implementation(), sysconfig.get_platform(), sysconfig.get_config_var("SOABI"), sysconfig.get_paths()["stdlib"], resource.getpagesize()]
`},
	{Name: "locale", Program: `
import locale, sys
name = locale.setlocale(locale.LC_ALL, "")
return [name, locale.getpreferredencoding(False).lower(), sys.getfilesystemencoding(), locale.format_string("%.2f", 1234.5, grouping=True), locale.strxfrm("a") < locale.strxfrm("b"), "ÄÖ".lower()]
`, Value: `["C.UTF-8","utf-8","utf-8","1234.50",true,"äö"]`},
	{Name: "uuid and secrets", Program: `
import secrets, uuid
return [uuid.uuid4().version, uuid.uuid1().version, str(uuid.uuid5(uuid.NAMESPACE_DNS, "python.org")), len(secrets.token_bytes(16)), secrets.compare_digest("a", "a"), len({secrets.randbelow(10 ** 12) for _ in range(50)}) > 1]
`, Value: `[4,1,"886313e1-3b8a-5372-9b90-0c9aee199e5d",16,true,true]`},
	{Name: "logging and warnings", Program: `
import logging, logging.handlers, os, warnings
handler = logging.handlers.RotatingFileHandler("log.txt", maxBytes=500, backupCount=1)
logger = logging.getLogger("mine")
logger.setLevel("DEBUG")
logger.addHandler(handler)
for n in range(100):
    logger.debug("line %d", n)
try:
    1 / 0
except ZeroDivisionError:
    logger.exception("failed")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warnings.warn("careful", DeprecationWarning)
lines = open("log.txt").read().splitlines()
return [lines[-1], sorted(n for n in os.listdir() if n.startswith("log")), [[str(w.message), w.category.__name__, w.filename] for w in caught]]
`, Value: `["ZeroDivisionError: division by zero",["log.txt","log.txt.1"],[["careful","DeprecationWarning","program.py"]]]`},
	{Name: "resources and modules", Program: `
import importlib.metadata, importlib.resources, importlib.util, pkgutil, pydoc, inspect, sys
names = {m.name for m in pkgutil.iter_modules()}
text = importlib.resources.files("json").joinpath("decoder.py").read_text(encoding="utf-8")
open("mine.py", "w").write("def f():\n    return 41\n")
sys.path.insert(0, ".")
import mine
return [text == inspect.getsource(sys.modules["json.decoder"]) if "json.decoder" in sys.modules else True, pkgutil.get_data("json", "decoder.py").decode() == text,
        {"json", "asyncio"} <= names, importlib.util.find_spec("nope") is None, "JSON" in pydoc.render_doc("json"), mine.f(), len(list(importlib.metadata.distributions())) > 0]
`, Value: `[true,true,true,true,true,41,true]`},
	{Name: "no input", Program: `
import getpass, shutil, sys, warnings
warnings.simplefilter("ignore")
ends = []
for ask in input, getpass.getpass, lambda: sys.stdin.read() or 1 / 0:
    try:
        ask()
    except (EOFError, ZeroDivisionError) as error:
        ends.append(type(error).__name__)
return [ends, list(shutil.get_terminal_size()), sys.stdin.isatty()]
`, Value: `[["EOFError","EOFError","ZeroDivisionError"],[80,24],false]`},
	{Name: "nothing of the host", Program: `
import gc, os, sys
secrets = [o for o in gc.get_objects() if isinstance(o, dict) and any(isinstance(k, str) and "THIRDRAIL" in k for k in list(o))]
open_now = []
for number in range(256):
    try:
        os.fstat(number)
        open_now.append(number)
    except OSError:
        pass
return [open_now, len(secrets), os.path.exists("/proc/self"), os.path.exists("/home"), len(object.__subclasses__()) > 100]
`, Value: `[[0,1,2,3],0,false,false,true]`, Inside: ownMachine},
}
