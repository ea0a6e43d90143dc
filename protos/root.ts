import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';
import { NEWER_FIELDS } from './envoy-difference.ts';
import { messageTypes } from './message-types.ts';
import { keptRoot, keyOf } from './parsed-protos.ts';

const DEPS = join(packageFolder('@grpc/grpc-js-xds'), 'deps');
const INCLUDE = [
  import.meta.dirname,
  join(packageFolder('grpc-health-check'), 'proto'),
  ...['envoy-api', 'xds', 'googleapis', 'protoc-gen-validate'].map(dep => join(DEPS, dep)),
  packageFolder('protobufjs'),
];

/** Every message and service that we encode, decode or serve is reachable from these files. */
const PROTO_FILES = [
  'envoy/service/discovery/v3/ads.proto',
  'envoy/service/listener/v3/lds.proto',
  'envoy/service/route/v3/rds.proto',
  'envoy/service/cluster/v3/cds.proto',
  'envoy/service/endpoint/v3/eds.proto',
  'envoy/service/secret/v3/sds.proto',
  'envoy/service/auth/v3/external_auth.proto',
  'envoy/service/ratelimit/v3/rls.proto',
  'envoy/config/bootstrap/v3/bootstrap.proto',
  'envoy/extensions/access_loggers/file/v3/file.proto',
  'envoy/extensions/access_loggers/filters/cel/v3/cel.proto',
  'envoy/extensions/access_loggers/stream/v3/stream.proto',
  'envoy/extensions/filters/http/cors/v3/cors.proto',
  'envoy/extensions/filters/http/ext_authz/v3/ext_authz.proto',
  'envoy/extensions/filters/http/header_mutation/v3/header_mutation.proto',
  'envoy/extensions/filters/http/lua/v3/lua.proto',
  'envoy/extensions/filters/http/header_to_metadata/v3/header_to_metadata.proto',
  'envoy/extensions/filters/http/health_check/v3/health_check.proto',
  'envoy/extensions/filters/http/ratelimit/v3/rate_limit.proto',
  'envoy/extensions/filters/http/rbac/v3/rbac.proto',
  'envoy/extensions/filters/http/router/v3/router.proto',
  'envoy/extensions/filters/http/upstream_codec/v3/upstream_codec.proto',
  'envoy/extensions/filters/listener/http_inspector/v3/http_inspector.proto',
  'envoy/extensions/filters/listener/tls_inspector/v3/tls_inspector.proto',
  'envoy/extensions/filters/network/direct_response/v3/config.proto',
  'envoy/extensions/filters/network/connection_limit/v3/connection_limit.proto',
  'envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.proto',
  'envoy/extensions/http/early_header_mutation/header_mutation/v3/header_mutation.proto',
  'envoy/extensions/resource_monitors/downstream_connections/v3/downstream_connections.proto',
  'envoy/extensions/resource_monitors/fixed_heap/v3/fixed_heap.proto',
  'envoy/extensions/retry/host/previous_hosts/v3/previous_hosts.proto',
  'envoy/extensions/transport_sockets/tls/v3/tls.proto',
  'envoy/extensions/upstreams/http/v3/http_protocol_options.proto',
  'grpc/reflection/v1/reflection.proto',
  'grpc/reflection/v1alpha/reflection.proto',
  'gateway/config/v1/filter.proto',
  'gateway/config/v1/rate_limit.proto',
  'gateway/config/v1/report.proto',
  'gateway/config/v1/served_secret.proto',
  'health/v1/health.proto',
] as const;

/** Beside what Node keeps of what it compiled. */
const CACHE = join(packageFolder('protobufjs'), '..', '.cache', 'gateway');

/**
 * The Envoy API as protobufjs reflection, loaded once per process from the .proto files of
 * `@grpc/grpc-js-xds`. Field names keep their snake_case, so that code, golden files and Envoy's
 * pages are searched with one word.
 */
export const root = loadRoot();

function loadRoot(): protobuf.Root {
  const loaded = keptRoot(CACHE, keyOf(sources()), parse);
  loaded.resolveAll();
  for (const { type, name, number, fieldType } of NEWER_FIELDS) {
    loaded.lookupType(type).add(new protobuf.Field(name, number, fieldType));
    loaded.lookupType(type).fields[name]?.resolve();
  }
  return loaded;
}

/** Reads the files themselves. */
export function parse(): protobuf.Root {
  const parsed = new protobuf.Root();
  parsed.resolvePath = (_origin, target) => find(target);
  return parsed.loadSync([...PROTO_FILES], { keepCase: true });
}

function find(target: string): string | null {
  return INCLUDE.map(dir => join(dir, target)).find(path => existsSync(path)) ?? null;
}

/**
 * All that decides what is kept: which files, our own ones, the versions of the packages that bring
 * the others, and how it is kept.
 */
function sources(): readonly string[] {
  const own = PROTO_FILES.map(file => join(import.meta.dirname, file)).filter(file =>
    existsSync(file),
  );
  const packages = ['protobufjs', '@grpc/grpc-js-xds', 'grpc-health-check'].map(packageFolder);
  const keeper = join(import.meta.dirname, 'parsed-protos.ts');
  const files = [...own, keeper, ...packages.map(folder => join(folder, 'package.json'))];
  return [...PROTO_FILES, ...files.map(file => readFileSync(file, 'utf8'))];
}

function packageFolder(name: string): string {
  return dirname(fileURLToPath(import.meta.resolve(`${name}/package.json`)));
}

const types: ReadonlyMap<string, protobuf.Type> = new Map(
  messageTypes(root).map(type => [type.fullName.slice(1), type]),
);

/**
 * The message type of that full name, such as `envoy.config.route.v3.Route`; undefined when there
 * is none.
 */
export function findType(fullName: string): protobuf.Type | undefined {
  return types.get(fullName);
}

/** The same of a name that must exist: throws when it does not. */
export function messageType(fullName: string): protobuf.Type {
  const type = findType(fullName);
  if (type === undefined) throw new Error(`no message type ${fullName}`);
  return type;
}
