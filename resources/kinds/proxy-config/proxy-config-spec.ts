import * as z from 'zod';
import { pathPrefix } from '#resources/match/path-match.ts';
import { allowUpgrade } from '#resources/traffic/allow-upgrade.ts';
import { domain } from '#resources/words/domain.ts';
import { gatewayId } from '#resources/words/gateway-id.ts';
import { canonicalAddress } from '#resources/words/ip-address.ts';
import { nodeGroup } from '#resources/words/node-group.ts';
import { milliseconds, port, positiveMilliseconds } from '#resources/words/number-types.ts';
import { checkedString } from '#resources/words/parsed-string.ts';
import { cluster, discoveryCluster } from './cluster.ts';
import { deployment } from './deployment.ts';

const name = z.string().min(1).max(253).meta({ form: 'a name' });

const route = z.object({
  prefix: pathPrefix.describe('What the path begins with'),
  cluster: name.describe('Name of one of `clusters`'),
  timeout_ms: milliseconds.default(0).describe('Time until the answer begins. 0 has no end'),
  allow_upgrade: allowUpgrade.describe(
    'Protocols to which requests may switch, as of a Mapping. Those that routes of other node groups to `<service>` allow pass the routes of node group `<service>` or `<service>-<number>` to its application (a cluster of another type than `sds`) too',
  ),
});

const virtualHost = z.object({
  name: name.describe('Name of the virtual host'),
  domains: z.array(domain).min(1).describe('Hosts of requests: exact, `*.example.com` or `*`'),
  routes: z.array(route).default([]).describe('The longest prefix is tried first'),
});

/**
 * Gives each address one spelling. A listener is named by it, and Envoy rejects two at one address.
 */
const ipAddress = checkedString('an IP address', text => {
  const value = canonicalAddress(text);
  return value === undefined ? { error: `"${text}" is not an IP address` } : { value };
});

const listener = z.object({
  address: ipAddress.default('127.0.0.1').describe('IP address'),
  port: port.describe('TCP port'),
  hop_tls: z
    .boolean()
    .exactOptional()
    .describe(
      'Mutual TLS of clients. Default: where the gateway has it (`HOP_TLS`). `false`: plain, for proxies that others than ours reach. The edge has none',
    ),
});

const sds = z.object({
  cluster: discoveryCluster.describe(
    'Where the discovery service is. A peer of `clusters`, not one of them',
  ),
  refresh_delay_ms: positiveMilliseconds
    .exactOptional()
    .describe('Ask by REST with this delay. Without it a gRPC stream pushes'),
});

export const proxyConfigSpec = z.object({
  node_group: nodeGroup.describe('The proxies that this is for'),
  listener: listener
    .exactOptional()
    .describe("Where they listen. Default: the node group's own address"),
  virtual_hosts: z.array(virtualHost).default([]).describe('Routes by host'),
  clusters: z.array(cluster).default([]).describe('Upstream clusters'),
  cluster_manager: z
    .object({
      sds: sds.exactOptional().describe('The discovery service. Default: the built-in one'),
    })
    .default({})
    .describe('How clusters of type `sds` find their instances'),
  deployment: deployment
    .exactOptional()
    .describe(
      'The proxies of Gateways in a cluster that name this ProxyConfig in `parametersRef`, themselves or by their GatewayClass',
    ),
  gateway_id: gatewayId,
});

export type ProxyConfigSpec = z.output<typeof proxyConfigSpec>;
