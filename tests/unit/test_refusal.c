/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Services that SIDR REPs refuse: what counts as one more. */
#include "check.h"
#include "failing_alloc.h"
#include "track.h"

static failing_alloc memory;
static roce_tracker *tracker;
static uint64_t frame_number;

static void
begin(void)
{
    roce_tracker_config config;
    memory = (failing_alloc){.fail_from = UINT64_MAX, .fail_until = UINT64_MAX};
    roce_tracker_config_init(&config);
    const roce_alloc alloc = failing_alloc_make(&memory);
    CHECK_INT(roce_tracker_new(&tracker, &alloc, &config), ROCE_OK);
    frame_number = 0;
}

static void
end(void)
{
    roce_tracker_free(tracker);
    CHECK_INT(memory.n_live, 0);
}

/* Host `from` refuses what host `to` asked for. */
static void
refuse(uint8_t from, uint8_t to, uint64_t service, uint8_t status, uint32_t request,
       uint32_t point)
{
    roce_packet packet = {.src = {.family = 4, .bytes = {10, 0, 0, from}},
                          .dst = {.family = 4, .bytes = {10, 0, 0, to}}};
    const roce_frame frame = {.number = ++frame_number, .point = point};
    const roce_arrival a = {.frame = &frame, .packet = &packet};
    const roce_cm_message m = {
        .service_id = service, .sidr_status = status, .local_comm_id = request};
    roce_refusal_take(tracker, &a, &m);
}

static void
check_counts(void)
{
    begin();
    refuse(2, 1, 7, 0, 1, 0); /* that is none */
    CHECK_INT(roce_tracker_n_refusals(tracker), 0);
    refuse(2, 1, 7, 1, 1, 0);
    refuse(2, 1, 7, 1, 1, 0); /* the REP once more */
    refuse(2, 1, 7, 1, 1, 3); /* and at another point */
    refuse(2, 1, 7, 1, 2, 0); /* another request */
    refuse(2, 1, 7, 1, 2, 3);
    refuse(2, 1, 7, 1, 3, 3); /* which the first point has missed */
    refuse(2, 1, 7, 1, 5, 0); /* two at once, */
    refuse(2, 1, 7, 1, 6, 0);
    refuse(2, 1, 7, 1, 5, 0); /* and their REPs once more */
    refuse(2, 1, 7, 1, 6, 0);
    CHECK_INT(roce_tracker_n_refusals(tracker), 1);
    const roce_refusal *one = roce_tracker_refusal(tracker, 0);
    CHECK_INT(one->n, 4);
    CHECK_INT(one->first_frame, 2);
    CHECK_INT(one->last_frame, 9);
    end();
}

static void
check_what_differs(void)
{
    begin();
    refuse(2, 1, 7, 1, 1, 0);
    refuse(2, 1, 7, 2, 1, 0); /* why */
    refuse(2, 1, 8, 1, 1, 0); /* what */
    refuse(3, 1, 7, 1, 1, 0); /* who */
    refuse(2, 4, 7, 1, 1, 0); /* whom */
    CHECK_INT(roce_tracker_n_refusals(tracker), 5);
    for (uint32_t i = 0; i < 5; i++) {
        CHECK_INT(roce_tracker_refusal(tracker, i)->n, 1);
    }
    end();
}

static void
check_most(void)
{
    begin();
    for (uint32_t i = 0; i < 2000; i++) {
        refuse(2, 1, i, 1, i, 0);
    }
    CHECK_INT(roce_tracker_n_refusals(tracker), 1024);
    CHECK_INT(roce_tracker_totals_get(tracker)->evicted[ROCE_TABLE_CONNECTIONS], 976);
    end();
}

int
main(void)
{
    check_counts();
    check_what_differs();
    check_most();
    return check_status();
}
