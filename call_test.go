package thirdrail

import (
	"context"
	"strings"
	"testing"

	"github.com/thirdrail-dev/thirdrail/internal/pythons"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// eachPython runs a test on a runtime of its own for each Python.
func eachPython(t *testing.T, config Config, test func(t *testing.T, rt *Runtime)) {
	t.Helper()
	for _, python := range pythons.All(t) {
		t.Run(pythonName(python), func(t *testing.T) {
			t.Parallel()
			config := config
			config.Python = python
			test(t, newRuntime(t, config))
		})
	}
}

// made checks how many calls reached a function, and that no frame was dropped.
func made(calls int64) func(*testing.T, *Result) {
	return func(t *testing.T, result *Result) {
		t.Helper()
		if result.Stats.Calls != calls {
			t.Errorf("%d calls reached a function, want %d", result.Stats.Calls, calls)
		}
		if result.Stats.DroppedFrames != 0 {
			t.Errorf("%d frames were dropped", result.Stats.DroppedFrames)
		}
	}
}

// caught is a program's helper that tells what awaiting something raised.
const caught = `
async def caught(call):
    try:
        return ["value", await call]
    except BaseException as error:
        return [type(error).__name__, str(error)]
`

var callCases = []programCase{
	{
		Name: "a signal handler that raises in the middle of a frame",
		Program: `
import signal
rings = 0
def ring(number, frame):
    while frame is not None:
        if frame.f_code.co_name == "_send_all":
            raise TimeoutError
        frame = frame.f_back
signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
for i in range(3000):
    try:
        await tools.echo("x" * 400000)
    except TimeoutError:
        rings += 1
        if rings > 20:
            break
signal.setitimer(signal.ITIMER_REAL, 0)
return [rings > 20, await tools.echo("after")]`,
		Value: `[true,"after"]`,
	},
	{Name: "value", Program: "r = await tools.add({\"a\": 1})\nreturn r", Value: "2", Logs: []string{}, Check: made(1)},
	{Name: "repeated", Program: "return [await tools.add(a=i) for i in range(5)]", Value: "[1,2,3,4,5]", Check: made(5)},
	{
		Name: "several namespaces",
		Program: `
a = await tools.add(a=1)
try:
    await db.page({"n": 1})
except DBError as error:
    b = error.operation
return [a, b, await tools.echo("c")]`,
		Value: `[2,"page","c"]`, Check: made(3),
	},
	{Name: "null from an absent result", Program: "return [await tools.null(), (await tools.null(1)) is None]", Value: "[null,true]"},
	{Name: "no argument", Program: "return await tools.echo()", Value: "{}"},
	{Name: "keywords", Program: "return await tools.echo(a=1, b=[None], c={'d': 'e'})", Value: `{"a":1,"b":[null],"c":{"d":"e"}}`},
	{
		Name:    "one positional value of any type",
		Program: "return [await tools.echo(v) for v in (5, None, [], 's', True, 0.5, {}, {'a': []}, -0.0, '', 2**70)]",
		Value:   `[5,null,[],"s",true,0.5,{},{"a":[]},-0.0,"",1180591620717411303424]`, Check: made(11),
	},
	{
		Name:    "keywords of any name",
		Program: "return await tools.echo(**{n: i for i, n in enumerate(['name', 'self', 'tool', 'args', 'kwargs', 'timeout', 'id', 'type', 'from', 'class', 'calls', 'global_name', '', 'a-b', 'é'])})",
		Value:   `{"name":0,"self":1,"tool":2,"args":3,"kwargs":4,"timeout":5,"id":6,"type":7,"from":8,"class":9,"calls":10,"global_name":11,"":12,"a-b":13,"é":14}`,
	},
	{
		Name: "wrong forms",
		Program: caught + `
return [await caught(tools.echo({"a": 1}, b=2)), await caught(tools.echo(1, 2)), await caught(tools["my-tool"](1, 2)), await tools.echo(3)]`,
		Value: `[["TypeError","tools.echo() takes either one positional value or keyword arguments: write tools.echo({\"name\": value, …}) or tools.echo(name=value, …)"],` +
			`["TypeError","tools.echo() takes either one positional value or keyword arguments: write tools.echo({\"name\": value, …}) or tools.echo(name=value, …)"],` +
			`["TypeError","tools['my-tool']() takes either one positional value or keyword arguments: write tools['my-tool']({\"name\": value, …}) or tools['my-tool'](name=value, …)"],3]`,
		Check: made(1),
	},
	{
		Name: "odd names",
		Program: `return [await tools["my-tool"]({}), await tools["__proto__"]({}), await tools["constructor"](), await tools.constructor(), await tools.__proto__(),
    await tools.__class__({}), await tools["__class__"](), await tools[""]()]`,
		Value: `["my-tool","__proto__","constructor","constructor","__proto__","__class__","__class__",""]`, Check: made(8),
	},
	{
		Name: "absent names",
		Program: `
found = []
for get in (lambda: tools.absent, lambda: tools["absent"], lambda: tools[0], lambda: tools[None], lambda: tools[["echo"]], lambda: db.echo, lambda: tools.toString, lambda: tools["hasOwnProperty"]):
    try:
        get()
    except (AttributeError, KeyError) as error:
        found.append([type(error).__name__, error.args[0].split(";")[0]])
return [found, getattr(tools, "absent", 1), hasattr(tools, "echo"), "echo" in str(tools), "echo" in dir(tools)]`,
		Value: `[[["AttributeError","tools has no function 'absent'"],["KeyError","tools has no function 'absent'"],["KeyError","tools has no function 0"],` +
			`["KeyError","tools has no function None"],["KeyError","tools has no function ['echo']"],["AttributeError","db has no function 'echo'"],` +
			`["AttributeError","tools has no function 'toString'"],["KeyError","tools has no function 'hasOwnProperty'"]],1,true,true,true]`,
		Check: made(0),
	},
	{
		Name: "an absent name ends the program", Program: "await tools.eco(1)", Kind: Exception,
		Message: []string{"AttributeError", "tools has no function 'eco'", "echo", "line 1"}, Check: made(0),
	},
	{
		Name: "an empty namespace", Program: "try:\n    none.x\nexcept AttributeError as e:\n    return [str(e), str(type(none).__name__)]",
		Namespaces: []Namespace{{Global: "none"}}, Value: `["none has no function 'x'; it has: nothing","none"]`,
	},
	{
		Name:    "a function is a value",
		Program: "import inspect\nf = tools.echo\ng = getattr(tools, 'add')\nreturn [await f(1), await f(2), await g(a=3), f.__name__, inspect.iscoroutinefunction(f), f is tools.echo, tools['echo'] is f]",
		Value:   `[1,2,4,"echo",true,true,true]`,
	},
	{Name: "a call in a nested function", Program: "async def f(x):\n    return await tools.echo(x)\nreturn [await f(i) for i in range(3)]", Value: "[0,1,2]"},
	{
		Name: "a call in an async generator and context manager",
		Program: `
class Manager:
    async def __aenter__(self):
        return await tools.echo("in")
    async def __aexit__(self, *rest):
        self.end = await tools.echo("out")
async def numbers():
    for i in range(3):
        yield await tools.echo(i)
m = Manager()
async with m as entered:
    got = [n async for n in numbers()]
return [entered, got, m.end]`,
		Value: `["in",[0,1,2],"out"]`,
	},

	// Rejections.
	{
		Name: "rejected without a class",
		Program: `
try:
    await tools.fail({})
except RuntimeError as e:
    return [type(e) is RuntimeError, str(e), list(e.args), e.__cause__, e.__context__, e.__suppress_context__]`,
		Value: `[true,"nope",["nope"],null,null,true]`, Check: made(1),
	},
	{
		Name: "rejected with a class",
		Program: `
try:
    await db.page({})
except DBError as e:
    return [type(e).__name__, type(e) is DBError, isinstance(e, Exception), e.operation, str(e), list(e.args), e.__cause__, e.__context__, type(e).__module__]`,
		Value: `["DBError",true,true,"page","nope",["nope"],null,null,"__main__"]`,
	},
	{Name: "the class is there before anything is raised", Program: "return [issubclass(DBError, Exception), DBError('x').operation, str(DBError('x', 1))]", Value: `[true,null,"('x', 1)"]`},
	{
		Name: "the class can be raised, subclassed and pickled",
		Program: `
import pickle
class Own(DBError):
    pass
try:
    raise Own("mine")
except DBError as e:
    copied = pickle.loads(pickle.dumps(e))
    return [type(copied).__name__, str(copied), copied.operation]`,
		Value: `["Own","mine",null]`,
	},
	{
		Name:    "an uncaught rejection ends the program",
		Program: "x = 1\nawait db.page({})", Kind: Exception, Message: []string{"DBError: nope", "line 2", "await db.page({})"}, NotMessage: []string{"bindings", "NotLossless", "raise failure"},
	},
	{
		Name: "finally runs, and the exception goes on",
		Program: `
seen = []
async def f():
    try:
        await tools.fail()
    finally:
        seen.append(await tools.echo("finally"))
try:
    await f()
except RuntimeError as e:
    seen.append(str(e))
return seen`,
		Value: `["finally","nope"]`,
	},
	{
		Name: "a rejection while an exception is handled keeps it as context",
		Program: `
try:
    1 / 0
except ZeroDivisionError as first:
    try:
        await tools.fail()
    except RuntimeError as e:
        return [e.__context__ is first, e.__cause__]`,
		Value: `[true,null]`,
	},
	{
		Name: "rebound builtins don't change what a rejection is",
		Program: `
import builtins
Real, Runtime = Exception, RuntimeError
builtins.Exception = builtins.RuntimeError = builtins.BaseException = int
setattr(DBError, "__init__", lambda self, *args: None)
found = []
try:
    await db.page()
except DBError as e:
    found.append([type(e) is DBError, e.operation, str(e)])
try:
    await tools.fail()
except Runtime as e:
    found.append(str(e))
return found`,
		Value: `[[true,"page","nope"],"nope"]`,
	},

	// Arguments that can't cross.
	{
		Name: "bad arguments",
		Program: caught + `
class D(dict): pass
class S(str): pass
cycle = []
cycle.append(cycle)
bad = [float("nan"), float("inf"), (1, 2), {1, 2}, {1: "a"}, {None: 1}, D(a=1), S("x"), b"x", cycle, object(), {"a": [1, {"b": (1,)}]}, {"\ud83d\ude00": 1, "\U0001f600": 2}, tools.null]
out = []
for value in bad:
    for call in (tools.echo, db.page):
        kind, text = await caught(call(value))
        out.append([kind, "lossless JSON" in text])
return [out == [["RuntimeError", True], ["DBError", True]] * len(bad), [o for o in out if not o[1]], await tools.echo("on")]`,
		Value: `[true,[],"on"]`, Check: made(1),
	},
	{
		Name: "a bad argument's error has the member and no context", Program: `
try:
    await db.page((1,))
except DBError as e:
    return [e.operation, "db.page argument" in str(e), "tuple" in str(e), e.__cause__, e.__context__]`,
		Value: `["page",true,true,null,null]`, Check: made(0),
	},
	{
		Name: "bad arguments under double", Numbers: lossless.Double, Program: caught + `
out = [(await caught(tools.echo(v)))[0] for v in (-0.0, 2**53 + 1, {"a": [10**400]})]
return [out, await tools.echo([2**60, 5.0])]`,
		Value: `[["RuntimeError","RuntimeError","RuntimeError"],[1152921504606846976,5]]`, Check: made(1),
	},

	// When a call is sent.
	{
		Name: "arguments are fixed when the call starts", Program: `
import asyncio
d = {"a": [1]}
call = tools.echo(d)
d["a"].append(2)
task = asyncio.ensure_future(call)
await asyncio.sleep(0)
d["a"].append(3)
return await task`,
		Value: `{"a":[1,2]}`,
	},
	{Name: "a call that was made is not made again", Program: "c = tools.echo(1)\nawait c\ntry:\n    await c\nexcept RuntimeError as e:\n    return str(e)", Value: `"cannot reuse already awaited coroutine"`, Check: made(1)},

	// asyncio.
	{Name: "gather keeps the order of its arguments", Program: "import asyncio\nreturn await asyncio.gather(tools.slow(ms=60), tools.echo(1), tools.slow(ms=20), tools.echo(2))", Value: `["slow",1,"slow",2]`, Check: made(4)},
	{Name: "tasks", Program: "import asyncio\nts = [asyncio.create_task(tools.echo(i)) for i in range(10)]\nreturn [await t for t in reversed(ts)]", Value: "[9,8,7,6,5,4,3,2,1,0]"},
	{
		Name: "gather with exceptions", Program: `
import asyncio
got = await asyncio.gather(tools.echo(1), tools.fail(), db.page(), tools.echo((1,)), tools.echo(2), return_exceptions=True)
return [g if type(g) is int else type(g).__name__ for g in got]`,
		Value: `[1,"RuntimeError","DBError","RuntimeError",2]`, Logs: []string{},
	},
	{
		Name: "a sibling fails", Program: `
import asyncio
try:
    await asyncio.gather(tools.slow(ms=30), tools.fail())
except RuntimeError as e:
    first = str(e)
return [first, await tools.echo("next"), await tools.slow(ms=60), await tools.echo("last")]`,
		Value: `["nope","next","slow","last"]`, Logs: []string{}, Check: made(5),
	},
	{
		Name: "a task group", Since: 11, Program: `
import asyncio
async with asyncio.TaskGroup() as group:
    a, b = group.create_task(tools.echo(1)), group.create_task(tools.slow(ms=10))
try:
    async with asyncio.TaskGroup() as group:
        slow = group.create_task(tools.slow())
        group.create_task(tools.fail())
except* RuntimeError as errors:
    messages = [str(e) for e in errors.exceptions]
return [a.result(), b.result(), slow.cancelled(), messages, await tools.echo("next")]`,
		Value: `[1,"slow",true,["nope"],"next"]`,
	},
	{
		Name: "timeout", Since: 11, Program: `
import asyncio
try:
    async with asyncio.timeout(0.02):
        await tools.slow()
except TimeoutError:
    return await tools.echo("next")`,
		Value: `"next"`, Logs: []string{},
	},
	{
		Name: "one of many is cancelled", Program: `
import asyncio
tasks = [asyncio.create_task(tools.slow(ms=20 + i)) for i in range(5)]
await asyncio.sleep(0)
tasks[2].cancel()
got = await asyncio.gather(*tasks, return_exceptions=True)
return [[g if type(g) is str else type(g).__name__ for g in got], await tools.echo("next")]`,
		Value: `[["slow","slow","CancelledError","slow","slow"],"next"]`, Check: made(6), Logs: []string{},
	},
	{
		Name: "a task that is cancelled before it starts sends nothing", Program: `
import asyncio
task = asyncio.create_task(tools.echo(1))
task.cancel()
try:
    await task
except asyncio.CancelledError:
    return await tools.echo("next")`,
		Value: `"next"`, Check: made(1), Logs: []string{},
	},
	{
		Name: "wait_for, and its late reply", Program: `
import asyncio
try:
    await asyncio.wait_for(tools.slow(ms=60), 0.02)
except asyncio.TimeoutError:
    first = await tools.echo("next")
await tools.slow(ms=90)  # the late reply comes meanwhile
return [first, await tools.echo(1), await asyncio.wait_for(tools.echo(2), 5)]`,
		Value: `["next",1,2]`, Logs: []string{}, Check: made(5),
	},
	{
		Name: "shield, wait, as_completed and queues", Program: `
import asyncio
shielded = asyncio.ensure_future(tools.slow(ms=40))
try:
    await asyncio.wait_for(asyncio.shield(shielded), 0.01)
except asyncio.TimeoutError:
    pass
done, rest = await asyncio.wait([asyncio.ensure_future(tools.echo(1)), asyncio.ensure_future(tools.slow())], return_when=asyncio.FIRST_COMPLETED)
for task in rest:
    task.cancel()
queue = asyncio.Queue()
async def work():
    while True:
        await queue.put(await tools.echo("item"))
worker = asyncio.create_task(work())
items = [await queue.get() for _ in range(3)]
worker.cancel()
return [await shielded, [t.result() for t in done], len(rest), items, [await c for c in asyncio.as_completed([tools.echo(2)])]]`,
		Value: `["slow",[1],1,["item","item","item"],[2]]`,
	},
	{
		Name: "a semaphore bounds calls", Program: `
import asyncio
gate = asyncio.Semaphore(2)
running = most = 0
async def one(i):
    global running, most
    async with gate:
        running += 1
        most = max(most, running)
        r = await tools.slow(ms=2)
        running -= 1
        return i
return [await asyncio.gather(*[one(i) for i in range(8)]), most]`,
		Value: `[[0,1,2,3,4,5,6,7],2]`,
	},
	{
		Name: "nested asyncio.run at a synchronous top level", Program: `
import asyncio
async def main(n):
    return await asyncio.gather(*[tools.echo(i) for i in range(n)])
first = asyncio.run(main(3))
second = asyncio.run(tools.echo("again"))
loop = asyncio.new_event_loop()
third = loop.run_until_complete(tools.add(a=1))
fourth = loop.run_until_complete(tools.add(a=2))
loop.close()
async def late():
    try:
        await asyncio.wait_for(tools.slow(ms=20), 0.001)
    except asyncio.TimeoutError:
        return "late"
fifth = asyncio.run(late())
return [first, second, third, fourth, fifth, asyncio.run(main(2))]`,
		Value: `[[0,1,2],"again",2,3,"late",[0,1]]`, Logs: []string{},
	},
	{
		Name: "asyncio.run in a thread while main awaits sleep", Program: `
import asyncio, threading
got = []
def work(i):
    got.append(asyncio.run(tools.echo(i)))
threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
for thread in threads:
    thread.start()
while len(got) < 4:
    await asyncio.sleep(0.005)
return sorted(got)`,
		Value: "[0,1,2,3]",
	},
	{
		Name: "asyncio.run in a thread while main awaits a call", Program: `
import asyncio, threading
got = []
async def many(i):
    got.append(await asyncio.gather(*[tools.echo([i, j]) for j in range(20)]))
thread = threading.Thread(target=lambda: [asyncio.run(many(i)) for i in range(5)])
thread.start()
main = [await tools.slow(ms=1) for _ in range(20)]
while thread.is_alive():
    main.append(await tools.slow(ms=1))
return [set(main) == {"slow"}, got == [[[i, j] for j in range(20)] for i in range(5)]]`,
		Value: "[true,true]",
	},
	{
		Name: "loops in threads while main blocks", Program: `
import asyncio, threading
got = []
async def many(i):
    got.append(sum(await asyncio.gather(*[tools.add(a=j) for j in range(50)])))
threads = [threading.Thread(target=asyncio.run, args=(many(i),)) for i in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
return got`,
		Value: "[1275,1275,1275,1275]", Check: made(200),
	},
	{
		Name: "executors and to_thread beside calls", Program: `
import asyncio, time
loop = asyncio.get_running_loop()
got = await asyncio.gather(loop.run_in_executor(None, time.sleep, 0.02), tools.slow(ms=10), loop.run_in_executor(None, lambda: asyncio.run(tools.echo("thread"))))
return [got, asyncio.run_coroutine_threadsafe is not None]`,
		Value: `[[null,"slow","thread"],true]`,
	},
	{
		Name: "a coroutine of the main loop, waited for in a thread", Program: `
import asyncio
loop = asyncio.get_running_loop()
def work():
    return asyncio.run_coroutine_threadsafe(tools.echo("main"), loop).result(5)
return await loop.run_in_executor(None, work)`,
		Value: `"main"`,
	},

	// Left behind.
	{
		Name: "never awaited and dropped", Program: "tools.echo({})\nreturn 1", Value: "1", Check: made(0),
		Logs: []string{"[thirdrail] tools.echo() was never awaited, so it was never called (it was dropped in line 1): write `await tools.echo(…)`"},
	},
	{
		Name: "never awaited, in a function", Program: "def f():\n    tools['my-tool'](1)\n\nf()\nreturn await tools.echo(2)", Value: "2", Check: made(1),
		Logs: []string{"[thirdrail] tools['my-tool']() was never awaited, so it was never called (it was dropped in line 2): write `await tools['my-tool'](…)`"},
	},
	{
		Name: "never awaited, in a loop", Program: "for i in range(1000):\n    tools.echo(i)\n    tools.add(a=i)", Value: "absent", Check: made(0),
		Logs: []string{
			"[thirdrail] tools.echo() was never awaited, so it was never called (it was dropped in line 2): write `await tools.echo(…)`",
			"[thirdrail] tools.add() was never awaited, so it was never called (it was dropped in line 3): write `await tools.add(…)`",
		},
	},
	{
		Name: "never awaited, and kept", Program: "x = tools.echo(1)\nmany = [tools.add(a=i) for i in range(2)]\nreturn 1", Value: "1", Check: made(0),
		Logs: []string{
			"[thirdrail] tools.echo() was never awaited, so it was never called: write `await` before the call in 'x'",
			"[thirdrail] tools.add() was never awaited, so it was never called: write `await` before the call in 'many'",
		},
	},
	{
		Name: "the program's own coroutine is Python's affair", Program: "async def own():\n    pass\nown()\nreturn 1", Value: "1",
		InLogs: []string{"coroutine 'own' was never awaited"},
	},
	{
		Name: "never awaited, with warnings always", Program: "import warnings\nwarnings.simplefilter('always', append=True)\ntools.echo(1)\nreturn 1", Value: "1",
		Logs: []string{"[thirdrail] tools.echo() was never awaited, so it was never called (it was dropped in line 3): write `await tools.echo(…)`"},
	},
	{
		Name: "a returned call says to write await", Program: "return tools.echo(1)", Kind: InvalidOutput, Message: []string{"await"}, Logs: []string{}, Check: made(0),
	},
	{
		Name: "fire and forget", Program: `
import asyncio
task = asyncio.create_task(tools.slow())
asyncio.create_task(db.page())
await asyncio.sleep(0)
return 1`,
		Value: "1", InLogs: []string{"[thirdrail] tools.slow() was still waiting for its reply when the program ended"},
	},
	{
		Name: "a task that never began", Program: `
import asyncio
await asyncio.sleep(0)
asyncio.get_running_loop().call_soon(lambda: globals().update(task=asyncio.ensure_future(tools.echo(1))))
return 1`,
		Value: "1", Check: made(0),
		Logs: []string{"[thirdrail] tools.echo() was never called: the program ended before its task began; await the task"},
	},
	{
		Name: "what the program itself gave up is not told", Program: `
import asyncio
task = asyncio.create_task(tools.slow())
await asyncio.sleep(0)
task.cancel()
await asyncio.sleep(0)
try:
    await asyncio.wait_for(tools.slow(), 0.01)
except asyncio.TimeoutError:
    return 1`,
		Value: "1", Logs: []string{},
	},

	// Sizes.
	{
		Name: "sizes around the buffers, both ways", Program: `
return [(await tools.echo("x" * n)) == "x" * n for n in (65535, 65536, 65537, 1000000, 5000000)]`,
		Value: "[true,true,true,true,true]", Check: made(5),
	},
	{
		Name: "eight of a megabyte at once", Program: `
import asyncio
got = await asyncio.gather(*[tools.echo(chr(97 + i) * 1000000) for i in range(8)])
return got == [chr(97 + i) * 1000000 for i in range(8)]`,
		Value: "true", Check: made(8),
	},
	{
		Name: "fifty times the value budget, as argument and reply", Limits: Limits{ValueBytes: 1024},
		Program: "return (await tools.echo('y' * 51200)) == 'y' * 51200", Value: "true",
	},
	{
		Name: "five million elements as argument", Limits: Limits{Memory: 384 << 20}, Namespaces: sizeNamespace,
		Program: "return await host.size([0] * 5_000_000)", Value: "10000001",
	},
	{
		Name: "a reply of four megabytes", Limits: Limits{Memory: 512 << 20}, Namespaces: sizeNamespace,
		Program: "s = await host.text(4 << 20)\nreturn [len(s), set(s) == {'é'}]", Value: "[4194304,true]",
	},
	{
		Name: "a reply over the frame limit is that call's error", Limits: Limits{FrameBytes: 1 << 20, ValueBytes: 1 << 10}, Namespaces: sizeNamespace,
		Program: caught + "return [await caught(host.text(1 << 20)), len(await host.text(1 << 18))]",
		Value:   `[["RuntimeError","the function's result takes 2097196 bytes, over the frame limit of 1048576"],262144]`, Check: made(2),
	},

	// What a program changes is its own affair.
	{
		Name: "a rebound namespace", Program: "first = await tools.echo(1)\ntools = 5\nreturn [first, tools]", Value: "[1,5]",
	},
	{Name: "namespaces of the next run are whole", Program: "return await tools.echo('whole')", Value: `"whole"`},
	{
		Name: "a namespace can't be changed", Program: `
found = []
for change in (lambda: setattr(tools, "echo", 1), lambda: tools.__setitem__("echo", 1), lambda: delattr(tools, "echo")):
    try:
        change()
    except (AttributeError, TypeError) as e:
        found.append(True)
return [found, await tools.echo(1)]`,
		Value: "[[true,true,true],1]",
	},
	{
		Name: "redefined names", Program: `
import asyncio, sys, json
print = list = input = type = len = str = dict = isinstance = None
json.dumps = json.loads = None
sys.stdout = None
asyncio.gather = asyncio.sleep = None
return [await tools.echo({"a": [1]}), await tools.add(a=1)]`,
		Value: `[{"a":[1]},2]`,
	},
	{
		Name: "changed builtins and modules", Program: `
import builtins, sys, os, time, select
real = {n: getattr(builtins, n) for n in dir(builtins)}
def broken(*args, **kwargs):
    raise real["ValueError"]("broken")
saved = await tools.echo("before")
for n in ("print", "len", "type", "isinstance", "str", "int", "list", "dict", "range", "min", "max", "memoryview", "bytes", "bytearray", "hasattr", "getattr", "setattr", "iter", "next", "super", "sorted", "object", "compile", "eval", "exec", "open", "OSError", "RuntimeError", "KeyError", "MemoryError"):
    builtins.__dict__[n] = broken
time.sleep = broken
for m in [os, select] + [sys.modules[n] for n in ("posix", "_thread", "codecs", "errno", "_json", "_codecs", "fcntl", "_io", "marshal") if n in sys.modules]:
    for n in real["sorted"](m.__dict__):
        if not n.startswith("__") and real["callable"](m.__dict__[n]) and n not in ("error", "stat_result", "terminal_size", "DirEntry"):
            m.__dict__[n] = broken
sys.stdout.write("printed\n")
try:
    await db.page({})
except DBError as e:
    failed = e.operation
return [saved, await tools.echo({"a": [1, 0.5, "\ud800é", None, {"b": {}}]}), failed, await tools.add(a=1)]`,
		Value: `["before",{"a":[1,0.5,"\ud800é",null,{"b":{}}]},"page",2]`, Logs: []string{"printed"},
	},
}

// sizeNamespace measures and makes texts.
var sizeNamespace = []Namespace{{Global: "host", Funcs: Funcs{
	"size": func(_ context.Context, args lossless.Value) (lossless.Value, error) {
		return lossless.Of(len(args.Bytes()))
	},
	"text": Bind(func(_ context.Context, n int) (string, error) { return strings.Repeat("é", n), nil }),
}}}

func TestCalls(t *testing.T) { runCases(t, callCases) }
