//go:build unix && !linux

package child

import "os"

// codeFile keeps code in a file without a name, open for reading only.
func codeFile(code []byte) (*os.File, error) {
	f, err := os.CreateTemp("", "thirdrail-child-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := f.Write(code); err != nil {
		return nil, err
	}
	return os.Open(f.Name())
}

// fionread asks how many bytes can be read: FIONREAD of the BSDs' sys/filio.h.
const fionread = 0x4004667f
