import { type AddressBook, addressBook } from './address-book.ts';
import { type DeclaredItem, isDnsName } from './declared-item.ts';
import type { Instance, Instances } from './instance.ts';
import type { InstanceSource } from './instance-source.ts';
import { type Declarations, type FileProblem, parseInstancesFile } from './parse-instances-file.ts';
import type { Unresolved } from './unresolved-names.ts';
import type { WatchName } from './watch-dns.ts';
import { type FileState, watchFile } from './watch-file.ts';

export type FileSourceOptions = {
  readonly path: string;
  readonly watchName: WatchName;
  /** Called when the file, or a service in it, cannot be used. What was known before stays. */
  onProblem(problem: FileProblem): void;
  /** Called with the services that have no instance, since DNS has no address for these names. */
  onUnresolved(services: Unresolved): void;
  /**
   * Called when there is no file. Without an earlier one there are no instances until it appears.
   */
  onMissing(): void;
};

/**
 * Watches a YAML file that declares instances by address or by DNS name. See parseInstancesFile for
 * the format.
 * A wrong file, or a wrong service in it, changes nothing. A file that vanishes changes nothing
 * either. A service keeps its instances until all its names were queried and one had an address.
 * The first answer waits for a readable file and one query for each name in it.
 */
export function fileSource(options: FileSourceOptions): InstanceSource {
  return { watch: onChange => watchInstances(options, onChange) };
}

function watchInstances(
  options: FileSourceOptions,
  onChange: (instances: Instances) => void,
): () => void {
  let declared: Declarations | undefined;
  let published: Instances | undefined;
  const publish = () => {
    const next = declared && toInstances(declared, book, published);
    if (next === undefined) return;
    published = next;
    options.onUnresolved(unresolved(declared ?? new Map(), book));
    onChange(next);
  };
  const book = addressBook(options.watchName, publish);
  const endFile = watchFile(options.path, state => {
    declared = nextDeclarations(state, declared, options);
    if (declared === undefined) return;
    book.follow(namesOf(declared));
    publish();
  });
  return () => {
    endFile();
    book.follow(new Set());
  };
}

function nextDeclarations(
  state: FileState,
  last: Declarations | undefined,
  { onProblem, onMissing }: FileSourceOptions,
): Declarations | undefined {
  if (state.kind === 'missing') {
    onMissing();
    return last ?? new Map();
  }
  if (state.kind === 'unreadable') {
    onProblem({ line: 1, message: state.message });
    return last;
  }
  const { services, rejected, problems } = parseInstancesFile(state.text);
  for (const problem of problems) onProblem(problem);
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
function toInstances(declared: Declarations, book: AddressBook, last: Instances | undefined) {
  const instances = new Map<string, readonly Instance[]>();
  for (const [service, items] of declared) {
    const resolved = resolveItems(items, book);
    if (resolved === undefined && last === undefined) return undefined;
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
