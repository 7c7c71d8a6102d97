package interpreter

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// An answer is what gate.py printed: fields in order, then code.
type answer struct {
	fields []field
	code   []byte
}

type field struct {
	name, value string
}

// parseAnswer finds the answer with nonce in stdout, which may hold anything
// before and after it. It reports whether there is a whole one.
func parseAnswer(stdout []byte, nonce string) (answer, bool) {
	_, rest, ok := bytes.Cut(stdout, []byte("\x00"+nonce+" "))
	if !ok {
		return answer{}, false
	}
	lengths, body, ok := bytes.Cut(rest, []byte("\n"))
	if !ok {
		return answer{}, false
	}
	first, second, _ := strings.Cut(string(lengths), " ")
	reportBytes, err := strconv.ParseUint(first, 10, 31)
	if err != nil || reportBytes > uint64(len(body)) {
		return answer{}, false
	}
	report, code := body[:reportBytes], body[reportBytes:]
	codeBytes, err := strconv.ParseUint(second, 10, 31)
	if err != nil || codeBytes > uint64(len(code)) {
		return answer{}, false
	}
	fields, ok := parseFields(report)
	return answer{fields: fields, code: code[:codeBytes:codeBytes]}, ok
}

// parseFields splits a report into its names and values, each ended by a NUL.
func parseFields(report []byte) ([]field, bool) {
	var fields []field
	for len(report) > 0 {
		name, rest, ok := bytes.Cut(report, []byte{0})
		if !ok {
			return nil, false
		}
		value, rest, ok := bytes.Cut(rest, []byte{0})
		if !ok {
			return nil, false
		}
		fields = append(fields, field{string(name), string(value)})
		report = rest
	}
	return fields, true
}

// value returns the first value that a field has, or "".
func (a answer) value(name string) string {
	if all := a.values(name); len(all) > 0 {
		return all[0]
	}
	return ""
}

// values returns the values of a field in order.
func (a answer) values(name string) []string {
	var values []string
	for _, field := range a.fields {
		if field.name == name {
			values = append(values, field.value)
		}
	}
	return values
}

// interpreter returns the interpreter that the answer of path describes, or why
// it can't be used.
func (a answer) interpreter(path string) (*Interpreter, error) {
	version, err := parseVersion(a.value("version"))
	if err != nil {
		return nil, fail(path, ErrNotPython, "%w; %s", err, setAnother)
	}
	if implementation := a.value("implementation"); implementation != "cpython" {
		return nil, fail(path, ErrNotCPython, "it is %s, an implementation of Python %s, and only CPython is supported; %s",
			display(implementation), version, setAnother)
	}
	if !version.AtLeast(3, 9) {
		return nil, fail(path, ErrTooOld, "needs 3.9 or newer, %s is %s; %s", display(path), version, setNewer)
	}
	if missing := a.values("missing"); len(missing) > 0 {
		return nil, fail(path, ErrIncomplete, "Python %s there can't import %s, which the child needs; %s",
			version, strings.Join(missing, ", "), setAnother)
	}
	executable := a.value("executable")
	if !filepath.IsAbs(executable) {
		return nil, fail(path, ErrNotPython, "sys.executable is %s, not an absolute path; %s", display(executable), nameTheReal)
	}
	bits, err := strconv.Atoi(a.value("bits"))
	if err != nil {
		return nil, fail(path, ErrNotPython, "%w; %s", err, setAnother)
	}
	bare, err := strconv.ParseInt(a.value("bare_bytes"), 10, 64)
	if err != nil {
		return nil, fail(path, ErrNotPython, "%w; %s", err, setAnother)
	}
	return &Interpreter{
		Path:       executable,
		Version:    version,
		Prefix:     a.value("prefix"),
		BasePrefix: a.value("base_prefix"),
		ExecPrefix: a.value("exec_prefix"),
		SysPath:    a.values("sys_path"),
		Bits:       bits,
		Ctypes:     a.value("ctypes") == "yes",
		BareBytes:  bare,
		Code:       bytes.Clone(a.code),
	}, nil
}

// parseVersion reads three numbers with dots between them.
func parseVersion(text string) (Version, error) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return Version{}, fmt.Errorf("its version is %s, not three numbers", excerpt([]byte(text)))
	}
	var numbers [3]int
	for i, part := range parts {
		number, err := strconv.ParseUint(part, 10, 16)
		if err != nil {
			return Version{}, fmt.Errorf("its version is %s, not three numbers", excerpt([]byte(text)))
		}
		numbers[i] = int(number)
	}
	return Version{numbers[0], numbers[1], numbers[2]}, nil
}
