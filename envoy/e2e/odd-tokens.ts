import { CompactSign, type CryptoKey, generateKeyPair, UnsecuredJWT } from 'jose';
import { makeSigningKey } from '#ext-authz/testing/hostile-provider.ts';
import { pick, type seededRandom } from '#protos/testing/random.ts';
import { AUDIENCE, ISSUER, type TokenSite } from './token-site.ts';

type Random = ReturnType<typeof seededRandom>;

/** Returns texts of `Authorization`, or lists of them, that a stranger may send. */
export async function oddTokens(
  { provider: { key } }: Pick<TokenSite, 'provider'>,
  now: number,
): Promise<ReadonlyMap<string, string | readonly string[] | undefined>> {
  const sign = signer(key.privateKey);
  const good = goodClaims(now);
  const header = { alg: 'RS256', kid: key.kid };
  const other = await makeSigningKey(key.kid);
  const elliptic = await generateKeyPair('ES256');
  const token = await sign(header, good);
  const [head = '', claims = '', signature = ''] = token.split('.');
  const secret = new TextEncoder().encode(JSON.stringify(key.publicJwk));
  const claimed = async (changes: object) =>
    `Bearer ${await sign(header, { ...good, ...changes })}`;
  const headed = async (changes: object) => `Bearer ${await sign({ ...header, ...changes }, good)}`;
  const raw = async (text: string) => `Bearer ${await signer(key.privateKey)(header, text)}`;
  const text = JSON.stringify(good);
  return new Map<string, string | readonly string[] | undefined>([
    ['nothing', undefined],
    ['an empty field', ''],
    ['the scheme alone', 'Bearer'],
    ['a space alone', 'Bearer '],
    ['the token alone', token],
    ['a good token', `Bearer ${token}`],
    ['two spaces', `Bearer  ${token}`],
    ['a scheme in lower case', `bearer ${token}`],
    ['a scheme before it', `Basic x, Bearer ${token}`],
    ['something behind it', `Bearer ${token}, x`],
    ['a parameter behind it', `Bearer ${token};a=b`],
    ['the same twice', [`Bearer ${token}`, `Bearer ${token}`]],
    ['a good one and a bad one', [`Bearer ${token}`, 'Bearer x']],
    ['a bad one and a good one', ['Bearer x', `Bearer ${token}`]],
    ['padding', `Bearer ${token}==`],
    ['a fourth part', `Bearer ${token}.a`],
    ['no signature', `Bearer ${head}.${claims}.`],
    ['no claims', `Bearer ${head}..${signature}`],
    ['a signature that is cut', `Bearer ${token.slice(0, -8)}`],
    ['claims of another', `Bearer ${head}.${base64('{"sub":"eve"}')}.${signature}`],
    ['dots', 'Bearer ..'],
    ['40,000 characters', `Bearer ${'a'.repeat(40_000)}.a.a`],
    ['no algorithm', `Bearer ${new UnsecuredJWT({ ...good }).encode()}`],
    ['another key of this name', `Bearer ${await signer(other.privateKey)(header, good)}`],
    [
      'a key of another kind',
      `Bearer ${await signer(elliptic.privateKey)({ ...header, alg: 'ES256' }, good)}`,
    ],
    [
      'the public key as a secret',
      `Bearer ${await signer(secret)({ ...header, alg: 'HS256' }, good)}`,
    ],
    ['an algorithm of the same key', await pss(key.privateKey, good, key.kid)],
    ['no kid', await headed({ kid: undefined })],
    ['an empty kid', await headed({ kid: '' })],
    ['an unknown kid', await headed({ kid: 'x' })],
    ['a kid that is a number', await headed({ kid: 1 })],
    ['a key of its own', await headed({ kid: 'x', jwk: key.publicJwk })],
    ['crit', await rawHeader(key.privateKey, { ...header, crit: ['x'], x: 1 }, good)],
    ['an empty crit', await rawHeader(key.privateKey, { ...header, crit: [] }, good)],
    ['a crit that is null', await rawHeader(key.privateKey, { ...header, crit: null }, good)],
    [
      'an escaped crit',
      await rawHeader(
        key.privateKey,
        JSON.stringify({ ...header, c: ['x'], x: 1 }).replace('"c"', '"\\u0063rit"'),
        good,
      ),
    ],
    ['a b64 that is null', await rawHeader(key.privateKey, { ...header, b64: null }, good)],
    ['b64', await rawHeader(key.privateKey, { ...header, b64: false, crit: ['b64'] }, good)],
    ['a type', await headed({ typ: 'at+jwt' })],
    ['an exp that is over', await claimed({ exp: now - 30 })],
    ['an exp as text', await claimed({ exp: String(now + 600) })],
    ['an exp that is null', await claimed({ exp: null })],
    ['an exp with a fraction', await claimed({ exp: now + 600.5 })],
    ['an exp below 0', await claimed({ exp: -1 })],
    ['an exp beyond all', await raw(text.replace(/"exp":\d+/, '"exp":1e400'))],
    ['an exp that is huge', await claimed({ exp: 1e18 })],
    ['no exp', await claimed({ exp: undefined })],
    ['an nbf to come', await claimed({ nbf: now + 60 })],
    ['an nbf that has come', await claimed({ nbf: now - 60 })],
    ['an iat to come', await claimed({ iat: now + 60 })],
    ['an iat that has come', await claimed({ iat: now - 60 })],
    ['an iat as text', await claimed({ iat: '1' })],
    ['another issuer', await claimed({ iss: `${ISSUER}x` })],
    ['an issuer without its slash', await claimed({ iss: ISSUER.slice(0, -1) })],
    ['a list of issuers', await claimed({ iss: [ISSUER] })],
    ['no issuer', await claimed({ iss: undefined })],
    ['an audience with a slash', await claimed({ aud: `${AUDIENCE}/` })],
    ['an audience without its scheme', await claimed({ aud: AUDIENCE.slice('https://'.length) })],
    ['an audience by another scheme', await claimed({ aud: AUDIENCE.replace('https', 'http') })],
    ['a longer audience', await claimed({ aud: `${AUDIENCE}x` })],
    ['a list of audiences', await claimed({ aud: ['x', AUDIENCE] })],
    ['an empty list of audiences', await claimed({ aud: [] })],
    ['a list with a number', await claimed({ aud: [AUDIENCE, 1] })],
    ['no audience', await claimed({ aud: undefined })],
    ['no scope', await claimed({ scope: undefined })],
    ['another scope', await claimed({ scope: 'readx xread' })],
    ['a scope in capitals', await claimed({ scope: 'READ' })],
    ['a scope with tabs', await claimed({ scope: 'write\tread' })],
    ['a list of scopes', await claimed({ scope: ['write', 'read'] })],
    ['a list with both in one', await claimed({ scope: ['write read'] })],
    ['scp', await claimed({ scope: undefined, scp: ['read'] })],
    ['an empty scope beside scp', await claimed({ scope: '', scp: 'read' })],
    ['a scope that is null beside scp', await claimed({ scope: null, scp: 'read' })],
    ['a scope that is a number', await claimed({ scope: 7 })],
    ['a scope that is an object', await claimed({ scope: { read: true } })],
    [
      'exp twice, the last is over',
      await raw(text.replace('{', '{').replace('}', `,"exp":${now - 600}}`)),
    ],
    ['exp twice, the first is over', await raw(text.replace('{', `{"exp":${now - 600},`))],
    ['aud twice, the last is another', await raw(text.replace('}', ',"aud":"x"}'))],
    ['aud twice, the first is another', await raw(text.replace('{', '{"aud":"x",'))],
    ['claims that are a list', await raw('[]')],
    ['claims that are no JSON', await raw('{"a"')],
    ['claims with a comment', await raw(text.replace('{', '{/**/'))],
    ['claims in other quotes', await raw(text.replaceAll('"', "'"))],
    ['claims with a bare name', await raw(text.replace('"sub"', 'sub'))],
    ['claims with a comma at the end', await raw(text.replace('}', ',}'))],
    ['claims with a line break in a text', await raw(text.replace('alice', 'al\nice'))],
    ['claims with an escaped apostrophe', await raw(text.replace('alice', "al\\'ice"))],
    [
      'a header in other quotes',
      await rawHeader(key.privateKey, `{'alg':'RS256','kid':'${key.kid}'}`, good),
    ],
    [
      'a header with a bare name',
      await rawHeader(key.privateKey, `{alg:"RS256","kid":"${key.kid}"}`, good),
    ],
    [
      'a header with a comma at the end',
      await rawHeader(key.privateKey, `{"alg":"RS256","kid":"${key.kid}",}`, good),
    ],
    ['claims with a byte order mark', await raw(`\ufeff${text}`)],
    ['claims with white space', await raw(` ${text}\n`)],
    ['a claim of prototypes', await raw(text.replace('{', '{"__proto__":{"exp":1},'))],
    ['deep claims', await raw(text.replace('{', `{"a":${'['.repeat(2_000)}${']'.repeat(2_000)},`))],
    ['nested claims', await raw(text.replace('{', `{"a":${'['.repeat(50)}${']'.repeat(50)},`))],
    ['a scope that is an object of numbers', await claimed({ scope: { 1: 'read' } })],
    ['a list of scopes with null', await claimed({ scope: [null, 'read'] })],
    ['a list of audiences with null', await claimed({ aud: [null, AUDIENCE] })],
    ['an audience that is an object', await claimed({ aud: { 1: AUDIENCE } })],
    ['a scope of spaces', await claimed({ scope: '  read  ' })],
    ['scp beside a claim that is null', await claimed({ scope: undefined, scp: 'read', a: null })],
    ['a sub with spaces around it', await claimed({ sub: ' alice ' })],
    ['a long sub', await claimed({ sub: 'x'.repeat(2_000) })],
    ['a sub of markup', await claimed({ sub: '%CEL(1)%<>"\\' })],
    ['large claims', await claimed({ a: 'x'.repeat(20_000) })],
    [
      'many claims',
      await claimed(Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`c${n}`, n]))),
    ],
    ['control characters', await claimed({ sub: 'a\r\nb\u0000' })],
    ['half a character', await raw(text.replace('{', '{"sub":"\\ud800",'))],
  ]);
}

/** Returns claims of which some are as they should be. */
export function randomClaims(random: Random, now: number): object {
  const claims: Record<string, unknown> = { ...goodClaims(now) };
  const odd: Readonly<Record<string, readonly unknown[]>> = {
    iss: [undefined, `${ISSUER}/`, '', 7, null, [ISSUER]],
    aud: [undefined, [AUDIENCE], ['a', AUDIENCE], [], '', `${AUDIENCE}/`, 7, [7], null],
    exp: [undefined, now - 60, now + 60, `${now + 60}`, 0, -1, now + 60.5, null, 1e12, true],
    nbf: [undefined, now - 60, now + 60, '1', null, 0],
    iat: [undefined, now - 60, now + 60, '1', null, 0],
    scope: [undefined, 'read', ' read ', 'write read', 'reader', ['read'], ['write'], [], '', 7],
    scp: [undefined, 'read', ['read'], 'write'],
    sub: [undefined, '', ' a', 'a b', 'é', 'a\tb', 7, 7.5, true, null, ['a'], { a: 1 }],
    jti: [undefined, 'a', 7],
  };
  for (const [name, values] of Object.entries(odd))
    if (random() < 0.25) claims[name] = pick(values, random);
  return claims;
}

export function goodClaims(now: number) {
  return { iss: ISSUER, aud: AUDIENCE, exp: now + 600, scope: 'write read', sub: 'alice' };
}

/** Signs claims as they are, or a text. */
export function signer(key: CryptoKey | Uint8Array) {
  return (header: object, claims: object | string): Promise<string> =>
    new CompactSign(
      new TextEncoder().encode(typeof claims === 'string' ? claims : JSON.stringify(claims)),
    )
      .setProtectedHeader(header as { alg: string })
      .sign(key);
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/** The library signs nothing with such a header. */
async function rawHeader(key: CryptoKey, header: object | string, claims: object): Promise<string> {
  const text = typeof header === 'string' ? header : JSON.stringify(header);
  const signed = `${base64(text)}.${base64(JSON.stringify(claims))}`;
  const bytes = new TextEncoder().encode(signed);
  const signature = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', key, bytes);
  return `Bearer ${signed}.${Buffer.from(signature).toString('base64url')}`;
}

async function pss(key: CryptoKey, claims: object, kid: string): Promise<string> {
  const jwk = await crypto.subtle.exportKey('jwk', key);
  const algorithm = { name: 'RSA-PSS', hash: 'SHA-256' };
  const { alg: _, key_ops: __, ...bare } = jwk;
  const same = await crypto.subtle.importKey('jwk', bare, algorithm, false, ['sign']);
  return `Bearer ${await signer(same)({ alg: 'PS256', kid }, claims)}`;
}
