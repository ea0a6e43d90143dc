import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReportedFinding } from '#process/report.ts';
import { joinedReport } from './joined-report.ts';

const finding = (message: string): ReportedFinding => ({
  ...{ resource: 'Host/default/h', field: '', severity: 'error', message, outOfService: false },
});

test('the findings of all parts are one report, those of earlier parts first', () => {
  const joined = joinedReport();
  const [secrets, names] = [joined.part(), joined.part()];
  const sent: string[] = [];
  names(() => [finding('name')]);
  joined.sendBy(find =>
    sent.push(
      find()
        .map(({ message }) => message)
        .join(),
    ),
  );
  secrets(() => [finding('secret')]);
  names(() => []);
  assert.deepEqual(sent, ['name', 'secret,name', 'secret']);
});
