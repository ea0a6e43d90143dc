import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';

const { refuseUnsupported } = createRequire(import.meta.url)('./install.cjs');

for (const platform of ['linux', 'darwin'])
  for (const arch of ['x64', 'arm64'])
    test(`a checkout starts on ${platform} with ${arch}`, () => {
      refuseUnsupported(platform, arch, () => platform === 'linux');
    });

test('a checkout says that a machine is none of these, and what to do', () => {
  for (const [platform, arch] of [
    ['win32', 'x64'],
    ['linux', 'riscv64'],
  ])
    assert.throws(() => refuseUnsupported(platform, arch, () => true), {
      message: `${platform}-${arch} is not supported: use Linux or macOS on x64 or arm64, or compose.yaml`,
    });
});

test('a checkout says that a Linux has no glibc, and what to do', () => {
  assert.throws(() => refuseUnsupported('linux', 'x64', () => false), /no glibc .*compose\.yaml$/);
});
