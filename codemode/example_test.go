package codemode_test

import (
	"context"
	"fmt"
	"log"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/codemode"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// City and Weather are what the tool of the examples takes and returns.
type City struct {
	Name string `json:"name" jsonschema:"the city's name"`
}

type Weather struct {
	Celsius float64 `json:"celsius"`
	Wind    string  `json:"wind,omitempty"`
}

func weather(_ context.Context, city City) (Weather, error) {
	if city.Name == "Atlantis" {
		return Weather{}, fmt.Errorf("there is no city %q", city.Name)
	}
	return Weather{Celsius: float64(len(city.Name)) + 0.5}, nil
}

func ExampleNew() {
	ctx := context.Background()
	rt, err := thirdrail.New(ctx, thirdrail.Config{})
	if err != nil {
		log.Panic(err)
	}
	defer rt.Close()
	tool, err := codemode.Bind("weather", "The weather of a city.", weather)
	if err != nil {
		log.Panic(err)
	}
	set, err := codemode.New(rt, tool)
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(set.Definition().Name) // with its description and schema, what the model gets
	outcome, err := set.Run(ctx, `
import asyncio
cities = ["Oslo", "Rome", "Atlantis", "Bogota"]
found = await asyncio.gather(*(tools.weather(name=c) for c in cities), return_exceptions=True)
return {c: w["celsius"] for c, w in zip(cities, found) if not isinstance(w, ToolError)}`)
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(outcome.Text()) // what the model gets back
	// Output:
	// run_code
	// {"Oslo":4.5,"Rome":4.5,"Bogota":6.5}
}

func ExampleSet_Source() {
	tool, err := codemode.Bind("weather", "The weather of a city.", weather)
	if err != nil {
		log.Panic(err)
	}
	set, err := codemode.New(nil, tool)
	if err != nil {
		log.Panic(err)
	}
	fmt.Print(set.Source())
	// Output:
	// # mypy: allow-empty-bodies
	// # Every function is awaited: x = await tools.weather(…)
	// from __future__ import annotations
	//
	// from typing import Any, Literal, NotRequired, TypeAlias, TypedDict
	//
	// class WeatherResult(TypedDict):
	//     celsius: float
	//     wind: NotRequired[str]
	//
	// class tools:
	//     @staticmethod
	//     async def weather(
	//         *,
	//         name: str,  # the city's name
	//     ) -> WeatherResult:
	//         """The weather of a city."""
	//         ...
}

// A tool of a server has its schemas as they came, and answers with content.
func ExampleTool() {
	schema, err := lossless.Parse([]byte(`{"type":"object","properties":{"to":{"type":"string"},"from":{"type":"string"}},"required":["to"]}`), lossless.Options{})
	if err != nil {
		log.Panic(err)
	}
	set, err := codemode.New(nil, codemode.Tool{
		Namespace: "mail-server", Name: "send-mail", InputSchema: schema,
		Handler: func(context.Context, lossless.Value) (codemode.Result, error) { return codemode.Text("sent"), nil },
	})
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(set.Search("mail", 1)[0])
	// Output: mail_server.send_mail(*, to: str, from_: str = ...) -> Any
}
