import asyncio


async def ask(city):
    try:
        return await weather.current(city=city)
    except WeatherError as error:
        print(f"{error.function} of {city} failed: {error}")


answers = await asyncio.gather(*map(ask, ["Oslo", "Rome", "Atlantis", "Lima", "Cairo"]))
known = [answer for answer in answers if answer is not None]

return {
    "warmest": max(known, key=lambda answer: answer["celsius"])["city"],
    "mean": sum(answer["celsius"] for answer in known) / len(known),
}
