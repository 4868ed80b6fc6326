//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd

package guard

import "testing"

// pages returns ordinary memory: pages cannot be protected here.
func pages(_ testing.TB, n int) []byte {
	n = (n + 7) / 8 * 8
	return make([]byte, n)
}
