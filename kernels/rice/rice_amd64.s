//go:build !purego

#include "textflag.h"

// Ranks move to the front in place: a register is stored where no rank is left
// to be read, for as many ranks have been read as there are before its end. The
// way back begins at the end for the same reason.

#define BROADCAST(value, to) \
	MOVL         value, AX; \
	VPBROADCASTB AX, to

// func low64(vector, ranks *byte, groups int)
TEXT ·low64(SB), NOSPLIT, $0-24
	MOVQ vector+0(FP), DI
	MOVQ ranks+8(FP), SI
	MOVQ groups+16(FP), CX
	BROADCAST($1, Z1)

low:
	VMOVDQU64 (SI), Z0
	VPTESTMB  Z1, Z0, K1
	KMOVQ     K1, (DI)
	ADDQ      $64, SI
	ADDQ      $8, DI
	DECQ      CX
	JNZ       low
	VZEROUPPER
	RET

// func filter64(level, ranks *byte, groups int, least byte) int
TEXT ·filter64(SB), NOSPLIT, $0-40
	MOVQ    level+0(FP), DI
	MOVQ    ranks+8(FP), SI
	MOVQ    groups+16(FP), CX
	MOVBLZX least+24(FP), DX
	BROADCAST(DX, Z1)
	MOVQ    SI, R8

filter:
	VMOVDQU64     (SI), Z0
	VPCMPUB       $5, Z1, Z0, K1 // Z0 >= Z1
	KMOVQ         K1, AX
	VPCOMPRESSB.Z Z0, K1, Z0
	MOVQ          AX, (DI)
	POPCNTQ       AX, AX
	VMOVDQU64     Z0, (R8)
	ADDQ          AX, R8
	ADDQ          $64, SI
	ADDQ          $8, DI
	DECQ          CX
	JNZ           filter
	SUBQ          ranks+8(FP), R8
	MOVQ          R8, ret+32(FP)
	VZEROUPPER
	RET

// func expand64(ranks, level *byte, groups, ones int)
TEXT ·expand64(SB), NOSPLIT, $0-32
	MOVQ ranks+0(FP), SI
	MOVQ level+8(FP), DI
	MOVQ groups+16(FP), CX
	MOVQ ones+24(FP), R8
	BROADCAST($2, Z1)
	MOVQ CX, R9
	SHLQ $6, R9
	ADDQ SI, R9
	ADDQ SI, R8

expand:
	MOVQ        -8(DI)(CX*8), AX
	SUBQ        $64, R9
	KMOVQ       AX, K1
	POPCNTQ     AX, AX
	SUBQ        AX, R8
	VPADDB      (R8), Z1, Z0
	VPEXPANDB.Z Z0, K1, Z0
	VMOVDQU64   Z0, (R9)
	DECQ        CX
	JNZ         expand
	VZEROUPPER
	RET

// func addLow64(ranks, vector *byte, groups int)
TEXT ·addLow64(SB), NOSPLIT, $0-24
	MOVQ ranks+0(FP), SI
	MOVQ vector+8(FP), DI
	MOVQ groups+16(FP), CX
	BROADCAST($1, Z1)

add:
	VMOVDQU64 (SI), Z0
	KMOVQ     (DI), K1
	VPADDB    Z1, Z0, K1, Z0
	VMOVDQU64 Z0, (SI)
	ADDQ      $64, SI
	ADDQ      $8, DI
	DECQ      CX
	JNZ       add
	VZEROUPPER
	RET

#define ONES  $0x0101010101010101
#define HIGHS $0x8080808080808080

// func low8(vector, ranks *byte, groups int)
TEXT ·low8(SB), NOSPLIT, $0-24
	MOVQ vector+0(FP), DI
	MOVQ ranks+8(FP), SI
	MOVQ groups+16(FP), CX
	MOVQ ONES, R10

low:
	MOVQ  -8(SI)(CX*8), DX
	PEXTQ R10, DX, DX
	MOVB  DX, -1(DI)(CX*1)
	DECQ  CX
	JNZ   low
	RET

// func filter8(level, ranks *byte, groups int, least byte) int
//
// With h the high bits of the bytes that are at least least, 2h - (h >> 7) is
// the mask of these bytes.
TEXT ·filter8(SB), NOSPLIT, $0-40
	MOVQ    level+0(FP), DI
	MOVQ    ranks+8(FP), SI
	MOVQ    groups+16(FP), CX
	MOVBQZX least+24(FP), R9
	MOVQ    ONES, R10
	MOVQ    HIGHS, R11
	IMULQ   R10, R9
	MOVQ    SI, R8

filter:
	MOVQ    (SI), DX
	MOVQ    DX, AX
	ORQ     R11, AX
	SUBQ    R9, AX
	ANDQ    R11, AX
	PEXTQ   R11, AX, BX
	MOVB    BX, (DI)
	POPCNTL BX, BX
	LEAQ    (AX)(AX*1), R12
	SHRQ    $7, AX
	SUBQ    AX, R12
	PEXTQ   R12, DX, DX
	MOVQ    DX, (R8)
	ADDQ    BX, R8
	ADDQ    $8, SI
	INCQ    DI
	DECQ    CX
	JNZ     filter
	SUBQ    ranks+8(FP), R8
	MOVQ    R8, ret+32(FP)
	RET

// func expand8(ranks, level *byte, groups, ones int)
//
// A carry out of a byte that is no rank reaches only bytes behind, which are no
// ranks either.
TEXT ·expand8(SB), NOSPLIT, $0-32
	MOVQ ranks+0(FP), SI
	MOVQ level+8(FP), DI
	MOVQ groups+16(FP), CX
	MOVQ ones+24(FP), R8
	MOVQ ONES, R10
	LEAQ (R10)(R10*1), R11
	ADDQ SI, R8

expand:
	MOVBLZX -1(DI)(CX*1), AX
	POPCNTL AX, BX
	PDEPQ   R10, AX, AX
	SUBQ    BX, R8
	MOVQ    AX, DX
	SHLQ    $8, AX
	SUBQ    DX, AX
	MOVQ    (R8), DX
	ADDQ    R11, DX
	PDEPQ   AX, DX, DX
	MOVQ    DX, -8(SI)(CX*8)
	DECQ    CX
	JNZ     expand
	RET

// func addLow8(ranks, vector *byte, groups int)
TEXT ·addLow8(SB), NOSPLIT, $0-24
	MOVQ ranks+0(FP), SI
	MOVQ vector+8(FP), DI
	MOVQ groups+16(FP), CX
	MOVQ ONES, R10

add:
	MOVBLZX -1(DI)(CX*1), AX
	PDEPQ   R10, AX, AX
	ADDQ    AX, -8(SI)(CX*8)
	DECQ    CX
	JNZ     add
	RET
