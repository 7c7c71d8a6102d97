package wire_test

import (
	"fmt"
	"io"
	"strings"

	"github.com/thirdrail-dev/thirdrail/lossless"
	"github.com/thirdrail-dev/thirdrail/wire"
)

// A host reads what a child sends, and drops what is not a frame.
func Example() {
	fromChild := strings.NewReader(`{"type":"boot-ack"}
{"type":"log","text":"working"}
{"type":"log","text":42}
{"type":"call","id":0,"global":"db","name":"query","args":{"sql":"select 1"}}
{"type":"done","value":[1,2.50]}
`)
	lines := wire.NewReader(fromChild, 64<<20)
	for {
		line, err := lines.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		frame, err := wire.DecodeChild(line)
		if err != nil {
			fmt.Println("dropped:", err)
			continue
		}
		switch f := frame.(type) {
		case *wire.BootAck:
			fmt.Println("ready")
		case *wire.Log:
			fmt.Println("log:", f.Text)
		case *wire.Call:
			fmt.Printf("call %d: %s.%s(%s)\n", f.ID, f.Global, f.Name, f.Args)
		case *wire.Done:
			fmt.Println("value:", f.Value)
		}
	}
	// Output:
	// ready
	// log: working
	// dropped: wire: log.text: wrong type of member "42", want a string
	// call 0: db.query({"sql":"select 1"})
	// value: [1,2.50]
}

func ExampleAppend() {
	rows, err := lossless.Of([]int{1, 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	line := wire.Append(nil, &wire.ReplyValue{ID: 0, Value: rows})
	line = wire.Append(line, &wire.ReplyError{ID: 1, Message: `no table "t"`})
	fmt.Print(string(line))
	// Output:
	// {"type":"reply","id":0,"ok":true,"value":[1,2]}
	// {"type":"reply","id":1,"ok":false,"message":"no table \"t\""}
}

// A number that the profile refuses ends the run all the same, and a value over
// budget is measured and not kept.
func ExampleDecoder_Child() {
	d := wire.Decoder{Numbers: lossless.Double, ValueBytes: 20}
	for _, line := range []string{
		`{"type":"done","value":9007199254740993}`,
		`{"type":"done","value":"a text of more than twenty bytes"}`,
	} {
		frame, err := d.Child([]byte(line))
		if err != nil {
			fmt.Println(err)
			continue
		}
		done := frame.(*wire.Done)
		fmt.Println(done.Value.Exists(), done.Size, done.Fault != nil)
	}
	// Output:
	// false 16 true
	// false 34 false
}
