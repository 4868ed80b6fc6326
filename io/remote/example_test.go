package remote_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"grenier/io/remote"
)

// Example reads some bytes of a file on a web server.
func Example() {
	dir, err := os.MkdirTemp("", "files")
	check(err)
	defer os.RemoveAll(dir)
	check(os.WriteFile(filepath.Join(dir, "letters"), []byte("abcdefghij"), 0o600))
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	ctx := context.Background()

	d, err := remote.Open(server.URL, remote.Options{})
	check(err)
	defer d.Close()
	f, err := d.OpenFile(ctx, "letters")
	check(err)
	defer f.Close()
	some := make([]byte, 3)
	_, err = f.ReadAt(ctx, some, 4)
	check(err)
	fmt.Printf("%s, of %d bytes\n", some, f.Size())
	// Output: efg, of 10 bytes
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
