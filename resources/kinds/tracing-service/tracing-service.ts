import { caution, type Finding } from '#resources/finding.ts';
import type { KindDefinition } from '#resources/schema/kind.ts';
import { serviceIn } from '#resources/words/service.ts';
import { type TracingServiceSpec, tracingServiceSpec } from './tracing-service-spec.ts';

/** Where the proxies send their spans. Without one no request is traced. */
export const tracingService: KindDefinition<typeof tracingServiceSpec> = {
  summary: 'Where the proxies send the spans of requests. Without one they trace nothing.',
  schema: tracingServiceSpec,
  fieldsAt: 'spec',
  unknownField: 'warning',
  check: ({ custom_tags, sampling, tag_headers }) => [
    ...checkTags(custom_tags, tag_headers),
    ...checkSampling(sampling),
  ],
  inNamespace: (spec, namespace) => ({ ...spec, service: serviceIn(spec.service, namespace) }),
};

function checkTags(
  tags: TracingServiceSpec['custom_tags'],
  headers: TracingServiceSpec['tag_headers'],
): readonly Finding[] {
  if (tags === undefined || headers === undefined) return [];
  return [caution(['tag_headers'], '`tag_headers` do not count beside `custom_tags`')];
}

/** Envoy's steps a percent. It cuts that of clients to whole percents, and rounds the others. */
const STEPS = { client: 1, random: 100, overall: 100 } as const;

function checkSampling(sampling: TracingServiceSpec['sampling'] | undefined): readonly Finding[] {
  return (['client', 'random', 'overall'] as const).flatMap(name => {
    const value = sampling?.[name] ?? 0;
    const steps = STEPS[name];
    const counted = (name === 'client' ? Math.trunc : Math.round)(value * steps) / steps;
    const message = `Envoy samples in steps of ${1 / steps} percent here, so this counts as ${counted}`;
    return value === counted ? [] : [caution(['sampling', name], message)];
  });
}
