// Package pagecache keeps a big file, whose bytes are not wanted again for long, from
// filling the page cache of the operating system at the cost of everything else on the
// machine.
//
// On Linux what was written goes to disk at once, and its pages, and those of what was
// read, are dropped soon after; writing waits for the disk when about 16 MiB are not
// there yet. Elsewhere this package does nothing. It never changes what is in a file.
package pagecache
