import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { CLASS, gateway, object, tlsSecret } from '#controlplane/gateway-api/testing/documents.ts';
import { testAuthority } from '#grpc/testing/test-authority.ts';
import { certificates } from './certificates.ts';

const AUTHORITY = await testAuthority();

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;
const base64 = (text: string) => Buffer.from(text).toString('base64');

test('the certificates of Hosts are told of with their ends, and nothing of their keys', async () => {
  const { certificate, key } = await AUTHORITY.issue('a.test');
  const yaml = [
    `apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {tls.crt: ${base64(certificate)}, tls.key: ${base64(key)}}\n`,
    document(
      'Host',
      'files',
      'hostname: c.test, tls: {cert_chain_file: /etc/gateway/c.crt, private_key_file: /etc/gateway/c.key}',
    ),
    document('Host', 'a', 'hostname: a.test, tlsSecret: a'),
    document('Host', 'plain', 'hostname: d.test'),
    document('Host', 'broken', 'hostname: e.test, tlsSecret: none'),
  ].join('');
  const { resources, problems } = resourceSetOf(yaml);
  assert.deepEqual(
    problems.map(({ message }) => message),
    [],
  );
  const found = certificates(resources);
  const { serialNumber, validToDate } = new X509Certificate(certificate);
  assert.deepEqual(
    found.map(({ facts, ...rest }) => ({
      ...rest,
      notAfter: facts?.notAfter,
      serial: facts?.serial,
    })),
    [
      {
        hostname: 'a.test',
        host: 'Host/default/a',
        source: 'secret',
        secret: 'key-pair/default/a',
        notAfter: validToDate.toISOString(),
        serial: serialNumber.toLowerCase(),
      },
      {
        hostname: 'c.test',
        host: 'Host/default/files',
        source: 'files',
        secret: 'key-pair-files/Host/default/files',
        notAfter: undefined,
        serial: undefined,
      },
    ],
  );
  assert.doesNotMatch(JSON.stringify(found), /PRIVATE|BEGIN/);
  assert.deepEqual(certificates(resources), found);
});

test('the certificates of listeners are told of like those of Hosts', async () => {
  const { certificate, key } = await AUTHORITY.issue('a.test');
  const tls = 'protocol: HTTPS, tls: {certificateRefs: [{name: a}]}';
  const { resources } = resourceSetOf(
    [
      CLASS,
      gateway(
        'g',
        `allowedListeners: {namespaces: {from: Same}}, listeners: [{name: a, port: 443, hostname: a.test, ${tls}}, {name: b, port: 444, hostname: a.test, ${tls}}]`,
      ),
      object('ListenerSet', 's', `parentRef: {name: g}, listeners: [{name: c, port: 445, ${tls}}]`),
      tlsSecret('a', { certificate, key }),
    ].join(''),
  );
  const notAfter = new X509Certificate(certificate).validToDate.toISOString();
  assert.deepEqual(
    certificates(resources).map(({ facts, host, hostname, secret, source }) => {
      return [host, hostname, source, secret, facts?.notAfter];
    }),
    [
      ['Gateway/infra/g', 'a.test', 'secret', 'key-pair/infra/a', notAfter],
      ['ListenerSet/infra/s', '*', 'secret', 'key-pair/infra/a', notAfter],
    ],
  );
});

test('a Secret without a certificate has no end', () => {
  const secret = `apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {tls.crt: ${base64('x')}, tls.key: ${base64('x')}}\n`;
  const { resources } = resourceSetOf(
    secret + document('Host', 'a', 'hostname: a.test, tlsSecret: a'),
  );
  assert.deepEqual(certificates(resources), [
    { hostname: 'a.test', host: 'Host/default/a', source: 'secret', secret: 'key-pair/default/a' },
  ]);
});
