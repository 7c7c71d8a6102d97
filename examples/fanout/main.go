// Command fanout lets a program ask many cities for their weather at once. One
// call fails, and the program goes on without it.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"log"
	"os"
	"sync/atomic"

	"github.com/thirdrail-dev/thirdrail"
)

//go:embed program.py
var program string

type query struct {
	City string `json:"city"`
}

type weather struct {
	City    string  `json:"city"`
	Celsius float64 `json:"celsius"`
}

var celsius = map[string]float64{"Oslo": -3.5, "Rome": 14, "Lima": 22.5, "Cairo": 27}

// A service answers when as many calls as it expects have come, which shows that
// they are in flight together.
type service struct {
	expected int64
	calls    atomic.Int64
	complete chan struct{}
}

func (s *service) current(ctx context.Context, q query) (weather, error) {
	if s.calls.Add(1) == s.expected {
		close(s.complete)
	}
	select {
	case <-s.complete:
	case <-ctx.Done(): // the run is over
		return weather{}, ctx.Err()
	}
	degrees, ok := celsius[q.City]
	if !ok {
		return weather{}, fmt.Errorf("there is no station in %s", q.City)
	}
	return weather{q.City, degrees}, nil
}

func run(ctx context.Context) error {
	runtime, err := thirdrail.New(ctx, thirdrail.Config{})
	if err != nil {
		return err
	}
	defer runtime.Close()
	s := service{expected: 5, complete: make(chan struct{})}
	result, err := runtime.Run(ctx, thirdrail.Request{
		Program: program,
		Namespaces: []thirdrail.Namespace{{
			Global:     "weather",
			Funcs:      thirdrail.Funcs{"current": thirdrail.Bind(s.current)},
			ErrorClass: &thirdrail.ErrorClass{Name: "WeatherError", MemberNameProperty: "function"},
		}},
	})
	if err != nil {
		return err
	}
	if err := result.Err(); err != nil {
		return err
	}
	fmt.Println(result.Value)
	for _, text := range result.Logs {
		fmt.Println("log:", text)
	}
	return nil
}

func main() {
	log.SetFlags(0)
	if err := run(context.Background()); err != nil {
		log.Print(err)
		os.Exit(1)
	}
}
