//go:build !purego

#include "textflag.h"

// All loops keep the next line of scores, the next packed one and the number of lines
// left in registers: SI, DI, CX in packing, DI, SI, CX in unpacking.

#define PACK_ARGUMENTS(none) \
	MOVQ dst_base+0(FP), DI;  \
	MOVQ src_base+24(FP), SI; \
	MOVQ src_len+32(FP), CX;  \
	SHRQ $6, CX;              \
	JZ   none

// LEAST puts the least unsigned byte of y into the lowest byte of x, its lower half.
#define LEAST(y, x, tmp) \
	VEXTRACTI128 $1, y, tmp;  \
	VPMINUB      tmp, x, x;   \
	VPSRLW       $8, x, tmp;  \
	VPMINUB      tmp, x, x;   \
	VPHMINPOSUW  x, x

// PACK_HEADER writes the header of the line at DI and moves DI behind its planes. AX is
// the least score, its sign inverted, and BX has as many bits as there are planes.
#define PACK_HEADER \
	XORL $0x80, AX;        \
	MOVB AX, 1(DI);        \
	LEAL 1(BX)(BX*1), BX;  \
	BSRL BX, BX;           \
	MOVB BX, (DI);         \
	LEAQ 2(DI)(BX*8), DI

// UNPACK_ARGUMENTS sets DX to the end of src, too.
#define UNPACK_ARGUMENTS(none) \
	MOVQ dst_base+0(FP), DI;  \
	MOVQ dst_len+8(FP), CX;   \
	MOVQ src_base+24(FP), SI; \
	MOVQ src_len+32(FP), DX;  \
	ADDQ SI, DX;              \
	SHRQ $6, CX;              \
	JZ   none

// UNPACK_HEADER sets R8 to the planes of the line at SI, which follow its least score,
// AX to their number, and moves SI behind them. It jumps to fail if they are too many
// or not all there.
#define UNPACK_HEADER(fail) \
	LEAQ    2(SI), R8;       \
	CMPQ    R8, DX;          \
	JHI     fail;            \
	MOVBLZX (SI), AX;        \
	LEAQ    (R8)(AX*8), SI;  \
	CMPQ    SI, DX;          \
	JHI     fail;            \
	CMPL    AX, $8;          \
	JHI     fail

// Between 8 planes and 64 scores lies a transposition of bits. AVX-512 does it in two
// steps, each its own inverse: one of the 8x8 bytes, one of the 8x8 bits in each word.

// columns<> transposes bytes.
DATA columns<>+0(SB)/8, $0x3830282018100800
DATA columns<>+8(SB)/8, $0x3931292119110901
DATA columns<>+16(SB)/8, $0x3a322a221a120a02
DATA columns<>+24(SB)/8, $0x3b332b231b130b03
DATA columns<>+32(SB)/8, $0x3c342c241c140c04
DATA columns<>+40(SB)/8, $0x3d352d251d150d05
DATA columns<>+48(SB)/8, $0x3e362e261e160e06
DATA columns<>+56(SB)/8, $0x3f372f271f170f07
GLOBL columns<>(SB), RODATA|NOPTR, $64

#define BROADCAST(value, to) \
	MOVQ         value, AX; \
	VPBROADCASTQ AX, to

#define CONSTANTS \
	VMOVDQU64 columns<>(SB), Z16;        \
	BROADCAST($0x00aa00aa00aa00aa, Z17); \
	BROADCAST($0x0000cccc0000cccc, Z18); \
	BROADCAST($0x00000000f0f0f0f0, Z19); \
	BROADCAST($0x8080808080808080, Z20)

// SWAP exchanges the bits of Z0 in mask with those shift places higher. The ternary
// operations are (Z0 ^ Z1) & mask and Z0 ^ Z1 ^ Z2.
#define SWAP(shift, mask) \
	VPSRLQ     shift, Z0, Z1;       \
	VPTERNLOGQ $0x28, mask, Z0, Z1; \
	VPSLLQ     shift, Z1, Z2;       \
	VPTERNLOGQ $0x96, Z2, Z1, Z0

// TRANSPOSE8 transposes the bits in each word of Z0 as transpose8 does.
#define TRANSPOSE8 \
	SWAP($7, Z17);  \
	SWAP($14, Z18); \
	SWAP($28, Z19)

// func packAVX512(dst []byte, src []int8) int
TEXT ·packAVX512(SB), NOSPLIT, $0-56
	PACK_ARGUMENTS(done)
	CONSTANTS

line:
	VPXORQ        (SI), Z20, Z0
	VEXTRACTI64X4 $1, Z0, Y1
	VPMINUB       Y0, Y1, Y1
	LEAST(Y1, X1, X2)
	VPBROADCASTB  X1, Z2
	VMOVD         X1, AX
	VPSUBB        Z2, Z0, Z0
	TRANSPOSE8
	VPERMB        Z0, Z16, Z0
	VMOVDQU64     Z0, 2(DI)
	VPTESTMQ      Z0, Z0, K1
	KMOVB         K1, BX
	PACK_HEADER
	ADDQ          $64, SI
	DECQ          CX
	JNZ           line

done:
	SUBQ dst_base+0(FP), DI
	MOVQ DI, ret+48(FP)
	VZEROUPPER
	RET

// func unpackAVX512(dst []int8, src []byte) int
//
// Masked bytes of a load may lie outside of src.
TEXT ·unpackAVX512(SB), NOSPLIT, $0-56
	UNPACK_ARGUMENTS(done)
	CONSTANTS
	MOVL $0xff, R9

line:
	UNPACK_HEADER(fail)
	BZHIL        AX, R9, BX
	KMOVB        BX, K1
	VMOVDQU64.Z  (R8), K1, Z0
	VPBROADCASTB -1(R8), Z3
	VPERMB       Z0, Z16, Z0
	TRANSPOSE8
	VPADDB       Z3, Z0, Z0
	VMOVDQU64    Z0, (DI)
	ADDQ         $64, DI
	DECQ         CX
	JNZ          line

done:
	SUBQ src_base+24(FP), SI
	MOVQ SI, ret+48(FP)
	VZEROUPPER
	RET

fail:
	MOVQ $-1, ret+48(FP)
	VZEROUPPER
	RET

// PACK_PLANE writes the highest bits of Y0 and Y1, and shifts the others up.
#define PACK_PLANE(k) \
	VPMOVMSKB Y0, R8;           \
	VPMOVMSKB Y1, R9;           \
	VPADDB    Y0, Y0, Y0;       \
	VPADDB    Y1, Y1, Y1;       \
	MOVL      R8, (2+8*k)(DI);  \
	MOVL      R9, (6+8*k)(DI)

// func packAVX2(dst []byte, src []int8) int
//
// Y2 becomes the least score and Y3 the largest, inverted, so that it is the least of
// all that are inverted.
TEXT ·packAVX2(SB), NOSPLIT, $0-56
	PACK_ARGUMENTS(done)
	VPCMPEQB     Y6, Y6, Y6
	VPBROADCASTQ highs<>(SB), Y7

line:
	VPXOR        (SI), Y7, Y0
	VPXOR        32(SI), Y7, Y1
	VPMINUB      Y0, Y1, Y2
	VPMAXUB      Y0, Y1, Y3
	VPXOR        Y6, Y3, Y3
	LEAST(Y2, X2, X4)
	LEAST(Y3, X3, X5)
	VMOVD        X2, AX
	VMOVD        X3, BX
	ADDL         AX, BX
	NOTL         BX
	MOVBLZX      BX, BX
	VPBROADCASTB X2, Y2
	VPSUBB       Y2, Y0, Y0
	VPSUBB       Y2, Y1, Y1
	PACK_PLANE(7)
	PACK_PLANE(6)
	PACK_PLANE(5)
	PACK_PLANE(4)
	PACK_PLANE(3)
	PACK_PLANE(2)
	PACK_PLANE(1)
	PACK_PLANE(0)
	PACK_HEADER
	ADDQ         $64, SI
	DECQ         CX
	JNZ          line

done:
	SUBQ dst_base+0(FP), DI
	MOVQ DI, ret+48(FP)
	VZEROUPPER
	RET

// highs<> are the signs of 8 bytes.
DATA highs<>+0(SB)/8, $0x8080808080808080
GLOBL highs<>(SB), RODATA|NOPTR, $8

// spread<> repeats each of eight bytes eight times.
DATA spread<>+0(SB)/8, $0x0000000000000000
DATA spread<>+8(SB)/8, $0x0101010101010101
DATA spread<>+16(SB)/8, $0x0202020202020202
DATA spread<>+24(SB)/8, $0x0303030303030303
DATA spread<>+32(SB)/8, $0x0404040404040404
DATA spread<>+40(SB)/8, $0x0505050505050505
DATA spread<>+48(SB)/8, $0x0606060606060606
DATA spread<>+56(SB)/8, $0x0707070707070707
GLOBL spread<>(SB), RODATA|NOPTR, $64

// bit<> selects the bit i of the byte i of every eight.
DATA bit<>+0(SB)/8, $0x8040201008040201
GLOBL bit<>(SB), RODATA|NOPTR, $8

// UNPACK_PLANE shifts the bits of the plane in Y2 that at selects into y.
#define UNPACK_PLANE(at, y) \
	VPSHUFB  at, Y2, Y3; \
	VPAND    Y7, Y3, Y3; \
	VPCMPEQB Y7, Y3, Y3; \
	VPADDB   y, y, y;    \
	VPSUBB   Y3, y, y

// func unpackAVX2(dst []int8, src []byte) int
TEXT ·unpackAVX2(SB), NOSPLIT, $0-56
	UNPACK_ARGUMENTS(done)
	VMOVDQU      spread<>+0(SB), Y5
	VMOVDQU      spread<>+32(SB), Y6
	VPBROADCASTQ bit<>(SB), Y7

line:
	UNPACK_HEADER(fail)
	VPXOR        Y0, Y0, Y0
	VPXOR        Y1, Y1, Y1
	SUBL         $1, AX
	JCS          add

plane:
	VPBROADCASTQ (R8)(AX*8), Y2
	UNPACK_PLANE(Y5, Y0)
	UNPACK_PLANE(Y6, Y1)
	SUBL         $1, AX
	JCC          plane

add:
	VPBROADCASTB -1(R8), Y2
	VPADDB       Y2, Y0, Y0
	VPADDB       Y2, Y1, Y1
	VMOVDQU      Y0, (DI)
	VMOVDQU      Y1, 32(DI)
	ADDQ         $64, DI
	DECQ         CX
	JNZ          line

done:
	SUBQ src_base+24(FP), SI
	MOVQ SI, ret+48(FP)
	VZEROUPPER
	RET

fail:
	MOVQ $-1, ret+48(FP)
	VZEROUPPER
	RET
