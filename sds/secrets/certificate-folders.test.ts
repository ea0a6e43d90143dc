import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuseFile } from './certificate-folders.ts';

const FOLDERS = ['/etc/gateway', '/srv/certificates'];

for (const path of [
  '/etc/gateway/a.pem',
  '/etc/gateway/a/b/c.pem',
  '/srv/certificates/..data/tls.crt',
]) {
  test(`${path} is read`, () => {
    assert.equal(refuseFile(path, FOLDERS), undefined);
  });
}

for (const path of [
  '/run/identities/sds/tls.key',
  '/etc/gateway',
  '/etc/gateway-other/a.pem',
  '/etc/gateway/../shadow',
  '/etc/gateway/a/../../../run/identities/sds/tls.key',
  '/srv/certificates/..',
  '//etc/../run/key',
  'etc/gateway/a.pem',
]) {
  test(`${path} is not read`, () => {
    assert.equal(
      refuseFile(path, FOLDERS),
      `${path} is not below /etc/gateway or /srv/certificates: CERTIFICATE_FILES names the folders whose files are served`,
    );
  });
}

test('whoever declares the root has every file served', () => {
  assert.equal(refuseFile('/a.pem', ['/']), undefined);
});
