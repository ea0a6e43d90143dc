import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explained } from './explained.ts';

test('a reason with the end of a line in it begins no section', () => {
  const request = { method: 'GET', host: 'a.test', path: '/', nodeGroup: 'edge' };
  const { conclusion, sections } = explained({
    request: { ...request, clientAddress: '192.0.2.1' },
    answer: { status: 500, reason: 'its route is closed: "a\nb"' },
  });
  assert.deepEqual(
    sections.map(({ title }) => title),
    ['Request', 'Route'],
  );
  assert.deepEqual(conclusion, ['This request is answered 500: its route is closed: "a\\u000ab".']);
});
