# What an interpreter gets with -c: short, since it is compiled at every start. It reads the
# child's compiled modules from the descriptor named first and starts the first of them, start.py.
# argv is: CODE_FD STATUS_FD KEEPER.
import sys, posix, marshal
fd = int(sys.argv[1])
modules = marshal.loads(posix.pread(fd, posix.fstat(fd).st_size, 0))
scope = {}
exec(modules[0][2], scope)
scope["start"](modules)
