//go:build !purego

#include "textflag.h"

// Zigzag needs no shifts here. The bit 0 of (x << 1) ^ (x >> 7) is the sign of
// x, and the bit p > 0 is the bit p-1 of y = x, inverted if x is negative. So
// plane 0 is the mask of sign bits of x, and planes 7, 6, ..., 1 are the masks
// of sign bits of y shifted left once more for each.

// The planes lie R8 bytes apart. Three registers address them all: plane p is
// at DI, DI+R8, DI+2*R8, DI+R9 for p < 4, the same from R10 for p-4.
#define PLANES(first) \
	LEAQ (R8)(R8*2), R9;    \
	LEAQ (first)(R8*4), R10

#define NEXT_PLANE(at) \
	VPADDB   Z0, Z0, Z0; \
	VPMOVB2M Z0, K1;     \
	KMOVQ    K1, at

// func splitBlocksAVX512(dst, src *byte, stride, blocks int)
TEXT ·splitBlocksAVX512(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ stride+16(FP), R8
	MOVQ blocks+24(FP), CX
	PLANES(DI)

split64:
	VMOVDQU64 (SI), Z0
	VPMOVB2M  Z0, K1
	KMOVQ     K1, (DI)
	VPMOVM2B  K1, Z1
	VPXORQ    Z1, Z0, Z0
	NEXT_PLANE((R10)(R9*1))
	NEXT_PLANE((R10)(R8*2))
	NEXT_PLANE((R10)(R8*1))
	NEXT_PLANE((R10))
	NEXT_PLANE((DI)(R9*1))
	NEXT_PLANE((DI)(R8*2))
	NEXT_PLANE((DI)(R8*1))
	ADDQ      $64, SI
	ADDQ      $8, DI
	ADDQ      $8, R10
	DECQ      CX
	JNZ       split64
	VZEROUPPER
	RET

#define BROADCAST(value, to) \
	MOVL         $value, AX; \
	VPBROADCASTB AX, to

// func joinBlocksAVX512(dst, src *byte, stride, blocks int)
TEXT ·joinBlocksAVX512(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), SI
	MOVQ src+8(FP), DI
	MOVQ stride+16(FP), R8
	MOVQ blocks+24(FP), CX
	PLANES(DI)
	BROADCAST(64, Z7)
	BROADCAST(32, Z6)
	BROADCAST(16, Z5)
	BROADCAST(8, Z4)
	BROADCAST(4, Z3)
	BROADCAST(2, Z2)
	BROADCAST(1, Z1)

join64:
	KMOVQ      (DI), K0
	KMOVQ      (DI)(R8*1), K1
	KMOVQ      (DI)(R8*2), K2
	KMOVQ      (DI)(R9*1), K3
	KMOVQ      (R10), K4
	KMOVQ      (R10)(R8*1), K5
	KMOVQ      (R10)(R8*2), K6
	KMOVQ      (R10)(R9*1), K7
	VMOVDQU8.Z Z7, K7, Z0
	VPADDB     Z6, Z0, K6, Z0
	VPADDB     Z5, Z0, K5, Z0
	VPADDB     Z4, Z0, K4, Z0
	VPADDB     Z3, Z0, K3, Z0
	VPADDB     Z2, Z0, K2, Z0
	VPADDB     Z1, Z0, K1, Z0
	VPMOVM2B   K0, Z8
	VPXORQ     Z8, Z0, Z0
	VMOVDQU64  Z0, (SI)
	ADDQ       $64, SI
	ADDQ       $8, DI
	ADDQ       $8, R10
	DECQ       CX
	JNZ        join64
	VZEROUPPER
	RET

#define NEXT_PLANE_AVX2(at) \
	VPADDB    Y0, Y0, Y0; \
	VPMOVMSKB Y0, AX;     \
	MOVL      AX, at

// func splitBlocksAVX2(dst, src *byte, stride, blocks int)
TEXT ·splitBlocksAVX2(SB), NOSPLIT, $0-32
	MOVQ  dst+0(FP), DI
	MOVQ  src+8(FP), SI
	MOVQ  stride+16(FP), R8
	MOVQ  blocks+24(FP), CX
	PLANES(DI)
	VPXOR Y2, Y2, Y2

split32:
	VMOVDQU   (SI), Y0
	VPMOVMSKB Y0, AX
	MOVL      AX, (DI)
	VPCMPGTB  Y0, Y2, Y1
	VPXOR     Y1, Y0, Y0
	NEXT_PLANE_AVX2((R10)(R9*1))
	NEXT_PLANE_AVX2((R10)(R8*2))
	NEXT_PLANE_AVX2((R10)(R8*1))
	NEXT_PLANE_AVX2((R10))
	NEXT_PLANE_AVX2((DI)(R9*1))
	NEXT_PLANE_AVX2((DI)(R8*2))
	NEXT_PLANE_AVX2((DI)(R8*1))
	ADDQ      $32, SI
	ADDQ      $4, DI
	ADDQ      $4, R10
	DECQ      CX
	JNZ       split32
	VZEROUPPER
	RET

// spread<> repeats each of four bytes eight times.
DATA spread<>+0(SB)/8, $0x0000000000000000
DATA spread<>+8(SB)/8, $0x0101010101010101
DATA spread<>+16(SB)/8, $0x0202020202020202
DATA spread<>+24(SB)/8, $0x0303030303030303
GLOBL spread<>(SB), RODATA|NOPTR, $32

// bit<> selects the bit i of the byte i of every eight.
DATA bit<>+0(SB)/8, $0x8040201008040201
GLOBL bit<>(SB), RODATA|NOPTR, $8

// EXPAND makes 32 bytes, 0 or -1, of 32 bits.
#define EXPAND(at, to) \
	VPBROADCASTD at, to;     \
	VPSHUFB      Y2, to, to; \
	VPAND        Y3, to, to; \
	VPCMPEQB     Y3, to, to

// JOIN_PLANE shifts the next bit into every byte of Y0.
#define JOIN_PLANE(at) \
	EXPAND(at, Y1);    \
	VPADDB Y0, Y0, Y0; \
	VPSUBB Y1, Y0, Y0

// func joinBlocksAVX2(dst, src *byte, stride, blocks int)
TEXT ·joinBlocksAVX2(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), SI
	MOVQ         src+8(FP), DI
	MOVQ         stride+16(FP), R8
	MOVQ         blocks+24(FP), CX
	PLANES(DI)
	VMOVDQU      spread<>(SB), Y2
	VPBROADCASTQ bit<>(SB), Y3

join32:
	VPXOR   Y0, Y0, Y0
	JOIN_PLANE((R10)(R9*1))
	JOIN_PLANE((R10)(R8*2))
	JOIN_PLANE((R10)(R8*1))
	JOIN_PLANE((R10))
	JOIN_PLANE((DI)(R9*1))
	JOIN_PLANE((DI)(R8*2))
	JOIN_PLANE((DI)(R8*1))
	EXPAND((DI), Y1)
	VPXOR   Y1, Y0, Y0
	VMOVDQU Y0, (SI)
	ADDQ    $32, SI
	ADDQ    $4, DI
	ADDQ    $4, R10
	DECQ    CX
	JNZ     join32
	VZEROUPPER
	RET
