/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/cmd/manual.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Columns of the help: where explanations begin, where those of values do, and where lines end. */
enum { COLUMN_HELP = 20, COLUMN_VALUE = 6, COLUMN_END = 80 };
/* A word that may have any length takes less than this in every table. */
enum { HEAD_BYTES = 128 };

static const struct option_row help_row[] = {{"help", 'h', NULL, "this text"}, {0}};

static bool row_is_last(const struct option_row *row)
{
    return !row->name && !row->value;
}

static bool has_letter(const struct option_row *row)
{
    return row->val < OPT_OTHER && isalpha(row->val);
}

/* Words from `column` on, further lines from `indent` on; a line break in the text stays one. */
static void print_wrapped(const char *text, int column, int indent)
{
    bool is_first = true;
    while (*text) {
        int length = (int)strcspn(text, " \n");
        if (!is_first && column + 1 + length >= COLUMN_END) {
            printf("\n%*s", indent, "");
            column = indent;
            is_first = true;
        }
        printf("%s%.*s", is_first ? "" : " ", length, text);
        column += length + !is_first;
        is_first = false;
        text += length;
        if (*text == '\n') {
            printf("\n%*s", indent, "");
            column = indent;
            is_first = true;
        }
        text += *text != '\0';
    }
    putchar('\n');
}

/* "-o, --output FILE" */
static const char *row_head(const struct option_row *row, char head[HEAD_BYTES])
{
    const char *blank = row->value && *row->value != '[' ? " " : "", *value = row->value ? row->value : "";
    if (!row->name)
        snprintf(head, HEAD_BYTES, "%s", value);
    else if (has_letter(row))
        snprintf(head, HEAD_BYTES, "-%c, --%s%s%s", row->val, row->name, blank, value);
    else
        snprintf(head, HEAD_BYTES, "--%s%s%s", row->name, blank, value);
    return head;
}

static void print_row(const struct option_row *row)
{
    char head[HEAD_BYTES];
    int column = printf("%*s%s", row->name ? 2 : COLUMN_VALUE, "", row_head(row, head));
    if (column + 2 > COLUMN_HELP) {
        putchar('\n');
        column = 0;
    }
    printf("%*s", COLUMN_HELP - column, "");
    print_wrapped(row->help, COLUMN_HELP, COLUMN_HELP);
}

static void print_rows(const struct option_row *rows, void (*print)(const struct option_row *row))
{
    for (const struct option_row *row = rows; row && !row_is_last(row); row++)
        print(row);
}

void manual_print(const char *name, const struct manual *manual)
{
    const char *before = "Usage:";
    for (const char *line = manual->synopsis; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        printf("%-6s whywait %s %.*s\n", before, name, (int)strcspn(line, "\n"), line);
        before = "";
    }
    print_wrapped(manual->about, 0, 0);
    putchar('\n');
    print_rows(manual->rows, print_row);
    print_row(help_row);
    if (manual->after) {
        putchar('\n');
        print_wrapped(manual->after, 0, 0);
    }
}

/* Text as troff has to read it. */
static void roff_print(const char *text)
{
    bool begins_line = true;
    for (; *text; text++) {
        if (begins_line && (*text == '.' || *text == '\''))
            fputs("\\&", stdout);
        if (*text == '\n')
            fputs("\n.br\n", stdout);
        else if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
        begins_line = *text == '\n';
    }
    putchar('\n');
}

static void roff_print_row(const struct option_row *row)
{
    char head[HEAD_BYTES];
    fputs(row->name ? ".TP\n.B " : ".RS\n.TP\n.B ", stdout);
    roff_print(row_head(row, head));
    roff_print(row->help);
    if (!row->name)
        puts(".RE");
}

void manual_print_page(const char *name, const struct manual *manual, const char *summary)
{
    printf(".\\\" Made by whywait from its table of options.\n.TH \"WHYWAIT-");
    for (const char *at = name; *at; at++)
        putchar(toupper(*at));
    printf("\" 1 \"\" \"whywait " WHYWAIT_VERSION "\" \"User Commands\"\n.SH NAME\nwhywait\\-%s \\- ", name);
    roff_print(summary);
    puts(".SH SYNOPSIS");
    for (const char *line = manual->synopsis; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        char text[HEAD_BYTES];
        snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "\n"), line);
        printf("%s.B whywait %s\n", line == manual->synopsis ? "" : ".br\n", name);
        roff_print(text);
    }
    puts(".SH DESCRIPTION");
    roff_print(manual->about);
    puts(".SH OPTIONS");
    print_rows(manual->rows, roff_print_row);
    roff_print_row(help_row);
    if (manual->after) {
        puts(".PP");
        roff_print(manual->after);
    }
    puts(".SH SEE ALSO\n.BR whywait (1)");
}

/* The values that an option takes, with blanks between; none where any will do. */
static void print_values(const struct option_row *row, const char *before)
{
    const char *end = row->value + strlen(row->value);
    if (strchr(row->value, '|')) {
        printf("%s", before);
        for (const char *at = row->value; at < end; at++)
            putchar(*at == '|' ? ' ' : *at);
        return;
    }
    for (const struct option_row *at = row + 1; !at->name && at->value; at++)
        printf("%s%s", at == row + 1 ? before : " ", at->value);
}

static bool has_values(const struct option_row *row)
{
    return row->name && row->value && (strchr(row->value, '|') || (!row[1].name && row[1].value));
}

static void bash_print_command(const struct manual_entry *entry)
{
    printf("    \"%s \"*) options=\"--help", entry->name);
    for (const struct option_row *row = entry->manual->rows; row && !row_is_last(row); row++)
        if (row->name)
            printf(" --%s", row->name);
    puts("\" ;;");
}

static void bash_print_values(const struct manual_entry *entry)
{
    for (const struct option_row *row = entry->manual->rows; row && !row_is_last(row); row++) {
        if (!row->name || !row->value || *row->value == '[')
            continue;
        printf("    \"%s --%s\")", entry->name, row->name);
        if (has_values(row)) {
            print_values(row, " words=\"");
            puts("\" ;;");
        } else {
            printf(" return ;;\n"); /* a file, or what nobody can guess */
        }
    }
}

void manual_complete_bash(const struct manual_entry *entries, unsigned n)
{
    puts("# Completion of whywait for bash; made by `whywait completion bash`.\n"
         "_whywait() {\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=\"\" options=\"\"\n"
         "    local commands=\"");
    for (unsigned i = 0; i < n; i++)
        printf("%s%s", i ? " " : "        ", entries[i].name);
    puts("\"\n"
         "    if [ \"$word\" = \"=\" ]; then\n"
         "        word=\"\"\n"
         "    elif [ \"$before\" = \"=\" ]; then\n"
         "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
         "    fi\n"
         "    if [ \"$COMP_CWORD\" = 1 ] || [[ ${COMP_WORDS[1]} = help && $word != -* ]]; then\n"
         "        mapfile -t COMPREPLY < <(compgen -W \"$commands\" -- \"$word\")\n"
         "        return\n"
         "    fi\n"
         "    case \"${COMP_WORDS[1]} $before\" in");
    for (unsigned i = 0; i < n; i++)
        bash_print_values(&entries[i]);
    puts("    esac\n"
         "    case \"${COMP_WORDS[1]} \" in");
    for (unsigned i = 0; i < n; i++)
        bash_print_command(&entries[i]);
    puts("    esac\n"
         "    if [ -n \"$words\" ]; then\n"
         "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
         "    elif [[ $word == -* ]]; then\n"
         "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
         "    elif [ \"${COMP_WORDS[1]}\" != record ]; then\n"
         "        mapfile -t COMPREPLY < <(compgen -d -- \"$word\" | grep '\\.whywait$')\n"
         "    fi\n"
         "}\n"
         "complete -o default -F _whywait whywait");
}

/* Text between brackets, in single quotes. */
static void zsh_print_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\'", stdout);
        else if (strchr("[]:\\", *text))
            putchar('\\');
        putchar(*text == '\n' ? ' ' : *text);
    }
}

static void zsh_print_row(const struct option_row *row)
{
    if (!row->name)
        return;
    printf(" \\\n            '*--%s%s[", row->name, row->value && *row->value != '[' ? "=" : "");
    zsh_print_text(row->help);
    putchar(']');
    if (has_values(row)) {
        printf(":%s:", row->name);
        print_values(row, "(");
        putchar(')');
    } else if (row->value && *row->value != '[') {
        printf(":%s:_files", row->value);
    }
    putchar('\'');
}

void manual_complete_zsh(const struct manual_entry *entries, unsigned n)
{
    puts("#compdef whywait\n"
         "# Completion of whywait for zsh; made by `whywait completion zsh`.\n"
         "_whywait() {\n"
         "    local -a commands=(");
    for (unsigned i = 0; i < n; i++) {
        printf("        '%s:", entries[i].name);
        zsh_print_text(entries[i].summary);
        puts("'");
    }
    puts("    )\n"
         "    if (( CURRENT == 2 )) || [[ $words[2] == help && CURRENT -eq 3 ]]; then\n"
         "        _describe command commands\n"
         "        return\n"
         "    fi\n"
         "    local command=$words[2]\n"
         "    shift words\n"
         "    (( CURRENT-- ))\n"
         "    case $command in");
    for (unsigned i = 0; i < n; i++) {
        printf("    %s)\n        _arguments", entries[i].name);
        print_rows(entries[i].manual->rows, zsh_print_row);
        print_rows(help_row, zsh_print_row);
        puts(" \\\n            '*:file:_files' ;;");
    }
    puts("    esac\n"
         "}\n"
         "_whywait \"$@\"");
}
