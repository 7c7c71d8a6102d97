//go:build linux

package thirdrail

// networkAttacks reach sockets of the host, each by another family or way, and
// open the ones that need no partner.
var networkAttacks = []attack{
	{Name: "TCP", Program: `
with socket.create_connection(("127.0.0.1", aims["tcp"]), 3) as s:
    seen(s.recv(100))
`},
	{Name: "TCP over IPv6", Program: `
with socket.create_connection(("::1", aims["tcp6"]), 3) as s:
    seen(s.recv(100))
`, Off: "it depends on the machine: it may have no IPv6"},
	{Name: "TCP without waiting", Program: `
s = socket.socket()
s.setblocking(False)
s.connect_ex(("127.0.0.1", aims["tcp"]))
s.setblocking(True)
seen(s.recv(100))
`},
	{Name: "TCP by asyncio", Program: `
import asyncio
reader, writer = await asyncio.open_connection("127.0.0.1", aims["tcp"])
seen(await reader.read(100))
writer.close()
`},
	{Name: "TCP by a first packet with data", Program: `
s = socket.socket()
FASTOPEN = 0x20000000
s.sendto(b"x", FASTOPEN, ("127.0.0.1", aims["tcp"]))
seen(s.recv(100))
`},
	{Name: "multipath TCP", Program: `
MPTCP = 262
s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, MPTCP)
s.connect(("127.0.0.1", aims["tcp"]))
seen(s.recv(100))
`, Off: notInKernel},
	{Name: "TCP from a port of its own", Program: `
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.connect(("127.0.0.1", aims["tcp"]))
seen(s.recv(100))
`},
	{Name: "TCP listener", Program: `
s = socket.create_server(("127.0.0.1", 0))
through(s.getsockname())
`},
	{Name: "TCP listener without bind", Program: `
s = socket.socket()
s.listen()
through(s.getsockname())
`},
	{Name: "UDP", Program: `
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(3)
s.sendto(b"hello", ("127.0.0.1", aims["udp"]))
seen(s.recv(100))
`},
	{Name: "UDP over IPv6", Program: `
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.settimeout(3)
s.sendto(b"hello", ("::1", aims["udp6"]))
seen(s.recv(100))
`, Off: "it depends on the machine: it may have no IPv6"},
	{Name: "UDP, connected", Program: `
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(3)
s.connect(("127.0.0.1", aims["udp"]))
s.send(b"hello")
seen(s.recv(100))
`},
	{Name: "names by DNS", Program: `
through(socket.getaddrinfo("localhost", 80))
`},
	{Name: "names of interfaces", Program: `
through(socket.if_nameindex())
`},
	{Name: "Unix socket by path", Program: `
s = socket.socket(socket.AF_UNIX)
s.connect(aims["unix"])
seen(s.recv(100))
`},
	{Name: "Unix socket by a link", Program: `
os.symlink(aims["unix"], "socket")
s = socket.socket(socket.AF_UNIX)
s.connect("socket")
seen(s.recv(100))
`},
	{Name: "Unix socket, a descriptor passed", Program: `
s = socket.socket(socket.AF_UNIX)
s.connect(aims["unix"])
text, passed, _, _ = s.recvmsg(100, 100)
fd, = struct.unpack("i", passed[0][2][:4])
seen(os.pread(fd, 100, 0))
`},
	{Name: "Unix datagram by path", Program: `
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.sendto(b"hello", aims["unixDatagram"])
through("sent")
`},
	{Name: "abstract socket", Program: `
s = socket.socket(socket.AF_UNIX)
s.connect("\0" + aims["abstract"])
seen(s.recv(100))
`},
	{Name: "abstract datagram", Program: `
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.sendto(b"hello", "\0" + aims["abstractDatagram"])
through("sent")
`},
	{Name: "abstract datagram, answered", Program: `
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("\0" + token)
s.settimeout(3)
s.sendto(b"hello", "\0" + aims["abstractDatagram"])
seen(s.recv(100))
`},
	{Name: "abstract listener", Program: `
s = socket.socket(socket.AF_UNIX)
s.bind("\0" + token)
s.listen()
through(s.getsockname())
`},
	{Name: "datagram pair, sent elsewhere", Program: `
one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
one.sendto(b"hello", "\0" + aims["abstractDatagram"])
through("sent")
`},
	{Name: "datagram pair, connected elsewhere", Program: `
one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
one.connect("\0" + aims["abstractDatagram"])
one.send(b"hello")
through("sent")
`},
	{Name: "datagram pair by system call", Program: `
pair = (ctypes.c_int * 2)()
NUMBERS["socketpair"] = 53, 199
call("socketpair", socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC, 0, ctypes.byref(pair))
socket.socket(fileno=pair[0]).sendto(b"hello", aims["unixDatagram"])
through("sent")
`},
	{Name: "the wire, sent elsewhere", Program: `
socket.socket(fileno=os.dup(3)).sendto(b"hello", "\0" + aims["abstractDatagram"])
through("sent")
`, Off: "a stream has one other end"},
	{Name: "the wire, listening", Program: `
s = socket.socket(fileno=os.dup(3))
s.bind("\0" + token)
through("bound")
`},
	{Name: "netlink", Program: `
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
GETLINK, DUMP = 18, 0x301
s.send(struct.pack("IHHIIBBHiII", 32, GETLINK, DUMP, 1, 0, 0, 0, 0, 0, 0, 0))
through(s.recv(4096))
`},
	{Name: "netlink events of the kernel", Program: `
UEVENT = 15
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, UEVENT)
s.bind((0, 1))
through("listening")
`},
	{Name: "packets", Program: `
through(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
`},
	{Name: "raw IP", Program: `
through(socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
`},
	{Name: "ping", Program: `
through(socket.socket(socket.AF_INET6, socket.SOCK_RAW, 58))
`, Off: "it depends on the machine: it may have no IPv6"},
	{Name: "vsock", Program: `
through(socket.socket(40, socket.SOCK_STREAM))
`, Off: "it depends on the machine"},
	{Name: "kernel cryptography", Program: `
through(socket.socket(38, socket.SOCK_SEQPACKET))
`, Off: notInKernel},
	{Name: "Bluetooth", Program: `
through(socket.socket(31, socket.SOCK_SEQPACKET, 0))
`, Off: notInKernel},
	{Name: "XDP", Program: `
through(socket.socket(44, socket.SOCK_RAW, 0))
`, Off: notInKernel},
	{Name: "every other family", Program: `
for family in range(2, 46):
    for kind in (1, 2, 3, 5):
        try:
            socket.socket(family, kind).close()
        except OSError:
            continue
        through((family, kind))
`},
	{Name: "pairs of every other family", Program: `
for family in range(1, 46):
    for kind in (1, 2, 3, 5):
        if (family, kind) == (socket.AF_UNIX, socket.SOCK_STREAM):
            continue
        try:
            socket.socketpair(family, kind)
        except OSError:
            continue
        through((family, kind))
`},
}
