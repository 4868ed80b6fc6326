// Package cachetest tells tests how much of a file is in the page cache.
package cachetest
