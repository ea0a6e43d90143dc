import { checkedString, type Parsed } from './parsed-string.ts';

const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Parses the name of a group of proxies with equal configuration, Envoy's `node.cluster`. It is a
 * DNS label (RFC 1123).
 */
export function parseNodeGroup(text: string): Parsed<string> {
  if (NAME.test(text)) return { value: text };
  return {
    error: `"${text}" is not a node group: 1 to 63 lower-case letters, digits and "-", no "-" at the ends`,
  };
}

export const nodeGroup = checkedString('the name of a node group', parseNodeGroup);
