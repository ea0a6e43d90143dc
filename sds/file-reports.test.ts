import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import type { ReportedFinding } from '#process/report.ts';
import { fileReports } from './file-reports.ts';
import { createMetrics } from './metrics.ts';

function setUp() {
  const lines: string[] = [];
  const reported: boolean[] = [];
  const metrics = createMetrics();
  let find: () => readonly ReportedFinding[] = () => [];
  const write = (line: string) => {
    const entry = JSON.parse(line);
    lines.push(entry.msg);
    reported.push(entry.reported);
  };
  const reports = fileReports('/i.yaml', {
    log: pino({ base: null }, { write }),
    metrics,
    report: found => {
      find = found;
    },
  });
  const told = () => find().map(({ message, severity }) => `${severity}: ${message}`);
  return { ...reports, lines, metrics, reported, told };
}

const GOOD = { isMissing: false, problems: [], hasEarlier: true };

test('a mistake of an instances file is told everywhere, until it is right', async () => {
  const { lines, metrics, onRead, problems, told } = setUp();
  onRead({ ...GOOD, problems: [{ line: 3, message: 'services.a: wrong' }] });
  const said = '/i.yaml:3: services.a: wrong. What was read last stays in force';
  assert.deepEqual([lines, problems(), told()], [[said], [said], [`error: ${said}`]]);
  assert.match(await metrics.registry.metrics(), /file_problems_total 1/);
  onRead(GOOD);
  assert.deepEqual([lines, problems(), told()], [[said], [], []]);
});

test('a missing file is a warning, which says whether anything was read before', () => {
  const { onRead, reported, told } = setUp();
  onRead({ ...GOOD, isMissing: true });
  const missing = 'warning: the instances file /i.yaml is missing';
  assert.deepEqual(told(), [`${missing}. What was read last stays in force`]);
  assert.deepEqual(reported, [true]);
  onRead({ ...GOOD, isMissing: true, hasEarlier: false });
  assert.deepEqual(told(), [`${missing}. Nothing was read before that could stand in for it`]);
});

test('of very many mistakes the first ten are reported, which the log marks', () => {
  const { onRead, problems, reported, told } = setUp();
  const many = Array.from({ length: 30 }, (_, at) => ({ line: at + 1, message: 'wrong' }));
  onRead({ ...GOOD, problems: many });
  assert.deepEqual([told().length, problems().length], [10, 30]);
  assert.deepEqual([reported.length, reported.lastIndexOf(true)], [30, 9]);
});
