import { STATS_LISTENER } from '#envoy/stats-listener.ts';

/**
 * Returns the lines `<name>::<host>:<port>` of Envoy's `/listeners`, without the listener of its
 * own bootstrap. Source: Envoy's page "Administration interface".
 */
export function sentListeners(listeners: string): readonly string[] {
  const lines = listeners.split('\n').map(line => line.trim());
  return lines.filter(line => line !== '' && !line.startsWith(`${STATS_LISTENER}::`));
}
