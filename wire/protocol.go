package wire

import "strconv"

// ProtocolFD is the child's file descriptor that carries the frames: one end of
// a Unix stream socket pair. The Python child has the same number.
const ProtocolFD = 3

// LogTruncationMarker is the log entry that stands for all output over a budget
// of maxLogBytes. Child and host make the same text, byte for byte.
func LogTruncationMarker(maxLogBytes int64) string {
	return "[thirdrail] log capture truncated at " + strconv.FormatInt(maxLogBytes, 10) + " bytes"
}
