import * as z from 'zod';
import { gatewayApiKind } from '../gateway-api/gateway-api-kind.ts';
import { labelSelector } from '../gateway-api/label-selector.ts';
import { listeners } from '../gateway-api/listener.ts';
import { objectName } from '../gateway-api/names.ts';
import { secretRef } from '../gateway-api/object-ref.ts';
import { frontendTls } from './frontend-tls.ts';
import { gatewayAddresses } from './gateway-address.ts';
import { infrastructure } from './infrastructure.ts';

const allowedListeners = z.object({
  namespaces: z
    .object({
      from: z
        .enum(['All', 'Selector', 'Same', 'None'])
        .default('None')
        .describe('Namespaces whose ListenerSets may attach'),
      selector: labelSelector
        .exactOptional()
        .describe('Labels of namespaces, for `from: Selector`'),
    })
    .prefault({})
    .describe('Where ListenerSets may come from'),
});

const tls = z.object({
  backend: z
    .object({
      clientCertificateRef: secretRef
        .exactOptional()
        .describe('Secret with the certificate that it shows to backends'),
    })
    .exactOptional()
    .describe('Connections to backends'),
  frontend: frontendTls.exactOptional().describe('Connections of clients'),
});

const schema = z.object({
  gatewayClassName: objectName.describe('Name of its GatewayClass'),
  listeners: listeners.describe('Where clients connect'),
  addresses: gatewayAddresses.default([]).describe('Addresses that it asks for'),
  infrastructure: infrastructure.exactOptional().describe('What the objects made for it get'),
  allowedListeners: allowedListeners.prefault({}).describe('ListenerSets that may attach'),
  tls: tls.exactOptional().describe('TLS of all listeners'),
  defaultScope: z
    .enum(['All', 'None'])
    .exactOptional()
    .describe('`All`: routes with `useDefaultGateways: All` attach to it'),
});

/** A gateway of Gateway API (https://gateway-api.sigs.k8s.io/). */
export const gateway = gatewayApiKind(
  'Where clients connect: listeners with port, protocol, host name and TLS.',
  schema,
);
