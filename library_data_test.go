//go:build linux

package thirdrail

const (
	needsNumpy      = "python3-numpy"
	needsPandas     = "python3-pandas"
	needsMatplotlib = "python3-matplotlib"
)

// dataCases use the libraries that data programs live by.
var dataCases = []libraryCase{
	{Name: "numpy: linear algebra", Needs: needsNumpy, Program: `
import numpy as np
a = np.random.default_rng(7).random((200, 200))
u, s, v = np.linalg.svd(a)
b = np.arange(200.0)
x = np.linalg.solve(a, b)
symmetric = a @ a.T
values, vectors = np.linalg.eigh(symmetric)
q, r = np.linalg.qr(a)
return [bool(np.allclose(u * s @ v, a)), bool(np.allclose(a @ x, b)), bool(np.allclose(symmetric @ vectors, vectors * values)), bool(np.allclose(q @ r, a)),
        np.dot([1, 2, 3], [4, 5, 6]).item(), np.linalg.det(np.diag([2.0, 3.0])).item(), np.einsum("ij,ij", np.eye(3), np.eye(3)).item()]
`, Value: `[true,true,true,true,32,6.0,3.0]`},
	{Name: "numpy: fft, sort and random", Needs: needsNumpy, Program: `
import numpy as np
wave = np.sin(2 * np.pi * 5 * np.arange(128) / 128)
spectrum = np.abs(np.fft.rfft(wave))
numbers = np.random.default_rng(42)
np.random.seed(1)
legacy = np.random.rand(3)
many = numbers.random(1_000_000)
return [int(spectrum.argmax()), bool(np.allclose(np.fft.irfft(np.fft.rfft(wave)), wave)), numbers.integers(0, 100, 5).tolist(), legacy.tolist(),
        bool((np.diff(np.sort(many)) >= 0).all()), np.unique([3, 1, 3]).tolist(), np.percentile(np.arange(101), [25, 50]).tolist(), str(np.datetime64("2024-02-29") + 1)]
`},
	{Name: "numpy: files", Needs: needsNumpy, Program: `
import numpy as np, os
a = np.arange(10000.0).reshape(100, 100)
np.save("a.npy", a)
np.savez_compressed("a.npz", a=a, b=a[:2])
np.savetxt("a.txt", a[:2, :3], delimiter=",")
m = np.memmap("m.dat", dtype="f8", mode="w+", shape=(1000, 1000))
m[:] = 2
m.flush()
del m
with np.load("a.npz") as z:
    packed = [z["a"].sum().item(), *z["b"].shape]
return [bool((np.load("a.npy") == a).all()), packed, np.loadtxt("a.txt", delimiter=",").tolist(), np.memmap("m.dat", dtype="f8", mode="r").sum().item(), os.path.getsize("m.dat"), np.load("a.npy", mmap_mode="r")[5, 5].item()]
`, Value: `[true,[49995000.0,2,100],[[0.0,1.0,2.0],[100.0,101.0,102.0]],2000000.0,8000000,505.0]`},
	{Name: "numpy: large arrays and threads", Needs: needsNumpy, Program: `
import numpy as np
from concurrent.futures import ThreadPoolExecutor
big = np.ones((5000, 5000))  # 200 MB
with ThreadPoolExecutor(4) as pool:
    sums = list(pool.map(lambda n: (np.full((300, 300), n) @ np.ones((300, 300))).sum().item(), range(8)))
return [big.sum().item(), sums]
`, Value: `[25000000.0,[0.0,27000000.0,54000000.0,81000000.0,108000000.0,135000000.0,162000000.0,189000000.0]]`},
	{Name: "pandas: files and groups", Needs: needsPandas, Program: `
import io, json
import pandas as pd
frame = pd.DataFrame({"g": ["x", "y", "x", None], "n": [1, 2, 3, 4], "f": [0.5, None, 1.5, 2.5]})
frame.to_csv("f.csv", index=False)
read = pd.read_csv("f.csv")
frame.to_pickle("f.pickle")
back = pd.read_json(io.StringIO(frame.to_json(orient="records")), orient="records")
grouped = read.groupby("g", dropna=False).agg(total=("n", "sum"), mean=("f", "mean")).reset_index()
return [read.fillna(0).values.tolist() == frame.fillna(0).values.tolist(), json.loads(grouped.to_json(orient="records")), back.n.tolist(),
        pd.read_pickle("f.pickle").equals(frame), read.isna().sum().to_dict(), json.loads(read.describe().to_json())["n"]["mean"]]
`, Value: `[true,[{"g":"x","total":4,"mean":1.0},{"g":"y","total":2,"mean":null},{"g":null,"total":4,"mean":2.5}],[1,2,3,4],true,{"g":1,"n":0,"f":1},2.5]`},
	{Name: "pandas: merge, pivot and windows", Needs: needsPandas, Program: `
import json
import pandas as pd
left = pd.DataFrame({"k": [1, 2, 3], "a": list("xyz")})
right = pd.DataFrame({"k": [2, 3, 3, 4], "b": [10, 20, 30, 40]})
outer = left.merge(right, on="k", how="outer", indicator=True)
sales = pd.DataFrame({"month": [1, 1, 2, 2], "city": ["A", "B", "A", "B"], "n": [5, 6, 7, 8]})
pivot = sales.pivot_table(index="month", columns="city", values="n", aggfunc="sum", margins=True)
return [outer.sort_values(["k", "b"])["_merge"].astype(str).tolist(), pivot.values.tolist(), list(sales.melt(id_vars="month").shape), sales.n.rolling(2).mean().dropna().tolist(),
        sales.set_index(["month", "city"]).n.unstack().to_numpy().tolist(), sales.city.str.lower().value_counts().sort_index().to_dict()]
`, Value: `[["left_only","both","both","both","right_only"],[[5,6,11],[7,8,15],[12,14,26]],[8,3],[5.5,6.5,7.5],[[5,6],[7,8]],{"a":2,"b":2}]`},
	{Name: "pandas: time zones", Needs: needsPandas, Program: `
import pandas as pd
hours = pd.date_range("2024-03-10 05:00", periods=4, freq="h", tz="UTC").tz_convert("America/New_York")
series = pd.Series(range(48), index=pd.date_range("2024-01-01", periods=48, freq="h", tz="Asia/Tokyo"))
return [[t.isoformat() for t in hours], pd.Timestamp("2024-07-01 12:00", tz="Europe/Berlin").tz_convert("UTC").isoformat(), series.resample("D").sum().tolist(),
        pd.to_datetime("2024-01-31T23:00:00-05:00").tz_convert("UTC").day, str(pd.Timestamp(0).tz_localize("UTC").tz_convert("Asia/Kathmandu")),
        pd.Timestamp.now().utcoffset() is None, abs((pd.Timestamp.now() - pd.Timestamp.utcnow().tz_localize(None)).total_seconds()) < 60]
`, Value: `[["2024-03-10T00:00:00-05:00","2024-03-10T01:00:00-05:00","2024-03-10T03:00:00-04:00","2024-03-10T04:00:00-04:00"],"2024-07-01T10:00:00+00:00",[276,852],1,"1970-01-01 05:30:00+05:30",true,true]`},
	{Name: "matplotlib: a plot as base64", Needs: needsMatplotlib, Program: `
import base64, io, struct
import matplotlib
import matplotlib.pyplot as plt
figure, (left, right) = plt.subplots(1, 2, figsize=(6, 3), dpi=100)
left.plot([1, 4, 9], label="größe")
left.set_title("$x^2$")
left.legend()
right.bar(["a", "b"], [1, 2])
figure.savefig("plot.png")
figure.savefig("plot.svg")
figure.savefig("plot.pdf")
memory = io.BytesIO()
plt.savefig(memory, format="png")
text = base64.b64encode(open("plot.png", "rb").read()).decode()
picture = base64.b64decode(text)
return [matplotlib.get_backend().lower(), text[:11], list(struct.unpack(">II", picture[16:24])), memory.getvalue()[:4] == picture[:4], len(picture) > 5000,
        b"<svg" in open("plot.svg", "rb").read(), open("plot.pdf", "rb").read(4).decode()]
`, Value: `["agg","iVBORw0KGgo",[600,300],true,true,true,"%PDF"]`},
	{Name: "matplotlib: quiet", Needs: needsMatplotlib, Program: `
import contextlib, io, sys
heard = io.StringIO()
with contextlib.redirect_stdout(heard), contextlib.redirect_stderr(heard):
    import matplotlib.pyplot as plt
    plt.plot([1, 2])
    plt.savefig("p.png")
    plt.show()
return heard.getvalue()
`, Inside: "outside it says whatever the host's setting makes it say", Value: `""`},
	{Name: "pandas with matplotlib", Needs: needsMatplotlib, Program: `
import pandas as pd
axes = pd.DataFrame({"a": [1, 3, 2], "b": [3, 1, 2]}).plot(kind="bar", title="t")
axes.figure.savefig("bars.png")
return [len(axes.patches), open("bars.png", "rb").read(4)[1:].decode()]
`, Value: `[6,"PNG"]`},
}
