import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Log } from 'sarif';
import type { Problem } from '#resources/problem.ts';
import { toGithub } from './github-output.ts';
import { toSarif } from './sarif-output.ts';

const PROBLEM: Problem = {
  severity: 'error',
  kind: 'Mapping',
  namespace: 'default',
  name: 'bad',
  file: 'routes.yaml',
  line: 5,
  field: 'spec.labels.a[0]',
  message: 'wrong',
};

const COMMANDS: readonly [what: string, problem: Partial<Problem>, command: string][] = [
  [
    'a mistake in a field',
    {},
    '::error file=routes.yaml,line=5,title=Mapping default/bad::Mapping default/bad (routes.yaml:5, spec.labels.a[0]): wrong',
  ],
  [
    'a warning',
    { severity: 'warning' },
    '::warning file=routes.yaml,line=5,title=Mapping default/bad::Mapping default/bad (routes.yaml:5, spec.labels.a[0]): wrong',
  ],
  [
    'a file below the working directory',
    { file: join(process.cwd(), 'my site', 'a.yaml'), kind: '', namespace: '', name: '' },
    `::error file=my site/a.yaml,line=5::(${join(process.cwd(), 'my site', 'a.yaml')}:5, spec.labels.a[0]): wrong`,
  ],
  [
    'text that would begin another command',
    { name: 'x\n::stop-commands::y', file: 'a,b:c%.yaml', message: '100 %\r\n::set-env name=x::y' },
    '::error file=a%2Cb%3Ac%25.yaml,line=5,title=Mapping default/x\\u000a%3A%3Astop-commands%3A%3Ay::Mapping default/x\\u000a::stop-commands::y (a,b:c%25.yaml:5, spec.labels.a[0]): 100 %25\\u000d\\u000a::set-env name=x::y',
  ],
  [
    'what is in no file',
    { file: '', line: 0, field: '' },
    '::error title=Mapping default/bad::Mapping default/bad: wrong',
  ],
];

for (const [what, problem, command] of COMMANDS)
  test(`a workflow command tells of ${what}`, () => {
    assert.equal(toGithub([{ ...PROBLEM, ...problem }]), `${command}\n`);
  });

const resultsOf = (...problems: readonly Problem[]) => {
  const [run] = (JSON.parse(toSarif(problems)) as Log).runs;
  assert.ok(run);
  return { results: run.results ?? [], rules: run.tool.driver.rules ?? [] };
};

test('a result of SARIF has the rule, the text, the severity and the place', () => {
  const { results, rules } = resultsOf(PROBLEM);
  assert.deepEqual(
    rules.map(({ id }) => id),
    ['Mapping/spec.labels.a[]'],
  );
  const { partialFingerprints, ...result } = results[0] ?? { message: {} };
  assert.deepEqual(result, {
    ruleId: 'Mapping/spec.labels.a[]',
    ruleIndex: 0,
    level: 'error',
    message: { text: 'spec.labels.a[0]: wrong' },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: 'routes.yaml' },
          region: { startLine: 5 },
        },
        logicalLocations: [{ fullyQualifiedName: 'Mapping/default/bad', kind: 'resource' }],
      },
    ],
  });
  assert.match(partialFingerprints?.['problem/v1'] ?? '', /^[0-9a-f]{32}$/);
});

test('a result that only moved has the same fingerprint, and another problem has another', () => {
  const { results } = resultsOf(PROBLEM, { ...PROBLEM, line: 9 }, { ...PROBLEM, message: 'other' });
  const [first, moved, other] = results.map(
    ({ partialFingerprints }) => partialFingerprints?.['problem/v1'],
  );
  assert.equal(first, moved);
  assert.notEqual(first, other);
});

test('places are references that SARIF allows', () => {
  const uriOf = (file: string) =>
    resultsOf({ ...PROBLEM, file }).results[0]?.locations?.[0]?.physicalLocation?.artifactLocation
      ?.uri;
  assert.equal(uriOf('a b/é,%.yaml'), 'a%20b/%C3%A9%2C%25.yaml');
  assert.equal(uriOf('/etc/gateway/a b.yaml'), 'file:///etc/gateway/a%20b.yaml');
  const { results } = resultsOf({
    ...PROBLEM,
    file: '',
    line: 0,
    kind: '',
    namespace: '',
    name: '',
  });
  assert.equal(results[0]?.locations, undefined);
});

test('a log without results is a log', () => {
  assert.deepEqual(resultsOf(), { results: [], rules: [] });
});
