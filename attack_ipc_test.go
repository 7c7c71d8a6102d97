//go:build linux

package thirdrail

// ipcAttacks reach, make and leave behind what processes share without a path.
var ipcAttacks = []attack{
	{Name: "shared memory of the host", Program: `
libc.shmat.restype = ctypes.c_void_p
address = libc.shmat(aims["memory"], None, 0o10000)
if address != ctypes.c_void_p(-1).value:
    seen(ctypes.string_at(address, 64))
`},
	{Name: "shared memory listed", Program: `
SHM_STAT = 13
for index in range(10000):
    try:
        through(call("shmctl", index, SHM_STAT, bytes(256)))
        break
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
`},
	{Name: "shared memory made", Program: `
number = call("shmget", 0, 4096, 0o1600)
through(number)
call("shmctl", number, 0, None)
`},
	{Name: "semaphore of the host", Program: `
GETVAL = 12
through(call("semctl", aims["semaphores"], 0, GETVAL, 0))
`},
	{Name: "semaphore made", Program: `
number = call("semget", 0, 1, 0o1600)
through(number)
call("semctl", number, 0, 0, 0)
`},
	{Name: "message of the host", Program: `
COPY, NOWAIT = 0o40000, 0o4000
buffer = ctypes.create_string_buffer(100)
call("msgrcv", aims["messages"], buffer, 90, 0, COPY | NOWAIT)
seen(buffer.raw)
`},
	{Name: "messages made", Program: `
number = call("msgget", 0, 0o1600)
through(number)
call("msgctl", number, 0, None)
`},
	{Name: "queue of the host", Program: `
fd = call("mq_open", aims["queue"].encode(), os.O_RDONLY, 0, None)
through(fd)
`},
	{Name: "queue of the host, received", Program: `
fd = call("mq_open", aims["queue"].encode(), os.O_RDWR | os.O_NONBLOCK, 0, None)
buffer = ctypes.create_string_buffer(64)
call("mq_timedreceive", fd, buffer, 64, None, None)
seen(buffer.raw)
`},
	{Name: "queue made", Program: `
fd = call("mq_open", token.encode(), os.O_CREAT | os.O_RDWR, 0o600, None)
through(fd)
call("mq_unlink", token.encode())
`},
	{Name: "shared memory by POSIX", Program: `
from multiprocessing import shared_memory
memory = shared_memory.SharedMemory(name=token, create=True, size=100)
through(memory.name)
memory.unlink()
`},
	{Name: "semaphore by POSIX", Program: `
libc.sem_open.restype = ctypes.c_void_p
libc.sem_open(("/" + token).encode(), os.O_CREAT, ctypes.c_uint(0o666), ctypes.c_uint(1))
`, Check: leftSemaphore, Then: `
libc.sem_open.restype = ctypes.c_void_p
if libc.sem_open(("/" + token).encode(), 0):
    through("that of the run before")
libc.sem_unlink(("/" + token).encode())
`},
	{Name: "semaphore of the host by POSIX", Program: `
libc.sem_open.restype = ctypes.c_void_p
if libc.sem_open(("/" + aims["shared"]).encode(), 0):
    through("opened")
`},
	{Name: "shared memory of the host by POSIX", Program: `
seen(content("/dev/shm/" + aims["shared"]))
`},
	{Name: "shared memory for the next run by POSIX", Program: `
import _posixshmem
os.write(_posixshmem.shm_open("/" + token, os.O_CREAT | os.O_RDWR, 0o666), b"x")
`, Check: leftFile, Then: `
import _posixshmem
number = _posixshmem.shm_open("/" + token, os.O_RDWR, 0)
_posixshmem.shm_unlink("/" + token)
through(number)
`},
	{Name: "key of the host", Program: `
USER_KEYRING, SEARCH, READ = -4, 10, 11
key = call("keyctl", SEARCH, USER_KEYRING, b"user", aims["key"].encode(), 0)
buffer = ctypes.create_string_buffer(100)
call("keyctl", READ, key, buffer, 100, 0)
seen(buffer.raw)
`},
	{Name: "key made", Program: `
PROCESS_KEYRING = -2
through(call("add_key", b"user", token.encode(), b"x", 1, PROCESS_KEYRING))
`},
	{Name: "keyrings described", Program: `
SESSION_KEYRING, DESCRIBE = -3, 6
buffer = ctypes.create_string_buffer(100)
call("keyctl", DESCRIBE, SESSION_KEYRING, buffer, 100, 0)
through(buffer.value)
`},
	{Name: "session of keys joined", Program: `
JOIN = 1
through(call("keyctl", JOIN, None, 0, 0, 0))
`},
}
