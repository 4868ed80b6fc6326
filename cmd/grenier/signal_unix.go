//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// whenAsked calls answer whenever somebody sends the signal USR1, until stop is
// called. The signal has no effect from then on: it comes too late.
func whenAsked(answer func()) (stop func()) {
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGUSR1)
	go func() {
		defer close(done)
		for range signals {
			answer()
		}
	}()
	return func() {
		signal.Ignore(syscall.SIGUSR1)
		close(signals)
		<-done
	}
}
