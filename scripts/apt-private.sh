#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Fetch packages of Debian suites that this machine does not use, without
# touching its own apt lists: a private apt root in the cache, with sources
# made from the machine's own apt configuration (its mirror, its keyring, its
# proxy settings), so that every download is checked by apt's signatures.
#
#   apt-private.sh source  SUITE PACKAGE DIR      unpacked-ready .dsc and tars
#   apt-private.sh binary  SUITE ARCH PACKAGE DIR .deb
#   apt-private.sh depends SUITE ARCH PACKAGE     names in its Depends, a line each
#
# A file that is already in DIR is left alone, so that everything works
# offline once it was fetched; apt resumes a partial download.
set -euo pipefail

die() { echo "apt-private: $*" >&2; exit 1; }

cache=${RVTRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/qemu-riscv-trace}
root=$cache/apt
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# The Debian mirror that this machine is configured for: asked of apt itself,
# which knows deb822 and one-line files, and skips security mirrors by Codename.
mirror() {
    apt-get indextargets --format '$(SITE)|$(ORIGIN)|$(CODENAME)|$(REPO_URI)' \
            'Created-By: Packages' 2>/dev/null |
    awk -F'|' '$2 == "Debian" && $3 !~ /security|updates|backports/ {
                   sub(/\/$/, "", $4); print $4; exit }'
}

# indextargets knows ORIGIN only after an update; before, read the sources.
mirror_from_sources() {
    { cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
          sed -nE 's/^deb(-src)? +(\[[^]]*\] +)?([^ ]+) .*/\3/p'
      cat /etc/apt/sources.list.d/*.sources 2>/dev/null |
          sed -nE 's/^URIs: *([^ ]+).*/\1/p'; } |
    grep -E '/debian/?$' | sed 's,/$,,' | head -n 1
}

setup() {
    command -v apt-get >/dev/null ||
        die "apt-get is needed to fetch sources; set QEMU_SRC=DIR to use your own QEMU 10.0 tree"
    [ -r "$keyring" ] || die "$keyring is missing: install debian-archive-keyring"
    mkdir -p "$root"/{lists/partial,archives/partial,etc/apt.conf.d,etc/preferences.d,etc/sources.list.d}
    local uri
    uri=$(mirror); [ -n "$uri" ] || uri=$(mirror_from_sources)
    [ -n "$uri" ] || die "no Debian mirror in the apt configuration of this machine"
    {
        echo "deb-src [signed-by=$keyring] $uri trixie main"
        for suite in trixie forky; do
            echo "deb [arch=riscv64 signed-by=$keyring] $uri $suite main"
        done
        echo "deb [arch=amd64 signed-by=$keyring] $uri bookworm-backports main"
        echo "deb [arch=all signed-by=$keyring] $uri bookworm-backports main"
    } > "$root/etc/sources.list.new"
    cmp -s "$root/etc/sources.list.new" "$root/etc/sources.list" ||
        { mv "$root/etc/sources.list.new" "$root/etc/sources.list"; rm -f "$root/updated"; }
    [ -e "$root/status" ] || : > "$root/status"
}

private() {
    local tool=$1; shift
    "$tool" -q \
        -o Dir::State="$root" -o Dir::State::lists="$root/lists" \
        -o Dir::State::status="$root/status" \
        -o Dir::Cache="$root" -o Dir::Cache::archives="$root/archives" \
        -o Dir::Etc::sourcelist="$root/etc/sources.list" \
        -o Dir::Etc::sourceparts="$root/etc/sources.list.d" \
        -o Dir::Etc::preferencesparts="$root/etc/preferences.d" \
        -o Dir::Etc::preferences=/dev/null \
        -o APT::Architecture=amd64 -o APT::Architectures::=riscv64 \
        -o APT::Sandbox::User=root -o Acquire::Retries=3 \
        -o Debug::NoLocking=1 "$@"
}

update() {
    [ -e "$root/updated" ] && [ -z "$(find "$root/updated" -mmin +720)" ] && return 0
    private apt-get update >&2 && touch "$root/updated"
}
