//go:build linux

package thirdrail

import "regexp"

// stdlibModules are quick, and most of their tests need no network and no process.
// Those of large mappings need more memory than a run has.
var stdlibModules = []stdlibModule{
	{Module: "test_json"},
	{Module: "test_re"},
	{Module: "test_decimal"},
	{Module: "test_zoneinfo"},
	{Module: "test_collections"},
	{Module: "test_itertools"},
	{Module: "test_functools"},
	{Module: "test_heapq"},
	{Module: "test_bisect"},
	{Module: "test_random"},
	{Module: "test_string"},
	{Module: "test_textwrap"},
	{Module: "test_struct"},
	{Module: "test_base64"},
	{Module: "test_binascii"},
	{Module: "test_zlib"},
	{Module: "test_gzip"},
	{Module: "test_bz2"},
	{Module: "test_lzma"},
	{Module: "test_csv"},
	{Module: "test_configparser"},
	{Module: "test_hmac"},
	{Module: "test_copy"},
	{Module: "test_enum"},
	{Module: "test_dataclasses"},
	{Module: "test_typing"},
	{Module: "test_abc"},
	{Module: "test_contextlib"},
	{Module: "test_queue"},
	{Module: "test_tempfile"},
	{Module: "test_shutil"},
	{Module: "test_pathlib"},
	{Module: "test_glob"},
	{Module: "test_fnmatch"},
	{Module: "test_fractions"},
	{Module: "test_secrets"},
	{Module: "test_uuid"},
	{Module: "test_operator"},
	{Module: "test_list"},
	{Module: "test_dict"},
	{Module: "test_set"},
	{Module: "test_mmap", Without: []string{"LargeMmapTests"}},
	{Module: "test_sqlite3", Since: 11}, // before, it is elsewhere
	{Module: "test_posixpath"},
	{Module: "test_locale"},
	{Module: "test_html"},
	{Module: "test_pprint"},
	{Module: "test_difflib"},
	{Module: "test_shelve"},
	{Module: "test_getpass"},
	{Module: "test_mimetypes"},
	{Module: "test_colorsys"},
	{Module: "test_strptime"},
	{Module: "test_asyncio.test_queues"},
	{Module: "test_asyncio.test_locks"},
}

// A stdlibCause is why tests end otherwise inside the walls than outside.
type stdlibCause struct {
	inside, outside string // the outcomes
	reason          *regexp.Regexp
	why             string
}

// stdlibCauses are known by what a test says where it doesn't pass.
var stdlibCauses = []stdlibCause{
	{"error", "passed", regexp.MustCompile(`(?s)(fork_exec\(|os\.fork\(|forkpty|posix_spawn\(|_spawnvef).*PermissionError: \[Errno 1\]`), "a run is one process"},
	{"error", "passed", regexp.MustCompile(`(?s)socket\.py.*PermissionError: \[Errno 1\]`), "a run has no sockets"},
	{"skipped", "passed", regexp.MustCompile(`^(Need the \w+ command to run|requires (ifconfig|ip|arp|lanscan|netstat))$`), "no command of the host is there"},
	{"skipped", "passed", regexp.MustCompile(`no non-broken extended attribute support`), "it tries an attribute that only root may set"},
	{"skipped", "passed", regexp.MustCompile(`needs root privilege|requires root`), "a run isn't root, and tests outside may be"},
	{"passed", "skipped", regexp.MustCompile(`CAP_DAC_OVERRIDE|can't set the directory read-only|superuser|root`), "a run isn't root, and tests outside may be"},
	{"error", "passed", regexp.MustCompile(`KeyError: 'get(gr|pw)[gu]id\(\): [gu]id not found: 0'`), "there is no user 0 inside"},
}
