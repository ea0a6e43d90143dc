import { escapeControls } from '#controlplane/rollout/problems.ts';
import { answerOf, type GatewayAnswer, isFiltered } from './explained-filters-answer.ts';
import type { AppliedLimit } from './explained-limits.ts';
import type { Explanation } from './explanation.ts';
import { plain } from './plain.ts';

/**
 * Returns the conclusion of an explanation: a sentence, or one for each cluster that may get the
 * request. Each is one line.
 */
export function conclusion(explanation: Explanation): readonly string[] {
  return sentences(explanation).map(escapeControls);
}

function sentences(explanation: Explanation): readonly string[] {
  const { answer, filters, rateLimits } = explanation;
  const isSure = answerOf(filters) !== undefined || !isFiltered(filters);
  const subject = isSure ? 'This request' : 'When its filters let it pass, this request';
  if (answer !== undefined) return [`${subject} ${answerText(answer)}.`];
  const [first, ...others] = rateLimits?.cases ?? [];
  if (others.length === 0) return [`${subject} ${mayPass(first?.applied ?? [])}.`];
  return [first, ...others].flatMap(one =>
    one === undefined
      ? []
      : [`At ${one.clusters.map(plain).join(', ')} ${lowered(subject)} ${mayPass(one.applied)}.`],
  );
}

function lowered(subject: string): string {
  return subject.charAt(0).toLowerCase() + subject.slice(1);
}

function answerText({ status, reason }: GatewayAnswer): string {
  return status === undefined
    ? `goes to no service: ${reason}`
    : `is answered ${status}: ${reason}`;
}

function mayPass(applied: readonly AppliedLimit[]): string {
  const enforced = applied.filter(({ action }) => action === 'Enforce');
  const never = enforced.find(({ rate }) => rate === 0);
  if (never !== undefined)
    return `is answered 429 every time: limit ${plain(never.name)} has rate 0`;
  if (enforced.length > 0)
    return `may pass ${tightest(enforced).join(' and ')}, then it is answered 429`;
  return applied.length === 0
    ? 'may pass any number of times: no limit applies'
    : 'may pass any number of times: what exceeds its limits is only logged';
}

const UNITS: readonly string[] = ['second', 'minute', 'hour', 'day'];

/** Of the limits of one unit only the lowest is ever reached. */
function tightest(limits: readonly AppliedLimit[]): readonly string[] {
  return UNITS.flatMap(unit => {
    const rates = limits.filter(limit => limit.unit === unit).map(({ rate }) => rate);
    if (rates.length === 0) return [];
    const rate = rates.reduce((lowest, rate) => Math.min(lowest, rate));
    return [`${rate} time${rate === 1 ? '' : 's'} per ${unit}`];
  });
}
