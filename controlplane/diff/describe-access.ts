import { type AccessChange, type AccessEffect, SHOWN_ROUTES } from './difference.ts';
import { accessText } from './route-facts.ts';

type Words = (before: string, after: string) => string;

const WORDS: Readonly<Record<AccessEffect, Words>> = {
  lost: (before, after) => `! %: LOSES ${before}, then ${after}`,
  opened: (_, after) => `! %: OPENS, was closed (500), then ${after}`,
  replaced: (before, after) => `! %: ${before} is REPLACED by ${after}`,
  changed: (before, after) => `~ %: ${before}, then ${after}`,
  closed: before => `- %: closes (500), was ${before}`,
  gained: (before, after) => `+ %: gets ${after}, was ${before}`,
};

/** Returns a line for the change, and lines with its causes and the routes. */
export function accessLines(change: AccessChange): readonly string[] {
  const { effect, host, path, conditions = [], before, after } = change;
  const words = WORDS[effect](accessText(before), accessText(after));
  return [
    words.replace('%', () => `${host} ${path}${whenText(conditions)}`),
    `    ${causeText(before.by ?? 'no rule', after.by ?? 'no rule')}`,
    `    ${routesText('of', change)}`,
  ];
}

/** Returns conditions in brackets, behind host and path. */
export function whenText(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : ` (${conditions.join(', ')})`;
}

function causeText(before: string, after: string): string {
  return before === after ? `by ${before}` : `by ${before}, then by ${after}`;
}

/** Returns `<verb> Mapping default/a, Mapping default/b and 3 more`. */
export function routesText(
  verb: string,
  { routes, routeCount }: Pick<AccessChange, 'routes' | 'routeCount'>,
): string {
  if (routeCount === 0) return `${verb} no route`;
  const named = routes.map(id => id.replace('/', ' ')).join(', ');
  return `${verb} ${named}${routeCount > SHOWN_ROUTES ? ` and ${routeCount - SHOWN_ROUTES} more` : ''}`;
}
