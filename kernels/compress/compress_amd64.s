//go:build !purego

#include "go_asm.h"
#include "textflag.h"
#include "compress_amd64.h"

// func copyColumns(dst, src *Block, columns uint64)
TEXT ·copyColumns(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ columns+16(FP), AX

copyColumn:
	TZCNTQ    AX, CX
	SHLQ      $6, CX
	VMOVDQU64 (SI)(CX*1), Z0
	VMOVDQU64 Z0, (DI)(CX*1)
	BLSRQ     AX, AX
	JNZ       copyColumn
	VZEROUPPER
	RET

// func fillColumns(dst *Block, columns uint64, score int8)
TEXT ·fillColumns(SB), NOSPLIT, $0-17
	MOVQ         dst+0(FP), DI
	MOVQ         columns+8(FP), AX
	VPBROADCASTB score+16(FP), Z0

fillColumn:
	TZCNTQ    AX, CX
	SHLQ      $6, CX
	VMOVDQU64 Z0, (DI)(CX*1)
	BLSRQ     AX, AX
	JNZ       fillColumn
	VZEROUPPER
	RET

// func fetch(lines []int8)
//
// Short lines need not start where a line of the cache does.
TEXT ·fetch(SB), NOSPLIT, $0-24
	MOVQ lines_base+0(FP), SI
	MOVQ lines_len+8(FP), CX
	ADDQ SI, CX
	ANDQ $-64, SI

fetchLine:
	CMPQ       SI, CX
	JAE        fetched
	PREFETCHT1 (SI)
	ADDQ       $64, SI
	JMP        fetchLine

fetched:
	RET

// identity takes each score from its own place.
DATA ·identity+0(SB)/8, $0x0706050403020100
DATA ·identity+8(SB)/8, $0x0f0e0d0c0b0a0908
DATA ·identity+16(SB)/8, $0x1716151413121110
DATA ·identity+24(SB)/8, $0x1f1e1d1c1b1a1918
DATA ·identity+32(SB)/8, $0x2726252423222120
DATA ·identity+40(SB)/8, $0x2f2e2d2c2b2a2928
DATA ·identity+48(SB)/8, $0x3736353433323130
DATA ·identity+56(SB)/8, $0x3f3e3d3c3b3a3938
GLOBL ·identity(SB), RODATA|NOPTR, $64

// FETCH_NEXT fetches two lines of the next offers, and goes on to those behind them.
#define FETCH_NEXT(next) \
	MOVQ       next, R11; \
	PREFETCHT1 (R11);     \
	PREFETCHT1 64(R11);   \
	ADDQ       $128, R11; \
	MOVQ       R11, next

// Each fetches the part of the next offers that goes with one, two or three words.
#define FETCH_ONE   FETCH_NEXT(next+56(FP))
#define FETCH_TWO   FETCH_ONE; FETCH_ONE
#define FETCH_THREE FETCH_TWO; FETCH_ONE

// Each makes R10, the number of a line, the distance to it from the first one.
#define TWOS   SHLQ $4, R10
#define THREES LEAQ (R10)(R10*2), R10; SHLQ $3, R10
#define FOURS  SHLQ $5, R10
#define SIXES  LEAQ (R10)(R10*2), R10; SHLQ $4, R10
#define BYTES  SHLQ $6, R10

// Each shuffles the line at lines+R10 to Z1, as control says.
#define TAKE_BYTES(lines, control) VPERMB (lines)(R10*1), control, Z1

// Codes: Z4 has the matrices that take the codes out of each part of the line.
#define TAKE_CODES(control) \
	VGF2P8AFFINEQB $0, Z4, Z1, Z1; \
	VPERMB         Z1, control, Z1
#define TAKE_FOURS(lines, control) \
	VBROADCASTI64X4 (lines)(R10*1), Z1; \
	TAKE_CODES(control)
#define TAKE_TWOS(lines, control) \
	VBROADCASTI32X4 (lines)(R10*1), Z1; \
	TAKE_CODES(control)

// The second part comes first, as in shared.Line.Unpack: it goes to bit 2 of Z2. The first one is shifted by Z4 and masked
// by Z5. Z7 has the codes.
#define TAKE_THREES(lines, control) \
	VPMULTISHIFTQB.BCST 16(lines)(R10*1), Z6, Z2; \
	VBROADCASTI32X4     (lines)(R10*1), Z1;       \
	VPSRLVQ             Z4, Z1, Z1;               \
	VPTERNLOGQ          $0xe4, Z5, Z2, Z1;        \
	VPERMB              Z7, Z1, Z1;               \
	VPERMB              Z1, control, Z1

// The high bits come first likewise: they go to bits 4 and 5 of Z2, which Z7 has.
#define TAKE_SIXES(lines, control) \
	VBROADCASTI32X4 32(lines)(R10*1), Z2; \
	VBROADCASTI64X4 (lines)(R10*1), Z1;   \
	VPMULTISHIFTQB  Z2, Z6, Z2;           \
	VGF2P8AFFINEQB  $0, Z4, Z1, Z1;       \
	VPTERNLOGQ      $0xf8, Z7, Z2, Z1;    \
	VPERMB          Z1, control, Z1

// APPLY applies a word to the column in Z8.
#define APPLY(TAKE, lines, ahead, control, place) \
	TAKE(lines, control);       \
	PREFETCHT1 (ahead)(R10*1);  \
	VPMINSB    Z1, Z8, place, Z8

// Each applies one, two or three words to the column in Z8.
#define ONE(TAKE)   APPLY(TAKE, DX, R14, Z0, K2)
#define TWO(TAKE)   ONE(TAKE); APPLY(TAKE, R9, BX, Z9, K3)
#define THREE(TAKE) TWO(TAKE); APPLY(TAKE, R15, AX, Z10, K4)

// COLUMNS applies WORDS to the columns in CX. DISTANCE is that to a line, TAKE takes it.
#define COLUMNS(column, WORDS, DISTANCE, TAKE) \
column: \
	TZCNTQ    R8, R10;           \
	TZCNTQ    CX, R11;           \
	MOVL      (R12)(R10*4), R10; \
	BLSRQ     R8, R8;            \
	DISTANCE;                    \
	SHLQ      $6, R11;           \
	VMOVDQU64 (DI)(R11*1), Z8;   \
	WORDS(TAKE);                 \
	VMOVDQU64 Z8, (DI)(R11*1);   \
	BLSRQ     CX, CX;            \
	JNZ       column

// EACH_WIDTH applies WORDS to the columns in BX, by the width of the scores, and goes on at
// done. The other parameters are labels, but for FETCH: the code to run first if there
// are offers.
#define EACH_WIDTH(WORDS, FETCH, codes, bytes, fours, few, threes, twos, sixes, done) \
	MOVQ asked-48(SP), CX;                    \
	MOVQ picked-40(SP), R8;                   \
	CMPQ size+40(FP), $64;                    \
	JNE  codes;                               \
	FETCH;                                    \
	COLUMNS(bytes, WORDS, BYTES, TAKE_BYTES); \
	JMP  done;                                \
codes: \
	CMPQ size+40(FP), $32;                    \
	JB   few;                                 \
	JA   sixes;                               \
	COLUMNS(fours, WORDS, FOURS, TAKE_FOURS); \
	JMP  done;                                \
few: \
	CMPQ size+40(FP), $16;                    \
	JEQ  twos;                                \
	COLUMNS(threes, WORDS, THREES, TAKE_THREES); \
	JMP  done;                                \
	COLUMNS(twos, WORDS, TWOS, TAKE_TWOS);    \
	JMP  done;                                \
	COLUMNS(sixes, WORDS, SIXES, TAKE_SIXES); \
	JMP  done

// takeFours and takeTwos have a matrix for each 8 bytes of a line that is copied to all parts of a vector. It moves the bits of one code
// in each byte to the lowest ones, and no others: byte 7-i says which bit goes to bit i.
DATA ·takeFours+0(SB)/8, $0x0102040800000000
DATA ·takeFours+8(SB)/8, $0x0102040800000000
DATA ·takeFours+16(SB)/8, $0x0102040800000000
DATA ·takeFours+24(SB)/8, $0x0102040800000000
DATA ·takeFours+32(SB)/8, $0x1020408000000000
DATA ·takeFours+40(SB)/8, $0x1020408000000000
DATA ·takeFours+48(SB)/8, $0x1020408000000000
DATA ·takeFours+56(SB)/8, $0x1020408000000000
GLOBL ·takeFours(SB), RODATA|NOPTR, $64
DATA ·takeTwos+0(SB)/8, $0x0102000000000000
DATA ·takeTwos+8(SB)/8, $0x0102000000000000
DATA ·takeTwos+16(SB)/8, $0x0408000000000000
DATA ·takeTwos+24(SB)/8, $0x0408000000000000
DATA ·takeTwos+32(SB)/8, $0x1020000000000000
DATA ·takeTwos+40(SB)/8, $0x1020000000000000
DATA ·takeTwos+48(SB)/8, $0x4080000000000000
DATA ·takeTwos+56(SB)/8, $0x4080000000000000
GLOBL ·takeTwos(SB), RODATA|NOPTR, $64

// highTwo has for each byte of a line of 2-bit codes the bit of its 8 bytes that goes to
// the lowest of a byte of a code: 4 below the code.
DATA ·highTwo+0(SB)/8, $0x342c241c140c043c
DATA ·highTwo+8(SB)/8, $0x342c241c140c043c
DATA ·highTwo+16(SB)/8, $0x362e261e160e063e
DATA ·highTwo+24(SB)/8, $0x362e261e160e063e
DATA ·highTwo+32(SB)/8, $0x3830282018100800
DATA ·highTwo+40(SB)/8, $0x3830282018100800
DATA ·highTwo+48(SB)/8, $0x3a322a221a120a02
DATA ·highTwo+56(SB)/8, $0x3a322a221a120a02
GLOBL ·highTwo(SB), RODATA|NOPTR, $64

// threes has the codes of 3 bits by their parts, shiftsOfThrees where the first parts are in each 8 bytes of a line that is copied
// likewise, and placesOfThrees which eight bits of the second
// part have the bit of a place at bit 2: as shared.Threes.
DATA ·threes+0(SB)/8, $0x0504030207060100
GLOBL ·threes(SB), RODATA|NOPTR, $8
DATA ·shiftsOfThrees+0(SB)/8, $0x0606040402020000
GLOBL ·shiftsOfThrees(SB), RODATA|NOPTR, $8
DATA ·placesOfThrees+0(SB)/8, $0x0504030201003f3e
DATA ·placesOfThrees+8(SB)/8, $0x0d0c0b0a09080706
DATA ·placesOfThrees+16(SB)/8, $0x1514131211100f0e
DATA ·placesOfThrees+24(SB)/8, $0x1d1c1b1a19181716
DATA ·placesOfThrees+32(SB)/8, $0x2524232221201f1e
DATA ·placesOfThrees+40(SB)/8, $0x2d2c2b2a29282726
DATA ·placesOfThrees+48(SB)/8, $0x3534333231302f2e
DATA ·placesOfThrees+56(SB)/8, $0x3d3c3b3a39383736
GLOBL ·placesOfThrees(SB), RODATA|NOPTR, $64

// AHEAD makes R8, a word of the route at AX, the word with the same place in the chunk that is ahead, which is R10 further on, or
// at last the last word, R11; and ahead the lines of its panel.
#define AHEAD(stride, scores, ahead) \
	ADDQ    R10, R8;            \
	CMPQ    R8, R11;            \
	CMOVQHI R11, R8;            \
	MOVL    Word_Panel(R8), R8; \
	IMULQ   stride, R8;         \
	ADDQ    scores, R8;         \
	MOVQ    R8, ahead

// WORD sets lines to the lines of the panel of the word at SI+at, ahead to those that are fetched, control to the score of the
// line that each row takes, and place to the rows that take one. The route is at AX; K1, R8, R10 and R11 are scratch.
#define WORD(at, lines, ahead, control, place) \
	MOVL          (at+Word_Panel)(SI), lines; \
	IMULQ         Route_Stride(AX), lines;    \
	ADDQ          Route_Scores(AX), lines;    \
	KMOVQ         (at+Word_Pick)(SI), K1;     \
	KMOVQ         (at+Word_Place)(SI), place; \
	VPCOMPRESSB.Z Z3, K1, control;            \
	VPEXPANDB.Z   control, place, control;    \
	LEAQ          at(SI), R8;                 \
	MOVQ          further-8(SP), R10;         \
	MOVQ          last-56(SP), R11;           \
	AHEAD(Route_Stride(AX), Route_Scores(AX), ahead)

#define FIRST_WORD  WORD(0, DX, R14, Z0, K2)
#define SECOND_WORD WORD(Word__size, R9, BX, Z9, K3)
#define THIRD_WORD  WORD(2*Word__size, R15, AX, Z10, K4)

// FIND_AHEAD sets further to how far the words of the next chunk are behind those of the chunk, R13 of the route at AX, if step is
// 1, and last to the last word. R10 is scratch.
#define FIND_AHEAD(step, further, last) \
	MOVQ  R13, R10;                \
	IMULQ step, R10;               \
	IMULQ $Word__size, R10;        \
	MOVQ  R10, further;            \
	MOVQ  (Route_Words+8)(AX), R10; \
	DECQ  R10;                     \
	IMULQ $Word__size, R10;        \
	ADDQ  Route_Words(AX), R10;    \
	MOVQ  R10, last

// func leastGroups(dst *Block, columns uint64, p *Program, routes *Route, chunk, size, step int, next uintptr)
//
// DI dst, R9 group, R15 groups left, AX its route, SI word, R13 words left, BX the
// columns of the group that are asked for, R14 their indices among all columns of the
// group, R12 the group's rows, Z3 identity, Z4-Z7 how to unpack codes.
//
// Up to three words are applied at once: the lines of their panels are at DX, R9 and R15,
// those that are fetched at R14, BX and AX, and Z0, Z9 and Z10 are their controls. In the loop
// over columns, CX and R8 hold the rest of the columns and of the indices.
TEXT ·leastGroups(SB), NOSPLIT, $56-64
	MOVQ dst+0(FP), DI
	MOVQ p+16(FP), R10
	MOVQ Program_Groups(R10), R9
	MOVQ (Program_Groups+8)(R10), R15
	VMOVDQU64 ·identity(SB), Z3
	MOVQ size+40(FP), R10
	CMPQ R10, $16
	JEQ  unpackTwos
	CMPQ R10, $24
	JEQ  unpackThrees
	CMPQ R10, $32
	JEQ  unpackFours
	VMOVDQU64    ·takeFours(SB), Z4
	VMOVDQU64    ·highTwo(SB), Z6
	VPBROADCASTQ ·highTwos(SB), Z7

group:
	FIND_WORDS(columns+8(FP), p+16(FP), routes+24(FP), chunk+32(FP), R14, nextGroup)

	FIND_AHEAD(step+48(FP), further-8(SP), last-56(SP))
	MOVQ  BX, asked-48(SP)
	MOVQ  AX, route-16(SP)
	MOVQ  R9, group-24(SP)
	MOVQ  R15, groups-32(SP)
	MOVQ  R14, picked-40(SP)
	SUBQ  $3, R13
	JLT   fewWords

threeWords:
	MOVQ route-16(SP), AX
	FIRST_WORD
	SECOND_WORD
	THIRD_WORD
	EACH_WIDTH(THREE, FETCH_THREE, threeCodes, threeBytes, threeFours, threeFew, threeThrees, threeTwos, threeSixes, nextWords)

nextWords:
	ADDQ $(3*Word__size), SI
	SUBQ $3, R13
	JGE  threeWords

fewWords:
	CMPQ R13, $-3
	JEQ  doneGroup
	MOVQ route-16(SP), AX
	FIRST_WORD
	CMPQ R13, $-2
	JEQ  oneWord
	SECOND_WORD
	EACH_WIDTH(TWO, FETCH_TWO, twoCodes, twoBytes, twoFours, twoFew, twoThrees, twoTwos, twoSixes, doneGroup)

oneWord:
	EACH_WIDTH(ONE, FETCH_ONE, oneCodes, oneBytes, oneFours, oneFew, oneThrees, oneTwos, oneSixes, doneGroup)

doneGroup:
	MOVQ group-24(SP), R9
	MOVQ groups-32(SP), R15

nextGroup:
	ADDQ $Group__size, R9
	DECQ R15
	JNZ  group
	VZEROUPPER
	RET

unpackTwos:
	VMOVDQU64 ·takeTwos(SB), Z4
	JMP group

unpackThrees:
	VPMOVZXBQ    ·shiftsOfThrees(SB), Z4
	VPBROADCASTQ ·lowTwos(SB), Z5
	VMOVDQU64    ·placesOfThrees(SB), Z6
	VPBROADCASTQ ·threes(SB), Z7
	JMP group

unpackFours:
	VMOVDQU64 ·takeFours(SB), Z4
	JMP group

// Without AVX-512, words are cut into passes: compress_amd64.go says how.

// PICK appends the positions of the set bits of the lowest byte of AX to the list
// at R9, each plus 0x80, and goes on to the next byte. R10 holds the positions of
// the byte's bits, R15 is byteMask.
#define PICK \
	MOVBLZX AL, CX;               \
	PEXTQ   (R15)(CX*8), R10, R8; \
	MOVQ    R8, (R9);             \
	POPCNTL CX, CX;               \
	ADDQ    CX, R9;               \
	SHRQ    $8, AX;               \
	ADDQ    R11, R10

// TAKE_PICKS takes those that go to the 16 lowest rows of R11 out of the picks in R10, and goes on to the next rows. AX and
// CX are scratch.
#define TAKE_PICKS(picks) \
	MOVWLZX R11, CX;        \
	POPCNTL CX, CX;         \
	MOVQ    $-1, AX;        \
	BZHIQ   CX, AX, AX;     \
	PDEPQ   R10, AX, picks; \
	XORQ    picks, R10;     \
	SHRQ    $16, R11

// WINDOW opens a window, which begins at or before the first of picks, and takes the picks in it: BX is where it begins, each
// byte of x is that plus 0x80. Without picks, x is behind the line, so that no row takes a score of it. AX and CX are scratch.
#define WINDOW(picks, x) \
	TZCNTQ       picks, CX;           \
	MOVQ         CX, BX;              \
	ANDQ         form_align(R14), BX; \
	MOVQ         BX, AX;              \
	ANDQ         form_part(R14), AX;  \
	ADDQ         form_last(R14), AX;  \
	CMPQ         BX, AX;              \
	CMOVQGT      AX, BX;              \
	MOVQ         BX, AX;              \
	TESTQ        picks, picks;        \
	CMOVQEQ      CX, AX;              \
	MOVL         $0xffff, CX;         \
	SHLXQ        AX, CX, CX;          \
	ANDNQ        picks, CX, picks;    \
	ADDQ         $0x80, AX;           \
	VMOVD        AX, x;               \
	VPBROADCASTB x, x

// NOTE_WINDOW notes in the pass that is R15 bytes after the first where the window at BX begins in a line, in bytes, and the
// shift of its scores. at is 0 for the first 16 rows, 1 for the others.
#define NOTE_WINDOW(at) \
	MOVQ BX, AX;                                       \
	ANDQ form_offset(R14), AX;                         \
	MOVB AX, (passes_list+pass_begin+at)(SI)(R15*1);   \
	ANDQ form_shift(R14), BX;                          \
	SHRQ $3, BX;                                       \
	MOVB BX, (passes_list+pass_shift+2*at)(SI)(R15*1); \
	MOVB BX, (passes_list+pass_shift+2*at+1)(SI)(R15*1)

// SET_PASS loads the pass at SI. none is 127 for each row that it brings nothing to.
#define SET_PASS(control, none, shift) \
	VMOVDQU   pass_control(SI), control; \
	VPXOR     none, none, none;          \
	VPCMPGTB  control, none, none;       \
	VPAND     ·noScore(SB), none, none;     \
	VPMOVZXBQ pass_shift(SI), shift

// NEXT_COLUMN finds the next column, at R11 of dst, and its line, R10 after the first one.
#define NEXT_COLUMN \
	TZCNTQ R8, R10;             \
	TZCNTQ CX, R11;             \
	MOVL   (R12)(R10*4), R10;   \
	BLSRQ  R8, R8;              \
	IMULQ  form_size(R14), R10; \
	SHLQ   $6, R11;             \
	BLSRQ  CX, CX

// LEAST makes each score of half a column the least of it and the one in y, but for rows in none.
#define LEAST(half, none, y) \
	VPOR    none, y, y;          \
	VPMINSB (half)(R11*1), y, y; \
	VMOVDQU y, (half)(R11*1)

// Each applies a pass to a column, by the form of lines: the windows begin at first and second.
#define PASS_BYTES(first, second, half, control, none, shift, one, two, y, x) \
	VMOVDQU     (first)(R10*1), x;         \
	VINSERTI128 $1, (second)(R10*1), y, y; \
	VPSHUFB     control, y, y;             \
	LEAST(half, none, y)

#define PASS_CODES(first, second, half, control, none, shift, one, two, y, x) \
	VMOVDQU     (first)(R10*1), x;         \
	VINSERTI128 $1, (second)(R10*1), y, y; \
	VPSRLVQ     shift, y, y;               \
	VPSHUFB     control, y, y;             \
	VPAND       Y14, y, y;                 \
	LEAST(half, none, y)

// The second parts come first, as in shared.Line.Unpack. Y2 is scratch.
#define PASS_THREES(first, second, half, control, none, shift, one, two, y, x) \
	VPBROADCASTQ   16(first)(R10*1), Y2; \
	VBROADCASTI128 (first)(R10*1), y;    \
	VPSHUFB        one, Y2, Y2;          \
	VPAND          two, Y2, Y2;          \
	VPCMPEQB       two, Y2, Y2;          \
	VPAND          ·fours(SB), Y2, Y2;   \
	VPSRLVQ        shift, y, y;          \
	VPSHUFB        control, y, y;        \
	VPAND          Y14, y, y;            \
	VPOR           Y2, y, y;             \
	VPSHUFB        y, Y15, y;            \
	LEAST(half, none, y)

#define PASS_SIXES(first, second, half, control, none, shift, one, two, y, x) \
	VBROADCASTI128 32(first)(R10*1), Y2;     \
	VPERMD         (first)(R10*1), one, y;   \
	VPSRLVQ        shift, Y2, Y2;            \
	VPSLLW         $4, Y2, Y2;               \
	VPSRLVQ        two, y, y;                \
	VPXOR          y, Y2, Y2;                \
	VPAND          Y15, Y2, Y2;              \
	VPXOR          Y2, y, y;                 \
	VPSHUFB        control, y, y;            \
	VPAND          Y14, y, y;                \
	LEAST(half, none, y)

// PARTS_OF_THREES makes one the byte of the second parts that goes to each row, and two the bit in it.
#define PARTS_OF_THREES(control, shift, one, two) \
	VPXOR   two, two, two;       \
	VPSHUFB two, shift, two;     \
	VPSRLW  $3, control, one;    \
	VPAND   ·ones(SB), one, one; \
	VPADDB  two, one, one;       \
	VMOVDQU ·bits(SB), two;      \
	VPSHUFB control, two, two

// PARTS_OF_SIXES makes one which 4 bytes of the first parts go to each 4 bytes of the vector, and two their shift.
#define PARTS_OF_SIXES(control, shift, one, two) \
	VPSHUFD $0xa0, shift, one;    \
	VPAND   ·twos(SB), one, one;  \
	VPADDD  one, one, one;        \
	VPADDD  ·lanes(SB), one, one; \
	VPAND   ·fours(SB), shift, two

// NO_PARTS is for scores in one part.
#define NO_PARTS(control, shift, one, two)

// ONE_PASS applies the pass of Y8, Y9 and Y10 to all columns, TWO_PASSES that of Y11, Y12 and Y13 too.
#define ONE_PASS(column, PARTS, PASS) \
	PARTS(Y8, Y10, Y4, Y5);                        \
column: \
	NEXT_COLUMN;                                   \
	PREFETCHT1 (AX)(R10*1);                        \
	PASS(DX, R9, DI, Y8, Y9, Y10, Y4, Y5, Y0, X0); \
	TESTQ CX, CX;                                  \
	JNZ   column
#define TWO_PASSES(column, PARTS, PASS) \
	PARTS(Y8, Y10, Y4, Y5);                            \
	PARTS(Y11, Y13, Y6, Y7);                           \
column: \
	NEXT_COLUMN;                                       \
	PREFETCHT1 (AX)(R10*1);                            \
	PREFETCHT1 (BX)(R10*1);                            \
	PASS(DX, R9, DI, Y8, Y9, Y10, Y4, Y5, Y0, X0);     \
	PASS(SI, R13, R15, Y11, Y12, Y13, Y6, Y7, Y1, X1); \
	TESTQ CX, CX;                                      \
	JNZ   column

// APPLY_PASSES applies PASSES, which is ONE_PASS or TWO_PASSES, by the form of lines, and goes on at done. The other parameters are labels.
#define APPLY_PASSES(PASSES, bytes, codes, threes, sixes, notBytes, notThrees, notSixes, done) \
	MOVQ first-160(SP), DX;                      \
	MOVQ second-168(SP), R9;                     \
	MOVQ half-176(SP), DI;                       \
	MOVQ asked-112(SP), CX;                      \
	MOVQ picked-120(SP), R8;                     \
	MOVQ rows-128(SP), R12;                      \
	MOVQ firstAhead-216(SP), AX;                 \
	CMPQ form_size(R14), $64;                    \
	JNE  notBytes;                               \
	PASSES(bytes, NO_PARTS, PASS_BYTES);         \
	JMP  done;                                   \
notBytes: \
	CMPQ form_size(R14), $24;                    \
	JNE  notThrees;                              \
	VPBROADCASTQ ·threes(SB), Y15;               \
	PASSES(threes, PARTS_OF_THREES, PASS_THREES); \
	JMP  done;                                   \
notThrees: \
	CMPQ form_size(R14), $48;                    \
	JNE  notSixes;                               \
	VMOVDQU ·highTwos(SB), Y15;                  \
	PASSES(sixes, PARTS_OF_SIXES, PASS_SIXES);   \
	JMP  done;                                   \
notSixes: \
	PASSES(codes, NO_PARTS, PASS_CODES)

// BYTES_OF makes a vector of four copies of eight bytes.
#define BYTES_OF(name, eight) \
DATA name+0(SB)/8, eight;  \
DATA name+8(SB)/8, eight;  \
DATA name+16(SB)/8, eight; \
DATA name+24(SB)/8, eight; \
GLOBL name(SB), RODATA|NOPTR, $32

BYTES_OF(·noScore, $0x7f7f7f7f7f7f7f7f)
BYTES_OF(·reach, $0x7070707070707070)
BYTES_OF(·ones, $0x0101010101010101)
BYTES_OF(·twos, $0x0202020202020202)
BYTES_OF(·fours, $0x0404040404040404)
BYTES_OF(·highTwos, $0x3030303030303030)
BYTES_OF(·lowTwos, $0x0303030303030303)

// bits has the bit of its byte for each place, lanes the numbers of 4 bytes in a lane.
BYTES_OF(·bits, $0x8040201008040201)
DATA ·lanes+0(SB)/8, $0x0000000100000000
DATA ·lanes+8(SB)/8, $0x0000000300000002
DATA ·lanes+16(SB)/8, $0x0000000100000000
DATA ·lanes+24(SB)/8, $0x0000000300000002
GLOBL ·lanes(SB), RODATA|NOPTR, $32

// func leastPasses(dst, offers *Block, columns uint64, p *Program, routes *Route, chunk, step int, next uintptr, form *form, known *[slots]passes, masks *[256]uint64)
//
// R14 form, Y14 the bits of a score in a byte. By word: AX the word, DX the lines of its panel, SI its passes and then one
// of them, R9 the last one's end, R12 not 0 if a pass waits for another: it is first-160 to half-176, Y8, Y9 and Y10.
//
// In the loop over columns, CX and R8 hold the columns that are left and their indices among those of the group, R12 the
// rows of the group, AX how far ahead lines are fetched; a pass has the windows at DX and R9 and half a column, DI, a
// second one SI, R13 and R15.
TEXT ·leastPasses(SB), NOSPLIT, $224-88
	MOVQ  form+64(FP), R14
	MOVQ  dst+0(FP), DI
	MOVQ  offers+8(FP), SI
	MOVQ  columns+16(FP), AX
	TESTQ SI, SI
	JEQ   noOffers

beginColumn:
	TZCNTQ  AX, CX
	SHLQ    $6, CX
	VMOVDQU (SI)(CX*1), Y0
	VMOVDQU 32(SI)(CX*1), Y1
	VMOVDQU Y0, (DI)(CX*1)
	VMOVDQU Y1, 32(DI)(CX*1)
	BLSRQ   AX, AX
	JNZ     beginColumn

begun:
	VPBROADCASTQ form_mask(R14), Y14
	MOVQ         p+24(FP), R10
	MOVQ         Program_Groups(R10), R9
	MOVQ         (Program_Groups+8)(R10), R15
	TESTQ        R15, R15
	JEQ          donePasses

passesOfGroup:
	MOVQ  R9, group-80(SP)
	MOVQ  R15, groups-88(SP)
	FIND_WORDS(columns+16(FP), p+24(FP), routes+32(FP), chunk+40(FP), R8, nextGroupOfPasses)
	MOVQ  SI, word-96(SP)
	MOVQ  R13, words-104(SP)
	MOVQ  BX, asked-112(SP)
	MOVQ  R8, picked-120(SP)
	MOVQ  R12, rows-128(SP)
	MOVQ  Route_Scores(AX), R11
	MOVQ  R11, scores-136(SP)
	MOVQ  Route_Stride(AX), R10
	MOVQ  R10, stride-144(SP)
	FIND_AHEAD(step+48(FP), further-152(SP), last-208(SP))
	XORL  R12, R12

passesOfWord:
	MOVQ  word-96(SP), AX
	MOVL  Word_Panel(AX), DX
	IMULQ stride-144(SP), DX
	ADDQ  scores-136(SP), DX

	MOVQ  AX, R8
	MOVQ  further-152(SP), R10
	MOVQ  last-208(SP), R11
	AHEAD(stride-144(SP), scores-136(SP), linesAhead-224(SP))
	CMPQ  form_size(R14), $64
	JNE   findPasses
	FETCH_NEXT(next+56(FP))

findPasses:
	MOVQ  AX, SI
	SHRQ  $3, SI
	ANDL  $const_slots-1, SI
	IMULQ $passes__size, SI
	ADDQ  known+72(FP), SI
	MOVQ  Word_Pick(AX), R10
	MOVQ  Word_Place(AX), R11
	CMPQ  passes_pick(SI), R10
	JNE   makePasses
	CMPQ  passes_place(SI), R11
	JNE   makePasses

madePasses:
	MOVQ passes_bytes(SI), R9
	LEAQ passes_list(SI), SI
	ADDQ SI, R9
	CMPQ SI, R9
	JEQ  nextWordOfPasses

pass:
	MOVBQZX pass_begin(SI), BX
	MOVBQZX (pass_begin+1)(SI), R13
	MOVBQZX pass_half(SI), DI
	ADDQ    DX, BX
	ADDQ    DX, R13
	ADDQ    dst+0(FP), DI
	TESTL   R12, R12
	JNE     applyTwo
	SET_PASS(Y8, Y9, Y10)
	MOVQ    BX, first-160(SP)
	MOVQ    R13, second-168(SP)
	MOVQ    DI, half-176(SP)
	MOVQ    linesAhead-224(SP), AX
	MOVQ    AX, firstAhead-216(SP)
	MOVL    $1, R12

nextPass:
	ADDQ $pass__size, SI
	CMPQ SI, R9
	JNE  pass

nextWordOfPasses:
	ADDQ  $Word__size, word-96(SP)
	DECQ  words-104(SP)
	JNZ   passesOfWord
	TESTL R12, R12
	JEQ   nextGroupOfPasses
	APPLY_PASSES(ONE_PASS, bytesOfOne, codesOfOne, threesOfOne, sixesOfOne, oneNotBytes, oneNotThrees, oneNotSixes, nextGroupOfPasses)

nextGroupOfPasses:
	MOVQ group-80(SP), R9
	MOVQ groups-88(SP), R15
	ADDQ $Group__size, R9
	DECQ R15
	JNZ  passesOfGroup

donePasses:
	VZEROUPPER
	RET

applyTwo:
	SET_PASS(Y11, Y12, Y13)
	MOVQ SI, at-184(SP)
	MOVQ R9, end-192(SP)
	MOVQ DX, lines-200(SP)
	MOVQ BX, SI
	MOVQ DI, R15
	MOVQ linesAhead-224(SP), BX
	APPLY_PASSES(TWO_PASSES, bytesOfTwo, codesOfTwo, threesOfTwo, sixesOfTwo, twoNotBytes, twoNotThrees, twoNotSixes, appliedTwo)

appliedTwo:
	MOVQ at-184(SP), SI
	MOVQ end-192(SP), R9
	MOVQ lines-200(SP), DX
	XORL R12, R12
	JMP  nextPass

noOffers:
	VMOVDQU ·noScore(SB), Y0

noColumn:
	TZCNTQ  AX, CX
	SHLQ    $6, CX
	VMOVDQU Y0, (DI)(CX*1)
	VMOVDQU Y0, 32(DI)(CX*1)
	BLSRQ   AX, AX
	JNZ     noColumn
	JMP     begun

// Y4 has the place of the score that each row of a half takes in the line, plus 0x80, and Y5 those of the next half; R13 and
// R9 the picks that go to the first and to the second 16 rows, R10 and R11 the picks and rows that come after, DI where the
// half begins in a column.
makePasses:
	MOVQ R10, passes_pick(SI)
	MOVQ R11, passes_place(SI)
	MOVQ masks+80(FP), R15
	MOVQ R10, AX
	LEAQ list-72(SP), R9
	MOVQ $0x8786858483828180, R10
	MOVQ $0x0808080808080808, R11
	PICK
	PICK
	PICK
	PICK
	PICK
	PICK
	PICK
	PICK
	MOVQ passes_place(SI), AX
	LEAQ list-72(SP), R9
	PLACE_ROWS
	MOVQ passes_pick(SI), R10
	MOVQ passes_place(SI), R11
	XORL DI, DI
	XORL R15, R15

passesOfHalf:
	TAKE_PICKS(R13)
	TAKE_PICKS(R9)
	MOVQ R13, AX
	ORQ  R9, AX
	JEQ  nextHalf

makePass:
	WINDOW(R13, X0)
	NOTE_WINDOW(0)
	WINDOW(R9, X1)
	NOTE_WINDOW(1)
	VINSERTI128 $1, X1, Y0, Y0
	VPSUBB      Y0, Y4, Y0
	VPADDUSB    ·reach(SB), Y0, Y0
	VMOVDQU     Y0, (passes_list+pass_control)(SI)(R15*1)
	MOVB        DI, (passes_list+pass_half)(SI)(R15*1)
	ADDQ        $pass__size, R15
	MOVQ        R13, AX
	ORQ         R9, AX
	JNE         makePass

nextHalf:
	VMOVDQA Y5, Y4
	ADDQ    $32, DI
	TESTQ   R10, R10
	JNE     passesOfHalf
	MOVQ    R15, passes_bytes(SI)
	JMP     madePasses
