import type { FilterRunner, RunnableFilter } from '#ext-authz/chain/filter-runner.ts';
import type { FilterKit } from '#ext-authz/filters/filter-kit.ts';
import { answerPage } from '#ext-authz/http/answer-page.ts';
import type { FilterDecision } from '#ext-authz/http/filter-decision.ts';

/** What Filters do in a test, by `<namespace>/<name>`. Filters without a script cannot run. */
export type Scripts = Readonly<Record<string, FilterRunner>>;

/**
 * A kit whose filters do what they are told. Types and injected headers are those of the
 * definitions. The endpoint says what it was asked, and which rule the path `/yes` has, if any.
 */
export function scriptedKit(scripts: Scripts): FilterKit {
  return {
    use: definitions =>
      new Map(
        [...definitions].flatMap(([name, { type, settings }]): [string, RunnableFilter][] => {
          const run = scripts[name];
          const injects = new Set(settings.injectRequestHeaders.map(header => header.name));
          return run === undefined ? [] : [[name, { type, injects, run }]];
        }),
      ),
    endSessions: async () => undefined,
    sessionLists: () => new Map(),
    providers: () => [],
    keySets: async () => [],
    endpoint: async (request, { ruleAt }) =>
      answerPage(request, {
        status: 200,
        message: [
          ...[request.method, request.target, request.body.length],
          ...[ruleAt({ ...request, target: '/yes' })?.id].filter(id => id !== undefined),
        ].join(' '),
        headers: [
          ['set-cookie', 'a=1'],
          ['set-cookie', 'b=2'],
        ],
      }),
  };
}

/** Lets the request pass with these headers set. */
export function allowing(set: Readonly<Record<string, string>> = {}): FilterRunner {
  return () => allowed(set);
}

export function allowed(set: Readonly<Record<string, string>> = {}): FilterDecision {
  return {
    kind: 'allow',
    change: { set: new Map(Object.entries(set)), remove: new Set(), responseHeaders: [] },
  };
}

/** Answers with this status. */
export function denying(
  status: number,
  headers: readonly (readonly [name: string, value: string])[] = [],
): FilterRunner {
  return request => ({
    kind: 'answer',
    answer: answerPage(request, { status, message: 'denied', headers }),
  });
}
