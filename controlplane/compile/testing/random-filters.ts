import type { Chances } from './seeded-pick.ts';

/**
 * A Filter as an operator might write it, and whether it can run, as its author knows without
 * parser or compiler.
 */
export type WrittenFilter = {
  readonly namespace: string;
  readonly name: string;
  readonly spec: object;
  /** Whether it runs by itself, or the Filter that decides it. */
  readonly runs: boolean | { readonly delegate: string };
  readonly type: 'JWT' | 'OAuth2';
  /** Whether its cookies would go over http. Absent where there is no login. */
  readonly open?: boolean;
};

type Form = Omit<WrittenFilter, 'namespace' | 'name'>;

export const NAMESPACES: readonly string[] = ['default', 'team'];
/** Some of these are never written. */
export const FILTER_NAMES: readonly string[] = ['f0', 'f1', 'f2', 'f3', 'f4', 'f5', 'gone'];

/** Secrets that Filters name. The last is never there. */
export const CLIENT_SECRETS: readonly { readonly name: string; readonly data?: object }[] = [
  { name: 'client', data: { 'oauth2-client-secret': 'top secret' } },
  { name: 'other-key', data: { password: 'top secret' } },
  { name: 'no-secret' },
];

const JWT = { jwksURI: 'https://idp.test/keys' };
const CLIENT = { authorizationURL: 'https://idp.test', clientID: 'web', secret: 'top secret' };
const MACHINES = { authorizationURL: 'https://idp.test', grantType: 'ClientCredentials' };

function login(index: number, scheme: string, changes: object = {}): object {
  const origin = `${scheme}://login${index}.test`;
  return { OAuth2: { ...CLIENT, protectedOrigins: [{ origin }], ...changes } };
}

/** Returns a valid form, with what it depends on. */
function rightForm(index: number, { chance, pick }: Chances): Form {
  const scheme = pick(['https', 'http']);
  const open = scheme === 'http';
  const delegate = pick(FILTER_NAMES);
  const forms: readonly Form[] = [
    { type: 'JWT', runs: true, spec: { JWT } },
    {
      type: 'JWT',
      runs: true,
      spec: { JWT: { ...JWT, injectRequestHeaders: [{ name: 'X-A', value: 'a' }] } },
    },
    { type: 'OAuth2', runs: true, spec: { OAuth2: MACHINES } },
    { type: 'OAuth2', runs: true, spec: { OAuth2: { ...CLIENT, grantType: 'Password' } } },
    { type: 'OAuth2', runs: true, open, spec: login(index, scheme) },
    {
      ...{ type: 'OAuth2', open, runs: { delegate } },
      spec: login(index, scheme, { accessTokenJWTFilter: { name: delegate } }),
    },
    ...CLIENT_SECRETS.map(({ data, name: secretName }, at): Form => {
      const { secret, ...client } = CLIENT;
      const spec = {
        OAuth2: { ...client, secretName, secretNamespace: 'default', grantType: 'Password' },
      };
      return { type: 'OAuth2', runs: data !== undefined && at === 0, spec };
    }),
  ];
  return pick(chance(0.3) ? forms.slice(0, 1) : chance(0.4) ? forms.slice(4, 6) : forms);
}

/** Each is an invalid configuration. */
const BROKEN: readonly ((index: number) => object)[] = [
  () => ({}),
  () => ({ JWT, OAuth2: MACHINES }),
  () => ({ JWT: {} }),
  () => ({ JWT: { ...JWT, unknownField: 1 } }),
  () => ({ JWT: { ...JWT, injectRequestHeaders: [{ name: 'X-A', value: '{{ .x' }] } }),
  () => ({ JWT: { ...JWT, injectRequestHeaders: [{ name: 'Host', value: 'a' }] } }),
  () => ({ APIKey: {} }),
  () => ({ OAuth2: { ...MACHINES, grantType: 'Implicit' } }),
  () => ({ OAuth2: { grantType: 'ClientCredentials' } }),
  () => ({ OAuth2: { ...CLIENT, grantType: 'Password', secretName: 'client' } }),
  () => ({ OAuth2: { ...CLIENT, protectedOrigins: [] } }),
  index => login(index, 'https', { clientAuthentication: { jwtAssertion: {} } }),
  index => login(index, 'https', { extraAuthorizationParameters: { State: 'x' } }),
  index =>
    login(index, 'https', {
      accessTokenValidation: 'userinfo',
      accessTokenJWTFilter: { name: 'f0' },
    }),
  index => login(index, 'https', { maxStale: 'soon' }),
  () => ({
    OAuth2: {
      ...CLIENT,
      protectedOrigins: [
        { origin: 'https://a.test', internalOrigin: '*://*', includeSubdomains: true },
      ],
    },
  }),
];

/** At most one for each namespace and name. */
export function randomFilters(chances: Chances): readonly WrittenFilter[] {
  const { chance, pick } = chances;
  const keys = NAMESPACES.flatMap(namespace => FILTER_NAMES.map(name => ({ namespace, name })));
  const written = keys.filter(
    ({ name, namespace }) => name !== 'gone' && (namespace === 'default' || chance(0.4)),
  );
  return written.map((key, index) =>
    chance(0.25)
      ? { ...key, type: 'OAuth2', runs: false, spec: pick(BROKEN)(index) }
      : { ...key, ...rightForm(index, chances) },
  );
}
