import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { importObjects } from '../import-objects.ts';
import { readObjects } from '../source-object.ts';
import { check } from '../testing/golden-cases.ts';

type Words = Readonly<Record<string, string>>;

function ingress(name: string, host: string, path: string, annotations: Words): string {
  const backend = { service: { name: 'web', port: { number: 80 } } };
  const written = Object.entries(annotations).map(
    ([key, value]) => [`nginx.ingress.kubernetes.io/${key}`, value] as const,
  );
  return JSON.stringify({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name, annotations: Object.fromEntries(written) },
    spec: {
      tls: [{ hosts: [host], secretName: 'certificate' }],
      rules: [{ host, http: { paths: [{ path, pathType: 'Exact', backend }] } }],
    },
  });
}

/** Imports an Ingress for `/` of a host with an alias, and one for `/beside` of this host. */
function importedBeside(annotations: Words, host = 'a.test', path = '/beside') {
  const texts = [
    ingress('shop', 'a.test', '/', { 'server-alias': 'b.test' }),
    ingress('beside', host, path, annotations),
  ];
  const { documents } = importObjects(readObjects('a.yaml', texts.join('\n---\n')), {
    ingressClass: 'nginx',
    to: 'mappings',
    check,
  });
  const specsOf = (wanted: string) =>
    documents.filter(({ kind }) => kind === wanted).map(({ spec }) => spec);
  return { hosts: specsOf('Host'), mappings: specsOf('Mapping') };
}

describe('an alias of a host has what all Ingresses of the host say', () => {
  const placesOf = (mappings: readonly Readonly<Record<string, unknown>>[]) =>
    mappings.map(({ host, prefix }) => `${host}${prefix}`).sort();

  test('their paths', () => {
    const { mappings } = importedBeside({});
    const all = ['a.test/', 'a.test/beside', 'b.test/', 'b.test/beside'];
    assert.deepEqual(placesOf(mappings), all);
  });

  test('the share of a canary', () => {
    const { mappings } = importedBeside({ canary: 'true', 'canary-weight': '10' }, 'a.test', '/');
    assert.deepEqual(mappings.map(({ host, weight }) => `${host} ${weight}`).sort(), [
      'a.test 10',
      'a.test 90',
      'b.test 10',
      'b.test 90',
    ]);
  });

  test('what closes the whole host', () => {
    const { mappings } = importedBeside({ 'server-snippet': 'deny all;' });
    assert.deepEqual(
      mappings.map(({ closed }) => closed),
      [true, true, true, true],
    );
  });

  test('the certificates of clients', () => {
    const { hosts } = importedBeside({ 'auth-tls-secret': 'default/ca' });
    assert.deepEqual(
      hosts.map(({ hostname, tls }) => [hostname, tls]),
      ['a.test', 'b.test'].map(host => [host, { ca_secret: 'ca', cert_required: true }]),
    );
  });

  test('unless it has rules of its own', () => {
    const { mappings } = importedBeside({}, 'b.test');
    assert.deepEqual(placesOf(mappings), ['a.test/', 'b.test/beside']);
  });
});

test('where clients show certificates, no service of the host hears of one from a client', () => {
  const { mappings } = importedBeside({ 'auth-tls-secret': 'default/ca' });
  for (const { remove_request_headers: removed } of mappings)
    assert.ok(Array.isArray(removed) && removed.includes('ssl-client-verify'));
});
