import { after, before, beforeEach, type TestContext } from 'node:test';
import { SignJWT } from 'jose';
import type { OAuth2Settings } from '#ext-authz/policy/filter-settings.ts';
import {
  type HostileAnswer,
  type HostileProvider,
  startHostileProvider,
} from '#ext-authz/testing/hostile-provider.ts';
import { openCredentialFilter, type TestCredentialFilter } from './credential-filter.ts';

const GRANT = { grantType: 'ClientCredentials', clientID: undefined, secret: undefined } as const;

/** The client whose credentials are right, and its headers. */
export const ME = { 'x-gateway-client-id': 'me', 'x-gateway-client-secret': 'top secret' };

/** Headers of other credentials. */
export const as = (id: string, secret = 'wrong') => ({
  'x-gateway-client-id': id,
  'x-gateway-client-secret': secret,
});

/** A provider that grants tokens to clients, set up again for each test of a file. */
export type ClientProvider = {
  hostile(): HostileProvider;
  /** A ClientCredentials Filter that asks it. */
  open(t: TestContext, changes?: Partial<OAuth2Settings>): Promise<TestCredentialFilter>;
  /** How many token requests there were. */
  asked(): number;
  /** A JWT that it has signed. */
  accessToken(claims?: object): Promise<string>;
  /** Answers each token request with a new JWT from now on. `changes` are members of the answer. */
  grant(changes?: object, claims?: object): void;
  /** Refuses each token request from now on. */
  refuse(error?: string, status?: number): void;
  /** Gives tokens to those with ME's credentials from now on, and refuses others. */
  judge(): void;
};

/** Starts one for the tests of the file that calls it. At first it grants to every client. */
export function clientProvider(): ClientProvider {
  let hostile: HostileProvider;
  before(async () => {
    hostile = await startHostileProvider();
  });
  after(() => hostile.close());
  beforeEach(() => {
    hostile.reset();
    grant();
  });
  const accessToken = (claims: object = {}) => {
    const now = Math.floor(Date.now() / 1_000);
    const payload = { iss: hostile.issuer, sub: 'me', exp: now + 3_600, ...claims };
    return new SignJWT(payload)
      .setProtectedHeader({ alg: 'RS256', kid: 'first' })
      .sign(hostile.key.privateKey);
  };
  const granted = async (changes: object = {}, claims: object = {}): Promise<HostileAnswer> => {
    const access_token = await accessToken(claims);
    return { body: { access_token, token_type: 'Bearer', expires_in: 3_600, ...changes } };
  };
  const grant = (changes: object = {}, claims: object = {}) => {
    let n = 0;
    hostile.behave('token', () => {
      n += 1;
      return granted(changes, { n, ...claims });
    });
  };
  return {
    hostile: () => hostile,
    open: (t, changes = {}) => openCredentialFilter(t, hostile.issuer, { ...GRANT, ...changes }),
    asked: () => hostile.asked('token').length,
    accessToken,
    grant,
    refuse: (error = 'invalid_client', status = 401) =>
      hostile.behave('token', () => ({ status, body: { error } })),
    judge: () => {
      const right = `Basic ${Buffer.from('me:top+secret').toString('base64')}`;
      hostile.behave('token', ({ headers }) =>
        headers.authorization === right
          ? granted()
          : { status: 401, body: { error: 'invalid_client' } },
      );
    },
  };
}
