//go:build linux

package thirdrail

// concurrentCases use threads and asyncio, which every run has.
var concurrentCases = []libraryCase{
	{Name: "ThreadPoolExecutor", Program: `
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
with ThreadPoolExecutor(8) as pool:
    squares = list(pool.map(lambda n: n * n, range(100)))
    failed = pool.submit(lambda: 1 / 0).exception()
    done = sorted(f.result() for f in as_completed([pool.submit(pow, 2, n) for n in range(10)]))
return [sum(squares), type(failed).__name__, done]
`, Value: `[328350,"ZeroDivisionError",[1,2,4,8,16,32,64,128,256,512]]`},
	{Name: "fifty threads", Program: `
import queue, threading
barrier, results, total, lock = threading.Barrier(50), queue.Queue(), [0], threading.Lock()
def work(n):
    place = barrier.wait(30)  # all of them live at once
    memory = bytearray(1 << 20)
    for _ in range(100):
        with lock:
            total[0] += 1
    results.put((n, len(memory)))
threads = [threading.Thread(target=work, args=(n,)) for n in range(50)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
return [sorted(results.get()[0] for _ in threads) == list(range(50)), total[0], threading.active_count()]
`, Value: `[true,5000,1]`},
	{Name: "pool of threads by multiprocessing", Program: `
from multiprocessing.dummy import Pool
from multiprocessing.pool import ThreadPool
with Pool(4) as one, ThreadPool(4) as two:
    return [one.map(abs, range(-5, 0)), two.apply_async(pow, (2, 10)).get(30)]
`, Value: `[[5,4,3,2,1],1024]`},
	{Name: "locks and queues of multiprocessing", Program: `
import multiprocessing
lock, semaphore, pipe = multiprocessing.Lock(), multiprocessing.Semaphore(2), multiprocessing.Pipe()
event, values = multiprocessing.Event(), multiprocessing.Queue()
with lock, semaphore:
    pipe[0].send({"a": 1})
    values.put(5)
    event.set()
return [pipe[1].recv(), values.get(timeout=30), event.is_set()]
`, Value: `[{"a":1},5,true]`},
	{Name: "timers, conditions and thread locals", Program: `
import threading, contextvars, signal, time
condition, fired, local = threading.Condition(), [], threading.local()
def fire():
    with condition:
        local.x = 1
        fired.append(threading.current_thread() is not threading.main_thread())
        condition.notify_all()
threading.Timer(0.01, fire).start()
with condition:
    condition.wait_for(lambda: fired, 30)
alarms = []
signal.signal(signal.SIGALRM, lambda *a: alarms.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.01)
until = time.monotonic() + 30
while not alarms and time.monotonic() < until:
    signal.sigtimedwait([signal.SIGUSR1], 0.01)
return [fired, hasattr(local, "x"), alarms]
`, Value: `[[true],false,[1]]`},
	{Name: "asyncio", Program: `
import asyncio, time
queue, results = asyncio.Queue(3), []
async def produce():
    for n in range(20):
        await queue.put(n)
    await queue.put(None)
async def consume():
    while (n := await queue.get()) is not None:
        results.append(n)
await asyncio.gather(produce(), consume())
started = time.monotonic()
slept = await asyncio.gather(*(asyncio.sleep(0.05, n) for n in range(20)))
together = time.monotonic() - started < 20 * 0.05
try:
    await asyncio.wait_for(asyncio.sleep(60), 0.01)
except asyncio.TimeoutError:
    late = True
failures = await asyncio.gather(asyncio.sleep(0), asyncio.to_thread(int, "x"), return_exceptions=True)
in_thread = await asyncio.gather(*(asyncio.to_thread(pow, n, 2) for n in range(10)))
called = asyncio.get_running_loop().create_future()
asyncio.get_running_loop().call_later(0.01, called.set_result, "later")
return [results == list(range(20)), slept == list(range(20)), together, late, type(failures[1]).__name__, in_thread, await called]
`, Value: `[true,true,true,true,"ValueError",[0,1,4,9,16,25,36,49,64,81],"later"]`},
	{Name: "asyncio in another thread, and pipes", Program: `
import asyncio, os, socket, threading
async def main():
    lock, event = asyncio.Lock(), asyncio.Event()
    asyncio.get_running_loop().call_soon(event.set)
    async with lock:
        await event.wait()
    return 7
result = []
thread = threading.Thread(target=lambda: result.append(asyncio.run(main())))
thread.start()
await asyncio.to_thread(thread.join)
left, right = socket.socketpair()
reader, writer = await asyncio.open_connection(sock=left)
right.sendall(b"line\n")
line = await reader.readline()
writer.close()
right.close()
return [result, line.decode()]
`, Value: `[[7],"line\n"]`},
	{Name: "tools beside threads", Program: `
import asyncio
both = await asyncio.gather(tools.add({"a": 1}), asyncio.to_thread(sum, [1, 2]), tools.echo({"x": [1]}), asyncio.sleep(0.01, "slept"))
return both
`, Value: `[2,3,{"x":[1]},"slept"]`},
}
