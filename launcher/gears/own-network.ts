import { spawnSync } from 'node:child_process';

/**
 * Files that make network interfaces, by what their paths begin with. A browser breaks off what it
 * loads when the interfaces of its machine change.
 */
const MAKING_INTERFACES: readonly string[] = [
  'conformance/e2e/',
  'deploy/e2e/docker.test.ts',
  'deploy/e2e/kubernetes-system.test.ts',
  'deploy/e2e/node.test.ts',
  'deploy/e2e/pod-network.test.ts',
  'deploy/helm/e2e/release.test.ts',
  'envoy/e2e/identities.test.ts',
  'envoy/e2e/isolation.test.ts',
];

export function makesInterfaces(file: string): boolean {
  return MAKING_INTERFACES.some(start => file.startsWith(start));
}

/**
 * Runs a command in a network of its own, in which the loopback works and /sys shows it, with the
 * control groups that were there.
 */
const SCRIPT = `
set -e
ip link set lo up
groups=$(mktemp -d)
mount --rbind /sys/fs/cgroup "$groups"
mount -t sysfs sysfs /sys
mount --move "$groups" /sys/fs/cgroup
rmdir "$groups"
exec "$0" "$@"`;
const OWN_NETWORK = ['unshare', '--net', '--mount', 'sh', '-c', SCRIPT] as const;

/**
 * Returns how to start a program in a network of its own.
 * @returns undefined where this is not allowed. Such files then skip their tests.
 */
export function inOwnNetwork(
  program: string,
): { readonly execPath: string; readonly execArgv: string[] } | undefined {
  const [execPath, ...args] = OWN_NETWORK;
  const tried = spawnSync(execPath, [...args, 'true'], { stdio: 'ignore' });
  return tried.status === 0 ? { execPath, execArgv: [...args, program] } : undefined;
}
