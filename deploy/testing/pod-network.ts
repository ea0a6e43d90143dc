import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { ip } from '#envoy/e2e/test-hosts.ts';

/** A machine of the network, which is a network namespace. */
export type Machine = { readonly namespace: string; readonly address: string };

/**
 * A network whose machines are network namespaces, each with an address. This machine is on it,
 * too.
 */
export type PodNetwork = {
  /** This machine's. */
  readonly address: string;
  /** The half of its addresses that machines do not get, as CIDR. */
  readonly services: string;
  /** Adds a machine. The kernel may take seconds for that while it removes others. */
  add(): Promise<Machine>;
  /** Removes a machine, after its processes have ended. */
  drop(machine: Machine): Promise<void>;
  /** Reserves an address that no machine gets. Throws when all are taken. */
  reserve(): string;
  release(address: string): void;
  contains(address: string): boolean;
  /** Makes this machine answer to another address of the network. */
  answerTo(address: string): Promise<void>;
  stopAnsweringTo(address: string): Promise<void>;
  /** Removes the network, after the processes on it have ended. */
  remove(): void;
};

const LAST_OF_MACHINES = 126;

/** Of those that anyone may give. Source: RFC 9542 section 2.1. */
const BRIDGE_ADDRESS = '02:00:00:00:00:01';

const run = promisify(execFile);

const NAMESPACES = '/run/netns';
const LINKS = '/sys/class/net';

/**
 * Removes the networks whose process was killed before it could remove them. Their processes have
 * ended with it.
 */
function removeAbandoned(): void {
  const isAbandoned = (name: string) => {
    const pid = /^gw(\d+)(n\d+)?$/.exec(name)?.[1];
    return pid !== undefined && !existsSync(`/proc/${pid}`);
  };
  const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);
  for (const name of namesIn(NAMESPACES).filter(isAbandoned)) tryIp('netns', 'del', name);
  for (const name of namesIn(LINKS).filter(isAbandoned)) tryIp('link', 'del', name);
}

/** Another process may remove the same. */
function tryIp(...args: readonly string[]): void {
  try {
    ip(...args);
  } catch {
    // It is gone, or will be when the next network is made.
  }
}

/** Creates a network. Only this process uses its names. Needs root. */
export function makePodNetwork(): PodNetwork {
  removeAbandoned();
  const name = `gw${process.pid}`;
  const network = `10.${(process.pid >> 8) % 256}.${process.pid % 256}`;
  const namespaces = new Set<string>();
  // The address that was free for the longest time is next, so that late packets find no machine.
  const free = Array.from(
    { length: LAST_OF_MACHINES - 1 },
    (_, index) => `${network}.${index + 2}`,
  );
  const reserve = () => {
    const address = free.shift();
    if (address === undefined) throw new Error(`the network ${name} has no address left`);
    return address;
  };
  // Else the bridge has the lowest address of its ports, and machines ask for a new one only later.
  ip('link', 'add', name, 'address', BRIDGE_ADDRESS, 'type', 'bridge');
  ip('address', 'add', `${network}.1/24`, 'dev', name);
  ip('link', 'set', name, 'up');
  const add = async () => {
    const address = reserve();
    const at = address.slice(network.length + 1);
    const namespace = `${name}n${at}`;
    namespaces.add(namespace);
    await batch([
      `netns add ${namespace}`,
      `link add ${name}v${at} type veth peer name eth0 netns ${namespace}`,
      `link set ${name}v${at} master ${name} up`,
    ]);
    const inside = [`address add ${address}/24 dev eth0`, 'link set lo up', 'link set eth0 up'];
    await batch(inside, '-n', namespace);
    return { namespace, address };
  };
  const drop = async ({ namespace, address }: Machine) => {
    // The pair of cables would outlive the namespace for a moment, with the name of the next one.
    await batch(['link del eth0'], '-n', namespace);
    await batch([`netns del ${namespace}`]);
    namespaces.delete(namespace);
    free.push(address);
  };
  const remove = () => {
    for (const namespace of namespaces) tryIp('netns', 'del', namespace);
    ip('link', 'del', name);
  };
  return {
    address: `${network}.1`,
    services: `${network}.128/25`,
    add,
    drop,
    reserve,
    release: address => void free.push(address),
    contains: address => address.startsWith(`${network}.`),
    answerTo: address => batch([`address add ${address}/32 dev ${name}`]),
    stopAnsweringTo: address => batch([`address del ${address}/32 dev ${name}`]),
    remove,
  };
}

/**
 * Runs commands of iproute2's `ip` in one process, while this one goes on. It also forwards
 * packets and probes pods, so it may not stand still.
 */
async function batch(commands: readonly string[], ...options: readonly string[]): Promise<void> {
  const running = run('ip', [...options, '-batch', '-']);
  running.child.stdin?.end(commands.join('\n'));
  await running;
}

/** Sets a kernel parameter of a machine alone. */
export async function setSysctl({ namespace }: Machine, name: string, value: string) {
  const file = `/proc/sys/${name.replaceAll('.', '/')}`;
  const shell = ['sh', '-c', 'echo "$1" > "$2"', 'sh', value, file];
  await run('ip', ['netns', 'exec', namespace, ...shell]);
}
