import type { Budget } from './budget.ts';
import type { GoType } from './go-type.ts';
import type { Value } from './value.ts';

/** The type of a parameter that takes a value as the evaluator has it, Go's reflect.Value. */
export const VALUE: GoType = { kind: 'struct', name: 'reflect.Value' };

/**
 * A function that templates call. An argument for `VALUE` is a value as the evaluator has it. One
 * for any other type is a Go value of that type. `rest` is the type of all arguments after
 * `params`, if there may be more.
 */
export type TemplateFunction = {
  readonly name: string;
  readonly params: readonly GoType[];
  readonly rest?: GoType;
  /** Go's own `and`, `or` and `call`, which the evaluator handles itself. */
  readonly special?: 'and' | 'or' | 'call';
  readonly call: (args: readonly Value[], budget: Budget) => Value;
};

/** Why a function rejects its arguments. The evaluator adds the place. */
export class CallError extends Error {
  override readonly name = 'CallError';
}
