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

// Codes: each part of the line is shifted by Z4 and masked by Z5.
#define TAKE_CODES(control) \
	VPSRLVQ Z4, Z1, Z1; \
	VPANDQ  Z5, Z1, Z1; \
	VPERMB  Z1, control, Z1
#define TAKE_FOURS(lines, control) \
	VBROADCASTI64X4 (lines)(R10*1), Z1; \
	TAKE_CODES(control)
#define TAKE_TWOS(lines, control) \
	VBROADCASTI32X4 (lines)(R10*1), Z1; \
	TAKE_CODES(control)

// The second part comes first, as in shared.Line.Unpack: it goes to bit 2 of Z2. Z7 has the codes.
#define TAKE_THREES(lines, control) \
	VPMULTISHIFTQB.BCST 16(lines)(R10*1), Z6, Z2; \
	VBROADCASTI32X4     (lines)(R10*1), Z1;       \
	VPSRLVQ             Z4, Z1, Z1;               \
	VPTERNLOGQ          $0xe4, Z5, Z2, Z1;        \
	VPERMB              Z7, Z1, Z1;               \
	VPERMB              Z1, control, Z1

// The high bits come first likewise: they go to bits 4 and 5 of Z2.
#define TAKE_SIXES(lines, control) \
	VBROADCASTI32X4 32(lines)(R10*1), Z2; \
	VBROADCASTI64X4 (lines)(R10*1), Z1;   \
	VPMULTISHIFTQB  Z2, Z6, Z2;           \
	VPSRLVQ         Z4, Z1, Z1;           \
	VPTERNLOGQ      $0xe4, Z7, Z2, Z1;    \
	VPANDQ          Z5, Z1, Z1;           \
	VPERMB          Z1, control, Z1

// APPLY applies a word to the column in Z8.
#define APPLY(TAKE, lines, control, place) \
	TAKE(lines, control);       \
	PREFETCHT1 (lines)(R14*1);  \
	VPMINSB    Z1, Z8, place, Z8

// Each applies one, two or three words to the column in Z8.
#define ONE(TAKE)   APPLY(TAKE, DX, Z0, K2)
#define TWO(TAKE)   ONE(TAKE); APPLY(TAKE, R9, Z9, K3)
#define THREE(TAKE) TWO(TAKE); APPLY(TAKE, R15, Z10, K4)

// COLUMNS applies WORDS to the columns in CX. DISTANCE is that to a line, TAKE takes it.
#define COLUMNS(column, WORDS, DISTANCE, TAKE) \
column: \
	TZCNTQ    R8, R10;           \
	TZCNTQ    CX, R11;           \
	MOVL      (R12)(R10*4), R10; \
	BLSRQ     R8, R8;            \
	DISTANCE;                    \
	SHLQ      $6, R11;           \
	LEAQ      (R10)(AX*1), R14;  \
	VMOVDQU64 (DI)(R11*1), Z8;   \
	WORDS(TAKE);                 \
	VMOVDQU64 Z8, (DI)(R11*1);   \
	BLSRQ     CX, CX;            \
	JNZ       column

// EACH_WIDTH applies WORDS to the columns in BX, by the width of the scores, and goes on at
// done. The other parameters are labels, but for FETCH: the code to run first if there
// are offers.
#define EACH_WIDTH(WORDS, FETCH, codes, bytes, fours, few, threes, twos, sixes, done) \
	MOVQ ahead-8(SP), AX;                     \
	MOVQ BX, CX;                              \
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

// threes has the codes of 3 bits by their parts, and placesOfThrees which eight bits of the second
// part have the bit of a place at bit 2: as shared.Threes.
DATA ·threes+0(SB)/8, $0x0504030207060100
GLOBL ·threes(SB), RODATA|NOPTR, $8
DATA ·placesOfThrees+0(SB)/8, $0x0504030201003f3e
DATA ·placesOfThrees+8(SB)/8, $0x0d0c0b0a09080706
DATA ·placesOfThrees+16(SB)/8, $0x1514131211100f0e
DATA ·placesOfThrees+24(SB)/8, $0x1d1c1b1a19181716
DATA ·placesOfThrees+32(SB)/8, $0x2524232221201f1e
DATA ·placesOfThrees+40(SB)/8, $0x2d2c2b2a29282726
DATA ·placesOfThrees+48(SB)/8, $0x3534333231302f2e
DATA ·placesOfThrees+56(SB)/8, $0x3d3c3b3a39383736
GLOBL ·placesOfThrees(SB), RODATA|NOPTR, $64

// UNPACK sets Z4 to the shifts, each a byte, and Z5 to copies of the mask.
#define UNPACK(shifts, mask) \
	MOVQ         $shifts, R10; \
	VMOVQ        R10, X4;      \
	VPMOVZXBQ    X4, Z4;       \
	MOVQ         $mask, R10;   \
	VPBROADCASTQ R10, Z5

// WORD sets lines to the lines of the panel of the word at SI+at, control to the score of the
// line that each row takes, and place to the rows that take one. The route is at AX; K1 is
// scratch.
#define WORD(at, lines, control, place) \
	MOVL          (at+Word_Panel)(SI), lines; \
	IMULQ         Route_Stride(AX), lines;    \
	ADDQ          Route_Scores(AX), lines;    \
	KMOVQ         (at+Word_Pick)(SI), K1;     \
	KMOVQ         (at+Word_Place)(SI), place; \
	VPCOMPRESSB.Z Z3, K1, control;            \
	VPEXPANDB.Z   control, place, control

#define FIRST_WORD  WORD(0, DX, Z0, K2)
#define SECOND_WORD WORD(Word__size, R9, Z9, K3)
#define THIRD_WORD  WORD(2*Word__size, R15, Z10, K4)

// func leastGroups(dst *Block, columns uint64, p *Program, routes *Route, chunk, size, step int, next uintptr)
//
// DI dst, R9 group, R15 groups left, AX its route, SI word, R13 words left, BX the
// columns of the group that are asked for, R14 their indices among all columns of the
// group, R12 the group's rows, Z3 identity, Z4-Z7 how to unpack codes.
//
// Up to three words are applied at once: the lines of their panels are at DX, R9 and R15,
// and Z0, Z9 and Z10 are their controls. In the loop over columns, CX and R8 hold the rest
// of BX and of the indices, AX is how far ahead lines are fetched.
TEXT ·leastGroups(SB), NOSPLIT, $40-64
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
	UNPACK(0x0404040400000000, 0x3f3f3f3f3f3f3f3f)
	VMOVDQU64     ·highTwo(SB), Z6
	VPBROADCASTQ  ·lowFour(SB), Z7

group:
	FIND_WORDS(columns+8(FP), p+16(FP), routes+24(FP), chunk+32(FP), R14, nextGroup)

	// The next chunk finds its words as many panels further on.
	MOVQ  R13, R11
	IMULQ Route_Stride(AX), R11
	IMULQ step+48(FP), R11
	MOVQ  R11, ahead-8(SP)
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
	UNPACK(0x0606040402020000, 0x0303030303030303)
	JMP group

unpackThrees:
	UNPACK(0x0606040402020000, 0x0303030303030303)
	VMOVDQU64    ·placesOfThrees(SB), Z6
	VPBROADCASTQ ·threes(SB), Z7
	JMP group

unpackFours:
	UNPACK(0x0404040400000000, 0x0f0f0f0f0f0f0f0f)
	JMP group

// Without AVX-512, a row of 32 scores is put together by four shuffles, one for each
// 16 scores of the line that it may come from. The controls of the shuffles are made
// once for all columns: PEXT lists the positions of the scores that are picked, PDEP
// spreads them to their places.

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

// CONTROLS makes shuffle controls of the positions, plus 0x80, in Y4 and Y5 for
// the 16 scores of a line from x on: the low bits of a position in this range,
// a byte with the sign bit for others. Y6 has 0x70 in each byte.
#define CONTROLS(x, low, high) \
	MOVL         $(0x80 + x), R8; \
	VMOVD        R8, X0;          \
	VPBROADCASTB X0, Y0;          \
	VPXOR        Y4, Y0, low;     \
	VPXOR        Y5, Y0, high;    \
	VPADDUSB     Y6, low, low;    \
	VPADDUSB     Y6, high, high

// COLUMNS_AVX2 applies a word to the columns in CX. DISTANCE is the distance to a line; LINE loads
// the line at DX+R10: each 16 scores to both halves of one of Y0-Y3, with other bits above the bits
// of a score. MASK clears these in Y4 and Y0.
#define COLUMNS_AVX2(column, DISTANCE, LINE, MASK) \
column: \
	TZCNTQ         R8, R10;               \
	TZCNTQ         CX, R11;               \
	MOVL           (R12)(R10*4), R10;     \
	BLSRQ          R8, R8;                \
	DISTANCE;                             \
	SHLQ           $6, R11;               \
	LINE;                                 \
	PREFETCHT1     (AX)(R10*1);           \
	VPSHUFB        Y8, Y0, Y4;            \
	VPSHUFB        Y9, Y1, Y5;            \
	VPSHUFB        Y12, Y0, Y0;           \
	VPSHUFB        Y13, Y1, Y1;           \
	VPOR           Y4, Y5, Y4;            \
	VPOR           Y0, Y1, Y0;            \
	VPSHUFB        Y10, Y2, Y5;           \
	VPSHUFB        Y11, Y3, Y1;           \
	VPSHUFB        Y14, Y2, Y2;           \
	VPSHUFB        Y15, Y3, Y3;           \
	VPOR           Y5, Y1, Y1;            \
	VPOR           Y2, Y3, Y3;            \
	VPOR           Y1, Y4, Y4;            \
	VPOR           Y3, Y0, Y0;            \
	MASK;                                 \
	VPOR           Y6, Y4, Y4;            \
	VPOR           Y7, Y0, Y0;            \
	VPMINSB        (DI)(R11*1), Y4, Y4;   \
	VPMINSB        32(DI)(R11*1), Y0, Y0; \
	VMOVDQU        Y4, (DI)(R11*1);       \
	VMOVDQU        Y0, 32(DI)(R11*1);     \
	BLSRQ          CX, CX;                \
	JNZ            column

#define BYTES_AVX2 \
	VBROADCASTI128 (DX)(R10*1), Y0;   \
	VBROADCASTI128 16(DX)(R10*1), Y1; \
	VBROADCASTI128 32(DX)(R10*1), Y2; \
	VBROADCASTI128 48(DX)(R10*1), Y3
#define FOURS_AVX2 \
	VBROADCASTI128 (DX)(R10*1), Y0;   \
	VBROADCASTI128 16(DX)(R10*1), Y1; \
	VPSRLW         $4, Y0, Y2;        \
	VPSRLW         $4, Y1, Y3
#define TWOS_AVX2 \
	VBROADCASTI128 (DX)(R10*1), Y0;   \
	VPSRLW         $2, Y0, Y1;        \
	VPSRLW         $4, Y0, Y2;        \
	VPSRLW         $6, Y0, Y3

// The second parts come first: bits go with the scores that they are of, to R9.
#define THREES_AVX2 \
	MOVQ  16(DX)(R10*1), R9;       \
	PEXTQ Word_Pick(SI), R9, R9;   \
	PDEPQ Word_Place(SI), R9, R9;  \
	TWOS_AVX2

// HIGH_TWO puts 16 high parts, already at bits 4 and 5 of Y5, above the low ones in y.
#define HIGH_TWO(y) \
	VPXOR y, Y5, Y5;              \
	VPAND ·highFour(SB), Y5, Y5;  \
	VPXOR Y5, y, y

// The high bits come first, as in shared.Line.Unpack.
#define SIXES_AVX2 \
	VBROADCASTI128 32(DX)(R10*1), Y4; \
	VBROADCASTI128 (DX)(R10*1), Y0;   \
	VBROADCASTI128 16(DX)(R10*1), Y1; \
	VPSRLW         $4, Y0, Y2;        \
	VPSRLW         $4, Y1, Y3;        \
	VPSLLW         $4, Y4, Y5;        \
	HIGH_TWO(Y0);                     \
	VPSLLW         $2, Y4, Y5;        \
	HIGH_TWO(Y1);                     \
	VMOVDQA        Y4, Y5;            \
	HIGH_TWO(Y2);                     \
	VPSRLW         $2, Y4, Y5;        \
	HIGH_TWO(Y3)

#define ALL_AVX2
#define LOW_FOUR_AVX2 \
	VPAND ·lowFour(SB), Y4, Y4; \
	VPAND ·lowFour(SB), Y0, Y0
#define LOW_TWO_AVX2 \
	VPAND ·lowTwo(SB), Y4, Y4; \
	VPAND ·lowTwo(SB), Y0, Y0

// MAKE_THREES_AVX2 puts the bits of R9 above the low two bits, and looks codes up.
#define MAKE_THREES_AVX2 \
	VMOVQ        R9, X1;                   \
	VPBROADCASTQ X1, Y1;                   \
	VPSHUFB      ·bytesOf+32(SB), Y1, Y2;  \
	VPSHUFB      ·bytesOf(SB), Y1, Y1;     \
	VPAND        ·bitsOf(SB), Y1, Y1;      \
	VPAND        ·bitsOf(SB), Y2, Y2;      \
	VPCMPEQB     ·bitsOf(SB), Y1, Y1;      \
	VPCMPEQB     ·bitsOf(SB), Y2, Y2;      \
	LOW_TWO_AVX2;                          \
	VPAND        ·four(SB), Y1, Y1;        \
	VPAND        ·four(SB), Y2, Y2;        \
	VPOR         Y1, Y4, Y4;               \
	VPOR         Y2, Y0, Y0;               \
	VPBROADCASTQ ·threes(SB), Y1;       \
	VPSHUFB      Y4, Y1, Y4;               \
	VPSHUFB      Y0, Y1, Y0

#define LOW_SIX_AVX2 \
	VPAND ·lowSix(SB), Y4, Y4; \
	VPAND ·lowSix(SB), Y0, Y0

// The high or low bits of each byte.
DATA ·highFour+0(SB)/8, $0xf0f0f0f0f0f0f0f0
DATA ·highFour+8(SB)/8, $0xf0f0f0f0f0f0f0f0
DATA ·highFour+16(SB)/8, $0xf0f0f0f0f0f0f0f0
DATA ·highFour+24(SB)/8, $0xf0f0f0f0f0f0f0f0
GLOBL ·highFour(SB), RODATA|NOPTR, $32
DATA ·lowSix+0(SB)/8, $0x3f3f3f3f3f3f3f3f
DATA ·lowSix+8(SB)/8, $0x3f3f3f3f3f3f3f3f
DATA ·lowSix+16(SB)/8, $0x3f3f3f3f3f3f3f3f
DATA ·lowSix+24(SB)/8, $0x3f3f3f3f3f3f3f3f
GLOBL ·lowSix(SB), RODATA|NOPTR, $32
DATA ·lowFour+0(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA ·lowFour+8(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA ·lowFour+16(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA ·lowFour+24(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL ·lowFour(SB), RODATA|NOPTR, $32
DATA ·lowTwo+0(SB)/8, $0x0303030303030303
DATA ·lowTwo+8(SB)/8, $0x0303030303030303
DATA ·lowTwo+16(SB)/8, $0x0303030303030303
DATA ·lowTwo+24(SB)/8, $0x0303030303030303
GLOBL ·lowTwo(SB), RODATA|NOPTR, $32
DATA ·four+0(SB)/8, $0x0404040404040404
DATA ·four+8(SB)/8, $0x0404040404040404
DATA ·four+16(SB)/8, $0x0404040404040404
DATA ·four+24(SB)/8, $0x0404040404040404
GLOBL ·four(SB), RODATA|NOPTR, $32

// Of 64 bits, the byte of each in every 8 bytes of a vector, and the bit in it.
DATA ·bytesOf+0(SB)/8, $0x0000000000000000
DATA ·bytesOf+8(SB)/8, $0x0101010101010101
DATA ·bytesOf+16(SB)/8, $0x0202020202020202
DATA ·bytesOf+24(SB)/8, $0x0303030303030303
DATA ·bytesOf+32(SB)/8, $0x0404040404040404
DATA ·bytesOf+40(SB)/8, $0x0505050505050505
DATA ·bytesOf+48(SB)/8, $0x0606060606060606
DATA ·bytesOf+56(SB)/8, $0x0707070707070707
GLOBL ·bytesOf(SB), RODATA|NOPTR, $64
DATA ·bitsOf+0(SB)/8, $0x8040201008040201
DATA ·bitsOf+8(SB)/8, $0x8040201008040201
DATA ·bitsOf+16(SB)/8, $0x8040201008040201
DATA ·bitsOf+24(SB)/8, $0x8040201008040201
GLOBL ·bitsOf(SB), RODATA|NOPTR, $32

// func leastWords(dst *Block, columns, of uint64, rows *uint32, scores *int8, stride int, words []Word, size, ahead int, next uintptr, masks *[256]uint64)
//
// DI dst, SI word, R13 words left, BX columns, R14 their indices among the columns of
// the group, R12 rows, DX the lines of the word's panel, R15 masks. In the loop over
// columns, CX and R8 hold the rest of BX and R14, AX the lines to be fetched, Y8-Y11
// the controls of the first 32 rows and Y12-Y15 of the other rows, Y6 and Y7 127 for
// each row without a place.
TEXT ·leastWords(SB), NOSPLIT, $72-104
	MOVQ  dst+0(FP), DI
	MOVQ  columns+8(FP), BX
	MOVQ  of+16(FP), CX
	PEXTQ CX, BX, R14
	MOVQ  rows+24(FP), R12
	MOVQ  words_base+48(FP), SI
	MOVQ  words_len+56(FP), R13
	MOVQ  masks+96(FP), R15

wordAVX2:
	MOVL       Word_Panel(SI), DX
	IMULQ      stride+40(FP), DX
	ADDQ       scores+32(FP), DX

	MOVQ Word_Pick(SI), AX
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
	MOVQ Word_Place(SI), AX
	LEAQ list-72(SP), R9
	PLACE_ROWS
	MOVL         $0x70, R8
	VMOVD        R8, X6
	VPBROADCASTB X6, Y6
	CONTROLS(0, Y8, Y12)
	CONTROLS(16, Y9, Y13)
	CONTROLS(32, Y10, Y14)
	CONTROLS(48, Y11, Y15)
	VPXOR        Y0, Y0, Y0
	VPCMPEQB     Y4, Y0, Y6
	VPCMPEQB     Y5, Y0, Y7
	MOVL         $0x7f, R8
	VMOVD        R8, X0
	VPBROADCASTB X0, Y0
	VPAND        Y0, Y6, Y6
	VPAND        Y0, Y7, Y7
	MOVQ ahead+80(FP), AX
	ADDQ DX, AX
	MOVQ BX, CX
	MOVQ R14, R8

	CMPQ size+72(FP), $64
	JNE  codesAVX2
	FETCH_NEXT(next+88(FP))
	COLUMNS_AVX2(columnOfBytesAVX2, BYTES, BYTES_AVX2, ALL_AVX2)

nextWordAVX2:
	ADDQ $Word__size, SI
	DECQ R13
	JNZ  wordAVX2
	VZEROUPPER
	RET

codesAVX2:
	CMPQ size+72(FP), $24
	JB   twosAVX2
	JEQ  threesAVX2
	CMPQ size+72(FP), $32
	JA   sixesAVX2
	COLUMNS_AVX2(columnOfFoursAVX2, FOURS, FOURS_AVX2, LOW_FOUR_AVX2)
	JMP  nextWordAVX2

twosAVX2:
	COLUMNS_AVX2(columnOfTwosAVX2, TWOS, TWOS_AVX2, LOW_TWO_AVX2)
	JMP  nextWordAVX2

threesAVX2:
	COLUMNS_AVX2(columnOfThreesAVX2, THREES, THREES_AVX2, MAKE_THREES_AVX2)
	JMP  nextWordAVX2

sixesAVX2:
	COLUMNS_AVX2(columnOfSixesAVX2, SIXES, SIXES_AVX2, LOW_SIX_AVX2)
	JMP  nextWordAVX2
