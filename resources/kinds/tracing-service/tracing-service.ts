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
  check: ({ custom_tags, tag_headers }) => checkTags(custom_tags, tag_headers),
  inNamespace: (spec, namespace) => ({ ...spec, service: serviceIn(spec.service, namespace) }),
};

function checkTags(
  tags: TracingServiceSpec['custom_tags'],
  headers: TracingServiceSpec['tag_headers'],
): readonly Finding[] {
  if (tags === undefined || headers === undefined) return [];
  return [caution(['tag_headers'], '`tag_headers` do not count beside `custom_tags`')];
}
