import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import type { HeaderCondition } from '#resources/match/header-condition.ts';

/** Whether a part of a rule applies to this request. */
export type Applies = {
  /** `depends`: an earlier filter of the rule may change the header. */
  readonly applies: 'yes' | 'no' | 'depends';
  /** Absent without a condition. */
  readonly reason?: string;
};

/** What a condition of a rule reads. */
export type ConditionContext = {
  /** The client's request, without what filters of the rule may inject. */
  readonly request: HttpRequest;
  readonly client: HttpRequest;
  /** Earlier filters that may set the header of this name. */
  readonly setters: (name: string) => readonly string[];
};

/**
 * Explains whether `ifRequestHeader` holds, by the function that decides it. The text leaves out
 * the wanted and the sent values: they may be secrets.
 */
export function explainCondition(
  condition: HeaderCondition | undefined,
  holds: (request: HttpRequest) => boolean,
  { client, request, setters }: ConditionContext,
): Applies {
  if (condition === undefined) return { applies: 'yes' };
  const earlier = setters(condition.name);
  if (earlier.length > 0) {
    const reason = `it depends on what ${earlier.join(' or ')} puts into the header ${condition.name}`;
    return { applies: 'depends', reason };
  }
  const held = holds(request);
  const isThere = condition.name.startsWith(':') || request.headers.has(condition.name);
  const negated = condition.negate ? ', and the condition is negated' : '';
  const spoofed = client.headers.has(condition.name) && !isThere;
  const state = spoofed
    ? `the client's own header ${condition.name} does not count, since filters set it`
    : stateOf(condition, held !== condition.negate, isThere);
  return { applies: held ? 'yes' : 'no', reason: state + negated };
}

function stateOf(
  { name, value, valueRegex }: HeaderCondition,
  matched: boolean,
  isThere: boolean,
): string {
  const header = `the header ${name}`;
  if (!isThere) return `${header} is missing`;
  if (value !== undefined) return `${header} has ${matched ? 'the wanted' : 'another'} value`;
  if (valueRegex !== undefined)
    return `${header} ${matched ? 'matches' : 'does not match'} the regular expression`;
  return `${header} is ${matched ? 'there' : 'empty'}`;
}
