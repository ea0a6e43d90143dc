import * as z from 'zod';
import { GATEWAY_API_GROUP } from '../known-kinds.ts';
import { listOf, someOf } from './bounded.ts';
import { externalAuth } from './external-auth.ts';
import { labelSelector } from './label-selector.ts';
import { group, hostname, kindName, options, portNumber, sectionName } from './names.ts';
import { localRef, secretRef } from './object-ref.ts';
import { checkRules, choiceBreaches } from './rules.ts';

const tls = z
  .object({
    mode: z
      .enum(['Terminate', 'Passthrough'])
      .default('Terminate')
      .describe('Whether TLS ends here'),
    certificateRefs: listOf(64, secretRef, 'references')
      .default([])
      .describe('Secrets (`kubernetes.io/tls`) with certificate and key'),
    options: options
      .default({})
      .describe(
        'Settings of implementations. `gateway.internal/issuer: gateway`: without `certificateRefs` the built-in authority issues the certificate for `hostname`, or for this machine',
      ),
  })
  .check(
    checkRules(({ mode, certificateRefs, options }) =>
      mode === 'Passthrough' || certificateRefs.length > 0 || Object.keys(options).length > 0
        ? []
        : [{ path: ['certificateRefs'], message: 'a certificate is required to terminate TLS' }],
    ),
  );

const namespaces = z.object({
  from: z
    .enum(['All', 'Selector', 'Same'])
    .default('Same')
    .describe('Namespaces whose routes may attach'),
  selector: labelSelector.exactOptional().describe('Labels of namespaces, for `from: Selector`'),
});

const allowedRoutes = z.object({
  namespaces: namespaces.prefault({}).describe('Where routes may come from'),
  kinds: z
    .array(
      z.object({
        group: group.default(GATEWAY_API_GROUP).describe('Group of the kind'),
        kind: kindName.describe('The kind'),
      }),
    )
    .max(8)
    .default([])
    .meta({ form: 'a list of at most 8 kinds' })
    .describe('Kinds of routes. Default: all that its protocol can serve'),
});

const requestFilter = z
  .object({
    type: z.enum(['ExternalAuth', 'ExtensionRef']).describe('What it is'),
    externalAuth: externalAuth
      .exactOptional()
      .meta({ describedElsewhere: true })
      .describe('A service that decides, as in an HTTPRoute'),
    extensionRef: localRef.exactOptional().describe('A Filter, as in an HTTPRoute'),
  })
  .check(
    checkRules(value =>
      choiceBreaches(value, { ExternalAuth: 'externalAuth', ExtensionRef: 'extensionRef' }),
    ),
  );

/** Where clients connect, in a Gateway or in a ListenerSet. */
export const listener = z
  .object({
    name: sectionName.describe('Its name, which routes may refer to'),
    hostname: hostname.exactOptional().describe('Host names that it serves. Default: all'),
    port: portNumber.describe('Port that clients connect to'),
    protocol: z
      .string()
      .min(1)
      .max(255)
      .regex(
        /^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?$|[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[A-Za-z0-9]+$/,
      )
      .meta({ form: '`HTTP`, `HTTPS`, `TLS`, `TCP` or `UDP`' })
      .describe('What clients speak'),
    tls: tls.exactOptional().describe('How TLS is spoken, for `HTTPS` and `TLS`'),
    allowedRoutes: allowedRoutes.prefault({}).describe('Routes that may attach'),
    filters: z
      .object({
        requests: listOf(16, requestFilter, 'filters')
          .default([])
          .describe('Filters of every request, for `HTTP` and `HTTPS`'),
      })
      .exactOptional()
      .describe('Filters of the listener'),
  })
  .check(checkRules(listenerBreaches));

type Listener = {
  readonly protocol: string;
  readonly hostname?: string;
  readonly tls?: z.output<typeof tls>;
  readonly filters?: unknown;
};

function listenerBreaches({ protocol, hostname, tls, filters }: Listener) {
  const broken = (field: string, message: string) => ({ path: [field], message });
  const isHttp = protocol === 'HTTP' || protocol === 'HTTPS';
  const isPlain = ['HTTP', 'TCP', 'UDP'].includes(protocol);
  const isBare = protocol === 'TCP' || protocol === 'UDP';
  return [
    ...(isPlain && tls !== undefined
      ? [broken('tls', `\`tls\` is not for \`protocol: ${protocol}\``)]
      : []),
    ...(protocol === 'HTTPS' && tls?.mode === 'Passthrough'
      ? [broken('tls', '`mode` must be `Terminate` for `protocol: HTTPS`')]
      : []),
    ...(protocol === 'TLS' && tls === undefined
      ? [broken('tls', '`tls` with a `mode` is required for `protocol: TLS`')]
      : []),
    ...(isBare && hostname !== undefined
      ? [broken('hostname', `\`hostname\` is not for \`protocol: ${protocol}\``)]
      : []),
    ...(!isHttp && filters !== undefined
      ? [broken('filters', '`filters` are only for `HTTP` and `HTTPS`')]
      : []),
  ];
}

/** The listeners of a Gateway or of a ListenerSet. */
export const listeners = someOf(64, listener, 'listeners').check(checkRules(listBreaches));

type Named = Listener & { readonly name: string; readonly port: number };

function listBreaches(list: readonly Named[]) {
  const placeOf = ({ port, protocol, hostname = '*' }: Named) => `${port} ${protocol} ${hostname}`;
  const names = list.map(({ name }) => name);
  const places = list.map(placeOf);
  return list.flatMap(({ name }, index) => [
    ...(names.indexOf(name) === index
      ? []
      : [{ path: [index, 'name'], message: `there is a listener "${name}" before` }]),
    ...(places.indexOf(places[index] ?? '') === index
      ? []
      : [{ path: [index], message: 'a listener before has this port, protocol and hostname' }]),
  ]);
}

export type ListenerSpec = z.output<typeof listener>;
