//go:build !unix

package bench

import (
	"errors"
	"os"
)

func socketPair() (host, child *os.File, err error) { return nil, nil, errors.ErrUnsupported }
