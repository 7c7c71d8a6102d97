from collections import defaultdict

count, cents = defaultdict(int), defaultdict(int)

cursor = 0
while cursor is not None:
    page = await orders.page(cursor=cursor)
    for row in page["rows"]:
        count[row["region"]] += 1
        cents[row["region"]] += row["cents"]
    cursor = page["next"]

print(f"{sum(count.values())} orders read")

return [
    {"region": region, "orders": count[region], "cents": cents[region]}
    for region in sorted(cents, key=cents.get, reverse=True)
]
