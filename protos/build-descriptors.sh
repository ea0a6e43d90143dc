#!/bin/sh
# Writes protos/descriptors.pb, the FileDescriptorSet behind gRPC reflection: the services that we serve and all that they
# import, without source info. Wants Python 3 with venv and pip, and the network; descriptors.test.ts says when to run it.
set -eu
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work"
"$work/bin/pip" install --quiet grpcio-tools==1.85.1

deps=node_modules/@grpc/grpc-js-xds/deps
"$work/bin/python" -m grpc_tools.protoc \
  -Iprotos -I$deps/envoy-api -I$deps/xds -I$deps/googleapis -I$deps/protoc-gen-validate \
  -Inode_modules/grpc-health-check/proto \
  --include_imports --descriptor_set_out=protos/descriptors.pb \
  envoy/service/discovery/v3/ads.proto \
  envoy/service/listener/v3/lds.proto \
  envoy/service/route/v3/rds.proto \
  envoy/service/cluster/v3/cds.proto \
  envoy/service/endpoint/v3/eds.proto \
  envoy/service/secret/v3/sds.proto \
  envoy/service/auth/v3/external_auth.proto \
  envoy/service/ratelimit/v3/rls.proto \
  envoy/config/endpoint/v3/endpoint.proto \
  health/v1/health.proto \
  grpc/reflection/v1/reflection.proto \
  grpc/reflection/v1alpha/reflection.proto
