//go:build !linux

package main

import "testing"

func (p *windowRuns) testFullDisk(t *testing.T) { t.Skip("needs a file system of its own") }
