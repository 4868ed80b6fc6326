package system

import (
	"testing"

	"grenier/internal/testkit/should"
)

func TestMounted(t *testing.T) {
	const mounts = "22 1 8:1 / / rw - ext4 first rw\n" +
		"30 22 0:26 / /quick rw,nosuid shared:4 - tmpfs tmpfs rw\n" +
		"31 22 8:2 / /data rw - xfs second rw\n32 31 0:9 / /data rw - nfs4 server:/data rw\n" +
		"33 22 8:3 / /my\\040disk rw - btrfs third rw\nnonsense\n"
	for path, want := range map[string]string{
		"/": "ext4", "/other/x": "ext4", "/quick": "tmpfs", "/quick/a/b": "tmpfs", "/quickx": "ext4", "/data/run": "nfs4", "/my disk/run": "btrfs",
	} {
		should.Equal(t, mounted(mounts, path), want, "%s", path)
	}
	should.Equal(t, mounted("", "/"), "", "nothing mounted")
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{"always [madvise] never\n": "madvise", "[never]": "never", "": "", "always": ""} {
		should.Equal(t, chosen(text), want, "%q", text)
	}
	n, known := available("MemTotal: 9 kB\nMemAvailable:    5 kB\n")
	should.Hold(t, n == 5<<10 && known, "%d, %v", n, known)
	_, known = available("MemTotal: 9 kB\n")
	should.Not(t, known, "known from nothing")
}

// TestHere: this system tells.
func TestHere(t *testing.T) {
	l, known := LimitsHere()
	should.Not(t, !known || l.OpenFiles < 3 || l.AddressSpace == 0, "%+v, %v", l, known)
	n, known := AvailableMemory()
	should.Not(t, !known || n == 0, "%d bytes, %v", n, known)
	should.Not(t, FileSystem(t.TempDir()) == "", "no file system")
	should.Hold(t, FileSystem("/no/such/place") == "", "a file system of nothing")
}
