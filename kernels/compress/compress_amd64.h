// Macros that the loops over groups and words share.

// FIND_WORDS sets up the group at R9: AX its route, SI the first word of the chunk, R13
// their number, BX the columns of the group that are asked for, picked their indices
// among all columns of the group, R12 the rows of the group. It jumps to none if there
// are no columns or no words.
#define FIND_WORDS(columns, p, routes, chunk, picked, none) \
	MOVQ  Group_Columns(R9), CX;  \
	MOVQ  columns, BX;            \
	ANDQ  CX, BX;                 \
	JZ    none;                   \
	MOVL  Group_Route(R9), AX;    \
	IMULQ $Route__size, AX;       \
	ADDQ  routes, AX;             \
	MOVQ  Route_First(AX), R10;   \
	MOVQ  chunk, R11;             \
	MOVL  (R10)(R11*4), R12;      \
	MOVL  4(R10)(R11*4), R13;     \
	SUBQ  R12, R13;               \
	JZ    none;                   \
	LEAQ  (R12)(R12*2), R12;      \
	MOVQ  Route_Words(AX), SI;    \
	LEAQ  (SI)(R12*8), SI;        \
	PEXTQ CX, BX, picked;         \
	MOVQ  p, R10;                 \
	MOVQ  Program_Rows(R10), R12; \
	MOVL  Group_First(R9), R10;   \
	LEAQ  (R12)(R10*4), R12

// PLACE takes positions from the list at R9 and spreads them over the bytes of R8
// by the bits of the lowest byte of AX, and goes on to the next byte; the other
// bytes become 0.
#define PLACE \
	MOVBLZX AL, CX;               \
	MOVQ    (R9), R8;             \
	PDEPQ   (R15)(CX*8), R8, R8;  \
	POPCNTL CX, CX;               \
	ADDQ    CX, R9;               \
	SHRQ    $8, AX

// PLACE_ROWS does so for the 64 bits of AX: Y4 has the bytes of the first 32, Y5 those of the others. X0 and X1 are scratch.
#define PLACE_ROWS \
	PLACE; \
	VMOVQ R8, X4; \
	PLACE; \
	VPINSRQ $1, R8, X4, X4; \
	PLACE; \
	VMOVQ R8, X0; \
	PLACE; \
	VPINSRQ $1, R8, X0, X0; \
	PLACE; \
	VMOVQ R8, X5; \
	PLACE; \
	VPINSRQ $1, R8, X5, X5; \
	PLACE; \
	VMOVQ R8, X1; \
	PLACE; \
	VPINSRQ $1, R8, X1, X1; \
	VINSERTI128 $1, X0, Y4, Y4; \
	VINSERTI128 $1, X1, Y5, Y5
