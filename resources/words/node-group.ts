import { isGatewayGroup } from './gateway-group.ts';
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

/** Parses the name of a group that an operator writes. Those of Gateways are not for others. */
function parseWrittenGroup(text: string): Parsed<string> {
  if (!isGatewayGroup(text)) return parseNodeGroup(text);
  return { error: `"${text}" is not a node group: such a name is for the proxies of a Gateway` };
}

export const nodeGroup = checkedString('the name of a node group', parseWrittenGroup);
