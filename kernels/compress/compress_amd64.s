//go:build !purego

#include "textflag.h"

// GROUP compresses the eight positions from 8*(R8+i) on. With m for Blocked,
// (x^m)&quiet^m is x where quiet and m elsewhere.
#define GROUP(i) \
	MOVBLZX i(R9)(R8*1), AX;     \
	MOVBLZX i(R10)(R8*1), CX;    \
	MOVQ    8*i(SI)(R8*8), DX;   \
	XORQ    R13, DX;             \
	ANDQ    (R11)(CX*8), DX;     \
	XORQ    R13, DX;             \
	PEXTQ   (R11)(AX*8), DX, DX; \
	MOVQ    DX, (DI)(R12*1);     \
	POPCNTL AX, AX;              \
	ADDQ    AX, R12

// func compressBytes(dst, src []int8, reach, quiet []uint64, masks *[256]uint64) (p, n int)
//
// DI dst, SI src, R9 reach, R10 quiet, R11 masks, R13 eight times Blocked, R8 group of
// eight positions, R14 end of the groups, R12 n.
TEXT ·compressBytes(SB), NOSPLIT, $0-120
	MOVQ    dst_base+0(FP), DI
	MOVQ    src_base+24(FP), SI
	MOVQ    src_len+32(FP), R14
	MOVQ    reach_base+48(FP), R9
	MOVQ    reach_len+56(FP), AX
	MOVQ    quiet_base+72(FP), R10
	MOVQ    masks+96(FP), R11
	MOVQ    $0x7f7f7f7f7f7f7f7f, R13
	XORQ    R8, R8
	XORQ    R12, R12
	SHRQ    $3, R14
	SHLQ    $3, AX
	CMPQ    R14, AX
	CMOVQGT AX, R14

word:
	// Eight groups without further questions, if they fit.
	LEAQ 8(R8), AX
	CMPQ AX, R14
	JGT  careful
	CMPQ (R9)(R8*1), $0
	JEQ  skip
	LEAQ 64(R12), DX
	CMPQ DX, dst_len+8(FP)
	JGT  careful
	GROUP(0)
	GROUP(1)
	GROUP(2)
	GROUP(3)
	GROUP(4)
	GROUP(5)
	GROUP(6)
	GROUP(7)

skip:
	ADDQ $8, R8
	JMP  word

careful:
	CMPQ  R8, R14
	JGE   done
	LEAQ  8(R12), DX
	CMPQ  DX, dst_len+8(FP)
	JGT   done
	GROUP(0)
	INCQ  R8
	TESTQ $7, R8
	JNZ   careful
	JMP   word

done:
	SHLQ $3, R8
	MOVQ R8, p+104(FP)
	MOVQ R12, n+112(FP)
	RET
