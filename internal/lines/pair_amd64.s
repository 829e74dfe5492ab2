#include "go_asm.h"
#include "textflag.h"

// func indexPair(from *byte, n int, p *pair) int
//
// X0, X1 and X2 are the first byte, the second byte and fold, 16 times each.
TEXT ·indexPair(SB), NOSPLIT, $0-32
	MOVQ from+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ p+16(FP), DI
	MOVBLZX pair_first(DI), R8
	MOVBLZX pair_second(DI), R9
	MOVBLZX pair_fold(DI), R10
	MOVQ pair_distance(DI), DX
	ADDQ SI, DX
	MOVQ R8, X0
	PUNPCKLBW X0, X0
	PSHUFLW $0, X0, X0
	PSHUFD $0, X0, X0
	MOVQ R9, X1
	PUNPCKLBW X1, X1
	PSHUFLW $0, X1, X1
	PSHUFD $0, X1, X1
	MOVQ R10, X2
	PUNPCKLBW X2, X2
	PSHUFLW $0, X2, X2
	PSHUFD $0, X2, X2
	XORL AX, AX
	LEAQ -32(CX), BX

next: // 32 places
	MOVOU (SI)(AX*1), X3
	MOVOU (DX)(AX*1), X4
	MOVOU 16(SI)(AX*1), X5
	MOVOU 16(DX)(AX*1), X6
	POR X2, X3
	POR X2, X4
	POR X2, X5
	POR X2, X6
	PCMPEQB X0, X3
	PCMPEQB X1, X4
	PCMPEQB X0, X5
	PCMPEQB X1, X6
	PAND X4, X3
	PAND X6, X5
	MOVO X3, X7
	POR X5, X7
	PMOVMSKB X7, R8
	TESTL R8, R8
	JNZ found
	ADDQ $32, AX
	CMPQ AX, BX
	JLE next
	CMPQ AX, CX
	JGE none
	MOVQ BX, AX // the last 32, some of which have been looked at
	JMP next

found:
	PMOVMSKB X3, R8
	PMOVMSKB X5, R9
	SHLL $16, R9
	ORL R9, R8
	BSFL R8, R8
	ADDQ R8, AX
	MOVQ AX, ret+24(FP)
	RET

none:
	MOVQ $-1, ret+24(FP)
	RET
