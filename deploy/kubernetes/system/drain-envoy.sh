#!/bin/bash
# Lets the Envoy of this container finish what it has begun. Answers close their connections from now
# on. After $1 seconds no new connection is taken. Ends when no request is in flight and no connection
# without HTTP is open, $2 seconds later at most. Source: Envoy's page "Draining".
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

# A connection that is not one of HTTP is one that a route of TCP or TLS serves. Those of the admin
# interface and of Prometheus are counted on both sides.
has_streams() {
  local name value open=0
  while IFS=': ' read -r name value; do
    case $name in
      *.worker_* | *.main_thread.*) ;;
      listener.*) open=$((open + ${value%%[^0-9]*})) ;;
      http.*) open=$((open - ${value%%[^0-9]*})) ;;
    esac
  done < <(ask 'GET /stats?filter=downstream_cx_active$')
  ((open > 0))
}

ask 'POST /healthcheck/fail' >/dev/null
sleep "$1"
ask 'POST /drain_listeners' >/dev/null
# Three times in a row, because there may be none for a moment between two requests of a client.
quiet=0 SECONDS=0
while ((quiet < 3 && SECONDS < $2)); do
  if has_requests || has_streams; then quiet=0; else quiet=$((quiet + 1)); fi
  sleep 0.1
done
