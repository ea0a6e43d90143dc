import { OWN_LISTENERS } from '#envoy/admin-listeners.ts';

/**
 * Returns the lines `<name>::<host>:<port>` of Envoy's `/listeners`, without those of its own
 * bootstrap. Source: Envoy's page "Administration interface".
 */
export function sentListeners(listeners: string): readonly string[] {
  const lines = listeners.split('\n').map(line => line.trim());
  return lines.filter(
    line => line !== '' && !OWN_LISTENERS.some(name => line.startsWith(`${name}::`)),
  );
}
