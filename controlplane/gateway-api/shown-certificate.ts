import type { Memo } from '#controlplane/compile/memo.ts';
import type {
  BackendTarget,
  ExternalStage,
  ListenerFilters,
  SecretName,
  ServedListener,
  ServedRoute,
  ServedRule,
} from './served-gateway.ts';

/**
 * Returns the listener with the certificate that its Gateway shows to backends. Gateways that share
 * an edge show their own. The result stays the same object while both are the same.
 */
export function showing(
  listener: ServedListener,
  certificate: SecretName | undefined,
  memo: Memo,
): ServedListener {
  if (certificate === undefined) return listener;
  const of = (target: BackendTarget) => shownTo(target, certificate);
  return memo.of(listener, 'with the certificate', [certificate], () => ({
    ...listener,
    ...(listener.filters === undefined ? {} : { filters: filtersWith(listener.filters, of) }),
    routes: listener.routes.map(route =>
      memo.of(route, 'with the certificate', [certificate], () => routeWith(route, of)),
    ),
  }));
}

/** A backend without TLS asks for no certificate. */
function shownTo(target: BackendTarget, clientCertificate: SecretName): BackendTarget {
  const { tls } = target;
  if (tls === undefined || tls === 'closed') return target;
  return { ...target, tls: { ...tls, clientCertificate } };
}

type Change = (target: BackendTarget) => BackendTarget;

function routeWith(route: ServedRoute, change: Change): ServedRoute {
  const rules: readonly ServedRule<unknown>[] = route.rules;
  // Only targets change, so the rules are still those of the route's kind.
  return { ...route, rules: rules.map(rule => ruleWith(rule, change)) } as ServedRoute;
}

function ruleWith<Rule>(rule: ServedRule<Rule>, change: Change): ServedRule<Rule> {
  return {
    ...rule,
    backends: rule.backends.map(({ target, ...rest }) =>
      target === undefined ? rest : { ...rest, target: change(target) },
    ),
    mirrors: new Map([...rule.mirrors].map(([at, target]) => [at, change(target)])),
    externals: rule.externals.map(stage => stageWith(stage, change)),
  };
}

function filtersWith(filters: ListenerFilters, change: Change): ListenerFilters {
  const stages = filters.stages.map(stage =>
    'external' in stage ? stageWith(stage, change) : stage,
  );
  return { ...filters, stages };
}

function stageWith(stage: ExternalStage, change: Change): ExternalStage {
  return { ...stage, target: change(stage.target) };
}
