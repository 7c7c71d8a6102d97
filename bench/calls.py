import asyncio, time

for i in range(100):
    await tools.echo(n=i, text="some text")
start = time.perf_counter()
for i in range(data):
    await tools.echo(n=i, text="some text")
alone = time.perf_counter() - start
start = time.perf_counter()
await asyncio.gather(*[tools.echo(n=i, text="some text") for i in range(data)])
return [alone / data, (time.perf_counter() - start) / data]
