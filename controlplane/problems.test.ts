import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Problem } from '#resources/problem.ts';
import { describeProblem, systemProblem } from './problems.ts';

const PROBLEM: Problem = {
  severity: 'error',
  kind: 'Mapping',
  namespace: 'shop',
  name: 'users',
  file: 'routes.yaml',
  line: 7,
  field: 'spec.service',
  message: 'it names no host',
};
const { field: _, ...WITHOUT_FIELD } = PROBLEM;

const table: [what: string, problem: Problem, text: string][] = [
  ['a field', PROBLEM, 'error: Mapping shop/users (routes.yaml:7, spec.service): it names no host'],
  ['a resource', WITHOUT_FIELD, 'error: Mapping shop/users (routes.yaml:7): it names no host'],
  [
    'a file',
    { ...WITHOUT_FIELD, kind: '', namespace: '', name: '' },
    'error: (routes.yaml:7): it names no host',
  ],
  [
    'the system',
    systemProblem('Envoy', 'edge', 'refuses its Listener'),
    'error: Envoy edge: refuses its Listener',
  ],
  [
    'a value that breaks lines and has colours',
    { ...PROBLEM, message: '"a\nb\u001b[31m\u0085" is not a host name' },
    'error: Mapping shop/users (routes.yaml:7, spec.service): "a\\u000ab\\u001b[31m\\u0085" is not a host name',
  ],
];
for (const [what, problem, text] of table) {
  test(`a Problem of ${what} is one line`, () => assert.equal(describeProblem(problem), text));
}
