/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables as an extension module of Python has them: of methods, whose names are those of their routines; and one that
 * is none, in which a name says something else. */
struct method {
    const char *name;
    double (*call)(double);
    int flags;
    const char *doc;
};
struct field {
    const char *name;
    double (*get)(double);
    double (*set)(double);
};

static double relax(double x)
{
    return x * 0.5;
}

static double both(double x)
{
    return x * 0.25;
}

static double getter(double x)
{
    return x + 1;
}

static double setter(double x)
{
    return x + 2;
}

struct method planted_methods[] = {
    {"relax", relax, 3, "halves"}, {"twice", both, 1, 0}, {"again", both, 1, 0}, {0, 0, 0, 0}};
struct field planted_fields[] = {{"width", getter, setter}, {0, 0, 0}};
