package serve

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"grenier/io/crew"
)

const (
	// maxFarewells bounds the connections that get a reason before they are
	// closed; more are closed without a word.
	maxFarewells = 32
	// farewell is the time for that.
	farewell = 500 * time.Millisecond
)

// door is a listener that lets in only so many connections of each client at a
// time. Others are answered with 429 when they ask for something, and closed; no request of theirs is looked at.
type door struct {
	net.Listener
	held      *tally
	server    *Server       // counts and logs
	farewells chan struct{} // one for each connection that is being refused
}

func newDoor(l net.Listener, s *Server) *door {
	return &door{Listener: l, held: newTally(s.limits.each, s.limits.connections), server: s, farewells: make(chan struct{}, maxFarewells)}
}

// Accept waits for a connection that may come in.
func (d *door) Accept() (net.Conn, error) {
	for {
		c, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		client := clientOf(c.RemoteAddr().String())
		if d.held.take(client) {
			return &guest{Conn: c, door: d, client: client}, nil
		}
		d.server.metrics.turnedAway.Add(1)
		d.turnAway(c)
	}
}

// turnAway closes a connection, after a word if not too many get one.
func (d *door) turnAway(c net.Conn) {
	select {
	case d.farewells <- struct{}{}:
		talk := func() error {
			sayNo(c)
			return nil
		}
		crew.Go(talk, func(bug error) {
			if bug != nil {
				d.server.note(bug)
			}
			<-d.farewells
		})
	default:
		c.Close()
	}
}

// wait waits until all farewells have ended; no more will begin.
func (d *door) wait() {
	for range maxFarewells {
		d.farewells <- struct{}{}
	}
}

// sayNo answers 429 when a request begins: HTTP clients do not expect an answer before. It reads a little
// of what the client sends: a connection that is closed with bytes unread is reset, and the answer lost.
func sayNo(c net.Conn) {
	defer c.Close()
	if c.SetDeadline(time.Now().Add(farewell)) != nil {
		return
	}
	if _, err := c.Read(make([]byte, 1)); err != nil {
		return
	}
	if _, err := c.Write(tooManyConnections); err != nil {
		return
	}
	if half, ok := c.(interface{ CloseWrite() error }); ok && half.CloseWrite() != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, c, maxBodyBytes) // until the client goes, or time is up
}

// tooManyConnections is the whole answer to a client with too many.
var tooManyConnections = func() []byte {
	body, err := encode(problem{"too many connections at the same time: close some", codeConnections})
	if err != nil {
		panic(err) // a struct of one string
	}
	answer := http.Response{
		StatusCode: http.StatusTooManyRequests, ProtoMajor: 1, ProtoMinor: 1, Close: true, Header: http.Header{},
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
	for name, value := range securityHeaders {
		answer.Header.Set(name, value)
	}
	answer.Header.Set("Content-Type", "application/json")
	answer.Header.Set("Cache-Control", "no-store")
	answer.Header.Set("Retry-After", strconv.Itoa(retrySeconds))
	var b bytes.Buffer
	if err := answer.Write(&b); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}()

// guest is a connection that was let in.
type guest struct {
	net.Conn
	door   *door
	client netip.Addr
	left   sync.Once
}

// Close ends the connection and lets another one of the client in.
func (g *guest) Close() error {
	err := g.Conn.Close()
	g.left.Do(func() { g.door.held.give(g.client) })
	return err
}
