# SPDX-License-Identifier: BSD-3-Clause
# The loop of lines 12 and 13 is entered in the middle. Its other instruction follows padding behind a jump, and the row
# of line 30 is still in force there.
        .file "padded.c"
        .text
        .globl padded
        .type padded, @function
padded:
        .file 1 "padded.c"
        .loc 1 10
        .cfi_startproc
        test %rdi, %rdi
        je done
        .loc 1 30
        lea (%rdi), %rax
        jmp enter
        .p2align 5
again:
        dec %rax
enter:
        .loc 1 12
        imul %rdi, %rdi
        .loc 1 13
        test %rax, %rax
        jne again
done:
        .loc 1 40
        ret
        .cfi_endproc
        .size padded, . - padded
        .section .note.GNU-stack, "", @progbits
