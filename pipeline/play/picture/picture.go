// Package picture draws positions for the previews of links: a board with its seeds, as a
// PNG of the size that sites expect (1200 by 630 pixels), and the icon of the page.
//
//	png, err := picture.Board(picture.Position{Pits: pits, Players: [2]string{"South", "North"}, Title: "South to move"})
//
// Shapes are filled by golang.org/x/image/vector, texts written in the Go font: nothing is
// read from the system, so the same position is the same bytes everywhere.
package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"strconv"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// Size of a picture of a board in pixels.
const (
	Width  = 1200
	Height = 630
)

// Colours of the page.
var (
	paper  = color.RGBA{0xf5, 0xf0, 0xe6, 0xff}
	ink    = color.RGBA{0x2a, 0x20, 0x18, 0xff}
	wood   = color.RGBA{0x85, 0x52, 0x2b, 0xff}
	bowl   = color.RGBA{0x3f, 0x22, 0x11, 0xff}
	light  = color.RGBA{0xfd, 0xf1, 0xde, 0xff}
	gold   = color.RGBA{0xff, 0xd7, 0x77, 0xff}
	shadow = color.RGBA{0, 0, 0, 0x60}
	tints  = []color.RGBA{{0xc5, 0xc1, 0xa4, 0xff}, {0xb4, 0xb5, 0xa2, 0xff}, {0xcd, 0xb7, 0x90, 0xff}}
)

// Position is the subject of a picture.
type Position struct {
	Pits    []int     // seeds, South's pits first, then North's; an even number
	North   bool      // North moves
	Taken   [2]int    // by South, by North
	Players [2]string // names of South and North
	Title   string    // one line above the board
}

// Board returns a picture of a position as a PNG. It fails if there is no board.
func Board(p Position) ([]byte, error) {
	if len(p.Pits) == 0 || len(p.Pits)%2 != 0 {
		return nil, fmt.Errorf("a picture of %d pits: expected an even number", len(p.Pits))
	}
	c, err := newCanvas(Width, Height, paper)
	if err != nil {
		return nil, err
	}
	if err := c.write(p.Title, Width/2, 86, 50, ink); err != nil {
		return nil, err
	}
	if err := c.board(p); err != nil {
		return nil, err
	}
	if err := c.write("Grenier · awari", Width/2, 606, 28, wood); err != nil {
		return nil, err
	}
	return c.png()
}

// Icon returns the icon of the page as a PNG, a square of size pixels.
func Icon(size int) ([]byte, error) {
	c, err := newCanvas(size, size, wood)
	if err != nil {
		return nil, err
	}
	s := float32(size) / 64
	c.disc(32*s, 32*s, 22*s, bowl)
	for _, at := range [][2]float32{{32, 22}, {23, 37}, {41, 37}} {
		c.disc(at[0]*s, at[1]*s, 7.5*s, tints[0])
	}
	return c.png()
}

// The board in its picture, in pixels.
const (
	left, top, right, bottom = 40, 126, 1160, 556
	storeWidth               = 116
)

func (c *canvas) board(p Position) error {
	c.rounded(left, top, right, bottom, 48, wood)
	half := len(p.Pits) / 2
	inner := float32(right-left-2*storeWidth-48) / float32(half)
	radius := min(inner/2-8, 78)
	for pit, seeds := range p.Pits {
		column, y := pit, float32(bottom-110)
		if pit >= half {
			column, y = len(p.Pits)-1-pit, top+110
		}
		x := left + storeWidth + 24 + inner*(float32(column)+0.5)
		c.disc(x, y, radius, bowl)
		c.seeds(x, y, radius, seeds, pit)
		at := y - radius - 10
		if pit >= half {
			at = y + radius + 34
		}
		if err := c.write(strconv.Itoa(seeds), int(x), int(at), 30, light); err != nil {
			return err
		}
	}
	return c.stores(p)
}

// stores draws the seeds that both have taken; the store of the player to move has a rim.
func (c *canvas) stores(p Position) error {
	for player, x := range []float32{right - 16 - storeWidth, left + 16} {
		if p.North == (player == 1) {
			c.rounded(x-5, top+15, x+storeWidth+5, bottom-15, 37, gold)
		}
		c.rounded(x, top+20, x+storeWidth, bottom-20, 32, bowl)
		middle := int(x + storeWidth/2)
		if err := c.write(p.Players[player], middle, top+64, 28, light); err != nil {
			return err
		}
		if err := c.write(strconv.Itoa(p.Taken[player]), middle, bottom-44, 44, light); err != nil {
			return err
		}
	}
	return nil
}

// seeds lays seeds in a pit as they lie in a sunflower.
func (c *canvas) seeds(x, y, radius float32, count, salt int) {
	step := float64(radius) * 0.74 / math.Sqrt(float64(max(count, 4)))
	size := min(float32(step)*0.86, radius*0.23)
	for i := range count {
		away := step * math.Sqrt(float64(i)+0.5)
		if count == 1 {
			away = 0
		}
		sin, cos := math.Sincos(float64(salt)*1.7 + float64(i)*math.Pi*(3-math.Sqrt(5)))
		sx, sy := x+float32(away*cos), y+float32(away*sin)
		c.disc(sx+1.5, sy+3, size, shadow)
		c.disc(sx, sy, size, tints[(salt+i)%len(tints)])
		c.disc(sx-size*0.28, sy-size*0.34, size*0.34, color.RGBA{0x40, 0x40, 0x3a, 0x40})
	}
}

// canvas is a picture that is being drawn.
type canvas struct {
	img  *image.RGBA
	font *opentype.Font
}

func newCanvas(width, height int, back color.Color) (*canvas, error) {
	f, err := opentype.Parse(gobold.TTF)
	if err != nil {
		return nil, err
	}
	c := &canvas{image.NewRGBA(image.Rect(0, 0, width, height)), f}
	draw.Draw(c.img, c.img.Bounds(), image.NewUniform(back), image.Point{}, draw.Src)
	return c, nil
}

// fill fills the shape that outline draws, in a box whose corner is the origin.
func (c *canvas) fill(x0, y0, x1, y1 float32, shade color.Color, outline func(z *vector.Rasterizer, dx, dy float32)) {
	box := image.Rect(int(x0)-1, int(y0)-1, int(x1)+2, int(y1)+2)
	z := vector.NewRasterizer(box.Dx(), box.Dy())
	outline(z, float32(-box.Min.X), float32(-box.Min.Y))
	z.ClosePath()
	z.Draw(c.img, box, image.NewUniform(shade), image.Point{})
}

// round is how far the control points of a quarter of a circle are from its ends.
const round = 0.5522847

// rounded fills a rectangle with round corners.
func (c *canvas) rounded(x0, y0, x1, y1, r float32, shade color.Color) {
	c.fill(x0, y0, x1, y1, shade, func(z *vector.Rasterizer, dx, dy float32) {
		x0, y0, x1, y1, k := x0+dx, y0+dy, x1+dx, y1+dy, r*(1-round)
		z.MoveTo(x0+r, y0)
		z.LineTo(x1-r, y0)
		z.CubeTo(x1-k, y0, x1, y0+k, x1, y0+r)
		z.LineTo(x1, y1-r)
		z.CubeTo(x1, y1-k, x1-k, y1, x1-r, y1)
		z.LineTo(x0+r, y1)
		z.CubeTo(x0+k, y1, x0, y1-k, x0, y1-r)
		z.LineTo(x0, y0+r)
		z.CubeTo(x0, y0+k, x0+k, y0, x0+r, y0)
	})
}

func (c *canvas) disc(x, y, r float32, shade color.Color) {
	c.rounded(x-r, y-r, x+r, y+r, r, shade)
}

// write writes a line of text around x; it is made smaller if it would not fit.
func (c *canvas) write(text string, x, y int, size float64, shade color.Color) error {
	for {
		face, err := opentype.NewFace(c.font, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingFull})
		if err != nil {
			return err
		}
		d := font.Drawer{Dst: c.img, Src: image.NewUniform(shade), Face: face}
		width := d.MeasureString(text)
		if width.Ceil() > c.img.Bounds().Dx()-40 && size > 8 {
			size *= 0.8
			continue
		}
		d.Dot = fixed.Point26_6{X: fixed.I(x) - width/2, Y: fixed.I(y)}
		d.DrawString(text)
		return face.Close()
	}
}

func (c *canvas) png() ([]byte, error) {
	var b bytes.Buffer
	if err := png.Encode(&b, c.img); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
