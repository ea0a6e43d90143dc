import { createHash } from 'node:crypto';
import type { EdgeGateway, EdgeSystem } from './edge-gateway.ts';
import { edgeAnnotations, edgeLabels, podSelector } from './edge-labels.ts';
import { edgeName } from './edge-names.ts';

/** The user of Envoy's image. */
const ENVOY_USER = { runAsUser: 101, runAsGroup: 101, fsGroup: 101 };
/** Keys are read by the pod's group only. */
const KEY_MODE = 0o440;

/**
 * Returns the template of a Gateway's pods. It names no port of a listener, so a new listener
 * restarts no pod. `deploy/kubernetes/system/edge.yaml` says why most of it is as it is.
 */
export function edgePod(gateway: EdgeGateway, system: EdgeSystem): object {
  const { pullSecrets, fixedUser } = system;
  return {
    metadata: {
      labels: edgeLabels(gateway, system),
      annotations: {
        ...edgeAnnotations(gateway),
        // A proxy reads its bootstrap once. A new bootstrap needs new pods.
        'gateway.internal/bootstrap': hashOf(system.files),
      },
    },
    spec: {
      serviceAccountName: edgeName(gateway.name, gateway.className),
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: {
        runAsNonRoot: true,
        ...(fixedUser ? ENVOY_USER : {}),
        seccompProfile: { type: 'RuntimeDefault' },
        // Listeners have the ports that clients know, such as 80.
        sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
      },
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'kubernetes.io/hostname',
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: { matchLabels: podSelector(gateway) },
        },
      ],
      terminationGracePeriodSeconds: 60,
      ...(pullSecrets.length > 0 ? { imagePullSecrets: pullSecrets.map(name => ({ name })) } : {}),
      containers: [container(gateway, system)],
      volumes: volumes(gateway, system),
    },
  };
}

function container({ group, deployment }: EdgeGateway, { image }: EdgeSystem): object {
  const { resources } = deployment;
  return {
    name: 'edge',
    image,
    command: [
      ...['envoy', '-c', '/etc/gateway/edge.bootstrap.yaml'],
      ...['--service-cluster', group, '--service-node', '$(POD_NAME)'],
      ...['--disable-hot-restart', '--concurrency', workers(resources.limits.cpu)],
      ...['-l', 'warning', '--component-log-level', 'rbac:error'],
    ],
    env: [{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
    ports: [{ name: 'stats', containerPort: 9902, protocol: 'TCP' }],
    // It answers once the control plane has sent the listeners (`waitsForListeners`).
    readinessProbe: {
      httpGet: { path: '/ready', port: 'stats' },
      periodSeconds: 5,
      timeoutSeconds: 3,
    },
    lifecycle: {
      preStop: { exec: { command: ['bash', '/etc/gateway/drain-envoy.sh', '25', '20'] } },
    },
    resources,
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'bootstrap', mountPath: '/etc/gateway', readOnly: true },
      { name: 'identity', mountPath: '/run/identity', readOnly: true },
    ],
  };
}

/** One Secret of the namespace holds the identities of all its Gateways, by node group. */
function volumes({ group }: EdgeGateway, { name }: EdgeSystem): readonly object[] {
  const items = [
    { key: `${group}.crt`, path: 'tls.crt' },
    { key: `${group}.key`, path: 'tls.key' },
    { key: 'ca.crt', path: 'ca.crt' },
  ];
  return [
    { name: 'bootstrap', configMap: { name } },
    { name: 'identity', secret: { secretName: name, defaultMode: KEY_MODE, items } },
  ];
}

/** Returns as many workers as the limit has CPUs. */
function workers(cpu: string): string {
  const cpus = cpu.endsWith('m') ? Number(cpu.slice(0, -1)) / 1000 : Number(cpu);
  return String(Math.max(1, Math.ceil(cpus)));
}

function hashOf(files: EdgeSystem['files']): string {
  return createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16);
}
