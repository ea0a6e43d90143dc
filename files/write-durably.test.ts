import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { writeDurably } from './write-durably.ts';

const SKIP = existsSync('/dev/full') ? false : 'this system has no /dev/full';

test('a full disk is told with the file', { skip: SKIP }, () => {
  assert.throws(() => writeDurably('/dev/full', 'text'), {
    code: 'ENOSPC',
    message: /^ENOSPC: no space left on device, .+ '\/dev\/full'$/,
  });
});
