import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import { gatewayGroup } from '#resources/words/gateway-group.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { callersOf, hopService, isProxyOf } from './hop.ts';
import { hopClientTls } from './hop-tls.ts';

const HOP = { isDefault: true, trustDomain: 'a.test' };

function resourcesOf(spec: string) {
  return resourceSetOf(
    `apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: m}\nspec: {prefix: /, ${spec}}\n`,
  ).resources;
}

function specOf(spec: string): MappingSpec {
  const [mapping] = resourcesOf(spec).mappings;
  assert.ok(mapping !== undefined);
  return mapping.spec;
}

for (const [spec, isDefault, service] of [
  ['service: user-service, resolver: sds', true, 'user-service'],
  ['service: user-service, resolver: sds', false, undefined],
  ['service: "user-service.shop:9000", resolver: sds', true, 'user-service'],
  ['service: user-service, resolver: sds, hop_tls: false', true, undefined],
  ['service: user-service', true, undefined],
  ['service: user-service, hop_tls: true', false, 'user-service'],
  ['service: "https://user-service", resolver: sds', true, undefined],
] as const) {
  const otherwise = isDefault ? 'on' : 'off';
  test(`{${spec}} with hop TLS ${otherwise} goes ${service === undefined ? 'in plain text or as https says' : `to the proxies of ${service}`}`, () => {
    assert.equal(hopService(specOf(spec), { ...HOP, isDefault }), service);
  });
}

for (const [caller, group, callers] of [
  ['service: user-service', 'user-service', ['edge', 'orders']],
  ['service: user-service', 'user-service-12', ['edge', 'orders']],
  ['service: user-service, host_redirect: true', 'user-service', ['edge']],
  ['service: user', 'user-service-1', ['edge']],
  ['service: user-service', 'user-service-1x', ['edge']],
  ['service: user-service', 'user-service1', ['edge']],
  ['service: user-service, hop_tls: false', 'user-service', ['edge']],
  ['service: other', 'user-service', ['edge']],
] as const) {
  test(`${callers.join(' and ')} may connect to ${group}, where orders has a Mapping to {${caller}}`, () => {
    const resources = resourcesOf(`${caller}, resolver: sds, node_group: orders`);
    assert.deepEqual(callersOf(resources, group, HOP), callers);
  });
}

for (const [group, isIts] of [
  ['shop-s95', true],
  ['shop-s95-1', true],
  ['shop-s95-20261127093012345', true],
  // The hash of this one has no letter.
  [gatewayGroup('shop', 's95'), false],
] as const) {
  test(`a proxy of ${group} is ${isIts ? 'one' : 'none'} of the service shop-s95`, () => {
    assert.equal(isProxyOf(group, 'shop-s95'), isIts);
    const tls = JSON.stringify(hopClientTls('a.test', { service: 'shop-s95' }));
    const regex = JSON.parse(/"regex":(".*?[^\\]")/.exec(tls)?.[1] ?? '""');
    assert.equal(new RegExp(`^(?:${regex})$`).test(`spiffe://a.test/group/${group}`), isIts);
  });
}
