import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { accept, startRollout, want } from '#controlplane/rollout/rollout.ts';
import { encodeReport, INSTANCES_FILE, type ReportedFinding } from '#process/report.ts';
import { collect } from '#resources/parse/collect.ts';
import { parseFile } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { Reports } from './reports.ts';

const FINDING: ReportedFinding = {
  resource: 'Mapping/default/a',
  field: 'spec.service',
  severity: 'error',
  message: 'it is not there',
  outOfService: false,
};

/** Returns a rollout in which the text is written and in force. */
function inForce(yaml: string) {
  const { resources } = collect([parseFile('in.yaml', yaml, DEFAULT_PARSE_OPTIONS)]);
  return accept(want(startRollout(new Map()), resources));
}

const mapping = (name: string) =>
  `apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: ${name}}\nspec: {prefix: /a/, service: a}\n`;

const BOTH = inForce(`${mapping('b')}---\n${mapping('a')}`);

const NOON = Date.UTC(2026, 0, 1, 12);

function saying(...streams: readonly (readonly ReportedFinding[])[]): Reports {
  const reports = new Reports(() => NOON);
  for (const [id, findings] of streams.entries())
    assert.equal(reports.take(id, encodeReport(findings)), undefined);
  return reports;
}

describe('what services report', () => {
  test('is a Problem of the resource, at its place', () => {
    assert.deepEqual(saying([FINDING]).problems(BOTH), [
      {
        severity: 'error',
        kind: 'Mapping',
        namespace: 'default',
        name: 'a',
        file: 'in.yaml',
        line: 9,
        field: 'spec.service',
        message: 'it is not there',
        since: '2026-01-01T12:00:00.000Z',
        reported: true,
      },
    ]);
  });

  test('began when the first of those that report it now did, with whatever words', () => {
    let now = NOON;
    const reports = new Reports(() => now);
    const since = () => reports.problems(BOTH).map(problem => problem.since?.slice(11, 16));
    const report = (stream: number, ...findings: readonly ReportedFinding[]) => {
      now += 60_000;
      reports.take(stream, encodeReport(findings));
    };
    report(0, FINDING);
    report(1, { ...FINDING, message: 'it does not answer' });
    assert.deepEqual(since(), ['12:01', '12:01']);
    report(0);
    report(1, FINDING, { ...FINDING, field: 'spec.prefix' });
    assert.deepEqual(since().sort(), ['12:01', '12:04']);
    report(1);
    report(1, FINDING);
    assert.deepEqual(since(), ['12:06']);
  });

  test('is heard of one kind of resources alone, where it may be of no other', () => {
    const reports = new Reports(() => NOON);
    assert.equal(
      reports.take(1, encodeReport([FINDING, { ...FINDING, message: 'b' }]), 'RateLimit'),
      undefined,
    );
    assert.deepEqual(reports.problems(BOTH), []);
    reports.take(
      1,
      encodeReport([FINDING, { ...FINDING, resource: 'MappingX/default/a' }]),
      'Mapping',
    );
    assert.equal(reports.problems(BOTH).length, 1);
  });

  test('is said once, however many say it, until the last of them is gone', () => {
    const other = { ...FINDING, message: 'it is slow', severity: 'warning' as const };
    const reports = saying([FINDING, other], [FINDING], [FINDING]);
    const said = () => reports.problems(BOTH).map(({ message }) => message);
    assert.deepEqual(said(), ['it is not there', 'it is slow']);
    reports.take(0, undefined);
    assert.deepEqual(said(), ['it is not there']);
    assert.equal(reports.take(1, undefined), undefined);
    assert.deepEqual(said(), ['it is not there']);
    reports.take(2, undefined);
    assert.deepEqual(said(), []);
  });

  test('does not depend on who came first', () => {
    const other = { ...FINDING, resource: 'Mapping/default/b' };
    const orders = [saying([FINDING], [other]), saying([other], [FINDING])];
    const [one, two] = orders.map(reports => reports.problems(BOTH));
    assert.deepEqual(one, two);
  });

  test('replaces what the stream said before, unless it is no report', () => {
    const reports = saying([FINDING]);
    const any = { type_url: 'type.googleapis.com/test.Other', value: new Uint8Array() };
    assert.match(reports.take(0, any) ?? '', /not a Report/);
    assert.equal(reports.problems(BOTH).length, 1);
    reports.take(0, encodeReport([{ ...FINDING, message: 'other' }]));
    assert.deepEqual(
      reports.problems(BOTH).map(({ message }) => message),
      ['other'],
    );
  });

  test('of a resource that is gone, or is renamed, is left out, until it is there again', () => {
    const reports = saying([FINDING]);
    const [before] = reports.problems(BOTH);
    assert.ok(before);
    assert.deepEqual(reports.problems(inForce(`${mapping('b')}---\n${mapping('renamed')}`)), []);
    assert.deepEqual(reports.problems(BOTH), [before]);
  });

  test('follows the resource when it moves', () => {
    const reports = saying([FINDING]);
    reports.problems(BOTH);
    const { wanted } = inForce(`# moved\n${mapping('b')}---\n${mapping('a')}`);
    assert.equal(reports.problems(want(BOTH, wanted))[0]?.line, 10);
  });

  test('of what is not known here, such as a resource of another gateway, is left out', () => {
    const odd = [
      'Filter/shop/login',
      'Mapping/default/A',
      'Mapping/default/a/',
      'nonsense',
      '',
    ].map(resource => ({ ...FINDING, resource }));
    assert.deepEqual(saying(odd).problems(BOTH), []);
    assert.equal(saying([...odd, FINDING]).problems(BOTH).length, 1);
  });

  test('of an instances file is of the discovery service, whatever is in force', () => {
    const resource = `${INSTANCES_FILE}/etc/i.yaml`;
    const [problem] = saying([{ ...FINDING, resource, field: '' }]).problems(inForce(''));
    assert.deepEqual(
      [problem?.severity, problem?.kind, problem?.name, problem?.message, problem?.since],
      ['error', 'Service', 'sds', 'it is not there', '2026-01-01T12:00:00.000Z'],
    );
  });

  test('says which resources do not work at all', () => {
    const reports = saying([{ ...FINDING, outOfService: true }], [FINDING]);
    assert.deepEqual([...reports.outOfService()], ['Mapping/default/a']);
    assert.equal(reports.problems(BOTH).length, 1);
    reports.take(0, undefined);
    assert.deepEqual([...reports.outOfService()], []);
  });
});
