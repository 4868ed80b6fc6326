//go:build !purego

#include "go_asm.h"
#include "textflag.h"
#include "compress_amd64.h"

// Each fetches the line at DX+R10. One of 24 or 48 bytes may end in the next line of the cache.
#define FETCH        PREFETCHT1 (DX)(R10*1)
#define FETCH_THREES FETCH; PREFETCHT1 23(DX)(R10*1)
#define FETCH_SIXES  FETCH; PREFETCHT1 47(DX)(R10*1)

// FETCH_LINES fetches the lines of the bits of CX. Their size is R14, the first is at DX.
#define FETCH_LINES(line, FETCH) \
line: \
	TZCNTQ CX, R10;  \
	IMULQ  R14, R10; \
	FETCH;           \
	BLSRQ  CX, CX;   \
	JNZ    line

// FETCH_ROWS fetches the lines of the rows of R12 that the bits of CX number.
#define FETCH_ROWS(row, FETCH) \
row: \
	TZCNTQ CX, R10;           \
	MOVL   (R12)(R10*4), R10; \
	IMULQ  R14, R10;          \
	FETCH;                    \
	BLSRQ  CX, CX;            \
	JNZ    row

// func fetchLines(lines *int8, mask uint64, size int)
TEXT ·fetchLines(SB), NOSPLIT, $0-24
	MOVQ lines+0(FP), DX
	MOVQ mask+8(FP), CX
	MOVQ size+16(FP), R14
	CMPQ R14, $24
	JEQ  threes
	CMPQ R14, $48
	JEQ  sixes
	FETCH_LINES(line, FETCH)
	RET

threes:
	FETCH_LINES(lineOfThrees, FETCH_THREES)
	RET

sixes:
	FETCH_LINES(lineOfSixes, FETCH_SIXES)
	RET

// func fetchGroups(columns uint64, p *Program, routes *Route, chunk, size int)
//
// The loops are as in leastGroups. R9 group, R15 groups left, AX its route, SI
// word, R13 words left, BX the indices of the columns asked for among all columns
// of the group, R12 the group's rows, DX the lines of the word's panel, R14 size.
TEXT ·fetchGroups(SB), NOSPLIT, $0-40
	MOVQ size+32(FP), R14
	MOVQ p+8(FP), R10
	MOVQ Program_Groups(R10), R9
	MOVQ (Program_Groups+8)(R10), R15

group:
	FIND_WORDS(columns+0(FP), p+8(FP), routes+16(FP), chunk+24(FP), BX, nextGroup)

word:
	MOVL  Word_Panel(SI), DX
	IMULQ Route_Stride(AX), DX
	ADDQ  Route_Scores(AX), DX
	MOVQ  BX, CX
	CMPQ  R14, $24
	JEQ   threes
	CMPQ  R14, $48
	JEQ   sixes
	FETCH_ROWS(row, FETCH)

nextWord:
	ADDQ $Word__size, SI
	DECQ R13
	JNZ  word

nextGroup:
	ADDQ $Group__size, R9
	DECQ R15
	JNZ  group
	RET

threes:
	FETCH_ROWS(rowOfThrees, FETCH_THREES)
	JMP nextWord

sixes:
	FETCH_ROWS(rowOfSixes, FETCH_SIXES)
	JMP nextWord
