import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import type { Problem } from '#resources/problem.ts';
import { problemLog } from './problem-log.ts';

const AWAY: Problem = {
  kind: 'Kubernetes',
  namespace: '',
  name: '',
  file: '',
  line: 0,
  severity: 'error',
  message: 'the connection was cut',
};
const OTHER: Problem = {
  ...AWAY,
  kind: 'Mapping',
  namespace: 'shop',
  name: 'a',
  field: 'spec.prefix',
  message: 'no',
};

function logged(...readings: readonly (readonly Problem[])[]): readonly string[] {
  const lines: string[] = [];
  const write = problemLog(
    pino({ base: null }, { write: line => void lines.push(JSON.parse(line).msg) }),
  );
  for (const problems of readings) write(problems);
  return lines;
}

test('a problem is told once when it appears and once when it is gone', () => {
  assert.deepEqual(logged([AWAY, OTHER], [AWAY, OTHER], [OTHER]), [
    'Kubernetes: the connection was cut',
    'Mapping shop/a (spec.prefix): no',
    'fixed: Kubernetes: the connection was cut',
  ]);
});

test('a problem that reads otherwise is not fixed', () => {
  const rejected = { ...AWAY, message: 'the connection is refused' };
  assert.deepEqual(logged([AWAY], [rejected], []), [
    'Kubernetes: the connection was cut',
    'Kubernetes: the connection is refused',
    'fixed: Kubernetes: the connection is refused',
  ]);
});

test('one that began earlier and reads otherwise is no new one', () => {
  const counted = { ...AWAY, severity: 'warning', since: '2026-01-01T00:00:00.000Z' } as const;
  const explained = { ...counted, message: 'the connection is refused' };
  const later = { ...explained, since: '2026-01-02T00:00:00.000Z' };
  assert.deepEqual(logged([counted], [explained], [explained], [], [later]), [
    'Kubernetes: the connection was cut. Since 2026-01-01T00:00:00Z',
    'now: Kubernetes: the connection is refused. Since 2026-01-01T00:00:00Z',
    'fixed: Kubernetes: the connection is refused. Since 2026-01-01T00:00:00Z',
    'Kubernetes: the connection is refused. Since 2026-01-02T00:00:00Z',
  ]);
});

test('nor is one that reads otherwise for a moment to some only', () => {
  const rejected = { ...AWAY, message: 'the connection is refused' };
  assert.deepEqual(logged([AWAY], [AWAY, rejected], [rejected], []), [
    'Kubernetes: the connection was cut',
    'Kubernetes: the connection is refused',
    'fixed: Kubernetes: the connection is refused',
  ]);
});

test('of two at one place each is fixed when the other was before', () => {
  const rejected = { ...AWAY, message: 'the connection is refused' };
  assert.deepEqual(logged([AWAY], [AWAY, rejected], [AWAY], []).slice(2), [
    'fixed: Kubernetes: the connection is refused',
    'fixed: Kubernetes: the connection was cut',
  ]);
});

test('of very many the first are told, errors before warnings, and how many more there are', () => {
  const many = (severity: Problem['severity'], count: number) =>
    Array.from({ length: count }, (_, at) => ({
      ...OTHER,
      name: `${severity}-${at}`,
      severity,
      message: `no ${at}`,
    }));
  const lines = logged([...many('warning', 102), ...many('error', 101)], []);
  assert.deepEqual(
    [0, 99, 100, 101, 200, 201].map(at => lines[at]),
    [
      'Mapping shop/error-0 (spec.prefix): no 0',
      'Mapping shop/error-99 (spec.prefix): no 99',
      '… and 1 more. /status has all of them',
      'Mapping shop/warning-0 (spec.prefix): no 0',
      'Mapping shop/warning-99 (spec.prefix): no 99',
      '… and 2 more. /status has all of them',
    ],
  );
  assert.equal(lines.at(-1), '… and 103 more are fixed');
});
