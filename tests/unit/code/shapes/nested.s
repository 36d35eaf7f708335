# SPDX-License-Identifier: BSD-3-Clause
# Code that nobody compiled: 30000 loops, each inside the one before it.
        .altmacro
        .macro head n
head\n: nop
        .endm
        .macro back n
        jne head\n
        .endm

        .text
        .globl nested
        .type nested, @function
nested:
        .cfi_startproc
        .set i, 0
        .rept 30000
        head %i
        .set i, i + 1
        .endr
        .rept 30000
        .set i, i - 1
        back %i
        .endr
        ret
        .cfi_endproc
        .size nested, . - nested

        .globl plain
        .type plain, @function
plain:
        .cfi_startproc
        nop
again:  dec %edi
        jne again
        ret
        .cfi_endproc
        .size plain, . - plain
        .section .note.GNU-stack, "", @progbits
