from decimal import Decimal

merged = {}
for record in data:
    name = record["name"].strip().title()
    if not name:
        print(f"dropped {record['id']}: it has no name")
        continue
    account = merged.setdefault(
        record["id"], {"id": record["id"], "name": name, "balance": Decimal(0), "rate": record["rate"]}
    )
    account["balance"] += Decimal(record["balance"])

# JSON has no decimals, so they go as text. Identifiers are integers and stay so.
return [{**account, "balance": str(account["balance"])} for account in merged.values()]
