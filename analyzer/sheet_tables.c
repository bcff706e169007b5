/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The columns of all sheets.
 *
 * A column's name is its path with "_" between the keys, so that who knows one knows the
 * other.  Left out is what a whole sheet has in common ("capture.", "item."), and units
 * stand at the end: "ack_latency_ns.p99" is ack_latency_p99_ns.  Where the name would be a
 * word of SQL, it is another one.
 *
 * Counters are columns of streams and, summed, of captures; distributions come nine times
 * in each.  These rows are macros, so that tables stay constant and one cannot be
 * forgotten in one place.
 */
#include "sheets.h"

#define INTEGER RS_VALUE_INTEGER
#define REAL RS_VALUE_REAL
#define TEXT RS_VALUE_TEXT
#define BOOLEAN RS_VALUE_BOOLEAN

/* clang-format off */

/* A distribution: `name` is that of its columns, `path` leads to the object. */
#define DISTRIBUTION(name, path, what) \
    {name "_samples", path ".count", INTEGER, "samples of: " what, NULL}, \
    {name "_min_ns", path ".min", INTEGER, "least of: " what, NULL}, \
    {name "_p50_ns", path ".p50", INTEGER, "median of: " what, NULL}, \
    {name "_p90_ns", path ".p90", INTEGER, "nine of ten are no longer: " what, NULL}, \
    {name "_p99_ns", path ".p99", INTEGER, "99 of 100 are no longer: " what, NULL}, \
    {name "_max_ns", path ".max", INTEGER, "greatest of: " what, NULL}, \
    {name "_mean_ns", path ".mean", INTEGER, "mean of: " what, NULL}, \
    {name "_stddev_ns", path ".stddev", INTEGER, "standard deviation of: " what, NULL}

#define LOSSES(n, p, space, what) \
    {n "losses_" space "_lost_before_capture", p "losses." space ".lost_before_capture", INTEGER, what " never seen here, then asked for or sent again", NULL}, \
    {n "losses_" space "_undelivered_after_capture", p "losses." space ".undelivered_after_capture", INTEGER, what " seen here, then asked for or sent again: lost or late behind this point", NULL}, \
    {n "losses_" space "_ack_lost", p "losses." space ".ack_lost", INTEGER, what " sent again by timeout although acknowledged", NULL}, \
    {n "losses_" space "_data_or_ack_lost", p "losses." space ".data_or_ack_lost", INTEGER, what " sent again by timeout, no acknowledgement seen", NULL}, \
    {n "losses_" space "_not_captured", p "losses." space ".not_captured", INTEGER, what " never seen here, yet acknowledged: not lost", NULL}, \
    {n "losses_" space "_corrupt", p "losses." space ".corrupt", INTEGER, what " seen damaged, then asked for again", NULL}, \
    {n "losses_" space "_unknown", p "losses." space ".unknown", INTEGER, what " whose fate is not decidable", NULL}

#define NAKS(n, p, key, what) \
    {n key "_psn_sequence", p key ".psn_sequence", INTEGER, "NAKs \"PSN sequence error\" " what, NULL}, \
    {n key "_invalid_request", p key ".invalid_request", INTEGER, "NAKs \"invalid request\" " what, NULL}, \
    {n key "_remote_access", p key ".remote_access", INTEGER, "NAKs \"remote access error\" " what, NULL}, \
    {n key "_remote_operational", p key ".remote_operational", INTEGER, "NAKs \"remote operational error\" " what, NULL}, \
    {n key "_rnr", p key ".rnr", INTEGER, "RNR NAKs " what, NULL}

#define SPACE(n, p, space) \
    {n space "_packets", p space ".packets", INTEGER, space " seen", NULL}, \
    {n space "_unique_psns", p space ".unique_psns", INTEGER, "PSNs of " space " seen at least once", NULL}, \
    {n space "_gaps", p space ".gaps", INTEGER, "gaps in the PSNs of " space ", as they opened", NULL}, \
    {n space "_missing_psns", p space ".missing_psns", INTEGER, "PSNs of " space " missing when a gap opened", NULL}, \
    {n space "_reordered", p space ".reordered", INTEGER, space " that others had overtaken", NULL}, \
    {n space "_duplicates", p space ".duplicates", INTEGER, space " that the network duplicated", NULL}

#define ECN(n, p, key, what) \
    {n key "_not_ect", p key ".not_ect", INTEGER, what " that cannot be marked (Not-ECT)", NULL}, \
    {n key "_ect0", p key ".ect0", INTEGER, what " with ECT(0)", NULL}, \
    {n key "_ect1", p key ".ect1", INTEGER, what " with ECT(1)", NULL}, \
    {n key "_ce", p key ".ce", INTEGER, what " with CE: marked", NULL}

#define COUNTERS(n, p) \
    {n "packets", p "packets", INTEGER, "packets of streams", NULL}, \
    {n "wire_bytes", p "wire_bytes", INTEGER, "their frames as on the link, without FCS", NULL}, \
    {n "payload_bytes", p "payload_bytes", INTEGER, "bytes of messages in them", NULL}, \
    SPACE(n, p, "requests"), \
    {n "requests_capture_repeats", p "requests.capture_repeats", INTEGER, "arrivals of a PSN of requests seen here before, for any reason", NULL}, \
    SPACE(n, p, "responses"), \
    {n "responses_resent", p "responses.resent", INTEGER, "responses that the responder sent again", NULL}, \
    {n "retransmissions_packets", p "retransmissions.packets", INTEGER, "requests sent again", NULL}, \
    {n "retransmissions_bytes", p "retransmissions.bytes", INTEGER, "their payload", NULL}, \
    {n "retransmissions_requested_bytes", p "retransmissions.requested_bytes", INTEGER, "READ data asked for again", NULL}, \
    {n "retransmissions_rounds", p "retransmissions.rounds", INTEGER, "runs of requests sent again for one cause", NULL}, \
    {n "retransmissions_spurious_rounds", p "retransmissions.spurious_rounds", INTEGER, "of them, for what was merely late", NULL}, \
    {n "retransmissions_by_cause_nak_sequence", p "retransmissions.by_cause.nak_sequence", INTEGER, "rounds that a NAK \"PSN sequence error\" asked for", NULL}, \
    {n "retransmissions_by_cause_rnr", p "retransmissions.by_cause.rnr", INTEGER, "rounds after an RNR NAK", NULL}, \
    {n "retransmissions_by_cause_timeout", p "retransmissions.by_cause.timeout", INTEGER, "rounds after a timeout", NULL}, \
    {n "retransmissions_by_cause_read_reissue", p "retransmissions.by_cause.read_reissue", INTEGER, "READs or atomics asked again after a gap in their responses", NULL}, \
    {n "retransmissions_by_cause_unknown", p "retransmissions.by_cause.unknown", INTEGER, "rounds of no cause that is known", NULL}, \
    LOSSES(n, p, "requests", "requests"), \
    LOSSES(n, p, "responses", "responses"), \
    NAKS(n, p, "naks", "received about its requests"), \
    NAKS(n, p, "naks_sent", "carried"), \
    {n "cnps_received", p "cnps_received", INTEGER, "CNPs that its data caused", NULL}, \
    {n "cnps_sent", p "cnps_sent", INTEGER, "CNPs carried", NULL}, \
    {n "rnr_waits_kept", p "rnr_waits_kept", INTEGER, "waits after an RNR NAK at least as long as asked for", NULL}, \
    {n "rnr_waits_broken", p "rnr_waits_broken", INTEGER, "waits after an RNR NAK shorter than asked for", NULL}, \
    ECN(n, p, "ecn", "data packets"), \
    {n "ecn_transitions", p "ecn.transitions", INTEGER, "changes of codepoint from one data packet to the next", NULL}, \
    {n "ecn_ce_episodes", p "ecn.ce_episodes", INTEGER, "runs of CE without a pause of more than 1 ms", NULL}, \
    ECN(n, p, "ecn_control", "packets without data"), \
    {n "icrc_checked", p "icrc.checked", INTEGER, "packets whose ICRC was checked", NULL}, \
    {n "icrc_bad", p "icrc.bad", INTEGER, "of them, packets whose ICRC did not verify", NULL}, \
    {n "icrc_unchecked_truncated", p "icrc.unchecked_truncated", INTEGER, "packets cut before the ICRC", NULL}, \
    {n "icrc_cnp_bad", p "icrc.cnp_bad", INTEGER, "CNPs that do not verify, taken as good", NULL}, \
    {n "icrc_flush_bad", p "icrc.flush_bad", INTEGER, "FLUSHes that do not verify, taken as good", NULL}, \
    {n "ip_checksum_bad", p "ip_checksum_bad", INTEGER, "packets whose IPv4 header checksum is wrong", NULL}, \
    {n "psn_bad", p "psn_bad", INTEGER, "packets without their ICRC whose PSN was damaged", NULL}, \
    {n "messages_completed", p "messages.completed", INTEGER, "messages seen to their end", NULL}, \
    {n "messages_bytes", p "messages.bytes", INTEGER, "bytes of all messages", NULL}, \
    DISTRIBUTION(n "message_completion", p "message_completion_ns", "first packet of a message to the sign that it is complete"), \
    DISTRIBUTION(n "ack_latency", p "ack_latency_ns", "a request to the ACK that names it"), \
    DISTRIBUTION(n "read_first", p "read_first_ns", "READ Request to its first response"), \
    DISTRIBUTION(n "read_latency", p "read_latency_ns", "READ Request to its last response"), \
    DISTRIBUTION(n "nak_generation", p "nak_generation_ns", "first request beyond a gap to the NAK"), \
    DISTRIBUTION(n "nak_reaction", p "nak_reaction_ns", "NAK to the request that it asked for"), \
    DISTRIBUTION(n "recovery", p "recovery_ns", "first evidence of a loss to the answer that covers it"), \
    DISTRIBUTION(n "cnp_delay", p "cnp_delay_ns", "first CE mark without an answer to its CNP"), \
    DISTRIBUTION(n "cnp_interval", p "cnp_interval_ns", "one CNP to the next about the same data")

static const rs_sheet_column captures[] = {
    {"tool_version", "tool.version", TEXT, "version of rocescope", NULL},
    {"file", "capture.files.0.path", TEXT, "the first file; all stand in `files`", NULL},
    {"packets", "capture.packets", INTEGER, "packets read", NULL},
    {"bytes", "capture.bytes", INTEGER, "bytes captured of them", NULL},
    {"first_ts_ns", "capture.first_ts_ns", INTEGER, "least time stamp", NULL},
    {"last_ts_ns", "capture.last_ts_ns", INTEGER, "greatest time stamp", NULL},
    {"timestamp_resolution_ns", "capture.timestamp_resolution_ns", INTEGER, "of the coarsest point, or what packets without a time stamp leave open", NULL},
    {"unstamped_packets", "capture.unstamped_packets", INTEGER, "packets without a time stamp", NULL},
    {"time_steps_back", "capture.time_steps_back", INTEGER, "packets stamped earlier than the one before them at their point", NULL},
    {"snaplen_truncated_packets", "capture.snaplen_truncated_packets", INTEGER, "packets cut by the snap length, or on their way to the capture", NULL},
    {"malformed_packets", "capture.malformed_packets", INTEGER, "packets whose headers promise more than the frame had", NULL},
    {"tunnelled_packets", "capture.tunnelled_packets", INTEGER, "packets inside a tunnel", NULL},
    {"mirrored_packets", "capture.mirrored_packets", INTEGER, "of them, packets inside a mirror", NULL},
    {"mirror_cut_packets", "capture.mirror_cut_packets", INTEGER, "of them, packets carried in part", NULL},
    {"capture_duplicates", "capture.capture_duplicates", INTEGER, "second copies of a mirror that delivers twice, left out", NULL},
    {"twin_packets", "capture.twin_packets", INTEGER, "packets that stand at a further point", NULL},
    {"roce_packets", "capture.roce_packets", INTEGER, "RoCE packets, CNPs included", NULL},
    {"cnp_packets", "capture.cnp_packets", INTEGER, "CNPs", NULL},
    {"pfc_frames", "capture.pfc_frames", INTEGER, "PFC frames", NULL},
    {"pause_frames", "capture.pause_frames", INTEGER, "802.3x pause frames", NULL},
    {"other_packets", "capture.other_packets", INTEGER, "packets that are none of these", NULL},
    {"not_ib_on_roce_port", "capture.not_ib_on_roce_port", INTEGER, "packets on a RoCE port without InfiniBand transport", NULL},
    {"ip_fragments", "capture.ip_fragments", INTEGER, "IP fragments that may be RoCE", NULL},
    {"filtered_out", "capture.filtered_out", INTEGER, "packets that `--filter` rejects", NULL},
    {"pause_untracked_packets", "capture.pause_untracked_packets", INTEGER, "packets for which there was no room to see what pauses they met", NULL},
    {"interrupted", "capture.interrupted", BOOLEAN, "reading was ended by a signal", NULL},
    {"streams_omitted", "streams_omitted", INTEGER, "streams beyond `--max-streams`, which have no rows", NULL},
    {"unattributed_naks", "unattributed.naks", INTEGER, "NAKs about requests of no known stream", NULL},
    {"unattributed_rnr", "unattributed.rnr", INTEGER, "RNR NAKs about requests of no known stream", NULL},
    {"unattributed_cnps", "unattributed.cnps", INTEGER, "CNPs about data of no known stream", NULL},
    {"unattributed_acks", "unattributed.acks", INTEGER, "ACKs of requests of no known stream", NULL},
    COUNTERS("totals_", "totals."),
};

static const rs_sheet_column files[] = {
    {"path", "item.path", TEXT, "as it was given", NULL},
    {"format", "item.format", TEXT, "of the capture; null when it could not be told", NULL},
    {"packets", "item.packets", INTEGER, "packets read", NULL},
    {"bytes", "item.bytes", INTEGER, "bytes captured of them", NULL},
    {"damaged_at", "item.damaged_at", INTEGER, "byte of the unpacked file where reading ended early", NULL},
    {"error", "item.error", TEXT, "why", NULL},
    {"extract_with_gaps", "item.extract_with_gaps", BOOLEAN, "rocescope extract wrote it, without some packets of its connections", NULL},
};

static const rs_sheet_column points[] = {
    {"id", "item.id", INTEGER, "number of the point", NULL},
    {"file", "item.file", TEXT, "that it first stands in", NULL},
    {"interface", "item.interface", TEXT, "its name", NULL},
    {"interface_index", "item.interface_index", INTEGER, "of an interface in a cooked capture of several", NULL},
    {"mirror_kind", "item.mirror.kind", TEXT, "of the mirror that the point is", NULL},
    {"mirror_session", "item.mirror.session", INTEGER, "its session", NULL},
    {"mirror_direction", "item.mirror.direction", TEXT, "`ingress`, `egress` or `unknown`", NULL},
    {"mirror_source", "item.mirror.source", TEXT, "address of the switch that mirrors", NULL},
    {"mirror_timestamp_resolution_ns", "item.mirror.timestamp_resolution_ns", INTEGER, "of the switch's own stamps", NULL},
    {"link_type", "item.link_type", TEXT, "name or number of the link layer", NULL},
    {"link_speed_bps", "item.link_speed_bps", INTEGER, "from the file or `--link-speed`", NULL},
    {"packets", "item.packets", INTEGER, "packets captured there", NULL},
    {"dropped_by_capture", "item.dropped_by_capture", INTEGER, "packets that the capture dropped, as the file says", NULL},
    {"time_steps_back", "item.time_steps_back", INTEGER, "packets stamped earlier than the one before them", NULL},
    {"order_of_frames", "item.order", TEXT, "in which they were taken: `file` or `time`", NULL},
    {"joined_with", "item.joined_with", INTEGER, "the point that it was taken together with", "points"},
    {"capture_duplicates", "item.capture_duplicates", INTEGER, "second copies, left out", NULL},
};

static const rs_sheet_column event_totals[] = {
    {"kind", "key", TEXT, "of event", NULL},
    {"events", "item", INTEGER, "how many there were, listed or not", NULL},
};

static const rs_sheet_column streams[] = {
    {"id", "id", INTEGER, "number of the stream", NULL},
    {"point", "point", INTEGER, "where it was captured", "points"},
    {"same_stream_at", "same_stream_at", TEXT, "ids of the same stream at other points", NULL},
    {"same_as", "same_as", INTEGER, "the one of these that stands for all, or itself", "streams"},
    {"tenant_kind", "tenant.kind", TEXT, "of the overlay network that it was seen in", NULL},
    {"tenant_id", "tenant.id", INTEGER, "number of that network", NULL},
    {"src", "src", TEXT, "source address", NULL},
    {"src_host_name", "src_host.name", TEXT, "its host, by `--hosts`", NULL},
    {"src_host_rail", "src_host.rail", TEXT, "its rail", NULL},
    {"src_host_port", "src_host.port", TEXT, "its port", NULL},
    {"dst", "dst", TEXT, "destination address", NULL},
    {"dst_host_name", "dst_host.name", TEXT, "its host, by `--hosts`", NULL},
    {"dst_host_rail", "dst_host.rail", TEXT, "its rail", NULL},
    {"dst_host_port", "dst_host.port", TEXT, "its port", NULL},
    {"dst_qpn", "dst_qpn", INTEGER, "destination queue pair", NULL},
    {"src_qpn", "src_qpn", INTEGER, "source queue pair", NULL},
    {"transport", "transport", TEXT, "`RC`, `UC`, `UD`, …", NULL},
    {"connection", "connection", INTEGER, "that it is a direction of", "connections"},
    {"vantage", "vantage", TEXT, "where the point stands: `requester`, `responder`, `middle`, `unknown`", NULL},
    {"recovery_model", "recovery_model", TEXT, "what the requester does after a NAK: `go_back_n`, `selective`, `unknown`", NULL},
    {"partial_path", "partial_path", BOOLEAN, "the point sees only part of the stream", NULL},
    {"udp_src_ports", "udp_src_ports", TEXT, "UDP source ports, the first 8", NULL},
    {"vlans", "vlans", TEXT, "VLAN ids, the first 4", NULL},
    {"dscps", "dscps", TEXT, "DSCPs", NULL},
    {"ecn_source", "ecn_source", TEXT, "the IP header that ECN was read from: `ip`, `inner`, `outer`", NULL},
    {"pmtu_bytes", "pmtu", INTEGER, "path MTU", NULL},
    {"first_ts_ns", "first_ts_ns", INTEGER, "time of its first packet", NULL},
    {"last_ts_ns", "last_ts_ns", INTEGER, "time of its last packet", NULL},
    {"data_priorities", "data_priorities", TEXT, "priorities of its data", NULL},
    {"data_dscps", "data_dscps.*.dscp", TEXT, "DSCPs of its data, the first 4", NULL},
    {"data_dscp_changes", "data_dscp_changes", INTEGER, "data packets with another DSCP than the one before", NULL},
    {"path_ttls", "path.ttls.*.ttl", TEXT, "values of TTL or hop limit, the first 4", NULL},
    {"path_ttl_changes", "path.ttl_changes", INTEGER, "packets with another TTL than the one before", NULL},
    {"path_ttl_pattern", "path.ttl_pattern", TEXT, "what the changes look like", NULL},
    {"path_mig_req", "path.mig_req", TEXT, "values of MigReq", NULL},
    {"path_p_key", "path.p_key", INTEGER, "P_Key of the first packet", NULL},
    {"path_other_p_key", "path.other_p_key", INTEGER, "the first other one", NULL},
    {"only_here_packets", "only_here_packets", INTEGER, "packets that no other point saw", NULL},
    {"congestion_marked_share", "congestion.marked_share", REAL, "CE among its data packets, 0 to 1", NULL},
    {"congestion_episodes_omitted", "congestion.episodes_omitted", INTEGER, "CE episodes beyond those in `ce_episodes`", NULL},
    {"congestion_marked_between_before_all_points", "congestion.marked_between.before_all_points", INTEGER, "packets with CE at each of several points that saw them", NULL},
    {"congestion_marked_between_complete", "congestion.marked_between.complete", BOOLEAN, "false: where packets were marked may have been missed", NULL},
    {"congestion_ce_answers_answered", "congestion.ce_answers.answered", INTEGER, "marks that a CNP answered", NULL},
    {"congestion_ce_answers_paced", "congestion.ce_answers.paced", INTEGER, "marks without a CNP since another one had just been sent", NULL},
    {"congestion_ce_answers_unanswered", "congestion.ce_answers.unanswered", INTEGER, "marks without a CNP, and nothing explains it", NULL},
    {"congestion_ce_answers_open", "congestion.ce_answers.open", INTEGER, "marks when the stream ended", NULL},
    {"congestion_ce_per_cnp", "congestion.ce_per_cnp", REAL, "marks for each CNP", NULL},
    {"congestion_cnps_by_receiver_answering", "congestion.cnps.by_receiver.answering", INTEGER, "CNPs of the receiver that answer a mark", NULL},
    {"congestion_cnps_by_receiver_with_nak", "congestion.cnps.by_receiver.with_nak", INTEGER, "CNPs of the receiver that go with a NAK", NULL},
    {"congestion_cnps_by_receiver_alone", "congestion.cnps.by_receiver.alone", INTEGER, "CNPs of the receiver without either", NULL},
    {"congestion_cnps_by_others_answering", "congestion.cnps.by_others.answering", INTEGER, "CNPs of a switch that answer a mark", NULL},
    {"congestion_cnps_by_others_with_nak", "congestion.cnps.by_others.with_nak", INTEGER, "CNPs of a switch that go with a NAK", NULL},
    {"congestion_cnps_by_others_alone", "congestion.cnps.by_others.alone", INTEGER, "CNPs of a switch without either", NULL},
    {"congestion_priorities_data", "congestion.priorities.data", TEXT, "priorities of its data", NULL},
    {"congestion_priorities_acks", "congestion.priorities.acks", TEXT, "priorities of the ACKs about it", NULL},
    {"congestion_priorities_naks", "congestion.priorities.naks", TEXT, "priorities of the NAKs about it", NULL},
    {"congestion_priorities_cnps", "congestion.priorities.cnps", TEXT, "priorities of the CNPs about it", NULL},
    {"congestion_cnp_bursts_omitted", "congestion.cnp_bursts_omitted", INTEGER, "CNP bursts beyond those in `cnp_bursts`", NULL},
    COUNTERS("", ""),
};

static const rs_sheet_column stream_opcodes[] = {
    {"stream", "of", INTEGER, "that has packets of the opcode", "streams"},
    {"opcode", "key", TEXT, "its name", NULL},
    {"packets", "item", INTEGER, "packets with it", NULL},
};

static const rs_sheet_column ce_episodes[] = {
    {"stream", "of", INTEGER, "that was marked", "streams"},
    {"start_ns", "item.start_ns", INTEGER, "time of the first mark", NULL},
    {"end_ns", "item.end_ns", INTEGER, "time of the last mark", NULL},
    {"marked", "item.marked", INTEGER, "packets with CE", NULL},
    {"data_packets", "item.data_packets", INTEGER, "data packets from the first to the last of them", NULL},
    {"first_frame", "item.first_frame", INTEGER, "frame of the first mark", NULL},
};

static const rs_sheet_column ce_segments[] = {
    {"stream", "of", INTEGER, "that was marked", "streams"},
    {"from_point", "item.from", INTEGER, "the last that saw them unmarked", "points"},
    {"to_point", "item.to", INTEGER, "the first that saw them with CE", "points"},
    {"packets", "item.packets", INTEGER, "packets marked between the two", NULL},
};

static const rs_sheet_column cnp_bursts[] = {
    {"stream", "of", INTEGER, "whose data the CNPs are about", "streams"},
    {"start_ns", "item.start_ns", INTEGER, "time of the first CNP", NULL},
    {"end_ns", "item.end_ns", INTEGER, "time of the last CNP", NULL},
    {"cnps", "item.cnps", INTEGER, "CNPs of the burst", NULL},
    {"first_frame", "item.first_frame", INTEGER, "frame of the first CNP", NULL},
    {"before_bps", "item.before_bps", INTEGER, "rate inside messages before it", NULL},
    {"lowest_bps", "item.lowest_bps", INTEGER, "the lowest rate during it", NULL},
    {"first_cut", "item.first_cut", REAL, "rate after the first CNP, as a share of the rate before", NULL},
    {"recovery_ns", "item.recovery_ns", INTEGER, "time until the rate was back", NULL},
};

#define END(side) \
    {side "_addr", side ".addr", TEXT, "address of end " side, NULL}, \
    {side "_qpn", side ".qpn", INTEGER, "queue pair of end " side, NULL}, \
    {side "_host_name", side ".host.name", TEXT, "its host, by `--hosts`", NULL}, \
    {side "_host_rail", side ".host.rail", TEXT, "its rail", NULL}, \
    {side "_host_port", side ".host.port", TEXT, "its port", NULL}, \
    {side "_process_comm", side ".process.comm", TEXT, "name of the process, by `--qp-map`", NULL}, \
    {side "_process_pid", side ".process.pid", INTEGER, "its number", NULL}

static const rs_sheet_column connections[] = {
    {"id", "id", INTEGER, "number of the connection", NULL},
    END("a"),
    END("b"),
    {"paired_by", "paired_by", TEXT, "how its directions were matched: `cm`, `user`, `psn`", NULL},
    {"trust", "trust", TEXT, "how far that can be relied on: `high`, `medium`, `low`", NULL},
    {"streams", "streams", TEXT, "ids of its streams", NULL},
    {"cm_service_id", "cm.service_id", INTEGER, "service that CM was asked for", NULL},
    {"cm_path_mtu_bytes", "cm.path_mtu", INTEGER, "path MTU, by CM", NULL},
    {"cm_retry_count", "cm.retry_count", INTEGER, "retries, by CM", NULL},
    {"cm_rnr_retry_count", "cm.rnr_retry_count", INTEGER, "retries after an RNR NAK, 7 for ever", NULL},
    {"cm_ack_timeout", "cm.ack_timeout", INTEGER, "code n of the timeout, 4.096 µs × 2ⁿ; 0 none", NULL},
    {"cm_starting_psn_active", "cm.starting_psn_active", INTEGER, "PSN that the side that asked will receive first", NULL},
    {"cm_starting_psn_passive", "cm.starting_psn_passive", INTEGER, "PSN that the other side will receive first", NULL},
    {"cm_established", "cm.established", BOOLEAN, "the RTU was seen", NULL},
    {"cm_rejected", "cm.rejected", BOOLEAN, "a REJ was seen", NULL},
    {"cm_reject_reason", "cm.reject_reason", INTEGER, "its code", NULL},
    {"cm_rejected_by", "cm.rejected_by", TEXT, "`passive`, the side that was asked, or `active`", NULL},
    {"cm_disconnected", "cm.disconnected", BOOLEAN, "a DREQ was seen", NULL},
    {"cm_setup_ns", "cm.setup_ns", INTEGER, "time from REQ to RTU", NULL},
};

static const rs_sheet_column pauses[] = {
    {"id", "id", INTEGER, "number of the source of pauses", NULL},
    {"point", "point", INTEGER, "where it was seen", "points"},
    {"kind", "kind", TEXT, "`pfc` or `802.3x`", NULL},
    {"src_mac", "src_mac", TEXT, "who asks for the pauses", NULL},
    {"src_host_name", "src_host.name", TEXT, "its host, by `--hosts`", NULL},
    {"src_host_rail", "src_host.rail", TEXT, "its rail", NULL},
    {"src_host_port", "src_host.port", TEXT, "its port", NULL},
    {"direction", "direction", TEXT, "`from_host`, `from_network` or `ambiguous`", NULL},
    {"direction_by", "direction_by", TEXT, "what shows that", NULL},
    {"captured", "captured", TEXT, "`in` or `out`, as the file says", NULL},
    {"priority", "priority", INTEGER, "paused; null for 802.3x, which stops all", NULL},
    {"link_speed_bps", "link_speed_bps", INTEGER, "of the link", NULL},
    {"link_speed_source", "link_speed_source", TEXT, "`capture`, `user` or `unknown`", NULL},
    {"partner_mac", "partner_mac", TEXT, "MAC address at the other end of the link", NULL},
    {"partner_total_ns", "partner_total_ns", INTEGER, "for how long that one paused this one", NULL},
    {"xoff", "xoff", INTEGER, "frames that start a pause", NULL},
    {"refresh", "refresh", INTEGER, "frames that prolong one", NULL},
    {"xon", "xon", INTEGER, "frames that end one", NULL},
    {"expired", "expired", INTEGER, "pauses that ran out", NULL},
    {"n_intervals", "n_intervals", INTEGER, "pauses; the first of them stand in `pause_intervals`", NULL},
    {"total_ns", "total_ns", INTEGER, "paused in all", NULL},
    {"longest_ns", "longest_ns", INTEGER, "paused at most at once", NULL},
    {"total_quanta", "total_quanta", INTEGER, "quanta asked for, refreshes included", NULL},
    {"paused_share", "paused_share", REAL, "of the time between the point's first and last packet, 0 to 1", NULL},
    DISTRIBUTION("lengths", "lengths_ns", "start of a pause to its end"),
    {"holds", "holds", INTEGER, "pauses, those that follow each other at once counted as one", NULL},
    {"longest_hold_ns", "longest_hold_ns", INTEGER, "the longest of them", NULL},
    {"longest_hold_start_ns", "longest_hold_start_ns", INTEGER, "when it began", NULL},
    {"victims_packets", "victims.packets", INTEGER, "packets of what it stops", NULL},
    {"victims_stops", "victims.stops", INTEGER, "gaps between them in which a pause ended", NULL},
    {"victims_held_ns", "victims.held_ns", INTEGER, "for how long it was paused in those gaps", NULL},
    {"victims_late_packets", "victims.late_packets", INTEGER, "packets that came although paused", NULL},
    {"victims_late_after_ns", "victims.late_after_ns", INTEGER, "what is allowed until a pause takes effect", NULL},
    {"victims_latest_ns", "victims.latest_ns", INTEGER, "so long after the start of a pause came the last of them", NULL},
    {"victims_n_streams", "victims.n_streams", INTEGER, "streams among them", NULL},
    {"order_first", "order.first", TEXT, "whether marks (`ce`) or pauses (`pause`) came first", NULL},
    {"order_unknown", "order.unknown", TEXT, "why that is not known", NULL},
    {"order_pause_ns", "order.pause_ns", INTEGER, "when the first pause began", NULL},
    {"order_mark_ns", "order.mark_ns", INTEGER, "when the first mark or CNP was seen", NULL},
    {"same_as", "same_as", INTEGER, "the source that stands for it, seen at both ends of a link", "pauses"},
    {"root", "root", INTEGER, "where most of its pauses come from", "pauses"},
    {"hops", "hops", INTEGER, "so many causes lie between", NULL},
};

static const rs_sheet_column pause_intervals[] = {
    {"pause", "of", INTEGER, "whose pause it is", "pauses"},
    {"start_ns", "item.start_ns", INTEGER, "when it began", NULL},
    {"end_ns", "item.end_ns", INTEGER, "when it ended", NULL},
    {"ended_by", "item.end", TEXT, "`xon`, `expired` or `capture_end`", NULL},
    {"caused_by", "item.caused_by", INTEGER, "the source that it comes of", "pauses"},
};

static const rs_sheet_column pause_causes[] = {
    {"pause", "of", INTEGER, "whose pauses they are", "pauses"},
    {"cause", "item.pause", INTEGER, "the source that they come of", "pauses"},
    {"intervals", "item.intervals", INTEGER, "how many", NULL},
    {"paused_ns", "item.paused_ns", INTEGER, "how long they were", NULL},
};

static const rs_sheet_column pause_victims[] = {
    {"pause", "of", INTEGER, "that stops the stream", "pauses"},
    {"stream", "item.stream", INTEGER, "that is stopped", "streams"},
    {"packets", "item.packets", INTEGER, "its packets on that way", NULL},
    {"stops", "item.stops", INTEGER, "gaps between them in which a pause ended", NULL},
    {"held_ns", "item.held_ns", INTEGER, "for how long it was paused in those gaps", NULL},
};

static const rs_sheet_column pause_bystanders[] = {
    {"pause", "of", INTEGER, "that stops the stream", "pauses"},
    {"stream", "item.stream", INTEGER, "that is stopped though not bound for the host that began", "streams"},
    {"packets", "item.packets", INTEGER, "its packets on that way", NULL},
    {"stops", "item.stops", INTEGER, "gaps between them in which a pause ended", NULL},
    {"held_ns", "item.held_ns", INTEGER, "for how long it was paused in those gaps", NULL},
};

static const rs_sheet_column pause_watchdogs[] = {
    {"pause", "of", INTEGER, "that is rated", "pauses"},
    {"name", "item.name", TEXT, "of the watchdog", NULL},
    {"detect_ns", "item.detect_ns", INTEGER, "its time of detection", NULL},
    {"restore_ns", "item.restore_ns", INTEGER, "its time of restoration", NULL},
    {"fired", "item.fired", INTEGER, "times that it would have fired", NULL},
    {"first_fired_ns", "item.first_fired_ns", INTEGER, "when, at the earliest", NULL},
};

static const rs_sheet_column background[] = {
    {"protocol", "protocol", TEXT, "as nDPI names it", NULL},
    {"category", "category", TEXT, "as nDPI names it", NULL},
    {"flows", "flows", INTEGER, "flows", NULL},
    {"packets", "packets", INTEGER, "their packets", NULL},
    {"bytes", "bytes", INTEGER, "their bytes", NULL},
    {"in_lossless_priority", "in_lossless_priority", INTEGER, "packets in a priority known to be lossless", NULL},
};

static const rs_sheet_column findings[] = {
    {"id", "id", TEXT, "the kind, and what it is about", NULL},
    {"kind", "kind", TEXT, "of finding, see findings.md", NULL},
    {"severity", "severity", TEXT, "`critical`, `warning` or `note`", NULL},
    {"title", "title", TEXT, "what was found", NULL},
    {"detail", "detail", TEXT, "its numbers and evidence", NULL},
    {"meaning", "meaning", TEXT, "what it means", NULL},
    {"advice", "advice", TEXT, "what to do", NULL},
    {"rule", "rule", TEXT, "when it is found, and how severe it is when", NULL},
    {"frames", "frames", TEXT, "the first that show it", NULL},
    {"more_frames", "more_frames", BOOLEAN, "there are others", NULL},
    {"wireshark_filter", "wireshark_filter", TEXT, "shows these frames", NULL},
    {"wireshark_filter_all", "wireshark_filter_all", TEXT, "shows all frames, with the plugin", NULL},
};

static const rs_sheet_column finding_streams[] = {
    {"finding", "of", TEXT, "that is about the stream", "findings"},
    {"stream", "item", INTEGER, "that it is about", "streams"},
};

static const rs_sheet_column finding_files[] = {
    {"finding", "of", TEXT, "that frames of the file show", "findings"},
    {"file", "item.file", TEXT, "its path, as in `files`", NULL},
    {"frames", "item.frames", TEXT, "their numbers in that file", NULL},
    {"wireshark_filter", "item.wireshark_filter", TEXT, "shows these frames when that file is opened", NULL},
};

static const rs_sheet_column events[] = {
    {"kind", "kind", TEXT, "of event", NULL},
    {"time_ns", "time_ns", INTEGER, "when", NULL},
    {"frame", "frame", INTEGER, "that shows it", NULL},
    {"point", "point", INTEGER, "where", "points"},
    {"stream", "stream", INTEGER, "that it belongs to", "streams"},
    {"space", "space", TEXT, "`requests` or `responses`", NULL},
    {"psn", "psn", INTEGER, "as on the wire", NULL},
    {"count", "count", INTEGER, "by kind", NULL},
    {"detail", "detail", TEXT, "by kind", NULL},
    {"evidence", "evidence", TEXT, "that a verdict rests on", NULL},
    {"related_frame", "related_frame", INTEGER, "by kind", NULL},
    {"duration_ns", "duration_ns", INTEGER, "by kind", NULL},
};

#define PAUSED(priority) \
    {"paused_" priority "_ns", "paused_ns." priority, INTEGER, "time in which priority " priority " was paused", NULL}

static const rs_sheet_column timeline[] = {
    {"of", "of", TEXT, "`total`, `point` or `stream`", NULL},
    {"id", "id", INTEGER, "of the point or stream; null for `total`", NULL},
    {"start_ns", "start_ns", INTEGER, "start of the bin", NULL},
    {"bin_ns", "bin_ns", INTEGER, "its width, the same in all rows", NULL},
    {"bits", "bits", INTEGER, "bits of IP payload of RoCE packets", NULL},
    {"data", "data", INTEGER, "data packets", NULL},
    {"ce", "ce", INTEGER, "of them, with CE", NULL},
    {"cnps", "cnps", INTEGER, "CNPs carried; of a stream, those that its data caused", NULL},
    {"retransmissions", "retransmissions", INTEGER, "requests sent again", NULL},
    PAUSED("0"), PAUSED("1"), PAUSED("2"), PAUSED("3"),
    PAUSED("4"), PAUSED("5"), PAUSED("6"), PAUSED("7"),
};

#define COLUMNS(table) table, G_N_ELEMENTS(table)

const rs_sheet rs_sheets[] = {
    {"captures", "The capture, in one row: what was read, and the counters of all streams, each packet once", NULL, NULL, COLUMNS(captures)},
    {"files", "Files of the capture", "captures", "capture.files", COLUMNS(files)},
    {"points", "Capture points: places where packets were captured", "captures", "capture.points", COLUMNS(points)},
    {"event_totals", "How many events of each kind there were", "captures", "event_totals", COLUMNS(event_totals)},
    {"streams", "Streams, worst first", NULL, NULL, COLUMNS(streams)},
    {"stream_opcodes", "Packets of each stream by opcode", "streams", "opcodes", COLUMNS(stream_opcodes)},
    {"ce_episodes", "Runs of CE marks in a stream, the first 64 of each", "streams", "congestion.episodes", COLUMNS(ce_episodes)},
    {"ce_segments", "Between which two points packets of a stream were marked", "streams", "congestion.marked_between.segments", COLUMNS(ce_segments)},
    {"cnp_bursts", "Bursts of CNPs about a stream's data, and what its sender made of them", "streams", "congestion.cnp_bursts", COLUMNS(cnp_bursts)},
    {"connections", "Streams that are the directions of one queue pair", NULL, NULL, COLUMNS(connections)},
    {"pauses", "Sources of pauses: each point, source MAC and priority", NULL, NULL, COLUMNS(pauses)},
    {"pause_intervals", "Pauses one by one, the first 256 of each source", "pauses", "intervals", COLUMNS(pause_intervals)},
    {"pause_causes", "Which source's pauses come of which", "pauses", "causes", COLUMNS(pause_causes)},
    {"pause_victims", "Streams that pauses stop, the 64 of each source that were held the longest", "pauses", "victims.streams", COLUMNS(pause_victims)},
    {"pause_bystanders", "Streams that pauses stop though they are not bound for the host that began", "pauses", "bystanders", COLUMNS(pause_bystanders)},
    {"pause_watchdogs", "What pause watchdogs would have done", "pauses", "watchdogs", COLUMNS(pause_watchdogs)},
    {"background", "Other traffic by protocol", NULL, NULL, COLUMNS(background)},
    {"findings", "Findings, worst first", NULL, NULL, COLUMNS(findings)},
    {"finding_streams", "Which streams a finding is about", "findings", "streams", COLUMNS(finding_streams)},
    {"finding_files", "Which frames of which files show a finding", "findings", "files", COLUMNS(finding_files)},
    {"events", "Events in the order of time, as many as `--events` says", NULL, NULL, COLUMNS(events)},
    {"timeline", "What happened when: a row for each bin of the capture, its points and its worst streams", NULL, NULL, COLUMNS(timeline)},
};

/* clang-format on */

const guint rs_n_sheets = G_N_ELEMENTS(rs_sheets);
