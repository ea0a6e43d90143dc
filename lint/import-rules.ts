/**
 * Who may import whom: the one table behind Biome's import rules (`node lint/write-biome.ts` writes biome.json from it).
 * `ours` are the aliases (folders) that a folder may reach, `packages` the npm packages, `node` whether node:* is allowed.
 * The first row whose folder a file is in holds; tests may import anything.
 */
export type ImportRow = {
  readonly folder: string;
  readonly ours: readonly string[];
  readonly packages: readonly string[];
  readonly node: boolean;
};

const GRPC = '@grpc/grpc-js';

export const IMPORT_RULES: readonly ImportRow[] = [
  {
    folder: 'controlplane/compile',
    ours: ['certificates', 'resources', 'protos'],
    packages: [],
    node: false,
  },
  {
    folder: 'controlplane/explain',
    ours: ['controlplane', 'ext-authz', 'protos', 'ratelimit-service', 'resources'],
    packages: ['re2js'],
    node: false,
  },
  {
    folder: 'controlplane',
    ours: ['certificates', 'kubernetes', 'process', 'protos', 'resources', 'xds'],
    packages: ['express', 'pino', 'prom-client', GRPC],
    node: true,
  },
  { folder: 'protos', ours: [], packages: ['protobufjs', GRPC, 'grpc-health-check'], node: true },
  {
    folder: 'resources/kubernetes',
    ours: ['kubernetes', 'resources'],
    packages: ['yaml', 'zod'],
    node: true,
  },
  { folder: 'resources', ours: [], packages: ['yaml', 're2js', 'tldts', 'zod'], node: true },
  { folder: 'xds', ours: ['protos'], packages: [GRPC], node: true },
  {
    folder: 'sds',
    ours: ['certificates', 'files', 'kubernetes', 'process', 'protos', 'xds'],
    packages: ['express', 'pino', 'prom-client', 'yaml', GRPC],
    node: true,
  },
  {
    folder: 'process',
    ours: ['certificates', 'protos', 'xds'],
    packages: ['express', 'pino', 'prom-client', GRPC],
    node: true,
  },
  { folder: 'files', ours: [], packages: [], node: true },
  { folder: 'kubernetes', ours: [], packages: ['@kubernetes/client-node'], node: true },
  { folder: 'certificates', ours: ['files'], packages: ['@peculiar/x509'], node: true },
  { folder: 'redis', ours: ['certificates'], packages: ['@redis/client'], node: true },
  {
    folder: 'ratelimit-service',
    ours: ['certificates', 'process', 'protos', 'resources', 'xds', 'redis'],
    packages: ['express', 'pino', 'prom-client', '@redis/client', GRPC],
    node: true,
  },
  {
    folder: 'ext-authz',
    ours: ['certificates', 'files', 'process', 'protos', 'resources', 'xds', 'redis'],
    packages: [
      'express',
      'http-cache-semantics',
      'jose',
      'openid-client',
      'pino',
      'prom-client',
      'undici',
      '@redis/client',
      GRPC,
    ],
    node: true,
  },
  {
    folder: 'identity-provider',
    ours: ['files', 'process', 'protos'],
    packages: ['jose', 'oidc-provider', 'pino'],
    node: true,
  },
  { folder: 'user-service', ours: ['files'], packages: ['express', 'pg', 'pino'], node: true },
  { folder: 'envoy', ours: ['certificates', 'protos'], packages: ['yaml'], node: true },
  {
    folder: 'launcher',
    ours: ['envoy', 'files', 'process', 'protos'],
    packages: ['pino', 'yaml'],
    node: true,
  },
];

/** Every folder of ours that has an alias in package.json. */
export const FOLDERS = [
  'protos',
  'resources',
  'xds',
  'envoy',
  'launcher',
  'controlplane',
  'process',
  'redis',
  'ratelimit-service',
  'ext-authz',
  'kubernetes',
  'certificates',
  'files',
  'identity-provider',
] as const;
