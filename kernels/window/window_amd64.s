//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// VECTORS sets up loading and storing, with Z18-Z21 of R10, the vectors.
#define VECTORS \
	VBROADCASTI32X4 vectors_mask(R10), Z20;      \
	VMOVDQU64       vectors_shift(R10), Z21;     \
	VMOVDQU64       vectors_high(R10), Z19;      \
	VBROADCASTI32X4 vectors_highMask(R10), Z18

// VECTORS3 does the same for codes of 3 bits.
#define VECTORS3 \
	VMOVDQU64 vectors_threes(R10), Z18; \
	VMOVDQU64 vectors_places(R10), Z19

// UNPACK makes bytes of a line that Z0 holds in each part.
#define UNPACK \
	VPSRLVQ Z21, Z0, Z0; \
	VPANDQ  Z20, Z0, Z0

// LOAD2, LOAD3, LOAD4 and LOAD6 unpack the line at DI to Z0.
#define LOAD2 \
	VBROADCASTI32X4 (DI), Z0; \
	UNPACK

#define LOAD3 \
	VPMULTISHIFTQB.BCST 16(DI), Z19, Z1;    \
	VBROADCASTI32X4     (DI), Z0;           \
	VPSRLVQ             Z21, Z0, Z0;        \
	VPTERNLOGQ          $0xe4, Z20, Z1, Z0; \
	VPERMB              Z18, Z0, Z0

#define LOAD4 \
	VBROADCASTI64X4 (DI), Z0; \
	UNPACK

#define LOAD6 \
	VBROADCASTI32X4 32(DI), Z1; \
	LOAD4;                      \
	VPRORVQ   Z19, Z1, Z1;      \
	VPTERNLOGQ $0xf8, Z18, Z1, Z0

// FOLD puts the bits of each half of Z0 into Y0, and FOLD2 the halves of y into x.
#define FOLD \
	VEXTRACTI64X4 $1, Z0, Y1; \
	VPOR          Y1, Y0, Y0

#define FOLD2(y, x) \
	VEXTRACTI128 $1, y, X1; \
	VPOR         X1, x, x

// STORE2, STORE3, STORE4 and STORE6 pack the codes in Z0 to the line at DI. Bits above the bits of
// a code do not matter.
#define STORE2 \
	VPANDQ  Z20, Z0, Z0; \
	VPSLLVQ Z21, Z0, Z0; \
	FOLD;                \
	FOLD2(Y0, X0);       \
	VMOVDQU X0, (DI)

#define STORE3 \
	VPERMB   vectors_parts(R10), Z0, Z0; \
	VPMOVB2M Z0, K3;                     \
	STORE2;                              \
	KMOVQ    K3, 16(DI)

#define STORE4 \
	VPANDQ  Z20, Z0, Z0; \
	VPSLLVQ Z21, Z0, Z0; \
	FOLD;                \
	VMOVDQU Y0, (DI)

#define STORE6 \
	VPANDQ  Z18, Z0, Z2;     \
	STORE4;                  \
	VPROLVQ Z19, Z2, Z0;     \
	FOLD;                    \
	FOLD2(Y0, X0);           \
	VMOVDQU X0, 32(DI)

// ZEROS2, ZEROS3, ZEROS4 and ZEROS6 put a line of Zero to DI.
#define ZEROS2 \
	VMOVDQU vectors_zeros(R10), X0; \
	VMOVDQU X0, (DI)

#define ZEROS3 \
	ZEROS2;                             \
	MOVQ (vectors_zeros+16)(R10), R8;   \
	MOVQ R8, 16(DI)

#define ZEROS4 \
	VMOVDQU vectors_zeros(R10), Y0; \
	VMOVDQU Y0, (DI)

#define ZEROS6 \
	ZEROS4;                              \
	VMOVDQU (vectors_zeros+32)(R10), X0; \
	VMOVDQU X0, 32(DI)

// BEGIN_TURN sets up a TurnFunc: DI lines, SI captures, CX lines left, AX alive, DX sources,
// R9 zero to begin again, Z24-Z27 the table of 256 codes, Z28-Z30 vectors.
#define BEGIN_TURN \
	MOVQ            lines+0(FP), DI;        \
	MOVQ            captures+8(FP), SI;     \
	MOVQ            count+16(FP), CX;       \
	MOVQ            begin+24(FP), R8;       \
	MOVQ            v+32(FP), R10;          \
	MOVQ            alive+40(FP), AX;       \
	MOVQ            sources+48(FP), DX;     \
	MOVQ            AX, R9;                 \
	VECTORS;                                \
	VMOVDQU64       (R8), Z24;              \
	VMOVDQU64       64(R8), Z25;            \
	VMOVDQU64       128(R8), Z26;           \
	VMOVDQU64       192(R8), Z27;           \
	VBROADCASTI32X4 vectors_zero(R10), Z28; \
	BEGIN_ENDS;                             \
	KXNORQ          K1, K1, K1;             \
	TESTQ           R9, R9

// BEGIN_ENDS sets up AT_END, which puts the columns of the codes Z0 whose score is at an end
// into K1 and R8.
#define BEGIN_ENDS \
	VBROADCASTI32X4 vectors_first(R10), Z29; \
	VBROADCASTI32X4 vectors_last(R10), Z30

#define AT_END \
	VPCMPEQB  Z29, Z0, K1; \
	VPCMPEQB  Z30, Z0, K2; \
	KORQ      K1, K2, K1;  \
	KMOVQ     K1, R8

// ENDS adds the columns at an end to AX.
#define ENDS \
	AT_END;     \
	ORQ R8, AX; \
	TESTQ R8, R8

// CODES puts the codes of the captures at SI into Z0, in the columns of K1, and Zero into
// the others, and stores the sources.
#define CODES \
	VMOVDQU64 (SI), Z0;          \
	VMOVDQA64 Z0, Z1;            \
	VPMOVB2M  Z0, K2;            \
	VPERMI2B  Z25, Z24, Z0;      \
	VPERMI2B  Z27, Z26, Z1;      \
	VMOVDQU8  Z1, K2, Z0;        \
	VPBLENDMB Z0, Z28, K1, Z0;   \
	VPMOVB2M  Z0, K2;            \
	KMOVQ     K2, (DX)

// NEXT goes on to the next line, of the given bytes.
#define NEXT(bytes) \
	ADDQ $bytes, DI; \
	ADDQ $64, SI;    \
	ADDQ $8, DX;     \
	DECQ CX

// TURN is a TurnFunc by the given steps.
#define TURN(setup, load, ends, codes, store, zeros, bytes) \
	setup;               \
	JNZ begin;           \
line:                    \
	load;                \
	ends;                \
	JZ within;           \
begin:                   \
	codes;               \
	store;               \
	NEXT(bytes);         \
	JZ    end;           \
	TESTQ R9, R9;        \
	JNZ   begin;         \
	JMP   line;          \
within:                  \
	zeros;               \
	MOVQ $0, (DX);       \
	NEXT(bytes);         \
	JNZ  line;           \
end:                     \
	VZEROUPPER;          \
	MOVQ AX, ret+56(FP); \
	RET

// SUM is a SumFunc by the given steps.
#define SUM(setup, load, add, bytes) \
	MOVQ dst+0(FP), SI;    \
	MOVQ lines+8(FP), DI;  \
	MOVQ count+16(FP), CX; \
	MOVQ v+24(FP), R10;    \
	setup;                 \
line:                     \
	load;                 \
	add;                  \
next:                     \
	ADDQ $bytes, DI;      \
	ADDQ $64, SI;         \
	DECQ CX;              \
	JNZ  line;            \
	VZEROUPPER;           \
	RET

#define BEGIN_TURN3   BEGIN_TURN; VECTORS3
#define BEGIN_SUM3    BEGIN_SUM; VECTORS3
#define BEGIN_DIGITS3 BEGIN_DIGITS; VECTORS3

#define BEGIN_SUM \
	VECTORS;    \
	VBROADCASTI32X4 vectors_sign(R10), Z22

// ADD adds the digits Z0 to the scores at SI, unless all are 0. (x XOR s) - s
// copies the sign bit s of x upwards.
#define ADD \
	VPTESTMQ  Z0, Z0, K1;     \
	KTESTB    K1, K1;         \
	JZ        next;           \
	VPXORQ    Z22, Z0, Z0;    \
	VPSUBB    Z22, Z0, Z0;    \
	VPADDB    (SI), Z0, Z0;   \
	VMOVDQU64 Z0, (SI)

// UNPACK_AVX2 makes bytes of a line that Y0 holds in each part: Y0 and Y1.
#define UNPACK_AVX2 \
	VPSRLVQ (vectors_shift+32)(R10), Y0, Y1; \
	VPSRLVQ vectors_shift(R10), Y0, Y0;      \
	VPAND   Y8, Y0, Y0;                      \
	VPAND   Y8, Y1, Y1

// LOAD2_AVX2, LOAD3_AVX2, LOAD4_AVX2 and LOAD6_AVX2 unpack the line at DI to Y0 and Y1.
#define LOAD2_AVX2 \
	VBROADCASTI128 (DI), Y0; \
	UNPACK_AVX2

// THREES unpacks half a line of codes of 3 bits: from is where the second part of it is, y has the first.
#define THREES(from, y) \
	VPBROADCASTD from(DI), Y2;                   \
	VPSHUFB      vectors_byteOf(R10), Y2, Y2;    \
	VPAND        vectors_bitOf(R10), Y2, Y2;     \
	VPCMPEQB     vectors_bitOf(R10), Y2, Y2;     \
	VPAND        vectors_four(R10), Y2, Y2;      \
	VPOR         Y2, y, y;                       \
	VMOVDQU      vectors_threes(R10), Y2;        \
	VPSHUFB      y, Y2, y

#define LOAD3_AVX2 \
	LOAD2_AVX2;     \
	THREES(16, Y0); \
	THREES(20, Y1)

#define LOAD4_AVX2 \
	VMOVDQU (DI), Y0; \
	UNPACK_AVX2

#define LOAD6_AVX2 \
	VBROADCASTI128 32(DI), Y3;                    \
	LOAD4_AVX2;                                   \
	VPSLLVQ        vectors_up(R10), Y3, Y2;       \
	VPSRLVQ        vectors_down(R10), Y3, Y3;     \
	VPAND          vectors_highMask(R10), Y2, Y2; \
	VPAND          vectors_highMask(R10), Y3, Y3; \
	VPOR           Y2, Y0, Y0;                    \
	VPOR           Y3, Y1, Y1

// PACK_AVX2 puts the codes in Y0 and Y1 into the parts of Y0.
#define PACK_AVX2 \
	VPAND   Y8, Y0, Y0;                      \
	VPAND   Y8, Y1, Y1;                      \
	VPSLLVQ vectors_shift(R10), Y0, Y0;      \
	VPSLLVQ (vectors_shift+32)(R10), Y1, Y1; \
	VPOR    Y1, Y0, Y0

// STORE2_AVX2, STORE3_AVX2, STORE4_AVX2 and STORE6_AVX2 pack the codes in Y0 and Y1 to the line at DI.
#define STORE2_AVX2 \
	PACK_AVX2;       \
	FOLD2(Y0, X0);   \
	VMOVDQU X0, (DI)

#define STORE3_AVX2 \
	VMOVDQU   vectors_parts(R10), Y2;     \
	VPAND     vectors_seven(R10), Y0, Y0; \
	VPAND     vectors_seven(R10), Y1, Y1; \
	VPSHUFB   Y0, Y2, Y0;                 \
	VPSHUFB   Y1, Y2, Y1;                 \
	VPMOVMSKB Y0, R11;                    \
	VPMOVMSKB Y1, R12;                    \
	STORE2_AVX2;                          \
	MOVL      R11, 16(DI);                \
	MOVL      R12, 20(DI)

#define STORE4_AVX2 \
	PACK_AVX2;       \
	VMOVDQU Y0, (DI)

#define STORE6_AVX2 \
	VPAND   vectors_highMask(R10), Y0, Y2; \
	VPAND   vectors_highMask(R10), Y1, Y3; \
	STORE4_AVX2;                           \
	VPSRLVQ vectors_up(R10), Y2, Y2;       \
	VPSLLVQ vectors_down(R10), Y3, Y3;     \
	VPOR    Y3, Y2, Y2;                    \
	FOLD2(Y2, X2);                         \
	VMOVDQU X2, 32(DI)

// BEGIN_TURN_AVX2 sets up a TurnFunc as BEGIN_TURN does, with R10 vectors, Y8 the bits of a
// code that a line begins with, Y9 Zero, Y10 BELOW, Y11 zeros, Y12 the base, Y13 that and 1,
// Y14 ABOVE, Y15 -v and all columns in Y6 and Y7.
#define BEGIN_TURN_AVX2 \
	MOVQ         lines+0(FP), DI;         \
	MOVQ         captures+8(FP), SI;      \
	MOVQ         count+16(FP), CX;        \
	MOVQ         v+32(FP), R10;           \
	MOVQ         alive+40(FP), AX;        \
	MOVQ         sources+48(FP), DX;      \
	MOVQ         AX, R9;                  \
	VMOVDQU      vectors_mask(R10), Y8;   \
	VMOVDQU      vectors_zero(R10), Y9;   \
	VMOVDQU      vectors_below(R10), Y10; \
	VMOVDQU      vectors_above(R10), Y14; \
	VMOVDQU      vectors_least(R10), Y15; \
	VPXOR        Y11, Y11, Y11;           \
	VPBROADCASTB base+24(FP), Y12;        \
	VPCMPEQB     Y6, Y6, Y6;              \
	VPCMPEQB     Y7, Y7, Y7;              \
	VPSUBB       Y7, Y12, Y13;            \
	TESTQ        R9, R9

// MOVE_MASK makes bits of the signs of the bytes in y and z.
#define MOVE_MASK(y, z) \
	VPMOVMSKB y, R11;  \
	VPMOVMSKB z, R8;   \
	SHLQ      $32, R8; \
	ORQ       R11, R8

// ENDS_AVX2 puts the columns of the codes Y0 and Y1 whose score was at an end into Y6, Y7
// and R8.
#define ENDS_AVX2 \
	VPCMPEQB vectors_first(R10), Y0, Y6; \
	VPCMPEQB vectors_first(R10), Y1, Y7; \
	VPCMPEQB vectors_last(R10), Y0, Y0;  \
	VPCMPEQB vectors_last(R10), Y1, Y1;  \
	VPOR     Y0, Y6, Y6;                 \
	VPOR     Y1, Y7, Y7;                 \
	MOVE_MASK(Y6, Y7);                   \
	ORQ      R8, AX;                     \
	TESTQ    R8, R8

// HALF_CODES puts the codes of half the captures at SI into y, in the columns, and Zero
// into the others. Y3 is where there is no capture, Y4 where there are only captures.
#define HALF_CODES(half, y, columns) \
	VMOVDQU   (half*32)(SI), y;              \
	VPCMPEQB  vectors_noCapture(R10), y, Y3; \
	VMOVDQU   vectors_only(R10), Y2;         \
	VPCMPGTB  y, Y2, Y4;                     \
	VPAND     Y4, Y2, Y2;                    \
	VPSUBB    Y2, y, y;                      \
	VPSUBSB   Y12, y, Y5;                    \
	VPMAXSB   Y11, Y5, Y5;                   \
	VPADDSB   Y13, y, y;                     \
	VPMINSB   Y11, y, y;                     \
	VPADDB    Y5, y, y;                      \
	VPAND     Y15, Y3, Y3;                   \
	VPADDB    Y3, y, y;                      \
	VPMINSB   vectors_most(R10), y, y;       \
	VPMAXSB   Y15, y, y;                     \
	VPAND     vectors_eight(R10), Y4, Y4;    \
	VPAND     vectors_seven(R10), y, Y3;     \
	VPOR      Y4, Y3, Y3;                    \
	VPSHUFB   Y3, Y10, Y3;                   \
	VPSHUFB   y, Y14, Y2;                    \
	VPBLENDVB y, Y3, Y2, y;                  \
	VPBLENDVB columns, y, Y9, y

// CODES_AVX2 puts the codes of the captures at SI into Y0 and Y1, and stores the sources.
#define CODES_AVX2 \
	HALF_CODES(0, Y0, Y6);           \
	HALF_CODES(1, Y1, Y7);           \
	MOVE_MASK(Y0, Y1);               \
	MOVQ    R8, (DX)

// BEGIN_SUM_AVX2 sets up a SumFunc.
#define BEGIN_SUM_AVX2 \
	VMOVDQU vectors_mask(R10), Y8; \
	VMOVDQU vectors_sign(R10), Y9

// ADD_AVX2 is ADD for the digits Y0 and Y1.
#define ADD_AVX2 \
	VPOR    Y0, Y1, Y2;      \
	VPTEST  Y2, Y2;          \
	JZ      next;            \
	VPXOR   Y9, Y0, Y0;      \
	VPXOR   Y9, Y1, Y1;      \
	VPSUBB  Y9, Y0, Y0;      \
	VPSUBB  Y9, Y1, Y1;      \
	VPADDB  (SI), Y0, Y0;    \
	VPADDB  32(SI), Y1, Y1;  \
	VMOVDQU Y0, (SI);        \
	VMOVDQU Y1, 32(SI)

// DIGIT is a DigitsFunc by the given steps: SI src, DI dst and for a moment src, AX ends. Lines
// of codes have the given bytes, lines of digits out.
#define DIGIT(setup, load, digits, store, bytes, out) \
	MOVQ dst+0(FP), DX;    \
	MOVQ src+8(FP), SI;    \
	MOVQ count+16(FP), CX; \
	MOVQ v+24(FP), R10;    \
	XORQ AX, AX;           \
	setup;                 \
line:                      \
	MOVQ SI, DI;           \
	load;                  \
	digits;                \
	MOVQ DX, DI;           \
	store;                 \
	POPCNTQ R8, R8;        \
	ADDQ R8, AX;           \
	ADDQ $bytes, SI;       \
	ADDQ $out, DX;         \
	DECQ CX;               \
	JNZ  line;             \
	VZEROUPPER;            \
	MOVQ AX, ret+32(FP);   \
	RET

#define BEGIN_DIGITS \
	VECTORS;    \
	BEGIN_ENDS; \
	VMOVDQU64 vectors_digits(R10), Z28

// LOOK_UP makes digits of the codes Z0, and puts the ends into R8.
#define LOOK_UP \
	AT_END;               \
	VPERMB   Z28, Z0, Z0

// STORE_HALF packs digits of half the bits, and STORE_ENDS the ends, to the line at DI.
#define STORE_HALF \
	VPSLLVQ vectors_half(R10), Z0, Z0; \
	FOLD;                              \
	FOLD2(Y0, X0);                     \
	VMOVDQU X0, (DI)

#define STORE_ENDS \
	MOVQ R8, (DI)

// BEGIN_SIZES sets up a SumFunc of digits that are not signed, with Z22 ones and Z23 zeros.
#define BEGIN_SIZES \
	VECTORS;                               \
	VBROADCASTI32X4 vectors_ones(R10), Z22; \
	VPXORQ          Z23, Z23, Z23

// LOAD1 unpacks the line of 1 bit each at DI to Z0.
#define LOAD1 \
	KMOVQ       (DI), K1;        \
	VMOVDQU8.Z  Z22, K1, Z0

// ADD_SIZES adds Z0 to the scores at SI with the signs of these.
#define ADD_SIZES \
	VPTESTMQ  Z0, Z0, K1;      \
	KTESTB    K1, K1;          \
	JZ        next;            \
	VMOVDQU64 (SI), Z1;        \
	VPMOVB2M  Z1, K2;          \
	VPCMPB    $6, Z23, Z1, K3; \
	VPADDB    Z0, Z1, K3, Z1;  \
	VPSUBB    Z0, Z1, K2, Z1;  \
	VMOVDQU64 Z1, (SI)

#define BEGIN_DIGITS_AVX2 \
	VMOVDQU        vectors_mask(R10), Y8;        \
	VMOVDQU        vectors_first(R10), Y9;       \
	VMOVDQU        vectors_last(R10), Y10;       \
	VBROADCASTI128 vectors_steps(R10), Y11;      \
	VBROADCASTI128 (vectors_steps+16)(R10), Y12; \
	VBROADCASTI128 (vectors_steps+32)(R10), Y13; \
	VBROADCASTI128 (vectors_steps+48)(R10), Y14; \
	VMOVDQU        vectors_sixteen(R10), Y15

// STEP adds to y the entries at x, less 16, of the next 16 bytes of a table. An index below 0 has
// bit 7 set, which looks 0 up.
#define STEP(table, x, y) \
	VPSUBB  Y15, x, x;    \
	VPSHUFB x, table, Y3; \
	VPXOR   Y3, y, y

// HALF_LOOK_UP makes digits of the codes x, and sets ends to those.
#define HALF_LOOK_UP(x, ends) \
	VPCMPEQB  x, Y9, Y2;   \
	VPCMPEQB  x, Y10, Y3;  \
	VPOR      Y3, Y2, Y2;  \
	VPMOVMSKB Y2, ends;    \
	VPSHUFB   x, Y11, Y2;  \
	STEP(Y12, x, Y2);      \
	STEP(Y13, x, Y2);      \
	STEP(Y14, x, Y2);      \
	VMOVDQA   Y2, x

// LOOK_UP_AVX2 is LOOK_UP for the codes Y0 and Y1.
#define LOOK_UP_AVX2 \
	HALF_LOOK_UP(Y0, R8); \
	HALF_LOOK_UP(Y1, R9); \
	SHLQ    $32, R9;      \
	ORQ     R9, R8

// STORE_HALF_AVX2 is STORE_HALF for the digits Y0 and Y1.
#define STORE_HALF_AVX2 \
	VPSLLVQ vectors_half(R10), Y0, Y0;      \
	VPSLLVQ (vectors_half+32)(R10), Y1, Y1; \
	VPOR    Y1, Y0, Y0;                     \
	FOLD2(Y0, X0);                          \
	VMOVDQU X0, (DI)

// BEGIN_SIZES_AVX2 sets up a SumFunc of digits that are not signed.
#define BEGIN_SIZES_AVX2 \
	VMOVDQU vectors_mask(R10), Y8;    \
	VMOVDQU vectors_byteOf(R10), Y9;  \
	VMOVDQU vectors_bitOf(R10), Y10;  \
	VMOVDQU vectors_ones(R10), Y11

// HALF_LOAD1 unpacks 32 digits of 1 bit each to y.
#define HALF_LOAD1(from, y) \
	VPBROADCASTD from(DI), y; \
	VPSHUFB      Y9, y, y;    \
	VPAND        Y10, y, y;   \
	VPCMPEQB     Y10, y, y;   \
	VPAND        Y11, y, y

#define LOAD1_AVX2 \
	HALF_LOAD1(0, Y0); \
	HALF_LOAD1(4, Y1)

// ADD_SIZES_AVX2 is ADD_SIZES for the digits Y0 and Y1.
#define ADD_SIZES_AVX2 \
	VPOR    Y0, Y1, Y2;     \
	VPTEST  Y2, Y2;         \
	JZ      next;           \
	VMOVDQU (SI), Y2;       \
	VMOVDQU 32(SI), Y3;     \
	VPSIGNB Y2, Y0, Y0;     \
	VPSIGNB Y3, Y1, Y1;     \
	VPADDB  Y2, Y0, Y0;     \
	VPADDB  Y3, Y1, Y1;     \
	VMOVDQU Y0, (SI);       \
	VMOVDQU Y1, 32(SI)

// func turn2AVX512(lines, captures *int8, count int, begin *[256]uint8, v *vectors, alive uint64, sources *uint64) uint64
TEXT ·turn2AVX512(SB), NOSPLIT, $0-64
	TURN(BEGIN_TURN, LOAD2, ENDS, CODES, STORE2, ZEROS2, 16)

// func turn3AVX512(lines, captures *int8, count int, begin *[256]uint8, v *vectors, alive uint64, sources *uint64) uint64
TEXT ·turn3AVX512(SB), NOSPLIT, $0-64
	TURN(BEGIN_TURN3, LOAD3, ENDS, CODES, STORE3, ZEROS3, 24)

// func turn4AVX512(lines, captures *int8, count int, begin *[256]uint8, v *vectors, alive uint64, sources *uint64) uint64
TEXT ·turn4AVX512(SB), NOSPLIT, $0-64
	TURN(BEGIN_TURN, LOAD4, ENDS, CODES, STORE4, ZEROS4, 32)

// func turn6AVX512(lines, captures *int8, count int, begin *[256]uint8, v *vectors, alive uint64, sources *uint64) uint64
TEXT ·turn6AVX512(SB), NOSPLIT, $0-64
	TURN(BEGIN_TURN, LOAD6, ENDS, CODES, STORE6, ZEROS6, 48)

// func turn2AVX2(lines, captures *int8, count, base int, v *vectors, alive uint64, sources *uint64) uint64
TEXT ·turn2AVX2(SB), NOSPLIT, $0-64
	TURN(BEGIN_TURN_AVX2, LOAD2_AVX2, ENDS_AVX2, CODES_AVX2, STORE2_AVX2, ZEROS2, 16)

// func turn3AVX2(lines, captures *int8, count, base int, v *vectors, alive uint64, sources *uint64) uint64
TEXT ·turn3AVX2(SB), NOSPLIT, $0-64
	TURN(BEGIN_TURN_AVX2, LOAD3_AVX2, ENDS_AVX2, CODES_AVX2, STORE3_AVX2, ZEROS3, 24)

// func turn4AVX2(lines, captures *int8, count, base int, v *vectors, alive uint64, sources *uint64) uint64
TEXT ·turn4AVX2(SB), NOSPLIT, $0-64
	TURN(BEGIN_TURN_AVX2, LOAD4_AVX2, ENDS_AVX2, CODES_AVX2, STORE4_AVX2, ZEROS4, 32)

// func turn6AVX2(lines, captures *int8, count, base int, v *vectors, alive uint64, sources *uint64) uint64
TEXT ·turn6AVX2(SB), NOSPLIT, $0-64
	TURN(BEGIN_TURN_AVX2, LOAD6_AVX2, ENDS_AVX2, CODES_AVX2, STORE6_AVX2, ZEROS6, 48)

// func sum2AVX512(dst, lines *int8, count int, v *vectors)
TEXT ·sum2AVX512(SB), NOSPLIT, $0-32
	SUM(BEGIN_SUM, LOAD2, ADD, 16)

// func sum3AVX512(dst, lines *int8, count int, v *vectors)
TEXT ·sum3AVX512(SB), NOSPLIT, $0-32
	SUM(BEGIN_SUM3, LOAD3, ADD, 24)

// func sum4AVX512(dst, lines *int8, count int, v *vectors)
TEXT ·sum4AVX512(SB), NOSPLIT, $0-32
	SUM(BEGIN_SUM, LOAD4, ADD, 32)

// func sum6AVX512(dst, lines *int8, count int, v *vectors)
TEXT ·sum6AVX512(SB), NOSPLIT, $0-32
	SUM(BEGIN_SUM, LOAD6, ADD, 48)

// func sum2AVX2(dst, lines *int8, count int, v *vectors)
TEXT ·sum2AVX2(SB), NOSPLIT, $0-32
	SUM(BEGIN_SUM_AVX2, LOAD2_AVX2, ADD_AVX2, 16)

// func sum3AVX2(dst, lines *int8, count int, v *vectors)
TEXT ·sum3AVX2(SB), NOSPLIT, $0-32
	SUM(BEGIN_SUM_AVX2, LOAD3_AVX2, ADD_AVX2, 24)

// func sum4AVX2(dst, lines *int8, count int, v *vectors)
TEXT ·sum4AVX2(SB), NOSPLIT, $0-32
	SUM(BEGIN_SUM_AVX2, LOAD4_AVX2, ADD_AVX2, 32)

// func sum6AVX2(dst, lines *int8, count int, v *vectors)
TEXT ·sum6AVX2(SB), NOSPLIT, $0-32
	SUM(BEGIN_SUM_AVX2, LOAD6_AVX2, ADD_AVX2, 48)

// func digits2AVX512(dst, src *int8, count int, v *vectors) int
TEXT ·digits2AVX512(SB), NOSPLIT, $0-40
	DIGIT(BEGIN_DIGITS, LOAD2, LOOK_UP, STORE2, 16, 16)

// func digits3AVX512(dst, src *int8, count int, v *vectors) int
TEXT ·digits3AVX512(SB), NOSPLIT, $0-40
	DIGIT(BEGIN_DIGITS3, LOAD3, LOOK_UP, STORE3, 24, 24)

// func digits4AVX512(dst, src *int8, count int, v *vectors) int
TEXT ·digits4AVX512(SB), NOSPLIT, $0-40
	DIGIT(BEGIN_DIGITS, LOAD4, LOOK_UP, STORE4, 32, 32)

// func digits6AVX512(dst, src *int8, count int, v *vectors) int
TEXT ·digits6AVX512(SB), NOSPLIT, $0-40
	DIGIT(BEGIN_DIGITS, LOAD6, LOOK_UP, STORE6, 48, 48)

// func digits2AVX2(dst, src *int8, count int, v *vectors) int
TEXT ·digits2AVX2(SB), NOSPLIT, $0-40
	DIGIT(BEGIN_DIGITS_AVX2, LOAD2_AVX2, LOOK_UP_AVX2, STORE2_AVX2, 16, 16)

// func digits3AVX2(dst, src *int8, count int, v *vectors) int
TEXT ·digits3AVX2(SB), NOSPLIT, $0-40
	DIGIT(BEGIN_DIGITS_AVX2, LOAD3_AVX2, LOOK_UP_AVX2, STORE3_AVX2, 24, 24)

// func digits4AVX2(dst, src *int8, count int, v *vectors) int
TEXT ·digits4AVX2(SB), NOSPLIT, $0-40
	DIGIT(BEGIN_DIGITS_AVX2, LOAD4_AVX2, LOOK_UP_AVX2, STORE4_AVX2, 32, 32)

// func digits6AVX2(dst, src *int8, count int, v *vectors) int
TEXT ·digits6AVX2(SB), NOSPLIT, $0-40
	DIGIT(BEGIN_DIGITS_AVX2, LOAD6_AVX2, LOOK_UP_AVX2, STORE6_AVX2, 48, 48)

// func sizes2AVX512(dst, src *int8, count int, v *vectors) int
TEXT ·sizes2AVX512(SB), NOSPLIT, $0-40
	DIGIT(BEGIN_DIGITS, LOAD2, LOOK_UP, STORE_ENDS, 16, 8)

// func sizes3AVX512(dst, src *int8, count int, v *vectors) int
TEXT ·sizes3AVX512(SB), NOSPLIT, $0-40
	DIGIT(BEGIN_DIGITS3, LOAD3, LOOK_UP, STORE2, 24, 16)

// func sizes4AVX512(dst, src *int8, count int, v *vectors) int
TEXT ·sizes4AVX512(SB), NOSPLIT, $0-40
	DIGIT(BEGIN_DIGITS, LOAD4, LOOK_UP, STORE_HALF, 32, 16)

// func sizes6AVX512(dst, src *int8, count int, v *vectors) int
TEXT ·sizes6AVX512(SB), NOSPLIT, $0-40
	DIGIT(BEGIN_DIGITS, LOAD6, LOOK_UP, STORE4, 48, 32)

// func sizes2AVX2(dst, src *int8, count int, v *vectors) int
TEXT ·sizes2AVX2(SB), NOSPLIT, $0-40
	DIGIT(BEGIN_DIGITS_AVX2, LOAD2_AVX2, LOOK_UP_AVX2, STORE_ENDS, 16, 8)

// func sizes3AVX2(dst, src *int8, count int, v *vectors) int
TEXT ·sizes3AVX2(SB), NOSPLIT, $0-40
	DIGIT(BEGIN_DIGITS_AVX2, LOAD3_AVX2, LOOK_UP_AVX2, STORE2_AVX2, 24, 16)

// func sizes4AVX2(dst, src *int8, count int, v *vectors) int
TEXT ·sizes4AVX2(SB), NOSPLIT, $0-40
	DIGIT(BEGIN_DIGITS_AVX2, LOAD4_AVX2, LOOK_UP_AVX2, STORE_HALF_AVX2, 32, 16)

// func sizes6AVX2(dst, src *int8, count int, v *vectors) int
TEXT ·sizes6AVX2(SB), NOSPLIT, $0-40
	DIGIT(BEGIN_DIGITS_AVX2, LOAD6_AVX2, LOOK_UP_AVX2, STORE4_AVX2, 48, 32)

// func sumSizes1AVX512(dst, lines *int8, count int, v *vectors)
TEXT ·sumSizes1AVX512(SB), NOSPLIT, $0-32
	SUM(BEGIN_SIZES, LOAD1, ADD_SIZES, 8)

// func sumSizes2AVX512(dst, lines *int8, count int, v *vectors)
TEXT ·sumSizes2AVX512(SB), NOSPLIT, $0-32
	SUM(BEGIN_SIZES, LOAD2, ADD_SIZES, 16)

// func sumSizes4AVX512(dst, lines *int8, count int, v *vectors)
TEXT ·sumSizes4AVX512(SB), NOSPLIT, $0-32
	SUM(BEGIN_SIZES, LOAD4, ADD_SIZES, 32)

// func sumSizes1AVX2(dst, lines *int8, count int, v *vectors)
TEXT ·sumSizes1AVX2(SB), NOSPLIT, $0-32
	SUM(BEGIN_SIZES_AVX2, LOAD1_AVX2, ADD_SIZES_AVX2, 8)

// func sumSizes2AVX2(dst, lines *int8, count int, v *vectors)
TEXT ·sumSizes2AVX2(SB), NOSPLIT, $0-32
	SUM(BEGIN_SIZES_AVX2, LOAD2_AVX2, ADD_SIZES_AVX2, 16)

// func sumSizes4AVX2(dst, lines *int8, count int, v *vectors)
TEXT ·sumSizes4AVX2(SB), NOSPLIT, $0-32
	SUM(BEGIN_SIZES_AVX2, LOAD4_AVX2, ADD_SIZES_AVX2, 32)
