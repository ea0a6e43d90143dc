import { coveringDomains } from '#controlplane/compile/domain-cover.ts';
import type { Fault } from './condition.ts';
import type { ListenerOrigin, WrittenListener } from './route-parent.ts';

/**
 * Returns the faults of listeners that cannot be told apart, by listener. `listeners` are all that
 * share addresses, in the order of precedence. Of one Gateway or ListenerSet no listener wins. Over
 * several, the one with precedence does. See `listeners` of Gateway and ListenerSet in Gateway API.
 */
export function listenerConflicts(
  listeners: readonly WrittenListener[],
): ReadonlyMap<WrittenListener, Fault> {
  const conflicts = new Map<WrittenListener, Fault>();
  const served = listeners.filter(({ protocol }) => protocol !== undefined);
  for (const each of Map.groupBy(served, portOf).values()) {
    const taken = new Port();
    for (const own of Map.groupBy(each, ({ origin }) => origin).values()) {
      const left = own.filter(listener => !tell(conflicts, listener, taken.rivalOf(listener)));
      const alone = left.filter(
        listener =>
          !tell(
            conflicts,
            listener,
            left.find(other => other !== listener && clash(listener, other)),
          ),
      );
      for (const listener of alone) taken.add(listener);
    }
  }
  return conflicts;
}

function portOf({ protocol, spec }: WrittenListener): string {
  return `${protocol === 'UDP' ? 'UDP' : 'TCP'} ${spec.port}`;
}

/** The listeners of a port that were accepted so far. Only those of one family share a port. */
class Port {
  readonly #byHostname = new Map<string, WrittenListener>();

  rivalOf(listener: WrittenListener): WrittenListener | undefined {
    const [any] = this.#byHostname.values();
    const same = this.#byHostname.get(listener.hostname);
    return [any, same].find(other => other !== undefined && clash(listener, other) !== undefined);
  }

  add(listener: WrittenListener): void {
    this.#byHostname.set(listener.hostname, listener);
  }
}

/** @returns whether the listener has a rival */
function tell(
  conflicts: Map<WrittenListener, Fault>,
  listener: WrittenListener,
  rival: WrittenListener | undefined,
): boolean {
  if (rival !== undefined) conflicts.set(listener, faultOf(listener, rival));
  return rival !== undefined;
}

/** Listeners with TLS share a port as long as the name that clients ask for tells them apart. */
function clash(a: WrittenListener, b: WrittenListener): string | undefined {
  if (familyOf(a) !== familyOf(b)) return PROTOCOL;
  if (a.protocol === 'TCP' || a.protocol === 'UDP') return 'ListenerConflict';
  if (a.hostname !== b.hostname) return undefined;
  return a.protocol === b.protocol ? 'HostnameConflict' : PROTOCOL;
}

const PROTOCOL = 'ProtocolConflict';

function familyOf({ protocol }: WrittenListener): string | undefined {
  return protocol === 'HTTPS' ? 'TLS' : protocol;
}

function faultOf(listener: WrittenListener, rival: WrittenListener): Fault {
  return {
    reason: clash(listener, rival) ?? PROTOCOL,
    field: listener.field,
    message: `on port ${listener.spec.port} it cannot be told apart from ${nameOf(rival, listener.origin)}`,
  };
}

/** What is in another namespace may not be the reader's to know. */
function nameOf({ origin, spec }: WrittenListener, reader: ListenerOrigin): string {
  return origin.namespace === reader.namespace
    ? `the listener "${spec.name}" of ${origin.kind} ${origin.name}`
    : 'a listener of another namespace';
}

/**
 * Returns the listeners with TLS whose host names meet that of another listener with TLS on the
 * same port. See `OverlappingTLSConfig` in Gateway API.
 */
export function overlappingTls(
  listeners: readonly WrittenListener[],
): ReadonlySet<WrittenListener> {
  const withTls = listeners.filter(({ protocol }) => protocol === 'HTTPS' || protocol === 'TLS');
  const byPort = Map.groupBy(withTls, ({ spec }) => spec.port);
  return new Set([...byPort.values()].flatMap(overlapping));
}

function overlapping(listeners: readonly WrittenListener[]): readonly WrittenListener[] {
  const names = new Set(listeners.map(({ hostname }) => hostname));
  const meeting = [...names].flatMap(name => {
    const [, ...wider] = coveringDomains(name).filter(cover => names.has(cover));
    return wider.length === 0 ? [] : [name, ...wider];
  });
  const met = new Set(meeting);
  return listeners.filter(({ hostname }) => met.has(hostname));
}
