import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Parser, parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { fromLastGood, toLastGood } from './last-good.ts';

const TEXT = `
apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: users, namespace: shop }
spec: { prefix: /user, service: "https://users:8443", headers: { x-a: true }, labels: { gateway: [{ g: [remote_address] }] } }
---
apiVersion: v1
kind: Secret
metadata: { name: key }
stringData: { oauth2-client-secret: tell-nobody }
`;

test('what was kept is the same resource when it is read again, and a Secret is not kept', () => {
  const parsed = parseFile('a.yaml', TEXT, DEFAULT_PARSE_OPTIONS);
  assert.equal(parsed.resources.length, 2);
  const accepted = new Map(parsed.resources.map(resource => [resource.id, resource]));
  const stored = JSON.parse(JSON.stringify(toLastGood(accepted)));
  assert.doesNotMatch(JSON.stringify(stored), /tell-nobody|Secret/);
  const [users, ...others] = [...fromLastGood(stored, new Parser(DEFAULT_PARSE_OPTIONS)).values()];
  assert.deepEqual(others, []);
  const before = accepted.get('Mapping/shop/users');
  assert.equal(users?.id, 'Mapping/shop/users');
  assert.deepEqual(users?.source, { file: 'a.yaml', line: 2 });
  assert.equal(users?.hash, before?.hash);
  assert.deepEqual(users?.spec, before?.spec);
});

test('what was kept and is not right, or no resource, is left out', () => {
  const good = { apiVersion: 'gateway.internal/v2', kind: 'Mapping', metadata: { name: 'a' } };
  const right = { ...good, spec: { prefix: '/a', service: 'a' } };
  const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`) as unknown;
  const documents = [
    { ...right, spec: { prefix: deep } },
    null,
    'text',
    [right],
    {},
    good,
    { ...right, kind: 'Deployment' },
    right,
  ];
  const kept = documents.map(document => ({ file: 'a.yaml', document }));
  assert.deepEqual(
    [...fromLastGood(kept, new Parser(DEFAULT_PARSE_OPTIONS)).keys()],
    ['Mapping/default/a'],
  );
});

test('a RateLimit whose pattern has a key twice is the same when it is read again', () => {
  const text = `
apiVersion: gateway.internal/v2
kind: RateLimit
metadata: { name: a }
spec: { domain: d, limits: [{ pattern: [{ k: a, k: b }], rate: 1, unit: hour }] }
`;
  const [before] = parseFile('a.yaml', text, DEFAULT_PARSE_OPTIONS).resources;
  assert.ok(before !== undefined);
  const stored = JSON.parse(JSON.stringify(toLastGood(new Map([[before.id, before]]))));
  assert.equal(
    fromLastGood(stored, new Parser(DEFAULT_PARSE_OPTIONS)).get(before.id)?.hash,
    before.hash,
  );
});
