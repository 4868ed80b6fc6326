//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// WhenAsked calls answer for each signal USR1, until stop is called. From then on the signal is
// ignored.
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
