package jobs

import (
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

func TestMain(m *testing.M) {
	status := m.Run()
	if err := goleak.Find(); err != nil && status == 0 {
		println(err.Error())
		status = 1
	}
	os.Exit(status)
}

// goodLines lists lines that are jobs. They are seeds of the fuzzer too.
var goodLines = []struct {
	name, text string
	want       Job
	id, data   string
}{
	{"the least", `{"id":1,"program":""}`, Job{}, "1", ""},
	{"all members", ` {"data":null,"limits":{},"program":"return 1","id":"a"}` + "\r", Job{Program: "return 1"}, `"a"`, "null"},
	{"a large id", `{"id":900719925474099312345,"program":"x"}`, Job{Program: "x"}, "900719925474099312345", ""},
	{"an id with a fraction", `{"id":1.0,"program":"x"}`, Job{Program: "x"}, "1.0", ""},
	{"a negative zero as id", `{"id":-0,"program":"x"}`, Job{Program: "x"}, "-0", ""},
	{"an empty id", `{"id":"","program":"x"}`, Job{Program: "x"}, `""`, ""},
	{"an id with escapes", `{"id":"\u0041\ud800\/","program":"x"}`, Job{Program: "x"}, `"A\ud800/"`, ""},
	{"exact data", `{"id":1,"program":"x","data":[9007199254740993, 5e-324, "\u00e9"]}`, Job{Program: "x"}, "1", `[9007199254740993,5e-324,"é"]`},
	{"a byte order mark in the program", `{"id":1,"program":"\uFEFFx"}`, Job{Program: "x"}, "1", ""},
	{"limits as text", `{"id":1,"program":"x","limits":{"wall":"10s","cpu":"1.5s","memory":"64MiB","logBytes":"1KiB","valueBytes":"6B","frameBytes":"1MiB","diskBytes":"2MiB"}}`,
		Job{Program: "x", Limits: thirdrail.Limits{Wall: 10 * time.Second, CPU: 1500 * time.Millisecond, Memory: 64 << 20, LogBytes: 1024, ValueBytes: 6, FrameBytes: 1 << 20, DiskBytes: 2 << 20}}, "1", ""},
	{"limits as numbers", `{"id":1,"program":"x","limits":{"memory":1048576,"callsInFlight":3,"processes":2.0}}`,
		Job{Program: "x", Limits: thirdrail.Limits{Memory: 1 << 20, CallsInFlight: 3, Processes: 2}}, "1", ""},
}

func TestParse(t *testing.T) {
	for _, c := range goodLines {
		job := Parse([]byte(c.text), lossless.Exact)
		if job.Fault != nil || !job.object || job.Program != c.want.Program || job.Limits != c.want.Limits ||
			job.ID.String() != c.id || job.Data.String() != c.data {
			t.Errorf("%s: %+v, id %s, data %s", c.name, job, job.ID, job.Data)
		}
	}
}

// badLines lists lines that are no jobs, and what is said of them.
var badLines = []struct {
	name, text string
	id         string // that is known all the same
	says       string
}{
	{"no JSON", `id: 1`, "", "is not a JSON object that crosses without loss: not JSON"},
	{"a half", `{"id":1,"program":"re`, "", "not JSON"},
	{"two", `{"id":1,"program":"x"} {"id":2,"program":"x"}`, "", "only white space may follow"},
	{"another kind", `[{"id":1}]`, "", `write {"id": 1, "program": "return 1"}`},
	{"a member twice", `{"id":1,"id":2,"program":"x"}`, "", "duplicate object name"},
	{"no UTF-8", "{\"id\":1,\"program\":\"\xff\"}", "", "invalid UTF-8"},
	{"nothing in it", `{}`, "", `it has no "id"`},
	{"no id", `{"program":"x"}`, "", `it has no "id"; write {"id": 1`},
	{"no program", `{"id":1}`, "1", `it has no "program"`},
	{"null as id", `{"id":null,"program":"x"}`, "", `its "id" is null; write a string or a number`},
	{"a list as id", `{"id":[1],"program":"x"}`, "", `its "id" is an array`},
	{"a bool as id", `{"id":true,"program":"x"}`, "", `its "id" is a bool`},
	{"an id beyond doubles", `{"id":1e400,"program":"x"}`, "", `its "id": number beyond the double range`},
	{"a number as program", `{"id":"a","program":1}`, `"a"`, `its "program" is a number; write the source as a string`},
	{"null as program", `{"id":"a","program":null}`, `"a"`, `its "program" is null`},
	{"a list as program", `{"program":["x",1e400],"id":7}`, "7", `its "program" is an array`},
	{"half a character", `{"id":1,"program":"\ud800"}`, "1", "lone surrogate"},
	{"an unknown member", `{"id":1,"program":"x","Data":1}`, "1", `it has a member "Data", which no job has`},
	{"data beyond doubles", `{"id":1,"program":"x","data":[0,1e400]}`, "1", `its "data": number beyond the double range`},
	{"limits of another kind", `{"id":1,"program":"x","limits":[]}`, "1", `its "limits" is an array; write an object`},
	{"null as limits", `{"id":1,"program":"x","limits":null}`, "1", `its "limits" is null`},
	{"an unknown limit", `{"id":1,"program":"x","limits":{"log-bytes":5}}`, "1", "limits.log-bytes: there is no such limit; its members are wall, cpu"},
	{"a duration without unit", `{"id":1,"program":"x","limits":{"wall":10}}`, "1", `limits.wall: "10" has no unit: write 10s`},
	{"no duration", `{"id":1,"program":"x","limits":{"cpu":"fast"}}`, "1", `limits.cpu: "fast" is not a duration`},
	{"no time", `{"id":1,"program":"x","limits":{"cpu":"0s"}}`, "1", "is no time to work in"},
	{"a negative size", `{"id":1,"program":"x","limits":{"memory":-1}}`, "1", "limits.memory: \"-1\" is negative"},
	{"a limit of another kind", `{"id":1,"program":"x","limits":{"memory":true}}`, "1", "limits.memory: a bool is no limit"},
	{"a count as text", `{"id":1,"program":"x","limits":{"processes":"3"}}`, "1", "limits.processes: it must be a whole number"},
	{"a count with a fraction", `{"id":1,"program":"x","limits":{"callsInFlight":1.5}}`, "1", "it must be a whole number"},
	{"a count of nothing", `{"id":1,"program":"x","limits":{"callsInFlight":0}}`, "1", "it must be a whole number from 1 on"},
	{"a count beyond doubles", `{"id":1,"program":"x","limits":{"processes":1e400}}`, "1", "it must be a whole number"},
	{"a limit twice", `{"id":1,"program":"x","limits":{"cpu":"1s","cpu":"2s"}}`, "", "duplicate object name"},
}

func TestParseRefuses(t *testing.T) {
	for _, c := range badLines {
		job := Parse([]byte(c.text), lossless.Exact)
		if job.Fault == nil || !strings.Contains(job.Fault.Error(), c.says) || job.ID.String() != c.id {
			t.Errorf("%s: %v, id %s", c.name, job.Fault, job.ID)
		}
	}
}

func TestParseDoubles(t *testing.T) {
	job := Parse([]byte(`{"id":9007199254740993,"program":"x","data":[5.0, 1e300]}`), lossless.Double)
	if job.Fault != nil || job.ID.String() != "9007199254740993" || !strings.HasPrefix(job.Data.String(), "[5,1") || len(job.Data.Bytes()) != 305 {
		t.Errorf("%+v, id %s, data %s", job, job.ID, job.Data)
	}
	job = Parse([]byte(`{"id":1,"program":"x","data":9007199254740993}`), lossless.Double)
	if job.Fault == nil || !strings.Contains(job.Fault.Error(), "a double can't hold") {
		t.Errorf("%v", job.Fault)
	}
	job = Parse([]byte(`{"id":1,"program":"x","data":[`+strings.Repeat("1e300,", 120_000)+`0]}`), lossless.Double)
	if job.Fault == nil || !strings.Contains(job.Fault.Error(), "in the profile of numbers, over 32 MiB") {
		t.Errorf("%v", job.Fault)
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range goodLines {
		f.Add([]byte(c.text), false)
	}
	for _, c := range badLines {
		f.Add([]byte(c.text), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, double bool) {
		numbers := lossless.Exact
		if double {
			numbers = lossless.Double
		}
		job := Parse(text, numbers)
		if _, err := lossless.Check(text, lossless.Options{}); err != nil && job.Fault == nil && !double {
			t.Errorf("a job that isn't lossless JSON: %v", err)
		}
		if job.Fault == nil && (!job.ID.Exists() || !job.program) {
			t.Errorf("a job without a fault lacks something: %+v", job)
		}
		fault := job.Fault
		if fault == nil {
			fault = lossless.ErrSyntax
		}
		job.Line = 1
		line, err := Invalid(job, fault).Encode()
		if err != nil {
			t.Fatal(err)
		}
		if w, err := parseResult(line[:len(line)-1]); err != nil || !w.failed || !w.id.Equal(Invalid(job, fault).ID) {
			t.Errorf("its result %s is read as %+v, %v", line, w, err)
		}
	})
}
