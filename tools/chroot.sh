# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# Chroots of Debian suites, for scripts that source this file.  They set
#
#   suite      as the mirror calls it
#   root       the chroot's directory
#   log        where what is done here is written to, by the caller
#   packages   those that are to be there, besides the essential ones
#   left_out   paths of packages that dpkg does not unpack
#   works      a command that tells whether a chroot from an earlier run is usable
#   variables  further ones, as NAME=VALUE, for commands inside
#
# and a function skip() that ends the script, saying why.  What say() says goes to file
# descriptor 3.
PATH=$PATH:/usr/sbin:/sbin # debootstrap is there, and not on everyone's PATH
variables=()

as_root=(env)
[ "$(id -u)" -eq 0 ] || as_root=(sudo -n env)
# What debootstrap mounts vanishes with it, even if it is killed.
unshared=()
"${as_root[@]}" unshare --mount true 2>/dev/null && unshared=(unshare --mount)

say() {
    echo "$suite: $*" >&3
}

inside() {
    "${as_root[@]}" chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
        LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        "${proxies[@]}" "${variables[@]}" "$@" </dev/null
}

# The mirror that this machine installs its own packages from.
find_mirror() {
    # shellcheck disable=SC1091
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    # shellcheck disable=SC2016
    apt-get indextargets --no-release-info \
        --format '$(COMPONENT) $(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
        awk -v own="$codename" '$1 == "main" &&
            ($2 == own || $2 ~ /^(stable|testing|unstable|sid)$/) { print $3; exit }'
}

# The proxies that apt was told of, or else the environment, as name=value.
find_proxies() {
    local name http_proxy=${http_proxy:-} https_proxy=${https_proxy:-}
    eval "$(apt-config shell http_proxy Acquire::http::Proxy \
        https_proxy Acquire::https::Proxy)"
    for name in http_proxy https_proxy no_proxy; do
        [ -z "${!name:-}" ] || echo "$name=${!name}"
    done
}

# apt there goes the way that apt goes here: proxies, certificates, how often to try.
configure_apt() {
    echo "deb $mirror $suite main" | write_inside /etc/apt/sources.list
    {
        apt-config dump | grep '^Acquire::' |
            grep -vE '^Acquire::(cdrom|Changelogs|CompressionTypes|IndexTargets)'
        # A mirror may be frozen, and its suites look expired.
        echo 'Acquire::Check-Valid-Until "false";'
    } | write_inside /etc/apt/apt.conf.d/90-this-machine
    copy_inside /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt \
        "$(apt-config dump --format '%v' Acquire::https::CaInfo)"
}

write_inside() {
    "${as_root[@]}" tee "$root$1" >/dev/null
}

copy_inside() {
    local file
    for file in "$@"; do
        [ ! -e "$file" ] || "${as_root[@]}" install -D -m 644 "$file" "$root$file"
    done
}

make_chroot() {
    say "makes a chroot"
    "${as_root[@]}" rm -rf --one-file-system "$root"
    "${as_root[@]}" mkdir -p "$root/etc/dpkg/dpkg.cfg.d"
    {
        echo force-unsafe-io
        printf 'path-exclude=%s\n' "${left_out[@]}"
    } | write_inside /etc/dpkg/dpkg.cfg.d/lean
    "${as_root[@]}" "${proxies[@]}" "${unshared[@]}" \
        debootstrap --variant=minbase --force-check-gpg "$suite" "$root" "$mirror" &&
        configure_apt && inside apt-get update --error-on=any && install_packages &&
        inside touch /complete
}

install_packages() {
    inside apt-get -qq -y -o Dpkg::Use-Pty=0 dist-upgrade &&
        inside apt-get -qq -y -o Dpkg::Use-Pty=0 --no-install-recommends install \
            "${packages[@]}" &&
        inside apt-get clean
}

# A chroot with the suite's packages as they are today.
set_up_chroot() {
    if [ -e "$root/complete" ] && inside "${works[@]}" >/dev/null; then
        say "updates its chroot"
        configure_apt
        inside apt-get update --error-on=any || {
            say "its mirror cannot be reached; taken as it was"
            return
        }
        install_packages && return
    fi
    command -v debootstrap >/dev/null || skip "no debootstrap"
    "${as_root[@]}" chroot / true || skip "only root may make a chroot"
    [ -n "$mirror" ] || skip "apt names no mirror of this system"
    make_chroot || skip "no chroot: $(sed -n 's/^E: //p' "$log" | tail -n 1); see $log"
}

mirror=$(find_mirror)
mapfile -t proxies < <(find_proxies)
