import type { LogServiceSpec } from '#resources/kinds/log-service/log-service-spec.ts';
import type { TracingServiceSpec } from '#resources/kinds/tracing-service/tracing-service-spec.ts';
import type { ResourceSet } from '#resources/resource-set.ts';

/** The operator's services that proxies tell of requests. */
export type Collectors = {
  readonly log: LogServiceSpec | undefined;
  readonly tracing: TracingServiceSpec | undefined;
};

/** Returns these services, and the ids of the resources that name them. */
export function collectorsOf({ logServices, tracingServices }: ResourceSet): {
  readonly collectors: Collectors;
  readonly origins: readonly string[];
} {
  const [log] = logServices;
  const [tracing] = tracingServices;
  return {
    collectors: { log: log?.spec, tracing: tracing?.spec },
    origins: [tracing, log].flatMap(resource => resource?.id ?? []),
  };
}
