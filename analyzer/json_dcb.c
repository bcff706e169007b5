/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json_dcb.h"

#include "dcb.h"
#include "format.h"
#include "json_parts.h"

/* "strict", ...; a number has no name. */
static json_t *
algorithm_json(guint8 algorithm)
{
    switch (algorithm) {
    case ROCE_DCB_STRICT:
        return json_string("strict");
    case ROCE_DCB_CREDIT_SHAPER:
        return json_string("credit_shaper");
    case ROCE_DCB_ETS:
        return json_string("ets");
    case ROCE_DCB_VENDOR:
        return json_string("vendor");
    default:
        return json_integer(algorithm);
    }
}

static json_t *
selector_json(guint selector)
{
    static const char *const names[] = {
        [ROCE_DCB_ETHERTYPE] = "ethertype", [ROCE_DCB_TCP_PORT] = "tcp_port",
        [ROCE_DCB_UDP_PORT] = "udp_port",   [ROCE_DCB_ANY_PORT] = "port",
        [ROCE_DCB_DSCP] = "dscp",
    };
    return selector < G_N_ELEMENTS(names) && names[selector] != NULL
               ? json_string(names[selector])
               : json_integer((json_int_t)selector);
}

static json_t *
pfc_json(const roce_dcb_pfc *pfc)
{
    if (!pfc->present) {
        return json_null();
    }
    json_t *json = json_object();
    json_object_set_new(json, "on", json_boolean(pfc->on));
    json_object_set_new(json, "enabled", rs_json_priorities_set(pfc->enabled));
    json_object_set_new(json, "willing", json_boolean(pfc->willing));
    json_object_set_new(json, "capability", rs_json_count(pfc->capability));
    json_object_set_new(json, "mbc", json_boolean(pfc->mbc));
    return json;
}

static json_t *
eight_json(const guint8 *numbers)
{
    json_t *json = json_array();
    for (guint i = 0; i < 8; i++) {
        json_array_append_new(json, json_integer(numbers[i]));
    }
    return json;
}

static json_t *
ets_json(const roce_dcb_ets *ets)
{
    if (!ets->present) {
        return json_null();
    }
    json_t *algorithms = json_array();
    for (guint i = 0; i < 8; i++) {
        json_array_append_new(algorithms, algorithm_json(ets->algorithm[i]));
    }
    json_t *json = json_object();
    json_object_set_new(json, "on", json_boolean(ets->on));
    json_object_set_new(json, "willing", json_boolean(ets->willing));
    json_object_set_new(json, "max_classes", rs_json_count(ets->max_classes));
    json_object_set_new(json, "class_of_priority", eight_json(ets->class_of_priority));
    json_object_set_new(json, "bandwidth_percent", eight_json(ets->bandwidth_percent));
    json_object_set_new(json, "algorithm", algorithms);
    return json;
}

static json_t *
apps_json(const roce_dcb *dcb)
{
    json_t *apps = json_array();
    for (guint i = 0; i < MIN(dcb->n_apps, ROCE_DCB_APPS); i++) {
        const roce_dcb_app *app = &dcb->apps[i];
        json_t *one = json_object();
        json_object_set_new(one, "selector", selector_json(app->selector));
        json_object_set_new(one, "protocol", rs_json_count(app->protocol));
        json_object_set_new(one, "priorities", rs_json_priorities_set(app->priorities));
        json_array_append_new(apps, one);
    }
    return apps;
}

static json_t *
app_vlans_json(const roce_dcb *dcb)
{
    json_t *vlans = json_array();
    for (guint i = 0; i < MIN(dcb->n_app_vlans, ROCE_DCB_APP_VLANS); i++) {
        const roce_dcb_app_vlan *vlan = &dcb->app_vlans[i];
        json_t *one = json_object();
        json_object_set_new(one, "selector", selector_json(vlan->selector));
        json_object_set_new(one, "protocol", rs_json_count(vlan->protocol));
        json_object_set_new(one, "vlan", rs_json_count(vlan->vid));
        json_array_append_new(vlans, one);
    }
    return vlans;
}

/* The port at the other end of the link, where the point sees one link alone. */
static json_t *
other_end_json(const rs_dcb *dcb, guint32 point, guint i)
{
    guint first = 0;
    gboolean link = rs_dcb_link(dcb, point, &first);
    return rs_json_known(i == first ? first + 1 : first, link);
}

static json_t *
port_json(const rs_analysis *a, guint i)
{
    const rs_dcb *dcb = a->watchers.dcb;
    const rs_dcb_port *port = rs_dcb_port_at(dcb, i);
    const rs_host *host = rs_hosts_find_mac(a->told->hosts, port->mac);
    const char *version = rs_dcbx_name(port->version);
    g_autofree char *mac = rs_format_mac(port->mac);
    json_t *json = json_object();
    json_object_set_new(json, "id", rs_json_count(i));
    json_object_set_new(json, "point", rs_json_count(port->point));
    json_object_set_new(json, "mac", json_string(mac));
    json_object_set_new(json, "host", rs_json_host(host));
    json_object_set_new(json, "chassis", rs_json_text(port->chassis));
    json_object_set_new(json, "port", rs_json_text(port->port));
    json_object_set_new(json, "system", rs_json_text(port->system));
    json_object_set_new(json, "ttl_s", rs_json_count(port->ttl_s));
    json_object_set_new(json, "other_end", other_end_json(dcb, port->point, i));
    json_object_set_new(json, "frames", rs_json_count(port->frames));
    json_object_set_new(json, "truncated", rs_json_count(port->truncated));
    json_object_set_new(json, "malformed", rs_json_count(port->malformed));
    json_object_set_new(json, "changes", rs_json_count(port->changes));
    json_object_set_new(json, "dcbx",
                        version != NULL ? json_string(version) : json_null());
    json_object_set_new(json, "pfc", pfc_json(&port->dcb.pfc));
    json_object_set_new(json, "ets", ets_json(&port->dcb.ets));
    json_object_set_new(json, "ets_recommended", ets_json(&port->dcb.ets_recommended));
    json_object_set_new(json, "applications", apps_json(&port->dcb));
    json_object_set_new(json, "n_applications", rs_json_count(port->dcb.n_apps));
    json_object_set_new(json, "application_vlans", app_vlans_json(&port->dcb));
    json_object_set_new(json, "n_application_vlans",
                        rs_json_count(port->dcb.n_app_vlans));
    return json;
}

json_t *
rs_json_dcb(const rs_analysis *analysis, const rs_summary *summary)
{
    (void)summary;
    const rs_dcb *dcb = analysis->watchers.dcb;
    if (rs_dcb_n_ports(dcb) == 0) {
        return json_null();
    }
    json_t *ports = json_array();
    for (guint i = 0; i < rs_dcb_n_ports(dcb); i++) {
        json_array_append_new(ports, port_json(analysis, i));
    }
    json_t *json = json_object();
    json_object_set_new(json, "ports", ports);
    json_object_set_new(json, "frames_of_other_ports",
                        rs_json_count(rs_dcb_beyond(dcb)));
    return json;
}
