//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// Four equal bytes: bits 4 and 5; 16; 4.
#define HIGH_MASK $0x30303030
#define SIXTEEN   $0x10101010
#define FOUR      $0x04040404

// REPLACE updates lines by the given steps, row by row: DI lines, CX rows left, BX row, R10
// the offset of its line, SI block, R8 the offset of the row in it, R11 vectors, DX changed,
// AX result. It jumps to same if no code of a line changes.
#define REPLACE(setup, load, next, store, bytes) \
	MOVQ   lines+0(FP), DI;    \
	MOVQ   rows+8(FP), CX;     \
	MOVQ   block+16(FP), SI;   \
	MOVQ   v+32(FP), R11;      \
	MOVQ   changed+40(FP), DX; \
	XORQ   AX, AX;             \
	setup;                     \
line:                          \
	TZCNTQ CX, BX;             \
	IMUL3Q $bytes, BX, R10;    \
	MOVQ   BX, R8;             \
	SHLQ   $6, R8;             \
	load;                      \
	next;                      \
	MOVQ   R8, (DX)(BX*8);     \
	BTSQ   BX, AX;             \
	store;                     \
same:                          \
	BLSRQ  CX, CX;             \
	JNZ    line;               \
	VZEROUPPER;                \
	MOVQ   AX, ret+48(FP);     \
	RET

// BEGIN_AVX512 sets up replacing: K1 columns, Z16-Z23 vectors.
#define BEGIN_AVX512 \
	KMOVQ           columns+24(FP), K1;                          \
	VMOVDQU64       (vectors_heights+heights_negated)(R11), Z16; \
	VMOVDQU64       (vectors_heights+heights_floor)(R11), Z17;   \
	VMOVDQU64       (vectors_heights+heights_first)(R11), Z18;   \
	VBROADCASTI32X4 (vectors_heights+heights_middle)(R11), Z19;  \
	VBROADCASTI32X4 vectors_mask(R11), Z20;                      \
	VMOVDQU64       vectors_shift(R11), Z21;                     \
	VMOVDQU64       vectors_high(R11), Z22;                      \
	MOVL            HIGH_MASK, R8;                               \
	VPBROADCASTD    R8, Z23

// BEGIN3_AVX512 sets up replacing of codes of 3 bits: Z22 places, Z23 codes.
#define BEGIN3_AVX512 \
	BEGIN_AVX512;                       \
	VMOVDQU64 vectors_places(R11), Z22; \
	VMOVDQU64 vectors_threes(R11), Z23

// UNPACK makes bytes of a line that Z0 holds in each part.
#define UNPACK \
	VPSRLVQ Z21, Z0, Z0; \
	VPANDQ  Z20, Z0, Z0

// LOAD2, LOAD3, LOAD4 and LOAD6 unpack a line to Z0.
#define LOAD2 \
	VBROADCASTI32X4 (DI)(R10*1), Z0; \
	UNPACK

#define LOAD3 \
	VPMULTISHIFTQB.BCST 16(DI)(R10*1), Z22, Z1; \
	VBROADCASTI32X4     (DI)(R10*1), Z0;        \
	VPSRLVQ             Z21, Z0, Z0;            \
	VPTERNLOGQ          $0xe4, Z20, Z1, Z0;     \
	VPERMB              Z23, Z0, Z0

#define LOAD4 \
	VBROADCASTI64X4 (DI)(R10*1), Z0; \
	UNPACK

#define LOAD6 \
	VBROADCASTI32X4 32(DI)(R10*1), Z1; \
	LOAD4;                             \
	VPRORVQ    Z22, Z1, Z1;            \
	VPTERNLOGQ $0xf8, Z23, Z1, Z0

// FOLD puts the bits of each half of Z0 into Y0, and FOLD2 the halves of y into x.
#define FOLD \
	VEXTRACTI64X4 $1, Z0, Y1; \
	VPOR          Y1, Y0, Y0

#define FOLD2(y, x) \
	VEXTRACTI128 $1, y, X1; \
	VPOR         X1, x, x

// STORE2, STORE3, STORE4 and STORE6 pack the codes in Z0 to a line.
#define STORE2 \
	VPSLLVQ Z21, Z0, Z0; \
	FOLD;                \
	FOLD2(Y0, X0);       \
	VMOVDQU X0, (DI)(R10*1)

#define STORE3 \
	VPERMB   vectors_parts(R11), Z0, Z0; \
	VPMOVB2M Z0, K3;                     \
	VPANDQ   Z20, Z0, Z0;                \
	STORE2;                              \
	KMOVQ    K3, 16(DI)(R10*1)

#define STORE4 \
	VPSLLVQ Z21, Z0, Z0; \
	FOLD;                \
	VMOVDQU Y0, (DI)(R10*1)

#define STORE6 \
	VPANDQ  Z23, Z0, Z2; \
	VPANDQ  Z20, Z0, Z0; \
	STORE4;              \
	VPROLVQ Z22, Z2, Z0; \
	FOLD;                \
	FOLD2(Y0, X0);       \
	VMOVDQU X0, 32(DI)(R10*1)

// NEXT_AVX512 updates the codes Z0; R8 is the mask of changes. Z1 has the heights of their floors,
// Z2 the heights of the scores, and Z3 the new codes.
#define NEXT_AVX512 \
	VMOVDQU64 (SI)(R8*1), Z2;     \
	VPERMB    Z16, Z2, Z2;        \
	VPERMB    Z17, Z0, Z1;        \
	VPMAXUB   Z1, Z2, Z2;         \
	VPCMPUB   $2, Z19, Z2, K2;    \
	VPERMB    Z18, Z2, Z3;        \
	VPADDB    Z1, Z3, K2, Z3;     \
	VPCMPUB   $4, Z0, Z3, K1, K3; \
	KMOVQ     K3, R8;             \
	TESTQ     R8, R8;             \
	JZ        same;               \
	VMOVDQU8  Z3, K3, Z0

// BEGIN_AVX2 sets up replacing: R12 columns, Y9-Y13 tables of 16 bytes.
#define BEGIN_AVX2 \
	MOVQ           columns+24(FP), R12;                        \
	VBROADCASTI128 (vectors_heights+heights_negated)(R11), Y9; \
	VBROADCASTI128 (vectors_heights+heights_floor)(R11), Y10;  \
	VBROADCASTI128 (vectors_heights+heights_first)(R11), Y11;  \
	VBROADCASTI128 (vectors_heights+heights_middle)(R11), Y12; \
	VBROADCASTI128 vectors_mask(R11), Y13

// BEGIN6_AVX2 sets up replacing of codes of 6 bits, with bits 4 and 5 in Y9 and 16 in Y10.
#define BEGIN6_AVX2 \
	BEGIN_AVX2;                 \
	MOVL         HIGH_MASK, R8; \
	VMOVD        R8, X9;        \
	VPBROADCASTD X9, Y9;        \
	MOVL         SIXTEEN, R8;   \
	VMOVD        R8, X10;       \
	VPBROADCASTD X10, Y10

// BEGIN3_AVX2 sets up replacing of codes of 3 bits, with 4 in Y14 and the codes by both parts in Y15.
#define BEGIN3_AVX2 \
	BEGIN_AVX2;                          \
	MOVL         FOUR, R8;               \
	VMOVD        R8, X14;                \
	VPBROADCASTD X14, Y14;               \
	VMOVDQU      vectors_threes(R11), Y15

// UNPACK_AVX2 makes bytes of a line that Y0 holds in each part: Y0 and Y1.
#define UNPACK_AVX2 \
	VPSRLVQ (vectors_shift+32)(R11), Y0, Y1; \
	VPSRLVQ vectors_shift(R11), Y0, Y0;      \
	VPAND   Y13, Y0, Y0;                     \
	VPAND   Y13, Y1, Y1

// LOAD2_AVX2, LOAD3_AVX2, LOAD4_AVX2 and LOAD6_AVX2 unpack a line to Y0 and Y1.
#define LOAD2_AVX2 \
	VBROADCASTI128 (DI)(R10*1), Y0; \
	UNPACK_AVX2

// THREES unpacks half a line of codes of 3 bits: second has the second part of it, y the first.
#define THREES(second, y) \
	VPSHUFB  vectors_byteOf(R11), second, second; \
	VPAND    vectors_bitOf(R11), second, second;  \
	VPCMPEQB vectors_bitOf(R11), second, second;  \
	VPAND    Y14, second, second;                 \
	VPOR     second, y, y;                        \
	VPSHUFB  y, Y15, y

#define LOAD3_AVX2 \
	VPBROADCASTD 16(DI)(R10*1), Y2; \
	VPBROADCASTD 20(DI)(R10*1), Y3; \
	LOAD2_AVX2;                     \
	THREES(Y2, Y0);                 \
	THREES(Y3, Y1)

#define LOAD4_AVX2 \
	VMOVDQU (DI)(R10*1), Y0; \
	UNPACK_AVX2

#define LOAD6_AVX2 \
	VBROADCASTI128 32(DI)(R10*1), Y3;         \
	LOAD4_AVX2;                               \
	VPSLLVQ        vectors_up(R11), Y3, Y2;   \
	VPSRLVQ        vectors_down(R11), Y3, Y3; \
	VPAND          Y9, Y2, Y2;                \
	VPAND          Y9, Y3, Y3;                \
	VPOR           Y2, Y0, Y0;                \
	VPOR           Y3, Y1, Y1

// PACK_AVX2 puts the codes in Y0 and Y1 into the parts of Y0.
#define PACK_AVX2 \
	VPSLLVQ vectors_shift(R11), Y0, Y0;      \
	VPSLLVQ (vectors_shift+32)(R11), Y1, Y1; \
	VPOR    Y1, Y0, Y0

// STORE2_AVX2, STORE3_AVX2, STORE4_AVX2 and STORE6_AVX2 pack the codes in Y0 and Y1 to a line.
#define STORE2_AVX2 \
	PACK_AVX2;     \
	FOLD2(Y0, X0); \
	VMOVDQU X0, (DI)(R10*1)

#define STORE3_AVX2 \
	VMOVDQU   vectors_parts(R11), Y2; \
	VPSHUFB   Y0, Y2, Y0;             \
	VPSHUFB   Y1, Y2, Y1;             \
	VPMOVMSKB Y0, R8;                 \
	VPMOVMSKB Y1, R9;                 \
	VPAND     Y13, Y0, Y0;            \
	VPAND     Y13, Y1, Y1;            \
	STORE2_AVX2;                      \
	MOVL      R8, 16(DI)(R10*1);      \
	MOVL      R9, 20(DI)(R10*1)

#define STORE4_AVX2 \
	PACK_AVX2; \
	VMOVDQU Y0, (DI)(R10*1)

#define STORE6_AVX2 \
	VPAND   Y9, Y0, Y2;                \
	VPAND   Y9, Y1, Y3;                \
	VPAND   Y13, Y0, Y0;               \
	VPAND   Y13, Y1, Y1;               \
	STORE4_AVX2;                       \
	VPSRLVQ vectors_up(R11), Y2, Y2;   \
	VPSLLVQ vectors_down(R11), Y3, Y3; \
	VPOR    Y3, Y2, Y2;                \
	FOLD2(Y2, X2);                     \
	VMOVDQU X2, 32(DI)(R10*1)

// FLOORS, NEGATED_LEAST and FIRSTS look codes x up to y in tables of 16 bytes.
#define FLOORS(x, y)        VPSHUFB x, Y10, y
#define NEGATED_LEAST(x, y) VPSHUFB x, Y9, y
#define FIRSTS(x, y)        VPSHUFB x, Y11, y

// STEP adds to y the entries at Y8, x less 16, of the next 16 bytes of a table. An index below 0
// has bit 7 set, which looks 0 up.
#define STEP(table, x, y) \
	VPSUBB         Y10, x, Y8;        \
	VBROADCASTI128 (table)(R11), Y14; \
	VPSHUFB        Y8, Y14, Y14;      \
	VPXOR          Y14, y, y

#define LOOK_UP(table, x, y) \
	VBROADCASTI128 (table)(R11), y; \
	VPSHUFB        x, y, y;         \
	STEP(table+16, x, y);           \
	STEP(table+32, Y8, y);          \
	STEP(table+48, Y8, y)

// FLOORS6, NEGATED_LEAST6 and FIRSTS6 look codes x of 6 bits up to y.
#define FLOORS6(x, y)        LOOK_UP(vectors_steps+64, x, y)
#define NEGATED_LEAST6(x, y) LOOK_UP(vectors_steps, x, y)
#define FIRSTS6(x, y) \
	VPSHUFB x, Y11, y; \
	STEP(vectors_steps+2*64+16, x, y)

// HALF_AVX2 updates the codes y of half a line; z is a mask of the codes that change, in bits.
// Y4 has the heights of their floors, Y5 the heights of the scores, Y6 the codes to be added to
// the codes in Y7.
#define HALF_AVX2(half, y, z, bits, floors, negated, firsts) \
	floors(y, Y4);                        \
	VMOVDQU   (half*32)(SI)(R8*1), Y6;    \
	negated(Y6, Y5);                      \
	VPMAXUB   Y4, Y5, Y5;                 \
	VPMINUB   Y12, Y5, Y6;                \
	VPCMPEQB  Y5, Y6, Y6;                 \
	VPAND     Y4, Y6, Y6;                 \
	firsts(Y5, Y7);                       \
	VPADDB    Y6, Y7, Y7;                 \
	VPCMPEQB  y, Y7, z;                   \
	VPANDN    (half*32)(R12), z, z;       \
	VPBLENDVB z, Y7, y, y;                \
	VPMOVMSKB z, bits

// BOTH_AVX2 updates the codes Y0 and Y1; R8 is the mask of changes.
#define BOTH_AVX2(floors, negated, firsts) \
	HALF_AVX2(0, Y0, Y2, R9, floors, negated, firsts); \
	HALF_AVX2(1, Y1, Y3, R8, floors, negated, firsts); \
	SHLQ $32, R8;                                      \
	ORQ  R9, R8;                                       \
	JZ   same

#define NEXT_AVX2  BOTH_AVX2(FLOORS, NEGATED_LEAST, FIRSTS)
#define NEXT6_AVX2 BOTH_AVX2(FLOORS6, NEGATED_LEAST6, FIRSTS6)

// LOOK_NEXT_UP takes row BX of the column at SI and the code R8: R9 has its bits that change.
#define LOOK_NEXT_UP \
	MOVBLZX (SI)(BX*1), R9;  \
	SHLL    $6, R9;          \
	ANDL    $0xfff, R9;      \
	ORL     R8, R9;          \
	MOVBLZX (R12)(R9*1), R9; \
	XORL    R8, R9

// UPDATE_PARTS updates codes of two parts in lines of the given bytes: DI first part, R13 second,
// CX and R15 their shifts, SI column, DX rows left, R12 next, AX result, BX row, R10 the offset of its
// line. The first part has the given bits, of the given mask; the second has the mask high.
// The first is stored first.
#define UPDATE_PARTS(bytes, bits, mask, high) \
	MOVQ    first+0(FP), DI;        \
	MOVQ    second+8(FP), R13;      \
	MOVQ    firstShift+16(FP), CX;  \
	MOVQ    secondShift+24(FP), R15; \
	MOVQ    column+32(FP), SI;      \
	MOVQ    rows+40(FP), DX;        \
	MOVQ    next+48(FP), R12;       \
	XORQ    AX, AX;                 \
code: \
	TZCNTQ  DX, BX;                 \
	IMUL3Q  $bytes, BX, R10;        \
	MOVBLZX (DI)(R10*1), R8;        \
	MOVBLZX (R13)(R10*1), R9;       \
	SHRXL   CX, R8, R8;             \
	SHRXL   R15, R9, R9;            \
	ANDL    $mask, R8;              \
	ANDL    $high, R9;              \
	SHLL    $bits, R9;              \
	ORL     R9, R8;                 \
	LOOK_NEXT_UP;                   \
	JNZ     differs;                \
nextCode: \
	BLSRQ   DX, DX;                 \
	JNZ     code;                   \
	MOVQ    AX, ret+56(FP);         \
	RET;                            \
differs: \
	MOVL    R9, R8;                 \
	ANDL    $mask, R8;              \
	SHRL    $bits, R9;              \
	SHLXL   CX, R8, R8;             \
	SHLXL   R15, R9, R9;            \
	XORB    R8, (DI)(R10*1);        \
	XORB    R9, (R13)(R10*1);       \
	BTSQ    BX, AX;                 \
	JMP     nextCode

// func replace2AVX512(lines *int8, rows uint64, block *Block, columns uint64, v *vectors, changed *[64]uint64) uint64
TEXT ·replace2AVX512(SB), NOSPLIT, $0-56
	REPLACE(BEGIN_AVX512, LOAD2, NEXT_AVX512, STORE2, 16)

// func replace3AVX512(lines *int8, rows uint64, block *Block, columns uint64, v *vectors, changed *[64]uint64) uint64
TEXT ·replace3AVX512(SB), NOSPLIT, $0-56
	REPLACE(BEGIN3_AVX512, LOAD3, NEXT_AVX512, STORE3, 24)

// func replace4AVX512(lines *int8, rows uint64, block *Block, columns uint64, v *vectors, changed *[64]uint64) uint64
TEXT ·replace4AVX512(SB), NOSPLIT, $0-56
	REPLACE(BEGIN_AVX512, LOAD4, NEXT_AVX512, STORE4, 32)

// func replace6AVX512(lines *int8, rows uint64, block *Block, columns uint64, v *vectors, changed *[64]uint64) uint64
TEXT ·replace6AVX512(SB), NOSPLIT, $0-56
	REPLACE(BEGIN_AVX512, LOAD6, NEXT_AVX512, STORE6, 48)

// func replace2AVX2(lines *int8, rows uint64, block *Block, columns *[64]int8, v *vectors, changed *[64]uint64) uint64
TEXT ·replace2AVX2(SB), NOSPLIT, $0-56
	REPLACE(BEGIN_AVX2, LOAD2_AVX2, NEXT_AVX2, STORE2_AVX2, 16)

// func replace3AVX2(lines *int8, rows uint64, block *Block, columns *[64]int8, v *vectors, changed *[64]uint64) uint64
TEXT ·replace3AVX2(SB), NOSPLIT, $0-56
	REPLACE(BEGIN3_AVX2, LOAD3_AVX2, NEXT_AVX2, STORE3_AVX2, 24)

// func replace4AVX2(lines *int8, rows uint64, block *Block, columns *[64]int8, v *vectors, changed *[64]uint64) uint64
TEXT ·replace4AVX2(SB), NOSPLIT, $0-56
	REPLACE(BEGIN_AVX2, LOAD4_AVX2, NEXT_AVX2, STORE4_AVX2, 32)

// func replace6AVX2(lines *int8, rows uint64, block *Block, columns *[64]int8, v *vectors, changed *[64]uint64) uint64
TEXT ·replace6AVX2(SB), NOSPLIT, $0-56
	REPLACE(BEGIN6_AVX2, LOAD6_AVX2, NEXT6_AVX2, STORE6_AVX2, 48)

// func updateCodes(lines *int8, line, shift, bits int, column *int8, rows uint64, next *[4096]uint8) uint64
//
// DI lines, R13 bytes of a line, CX shift, R15 the bits of a code, SI column, DX rows left,
// R12 next, AX result, BX row, R10 the offset of its line.
TEXT ·updateCodes(SB), NOSPLIT, $0-64
	MOVQ lines+0(FP), DI
	MOVQ line+8(FP), R13
	MOVQ bits+24(FP), CX
	MOVQ $-1, R15
	SHLQ CX, R15
	NOTQ R15
	MOVQ shift+16(FP), CX
	MOVQ column+32(FP), SI
	MOVQ rows+40(FP), DX
	MOVQ next+48(FP), R12
	XORQ AX, AX

code:
	TZCNTQ  DX, BX
	MOVQ    BX, R10
	IMULQ   R13, R10
	MOVBLZX (DI)(R10*1), R8
	SHRXL   CX, R8, R8
	ANDL    R15, R8
	LOOK_NEXT_UP
	JNZ     differs

nextCode:
	BLSRQ DX, DX
	JNZ   code
	MOVQ  AX, ret+56(FP)
	RET

differs:
	SHLXL CX, R9, R9
	XORB  R9, (DI)(R10*1)
	BTSQ  BX, AX
	JMP   nextCode

// func updateCodes3(first, second *int8, firstShift, secondShift int, column *int8, rows uint64, next *[4096]uint8) uint64
TEXT ·updateCodes3(SB), NOSPLIT, $0-64
	UPDATE_PARTS(24, 2, 3, 1)

// func updateCodes6(first, second *int8, firstShift, secondShift int, column *int8, rows uint64, next *[4096]uint8) uint64
TEXT ·updateCodes6(SB), NOSPLIT, $0-64
	UPDATE_PARTS(48, 4, 15, 3)
