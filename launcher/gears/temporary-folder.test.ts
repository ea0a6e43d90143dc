import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { describe, test } from 'node:test';
import { temporaryFolder } from './temporary-folder.ts';

const GIB = 2 ** 30;
const MOUNTS = 'proc /proc proc rw 0 0\ntmpfs /dev/shm tmpfs rw,nosuid,nodev 0 0\n';

describe('the tests of a run write', () => {
  test('into memory where there is room', () => {
    assert.equal(temporaryFolder({ env: {}, mounts: MOUNTS, free: 8 * GIB }), '/dev/shm');
  });

  for (const [what, machine] of [
    ['where TMPDIR says', { env: { TMPDIR: tmpdir() } }],
    ['to the disk where memory is scarce', { free: 8 * GIB - 1 }],
    [
      'to the disk where programs in memory may not run',
      { mounts: MOUNTS.replace('tmpfs rw', 'tmpfs rw,noexec') },
    ],
    ['to the disk where memory is read alone', { mounts: MOUNTS.replace('tmpfs rw', 'tmpfs ro') }],
    ['to the disk where there is no such file system', { mounts: '' }],
    ['to the disk where it is another one', { mounts: MOUNTS.replace('shm tmpfs', 'shm ext4') }],
  ] as const)
    test(what, () => {
      const folder = temporaryFolder({ env: {}, mounts: MOUNTS, free: 64 * GIB, ...machine });
      assert.equal(folder, tmpdir());
    });
});
