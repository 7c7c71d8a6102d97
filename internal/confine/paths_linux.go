package confine

import (
	"cmp"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/thirdrail-dev/thirdrail/internal/interpreter"
)

// systemPaths are what libraries of Python read besides their own folder: shared
// libraries, time zones, fonts, and the configuration that says where those are.
var systemPaths = []string{
	"/lib", "/lib64", "/lib32", "/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/local/lib/python3",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld-musl-x86_64.path", "/etc/ld-musl-aarch64.path",
	"/etc/localtime", "/etc/timezone", "/usr/share/zoneinfo",
	"/etc/fonts", "/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/fontconfig", "/usr/share/fonts-*",
	"/etc/matplotlibrc", "/usr/share/matplotlib", "/etc/mime.types", "/etc/ssl/openssl.cnf", "/etc/alternatives",
}

// networkPaths are what name resolution and certificates need.
var networkPaths = []string{
	"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols",
	"/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates",
}

// devices are the ones without side effects.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// sharedPrefixes hold more than an interpreter, so only parts of them are read.
var sharedPrefixes = []string{"/", "/usr", "/usr/local"}

// interpreterPaths are the executable, and what it imports from.
func interpreterPaths(i *interpreter.Interpreter) []string {
	paths := append([]string{i.Path}, i.SysPath...)
	for _, prefix := range []string{i.Prefix, i.BasePrefix, i.ExecPrefix} {
		if !slices.Contains(sharedPrefixes, filepath.Clean(prefix)) {
			paths = append(paths, prefix)
			continue
		}
		// libpython lies here, and what distributions install beside the release.
		libraries, _ := filepath.Glob(filepath.Join(prefix, "lib", "libpython*"))
		paths = append(paths, libraries...)
		paths = append(paths, filepath.Join(prefix, "lib", fmt.Sprintf("python%d.%d", i.Version.Major, i.Version.Minor)))
	}
	return paths
}

// A place is a path without symbolic links.
type place struct {
	path   string
	folder bool
	access uint64
}

// places is what a child can reach, and the symbolic links on the way there.
type places struct {
	all   []place
	links map[string]string
}

// add adds what path means. A path that doesn't exist is an error if it must.
func (p *places) add(path string, access uint64, must bool) error {
	real, err := p.resolve(path)
	if err != nil {
		if must {
			return err
		}
		return nil
	}
	info, err := os.Stat(real)
	if err != nil {
		if must {
			return err
		}
		return nil
	}
	p.all = append(p.all, place{real, info.IsDir(), access})
	return nil
}

// maxLinks is how many symbolic links the kernel follows in one path.
const maxLinks = 40

// resolve returns path without symbolic links and keeps those it has met.
func (p *places) resolve(path string) (string, error) {
	rest := strings.Split(filepath.Clean(path), "/")[1:]
	done := "/"
	for met := 0; len(rest) > 0; {
		next := filepath.Join(done, rest[0])
		rest = rest[1:]
		target, err := os.Readlink(next)
		if err != nil {
			if _, err := os.Lstat(next); err != nil {
				return "", err
			}
			done = next
			continue
		}
		if met++; met > maxLinks {
			return "", fmt.Errorf("%s has too many symbolic links", path)
		}
		if p.links == nil {
			p.links = map[string]string{}
		}
		p.links[next] = target
		if filepath.IsAbs(target) {
			done = "/"
		}
		rest = append(strings.Split(strings.Trim(filepath.Clean(target), "/"), "/"), rest...)
	}
	return done, nil
}

// tidy sorts the places and drops those that another one with the same rights
// contains already.
func (p *places) tidy() {
	slices.SortFunc(p.all, func(a, b place) int { return cmp.Compare(a.path, b.path) })
	var kept []place
	for _, candidate := range p.all {
		if !slices.ContainsFunc(kept, func(k place) bool { return k.contains(candidate.path) && k.access|candidate.access == k.access }) {
			kept = append(kept, candidate)
		}
	}
	p.all = kept
}

// access returns what may be done with path.
func (p *places) access(path string) (access uint64) {
	for _, place := range p.all {
		if place.contains(path) {
			access |= place.access
		}
	}
	return access
}

// contain tells whether path is one of the places or lies below one.
func (p *places) contain(path string) bool {
	return slices.ContainsFunc(p.all, func(l place) bool { return l.contains(path) })
}

// contains tells whether path is the place itself or lies below it.
func (p place) contains(path string) bool {
	return path == p.path || p.folder && strings.HasPrefix(path, strings.TrimSuffix(p.path, "/")+"/")
}

// loader returns the program that the kernel starts to load an executable's
// libraries, or "" for one that needs none.
func loader(path string) string {
	file, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	for _, program := range file.Progs {
		if program.Type == elf.PT_INTERP {
			text := make([]byte, program.Filesz)
			if _, err := program.ReadAt(text, 0); err == nil {
				return strings.TrimRight(string(text), "\x00")
			}
		}
	}
	return ""
}
