/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The judge of plays must find fault where there is some, or no row means anything. */
#include "scenario.h"

static const struct {
    const char *name;
    scenario row;
    bool faulty;
} cases[] = {
    {"nothing to say", {.script = "a write 0..9", .want = ""}, false},
    {"right number",
     {.script = "a write 0..9", .want = "A: requests=10 unique=10"},
     false},
    {"wrong number", {.script = "a write 0..9", .want = "A: requests=9"}, true},
    {"a gap that nobody named",
     {.script = "a write 0..4; a write 5 drop; a write 6", .want = ""},
     true},
    {"a stream that is not there", {.script = "a write 0", .want = "B: gaps=0"}, true},
    {"a name that is none", {.script = "a write 0", .want = "A: gap=0"}, true},
    {"a step that is none", {.script = "a wrote 0", .want = ""}, true},
    {"an option that is none", {.script = "a write 0 slow", .want = ""}, true},
    {"a copy of nothing", {.script = "a write 0; a write 1 copy", .want = ""}, true},
    {"an event that came",
     {.script = "a write 0", .events = "stream_start A frame=1"},
     false},
    {"an event that did not come",
     {.script = "a write 0", .events = "stream_start A frame=2"},
     true},
    {"an event that must not come",
     {.script = "a write 0", .events = "no stream_start"},
     true},
};

int
main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char why[4096];
        scenario_outcome out;
        check_row(cases[i].name);
        scenario_play(&cases[i].row, &out);
        CHECK((scenario_judge(&cases[i].row, &out, why, sizeof why) > 0) ==
              cases[i].faulty);
        scenario_outcome_clear(&out);
    }
    return check_status();
}
