// Package cachetest measures how much of a file is in the page cache, for tests.
package cachetest
