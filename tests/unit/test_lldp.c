/* SPDX-License-Identifier: GPL-2.0-or-later */
/* LLDP (IEEE 802.1AB) and DCBX, both IEEE's (802.1Q annex D.2) and CEE. */
#include "packet_maker.h"

#include "roce/lldp.h"

/* clang-format off */
#define CHASSIS "\x02\x07" /* type 1, 7 bytes */ "\x04" /* MAC */ "\x02\x00\x00\x00\x00\x11"
#define PORT "\x04\x05" /* type 2, 5 bytes */ "\x05" /* interface name */ "swp1"
#define TTL "\x06\x02" "\x00\x78" /* 120 s */
#define IDENTITY CHASSIS PORT TTL /* 20 bytes */
#define NAME "\x0a\x05" "leaf1" /* type 5 */
#define DESCRIPTION "\x0c\x03" "x y" /* type 6, read by nobody */
#define END "\x00\x00"
#define PAD "\0\0\0\0\0\0\0\0"

#define ORG(length) "\xfe" length /* type 127 */
#define IEEE "\x00\x80\xc2"
#define CEE "\x00\x1b\x21\x02"

#define CLASSES "\x00\x01\x00\x02" /* priority 3 in class 1, 7 in class 2 */
#define SHARES "\x32\x31\x01\x00\x00\x00\x00\x00" /* 50, 49, 1 % */
#define ALGORITHMS "\x02\x02\x00\x00\x00\x00\x00\xff"
#define ETS ORG("\x19") IEEE "\x09" "\xc3" /* willing, CBS, 3 classes */ CLASSES SHARES ALGORITHMS
#define ETS_RECOMMENDED ORG("\x19") IEEE "\x0a" "\x00" CLASSES SHARES ALGORITHMS
#define PFC ORG("\x06") IEEE "\x0b" "\x84" /* willing, 4 at once */ "\x08" /* priority 3 */
#define PFC_NOT_WILLING ORG("\x06") IEEE "\x0b" "\x08" "\x18"
#define APPS ORG("\x0b") IEEE "\x0c" "\x00" "\x63" "\x12\xb7" /* 3: UDP port 4791 */        \
    "\xc5" "\x00\x30" /* 6: DSCP 48 */
#define APP_VLAN ORG("\x08") IEEE "\x10" "\x06\x43" /* VLAN 100, UDP port */ "\x12\xb7"

#define CEE_CONTROL "\x02\x0a" "\x00\x00" "\0\0\0\x05" "\0\0\0\x05"
#define CEE_GROUPS "\x04\x11" "\x00\x00\x80\x00" /* enabled, not willing */                \
    "\x00\x01\x00\x0f" /* priority 7 first of all */ SHARES "\x08"
#define CEE_PFC "\x06\x06" "\x00\x00\xc0\x00" /* enabled, willing */ "\x08" "\x04"
#define CEE_PFC_OFF "\x06\x06" "\x00\x00\x00\x00" "\x08" "\x04"
#define CEE_APPS "\x08\x10" "\x00\x00\x80\x00"                                             \
    "\x12\xb7" "\x01" "\x1b\x21" "\x08" /* port 4791: 3 */                                 \
    "\x89\x06" "\x00" "\x1b\x21" "\x08" /* ethertype 0x8906: 3 */
#define CEE_UNKNOWN "\x14\x04" "\x00\x00\x00\x00" /* type 10 */

static const struct {
    const char *name;
    const char *bytes; /* behind the ethertype */
    uint32_t n;
    uint32_t captured; /* of n; 0: all */
    roce_outcome outcome;
    bool has_ttl, ieee, cee, pfc; /* pfc: of the one that is there */
} cases[] = {
    {"identity alone", BYTES(IDENTITY END), 0, ROCE_DECODED, true, false, false, false},
    {"without an End TLV", BYTES(IDENTITY), 0, ROCE_DECODED, true, false, false, false},
    {"padded", BYTES(IDENTITY END PAD), 0, ROCE_DECODED, true, false, false, false},
    {"what others say is passed over", BYTES(IDENTITY DESCRIPTION PFC END),
     0, ROCE_DECODED, true, true, false, true},
    {"an organisation nobody knows", BYTES(IDENTITY ORG("\x05") "\x00\x12\x0f\x01\x00" PFC END),
     0, ROCE_DECODED, true, true, false, true},
    {"a subtype of IEEE's nobody knows", BYTES(IDENTITY ORG("\x06") IEEE "\x01\x00\x01" END),
     0, ROCE_DECODED, true, false, false, false},
    {"IEEE", BYTES(IDENTITY ETS PFC END), 0, ROCE_DECODED, true, true, false, true},
    {"CEE", BYTES(IDENTITY ORG("\x14") CEE CEE_PFC CEE_PFC_OFF END),
     0, ROCE_DECODED, true, false, true, true},
    {"CEE, a feature nobody knows", BYTES(IDENTITY ORG("\x12") CEE CEE_UNKNOWN CEE_PFC END),
     0, ROCE_DECODED, true, false, true, true},
    {"CEE, a subtype of a feature nobody knows",
     BYTES(IDENTITY ORG("\x0c") CEE "\x06\x06\x00\x00\xc0\x01\x08\x04" END),
     0, ROCE_DECODED, true, false, false, false},

    {"cut in front of the End TLV", BYTES(IDENTITY PFC END), 28, ROCE_TRUNCATED, true, true,
     false, true},
    {"cut in the last byte of a TLV", BYTES(IDENTITY PFC END), 27, ROCE_TRUNCATED, true, false,
     false, false},
    {"cut between type and length", BYTES(IDENTITY PFC END), 21, ROCE_TRUNCATED, true, false,
     false, false},
    {"cut behind identity", BYTES(IDENTITY PFC END), 20, ROCE_TRUNCATED, true, false, false, false},
    {"cut in the time to live", BYTES(IDENTITY PFC END), 19, ROCE_TRUNCATED, false, false, false,
     false},
    {"cut padding does not matter", BYTES(IDENTITY END PAD), 22, ROCE_DECODED, true, false, false,
     false},

    {"nothing on the wire", BYTES(""), 0, ROCE_MALFORMED, false, false, false, false},
    {"one byte on the wire", BYTES("\x02"), 0, ROCE_MALFORMED, false, false, false, false},
    {"a length beyond the wire", BYTES(IDENTITY ORG("\x07") IEEE "\x0b\x00\x08"),
     0, ROCE_MALFORMED, true, false, false, false},
    {"half a TLV head at the end", BYTES(IDENTITY "\xfe"), 0, ROCE_MALFORMED, true, false, false,
     false},
    {"no port", BYTES(CHASSIS TTL END), 0, ROCE_MALFORMED, false, false, false, false},
    {"port in front of chassis", BYTES(PORT CHASSIS TTL END), 0, ROCE_MALFORMED, false, false,
     false, false},
    {"ends behind the port", BYTES(CHASSIS PORT), 0, ROCE_MALFORMED, false, false, false, false},
    {"End TLV behind the port", BYTES(CHASSIS PORT END), 0, ROCE_MALFORMED, false, false, false,
     false},
    {"a second chassis", BYTES(IDENTITY CHASSIS END), 0, ROCE_MALFORMED, true, false, false, false},
    {"a chassis without identifier", BYTES("\x02\x01\x04" PORT TTL END),
     0, ROCE_MALFORMED, false, false, false, false},
    {"a time to live of one byte", BYTES(CHASSIS PORT "\x06\x01\x78" END),
     0, ROCE_MALFORMED, false, false, false, false},
    {"an OUI of two bytes", BYTES(IDENTITY ORG("\x02") "\x00\x80" END),
     0, ROCE_MALFORMED, true, false, false, false},
    {"PFC of one byte", BYTES(IDENTITY ORG("\x05") IEEE "\x0b\x08" END),
     0, ROCE_MALFORMED, true, false, false, false},
    {"ETS too short by one", BYTES(IDENTITY ORG("\x18") IEEE "\x09\xc3" CLASSES SHARES
                                   "\0\0\0\0\0\0\0" END),
     0, ROCE_MALFORMED, true, false, false, false},
    {"an application of two bytes", BYTES(IDENTITY ORG("\x07") IEEE "\x0c\x00\x63\x12" END),
     0, ROCE_MALFORMED, true, true, false, false},
    {"a CEE feature beyond its TLV", BYTES(IDENTITY ORG("\x0b") CEE "\x06\x06\0\0\xc0\0\x08" END),
     0, ROCE_MALFORMED, true, false, false, false},
    {"CEE PFC of one byte", BYTES(IDENTITY ORG("\x0b") CEE "\x06\x05\0\0\xc0\0\x08" END),
     0, ROCE_MALFORMED, true, false, false, false},
    {"what stood in front of what is wrong holds", BYTES(IDENTITY PFC ORG("\x05") IEEE "\x0b\x08"),
     0, ROCE_MALFORMED, true, true, false, true},
};
/* clang-format on */

/* From memory of exactly the captured size. */
static void
decode_copy(const char *bytes, uint32_t captured, uint32_t wire, roce_lldp *lldp)
{
    uint8_t *copy = malloc(captured > 0 ? captured : 1);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, bytes, captured);
    memset(lldp, 0xa5, sizeof *lldp);
    roce_lldp_decode(copy, captured, wire, lldp);
    free(copy);
}

static void
test_cases(void)
{
    for (size_t i = 0; i < N_ROWS(cases); i++) {
        check_row(cases[i].name);
        uint32_t captured = cases[i].captured != 0 ? cases[i].captured : cases[i].n;
        roce_lldp lldp;
        decode_copy(cases[i].bytes, captured, cases[i].n, &lldp);
        CHECK_INT(lldp.outcome, cases[i].outcome);
        CHECK_INT(lldp.has_ttl, cases[i].has_ttl);
        CHECK_INT(lldp.ttl_s, cases[i].has_ttl ? 120 : 0);
        CHECK_INT(lldp.ieee.present, cases[i].ieee);
        CHECK_INT(lldp.cee.present, cases[i].cee);
        const roce_dcb *dcb = cases[i].cee ? &lldp.cee : &lldp.ieee;
        CHECK_INT(dcb->pfc.present, cases[i].pfc);
        CHECK_INT(dcb->pfc.enabled, cases[i].pfc ? 0x08 : 0);
    }
    check_row(NULL);
}

static void
test_identity(void)
{
    static const char bytes[] = IDENTITY NAME END;
    roce_lldp lldp;
    roce_lldp_decode((const uint8_t *)bytes, sizeof bytes - 1, sizeof bytes - 1, &lldp);
    CHECK_INT(lldp.outcome, ROCE_DECODED);
    CHECK_INT(lldp.chassis.subtype, ROCE_LLDP_CHASSIS_MAC);
    CHECK_INT(lldp.chassis.n_bytes, 6);
    CHECK(memcmp(lldp.chassis.bytes, "\x02\x00\x00\x00\x00\x11", 6) == 0);
    CHECK_INT(lldp.port.subtype, 5);
    CHECK_INT(lldp.port.n_bytes, 4);
    CHECK(memcmp(lldp.port.bytes, "swp1", 4) == 0);
    CHECK_INT(lldp.system_name.n_bytes, 5);
    CHECK(memcmp(lldp.system_name.bytes, "leaf1", 5) == 0);
    CHECK_INT(lldp.ttl_s, 120);
}

static void
check_ets(const roce_dcb_ets *ets, unsigned class_of_7)
{
    static const uint8_t shares[8] = {50, 49, 1};
    CHECK(ets->present && ets->on);
    CHECK_INT(ets->class_of_priority[0], 0);
    CHECK_INT(ets->class_of_priority[3], 1);
    CHECK_INT(ets->class_of_priority[7], class_of_7);
    CHECK(memcmp(ets->bandwidth_percent, shares, 8) == 0);
}

static void
test_ieee(void)
{
    static const char bytes[] =
        IDENTITY ETS ETS_RECOMMENDED PFC_NOT_WILLING APPS APP_VLAN END;
    static const uint8_t algorithms[8] = {2, 2, 0, 0, 0, 0, 0, 255};
    roce_lldp lldp;
    decode_copy(bytes, sizeof bytes - 1, sizeof bytes - 1, &lldp);
    const roce_dcb *dcb = &lldp.ieee;
    CHECK_INT(lldp.outcome, ROCE_DECODED);
    CHECK(dcb->present && !lldp.cee.present);
    check_ets(&dcb->ets, 2);
    CHECK(dcb->ets.willing && dcb->ets.credit_shaper);
    CHECK_INT(dcb->ets.max_classes, 3);
    CHECK(memcmp(dcb->ets.algorithm, algorithms, 8) == 0);
    check_ets(&dcb->ets_recommended, 2);
    CHECK(dcb->pfc.on && !dcb->pfc.willing && !dcb->pfc.mbc);
    CHECK_INT(dcb->pfc.capability, 8);
    CHECK_INT(dcb->pfc.enabled, 0x18);
    CHECK_INT(dcb->n_apps, 2);
    CHECK_INT(dcb->apps[0].selector, ROCE_DCB_UDP_PORT);
    CHECK_INT(dcb->apps[0].protocol, 4791);
    CHECK_INT(dcb->apps[0].priorities, 1 << 3);
    CHECK_INT(dcb->apps[1].selector, ROCE_DCB_DSCP);
    CHECK_INT(dcb->apps[1].protocol, 48);
    CHECK_INT(dcb->apps[1].priorities, 1 << 6);
    CHECK_INT(dcb->n_app_vlans, 1);
    CHECK_INT(dcb->app_vlans[0].vid, 100);
    CHECK_INT(dcb->app_vlans[0].selector, ROCE_DCB_UDP_PORT);
    CHECK_INT(dcb->app_vlans[0].protocol, 4791);
}

static void
test_cee(void)
{
    static const char bytes[] =
        IDENTITY ORG("\x3d") CEE CEE_CONTROL CEE_GROUPS CEE_PFC CEE_APPS END;
    roce_lldp lldp;
    decode_copy(bytes, sizeof bytes - 1, sizeof bytes - 1, &lldp);
    const roce_dcb *dcb = &lldp.cee;
    CHECK_INT(lldp.outcome, ROCE_DECODED);
    CHECK(dcb->present && !lldp.ieee.present);
    check_ets(&dcb->ets, ROCE_DCB_GROUP_STRICT);
    CHECK(!dcb->ets.willing);
    CHECK_INT(dcb->ets.max_classes, 8);
    CHECK_INT(dcb->ets.algorithm[5], ROCE_DCB_ETS);
    CHECK(!dcb->ets_recommended.present);
    CHECK(dcb->pfc.on && dcb->pfc.willing);
    CHECK_INT(dcb->pfc.enabled, 0x08);
    CHECK_INT(dcb->pfc.capability, 4);
    CHECK(dcb->apps_on && !dcb->apps_willing);
    CHECK_INT(dcb->n_apps, 2);
    CHECK_INT(dcb->apps[0].selector, ROCE_DCB_ANY_PORT);
    CHECK_INT(dcb->apps[0].protocol, 4791);
    CHECK_INT(dcb->apps[0].priorities, 1 << 3);
    CHECK_INT(dcb->apps[1].selector, ROCE_DCB_ETHERTYPE);
    CHECK_INT(dcb->apps[1].protocol, 0x8906);
}

static void
test_cee_off(void)
{
    static const char bytes[] = IDENTITY ORG("\x0c") CEE CEE_PFC_OFF END;
    roce_lldp lldp;
    decode_copy(bytes, sizeof bytes - 1, sizeof bytes - 1, &lldp);
    CHECK(lldp.cee.pfc.present && !lldp.cee.pfc.on && !lldp.cee.pfc.willing);
    CHECK_INT(lldp.cee.pfc.enabled, 0x08);
}

/* More applications than are kept: the rest is counted. */
static void
test_many_apps(void)
{
    packet_maker m = {0};
    put_bytes(&m, IDENTITY, sizeof IDENTITY - 1);
    put_number(&m, 2, 127u << 9 | (5 + 3 * (ROCE_DCB_APPS + 1)));
    put_bytes(&m, IEEE "\x0c\x00", 5);
    for (unsigned i = 0; i <= ROCE_DCB_APPS; i++) {
        put_number(&m, 1, 0x65);
        put_number(&m, 2, i);
    }
    roce_lldp lldp;
    decode_copy((const char *)m.bytes, m.n, m.n, &lldp);
    CHECK_INT(lldp.outcome, ROCE_DECODED);
    CHECK_INT(lldp.ieee.n_apps, ROCE_DCB_APPS + 1);
    CHECK_INT(lldp.ieee.apps[ROCE_DCB_APPS - 1].protocol, ROCE_DCB_APPS - 1);
}

/* In a frame: at once, behind a tag, in a mirror; and frames of other types. */
static void
test_frames(void)
{
#define LLDP_MACS "\x01\x80\xc2\x00\x00\x0e\x02\x00\x00\x00\x00\x11"
    static const struct {
        const char *name;
        const char *bytes;
        uint32_t n;
        uint32_t offset; /* 0: not LLDP */
    } rows[] = {
        {"untagged", BYTES(LLDP_MACS "\x88\xcc" IDENTITY PFC END), 14},
        {"tagged", BYTES(LLDP_MACS "\x81\x00\x00\x64\x88\xcc" IDENTITY PFC END), 18},
        {"mirrored in GRE",
         BYTES(MACS IS_IPV4 "\x45\x00\x00\x44\x00\x00\x00\x00\x40\x2f\x00"
                            "\x00" IPV4_ADDRESSES "\x00\x00\x65\x58" LLDP_MACS
                            "\x88\xcc" IDENTITY PFC END),
         52},
        {"MAC control", BYTES(LLDP_MACS "\x88\x08" IDENTITY PFC END), 0},
    };
    for (size_t i = 0; i < N_ROWS(rows); i++) {
        check_row(rows[i].name);
        const roce_frame frame = {
            .bytes = (const uint8_t *)rows[i].bytes,
            .captured_bytes = rows[i].n,
            .wire_bytes = rows[i].n,
            .number = 1,
            .link = ROCE_LINK_ETHERNET,
        };
        roce_ports ports;
        roce_ports_init(&ports);
        roce_packet packet;
        roce_lldp lldp = {0};
        roce_decode(&frame, &ports, &packet);
        CHECK_INT(packet.lldp_offset, rows[i].offset);
        bool is_lldp = rows[i].offset != 0;
        CHECK_INT(roce_lldp_of_frame(&frame, &packet, &lldp), is_lldp);
        if (is_lldp) {
            CHECK_INT(packet.kind, ROCE_CLASS_OTHER);
            CHECK_INT(packet.outcome, ROCE_NOT_OURS);
            CHECK_INT(lldp.outcome, ROCE_DECODED);
            CHECK_INT(lldp.ieee.pfc.enabled, 0x08);
        }
    }
    check_row(NULL);
}

int
main(void)
{
    test_cases();
    test_identity();
    test_ieee();
    test_cee();
    test_cee_off();
    test_many_apps();
    test_frames();
    return check_status();
}
