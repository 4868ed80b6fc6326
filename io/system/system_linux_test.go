package system

import "testing"

func TestMounted(t *testing.T) {
	const mounts = "22 1 8:1 / / rw - ext4 first rw\n" +
		"30 22 0:26 / /quick rw,nosuid shared:4 - tmpfs tmpfs rw\n" +
		"31 22 8:2 / /data rw - xfs second rw\n32 31 0:9 / /data rw - nfs4 server:/data rw\n" +
		"33 22 8:3 / /my\\040disk rw - btrfs third rw\nnonsense\n"
	for path, want := range map[string]string{
		"/": "ext4", "/other/x": "ext4", "/quick": "tmpfs", "/quick/a/b": "tmpfs", "/quickx": "ext4", "/data/run": "nfs4", "/my disk/run": "btrfs",
	} {
		if got := mounted(mounts, path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if got := mounted("", "/"); got != "" {
		t.Errorf("nothing mounted: %q", got)
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{"always [madvise] never\n": "madvise", "[never]": "never", "": "", "always": ""} {
		if got := chosen(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if n, known := available("MemTotal: 9 kB\nMemAvailable:    5 kB\n"); n != 5<<10 || !known {
		t.Errorf("%d, %v", n, known)
	}
	if _, known := available("MemTotal: 9 kB\n"); known {
		t.Error("known from nothing")
	}
}

// TestHere: this system tells.
func TestHere(t *testing.T) {
	l, known := LimitsHere()
	if !known || l.OpenFiles < 3 || l.AddressSpace == 0 {
		t.Errorf("%+v, %v", l, known)
	}
	if n, known := AvailableMemory(); !known || n == 0 {
		t.Errorf("%d bytes, %v", n, known)
	}
	if FileSystem(t.TempDir()) == "" {
		t.Error("no file system")
	}
	if FileSystem("/no/such/place") != "" {
		t.Error("a file system of nothing")
	}
}
