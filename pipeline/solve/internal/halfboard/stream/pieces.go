package stream

import (
	"errors"
	"io"

	"grenier/io/corrupt"
	"grenier/io/crew"
	"grenier/io/rundir"
	"grenier/io/spill"
)

const piecesVersion = 1

// Piece is a part of the encoded layer that waits for the layer file, in a stream. Users of the engine say what is in it.
type Piece struct {
	streams *Streams
	name    string
	header  spill.Header
}

// Piece returns a piece, by number: of tells what its contents depend on besides the layer.
func (s *Streams) Piece(number int, of string) Piece {
	return Piece{s, rundir.PieceName(number), spill.Header{
		Kind: "awari-piece", Version: piecesVersion, Identity: s.identity("piece %d, %s", number, of),
	}}
}

// IsWhole reports whether the piece is there. Read reads all of it, and says if it is damaged: then the user is told, and it
// counts as not there.
func (p Piece) IsWhole(read func(io.Reader) error) (bool, error) {
	return p.streams.isUseful(p.name, p.header, func(r *spill.Reader) error { return readAll(r, read) })
}

// readAll reads a stream to its end.
func readAll(r *spill.Reader, read func(io.Reader) error) error {
	err := read(r)
	switch {
	case err == nil:
		return atEnd(r)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return corrupt.New(r.Path(), "", "shorter than what it should hold")
	}
	return err
}

// IsThere reports whether there is a piece, by its header alone.
func (p Piece) IsThere() bool {
	h, err := spill.ReadHeader(p.streams.Work, p.name)
	return err == nil && h.Expect(p.name, p.header) == nil
}

// Read reads the piece, all of it.
func (p Piece) Read(read func(io.Reader) error) error {
	r, err := spill.Open(p.streams.Work, p.name, p.header, p.streams.Workers)
	if err != nil {
		return err
	}
	err = crew.Run(func() error { return readAll(r, read) })
	return errors.Join(err, r.Close())
}

// Write makes the piece.
func (p Piece) Write(write func(io.Writer) error) error {
	w, err := spill.Create(p.streams.Work, p.name, p.header, spill.Stored, p.streams.Workers)
	if err != nil {
		return err
	}
	return complete(w, func() error { return write(w) })
}
