/** Envoy opens a file for each connection, one of the client and one of the service. */
const ENOUGH = 4_096;

/**
 * Returns a line for the operator when processes may open too few files, from what Linux tells in
 * `/proc/self/limits`. Without files left, Envoy leaves connections waiting, and tells nobody.
 * @returns undefined when they may open enough, or when it is not known
 */
export function fewOpenFiles(limits: string): string | undefined {
  const [, hard] = /^Max open files +\d+ +(\d+) /m.exec(limits) ?? [];
  if (hard === undefined || Number(hard) >= ENOUGH) return undefined;
  return `warning: a process may open ${hard} files, and Envoy needs two for each request. Clients wait when none is left. Allow at least ${ENOUGH}, as with ulimit -n ${ENOUGH}`;
}
