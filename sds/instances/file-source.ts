import type { After } from '#process/after.ts';
import { type AddressBook, addressBook } from './address-book.ts';
import { type DeclaredItem, isDnsName } from './declared-item.ts';
import type { Instance, Instances } from './instance.ts';
import type { InstanceSource } from './instance-source.ts';
import type { KeptContent } from './kept-file-content.ts';
import { type Declarations, type FileProblem, parseInstancesFile } from './parse-instances-file.ts';
import type { Unresolved } from './unresolved-names.ts';
import type { WatchName } from './watch-dns.ts';
import { type FileState, watchFile } from './watch-file.ts';

/** What one look at the file has brought. */
export type FileReading = {
  readonly isMissing: boolean;
  /** Why the file, or services in it, cannot be used. */
  readonly problems: readonly FileProblem[];
  /** Whether something that was read before stands in for what cannot be used. */
  readonly hasEarlier: boolean;
};

export type FileSourceOptions = {
  readonly path: string;
  readonly watchName: WatchName;
  readonly kept: KeptContent;
  /** Called after each look that found something else than the one before. */
  onRead(reading: FileReading): void;
  /** Called with the services that have no instance, since DNS has no address for these names. */
  onUnresolved(services: Unresolved): void;
  readonly after: After;
};

/** The longest wait for a file that is being written or cannot be used, in ms. */
const WAIT_MS = 10_000;
/** Addresses of names change often. They are kept at most once in this time, in ms. */
const KEEP_MS = 10_000;

/**
 * Watches a YAML file that declares instances by address or by DNS name. See parseInstancesFile for
 * the format.
 * A wrong file, or a wrong service in it, changes nothing. A file that vanishes changes nothing
 * either. A service keeps its instances until all its names were queried and one had an address.
 * All of this also holds over a restart, by what was kept. Where nothing was kept, a file that is
 * missing has no instances until it appears.
 * The first answer waits for one query for each name. It also waits until the file is no longer
 * being written, and where nothing was kept, until it can be used. Both take 10 seconds at most.
 */
export function fileSource(options: FileSourceOptions): InstanceSource {
  return { watch: onChange => watchInstances(options, onChange) };
}

function watchInstances(
  options: FileSourceOptions,
  onChange: (instances: Instances) => void,
): () => void {
  const { after, kept, onUnresolved, path, watchName } = options;
  const earlier = kept.read();
  let read = earlier?.declared;
  let declared: Declarations | undefined;
  let published: Instances | undefined;
  let isKept = true;
  let cancelKeep: (() => void) | undefined;
  const keep = () => {
    cancelKeep?.();
    cancelKeep = undefined;
    isKept = true;
    if (read !== undefined && published !== undefined)
      kept.write({ declared: read, addresses: book.all(), instances: published });
  };
  const publish = () => {
    const next = declared && toInstances(declared, book, published, earlier?.instances);
    if (declared === undefined || next === undefined) return;
    published = next;
    onUnresolved(unresolved(declared, book));
    onChange(next);
    if (!isKept) keep();
  };
  const onAddresses = () => {
    publish();
    cancelKeep ??= after(KEEP_MS, keep);
  };
  const book = addressBook(watchName, onAddresses, earlier?.addresses);
  const take = (next: Declarations) => {
    declared = next;
    book.follow(namesOf(next));
    publish();
  };
  const cancelWait = after(WAIT_MS, () => {
    if (declared === undefined) take(read ?? new Map());
  });
  const endFile = watchFile(path, state => {
    const next = nextDeclarations(state, read, options);
    isKept &&= next === read;
    read = next;
    if (next !== undefined || state.kind === 'missing') take(next ?? new Map());
  });
  return () => {
    cancelWait();
    cancelKeep?.();
    endFile();
    book.follow(new Set());
  };
}

/** @returns undefined when nothing was ever read */
function nextDeclarations(
  state: FileState,
  last: Declarations | undefined,
  { onRead }: FileSourceOptions,
): Declarations | undefined {
  const hasEarlier = last !== undefined;
  if (state.kind === 'missing') {
    onRead({ isMissing: true, problems: [], hasEarlier });
    return last;
  }
  if (state.kind === 'unreadable') {
    const problems = [{ line: 1, message: state.message }];
    onRead({ isMissing: false, problems, hasEarlier });
    return last;
  }
  const { services, rejected, problems } = parseInstancesFile(state.text);
  onRead({ isMissing: false, problems, hasEarlier });
  if (services === undefined) return last;
  const kept = rejected.flatMap(name => entryOf(last, name));
  return new Map([...services, ...kept]);
}

function entryOf<T>(map: ReadonlyMap<string, T> | undefined, name: string): readonly [string, T][] {
  const value = map?.get(name);
  return value === undefined ? [] : [[name, value]];
}

function namesOf(declared: Declarations): ReadonlySet<string> {
  const items = [...declared.values()].flat();
  return new Set(items.flatMap(item => (isDnsName(item) ? [item.dns] : [])));
}

/** An empty list of items is meant. */
function unresolved(declared: Declarations, book: AddressBook): Unresolved {
  return new Map(
    [...declared].flatMap(([service, items]) => {
      const names = items.flatMap(item => (isDnsName(item) ? [item.dns] : []));
      const isOnlyNames = names.length > 0 && names.length === items.length;
      const isEmpty = isOnlyNames && names.every(name => book.addresses(name)?.length === 0);
      return isEmpty ? [[service, names] as const] : [];
    }),
  );
}

/** @returns undefined when nothing was published yet and some name was not queried */
function toInstances(
  declared: Declarations,
  book: AddressBook,
  published: Instances | undefined,
  earlier: Instances | undefined,
) {
  const last = published ?? earlier;
  const instances = new Map<string, readonly Instance[]>();
  for (const [service, items] of declared) {
    const resolved = resolveItems(items, book);
    if (resolved === undefined && published === undefined) return undefined;
    const kept = resolved === undefined || isNew(items, book) ? last?.get(service) : undefined;
    const known = kept ?? resolved;
    if (known !== undefined) instances.set(service, known);
  }
  return instances;
}

/** Names that never had an address take nothing away, since one of them may be misspelt. */
function isNew(items: readonly DeclaredItem[], book: AddressBook): boolean {
  return items.length > 0 && items.every(item => isDnsName(item) && !book.wasResolved(item.dns));
}

function resolveItems(items: readonly DeclaredItem[], book: AddressBook): Instance[] | undefined {
  const resolved: Instance[] = [];
  for (const item of items) {
    if (!isDnsName(item)) {
      resolved.push(item);
      continue;
    }
    const addresses = book.addresses(item.dns);
    if (addresses === undefined) return undefined;
    resolved.push(...addresses.map(address => ({ address, port: item.port, hostname: item.dns })));
  }
  return resolved;
}
