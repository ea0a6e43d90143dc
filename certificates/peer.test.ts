import './reflect-metadata.ts';
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509';
import { generateKeys, SIGNING_ALGORITHM } from './authority/key-pair.ts';
import { expectGroups, groupOfPeer } from './peer.ts';

const DOMAIN = 'gateway.internal';
const EDGE = 'spiffe://gateway.internal/group/edge';

type Name = { readonly type: 'url' | 'dns' | 'email' | 'ip'; readonly value: string };

/** What Node tells of a certificate with these names. */
async function namesOf(...names: readonly Name[]): Promise<string | undefined> {
  const certificate = await X509CertificateGenerator.createSelfSigned({
    keys: await generateKeys(),
    signingAlgorithm: SIGNING_ALGORITHM,
    extensions: [new SubjectAlternativeNameExtension([...names])],
  });
  return new X509Certificate(certificate.toString('pem')).subjectAltName;
}

const url = (value: string): Name => ({ type: 'url', value });

test('a peer is of the group that its one URI names', async () => {
  assert.equal(groupOfPeer(await namesOf(url(EDGE)), DOMAIN), 'edge');
  assert.equal(
    groupOfPeer(await namesOf({ type: 'dns', value: 'a.test' }, url(EDGE)), DOMAIN),
    'edge',
  );
});

const NOBODY: readonly (readonly [what: string, names: readonly Name[]])[] = [
  ['without a URI', [{ type: 'dns', value: 'a.test' }]],
  ['with two URIs', [url(EDGE), url('spiffe://gateway.internal/group/other')]],
  ['with a second URI of another kind', [url(EDGE), url('https://a.test')]],
  ['of another trust domain', [url('spiffe://other.internal/group/edge')]],
  ['with a path behind the group', [url(`${EDGE}/more`)]],
  ['with a query', [url(`${EDGE}?a`)]],
  ['with capitals', [url('spiffe://gateway.internal/group/EDGE')]],
  ['whose DNS name plays a URI', [{ type: 'dns', value: `a, URI:${EDGE}` }]],
  ['whose e-mail address plays a URI', [{ type: 'email', value: `a", URI:${EDGE}` }]],
  ['whose URI holds a zero byte', [url(`${EDGE}\0.evil`)]],
  ['whose URI holds a comma', [url(`${EDGE}, DNS:a`)]],
];

for (const [what, names] of NOBODY) {
  test(`a certificate ${what} is of nobody`, async () => {
    assert.equal(groupOfPeer(await namesOf(...names), DOMAIN), undefined);
  });
}

test('no certificate, or one without names, is of nobody', () => {
  assert.equal(groupOfPeer(undefined, DOMAIN), undefined);
  assert.equal(groupOfPeer('', DOMAIN), undefined);
  assert.equal(groupOfPeer(`garbage URI:${EDGE}`, DOMAIN), undefined);
});

test('a client is told that a server is somebody else, whatever its address', () => {
  const check = expectGroups(['controlplane'], DOMAIN);
  assert.equal(
    check('10.0.0.1', { subjectaltname: 'URI:spiffe://gateway.internal/group/controlplane' }),
    undefined,
  );
  assert.match(
    check('controlplane', { subjectaltname: `URI:${EDGE}` })?.message ?? '',
    /says that it is edge: want controlplane/,
  );
  assert.match(check('controlplane', {})?.message ?? '', /no group of gateway\.internal/);
});
