#!/bin/bash
# Lets the Envoy of this container finish what it has begun. Answers close their connections from now
# on. After $1 seconds no new connection is taken. Ends when no request is in flight, $2 seconds later
# at most. Source: Envoy's page "Draining".
readonly admin=/dev/tcp/127.0.0.1/${ADMIN_PORT:-9901}

ask() {
  {
    printf '%s HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 0\r\n\r\n' "$1" >&3
    timeout 2 cat <&3
  } 3<>"$admin"
}

# The admin interface always counts one request, which is this one.
has_requests() {
  ask 'GET /stats?filter=downstream_rq_active$' | grep '^http\.' | grep -v '^http\.admin\.' | grep -qv ': 0'
}

ask 'POST /healthcheck/fail' >/dev/null
sleep "$1"
ask 'POST /drain_listeners' >/dev/null
# Three times in a row, because there may be none for a moment between two requests of a client.
quiet=0 SECONDS=0
while ((quiet < 3 && SECONDS < $2)); do
  if has_requests; then quiet=0; else quiet=$((quiet + 1)); fi
  sleep 0.1
done
