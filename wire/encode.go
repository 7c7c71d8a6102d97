package wire

import (
	"strconv"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// Append appends f to dst as one line of compact JSON with its newline, and
// returns the longer slice. Values go in as they are, without being looked at
// again. The line is valid whatever the strings hold: a byte that is not UTF-8
// becomes U+FFFD. Optional fields that hold their zero value are left out.
//
// Append does not judge the frame: that numbers are in their range and that a
// value keeps the receiver's number profile is for the caller to see to.
func Append(dst []byte, f Frame) []byte {
	return append(f.appendTo(dst), '\n')
}

func (f *Boot) appendTo(dst []byte) []byte {
	dst = append(dst, `{"type":"boot","cpuSeconds":`...)
	dst = strconv.AppendInt(dst, f.CPUSeconds, 10)
	dst = append(dst, `,"addressSpaceBytes":`...)
	dst = strconv.AppendInt(dst, f.AddressSpaceBytes, 10)
	dst = append(dst, `,"maxLogBytes":`...)
	dst = strconv.AppendInt(dst, f.MaxLogBytes, 10)
	dst = append(dst, `,"maxValueBytes":`...)
	dst = strconv.AppendInt(dst, f.MaxValueBytes, 10)
	dst = append(dst, `,"namespaces":`...)
	dst = appendArray(dst, f.Namespaces, appendNamespace)
	if f.Numbers != "" {
		dst = append(dst, `,"numbers":`...)
		dst = appendQuoted(dst, string(f.Numbers))
	}
	if f.OpenLogs {
		dst = append(dst, `,"openLogs":true`...)
	}
	if f.Confinement.Exists() {
		dst = append(dst, `,"confinement":`...)
		dst = appendValue(dst, f.Confinement)
	}
	return append(dst, '}')
}

func appendNamespace(dst []byte, n Namespace) []byte {
	dst = append(dst, `{"global":`...)
	dst = appendQuoted(dst, n.Global)
	dst = append(dst, `,"names":`...)
	dst = appendArray(dst, n.Names, appendQuoted)
	if n.ErrorClass != nil {
		dst = append(dst, `,"errorClass":{"name":`...)
		dst = appendQuoted(dst, n.ErrorClass.Name)
		dst = append(dst, `,"memberNameProperty":`...)
		dst = appendQuoted(dst, n.ErrorClass.MemberNameProperty)
		dst = append(dst, '}')
	}
	if n.SplitArguments {
		dst = append(dst, `,"splitArguments":true`...)
	}
	if n.Handles != "" {
		dst = append(dst, `,"handles":`...)
		dst = appendQuoted(dst, n.Handles)
	}
	return append(dst, '}')
}

func (f *Run) appendTo(dst []byte) []byte {
	dst = append(dst, `{"type":"run","program":`...)
	dst = appendQuoted(dst, f.Program)
	if f.FileName != "" {
		dst = append(dst, `,"fileName":`...)
		dst = appendQuoted(dst, f.FileName)
	}
	if f.Data.Exists() {
		dst = append(dst, `,"data":`...)
		dst = appendValue(dst, f.Data)
	}
	if f.LastExpression {
		dst = append(dst, `,"lastExpression":true`...)
	}
	return append(dst, '}')
}

func (f *ReplyValue) appendTo(dst []byte) []byte {
	dst = append(dst, `{"type":"reply","id":`...)
	dst = strconv.AppendInt(dst, f.ID, 10)
	dst = append(dst, `,"ok":true,"value":`...)
	dst = appendValue(dst, f.Value)
	return append(dst, '}')
}

func (f *ReplyError) appendTo(dst []byte) []byte {
	dst = append(dst, `{"type":"reply","id":`...)
	dst = strconv.AppendInt(dst, f.ID, 10)
	dst = append(dst, `,"ok":false,"message":`...)
	dst = appendQuoted(dst, f.Message)
	return append(dst, '}')
}

func (f *BootAck) appendTo(dst []byte) []byte {
	dst = append(dst, `{"type":"boot-ack"`...)
	if f.Proof.Exists() {
		dst = append(dst, `,"proof":`...)
		dst = appendValue(dst, f.Proof)
	}
	return append(dst, '}')
}

func (f *Call) appendTo(dst []byte) []byte {
	dst = append(dst, `{"type":"call","id":`...)
	dst = strconv.AppendInt(dst, f.ID, 10)
	dst = append(dst, `,"global":`...)
	dst = appendQuoted(dst, f.Global)
	dst = append(dst, `,"name":`...)
	dst = appendQuoted(dst, f.Name)
	dst = append(dst, `,"args":`...)
	dst = appendValue(dst, f.Args)
	return append(dst, '}')
}

func (f *Log) appendTo(dst []byte) []byte {
	dst = append(dst, `{"type":"log","text":`...)
	dst = appendQuoted(dst, f.Text)
	if f.Truncated {
		dst = append(dst, `,"truncated":true`...)
	}
	if f.Open {
		dst = append(dst, `,"open":true`...)
	}
	return append(dst, '}')
}

func (f *Done) appendTo(dst []byte) []byte {
	dst = append(dst, `{"type":"done"`...)
	if f.Value.Exists() {
		dst = append(dst, `,"value":`...)
		dst = appendValue(dst, f.Value)
	}
	if f.Error != nil {
		dst = append(dst, `,"error":{"kind":`...)
		dst = appendQuoted(dst, string(f.Error.Kind))
		dst = append(dst, `,"message":`...)
		dst = appendQuoted(dst, f.Error.Message)
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

// appendValue splices v in. An absent value stands where one is required, so it
// is sent as null.
func appendValue(dst []byte, v lossless.Value) []byte {
	if !v.Exists() {
		return append(dst, "null"...)
	}
	return append(dst, v.Bytes()...)
}

func appendArray[T any](dst []byte, list []T, element func([]byte, T) []byte) []byte {
	dst = append(dst, '[')
	for i, e := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = element(dst, e)
	}
	return append(dst, ']')
}
