//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// WhenAsked calls answer whenever somebody sends the signal USR1, until stop is
// called. The signal has no effect from then on: it comes too late.
func (a *App) WhenAsked(answer func()) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	wait := a.Background(func() {
		for range signals {
			answer()
		}
	})
	return func() {
		signal.Ignore(syscall.SIGUSR1)
		close(signals)
		wait()
	}
}
