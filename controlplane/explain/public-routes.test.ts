import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { compile } from '#controlplane/compile/compile.ts';
import { isRemembering } from '#controlplane/compile/ext-authz/decision-cache-filters.ts';
import { isVerifying } from '#controlplane/compile/ext-authz/token-filters.ts';
import { EXT_AUTHZ } from '#controlplane/compile/node-groups.ts';
import { randomFilters, type WrittenFilter } from '#controlplane/compile/testing/random-filters.ts';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { type Chances, chancesOf } from '#controlplane/compile/testing/seeded-pick.ts';
import { FUZZ_OPTIONS, written } from '#controlplane/compile/testing/written.ts';
import { isJsonObject, type JsonObject } from '#protos/json.ts';
import { cases } from '#protos/testing/cases.ts';
import { isPublicRoute } from './asked-service.ts';
import { parseClientRequest } from './client-request.ts';
import { toEnvoyRequest } from './envoy-request.ts';
import { filtersInForce } from './explained-filters-config.ts';
import { toFilterRequest } from './explained-filters-request.ts';
import { listenerSettings } from './listener-settings.ts';
import { virtualHostsOf } from './route-configuration.ts';
import { matchRoute } from './route-match.ts';

const HOSTS = ['a.test', 'b.test', 'x.b.test', 'other.example', 'A.TEST:81', 'a.test.'];
const SEGMENTS = ['a', 'ab', 'admin', 'Admin', 'x.html', 'me:in', '~u', '@me', ''];
const HOSTILE = [
  ...['..', '.', '..;', '.;', ';', ';a', 'admin;x', '%2e%2e', '%2e%2e;', '..%3b', '.%2e'],
  ...[
    '%2f',
    '%2F..%2Fadmin',
    '..%2f',
    '%5c',
    '..%5Cadmin',
    '\\',
    '..\\admin',
    '%61dmin',
    'ad%6Din',
  ],
  ...['%25', '%252e%252e', '*', 'a*', '|', 'é', '%C3%A9', 'me%3ain', 'x%2Ehtml', '%', '%g1', '^'],
];
const RULE_PATHS = [
  ...['*', '/', '/*', '/a', '/a/*', '/a*', '/ab/*', '*/admin*', '/**/x.html', '*.html', '/a*b/*'],
  ...['/admin', '/admin/*', '/a/admin/*', '/me%3ain', '/~u/*', '/%C3%A9/*', '/a%2A', '/@*', '/*;x'],
];
const RULE_HOSTS = ['*', 'a.test', '*.test', 'b.*', '*.b.test', 'other.example', '*a*'];

function randomPath({ chance, pick }: Chances): string {
  const count = pick([0, 1, 1, 2, 3, 4]);
  const segments = Array.from({ length: count }, () => pick(chance(0.3) ? HOSTILE : SEGMENTS));
  const end = pick(['', '', '/', '//', '?a=/admin/', '?', '/?x;/a/../admin', '#a', '?#']);
  const own = chance(0.05) ? '.gateway/oauth2/' : '';
  return `/${own}${segments.join(pick(['/', '/', '/', '//']))}${end}`;
}

function randomMapping(chances: Chances, index: number): object {
  const { chance, pick } = chances;
  const path = [pick(SEGMENTS), pick(SEGMENTS)].filter(text => text !== '').join('/');
  const regex = chance(0.15);
  return written('Mapping', 'default', `m${index}`, {
    prefix: regex
      ? `/${pick(['a.*', '[a-z]*', '.*;.*', '(?i)admin.*'])}`
      : `/${chance(0.3) ? '' : path}`,
    service: pick(['up', 'other']),
    ...(regex ? { prefix_regex: true } : {}),
    ...(!regex && chance(0.2) ? { prefix_exact: true } : {}),
    ...(!regex && chance(0.2) ? { case_sensitive: false } : {}),
    ...(chance(0.4) ? { host: pick(['a.test', 'b.test', '*.test', 'other.example']) } : {}),
    ...(chance(0.1) ? { bypass_auth: true } : {}),
    ...(chance(0.2) ? { method: pick(['GET', 'PUT']) } : {}),
  });
}

function randomWorld(chances: Chances, filters = randomFilters(chances)) {
  const { chance, pick } = chances;
  const rule = () => ({
    ...(chance(0.6) ? { host: pick(RULE_HOSTS) } : {}),
    ...(chance(0.9) ? { path: pick(RULE_PATHS) } : {}),
    filters: chance(0.3) ? [] : [{ name: pick(filters).name }],
  });
  const policies = Array.from({ length: pick([1, 1, 2, 4]) }, (_, index) =>
    written('FilterPolicy', 'default', `p${index}`, {
      precedence: pick([0, 0, 1, -1]),
      rules: Array.from({ length: pick([1, 2, 3, 9]) }, rule),
    }),
  );
  const documents = [
    ...Array.from({ length: pick([1, 3, 8]) }, (_, index) => randomMapping(chances, index)),
    ...filters.map(({ name, namespace, spec }) => written('Filter', namespace, name, spec)),
    ...policies,
    written('Module', 'default', 'gateway', {
      config: { escaped_slashes: pick(['keep', 'reject']) },
    }),
  ];
  const { resources } = resourceSetOf(documents.map(each => stringify(each)).join('---\n'));
  const proxies = compile(resources, 'edge', FUZZ_OPTIONS);
  const { active } = filtersInForce(resources, compile(resources, EXT_AUTHZ, FUZZ_OPTIONS));
  return {
    active,
    hosts: virtualHostsOf(proxies, 'edge'),
    settings: listenerSettings(proxies),
    tokens: proxies.tokens ?? [],
    documents,
  };
}

test('of no request of which the Filter service is not asked, it would find a rule with filters or two readings', () => {
  const seen = { asked: 0, public: 0, hostile: 0 };
  for (let seed = 0; seed < cases({ all: 80, quick: 12 }); seed++) {
    const chances = chancesOf(seed);
    const { active, documents, hosts, settings } = randomWorld(chances);
    if (settings === undefined) throw new Error('the edge has no listener');
    for (let count = 0; count < 150; count++) {
      const [host, path] = [chances.pick(HOSTS), randomPath(chances)];
      const url = `http://${host}/`;
      const client = {
        ...parseClientRequest('GET', url, { header: [], from: '192.0.2.1' }),
        target: path,
      };
      const request = toEnvoyRequest(client, settings);
      if ('status' in request) continue;
      const match = matchRoute(hosts, request);
      if (match === undefined) continue;
      seen.asked += isPublicRoute(match) ? 0 : 1;
      if (!isPublicRoute(match)) continue;
      const asked = toFilterRequest(request);
      if ('error' in asked) throw new Error(asked.error);
      const selected = active.select(asked.value);
      const why = `seed ${seed}: ${host}${path}\n${JSON.stringify(documents)}`;
      assert.ok('rule' in selected && (selected.rule?.items ?? []).length === 0, why);
      assert.ok(!asked.value.target.startsWith('/.gateway/oauth2/'), why);
      seen.public += 1;
      seen.hostile += HOSTILE.some(text => path.includes(text)) ? 1 : 0;
    }
  }
  assert.ok(
    Math.min(seen.asked, seen.public, seen.hostile) > cases({ all: 300, quick: 20 }),
    JSON.stringify(seen),
  );
});

const LOGIN = {
  authorizationURL: 'https://idp.test',
  ...{ clientID: 'web', secret: 'top secret', decisionCache: '1s' },
  protectedOrigins: [{ origin: 'https://a.test', internalOrigin: '*://*' }],
};
const LOGINS: readonly WrittenFilter[] = [
  { namespace: 'default', name: 'f0', spec: { OAuth2: LOGIN }, runs: true, type: 'OAuth2' },
  {
    ...{ namespace: 'default', name: 'f1', runs: true, type: 'JWT' },
    spec: { JWT: { jwksURI: 'https://idp.test/keys' } },
  },
];
const SESSION = 'cookie: gateway_session.f0.default=a';

/** Asks random worlds with these Filters, and gives what is found about each request. */
function* requestsOf(seeds: number, header: string) {
  for (let seed = 0; seed < seeds; seed++) {
    const chances = chancesOf(seed);
    const { active, documents, hosts, settings, tokens } = randomWorld(chances, LOGINS);
    if (settings === undefined) throw new Error('the edge has no listener');
    for (let count = 0; count < 150; count++) {
      const [host, path] = [chances.pick(HOSTS), randomPath(chances)];
      const from = { header: [header], from: '192.0.2.1' };
      const asked = parseClientRequest('GET', `http://${host}/`, from);
      const request = toEnvoyRequest({ ...asked, target: path }, settings);
      const match = 'status' in request ? undefined : matchRoute(hosts, request);
      if ('status' in request || match === undefined) continue;
      const isHostile = HOSTILE.some(text => path.includes(text));
      const why = `seed ${seed}: ${host}${path}\n${JSON.stringify(documents)}`;
      const selected = () => {
        const known = toFilterRequest(request);
        if ('error' in known) throw new Error(known.error);
        assert.ok(!known.value.target.startsWith('/.gateway/oauth2/'), why);
        const found = active.select(known.value);
        return 'rule' in found ? found.rule : undefined;
      };
      yield { active, isHostile, route: match.route, selected, tokens, why };
    }
  }
}

test('the rule of a route that repeats decisions is the one that the Filter service finds', () => {
  const seen = { other: 0, remembering: 0, hostile: 0 };
  for (const { active, isHostile, route, selected, why } of requestsOf(70, SESSION)) {
    seen.hostile += isHostile ? 1 : 0;
    seen.other += isRemembering(route) ? 0 : 1;
    if (!isRemembering(route)) continue;
    const rule = selected();
    const name = rule && active.headers.get(rule)?.rememberedAs;
    assert.ok(name !== undefined, why);
    const settingsOf = route.typed_per_filter_config?.['gateway.decision_cache'];
    assert.deepEqual(settingsOf?.filter_context, { rule: name }, why);
    seen.remembering += 1;
  }
  assert.ok(Math.min(seen.other, seen.remembering, seen.hostile) > 100, JSON.stringify(seen));
});

test('the Filter of a route that verifies tokens is the only one that the Filter service runs', () => {
  const seen = { other: 0, verifying: 0, hostile: 0 };
  for (const { isHostile, route, selected, tokens, why } of requestsOf(
    70,
    'authorization: Bearer a.b.c',
  )) {
    seen.hostile += isHostile ? 1 : 0;
    seen.other += isVerifying(route) ? 0 : 1;
    if (!isVerifying(route)) continue;
    const settingsOf = route.typed_per_filter_config?.['gateway.known_tokens'];
    const provider = tokens.find(({ name }) => name === contextOf(settingsOf).name);
    const items = selected()?.items.map(({ filter }) => filter);
    assert.deepEqual(items, [provider?.filter], why);
    seen.verifying += 1;
  }
  assert.ok(Math.min(seen.other, seen.verifying, seen.hostile) > 100, JSON.stringify(seen));
});

function contextOf(settings: JsonObject | undefined): JsonObject {
  return isJsonObject(settings?.filter_context) ? settings.filter_context : {};
}
