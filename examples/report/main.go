// Command report lets a program page through orders and boil them down. The rows
// stay in the program: a model would see the report and nothing else.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"log"
	"os"

	"github.com/thirdrail-dev/thirdrail"
)

//go:embed program.py
var program string

// An order is what the host has, 240 of them.
type order struct {
	Region string `json:"region"`
	Cents  int64  `json:"cents"`
}

func orders() []order {
	regions := []string{"north", "south", "west"}
	all := make([]order, 240)
	for i := range all {
		all[i] = order{Region: regions[i%7%len(regions)], Cents: int64(i%7)*1250 + 99}
	}
	return all
}

// pageQuery and page are the arguments and the result of orders.page: the
// program sees their JSON.
type pageQuery struct {
	Cursor int `json:"cursor"`
}

type page struct {
	Rows []order `json:"rows"`
	Next *int    `json:"next"` // null on the last page
}

const pageSize = 50

func pages(all []order) func(context.Context, pageQuery) (page, error) {
	return func(_ context.Context, q pageQuery) (page, error) {
		if q.Cursor < 0 || q.Cursor > len(all) {
			return page{}, fmt.Errorf("cursor %d is outside 0 to %d", q.Cursor, len(all))
		}
		end := min(q.Cursor+pageSize, len(all))
		result := page{Rows: all[q.Cursor:end]}
		if end < len(all) {
			result.Next = &end
		}
		return result, nil
	}
}

// A line is one region of the report.
type line struct {
	Region string `json:"region"`
	Orders int    `json:"orders"`
	Cents  int64  `json:"cents"`
}

func run(ctx context.Context) error {
	runtime, err := thirdrail.New(ctx, thirdrail.Config{})
	if err != nil {
		return err
	}
	defer runtime.Close()
	result, err := runtime.Run(ctx, thirdrail.Request{
		Program: program,
		Namespaces: []thirdrail.Namespace{{
			Global: "orders",
			Funcs:  thirdrail.Funcs{"page": thirdrail.Bind(pages(orders()))},
		}},
		OnLog: func(text string) { fmt.Println("log:", text) },
	})
	if err != nil {
		return err
	}
	var report []line
	if err := result.Decode(&report); err != nil {
		return err
	}
	for _, l := range report {
		fmt.Printf("%-6s %4d orders %6d.%02d\n", l.Region, l.Orders, l.Cents/100, l.Cents%100)
	}
	fmt.Println(result.Stats.Calls, "calls")
	return nil
}

func main() {
	log.SetFlags(0)
	if err := run(context.Background()); err != nil {
		log.Print(err)
		os.Exit(1)
	}
}
