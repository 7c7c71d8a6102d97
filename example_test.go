package thirdrail_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// Row is what the function of the examples returns.
type Row struct {
	ID    int64  `json:"id"`
	Title string `json:"title"`
}

// Query is its argument.
type Query struct {
	Author string `json:"author"`
}

// find stands for a function of the host's, such as a query of a database.
func find(_ context.Context, q Query) ([]Row, error) {
	if q.Author != "Le Guin" {
		return nil, fmt.Errorf("no author %q", q.Author)
	}
	return []Row{{9007199254740993, "The Dispossessed"}, {9007199254740995, "Lavinia"}}, nil
}

func ExampleRuntime_Run() {
	ctx := context.Background()
	rt, err := thirdrail.New(ctx, thirdrail.Config{})
	if err != nil {
		log.Panic(err)
	}
	defer rt.Close()
	result, err := rt.Run(ctx, thirdrail.Request{
		Program:    "rows = await books.find(author='Le Guin')\nreturn [r['id'] for r in rows]",
		Namespaces: []thirdrail.Namespace{{Global: "books", Funcs: thirdrail.Funcs{"find": thirdrail.Bind(find)}}},
	})
	if err != nil { // the interface was used wrongly: all that a program does is in result
		log.Panic(err)
	}
	fmt.Println(result.Value, result.Err())
	// Output: [9007199254740993,9007199254740995] <nil>
}

// A failed run is a result: it has a kind, and a message to send back to the
// model that wrote the program.
func ExampleRuntime_Run_failure() {
	ctx := context.Background()
	rt, err := thirdrail.New(ctx, thirdrail.Config{})
	if err != nil {
		log.Panic(err)
	}
	defer rt.Close()
	result, err := rt.Run(ctx, thirdrail.Request{Program: "print('so far so good')\nreturn {'when': {1, 2}}"})
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(result.Logs)
	fmt.Println(result.Failure.Kind, result.Value.Exists())
	// Output:
	// [so far so good]
	// invalid-output false
}

// When the context ends, the run is aborted, and errors.Is finds the context's
// error.
func ExampleRuntime_Run_abort() {
	rt, err := thirdrail.New(context.Background(), thirdrail.Config{})
	if err != nil {
		log.Panic(err)
	}
	defer rt.Close()
	ctx, cancel := context.WithCancel(context.Background())
	result, err := rt.Run(ctx, thirdrail.Request{
		Program: "print('here')\nwhile True: pass",
		OnLog:   func(string) { cancel() },
	})
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(result.Failure.Kind, errors.Is(result.Err(), context.Canceled))
	// Output: abort true
}

// Data gives a program its input. Decode takes the value back, exactly or not at
// all.
func ExampleResult_Decode() {
	ctx := context.Background()
	rt, err := thirdrail.New(ctx, thirdrail.Config{})
	if err != nil {
		log.Panic(err)
	}
	defer rt.Close()
	data, err := lossless.Of([]int64{1, 1 << 60, 3})
	if err != nil {
		log.Panic(err)
	}
	result, err := rt.Run(ctx, thirdrail.Request{Program: "return {'sum': sum(data)}", Data: data})
	if err != nil {
		log.Panic(err)
	}
	var total struct {
		Sum int64 `json:"sum"`
	}
	err = result.Decode(&total)
	fmt.Println(total.Sum, err)
	// Output: 1152921504606846980 <nil>
}

// Bind decodes the arguments and encodes the result. What doesn't fit rejects the
// call, as an error of the function does.
func ExampleBind() {
	call := thirdrail.Bind(find)
	for _, args := range []string{`{"author": "Le Guin"}`, `{"author": "nobody"}`, `{"author": 7}`} {
		value, err := lossless.Parse([]byte(args), lossless.Options{})
		if err != nil {
			log.Panic(err)
		}
		rows, err := call(context.Background(), value)
		fmt.Println(rows, err != nil)
	}
	// Output:
	// [{"id":9007199254740993,"title":"The Dispossessed"},{"id":9007199254740995,"title":"Lavinia"}] false
	//  true
	//  true
}
