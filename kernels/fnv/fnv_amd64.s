//go:build !purego

#include "textflag.h"

// A step is two groups of 512 bytes. The first bit, plane 0, is found for both groups,
// then the second one, and so on: the second group waits for the first one only at the
// end of a plane, and both wait for their planes before at the same time. The sums of
// the step before fill the time that is left.
//
// A plane is 64 bytes; bit m of byte j belongs to byte 64*m + j of the group.

// The layout of work.
#define LOWEST 0    // bit k of the hash in front of a step, in all bits of 64 bytes, for each k
#define FIRST  512  // B[k], and then L[k], of the first group
#define SECOND 1024 // of the second one
#define CHANGE 1536 // x[i] - l[i] of the step before, 16 bits each; zeros at first
#define HASH   3584 // eight words; their sum is the hash in front of the step before

// Truth tables of VPTERNLOGQ with the operands c, b, a.
#define XOR3     $0x96 // a ^ b ^ c
#define MAJORITY $0xe8 // of a, b, c
#define A_OR_B   $0xe4 // c ? a : b
#define B_OR_A   $0xd8 // c ? b : a

#define BROADCAST(word, to) \
	MOVQ         word, AX; \
	VPBROADCASTQ AX, to

// SWAP exchanges, in each byte, the high bits of low, those that are not in mask, with
// the low bits of high, those that are. Z22 and Z23 are free.
#define SWAP(shift, mask, low, high) \
	VPSLLW     shift, high, Z22;       \
	VPSRLW     shift, low, Z23;        \
	VPTERNLOGQ A_OR_B, mask, Z22, low; \
	VPTERNLOGQ B_OR_A, mask, Z23, high

// MASKS prepares TURN.
#define MASKS \
	BROADCAST($0x3333333333333333, Z24); \
	BROADCAST($0x5555555555555555, Z25)

// TURN sets bit m of byte j of Z(k) to bit k of byte j of Z(m) before, for Z0 to Z7.
#define TURN \
	SWAP($4, Z26, Z0, Z4); \
	SWAP($4, Z26, Z1, Z5); \
	SWAP($4, Z26, Z2, Z6); \
	SWAP($4, Z26, Z3, Z7); \
	SWAP($2, Z24, Z0, Z2); \
	SWAP($2, Z24, Z1, Z3); \
	SWAP($2, Z24, Z4, Z6); \
	SWAP($2, Z24, Z5, Z7); \
	SWAP($1, Z25, Z0, Z1); \
	SWAP($1, Z25, Z2, Z3); \
	SWAP($1, Z25, Z4, Z5); \
	SWAP($1, Z25, Z6, Z7)

// EACH does one of the following with Z0 to Z7.
#define EACH(do, at) \
	do(0, at, Z0); \
	do(1, at, Z1); \
	do(2, at, Z2); \
	do(3, at, Z3); \
	do(4, at, Z4); \
	do(5, at, Z5); \
	do(6, at, Z6); \
	do(7, at, Z7)

#define READ(k, at, z) \
	VMOVDQU64 at+64*k(SI), z

#define STORE(k, at, z) \
	VMOVDQU64 z, at+64*k(BX)

#define LOAD(k, at, z) \
	VMOVDQU64 at+64*k(BX), z

// SET_CHANGE stores x[i] - l[i] for 64 bytes l[i]. Z8 has pairs of -1 and 1.
#define SET_CHANGE(k, at, z) \
	VPXORQ     at+64*k(SI), z, Z22;          \
	VPUNPCKHBW Z22, z, Z23;                  \
	VPUNPCKLBW Z22, z, Z22;                  \
	VPMADDUBSW Z8, Z22, Z22;                 \
	VPMADDUBSW Z8, Z23, Z23;                 \
	VMOVDQU64  Z22, CHANGE+2*at+128*k(BX);   \
	VMOVDQU64  Z23, CHANGE+2*at+128*k+64(BX)

// PLANE takes x = B[k] ^ C[k] of a group to X[k], and B[k] at plane to L[k]. Z25 is bit
// k of the hash in front of the group, in all bits, and becomes the one behind.
//
// L[k] is the XOR of x over all bytes before. That is the XOR of
//
//	bytes before in the same word, of the same m: Z22 ^ x at first
//	bytes in words before, of the same m: the second Z22
//	bytes of lower m: Z22 and Z24, looked up by the nibbles of their XORs in Z23
//	the hash in front of the group: Z25
#define PLANE(plane, x) \
	VPSLLQ     $8, x, Z22;          \
	VPXORQ     x, Z22, Z22;         \
	VPSLLQ     $16, Z22, Z23;       \
	VPXORQ     Z23, Z22, Z22;       \
	VPSLLQ     $32, Z22, Z23;       \
	VPXORQ     Z23, Z22, Z22;       \
	VPERMB     Z22, Z31, Z23;       \
	VPTERNLOGQ XOR3, plane, Z22, x; \
	VPSLLQ     $8, Z23, Z24;        \
	VPXORQ     Z24, Z23, Z23;       \
	VPSLLQ     $16, Z23, Z24;       \
	VPXORQ     Z24, Z23, Z23;       \
	VPSLLQ     $32, Z23, Z24;       \
	VPXORQ     Z24, Z23, Z23;       \
	VPSHUFB    Z30, Z23, Z22;       \
	VPSHUFB    Z29, Z23, Z23;       \
	VPXORQ     Z22, x, x;           \
	VPANDQ     Z26, Z23, Z22;       \
	VPSRLW     $4, Z23, Z24;        \
	VPANDQ     Z26, Z24, Z24;       \
	VPSHUFB    Z22, Z28, Z22;       \
	VPSHUFB    Z24, Z27, Z24;       \
	VPTERNLOGQ XOR3, Z22, Z24, Z23; \
	VPXORQ     Z22, x, x;           \
	VPTERNLOGQ XOR3, Z24, Z25, x;   \
	VPSRAW     $15, Z23, Z23;       \
	VPXORQ     Z23, Z25, Z25;       \
	VPXORQ     plane, x, Z22;       \
	VMOVDQU64  Z22, plane

// PLANE_0 to PLANE_7 find C[k], apply PLANE and prepare the planes to come. With t = x +
// 2x, x*0xb3 is t + 16t + 128x, so that, T[k] being the bits of t,
//
//	C[0] = 0
//	C[k] = X[k-1] ^ c                    0 < k < 4
//	C[k] = X[k-1] ^ c ^ T[k-4] ^ d       4 <= k < 7
//	C[7] = X[6] ^ c ^ T[3] ^ d ^ X[0]
//
// where c is the carry of x + 2x to bit k and d the carry of t + 16t. The registers are x0 for
// X[0], which is T[0] as well, x and y for X[k-1] and X[k], t for T[k], u for T[k-4].
#define PLANE_0(plane, x0) \
	VMOVDQU64 plane, x0; \
	PLANE(plane, x0)

#define PLANE_1(plane, x0, y, c, t) \
	VPXORQ plane, x0, y; \
	PLANE(plane, y);     \
	VPXORQ x0, y, t;     \
	VPANDQ x0, y, c

#define PLANE_2_3(plane, x, y, c, t) \
	VMOVDQU64  plane, y;         \
	VPTERNLOGQ XOR3, x, c, y;    \
	VPXORQ     x, c, t;          \
	PLANE(plane, y);             \
	VPXORQ     y, t, t;          \
	VPTERNLOGQ MAJORITY, x, y, c

#define PLANE_4(plane, x0, x, y, c, d, t) \
	VPXORQ     plane, x0, y;      \
	VPTERNLOGQ XOR3, x, c, y;     \
	VPXORQ     x, c, t;           \
	PLANE(plane, y);              \
	VPXORQ     y, t, t;           \
	VPTERNLOGQ MAJORITY, x, y, c; \
	VPANDQ     x0, t, d

#define PLANE_5_6(plane, u, x, y, c, d, t) \
	VPXORQ     plane, u, y;       \
	VPTERNLOGQ XOR3, x, c, y;     \
	VPXORQ     d, y, y;           \
	VPXORQ     x, c, t;           \
	PLANE(plane, y);              \
	VPXORQ     y, t, t;           \
	VPTERNLOGQ MAJORITY, x, y, c; \
	VPTERNLOGQ MAJORITY, u, t, d

#define PLANE_7(plane, x0, u, x, y, c, d) \
	VPXORQ     plane, u, y;    \
	VPTERNLOGQ XOR3, x, c, y;  \
	VPTERNLOGQ XOR3, x0, d, y; \
	PLANE(plane, y)

// SUM adds the products of 32 changes with each digit of the powers.
#define SUM(k) \
	VMOVDQU64 CHANGE+64*k(BX), Z22;    \
	VPMADDWD  256*k+0(DX), Z22, Z23;   \
	VPMADDWD  256*k+64(DX), Z22, Z24;  \
	VPADDD    Z23, Z18, Z18;           \
	VPADDD    Z24, Z19, Z19;           \
	VPMADDWD  256*k+128(DX), Z22, Z23; \
	VPMADDWD  256*k+192(DX), Z22, Z24; \
	VPADDD    Z23, Z20, Z20;           \
	VPADDD    Z24, Z21, Z21

#define SUM4(k) \
	SUM((k+0)); \
	SUM((k+1)); \
	SUM((k+2)); \
	SUM((k+3))

#define NO_SUMS \
	VPXORQ Z18, Z18, Z18; \
	VPXORQ Z19, Z19, Z19; \
	VPXORQ Z20, Z20, Z20; \
	VPXORQ Z21, Z21, Z21

// WIDEN adds the signed halves of each word.
#define WIDEN(sums) \
	VPSLLQ $32, sums, Z22;  \
	VPSRAQ $32, Z22, Z22;   \
	VPSRAQ $32, sums, sums; \
	VPADDQ Z22, sums, sums

// UP adds the halves of each word, modulo 2^32, in the upper one, to sums.
#define UP(halves, sums) \
	VPSLLQ $32, halves, Z22;     \
	VPADDD halves, Z22, K1, Z22; \
	VPADDQ Z22, sums, sums

// FOLD multiplies the hash, the sum of eight words, by toStep and adds the sums.
#define FOLD \
	VPBROADCASTQ toStep+32(FP), Z22; \
	VPMULLQ      HASH(BX), Z22, Z23; \
	WIDEN(Z18);                      \
	WIDEN(Z19);                      \
	UP(Z20, Z18);                    \
	UP(Z21, Z19);                    \
	VPSLLQ       $16, Z19, Z19;      \
	VPADDQ       Z19, Z18, Z18;      \
	VPADDQ       Z18, Z23, Z23;      \
	VMOVDQU64    Z23, HASH(BX)

// SET_LOWEST writes bit k of R8 to all bits of 64 bytes at LOWEST.
#define SET_LOWEST(k) \
	BTQ          $k, R8;             \
	SBBQ         AX, AX;             \
	VPBROADCASTQ AX, Z0;             \
	VMOVDQU64    Z0, LOWEST+64*k(BX)

// before takes the last bytes of the words before.
DATA ·before+0(SB)/8, $0x8080808080808080
DATA ·before+8(SB)/8, $0x0000000000000000
DATA ·before+16(SB)/8, $0x0101010101010101
DATA ·before+24(SB)/8, $0x0202020202020202
DATA ·before+32(SB)/8, $0x0303030303030303
DATA ·before+40(SB)/8, $0x0404040404040404
DATA ·before+48(SB)/8, $0x0505050505050505
DATA ·before+56(SB)/8, $0x0606060606060606
GLOBL ·before(SB), RODATA|NOPTR, $64

// Bit m of byte n of low is the XOR of the bits of n below m; of high, of the bits of 16n.
DATA ·low+0(SB)/8, $0xfa0406f802fcfe00
DATA ·low+8(SB)/8, $0x0af4f608f20c0ef0
GLOBL ·low(SB), RODATA|NOPTR, $16
DATA ·high+0(SB)/8, $0xa040608020c0e000
DATA ·high+8(SB)/8, $0xa040608020c0e000
GLOBL ·high(SB), RODATA|NOPTR, $16

// func addSteps(hash uint64, data *byte, steps int, powers *[step / 32][digits][32]int16, toStep uint64, w *work) uint64
//
// SI data, CX steps left, DX powers, BX w. Of the planes: Z0-Z8 x0, T[1] to T[3], c, d, x,
// y and T[4] to T[6] of the first group, Z9-Z17 of the second one. Z18-Z21 sums, one for
// each digit. Z26 lower nibbles, Z27 high, Z28 low, Z29 takes the last byte of a word,
// Z30 before, Z31 takes the last bytes of all words. K1 upper halves of words.
TEXT ·addSteps(SB), NOSPLIT, $0-56
	MOVQ            hash+0(FP), AX
	MOVQ            data+8(FP), SI
	MOVQ            steps+16(FP), CX
	MOVQ            powers+24(FP), DX
	MOVQ            toStep+32(FP), R8
	MOVQ            w+40(FP), BX
	MOVQ            AX, HASH(BX)
	IMULQ           AX, R8
	SET_LOWEST(0)
	SET_LOWEST(1)
	SET_LOWEST(2)
	SET_LOWEST(3)
	SET_LOWEST(4)
	SET_LOWEST(5)
	SET_LOWEST(6)
	SET_LOWEST(7)
	BROADCAST($0x3f372f271f170f07, Z31)
	VMOVDQU64       ·before(SB), Z30
	BROADCAST($0x0707070707070707, Z29)
	VBROADCASTI32X4 ·low(SB), Z28
	VBROADCASTI32X4 ·high(SB), Z27
	BROADCAST($0x0f0f0f0f0f0f0f0f, Z26)
	MOVL            $0xaaaa, AX
	KMOVW           AX, K1

steps:
	MASKS
	EACH(READ, 0)
	TURN
	EACH(STORE, FIRST)
	EACH(READ, 512)
	TURN
	EACH(STORE, SECOND)
	NO_SUMS

	VMOVDQU64 LOWEST+0(BX), Z25
	PLANE_0(FIRST+0(BX), Z0)
	PLANE_0(SECOND+0(BX), Z9)
	VMOVDQU64 Z25, LOWEST+0(BX)
	SUM4(0)

	VMOVDQU64 LOWEST+64(BX), Z25
	PLANE_1(FIRST+64(BX), Z0, Z6, Z4, Z1)
	PLANE_1(SECOND+64(BX), Z9, Z15, Z13, Z10)
	VMOVDQU64 Z25, LOWEST+64(BX)
	SUM4(4)

	VMOVDQU64 LOWEST+128(BX), Z25
	PLANE_2_3(FIRST+128(BX), Z6, Z7, Z4, Z2)
	PLANE_2_3(SECOND+128(BX), Z15, Z16, Z13, Z11)
	VMOVDQU64 Z25, LOWEST+128(BX)
	SUM4(8)

	VMOVDQU64 LOWEST+192(BX), Z25
	PLANE_2_3(FIRST+192(BX), Z7, Z6, Z4, Z3)
	PLANE_2_3(SECOND+192(BX), Z16, Z15, Z13, Z12)
	VMOVDQU64 Z25, LOWEST+192(BX)
	SUM4(12)

	VMOVDQU64 LOWEST+256(BX), Z25
	PLANE_4(FIRST+256(BX), Z0, Z6, Z7, Z4, Z5, Z8)
	PLANE_4(SECOND+256(BX), Z9, Z15, Z16, Z13, Z14, Z17)
	VMOVDQU64 Z25, LOWEST+256(BX)
	SUM4(16)

	VMOVDQU64 LOWEST+320(BX), Z25
	PLANE_5_6(FIRST+320(BX), Z1, Z7, Z6, Z4, Z5, Z8)
	PLANE_5_6(SECOND+320(BX), Z10, Z16, Z15, Z13, Z14, Z17)
	VMOVDQU64 Z25, LOWEST+320(BX)
	SUM4(20)

	VMOVDQU64 LOWEST+384(BX), Z25
	PLANE_5_6(FIRST+384(BX), Z2, Z6, Z7, Z4, Z5, Z8)
	PLANE_5_6(SECOND+384(BX), Z11, Z15, Z16, Z13, Z14, Z17)
	VMOVDQU64 Z25, LOWEST+384(BX)
	SUM4(24)

	VMOVDQU64 LOWEST+448(BX), Z25
	PLANE_7(FIRST+448(BX), Z0, Z3, Z7, Z6, Z4, Z5)
	PLANE_7(SECOND+448(BX), Z9, Z12, Z16, Z15, Z13, Z14)
	VMOVDQU64 Z25, LOWEST+448(BX)
	SUM4(28)

	FOLD
	BROADCAST($0x01ff01ff01ff01ff, Z8)
	MASKS
	EACH(LOAD, FIRST)
	TURN
	EACH(SET_CHANGE, 0)
	EACH(LOAD, SECOND)
	TURN
	EACH(SET_CHANGE, 512)
	ADDQ $1024, SI
	DECQ CX
	JNZ  steps

	NO_SUMS
	SUM4(0)
	SUM4(4)
	SUM4(8)
	SUM4(12)
	SUM4(16)
	SUM4(20)
	SUM4(24)
	SUM4(28)
	FOLD
	VEXTRACTI64X4 $1, Z23, Y0
	VPADDQ        Y23, Y0, Y0
	VEXTRACTI128  $1, Y0, X1
	VPADDQ        X1, X0, X0
	VPSRLDQ       $8, X0, X1
	VPADDQ        X1, X0, X0
	VMOVQ         X0, ret+48(FP)
	VZEROUPPER
	RET
