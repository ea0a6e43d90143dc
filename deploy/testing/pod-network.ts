import { ip } from '#envoy/e2e/test-hosts.ts';

/**
 * A network whose machines are network namespaces, each with an address. This machine is on it,
 * too.
 */
export type PodNetwork = {
  /** This machine's. */
  readonly address: string;
  /** Adds a machine. */
  add(): { readonly namespace: string; readonly address: string };
  /** Removes the network, after the processes on it have ended. */
  remove(): void;
};

/** Creates a network. Only this process uses its names. Needs root. */
export function makePodNetwork(): PodNetwork {
  const name = `gw${process.pid}`;
  const network = `10.${(process.pid >> 8) % 256}.${process.pid % 256}`;
  const namespaces: string[] = [];
  ip('link', 'add', name, 'type', 'bridge');
  ip('address', 'add', `${network}.1/24`, 'dev', name);
  ip('link', 'set', name, 'up');
  const add = () => {
    const at = namespaces.length + 2;
    const [namespace, address] = [`${name}n${at}`, `${network}.${at}`];
    ip('netns', 'add', namespace);
    namespaces.push(namespace);
    ip('link', 'add', `${name}v${at}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
    ip('link', 'set', `${name}v${at}`, 'master', name, 'up');
    ip('-n', namespace, 'address', 'add', `${address}/24`, 'dev', 'eth0');
    for (const device of ['lo', 'eth0']) ip('-n', namespace, 'link', 'set', device, 'up');
    return { namespace, address };
  };
  const remove = () => {
    for (const namespace of namespaces) ip('netns', 'del', namespace);
    ip('link', 'del', name);
  };
  return { address: `${network}.1`, add, remove };
}
