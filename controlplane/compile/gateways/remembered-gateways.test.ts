import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_CONTROLLER } from '#controlplane/gateway-api/gateway-options.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { gatewayGroup } from '#resources/words/gateway-group.ts';
import { nodeGroups } from '../all-node-groups.ts';
import { compile } from '../compile.ts';
import { Memo } from '../memo.ts';
import { EXT_AUTHZ, RATELIMIT_SERVICE, SDS } from '../node-groups.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { chancesOf } from '../testing/seeded-pick.ts';

const GROUP = 'gateway.networking.k8s.io/v1';
const object = (kind: string, name: string, spec: string, version = GROUP) =>
  `---\napiVersion: ${version}\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;
const own = (kind: string, name: string, spec: string) =>
  object(kind, name, spec, 'gateway.internal/v2');

const FILTER =
  '{type: ExtensionRef, extensionRef: {group: gateway.internal, kind: Filter, name: f}}';
const ASKS =
  '{type: ExternalAuth, externalAuth: {protocol: GRPC, grpc: {}, backendRef: {name: t, port: 80}}}';

const grpcRoute = (name: string, gateway: string) =>
  object(
    'GRPCRoute',
    name,
    `parentRefs: [{name: ${gateway}}], rules: [{backendRefs: [{name: s, port: 80}]}]`,
  );

/** Two ways to write each resource, and what is there instead of the second: nothing. */
const WRITTEN: readonly (readonly [one: string, other: string])[] = [
  ...['g', 'h'].map(
    (name, port) =>
      [1, 2].map(step =>
        object(
          'Gateway',
          name,
          `gatewayClassName: c, listeners: [{name: l, port: ${8000 + port * 10 + step}, protocol: HTTP}]`,
        ),
      ) as [string, string],
  ),
  ...['a', 'b', 'c', 'd'].map((name, index) => {
    const route = (filters: string, backend: string) =>
      object(
        'HTTPRoute',
        name,
        `parentRefs: [{name: ${index % 2 === 0 ? 'g' : 'h'}}], rules: [{matches: [{path: {value: /${name}}}], filters: [${filters}], backendRefs: [{name: ${backend}, port: 80}]}]`,
      );
    return [route(index < 2 ? FILTER : '', 's'), route(ASKS, 't')] as const;
  }),
  [grpcRoute('e', 'g'), grpcRoute('e', 'h')],
  [
    own('Filter', 'f', 'JWT: {validAlgorithms: [none]}'),
    own(
      'Filter',
      'f',
      'JWT: {validAlgorithms: [none], injectRequestHeaders: [{name: X-A, value: b}]}',
    ),
  ],
  [
    own('FilterPolicy', 'p', 'targetRefs: [{kind: Gateway, name: g}], filters: [{name: f}]'),
    own('FilterPolicy', 'p', 'targetRefs: [{kind: HTTPRoute, name: b}], filters: [{name: f}]'),
  ],
  [
    own(
      'RateLimit',
      'l',
      'targetRefs: [{kind: Gateway, name: h}], limits: [{rate: 1, unit: hour, injectRequestHeaders: [{name: X-L, value: b}]}]',
    ),
    own(
      'RateLimit',
      'l',
      'targetRefs: [{kind: HTTPRoute, name: a}], limits: [{rate: 1, unit: hour, injectRequestHeaders: [{name: X-L, value: b}]}]',
    ),
  ],
  [
    own('Module', 'ambassador', 'config: {xff_num_trusted_hops: 1}'),
    own('Module', 'ambassador', 'config: {server_name: us}'),
  ],
];

const options = {
  edge: { host: '127.0.0.1', port: 1 },
  sds: { host: '127.0.0.1', port: 2 },
  rateLimit: { host: '127.0.0.1', port: 3 },
  extAuthz: { host: '127.0.0.1', port: 4 },
  gateways: {
    controller: DEFAULT_CONTROLLER,
    sharedEdge: false,
    apiGroups: DEFAULT_PARSE_OPTIONS.apiGroups,
  },
};

const parsed = (yaml: string) => {
  const { resources } = resourceSetOf(yaml);
  const lists: readonly unknown[] = Object.values(resources);
  return lists.flat().filter(each => typeof each === 'object' && each !== null && 'id' in each);
};

test('after random edits, what is remembered compiles to the same as without memory', () => {
  const { chance, pick } = chancesOf(3);
  const base = parsed(object('GatewayClass', 'c', `controllerName: ${DEFAULT_CONTROLLER}`));
  const versions = WRITTEN.map(each => [[], ...each.map(parsed)]);
  const current = versions.map(([, first = []]) => first);
  const memos = new Map<string, Memo>();
  const shared = new Memo();
  let kept = 0;
  const last = new Map<string, unknown>();
  for (let run = 0; run < 60; run += 1) {
    const at = pick([...WRITTEN.keys()]);
    current[at] = pick(versions[at] ?? [[]]);
    const all = [...base, ...current.flat()] as Parameters<typeof toResourceSet>[0];
    const resources = toResourceSet(all, []);
    const groups = nodeGroups(resources, { ...options, shared });
    for (const group of [...groups, EXT_AUTHZ, RATELIMIT_SERVICE, SDS]) {
      // A group may be left out for some edits.
      if (chance(0.2)) continue;
      const memo = memos.get(group) ?? new Memo();
      memos.set(group, memo);
      const found = compile(resources, group, { ...options, shared, memo });
      if (last.get(group) === found) kept += 1;
      last.set(group, found);
      assert.deepEqual(found, compile(resources, group, options), `run ${run} ${group}`);
    }
  }
  assert.ok(kept > 10, `only ${kept} configurations were kept`);
});

test('a GRPCRoute changes nothing of another Gateway, nor of the edge', () => {
  const gateways = WRITTEN.slice(0, 2).map(([first]) => first);
  const base = object('GatewayClass', 'c', `controllerName: ${DEFAULT_CONTROLLER}`);
  const mapping = own('Mapping', 'm', 'prefix: /, service: s');
  const compiled = (group: string, ...more: readonly string[]) => {
    const { resources } = resourceSetOf([base, mapping, ...gateways, ...more].join(''));
    return compile(resources, group, options).resources;
  };
  const [g = '', h = ''] = ['g', 'h'].map(gateway => gatewayGroup('default', gateway));
  for (const group of [h, 'edge'])
    assert.deepEqual(compiled(group, grpcRoute('e', 'g')), compiled(group));
  assert.notDeepEqual(compiled(g, grpcRoute('e', 'g')), compiled(g));
});
