#!/bin/bash
# Runs Envoy with these arguments as the first process of a container. Under SIGTERM Envoy itself ends
# at once and cuts every request. Here the requests in flight are finished first, for 20 s at most.
# drain-envoy.sh is on the PATH.
stopping=
end() {
  bash drain-envoy.sh 0 20
  kill "$envoy"
}
trap 'stopping=yes; trap "" TERM; end &' TERM

envoy "$@" &
envoy=$!
wait "$envoy"
status=$?
# The signal has ended that wait, and Envoy still runs.
if [[ $stopping ]]; then
  wait "$envoy"
  status=$?
fi
exit "$status"
