import type { Fault } from './condition.ts';

export function isService(group: string, kind: string): boolean {
  return group === '' && kind === 'Service';
}

export function notPermitted(field: string, what: string): Fault {
  const message = `no ReferenceGrant in its namespace allows the reference to the ${what}`;
  return { reason: 'RefNotPermitted', field, message };
}

/** Returns `Kind` or `Kind of group`. */
export function kindText(group: string, kind: string): string {
  return group === '' ? kind : `${kind} of ${group}`;
}
