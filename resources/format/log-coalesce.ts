import { isFields } from '#resources/words/fields.ts';
import type { OperatorCheck } from './log-operator.ts';

const FORM =
  'must be JSON such as {"operators": ["PROTOCOL", {"command": "REQ", "param": "x-name"}]}';

/**
 * Checks the params of `COALESCE`. They are JSON with operators, of which the first that has a
 * value is logged. Envoy 1.40 does more than reject what is wrong here. The process ends when the
 * JSON is a string, a number, `true` or `null`.
 */
export function checkCoalesce(params: string, checkOperator: OperatorCheck): string | undefined {
  const json = parseJson(params);
  const operators = isFields(json) ? json.operators : undefined;
  if (!Array.isArray(operators) || operators.length === 0) return FORM;
  const errors = operators.map(operator => checkEntry(operator, checkOperator));
  return errors.find(error => error !== undefined);
}

function checkEntry(entry: unknown, checkOperator: OperatorCheck): string | undefined {
  const { command, param = '', max_length } = isFields(entry) ? entry : { command: entry };
  if (typeof command !== 'string' || typeof param !== 'string') return FORM;
  if (max_length !== undefined && !(Number.isSafeInteger(max_length) && Number(max_length) > 0))
    return 'has a `max_length` that is not an integer from 1';
  const error = checkOperator(command, param, max_length !== undefined);
  return error === undefined ? undefined : `has a wrong operator: ${error}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
