import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CLASS, gateway, type Meta, object, service } from './testing/documents.ts';
import { served } from './testing/served.ts';
import { statusLines } from './testing/told.ts';

const SITE = [
  CLASS,
  service('web'),
  gateway(
    'g',
    'listeners: [{name: a, port: 80, protocol: HTTP}, {name: b, port: 81, protocol: HTTP}, {name: bytes, port: 82, protocol: TCP}, {name: tls, port: 83, protocol: TLS, tls: {mode: Passthrough}}]',
  ),
].join('');
const TO_WEB = 'backendRefs: [{name: web, port: 80}]';
const AT_A = 'parentRefs: [{name: g, sectionName: a}]';

const route = (kind: string, name: string, fields: string, created: number, more: Meta = {}) =>
  object(kind, name, fields, { created, ...more });

const warnings = (text: string) =>
  served(SITE + text).problems.map(
    ({ field, kind, message, name, severity }) =>
      `${severity} ${kind} ${name} ${field}: ${message}`,
  );

describe('a route that an older one leaves nothing', () => {
  const older = (what: string) => `the ${what}, which is older or first by name, gets`;

  test('of HTTP is told for each match, though both are accepted', () => {
    const rules = (paths: string) => `rules: [{matches: [${paths}], ${TO_WEB}}]`;
    const text = [
      route(
        'HTTPRoute',
        'z',
        `${AT_A}, hostnames: [x.test, y.test], ${rules('{path: {value: /p}}')}`,
        1,
      ),
      route(
        'HTTPRoute',
        'k',
        `${AT_A}, hostnames: [y.test, x.test], ${rules('{path: {value: /q}}, {path: {value: /p}}')}`,
        2,
      ),
    ].join('');
    assert.deepEqual(warnings(text), [
      `warning HTTPRoute k spec.rules[0].matches[1]: ${older('HTTPRoute infra/z')} the requests of the same match for y.test on the listener a of the Gateway infra/g`,
    ]);
    assert.deepEqual(statusLines(served(SITE + text), 'HTTPRoute/infra/k'), [
      'Gateway g: Accepted ResolvedRefs',
    ]);
  });

  test('is told of a prefix that differs in a slash at its end alone', () => {
    const rule = (path: string) => `rules: [{matches: [{path: {value: ${path}}}], ${TO_WEB}}]`;
    const text =
      route('HTTPRoute', 'a', `${AT_A}, ${rule('/p')}`, 1) +
      route('HTTPRoute', 'b', `${AT_A}, ${rule('/p/')}`, 2);
    assert.deepEqual(warnings(text), [
      `warning HTTPRoute b spec.rules[0].matches[0]: ${older('HTTPRoute infra/a')} the requests of the same match for all hosts on the listener a of the Gateway infra/g`,
    ]);
  });

  test('is not told where host, match or listener differ', () => {
    const rule = (match: string) => `rules: [{matches: [${match}], ${TO_WEB}}]`;
    const text = [
      route('HTTPRoute', 'a', `${AT_A}, hostnames: [x.test], ${rule('{path: {value: /p}}')}`, 1),
      route('HTTPRoute', 'b', `${AT_A}, hostnames: ["*.test"], ${rule('{path: {value: /p}}')}`, 2),
      route(
        'HTTPRoute',
        'c',
        `${AT_A}, hostnames: [x.test], ${rule('{method: GET, path: {value: /p}}')}`,
        3,
      ),
      route(
        'HTTPRoute',
        'd',
        `parentRefs: [{name: g, sectionName: b}], hostnames: [x.test], ${rule('{path: {value: /p}}')}`,
        4,
      ),
    ].join('');
    assert.deepEqual(warnings(text), []);
  });

  test('is told where an earlier rule of the same route has the match, but not within a rule', () => {
    const rule = `{matches: [{path: {value: /p}}, {path: {value: /p}}], ${TO_WEB}}`;
    const text = route('HTTPRoute', 'a', `${AT_A}, rules: [${rule}, ${rule}]`, 1);
    assert.deepEqual(
      warnings(text),
      [0, 1].map(
        at =>
          `warning HTTPRoute a spec.rules[1].matches[${at}]: spec.rules[0] gets the requests of the same match for all hosts on the listener a of the Gateway infra/g`,
      ),
    );
  });

  test('of gRPC without a match is told too', () => {
    const grpc = (name: string, created: number) =>
      route('GRPCRoute', name, `${AT_A}, rules: [{${TO_WEB}}]`, created);
    assert.deepEqual(warnings(grpc('a', 1) + grpc('b', 2)), [
      `warning GRPCRoute b spec.rules[0]: ${older('GRPCRoute infra/a')} the requests of the same match for all hosts on the listener a of the Gateway infra/g`,
    ]);
  });

  test('of TCP, and of TLS for the same host, is told', () => {
    const bytes = (kind: string, name: string, section: string, created: number, hosts = '') =>
      route(
        kind,
        name,
        `parentRefs: [{name: g, sectionName: ${section}}], ${hosts} rules: [{${TO_WEB}}]`,
        created,
      );
    const text = [
      ...[bytes('TCPRoute', 'a', 'bytes', 2), bytes('TCPRoute', 'b', 'bytes', 1)],
      ...[bytes('TLSRoute', 'c', 'tls', 1, 'hostnames: [x.test],')],
      ...[bytes('TLSRoute', 'd', 'tls', 2, 'hostnames: [x.test, y.test],')],
    ].join('');
    assert.deepEqual(warnings(text), [
      `warning TCPRoute a spec.parentRefs: ${older('TCPRoute infra/b')} all that comes on the listener bytes of the Gateway infra/g`,
      `warning TLSRoute d spec.hostnames: ${older('TLSRoute infra/c')} the connections for x.test on the listener tls of the Gateway infra/g`,
    ]);
  });
});
