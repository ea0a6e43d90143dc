import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeOutcomes, type OrderOutcome } from './order-outcomes.ts';
import { decodeReport, type ReportedFinding } from './report.ts';
import { reporter } from './reporter.ts';

function finding(message: string): ReportedFinding {
  return { resource: 'Filter/a/b', field: '', severity: 'error', message, outOfService: false };
}

function setUp() {
  const sent: string[] = [];
  const told: (readonly OrderOutcome[])[] = [];
  const outcomes: OrderOutcome[] = [];
  const changes: string[] = [];
  let run = () => {};
  const texts = (findings: readonly ReportedFinding[]) =>
    findings.map(({ message }) => message).join(' ');
  const { answered, report } = reporter({
    outcomes: () => outcomes,
    send(made, withOutcomes) {
      const findings = made === undefined ? [] : decodeReport(made);
      sent.push('error' in findings ? findings.error : texts(findings));
      told.push(withOutcomes === undefined ? [] : decodeOutcomes(withOutcomes));
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
    ...{ answered, changes, outcomes, sent, told },
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

test('what became of orders is sent beside what is found, to the one that gives them', () => {
  const { answered, outcomes, pass, report, sent, told } = setUp();
  answered();
  pass();
  assert.deepEqual(sent, [], 'there is nothing to tell');
  outcomes.push({ order: '1', withdrawn: false, failed: false, text: 'done' });
  answered();
  pass();
  report('one');
  pass();
  assert.deepEqual(
    [sent, told],
    [
      ['', 'one'],
      [outcomes, outcomes],
    ],
  );
});
