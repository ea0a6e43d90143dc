import { changed, type PlacedRemark } from '../remark.ts';
import type { Draft } from './draft.ts';

/**
 * Gives Mappings a precedence where one host covers another. nginx looks for the host first, while
 * the path goes first among Mappings.
 */
export function rankHosts(drafts: readonly Draft[]): {
  readonly drafts: readonly Draft[];
  readonly remarks: readonly PlacedRemark[];
} {
  const hosts = [...new Set(drafts.filter(draft => !isDefault(draft)).map(({ host }) => host))];
  const overlaps = hosts.some(host => hosts.some(other => covers(other, host)));
  return {
    drafts: drafts.map(draft => withRank(draft, overlaps)),
    remarks: hosts
      .filter(host => hosts.some(other => covers(other, host)))
      .flatMap(host => fallingThrough(host, drafts)),
  };
}

function isDefault({ ingress: { defaultBackend, paths }, host, spec }: Draft): boolean {
  return (
    defaultBackend !== undefined &&
    host === '*' &&
    spec.prefix === '/' &&
    !paths.some(path => path.host === '*' && path.path === '/')
  );
}

function covers(wide: string, host: string): boolean {
  if (wide === host) return false;
  return wide === '*' || (wide.startsWith('*.') && host.endsWith(wide.slice(1)));
}

function withRank(draft: Draft, overlaps: boolean): Draft {
  const { precedence } = draft.spec;
  const own = typeof precedence === 'number' ? precedence : 0;
  const rank = isDefault(draft) ? -1 : overlaps ? rankOf(draft.host) : 0;
  if (own + rank === 0) return draft;
  return { ...draft, spec: { ...draft.spec, precedence: own + rank } };
}

/** An exact host goes before every wildcard, and a longer one before a shorter. */
function rankOf(host: string): number {
  if (host === '*') return 0;
  return host.startsWith('*') ? host.length : EXACT;
}

/** Names have 253 characters at most. */
const EXACT = 1_000;

function fallingThrough(host: string, drafts: readonly Draft[]): readonly PlacedRemark[] {
  const own = drafts.filter(draft => draft.host === host);
  const [first] = own;
  const whole = own.some(({ spec }) => spec.prefix === '/' && spec.prefix_exact !== true);
  if (first === undefined || whole) return [];
  const why = `paths of ${host} that no rule has are served by the rules of wider hosts, and not answered 404. Write a rule for "/"`;
  return [{ ...changed(['spec', 'rules'], why), object: first.ingress.object }];
}
