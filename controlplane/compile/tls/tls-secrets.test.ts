import assert from 'node:assert/strict';
import { test } from 'node:test';
import { candidates } from '#controlplane/rollout/candidates.ts';
import { type TestAuthority, testAuthority } from '#grpc/testing/test-authority.ts';
import { collect } from '#resources/parse/collect.ts';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { checkTlsSecrets } from './tls-secrets.ts';

type Pair = Awaited<ReturnType<TestAuthority['issue']>>;

const NAME = 'shop.example.com';
const AUTHORITY = await testAuthority();
const PAIR = await AUTHORITY.issue(NAME);
const OTHER = await AUTHORITY.issue(NAME);

const base64 = (text: string) => Buffer.from(text).toString('base64');
const data = (fields: Readonly<Record<string, string>>) =>
  Object.entries(fields)
    .map(([key, value]) => `${key}: ${base64(value)}`)
    .join(', ');
const secret = (fields: Readonly<Record<string, string>>) =>
  `apiVersion: v1\nkind: Secret\nmetadata: {name: shop}\ndata: {${data(fields)}}\n---\n`;
const pair = ({ certificate, key }: Pick<Pair, 'certificate' | 'key'>) =>
  secret({ 'tls.crt': certificate, 'tls.key': key });
const host = (spec: string) =>
  `apiVersion: gateway.internal/v2\nkind: Host\nmetadata: {name: shop}\nspec: {${spec}}\n`;
const context = (spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: TLSContext\nmetadata: {name: shop}\nspec: {${spec}}\n`;

const mapping = (spec: string) =>
  `apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: shop}\nspec: {prefix: /, service: shop, ${spec}}\n`;

const read = (yaml: string) => collect([parseFile('in.yaml', yaml, DEFAULT_PARSE_OPTIONS)]);

function problemsOf(yaml: string, now = Date.now()): readonly string[] {
  const { problems, read: kept } = checkTlsSecrets(read(yaml), read(yaml).resources.values(), now);
  assert.equal(
    kept.rejected.has('Secret/default/shop'),
    problems.some(({ severity }) => severity === 'error'),
  );
  return problems.map(
    ({ kind, line, message, severity }) => `${line} ${severity} ${kind}: ${message}`,
  );
}

const HOST = host(`hostname: ${NAME}, tlsSecret: shop`);

test('a pair that fits is served, and says nothing', () => {
  assert.deepEqual(problemsOf(pair(PAIR) + HOST), []);
  assert.deepEqual(problemsOf(pair(PAIR) + host('hostname: "*", tlsSecret: shop')), []);
});

for (const [what, yaml, problem] of [
  [
    'whose key does not fit',
    pair({ ...PAIR, key: OTHER.key }) + HOST,
    /^1 error Secret: the private key does not fit/,
  ],
  [
    'without a key',
    secret({ 'tls.crt': PAIR.certificate }) + HOST,
    /^1 error Secret: it has no key `tls\.key`/,
  ],
  [
    'without a certificate',
    secret({ 'tls.key': PAIR.key }) + HOST,
    /^1 error Secret: it has no key `tls\.crt`/,
  ],
  [
    'that is malformed',
    pair({ ...PAIR, certificate: PAIR.certificate.slice(0, 90) }) + HOST,
    /^1 error Secret: the certificate chain cannot be used/,
  ],
  [
    'for another host',
    pair(PAIR) + host('hostname: b.example.com, tlsSecret: shop'),
    /^1 warning Secret: the certificate is not for b\.example\.com, .*DNS:shop\.example\.com \(used by Host\/default\/shop\)$/,
  ],
  [
    'for one host, where all below are wanted',
    pair(PAIR) + host('hostname: "*.example.com", tlsSecret: shop'),
    /^1 warning Secret: the certificate is not for \*\.example\.com/,
  ],
  [
    'that a TLSContext names',
    pair({ ...PAIR, key: OTHER.key }) +
      host('hostname: a.example.com, tlsContext: shop') +
      context('secret: shop'),
    /^1 error Secret: the private key does not fit/,
  ],
  [
    'that a TLSContext names for a hostname',
    pair({ ...PAIR, key: OTHER.key }) +
      host('hostname: a.example.com') +
      context('secret: shop, hosts: [a.example.com]'),
    /^1 error Secret: the private key does not fit/,
  ],
  [
    'of authorities without one',
    secret({ other: 'x' }) + host('tls: {issuer: gateway, ca_secret: shop}'),
    /^1 error Secret: it has no key `ca\.crt`/,
  ],
  [
    'that a Mapping uses by a TLSContext',
    pair({ ...PAIR, key: OTHER.key }) + mapping('tls: shop') + context('secret: shop'),
    /^1 error Secret: the private key does not fit/,
  ],
  [
    'of authorities that a Mapping uses by a TLSContext',
    secret({ other: 'x' }) +
      mapping('tls: {name: shop, namespace: default}') +
      context('ca_secret: shop'),
    /^1 error Secret: it has no key `ca\.crt`/,
  ],
  [
    'of authorities that are none',
    secret({ 'ca.crt': 'x' }) + host('tls: {issuer: gateway, ca_secret: shop}'),
    /^1 error Secret: the trusted authorities cannot be used/,
  ],
] as const) {
  test(`a Secret ${what} is a Problem`, () => {
    const [first = '', ...others] = problemsOf(yaml);
    assert.match(first, problem);
    assert.deepEqual(others, []);
    assert.doesNotMatch(first, /[A-Za-z0-9+/]{40}/);
  });
}

test('an expired certificate is a Problem', () => {
  const [problem = ''] = problemsOf(pair(PAIR) + HOST, Date.now() + 2 * 3_600_000);
  assert.match(problem, /^1 error Secret: the certificate expired at /);
});

const GROUP = 'apiVersion: gateway.networking.k8s.io/v1';
const object = (kind: string, spec: string) =>
  `---\n${GROUP}\nkind: ${kind}\nmetadata: {name: shop}\nspec: {${spec}}\n`;
const LISTENERS =
  'listeners: [{name: a, port: 443, protocol: HTTPS, hostname: other.test, tls: {certificateRefs: [{name: shop}]}}]';
const CLASS = (controller: string) => object('GatewayClass', `controllerName: ${controller}`);
const OURS = CLASS('gateway.internal/gateway-controller');
const GATEWAY = object('Gateway', `gatewayClassName: shop, ${LISTENERS}`);
const OPEN = object(
  'Gateway',
  'gatewayClassName: shop, listeners: [{name: a, port: 80, protocol: HTTP}]',
);
const SET = object('ListenerSet', `parentRef: {name: shop}, ${LISTENERS}`);

for (const [what, listeners] of [
  ['Gateway', GATEWAY],
  ['ListenerSet', OPEN + SET],
] as const)
  test(`the certificate of a listener of a ${what} is judged like that of a Host`, () => {
    assert.deepEqual(problemsOf(pair(PAIR) + OURS + listeners), []);
    const [problem = '', ...others] = problemsOf(
      pair(PAIR) + OURS + listeners,
      Date.now() + 2 * 3_600_000,
    );
    assert.match(problem, /^1 error Secret: the certificate expired at /);
    assert.deepEqual(others, []);
    const soon = checkTlsSecrets(read(pair(PAIR) + OURS + listeners), [], Date.now() + 3_500_000);
    assert.match(
      soon.problems.map(({ message, severity }) => `${severity} ${message}`).join(),
      new RegExp(`^warning .* renewed by now \\(used by ${what}/default/shop\\)$`),
    );
  });

test('the certificate of a listener of another controller is left alone', () => {
  const broken = pair({ ...PAIR, key: OTHER.key }) + GATEWAY;
  assert.deepEqual(problemsOf(broken), []);
  assert.deepEqual(problemsOf(broken + CLASS('example.com/theirs')), []);
  const theirs = read(broken + CLASS('example.com/theirs'));
  const { problems } = checkTlsSecrets(theirs, [], Date.now(), 'example.com/theirs');
  assert.equal(problems.length, 1, 'who is this controller');
});

test('a Secret that no Host and no Mapping uses is left alone', () => {
  const broken = pair({ ...PAIR, key: OTHER.key });
  assert.deepEqual(problemsOf(broken), []);
  assert.deepEqual(problemsOf(broken + mapping('tls: true') + context('secret: shop')), []);
});

test('a certificate that is shown to services needs no name, and is told of by who names it', () => {
  const yaml = pair(PAIR) + mapping('tls: shop') + context('secret: shop');
  assert.deepEqual(problemsOf(yaml), []);
  const { problems } = checkTlsSecrets(read(yaml), [], Date.now() + 3_500_000);
  assert.match(
    problems.map(({ message }) => message).join(),
    /renewed by now \(used by TLSContext\/default\/shop\)$/,
  );
});

test('a Secret that only a Host in force uses is judged too', () => {
  const inForce = [...read(HOST).resources.values()];
  const { problems } = checkTlsSecrets(
    read(pair({ ...PAIR, key: OTHER.key }) + host('hostname: 5')),
    inForce,
    Date.now(),
  );
  assert.equal(problems.length, 1);
});

test('the pair before stays in force; without one it is left to the discovery service, which may have one', () => {
  const good = read(pair(PAIR) + HOST).resources;
  const broken = read(pair({ ...PAIR, key: OTHER.key }) + HOST);
  const checked = checkTlsSecrets(broken, good.values(), Date.now()).read;
  const id = 'Secret/default/shop';
  assert.equal(candidates(checked, good).resources.get(id), good.get(id));
  const { read: left, problems } = checkTlsSecrets(broken, [], Date.now());
  assert.equal(candidates(left, new Map()).resources.get(id), broken.resources.get(id));
  assert.match(problems.map(({ message }) => message).join(), /^the private key does not fit/);
});
