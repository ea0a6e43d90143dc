import { ipVersion } from './ip-address.ts';

/**
 * Returns the name of a service as a resource of `namespace` means it. A name without a dot is a
 * service of that namespace. Names with a dot, `localhost` and addresses are complete.
 */
export function inNamespace(host: string, namespace: string): string {
  const isPlain = !host.includes('.') && host !== 'localhost' && ipVersion(host) === 0;
  return isPlain ? `${host}.${namespace}` : host;
}

/** Returns the same of a name for the discovery service, which may have a port behind it. */
export function discoveredInNamespace(name: string, namespace: string): string {
  const [host = '', ...port] = name.split(':');
  return [inNamespace(host, namespace), ...port].join(':');
}
