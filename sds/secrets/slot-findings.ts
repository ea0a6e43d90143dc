import type { ReportedFinding } from '#process/report.ts';
import type { SecretSlot } from './secret-slot.ts';

/**
 * Returns findings about the content of secrets, for their operators. No other process can see that
 * content. Nothing of keys is in a finding.
 */
export function slotFindings(slots: Iterable<SecretSlot>): readonly ReportedFinding[] {
  return [...slots].flatMap(findingsOf);
}

type Slot = Pick<SecretSlot, 'served' | 'resource' | 'problem' | 'warnings' | 'isOver'>;

function findingsOf(slot: Slot): readonly ReportedFinding[] {
  const { named } = slot.served;
  if (named === undefined) return [];
  const { problem, resource, warnings } = slot;
  const warned = warnings.map(message => ({
    ...named,
    severity: 'warning' as const,
    message,
    outOfService: false,
  }));
  if (problem === undefined) return warned;
  const message = `${problem}. ${insteadOf(slot)}`;
  return [
    { ...named, severity: 'error', message, outOfService: resource === undefined },
    ...warned,
  ];
}

function insteadOf({ isOver, resource }: Slot): string {
  if (resource === undefined) return 'Until it is right there is none, and TLS that needs it fails';
  return isOver
    ? 'It stays in force until another comes'
    : 'It is not used, and what was in force before stays';
}
