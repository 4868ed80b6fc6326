// Package pagecache keeps a big file, whose bytes are not read again soon, from filling
// the page cache of the operating system at the cost of everything else on the machine.
//
// On Linux written bytes go to disk at once, and pages that were written or read are
// dropped soon after; writing waits for the disk when about 16 MiB are not there yet.
// Elsewhere this package does nothing. It never changes the contents of a file.
package pagecache
