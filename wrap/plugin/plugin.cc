// SPDX-License-Identifier: BSD-3-Clause
/*
 * Exact execution counts at next to no cost: the GCC plugin. Two passes: one after the last GIMPLE pass chooses and
 * inserts the counters (after Knuth and Stevenson), one before the assembler marks where blocks and calls ended up.
 * When the unit ends, a table of everything goes into sections of the object file (points.h).
 *
 * Options (-fplugin-arg-whywait_plugin-NAME[=VALUE]):
 *   tls=local-exec | initial-exec | local-dynamic   how counters are addressed (default: by -fPIC)
 *   no-exceptions   do not account for frames removed by exceptions (fewer counters; wrong where one passes)
 *   no-bytes        do not count bytes at allocation points
 *   only=PATTERN    count these functions alone (only.h); may be given several times
 *   from=FILE       place counters by what an earlier run executed (measured.h)
 *   verbose         a note for every function that is not counted, with the reason
 *   every-block, no-promote, no-trips, no-called   for tests and measurements
 */
#include "routine.h"
#include <memory>

int plugin_is_GPL_compatible;

namespace
{

struct unit {
    struct options options;
    std::vector<std::unique_ptr<routine>> routines; /* finished */
    std::unique_ptr<routine> current;               /* between the two passes */
    uint32_t n_routines = 0;
};
unit the_unit;

void refuse(tree decl, const char *why)
{
    if (*why && the_unit.options.verbose)
        inform(DECL_SOURCE_LOCATION(decl), "whywait: %qD is not counted: %s", decl, why);
}

/* The table holds 64-bit addresses and offsets in thread-local storage. */
bool target_is_supported()
{
    static bool is_said;
    bool is_supported =
        POINTER_SIZE == 64 && targetm.have_tls && (TARGET_ADDS_OFFSETS || targetm.asm_out.output_dwarf_dtprel);
    if (!is_supported && !is_said)
        warning(0, "whywait: executions are counted on 64-bit targets with thread-local storage only, not here");
    is_said = !is_supported;
    return is_supported;
}

bool place_counters(routine &r, const char **why)
{
    if (!target_is_supported() || !routine_is_asked_for(r.decl, the_unit.options))
        return false;
    if (!routine_build_graph(r, the_unit.options, why))
        return false;
    routine_tag_statements(r);
    return routine_place(r, the_unit.options, why);
}

unsigned count_function(function *fn)
{
    auto r = std::make_unique<routine>();
    r->decl = fn->decl;
    r->id = the_unit.n_routines;
    r->source_name = lang_hooks.decl_printable_name(fn->decl, 1);
    const char *why = "";
    the_unit.current.reset();
    purity_restore();
    calls_remember();
    routine_prepare_loops();
    bool is_counted = place_counters(*r, &why);
    routine_forget_loops();
    if (is_counted) {
        the_unit.n_routines++;
        the_unit.current = std::move(r);
    } else {
        refuse(fn->decl, why);
        called_lose_calls();
    }
    return TODO_update_ssa;
}

unsigned label_function(function *fn)
{
    purity_restore();
    if (!the_unit.current || the_unit.current->decl != fn->decl)
        return 0;
    routine_emit_labels(*the_unit.current);
    the_unit.routines.push_back(std::move(the_unit.current));
    return 0;
}

const pass_data count_data = {GIMPLE_PASS, "whywait_count", OPTGROUP_NONE, TV_NONE, PROP_cfg | PROP_ssa, 0, 0, 0, 0};
const pass_data address_data = {RTL_PASS, "whywait_address", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, TODO_df_finish};
const pass_data early_data = {RTL_PASS, "whywait_early", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, TODO_df_finish};
const pass_data part_data = {RTL_PASS, "whywait_part", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0};
const pass_data rejoin_data = {RTL_PASS, "whywait_rejoin", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0};
const pass_data label_data = {RTL_PASS, "whywait_label", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0};

class count_pass : public gimple_opt_pass
{
  public:
    count_pass() : gimple_opt_pass(count_data, g)
    {
    }
    unsigned execute(function *fn) override
    {
        return count_function(fn);
    }
};

/* On instructions, for functions with counters. */
class tidy_pass : public rtl_opt_pass
{
  public:
    tidy_pass(const pass_data &data, void tidy(const routine &r)) : rtl_opt_pass(data, g), act(tidy)
    {
    }
    unsigned execute(function *fn) override
    {
        if (optimize && the_unit.current && the_unit.current->decl == fn->decl)
            act(*the_unit.current);
        return 0;
    }

  private:
    void (*act)(const routine &r);
};

class label_pass : public rtl_opt_pass
{
  public:
    label_pass() : rtl_opt_pass(label_data, g)
    {
    }
    unsigned execute(function *fn) override
    {
        return label_function(fn);
    }
};

void decide_calls(void *, void *)
{
    called_decide(the_unit.options);
}

/* What functions call of whose own calls too little is known. */
void lose_calls_of_unknown()
{
    for (bool is_new = true; is_new;) {
        is_new = false;
        for (const auto &each : the_unit.routines)
            for (size_t i = 0; is_unknown(each->decl) && i < each->sites.size(); i++)
                is_new |= called_lose(each->sites[i].callee);
    }
}

void finish_unit(void *, void *)
{
    if (!asm_out_file || flag_wpa || seen_error())
        return;
    lose_calls_of_unknown();
    for (const auto &each : the_unit.routines)
        routine_emit(*each);
    if (!the_unit.routines.empty())
        unit_emit();
    the_unit.routines.clear();
    called_forget();
}

/* Functions that happen to be alike would be made one, with one name and one count, and their loops compared with
 * themselves. */
void keep_functions_apart()
{
    if (!global_options_set.x_flag_ipa_icf_functions && !global_options_set.x_flag_ipa_icf)
        flag_ipa_icf_functions = 0;
}

void register_pass_at(const char *plugin, opt_pass *pass, const char *reference, pass_positioning_ops where)
{
    register_pass_info info = {pass, reference, 1, where};
    register_callback(plugin, PLUGIN_PASS_MANAGER_SETUP, nullptr, &info);
}

bool parse_tls(const char *value, options &options)
{
    static const struct {
        const char *name;
        tls_model model;
    } models[] = {{"local-exec", TLS_MODEL_LOCAL_EXEC},
                  {"initial-exec", TLS_MODEL_INITIAL_EXEC},
                  {"local-dynamic", TLS_MODEL_LOCAL_DYNAMIC}};
    for (const auto &each : models)
        if (value && !strcmp(value, each.name)) {
            options.model = each.model;
            return true;
        }
    return false;
}

bool parse_option(const plugin_argument &argument, options &options)
{
    static const struct {
        const char *name;
        bool options::*field;
        bool value;
    } switches[] = {
        {"every-block", &options::every_block, true}, {"no-promote", &options::promote, false},
        {"no-trips", &options::trips, false},         {"no-exceptions", &options::exceptions, false},
        {"no-called", &options::called, false},       {"no-bytes", &options::bytes, false},
        {"verbose", &options::verbose, true},
    };
    if (!strcmp(argument.key, "tls"))
        return parse_tls(argument.value, options);
    if (!strcmp(argument.key, "only") && argument.value) {
        options.only += argument.value;
        options.only += ONLY_SEPARATOR;
        return true;
    }
    if (!strcmp(argument.key, "from") && argument.value) {
        options.from = measured_read(argument.value);
        if (!options.from)
            error("whywait: %s: %s", argument.value, xstrerror(errno));
        return true;
    }
    for (const auto &each : switches)
        if (!strcmp(argument.key, each.name)) {
            options.*each.field = each.value;
            return true;
        }
    return false;
}

} // namespace

bool routine_is_asked_for(tree decl, const options &options)
{
    const char *file = DECL_SOURCE_FILE(decl);
    return options.only.empty() || only_choose(options.only.c_str(), routine_symbol(decl),
                                               lang_hooks.decl_printable_name(decl, 1), file ? file : "");
}

int plugin_init(plugin_name_args *args, plugin_gcc_version *version)
{
    if (strcmp(version->basever, gcc_version.basever) != 0) {
        error("%s was built for GCC %s, this is GCC %s; build whywait with this compiler", args->base_name,
              gcc_version.basever, version->basever);
        return 1;
    }
    for (int i = 0; i < args->argc; i++)
        if (!parse_option(args->argv[i], the_unit.options)) {
            error("%s has no option %qs with this value", args->base_name, args->argv[i].key);
            return 1;
        }
    keep_functions_apart();
    static plugin_info info = {WHYWAIT_VERSION, "exact execution counts for whywait"};
    register_callback(args->base_name, PLUGIN_INFO, nullptr, &info);
    register_pass_at(args->base_name, new count_pass, "optimized", PASS_POS_INSERT_AFTER);
    register_pass_at(args->base_name, new tidy_pass(address_data, routine_settle_addresses), "fwprop1",
                     PASS_POS_INSERT_AFTER);
    register_pass_at(args->base_name, new tidy_pass(early_data, routine_clear_early_returns), "ira",
                     PASS_POS_INSERT_BEFORE);
    register_pass_at(args->base_name, new tidy_pass(part_data, routine_part_calls), "jump2", PASS_POS_INSERT_BEFORE);
    register_pass_at(args->base_name, new tidy_pass(rejoin_data, routine_rejoin_calls), "jump2", PASS_POS_INSERT_AFTER);
    register_pass_at(args->base_name, new label_pass, "shorten", PASS_POS_INSERT_BEFORE);
    register_callback(args->base_name, PLUGIN_ALL_IPA_PASSES_END, decide_calls, nullptr);
    register_callback(args->base_name, PLUGIN_FINISH_UNIT, finish_unit, nullptr);
    return 0;
}
