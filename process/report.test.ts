import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Any, encodeAny } from '#protos/encode.ts';
import { REPORT } from '#protos/type-url.ts';
import { MAX_REPORT_BYTES } from '#xds/report.ts';
import { decodeReport, encodeReport, type ReportedFinding } from './report.ts';

const FINDING: ReportedFinding = {
  resource: 'Filter/default/login',
  field: 'spec.OAuth2.authorizationURL',
  severity: 'error',
  message: 'its issuer is another',
  outOfService: false,
};

function roundTrip(findings: readonly ReportedFinding[]) {
  return decodeReport(encodeReport(findings) ?? assert.fail('nothing is reported'));
}

test('findings arrive as they were sent', () => {
  const findings: readonly ReportedFinding[] = [
    FINDING,
    { resource: 'Host/a/b', field: '', severity: 'warning', message: 'ä “…”', outOfService: true },
  ];
  assert.deepEqual(roundTrip(findings), findings);
});

test('no findings are no report', () => {
  assert.equal(encodeReport([]), undefined);
});

test('whatever is found, the report can be taken', () => {
  const long = '\u{20AC}'.repeat(5_000);
  const largest = { ...FINDING, resource: long, field: long, message: `${long}\ud800` };
  const report = encodeReport(Array.from({ length: 300 }, () => largest));
  assert.ok((report?.value.length ?? 0) < MAX_REPORT_BYTES);
  const found = roundTrip(Array.from({ length: 300 }, () => largest));
  assert.ok(!('error' in found) && found.length === 200 && found[0]?.message.length === 1_000);
});

function report(findings: readonly object[]): Any {
  return encodeAny({ '@type': REPORT, findings: findings as [] });
}

for (const [what, any, error] of [
  [
    'another message',
    { type_url: 'type.googleapis.com/google.protobuf.Duration', value: new Uint8Array() },
    /not a Report/,
  ],
  [
    'bytes that are no message',
    { type_url: REPORT, value: Buffer.from([0xff]) },
    /cannot be decoded/,
  ],
  ['too many findings', report(Array.from({ length: 201 }, () => ({}))), /more than 200/],
  ['a text that is too long', report([{ message: 'x'.repeat(1_001) }]), /too long/],
] as const) {
  test(`${what} is refused`, () => {
    const found = decodeReport(any);
    assert.match('error' in found ? found.error : '', error);
  });
}
