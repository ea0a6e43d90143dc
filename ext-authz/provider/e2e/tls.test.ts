import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import {
  createServer,
  getCACertificates,
  setDefaultCACertificates,
  type TLSSocket,
} from 'node:tls';
import { startHostileProvider } from '#ext-authz/testing/hostile-provider.ts';
import { openTestProvider, providerError } from '#ext-authz/testing/open-test-provider.ts';
import { soon } from '#ext-authz/testing/soon.ts';
import { findTool } from '#launcher/testing/find-tool.ts';
import { type Certificates, makeCertificates } from '#redis/testing/certificates.ts';
import { openHttpClient } from '../http-client.ts';
import type { RenegotiateTLS } from '../tls-connector.ts';

const { skip } = findTool('openssl');
const folder = mkdtempSync(join(tmpdir(), 'gateway-provider-'));
let made: Certificates;
before(() => {
  if (skip === false) made = makeCertificates(folder);
});
after(() => rmSync(folder, { recursive: true }));

async function startTls(t: TestContext, options: ServerOptions = {}) {
  const provider = await startHostileProvider({ cert: made.cert, key: made.key, ...options });
  t.after(() => provider.close());
  return provider;
}

test('a certificate that no authority of ours has signed is refused', { skip }, async t => {
  const provider = openTestProvider(t, await startTls(t));
  await assert.rejects(
    provider.metadata(soon()),
    providerError(
      'unreachable',
      /UNABLE_TO_VERIFY_LEAF_SIGNATURE.*`caSecret`.*NODE_EXTRA_CA_CERTS/,
    ),
  );
  await assert.rejects(provider.metadata(soon()), { lasting: true });
});

test('insecureTLS accepts it', { skip }, async t => {
  const provider = openTestProvider(t, await startTls(t), { insecureTLS: true });
  assert.match((await provider.metadata(soon())).issuer, /^https:/);
});

test('the authority that a Filter names is believed, for this Filter alone', { skip }, async t => {
  const tls = await startTls(t);
  const provider = openTestProvider(t, tls, { trustedCa: made.ca });
  assert.match((await provider.metadata(soon())).issuer, /^https:/);
  await assert.rejects(openTestProvider(t, tls).metadata(soon()), providerError('unreachable'));
});

test('the authority that a Filter names stands in for all others', { skip }, async t => {
  const usual = getCACertificates('default');
  setDefaultCACertificates([...usual, made.ca]);
  t.after(() => setDefaultCACertificates(usual));
  const other = makeCertificates(folder, 'other').ca;
  const provider = openTestProvider(t, await startTls(t), { trustedCa: other });
  const refused = providerError(
    'unreachable',
    'No authority of `caSecret` has signed its certificate',
  );
  await assert.rejects(provider.metadata(soon()), refused);
  await assert.rejects(provider.metadata(soon()), { lasting: true });
});

test('a named authority vouches for no other host', { skip }, async t => {
  const { issuer } = await startTls(t);
  const elsewhere = { issuer: issuer.replace('127.0.0.1', 'localhost') };
  const provider = openTestProvider(t, elsewhere, { trustedCa: made.ca });
  const refused = providerError('unreachable', 'ERR_TLS_CERT_ALTNAME_INVALID');
  await assert.rejects(provider.metadata(soon()), refused);
});

for (const [what, options, reason] of [
  [
    'speaks an old TLS alone',
    { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
    /\(ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION\)\. The gateway speaks TLS 1\.2 and 1\.3$/,
  ],
  [
    'wants a client certificate',
    { requestCert: true, maxVersion: 'TLSv1.2' },
    /HANDSHAKE_FAILURE\)\. .*The provider wants a client certificate, which the gateway does not have$/,
  ],
] as const)
  test(`a provider that ${what} is told of with what is wrong`, { skip }, async t => {
    const provider = openTestProvider(t, await startTls(t, options), { trustedCa: made.ca });
    await assert.rejects(provider.metadata(soon()), providerError('unreachable', reason));
    await assert.rejects(provider.metadata(soon()), { lasting: true });
  });

for (const trustedCa of [
  '',
  'no PEM',
  '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
]) {
  test(`an authority that is ${JSON.stringify(trustedCa.slice(0, 8))} lets nobody in`, {
    skip,
  }, async t => {
    const provider = openTestProvider(t, await startTls(t), { trustedCa });
    await assert.rejects(provider.metadata(soon()), providerError('unreachable'));
  });
}

test("authorities of Node's own store (and so NODE_EXTRA_CA_CERTS) are believed", {
  skip,
}, async t => {
  const usual = getCACertificates('default');
  setDefaultCACertificates([...usual, made.ca]);
  t.after(() => setDefaultCACertificates(usual));
  const provider = openTestProvider(t, await startTls(t));
  assert.match((await provider.metadata(soon())).issuer, /^https:/);
});

test('a certificate of another host is refused though its authority is believed', {
  skip,
}, async t => {
  const usual = getCACertificates('default');
  setDefaultCACertificates([...usual, made.ca]);
  t.after(() => setDefaultCACertificates(usual));
  const { issuer } = await startTls(t);
  const provider = openTestProvider(t, { issuer: issuer.replace('127.0.0.1', 'localhost') });
  await assert.rejects(
    provider.metadata(soon()),
    providerError('unreachable', 'ERR_TLS_CERT_ALTNAME_INVALID'),
  );
  await assert.rejects(provider.metadata(soon()), { lasting: true });
});

/** Whether a request is answered when the server renegotiates so often before the answer. */
async function isAnswered(
  t: TestContext,
  renegotiateTLS: RenegotiateTLS,
  times: number,
): Promise<boolean> {
  const server = createServer({ cert: made.cert, key: made.key, maxVersion: 'TLSv1.2' }, socket => {
    // The other error is Node's own limit of renegotiations, which does not end the connection.
    socket.on('error', error => isRefusal(error) && socket.destroy());
    socket.once('data', () => renegotiate(socket, times));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = openHttpClient({ insecureTLS: true, renegotiateTLS, trustedCa: undefined });
  t.after(async () => {
    await client.close();
    server.close();
  });
  const address = server.address();
  const url = `https://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
  const request = { what: 'the server', url, method: 'GET', headers: {}, signal: soon() } as const;
  return client.send(request).then(
    ({ text }) => text === 'ok',
    () => false,
  );
}

function isRefusal(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_SSL_NO_RENEGOTIATION';
}

function renegotiate(socket: TLSSocket, times: number): void {
  if (times === 0) {
    socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nok');
    return;
  }
  // OpenSSL does not begin the next one within the callback of the last.
  const next = (error: Error | null) =>
    error === null && setImmediate(renegotiate, socket, times - 1);
  socket.renegotiate({ rejectUnauthorized: false }, next);
}

for (const [setting, most] of [
  ['never', 0],
  ['onceAsClient', 1],
  ['freelyAsClient', 2],
] as const) {
  test(`renegotiateTLS ${setting}: ${most} of 2 renegotiations are let pass`, { skip }, async t => {
    for (const times of [0, 1, 2])
      assert.equal(await isAnswered(t, setting, times), times <= most, `${times}`);
  });
}
