import { pino } from 'pino';
import type { Registry } from 'prom-client';
import { createMetrics as controlplane } from '#controlplane/status/metrics.ts';
import { createMetrics as extAuthz } from '#ext-authz/metrics.ts';
import { createMetrics as rateLimit } from '#ratelimit-service/metrics.ts';
import { kubernetesReports } from '../sds/instances/kubernetes/kubernetes-reports.ts';
import { createMetrics as sds } from '../sds/metrics.ts';
import { createSecretMetrics } from '../sds/secrets/secret-metrics.ts';

const INTRODUCTION = `# Metrics

Each service answers \`/metrics\` in the text format of Prometheus.
See [addresses](addresses.md) for where. With \`WORKERS\` the answer is the sum of all processes.

Every service also has the metrics of its process, \`process_…\` and \`nodejs_…\`.
Names in labels are those of the operator. No label holds a secret or a client's words.
Envoy has metrics of its own at its stats listener, \`/stats/prometheus\`.
[Read metrics with Prometheus](../how-to/metrics.md) has dashboards and alerts.
`;

type Metric = {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labelNames: readonly string[];
};

/** Returns the page of the metrics, in Markdown, as the registries of the services have them. */
export async function metricsPage(): Promise<string> {
  const sections = await Promise.all(
    registries().map(async ([service, registry]) => `## ${service}\n\n${await table(registry)}\n`),
  );
  return [INTRODUCTION, ...sections].join('\n');
}

function registries(): readonly (readonly [service: string, registry: Registry])[] {
  const none = () => {
    throw new Error('a page is written without a running service');
  };
  const discovery = sds().registry;
  createSecretMetrics(discovery, none);
  kubernetesReports(pino({ enabled: false }), discovery, none);
  return [
    ['controlplane', controlplane(none).registry],
    ['sds', discovery],
    ['ext-authz', extAuthz().registry],
    ['ratelimit-service', rateLimit(none).registry],
  ];
}

async function table(registry: Registry): Promise<string> {
  const own = metricsOf(registry).filter(({ name }) => /^(gateway|sds)_/.test(name));
  const rows = own
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, type, labelNames, help }) => {
      const labels = labelNames.map(label => `\`${label}\``).join(', ');
      return `| \`${name}\` | ${type} | ${labels} | ${help} |`;
    });
  return ['| metric | type | labels | meaning |', '|---|---|---|---|', ...rows].join('\n');
}

function metricsOf(registry: Registry): readonly Metric[] {
  return registry.getMetricsAsArray() as unknown as readonly Metric[];
}
