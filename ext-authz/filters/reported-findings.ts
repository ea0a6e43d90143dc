import type { OAuth2Definition } from '#ext-authz/oauth2/tokens/credential-grant.ts';
import type { Definitions, FilterDefinition } from '#ext-authz/policy/filter-settings.ts';
import type { ProviderAspect } from '#ext-authz/provider/provider-listener.ts';
import type { StoreFault } from '#ext-authz/store/store-fault.ts';
import type { ReportedFinding } from '#process/report.ts';
import { resourceId } from '#resources/resource.ts';
import type { FilterWatch } from './filter-watch.ts';

/**
 * Returns all that is wrong with these Filters, for their operators. `opened` are those that can
 * run. `storeFault` is why the store cannot be used.
 */
export function reportedFindings(
  definitions: Definitions,
  opened: ReadonlyMap<string, { readonly watch: FilterWatch }>,
  storeFault: StoreFault | undefined,
): readonly ReportedFinding[] {
  return [...definitions].flatMap(([name, definition]) => {
    const watch = opened.get(name)?.watch;
    if (watch === undefined) return [outOfService(definition, CANNOT_RUN)];
    return storeFault === undefined || definition.type === 'JWT'
      ? found(definition, watch)
      : [withoutStore(definition, storeFault), ...found(definition, watch)];
  });
}

function found(definition: FilterDefinition, watch: FilterWatch): readonly ReportedFinding[] {
  return watch.findings().map(({ aspect, severity, message }) => ({
    resource: idOf(definition),
    field: fieldOf(definition, aspect),
    severity,
    message,
    outOfService: false,
  }));
}

/** Returns the field that it comes from, or the field by which the rest was found. */
function fieldOf({ type }: FilterDefinition, aspect: ProviderAspect): string {
  if (type === 'JWT') return 'spec.JWT.jwksURI';
  if (aspect === 'accessTokens') return 'spec.OAuth2.accessTokenValidation';
  return aspect === 'client' ? 'spec.OAuth2.clientID' : 'spec.OAuth2.authorizationURL';
}

const CANNOT_RUN = 'ext-authz cannot run it, and its log says why. What refers to it answers 500';

function withoutStore(
  definition: OAuth2Definition,
  { isRead, isWritten, reason }: StoreFault,
): ReportedFinding {
  const isLogin = definition.settings.grantType === 'AuthorizationCode';
  const store = 'the store of sessions and tokens';
  if (isWritten) {
    const message = `${store} is nearly full (${reason})`;
    return { ...outOfService(definition, message), severity: 'warning', outOfService: false };
  }
  if (isRead) {
    const refused = isLogin
      ? 'no login begins and no session is renewed, while other sessions go on'
      : 'requests that need a new token get 503';
    const message = `${store} takes nothing new (${reason}). Until it does, ${refused}`;
    return { ...outOfService(definition, message), outOfService: false };
  }
  const refused = isLogin
    ? 'no login begins, and requests with a login get 503'
    : 'requests that need a token from the provider or the store get 503';
  return outOfService(
    definition,
    `${store} does not answer (${reason}). Until it does, ${refused}`,
  );
}

function outOfService(definition: FilterDefinition, message: string): ReportedFinding {
  return {
    ...{ resource: idOf(definition), field: '', severity: 'error', message, outOfService: true },
  };
}

function idOf({ namespace, name }: FilterDefinition): string {
  return resourceId('Filter', namespace, name);
}
