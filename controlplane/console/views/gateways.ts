import type { NamedCondition } from '#controlplane/gateway-api/condition.ts';
import type {
  GatewayStatus,
  ListenerSetStatus,
} from '#controlplane/gateway-api/gateway-api-status.ts';
import type { GatewayApi } from '#controlplane/gateway-api/served-gateway.ts';
import { type GatewayProgress, withProgrammed } from '#controlplane/status/gateway-programmed.ts';
import type { ResourceState } from '#controlplane/status/resource-state.ts';
import type { Status } from '#controlplane/status/status.ts';
import type { ListenerSpec } from '#resources/kinds/gateway-api/listener.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { type ProblemRow, problemId, problemRows } from './problems.ts';

/** A Gateway with its listeners. */
export type GatewayRow = {
  readonly id: string;
  readonly className: string;
  /** The node group of its proxies. */
  readonly nodeGroup: string;
  readonly state: ResourceState;
  readonly addresses: readonly string[];
  readonly programmed: ConditionView;
  /** Its own, then those of its ListenerSets. */
  readonly listeners: readonly ListenerRow[];
  readonly problems: readonly ProblemRow[];
  readonly file: string;
  readonly line: number;
};

/** What a condition says. `message` is empty where nothing is wrong. */
export type ConditionView = {
  readonly is: 'yes' | 'no' | 'not yet';
  readonly message: string;
};

export type ListenerRow = {
  /** `Gateway/namespace/name/section` or `ListenerSet/namespace/name/section`. */
  readonly id: string;
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
  /** `*` stands for any. */
  readonly hostname: string;
  readonly attachedRoutes: number;
  readonly programmed: ConditionView;
};

type Facts = Pick<Status, 'problems' | 'proxies'> & {
  readonly states: Status['resources'];
  readonly resources: Pick<ResourceSet, 'gateways' | 'listenerSets'>;
  readonly api: GatewayApi;
  /** Returns what a Gateway has to be reached by, by its id. */
  edgeOf(id: string): Omit<GatewayProgress, 'proxies'>;
};

/** Returns the Gateways of our classes, in the order of their ids. */
export function gatewayRows({
  api,
  edgeOf,
  problems,
  proxies,
  resources,
  states,
}: Facts): readonly GatewayRow[] {
  const stateOf = new Map(states.map(({ id, state }) => [id, state]));
  const origins = [...resources.gateways, ...resources.listenerSets];
  const specsOf = new Map<string, readonly ListenerSpec[]>(
    origins.map(({ id, spec }) => [id, spec.listeners]),
  );
  const problemsOf = Map.groupBy(problems, problemId);
  const waiting = new Set(
    proxies.filter(({ standing }) => standing !== 'settled').map(({ group }) => group),
  );
  const settled = new Set(proxies.map(({ group }) => group).filter(group => !waiting.has(group)));
  const setsOf = Map.groupBy(
    [...api.statuses].flatMap(([id, status]) =>
      status.kind === 'ListenerSet' ? [{ id, status }] : [],
    ),
    ({ status }) => status.gateway,
  );
  return api.gateways.flatMap(({ gateway, group }) => {
    const status = api.statuses.get(gateway.id);
    if (status?.kind !== 'Gateway') return [];
    const all = [{ id: gateway.id, status }, ...(setsOf.get(gateway.id) ?? [])];
    const own = all.flatMap(({ id }) => problemsOf.get(id) ?? []);
    const state = stateOf.get(gateway.id) ?? 'in force';
    const progress = {
      ...edgeOf(gateway.id),
      proxies: answerOf(state, own[0]?.message, settled.has(group)),
    };
    const { conditions } = withProgrammed(status, {}, progress);
    return [
      {
        id: gateway.id,
        className: gateway.spec.gatewayClassName,
        nodeGroup: group,
        state,
        addresses: (progress.addresses ?? []).map(({ value }) => String(value)),
        programmed: viewOf(conditions),
        listeners: all.flatMap(({ id, status: each }) =>
          listenersOf(id, each, specsOf.get(id) ?? [], progress),
        ),
        problems: problemRows(own),
        ...gateway.source,
      },
    ];
  });
}

/** Problems of Gateways that are not in force. */
export type AbsentGateways = { readonly absent: readonly ProblemRow[] };

/** Returns the text that a search looks through. */
export function gatewayText({
  addresses,
  className,
  id,
  listeners,
  nodeGroup,
}: GatewayRow): string {
  const texts = listeners.map(each => `${each.id} ${each.protocol} ${each.port} ${each.hostname}`);
  return [id, className, nodeGroup, ...addresses, ...texts].join(' ');
}

function answerOf(
  state: ResourceState,
  message: string | undefined,
  isSettled: boolean,
): GatewayProgress['proxies'] {
  if (state === 'in force') return isSettled ? 'accepted' : undefined;
  return state === 'trying' ? undefined : { rejected: message ?? state };
}

function listenersOf(
  id: string,
  status: GatewayStatus | ListenerSetStatus,
  specs: readonly ListenerSpec[],
  progress: GatewayProgress,
): readonly ListenerRow[] {
  const { listeners } = withProgrammed(status, {}, progress);
  return listeners.flatMap(({ attachedRoutes, conditions, name }) => {
    const spec = specs.find(each => each.name === name);
    if (spec === undefined) return [];
    const { hostname = '*', port, protocol } = spec;
    const programmed = viewOf(conditions);
    return [{ id: `${id}/${name}`, name, protocol, port, hostname, attachedRoutes, programmed }];
  });
}

/** What is wrong before the proxies are asked comes first. */
function viewOf(conditions: readonly NamedCondition[]): ConditionView {
  const programmed = conditions.find(({ type }) => type === 'Programmed');
  const wrong = conditions.find(({ status, type }) => status === 'False' && WANTED.includes(type));
  if (programmed?.status === 'True') return { is: 'yes', message: wrong?.message ?? '' };
  const { message = '', reason = '' } = wrong ?? programmed ?? {};
  return {
    is: programmed?.status === 'Unknown' ? 'not yet' : 'no',
    message: message === '' ? reason : message,
  };
}

const WANTED: readonly string[] = ['Accepted', 'ResolvedRefs'];
