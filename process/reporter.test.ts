import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeReport, type ReportedFinding } from './report.ts';
import { reporter } from './reporter.ts';

function finding(message: string): ReportedFinding {
  return { resource: 'Filter/a/b', field: '', severity: 'error', message, outOfService: false };
}

function setUp() {
  const sent: string[] = [];
  const changes: string[] = [];
  let run = () => {};
  const texts = (findings: readonly ReportedFinding[]) =>
    findings.map(({ message }) => message).join(' ');
  const report = reporter({
    send(made) {
      const findings = made === undefined ? [] : decodeReport(made);
      sent.push('error' in findings ? findings.error : texts(findings));
    },
    changed: (found, gone) => void changes.push(`+${texts(found)} -${texts(gone)}`),
    after(_ms, callback) {
      run = callback;
      return () => {};
    },
  });
  return {
    report: (...messages: string[]) => report(() => messages.map(finding)),
    pass: () => run(),
    sent,
    changes,
  };
}

test('what is found is sent once it has settled, and when it is gone', () => {
  const { report, pass, sent, changes } = setUp();
  report('one');
  report('one', 'two');
  assert.deepEqual(sent, []);
  pass();
  report('two');
  pass();
  report();
  pass();
  assert.deepEqual(sent, ['one two', 'two', '']);
  assert.deepEqual(changes, ['+one two -', '+ -one', '+ -two']);
});

test('what is taken back and found again at once was never gone', () => {
  const { report, pass, sent } = setUp();
  report('one');
  pass();
  report();
  report('one');
  pass();
  assert.deepEqual(sent, ['one']);
});

test('that nothing is wrong need not be said at first', () => {
  const { report, pass, sent } = setUp();
  report();
  pass();
  assert.deepEqual(sent, []);
});
