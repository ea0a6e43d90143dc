import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import type { ListedCertificate } from '#controlplane/knowledge/knowledge.ts';
import type { CertificateStatus } from '#controlplane/status/certificates.ts';
import { certificatesView } from './certificates.ts';

const { resources } = resourceSetOf('');
const ISSUED: CertificateStatus = {
  ...{
    hostname: 'a.test',
    host: 'Host/default/a',
    source: 'authority',
    secret: 'gateway/issued/a',
  },
};
const STORED: CertificateStatus = {
  ...{ ...ISSUED, hostname: 'b.test', source: 'secret', secret: 'key-pair/b' },
  facts: { notAfter: '2026-01-01T00:00:00.000Z', issuer: 'CN=x', serial: '1' },
};

function listed(kind: ListedCertificate['kind'], name: string): ListedCertificate {
  return { kind, name, serial: '2', ends: Date.parse('2025-01-01'), problem: '' };
}

test('the end of what the authority issues for a Host is told by discovery', () => {
  const root = listed('root', '');
  const certificates = [listed('served', 'gateway/issued/a'), root, listed('served', 'other')];
  const view = certificatesView([STORED, ISSUED], { certificates }, resources);
  assert.deepEqual(
    view.hosts.map(({ facts, hostname }) => [hostname, facts?.notAfter.slice(0, 4), facts?.issuer]),
    [
      ['a.test', '2025', ''],
      ['b.test', '2026', 'CN=x'],
    ],
  );
  assert.deepEqual(view.others, { certificates: [root, listed('served', 'other')] });
});

test('without discovery the certificates of Secrets have their ends', () => {
  const view = certificatesView([ISSUED, STORED], { error: 'gone' }, resources);
  assert.deepEqual(
    view.hosts.map(({ hostname }) => hostname),
    ['b.test', 'a.test'],
  );
  assert.deepEqual(view.others, { error: 'gone' });
});
