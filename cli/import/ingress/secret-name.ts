/**
 * Returns the name of a Secret as a TLSContext writes it: what follows the last dot is its
 * namespace. ingress-nginx writes `namespace/name`.
 */
export function secretName(written: string, namespace = 'default'): string {
  const [first = '', second] = written.split('/');
  const [place, name] = second === undefined ? [namespace, first] : [first, second];
  return place === namespace && !name.includes('.') ? name : `${name}.${place}`;
}
