// Command cleanup lets a program clean records whose identifiers and amounts are
// larger and finer than a double: each digit of them arrives and comes back.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"log"
	"os"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

//go:embed program.py
var program string

// The first two identifiers are the same double. A JSON decoder that makes doubles
// of numbers would take them for one account.
//
//go:embed accounts.json
var accounts []byte

// An account is a cleaned record. ID has 64 bits, and Balance is text: the program
// counts in decimals.
type account struct {
	ID      uint64         `json:"id"`
	Name    string         `json:"name"`
	Balance string         `json:"balance"`
	Rate    lossless.Value `json:"rate"` // as it was written
}

func run(ctx context.Context) error {
	data, err := lossless.Parse(accounts, lossless.Options{})
	if err != nil {
		return err
	}
	runtime, err := thirdrail.New(ctx, thirdrail.Config{})
	if err != nil {
		return err
	}
	defer runtime.Close()
	result, err := runtime.Run(ctx, thirdrail.Request{Program: program, Data: data})
	if err != nil {
		return err
	}
	var cleaned []account
	if err := result.Decode(&cleaned); err != nil {
		return err
	}
	for _, a := range cleaned {
		fmt.Printf("%d %-5s %s at %s\n", a.ID, a.Name, a.Balance, a.Rate)
	}
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
