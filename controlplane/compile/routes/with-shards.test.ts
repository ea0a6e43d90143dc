import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LISTENER, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import { compile } from '../compile.ts';
import type { Compiled } from '../compiled.ts';
import { GOLDEN_OPTIONS } from '../testing/golden-cases.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { withShards } from './with-shards.ts';

function mappings(count: number, fields = ''): string {
  return Array.from(
    { length: count },
    (_, index) =>
      `---\napiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: m${index}}\nspec: {prefix: /svc-${index}/, service: s${fields}}\n`,
  ).join('');
}

function compiled(yaml: string): Compiled {
  return compile(resourceSetOf(yaml).resources, 'edge', GOLDEN_OPTIONS);
}

function tableOf({ resources }: Compiled) {
  const [table] = resources.get(ROUTE_CONFIGURATION) ?? [];
  assert.ok(table);
  const hosts = table.json.virtual_hosts as unknown as readonly {
    readonly domains: readonly string[];
    readonly routes: readonly unknown[];
  }[];
  return { name: table.name, json: table.json, hosts };
}

test('short lists stay as they are', () => {
  const list = compiled(mappings(20));
  assert.equal(withShards(list), list);
});

test('a long list becomes short ones, under a name of its own that the listener asks for', () => {
  const cut = withShards(compiled(mappings(1_000)));
  const { hosts, json, name } = tableOf(cut);
  assert.match(name, /^edge~[0-9a-f]{8}$/);
  assert.equal(json.name, name);
  assert.ok(hosts.length > 16 && hosts.every(({ routes }) => routes.length <= 64));
  assert.deepEqual(json.ignore_port_in_host_matching, undefined);
  const listeners = JSON.stringify(cut.resources.get(LISTENER));
  assert.ok(listeners.includes(`"route_config_name":"${name}"`));
  assert.ok(!listeners.includes('"route_config_name":"edge"'));
});

test('services and the service that runs Filters do not see the header', () => {
  const cut = withShards(compiled(mappings(100)));
  const { request_headers_to_remove } = tableOf(cut).json;
  assert.ok(JSON.stringify(request_headers_to_remove).includes('x-gateway-shard'));
  assert.match(
    JSON.stringify(cut.resources.get(LISTENER)),
    /"patterns":\[\{"exact":"x-gateway-shard"\},\{"exact":"x-gateway-shard-value"\}\]/,
  );
});

test('another Mapping changes the shard that it is in, and nothing else', () => {
  const before = tableOf(withShards(compiled(mappings(1_000))));
  const after = tableOf(
    withShards(compiled(mappings(1_000).replace('/svc-500/, service: s', '/svc-500/, service: t'))),
  );
  assert.equal(after.name, before.name);
  const known = new Set(before.hosts.map(host => JSON.stringify(host)));
  assert.equal(after.hosts.filter(host => !known.has(JSON.stringify(host))).length, 1);
});

test('another Mapping for a value of a header changes the list of this value, and nothing else', () => {
  const tenants = (service: string) =>
    Array.from({ length: 1_000 }, (_, index) =>
      mappings(1, `, headers: {x-tenant: t${index}}`)
        .replace('name: m0', `name: m${index}`)
        .replace('service: s', `service: ${index === 500 ? service : 's'}`),
    ).join('');
  const before = tableOf(withShards(compiled(tenants('s'))));
  const after = tableOf(withShards(compiled(tenants('t'))));
  assert.equal(after.name, before.name);
  const known = new Set(before.hosts.map(host => JSON.stringify(host)));
  const changed = after.hosts.filter(host => !known.has(JSON.stringify(host)));
  assert.deepEqual(
    changed.map(({ domains }) => domains),
    [['|~0|t500|']],
  );
});

test('a table whose route is chosen again behind filters is not cut by a header that they may set', () => {
  const list = compiled(
    Array.from({ length: 100 }, (_, index) =>
      mappings(1, `, headers: {x-tenant: t${index}}`).replace('name: m0', `name: m${index}`),
    ).join(''),
  );
  const [table] = list.resources.get(ROUTE_CONFIGURATION) ?? [];
  assert.ok(table);
  const json = { ...table.json, request_headers_to_remove: ['x-gateway-passed'] };
  const again = new Map([...list.resources, [ROUTE_CONFIGURATION, [{ ...table, json }]]]);
  const { hosts } = tableOf(withShards({ ...list, resources: again }));
  assert.ok(hosts.length < 10 && hosts.every(({ domains }) => !domains[0]?.startsWith('|~')));
});

test('another Mapping for a host of its own does not change the listener, when all Mappings have one', () => {
  const some = mappings(100, ', host: a.test');
  const other = mappings(1, ', host: b.test').replace('name: m0', 'name: other');
  const before = withShards(compiled(some));
  const after = withShards(compiled(some + other));
  assert.notEqual(tableOf(before).name, 'edge');
  assert.equal(tableOf(after).name, tableOf(before).name);
  assert.deepEqual(after.resources.get(LISTENER), before.resources.get(LISTENER));
});

test('a table of many short lists is cut too, each host for itself', () => {
  const hosts = Array.from({ length: 1_100 }, (_, index) =>
    mappings(1, `, host: h${index}.test`).replace('name: m0', `name: h${index}`),
  );
  const { hosts: shards, name } = tableOf(withShards(compiled(hosts.join(''))));
  assert.notEqual(name, 'edge');
  assert.ok(shards.some(({ domains }) => domains.join() === 'h7.test|*'));
});

test('a table whose hosts Envoy could not tell apart stays a list', () => {
  const hosts = Array.from({ length: 400 }, (_, index) =>
    mappings(1, `, host: a-long-name-of-host-${index}.example.com`).replace(
      'name: m0',
      `name: h${index}`,
    ),
  );
  const list = compiled(mappings(70) + hosts.join(''));
  assert.equal(withShards(list), list);
});
