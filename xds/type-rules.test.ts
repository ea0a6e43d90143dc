import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeAny } from '#protos/encode.ts';
import { CLUSTER_LOAD_ASSIGNMENT } from '#protos/type-url.ts';
import { xdsResource } from './snapshot.ts';
import { emptyAssignment } from './type-rules.ts';

for (const name of ['a', 'user-service:8080', 'grün 😀', 'x'.repeat(4_096), '__proto__'])
  test(`the endpoints of "${name.slice(0, 20)}", which nobody serves, are those that the encoder makes`, () => {
    const encoded = encodeAny({ '@type': CLUSTER_LOAD_ASSIGNMENT, cluster_name: name });
    assert.deepEqual(emptyAssignment(name), xdsResource(name, encoded));
  });

test('no name makes them throw', () => {
  for (const name of ['', '\0', '\ud800', '*']) assert.equal(emptyAssignment(name).name, name);
});
