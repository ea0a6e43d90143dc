#!/bin/sh
# Makes the root of the image in the folder $2: the Node.js of the image in the folder $1, the
# packages of Debian that it loads, with the records that scanners and lawyers look for, and the
# folders that the services write to.
set -eu
from=$1 to=$2
records=$from/var/lib/dpkg

mkdir -p "$to/etc" "$to/var/lib/dpkg/status.d"
for package in base-files libc6 libgcc-s1 libstdc++6; do
  # Names of packages with several architectures have theirs in the name of the list.
  list=$(ls "$records/info/$package.list" "$records/info/$package":*.list 2>/dev/null | head -n 1)
  case $package in
    base-files) grep -E '^/usr/(lib/os-release|share/doc/base-files/copyright)$' "$list" ;;
    # Character sets are in Node.js itself.
    *) grep -v -e /gconv -e /locale -e /share/lintian "$list" ;;
  esac | while read -r path; do
    if [ ! -d "$from$path" ]; then echo ".$path"; fi
  done | (cd "$from" && xargs cp -a --parents -t "$to")
  sed -n "/^Package: $package\$/,/^\$/p" "$records/status" > "$to/var/lib/dpkg/status.d/$package"
done
install -D "$from/usr/local/bin/node" "$to/usr/local/bin/node"

ln -s ../usr/lib/os-release "$to/etc/os-release"
printf '%s\n' root:x:0:0:root:/:/none node:x:1000:1000:node:/gateway:/none > "$to/etc/passwd"
printf '%s\n' root:x:0: node:x:1000: > "$to/etc/group"
echo 'hosts: files dns' > "$to/etc/nsswitch.conf"
install -d -m 1777 "$to/tmp"

# A new volume takes over the owner of the folder that it is mounted on.
install -d -o 1000 -g 1000 -m 0700 "$to/var/lib/gateway"
install -d -o 1000 -g 1000 "$to/var/lib/database-secret"
for name in controlplane sds ext-authz ratelimit-service edge user-service; do
  install -d -o 1000 -g 1000 -m 0700 "$to/run/identities/$name"
done
